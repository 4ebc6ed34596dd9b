"""Small integer training sets of every shape: exact against float, point form against pair form, and invariances."""

from fractions import Fraction

import numpy as np
import pair_form
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rescaleinv.errors import InseparableError
from rescaleinv.theory.exact_svm import exact_svm
from rescaleinv.theory.optimality import in_closure, is_rescale_optimal, rescaling_of
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.svm import exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

CHECKS = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def training_sets(draw, most_features=4):
    """1 to 4 features, 2 to 8 points, of which integers near 0 make ties, duplicates and constant features."""
    n = draw(st.integers(1, most_features))
    size = draw(st.integers(2, 8))
    largest = draw(st.sampled_from([1, 2, 5]))
    row = st.lists(st.integers(-largest, largest), min_size=n, max_size=n)
    rows = draw(st.lists(row, min_size=size, max_size=size))
    labels = [1, -1, *draw(st.lists(st.sampled_from([1, -1]), min_size=size - 2, max_size=size - 2))]
    return TrainingSet(np.array(rows, dtype=float), labels)


@st.composite
def separable_sets(draw, most_features=4):
    """The sets as they are drawn, if separable; else with labels by the side of a hyperplane."""
    training_set = draw(training_sets(most_features))
    try:
        short_svm(training_set)
    except InseparableError:
        weights = np.array(
            draw(st.lists(st.integers(-2, 2), min_size=training_set.n_features, max_size=training_set.n_features))
        )
        scores = training_set.features @ weights
        threshold = draw(st.sampled_from(sorted(set(scores.tolist()))))
        labels = np.where(scores >= threshold, 1, -1)
        assume(abs(labels.sum()) < len(labels))
        training_set = TrainingSet(training_set.features, labels)
    return training_set


def short_svm(training_set, squared=None):
    """Without a float's guess."""
    return exact_svm(training_set, [Fraction(1)] * training_set.n_features if squared is None else squared, [])


squares = st.lists(st.fractions(Fraction(1, 9), 9, max_denominator=9), min_size=4, max_size=4)


@given(training_sets(), squares)
@CHECKS
def test_there_is_an_exact_svm_iff_the_set_is_separable(training_set, squared):
    try:
        svm = short_svm(training_set, squared[: training_set.n_features])
    except InseparableError:
        assert not is_separable(training_set)
        return
    assert is_separable(training_set)
    assert min(training_set.exact_margins(svm.weights, svm.intercept)) == 1


@given(separable_sets(), squares)
@CHECKS
def test_the_float_svm_is_the_exact_one(training_set, squared):
    squared = squared[: training_set.n_features]
    exact = short_svm(training_set, squared)
    near = minimal_norm_svm(training_set, [float(t) ** 0.5 for t in squared])
    expected = np.array([float(w) for w in exact.weights])
    assert np.abs(near.weights - expected).max() <= 1e-7 * np.abs(expected).max()
    assert abs(near.intercept - float(exact.intercept)) <= 1e-7 * (1 + np.abs(expected).max())
    guided = exact_svm_at(training_set, [float(t) ** 0.5 for t in squared])
    assert is_rescale_optimal(training_set, guided.weights, guided.intercept, tolerance=0)


@given(separable_sets(most_features=3), squares, squares, st.data())
@CHECKS
def test_the_point_form_is_the_pair_form(training_set, first, second, data):
    n = training_set.n_features
    u, v = (short_svm(training_set, squared[:n]).weights for squared in (first, second))
    share = data.draw(st.fractions(0, 1, max_denominator=4))
    dropped = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    candidate = [Fraction(0) if gone else share * a + (1 - share) * b for a, b, gone in zip(u, v, dropped, strict=True)]
    least = min(pair_form.dot(candidate, pair) for pair in pair_form.pair_vectors(training_set))
    candidates = [u, v, *([[w / least for w in candidate]] if least > 0 else [])]
    for weights in candidates:
        assume(len(pair_form.tight_pairs(training_set, weights)) <= 16)  # enough bases for the reference
        assert is_rescale_optimal(training_set, weights, tolerance=0) == pair_form.is_rescale_optimal(
            training_set, weights
        )
        assert in_closure(training_set, weights, tolerance=0) == pair_form.in_closure(training_set, weights)
    assert is_rescale_optimal(training_set, u, tolerance=0)


@given(separable_sets(), squares)
@CHECKS
def test_the_rescaling_found_gives_the_weights_back(training_set, squared):
    svm = short_svm(training_set, squared[: training_set.n_features])
    factors = rescaling_of(training_set, svm.weights, svm.intercept, tolerance=0).factors
    again = exact_svm_at(training_set, factors, bits=53)
    expected = np.array([float(w) for w in svm.weights])
    assert np.abs(np.array([float(w) for w in again.weights]) - expected).max() <= 1e-9 * np.abs(expected).max()


@given(separable_sets(), squares, st.data())
@CHECKS
def test_units_offsets_and_order_change_nothing(training_set, squared, data):
    """Features times powers of two, exact translations, other orders of rows and features: the same answers, exactly."""
    n = training_set.n_features
    squared = squared[:n]
    powers = data.draw(st.lists(st.integers(-40, 40), min_size=n, max_size=n))
    offsets = data.draw(st.lists(st.integers(-1000, 1000), min_size=n, max_size=n))
    columns = data.draw(st.permutations(range(n)))
    rows = data.draw(st.permutations(range(training_set.n_rows)))
    changed = np.ldexp(training_set.features + np.array(offsets), powers)[rows][:, columns]
    other = TrainingSet(changed, training_set.signs[rows])
    svm = short_svm(training_set, squared)
    # τ goes with the units: x * 2**p takes τ * 2**-p, and so does w
    units = [Fraction(2) ** p for p in powers]
    twin = short_svm(other, [squared[j] / units[j] ** 2 for j in columns])
    assert twin.weights == [svm.weights[j] / units[j] for j in columns]
    assert twin.intercept == svm.intercept - sum(w * c for w, c in zip(svm.weights, offsets, strict=True))
    # a limit, too, or no SVM at all, is what it was
    part = [Fraction(0), *svm.weights[1:]]
    least = min(pair_form.dot(part, pair) for pair in pair_form.pair_vectors(training_set))
    for weights in (svm.weights, *([[w / least for w in part]] if least > 0 else [])):
        moved = [weights[j] / units[j] for j in columns]
        for ask in (is_rescale_optimal, in_closure):
            assert ask(other, moved, tolerance=0) == ask(training_set, weights, tolerance=0)
            floats = [float(w) for w in weights]
            assert ask(other, [floats[j] / 2.0 ** powers[j] for j in columns]) == ask(training_set, floats)
