"""The search for flips: classifiers of two rescalings that disagree about a point, at sizes where nothing can be enumerated.

Two searches share what they find. The one over costs mutates the costs of weighted L1-SVMs, all of whose optima are in
the closure of RO(X); it is here. The one along edges is in ``led_walk``. Both work in floats; a flip counts only when it
is confirmed exactly.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.deadline import is_over
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Witness
from rescaleinv.certificates.two_rescalings import witness_from
from rescaleinv.engines.search import kernel as _kernel
from rescaleinv.engines.search.exact import ExactVertex, ExactVertices
from rescaleinv.engines.search.led_walk import Basis, LedWalk, costs_of
from rescaleinv.engines.search.simplex import L1Simplex, Vertex
from rescaleinv.errors import SolverError
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.training_set import TrainingSet, require_training_set

_CLEAR = 1e-6  # decision values beyond this are worth an exact look
_LEAST_COST = 1e-6  # beside the largest
_PULL = 1e-2  # of the intercept, beside the largest cost
_AT_A_TIME = 200  # sweeps for one point before the next point has its turn
_MOST_STEPS = 20_000  # in one sweep
# How costs are mutated, in turn: share of the features, size of the change of log c, and whether from the best known
# costs of the point or from random ones.
_PLANS = ((0.1, 5.0, True), (0.2, 8.0, False))


@dataclass(frozen=True)
class SearchBudget:
    """What the search may cost: ``common`` sweeps for all points together, then for each open point ``sweeps`` and
    ``expansions``.

    A sweep follows the optimum from one cost vector to another; it passes a few to some dozens of vertices. An expansion
    finds all neighbours of a vertex. With ``seconds`` (for the whole call) the result depends on the clock; without, only
    on the seed.
    """

    common: int = 200
    sweeps: int = 600
    seconds: float | None = None
    expansions: int = 60


@dataclass(frozen=True)
class Flip:
    """Two exact vertices of the closure of RO(X) of which one puts the point on the positive side, one on the negative."""

    point: list[Fraction]
    positive: ExactVertex
    negative: ExactVertex

    def witness(self, *, left_out: int = 0) -> Witness:
        """Two finite rescalings that disagree about the point, with the certificate (hard margin)."""
        sides = (self.positive.at_finite_rescaling(self.point), self.negative.at_finite_rescaling(self.point))
        return witness_from(self.positive.training_set, self.point, *sides, left_out=left_out)


@dataclass(frozen=True)
class SearchResult:
    """For each point the least and the largest decision value seen, and the flip where one is confirmed exactly.

    The values (margin 1 is the unit) are of float vertices: they bound nothing, but tell how near a flip is.
    """

    least: FloatArray
    largest: FloatArray
    flips: list[Flip | None]
    n_sweeps: int
    n_expansions: int
    n_vertices: int
    seconds: float

    @property
    def neutral(self) -> npt.NDArray[np.bool_]:
        return np.array([flip is not None for flip in self.flips], dtype=bool)


@dataclass(frozen=True)
class KnownVertex:
    """A float vertex: its items, costs at which it is optimal, and the states of the rows where some can be in."""

    items: npt.NDArray[np.int64]
    costs: FloatArray
    states: npt.NDArray[np.int8]


@dataclass
class Pool:
    """Vertices that hold a record for some point, in floats of conditioned units; later calls begin with them."""

    vertices: list[KnownVertex] = field(default_factory=list)
    solutions: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # (w, b), one row per vertex
    _positions: dict[bytes, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.vertices)

    def add(self, vertex: KnownVertex, solution: FloatArray) -> None:
        key = np.sort(vertex.items).tobytes()
        if key not in self._positions:
            self._positions[key] = len(self.vertices)
            self.vertices.append(vertex)
            self.solutions = np.vstack([self.solutions.reshape(-1, len(solution)), solution])

    @property
    def bases(self) -> list[list[int]]:
        """Of each vertex the tight rows i < n_rows and, as n_rows + j, the features without weight."""
        return [np.sort(vertex.items)[:-1].tolist() for vertex in self.vertices]


class FlipSearch:
    """Searches the closure of RO(X) for classifiers that label points differently.

    Parameters
    ----------
    training_set : TrainingSet
        Consistent for the hard margin.
    nu_caps : sequence of float or Fraction, optional
        The ν-margin's caps, one for each row, where multipliers sum to 1 (1/2 over each class); the hard margin if not
        given.
    seed : int
        The same seed and budget (without a clock) give the same result.

    Examples
    --------
    Example 2 of the paper:

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> found = FlipSearch(ts).run([[-1, 4], [4, 4]], budget=SearchBudget(common=20, sweeps=20))
    >>> found.neutral
    array([ True, False])
    >>> from rescaleinv.verify import check
    >>> check(found.flips[0].witness().certificate.to_json())
    'neutral'
    """

    def __init__(self, training_set: TrainingSet, nu_caps: Sequence[Any] | None = None, seed: int = 0) -> None:
        require_training_set(training_set)
        self.training_set = training_set
        caps = None if nu_caps is None else [Fraction(cap) for cap in nu_caps]
        self.simplex = L1Simplex(training_set, None if caps is None else np.array([float(cap) for cap in caps]), seed)
        self.exact = ExactVertices(training_set, caps)
        self.pool = Pool()
        self.n_sweeps = 0
        self._led_walk: LedWalk | None = None
        self._walked: set[tuple[bytes, bytes]] = set()  # points with the vertices that they were led from
        self._random = np.random.default_rng([seed, 22])
        self.usual_costs = self.simplex.default_costs()
        self._states = (self.simplex.new_state(), self.simplex.new_state())

    def run(
        self,
        points: Any,
        signs: npt.ArrayLike | None = None,
        open_mask: npt.ArrayLike | None = None,
        budget: SearchBudget | None = None,
    ) -> SearchResult:
        """Search flips of the points.

        Parameters
        ----------
        points : table, one row per point
        signs : sequence of +1 and -1, optional
            The labels that flips are to contradict; those of the L1-SVM at the usual costs if not given.
        open_mask : sequence of bool, optional
            Points that are worth a search of their own; all if not given. The others profit from what is found.
        budget : SearchBudget, optional
        """
        started = time.monotonic()
        steps, sweeps, expansions = self.simplex.n_steps, self.n_sweeps, self.n_expansions
        allowed = budget or SearchBudget()
        table = as_matrix(points, n_features=self.training_set.n_features)
        search = _Search(self, table, allowed, started)
        sides = search.sides if signs is None else np.where(np.asarray(signs) >= 0, 1.0, -1.0)
        wanted = np.ones(len(table), dtype=bool) if open_mask is None else np.asarray(open_mask, dtype=bool)
        search.common()
        search.confirm()
        for turn in range(max(-(-allowed.sweeps // _AT_A_TIME), 1)):
            for p in np.flatnonzero(wanted):
                if search.flips[p] is None and not search.out_of_time():
                    search.climb(int(p), sides[p], turn, min(_AT_A_TIME, allowed.sweeps - turn * _AT_A_TIME))
            search.confirm()
            if turn == 0 and allowed.expansions and not self.simplex.has_caps:
                for p in np.flatnonzero(wanted):
                    if search.flips[p] is None and not search.out_of_time():
                        search.walk(int(p), sides[p])
                search.confirm()
        search.keep()
        return SearchResult(
            search.records.least.copy(),
            search.records.largest.copy(),
            search.flips,
            self.n_sweeps - sweeps,
            self.n_expansions - expansions,
            self.simplex.n_steps - steps,
            time.monotonic() - started,
        )

    @property
    def n_expansions(self) -> int:
        return 0 if self._led_walk is None else self._led_walk.n_expanded

    @property
    def led_walk(self) -> LedWalk:
        if self._led_walk is None:
            self._led_walk = LedWalk(self.training_set, self.simplex.perturbation)
        return self._led_walk

    def costs_at(self, known: KnownVertex, vertex: Vertex) -> FloatArray | None:
        """Costs at which a known vertex is optimal; the led walk leaves that open."""
        return costs_of(self.training_set, vertex) if np.isnan(known.costs).any() else known.costs

    def exact_at(self, known: KnownVertex) -> ExactVertex | None:
        """The vertex in rationals, if it is one of the closure of RO(X)."""
        with contextlib.suppress(SolverError):
            vertex = self.vertex_at(known)
            costs = self.costs_at(known, vertex)
            return None if costs is None else self.exact.of(vertex, costs)
        return None

    def least_value(self, point: Any, side: int) -> float:
        """The decision value, over the vertices known so far, that is farthest to the side opposite to ``side``."""
        row = as_matrix([point], what="the point", n_features=self.training_set.n_features)
        if not len(self.pool):
            self.run(row, budget=SearchBudget(common=0, sweeps=0, expansions=0))
        values = self.pool.solutions @ np.append(self.training_set.conditioning.apply(row)[0], 1.0)
        return float(values.min() if side > 0 else values.max())

    def flip_at(self, costs: FloatArray, point: FloatArray, side: int) -> tuple[list[Fraction], Fraction] | None:
        """The L1-SVM at these costs (original units, 0 allowed), exactly, if it puts the point opposite to ``side``.

        What a tree asks at its nodes. Where the plain optimum does not, those with a slight pull on the intercept, either
        way, are tried as well.
        """
        conditioned = np.ldexp(np.asarray(costs, dtype=float), -self.training_set.conditioning.exponent)
        conditioned = np.maximum(conditioned / max(float(conditioned.max()), 1e-300), _LEAST_COST)
        there = np.append(self.training_set.conditioning.apply(point), 1.0)
        for pull in (0.0, _PULL, -_PULL):
            with contextlib.suppress(SolverError):
                vertex = self.simplex.solve(conditioned, self.simplex.no_pull if not pull else self._intercept * pull)
                if side * float(np.append(vertex.weights, vertex.intercept) @ there) < -_CLEAR:
                    usable = conditioned if not pull else costs_of(self.training_set, vertex)
                    found = None if usable is None else self.exact.of(vertex, usable)
                    if found is not None:
                        return found.weights, found.intercept
        return None

    @property
    def _intercept(self) -> FloatArray:
        return np.append(np.zeros(self.simplex.n_features), 1.0)

    def vertex_at(self, known: KnownVertex) -> Vertex:
        """The vertex without perturbation."""
        return self.simplex.vertex_at(known.items, known.states)


class _Search:
    """One call of ``FlipSearch.run``."""

    def __init__(self, owner: FlipSearch, table: FloatArray, budget: SearchBudget, started: float) -> None:
        self.owner, self.table, self.budget, self.started = owner, table, budget, started
        simplex = owner.simplex
        n, size, total = simplex.n_features, simplex.n_features + 2, len(table)
        conditioned = owner.training_set.conditioning.apply(table)
        with_states = simplex.n_rows if simplex.has_caps else 0
        self.records = _kernel.Records(
            np.ascontiguousarray(np.hstack([conditioned, np.ones((total, 1))]).T),
            np.full(total, np.inf),
            np.full(total, -np.inf),
            np.zeros((total, size), np.int64),
            np.zeros((total, size), np.int64),
            np.ones((total, n)),
            np.ones((total, n)),
            np.zeros((total, with_states), np.int8),
            np.zeros((total, with_states), np.int8),
            np.zeros(total),
        )
        self.flips: list[Flip | None] = [None] * total
        self._recall()
        simplex.restart()
        self._sweep(np.zeros((1, n)))
        self.sides = np.where(self.records.values >= 0, 1.0, -1.0)

    def _recall(self) -> None:
        """What the pool's vertices say of the points."""
        pool = self.owner.pool
        if not len(pool):
            return
        values = pool.solutions @ self.records.points
        for p in range(values.shape[1]):
            for best, least in ((int(values[:, p].argmin()), True), (int(values[:, p].argmax()), False)):
                self._set_record(p, least, float(values[best, p]), pool.vertices[best])

    def _set_record(self, p: int, least: bool, value: float, vertex: KnownVertex) -> None:
        records = self.records
        if least:
            records.least[p], records.least_items[p], records.least_costs[p] = value, vertex.items, vertex.costs
            records.least_states[p] = vertex.states
        else:
            records.largest[p], records.largest_items[p], records.largest_costs[p] = value, vertex.items, vertex.costs
            records.largest_states[p] = vertex.states

    def out_of_time(self) -> bool:
        spent = self.budget.seconds is not None and time.monotonic() - self.started > self.budget.seconds
        return spent or is_over()

    def _sweep(self, changes: FloatArray, driver: int = -1, side: float = 1.0) -> None:
        owner, simplex = self.owner, self.owner.simplex
        costs = simplex.costs.copy()
        status, done = _kernel.search(
            simplex.rows,
            simplex.state,
            *owner._states,
            self.records,
            costs,
            owner.usual_costs,
            changes,
            driver,
            side,
            -_CLEAR,
            _MOST_STEPS,
        )
        owner.n_sweeps += done
        simplex.costs = costs
        if status != _kernel.FOUND:
            simplex.restart()

    def common(self) -> None:
        """Random costs, every vertex on the way between them speaking for all points."""
        simplex, random = self.owner.simplex, self.owner._random
        changes = random.normal(size=(self.budget.common, simplex.n_features))
        changes *= np.where(np.arange(self.budget.common) % 2 == 0, 1.0, 3.0)[:, None]
        self._sweep(changes)

    def climb(self, p: int, side: float, turn: int, n_sweeps: int) -> None:
        """A search of its own for a point."""
        simplex, random = self.owner.simplex, self.owner._random
        share, size, from_best = _PLANS[turn % len(_PLANS)]
        n = simplex.n_features
        changes = size * random.normal(size=(n_sweeps, n)) * (random.random((n_sweeps, n)) < share)
        start = self._best_costs(p, side)
        if start is None or not from_best:
            start = self.owner.usual_costs * np.exp(np.clip(2 * random.normal(size=n), -6, 6))
        with contextlib.suppress(SolverError):  # near ties; it went back to the first vertex, which will do as well
            simplex.solve(start)
        self._sweep(changes, p, side)

    def _best_costs(self, p: int, side: float) -> FloatArray | None:
        value, known = self._record(p, side > 0)
        with contextlib.suppress(SolverError):
            return self.owner.costs_at(known, self.owner.vertex_at(known)) if np.isfinite(value) else None
        return None

    def walk(self, p: int, side: float) -> None:
        """The walk along edges from the point's best vertex."""
        m, n = self.owner.simplex.n_rows, self.owner.simplex.n_features
        value, known = self._record(p, side > 0)
        if not np.isfinite(value):
            return

        def value_of(bases: list[Basis], solutions: FloatArray) -> FloatArray:
            values = np.nan_to_num(solutions @ self.records.points, nan=np.inf)
            lowest, highest = values.argmin(axis=0), np.where(np.isfinite(values), values, -np.inf).argmax(axis=0)
            everyone = np.arange(values.shape[1])
            news = [(q, True, lowest[q]) for q in np.flatnonzero(values[lowest, everyone] < self.records.least)]
            news += [(q, False, highest[q]) for q in np.flatnonzero(values[highest, everyone] > self.records.largest)]
            for q, least, v in news:
                vertex = KnownVertex(np.append(bases[v], m + n), np.full(n, np.nan), known.states)
                self._set_record(int(q), least, float(values[v, q]), vertex)
            return side * values[:, p]

        start = np.sort(known.items)[:-1].astype(np.int32)
        done = (self.table[p].tobytes(), start.tobytes())
        if done in self.owner._walked:  # in an earlier call: the same walk would find the same
            return
        self.owner._walked.add(done)
        self.owner.led_walk.lead(start, value_of, -_CLEAR, self.budget.expansions)

    def _record(self, p: int, least: bool) -> tuple[float, KnownVertex]:
        r = self.records
        if least:
            value, items, costs, states = r.least[p], r.least_items[p], r.least_costs[p], r.least_states[p]
        else:
            value, items, costs, states = r.largest[p], r.largest_items[p], r.largest_costs[p], r.largest_states[p]
        return float(value), KnownVertex(items.copy(), costs.copy(), states.copy())

    def keep(self) -> None:
        """Let the vertices that hold records join the pool."""
        for p in range(len(self.table)):
            for least in (True, False):
                value, known = self._record(p, least)
                with contextlib.suppress(SolverError):
                    if np.isfinite(value):
                        vertex = self.owner.vertex_at(known)
                        self.owner.pool.add(known, np.append(vertex.weights, vertex.intercept))

    def confirm(self) -> None:
        """Decide exactly which of the apparent flips are flips; a record that does not hold is taken back."""
        apparent = (self.records.least < -_CLEAR) & (self.records.largest > _CLEAR)
        for p in np.flatnonzero(apparent):
            if self.flips[p] is None:
                point = [Fraction(x) for x in self.table[p].tolist()]
                negative, positive = (self._confirmed(int(p), least, point) for least in (True, False))
                if negative is not None and positive is not None:
                    self.flips[p] = Flip(point, positive, negative)

    def _confirmed(self, p: int, least: bool, point: list[Fraction]) -> ExactVertex | None:
        vertex = self.owner.exact_at(self._record(p, least)[1])
        if vertex is not None and (vertex.value(point) < 0 if least else vertex.value(point) > 0):
            return vertex
        if least:
            self.records.least[p] = np.inf
        else:
            self.records.largest[p] = -np.inf
        return None
