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
        (RescaleInvariantSVC(nu=0.5), TWO),
        (RescaleInvariantSVC(nu=0.5, scale_range=2), TWO),
        (RescaleInvariantSVC(nu="auto", class_weight="balanced"), TWO),
        (make_pipeline(StandardScaler(), RescaleInvariantSVC()), TWO),
        (RescaleInvariantOneVsOne(), THREE),
        (RescaleInvariantOneVsRest(), THREE),
        (RescaleInvariantOneVsRest(RescaleInvariantSVC(inconsistent="drop")), THREE),
    ],
    ids=["hard", "soft", "nu", "nu-range", "nu-auto", "pipeline", "one-vs-one", "one-vs-rest", "rows-left-out"],
)
@pytest.mark.filterwarnings("ignore")
def test_the_list_is_complete_and_the_model_comes_back(model, labels):
    fitted = model.fit(ROWS, labels)
    fitted.predict(ROWS)  # exact numbers that this may need stay behind
    data = skops.io.dumps(fitted)
    assert set(skops.io.get_untrusted_types(data=data)) <= set(TRUSTED)
    loaded = skops.io.loads(data, trusted=list(TRUSTED))
    assert loaded.predict(ROWS).tolist() == fitted.predict(ROWS).tolist()


@pytest.mark.parametrize(("nu", "code"), [(None, [0, 1, -1]), (0.5, [0, 1, 0])])
def test_verdicts_of_a_loaded_model_are_the_same(nu, code):
    fitted = RescaleInvariantSVC(nu=nu).fit(ROWS[:4], TWO[:4])
    loaded = skops.io.loads(skops.io.dumps(fitted), trusted=list(TRUSTED))
    assert loaded.nu_ == fitted.nu_
    points = [[-1, 4], [4, 4], [0, 0]]
    assert loaded.certify(points).code.tolist() == fitted.certify(points).code.tolist() == code


def test_every_type_of_the_list_exists():
    from importlib import import_module

    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type)
