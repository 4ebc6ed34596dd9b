"""The compiled steps: their records against the vertices, their inverse against numpy's, and the states that they report."""

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.search import kernel
from rescaleinv.engines.search.simplex import L1Simplex
from rescaleinv.errors import InseparableError
from rescaleinv.theory.training_set import TrainingSet

MAKERS = sorted(made_sets.MAKERS)


def matrix_of(simplex):
    """The lines of the items: rows, features without weight, and ρ = 1, which is what the normalisation says here."""
    m, n = simplex.n_rows, simplex.n_features
    lines = []
    for item in simplex.state.items.tolist():
        if item < m:
            lines.append(simplex.rows.columns[:, item])
        elif item < m + n:
            lines.append(np.eye(n + 2)[item - m])
        else:
            lines.append(np.eye(n + 2)[n + 1])
    return np.array(lines)


@pytest.mark.parametrize("maker", MAKERS)
def test_the_state_is_that_of_its_items(maker):
    """After many exchanges: the inverse, the solution, the slacks and the signs are those that numpy computes anew."""
    training_set = made_sets.MAKERS[maker](3)
    simplex = L1Simplex(training_set)
    rng = np.random.default_rng(0)
    n = training_set.n_features
    for _ in range(12):
        simplex.solve(np.exp(1.5 * rng.normal(size=n)))
        state, matrix = simplex.state, matrix_of(simplex)
        assert sorted(set(state.items.tolist())) == sorted(state.items.tolist())
        size = max(1.0, float(np.abs(state.inverse).max()))
        np.testing.assert_allclose(matrix @ state.inverse.T, np.eye(n + 2), atol=1e-7 * size)
        slack = simplex.rows.columns.T @ state.solution - simplex.rows.shifts
        np.testing.assert_allclose(state.slack, slack, atol=1e-7 * size)
        assert state.slack.min() > -1e-6
        on = [item for item in state.items.tolist() if item < training_set.n_rows]
        assert np.flatnonzero(state.row_state == kernel.ON).tolist() == sorted(on)
        assert not (state.row_state == kernel.IN).any()
        weights = state.solution[:n]
        assert ((state.sign == 0) | (np.sign(weights) == state.sign) | (np.abs(weights) < 1e-6)).all()


def test_classes_that_meet_have_no_end(monkeypatch):
    statuses, solve = [], kernel.solve

    def recorded(*arguments):
        statuses.append(solve(*arguments))
        return statuses[-1]

    monkeypatch.setattr(kernel, "solve", recorded)
    with pytest.raises(InseparableError):
        L1Simplex(TrainingSet([[0.0], [1], [2]], [1, -1, 1]))
    L1Simplex(TrainingSet([[0.0], [1], [2]], [1, -1, -1]))
    assert statuses == [kernel.NO_END, kernel.FOUND]


def test_too_few_steps_are_said_and_can_be_gone_on_from():
    training_set = made_sets.gaussian(5, 6)
    simplex, fresh = L1Simplex(training_set), L1Simplex(training_set)
    rng = np.random.default_rng(1)
    stopped = 0
    for _ in range(8):
        costs = np.exp(3 * rng.normal(size=training_set.n_features))
        before = simplex.n_steps
        status = kernel.solve(simplex._large, simplex.rows, simplex.state, costs, simplex.no_pull, 1, False)
        assert status in (kernel.STOPPED, kernel.FOUND)
        assert simplex.n_steps - before == (status == kernel.STOPPED)
        stopped += status == kernel.STOPPED
        found = simplex.solve(costs)
        assert costs @ np.abs(found.weights) == pytest.approx(costs @ np.abs(fresh.solve(costs).weights), rel=1e-6)
    assert stopped
