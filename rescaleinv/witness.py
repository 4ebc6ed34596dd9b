"""From a limit of rescalings (a point of the closure of RO(X), such as a dropped feature) to a finite rescaling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rescaleinv.errors import CertificateError
from rescaleinv.evidence import exact_optimum, rounded
from rescaleinv.exact_svm import ExactClassifier, exact_svm
from rescaleinv.optimality import even_multipliers, probe_closed_cell
from rescaleinv.problem import TrainingSet

# How much smaller the squared factor of a feature without weight is tried, in bits, against the smallest of the others.
_SHRINKS = (4, 10, 20, 40, 80, 160, 320, 640)


def label_at_finite_rescaling(
    training_set: TrainingSet, weights: list[Fraction], intercept: Fraction, point: list[Fraction]
) -> ExactClassifier:
    """The SVM of a finite rescaling near (w, b), which is in the closure of RO(X), that labels the point as (w, b) does.

    A feature without weight gets a small factor, the others the factors that make w optimal among them: as the small
    factors go to zero the SVM goes to (w, b), and its value at the point to that of (w, b), which must not be 0.
    """
    value = sum((w * x for w, x in zip(weights, point, strict=True)), intercept)
    if value == 0:
        raise CertificateError(
            "the point lies on the classifier: no nearby classifier is bound to give it the same label"
        )
    margins = training_set.exact_margins(weights, intercept)
    tight = [i for i, margin in enumerate(margins) if margin == 1]
    signs = [(w > 0) - (w < 0) for w in weights]
    if min(margins) < 1:
        raise CertificateError("the classifier is not in C(X)")
    squared, active = _squared_factors(training_set, weights, tight, signs)
    if all(signs):
        return exact_optimum(training_set, weights, intercept)
    smallest = min(
        squared[j] * Fraction(4) ** int(training_set.conditioning.exponent[j]) for j, s in enumerate(signs) if s
    )
    for shrink in _SHRINKS:
        for bits in (20, 53, 200):
            factors = [
                rounded(squared[j], bits)
                if s
                else rounded(smallest, 1) / 2**shrink / Fraction(4) ** int(training_set.conditioning.exponent[j])
                for j, s in enumerate(signs)
            ]
            svm = exact_svm(training_set, factors, active)
            if (svm.decision_value(point) >= 0) == (value > 0):
                return svm
    raise CertificateError("no finite rescaling near this classifier was found that labels the point alike")


def _squared_factors(
    training_set: TrainingSet, weights: list[Fraction], tight: list[int], signs: list[int]
) -> tuple[list[Fraction], list[int]]:
    """τ_j² = w_j / μ_j where w_j != 0, from multipliers that pass the closure test, and the rows these rest on."""
    units = [Fraction(2) ** int(e) for e in training_set.conditioning.exponent]
    reach = np.array([float(w * u) for w, u in zip(weights, units, strict=True)])
    even = even_multipliers(training_set, tight, signs, reach, closed=True)
    if even is not None:
        multipliers = {int(i): Fraction(float(even[i])) for i in np.flatnonzero(even)}
        squared = _ratios(training_set, weights, multipliers)
        if all(t > 0 for t, s in zip(squared, signs, strict=True) if s):
            return squared, list(multipliers)
    test = probe_closed_cell(training_set, tight, signs)
    if test.multipliers is None:
        raise CertificateError("the classifier is not in the closure of RO(X)")
    return _ratios(training_set, weights, test.multipliers), list(test.multipliers)


def _ratios(training_set: TrainingSet, weights: list[Fraction], multipliers: dict[int, Fraction]) -> list[Fraction]:
    rows, exponents = training_set.integer_rows
    ratios = []
    for j, w in enumerate(weights):
        gradient = sum((a * int(training_set.signs[i]) * rows[i][j] for i, a in multipliers.items()), Fraction(0))
        gradient *= Fraction(2) ** exponents[j]
        ratios.append(w / gradient if w and gradient else Fraction(0))
    return ratios
