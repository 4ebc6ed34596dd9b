"""From limits of rescalings to finite ones: the SVM found has the label, and every condition of an SVM holds."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest
from brute_force import exact_vertices
from exact_conditions import assert_svm
from small_sets import points_near, small_set

from rescaleinv.certificates.finite_rescaling import label_at_finite_rescaling
from rescaleinv.errors import CertificateError
from rescaleinv.theory.optimality import rescaling_of
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

TWO_POINTS = TrainingSet([[1, 1], [-1, -1]], [1, -1])


def test_every_vertex_of_the_brute_force_leads_to_a_finite_rescaling_with_its_label():
    rng = np.random.default_rng(7)
    dropped = 0
    for _ in range(12):
        training_set = small_set(rng)
        points = [[Fraction(x) for x in point] for point in points_near(rng, training_set, 2).tolist()]
        for vertex in exact_vertices(training_set):
            for point in points:
                value = vertex.value(tuple(point))
                if not value:
                    continue
                svm = label_at_finite_rescaling(training_set, list(vertex.weights), vertex.intercept, point)
                assert_svm(training_set, svm)
                assert (svm.decision_value(point) > 0) == (value > 0)
                dropped += 0 in vertex.signs
    assert dropped > 20


def test_a_dropped_feature_gets_a_small_factor():
    svm = label_at_finite_rescaling(TWO_POINTS, [Fraction(1), Fraction(0)], Fraction(0), [Fraction(1), Fraction(-100)])
    assert_svm(TWO_POINTS, svm)
    assert svm.decision_value([Fraction(1), Fraction(-100)]) > 0
    assert svm.rescaling[1] < svm.rescaling[0] / 10


def test_a_classifier_with_all_weights_keeps_its_own_rescaling():
    training_set = made_sets.MAKERS["gaussian"](2)
    svm = minimal_norm_svm(training_set)
    exact = [Fraction(w) for w in svm.weights.tolist()]
    with pytest.raises(CertificateError, match=r"not in C\(X\)|not the SVM of any rescaling"):  # rounded: not optimal
        label_at_finite_rescaling(training_set, exact, Fraction(svm.intercept), [Fraction(9)] * training_set.n_features)
    assert rescaling_of(training_set, svm.weights, svm.intercept).factors.shape == svm.weights.shape


@pytest.mark.parametrize(
    ("weights", "point", "message"),
    [
        ([1, 0], [0, 5], "lies on the classifier: nearby classifiers may give it either label"),
        ([Fraction(1, 2), 0], [1, 0], r"not in C\(X\)"),
        ([2, -1], [1, 0], "not the SVM of any rescaling"),
        ([2, 0], [1, 0], r"not in the closure of RO\(X\)"),
    ],
)
def test_what_has_no_finite_rescaling_is_refused(weights, point, message):
    exact = [Fraction(w) for w in weights]
    with pytest.raises(CertificateError, match=message):
        label_at_finite_rescaling(TWO_POINTS, exact, Fraction(0), [Fraction(x) for x in point])
