"""Suprema of the leaves against both checkers and samples; the least gradient against HiGHS."""

from fractions import Fraction

import numpy as np
import pytest
import second_checker
from scipy.optimize import linprog

from rescaleinv import verify
from rescaleinv.engines.branch.free import leaf_kernel as kernel


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


@pytest.mark.parametrize("soft", [False, True])
def test_the_least_gradient_is_that_of_a_linear_program(soft):
    rng = np.random.default_rng(soft)
    impossible = 0
    for _ in range(60):
        m, n = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        G, v = rng.integers(-4, 5, (m, n)).astype(float), rng.normal(size=n)
        positive = np.arange(m) % 2 == 0
        cap = rng.uniform(0.15, 0.4, m) if soft else np.full(m, np.inf)
        rows = rng.choice([0, 0, 0, kernel.OUT, kernel.OUT, kernel.IN if soft else kernel.LESS, kernel.MORE], m).astype(
            np.int64
        )
        low = np.where(rows & kernel.IN, cap, 0.0) if soft else np.zeros(m)
        high = np.where(rows & kernel.OUT, 0.0, cap)
        answer = linprog(G @ v, A_eq=[positive, ~positive], b_eq=[0.5, 0.5], bounds=np.column_stack([low, high]))
        found = kernel.least_gradient(v, G, positive, cap, rows)
        if answer.status == 2:
            assert found == np.inf
            impossible += 1
        else:
            assert found == pytest.approx(answer.fun, abs=1e-8)
    assert 0 < impossible < 50


def test_facts_that_a_pair_needs_are_enough_and_none_is_idle():
    """With the facts that it needs a pair refutes the node; without any one of them it does not."""
    G, positive, cap = np.array([[1.0, 0.5], [2.0, -0.25]]), np.array([True, False]), np.full(2, np.inf)
    free = np.zeros((kernel.N_KINDS, 2))
    free[[kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH]] = np.inf
    facts = [
        (kernel.SIGN, 0, 1.0),
        (kernel.M_LOW, 1, 0.0625),
        (kernel.SIGN, 1, 1.0),
        (kernel.W_HIGH, 0, 0.125),
        (kernel.D_LOW, 0, 0.25),
        (kernel.W_HIGH, 1, 0.25),
    ]

    def value(chosen):
        region = free.copy()
        for kind, item, bound in chosen:
            region[kind, item] = bound
        return kernel.leaf_value(lam, v, G, positive, cap, np.zeros(2, np.int64), region), region

    lam, v = np.array([1.5, 1.0]), np.zeros(2)
    whole, region = value(facts)
    assert whole > 1
    kinds, items = (np.array([fact[k] for fact in facts], dtype=np.int64) for k in (0, 1))
    olds = np.array([free[kind, item] for kind, item, _ in facts])
    needed = kernel.needed_facts(
        lam, v, G, positive, cap, np.zeros(2, np.int64), region, kinds, items, olds, len(facts), 1.0
    )
    kept = [fact for fact, wanted in zip(facts, needed, strict=True) if wanted]
    assert 0 < len(kept) < len(facts)
    assert value(kept)[0] > 1
    for fact in kept:
        assert not value([other for other in kept if other != fact])[0] > 1
