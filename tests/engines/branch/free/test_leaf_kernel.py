"""Suprema of the leaves against both checkers and samples; the least gradient against HiGHS."""

from fractions import Fraction

import numpy as np
import pytest
import second_checker

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
