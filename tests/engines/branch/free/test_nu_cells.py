"""Cells of the closure with a ν-margin: the exact test against a linear program in floats, and what a direction says."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from rescaleinv import TrainingSet
from rescaleinv.engines.branch.free.nu_cells import NuDirection, examined_cell, may_be_direction, one_feature
from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.theory.exact_nu import IN, ON, OUT
from rescaleinv.theory.nu_margin import NuMargin


def made(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(6, 11))
    X, y = rng.integers(0, 4, size=(m, n)).astype(float), np.array([1, -1] * m)[:m]
    X[y > 0] += rng.integers(0, 2, size=n)
    training_set = TrainingSet(X, y)
    problem = PointProblem(
        training_set,
        [Fraction(int(x)) for x in rng.integers(0, 4, size=n)],
        np.ones(n),
        caps=NuMargin(Fraction(2, 3), np.ones(m)).exact_caps,
    )
    states = rng.choice([OUT, ON, ON, ON, IN], size=m).tolist()
    signs = rng.choice([-1, 0, 1, 1], size=n).tolist()
    return problem, states, signs


def largest(problem, states, signs, weights=None):
    """max t with s_j μ_j >= t (or max h·μ) over the multipliers that the states allow, by HiGHS; None: there are none."""
    y, G = problem.training_set.signs, problem.G
    caps = np.array([float(cap) for cap in problem.caps])
    bounds = [(0, 0) if s == OUT else (c, c) if s == IN else (0, c) for s, c in zip(states, caps, strict=True)]
    halves = np.array([y > 0, y < 0], dtype=float)
    if weights is not None:
        answer = linprog(-(G @ weights), A_eq=halves, b_eq=[0.5, 0.5], bounds=bounds)
        return None if answer.x is None else -answer.fun
    support = np.flatnonzero(signs)
    rows = np.column_stack([-(G[:, support] * np.array(signs)[support]).T, np.ones(len(support))])
    answer = linprog(
        np.append(np.zeros(len(G)), -1.0),
        A_ub=rows,
        b_ub=np.zeros(len(support)),
        A_eq=np.column_stack([halves, np.zeros(2)]),
        b_eq=[0.5, 0.5],
        bounds=[*bounds, (None, None)],
    )
    return None if answer.x is None else -answer.fun


def test_the_cell_test_is_a_linear_program():
    kinds = set()
    for seed in range(150):
        problem, states, signs = made(seed)
        if not any(signs):
            assert examined_cell(problem, states, signs) is None
            continue
        found, value = examined_cell(problem, states, signs), largest(problem, states, signs)
        kinds.add(type(found))
        if value is None:
            assert found is None
        elif isinstance(found, NuDirection):
            assert value <= 1e-9
            assert float(found.bound) == pytest.approx(value, abs=1e-9)
        else:
            assert value > 1e-9
            gradient = problem.training_set.exact_gradient(found)
            assert all(s * mu > 0 for s, mu in zip(signs, gradient, strict=True) if s)
            for side in (1, -1):
                own = [a for i, a in found.items() if problem.training_set.signs[i] == side]
                assert sum(own) == Fraction(1, 2)
            assert all(0 < a <= problem.caps[i] for i, a in found.items())
            assert all(found.get(i, 0) == problem.caps[i] for i, state in enumerate(states) if state == IN)
            assert not any(i in found for i, state in enumerate(states) if state == OUT)
    assert kinds == {dict, NuDirection, type(None)}


@pytest.mark.parametrize("alone", [False, True])
def test_a_direction_holds_with_the_rows_that_it_needs(alone):
    count = fewer = 0
    for seed in range(200):
        problem, states, signs = made(seed)
        if alone:
            j = seed % len(signs)
            found = one_feature(problem, states, j, 1)
            value = largest(problem, states, None, np.eye(len(signs))[j])
            assert (found is not None) == (value is not None and value <= 1e-9)
            assert value is None or may_be_direction(problem, np.array(states), j, 1) == (found is not None)
        else:
            found = examined_cell(problem, states, signs)
        if not isinstance(found, NuDirection):
            continue
        needed = found.needed(dict.fromkeys(found.worth, False))
        fewer += len(needed) < sum(state != ON for state in states)
        free = [state if i in needed else ON for i, state in enumerate(states)]
        h = np.zeros(len(signs))
        for k, value in found.h.items():
            h[k] = float(value)
        assert largest(problem, free, None, h) <= 1e-9
        assert found.needed(dict.fromkeys(found.worth, True)) >= needed
        count += 1
    assert count > 20
    assert fewer > 10
