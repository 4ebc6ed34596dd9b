"""Vertices made exact: in the closure by the exact test, systems solved with and without python-flint."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.search.exact import ExactVertices, solve_exactly
from rescaleinv.engines.search.simplex import L1Simplex
from rescaleinv.errors import CertificateError
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.rationals import solve
from rescaleinv.theory.training_set import TrainingSet

MAKERS = sorted(made_sets.MAKERS)


@pytest.mark.parametrize("maker", MAKERS)
def test_every_vertex_is_in_the_closure(maker):
    for seed in range(7):
        training_set = made_sets.MAKERS[maker](seed)
        simplex = L1Simplex(training_set)
        exact = ExactVertices(training_set)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            costs = np.exp(2 * rng.normal(size=training_set.n_features))
            found = exact.of(simplex.solve(costs), costs)
            assert found is not None
            assert_in_closure(training_set, found)


def assert_in_closure(training_set, vertex):
    margins = training_set.exact_margins(vertex.weights, vertex.intercept)
    assert min(margins) == 1
    signs = [(w > 0) - (w < 0) for w in vertex.weights]
    tight = [i for i, margin in enumerate(margins) if margin == 1]
    assert probe_closed_cell(training_set, tight, signs).holds


def test_large_systems_are_solved_exactly_with_and_without_flint():
    rng = np.random.default_rng(0)
    matrix = rng.integers(-99, 100, (14, 14)).tolist()
    right = rng.integers(-9, 10, 14).tolist()
    answer = solve_exactly(matrix, [right, [1] * 14])
    assert answer == [solve(matrix, right), solve(matrix, [1] * 14)]
    assert all(isinstance(value, Fraction) for value in answer[0])
    matrix[3] = matrix[5]
    assert solve_exactly(matrix, [right]) is None


def test_small_and_singular_systems():
    assert solve_exactly([[2, 0], [0, 4]], [[1, 1], [0, 8]]) == [[Fraction(1, 2), Fraction(1, 4)], [0, 2]]
    assert solve_exactly([[1, 2], [2, 4]], [[1, 2], [0, 1]]) is None


def exact_vertices(training_set, seed, count=4):
    simplex, exact = L1Simplex(training_set), ExactVertices(training_set)
    rng = np.random.default_rng(seed)
    for _ in range(count):
        costs = np.exp(2 * rng.normal(size=training_set.n_features))
        yield exact.of(simplex.solve(costs), costs)


@pytest.mark.parametrize("maker", MAKERS)
def test_at_a_finite_rescaling_near_a_vertex_the_point_has_its_label(maker):
    """Checked by the conditions of an optimum, in rationals, and not by any code of the vertex."""
    rng = np.random.default_rng(0)
    checked = 0
    for seed in range(3):
        training_set = made_sets.MAKERS[maker](seed)
        rows = [[Fraction(x) for x in row] for row in training_set.features.tolist()]
        signs = training_set.signs.tolist()
        for vertex in exact_vertices(training_set, seed):
            mixed = rng.integers(0, training_set.n_rows, 2)
            point = [(a + 3 * b) / 4 for a, b in zip(rows[mixed[0]], rows[mixed[1]], strict=True)]
            value = vertex.value(point)
            if not value:
                continue
            svm = vertex.at_finite_rescaling(point)
            assert svm.decision_value(point) * value > 0
            assert all(d > 0 for d in svm.inverse_squared_rescaling)
            margins = [
                y * sum((w * x for w, x in zip(svm.weights, row, strict=True)), svm.intercept)
                for row, y in zip(rows, signs, strict=True)
            ]
            assert min(margins) == 1
            assert all(a >= 0 and margins[i] == 1 for i, a in svm.multipliers.items())
            assert sum(a * signs[i] for i, a in svm.multipliers.items()) == 0
            for j, (w, d) in enumerate(zip(svm.weights, svm.inverse_squared_rescaling, strict=True)):
                assert d * w == sum(a * signs[i] * rows[i][j] for i, a in svm.multipliers.items())
            checked += 1
    assert checked >= 6


def test_a_point_on_the_hyperplane_of_a_vertex_is_refused():
    training_set = TrainingSet([[0.0, 1], [2, 0]], [-1, 1])
    exact = ExactVertices(training_set)
    vertex = exact.of(L1Simplex(training_set).solve(np.array([1.0, 100.0])), np.array([1.0, 100.0]))
    assert (vertex.weights, vertex.intercept) == ([1, 0], -1)
    with pytest.raises(CertificateError, match="the point lies on the classifier"):
        vertex.at_finite_rescaling([Fraction(1), Fraction(77)])


def test_each_vertex_is_made_exact_once(monkeypatch):
    training_set = made_sets.gaussian(1, 3)
    simplex, exact = L1Simplex(training_set), ExactVertices(training_set)
    vertex = simplex.solve(np.ones(3))
    found = exact.of(vertex, np.ones(3))
    monkeypatch.setattr(exact, "_prove", lambda *arguments: pytest.fail("it is known"))
    assert exact.of(vertex, np.ones(3)) is found


def test_a_row_at_its_cap_needs_caps():
    with pytest.raises(CertificateError, match="row 3 has no cap: with the hard margin no multiplier has one"):
        ExactVertices(made_sets.gaussian(1, 3))._cap(3)
