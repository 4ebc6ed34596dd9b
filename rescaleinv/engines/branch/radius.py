"""The rescaling radius: how wrong the units may be before the label of a point can change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch.decision import Decision, ProvedLabel
from rescaleinv.engines.branch.flips import RescalingPool
from rescaleinv.engines.branch.leaves import Part
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.engines.branch.tree import Budget, PointSearch

# Restarts of the first walk to another label, in the largest range.
_RESTARTS = 20
# How often a smaller range with another label is looked for, and how often a cover is tried.
_WALKS, _COVERS = 14, 8
# Covers are tried until they are this much of the wanted ratio (of logarithms) from a range that is too much.
_FINE = 0.2
# The walks go on until they are this much of the wanted ratio (of logarithms) from a range in which they find nothing.
_WALK_SHARE = 0.25
# Share of what is left of the limits that one cover may take.
_SHARE = 0.6
# So many rescalings that changed the labels of other points are tried, the nearest ones.
_KNOWN = 3


@dataclass(frozen=True, eq=False)
class Bracket:
    """The label holds for all τ in [1/κ, κ] with κ = ``lower`` (proof: ``holds``), not with ``upper`` (``changes``).

    ``upper`` is infinite, and ``changes`` None, where no other label was found up to the largest κ that was asked for.
    ``holds`` is None where the label is not even proved at the given scaling (``lower`` is 1), or nothing is rescaled.
    """

    lower: float
    upper: float
    holds: Decision | None = None
    changes: Decision | None = None


@dataclass(frozen=True, eq=False)
class RadiusSearch:
    """One search over κ per point; ``problem`` says which features are frozen."""

    problem: LimitedProblem
    pool: RescalingPool
    ratio: float
    largest: float
    time_limit: float | None
    max_parts: int

    def ends(self, kappa: float) -> tuple[FloatArray, FloatArray]:
        """The range of the factors d."""
        frozen = self.problem.low == self.problem.high
        return np.where(frozen, 1.0, kappa**-2.0), np.where(frozen, 1.0, kappa**2.0)

    def of(self, point: FloatArray) -> Bracket:
        """What is found within the limits, which are for the point and not for each range that is tried."""
        if (self.problem.low == self.problem.high).all():
            return Bracket(math.inf, math.inf)  # nothing is rescaled at all
        search = PointSearch(self.problem, point, self.pool)
        budget = Budget(self.time_limit, self.max_parts)
        if search.own is None:
            decision = search.decide(*self.ends(self.largest), budget)
            return (
                Bracket(1.0, self._extent(decision), changes=decision) if decision.neutral else Bracket(1.0, math.inf)
            )
        lower, holds = self._settled_at_once(search)
        found = self._first_change(search, lower)
        upper = math.inf if found is None else _extent(found)
        lower, holds = self._settled_by_one_pair(search, lower, upper, holds)
        upper, changes = self._smallest_change(search, lower, found)
        return self._proved(search, Bracket(lower, upper, holds, changes), budget)

    def _extent(self, decision: Decision) -> float:
        """The least κ whose range has the two rescalings that disagree."""
        assert decision.positive is not None
        assert decision.negative is not None
        return max(_extent(decision.positive), _extent(decision.negative))

    def _settled_at_once(self, search: PointSearch) -> tuple[float, Decision]:
        """How far the given SVM's own pair settles the range: what needs no search."""
        assert search.own is not None
        settled = search.settled_at_once(*self.ends(self.largest))
        if settled is not None:
            return self.largest, settled
        best, holds = 1.0, Decision(search.label, cover=[search.own.pair], n_parts=1)
        failed = self.largest
        while failed > best * math.sqrt(self.ratio):
            kappa = math.sqrt(best * failed)
            settled = search.settled_at_once(*self.ends(kappa))
            if settled is None:
                failed = kappa
            else:
                best, holds = kappa, settled
        return best, holds

    def _settled_by_one_pair(
        self, search: PointSearch, lower: float, upper: float, holds: Decision
    ) -> tuple[float, Decision]:
        """How far the best pair of the whole range settles it: no splitting, one relaxation for each κ that is tried."""
        failed = self._wanted(upper)
        kappa = failed
        while failed > lower * self.ratio and search.question.relaxable:
            relaxed = search.question.relax(Part.whole(self.problem, *self.ends(kappa)))
            if relaxed.value > 0:
                lower, holds = kappa, Decision(search.label, cover=[relaxed.pair], n_parts=1)
            else:
                failed = kappa
            kappa = math.sqrt(lower * failed)
        return lower, holds

    def _wanted(self, upper: float) -> float:
        """Up to where it has to be proved for the bracket to be narrow."""
        return self.largest if math.isinf(upper) else upper / self.ratio

    def _first_change(self, search: PointSearch, lower: float) -> ProvedLabel | None:
        """Another label up to the largest κ: where other points have changed theirs, else by walks."""
        if lower >= self.largest:
            return None
        low, high = self.ends(self.largest)
        inside = (
            factors
            for factors in self.pool.changing(search.question.point, search.label)
            if (factors >= low).all() and (factors <= high).all()
        )
        for factors in islice(inside, _KNOWN):
            found = search.proved(factors, -search.label)
            if found is not None:
                return found
        return search.other_label(low, high, _RESTARTS)

    def _smallest_change(
        self, search: PointSearch, lower: float, found: ProvedLabel | None
    ) -> tuple[float, Decision | None]:
        """The least κ for which walks find another label."""
        if found is None:
            return math.inf, None
        best, without = found, lower
        for _ in range(_WALKS):
            upper = _extent(best)
            if upper <= without * self.ratio**_WALK_SHARE:
                break
            kappa = math.sqrt(without * upper)
            low, high = self.ends(kappa)
            found = search.walk(best.factors, low, high) or search.other_label(low, high)
            if found is None:
                without = kappa
            else:
                best = found
        return _extent(best), search.neutral(best)

    def _proved(self, search: PointSearch, bracket: Bracket, budget: Budget) -> Bracket:
        """Covers of ranges as near to the upper end as the limits allow.

        First the range that makes the bracket narrow enough, and where that seems too much, smaller ones. What is left of
        the limits goes to the first one again, then to smaller ones, whose trees go on from its tree.
        """
        for hopeful in (True, False):
            failed = math.inf
            for _ in range(_COVERS):
                lower, wanted = bracket.lower, self._wanted(bracket.upper)
                kappa = wanted if math.isinf(failed) else math.sqrt(lower * min(failed, wanted))
                if lower >= wanted * (1 - 1e-12) or failed <= lower * self.ratio**_FINE:
                    break
                if budget.spent() or not search.question.relaxable:
                    break
                part_of_it = budget.share(_SHARE)
                decision = search.cover(*self.ends(kappa), part_of_it, one_of_many=True, hopeful=hopeful)
                budget.parts += part_of_it.parts
                if decision.cover is not None:
                    bracket = replace(bracket, lower=kappa, holds=decision)
                elif decision.neutral:
                    bracket = replace(bracket, upper=self._extent(decision), changes=decision)
                else:
                    failed = kappa
        return bracket


def _extent(proved: ProvedLabel) -> float:
    """The least κ whose range has this rescaling; a little more, as floats are rounded."""
    return math.exp(float(np.abs(np.log(proved.factors)).max()) / 2) * (1 + 1e-12)
