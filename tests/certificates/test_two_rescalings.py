"""Certificates of neutral verdicts: exact evidence from two rescalings that disagree."""

import dataclasses
from fractions import Fraction

import made_sets
import numpy as np
import pytest
from exact_conditions import assert_svm

from rescaleinv.certificates.two_rescalings import exact_optimum, labelled_svm_at, neutral_certificate, witness_from
from rescaleinv.errors import CertificateError, InputError
from rescaleinv.theory.svm import exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import check

SHIPPED = ("breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote")
EXAMPLE_1 = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
TWO_POINTS = TrainingSet([[1, 1], [-1, -1]], [1, -1])


@pytest.mark.parametrize("name", SHIPPED)
def test_an_exact_classifier_gets_a_rescaling_of_its_own(name):
    training_set, _ = made_sets.drawn_from(name, 5)
    rng = np.random.default_rng(5)
    svm = exact_svm_at(training_set, made_sets.random_rescaling(rng, training_set.n_features, 1))
    again = exact_optimum(training_set, svm.weights, svm.intercept)
    assert (again.weights, again.intercept) == (svm.weights, svm.intercept)
    assert_svm(training_set, again)


def test_an_exact_classifier_that_is_none_is_refused():
    one, zero = Fraction(1), Fraction(0)
    with pytest.raises(CertificateError, match=r"not in C\(X\)"):
        exact_optimum(TWO_POINTS, [one / 4, one / 4], zero)
    for weights, intercept in (([one, zero], zero), ([2 * one, -one], zero), ([one, one], zero), ([one, one], one / 2)):
        with pytest.raises(CertificateError, match="not the SVM of any rescaling"):
            exact_optimum(TWO_POINTS, weights, intercept)
    # the middle of a cell, with zeros where nothing can be gained
    square = TrainingSet([[1, 1], [1, -1], [-1, 1], [-1, -1]], [1, 1, -1, -1])
    assert_svm(square, exact_optimum(square, [one, zero], zero))


def disagreeing_rescalings(training_set, points, rng, tries=12):
    """For each point that sampled rescalings disagree about: the point and a rescaling for each label."""
    rescalings = [made_sets.random_rescaling(rng, training_set.n_features, 2) for _ in range(tries)]
    values = np.array([minimal_norm_svm(training_set, tau).decision_function(points) for tau in rescalings])
    for k in np.flatnonzero((values.max(axis=0) > 0) & (values.min(axis=0) < 0)):
        yield points[k], rescalings[values[:, k].argmax()], rescalings[values[:, k].argmin()]


@pytest.mark.parametrize("name", SHIPPED)
def test_disagreement_is_certified_on_raw_data(name):
    rng = np.random.default_rng(6)
    certified = 0
    for seed in range(3):
        training_set, points = made_sets.drawn_from(name, 20 + seed)
        for point, positive, negative in list(disagreeing_rescalings(training_set, points[:40], rng))[:6]:
            certificate = neutral_certificate(training_set, point, positive, negative, left_out=seed)
            assert check(certificate.to_json()) == "neutral"
            assert certificate.content["training"]["left_out"] == seed
            assert [float(Fraction(x)) for x in certificate.content["point"]] == point.tolist()
            with pytest.raises(CertificateError, match="does not give the point a positive label"):
                neutral_certificate(training_set, point, negative, positive)
            with pytest.raises(CertificateError, match="does not give the point a negative label"):
                neutral_certificate(training_set, point, positive, positive)
            certified += 1
    assert certified >= 6


def test_disagreement_is_certified_on_degenerate_sets():
    rng = np.random.default_rng(7)
    certified = 0
    for maker in made_sets.MAKERS.values():
        for seed in (2, 5):
            training_set = maker(seed)
            low, high = training_set.features.min(axis=0), training_set.features.max(axis=0)
            points = low + (high - low) * rng.uniform(-0.5, 1.5, (30, training_set.n_features))
            for point, positive, negative in list(disagreeing_rescalings(training_set, points, rng))[:2]:
                assert check(neutral_certificate(training_set, point, positive, negative).to_json()) == "neutral"
                certified += 1
    assert certified >= 15


def test_a_point_on_the_hyperplane_is_positive():
    """(1, -1) has the value (τ1² - τ2²) / (τ1² + τ2²)."""
    certificate = neutral_certificate(TWO_POINTS, [1, -1], [1, 1], [1, 2])
    assert check(certificate.to_json()) == "neutral"
    with pytest.raises(
        CertificateError, match="does not give the point a negative label: its decision value there is 0"
    ):
        neutral_certificate(TWO_POINTS, [1, -1], [2, 1], [1, 1])


def test_all_of_a_floats_bits_are_used_where_few_do_not_do():
    point = [Fraction(1), Fraction(-1)]
    tau = [1 - 2.0**-30, 1.0]
    assert exact_svm_at(TWO_POINTS, tau).decision_value(point) == 0
    svm = labelled_svm_at(TWO_POINTS, point, tau, positive=False)
    assert svm.decision_value(point) < 0
    assert_svm(TWO_POINTS, svm)


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ([1, float("nan")], "NaN or infinity"),
        ([1, float("inf")], "NaN or infinity"),
        ([1, 2, 3], "3 features, but 2"),
        ([[1, 2]], "3 dimension"),
        (5, "1 dimension"),
        (None, "1 dimension"),
        (["a", "b"], "where numbers belong"),
        ([], "no feature"),
    ],
)
def test_a_bad_point_is_an_input_error(point, message):
    with pytest.raises(InputError, match=message):
        neutral_certificate(EXAMPLE_1, point, [1, 1], [5, 1])


@pytest.mark.parametrize("rescaling", [[1], [1, 0], [1, -1], [1, float("nan")], [1, float("inf")], "ab"])
def test_a_bad_rescaling_is_an_input_error(rescaling):
    with pytest.raises(InputError):
        neutral_certificate(EXAMPLE_1, [-1, 4], rescaling, [5, 1])


def test_a_witness_has_the_rescalings_and_the_certificate():
    point = [Fraction(-1), Fraction(4)]
    positive, negative = exact_svm_at(EXAMPLE_1, [1, 1]), exact_svm_at(EXAMPLE_1, [5, 1])
    witness = witness_from(EXAMPLE_1, point, positive, negative, left_out=2)
    assert check(witness.certificate.to_json()) == "neutral"
    assert witness.certificate.content["training"]["left_out"] == 2
    for rescaling, sign in ((witness.positive, 1), (witness.negative, -1)):
        assert sign * minimal_norm_svm(EXAMPLE_1, rescaling).decision_function([[-1, 4]])[0] > 0


def test_the_factors_of_a_witness_are_about_one():
    """A common factor changes nothing, and would make the two rescalings hard to compare."""
    training_set = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    point = [Fraction(-1), Fraction(4)]
    svms = [exact_svm_at(training_set, tau) for tau in ([2.0**40, 2.0**40], [5 * 2.0**-60, 2.0**-60])]
    witness = witness_from(training_set, point, *svms)
    assert witness.positive.tolist() == [1, 1]
    assert 0.5 < np.exp(np.log(witness.negative).mean()) < 2
    assert witness.negative[0] == pytest.approx(5 * witness.negative[1], rel=1e-5)
    assert check(witness.certificate.to_json()) == "neutral"


def test_factors_beyond_any_float_are_an_error_of_ours():
    positive, negative = exact_svm_at(EXAMPLE_1, [1, 1]), exact_svm_at(EXAMPLE_1, [5, 1])
    beyond = dataclasses.replace(positive, inverse_squared_rescaling=[Fraction(1, 10**700), Fraction(1)])
    with pytest.raises(CertificateError, match="beyond what a float can hold"):
        witness_from(EXAMPLE_1, [Fraction(-1), Fraction(4)], beyond, negative)
