"""An exact change of units that brings all features to a similar scale, so that float solvers behave well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.theory.inputs import listing

# Differences must not vanish when they are multiplied.
SMALLEST_RANGE = 1e-150


def _differences_are_exact(values: FloatArray, anchor: FloatArray) -> npt.NDArray[np.bool_]:
    """For each column, whether ``values - anchor`` has no rounding error at all (the error term of Knuth's TwoSum)."""
    difference = values - anchor
    back = difference - values
    error = (values - (difference - back)) + (-anchor - back)
    return ~np.any(error != 0, axis=0)


@dataclass(frozen=True)
class Conditioning:
    """An exact change of units, feature by feature: ``conditioned = (x - anchor) * 2**-exponent``.

    Every range ends up between 1/2 and 1, which solvers handle well, and no float is rounded: the units are powers of
    two, and an anchor is subtracted only where every difference is exact. Data that differ by powers of two therefore
    give the same bits here.
    """

    anchor: FloatArray
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, features: FloatArray) -> Conditioning:
        low = features.min(axis=0)
        spread = features.max(axis=0) - low
        too_small = np.flatnonzero((spread > 0) & (spread < SMALLEST_RANGE))
        if too_small.size:
            raise InputError(
                f"the values of feature(s) {listing(too_small.tolist())} differ by less than {SMALLEST_RANGE:g}; "
                "products of such differences vanish. Choose a smaller unit for them"
            )
        exponent = np.where(spread > 0, np.frexp(spread)[1], 0).astype(np.int64)
        anchor = np.where(_differences_are_exact(features, low), low, 0.0)
        return cls(anchor, exponent)

    def apply(self, points: FloatArray) -> FloatArray:
        return np.ldexp(points - self.anchor, -self.exponent)

    def weights_to_original(self, weights: FloatArray, intercept: float) -> tuple[FloatArray, float]:
        """Turn a classifier of the conditioned features into the same classifier of the original ones."""
        original = np.ldexp(weights, -self.exponent)
        return original, float(intercept - original @ self.anchor)
