"""Branch and bound for one point: parts that cover the range, each settled by a pair, or another label in the range."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from rescaleinv._util.deadline import is_over, why_over
from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch import svm_kernel
from rescaleinv.engines.branch.decision import Decision, ProvedLabel, Split
from rescaleinv.engines.branch.flips import RescalingPool
from rescaleinv.engines.branch.interior_point import Iterate
from rescaleinv.engines.branch.leaves import Pair, Part, PointProblem, Relaxed, in_place_of_none
from rescaleinv.engines.branch.problem import CAPPED, ON, OUT, LimitedProblem

# A rescaling with the other label is wanted with a decision value this far on that side, relative to the given one: a plain
# SVM trained there, with the tolerance of another solver, should say the same.
_FAR_ENOUGH = 1e-3
# Decision values of less than this, relative to the sizes of their terms, are ties.
_TIE = 1e-9
# Walks to the other label start again so many times at a time; fewer where rows times features are so many that each takes
# long. Two such turns are made before the range is split; after that, while the tree grows, another one whenever they have
# taken less than this share of its time. Where the range is not split at all, there are so many turns within the limits.
_RESTARTS_AT_A_TIME, _TURNS_FIRST, _SHARE_OF_TURNS, _TURNS_WITHOUT_TREE = 10, 2, 0.3, 24
_RESTARTS_BY_SIZE = 1_000_000
# Restarts where the label at the given scaling has no proof, and there is no tree either.
_RESTARTS_WITHOUT_LABEL = 80
# How many of the pool's rescalings are starts.
_STARTS = 3
# An SVM is trained at the relaxed factors of each of so many parts, for a walk where it is the most adverse so far.
_PROBE_EVERY = 3
# In parts that are at least this share of the whole, the loosest few of each kind are split on trial; gains beyond so many
# times what is missing count as that.
_LARGE, _OF_EACH_KIND, _MOST_GAIN = 0.03, 2, 3.0
# A range is split where the relaxed factor is, but not nearer to its ends than this share of its length (of logarithms).
_MIDDLE = 0.3
# Where many ranges are tried, one is given up when after so many parts so many times what is settled is a smaller share of
# the whole than what is gone of the limits.
_PARTS_TO_JUDGE_BY, _HOPE = 60, 3.0
# Where factors have no bounds and a common one of all has no influence, parts of the factors as they are may take this share
# of the limits before parts of relative factors are tried.
_SHARE_BEFORE_RELATIVE = 0.3
# Ranges of factors shorter than this ratio are not split any more, nor those without an end that begin beyond this factor,
# or its inverse.
_SHORTEST, _FURTHEST = 1 + 1e-9, 1e14


@dataclass(eq=False)
class _Node:
    """Of the tree: settled by ``pair``, or split into ``children`` in the order in which the checker makes them."""

    part: Part
    weight: float = 1.0  # of the whole, if what a node is split into is taken to be of one size
    pair: Pair | None = None
    split: Split | None = None
    children: list[_Node] = field(default_factory=list)
    known: Relaxed | Iterate | None = None  # of a part that is open: its relaxation, or where that begins

    def within(self, low: FloatArray, high: FloatArray) -> _Node:
        """The tree of a smaller range: what was settled stays settled in it, and what is not in it is left out."""
        root = self._first_within(low, high)
        waiting = [root]
        while waiting:
            node = waiting.pop()
            node.children = [child._first_within(low, high) for child in node.children]
            for child in node.children:
                child.weight = node.weight / len(node.children)
            waiting.extend(node.children)
        return root

    def _first_within(self, low: FloatArray, high: FloatArray) -> _Node:
        """A copy of the first node here that is not split outside of the range, its part in the range."""
        node = self
        while node.split is not None and node.split.kind == "factor":
            _, group, at = node.split
            if low[group] < at < high[group]:
                break
            node = node.children[0 if at >= high[group] else 1]
        part = replace(node.part, low=np.maximum(node.part.low, low), high=np.minimum(node.part.high, high))
        start = node.known.iterate if isinstance(node.known, Relaxed) else node.known
        return _Node(part, 1.0, node.pair, node.split, node.children, start)

    def leaves(self) -> Iterator[_Node]:
        """The parts that are not split."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.split is None:
                yield node
            waiting.extend(node.children)

    def records(self) -> list[Split | Pair]:
        """The tree as a ``Decision`` has it."""
        found: list[Split | Pair] = []
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.split is None:
                assert node.pair is not None
                found.append(node.pair)
            else:
                found.append(node.split)
                waiting.extend(reversed(node.children))
        return found


@dataclass(frozen=True, eq=False)
class _GivenUp:
    """The tree of a range that was too much for its budget."""

    root: _Node
    low: FloatArray
    high: FloatArray

    def has(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether this range is in it."""
        return bool((low >= self.low).all() and (high <= self.high).all())


class Budget:
    """Time and parts of the range that one decision may take."""

    def __init__(self, seconds: float | None, parts: int) -> None:
        self.end = np.inf if seconds is None else time.monotonic() + seconds
        self.seconds, self.most, self.parts = seconds, parts, 0

    @property
    def share_gone(self) -> float:
        """Of the time; 0 where it is not limited."""
        return 0.0 if self.seconds is None else 1 - (self.end - time.monotonic()) / max(self.seconds, 1e-9)

    @property
    def share_of_either(self) -> float:
        """The share that has gone of the time or of the parts, whichever is more."""
        return max(self.share_gone, self.parts / self.most)

    def share(self, share: float) -> Budget:
        """A budget of this share of what is left."""
        seconds = None if self.seconds is None else max(share * (self.end - time.monotonic()), 0.0)
        return Budget(seconds, max(int(share * (self.most - self.parts)), 1))

    def spent(self) -> str:
        """Why the work has to stop, or ""."""
        if self.parts >= self.most:
            return f"the limit of {self.most} parts of the range"
        if time.monotonic() > self.end:
            return f"the time limit of {self.seconds:.3g} s"
        if is_over():
            return why_over()
        return ""


def decide(
    problem: LimitedProblem,
    point: FloatArray,
    pool: RescalingPool | None = None,
    *,
    time_limit: float | None = None,
    max_parts: int = 5000,
) -> Decision:
    """Decide whether the point's label is the same for all factors d in the range.

    ``pool`` has rescalings to try first; those that changed a label are added to it.
    """
    pool = RescalingPool(problem) if pool is None else pool
    return PointSearch(problem, point, pool).decide(problem.low, problem.high, Budget(time_limit, max_parts))


class PointSearch:
    """Everything that is tried for one point, in one range of factors or several."""

    def __init__(self, problem: LimitedProblem, point: FloatArray, pool: RescalingPool) -> None:
        self.problem, self.point, self.pool = problem, point, pool
        weights, intercept, _ = problem.given
        in_units = problem.in_units(point)
        self.given_value = float(weights @ in_units + intercept)
        self.label = 1 if self.given_value >= 0 else -1
        self.question = PointProblem(problem, point, self.label)
        self.size = 1 + float(np.abs(weights) @ np.abs(in_units)) + abs(intercept)
        self.target = -_FAR_ENOUGH * (1 + abs(self.given_value))
        self.least = np.inf  # label · decision value, as far as it was seen, and where
        self._nearest = np.ones(len(problem.low))
        self.ones = np.ones(len(problem.low))
        self._own: tuple[ProvedLabel | None] | None = None
        self._probe_start, self._least_probed = problem.given[2].copy(), np.inf
        self._turns, self._seconds_of_turns = 0, 0.0  # of walks that start again
        self._given_up: list[_GivenUp] = []  # from larger to smaller ranges

    @property
    def tie(self) -> bool:
        return abs(self.given_value) <= _TIE * self.size

    @property
    def own(self) -> ProvedLabel | None:
        """The proof of the label at the given scaling; None where there is none."""
        if self._own is None:
            self._own = (None if self.tie else self.proved(self.ones, self.label),)
        return self._own[0]

    def without_own_label(self) -> str:
        """Why the label at the given scaling has no proof."""
        if self.tie:
            return (
                "a tie: the decision value at the given scaling is 0, or too near to it to tell; no strict proof exists"
            )
        soft = self.problem.soft
        why = "optimal classifiers may differ in their intercepts" if soft else "floats are too coarse for it"
        return f"the label at the given scaling (decision value {self.given_value:.4g}) was not proved: {why}"

    def proved(self, factors: FloatArray, label: int) -> ProvedLabel | None:
        """The proof that all optimal classifiers at these factors give the point this label, if they do."""
        question = self.question if label == self.label else PointProblem(self.problem, self.point, label)
        part = Part.whole(self.problem, factors, factors)
        value, pairs = question.at(factors, self.problem.given[2].copy())
        if not value * label > 0:
            return None
        if pairs:
            margin, better = question.best_of(part, pairs)
            if margin > 0:
                return ProvedLabel(factors, better, pairs)
        if question.relaxable:
            relaxed = question.relax(part)
            if relaxed.value > 0:
                return ProvedLabel(factors, relaxed.pair, [relaxed.pair])
        return None

    def walk(
        self,
        start: FloatArray,
        low: FloatArray,
        high: FloatArray,
        restarts: int = 0,
        *,
        polish: bool = False,
        seed: int = 0,
        label: int | None = None,
    ) -> ProvedLabel | None:
        """A rescaling of the range whose label is not ``label``, by walking from corner to corner, and its proof."""
        problem = self.problem
        label = self.label if label is None else label
        low, high = self.problem.finite_ends(low, high)
        factors, multipliers = np.clip(start, low, high), problem.given[2].copy()
        least = svm_kernel.search(
            problem.svm_rows,
            svm_kernel.Range(problem.groups, low, high),
            self.question.point,
            float(label),
            factors,
            multipliers,
            self.target,
            min(restarts, _RESTARTS_BY_SIZE // problem.rows.size),
            polish,
            np.random.default_rng(seed),
        )
        if label == self.label and least < self.least:
            self.least, self._nearest = float(least), factors
        found = self.proved(factors, -label) if least < 0 else None
        if found is not None:
            self.pool.add(factors, multipliers)
        return found

    def other_label(self, low: FloatArray, high: FloatArray, restarts: int = 0) -> ProvedLabel | None:
        """Walks from the pool's most adverse rescalings and from the given one."""
        starts = [*self.pool.most_adverse(self.question.point, self.label, _STARTS), self.ones]
        for k, start in enumerate(starts):
            found = self.walk(start, low, high, restarts if k == 0 else 0, polish=k == 0)
            if found is not None:
                return found
        return None

    def turn(self, start: FloatArray, low: FloatArray, high: FloatArray) -> ProvedLabel | None:
        """Walks that start again a few times, from here or from where the value was least."""
        begin = start if self._turns % 2 == 0 else self._nearest
        began = time.monotonic()
        found = self.walk(begin, low, high, _RESTARTS_AT_A_TIME, polish=True, seed=self._turns)
        self._turns += 1
        self._seconds_of_turns += time.monotonic() - began
        return found

    def turns(
        self, start: FloatArray, low: FloatArray, high: FloatArray, count: int, budget: Budget
    ) -> ProvedLabel | None:
        """So many turns, within the limits."""
        for _ in range(count):
            found = self.turn(start, low, high)
            if found is not None or budget.spent():
                return found
        return None

    def neutral(self, other: ProvedLabel, n_parts: int = 0) -> Decision:
        """The decision where the given label is proved too."""
        positive, negative = (self.own, other) if self.label > 0 else (other, self.own)
        return Decision(self.label, positive=positive, negative=negative, n_parts=n_parts)

    def decide(self, low: FloatArray, high: FloatArray, budget: Budget) -> Decision:
        """What the walks find, else what the branch and bound finds, for factors in [low, high]."""
        if self.own is None:
            return self._decide_without_own_label(low, high)
        settled = self.settled_at_once(low, high)
        if settled is not None:
            return settled
        other = self.other_label(low, high)
        if other is None and not self.question.relaxable:
            other = self.turns(self.ones, low, high, _TURNS_WITHOUT_TREE, budget)
            if other is None:
                return self.open("more rows and features than its range can be split for", budget)
        if other is not None:
            return self.neutral(other)
        if self.problem.bounded or self.problem.has_scale:
            return self.cover(low, high, budget)
        first = budget.share(_SHARE_BEFORE_RELATIVE)
        decision = self.cover(low, high, first)
        budget.parts += first.parts
        return decision if decision.decided else self.cover(low, high, budget, relative=True)

    def _decide_without_own_label(self, low: FloatArray, high: FloatArray) -> Decision:
        negative = self.walk(self.ones, low, high, _RESTARTS_WITHOUT_LABEL, label=1)
        positive = self.walk(self.ones, low, high, _RESTARTS_WITHOUT_LABEL, label=-1)
        if negative is not None and positive is not None:
            return Decision(self.label, positive=positive, negative=negative)
        return Decision(self.label, reason=self.without_own_label())

    def settled_at_once(self, low: FloatArray, high: FloatArray) -> Decision | None:
        """The decision where the given SVM's own pair, or the best pair of relative factors, settles the whole range."""
        assert self.own is not None
        if not (np.isfinite(high).all() and low.min() > 0) and not self.problem.has_scale and self.question.relaxable:
            relaxed = self.question.relax(Part.whole(self.problem, low, high, relative=True))
            if relaxed.value > 0:
                return Decision(self.label, cover=[relaxed.pair], own=self.own, n_parts=1)
        margin, pair = self.question.best_of(Part.whole(self.problem, low, high), self.own.pairs)
        return Decision(self.label, cover=[pair], n_parts=1) if margin > 0 else None

    def cover(
        self,
        low: FloatArray,
        high: FloatArray,
        budget: Budget,
        *,
        one_of_many: bool = False,
        hopeful: bool = True,
        relative: bool = False,
    ) -> Decision:
        """Branch and bound, depth first, with walks to the other label from the relaxed solutions.

        Where the range is ``one_of_many`` that are tried, there is no long search for another label, and what is given up
        is kept: a smaller range, or the same one later, goes on from there. With ``hopeful`` it is given up as soon as it
        seems too much for the budget. ``relative``: in parts of relative factors (see ``leaves``).
        """
        root = _Node(Part.whole(self.problem, low, high, relative=relative))
        larger = [tree for tree in self._given_up if one_of_many and tree.has(low, high)]
        if larger:
            root = larger[-1].root.within(low, high)
        waiting = [node for node in root.leaves() if node.pair is None]
        settled = sum(node.weight for node in root.leaves() if node.pair is not None)
        self.question.prepare(low, high)
        self._least_probed = np.inf
        began, turns_before = time.monotonic(), self._seconds_of_turns
        while waiting:
            node = waiting.pop()
            budget.parts += 1
            relaxed = node.known if isinstance(node.known, Relaxed) else self.question.relax(node.part, node.known)
            node.known = relaxed
            if relaxed.value > 0:
                node.pair, node.known = relaxed.pair, None
                settled += node.weight
                continue
            stopped = budget.spent()
            hopeless = budget.parts >= _PARTS_TO_JUDGE_BY and _HOPE * settled < budget.share_of_either
            if not stopped and one_of_many and hopeful and hopeless:
                stopped = f"{budget.parts} parts of the range"
            if stopped:
                if one_of_many:
                    self._keep_given_up(_GivenUp(root, low, high))
                return self.open(stopped, budget)
            relaxed_factors = self._factors(node.part, relaxed)
            somewhere = self._own_factors(node.part, relaxed_factors)
            in_turns = self._seconds_of_turns - turns_before
            if one_of_many:
                other = self._other_label_near(somewhere, low, high, budget.parts)
            elif node is root:
                other = self.turns(somewhere, low, high, _TURNS_FIRST, budget)
            elif in_turns < _SHARE_OF_TURNS * (time.monotonic() - began):
                other = self.turn(somewhere, low, high)
            else:
                other = self._other_label_near(somewhere, low, high, budget.parts)
            if other is not None:
                return self.neutral(other, budget.parts)
            found = self._split(node, relaxed, relaxed_factors)
            if found is None:
                if self.question.fewer is not None:  # it may be for want of a row
                    self.question.fewer, node.known = None, None
                    waiting.append(node)
                    continue
                return self.open("parts of the range that can't be split any further", budget)
            node.known = None
            for child, known in zip(node.children, found, strict=True):
                child.known = known
            waiting.extend(node.children)
        label = self.own if relative else None
        return Decision(self.label, cover=root.records(), own=label, n_parts=budget.parts)

    def _keep_given_up(self, tree: _GivenUp) -> None:
        """In place of that of the same range."""
        others = [one for one in self._given_up if not (one.has(tree.low, tree.high) and tree.has(one.low, one.high))]
        self._given_up = sorted([*others, tree], key=lambda one: -float(np.log(one.high / one.low).sum()))

    def _other_label_near(
        self, start: FloatArray, low: FloatArray, high: FloatArray, number: int
    ) -> ProvedLabel | None:
        """Now and then, a walk from the relaxed factors of a part: one where the SVM there is the most adverse so far.

        A walk takes as long as some twenty parts, the one SVM that says whether it is worth it as long as one.
        """
        if number % _PROBE_EVERY:
            return None
        weights, intercept, converged = self.problem.train(
            np.clip(start, *self.problem.finite_ends(low, high)), self._probe_start
        )
        if not converged:
            self._probe_start = self.problem.given[2].copy()
            return None
        value = self.label * (float(weights @ self.question.point) + intercept)
        if value >= self._least_probed:
            return None
        self._least_probed = value
        return self.walk(start, low, high, seed=number)

    def open(self, stopped: str, budget: Budget) -> Decision:
        """The decision where neither was found, with what is known."""
        nearest = f"{self.label * self.least:.4g}"
        if abs(self.least) <= _TIE * self.size:
            reason = "a tie: the decision value comes to 0, as nearly as floats tell, at a rescaling in the range"
        elif self.least < 0:
            reason = (
                f"not decided within {stopped}: a rescaling in the range changes the label (decision value {nearest}), but "
                "not for every optimal intercept, or not by enough to prove it"
            )
        else:
            reason = (
                f"not decided within {stopped}: no rescaling in the range was found that changes the label (the decision "
                f"value nearest to the other side is {nearest}), and {budget.parts} parts of it are not enough to rule "
                "that out"
            )
        return Decision(self.label, reason=reason, n_parts=budget.parts)

    def _factors(self, part: Part, relaxed: Relaxed) -> FloatArray:
        """The factors d = μ/w of the relaxed classifier, as far as they make sense; relative ones in such a part."""
        low, high = part.finite_ends(self.problem)
        w, mu = relaxed.weights, relaxed.gradients
        products = np.bincount(self.problem.groups, np.abs(mu * w), len(low))
        squares = np.bincount(self.problem.groups, w * w, len(low))
        middle = np.sqrt(low) * np.sqrt(high)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(squares > 1e-18 * squares.max(initial=0.0), products / squares, middle)
        return np.clip(np.where(np.isfinite(factors), factors, middle), low, high)

    def _own_factors(self, part: Part, factors: FloatArray) -> FloatArray:
        """Factors of the range to which relative ones belong: the middle one of those with a scale has its middle value."""
        if part.scale is None:
            return factors
        low, high = self.problem.finite_ends(part.low, part.high)
        scaled = ~part.scale.free
        scales = factors[scaled] / (np.sqrt(low) * np.sqrt(high))[scaled]
        scale = float(np.median(scales)) if len(scales) else float(np.median(factors))
        return factors / scale

    def _split(self, node: _Node, relaxed: Relaxed, factors: FloatArray) -> list[Relaxed | Iterate | None] | None:
        """Split where the relaxation is loosest; in large parts, of some such splits, by the one that tightens it most.

        Gives what is known of the children: their relaxations, or where those begin. None: nothing is left to split.
        """
        candidates = self._loosest(node.part, relaxed)
        best: tuple[float, Split, list[Part], list[Relaxed | Iterate | None]] | None = None
        for kind, which in candidates if node.weight >= _LARGE and len(candidates) > 1 else candidates[:1]:
            found = self._split_by(node.part, kind, which, factors)
            if found is None:
                continue
            split, parts = found
            if node.weight < _LARGE or len(candidates) == 1:
                best = 0.0, split, parts, [relaxed.iterate] * len(parts)
                break
            tried = [self.question.relax(part, relaxed.iterate) for part in parts]
            most = _MOST_GAIN * abs(relaxed.value)
            gains = [most if one.value > 0 else np.clip(one.value - relaxed.value, 1e-9 * most, most) for one in tried]
            gain = float(np.mean(np.log(gains)))
            if best is None or gain > best[0]:
                best = gain, split, parts, list(tried)
        if best is None:
            return None
        _, node.split, parts, known = best
        node.children = [_Node(part, node.weight / len(parts)) for part in parts]
        return known

    def _loosest(self, part: Part, relaxed: Relaxed) -> list[tuple[str, int]]:
        """Where the relaxation is loose, loosest first: a factor that is two, a weight of two signs, a row in two states."""
        low, high = part.finite_ends(self.problem)
        splittable = (
            (high > low * _SHORTEST)
            & (high * _FURTHEST > self.problem.centre)
            & (low < _FURTHEST * self.problem.centre)
        )
        of_groups = np.bincount(self.problem.groups, relaxed.of_features, len(low)) * splittable
        d_low, d_high = low[self.problem.groups], high[self.problem.groups]
        w, mu = relaxed.weights, relaxed.gradients
        outside = (mu - d_low * w) * (mu - d_high * w) / (d_low + d_high)  # of the cone of all d w
        of_signs = np.where(part.signs == 0, np.maximum(outside, -relaxed.of_features), 0.0)
        found = [
            (float(looseness[k]), kind, int(k))
            for kind, looseness in (("factor", of_groups), ("sign", of_signs), ("row", relaxed.of_rows))
            for k in np.argsort(-looseness, kind="stable")[:_OF_EACH_KIND]
            if looseness[k] > 0
        ]
        if not found:
            widest = int(np.argmax(np.where(splittable, high / low, 0.0)))
            return [("factor", widest)] if splittable[widest] else []
        return [(kind, which) for _, kind, which in sorted(found, key=lambda one: -one[0])]

    def _split_by(self, part: Part, kind: str, which: int, factors: FloatArray) -> tuple[Split, list[Part]] | None:
        if kind == "factor":
            return self._split_factor(part, which, factors)
        if kind == "sign":
            return Split("sign", which), [part.with_sign(which, 1), part.with_sign(which, -1)]
        states = (OUT, ON, CAPPED) if self.problem.soft else (OUT, ON)
        return Split("row", which), [part.with_state(which, state) for state in states]

    def _split_factor(self, part: Part, group: int, factors: FloatArray) -> tuple[Split, list[Part]] | None:
        """Split the range of a group where its factor is, or that of the scale if that is the longer one; None: too far."""
        low, high, centre = part.low[group], part.high[group], self.problem.centre[group]
        own_low, own_high = in_place_of_none(low, high, centre)
        factor = float(factors[group])
        if part.scale is not None and not part.scale.free[group]:
            least, most, _ = part.scale
            scale_low, scale_high = in_place_of_none(least, most)
            if scale_high / scale_low > own_high / own_low and least < _FURTHEST and most > 1 / _FURTHEST:
                at = _between(factor / np.sqrt(own_low * own_high), scale_low, scale_high)
                return Split("scale", 0, at), [part.with_scale(least, at), part.with_scale(at, most)]
            factor /= np.sqrt(scale_low * scale_high)
        if low > _FURTHEST * centre or high * _FURTHEST < centre or not low < high:
            return None
        at = _between(factor, own_low, own_high)
        return Split("factor", group, at), [part.with_factor(group, low, at), part.with_factor(group, at, high)]


def _between(value: float, low: float, high: float) -> float:
    """The value, but not too near to the ends."""
    length = np.log(high / low)
    return float(low * np.exp(np.clip(np.log(value / low), _MIDDLE * length, (1 - _MIDDLE) * length)))
