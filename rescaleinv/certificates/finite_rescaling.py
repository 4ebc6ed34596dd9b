"""From a limit of rescalings (a point of the closure of RO(X), such as a dropped feature) to a finite rescaling."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from rescaleinv.certificates.two_rescalings import exact_optimum
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_svm import ExactClassifier, exact_svm
from rescaleinv.theory.optimality import even_multipliers, probe_closed_cell
from rescaleinv.theory.rationals import rounded
from rescaleinv.theory.training_set import TrainingSet

# By how many bits the squared factor of a feature without weight is made smaller than the smallest of the others, in turn.
# The last ones are for features whose values differ by hundreds of orders of magnitude.
_SHRINKS = (4, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120)


def label_at_finite_rescaling(
    training_set: TrainingSet, weights: list[Fraction], intercept: Fraction, point: list[Fraction]
) -> ExactClassifier:
    """The SVM of a finite rescaling near (w, b), which is in the closure of RO(X), that labels the point as (w, b) does.

    A feature without weight gets a small factor, the others the factors that make w optimal among them: as the small
    factors go to zero the SVM goes to (w, b), and its value at the point to that of (w, b), which must not be 0.
    """
    value = sum((w * x for w, x in zip(weights, point, strict=True)), intercept)
    if value == 0:
        raise CertificateError("the point lies on the classifier: nearby classifiers may give it either label")
    tight = training_set.tight_rows(weights, intercept)
    if tight is None:
        raise CertificateError("the classifier is not in C(X)")
    signs = [(w > 0) - (w < 0) for w in weights]
    if all(signs):
        return exact_optimum(training_set, weights, intercept)
    for squared, active in _squared_factors(training_set, weights, tight, signs):
        svm = _svm_nearby(training_set, squared, active, signs, point, value > 0)
        if svm is not None:
            return svm
    raise CertificateError("no finite rescaling near this classifier was found that gives the point the same label")


def _svm_nearby(
    training_set: TrainingSet,
    squared: list[Fraction],
    active: list[int],
    signs: list[int],
    point: list[Fraction],
    positive: bool,
) -> ExactClassifier | None:
    """Shrink the factors of the features without weight until the SVM gives the point this label; return that SVM."""
    units = [Fraction(4) ** int(e) for e in training_set.conditioning.exponent]
    smallest = rounded(min(t * u for t, u, s in zip(squared, units, signs, strict=True) if s), 1)
    for shrink in _SHRINKS:
        for bits in (20, 53, 200):
            factors = [
                rounded(t, bits) if s else smallest / 2**shrink / u
                for t, u, s in zip(squared, units, signs, strict=True)
            ]
            svm = exact_svm(training_set, factors, active)
            if (svm.decision_value(point) >= 0) == positive:
                return svm
    return None


def _squared_factors(
    training_set: TrainingSet, weights: list[Fraction], tight: list[int], signs: list[int]
) -> Iterator[tuple[list[Fraction], list[int]]]:
    """τ_j² = w_j / μ_j where w_j != 0, from multipliers that pass the closure test, and the rows these rest on.

    First from float multipliers that make the factors as similar as possible. They make w optimal only up to rounding,
    which is not enough for a point very close to the hyperplane; then from exact ones.
    """
    units = [Fraction(2) ** int(e) for e in training_set.conditioning.exponent]
    sizes = np.array([float(w * u) for w, u in zip(weights, units, strict=True)])
    even = even_multipliers(training_set, tight, signs, sizes, closed=True)
    if even is not None:
        multipliers = {int(i): Fraction(float(even[i])) for i in np.flatnonzero(even)}
        squared = _ratios(training_set, weights, multipliers)
        if all(t > 0 for t, s in zip(squared, signs, strict=True) if s):
            yield squared, list(multipliers)
    test = probe_closed_cell(training_set, tight, signs)
    if test.multipliers is None:
        raise CertificateError("the classifier is not in the closure of RO(X)")
    yield _ratios(training_set, weights, test.multipliers), list(test.multipliers)


def _ratios(training_set: TrainingSet, weights: list[Fraction], multipliers: dict[int, Fraction]) -> list[Fraction]:
    """w_j / μ_j, and 0 where either of them is."""
    gradient = training_set.exact_gradient(multipliers)
    return [w / g if w and g else Fraction(0) for w, g in zip(weights, gradient, strict=True)]
