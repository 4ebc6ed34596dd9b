"""Corollary 8 against the definition: one vector for all rescalings, or not."""

from fractions import Fraction

import numpy as np
import pytest
from made_sets import MAKERS, random_rescaling
from scipy.optimize import linprog

import rescaleinv.theory.invariance
from rescaleinv.errors import InseparableError
from rescaleinv.theory.invariance import check_invariance
from rescaleinv.theory.optimality import is_rescale_optimal
from rescaleinv.theory.rationals import nonnegative_solution
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet


def small(seed):
    """Few integer points with 1 to 4 features, cut by a hyperplane anywhere."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 4
    while True:
        points = rng.integers(-2, 3, (int(rng.integers(2, 5 + n)), n)).astype(float)
        scores = points @ rng.integers(-2, 3, n)
        levels = np.unique(scores)
        if len(levels) > 1:
            return TrainingSet(points, np.where(scores > levels[rng.integers(len(levels) - 1)], 1, -1))


def corner(seed):
    """Example 3's kind: Λ(X) has an inverse without negative entries, so that no rescaling makes a difference.

    One entry spoils it in every other set, so that some are invariant and some are not.
    """
    rng = np.random.default_rng(seed)
    n = 2 + seed % 3
    links = -rng.integers(0, 3, (n, n)).astype(float)
    np.fill_diagonal(links, 1 - links.sum(axis=1) + rng.integers(0, 3, n))  # diagonally dominant
    if seed % 2:
        links[rng.integers(n)] += rng.integers(1, 5, n)
    signs = rng.choice([-1.0, 1.0], n)
    centre = rng.integers(-3, 4, n)
    farther = [centre + 2 * links[rng.integers(n)] * signs * 3 for _ in range(int(rng.integers(0, 3)))]
    return TrainingSet(np.vstack([centre, centre + 2 * links * signs, *farther]), [-1] + [1] * (n + len(farther)))


def sampled_weights(ts, seed):
    """Weights in units that make ranges alike, at rescalings all over and with each feature large or small in turn."""
    rng = np.random.default_rng(seed)
    units = np.ldexp(1.0, ts.conditioning.exponent)
    taus = [random_rescaling(rng, ts.n_features) for _ in range(15)]
    for j in range(ts.n_features):
        for factor in (1e-3, 1e3):
            taus.append(np.where(np.arange(ts.n_features) == j, factor, 1.0))
    return np.array([minimal_norm_svm(ts, tau / units).weights * units for tau in taus])


def all_equal(weights):
    return np.abs(weights - weights[0]).max() <= 1e-7 * np.abs(weights).max()


def corollary_8(ts):
    """As the paper writes it: linear programs over all the vectors of Λ(X), then is w in G(X)? In floats."""
    v = minimal_norm_svm(ts).weights
    v = np.where(np.abs(v) < 1e-12 * np.abs(v).max(), 0, v)
    least = np.zeros(ts.n_features)
    for j in np.flatnonzero(v):
        sign = np.sign(v[j])
        bounds = [(None, None)] * ts.n_features
        bounds[j] = (0, None) if sign > 0 else (None, 0)
        cost = np.where(np.arange(ts.n_features) == j, sign, 0)
        answer = linprog(cost, -ts.margin_vectors, -np.ones(ts.n_pairs), bounds=bounds, method="highs")
        least[j] = sign * answer.fun
    return (ts.margin_vectors @ least).min() >= 1 - 1e-7, least


def proves_one_vector(ts, weights):
    """No u in G(X) has |u_j| < |w_j| for any j: an exact proof over Λ(X), by Farkas, in other words than the package's."""
    vectors = [[Fraction(x) for x in row] for row in ts.margin_vectors.tolist()]
    for j, w in enumerate(weights):
        if not w:
            continue
        # r >= 0 with Σ r_i λ_i = sign(w_j) e_j and Σ r_i = |w_j| + surplus
        lines = [[vector[k] for vector in vectors] + [Fraction(0)] for k in range(ts.n_features)]
        lines.append([Fraction(1)] * len(vectors) + [Fraction(-1)])
        right = [Fraction((w > 0) - (w < 0)) if k == j else Fraction(0) for k in range(ts.n_features)]
        if nonnegative_solution(lines, [*right, abs(w)]).solution is None:
            return False
    return True


@pytest.mark.parametrize("make", [small, corner])
def test_the_answer_is_that_of_the_definition_and_of_the_corollary_as_written(make):
    answers = {True: 0, False: 0}
    for seed in range(40):
        ts = make(seed)
        answer = check_invariance(ts)
        answers[answer.invariant] += 1
        as_written, least = corollary_8(ts)
        assert answer.invariant == as_written
        assert answer.invariant == all_equal(sampled_weights(ts, seed))
        if answer.invariant:
            assert answer.proved
            assert answer.weights == pytest.approx(least, abs=1e-7)
            assert is_rescale_optimal(ts, answer.weights, answer.intercept)
            assert proves_one_vector(ts, [Fraction(w).limit_denominator(10**6) for w in answer.weights.tolist()])
        else:
            assert (answer.weights, answer.intercept) == (None, None)
    assert min(answers.values()) >= 10


@pytest.mark.parametrize("name", MAKERS)
def test_made_sets(name):
    for seed in range(7):
        ts = MAKERS[name](seed)
        answer = check_invariance(ts)
        weights = sampled_weights(ts, seed)
        if answer.invariant:
            assert all_equal(weights)
            expected = np.ldexp(answer.weights, ts.conditioning.exponent)
            assert weights[0] == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())
        else:
            assert not all_equal(weights)


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("constant_feature", "proportional_features")])
def test_with_one_feature_nothing_depends_on_scaling(name):
    for seed in range(5):
        ts = MAKERS[name](seed, n_features=1)
        answer = check_invariance(ts)
        assert answer.invariant
        assert answer.proved
        low, high = sorted([(ts.positives.min(), ts.positives.max()), (ts.negatives.min(), ts.negatives.max())])
        gap = Fraction(high[0]) - Fraction(low[1])
        assert abs(answer.weights[0]) == pytest.approx(float(2 / gap), rel=1e-12)


def test_a_constant_feature_changes_nothing():
    for seed in range(12):
        ts = small(seed)
        wider = TrainingSet(np.insert(ts.features, seed % (ts.n_features + 1), 7.5, axis=1), ts.signs)
        answer, wider_answer = check_invariance(ts), check_invariance(wider)
        assert answer.invariant == wider_answer.invariant
        if answer.invariant:
            assert np.delete(wider_answer.weights, seed % (ts.n_features + 1)) == pytest.approx(answer.weights)
            assert wider_answer.weights[seed % (ts.n_features + 1)] == 0


@pytest.mark.parametrize("factor", [1.0, -3.0, 0.25, 1e5])
def test_a_proportional_feature_takes_weight_from_its_source(factor):
    """Scaling decides how two copies of one feature share the weight: several vectors, though labels may agree."""
    ts = TrainingSet([[0, 0], [1, factor], [3, 3 * factor]], [-1, 1, 1])
    assert not check_invariance(ts).invariant
    assert not all_equal(sampled_weights(ts, 0))


def test_inseparable_data_are_refused():
    with pytest.raises(InseparableError, match="already conflict"):
        check_invariance(TrainingSet([[0], [1], [2]], [1, -1, 1]))


@pytest.mark.parametrize("make", [small, corner])
def test_the_quick_proof_and_the_thorough_one_agree(make, monkeypatch):
    """Where the rows of the float programs do not prove it, exact programs over all the tight rows decide."""
    quick = [check_invariance(make(seed)) for seed in range(24)]
    monkeypatch.setattr(rescaleinv.theory.invariance, "_classifier_of_least_weights", lambda *arguments: None)
    monkeypatch.setattr(rescaleinv.theory.invariance, "_CLEARLY_LOWER", float("inf"))  # floats decide nothing
    for seed, answer in enumerate(quick):
        thorough = check_invariance(make(seed))
        assert thorough.proved
        assert thorough.invariant == answer.invariant
        if answer.invariant:
            assert np.array_equal(thorough.weights, answer.weights)
            assert thorough.intercept == answer.intercept


def test_the_quick_proof_refuses_what_is_not_so():
    """Given rows or signs that do not fit, it finds no proof rather than a wrong one."""
    find = rescaleinv.theory.invariance._classifier_of_least_weights
    varied = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    invariant = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])
    assert find(varied, np.array([1, 1]), np.array([0, 1, 3])) is None  # the row (7/5, 7/5) would be violated
    assert find(varied, np.array([1, 1]), np.array([0, 2, 3])) is None  # a negative multiplier
    assert find(invariant, np.array([1, -1]), np.array([0, 1, 2])) is None
    assert find(invariant, np.array([1, 0]), np.array([0, 1, 2])) is None
    assert find(invariant, np.array([1, 1]), np.array([0, 1])) is None
    assert find(invariant, np.array([1, 1]), np.array([], dtype=int)) is None
    assert find(invariant, np.array([1, 1]), np.array([0, 1, 2])) == ([1, 1], -3)


def test_powers_of_two_and_exact_translations_change_nothing():
    for seed in range(16):
        ts = corner(seed)
        powers = np.random.default_rng(seed).integers(-30, 31, ts.n_features)
        moved = TrainingSet(np.ldexp(ts.features + 1000, powers), ts.signs)
        answer, there = check_invariance(ts), check_invariance(moved)
        assert (answer.invariant, answer.proved) == (there.invariant, there.proved)
        if answer.invariant:
            assert np.array_equal(np.ldexp(there.weights, powers), answer.weights)
