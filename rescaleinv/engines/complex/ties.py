"""Exact decisions about points that lie on some vertex's hyperplane, up to rounding."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from rescaleinv.engines.complex.exact_walk import exact_vertex
from rescaleinv.engines.complex.walk import Vertices
from rescaleinv.theory.optimality import probe_cell
from rescaleinv.theory.training_set import TrainingSet

# After so many cells the question whether a tie is attained is left open.
_MOST_CELLS = 5000


@dataclass(frozen=True)
class ExactVertex:
    """A vertex (w, b) in rationals of the original units, with its tight rows and the signs of its weights."""

    weights: list[Fraction]
    intercept: Fraction
    tight: frozenset[int]
    signs: tuple[int, ...]

    def value(self, point: list[Fraction]) -> Fraction:
        return sum((w * x for w, x in zip(self.weights, point, strict=True) if w), self.intercept)


class ExactVertices:
    """The vertices of an enumeration as rationals, each solved when first asked for."""

    def __init__(self, training_set: TrainingSet, vertices: Vertices) -> None:
        self.training_set = training_set
        self.vertices = vertices
        self._solved: dict[int, ExactVertex] = {}

    def __getitem__(self, index: int) -> ExactVertex:
        if index not in self._solved:
            basis = self.vertices.bases[index].tolist()
            n_tight = sum(item < self.training_set.n_rows for item in basis)
            solution = exact_vertex(self.training_set, basis, [1] * n_tight)
            assert solution is not None  # the walk solved it before
            margins = self.training_set.exact_margins(*solution)
            self._solved[index] = ExactVertex(
                *solution,
                frozenset(i for i, margin in enumerate(margins) if margin == 1),
                tuple((w > 0) - (w < 0) for w in solution[0]),
            )
        return self._solved[index]

    def distinct(self, chosen: npt.NDArray[np.intp]) -> list[int]:
        """One of the chosen vertices for each exact solution: many bases of degenerate data have the same one.

        A basis has a solution iff its rows are tight there and its other features have no weight, since it is regular.
        So only one basis for each solution has to be solved, if it is known which solutions to compare with: those with
        nearly the same floats.
        """
        m = self.training_set.n_rows
        found: dict[tuple[tuple[Fraction, ...], Fraction], int] = {}
        nearby: dict[bytes, list[ExactVertex]] = {}
        for index, code in zip(chosen.tolist(), self._coarse(chosen), strict=True):
            items = self.vertices.bases[index].tolist()
            tight, empty = {i for i in items if i < m}, [i - m for i in items if i >= m]
            others = nearby.setdefault(code, [])
            if any(tight <= v.tight and not any(v.signs[j] for j in empty) for v in others):
                continue
            vertex = self[index]
            others.append(vertex)
            found.setdefault((tuple(vertex.weights), vertex.intercept), index)
        return list(found.values())

    def _coarse(self, chosen: npt.NDArray[np.intp]) -> list[bytes]:
        """The float solutions to some 6 digits: the same for most bases that have the same solution."""
        solutions = self.vertices.solutions[chosen]
        unit = np.ldexp(1.0, np.frexp(np.abs(self.vertices.solutions).max(axis=0))[1] - 20)
        return [row.tobytes() for row in np.rint(solutions / unit) + 0.0]  # -0 becomes 0


@dataclass(frozen=True)
class Tie:
    """Whether f = 0 on RO(X) itself: at this classifier, nowhere (None), or undecided.

    ``refutations`` (h, t) show, for each cell that holds no classifier, that it holds none.
    """

    classifier: tuple[list[Fraction], Fraction] | None
    decided: bool
    refutations: list[list[Fraction]]


def attained_tie(training_set: TrainingSet, zeros: list[ExactVertex], seconds: float | None = None) -> Tie:
    """Given all vertices with f = 0 where f <= 0 everywhere: is f = 0 at some classifier of RO(X), and not only at a limit?

    The classifiers of the closure with f = 0 are the cells all of whose vertices have f = 0. Each such cell is the least
    one that holds some of these vertices: it is tight where all of them are, and has the signs that any of them has.
    Whether it is a cell of RO(X) is the test of docs/theory.md, section 2, zeros included.
    There may be many cells; after ``seconds`` the question is left open.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    seen: dict[tuple[frozenset[int], tuple[int, ...]], list[ExactVertex]] = {}
    refutations = []
    waiting = [(vertex.tight, vertex.signs, [vertex]) for vertex in zeros]
    while waiting:
        tight, signs, members = waiting.pop()
        if (tight, signs) in seen:
            continue
        seen[tight, signs] = members
        if len(seen) > _MOST_CELLS or time.monotonic() > deadline:
            return Tie(None, False, [])
        refutation = probe_cell(training_set, sorted(tight), signs).direction
        if refutation is not None:
            refutations.append([*refutation[0], refutation[1]])
        else:
            share = Fraction(1, len(members))
            n = training_set.n_features
            weights = [share * sum((v.weights[j] for v in members), Fraction(0)) for j in range(n)]
            return Tie((weights, share * sum((v.intercept for v in members), Fraction(0))), True, [])
        for vertex in zeros:
            joined = _joined_signs(signs, vertex.signs)
            if joined is not None and (tight & vertex.tight, joined) not in seen and tight & vertex.tight:
                waiting.append((tight & vertex.tight, joined, [*members, vertex]))
    return Tie(None, True, refutations)


def _joined_signs(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    if any(a * b < 0 for a, b in zip(first, second, strict=True)):
        return None
    return tuple(a or b for a, b in zip(first, second, strict=True))
