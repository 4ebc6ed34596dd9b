"""A fit is whole or it has not happened: what failed leaves the model of before, and nothing of the new one."""

import numpy as np
import pandas as pd
import pytest

from rescaleinv import InputError, RescaleInvariantOneVsOne, RescaleInvariantSVC
from rescaleinv.estimators.fitted import all_or_nothing

ROWS = pd.DataFrame([[-1.0, 5], [5, -1], [1.4, 1.4], [1, 1]], columns=["a", "b"])
LABELS = ["up", "up", "up", "down"]
POINTS = pd.DataFrame([[-1.0, 4], [4, 4], [0, 0]], columns=["a", "b"])

FAILURES = {
    "labels": lambda clf: clf.fit(ROWS[["b", "a"]], ["up"] * 4),
    "rows": lambda clf: clf.fit(ROWS[["b", "a"]] * np.nan, LABELS),
    "weights": lambda clf: clf.fit(ROWS[["b", "a"]], LABELS, sample_weight=[-1] * 4),
    "parameter": lambda clf: clf.set_params(C=-1).fit(ROWS[["b", "a"]], LABELS),
    "range": lambda clf: clf.set_params(scale_range={"c": 2}).fit(ROWS[["b", "a"]], LABELS),
    "inseparable": lambda clf: clf.set_params(inconsistent="raise").fit(ROWS[["b", "a"]] * 0, LABELS),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_failed_fit_changes_nothing(failure, tmp_path):
    clf = RescaleInvariantSVC().fit(ROWS, LABELS)
    fresh = RescaleInvariantSVC().fit(ROWS, LABELS)
    fresh.save(tmp_path / "fresh")
    with pytest.raises(InputError):
        failure(clf)
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    assert (clf.certify(POINTS).code == fresh.certify(POINTS).code).all()
    with pytest.raises(InputError, match="feature names"):  # swapped columns are not accepted
        clf.certify(POINTS[["b", "a"]])
    fresh = RescaleInvariantSVC().fit(ROWS, LABELS)
    again = RescaleInvariantSVC().fit(ROWS, LABELS)
    with pytest.raises(InputError):
        failure(again)
    again.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "fresh").read_bytes()


def test_a_first_fit_that_fails_leaves_an_unfitted_estimator(tmp_path):
    clf = RescaleInvariantSVC()
    with pytest.raises(InputError):
        clf.fit(ROWS, ["up"] * 4)
    assert vars(clf) == vars(RescaleInvariantSVC())
    with pytest.raises(Exception, match="not fitted"):
        clf.save(tmp_path / "nothing")
    assert not any(tmp_path.iterdir())


def test_a_fit_without_names_forgets_those_of_before():
    clf = RescaleInvariantSVC().fit(ROWS, LABELS).fit(ROWS.to_numpy(), LABELS)
    assert not hasattr(clf, "feature_names_in_")


def test_a_failed_fit_of_many_classes_changes_nothing():
    clf = RescaleInvariantOneVsOne().fit(ROWS, ["a", "b", "c", "c"])
    before = clf.predict_set(POINTS)
    with pytest.raises(InputError):
        clf.fit(ROWS[["b", "a"]], ["a", "b", "c", "c"], sample_weight=[0] * 4)
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    assert (clf.predict_set(POINTS) == before).all()


def test_the_estimator_becomes_the_draft_only_at_the_end():
    class Thing:
        pass

    thing = Thing()
    thing.value = 1

    def fail():
        with all_or_nothing(thing) as draft:
            draft.value, draft.other = 2, 3
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert vars(thing) == {"value": 1}
    with all_or_nothing(thing) as draft:
        draft.value = 2
        assert thing.value == 1
    assert thing.value == 2


def test_parameters_that_are_set_later_do_not_change_a_fitted_model():
    clf = RescaleInvariantSVC(scale_range=2).fit(ROWS, LABELS)
    radius = clf.rescaling_radius(POINTS, ratio=1.2)
    clf.set_params(scale_range=None, C=1.0, time_limit=1e-9)
    assert (clf.rescaling_radius(POINTS, ratio=1.2) == radius).all()
    assert clf.is_invariant_ is False
