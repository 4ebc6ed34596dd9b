"""Rescalings at which SVMs were trained: what was found for one point speaks for all of them."""

from __future__ import annotations

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch.problem import LimitedProblem

# Corners of the range drawn at random to begin with, fewer where rows times features are many; how many rescalings are kept.
_FIRST_CORNERS = 48
_CORNERS_BY_SIZE = 400_000
_MOST = 400


class RescalingPool:
    """Classifiers at many rescalings of the range. The decision values of a point at all of them are one matrix product."""

    def __init__(self, problem: LimitedProblem) -> None:
        self._problem = problem
        n_groups, n_features = len(problem.low), problem.rows.shape[1]
        self._factors = np.empty((0, n_groups))
        self._classifiers = np.empty((0, n_features + 1))
        self._filled = False

    def __len__(self) -> int:
        return len(self._factors)

    def fill(self) -> None:
        """Train at some corners of the range, once."""
        if self._filled:
            return
        self._filled = True
        problem = self._problem
        random = np.random.default_rng(0)
        multipliers = problem.given[2].copy()
        low, high = problem.finite_ends(problem.low, problem.high)
        for _ in range(min(_FIRST_CORNERS, _CORNERS_BY_SIZE // problem.rows.size)):
            corner = np.where(random.random(len(low)) < 0.5, low, high)
            if not problem.bounded:  # most corners are then SVMs of few features: others are tried as well
                corner = corner ** random.uniform(0.0, 1.0, len(low))
            self.add(corner, multipliers)

    def add(self, factors: FloatArray, multipliers: FloatArray) -> None:
        """Train at these factors (``multipliers`` are a start and become the answer) and keep the classifier."""
        weights, intercept, converged = self._problem.train(factors, multipliers)
        if not converged:
            multipliers[:] = self._problem.given[2]
            return
        self._factors = np.vstack([self._factors, factors])[-_MOST:]
        self._classifiers = np.vstack([self._classifiers, np.append(weights, intercept)])[-_MOST:]

    def changing(self, point: FloatArray, sign: int) -> list[FloatArray]:
        """The factors at which the decision value of the point has the other sign, nearest to the given scaling first."""
        values = sign * (self._classifiers @ np.append(point, 1.0))
        found = self._factors[values < 0]
        return list(found[np.argsort(np.abs(np.log(found)).max(axis=1, initial=0.0), kind="stable")])

    def most_adverse(self, point: FloatArray, sign: int, count: int) -> list[FloatArray]:
        """The factors at which sign · decision value of the point (in the problem's units) is least, the least first."""
        self.fill()
        values = sign * (self._classifiers @ np.append(point, 1.0))
        return [self._factors[k] for k in np.argsort(values, kind="stable")[:count]]
