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

# How much smaller the squared factor of a feature without weight is tried, in bits, against the smallest of the others. The
# last ones are for features whose values differ by hundreds of orders of magnitude.
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
        raise CertificateError(
            "the point lies on the classifier: no nearby classifier is bound to give it the same label"
        )
    margins = training_set.exact_margins(weights, intercept)
    tight = [i for i, margin in enumerate(margins) if margin == 1]
    signs = [(w > 0) - (w < 0) for w in weights]
    if min(margins) < 1:
        raise CertificateError("the classifier is not in C(X)")
    if all(signs):
        return exact_optimum(training_set, weights, intercept)
    for squared, active in _squared_factors(training_set, weights, tight, signs):
        svm = _near_by(training_set, squared, active, signs, point, value > 0)
        if svm is not None:
            return svm
    raise CertificateError("no finite rescaling near this classifier was found that labels the point alike")


def _near_by(
    training_set: TrainingSet,
    squared: list[Fraction],
    active: list[int],
    signs: list[int],
    point: list[Fraction],
    positive: bool,
) -> ExactClassifier | None:
    """The SVM of the first rescaling, of smaller and smaller factors without weight, that gives the point the label."""
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

    First from float multipliers that make the factors as even as can be. They make w optimal up to rounding only, which is
    not enough where the point is that near to the hyperplane: then from exact ones.
    """
    units = [Fraction(2) ** int(e) for e in training_set.conditioning.exponent]
    reach = np.array([float(w * u) for w, u in zip(weights, units, strict=True)])
    even = even_multipliers(training_set, tight, signs, reach, closed=True)
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
    rows, exponents = training_set.integer_rows
    ratios = []
    for j, w in enumerate(weights):
        gradient = sum((a * int(training_set.signs[i]) * rows[i][j] for i, a in multipliers.items()), Fraction(0))
        gradient *= Fraction(2) ** exponents[j]
        ratios.append(w / gradient if w and gradient else Fraction(0))
    return ratios
