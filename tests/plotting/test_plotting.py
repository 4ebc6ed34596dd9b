"""The displays: what they draw is what the verdicts say, nothing is cut off, and they can be told apart in grey."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.path import Path as Outline

from rescaleinv import RescaleInvariantSVC, Verdict, scaling_audit
from rescaleinv.audit import FeatureShareDisplay, ScalingsDisplay
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.plotting import CertifiedShareDisplay, CoverageDisplay, IntervalsDisplay, RegionsDisplay
from rescaleinv.plotting.polygons import intersection
from rescaleinv.plotting.style import LOOKS

PAPER = ([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    features, labels, _ = load("pima_diabetes")
    clf = RescaleInvariantSVC(inconsistent="drop")
    with pytest.warns(UserWarning, match="left out"):
        clf.fit(features[:30, :5], labels[:30])
    return clf, features[30:90, :5], labels[30:90]


@pytest.fixture(scope="module")
def audit():
    features, labels, _ = load("breast_cancer_wisconsin")
    return scaling_audit(features[:20, :5], labels[:20], features[20:60, :5], labels[20:60], most_radii=4)


def inside(polygon, points):
    return Outline(polygon).contains_points(points) if len(polygon) else np.zeros(len(points), dtype=bool)


def assert_nothing_is_cut_off(display):
    """Every text and legend of the figure lies within it."""
    figure = display.figure_
    figure.canvas.draw()
    whole = figure.bbox
    for axes in figure.axes:
        box = axes.get_tightbbox(figure.canvas.get_renderer())
        assert box.x0 >= whole.x0 - 1
        assert box.y0 >= whole.y0 - 1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1


# --- regions --------------------------------------------------------------------------------------------------------


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


def test_an_intersection_is_that_of_all_half_planes():
    rng = np.random.default_rng(0)
    box = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    for _ in range(30):
        normals, offsets = rng.normal(size=(40, 2)), rng.uniform(-0.1, 1, size=40)
        region, used = intersection(box, normals, offsets)
        points = rng.uniform(-1, 1, size=(500, 2))
        expected = (points @ normals.T + offsets >= 0).all(axis=1)
        np.testing.assert_array_equal(inside(region, points), expected)
        assert len(used) <= 40


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


# --- intervals ------------------------------------------------------------------------------------------------------


def drawn_intervals(display):
    """What stands in the picture: for each line its place and its ends."""
    segments = [segment for lines in display.ax_.collections for segment in lines.get_segments()]
    return {round(segment[0, 0]): (segment[0, 1], segment[1, 1]) for segment in segments}


def test_each_interval_is_drawn_where_it_belongs(fitted):
    clf, points, _ = fitted
    verdicts = clf.certify(points)
    display = IntervalsDisplay.from_estimator(clf, points)
    drawn = drawn_intervals(display)
    assert sorted(display.order_) == list(range(60))
    for place, i in enumerate(display.order_, 1):
        assert drawn[place] == (verdicts.lower[i], verdicts.upper[i])
    kinds = np.select([verdicts.strongly_negative, verdicts.strongly_positive], [-1, 1], 0)[display.order_]
    assert (np.diff(kinds) >= 0).all()
    assert_nothing_is_cut_off(display)


def test_points_without_an_interval_are_counted(fitted):
    clf, points, _ = fitted
    verdicts = clf.certify(points)
    verdicts.lower[:3] = np.nan
    display = IntervalsDisplay.from_verdicts(verdicts)
    assert len(display.order_) == 57
    assert "3 without a known interval" in display.ax_.get_xlabel()
    verdicts.lower[:] = np.nan
    assert not len(IntervalsDisplay.from_verdicts(verdicts).order_)
    with pytest.raises(InputError, match="one per point"):
        IntervalsDisplay.from_verdicts(verdicts, np.zeros(3))


# --- curves ---------------------------------------------------------------------------------------------------------


def test_the_share_certified_is_that_of_the_radii():
    radius = np.array([[1.5, 1.5], [2.0, 2.5], [4.0, np.inf], [np.inf, np.inf]])
    display = CertifiedShareDisplay.from_radius(radius)
    certified, possible = display.ax_.lines[:2]
    expected = ((1.0, 1, 1), (1.5, 1, 0.75), (1.6, 0.75, 0.75), (2.4, 0.5, 0.75), (3, 0.5, 0.5), (5, 0.25, 0.5))
    for kappa, low, high in expected:
        assert display.share_certified(kappa) == low
        assert display.share_not_refuted(kappa) == high
        place = np.searchsorted(certified.get_xdata(), kappa, side="right") - 1
        assert certified.get_ydata()[place] == low
        assert possible.get_ydata()[place] == max(low, high)
    assert_nothing_is_cut_off(display)
    for wrong in ([[1.0, np.nan]], [1.0, 2.0], np.empty((0, 2))):
        with pytest.raises(InputError, match="a row"):
            CertifiedShareDisplay.from_radius(wrong)


def test_coverage_against_right_labels_by_plain_counting(fitted):
    clf, points, truth = fitted
    display = CoverageDisplay.from_estimator(clf, points, truth)
    values, code = clf.decision_function(points), clf.certify(points).code
    ranked = sorted(range(60), key=lambda i: -abs(values[i]))
    for coverage, share in display.curves["PPV"].tolist():
        called = [i for i in ranked[: round(coverage * 60)] if values[i] >= 0]
        assert share == sum(truth[i] == 1 for i in called) / len(called)
    for coverage, share in display.curves["NPV"].tolist():
        called = [i for i in ranked[: round(coverage * 60)] if values[i] < 0]
        assert share == sum(truth[i] == -1 for i in called) / len(called)
    coverage, ppv, npv = display.strong
    assert coverage == np.mean(np.abs(code) == 1)
    assert ppv == np.mean(truth[code == 1] == 1)
    assert npv == np.mean(truth[code == -1] == -1)
    assert_nothing_is_cut_off(display)


def test_coverage_needs_two_classes():
    with pytest.raises(InputError, match="give classes"):
        CoverageDisplay.from_predictions([1, 1], [1, 1], [1.0, 2.0])
    with pytest.raises(InputError, match="one decision value per point"):
        CoverageDisplay.from_predictions([1, -1], [1, 1], 3.0)


# --- pictures of an audit -------------------------------------------------------------------------------------------


def test_the_heat_map_has_every_label(audit):
    display = ScalingsDisplay.from_audit(audit)
    cells = display.ax_.images[0].get_array() - 1
    np.testing.assert_array_equal(cells[0], audit.verdicts.code[display.order_])
    np.testing.assert_array_equal(cells[1:], audit.signs[audit.usable][:, display.order_])
    shown = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert shown == ["verdict", *(one.name for one in audit.scalings if one.values is not None)]
    assert_nothing_is_cut_off(display)


def test_the_bars_are_the_shares(audit):
    display = FeatureShareDisplay.from_audit(audit, most=3)
    widths = [bar.get_width() for bar in display.ax_.patches]
    expected = audit.features.iloc[display.order_]
    np.testing.assert_allclose(widths[:3], expected["alone"])
    np.testing.assert_allclose(widths[3:6], expected["neutral without"].fillna(0))
    np.testing.assert_allclose(widths[6:], expected["fixed"])
    assert_nothing_is_cut_off(display)


@pytest.mark.parametrize("display", [ScalingsDisplay, FeatureShareDisplay])
def test_pictures_of_an_audit_need_one(display):
    with pytest.raises(InputError, match="what scaling_audit returns"):
        display.from_audit([1, 2])


def test_verdicts_can_be_told_apart_in_grey():
    lightness = sorted(np.dot(to_rgb(look.colour), (0.2126, 0.7152, 0.0722)) for look in LOOKS.values())
    assert np.diff(lightness).min() > 0.1


def test_a_display_draws_into_the_axes_that_are_given(audit, fitted):
    figure, axes = plt.subplots()
    assert FeatureShareDisplay.from_audit(audit, ax=axes).ax_ is axes
    assert IntervalsDisplay.from_estimator(*fitted[:2], ax=axes).figure_ is figure


def test_dollar_signs_and_long_names_in_the_data_do_no_harm():
    rows = np.array([[-1, 5, 0], [5, -1, 1], [1.4, 1.4, 0], [1, 1, 1]], dtype=float)
    import pandas as pd

    table = pd.DataFrame(rows, columns=["$x_1^{", "a" * 300, "<script>"])
    audit = scaling_audit(table, [1, 1, 1, 0], table, noun="$\\frac{")
    for display in (FeatureShareDisplay.from_audit(audit), ScalingsDisplay.from_audit(audit)):
        assert_nothing_is_cut_off(display)
    assert_nothing_is_cut_off(RegionsDisplay.from_estimator(audit.model, table, features=("$x_1^{", "a" * 300)))
