"""A warm-started simplex for weighted L1-SVMs: ``min Σ c_j |w_j|`` over C(X), or over C_ν with caps on the multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.search import kernel as _kernel
from rescaleinv.errors import InseparableError, SolverError
from rescaleinv.theory.training_set import TrainingSet

_SHIFT = 1e-7  # size of the perturbation of the margins, relative to a margin of 1
_MOST_STEPS = 50_000


@dataclass(frozen=True)
class Vertex:
    """A vertex in floats of conditioned units: w, b (divided by ρ, so that rows that are on have margin 1).

    ``on`` are the rows that fix it, ``zero`` the features without weight, ``inside`` the rows whose multiplier is at its
    cap (none with the hard margin). ``signs`` are those of the perturbed weights: a weight may be 0 without perturbation.
    """

    weights: FloatArray
    intercept: float
    signs: FloatArray
    on: list[int]
    zero: list[int]
    inside: list[int]


class L1Simplex:
    """The vertices of one training set: each call goes on from where the last one ended.

    Parameters
    ----------
    training_set : TrainingSet
    caps : array of float, optional
        The largest multiplier of each row where they sum to 1 (the ν-margin); the hard margin if not given.
    seed : int
        Of the perturbation that keeps ties from making the steps cycle.
    """

    def __init__(self, training_set: TrainingSet, caps: FloatArray | None = None, seed: int = 0) -> None:
        self.training_set = training_set
        self.n_rows, self.n_features = training_set.n_rows, training_set.n_features
        signs = training_set.signs.astype(float)[:, None]
        rows = np.hstack([training_set.conditioned * signs, signs, -np.ones_like(signs)])
        # as integers it is the direction in which the complex engine's steps perturb
        self.perturbation = np.random.default_rng([seed, 20]).integers(2**20, 2**21, self.n_rows)
        shifts = self.perturbation / 2**20
        columns = np.ascontiguousarray(rows.T)
        limits = np.full(self.n_rows, np.inf) if caps is None else np.ascontiguousarray(caps, dtype=float)
        self.has_caps = caps is not None
        self._large = _kernel.Rows(columns, limits, shifts)
        self.rows = _kernel.Rows(columns, limits, shifts * _SHIFT)
        self.state = self.new_state()
        self.costs = self.default_costs()
        self.no_pull = np.zeros(self.n_features + 1)
        self.n_solved = 0
        self._first: _kernel.State | None = None
        self.restart()

    def new_state(self) -> _kernel.State:
        n, m = self.n_features, self.n_rows
        size = n + 2
        return _kernel.State(
            np.zeros(size, np.int64),
            np.zeros((size, size)),
            np.zeros(size),
            np.zeros(m),
            np.zeros(m, np.int8),
            np.zeros(n, np.int8),
            np.zeros(3, np.int64),
            np.zeros((6, size)),
            np.zeros(m),
        )

    def default_costs(self) -> FloatArray:
        """The spread of each feature: the costs at which a common choice of units would put the L1-SVM."""
        spread = self.training_set.conditioned.std(axis=0)
        return np.where(spread > 0, spread, 1.0)

    @property
    def n_steps(self) -> int:
        return int(self.state.counts[2])

    def restart(self) -> None:
        """Go back to the first vertex, the optimum at the default costs."""
        if self._first is None:
            self._find_first()
            self._first = self._copied()
        for mine, first in zip(self.state, self._first, strict=True):
            if mine is not self.state.counts:
                mine[:] = first
        self.state.counts[:2] = self._first.counts[:2]
        self.costs = self.default_costs()

    def _copied(self) -> _kernel.State:
        return _kernel.State(*(array.copy() for array in self.state))

    def _find_first(self) -> None:
        signs, shifts = self.training_set.signs, self._large.shifts
        first = [int(np.flatnonzero(signs == side)[shifts[signs == side].argmax()]) for side in (1, -1)]
        self.state.items[:] = [*first, *range(self.n_rows, self.n_rows + self.n_features)]
        self.state.row_state[first] = _kernel.ON
        status = self._optimise(self.default_costs(), self.no_pull, cold=True)
        if status == _kernel.NO_END:
            what = "the reduced hulls of the classes meet" if self.has_caps else "no hyperplane separates the classes"
            raise InseparableError(f"{what}: there is no L1-SVM with this margin")
        if status != _kernel.FOUND:
            raise SolverError("the first vertex of the L1-SVMs was lost to rounding errors")

    def _optimise(self, costs: FloatArray, pull: FloatArray, cold: bool = False) -> int:
        self.n_solved += 1
        return int(_kernel.solve(self._large, self.rows, self.state, costs, pull, _MOST_STEPS, cold))

    def solve(self, costs: FloatArray, pull: FloatArray | None = None) -> Vertex:
        """The vertex that minimises Σ c_j |w_j| (+ pull·(w, b)), conditioned units."""
        given = np.array(costs, dtype=float)
        extra = self.no_pull if pull is None else np.ascontiguousarray(pull, dtype=float)
        status = self._optimise(given, extra)
        if status != _kernel.FOUND:
            self.restart()
            status = self._optimise(given, extra)
        if status != _kernel.FOUND:
            self.restart()
            pulled = pull is not None and status == _kernel.NO_END
            why = "the pull is too strong, there is no least value" if pulled else "rounding errors took over"
            raise SolverError(f"the L1-SVM at these costs was not found: {why}")
        self.costs = given
        return self.vertex()

    def vertex(self) -> Vertex:
        """The present vertex."""
        return self.vertex_at(self.state.items, self.state.row_state)

    def vertex_at(self, items: npt.NDArray[np.int64], row_state: npt.NDArray[np.int8]) -> Vertex:
        """The vertex that the items fix, without perturbation; states of the rows matter only where rows have caps."""
        m, n = self.n_rows, self.n_features
        listed = np.sort(items)
        on, zero = listed[listed < m], listed[(listed >= m) & (listed < m + n)] - m
        has_weight = np.ones(n, bool)
        has_weight[zero] = False
        support = np.flatnonzero(has_weight)
        matrix = self.rows.columns[:, on][[*support, n]].T
        try:
            solution, change = np.linalg.solve(matrix, np.column_stack([np.ones(len(on)), self.rows.shifts[on]])).T
        except np.linalg.LinAlgError as error:
            raise SolverError(
                "near ties: the rows that fix a vertex depend on each other, as far as floats can tell"
            ) from error
        weights, signs = np.zeros(n), np.zeros(n)
        weights[support] = solution[:-1]
        signs[support] = np.sign(solution + change)[:-1]
        inside = np.flatnonzero(row_state == _kernel.IN).tolist()
        return Vertex(weights, float(solution[-1]), signs, on.tolist(), zero.tolist(), inside)
