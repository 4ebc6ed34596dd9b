"""From a float solution to exact evidence: the SVM of a rational rescaling as rationals, and certificates made of it."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import rescaleinv
from rescaleinv.errors import CertificateError
from rescaleinv.optimality import probe_cell
from rescaleinv.problem import TrainingSet, as_matrix
from rescaleinv.rationals import solve
from rescaleinv.svm import as_rescaling, minimal_norm_svm
from rescaleinv.verdict import SCHEMA, Certificate, rational_text

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
        return np.array([1 / math.sqrt(d) for d in self.inverse_squared_rescaling])

    def to_json_object(self) -> dict[str, Any]:
        return {
            "weights": [rational_text(w) for w in self.weights],
            "intercept": rational_text(self.intercept),
            "multipliers": {str(i): rational_text(a) for i, a in sorted(self.multipliers.items())},
            "inverse_squared_rescaling": [rational_text(d) for d in self.inverse_squared_rescaling],
        }


def exact_svm(training_set: TrainingSet, squared_factors: list[Fraction], active: list[int]) -> ExactClassifier:
    """The SVM of the rescaling with the given τ_j², in rationals, starting from a guess of the rows that support it.

    Where the guess is off by some rows (a float can't tell a multiplier of 1e-20 from 0), rows are exchanged, in exact
    arithmetic, until every condition holds.
    """
    rows, exponents = training_set.integer_rows
    y = [int(s) for s in training_set.signs]
    # in the integer units of the rows: x = rows * 2**exponents, so τ² takes the square of that unit
    squared = [t * Fraction(4) ** e for t, e in zip(squared_factors, exponents, strict=True)]
    for _ in range(10 + 4 * training_set.n_features):
        kernel = [[y[i] * y[k] * sum(map(_product, squared, rows[i], rows[k])) for k in active] for i in active]
        system = [[*line, y[i]] for line, i in zip(kernel, active, strict=True)] + [[y[i] for i in active] + [0]]
        answer = solve(system, [1] * len(active) + [0])
        if answer is None:
            break
        *multipliers, intercept = answer
        if min(multipliers) < 0:
            active = [i for i, a in zip(active, multipliers, strict=True) if a > 0]
            continue
        gradient = [
            sum((a * y[i] * rows[i][j] for i, a in zip(active, multipliers, strict=True)), Fraction(0))
            for j in range(training_set.n_features)
        ]
        weights = [t * g / Fraction(2) ** e for t, g, e in zip(squared, gradient, exponents, strict=True)]
        margins = training_set.exact_margins(weights, intercept)
        worst = min(range(len(margins)), key=margins.__getitem__)
        if margins[worst] >= 1:
            found = {i: a for i, a in zip(active, multipliers, strict=True) if a}
            return ExactClassifier(weights, intercept, found, [1 / t for t in squared_factors])
        active = [*active, worst]
    raise CertificateError("no exact SVM was found near the float solution; try a slightly different rescaling")


def _product(t: Fraction, x: int, z: int) -> Fraction:
    return t * x * z


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


def _rounded_square(factor: float, bits: int) -> Fraction:
    mantissa, exponent = math.frexp(factor * factor)
    return Fraction(max(round(mantissa * 2**bits), 1)) * Fraction(2) ** (exponent - bits)


def exact_svm_at(training_set: TrainingSet, rescaling: Any, *, bits: int = _BITS[0]) -> ExactClassifier:
    """The SVM at a rational rescaling that agrees with ``rescaling`` to so many bits, exactly.

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])
    >>> svm = exact_svm_at(ts, [3, 1])
    >>> svm.weights, svm.intercept
    ([Fraction(1, 1), Fraction(1, 1)], Fraction(-3, 1))
    """
    tau = as_rescaling(rescaling, training_set.n_features)
    squared = [_rounded_square(float(t), bits) for t in tau]
    support = np.flatnonzero(minimal_norm_svm(training_set, tau).multipliers > 0)
    return exact_svm(training_set, squared, [int(i) for i in support])


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
    values = as_matrix([list(point)], what="the point", n_features=training_set.n_features)[0]
    exact_point = [Fraction(x) for x in values.tolist()]
    return certificate_from(
        training_set,
        exact_point,
        labelled_svm_at(training_set, exact_point, positive_rescaling, True),
        labelled_svm_at(training_set, exact_point, negative_rescaling, False),
        left_out=left_out,
    )
