"""What is decided of one point: strong with a checked certificate, neutral with a classifier, or unknown with the reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from rescaleinv import verify
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import NU_SCOPE, certificate_of
from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free.certificates import Writer
from rescaleinv.engines.branch.free.node_lp import NodeLP
from rescaleinv.engines.branch.free.nu_cells import NuDirection, examined_cell, may_be_direction, one_feature
from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.engines.branch.free.tree import Budget, Direction, Expired, Fact, Tree
from rescaleinv.engines.milp.faces import Face, lowest
from rescaleinv.engines.search.nu_flips import TWO_INTERCEPTS, nu_svm_on_side, nu_svms_towards
from rescaleinv.theory.exact_nu import IN, ON, OUT, ExactNuClassifier, margin_object
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, verdict_words

# Margins and weights of a relaxed solution that are nearer to 1 and 0 than this are taken to be so; what follows is exact.
_TIGHT = 1e-6
_NO_WEIGHT = 1e-7

# With a ν-margin the tree's unit is about the largest 1 - Σ cap ξ that there is, and not smaller than this.
_SMALLEST_UNIT = 2.0**-20
_CLEARLY_EMPTY = 1e-4  # a root whose value exceeds 1 by this is refuted in any unit

# An exact classifier (w, b) of the closure.
Vertex = tuple[list[Fraction], Fraction]


@dataclass
class Decision:
    """The verdict of a point and what it rests on."""

    code: Verdict
    reason: str = ""
    certificate: Certificate | None = None  # of a strong verdict, checked
    flip: Vertex | ExactNuClassifier | None = None  # of a neutral one: a classifier of the closure with the other sign
    tie: bool = False  # the value comes to 0, or too near to it: no larger tree would do better
    refuted_share: float = 0.0  # of the tree, each split being taken as two halves
    counts: dict[str, float] = field(default_factory=dict)
    first_splits: tuple[Fact, ...] = ()  # where a tree that was not finished may be split for several processes
    part: list[Any] | None = None  # entries that refute what was assumed


class _Flip(Exception):
    def __init__(self, vertex: Vertex | ExactNuClassifier) -> None:
        super().__init__("a flip")
        self.vertex = vertex


class _Tie(Exception):
    """f = 0 in the closure, or too near to it to tell."""


@dataclass(frozen=True)
class PointSearch:
    """The exact side of one point's search: what its tree asks for."""

    problem: PointProblem
    side: int
    margin: NuMargin | None = None
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = field(default_factory=dict)

    def value(self, vertex: Vertex) -> Fraction:
        weights, intercept = vertex
        return sum((w * x for w, x in zip(weights, self.problem.point, strict=True)), intercept)

    def examine(
        self, weights: FloatArray, complementary: bool, bits: IntArray, without_slope: list[int] | None = None
    ) -> Direction | None:
        """Put a relaxed solution that breaks hardly anything to the closure test, exactly.

        With ``without_slope`` (ν-margin) it may break anything, and only these features, which have weight but no μ_j, are
        looked at, one by one.
        """
        margins = self.problem.G @ weights
        near = _TIGHT * max(1.0, float(np.abs(weights).max()))
        signs = [0 if abs(w) <= _NO_WEIGHT else (1 if w > 0 else -1) for w in weights.tolist()]
        if self.margin is None:
            rows = np.flatnonzero(margins <= 1 + near).tolist()
        else:
            states = np.full(len(margins), ON)
            states[(margins > 1 + near) & (bits & kernel.LESS == 0) | (bits & kernel.OUT != 0)] = OUT
            states[(margins < 1 - near) & (bits & kernel.MORE == 0) | (bits & kernel.IN != 0)] = IN
            rows = states.tolist()
        if without_slope is not None:
            tried = (
                one_feature(self.problem, rows, j, signs[j])
                for j in without_slope
                if signs[j] and may_be_direction(self.problem, states, j, signs[j])
            )
            first = next((found for found in tried if found is not None), None)
            return None if first is None else _stated(first, rows, bits)
        key = (tuple(rows), tuple(signs))
        if key not in self.seen:
            self.seen[key] = self._tested(rows, signs) if self.margin is None else self._tested_nu(rows, signs)
        found: Direction | NuDirection | None = self.seen[key]
        if found is None and complementary:
            raise _Tie("the decision value comes too near to 0 for the tree's floats")
        return _stated(found, rows, bits) if isinstance(found, NuDirection) else found

    def _tested_nu(self, states: list[int], signs: list[int]) -> NuDirection | None:
        training_set, point = self.problem.training_set, self.problem.point
        found = examined_cell(self.problem, states, signs)
        if found is None or isinstance(found, NuDirection):
            return found
        rows = {state: frozenset(i for i, own in enumerate(states) if own == state) for state in (ON, IN)}
        bottom = lowest(training_set, Face(rows[ON], tuple(signs), rows[IN]), point, self.side)
        if bottom is None or bottom.value > 0:
            return None
        assert self.margin is not None
        gradient = training_set.exact_gradient(found)
        near = nu_svms_towards(training_set, self.margin, bottom.weights, gradient)
        flipped = nu_svm_on_side(near, point, -self.side)
        if flipped is not None:
            raise _Flip(flipped)
        if bottom.value == 0:
            if self.side < 0 and (tied := self._attained((bottom.weights, bottom.intercept))) is not None:
                raise _Flip(tied)  # 0 is positive
            raise _Tie("the decision value comes to 0 exactly: a tie, which a tree can't exclude")
        return None

    def _attained(self, vertex: Vertex) -> ExactNuClassifier | None:
        """The classifier of the closure as that of a finite rescaling, if it is one and its value there is not negative."""
        assert self.margin is not None
        training_set, (weights, intercept) = self.problem.training_set, vertex
        margins = training_set.exact_margins(weights, intercept)
        states = [ON if margin == 1 else OUT if margin > 1 else IN for margin in margins]
        signs = [(w > 0) - (w < 0) for w in weights]
        found = examined_cell(self.problem, states, signs, attained=True)
        if not isinstance(found, dict):
            return None
        gradient = training_set.exact_gradient(found)
        inverse_squared = [mu / w if w else Fraction(1) for mu, w in zip(gradient, weights, strict=True)]
        svm = ExactNuClassifier(training_set, self.margin, found, inverse_squared)
        least, _ = svm.decision_values(self.problem.point)
        is_positive = least is not None and least >= 0
        return svm if svm.is_optimal and (is_positive or svm.straddles(self.problem.point)) else None

    def _tested(self, tight: list[int], signs: list[int]) -> Direction | None:
        training_set, point = self.problem.training_set, self.problem.point
        test = probe_closed_cell(training_set, tight, signs)
        if test.multipliers is not None:
            bottom = lowest(training_set, Face.of(training_set, test.multipliers), point, self.side)
            if bottom is not None and bottom.value < 0:
                raise _Flip((bottom.weights, bottom.intercept))
            if bottom is not None and bottom.value == 0:
                raise _Tie("the decision value comes to 0 exactly: a tie, which a tree can't exclude")
            return None
        assert test.direction is not None
        h, t = test.direction
        entries = {j: value for j, value in enumerate(h) if value}
        values = training_set.exact_margins(h, t)
        outside = frozenset(i for i, value in enumerate(values) if value > 0)
        offset = t + sum((value * point[j] for j, value in entries.items()), Fraction(0))
        return Direction(entries, offset, outside)


def _stated(found: NuDirection, states: list[int], bits: IntArray) -> Direction:
    """The direction with the rows that it needs to be out and in, as few as can be of those that are not known to be."""
    needed = found.needed({i: bool(bits[i] & (kernel.OUT | kernel.IN)) for i in found.worth})
    outside, inside = (frozenset(i for i in needed if states[i] == state) for state in (OUT, IN))
    return Direction(found.h, Fraction(0), outside, inside)


@dataclass(frozen=True)
class Question:
    """One point's question in the tree's units, and the label that one rescaling gives it."""

    reference: ExactClassifier | ExactNuClassifier
    problem: PointProblem
    side: int
    caps: FloatArray

    @classmethod
    def of(
        cls, training_set: TrainingSet, reference: ExactClassifier | ExactNuClassifier, point: FloatArray
    ) -> Question | Decision:
        """The question, or the decision where there is none for a tree to answer."""
        margin = reference.margin if isinstance(reference, ExactNuClassifier) else None
        problem = PointProblem.of(training_set, point, _weights(reference))
        side = _side(reference, problem.point)
        if isinstance(reference, ExactNuClassifier) and reference.straddles(problem.point):
            return Decision(Verdict.NEUTRAL, TWO_INTERCEPTS, flip=reference)
        if side == 0:
            return Decision(Verdict.UNKNOWN, "the decision value of one rescaling is exactly 0: a tie", tie=True)
        caps = np.full(training_set.n_rows, np.inf)
        try:
            if margin is not None:
                caps = margin.caps
                problem = replace(problem, caps=margin.exact_caps, total=_total(problem, caps))
            _ = problem.G
        except OverflowError:
            why = "the units of the features are too unlike for the tree's floats"
            return Decision(Verdict.UNKNOWN, why, tie=True)
        return cls(reference, problem, side, caps)


def decide(
    training_set: TrainingSet,
    reference: ExactClassifier | ExactNuClassifier,
    point: FloatArray,
    budget: Budget,
    *,
    try_costs: Callable[[FloatArray, FloatArray], Vertex | ExactNuClassifier | None] | None = None,
    left_out: int = 0,
    assumed: Sequence[Fact] = (),
) -> Decision:
    """Decide one point.

    Parameters
    ----------
    training_set : TrainingSet
        Separable, for a hard margin.
    reference : ExactClassifier or ExactNuClassifier
        The SVM of some rescaling; with a ν-margin the question is about that margin.
    point : float array
    budget : Budget
        Of seconds and linear programs.
    try_costs : callable, optional
        Called at every node with costs (one for each feature, original units) and the point: an exact classifier of the
        closure that minimises the weighted sum of |w_j|, or None. It ends the search where it flips the point. With a
        ν-margin it is the ν-SVM of a finite rescaling.
    left_out : int
        Stated in the certificate.
    assumed : sequence of Fact
        Decide a part of the point's tree only: where all of these hold. See ``parts``.
    """
    question = Question.of(training_set, reference, point)
    if isinstance(question, Decision):
        return question
    problem, side, caps = question.problem, question.side, question.caps
    margin = reference.margin if isinstance(reference, ExactNuClassifier) else None
    search = PointSearch(problem, side, margin)

    def at_node(_: FloatArray, mu: FloatArray) -> None:
        assert try_costs is not None
        found = try_costs(np.abs(mu) / problem.units, point)
        if isinstance(found, ExactNuClassifier) or (found is not None and side * search.value(found) < 0):
            raise _Flip(found)

    tree = Tree(
        problem.G,
        problem.positive,
        caps * problem.total,
        budget,
        search.examine,
        None if try_costs is None else at_node,
        total=float(problem.total),
    )
    decision = _searched(tree, question, left_out, assumed)
    is_refuted = decision.certificate is not None or decision.part is not None
    decision.refuted_share = 1.0 if is_refuted else min(tree.refuted_share, 1.0)
    decision.first_splits = tuple(tree.first_splits)
    decision.counts = {
        "programs": tree.programs,
        "pivots": tree.lp.pivots,
        "nodes": tree.nodes,
        "rows": len(tree.kept),
        "seconds": time.monotonic() - budget.started,
    }
    return decision


def _weights(reference: ExactClassifier | ExactNuClassifier) -> FloatArray:
    """In floats, for a margin of 1."""
    if isinstance(reference, ExactClassifier):
        return np.array([float(w) for w in reference.weights])
    at_margin = sum(low for low, _ in reference.thresholds.values()) / 2
    return np.array([float(w / at_margin) for w in reference.weights])


def _side(reference: ExactClassifier | ExactNuClassifier, point: list[Fraction]) -> int:
    """1 or -1 as the reference has the point on either side, 0 where it is on neither."""
    if isinstance(reference, ExactNuClassifier):
        return reference.side_of(point)
    value = reference.decision_value(point)
    return (value > 0) - (value < 0)


def _total(problem: PointProblem, caps: FloatArray) -> int:
    """What the multipliers are scaled to sum to: with that the largest 1 - Σ cap ξ of a hyperplane through α is about 1."""
    root = NodeLP(problem.G, problem.positive, caps)
    _, value = root.relax(np.zeros((7, problem.G.shape[1])), 20_000)
    if value > 1 + _CLEARLY_EMPTY:
        return 1
    return int(2 ** np.floor(-np.log2(np.clip(1 - value, _SMALLEST_UNIT, 1.0))))


def _searched(tree: Tree, question: Question, left_out: int, assumed: Sequence[Fact]) -> Decision:
    try:
        proof = tree.refute(assumed).proof
    except Expired as expired:
        share = f"; {tree.refuted_share:.1%} of its tree was refuted" if tree.refuted_share > 0.0005 else ""
        return Decision(Verdict.UNKNOWN, f"{expired}{share}")
    except _Tie as tie:
        return Decision(Verdict.UNKNOWN, str(tie), tie=True)
    except _Flip as flip:
        is_one = isinstance(flip.vertex, ExactNuClassifier) and flip.vertex.straddles(question.problem.point)
        return Decision(Verdict.NEUTRAL, TWO_INTERCEPTS if is_one else "", flip=flip.vertex)
    except RecursionError:
        return Decision(Verdict.UNKNOWN, "the tree is deeper than this process can follow")
    entries = Writer(question.problem).entries(proof, assumed)
    return Decision(Verdict.UNKNOWN, part=entries) if assumed else certified(question, entries, left_out)


def certified(question: Question, entries: list[Any], left_out: int) -> Decision:
    """The strong verdict that the entries of a whole tree prove, once its certificate is checked."""
    reference, problem = question.reference, question.problem
    code = Verdict.STRONGLY_POSITIVE if question.side > 0 else Verdict.STRONGLY_NEGATIVE
    evidence = {"kind": "tree", "classifier": reference.to_json_object(), "tree": entries}
    claim = verdict_words(code)
    if isinstance(reference, ExactNuClassifier):
        evidence.update(kind="nu-tree", margin=margin_object(reference.margin))
        claim += NU_SCOPE
    certificate = certificate_of(problem.training_set, problem.point, claim, evidence, left_out=left_out)
    try:
        verify.check(certificate.to_json(with_rows=False), certificate.training_json())
    except verify.Refused as refused:  # a verdict is never given on the word of floats
        return Decision(Verdict.UNKNOWN, f"the tree was refuted in floats, but not exactly ({refused})")
    certificate.pack()  # it is kept, like those of all other points
    return Decision(code, certificate=certificate)
