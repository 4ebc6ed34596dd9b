"""Steps of the walk in rationals: the first vertex, and those that floats and residues can't decide (docs/theory.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InseparableError, SolverError
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.rationals import least_cost_solution, solve
from rescaleinv.theory.training_set import TrainingSet

_SECONDS_FOR_A_HINT = 5.0  # HiGHS has been seen to run on and on with nearly tied data


class WalkError(Exception):
    """The walk can't go on; another direction of perturbation, or rationals, may help."""


class WalkLostError(WalkError):
    """A basis was reached that is not a vertex of the complex: an earlier step was wrong."""


class PerturbationTooSpecialError(WalkError):
    """Two things happen at once even in the perturbed problem: another direction of perturbation is needed."""


# What an edge direction leads to: the item that is reached; below zero, the compiled steps' refutation; or a refutation
# (h, t) in exact numbers of the original units.
Edge = int | list[Fraction]


def directions(basis: list[int], n_rows: int) -> list[tuple[int, int]]:
    """The edge directions at a vertex: what is dropped from its basis, and the sign that a dropped feature gets."""
    tight = [(item, 1) for item in basis if item < n_rows]
    return tight + [(item, turn) for item in basis if item >= n_rows for turn in (1, -1)]


def neighbours_along(basis: list[int], edges: Sequence[Edge], n_rows: int) -> list[list[int]]:
    """The bases that the edges of a vertex lead to."""
    return [
        sorted([*(item for item in basis if item != dropped), edge])
        for (dropped, _), edge in zip(directions(basis, n_rows), edges, strict=True)
        if isinstance(edge, int) and edge >= 0
    ]


def exact_vertex(
    training_set: TrainingSet, basis: list[int], right: list[Any]
) -> tuple[list[Fraction], Fraction] | None:
    """(w, b) of a basis, original units: margins of the tight rows as given in ``right``, other weights zero."""
    m = training_set.n_rows
    rows, exponents = training_set.integer_rows
    tight = [i for i in basis if i < m]
    empty = {i - m for i in basis if i >= m}
    support = [j for j in range(training_set.n_features) if j not in empty]
    matrix = [[int(training_set.signs[i]) * value for value in [*(rows[i][j] for j in support), 1]] for i in tight]
    answer = solve(matrix, right)
    if answer is None:
        return None
    weights = [Fraction(0)] * training_set.n_features
    for j, value in zip(support, answer, strict=False):
        weights[j] = value / Fraction(2) ** exponents[j]
    return weights, answer[-1]


def _leads(pair: tuple[Fraction, Fraction]) -> Fraction:
    """The part of value + infinitesimal rate that has its sign."""
    return pair[0] or pair[1]


@dataclass(frozen=True)
class _ExactPosition:
    """A vertex in rationals: (w, b), its slacks and weights with their rates of change, and the signs of the weights."""

    classifier: tuple[list[Fraction], Fraction]
    slacks: dict[int, tuple[Fraction, Fraction]]
    weights: dict[int, tuple[Fraction, Fraction]]
    signs: list[int]

    @classmethod
    def of(cls, training_set: TrainingSet, perturbation: npt.NDArray[np.int64], basis: list[int]) -> _ExactPosition:
        m, n = training_set.n_rows, training_set.n_features
        tight = [i for i in basis if i < m]
        vertex = exact_vertex(training_set, basis, [1] * len(tight))
        moved = exact_vertex(training_set, basis, [int(perturbation[i]) for i in tight])
        if vertex is None or moved is None:
            raise WalkLostError("a singular basis")
        margins, rates = training_set.exact_margins(*vertex), training_set.exact_margins(*moved)
        slacks = {q: (margins[q] - 1, rates[q] - int(perturbation[q])) for q in range(m) if q not in tight}
        weights = {j: (vertex[0][j], moved[0][j]) for j in range(n) if m + j not in basis}
        if any(pair == (0, 0) for pair in (*slacks.values(), *weights.values())):
            raise PerturbationTooSpecialError
        if any(_leads(pair) < 0 for pair in slacks.values()):
            raise WalkLostError("a basis outside of C(X)")
        signs = [0] * n
        for j, pair in weights.items():
            signs[j] = 1 if _leads(pair) > 0 else -1
        return cls(vertex, slacks, weights, signs)


def exact_multipliers(
    training_set: TrainingSet, perturbation: npt.NDArray[np.int64], basis: list[int]
) -> dict[int, Fraction]:
    """Multipliers on the tight rows that pass the closure test: the vertex is in the closure of RO(X)."""
    return _closure_multipliers(training_set, basis, _ExactPosition.of(training_set, perturbation, basis).signs)


def _closure_multipliers(training_set: TrainingSet, basis: list[int], signs: list[int]) -> dict[int, Fraction]:
    test = probe_closed_cell(training_set, [i for i in basis if i < training_set.n_rows], signs)
    if test.multipliers is None:
        raise WalkLostError("a basis outside of the closure of RO(X)")
    return test.multipliers


def expand_exactly(
    training_set: TrainingSet, perturbation: npt.NDArray[np.int64], basis: list[int]
) -> tuple[list[Edge], list[float]]:
    """Where each edge direction of a basis leads, and its solution in conditioned units; all in rationals."""
    m = training_set.n_rows
    tight = [i for i in basis if i < m]
    here = _ExactPosition.of(training_set, perturbation, basis)
    _closure_multipliers(training_set, basis, here.signs)
    edges: list[Edge] = []
    for dropped, turn in directions(basis, m):
        edge_signs = list(here.signs)
        if dropped >= m:
            edge_signs[dropped - m] = turn
        refutation = probe_closed_cell(training_set, [i for i in tight if i != dropped], edge_signs).direction
        if refutation is not None:
            edges.append([*refutation[0], refutation[1]])
            continue
        direction = _edge_direction(training_set, basis, dropped, turn)
        speeds = training_set.exact_margins(*direction)
        hits = [((s0 / -speeds[q], s1 / -speeds[q]), q) for q, (s0, s1) in here.slacks.items() if speeds[q] < 0]
        hits += [
            ((w0 / -direction[0][j], w1 / -direction[0][j]), m + j)
            for j, (w0, w1) in here.weights.items()
            if direction[0][j] * here.signs[j] < 0
        ]
        if not hits:
            raise WalkLostError("an edge without an end")
        hits.sort()
        if len(hits) > 1 and hits[0][0] == hits[1][0]:
            raise PerturbationTooSpecialError
        edges.append(hits[0][1])
    weights, intercept = here.classifier
    units = [Fraction(2) ** int(e) for e in training_set.conditioning.exponent]
    anchored = sum((w * Fraction(a) for w, a in zip(weights, training_set.conditioning.anchor.tolist(), strict=True)))
    try:
        solution = [float(w * u) for w, u in zip(weights, units, strict=True)] + [float(intercept + anchored)]
    except OverflowError as error:
        raise SolverError(
            "a vertex has weights beyond what a float can hold: some values differ by less than any float differs from 0"
        ) from error
    return edges, solution


def _edge_direction(
    training_set: TrainingSet, basis: list[int], dropped: int, turn: int
) -> tuple[list[Fraction], Fraction]:
    """The change of (w, b) along an edge: the dropped row's margin grows, or the dropped feature's weight (by ±1 unit)."""
    m = training_set.n_rows
    tight = [i for i in basis if i < m]
    if dropped < m:
        direction = exact_vertex(training_set, basis, [int(i == dropped) for i in tight])
    else:
        j = dropped - m
        rows, exponents = training_set.integer_rows
        column = [-turn * int(training_set.signs[i]) * rows[i][j] for i in tight]
        direction = exact_vertex(training_set, basis, column)
        assert direction is not None
        direction[0][j] = turn / Fraction(2) ** exponents[j]
    assert direction is not None
    return direction


def _unit_powers(training_set: TrainingSet) -> tuple[list[list[int]], list[int]]:
    """The conditioned rows as integers times powers of two (an anchor is exact, so it changes nothing but the intercept)."""
    conditioned = TrainingSet(training_set.conditioned, training_set.signs)
    return conditioned.integer_rows


def first_basis(training_set: TrainingSet, perturbation: npt.NDArray[np.int64]) -> list[int]:
    """A vertex of the complex: the separating (w, b) of least Σ |w_j|, which the dual linear program gives with its basis.

    Its multipliers have |μ_j| <= 1 and μ_j = sign w_j where w_j is not zero: it passes the closure test. The second
    level of the cost is the perturbation. The bounds on |μ_j| are made a little different, so that they do not tie.
    """
    n, m = training_set.n_features, training_set.n_rows
    rows, exponents = _unit_powers(training_set)
    y = [int(s) for s in training_set.signs]
    lines: list[list[int]] = []
    right: list[int] = []
    largest = max(exponents)
    for j in range(n):
        line = [y[i] * rows[i][j] for i in range(m)]
        # in units that make everything an integer; the multipliers' common factor is free
        bound = (2**14 + (7919 * j + 613) % 1009) << (largest - exponents[j])
        for sign in (1, -1):
            slacks = [0] * (2 * n)
            slacks[2 * j + (sign < 0)] = 1
            lines.append([sign * value for value in line] + slacks)
            right.append(bound)
    lines.append(y + [0] * (2 * n))
    right.append(0)
    bounds = 1 + (7919 * np.arange(n) + 613) % 1009 / 2**14
    costs = [[-1] * m + [0] * (2 * n), [-int(r) for r in perturbation] + [0] * (2 * n)]
    try:
        optimum = least_cost_solution(lines, right, costs, first=_float_basis(training_set, bounds, perturbation))
    except ArithmeticError as error:
        raise InseparableError("no hyperplane separates the training rows") from error
    assert optimum is not None  # a = 0 is feasible
    basic = set(optimum.basis)
    tight = sorted(i for i in basic if i < m)
    support = [j for j in range(n) if m + 2 * j not in basic or m + 2 * j + 1 not in basic]
    return tight + [m + j for j in range(n) if j not in support]


def _float_basis(training_set: TrainingSet, bounds: FloatArray, perturbation: npt.NDArray[np.int64]) -> list[int]:
    """The columns that the float solver would have in the basis of that program: a hint that saves most exact pivots."""
    m, n = training_set.n_rows, training_set.n_features
    signs = training_set.signs.astype(float)
    gradient = (training_set.conditioned * signs[:, None]).T
    matrix = np.repeat(gradient, 2, axis=0) * np.tile([1.0, -1.0], n)[:, None]
    cost = -1 - 1e-7 * perturbation / perturbation.max()
    limit = {"time_limit": _SECONDS_FOR_A_HINT}
    answer = linprog(cost, matrix, np.repeat(bounds, 2), signs[None, :], np.zeros(1), method="highs-ds", options=limit)
    if answer.status != 0:
        return []
    slack = np.flatnonzero(answer.slack > 1e-9) + m
    return [*np.flatnonzero(answer.x > 1e-12).tolist(), *slack.tolist()]
