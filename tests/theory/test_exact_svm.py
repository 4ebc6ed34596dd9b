"""Exact SVMs by their own conditions, from good and bad guesses of the rows that support them."""

from fractions import Fraction
from itertools import combinations

import made_sets
import numpy as np
import pytest
from exact_conditions import assert_svm

from rescaleinv.errors import InseparableError
from rescaleinv.theory.exact_svm import ExactClassifier, exact_svm
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.svm import exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

SHIPPED = ("breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote")


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
    with pytest.raises(InseparableError, match="rows 0 and 1 are the same point with both labels"):
        exact_svm(TrainingSet([[1, 2], [1, 2]], [1, -1]), [Fraction(1)] * 2, [0, 1])


def test_the_rescaling_as_floats_is_found_where_its_square_is_beyond_a_float():
    svm = ExactClassifier(
        [Fraction(1)] * 3, Fraction(0), {}, [Fraction(2) ** 1600, Fraction(1, 4), Fraction(2) ** -1600]
    )
    assert svm.rescaling.tolist() == [2.0**-800, 2.0, 2.0**800]


def test_an_exact_classifier_as_json_is_made_of_exact_numbers():
    svm = exact_svm_at(TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1]), [3, 1])
    shown = svm.to_json_object()
    assert shown["weights"] == ["1", "1"]
    assert shown["intercept"] == "-3"
    assert {int(i): Fraction(a) for i, a in shown["multipliers"].items()} == svm.multipliers
    assert [Fraction(d) for d in shown["inverse_squared_rescaling"]] == svm.inverse_squared_rescaling
    assert svm.decision_value([Fraction(1, 3), Fraction(1, 7)]) == Fraction(1, 3) + Fraction(1, 7) - 3
