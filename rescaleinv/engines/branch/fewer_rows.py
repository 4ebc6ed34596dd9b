"""Fewer rows for the relaxation: those that are never near the margin are left out, or stand together as their mean.

A guess, made from SVMs at some corners of the range. Nothing rests on it: the pair that is found with fewer rows is
completed for all rows, and the inequality is then computed with all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines.branch.problem import LimitedProblem

# SVMs at so many corners say which rows come near the margin: nearer than this to a margin of 1.
_CORNERS, _NEAR = 24, 0.1
# It pays where no more than this share of the rows is left.
_SHARE = 0.7
# Ranges are rounded up to powers of this, so that those of like size share what is found.
_STEP = 1.5


@dataclass(frozen=True, eq=False)
class FewerRows:
    """``kept`` rows as they are, and the rows of each of ``together`` (one class, multipliers at their caps) as one."""

    kept: IntArray
    together: tuple[IntArray, ...]
    caps: FloatArray  # of the kept rows, then of those together

    @classmethod
    def of(cls, problem: LimitedProblem, low: FloatArray, high: FloatArray) -> FewerRows | None:
        """For factors in [low, high]; None where it does not pay."""
        widest = float(np.sqrt((high / low).max(initial=1.0)))
        power = int(np.ceil(np.log(widest) / np.log(_STEP)))
        found = problem.fewer_rows.get(power)
        if found is None:
            found = problem.fewer_rows[power] = cls._guessed(problem, low, high)
        return found if len(found.caps) <= _SHARE * len(problem.rows) else None

    @classmethod
    def _guessed(cls, problem: LimitedProblem, low: FloatArray, high: FloatArray) -> FewerRows:
        random = np.random.default_rng(0)
        multipliers = problem.given[2].copy()
        least, most = np.full(len(problem.rows), np.inf), np.full(len(problem.rows), -np.inf)
        for number in range(_CORNERS + 1):
            corner = np.where(random.random(len(low)) < 0.5, low, high)
            factors = np.ones(len(low)) if number == 0 else corner
            weights, intercept, converged = problem.train(factors, multipliers)
            if not converged:
                multipliers = problem.given[2].copy()
                continue
            margins = problem.labels * (problem.rows @ weights + intercept)
            least, most = np.minimum(least, margins), np.maximum(most, margins)
        inside = most < 1 - _NEAR if problem.soft else np.zeros(len(least), dtype=bool)
        together = tuple(np.flatnonzero(inside & (problem.labels == label)) for label in (1.0, -1.0))
        together = tuple(rows for rows in together if len(rows) > 1)
        for label in (1.0, -1.0):  # a class must not vanish
            own = np.flatnonzero(problem.labels == label)
            least[own[np.argsort(least[own])[:2]]] = -np.inf
        in_a_mean = np.zeros(len(least), dtype=bool)
        for rows in together:
            in_a_mean[rows] = True
        return cls._with(problem.caps, np.flatnonzero((least <= 1 + _NEAR) & ~in_a_mean), together)

    @classmethod
    def _with(cls, caps: FloatArray, kept: IntArray, together: tuple[IntArray, ...]) -> FewerRows:
        return cls(kept, together, np.concatenate([caps[kept], [caps[rows].sum() for rows in together]]))

    def with_rows(self, more: npt.NDArray[np.bool_], caps: FloatArray) -> FewerRows:
        """These rows are kept too."""
        left = [rows[~more[rows]] for rows in self.together]
        alone = [rows for rows in left if len(rows) == 1]
        kept = np.unique(np.concatenate([self.kept, np.flatnonzero(more), *alone]))
        return self._with(caps, kept, tuple(rows for rows in left if len(rows) > 1))

    def wrong(self, missing: FloatArray) -> npt.NDArray[np.bool_]:
        """Rows of which the guess is wrong, by what their margins are short of the one that they must have."""
        found = missing > 0
        found[self.kept] = False
        for rows in self.together:
            found[rows] = missing[rows] < 0
        return found

    def rows(self, signed: FloatArray, caps: FloatArray) -> FloatArray:
        """The rows that take the place of ``signed``."""
        means = [caps[rows] @ signed[rows] / caps[rows].sum() for rows in self.together]
        return np.ascontiguousarray(np.vstack([signed[self.kept], *means]))

    def states(self, states: IntArray) -> IntArray:
        return np.append(states[self.kept], np.zeros(len(self.together), dtype=states.dtype))

    def multipliers(self, found: FloatArray, caps: FloatArray) -> FloatArray:
        """One per row of all, from those of the fewer."""
        completed = np.zeros(len(caps))
        completed[self.kept] = found[: len(self.kept)]
        for rows, sum_of_them, cap in zip(
            self.together, found[len(self.kept) :], self.caps[len(self.kept) :], strict=True
        ):
            completed[rows] = caps[rows] * (sum_of_them / cap)
        return completed

    def of_rows(self, values: FloatArray, n_rows: int) -> FloatArray:
        """One per row of all, 0 where the row is not kept."""
        spread = np.zeros(n_rows)
        spread[self.kept] = values[: len(self.kept)]
        return spread

    def start(self, r: FloatArray, labels: npt.NDArray[np.float64]) -> FloatArray | None:
        """An r strictly inside its bounds, with the same sum in each class; None where there is no room for that."""
        fewer = np.concatenate([r[self.kept], [r[rows].sum() for rows in self.together]])
        of_class = np.concatenate([labels[self.kept], [labels[rows[0]] for rows in self.together]])
        for label in (1.0, -1.0):
            own = of_class == label
            missing = float(r[labels == label].sum() - fewer[own].sum())
            room = np.where(own, np.minimum(self.caps - fewer, 1e300), 0.0)
            unlimited = own & np.isinf(self.caps)
            room = unlimited.astype(float) if unlimited.any() else room
            total = float(room.sum())
            if not own.any() or (not unlimited.any() and missing > 0.9 * total):
                return None
            fewer += room * (missing / total)
        return fewer
