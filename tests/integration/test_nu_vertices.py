"""The enumeration of benchmarks.nu_vertices against every basis of small sets, one after the other."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from benchmarks.nu_complex import enumerate_vertices, l1_svm, largest_least, random_costs


def overlapping(seed, m=10, n=3, digits=None):
    rng = np.random.default_rng(seed)
    signs = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    rows = rng.normal(size=(m, n)) + 0.8 * signs[:, None] * rng.random(n)
    rows = rows if digits is None else np.round(rows, digits)
    return rows, signs, np.full(m, 1 / (0.75 * m))


def least_by_highs(slopes, base, side, caps, sums):
    k, p = slopes.shape
    equal = np.array([[*(side == c), 0] for c in (0, 1)], float)
    answer = linprog(
        [*np.zeros(p), -1],
        np.column_stack([-slopes, np.ones(k)]),
        base,
        equal,
        sums,
        [*((0, cap) for cap in caps), (None, None)],
    )
    return -answer.fun if answer.status == 0 else None


def by_brute_force(rows, signs, caps):
    """Every choice of features and rows on the margin, put to the conditions one by one."""
    m, n = rows.shape
    found = []
    for k in range(1, n + 1):
        for features in map(list, combinations(range(n), k)):
            for on in map(list, combinations(range(m), k + 1)):
                matrix = signs[on, None] * np.column_stack([rows[np.ix_(on, features)], np.ones(k + 1)])
                if abs(np.linalg.det(matrix)) < 1e-12:
                    continue
                z = np.linalg.solve(matrix, np.ones(k + 1))
                margins = signs * (rows[:, features] @ z[:k] + z[k])
                inside = margins < 1
                inside[on] = False
                side = np.where(signs[on] > 0, 0, 1)
                sums = np.array([0.5 - caps[inside & (signs == s)].sum() for s in (1, -1)])
                turned = np.sign(z[:k])[:, None] * (signs[:, None] * rows[:, features]).T
                least = least_by_highs(turned[:, on], turned[:, inside] @ caps[inside], side, caps[on], sums)
                if least is not None and least > 1e-9:
                    vertex = np.zeros(n + 1)
                    vertex[features], vertex[n] = z[:k], z[k]
                    found.append(vertex / np.abs(z[:k]).max())
    return np.array(found)


def apart(one, other):
    """How far the vertices of one are at most from the nearest one of the other."""
    return max(np.abs(other - vertex).max(axis=1).min() for vertex in one)


@pytest.mark.parametrize("seed", range(4))
def test_the_walk_finds_what_trying_every_basis_finds(seed):
    rows, signs, caps = overlapping(seed)
    expected, found = by_brute_force(rows, signs, caps), enumerate_vertices(rows, signs, caps, most=2000)
    assert found.complete
    assert found.counts["broken"] == found.counts["unbounded"] == found.counts["not confirmed"] == 0
    assert len(found.vertices) == len(expected) > 1
    assert max(apart(expected, found.vertices), apart(found.vertices, expected)) < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_every_vertex_of_random_costs_is_there_though_rows_are_degenerate(seed):
    rows, signs, caps = overlapping(seed, m=30, n=4, digits=1)
    found = enumerate_vertices(rows, signs, caps, most=20_000)
    assert found.complete
    rng = np.random.default_rng(seed)
    for _ in range(40):
        w, b, *_ = l1_svm(rows, signs, caps, random_costs(rng, 4))
        vertex = np.append(w, b) / np.abs(w).max()
        assert np.abs(found.vertices - vertex).max(axis=1).min() < 1e-6


def test_a_limit_stops_the_walk_and_is_named():
    found = enumerate_vertices(*overlapping(0, m=30, n=4), most=5)
    assert (found.complete, found.stopped_by, found.bases) == (False, "vertices", 5)


def test_the_linear_program_of_an_edge_has_the_value_that_highs_finds():
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(200):
        k, p = int(rng.integers(1, 6)), int(rng.integers(2, 8))
        side = np.where(np.arange(p) % 2 == 0, 0, 1)
        caps = np.full(p, 0.1)
        sums = np.array([caps[side == c].sum() * rng.choice([0.0, 0.3, 0.5, 1.0]) for c in (0, 1)])
        slopes, base = rng.normal(size=(k, p)), rng.normal(size=k) * 0.1
        expected = least_by_highs(slopes, base, side, caps, sums)
        value = largest_least(slopes, base, side, caps, sums)
        if expected > 0:  # the method stops at the first value that is clearly positive
            assert 0 < value <= expected + 1e-9
        else:
            compared += 1
            assert value == pytest.approx(expected, abs=1e-9)
    assert compared > 20
