"""Exact SVMs by their own conditions, from good and bad guesses, and the certificates made of them."""

from fractions import Fraction
from itertools import combinations

import made_sets
import numpy as np
import pytest

from rescaleinv.certificates.two_rescalings import exact_optimum, labelled_svm_at, neutral_certificate, witness_from
from rescaleinv.errors import CertificateError, InputError, InseparableError
from rescaleinv.theory.exact_svm import ExactClassifier, exact_svm
from rescaleinv.theory.rationals import rounded
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.svm import exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import check

SHIPPED = ("breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote")
EXAMPLE_1 = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
TWO_POINTS = TrainingSet([[1, 1], [-1, -1]], [1, -1])


def assert_svm(training_set, svm):
    """Every Karush-Kuhn-Tucker condition, exactly, on the rows as they are given."""
    rows = [[Fraction(x) for x in row] for row in training_set.features.tolist()]
    labels = training_set.signs.tolist()
    scores = [sum((w * x for w, x in zip(svm.weights, row, strict=True)), svm.intercept) for row in rows]
    margins = [y * score for y, score in zip(labels, scores, strict=True)]
    assert min(margins) == 1
    assert min(svm.multipliers.values()) > 0
    assert all(margins[i] == 1 for i in svm.multipliers)
    assert sum(a * labels[i] for i, a in svm.multipliers.items()) == 0
    assert min(svm.inverse_squared_rescaling) > 0
    for j, (d, w) in enumerate(zip(svm.inverse_squared_rescaling, svm.weights, strict=True)):
        assert d * w == sum((a * labels[i] * rows[i][j] for i, a in svm.multipliers.items()), Fraction(0))


def assert_near_the_float_svm(training_set, svm):
    near = minimal_norm_svm(training_set, svm.rescaling)
    units = np.ldexp(1.0, training_set.conditioning.exponent)
    expected = np.array([float(w) for w in svm.weights]) * units
    assert np.abs(near.weights * units - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("name", SHIPPED)
def test_every_condition_holds_on_raw_data(name):
    rng = np.random.default_rng(0)
    for seed in range(3):
        training_set, _ = made_sets.drawn_from(name, seed)
        n = training_set.n_features
        for tau in (np.ones(n), *(made_sets.random_rescaling(rng, n, 2) for _ in range(2))):
            svm = exact_svm_at(training_set, tau)
            assert_svm(training_set, svm)
            assert np.allclose(svm.rescaling, tau, rtol=2.0**-19)
            assert_near_the_float_svm(training_set, svm)


@pytest.mark.parametrize("maker", made_sets.MAKERS.values(), ids=made_sets.MAKERS.keys())
def test_every_condition_holds_on_made_sets(maker):
    rng = np.random.default_rng(1)
    for seed in range(7):
        training_set = maker(seed)
        svm = exact_svm_at(training_set, made_sets.random_rescaling(rng, training_set.n_features, 2))
        assert_svm(training_set, svm)
        assert_near_the_float_svm(training_set, svm)
        assert_svm(
            training_set, exact_svm_at(training_set, made_sets.random_rescaling(rng, training_set.n_features, 8))
        )


def small_integer_sets(seed, count):
    rng = np.random.default_rng(seed)
    while count:
        rows, n = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        labels = np.where(rng.random(rows) < 0.5, 1, -1)
        if abs(labels.sum()) < rows:
            count -= 1
            yield TrainingSet(rng.integers(-2, 3, (rows, n)).astype(float), labels), rng


def test_any_guess_of_the_rows_ends_at_the_one_svm():
    """Too many rows, too few, the wrong ones, one class only, a row twice: w and b are unique, the way there is not."""
    separable = 0
    for training_set, rng in small_integer_sets(2, 40):
        squared = [Fraction(int(p), int(q)) for p, q in rng.integers(1, 60, (training_set.n_features, 2))]
        everything = range(training_set.n_rows)
        guesses = [list(rows) for size in range(len(everything) + 1) for rows in combinations(everything, size)]
        guesses = [guesses[k] for k in rng.permutation(len(guesses))[:20]] + [[*everything], [], [0, 0]]
        if not is_separable(training_set):
            for guess in guesses:
                with pytest.raises(InseparableError, match="there is no SVM"):
                    exact_svm(training_set, squared, guess)
            continue
        separable += 1
        answers = [exact_svm(training_set, squared, guess) for guess in guesses]
        for svm in answers:
            assert_svm(training_set, svm)
            assert svm.inverse_squared_rescaling == [1 / t for t in squared]
            assert (svm.weights, svm.intercept) == (answers[0].weights, answers[0].intercept)
    assert 10 < separable < 40


@pytest.mark.parametrize("maker", made_sets.MAKERS.values(), ids=made_sets.MAKERS.keys())
def test_no_guess_at_all_is_enough(maker):
    rng = np.random.default_rng(3)
    for seed in (3, 6):
        training_set = maker(seed)
        squared = [Fraction(int(t)) for t in rng.integers(1, 1000, training_set.n_features)]
        svm = exact_svm(training_set, squared, [])
        assert_svm(training_set, svm)
        assert exact_svm(training_set, squared, list(range(training_set.n_rows))).weights == svm.weights


def test_an_inseparable_set_has_no_exact_svm():
    inseparable = TrainingSet([[0], [1], [2]], [1, -1, 1])
    with pytest.raises(InseparableError):
        exact_svm_at(inseparable, [1])
    with pytest.raises(InseparableError, match="not separable"):
        exact_svm(inseparable, [Fraction(1)], [0, 1])
    with pytest.raises(InseparableError, match="rows 0 and 1 are one point with both labels"):
        exact_svm(TrainingSet([[1, 2], [1, 2]], [1, -1]), [Fraction(1)] * 2, [0, 1])


@pytest.mark.parametrize("bits", [1, 8, 20, 53])
def test_squared_factors_are_short_and_near(bits):
    rng = np.random.default_rng(4)
    for exponent in (-300, -3, 0, 4, 300):
        for value in rng.uniform(1, 10, 20).tolist():
            exact = Fraction(value) * Fraction(10) ** exponent
            short = rounded(exact, bits)
            assert abs(short / exact - 1) <= Fraction(1, 2**bits)
            odd = short.numerator * short.denominator
            while odd % 2 == 0:
                odd //= 2
            assert odd.bit_length() <= bits + 1


def test_the_rescaling_as_floats_is_found_where_its_square_is_beyond_a_float():
    svm = ExactClassifier(
        [Fraction(1)] * 3, Fraction(0), {}, [Fraction(2) ** 1600, Fraction(1, 4), Fraction(2) ** -1600]
    )
    assert svm.rescaling.tolist() == [2.0**-800, 2.0, 2.0**800]


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
