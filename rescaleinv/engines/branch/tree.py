"""Branch and bound for one point: parts of the range that cover it, each settled by a pair, or a rescaling that flips it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch import svm_kernel
from rescaleinv.engines.branch.interior_point import Iterate
from rescaleinv.engines.branch.leaves import Pair, Part, PointProblem, Relaxed
from rescaleinv.engines.branch.problem import CAPPED, ON, OUT, LimitedProblem

# A rescaling that flips the point is wanted with a decision value this far on the other side, relative to the given one.
_FAR_ENOUGH = 1e-4
# Decision values of less than this, relative to the sizes of their terms, are ties.
_TIE = 1e-9
# How often the walk to a flip starts again before the range is split, and after each tenth split; fewer where
# rows times features are so many that each takes long.
_RESTARTS_FIRST, _RESTARTS_LATER = 80, 4
_RESTARTS_BY_SIZE = 1_000_000
# From each of the first parts that are not settled there is a walk, then from some.
_LOOKS_FIRST, _LOOKS_LATER = 40, 3
# A range is split where the relaxed factor is, but not nearer to its ends than this share of its length (of logarithms).
_MIDDLE = 0.3
# Ranges of factors shorter than this ratio are not split any more.
_SHORTEST = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Flip:
    """A rescaling (one d per group) at which the label is known, and the pair that proves it."""

    factors: FloatArray
    pair: Pair
    pairs: list[Pair] = field(default_factory=list)  # for parts around it


@dataclass(eq=False)
class Branch:
    """A node of the cover: settled by ``pair``, or split into ``parts`` in the order in which the checker makes them."""

    part: Part
    pair: Pair | None = None
    split: tuple[str, int, float] | None = None
    parts: list[Branch] = field(default_factory=list)

    def records(self) -> Iterator[tuple[str, int, float] | Pair]:
        """The tree in the order of its parts, splits before what they split into."""
        waiting = [self]
        while waiting:
            branch = waiting.pop()
            if branch.split is None:
                assert branch.pair is not None
                yield branch.pair
            else:
                yield branch.split
                waiting.extend(reversed(branch.parts))


@dataclass(frozen=True, eq=False)
class Decision:
    """What was found of a point: ``sign`` of its label at the given scaling; a cover, or two flips; else a reason."""

    sign: int
    cover: Branch | None = None
    positive: Flip | None = None
    negative: Flip | None = None
    reason: str = ""
    n_parts: int = 0

    @property
    def neutral(self) -> bool:
        return self.positive is not None and self.negative is not None


class _Budget:
    def __init__(self, seconds: float | None, parts: int) -> None:
        self.end = np.inf if seconds is None else time.monotonic() + seconds
        self.seconds, self.most, self.parts = seconds, parts, 0

    def spent(self) -> str:
        """Why the work has to stop, or ""."""
        if self.parts >= self.most:
            return f"the limit of {self.most} parts of the range"
        if time.monotonic() > self.end:
            return f"the time limit of {self.seconds:g} s"
        return ""


def decide(
    problem: LimitedProblem,
    point: FloatArray,
    *,
    low: FloatArray | None = None,
    high: FloatArray | None = None,
    time_limit: float | None = None,
    max_parts: int = 5000,
    hints: tuple[FloatArray, ...] = (),
) -> Decision:
    """Decide whether the point's label is the same for all factors d in [low, high] (the problem's if not given).

    ``hints`` are factors to try first (clipped to the range), such as those that flipped the point in another range.
    """
    low = problem.low if low is None else low
    high = problem.high if high is None else high
    weights, intercept, _ = problem.given
    in_units = problem.in_units(point)
    value = float(weights @ in_units + intercept)
    sign = 1 if value >= 0 else -1
    search = _Search(problem, point, sign, low, high, _Budget(time_limit, max_parts))
    size = 1 + float(np.abs(weights) @ np.abs(in_units)) + abs(intercept)
    if abs(value) <= _TIE * size:
        return search.without_own_label(
            "a tie: the decision value at the given scaling is 0, or too near to it to tell; no strict proof exists"
        )
    own = search.flip(np.ones(len(low)), sign)
    if own is None:
        why = "optimal classifiers may differ in their intercepts" if problem.soft else "floats are too coarse for it"
        reason = f"the label at the given scaling (decision value {value:.4g}) was not proved: {why}"
        return search.without_own_label(reason)
    return search.run(own, hints)


class _Search:
    def __init__(
        self, problem: LimitedProblem, point: FloatArray, sign: int, low: FloatArray, high: FloatArray, budget: _Budget
    ) -> None:
        self.problem, self.point, self.sign = problem, point, sign
        self.low, self.high, self.budget = low, high, budget
        self.question = PointProblem(problem, point, sign)
        self.least = np.inf  # of sign · f, as far as it was seen
        self.target = -_FAR_ENOUGH * (1 + abs(self.question.given_value))

    def flip(self, factors: FloatArray, sign: int) -> Flip | None:
        """The proof that all optimal classifiers at these factors give the point the label ``sign``, if they do."""
        question = self.question if sign == self.sign else PointProblem(self.problem, self.point, sign)
        part = Part.whole(self.problem, factors, factors)
        value, pairs = question.at(factors, self.problem.given[2].copy())
        if not value * sign > 0:
            return None
        margin, better = question.best_of(part, pairs)
        if margin > 0:
            return Flip(factors, better, pairs)
        if question.relaxable:
            relaxed = question.relax(part)
            if relaxed.value > 0:
                return Flip(factors, relaxed.pair, [relaxed.pair])
        return None

    def walk(self, start: FloatArray, restarts: int = 0, sign: int | None = None) -> Flip | None:
        """A rescaling with the other label by walking from corner to corner, and its proof."""
        problem, question = self.problem, self.question
        sign = self.sign if sign is None else sign
        factors, multipliers = np.clip(start, self.low, self.high), problem.given[2].copy()
        restarts = min(restarts, _RESTARTS_BY_SIZE // problem.rows.size)
        reached = svm_kernel.search(
            problem.svm_rows,
            svm_kernel.Range(problem.groups, self.low, self.high),
            question.point,
            float(sign),
            factors,
            multipliers,
            self.target,
            restarts,
            np.random.default_rng(self.budget.parts),
        )
        if sign == self.sign:
            self.least = min(self.least, float(reached))
        return self.flip(factors, -sign) if reached < 0 else None

    def without_own_label(self, reason: str) -> Decision:
        """The label at the given scaling has no proof; the point may be neutral all the same."""
        ones = np.ones(len(self.low))
        negative = self.walk(ones, _RESTARTS_FIRST, sign=1)
        positive = self.walk(ones, _RESTARTS_FIRST, sign=-1)
        if negative is not None and positive is not None:
            return Decision(self.sign, positive=positive, negative=negative)
        return Decision(self.sign, reason=reason)

    def decided(self, own: Flip, other: Flip) -> Decision:
        positive, negative = (own, other) if self.sign > 0 else (other, own)
        return Decision(self.sign, positive=positive, negative=negative, n_parts=self.budget.parts)

    def run(self, own: Flip, hints: tuple[FloatArray, ...]) -> Decision:
        root = Branch(Part.whole(self.problem, self.low, self.high))
        margin, pair = self.question.best_of(root.part, own.pairs)
        if margin > 0:
            root.pair = pair
            return Decision(self.sign, cover=root, n_parts=1)
        for start in (*hints, np.ones(len(self.low))):
            other = self.walk(start)
            if other is not None:
                return self.decided(own, other)
        if not self.question.relaxable:
            other = self.walk(np.ones(len(self.low)), _RESTARTS_FIRST)
            return (
                self.decided(own, other)
                if other is not None
                else self.open("more rows and features than its range can be split for")
            )
        return self.cover(root, own)

    def cover(self, root: Branch, own: Flip) -> Decision:
        waiting: list[tuple[Branch, Iterate | None]] = [(root, None)]
        while waiting:
            branch, start = waiting.pop()
            self.budget.parts += 1
            relaxed = self.question.relax(branch.part, start)
            if relaxed.value > 0:
                branch.pair = relaxed.pair
                continue
            stopped = self.budget.spent()
            if stopped:
                return self.open(stopped)
            relaxed_factors = self._factors(branch.part, relaxed)
            restarts = _RESTARTS_FIRST if branch is root else _RESTARTS_LATER * (self.budget.parts % 10 == 0)
            looks = self.budget.parts <= _LOOKS_FIRST or self.budget.parts % _LOOKS_LATER == 0
            other = self.walk(relaxed_factors, restarts) if looks else None
            if other is not None:
                return self.decided(own, other)
            if not self._split(branch, relaxed, relaxed_factors):
                return self.open("parts of the range that can't be split any further")
            waiting.extend((part, relaxed.iterate) for part in branch.parts)
        return Decision(self.sign, cover=root, n_parts=self.budget.parts)

    def open(self, stopped: str) -> Decision:
        weights, intercept, _ = self.problem.given
        size = 1 + float(np.abs(weights) @ np.abs(self.question.point)) + abs(intercept)
        if abs(self.least) <= _TIE * size:
            reason = "a tie: the decision value comes to 0, as nearly as floats tell, at a rescaling in the range"
        elif self.least < 0:
            reason = (
                f"not decided within {stopped}: a rescaling in the range changes the label (decision value "
                f"{self.sign * self.least:.4g}), but not for every optimal intercept, or not by enough to prove it"
            )
        else:
            reason = (
                f"not decided within {stopped}: no rescaling in the range was found that changes the label (the decision "
                f"value nearest to the other side is {self.sign * self.least:.4g}), and {self.budget.parts} parts of it are "
                "not enough to rule that out"
            )
        return Decision(self.sign, reason=reason, n_parts=self.budget.parts)

    def _factors(self, part: Part, relaxed: Relaxed) -> FloatArray:
        """The factors d = μ/w of the relaxed classifier, as far as they make sense."""
        n_groups = len(part.low)
        w, mu = relaxed.weights, relaxed.gradients
        products = np.bincount(self.problem.groups, np.abs(mu * w), n_groups)
        squares = np.bincount(self.problem.groups, w * w, n_groups)
        middle = np.sqrt(part.low * part.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(squares > 1e-18 * squares.max(initial=0.0), products / squares, middle)
        return np.clip(np.where(np.isfinite(factors), factors, middle), part.low, part.high)

    def _split(self, branch: Branch, relaxed: Relaxed, factors: FloatArray) -> bool:
        """Split where the relaxation is loosest: a row neither out nor on, a factor that is two, a weight of two signs."""
        part = branch.part
        low, high = part.low, part.high
        of_groups = np.bincount(self.problem.groups, relaxed.of_features, len(low)) * (high > low * _SHORTEST)
        d_low, d_high = low[self.problem.groups], high[self.problem.groups]
        w, mu = relaxed.weights, relaxed.gradients
        outside = (mu - d_low * w) * (mu - d_high * w) / (d_low + d_high)  # of the cone of all d w
        of_signs = np.where(part.signs == 0, np.maximum(outside, -relaxed.of_features), 0.0)
        looseness = [of_groups.max(initial=0.0), of_signs.max(initial=0.0), relaxed.of_rows.max(initial=0.0)]
        kind = int(np.argmax(looseness))
        if not looseness[kind] > 0:
            widest = int(np.argmax(high / low))
            if high[widest] <= low[widest] * _SHORTEST:
                return False
            kind, of_groups = 0, (np.arange(len(low)) == widest).astype(float)
        parts: list[Part]
        if kind == 0:
            group = int(np.argmax(of_groups))
            length = np.log(high[group] / low[group])
            place = np.clip(np.log(factors[group] / low[group]), _MIDDLE * length, (1 - _MIDDLE) * length)
            at = float(low[group] * np.exp(place))
            branch.split = ("factor", group, at)
            parts = [part.with_factor(group, low[group], at), part.with_factor(group, at, high[group])]
        elif kind == 1:
            feature = int(np.argmax(of_signs))
            branch.split = ("sign", feature, 0.0)
            parts = [part.with_sign(feature, 1), part.with_sign(feature, -1)]
        else:
            row = int(np.argmax(relaxed.of_rows))
            branch.split = ("row", row, 0.0)
            states = (OUT, ON, CAPPED) if self.problem.soft else (OUT, ON)
            parts = [part.with_state(row, state) for state in states]
        branch.parts = [Branch(one) for one in parts]
        return True
