"""Flips with a ν-margin: vertices of the closure brought to finite rescalings, where every best intercept agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rescaleinv.certificates.certificate import Witness
from rescaleinv.certificates.two_rescalings import nu_witness_from
from rescaleinv.engines.search.exact import ExactVertex
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_nu import ExactNuClassifier, exact_nu_svm_at
from rescaleinv.theory.nu_margin import NuMargin

# Features without weight get factors that are smaller than the others by these powers of two, in turn.
_POWERS = (4, 7, 10, 14, 18)


@dataclass(frozen=True)
class NuFlip:
    """Two ν-SVMs of which one puts the point on the positive side, one on the negative, with every best intercept."""

    point: list[Fraction]
    positive: ExactNuClassifier
    negative: ExactNuClassifier

    def witness(self, *, left_out: int = 0) -> Witness:
        """The two rescalings, with the certificate."""
        return nu_witness_from(self.point, self.positive, self.negative, left_out=left_out)


def nu_svm_near(vertex: ExactVertex, margin: NuMargin, point: list[Fraction], side: int) -> ExactNuClassifier | None:
    """A ν-SVM of a finite rescaling near the vertex that puts the point strictly on that side; None where none is found."""
    for found in _nearby(vertex, margin, point):
        if found.is_optimal and found.side_of(point) == side:
            return found
    return None


def _nearby(vertex: ExactVertex, margin: NuMargin, point: list[Fraction]) -> Iterator[ExactNuClassifier]:
    training_set = vertex.training_set
    try:
        near = vertex.at_finite_rescaling(point)
    except CertificateError:  # degenerate: no straight step leads there
        pass
    else:
        yield ExactNuClassifier(training_set, margin, near.multipliers, near.inverse_squared_rescaling)
    exponents = training_set.conditioning.exponent
    weights = np.array([float(w * Fraction(2) ** int(e)) for w, e in zip(vertex.weights, exponents, strict=True)])
    slopes = np.array([float(mu / Fraction(2) ** int(e)) for mu, e in zip(vertex.gradient, exponents, strict=True)])
    support = weights != 0
    usual = np.abs(slopes[support] / weights[support])
    for power in _POWERS:
        squared = np.full(len(weights), float(usual.max()) * 2.0**power)
        squared[support] = usual
        try:
            yield exact_nu_svm_at(training_set, margin, np.ldexp(1 / np.sqrt(squared), -exponents))
        except CertificateError:
            continue
