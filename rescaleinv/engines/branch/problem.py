"""What the branch and bound is asked: rows in one common unit, the range of each group of features, the penalties."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines.branch import svm_kernel
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.theory.training_set import TrainingSet

# What is known of a row in a part of the range: nothing; its multiplier is 0; its margin is 1; its multiplier is its cap.
FREE, OUT, ON, CAPPED = 0, 1, 2, 3

# A hard margin's SVM whose margins are further below 1 than this is none.
_COARSE = 1e-3
# Factors beyond this, or below its inverse, are squared to numbers that floats do not hold in sums.
_LARGEST_FACTOR = 1e50
# Where d has no bound, SVMs are trained with d up to this times its centre, and down to its inverse: floats do not hold much
# more.
_FURTHEST = 1e5
# Beyond so many rows libsvm finds the first soft margin.
_MANY_ROWS = 300
# Multipliers of a general solver this near to a bound, relative to the cap, are at it.
_AT_BOUND = 1e-6

IntStates = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LimitedProblem:
    """The training rows, the penalties, and the box of factors d = 1/τ², one per group.

    ``rows`` are the features from the anchor, all divided by one power of two: a rescaling is the user's own τ. What is
    multiplied by ``2**shift`` (weights) or ``4**shift`` (penalties, multipliers) is here without it.

    With a ν-margin the multipliers add up to ``total`` and none exceeds its cap. That is a power of two instead of 1, caps
    in proportion, such that the margin ρ at the given scaling is about 1, as with other margins. ``penalties`` are those
    that were given, in the units of the features. ``nu_start`` are the multipliers of the given scaling, as a general
    solver has them, where they add up to 1.
    """

    training_set: TrainingSet
    rows: FloatArray
    labels: FloatArray
    caps: FloatArray
    groups: IntArray
    low: FloatArray
    high: FloatArray
    shift: int
    penalties: FloatArray | None = None
    nu: NuMargin | None = None
    total: float = 0.0
    nu_start: FloatArray | None = None
    fewer_rows: dict[int, Any] = field(default_factory=dict)  # what relaxations were found to need, see ``FewerRows``

    @classmethod
    def of(
        cls,
        training_set: TrainingSet,
        ranges: FloatArray,
        groups: IntArray | None = None,
        penalties: FloatArray | None = None,
        nu: NuMargin | None = None,
    ) -> LimitedProblem:
        """For ranges of τ (n, 2), from 0 and to infinity too, and one penalty per row or a ν (None: a hard margin)."""
        groups = np.arange(training_set.n_features) if groups is None else groups
        n_groups = int(groups.max()) + 1
        first = np.array([int(np.flatnonzero(groups == g)[0]) for g in range(n_groups)])
        for j, g in enumerate(groups):
            if (ranges[j] != ranges[first[g]]).any():
                raise InputError(
                    f"features {first[g]} and {j} are of one group and share one factor, but have the ranges "
                    f"{tuple(ranges[first[g]].tolist())} and {tuple(ranges[j].tolist())}; give them one range"
                )
        ends = ranges[(ranges > 0) & np.isfinite(ranges)]
        if ends.max(initial=1.0) > _LARGEST_FACTOR or ends.min(initial=1.0) < 1 / _LARGEST_FACTOR:
            raise InputError(
                f"factors up to {max(float(ends.max()), 1 / float(ends.min())):g} are in the scale range; "
                f"{_LARGEST_FACTOR:g} is the most that is finite. (0, inf) is every factor"
            )
        # a common factor of all features is a change of C and nothing else
        varies = training_set.conditioned.any(axis=0)
        shift = int(np.max(training_set.conditioning.exponent, where=varies, initial=-1000))
        shift = 0 if shift == -1000 else shift
        rows = np.ldexp(training_set.features - training_set.conditioning.anchor, -shift)
        caps = np.full(training_set.n_rows, np.inf)
        if penalties is not None:
            with np.errstate(over="ignore", under="ignore"):
                caps = np.ldexp(np.asarray(penalties, dtype=np.float64), 2 * shift)
            if not (np.isfinite(caps).all() and caps.min() > 0):
                raise InputError("C times the square of the features' range is beyond what a float can hold")
        total, nu_start = 0.0, None
        if nu is not None:
            svm = nu_svm(training_set, nu)
            # ρ where multipliers add up to 1 and weights are not divided by it
            total = 2.0 ** -int(np.rint(np.log2(svm.margin) - 2 * shift))
            caps, nu_start = total * nu.caps, svm.multipliers
        limits = ranges[first]
        return cls(
            training_set,
            np.ascontiguousarray(rows),
            training_set.signs.astype(np.float64),
            caps,
            groups.astype(np.int64),
            1 / limits[:, 1] ** 2,
            np.where(limits[:, 0] > 0, 1 / np.where(limits[:, 0] > 0, limits[:, 0], 1.0) ** 2, np.inf),
            shift,
            penalties,
            nu,
            total,
            nu_start,
        )

    @property
    def soft(self) -> bool:
        return bool(np.isfinite(self.caps[0]))

    @cached_property
    def exact_rows(self) -> list[list[Fraction]]:
        """The rows as certificates state them."""
        return [self.training_set.exact_point(row) for row in self.training_set.features]

    @cached_property
    def bounded(self) -> bool:
        """Whether no factor may be as small or as large as one likes."""
        return bool(self.low.min() > 0 and np.isfinite(self.high).all())

    @cached_property
    def free(self) -> npt.NDArray[np.bool_]:
        """The groups with any factor."""
        return (self.low == 0) & np.isinf(self.high)

    @cached_property
    def centre(self) -> FloatArray:
        """The d of a group with any factor that makes its features as large as the others are; 1 for other groups."""
        spread = np.zeros(len(self.low))
        np.maximum.at(spread, self.groups, self.rows.std(axis=0))
        others = spread[~self.free & (spread > 0)]
        others = spread[spread > 0] if not len(others) else others
        size = float(np.median(others)) if len(others) else 1.0
        return np.where(self.free & (spread > 0), (spread / size) ** 2, 1.0)

    def finite_ends(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Ends of factors for SVMs to be trained at: those that are given, or as far as floats go."""
        return (
            np.where(low > 0, low, np.minimum(np.minimum(self.centre, 1.0) / _FURTHEST, high)),
            np.where(np.isfinite(high), high, np.maximum(np.maximum(self.centre, 1.0) * _FURTHEST, low)),
        )

    @property
    def has_scale(self) -> bool:
        """Whether a common factor of all features changes anything: with penalties, not with other margins."""
        return self.penalties is not None

    @cached_property
    def relative_total(self) -> float:
        """What multipliers add up to in parts of relative factors; these are then d at the given scaling, or nearly so."""
        if self.total > 0:
            return self.total
        return float(2.0 ** np.rint(np.log2(self.given[2].sum())))

    @cached_property
    def svm_rows(self) -> svm_kernel.SvmRows:
        """The rows as the compiled code takes them."""
        return svm_kernel.SvmRows(self.rows, self.labels, np.ones(len(self.rows)), self.caps, self.total)

    def in_units(self, point: FloatArray) -> FloatArray:
        """A point in the units of the rows."""
        return np.ldexp(point - self.training_set.conditioning.anchor, -self.shift)

    def train(self, factors: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, float, bool]:
        """The SVM at these factors d, one per group; ``multipliers`` are the start, and the answer."""
        weights, intercept, _, converged = svm_kernel.train(self.svm_rows, 1 / factors[self.groups], multipliers)
        return weights, float(intercept), bool(converged)

    def _first_guess(self) -> FloatArray:
        """Multipliers to start from: libsvm's where rows are many, as an active set takes one at a time."""
        if self.nu_start is not None:
            return self._first_nu_guess(self.nu_start)
        multipliers = np.zeros(len(self.rows))
        if self.soft and len(self.rows) > _MANY_ROWS:
            from sklearn.svm import SVC

            largest = float(self.caps.max())
            svm = SVC(C=largest, kernel="precomputed", tol=1e-4, max_iter=100_000)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a guess need not have converged
                svm.fit(self.rows @ self.rows.T, self.labels, sample_weight=self.caps / largest)
            multipliers[svm.support_] = np.clip(np.abs(svm.dual_coef_[0]), 0, self.caps[svm.support_])
            # its rounding must not leave the classes out of balance: the larger class gives way, within its bounds
            sums = [multipliers[self.labels == label].sum() for label in (1.0, -1.0)]
            for label, own, other in ((1.0, *sums), (-1.0, *reversed(sums))):
                if own > other:
                    multipliers[self.labels == label] *= other / own
        return multipliers

    def _first_nu_guess(self, start: FloatArray) -> FloatArray:
        """Multipliers of the ν-SVM by a general solver; at their bounds exactly where they nearly are."""
        found = self.total * start
        found[found < _AT_BOUND * self.caps] = 0.0
        found = np.where(found > (1 - _AT_BOUND) * self.caps, self.caps, found)
        for label in (
            1.0,
            -1.0,
        ):  # each class has half of the total: the rest goes to, or comes from, where there is room
            own = self.labels == label
            missing = self.total / 2 - float(found[own].sum())
            room = np.where(own, self.caps - found if missing > 0 else found, 0.0)
            among = np.where(own & (found > 0) & (found < self.caps), room, 0.0)
            room = among if among.sum() > abs(missing) else room
            if room.sum() > 0:
                found += room * (missing / float(room.sum()))
        return np.clip(found, 0.0, self.caps)

    @cached_property
    def share_of_weights(self) -> float:
        """Σ d w² as a share of Σ a at the given scaling: 1 with a hard margin, next to 0 where classes overlap much."""
        weights, _, multipliers = self.given
        of_weights = float(weights @ ((self.labels * multipliers) @ self.rows))
        return float(np.clip(of_weights / max(float(multipliers.sum()), np.finfo(float).tiny), 1e-9, 1.0))

    @cached_property
    def given(self) -> tuple[FloatArray, float, FloatArray]:
        """Weights, intercept and multipliers at the scaling that the data have (d = 1)."""
        multipliers = self._first_guess()
        weights, intercept, converged = self.train(np.ones(len(self.low)), multipliers)
        margins = self.labels * (self.rows @ weights + intercept)
        if not converged or (not self.soft and margins.min() < 1 - _COARSE):
            raise InseparableError(
                "the SVM at the given scaling was not found: the classes are not separable, or by so little that floats "
                "do not tell; use a finite C"
            )
        return weights, intercept, multipliers
