"""Sets of classes: what they say, how they are saved, and what a missing value does."""

import numpy as np
import pandas as pd
import pytest

from rescaleinv import RescaleInvariantOneVsOne, RescaleInvariantOneVsRest, RescaleInvariantSVC
from rescaleinv.errors import InputError

ROWS = np.array([[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]])
LABELS = ["a", "a", "b", "b", "c", "c"]


@pytest.mark.parametrize("kind", [RescaleInvariantOneVsOne, RescaleInvariantOneVsRest])
def test_certify_agrees_with_predict_set_and_survives_saving(kind, tmp_path):
    train = pd.DataFrame(ROWS, columns=["x", "y"])
    model = kind().fit(train, LABELS)
    points = pd.DataFrame({"x": [0, 8, 4, None], "y": [1, 1, 4, 2.0]}, index=list("pqrs"))
    found = model.certify(points)
    np.testing.assert_array_equal(found.sets[:3], model.predict_set(points[:3]))
    assert found.sets[3].all()
    assert found.labels.tolist() == [*model.predict(points[:3]), None]
    assert found.reason.tolist() == ["", "", "", "a value is missing"]
    frame = found.to_frame()
    assert frame.index.tolist() == list("pqrs")
    assert frame["classes"].tolist()[0] == "a"
    assert frame["reason"].tolist()[3] == "a value is missing"
    assert found.strong.tolist()[:2] == [True, True]
    assert " b whatever the scaling (25%)" in found.summary()
    assert found.summary().endswith("1 not decided (25%)")
    model.save(tmp_path / "model")
    again = kind.load(tmp_path / "model")
    np.testing.assert_array_equal(again.certify(points).sets, found.sets)
    assert again.predict(points[:3]).tolist() == model.predict(points[:3]).tolist()
    assert again.classes_.tolist() == ["a", "b", "c"]
    assert again.feature_names_in_.tolist() == ["x", "y"]


def test_a_file_of_something_else_is_refused(tmp_path):
    RescaleInvariantOneVsOne().fit(ROWS, LABELS).save(tmp_path / "pairs")
    RescaleInvariantSVC().fit(ROWS[:4], LABELS[:4]).save(tmp_path / "one")
    with pytest.raises(
        InputError, match="it holds 'RescaleInvariantOneVsOne', and 'RescaleInvariantOneVsRest' was asked for"
    ):
        RescaleInvariantOneVsRest.load(tmp_path / "pairs")
    with pytest.raises(InputError, match=r"is damaged, or is not a model"):
        RescaleInvariantOneVsOne.load(tmp_path / "one")
    content = (tmp_path / "pairs").read_bytes()
    (tmp_path / "pairs").write_bytes(content[:2000] + b"x" + content[2001:])
    with pytest.raises(InputError):
        RescaleInvariantOneVsOne.load(tmp_path / "pairs")


def test_a_budget_that_is_used_up_makes_sets_larger():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 18))
    labels = (rows @ rng.normal(size=(18, 3))).argmax(axis=1)
    model = RescaleInvariantOneVsOne(RescaleInvariantSVC(engine="staged")).fit(rows, labels)
    found = model.certify(rows[:2] + 0.1, budget=1e-6)
    assert found.unknown.all()
    assert "budget" in found.to_frame()["reason"].iloc[0] or "time" in found.to_frame()["reason"].iloc[0]


def test_classes_that_are_numbers_are_called_classes():
    numbers = np.unique(LABELS, return_inverse=True)[1]
    found = RescaleInvariantOneVsOne().fit(ROWS, numbers).certify([[0, 1.0], [8, 1]])
    assert found.summary() == "2 points: 1 class 0 whatever the scaling (50%), 1 class 1 whatever the scaling (50%)"
