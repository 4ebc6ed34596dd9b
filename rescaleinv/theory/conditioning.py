"""What the features' numbers mean, and the units in which engines work: both are exact.

A *reading* says what was written down: decimals, or values on a grid, which floats hold only up to rounding. For questions
about every rescaling an affine change of a feature makes no difference, so that such features become integers. The
*conditioning* is a change of units by powers of two that brings all features to a similar scale for float solvers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

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


# --- the data as they were written ---------------------------------------------------------------------------------------

# A decimal number of this many digits survives the way to a float and back; as an integer a float holds it exactly.
_MOST_DIGITS = 15
# 10 to this power is still exact as a float.
_LARGEST_POWER_OF_TEN = 22
# Values on a grid may be this far from it, in units in the last place of the feature's largest value: what a subtraction, a
# multiplication and a division leave behind, the last number with an offset that was larger than the values are now. The
# smaller ones are tried first, as they tell finer grids from noise.
_ROUNDING_ULPS = (4, 16, 64)
# A step must be this many times the rounding, or values would be moved to grid points at random.
_STEP_TO_ROUNDING = 2.0**20
# How improbable a grid must be among random numbers, as a power of two.
_COINCIDENCE = -30
# Below this, floats lose digits, and units in the last place mean nothing.
_SMALLEST_SIZE = 1e-250
# Points between the grid's values are taken to this many decimal digits of a step where that is within the rounding.
_DIGITS_OF_A_STEP = 6


@dataclass(frozen=True)
class FeatureReading:
    """How the floats of a feature are read: each stands for ``origin + unit * value``, the values being what is certified.

    ``kind`` is "as given" (the value is the float itself), "decimal" or "grid". ``rounding`` is how far a given float may
    be from what it stands for.
    """

    kind: Literal["as given", "decimal", "grid"]
    digits: int = 0
    origin: float = 0.0
    unit: Fraction = Fraction(1)
    rounding: float = 0.0

    def __str__(self) -> str:
        if self.kind == "decimal":
            return f"decimal, {self.digits} digit{'s' * (self.digits != 1)}"
        return f"grid of step {float(self.unit):.6g}" if self.kind == "grid" else self.kind

    @property
    def changes(self) -> bool:
        """Whether values differ from the floats given."""
        return self.unit != 1 or self.origin != 0

    def values(self, column: FloatArray) -> FloatArray:
        """The values that floats of this feature stand for.

        Decimals of a few digits more than the training rows', and decimal fractions of a step, are rounded once, as
        quotients. A float that is neither keeps its own value, to the precision of a float.
        """
        if not self.changes:
            return column
        if self.kind == "decimal":
            result = column * 10.0**self.digits
            # a point may have some digits more: halves of the last digit, where hyperplanes of integers often are, are exact
            for more in range(min(_DIGITS_OF_A_STEP, _LARGEST_POWER_OF_TEN - self.digits), -1, -1):
                power = 10.0 ** (self.digits + more)
                with np.errstate(over="ignore"):
                    whole = np.rint(column * power)
                fits = (whole / power == column) & (np.abs(whole) < (10.0**_MOST_DIGITS if more else 2.0**53))
                result = np.where(fits, whole / 10.0**more, result)
            return result
        step = float(self.unit)
        steps = (column - self.origin) / step
        result = steps
        for rounded in (np.round(steps, _DIGITS_OF_A_STEP), np.rint(steps)):
            result = np.where(np.abs(self.origin + step * rounded - column) <= self.rounding, rounded, result)
        return result


def _decimal_digits(column: FloatArray) -> int | None:
    """How many digits after the point the values need, where all of them are decimals of at most 15 digits; else None."""
    for digits in range(_LARGEST_POWER_OF_TEN + 1):
        power = 10.0**digits
        with np.errstate(over="ignore"):
            whole = np.rint(column * power)
        if np.abs(whole).max() >= 10.0**_MOST_DIGITS:
            return None
        if (whole / power == column).all():  # a quotient of exact numbers is rounded as the decimal text is
            return digits
    return None


def _simplest_denominator(value: float, tolerance: float) -> int:
    """The least denominator of a fraction within the tolerance of a number between 0 and 1."""
    low, high = Fraction(max(value - tolerance, 0.0)), Fraction(value + tolerance)
    # Stern and Brocot: the continued fraction of the interval's ends, as far as they agree
    p, q, previous_p, previous_q = 1, 0, 0, 1
    while True:
        whole = -(-low.numerator // low.denominator)
        if whole <= high:
            return whole * q + previous_q
        whole -= 1
        p, previous_p = whole * p + previous_p, p
        q, previous_q = whole * q + previous_q, q
        low, high = 1 / (high - whole), 1 / (low - whole)


def _grid(column: FloatArray, ulps: int) -> FeatureReading | None:
    """The grid that all values are on up to rounding, if there is one and it is not a coincidence."""
    values = np.unique(column)
    largest = float(np.abs(values).max())
    spread = float(values[-1] - values[0])
    if len(values) < 2 or largest < _SMALLEST_SIZE:
        return None
    rounding = ulps * float(np.spacing(largest))
    shares = (values - values[0]) / spread
    tolerance = 2 * rounding / spread
    cells, most_cells = 1, 1 / (_STEP_TO_ROUNDING * tolerance)
    while cells <= most_cells:
        off = np.abs(shares * cells - np.rint(shares * cells)) > tolerance * cells
        if not off.any():
            break
        finer = math.lcm(cells, _simplest_denominator(float(shares[off.argmax()]), tolerance))
        if finer == cells:  # on the edge of the tolerance, where rounding has the last word
            return None
        cells = finer
    if cells > most_cells or not _is_no_coincidence(len(values), cells, tolerance):
        return None
    found = FeatureReading("grid", 0, float(values[0]), Fraction(spread / cells), rounding)
    on_grid = found.values(values)
    fits = np.abs(found.origin + float(found.unit) * on_grid - values) <= rounding
    whole = (on_grid == np.rint(on_grid)).all() and (np.diff(on_grid) > 0).all()
    return found if fits.all() and whole else None


def _is_no_coincidence(n_values: int, cells: int, tolerance: float) -> bool:
    """Would random numbers hardly ever be on a grid of so many cells? Two values always are, and lose nothing by it."""
    if n_values == 2:
        return True
    of_the_grid = 2 * math.log2(cells) + math.log2(tolerance)
    of_the_others = (n_values - 3) * (1 + math.log2(tolerance * cells))
    return of_the_grid + of_the_others <= _COINCIDENCE


def read_feature(column: FloatArray) -> FeatureReading:
    """How a column of floats was most likely written: as decimals, on a grid, or as the floats that they are.

    >>> str(read_feature(np.array([0.1, 0.25, 3.0]))), str(read_feature(np.array([1.0, 2.0, 7.0])))
    ('decimal, 2 digits', 'decimal, 0 digits')
    >>> str(read_feature(np.array([1.0, 2.0, 5.0, 7.0]) / 3 - 0.8))
    'grid of step 0.333333'
    >>> str(read_feature(np.array([0.0, np.pi, np.e, np.sqrt(2)])))
    'as given'
    """
    if column[0] == column.min() == column.max():
        return FeatureReading("as given")
    digits = _decimal_digits(column)
    if digits is not None:
        power = Fraction(10) ** digits
        exact = all(Fraction(value) * power == round(Fraction(value) * power) for value in column.tolist())
        rounding = float(np.spacing(np.abs(column).max()))
        return (
            FeatureReading("decimal", digits) if exact else FeatureReading("decimal", digits, 0.0, 1 / power, rounding)
        )
    grids = (_grid(column, ulps) for ulps in _ROUNDING_ULPS)
    return next((grid for grid in grids if grid is not None), FeatureReading("as given"))


class Reading(tuple[FeatureReading, ...]):
    """The reading of every feature of a training set, and the way from given floats to the values that are certified."""

    __slots__ = ()

    @classmethod
    def of(cls, features: FloatArray) -> Reading:
        return cls(map(read_feature, features.T))

    @property
    def changes(self) -> bool:
        return any(feature.changes for feature in self)

    def values(self, points: FloatArray) -> FloatArray:
        """The values of points (one or many) that are given as floats."""
        columns = [feature.values(points[..., j]) for j, feature in enumerate(self)]
        return np.ascontiguousarray(np.stack(columns, axis=-1))

    def in_given_units(self, values: Sequence[Fraction]) -> list[Fraction]:
        """What the values stand for, in the units of the given floats, exactly."""
        return [Fraction(feature.origin) + feature.unit * value for feature, value in zip(self, values, strict=True)]

    @property
    def units(self) -> FloatArray:
        """The size of one step of each feature's values in given units."""
        return np.array([float(feature.unit) for feature in self])
