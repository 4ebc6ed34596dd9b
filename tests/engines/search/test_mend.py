"""Float vertices that miss near ties are mended, one condition at a time."""

import dataclasses

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.search.exact import ExactVertices
from rescaleinv.engines.search.mend import without_violation
from rescaleinv.engines.search.simplex import L1Simplex, Vertex
from rescaleinv.theory.training_set import TrainingSet


def test_a_vertex_that_misses_near_ties_is_mended(monkeypatch):
    """The perturbation is larger than these ties, so that some float vertices are on the wrong side of them."""

    def exact_vertices():
        found = []
        for seed in range(14):
            training_set = made_sets.nearly_tied(seed)
            simplex, exact = L1Simplex(training_set), ExactVertices(training_set)
            rng = np.random.default_rng(seed)
            for _ in range(4):
                costs = np.exp(rng.normal(size=training_set.n_features))
                found.append(exact.of(simplex.solve(costs), costs))
        return found

    assert None not in exact_vertices()
    monkeypatch.setattr("rescaleinv.engines.search.exact.without_violation", lambda *arguments: None)
    assert None in exact_vertices()


def solved(training_set, vertex):
    """(w, b) of the items of a vertex, conditioned units."""
    n = training_set.n_features
    lines = [np.append(training_set.conditioned[i], 1) * training_set.signs[i] for i in vertex.on]
    lines += [np.eye(n + 1)[j] for j in vertex.zero]
    return np.linalg.solve(lines, [1.0] * len(vertex.on) + [0.0] * len(vertex.zero))


def most_violated(training_set, vertex):
    """The row whose margin is least, or the feature whose weight has the wrong sign; None where all is well."""
    solution = solved(training_set, vertex)
    wrong = np.flatnonzero(solution[:-1] * vertex.signs < -1e-9)
    if len(wrong):
        return training_set.n_rows + int(wrong[0])
    margins = training_set.signs * (training_set.conditioned @ solution[:-1] + solution[-1])
    return int(margins.argmin()) if margins.min() < 1 - 1e-9 else None


@pytest.mark.parametrize("seed", range(10))
def test_steps_from_an_optimum_without_a_row_lead_to_the_optimum_with_it(seed):
    """The dual simplex method, of which each mend is one step: large violations are mended like tiny ones."""
    whole = made_sets.gaussian(seed, 3)
    costs = np.exp(np.random.default_rng(seed).normal(size=3))
    best = L1Simplex(whole).solve(costs)
    taken = next(i for i in best.on if (whole.signs == whole.signs[i]).sum() > 1)
    others = np.delete(np.arange(whole.n_rows), taken)
    part = whole.subset(others)
    ratio = np.ldexp(1.0, part.conditioning.exponent - whole.conditioning.exponent)
    found = L1Simplex(part).solve(costs * ratio)  # the same costs in the units of the part
    vertex = dataclasses.replace(found, on=[int(others[i]) for i in found.on])
    assert most_violated(whole, vertex) == taken
    steps = 0
    while (item := most_violated(whole, vertex)) is not None:
        before = {*vertex.on, *(whole.n_rows + j for j in vertex.zero)}
        vertex = without_violation(whole, vertex, costs, item)
        after = {*vertex.on, *(whole.n_rows + j for j in vertex.zero)}
        assert len(after - before) == len(before - after) <= 1
        assert np.flatnonzero(vertex.signs == 0).tolist() == vertex.zero
        steps += 1
        assert steps < 40
    assert costs @ np.abs(solved(whole, vertex)[:-1]) == pytest.approx(costs @ np.abs(best.weights), rel=1e-5)


def test_nothing_gives_way_where_the_items_depend_on_each_other():
    training_set = TrainingSet([[0.0, 0], [1, 1], [1, 1], [2, 0]], [-1, 1, 1, 1])
    vertex = Vertex(np.zeros(2), 0.0, np.ones(2), [0, 1, 2], [], [])
    assert without_violation(training_set, vertex, np.ones(2), 3) is None
