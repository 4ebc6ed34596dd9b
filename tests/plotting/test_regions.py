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


def entries(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def drawn(display, label):
    [points] = [one for one in display.ax_.collections if one.get_label() == label]
    return points.get_offsets().tolist()


def test_the_legend_explains_the_lines_whichever_of_them_are_in_the_picture():
    clf = RescaleInvariantSVC().fit(*PAPER)
    for limits in ([(-2, 6), (-2, 6)], [(2.8, 3.2), (-2, -1.5)], [(-2, -1.5), (2.8, 3.2)]):
        display = RegionsDisplay.from_estimator(clf, limits=limits)
        lines = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
        assert lines
        assert entries(display).count("SVMs that bound the regions") == 1
    nothing = RegionsDisplay.from_estimator(clf, limits=[(10, 11), (10, 11)])
    assert "SVMs that bound the regions" not in entries(nothing)


def test_rows_left_out_are_drawn_and_points_with_another_class_have_a_ring():
    rows, labels = [[3, 5], [5, 3], [4, 4], [-3, -4], [-4, -3], [-3, -3], [-6, -5]], ["up"] * 3 + ["down"] * 3 + ["up"]
    with pytest.warns(UserWarning, match="left out"):
        clf = RescaleInvariantSVC(inconsistent="drop", drop_rule="fewest").fit(rows, labels)
    points = [[4, 4], [-1, -1], [4, 5], [3, 3]]
    display = RegionsDisplay.from_estimator(clf, points, ["up", "up", None, "down"])
    assert drawn(display, "up, left out") == [[-6, -5]]
    assert len(drawn(display, "up, training row")) == 3
    assert display.box[0, 0] < -6  # it is in the picture
    other = [
        p for p, label, y in zip(points, clf.predict(points), ["up", "up", "up", "down"], strict=True) if label != y
    ]
    assert drawn(display, "labelled otherwise than y") == other
    assert other == [[-1, -1], [3, 3]]
    assert "up whatever the scaling" in entries(display)
    assert_nothing_is_cut_off(display)
    plain = RegionsDisplay.from_estimator(clf, points)
    assert "labelled otherwise than y" not in entries(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [1]}, "y was given without X"),
        ({"X": [[0, 0]], "y": [1, -1]}, "not one label for each of the 1 points"),
        ({"X": [[0, 0]], "y": 1}, "not one label for each of the 1 points"),
        ({"X": [[0, 0]], "y": [3]}, "y has 3; the classes are -1 and 1"),
    ],
)
def test_classes_that_do_not_fit(options, message):
    with pytest.raises(InputError, match=message):
        RegionsDisplay.from_estimator(RescaleInvariantSVC().fit(*PAPER), **options)


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
