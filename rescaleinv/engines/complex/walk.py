"""Enumerates the vertices of the closure of RO(X) by walking its edges (docs/theory.md, section 4), perturbed symbolically.

The compiled steps are in ``kernel``; the few that floats and residues can't decide are made in rationals (``exact_walk``).
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.deadline import is_over, why_over
from rescaleinv._util.types import FloatArray
from rescaleinv.engines.complex import kernel
from rescaleinv.engines.complex.exact_walk import Edge, WalkError, expand_exactly, first_basis, neighbours_along
from rescaleinv.engines.complex.residues import field_of, powers_of_two, random_prime
from rescaleinv.errors import SolverError
from rescaleinv.theory.training_set import TrainingSet

_log = logging.getLogger(__name__)

_BLOCK = 4096
_FIRST_BLOCK = 64  # blocks grow while they take little time, so that a limit of seconds is kept
_SECONDS_OF_A_BLOCK = 0.25
# Should a walk go wrong: another direction of perturbation with larger error bounds, so that doubtful steps are taken in
# rationals; after that every step is.
_TRIES = 2
_CAUTION = 1e4

BasisArray = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Budget:
    """What an enumeration may cost; None means no limit."""

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
    enumeration early; "" means that the list is complete.
    """

    bases: BasisArray
    solutions: FloatArray
    perturbation: npt.NDArray[np.int64]
    stopped: str
    n_with_residues: int
    n_in_rationals: int


@dataclass(frozen=True)
class _Steps:
    """Neighbours and edges of some vertices; a count of neighbours below zero is a status of the kernel."""

    neighbours: BasisArray
    edges: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


def training_tables(
    training_set: TrainingSet, perturbation: npt.NDArray[np.int64], caution: float = 1.0
) -> kernel.Training:
    """What the compiled steps need of a training set."""
    signs = training_set.signs.astype(float)[:, None]
    rows = np.ascontiguousarray(np.hstack([training_set.conditioned, np.ones_like(signs)]) * signs)
    prime = random_prime()
    field, powers = field_of(prime), powers_of_two(prime)
    residues = kernel.float_residues(field, rows, powers)
    return kernel.Training(field, rows, residues, perturbation.astype(float), powers, float(caution))


def workspace(m: int, n: int) -> tuple[npt.NDArray[Any], ...]:
    """Room for the compiled steps: matrices of floats and of residues, vectors of integers, one entry per training row."""
    size = n + 2
    return (
        np.zeros((9, size, size)),
        np.zeros((5, size, size), dtype=np.uint64),
        np.zeros((9, size), dtype=np.int64),
        np.zeros((3 + n + 1, m)),
        np.zeros(m + n, dtype=np.uint8),
        np.zeros((2, m + size)),
    )


class _Walk:
    def __init__(
        self,
        training_set: TrainingSet,
        perturbation: npt.NDArray[np.int64],
        n_threads: int,
        *,
        in_rationals: bool = False,
        caution: float = 1.0,
    ) -> None:
        self.training_set = training_set
        self.in_rationals = in_rationals
        self.perturbation = perturbation
        self.tables = training_tables(training_set, perturbation, caution)
        m, n = training_set.n_rows, training_set.n_features
        self.width = n + 1
        self.most = 2 * n + 1  # neighbours of a vertex
        self.workspaces = [workspace(m, n) for _ in range(n_threads)]
        self.keys = np.random.default_rng(1).integers(1, 2**63, m + n).astype(np.uint64)
        self.bases: BasisArray = np.empty((1024, self.width), dtype=np.int32)
        self.solutions: FloatArray = np.empty((1024, self.width))
        self.hashes = np.empty(1024, dtype=np.uint64)
        self.slots = np.zeros(4096, dtype=np.int64)
        self.known = 0
        self.residues_at_once = False
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
            kernel.rehash(self.hashes, self.known, self.slots)
        self.known = int(kernel.absorb(self.bases, self.hashes, self.known, self.slots, self.keys, neighbours, counts))

    def add_bases(self, bases: npt.ArrayLike) -> None:
        rows = np.asarray(bases, dtype=np.int32)
        self.add(rows[:, None, :], np.ones(len(rows), dtype=np.int64))

    def vertices(self, done: int, stopped: str, *, copy: bool = True) -> Vertices:
        """The first vertices of the list, which were expanded."""
        bases, solutions = self.bases[:done], self.solutions[:done]
        return Vertices(
            bases.copy() if copy else bases,
            solutions.copy() if copy else solutions,
            self.perturbation,
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
            return int(
                kernel.expand_block(
                    self.bases[start + a : start + b],
                    self.tables,
                    self.residues_at_once,
                    self.workspaces[index],
                    found.neighbours[a:b],
                    found.edges[a:b],
                    found.counts[a:b],
                    self.solutions[start + a : start + b],
                )
            )

        if self.in_rationals:
            found.counts[:] = kernel.UNDECIDED
        else:
            parts = range(len(self.workspaces))
            with_residues = sum(pool.map(part, parts)) if total >= 64 else sum(map(part, parts))
            self.n_with_residues += with_residues
            self.residues_at_once = 2 * with_residues > total
        return found

    def expand(self, start: int, stop: int, pool: ThreadPoolExecutor, deadline: float = math.inf) -> int:
        """Expand the vertices of this range of the list; returns where it stopped, before its end if time is up."""
        found = self.steps(start, stop, pool)
        done = stop - start
        for v in np.flatnonzero(found.counts < 0):
            if v and time.monotonic() > deadline:
                done = int(v)
                break
            basis = self.bases[start + v].tolist()
            edges, solution = expand_exactly(self.training_set, self.perturbation, basis)
            neighbours = neighbours_along(basis, edges, self.training_set.n_rows)
            found.counts[v] = len(neighbours)
            if neighbours:  # a complex of one vertex has no edges
                found.neighbours[v, : len(neighbours)] = neighbours
            self.solutions[start + v] = solution
            self.n_in_rationals += 1
        self.add(found.neighbours[:done], found.counts[:done])
        return start + done


def enumerate_vertices(
    training_set: TrainingSet,
    budget: Budget,
    *,
    n_threads: int = 1,
    in_rationals: bool = False,
    report: Callable[[int, int], None] = lambda found, still_open: None,
) -> Vertices:
    """All vertices of the closure of RO(X), or as many as the budget allows.

    ``in_rationals`` takes every step exactly, and slowly, from the start. ``report`` is called now and then with the
    numbers of vertices found and still open.
    """
    started = time.monotonic()
    why: Exception | None = None
    for attempt in range(_TRIES if in_rationals else 0, 2 * _TRIES):
        perturbation = np.random.default_rng(attempt % _TRIES).integers(2**20, 2**21, training_set.n_rows)
        caution = 1.0 if attempt == 0 else _CAUTION
        walk = _Walk(training_set, perturbation, n_threads, in_rationals=attempt >= _TRIES, caution=caution)
        try:
            return _enumerate(walk, budget, started, report)
        except WalkError as error:
            why = error
            _log.warning("enumeration %d of the vertices failed (%r); trying again", attempt + 1, error)
    raise SolverError(f"the vertices could not be enumerated, in {2 * _TRIES} attempts: {why!r}")


def _enumerate(walk: _Walk, budget: Budget, started: float, report: Callable[[int, int], None]) -> Vertices:
    walk.add_bases([first_basis(walk.training_set, walk.perturbation)])
    deadline = math.inf if budget.seconds is None else started + budget.seconds
    done, stopped, block = 0, "", _FIRST_BLOCK
    with ThreadPoolExecutor(len(walk.workspaces)) as pool:
        while done < walk.known and not stopped:
            begun = time.monotonic()
            try:
                done = walk.expand(done, min(walk.known, done + block), pool, deadline)
            except MemoryError:  # what was found before is still there, and still proves points neutral
                return walk.vertices(done, "more memory than there is", copy=False)
            block = min(2 * block, _BLOCK) if time.monotonic() - begun < _SECONDS_OF_A_BLOCK else max(block // 2, 1)
            report(done, walk.known - done)
            if done < walk.known:
                spent = budget.exceeded(done, time.monotonic() - started, walk.n_bytes)
                stopped = spent or (why_over() if is_over() else "")
    try:
        return walk.vertices(done, stopped)
    except MemoryError:  # the lists have room for more; that is no reason to lose them
        return walk.vertices(done, stopped, copy=False)


def edges_of(
    training_set: TrainingSet, vertices: Vertices, n_threads: int
) -> Iterator[tuple[list[int], list[Edge] | None]]:
    """The vertices' bases with what the compiled steps find of each edge direction; None where they can't tell."""
    walk = _Walk(training_set, vertices.perturbation, n_threads)
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


def leads_elsewhere(training_set: TrainingSet, vertices: Vertices, n_threads: int, most: int, most_exact: int) -> bool:
    """Whether an edge of the vertices leads to one that is not on the list; ``WalkError`` where one is no vertex at all.

    A complete list is closed under edges, and as the complex is connected, no part of it is. At most so many vertices,
    drawn at random, are looked at, and of those that need rationals at most ``most_exact``.
    """
    walk = _Walk(training_set, vertices.perturbation, n_threads)
    total = len(vertices.bases)
    walk.add_bases(vertices.bases if total <= most else np.random.default_rng().permutation(vertices.bases))
    listed = walk.known
    with ThreadPoolExecutor(n_threads) as pool:
        for start in range(0, min(listed, most), _BLOCK):
            found = walk.steps(start, min(listed, most, start + _BLOCK), pool)
            walk.add(found.neighbours, found.counts)
            for v in np.flatnonzero(found.counts < 0)[: max(most_exact, 0)].tolist():
                most_exact -= 1
                basis = walk.bases[start + v].tolist()
                edges = expand_exactly(training_set, vertices.perturbation, basis)[0]
                neighbours = neighbours_along(basis, edges, training_set.n_rows)
                if neighbours:
                    walk.add_bases(neighbours)
            if walk.known > listed:
                return True
    return False


def extended(training_set: TrainingSet, vertices: Vertices, bases: list[list[int]], n_threads: int) -> Vertices:
    """The vertices with some more, and all that can be reached from these."""
    walk = _Walk(training_set, vertices.perturbation, n_threads)
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
