"""A mixed-integer linear program as plain arrays, and a solver's answer to it: what all backends share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

FloatArray = npt.NDArray[np.float64]
Status = Literal["optimal", "feasible", "infeasible", "limit", "failed"]

# What a backend's solution may miss a bound, a row (relative to its largest entry) or an integer by.
TOLERANCE = 1e-5
# The backends' own tolerances. With the tight one HiGHS' presolve has called programs with coefficients of 1e-9 infeasible
# that have a solution.
TIGHT_TOLERANCE = 1e-9
CAREFUL_TOLERANCE = 1e-6
# HiGHS drops coefficients below 1e-9 unless told otherwise; this is the least that it allows.
SMALLEST_COEFFICIENT = 1e-12


def feasibility_tolerance(careful: bool) -> float:
    return CAREFUL_TOLERANCE if careful else TIGHT_TOLERANCE


@dataclass(frozen=True)
class Model:
    """Find x with lower <= x <= upper, row_lower <= A x <= row_upper, some entries integer; of least cost, if there is one.

    Infinite bounds are allowed. Without a cost it is a question of feasibility: the first solution found is the answer.
    """

    lower: FloatArray
    upper: FloatArray
    integer: npt.NDArray[np.bool_]
    matrix: csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    cost: FloatArray | None = None

    @property
    def n_variables(self) -> int:
        return len(self.lower)

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())

    @property
    def is_numeric(self) -> bool:
        bounds = (self.lower, self.upper, self.row_lower, self.row_upper)
        costs = () if self.cost is None else (self.cost,)
        return not any(np.isnan(part).any() for part in bounds) and all(
            np.isfinite(part).all() for part in (self.matrix.data, *costs)
        )

    def with_rows(self, matrix: csr_array, row_lower: FloatArray, row_upper: FloatArray) -> Model:
        """The same program with more rows."""
        return Model(
            self.lower,
            self.upper,
            self.integer,
            csr_array(vstack([self.matrix, matrix], format="csr")),
            np.concatenate([self.row_lower, row_lower]),
            np.concatenate([self.row_upper, row_upper]),
            self.cost,
        )

    def violation(self, values: FloatArray) -> float:
        """By how much the values miss a bound, a row or an integer, at most; infinite where they are not numbers."""
        if values.shape != (self.n_variables,) or not np.isfinite(values).all():
            return float("inf")
        activity = self.matrix @ values
        size = np.maximum(abs(self.matrix).max(axis=1).toarray().ravel(), 1.0)
        missed = [
            self.lower - values,
            values - self.upper,
            (self.row_lower - activity) / size,
            (activity - self.row_upper) / size,
            np.abs(values - np.round(values))[self.integer],
        ]
        return float(max(part.max(initial=0.0) for part in missed))


@dataclass
class RowBuilder:
    """Collects rows (positions, coefficients, bounds) and makes a sparse matrix of them."""

    n_variables: int
    _columns: list[int] = field(default_factory=list)
    _values: list[float] = field(default_factory=list)
    _starts: list[int] = field(default_factory=lambda: [0])
    _lower: list[float] = field(default_factory=list)
    _upper: list[float] = field(default_factory=list)

    def add(
        self, columns: Sequence[int], values: Sequence[float], lower: float = -np.inf, upper: float = np.inf
    ) -> None:
        self._columns.extend(columns)
        self._values.extend(values)
        self._starts.append(len(self._columns))
        self._lower.append(lower)
        self._upper.append(upper)

    def build(self) -> tuple[csr_array, FloatArray, FloatArray]:
        shape = (len(self._lower), self.n_variables)
        matrix = csr_array((np.array(self._values, dtype=float), self._columns, self._starts), shape=shape)
        matrix.eliminate_zeros()
        return matrix, np.array(self._lower), np.array(self._upper)


@dataclass(frozen=True)
class Answer:
    """What a backend says. "feasible" and "optimal" have values; "limit" is a time limit reached without a solution.

    "infeasible" is a float solver's claim, not a proof; "failed" is everything else, and ``message`` says why.
    """

    status: Status
    values: FloatArray | None = None
    message: str = ""

    @property
    def found(self) -> bool:
        return self.values is not None


# A backend: the model, seconds (or None), threads, seed, careful -> Answer. It may raise; the registry turns that into
# "failed". A careful solve has no presolve and tolerances of CAREFUL_TOLERANCE instead of TIGHT_TOLERANCE.
Solve = Callable[[Model, float | None, int, int, bool], Answer]


def checked(model: Model, answer: Answer) -> Answer:
    """The answer, unless its values do not fit the model: then a failure."""
    if answer.values is None:
        if answer.status in ("optimal", "feasible"):
            return Answer("failed", message=f"the solver says {answer.status!r} but gives no solution")
        return answer
    missed = model.violation(answer.values)
    if missed > TOLERANCE:
        return Answer("failed", message=f"the solver's solution misses a constraint by {missed:.1e}")
    return answer
