"""Enumerates the vertices of the closure of RO(X) by walking its edges (THEORY: perturbed, so that degeneracy is gone).

The compiled steps are in ``_kernel``; the few that floats and residues can't decide are made in rationals here.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.complex import kernel as _kernel
from rescaleinv.errors import InseparableError, SolverError
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.rationals import least_cost_solution, solve
from rescaleinv.theory.training_set import TrainingSet

_log = logging.getLogger(__name__)

_BLOCK = 4096
_SECONDS_FOR_A_HINT = 5.0  # HiGHS has been seen to run on and on over nearly tied data
_TRIES = 2  # directions of perturbation, each with compiled steps and then with rational steps alone

BasisArray = npt.NDArray[np.int32]


def available_processors() -> int:
    """How many processors this process may use, where the system can tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WalkError(Exception):
    """The walk can't go on; another direction of perturbation, or rationals, may help."""


class _WalkLostError(WalkError):
    """A basis was reached that is no vertex of the complex: a step before was wrong."""


class _TiltTooSpecialError(WalkError):
    """Two things happen at once even in the perturbed problem: another direction of perturbation is needed."""


@dataclass(frozen=True)
class Budget:
    """What an enumeration may cost; None is no limit."""

    vertices: int | None = None
    seconds: float | None = None
    bytes: int | None = None

    def exceeded(self, n_vertices: int, seconds: float, n_bytes: int) -> str:
        """Which limit is exceeded, in words, or ""."""
        if self.vertices is not None and n_vertices > self.vertices:
            return f"more than {self.vertices:,} vertices"
        if self.seconds is not None and seconds > self.seconds:
            return f"more than {self.seconds:g} s"
        if self.bytes is not None and n_bytes > self.bytes:
            return f"more than {self.bytes / 2**20:,.0f} MB"
        return ""


@dataclass(frozen=True)
class Vertices:
    """The vertices that were found: their bases, and (w, b) of each in conditioned units.

    A basis lists tight rows i < n_rows and, as n_rows + j, features without weight. ``stopped`` says which limit ended the
    enumeration early; "" means that the list is complete. ``residues`` are those of the signed rows, for ``distinct``.
    """

    bases: BasisArray
    solutions: FloatArray
    residues: npt.NDArray[np.uint64]
    tilt: npt.NDArray[np.int64]
    stopped: str
    n_with_residues: int
    n_in_rationals: int

    def distinct(self, chosen: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Of the chosen vertices, one for each solution: many bases of degenerate data have the same one."""
        codes = _kernel.solution_residues(self.bases[chosen], self.residues)
        singular = ~codes.any(axis=1)  # a chance of 4e-19; such a basis stands for itself
        codes[singular, 0] = np.flatnonzero(singular)
        return chosen[np.unique(codes, axis=0, return_index=True)[1]]


# What an edge direction comes to: the item that is reached; below zero, the compiled steps' refutation; or a refutation
# (h, t) in exact numbers of the original units.
Edge = int | list[Fraction]


@dataclass(frozen=True)
class _Steps:
    """The neighbours and the edges of some vertices; a count of neighbours below zero is a status of the kernel."""

    neighbours: BasisArray
    edges: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


@dataclass
class _Tables:
    """What the compiled steps need of a training set."""

    rows: FloatArray
    residues: npt.NDArray[np.uint64]
    tilt: FloatArray
    powers: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, training_set: TrainingSet, tilt: npt.NDArray[np.int64]) -> _Tables:
        signs = training_set.signs.astype(float)[:, None]
        rows = np.ascontiguousarray(np.hstack([training_set.conditioned, np.ones_like(signs)]) * signs)
        prime = _kernel.PRIME
        half = pow(2, -1, prime)
        powers = [pow(half, _kernel.LARGEST_POWER, prime)]
        for _ in range(2 * _kernel.LARGEST_POWER):
            powers.append(powers[-1] * 2 % prime)
        table = np.array(powers, dtype=np.uint64)
        return cls(rows, _kernel.float_residues(rows, table), tilt.astype(float), table)


def _workspace(m: int, n: int) -> tuple[npt.NDArray[Any], ...]:
    """Room for the compiled steps: matrices of floats, of residues, vectors of integers, and what has a row a point."""
    size = n + 2
    return (
        np.zeros((9, size, size)),
        np.zeros((5, size, size), dtype=np.uint64),
        np.zeros((9, size), dtype=np.int64),
        np.zeros((3 + n + 1, m)),
        np.zeros(m + n, dtype=np.uint8),
    )


def _unit_powers(training_set: TrainingSet) -> tuple[list[list[int]], list[int]]:
    """The conditioned rows as integers times powers of two (an anchor is exact, so it changes nothing but the intercept)."""
    conditioned = TrainingSet(training_set.conditioned, training_set.signs)
    return conditioned.integer_rows


def first_basis(training_set: TrainingSet, tilt: npt.NDArray[np.int64]) -> list[int]:
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
        # in units that make everything an integer, the multipliers' common factor being free
        bound = (2**14 + (7919 * j + 613) % 1009) << (largest - exponents[j])
        for sign in (1, -1):
            slacks = [0] * (2 * n)
            slacks[2 * j + (sign < 0)] = 1
            lines.append([sign * value for value in line] + slacks)
            right.append(bound)
    lines.append(y + [0] * (2 * n))
    right.append(0)
    bounds = 1 + (7919 * np.arange(n) + 613) % 1009 / 2**14
    costs = [[-1] * m + [0] * (2 * n), [-int(r) for r in tilt] + [0] * (2 * n)]
    try:
        optimum = least_cost_solution(lines, right, costs, first=_float_basis(training_set, bounds, tilt))
    except ArithmeticError as error:
        raise InseparableError("no hyperplane separates the training rows") from error
    assert optimum is not None  # a = 0 is feasible
    basic = set(optimum.basis)
    tight = sorted(i for i in basic if i < m)
    support = [j for j in range(n) if m + 2 * j not in basic or m + 2 * j + 1 not in basic]
    return tight + [m + j for j in range(n) if j not in support]


def _float_basis(training_set: TrainingSet, bounds: FloatArray, tilt: npt.NDArray[np.int64]) -> list[int]:
    """The columns that the float solver would have in the basis of that program: a hint that saves most exact pivots."""
    m, n = training_set.n_rows, training_set.n_features
    signs = training_set.signs.astype(float)
    gradient = (training_set.conditioned * signs[:, None]).T
    matrix = np.repeat(gradient, 2, axis=0) * np.tile([1.0, -1.0], n)[:, None]
    cost = -1 - 1e-7 * tilt / tilt.max()
    limit = {"time_limit": _SECONDS_FOR_A_HINT}
    answer = linprog(cost, matrix, np.repeat(bounds, 2), signs[None, :], np.zeros(1), method="highs-ds", options=limit)
    if answer.status != 0:
        return []
    slack = np.flatnonzero(answer.slack > 1e-9) + m
    return [*np.flatnonzero(answer.x > 1e-12).tolist(), *slack.tolist()]


class _Walk:
    def __init__(
        self, training_set: TrainingSet, tilt: npt.NDArray[np.int64], n_threads: int, in_rationals: bool
    ) -> None:
        self.training_set = training_set
        self.in_rationals = in_rationals
        self.tilt = tilt
        self.tables = _Tables.of(training_set, tilt)
        m, n = training_set.n_rows, training_set.n_features
        self.width = n + 1
        self.most = 2 * n + 1  # neighbours of a vertex
        self.workspaces = [_workspace(m, n) for _ in range(n_threads)]
        self.keys = np.random.default_rng(1).integers(1, 2**63, m + n).astype(np.uint64)
        self.bases: BasisArray = np.empty((1024, self.width), dtype=np.int32)
        self.solutions: FloatArray = np.empty((1024, self.width))
        self.hashes = np.empty(1024, dtype=np.uint64)
        self.slots = np.zeros(4096, dtype=np.int64)
        self.known = 0
        self.carry_at_once = False
        self.n_with_residues = 0
        self.n_in_rationals = 0

    def add(self, neighbours: BasisArray, counts: npt.NDArray[np.int64]) -> None:
        room = self.known + int(np.maximum(counts, 0).sum())
        if room > len(self.bases):
            capacity = max(room, 2 * len(self.bases))
            self.bases = np.resize(self.bases, (capacity, self.width))
            self.hashes = np.resize(self.hashes, capacity)
            solutions = np.empty((capacity, self.width))
            solutions[: self.known] = self.solutions[: self.known]
            self.solutions = solutions
        if 2 * room > len(self.slots):
            self.slots = np.zeros(1 << (4 * room).bit_length(), dtype=np.int64)
            _kernel.rehash(self.hashes, self.known, self.slots)
        self.known = int(_kernel.absorb(self.bases, self.hashes, self.known, self.slots, self.keys, neighbours, counts))

    def add_bases(self, bases: npt.ArrayLike) -> None:
        rows = np.asarray(bases, dtype=np.int32)
        self.add(rows[:, None, :], np.ones(len(rows), dtype=np.int64))

    def vertices(self, done: int, stopped: str) -> Vertices:
        """The first vertices of the list, which were expanded."""
        return Vertices(
            self.bases[:done].copy(),
            self.solutions[:done].copy(),
            self.tables.residues,
            self.tilt,
            stopped,
            self.n_with_residues,
            self.n_in_rationals,
        )

    @property
    def n_bytes(self) -> int:
        return self.bases.nbytes + self.solutions.nbytes + self.hashes.nbytes + self.slots.nbytes

    def steps(self, start: int, stop: int, pool: ThreadPoolExecutor) -> _Steps:
        """What the compiled steps find at the vertices of this range of the list, on all threads."""
        total = stop - start
        found = _Steps(
            np.empty((total, self.most, self.width), dtype=np.int32),
            np.empty((total, self.most), dtype=np.int64),
            np.empty(total, dtype=np.int64),
        )
        limits = np.linspace(0, total, len(self.workspaces) + 1).astype(int)

        def part(index: int) -> int:
            a, b = limits[index], limits[index + 1]
            tables = self.tables
            return int(
                _kernel.expand_block(
                    self.bases[start + a : start + b],
                    _kernel.Training(tables.rows, tables.residues, tables.tilt, tables.powers),
                    self.carry_at_once,
                    self.workspaces[index],
                    found.neighbours[a:b],
                    found.edges[a:b],
                    found.counts[a:b],
                    self.solutions[start + a : start + b],
                )
            )

        if self.in_rationals:
            found.counts[:] = _kernel.UNDECIDED
        else:
            parts = range(len(self.workspaces))
            carried = sum(pool.map(part, parts)) if total >= 64 else sum(map(part, parts))
            self.n_with_residues += carried
            self.carry_at_once = 2 * carried > total
        return found

    def expand(self, start: int, stop: int, pool: ThreadPoolExecutor) -> None:
        """Expand the vertices of this range of the list."""
        found = self.steps(start, stop, pool)
        for v in np.flatnonzero(found.counts < 0):
            basis = self.bases[start + v].tolist()
            edges, solution = expand_exactly(self.training_set, self.tilt, basis)
            neighbours = neighbours_along(basis, edges, self.training_set.n_rows)
            found.counts[v] = len(neighbours)
            if neighbours:  # a complex of one vertex has no edges
                found.neighbours[v, : len(neighbours)] = neighbours
            self.solutions[start + v] = solution
            self.n_in_rationals += 1
        self.add(found.neighbours, found.counts)


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
class _ExactPlace:
    """A vertex in rationals: (w, b), its slacks and weights with their rates of change, and the signs of the weights."""

    classifier: tuple[list[Fraction], Fraction]
    slacks: dict[int, tuple[Fraction, Fraction]]
    weights: dict[int, tuple[Fraction, Fraction]]
    signs: list[int]

    @classmethod
    def of(cls, training_set: TrainingSet, tilt: npt.NDArray[np.int64], basis: list[int]) -> _ExactPlace:
        m, n = training_set.n_rows, training_set.n_features
        tight = [i for i in basis if i < m]
        vertex = exact_vertex(training_set, basis, [1] * len(tight))
        moved = exact_vertex(training_set, basis, [int(tilt[i]) for i in tight])
        if vertex is None or moved is None:
            raise _WalkLostError("a singular basis")
        margins, rates = training_set.exact_margins(*vertex), training_set.exact_margins(*moved)
        slacks = {q: (margins[q] - 1, rates[q] - int(tilt[q])) for q in range(m) if q not in tight}
        weights = {j: (vertex[0][j], moved[0][j]) for j in range(n) if m + j not in basis}
        if any(pair == (0, 0) for pair in (*slacks.values(), *weights.values())):
            raise _TiltTooSpecialError
        if any(_leads(pair) < 0 for pair in slacks.values()):
            raise _WalkLostError("a basis outside of C(X)")
        signs = [0] * n
        for j, pair in weights.items():
            signs[j] = 1 if _leads(pair) > 0 else -1
        return cls(vertex, slacks, weights, signs)


def exact_multipliers(training_set: TrainingSet, tilt: npt.NDArray[np.int64], basis: list[int]) -> dict[int, Fraction]:
    """Multipliers on the tight rows that pass the closure test: the vertex is in the closure of RO(X)."""
    return _closure_multipliers(training_set, basis, _ExactPlace.of(training_set, tilt, basis).signs)


def _closure_multipliers(training_set: TrainingSet, basis: list[int], signs: list[int]) -> dict[int, Fraction]:
    test = probe_closed_cell(training_set, [i for i in basis if i < training_set.n_rows], signs)
    if test.multipliers is None:
        raise _WalkLostError("a basis outside of the closure of RO(X)")
    return test.multipliers


def expand_exactly(
    training_set: TrainingSet, tilt: npt.NDArray[np.int64], basis: list[int]
) -> tuple[list[Edge], list[float]]:
    """What each edge direction of a basis comes to, and its solution in conditioned units; all in rationals."""
    m = training_set.n_rows
    tight = [i for i in basis if i < m]
    place = _ExactPlace.of(training_set, tilt, basis)
    _closure_multipliers(training_set, basis, place.signs)
    edges: list[Edge] = []
    for dropped, turn in directions(basis, m):
        edge_signs = list(place.signs)
        if dropped >= m:
            edge_signs[dropped - m] = turn
        refutation = probe_closed_cell(training_set, [i for i in tight if i != dropped], edge_signs).direction
        if refutation is not None:
            edges.append([*refutation[0], refutation[1]])
            continue
        direction = _edge_direction(training_set, basis, dropped, turn)
        speeds = training_set.exact_margins(*direction)
        hits = [((s0 / -speeds[q], s1 / -speeds[q]), q) for q, (s0, s1) in place.slacks.items() if speeds[q] < 0]
        hits += [
            ((w0 / -direction[0][j], w1 / -direction[0][j]), m + j)
            for j, (w0, w1) in place.weights.items()
            if direction[0][j] * place.signs[j] < 0
        ]
        if not hits:
            raise _WalkLostError("an edge without an end")
        hits.sort()
        if len(hits) > 1 and hits[0][0] == hits[1][0]:
            raise _TiltTooSpecialError
        edges.append(hits[0][1])
    weights, intercept = place.classifier
    units = [Fraction(2) ** int(e) for e in training_set.conditioning.exponent]
    anchored = sum((w * Fraction(a) for w, a in zip(weights, training_set.conditioning.anchor.tolist(), strict=True)))
    try:
        solution = [float(w * u) for w, u in zip(weights, units, strict=True)] + [float(intercept + anchored)]
    except OverflowError as error:
        raise SolverError(
            "a vertex has weights beyond what a float can hold: some values differ by less than any float does from 0"
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


def enumerate_vertices(
    training_set: TrainingSet,
    budget: Budget,
    *,
    n_threads: int | None = None,
    in_rationals: bool = False,
    report: Callable[[int, int], None] = lambda found, still_open: None,
) -> Vertices:
    """All vertices of the closure of RO(X), or as many as the budget allows.

    ``in_rationals`` makes every step exactly, and slowly, from the start. ``report`` is called now and then with the
    numbers of vertices found and still open.
    """
    threads = n_threads or available_processors()
    started = time.monotonic()
    why: Exception | None = None
    for attempt in range(_TRIES if in_rationals else 0, 2 * _TRIES):
        tilt = np.random.default_rng(attempt % _TRIES).integers(2**20, 2**21, training_set.n_rows)
        try:
            return _enumerate(training_set, tilt, budget, threads, attempt >= _TRIES, started, report)
        except WalkError as error:
            why = error
            _log.warning("enumeration %d of the vertices failed (%r); trying again", attempt + 1, error)
    raise SolverError(f"the vertices could not be enumerated, in {2 * _TRIES} attempts: {why!r}")


def _enumerate(
    training_set: TrainingSet,
    tilt: npt.NDArray[np.int64],
    budget: Budget,
    n_threads: int,
    in_rationals: bool,
    started: float,
    report: Callable[[int, int], None],
) -> Vertices:
    walk = _Walk(training_set, tilt, n_threads, in_rationals)
    walk.add_bases([first_basis(training_set, tilt)])
    done, stopped = 0, ""
    with ThreadPoolExecutor(n_threads) as pool:
        while done < walk.known and not stopped:
            stop = min(walk.known, done + _BLOCK)
            walk.expand(done, stop, pool)
            done = stop
            report(done, walk.known - done)
            if done < walk.known:
                stopped = budget.exceeded(done, time.monotonic() - started, walk.n_bytes)
    return walk.vertices(done, stopped)


def edges_of(
    training_set: TrainingSet, vertices: Vertices, n_threads: int
) -> Iterator[tuple[list[int], list[Edge] | None]]:
    """The vertices' bases with what the compiled steps find of each edge direction; None where they can't tell."""
    walk = _Walk(training_set, vertices.tilt, n_threads, in_rationals=False)
    walk.add_bases(vertices.bases)
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, walk.known, _BLOCK):
            found = walk.steps(start, min(walk.known, start + _BLOCK), pool)
            bases = walk.bases[start : start + len(found.counts)]
            n_tight = (bases < training_set.n_rows).sum(axis=1)
            # a refutation has a bit for each tight row and for each feature with weight; an integer has room for 63
            usable = (found.counts >= 0) & (2 * n_tight - 1 <= 63)
            n_edges = 2 * (training_set.n_features + 1) - n_tight
            lists = (array.tolist() for array in (bases, found.edges, n_edges, usable))
            for basis, edges, n, known in zip(*lists, strict=True):
                yield basis, edges[:n] if known else None


def extended(training_set: TrainingSet, vertices: Vertices, bases: list[list[int]], n_threads: int) -> Vertices:
    """The vertices with some more, and all that can be reached from these."""
    walk = _Walk(training_set, vertices.tilt, n_threads, in_rationals=False)
    walk.add_bases(vertices.bases)
    done = walk.known
    walk.solutions[:done] = vertices.solutions
    walk.add_bases(bases)
    with ThreadPoolExecutor(n_threads) as pool:
        while done < walk.known:
            stop = min(walk.known, done + _BLOCK)
            walk.expand(done, stop, pool)
            done = stop
    return walk.vertices(done, vertices.stopped)
