"""The walk led by points stays in the complex, finds its least value where it may, and knows costs of its vertices."""

import made_sets
import numpy as np
import pytest
from scipy.optimize import linprog

from rescaleinv.engines.complex.walk import Budget, enumerate_vertices
from rescaleinv.engines.search.led_walk import LedWalk, costs_of
from rescaleinv.engines.search.simplex import L1Simplex
from rescaleinv.theory.training_set import TrainingSet


def walk_of(training_set):
    vertices = enumerate_vertices(training_set, Budget(), n_threads=1)
    return vertices, LedWalk(training_set, vertices.perturbation)


@pytest.mark.parametrize("seed", range(4))
def test_with_budget_enough_it_reaches_all_vertices_of_the_enumeration_and_no_other(seed):
    training_set = made_sets.gaussian(seed, 3)
    vertices, walk = walk_of(training_set)
    known = {
        tuple(basis): solution for basis, solution in zip(vertices.bases.tolist(), vertices.solutions, strict=True)
    }
    start = vertices.bases[0].astype(np.int32)
    reached = {tuple(start.tolist())}

    def value_of(bases, solutions):
        for basis, solution in zip(bases, solutions, strict=True):
            reached.add(tuple(basis.tolist()))
            np.testing.assert_allclose(solution, known[tuple(basis.tolist())], rtol=1e-6, atol=1e-6)
        return solutions[:, 0]

    walk.lead(start, value_of, -np.inf, 10 * len(known))
    assert reached == set(known)
    assert walk.n_expanded == len(known)


def test_the_budget_and_the_goal_end_it():
    training_set = made_sets.gaussian(2, 4)
    vertices, walk = walk_of(training_set)
    start = vertices.bases[0].astype(np.int32)
    walk.lead(start, lambda bases, solutions: np.ones(len(bases)), -np.inf, 3)
    assert walk.n_expanded == 3
    calls = []

    def value_of(bases, solutions):
        calls.append(len(bases))
        return np.full(len(bases), -1.0)

    walk.lead(start, value_of, 0.0, 1000)
    assert len(calls) == 1
    assert walk.n_expanded == 4


def test_vertices_of_no_value_are_not_gone_on_from():
    training_set = made_sets.gaussian(2, 4)
    vertices, walk = walk_of(training_set)
    walk.lead(vertices.bases[0].astype(np.int32), lambda bases, solutions: np.full(len(bases), np.inf), 0.0, 1000)
    assert walk.n_expanded == 1


@pytest.mark.parametrize("maker", ["gaussian", "integer_ties", "duplicated_rows", "one_positive", "unlike_units"])
def test_at_its_costs_a_vertex_is_the_optimum(maker):
    """By HiGHS: no classifier with margins of at least 1 costs less."""
    found = 0
    for seed in range(4):
        training_set = made_sets.MAKERS[maker](seed)
        n = training_set.n_features
        vertex = L1Simplex(training_set).solve(np.exp(np.random.default_rng(seed).normal(size=n)))
        costs = costs_of(training_set, vertex)
        if costs is None:
            continue
        assert (costs > 0)[np.flatnonzero(vertex.signs)].all()
        rows = training_set.conditioned * training_set.signs[:, None]
        matrix = -np.hstack([rows, -rows, training_set.signs[:, None]])
        bounds = [(0, None)] * (2 * n) + [(None, None)]
        cost = np.concatenate([costs, costs, [0.0]])
        least = linprog(cost, matrix, -np.ones(training_set.n_rows), bounds=bounds, method="highs").fun
        assert costs @ np.abs(vertex.weights) == pytest.approx(least, rel=1e-5)
        found += 1
    assert found >= 2


def test_a_vertex_outside_of_the_closure_has_no_costs():
    """With a weight against the only gradient that the two rows can have."""
    training_set = TrainingSet([[0.0], [1.0]], [-1, 1])
    vertex = L1Simplex(training_set).solve(np.ones(1))
    assert costs_of(training_set, vertex) is not None
    turned = type(vertex)(vertex.weights, vertex.intercept, -vertex.signs, vertex.on, vertex.zero, [])
    assert costs_of(training_set, turned) is None
