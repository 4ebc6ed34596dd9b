"""The hard-margin SVM of a rational rescaling in exact rationals, by an active-set method on the dual."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InseparableError
from rescaleinv.theory.rationals import rational_text, solve
from rescaleinv.theory.training_set import TrainingSet


@dataclass(frozen=True)
class ExactClassifier:
    """A rescale-optimal classifier in exact rationals of the original units, with what proves it.

    d_j w_j = Σ a_i y_i x_ij in every coordinate, d_j = 1/τ_j² > 0, a_i >= 0 and zero off the tight rows, Σ a_i y_i = 0.
    """

    weights: list[Fraction]
    intercept: Fraction
    multipliers: dict[int, Fraction]
    inverse_squared_rescaling: list[Fraction]

    def decision_value(self, point: list[Fraction]) -> Fraction:
        return sum((w * x for w, x in zip(self.weights, point, strict=True)), self.intercept)

    @property
    def rescaling(self) -> FloatArray:
        """τ as floats, to train an ordinary SVM with."""
        return np.array([square_root(1 / d) for d in self.inverse_squared_rescaling])

    def to_json_object(self) -> dict[str, Any]:
        return {
            "weights": [rational_text(w) for w in self.weights],
            "intercept": rational_text(self.intercept),
            "multipliers": {str(i): rational_text(a) for i, a in sorted(self.multipliers.items())},
            "inverse_squared_rescaling": [rational_text(d) for d in self.inverse_squared_rescaling],
        }


def square_root(value: Fraction) -> float:
    """The square root of a positive number, which need not itself be within the range of a float."""
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(value / Fraction(4) ** shift), shift)


class _Dual:
    """max Σ a_i - ½ Σ_j τ_j² (Σ a_i y_i x_ij)² over a >= 0 with Σ a_i y_i = 0: the dual of the SVM at τ, in integers.

    Each feature counts from its lowest value (as Σ a_i y_i = 0, that changes the intercept only) in the unit of its
    ``integer_rows``; ``squared`` is τ² in these units times ``scale``, and multipliers are in units of ``scale``.
    """

    def __init__(self, training_set: TrainingSet, squared_factors: list[Fraction]) -> None:
        rows, self.exponents = training_set.integer_rows
        self.signs: list[int] = training_set.signs.tolist()
        self.lowest = [min(column) for column in zip(*rows, strict=True)]
        self.rows = [[value - low for value, low in zip(row, self.lowest, strict=True)] for row in rows]
        squared = [t * Fraction(4) ** e for t, e in zip(squared_factors, self.exponents, strict=True)]
        self.scale = math.lcm(*(t.denominator for t in squared))
        self.squared = [int(t * self.scale) for t in squared]
        self.product = cache(self._product)

    def _product(self, i: int, k: int) -> int:
        terms = zip(self.squared, self.rows[i], self.rows[k], strict=True)
        return self.signs[i] * self.signs[k] * sum(t * x * z for t, x, z in terms)

    def _solve(self, active: list[int], right: list[int]) -> list[Fraction] | None:
        y = self.signs
        lines = [[*(self.product(i, k) for k in active), y[i]] for i in active]
        return solve([*lines, [*(y[i] for i in active), 0]], right)

    def optimum(self, active: list[int]) -> list[Fraction] | None:
        """The multipliers, of either sign, and the intercept at which the active rows are tight; None if rows depend."""
        return self._solve(active, [1] * len(active) + [0])

    def dependence(self, active: list[int], row: int) -> list[Fraction]:
        """z with z = 1 at ``row`` along which neither the weights nor the balance changes; the active rows come first."""
        answer = self._solve(active, [*(-self.product(i, row) for i in active), -self.signs[row]])
        assert answer is not None  # the active rows are independent
        return [*answer[:-1], Fraction(1)]

    def classifier(self, multipliers: dict[int, Fraction], intercept: Fraction) -> tuple[list[Fraction], Fraction]:
        """Weights and intercept in the original units."""
        common = math.lcm(*(a.denominator for a in multipliers.values()))
        signed = [(int(a * common) * self.signs[i], self.rows[i]) for i, a in multipliers.items()]
        weights = [Fraction(t * sum(a * row[j] for a, row in signed), common) for j, t in enumerate(self.squared)]
        intercept -= sum(p * low for p, low in zip(weights, self.lowest, strict=True))
        return [p / Fraction(2) ** e for p, e in zip(weights, self.exponents, strict=True)], intercept


def _start(dual: _Dual, active: list[int]) -> tuple[dict[int, Fraction], Fraction]:
    """Positive multipliers that are optimal on their own rows (the guessed rows, or else two rows), and the intercept."""
    while len({dual.signs[i] for i in active}) == 2:
        answer = dual.optimum(active)
        if answer is None:
            break
        found = {i: a for i, a in zip(active, answer, strict=False) if a > 0}
        if min(answer[:-1]) >= 0:
            return found, answer[-1]
        active = list(found)
    order = [*active, *range(len(dual.signs))]
    pair = [next(i for i in order if dual.signs[i] == sign) for sign in (1, -1)]
    answer = dual.optimum(pair)
    if answer is None:
        raise InseparableError(f"rows {pair[0]} and {pair[1]} are the same point with both labels: there is no SVM")
    return dict(zip(pair, answer, strict=False)), answer[-1]


def _joined(dual: _Dual, multipliers: dict[int, Fraction], row: int) -> tuple[dict[int, Fraction], Fraction]:
    """The same after ``row``, whose margin is below 1, has joined; rows whose multiplier falls to 0 leave."""
    current = {**multipliers, row: Fraction(0)}
    while True:
        active = list(current)
        answer = dual.optimum(active)
        if answer is None:  # only in the first round: the objective grows along the dependence until a row leaves
            step = dual.dependence(active[:-1], row)
        else:
            if min(answer[:-1]) >= 0:
                return {i: a for i, a in zip(active, answer, strict=False) if a}, answer[-1]
            step = [new - old for new, old in zip(answer, current.values(), strict=False)]
        limits = [-a / s for a, s in zip(current.values(), step, strict=True) if s < 0]
        if not limits:
            raise InseparableError("the training set is not separable: there is no SVM")
        moved = {i: a + min(limits) * s for (i, a), s in zip(current.items(), step, strict=True)}
        current = {i: a for i, a in moved.items() if a}


def exact_svm(training_set: TrainingSet, squared_factors: list[Fraction], active: list[int]) -> ExactClassifier:
    """The SVM of the rescaling with the given τ_j², in rationals, starting from a guess of the rows that support it.

    Where the guess is wrong (a float can't tell a multiplier of 1e-20 from 0), an active-set method in exact arithmetic
    continues from there: the row with the smallest margin joins until every condition holds. The dual objective grows
    with every row that joins, so the method terminates, however degenerate the rows are.

    Raises
    ------
    InseparableError
        If no hyperplane separates the classes.
    """
    dual = _Dual(training_set, squared_factors)
    multipliers, intercept = _start(dual, active)
    while True:
        weights, original_intercept = dual.classifier(multipliers, intercept)
        margins = training_set.exact_margins(weights, original_intercept)
        worst = min(range(len(margins)), key=margins.__getitem__)
        if margins[worst] >= 1:
            scaled = {i: a * dual.scale for i, a in multipliers.items()}
            return ExactClassifier(weights, original_intercept, scaled, [1 / t for t in squared_factors])
        multipliers, intercept = _joined(dual, multipliers, worst)
