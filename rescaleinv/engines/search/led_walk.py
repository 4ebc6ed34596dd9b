"""The walk led by points: edges of the closure of RO(X) are followed from the vertex that is most promising for a point.

The complex engine's compiled steps say which edges there are, so every vertex that is reached is in the closure (of the
perturbed problem). Its costs are not known; ``costs_of`` finds some.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.complex import kernel
from rescaleinv.engines.complex.walk import training_tables, workspace
from rescaleinv.engines.search.simplex import Vertex
from rescaleinv.theory.training_set import TrainingSet

Basis = npt.NDArray[np.int32]

_AT_A_TIME = 4  # vertices that are expanded together


class LedWalk:
    """Expands vertices of one training set (hard margin), best first."""

    def __init__(self, training_set: TrainingSet, perturbation: npt.NDArray[np.int64]) -> None:
        self.training_set = training_set
        self.tables = training_tables(training_set, perturbation)
        self.room = workspace(training_set.n_rows, training_set.n_features)
        self.n_expanded = 0

    def lead(
        self,
        start: Basis,
        value_of: Callable[[list[Basis], FloatArray], FloatArray],
        goal: float,
        budget: int,
    ) -> None:
        """Expand up to ``budget`` vertices, those with the least value first, until a value is below ``goal``.

        ``value_of`` is told the bases that are reached, with their solutions (w, b) in floats, and says what each is worth.
        """
        seen = {start.tobytes()}
        queue: list[tuple[float, int, Basis]] = [(0.0, 0, start)]
        left, n_seen = budget, 1
        while queue and left > 0:
            chosen = [heapq.heappop(queue)[2] for _ in range(min(_AT_A_TIME, left, len(queue)))]
            left -= len(chosen)
            found, solutions = [], []
            for basis, neighbours in zip(chosen, self._neighbours(chosen), strict=True):
                new = [item for item in neighbours if item.tobytes() not in seen]
                if new:
                    solutions.append(self._solutions_beside(basis, new))
                    seen.update(item.tobytes() for item in new)
                    found += new
            if not found:
                continue
            values = value_of(found, np.vstack(solutions))
            for value, basis in zip(values.tolist(), found, strict=True):
                if np.isfinite(value):
                    heapq.heappush(queue, (value, n_seen, basis))
                    n_seen += 1
            if values.min() < goal:
                return

    def _neighbours(self, bases: list[Basis]) -> list[list[Basis]]:
        """The bases at the other ends of the edges; none for a vertex that floats and residues can't decide."""
        n = self.training_set.n_features
        total, most = len(bases), 2 * n + 1
        ends = np.empty((total, most, n + 1), dtype=np.int32)
        edges = np.empty((total, most), dtype=np.int64)
        counts = np.empty(total, dtype=np.int64)
        kernel.expand_block(
            np.array(bases, dtype=np.int32),
            self.tables,
            False,
            self.room,
            ends,
            edges,
            counts,
            np.empty((total, n + 1)),
        )
        self.n_expanded += total
        return [[end.copy() for end in ends[v, : max(int(counts[v]), 0)]] for v in range(total)]

    def _solutions_beside(self, basis: Basis, neighbours: list[Basis]) -> FloatArray:
        """(w, b) of the neighbours, each of which has one item exchanged: a step along one column of the inverse."""
        lines, right = self._lines(basis)
        try:
            inverse = np.linalg.inv(lines)
        except np.linalg.LinAlgError:  # the exact steps can do what floats can't
            return np.full((len(neighbours), lines.shape[1]), np.nan)
        solution = inverse @ right
        listed = np.array(neighbours)
        n_items = self.training_set.n_rows + self.training_set.n_features
        has = np.zeros((len(listed) + 1, n_items), bool)
        has[np.arange(len(listed))[:, None], listed] = True
        has[-1, basis] = True
        dropped = has[:-1, basis].argmin(axis=1)
        reached = listed[~has[-1, listed]]
        lines, right = self._lines(reached)
        directions = inverse[:, dropped].T
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = (right - lines @ solution) / (lines * directions).sum(axis=1)
            return solution + steps[:, None] * directions

    def _lines(self, items: npt.NDArray[np.integer]) -> tuple[FloatArray, FloatArray]:
        """The equations of items: a tight row has margin 1, a feature without weight the weight 0."""
        m, n = self.training_set.n_rows, self.training_set.n_features
        tight = items < m
        lines = np.zeros((len(items), n + 1))
        lines[tight] = self.tables.rows[items[tight]]
        lines[np.flatnonzero(~tight), items[~tight] - m] = 1.0
        return lines, tight.astype(float)


def costs_of(training_set: TrainingSet, vertex: Vertex) -> FloatArray | None:
    """Costs at which a vertex is the optimum, conditioned units, from multipliers with the largest least ratio |μ_j / w_j|.

    None where floats find none.
    """
    on, support = vertex.on, np.flatnonzero(vertex.signs)
    columns = training_set.conditioned[on] * training_set.signs[on, None]
    share = np.abs(vertex.weights[support])
    share = np.maximum(share / share.max(), 1e-3)
    inequality = np.hstack([-(columns[:, support] * vertex.signs[support]).T, share[:, None]])
    equality = np.zeros((2, len(on) + 1))
    equality[0, :-1], equality[1, :-1] = training_set.signs[on], 1.0
    answer = linprog(
        np.append(np.zeros(len(on)), -1.0), inequality, np.zeros(len(support)), equality, [0.0, 1.0], method="highs"
    )
    if answer.x is None or answer.x[-1] <= 0:
        return None
    gradient = answer.x[:-1] @ columns
    costs = np.abs(gradient)
    costs[vertex.zero] = 1.5 * costs[vertex.zero] + costs[support].mean()
    return costs
