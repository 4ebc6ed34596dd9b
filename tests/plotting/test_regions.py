"""The regions: against the paper's classifiers and the verdicts of points in them."""

import numpy as np
import pytest
from pictures import assert_nothing_is_cut_off, inside

from rescaleinv import RescaleInvariantSVC, Verdict
from rescaleinv.errors import InputError
from rescaleinv.plotting import RegionsDisplay

PAPER = ([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


def test_the_regions_of_the_paper_are_bounded_by_its_two_classifiers():
    display = RegionsDisplay.from_estimator(RescaleInvariantSVC().fit(*PAPER), limits=[(-2, 6), (-2, 6)])
    lines = display.lines / -display.lines[:, 2:] * 6
    np.testing.assert_allclose(sorted(lines.tolist()), [[2, 3, -6], [3, 2, -6]])
    assert_nothing_is_cut_off(display)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("seed", range(6))
def test_points_are_in_the_region_of_their_verdict(seed, offset):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 5, size=(12, 2)) + offset
    labels = np.where((rows - offset) @ rng.normal(size=2) > 0, 1, -1)
    clf = RescaleInvariantSVC().fit(rows, labels)
    points = rng.uniform(-9, 9, size=(300, 2)) + offset
    display = RegionsDisplay.from_estimator(clf, points)
    verdicts = clf.certify(points)
    for kind in (Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE):
        region = display.regions[kind]
        np.testing.assert_array_equal(inside(region - offset, points - offset), verdicts.code == kind)


def test_a_slice_agrees_with_the_verdicts_on_it(fitted):
    clf, points, _ = fitted
    place = {2: 60.0, 4: 10.0}
    at = np.median(clf.training_set_.features, axis=0)
    at[2], at[4] = 60.0, 10.0
    rng = np.random.default_rng(1)
    on_it = np.tile(at, (400, 1))
    on_it[:, 1], on_it[:, 3] = rng.uniform(0, 250, 400), rng.uniform(-20, 80, 400)
    display = RegionsDisplay.from_estimator(clf, points, features=(1, 3), at=place, limits=[(0, 250), (-20, 80)])
    verdicts = clf.certify(on_it)
    assert 0 < verdicts.neutral.sum() < 400
    for kind in (Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE):
        np.testing.assert_array_equal(inside(display.regions[kind], on_it[:, [1, 3]]), verdicts.code == kind)
    assert "slice at feature 0" in display.ax_.get_xlabel()
    assert_nothing_is_cut_off(display)
    again = RegionsDisplay.from_estimator(clf, points, features=(1, 3), at=at, limits=[(0, 250), (-20, 80)])
    np.testing.assert_array_equal(again.lines, display.lines)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": (0, 7)}, "there is no feature 7"),
        ({"features": ("a", 1)}, "there is no feature 'a'"),
        ({"features": (1, 1)}, "two different features"),
        ({"features": 3}, "two features are needed"),
        ({"limits": [(0, 1), (3, 2)]}, "least, largest"),
        ({"at": [1.0]}, "one finite value for each of 5 features"),
    ],
)
def test_what_can_not_be_drawn_is_said(fitted, options, message):
    with pytest.raises(InputError, match=message):
        RegionsDisplay.from_estimator(fitted[0], **options)


def test_regions_need_all_the_vertices(fitted):
    with pytest.raises(InputError, match="RescaleInvariantSVC is needed"):
        RegionsDisplay.from_estimator("svm")
    with pytest.raises(InputError, match="not fitted"):
        RegionsDisplay.from_estimator(RescaleInvariantSVC())
    rows = fitted[0].training_set_
    stopped = RescaleInvariantSVC(engine="complex", max_vertices=1).fit(rows.features, rows.signs)
    with pytest.raises(InputError, match="all vertices"):
        RegionsDisplay.from_estimator(stopped)
