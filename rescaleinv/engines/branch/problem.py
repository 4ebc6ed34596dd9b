"""What the branch and bound is asked: rows in one common unit, the range of each group of features, the penalties."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
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
        """For ranges of τ (n, 2), all finite and positive, and one penalty per row or a ν (None: a hard margin)."""
        groups = np.arange(training_set.n_features) if groups is None else groups
        n_groups = int(groups.max()) + 1
        first = np.array([int(np.flatnonzero(groups == g)[0]) for g in range(n_groups)])
        for j, g in enumerate(groups):
            if (ranges[j] != ranges[first[g]]).any():
                raise InputError(
                    f"features {first[g]} and {j} are of one group and share one factor, but have the ranges "
                    f"{tuple(ranges[first[g]].tolist())} and {tuple(ranges[j].tolist())}; give them one range"
                )
        free = np.flatnonzero((ranges[:, 0] <= 0) | np.isinf(ranges[:, 1]))
        if free.size:
            raise InputError(
                f"feature(s) {', '.join(map(str, free[:5]))} may be rescaled without limit, others not: there is no engine "
                "for such a mixture. Give every feature a finite range, such as (1e-3, 1e3), or scale_range=None"
            )
        if ranges.max() > _LARGEST_FACTOR or ranges.min() < 1 / _LARGEST_FACTOR:
            raise InputError(
                f"factors up to {max(float(ranges.max()), 1 / float(ranges.min())):g} are in the scale range; "
                f"{_LARGEST_FACTOR:g} is the most. scale_range=None is every rescaling"
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
            1 / limits[:, 0] ** 2,
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
