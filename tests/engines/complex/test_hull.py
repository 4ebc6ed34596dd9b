"""The bounds of points, with and without the vertices inside the hull of the others."""

import made_sets
import numpy as np

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.complex.hull import outer_vertices


def test_outer_vertices_keep_all_bounds_and_drop_what_is_inside():
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(12, 4))
    shares = rng.dirichlet(np.ones(12), size=200)
    solutions = np.vstack([shares @ corners, corners])
    outer = outer_vertices(solutions)
    assert set(range(200, 212)) >= set(outer.tolist())
    points = rng.normal(size=(500, 4))
    values, bounds = points @ solutions.T, points @ solutions[outer].T
    np.testing.assert_allclose(values.min(axis=1), bounds.min(axis=1), atol=1e-10)
    np.testing.assert_allclose(values.max(axis=1), bounds.max(axis=1), atol=1e-10)


def test_large_batches_give_the_same_verdicts(monkeypatch):
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 2)
    engine = ComplexEngine(training_set)
    base = engine.certify(features)
    monkeypatch.setattr("rescaleinv.engines.complex.engine._LARGE_BATCH", 10)
    monkeypatch.setattr("rescaleinv.engines.complex.engine._POINTS_AT_A_TIME", 64)
    pruned = engine.certify(features)
    assert len(engine._outer_solutions) < len(engine.vertices.bases)
    assert (pruned.code == base.code).all()
    np.testing.assert_allclose(pruned.lower, base.lower, rtol=1e-9, atol=1e-9)
