"""Compiled steps against rational ones, at every vertex."""

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.complex import exact_walk, kernel, walk
from rescaleinv.engines.redundant_rows import without_inner_rows

MAKERS = sorted(made_sets.MAKERS)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("maker", MAKERS)
def test_compiled_steps_equal_rational_steps_at_every_vertex(maker, seed):
    training_set = without_inner_rows(made_sets.MAKERS[maker](seed, 2 + seed))
    vertices = walk.enumerate_vertices(training_set, walk.Budget(vertices=60), n_threads=1)
    known = {tuple(basis) for basis in vertices.bases.tolist()}
    tables = walk.training_tables(training_set, vertices.perturbation)
    n = training_set.n_features
    decided = 0
    for basis, solution in zip(vertices.bases[:60], vertices.solutions, strict=False):
        edges, exact_solution = exact_walk.expand_exactly(training_set, vertices.perturbation, basis.tolist())
        expected = exact_walk.neighbours_along(basis.tolist(), edges, training_set.n_rows)
        np.testing.assert_allclose(solution, exact_solution, rtol=1e-9, atol=1e-9 * np.abs(solution).max())
        assert vertices.stopped or all(tuple(neighbour) in known for neighbour in expected)
        for with_residues in (False, True):
            room, ends = np.empty((2 * n + 1, n + 1), dtype=np.int32), np.empty((1, 2 * n + 1), dtype=np.int64)
            count, floats = np.empty(1, dtype=np.int64), np.empty((1, n + 1))
            workspace = walk.workspace(training_set.n_rows, n)
            kernel.expand_block(basis[None, :], tables, with_residues, workspace, room[None], ends, count, floats)
            assert count[0] != kernel.INVALID
            if count[0] >= 0:
                decided += 1
                assert room[: count[0]].tolist() == expected
                found = [end if end >= 0 else -1 for end in ends[0, : len(edges)].tolist()]
                assert found == [edge if isinstance(edge, int) else -1 for edge in edges]
    assert decided
