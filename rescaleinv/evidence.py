"""From a float solution to exact evidence: the SVM of a rational rescaling as rationals, and certificates made of it."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import rescaleinv
from rescaleinv.errors import CertificateError, SolverError
from rescaleinv.optimality import probe_cell
from rescaleinv.problem import TrainingSet, as_matrix
from rescaleinv.rationals import solve
from rescaleinv.svm import as_rescaling, minimal_norm_svm
from rescaleinv.verdict import SCHEMA, Certificate, Witness, rational_text

# Squared factors are rounded to so many bits: few make short certificates, all of a float's are the last resort.
_BITS = (20, 53)


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
    def rescaling(self) -> np.ndarray:
        """τ as floats, to train an ordinary SVM with."""
        return np.array([_square_root(1 / d) for d in self.inverse_squared_rescaling])

    def to_json_object(self) -> dict[str, Any]:
        return {
            "weights": [rational_text(w) for w in self.weights],
            "intercept": rational_text(self.intercept),
            "multipliers": {str(i): rational_text(a) for i, a in sorted(self.multipliers.items())},
            "inverse_squared_rescaling": [rational_text(d) for d in self.inverse_squared_rescaling],
        }


def _square_root(value: Fraction) -> float:
    """Of a positive number whose square root is in the range of a float, even where it is not itself."""
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(value / Fraction(4) ** shift), shift)


class _ExactDual:
    """max Σ a_i - ½ Σ_j τ_j² (Σ a_i y_i x_ij)² over a >= 0 with Σ a_i y_i = 0, in rationals: the dual of the SVM at τ."""

    def __init__(self, training_set: TrainingSet, squared_factors: list[Fraction]) -> None:
        self.training_set = training_set
        self.rows, self.exponents = training_set.integer_rows
        self.signs = [int(s) for s in training_set.signs]
        # in the integer units of the rows: x = rows * 2**exponents, so τ² takes the square of that unit
        self.squared = [t * Fraction(4) ** e for t, e in zip(squared_factors, self.exponents, strict=True)]
        self._products: dict[tuple[int, int], Fraction] = {}

    def product(self, i: int, k: int) -> Fraction:
        key = (min(i, k), max(i, k))
        if key not in self._products:
            terms = zip(self.squared, self.rows[i], self.rows[k], strict=True)
            total = sum((t * (x * z) for t, x, z in terms), Fraction(0))
            self._products[key] = self.signs[i] * self.signs[k] * total
        return self._products[key]

    def _system(self, active: list[int]) -> list[list[Fraction]]:
        y = self.signs
        lines = [[*(self.product(i, k) for k in active), Fraction(y[i])] for i in active]
        return [*lines, [*(Fraction(y[i]) for i in active), Fraction(0)]]

    def optimum(self, active: list[int]) -> list[Fraction] | None:
        """The multipliers, of either sign, and the intercept at which the active rows are tight; None if rows depend."""
        return solve(self._system(active), [1] * len(active) + [0])

    def dependence(self, active: list[int], row: int) -> list[Fraction]:
        """z with z = 1 at ``row`` along which neither the weights nor the balance changes; the active rows come first."""
        column = [*(-self.product(i, row) for i in active), Fraction(-self.signs[row])]
        answer = solve(self._system(active), column)
        assert answer is not None  # the active rows are independent
        return [*answer[:-1], Fraction(1)]

    def weights(self, multipliers: dict[int, Fraction]) -> list[Fraction]:
        gradient = [
            sum((a * self.signs[i] * self.rows[i][j] for i, a in multipliers.items()), Fraction(0))
            for j in range(self.training_set.n_features)
        ]
        return [t * g / Fraction(2) ** e for t, g, e in zip(self.squared, gradient, self.exponents, strict=True)]


def _start(dual: _ExactDual, active: list[int]) -> tuple[dict[int, Fraction], Fraction]:
    """Multipliers > 0 that are the optimum on their own rows (the guess's, else two), and the intercept."""
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
        raise CertificateError(f"rows {pair[0]} and {pair[1]} are one point with both labels: there is no SVM")
    return dict(zip(pair, answer, strict=False)), answer[-1]


def _joined(dual: _ExactDual, multipliers: dict[int, Fraction], row: int) -> tuple[dict[int, Fraction], Fraction]:
    """The same after ``row``, whose margin is below 1, has joined: rows whose multiplier comes down to 0 leave."""
    current = {**multipliers, row: Fraction(0)}
    while True:
        active = list(current)
        answer = dual.optimum(active)
        if answer is None:  # only at first: the value grows along the dependence until a row leaves
            step = dual.dependence(active[:-1], row)
        else:
            if min(answer[:-1]) >= 0:
                return {i: a for i, a in zip(active, answer, strict=False) if a}, answer[-1]
            step = [new - old for new, old in zip(answer, current.values(), strict=False)]
        limits = [-a / s for a, s in zip(current.values(), step, strict=True) if s < 0]
        if not limits:
            raise CertificateError("the training set is not separable: there is no SVM")
        moved = {i: a + min(limits) * s for (i, a), s in zip(current.items(), step, strict=True)}
        current = {i: a for i, a in moved.items() if a}


def exact_svm(training_set: TrainingSet, squared_factors: list[Fraction], active: list[int]) -> ExactClassifier:
    """The SVM of the rescaling with the given τ_j², in rationals, starting from a guess of the rows that support it.

    Where the guess is off (a float can't tell a multiplier of 1e-20 from 0), an active-set method in exact arithmetic goes
    on from there: the row with the least margin joins, until every condition holds. The dual's value grows with every
    row that joins, so it ends, however degenerate the rows are.

    Raises
    ------
    CertificateError
        If no hyperplane separates the classes.
    """
    dual = _ExactDual(training_set, squared_factors)
    multipliers, intercept = _start(dual, active)
    while True:
        weights = dual.weights(multipliers)
        margins = training_set.exact_margins(weights, intercept)
        worst = min(range(len(margins)), key=margins.__getitem__)
        if margins[worst] >= 1:
            return ExactClassifier(weights, intercept, multipliers, [1 / t for t in squared_factors])
        multipliers, intercept = _joined(dual, multipliers, worst)


def exact_optimum(training_set: TrainingSet, weights: list[Fraction], intercept: Fraction) -> ExactClassifier:
    """Evidence for a classifier that is given exactly, such as the middle of a cell of RO(X): its own rescaling."""
    margins = training_set.exact_margins(weights, intercept)
    if min(margins) < 1:
        raise CertificateError("the classifier is not in C(X)")
    tight = [i for i, margin in enumerate(margins) if margin == 1]
    signs = [(w > 0) - (w < 0) for w in weights]
    test = probe_cell(training_set, tight, signs)
    if test.multipliers is None:
        raise CertificateError("the classifier is in C(X), but it is not the SVM of any rescaling")
    rows, exponents = training_set.integer_rows
    inverse_squared = []
    for j, w in enumerate(weights):
        gradient = (
            sum((a * int(training_set.signs[i]) * rows[i][j] for i, a in test.multipliers.items()), Fraction(0))
            * Fraction(2) ** exponents[j]
        )
        inverse_squared.append(gradient / w if w else Fraction(1))
    return ExactClassifier(weights, intercept, test.multipliers, inverse_squared)


def rounded(value: Fraction, bits: int) -> Fraction:
    """A positive rational to so many bits: a short number, a power of two times a small integer."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - bits
    return max(round(value / Fraction(2) ** exponent), 1) * Fraction(2) ** exponent


def exact_svm_at(training_set: TrainingSet, rescaling: Any, *, bits: int = _BITS[0]) -> ExactClassifier:
    """The SVM at a rational rescaling that agrees with ``rescaling`` to so many bits, exactly.

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])
    >>> svm = exact_svm_at(ts, [3, 1])
    >>> svm.weights, svm.intercept
    ([Fraction(1, 1), Fraction(1, 1)], Fraction(-3, 1))
    """
    tau = as_rescaling(rescaling, training_set.n_features)
    squared = [rounded(Fraction(float(t)) ** 2, bits) for t in tau]
    try:
        support = np.flatnonzero(minimal_norm_svm(training_set, tau).multipliers > 0).tolist()
    except SolverError:  # floats are at their end; exact arithmetic needs more steps without their guess
        support = []
    return exact_svm(training_set, squared, support)


def labelled_svm_at(
    training_set: TrainingSet, point: list[Fraction], rescaling: Any, positive: bool
) -> ExactClassifier:
    """``exact_svm_at`` that gives the point the label asked for, or a ``CertificateError``."""
    for bits in _BITS:
        svm = exact_svm_at(training_set, rescaling, bits=bits)
        value = svm.decision_value(point)
        if (value >= 0) == positive:
            return svm
    raise CertificateError(
        f"the rescaling {np.asarray(rescaling).tolist()} does not give the point a {'positive' if positive else 'negative'} "
        f"label: its decision value there is {float(value):.6g}"
    )


def versions() -> dict[str, str]:
    return {"rescaleinv": rescaleinv.__version__, "python": platform.python_version(), "numpy": np.__version__}


def training_object(training_set: TrainingSet, left_out: int) -> dict[str, Any]:
    """The rows that were kept, as a certificate states them."""
    return {
        "sha256": training_set.sha256,
        "left_out": left_out,
        "labels": [int(s) for s in training_set.signs],
        "rows": [[rational_text(Fraction(x)) for x in row] for row in training_set.features.tolist()],
    }


def certificate_from(
    training_set: TrainingSet,
    point: list[Fraction],
    positive: ExactClassifier,
    negative: ExactClassifier,
    *,
    left_out: int = 0,
) -> Certificate:
    """The certificate of a neutral verdict, of two classifiers that are already exact."""
    return Certificate(
        {
            "schema": SCHEMA,
            "claim": "neutral",
            "point": [rational_text(x) for x in point],
            "training": training_object(training_set, left_out),
            "evidence": {
                "kind": "two-rescalings",
                "positive": positive.to_json_object(),
                "negative": negative.to_json_object(),
            },
            "versions": versions(),
        }
    )


def witness_from(
    training_set: TrainingSet,
    point: list[Fraction],
    positive: ExactClassifier,
    negative: ExactClassifier,
    *,
    left_out: int = 0,
) -> Witness:
    """The two rescalings that disagree as floats to train with, and the certificate."""
    certificate = certificate_from(training_set, point, positive, negative, left_out=left_out)
    return Witness(positive.rescaling, negative.rescaling, certificate)


def neutral_certificate(
    training_set: TrainingSet, point: Any, positive_rescaling: Any, negative_rescaling: Any, *, left_out: int = 0
) -> Certificate:
    """A certificate that the label of ``point`` depends on the scaling, from two rescalings that disagree about it.

    Both SVMs are made exactly rational, so that ``rescaleinv.verify`` accepts them without any tolerance.

    Parameters
    ----------
    training_set : TrainingSet
    point : sequence of float
    positive_rescaling, negative_rescaling : sequence of float
        τ, one positive factor a feature, at which the SVM labels the point positive and negative.
    left_out : int
        How many rows were left out before, to be stated in the certificate.

    Raises
    ------
    CertificateError
        If a rescaling does not give the point the label that is claimed.

    Examples
    --------
    Example 2 of the paper:

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> certificate = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1])
    >>> from rescaleinv.verify import check
    >>> check(certificate.to_json())
    'neutral'
    """
    values = as_matrix([point], what="the point", n_features=training_set.n_features)[0]
    exact_point = [Fraction(x) for x in values.tolist()]
    return certificate_from(
        training_set,
        exact_point,
        labelled_svm_at(training_set, exact_point, positive_rescaling, True),
        labelled_svm_at(training_set, exact_point, negative_rescaling, False),
        left_out=left_out,
    )
