"""Steps in rationals notice what is not a vertex of the complex."""

import numpy as np
import pytest

from rescaleinv.engines.complex import exact_walk
from rescaleinv.theory.optimality import CellTest
from rescaleinv.theory.training_set import TrainingSet


def test_a_vertex_outside_of_the_closure_is_noticed(monkeypatch):
    training_set = TrainingSet([[1.0, 1], [-1, -1]], [1, -1])
    perturbation = np.array([2, 3])
    basis = exact_walk.first_basis(training_set, perturbation)
    assert exact_walk.expand_exactly(training_set, perturbation, basis)
    monkeypatch.setattr(exact_walk, "probe_closed_cell", lambda *_: CellTest(None, None))
    with pytest.raises(exact_walk.WalkLostError, match="closure"):
        exact_walk.expand_exactly(training_set, perturbation, basis)
