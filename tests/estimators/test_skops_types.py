"""Models through skops: the published list is all that has to be trusted."""

import numpy as np
import pytest
import skops.io
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rescaleinv import RescaleInvariantOneVsOne, RescaleInvariantOneVsRest, RescaleInvariantSVC
from rescaleinv.estimators.skops_types import TRUSTED

ROWS = np.array([[-1, 5], [5, -1], [1.4, 1.4], [1, 1], [0, 0], [9, 9]])
TWO, THREE = ["up", "up", "up", "down", "down", "up"], [1, 1, 1, 0, 0, 2]


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (RescaleInvariantSVC(), TWO),
        (RescaleInvariantSVC(C=1.0, scale_range=2, groups=[0, 0]), TWO),
        (make_pipeline(StandardScaler(), RescaleInvariantSVC()), TWO),
        (RescaleInvariantOneVsOne(), THREE),
        (RescaleInvariantOneVsRest(RescaleInvariantSVC(inconsistent="drop")), THREE),
    ],
    ids=["hard", "soft", "pipeline", "one-vs-one", "one-vs-rest"],
)
@pytest.mark.filterwarnings("ignore")
def test_the_list_is_complete_and_the_model_comes_back(model, labels):
    fitted = model.fit(ROWS, labels)
    data = skops.io.dumps(fitted)
    assert set(skops.io.get_untrusted_types(data=data)) <= set(TRUSTED)
    loaded = skops.io.loads(data, trusted=list(TRUSTED))
    assert loaded.predict(ROWS).tolist() == fitted.predict(ROWS).tolist()


def test_verdicts_of_a_loaded_model_are_the_same():
    fitted = RescaleInvariantSVC().fit(ROWS[:4], TWO[:4])
    loaded = skops.io.loads(skops.io.dumps(fitted), trusted=list(TRUSTED))
    points = [[-1, 4], [4, 4], [0, 0]]
    assert loaded.certify(points).code.tolist() == fitted.certify(points).code.tolist() == [0, 1, -1]


def test_every_type_of_the_list_exists():
    from importlib import import_module

    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type)
