"""The simplex for weighted L1-SVMs against HiGHS, and its vertices against the exact closure test."""

import made_sets
import numpy as np
import pytest
from scipy.optimize import linprog

from rescaleinv.engines.search.simplex import L1Simplex
from rescaleinv.errors import InseparableError, SolverError
from rescaleinv.theory.training_set import TrainingSet

MAKERS = sorted(made_sets.MAKERS)


def least_cost(training_set, costs, pull=None):
    """min Σ c_j |w_j| + pull·(w, b) over C(X) by HiGHS, conditioned units."""
    rows = training_set.conditioned * training_set.signs[:, None]
    matrix = -np.hstack([rows, -rows, training_set.signs[:, None]])
    n = training_set.n_features
    extra = np.zeros(n + 1) if pull is None else pull
    objective = np.concatenate([costs + extra[:n], costs - extra[:n], extra[n:]])
    bounds = [(0, None)] * (2 * n) + [(None, None)]
    return linprog(objective, matrix, -np.ones(training_set.n_rows), bounds=bounds, method="highs").fun


def largest_soft_margin(training_set, costs, caps):
    """max ρ - Σ cap_i ξ_i with Σ c_j |w_j| <= 1 by HiGHS, conditioned units."""
    m, n = training_set.n_rows, training_set.n_features
    rows = training_set.conditioned * training_set.signs[:, None]
    matrix = -np.hstack([rows, -rows, training_set.signs[:, None], -np.ones((m, 1)), np.eye(m)])
    budget = np.concatenate([costs, costs, np.zeros(2 + m)])
    objective = np.concatenate([np.zeros(2 * n + 1), [-1.0], caps])
    bounds = [(0, None)] * (2 * n) + [(None, None)] * 2 + [(0, None)] * m
    right = np.append(np.zeros(m), 1.0)
    return -linprog(objective, np.vstack([matrix, budget]), right, bounds=bounds, method="highs").fun


@pytest.mark.parametrize("maker", MAKERS)
def test_the_optimum_is_that_of_highs(maker):
    for seed in range(7):
        training_set = made_sets.MAKERS[maker](seed)
        simplex = L1Simplex(training_set)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            costs = np.exp(rng.normal(size=training_set.n_features))
            vertex = simplex.solve(costs)
            expected = least_cost(training_set, costs)
            assert costs @ np.abs(vertex.weights) == pytest.approx(expected, rel=1e-5)


def test_a_pull_moves_the_optimum_as_it_should():
    training_set = made_sets.gaussian(3, 4)
    simplex = L1Simplex(training_set)
    costs = np.ones(4)
    pull = np.array([0.05, -0.02, 0.01, 0.0, 0.03])
    vertex = simplex.solve(costs, pull)
    value = np.abs(vertex.weights).sum() + pull @ np.append(vertex.weights, vertex.intercept)
    assert value == pytest.approx(least_cost(training_set, costs, pull), rel=1e-6)


def test_a_pull_without_a_least_value_is_an_error_and_leaves_the_simplex_usable():
    training_set = TrainingSet([[0.0], [1.0], [2.0]], [-1, 1, 1])
    simplex = L1Simplex(training_set)
    with pytest.raises(SolverError, match="the pull is too strong"):
        simplex.solve(np.ones(1), np.array([-5.0, 0.0]))
    assert simplex.solve(np.ones(1)).weights == pytest.approx([8], rel=1e-5)  # conditioned: the gap of 1 is 1/4


def test_classes_that_meet_are_an_error():
    with pytest.raises(InseparableError, match="no hyperplane separates"):
        L1Simplex(TrainingSet([[0.0], [1.0], [2.0]], [1, -1, 1]))
    with pytest.raises(InseparableError, match="the reduced hulls of the classes meet"):
        L1Simplex(TrainingSet([[0.0], [1.0], [2.0], [1.0]], [1, -1, 1, -1]), np.full(4, 0.5))


@pytest.mark.parametrize("seed", range(12))
def test_the_soft_margin_is_that_of_highs(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(12, 50)), int(rng.integers(1, 7))
    points = rng.normal(size=(m, n)) if seed % 2 else rng.integers(0, 4, (m, n)).astype(float)
    labels = np.where(points @ rng.normal(size=n) + rng.normal(size=m) > 0, 1, -1)
    labels[:2] = 1, -1
    training_set = TrainingSet(points, labels)
    share = min(np.mean(labels > 0), np.mean(labels < 0))
    for nu in (1.9 * share, 1.5 * share):
        caps = np.full(m, 1 / (nu * m))
        costs = np.exp(rng.normal(size=n))
        expected = largest_soft_margin(training_set, costs, caps)
        if expected < 1e-7:
            with pytest.raises(InseparableError):
                L1Simplex(training_set, caps)
            continue
        simplex = L1Simplex(training_set, caps)
        for _ in range(5):
            costs = np.exp(rng.normal(size=n))
            simplex.solve(costs)
            solution = simplex.state.solution
            assert 1 / (costs @ np.abs(solution[:n])) == pytest.approx(
                largest_soft_margin(training_set, costs, caps), rel=1e-5
            )
