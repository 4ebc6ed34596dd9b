"""The compiled simplex method against HiGHS, and suprema of the leaves against both checkers."""

from fractions import Fraction

import numpy as np
import pytest
import second_checker
from scipy.optimize import linprog

from rescaleinv import verify
from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free import simplex_kernel as simplex
from rescaleinv.engines.branch.free.node_lp import NodeLP


def by_highs(lp):
    """The same linear program, written down anew; margins that may fall short get a variable each."""
    n, m, extra = lp.n, lp.m, int(lp.sizes[simplex.N_EXTRA])
    soft = np.isfinite(lp.cap)
    A = np.zeros((m + extra, 2 * n + m + m))
    A[:m, :n], A[:m, 2 * n + m :] = lp.G, np.diag(soft.astype(float))
    for f in range(extra):
        j, (cw, cm, cp) = lp.feature[f], lp.coefficients[:, f]
        A[m + f, j], A[m + f, n + j], A[m + f, 2 * n : 2 * n + m] = cw, cp, cm * lp.G[:, j]
    right = np.concatenate([np.ones(m), lp.kink[m + 2 : m + 2 + extra]])
    sums = np.zeros((2, A.shape[1]))
    sums[0, 2 * n : 2 * n + m], sums[1, 2 * n : 2 * n + m] = lp.positive, ~lp.positive
    cost = np.concatenate([lp.cost, np.where(soft, lp.cap, 0.0)])
    bounds = [*zip(lp.low, lp.high, strict=True), *[(0, None if s else 0) for s in soft]]
    return linprog(cost, -A, -right, sums, [0.5, 0.5], bounds, method="highs-ds")


def a_walk_of_facts(seed, soft):
    """A linear program to which one fact after the other is added, as nodes do."""
    rng = np.random.default_rng([seed, soft])
    n, m = int(rng.integers(2, 9)), int(rng.integers(6, 40))
    positive = np.arange(m) % 2 == 0
    normal = rng.normal(size=n)
    G = rng.normal(size=(m, n)) + (0.6 + (rng.random((m, 1)) if soft else 1.5)) * normal
    cap = np.full(m, 2.0 / m) if soft else np.full(m, np.inf)
    lp = NodeLP(G, positive, cap)
    region = np.zeros((kernel.N_KINDS, n))
    region[[kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH]] = np.inf
    for _ in range(14):
        yield lp, region
        j = int(rng.integers(n))
        g = region[:, j]
        w, mu = abs(lp.x[j]), abs(lp.gradient()[j])
        if not g[kernel.SIGN]:
            g[kernel.SIGN] = 1.0 if normal[j] > 0 else -1.0
        elif rng.random() < 0.5:
            kind = int(rng.choice([kernel.D_LOW, kernel.D_HIGH]))
            inside = min(max(mu / (w + 1e-6), g[kernel.D_LOW]), g[kernel.D_HIGH])
            g[kind] = inside
        else:
            kind = int(rng.choice([kernel.W_LOW, kernel.M_LOW]))
            g[kind] = max(g[kind], 0.7 * (w if kind == kernel.W_LOW else mu))
        lp.know_weight(j, g)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_another_solver(seed, soft):
    statuses = set()
    for lp, region in a_walk_of_facts(seed, soft):
        status, value = lp.relax(region)
        other = by_highs(lp)
        statuses.add(status)
        if status == simplex.INFEASIBLE:
            assert other.status == 2
            break
        assert status == simplex.OPTIMAL
        assert value == pytest.approx(other.fun, abs=1e-6)
        assert lp.r[: lp.m][np.isinf(lp.cap)].min(initial=1.0) > 1 - 1e-7
    assert simplex.OPTIMAL in statuses


def regions(count):
    rng = np.random.default_rng(4)
    for _ in range(count):
        low, wl, ml = (float(x) if rng.random() < 0.5 else 0.0 for x in rng.integers(1, 8, 3) / 4)
        high, wu, mu = (
            float(least + x) if rng.random() < 0.6 else np.inf
            for least, x in zip((low, wl, ml), rng.integers(0, 9, 3) / 4, strict=True)
        )
        W, v = rng.integers(-8, 9, 2) / 4
        yield float(W), float(v), float(rng.choice([-1.0, 1.0])), low, high, wl, wu, ml, mu


def by_the_checker(W, v, sign, ends):
    known = verify._tightened((sign, *ends))
    return -np.inf if known is None else verify._largest_term(W, v, known)


def by_the_second_checker(W, v, sign, ends):
    low, high, w_low, w_high, m_low, m_high = ends
    planes = [
        (Fraction(-1), Fraction(0), -w_low),
        (Fraction(0), Fraction(-1), -m_low),
        (low, Fraction(-1), Fraction(0)),
    ]
    planes += [] if high is None else [(-high, Fraction(1), Fraction(0))]
    planes += [] if w_high is None else [(Fraction(1), Fraction(0), w_high)]
    planes += [] if m_high is None else [(Fraction(0), Fraction(1), m_high)]
    return second_checker.supremum(planes, sign * W, sign * v) if second_checker.corners(planes) else -np.inf


def exactly(W, v, sign, *bounds):
    """The supremum by both checkers: inf where they refuse it, -inf where the region is empty."""
    ends = [None if np.isinf(bound) else Fraction(bound) for bound in bounds]
    found = []
    for checker in (by_the_checker, by_the_second_checker):
        try:
            found.append(checker(Fraction(W), Fraction(v), int(sign), ends))
        except (verify.Refused, second_checker.No):
            found.append(np.inf)
    assert found[0] == found[1]
    return float(found[0])


def test_suprema_of_features_are_those_of_both_checkers_and_bound_samples():
    rng = np.random.default_rng(5)
    finite = 0
    for case in regions(3000):
        W, v, sign, low, high, wl, wu, ml, mu = case
        found, exact = kernel.supremum(*case), exactly(*case)
        assert found == exact or found == pytest.approx(exact, abs=1e-9)
        grid_w, grid_m = np.meshgrid(wl + 4 * rng.random(60), ml + 4 * rng.random(60))
        inside = (
            (grid_w <= wu) & (grid_m <= mu) & (grid_m >= low * grid_w) & (np.isinf(high) | (grid_m <= high * grid_w))
        )
        values = (sign * W * grid_w + sign * v * grid_m - grid_w * grid_m)[inside]
        assert values.max(initial=-np.inf) <= found + 1e-9
        finite += bool(np.isfinite(found) and len(values))
    assert finite > 300
