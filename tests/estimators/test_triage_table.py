"""The table for triage: its figures are those of the estimator, and calibrated figures need rows to calibrate with."""

import numpy as np
import pandas as pd
import pytest

from rescaleinv import RescaleInvariantSVC
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.estimators.triage_table import triage


@pytest.fixture(scope="module")
def data():
    features, labels, names = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features[:, :4], columns=list(names)[:4])
    named = np.where(labels > 0, "benign", "malignant")
    return RescaleInvariantSVC(inconsistent="drop", time_limit=1).fit(table[:40], named[:40]), table, named


@pytest.mark.filterwarnings("ignore::rescaleinv.errors.LeftOutWarning")
def test_its_figures_are_those_of_the_estimator(data):
    pytest.importorskip("mapie", reason="the extra conformal is not installed")
    model, table, named = data
    points = table[300:308].astype(float).copy()
    points.iloc[2, 1] = np.nan
    found = triage(model, points, calibration=(table[40:300], named[40:300]), confidence=0.9)
    assert found.index.tolist() == points.index.tolist()
    whole = points.dropna()
    verdicts = model.certify(whole)
    kept = found.loc[whole.index]
    assert kept["label"].tolist() == model.predict(whole).tolist()
    np.testing.assert_allclose(kept["value"], model.decision_function(whole))
    assert np.isposinf(kept["holds up to"][verdicts.strong]).all()
    assert (kept["holds up to"] <= kept["can change at"]).all()
    assert kept["probability"].between(0, 1).all()
    assert set(kept["conformal set"]) <= {"benign", "malignant", "benign or malignant", ""}
    hole = found.loc[points.index[2]]
    assert hole["reason"] == "a value is missing"
    assert np.isnan(hole["holds up to"])
    assert np.isnan(hole["probability"])


def test_conformal_sets_have_the_class_as_often_as_they_should(data):
    pytest.importorskip("mapie", reason="the extra conformal is not installed")
    model, table, named = data
    strong = triage(model, table[300:683], calibration=(table[40:300], named[40:300]), confidence=0.8, budget=1.0)
    inside = [label in chosen for label, chosen in zip(named[300:683], strong["conformal set"], strict=True)]
    assert np.mean(inside) > 0.7


def test_what_can_not_be_used(data):
    model, table, named = data
    with pytest.raises(InputError, match="a fitted RescaleInvariantSVC"):
        triage("model", table)
    with pytest.raises(InputError, match="a pair"):
        triage(model, table[300:301], calibration=[1, 2])
    with pytest.raises(InputError, match="labels for 5 rows"):
        triage(model, table[300:301], calibration=(table[:5], named[:4]))
    with pytest.raises(InputError, match="confidence is 2"):
        triage(model, table[300:301], calibration=(table[:5], named[:5]), confidence=2)
