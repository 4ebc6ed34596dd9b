"""Points with missing values, and points that have names."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rescaleinv import RescaleInvariantSVC, certify

ROWS, LABELS = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
POINTS = pd.DataFrame({"x": [-1, None, 4, 0], "y": [4, 1, 4, np.inf]}, index=["a", "b", "c", "d"])


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_a_hole_is_unknown_and_the_others_are_judged(steps):
    train = pd.DataFrame(ROWS, columns=["x", "y"])
    model = make_pipeline(*steps, RescaleInvariantSVC()).fit(train, LABELS)
    points = POINTS if not steps else POINTS.replace(np.inf, np.nan)  # the scaler refuses infinity itself
    found = certify(model, points)
    assert found.code.tolist() == [0, 2, 1, 2]
    assert found.reason[1] == "a value is missing"
    assert found.labels.tolist() == ["up", None, "up", None]
    frame = found.to_frame()
    assert frame.index.tolist() == ["a", "b", "c", "d"]
    assert frame["label"].tolist()[0] == "up"
    assert found[np.array([2, 0])].to_frame().index.tolist() == ["c", "a"]
    assert found.summary() == (
        "4 points: 1 up whatever the scaling (25%), 1 depends on the scaling (25%), 2 not decided (50%)"
    )


def test_all_points_may_have_holes():
    model = RescaleInvariantSVC().fit(ROWS, LABELS)
    found = model.certify([[np.nan, 1]])
    assert found.code.tolist() == [2]
    assert found.labels.tolist() == [None]


def test_a_budget_that_is_used_up_leaves_points_open():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(40, 18)), rng.normal(size=18)
    model = RescaleInvariantSVC(engine="staged").fit(rows, rows @ weights > 0)
    found = model.certify(rng.normal(size=(5, 18)), budget=1e-6)
    assert found.unknown.all()
    assert all("the budget of 1e-06 s was used up" in reason for reason in found.reason)
    later = model.certify(found.points, budget=20)
    assert not later.unknown.all()
