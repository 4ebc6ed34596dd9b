"""Closed faces of the closure of RO(X) in exact rationals: the least decision value on one, and where a tie is attained.

Multipliers a >= 0 with Σ a_i y_i = 0 and gradient μ = Σ a_i y_i x_i make every classifier of C(X) that is tight where
a_i > 0 and has weights w_j μ_j >= 0, with w_j = 0 where μ_j = 0, a limit of SVMs of rescalings: these are a face.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from rescaleinv.theory.optimality import probe_cell
from rescaleinv.theory.rationals import BasicSolution, least_cost_solution
from rescaleinv.theory.training_set import TrainingSet

# How many sub-faces are examined before giving up on the question whether a tie is attained.
_MAX_SUBFACES = 300
# From this many equations on, a float solver is asked first; its columns with a reduced cost below this are taken.
_HINT_FROM = 8
_REDUCED_COST = 1e-7


@dataclass(frozen=True)
class Face:
    """The classifiers of C(X) that are tight on these rows and have weights of these signs or zero.

    With a ν-margin the rows ``inside`` have margins of at most 1.
    """

    tight: frozenset[int]
    signs: tuple[int, ...]
    inside: frozenset[int] = frozenset()

    @classmethod
    def of(cls, training_set: TrainingSet, multipliers: dict[int, Fraction]) -> Face:
        """The face that the multipliers prove."""
        gradient = training_set.exact_gradient(multipliers)
        return cls(frozenset(multipliers), tuple((g > 0) - (g < 0) for g in gradient))


@dataclass(frozen=True)
class Lowest:
    """A vertex (w, b) of a face at which side·f is least, and the proof: prices of rows and of weights.

    side·(α, 1) = Σ u_i y_i (x_i, 1) + Σ v_j e_j with value Σ u_i, where u_i >= 0 off the face's tight rows and
    v_j s_j >= 0 where s_j != 0. So side·f >= value for *every* classifier of C(X) that is tight where u_i < 0 and has
    v_j w_j >= 0 for every j.
    """

    value: Fraction
    weights: list[Fraction]
    intercept: Fraction
    row_prices: list[Fraction]
    weight_prices: list[Fraction]


def lowest(training_set: TrainingSet, face: Face, point: list[Fraction], side: int) -> Lowest | None:
    """Minimise side·f(point) over the face, exactly; None where the face is empty.

    The dual is solved: it has one equation per weight and one for the intercept, however many rows there are.
    """
    given, exponents = training_set.integer_rows
    offset = [min(column) for column in zip(*given, strict=True)]  # smaller integers, and floats without offsets
    rows = [[value - low for value, low in zip(row, offset, strict=True)] for row in given]
    y = training_set.signs.tolist()
    m = training_set.n_rows
    least = [i for i in range(m) if i not in face.inside]  # rows with margins of at least 1
    most = sorted(face.tight | face.inside)  # and of at most 1
    support = [j for j, s in enumerate(face.signs) if s]
    target = [side * (x / Fraction(2) ** e - low) for x, e, low in zip(point, exponents, offset, strict=True)]
    lines, right = [], []
    for k, j in enumerate(support):
        own = [face.signs[j] if other == k else 0 for other in range(len(support))]
        lines.append([y[i] * rows[i][j] for i in least] + [-y[i] * rows[i][j] for i in most] + own)
        right.append(target[j])
    lines.append([y[i] for i in least] + [-y[i] for i in most] + [0] * len(support))
    right.append(Fraction(side))
    cost = [-1] * len(least) + [1] * len(most) + [0] * len(support)
    try:
        best = _least_cost(lines, right, cost)
    except ArithmeticError:  # the dual has no bound: the face is empty
        return None
    if best is None:  # a face is bounded, so it is empty here too (but for the intercept at the largest ν)
        return None
    row_prices = [Fraction(0)] * m
    for i, price in zip(least, best.solution, strict=False):
        row_prices[i] = price
    for i, price in zip(most, best.solution[len(least) : len(least) + len(most)], strict=True):
        row_prices[i] -= price
    weight_prices = [
        target[j] - sum((u * y[i] * rows[i][j] for i, u in enumerate(row_prices) if u), Fraction(0))
        for j in range(training_set.n_features)
    ]
    weights = [Fraction(0)] * training_set.n_features
    *entries, intercept = (-price for price in best.prices)
    for j, entry in zip(support, entries, strict=True):
        weights[j] = entry / Fraction(2) ** exponents[j]
        intercept -= entry * offset[j]
    return Lowest(sum(row_prices, Fraction(0)), weights, intercept, row_prices, weight_prices)


def _least_cost(lines: list[list[int]], right: list[Fraction], cost: list[int]) -> BasicSolution | None:
    """``least_cost_solution``; if large, on the columns of a float solver's basis, where that turns out to be optimal."""
    columns = _float_basis(lines, right, cost) if len(lines) >= _HINT_FROM else []
    if columns:
        with contextlib.suppress(ArithmeticError):
            part = least_cost_solution(
                [[line[k] for k in columns] for line in lines], right, [[cost[k] for k in columns]]
            )
            if part is not None and _prices_hold(part.prices, lines, cost):
                solution = [Fraction(0)] * len(cost)
                for k, value in zip(columns, part.solution, strict=True):
                    solution[k] = value
                return BasicSolution(solution, [columns[k] for k in part.basis], part.prices)
    return least_cost_solution(lines, right, [cost], first=columns)


def _prices_hold(prices: list[Fraction], lines: list[list[int]], cost: list[int]) -> bool:
    common = math.lcm(*(price.denominator for price in prices))
    whole = [int(price * common) for price in prices]
    return all(
        sum(map(int.__mul__, whole, column)) <= common * c
        for column, c in zip(zip(*lines, strict=True), cost, strict=True)
    )


def _float_basis(lines: list[list[int]], right: list[Fraction], cost: list[int]) -> list[int]:
    """The columns without reduced cost at a float optimum; none where the solver fails."""
    scales = [max(map(abs, line), default=0) or 1 for line in lines]
    matrix = np.array([[value / scale for value in line] for line, scale in zip(lines, scales, strict=True)])
    target = np.array([float(value / scale) for value, scale in zip(right, scales, strict=True)])
    matrix[:, np.array(cost) == 0] = np.sign(matrix[:, np.array(cost) == 0])  # the unit columns, whose units are free
    answer = linprog(cost, A_eq=matrix, b_eq=target, method="highs-ds")
    if answer.x is None:
        return []
    reduced = np.array(cost) - answer.eqlin.marginals @ matrix
    return np.flatnonzero((answer.x > 0) | (np.abs(reduced) < _REDUCED_COST)).tolist()


@dataclass(frozen=True)
class TieSearch:
    """Whether f = 0 on RO(X) itself within a face: at this classifier, or nowhere (None); or that it was not decided."""

    classifier: tuple[list[Fraction], Fraction] | None
    decided: bool = True


def attained_tie(training_set: TrainingSet, face: Face, found: Lowest) -> TieSearch:
    """Is the least value of a face, 0, attained on RO(X) itself, and not only on its closure?

    Where it is attained is again a face: the rows and the weights that have a price are tight and zero there. Its
    relative interior lies in RO(X) or not; where not, the proof says which rows must become tight, or which weights zero,
    and the search goes on in those sub-faces.
    """
    tight = face.tight | {i for i, u in enumerate(found.row_prices) if u}
    signs = tuple(0 if v else s for v, s in zip(found.weight_prices, face.signs, strict=True))
    waiting, seen = [Face(tight, signs)], set()
    looked_at = 0
    while waiting:
        interior = _interior(training_set, waiting.pop())
        if interior is None or interior[0] in seen:
            continue
        inner, classifier = interior
        seen.add(inner)
        looked_at += 1
        test = probe_cell(training_set, sorted(inner.tight), inner.signs)
        if test.holds:
            return TieSearch(classifier)
        if looked_at >= _MAX_SUBFACES:
            return TieSearch(None, decided=False)
        assert test.direction is not None
        h, t = test.direction
        values = training_set.exact_margins(h, t)
        waiting += [Face(inner.tight | {i}, inner.signs) for i, value in enumerate(values) if value > 0]
        vanishing = {j for j, s in enumerate(inner.signs) if s and h[j]}
        smaller = tuple(0 if j in vanishing else s for j, s in enumerate(inner.signs))
        if any(smaller):
            waiting.append(Face(inner.tight, smaller))
    return TieSearch(None)


def _interior(training_set: TrainingSet, face: Face) -> tuple[Face, tuple[list[Fraction], Fraction]] | None:
    """A classifier in the relative interior of a face, and the face with all of the rows and zeros that hold on it.

    The mean of vertices: for each row and weight that all vertices so far have tight or zero, another that has not, if any.
    """
    n = training_set.n_features
    y, points = training_set.signs.tolist(), [[Fraction(x) for x in row] for row in training_set.features.tolist()]
    vertices: list[tuple[list[Fraction], Fraction]] = []
    tight = set(range(training_set.n_rows))
    zero = set(range(n))

    def visit(direction: list[Fraction], side: int) -> bool:
        vertex = lowest(training_set, face, direction, side)
        if vertex is None:
            return False
        tight.intersection_update(training_set.tight_rows(vertex.weights, vertex.intercept) or [])
        zero.intersection_update([j for j, w in enumerate(vertex.weights) if not w])
        if (vertex.weights, vertex.intercept) not in vertices:
            vertices.append((vertex.weights, vertex.intercept))
        return True

    if not visit(points[0], 1):
        return None
    for i in range(training_set.n_rows):
        if i in tight and i not in face.tight:
            visit(points[i], -y[i])  # the largest margin of row i
    anchor = min(face.tight)
    for j, s in enumerate(face.signs):
        if s and j in zero:
            # the largest |w_j|: of two points that differ in feature j alone, one has the same f on the whole face
            shifted = list(points[anchor])
            shifted[j] += 1
            visit(shifted, -s)
    share = Fraction(1, len(vertices))
    weights = [share * sum((w[j] for w, _ in vertices), Fraction(0)) for j in range(n)]
    intercept = share * sum((b for _, b in vertices), Fraction(0))
    signs = tuple((w > 0) - (w < 0) for w in weights)
    return Face(frozenset(tight), signs), (weights, intercept)
