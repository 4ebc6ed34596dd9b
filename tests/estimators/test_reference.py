"""The ordinary SVM beside the verdicts: its signs are exact on the hyperplane itself."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest

from rescaleinv import RescaleInvariantSVC, minimal_norm_svm
from rescaleinv.estimators import reference as reference_module
from rescaleinv.estimators.reference import ReferenceSVM
from rescaleinv.theory.training_set import TrainingSet


def test_points_on_the_hyperplane_are_positive_whatever_the_rounding():
    """Rounding would give some of these points a value below zero, against their strong verdicts."""
    rng = np.random.default_rng(0)
    ties = 0
    for seed in range(40):
        training_set = made_sets.integer_ties(seed)
        points = rng.integers(-3, 8, (60, training_set.n_features)).astype(float)
        clf = RescaleInvariantSVC().fit(training_set.features, training_set.signs)
        values, positive = clf.decision_function(points), clf.predict(points) == 1
        assert (positive == (values >= 0)).all()
        ties += (values == 0).sum()
        assert not (np.abs(values)[values != 0] < 1e-12).any()  # small values are exact ones
        verdicts = clf.certify(points)
        assert positive[verdicts.strongly_positive].all()
        assert not positive[verdicts.strongly_negative].any()
    assert ties > 10


def reference_of(training_set, *, hard_margin=True):
    svm = minimal_norm_svm(training_set)
    return ReferenceSVM(training_set, svm.weights, svm.intercept, svm.value_at_anchor, hard_margin)


def test_points_of_the_hyperplane_have_the_value_zero_and_their_neighbours_their_sign():
    """The SVM of these rows is x1 + x2 = 1.25; floats alone are wrong about its sign one step away from it."""
    reference = reference_of(TrainingSet([[0.0, 0], [0.25, 0.25], [1, 1], [2, 3]], [-1, -1, 1, 1]))
    on = np.array([[0.625, 0.625], [1.0, 0.25], [-3.0, 4.25]])
    assert reference.decision_function(on).tolist() == [0, 0, 0]
    step = on.copy()
    step[:, 0] = np.nextafter(on[:, 0], np.inf)
    above = reference.decision_function(step)
    step[:, 0] = np.nextafter(on[:, 0], -np.inf)
    below = reference.decision_function(step)
    assert (above > 0).all()
    assert (below < 0).all()
    np.testing.assert_allclose(above, step_size(on[:, 0]) * 4 / 3, rtol=1e-6)


def step_size(values):
    return np.nextafter(values, np.inf) - values


def test_values_away_from_the_hyperplane_are_the_plain_ones():
    rng = np.random.default_rng(1)
    training_set = made_sets.gaussian(4, 3)
    reference = reference_of(training_set)
    points = rng.normal(size=(50, 3)) * 5
    expected = points @ reference.weights + reference.intercept
    np.testing.assert_allclose(reference.decision_function(points), expected, rtol=1e-8, atol=1e-10)


def test_large_offsets_cost_no_sign():
    """2**40 is added to a feature: an intercept has no digits left for what the labels depend on."""
    rows = np.array([[0.0, 0], [0, 3], [3, 3], [3, 0]])
    points = np.array([[1.5, 7], [1.5 + 2.0**-12, 7], [1.5 - 2.0**-12, 7]])
    shift = np.array([2.0**40, 0])
    values = reference_of(TrainingSet(rows + shift, [-1, -1, 1, 1])).decision_function(points + shift)
    assert values[0] == 0
    assert values[1] > 0 > values[2]


def test_a_soft_margin_is_left_to_floats(monkeypatch):
    monkeypatch.setattr("rescaleinv.estimators.reference.exact_svm", lambda *arguments: pytest.fail("not for this"))
    reference = reference_of(TrainingSet([[0.0], [1]], [-1, 1]), hard_margin=False)
    assert reference.decision_function(np.array([[0.5]])) == pytest.approx(0, abs=1e-12)


def test_the_smallest_value_keeps_its_sign_as_a_float():
    tiny = Fraction(1, 10**400)
    assert reference_module._with_its_sign(tiny) > 0 > reference_module._with_its_sign(-tiny)
    assert reference_module._with_its_sign(Fraction(0)) == 0
    assert reference_module._with_its_sign(Fraction(-1, 4)) == -0.25


def test_a_point_on_the_hyperplane_of_a_nu_svm_has_the_value_zero():
    """Rows that are mirror images of each other: by symmetry the hyperplane is x + y = 3, which floats miss."""
    rows = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [1, 1], [3, 3], [2, 3], [3, 2], [1, 1], [2, 2]], dtype=float)
    labels = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    points = np.array([[0.5, 2.5], [1, 2], [1.5, 1.5], [3, 0], [7, -4]])
    for factor in (1, 0.1, 3):
        clf = RescaleInvariantSVC(nu=0.9).fit(rows * factor, labels)
        values = clf.decision_function(points * factor)
        assert (values == 0).all()
        assert (clf.predict(points * factor) == 1).all()
        assert (clf.decision_function((points + 0.01) * factor) > 0).all()
        assert (clf.decision_function((points - 0.01) * factor) < 0).all()
