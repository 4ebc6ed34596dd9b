"""The ordinary SVM of a fitted estimator: its decision values at the scaling that the features have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_svm import ExactClassifier, exact_svm
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

# Decision values nearer to zero than this, relative to the sizes of their terms, are computed in rationals.
_NEAR, _NEAR_WITH_NU = 1e-9, 1e-7
# The squares of floats have no more bits than this.
_ALL_BITS = 120


@dataclass(frozen=True, eq=False)
class ReferenceSVM:
    """w·x + b by floats, and in rationals where a float's sign is not to be trusted.

    On data of integers many points lie on the hyperplane itself, where f = 0 is positive; rounding gives some of them the
    other label, which a strong verdict would then contradict. With a finite C there is no exact solution here, and
    floats decide; with ν they do so where they can't tell which rows hold the margin.
    """

    training_set: TrainingSet
    weights: FloatArray
    intercept: float
    value_at_anchor: float
    hard_margin: bool
    nu: NuMargin | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what is computed again where it is needed: exact numbers, which skops can't keep."""
        return {name: value for name, value in vars(self).items() if name not in ("_exact", "_exact_nu")}

    def decision_function(self, points: FloatArray) -> FloatArray:
        """The decision values of the points, a finite matrix.

        >>> from rescaleinv.theory.svm import minimal_norm_svm
        >>> ts = TrainingSet([[0.0, 0], [0, 3], [3, 3], [3, 0.1]], [-1, -1, 1, 1])
        >>> svm = minimal_norm_svm(ts)
        >>> reference = ReferenceSVM(ts, svm.weights, svm.intercept, svm.value_at_anchor, hard_margin=True)
        >>> reference.decision_function(np.array([[1.5, 7], [3, 7]]))
        array([0., 1.])
        """
        # from the anchor: where features have large offsets, the intercept has lost digits
        shifted = points - self.training_set.conditioning.anchor
        values: FloatArray = shifted @ self.weights + self.value_at_anchor
        size = 1 + np.abs(shifted) @ np.abs(self.weights) + abs(self.value_at_anchor)
        if self.hard_margin:
            for i in np.flatnonzero(np.abs(values) <= _NEAR * size):
                values[i] = _with_its_sign(self._exact.decision_value(self._exact_point(points[i])))
        elif self.nu is not None:
            for i in np.flatnonzero(np.abs(values) <= _NEAR_WITH_NU * size):
                if self._exact_nu is not None:
                    weights, intercept = self._exact_nu
                    terms = zip(weights, self._exact_point(points[i]), strict=True)
                    values[i] = _with_its_sign(sum((w * x for w, x in terms), intercept))
        return values

    @cached_property
    def _exact_nu(self) -> tuple[list[Fraction], Fraction] | None:
        """The ν-SVM of the data as they were written, at the scaling that was given, with a margin of 1.

        Its intercept is the middle of the best ones, and where these have no end on one side, that on the other.
        """
        from rescaleinv.theory.exact_nu import exact_nu_svm_at

        assert self.nu is not None
        units = [float(feature.unit) for feature in self.training_set.reading]
        try:
            svm = exact_nu_svm_at(self.training_set.as_read, self.nu, units, bits=_ALL_BITS)
        except CertificateError:
            return None
        at = {side: low if high is None else (low + high) / 2 for side, (low, high) in svm.thresholds.items()}
        margin = (at[1] + at[-1]) / 2
        return ([w / margin for w in svm.weights], (at[-1] - at[1]) / 2 / margin) if margin > 0 else None

    @cached_property
    def _exact(self) -> ExactClassifier:
        """The SVM of the data as they were written, in the units of the reading, at the scaling that was given."""
        squared = [feature.unit**2 for feature in self.training_set.reading]
        support = np.flatnonzero(minimal_norm_svm(self.training_set).multipliers > 0).tolist()
        return exact_svm(self.training_set.as_read, squared, support)

    def _exact_point(self, point: FloatArray) -> list[Fraction]:
        return [Fraction(value) for value in self.training_set.reading.values(point).tolist()]


def _with_its_sign(value: Fraction) -> float:
    """As a float, which is not zero unless the value is."""
    nearest = float(value)
    return nearest if nearest or not value else math.ulp(0.0) * (1 if value > 0 else -1)
