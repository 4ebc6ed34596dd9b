"""Pictures of an audit: every label and every share is in them, and nothing is cut off."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from pictures import assert_nothing_is_cut_off

from rescaleinv import diagnose, scaling_audit
from rescaleinv.audit import CausesDisplay, FeatureShareDisplay, ScalingsDisplay
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.plotting import IntervalsDisplay, RegionsDisplay
from rescaleinv.plotting.style import LOOKS


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def audit():
    features, labels, _ = load("breast_cancer_wisconsin")
    return scaling_audit(features[:20, :5], labels[:20], features[20:60, :5], labels[20:60], most_radii=4)


def cells_of(line, n_points):
    """The codes that a line of the picture shows, by the colours of its bars."""
    codes = {to_rgba(look.colour): int(kind) for kind, look in LOOKS.items()}
    found = np.full(n_points, 99)
    for bar, colour in zip(line.get_paths(), line.get_facecolors(), strict=True):
        left, right = bar.vertices[:, 0].min(), bar.vertices[:, 0].max()
        found[round(left + 0.5) : round(right + 0.5)] = codes[tuple(colour)]
    return found


def test_long_names_of_classes_leave_the_picture_its_room(audit):
    names = ("discharged for good and all", "readmitted within thirty days")
    display = ScalingsDisplay.from_audit(replace(audit, class_names=names))
    display.figure_.canvas.draw()
    whole, inner = display.figure_.bbox.width, display.ax_.get_window_extent().width
    assert inner > whole / 2
    assert_nothing_is_cut_off(display)


def test_the_heat_map_has_every_label(audit):
    display = ScalingsDisplay.from_audit(audit)
    cells = np.array([cells_of(line, len(audit)) for line in display.ax_.collections])
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
    np.testing.assert_allclose(widths[6:], expected["fixed"] if expected["fixed"].any() else [])
    assert_nothing_is_cut_off(display)


@pytest.mark.parametrize("display", [ScalingsDisplay, FeatureShareDisplay])
def test_pictures_of_an_audit_need_one(display):
    with pytest.raises(InputError, match="what scaling_audit returns"):
        display.from_audit([1, 2])


def test_a_display_draws_into_the_axes_that_are_given(audit):
    figure, axes = plt.subplots()
    assert FeatureShareDisplay.from_audit(audit, ax=axes).ax_ is axes
    assert IntervalsDisplay.from_estimator(audit.model, audit.verdicts.points, ax=axes).figure_ is figure


def test_dollar_signs_and_long_names_in_the_data_do_no_harm():
    rows = np.array([[-1, 5, 0], [5, -1, 1], [1.4, 1.4, 0], [1, 1, 1]], dtype=float)
    import pandas as pd

    table = pd.DataFrame(rows, columns=["$x_1^{", "a" * 300, "<script>"])
    audit = scaling_audit(table, [1, 1, 1, 0], table, noun="$\\frac{")
    for display in (FeatureShareDisplay.from_audit(audit), ScalingsDisplay.from_audit(audit)):
        assert_nothing_is_cut_off(display)
    assert_nothing_is_cut_off(RegionsDisplay.from_estimator(audit.model, table, features=("$x_1^{", "a" * 300)))


def test_causes_display_draws_as_much_as_differs():
    features, labels, _ = load("urine")
    found = diagnose(None, features[::2], labels[::2], features[1::2])
    display = CausesDisplay.from_diagnosis(found)
    widths = sum(np.array([bar.get_width() for bar in bars]) for bars in display.ax_.containers)
    np.testing.assert_allclose(widths, found.table()["labels that differ"] / 38)
    assert display.ax_.get_yticklabels()[0].get_text() == "raw / StandardScaler"
    plt.close(display.figure_)
    with pytest.raises(InputError, match="what diagnose returns"):
        CausesDisplay(diagnosis=3)
