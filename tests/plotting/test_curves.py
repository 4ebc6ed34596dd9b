"""Curves against plain counting."""

import numpy as np
import pytest
from pictures import assert_nothing_is_cut_off

from rescaleinv.errors import InputError
from rescaleinv.plotting import CertifiedShareDisplay, CoverageDisplay


def test_labels_of_which_nothing_is_certified_are_not_shown_as_certified_beyond_1():
    display = CertifiedShareDisplay.from_radius([[1, np.inf], [1, np.inf], [4, 5], [np.inf, np.inf]])
    certified, possible = display.ax_.lines[:2]
    assert np.interp(1.5, certified.get_xdata(), certified.get_ydata()) == 0.5
    assert np.interp(1.5, possible.get_xdata(), possible.get_ydata()) == 1


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
