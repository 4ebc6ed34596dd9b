"""The rescaling radius: how wrong the units may be before the label of a point can change."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.engines.branch.tree import Decision, decide

# The first range that is tried, and how fast it grows while the label holds.
_FIRST, _GROWTH = 1.5, 2.0
# How often the refuted end is tried to be brought down to a κ that was left open.
_TRIES = 6


@dataclass(frozen=True, eq=False)
class Radius:
    """Bisection on log κ for one point after another; ``problem`` says which features are frozen."""

    problem: LimitedProblem
    ratio: float
    largest: float
    time_limit: float | None
    max_parts: int

    def _ends(self, kappa: float) -> tuple[FloatArray, FloatArray]:
        frozen = self.problem.low == self.problem.high
        return np.where(frozen, 1.0, kappa**-2.0), np.where(frozen, 1.0, kappa**2.0)

    def of(self, point: FloatArray) -> tuple[float, float]:
        """(κ up to which the label is certified, κ at which it was refuted)."""
        certified, refuted = 1.0, math.inf
        open_from = math.inf  # the least κ that was not decided
        hint: tuple[FloatArray, ...] = ()
        if (self.problem.low == self.problem.high).all():
            return math.inf, math.inf  # nothing is rescaled at all
        while True:
            upper = min(refuted, open_from)
            if certified >= self.largest or upper <= certified * self.ratio:
                break
            if math.isinf(upper):
                kappa = min(max(_FIRST, certified**_GROWTH), self.largest)
            else:
                kappa = math.sqrt(certified * upper)
            decision = self._decide(point, kappa, hint)
            if decision.cover is not None:
                certified = kappa
            elif decision.neutral:
                refuted, hint = self._refuted(decision)
            else:
                open_from = kappa
        refuted, certified = self._narrow_refuted(point, certified, refuted, open_from, hint)
        return certified, refuted

    def _decide(self, point: FloatArray, kappa: float, hint: tuple[FloatArray, ...]) -> Decision:
        low, high = self._ends(kappa)
        return decide(
            self.problem, point, low=low, high=high, time_limit=self.time_limit, max_parts=self.max_parts, hints=hint
        )

    def _refuted(self, decision: Decision) -> tuple[float, tuple[FloatArray, ...]]:
        """The least κ whose range has the two rescalings that disagree, and where to look for others."""
        assert decision.positive is not None
        assert decision.negative is not None
        flips = (decision.positive, decision.negative)
        reach = max(float(np.abs(np.log(flip.factors)).max()) for flip in flips) / 2
        return math.exp(reach) * (1 + 1e-12), tuple(flip.factors for flip in flips)

    def _narrow_refuted(
        self, point: FloatArray, certified: float, refuted: float, open_from: float, hint: tuple[FloatArray, ...]
    ) -> tuple[float, float]:
        """Where a limit left a κ open, the refuted end is brought down to it from above, as far as walks find flips."""
        lower = min(open_from, self.largest)
        tried = 0
        while open_from < math.inf and refuted > lower * self.ratio and tried < _TRIES:
            kappa = self.largest if math.isinf(refuted) else math.sqrt(lower * refuted)
            decision = self._decide(point, kappa, hint)
            tried += 1
            if decision.neutral:
                refuted, hint = self._refuted(decision)
            elif decision.cover is not None:
                certified = max(certified, kappa)
                lower = max(lower, kappa)
            else:
                lower = kappa
            if kappa >= self.largest and math.isinf(refuted):
                break
        return refuted, certified
