"""Flips with a ν-margin: vertices of the closure brought to finite rescalings, where every best intercept agrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rescaleinv.certificates.certificate import Witness
from rescaleinv.certificates.two_rescalings import nu_witness_from
from rescaleinv.engines.search.exact import ExactVertex
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_nu import ExactNuClassifier, exact_nu_svm_at
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.training_set import TrainingSet

# Why a point is neutral where no two rescalings are needed for it.
TWO_INTERCEPTS = "the best intercept of one rescaling is not unique, and the point has either label"

# Features without weight get factors that are smaller than the others by these powers of two, in turn.
_POWERS = (4, 7, 10, 14, 18)


@dataclass(frozen=True)
class NuFlip:
    """Two ν-SVMs of which one puts the point on the positive side, one on the negative, with every best intercept.

    Or twice the same one, whose best intercepts disagree.
    """

    point: list[Fraction]
    positive: ExactNuClassifier
    negative: ExactNuClassifier

    def witness(self, *, left_out: int = 0) -> Witness:
        """The two rescalings, with the certificate."""
        return nu_witness_from(self.point, self.positive, self.negative, left_out=left_out)


def nu_svm_near(vertex: ExactVertex, margin: NuMargin, point: list[Fraction], side: int) -> ExactNuClassifier | None:
    """A ν-SVM of a finite rescaling near the vertex that puts the point on that side, see ``nu_svm_on_side``."""
    return nu_svm_on_side((found for found in _nearby(vertex, margin, point) if found.is_optimal), point, side)


def nu_svm_on_side(found: Iterable[ExactNuClassifier], point: list[Fraction], side: int) -> ExactNuClassifier | None:
    """The first that puts the point strictly on that side, with every best intercept; else the first whose best
    intercepts disagree about it; None where there is neither."""
    straddling = None
    for svm in found:
        if svm.side_of(point) == side:
            return svm
        if straddling is None and svm.straddles(point):
            straddling = svm
    return straddling


def nu_flip(
    point: list[Fraction], positive: ExactNuClassifier | None, negative: ExactNuClassifier | None
) -> NuFlip | None:
    """The flip that two ν-SVMs (as ``nu_svm_on_side`` gives them) make, or one of them alone; None where they do not."""
    for svm in (positive, negative):
        if svm is not None and svm.straddles(point):
            return NuFlip(point, svm, svm)
    return None if positive is None or negative is None else NuFlip(point, positive, negative)


def _nearby(vertex: ExactVertex, margin: NuMargin, point: list[Fraction]) -> Iterator[ExactNuClassifier]:
    training_set = vertex.training_set
    try:
        near = vertex.at_finite_rescaling(point)
    except CertificateError:  # degenerate: no straight step leads there
        pass
    else:
        yield ExactNuClassifier(training_set, margin, near.multipliers, near.inverse_squared_rescaling)
    yield from nu_svms_towards(training_set, margin, vertex.weights, vertex.gradient)


def nu_svms_towards(
    training_set: TrainingSet, margin: NuMargin, vertex_weights: list[Fraction], gradient: list[Fraction]
) -> Iterator[ExactNuClassifier]:
    """ν-SVMs of finite rescalings nearer and nearer to a classifier of the closure, given its weights and μ."""
    exponents = training_set.conditioning.exponent
    weights = np.array([float(w * Fraction(2) ** int(e)) for w, e in zip(vertex_weights, exponents, strict=True)])
    slopes = np.array([float(mu / Fraction(2) ** int(e)) for mu, e in zip(gradient, exponents, strict=True)])
    support = weights != 0
    usual = np.abs(slopes[support] / weights[support])
    for power in _POWERS:
        squared = np.full(len(weights), float(usual.max()) * 2.0**power)
        squared[support] = usual
        try:
            yield exact_nu_svm_at(training_set, margin, np.ldexp(1 / np.sqrt(squared), -exponents))
        except CertificateError:
            continue
