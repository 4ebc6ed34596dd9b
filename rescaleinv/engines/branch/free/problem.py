"""One point's question in the tree's units: rows seen from the point, in floats and exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.theory.training_set import TrainingSet


@dataclass(frozen=True)
class PointProblem:
    """Rows G_i = y_i (x_i - α) times ``units``, powers of two in which the weights are about 1.

    Multipliers are scaled to sum to ``total``, a power of two (1 for a hard margin); ``caps`` are exact, for a sum of 1.
    """

    training_set: TrainingSet
    point: list[Fraction]
    units: FloatArray
    caps: list[Fraction] | None = None
    total: int = 1

    @classmethod
    def of(cls, training_set: TrainingSet, point: FloatArray, weights: FloatArray) -> PointProblem:
        """``weights``: those of some SVM, original units, which give the common size."""
        exponents = training_set.conditioning.exponent
        size = float(np.linalg.norm(np.ldexp(weights, exponents)))
        common = int(np.rint(np.log2(size))) if size > 0 else 0
        units = np.ldexp(1.0, common - exponents)
        return cls(training_set, [Fraction(x) for x in np.asarray(point, dtype=float).tolist()], units)

    @cached_property
    def positive(self) -> np.ndarray:
        return self.training_set.signs > 0

    @cached_property
    def float_caps(self) -> FloatArray:
        """The caps as floats; there are some with a ν-margin only."""
        return np.array([float(cap) for cap in self.caps or ()])

    @cached_property
    def _exact(self) -> tuple[list[list[int]], list[Fraction]]:
        """G as integers, and how many of them make one of the tree's units, for each feature."""
        rows, exponents = self.training_set.integer_rows
        y = self.training_set.signs.tolist()
        columns, scales = [], []
        for j, (e, alpha) in enumerate(zip(exponents, self.point, strict=True)):
            step = min(Fraction(2) ** e, Fraction(1, alpha.denominator))  # both are powers of two
            times, offset = int(Fraction(2) ** e / step), int(alpha / step)
            columns.append([sign * (row[j] * times - offset) for row, sign in zip(rows, y, strict=True)])
            scales.append(1 / (step * Fraction(float(self.units[j]))))
        return [list(row) for row in zip(*columns, strict=True)], scales

    @property
    def whole(self) -> list[list[int]]:
        """G as integers, each feature in a unit of its own: G = whole / scales."""
        return self._exact[0]

    @property
    def scales(self) -> list[Fraction]:
        return self._exact[1]

    @cached_property
    def G(self) -> FloatArray:
        """G in floats, each entry rounded once."""
        scales = [float(1 / scale) for scale in self.scales]
        return np.array([[value * scale for value, scale in zip(row, scales, strict=True)] for row in self.whole])
