"""Cells of the closure with a ν-margin, exactly: is a relaxed solution's cell one of them, and if not, why not.

A cell says of each row whether it is out (margin above 1, no multiplier), in (margin below 1, its multiplier at the cap) or
on, and of each weight its sign s_j. It is in the closure if multipliers that it allows (half of them in each class) have
s_j μ_j > 0 wherever s_j is not 0. They are bounded, so the least s_j μ_j is made as large as possible: a linear program,
whose dual is the direction h, with the signs of the weights, along which μ can't have any part.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from rescaleinv._util.types import IntArray
from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.theory.exact_nu import IN, ON, OUT
from rescaleinv.theory.rationals import BasicSolution, least_cost_solution

# From this many equations on, a float solver says which columns to try first.
_HINT_FROM = 12
# The largest μ_j, as a share of the largest |G_ij|, that may be 0 but for rounding.
_NEARLY_NONE = 1e-9


@dataclass(frozen=True)
class NuDirection:
    """h·μ <= ``bound`` <= 0 for all multipliers that a cell allows.

    ``h`` is in original units. ``worth`` says of each row that is out or in by how much the bound would rise if it were not
    known to be (0: by nothing).
    """

    h: dict[int, Fraction]
    bound: Fraction
    worth: dict[int, Fraction]

    def needed(self, is_known: dict[int, bool]) -> frozenset[int]:
        """Rows whose states keep the bound at 0 or below: those that are known, and as few others as can be."""
        needed, bound = {i for i, worth in self.worth.items() if worth}, self.bound
        for i in sorted((i for i in needed if not is_known[i]), key=self.worth.__getitem__):
            bound += self.worth[i]
            if bound > 0:
                break
            needed.discard(i)
        return frozenset(needed)


def examined_cell(
    problem: PointProblem, states: list[int], signs: list[int], *, attained: bool = False
) -> dict[int, Fraction] | NuDirection | None:
    """Multipliers that show that the cell is in the closure, or the direction that shows that it is not.

    With ``attained`` the multipliers show that it is one of finite rescalings: μ_j = 0 wherever s_j = 0. None where the
    states allow no multipliers at all, or no feature has a weight, or the cell is not attained.
    """
    assert problem.caps is not None
    caps, whole, y = problem.caps, problem.whole, problem.training_set.signs.tolist()
    support = [j for j, s in enumerate(signs) if s]
    others = [j for j, s in enumerate(signs) if not s and attained]
    on = [i for i, state in enumerate(states) if state == ON]
    inside = [i for i, state in enumerate(states) if state == IN]
    if not support:
        return None
    # unknowns: h, θ of either class as a difference of two, e_i >= h·G_i - θ for the rows that are on, and its slack
    rest = {side: Fraction(1, 2) - sum((caps[i] for i in inside if y[i] == side), Fraction(0)) for side in (1, -1)}
    pushed = [signs[j] * sum((caps[i] * whole[i][j] for i in inside), Fraction(0)) for j in support]
    if others:
        slopes = [sum((caps[i] * whole[i][j] for i in inside), Fraction(0)) for j in others]
        pushed += [*slopes, *(-value for value in slopes)]
    cost = [*pushed, rest[1], -rest[1], rest[-1], -rest[-1], *(caps[i] for i in on), *([Fraction(0)] * len(on))]
    lines: list[list[int]] = []
    for k, i in enumerate(on):
        own = [int(k == other) for other in range(len(on))]
        ends = [1, -1, 0, 0] if y[i] > 0 else [0, 0, 1, -1]
        either = [*(-whole[i][j] for j in others), *(whole[i][j] for j in others)]
        lines.append([*(-signs[j] * whole[i][j] for j in support), *either, *ends, *own, *(-value for value in own)])
    lines.append([1] * len(support) + [0] * (2 * len(others) + 4 + 2 * len(on)))
    best = _least_cost(lines, [Fraction(0)] * len(on) + [Fraction(1)], cost)
    if best is None:
        return None
    value = best.prices[-1]
    if value > 0:
        found = {i: price for i, price in zip(on, best.prices, strict=False) if price}
        found.update((i, caps[i]) for i in inside)
        return found
    if attained:
        return None
    h = dict(zip(support, best.solution, strict=False))
    plus, plus_minus, minus, minus_minus = best.solution[len(support) : len(support) + 4]
    levels = {1: plus - plus_minus, -1: minus - minus_minus}
    return _direction(problem, states, {j: signs[j] * x for j, x in h.items() if x}, levels, value)


def one_feature(problem: PointProblem, states: list[int], feature: int, sign: int) -> NuDirection | None:
    """The direction of one feature alone, where it is one: no multipliers that the states allow make sign·μ_j positive."""
    assert problem.caps is not None
    caps, y = problem.caps, problem.training_set.signs.tolist()
    values = [sign * row[feature] for row in problem.whole]
    levels, bound = {}, Fraction(0)
    for side in (1, -1):
        left, level = Fraction(1, 2), None
        for i in (i for i, state in enumerate(states) if state == IN and y[i] == side):
            left -= caps[i]
            bound += caps[i] * values[i]
        on = [i for i, state in enumerate(states) if state == ON and y[i] == side]
        for i in sorted(on, key=values.__getitem__, reverse=True):
            if left <= 0:
                break
            part, level = min(left, caps[i]), values[i]
            left -= part
            bound += part * level
        if left:
            return None
        if level is None:  # all of it is in: the level is between the rows that are in and all others
            level = max(
                (values[i] for i in on),
                default=min(v for i, v in enumerate(values) if states[i] == IN and y[i] == side),
            )
        levels[side] = Fraction(level)
    return None if bound > 0 else _direction(problem, states, {feature: Fraction(sign)}, levels, bound)


def may_be_direction(problem: PointProblem, states: IntArray, feature: int, sign: int) -> bool:
    """Whether floats say that ``one_feature`` may find a direction: it is exact, and slow."""
    values, caps, bound = sign * problem.G[:, feature], problem.float_caps, 0.0
    for side in (problem.positive, ~problem.positive):
        inside = side & (states == IN)
        bound += float(caps[inside] @ values[inside])
        on = np.flatnonzero(side & (states == ON))
        on = on[np.argsort(-values[on])]
        before = np.concatenate([[0.0], np.cumsum(caps[on])])[:-1]
        part = np.clip(0.5 - float(caps[inside].sum()) - before, 0.0, caps[on])
        bound += float(part @ values[on])
    return bound <= _NEARLY_NONE * float(np.abs(values).max())


def _direction(
    problem: PointProblem, states: list[int], h: dict[int, Fraction], levels: dict[int, Fraction], bound: Fraction
) -> NuDirection:
    """``h`` and ``levels`` are in the units of the integer rows."""
    assert problem.caps is not None
    worth = {}
    for i, (state, y) in enumerate(zip(states, problem.training_set.signs.tolist(), strict=True)):
        if state != ON:
            gain = sum((x * problem.whole[i][j] for j, x in h.items()), Fraction(0)) - levels[y]
            worth[i] = problem.caps[i] * max(gain if state == OUT else -gain, Fraction(0))
    units = {j: problem.scales[j] * Fraction(float(problem.units[j])) for j in h}
    return NuDirection({j: x * units[j] for j, x in h.items()}, bound, worth)


def _least_cost(lines: list[list[int]], right: list[Fraction], cost: list[Fraction]) -> BasicSolution | None:
    first: list[int] = []
    if len(lines) >= _HINT_FROM:
        size = float(max(abs(value) for line in lines for value in line))
        matrix = np.array([[value / size for value in line] for line in lines])
        matrix[-1] *= size
        answer = linprog(
            [float(c) for c in cost], A_eq=matrix, b_eq=[float(value) for value in right], method="highs-ds"
        )
        if answer.x is not None:
            first = np.flatnonzero(answer.x > 0).tolist()
    try:
        return least_cost_solution(lines, right, [cost], first)
    except ArithmeticError:  # the states allow no multipliers
        return None
