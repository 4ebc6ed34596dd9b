"""The ν-SVM of a rational rescaling in exact rationals: from a float solution, mended one row at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import CertificateError, InseparableError, SolverError
from rescaleinv.theory.exact_svm import square_root
from rescaleinv.theory.nearest_points import integer_lines, nearest_points
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.theory.rationals import rational_text, rounded, solve
from rescaleinv.theory.svm import SHORT_BITS
from rescaleinv.theory.training_set import TrainingSet

OUT, ON, IN = 0, 1, 2

# Rows whose score is nearer to that of their class's margin than this share of the spread are taken to be on it at first.
_NEAR = 1e-6
_MOST_MENDS = 60
# The multipliers of rows that depend on others may be anything near what a float says.
_BITS = 30


@dataclass(frozen=True, eq=False)
class ExactNuClassifier:
    """The ν-SVM at a rescaling, exactly: multipliers and d_j = 1/τ_j² say all, since w_j = μ_j / d_j, up to a common factor.

    Where no multiplier of a class lies strictly between its bounds, the optimal intercepts are an interval; at the largest
    ν, where every row of a class is at its cap, it has no bound on one side.
    """

    training_set: TrainingSet
    margin: NuMargin
    multipliers: dict[int, Fraction]
    inverse_squared_rescaling: list[Fraction]

    @cached_property
    def weights(self) -> list[Fraction]:
        gradient = self.training_set.exact_gradient(self.multipliers)
        return [mu / d for mu, d in zip(gradient, self.inverse_squared_rescaling, strict=True)]

    @cached_property
    def thresholds(self) -> dict[int, tuple[Fraction, Fraction | None]]:
        """For each class the least and the largest score y_i w·x_i at which its margin may lie; None: no bound."""
        caps, ends = self.margin.exact_caps, {}
        scores = self.training_set.exact_margins(self.weights, Fraction(0))
        for side in (1, -1):
            members = [i for i, y in enumerate(self.training_set.signs.tolist()) if y == side]
            least = max(scores[i] for i in members if i in self.multipliers)
            above = [scores[i] for i in members if self.multipliers.get(i, Fraction(0)) < caps[i]]
            ends[side] = (least, min(above) if above else None)
        return ends

    @property
    def is_optimal(self) -> bool:
        """Whether the multipliers are within their bounds, half of them in each class, and optimal at the rescaling."""
        caps, y = self.margin.exact_caps, self.training_set.signs.tolist()
        if any(not 0 < a <= caps[i] for i, a in self.multipliers.items()):
            return False
        halves = [sum((a for i, a in self.multipliers.items() if y[i] == side), Fraction(0)) for side in (1, -1)]
        if halves != [Fraction(1, 2)] * 2 or not any(self.weights):
            return False
        return all(high is None or low <= high for low, high in self.thresholds.values())

    def decision_values(self, point: Sequence[Fraction]) -> tuple[Fraction | None, Fraction | None]:
        """The least and the largest w·α + b over the optimal b; None where there is no bound."""
        positive, negative = self.thresholds[1], self.thresholds[-1]
        score = sum((w * x for w, x in zip(self.weights, point, strict=True)), Fraction(0))
        least = None if positive[1] is None else score + (negative[0] - positive[1]) / 2
        return least, None if negative[1] is None else score + (negative[1] - positive[0]) / 2

    def side_of(self, point: Sequence[Fraction]) -> int:
        """1 or -1 where every optimal intercept puts the point strictly on that side, else 0."""
        least, largest = self.decision_values(point)
        if least is not None and least > 0:
            return 1
        return -1 if largest is not None and largest < 0 else 0

    def straddles(self, point: Sequence[Fraction]) -> bool:
        """Whether some optimal intercept makes the decision value negative and another one does not."""
        least, largest = self.decision_values(point)
        return (least is None or least < 0) and (largest is None or largest >= 0)

    @property
    def rescaling(self) -> FloatArray:
        """τ as floats, to train an ordinary SVM with."""
        return np.array([square_root(1 / d) for d in self.inverse_squared_rescaling])

    def to_json_object(self) -> dict[str, Any]:
        return {
            "multipliers": {str(i): rational_text(a) for i, a in sorted(self.multipliers.items())},
            "inverse_squared_rescaling": [rational_text(d) for d in self.inverse_squared_rescaling],
        }


def margin_object(margin: NuMargin) -> dict[str, Any]:
    """ν and the weights of the rows, as certificates state them."""
    weights = margin.row_weights.tolist()
    alike = all(weight == weights[0] for weight in weights)
    return {
        "nu": rational_text(margin.nu),
        "row_weights": None if alike else [rational_text(Fraction(weight)) for weight in weights],
    }


def exact_nu_svm_at(
    training_set: TrainingSet, margin: NuMargin, rescaling: Any, *, bits: int = SHORT_BITS, most_steps: int = 60
) -> ExactNuClassifier:
    """The ν-SVM at a rational rescaling that agrees with ``rescaling`` to this many bits, exactly.

    From floats; where these can't tell which rows are on the margin, in rationals from the start.

    Raises
    ------
    CertificateError
        If that takes more than ``most_steps``.

    Examples
    --------
    >>> ts = TrainingSet([[0.0], [1], [2.5], [3], [4], [2]], [-1, -1, -1, 1, 1, 1])
    >>> svm = exact_nu_svm_at(ts, NuMargin.of(ts, 0.5), [1])
    >>> svm.multipliers[2], svm.decision_values([Fraction(2)])
    (Fraction(1, 3), (Fraction(0, 1), Fraction(0, 1)))
    """
    tau = np.asarray(rescaling, dtype=float)
    squared = [rounded(Fraction(float(t)) ** 2, bits) for t in tau]
    try:
        found = nu_svm(training_set, margin, np.array([square_root(t) for t in squared]))
        scores = training_set.signs * (training_set.features @ found.weights)
        return _Mending(training_set, margin, squared).from_floats(found.multipliers, scores)
    except (SolverError, InseparableError, CertificateError) as error:
        multipliers = nearest_points(training_set, margin.exact_caps, squared, most_steps)
        if multipliers is None:
            raise CertificateError(f"the nu-SVM at this rescaling was not found exactly: {error}") from error
    exact = ExactNuClassifier(
        training_set, margin, {i: a for i, a in enumerate(multipliers) if a}, [1 / t for t in squared]
    )
    if not exact.is_optimal:
        raise CertificateError("the reduced hulls of the two classes meet: nu is not above the least one")
    return exact


class _Mending:
    """Exact multipliers from a guess of which rows are out, on and in."""

    def __init__(self, training_set: TrainingSet, margin: NuMargin, squared: list[Fraction]) -> None:
        self.training_set, self.margin = training_set, margin
        self.y: list[int] = training_set.signs.tolist()
        self.caps = margin.exact_caps
        self.inverse_squared = [1 / t for t in squared]
        self.rows, self.factors = integer_lines(training_set, squared)
        _, exponents = training_set.integer_rows
        factors = [t * Fraction(4) ** e for t, e in zip(squared, exponents, strict=True)]
        sizes = [square_root(t) if t else 0.0 for t in factors]
        self.lines = np.array([[float(x) * size for x, size in zip(row, sizes, strict=True)] for row in self.rows])
        self.lines *= np.array(self.y, dtype=float)[:, None]

    def from_floats(self, multipliers: FloatArray, scores: FloatArray) -> ExactNuClassifier:
        caps = self.margin.caps
        states = np.full(len(scores), OUT)
        for side in (1, -1):
            own = np.array(self.y) == side
            share = np.minimum(multipliers / caps, 1 - multipliers / caps)
            inner = own & (share > 1e-4)
            if inner.any():
                at = float(np.average(scores[inner], weights=share[inner]))
            else:
                at = float(scores[own & (multipliers > caps / 2)].max())
            near = _NEAR * max(float(np.ptp(scores[own])), 1e-300)
            states[own & (scores < at - near)] = IN
            states[own & (np.abs(scores - at) <= near)] = ON
        return self.mended(states, multipliers, scores)

    def mended(self, states: np.ndarray, guess: FloatArray, scores: FloatArray) -> ExactNuClassifier:
        """Solve for the rows that are on; move those that break a condition, the worst first, until none does."""
        seen = set()
        for _ in range(_MOST_MENDS):
            if states.tobytes() in seen:
                break
            seen.add(states.tobytes())
            states = self._with_someone_on(states, scores)
            multipliers = self._solved(states, guess)
            if multipliers is None:
                break
            wrong = self._out_of_bounds(multipliers)
            if wrong is not None:
                states[wrong[0]] = wrong[1]
                continue
            found = ExactNuClassifier(
                self.training_set, self.margin, {i: a for i, a in multipliers.items() if a}, self.inverse_squared
            )
            if found.is_optimal:
                return found
            states = self._with_crossing(states, found)
        raise CertificateError("floats can't tell which rows are on the margin of the nu-SVM at this rescaling")

    def _with_someone_on(self, states: np.ndarray, scores: FloatArray) -> np.ndarray:
        """A class whose caps do not add up to 1/2 by themselves needs a row that is on: the nearest one."""
        after = states.copy()
        for side in (1, -1):
            own = np.array(self.y) == side
            if (states[own] == ON).any():
                continue
            left = Fraction(1, 2) - sum((self.caps[i] for i in np.flatnonzero(own & (states == IN))), Fraction(0))
            candidates = np.flatnonzero(own & (states == (OUT if left > 0 else IN)))
            if left and len(candidates):
                after[candidates[(scores[candidates] * (1 if left > 0 else -1)).argmin()]] = ON
        return after

    def _out_of_bounds(self, multipliers: dict[int, Fraction]) -> tuple[int, int] | None:
        """The row whose multiplier is farthest beyond its bounds, and the state that it goes to."""
        worst, found = Fraction(0), None
        for i, a in multipliers.items():
            beyond = max(-a, a - self.caps[i]) / self.caps[i]
            if beyond > worst:
                worst, found = beyond, (i, OUT if a < 0 else IN)
        return found

    def _with_crossing(self, states: np.ndarray, found: ExactNuClassifier) -> np.ndarray:
        """The row that is out and has too low a score, and the one that is in and has too high a one, are on instead."""
        after = states.copy()
        scores = self.training_set.exact_margins(found.weights, Fraction(0))
        for side, (low, high) in found.thresholds.items():
            if high is None or low <= high:
                continue
            for i, y in enumerate(self.y):
                if y == side and ((states[i] == OUT and scores[i] == high) or (states[i] == IN and scores[i] == low)):
                    after[i] = ON
        return after

    def _solved(self, states: np.ndarray, guess: FloatArray) -> dict[int, Fraction] | None:
        on = np.flatnonzero(states == ON)
        y = np.array(self.y)
        free = self._independent(on)
        found = {int(i): self.caps[i] for i in np.flatnonzero(states == IN)}
        for i in set(on.tolist()) - set(free):
            found[i] = min(Fraction(round(float(guess[i]) * 2**_BITS), 2**_BITS), self.caps[i])
        sides = [side for side in (1, -1) if (y[free] == side).any()]
        left = {
            side: Fraction(1, 2) - sum((a for i, a in found.items() if y[i] == side), Fraction(0)) for side in (1, -1)
        }
        if any(left[side] for side in (1, -1) if side not in sides):
            return None
        if not free:
            return found
        # scaled weights of what is fixed, as integers over one denominator
        common = math.lcm(*(a.denominator for a in found.values()), *(value.denominator for value in left.values()))
        fixed = [(int(a * common) * self.y[i], self.rows[i]) for i, a in found.items()]
        pushed = [t * sum(a * row[j] for a, row in fixed) for j, t in enumerate(self.factors)]
        lines, right = [], []
        for i in free:
            scaled = [t * x for t, x in zip(self.factors, self.rows[i], strict=True)]
            products = [self.y[i] * self.y[k] * sum(map(_times, scaled, self.rows[k])) for k in free]
            lines.append([*products, *(-1 if self.y[i] == side else 0 for side in sides)])
            right.append(-self.y[i] * sum(map(_times, pushed, self.rows[i])))
        for side in sides:
            lines.append([*(1 if self.y[k] == side else 0 for k in free), *([0] * len(sides))])
            right.append(int(left[side] * common))
        answer = solve(lines, right)
        if answer is None:
            return None
        found.update({i: a / common for i, a in zip(free, answer, strict=False)})
        return found

    def _independent(self, on: np.ndarray) -> list[int]:
        """As many of the rows as are independent, with an entry for their class, as far as floats can tell."""
        if not len(on):
            return []
        y = np.array(self.y)[on]
        lines = self.lines[on]
        size = max(float(np.abs(lines).max()), 1e-300)
        table = np.column_stack([lines / size, y > 0, y < 0]).T
        _, triangle, order = qr(table, pivoting=True, mode="economic")
        diagonal = np.abs(np.diag(triangle))
        rank = int((diagonal > 1e-9 * diagonal[0]).sum())
        return sorted(int(on[k]) for k in order[:rank])


def _times(a: int, b: int) -> int:
    return a * b
