"""What is decided of one point: strong with a checked certificate, neutral with a classifier, or unknown with the reason."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from rescaleinv import verify
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import certificate_of
from rescaleinv.engines.branch.free.certificates import Writer
from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.engines.branch.free.tree import Budget, Direction, Expired, Tree
from rescaleinv.engines.milp.faces import Face, lowest
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, verdict_words

# Margins and weights of a relaxed solution that are nearer to 1 and 0 than this are taken to be so; what follows is exact.
_TIGHT = 1e-6
_NO_WEIGHT = 1e-7

# An exact classifier (w, b) of the closure.
Vertex = tuple[list[Fraction], Fraction]


@dataclass
class Decision:
    """The verdict of a point and what it rests on."""

    code: Verdict
    reason: str = ""
    certificate: Certificate | None = None  # of a strong verdict, checked
    flip: Vertex | None = None  # of a neutral one: a classifier of the closure with the other sign
    tie: bool = False  # the value comes to 0, or too near to it: no larger tree would do better
    refuted_share: float = 0.0  # of the tree, each split being taken as two halves
    counts: dict[str, float] = field(default_factory=dict)


class _Flip(Exception):
    def __init__(self, vertex: Vertex) -> None:
        super().__init__("a flip")
        self.vertex = vertex


class _Tie(Exception):
    """f = 0 in the closure, or too near to it to tell."""


@dataclass(frozen=True)
class PointSearch:
    """The exact side of one point's search: what its tree asks for."""

    problem: PointProblem
    side: int
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Direction | None] = field(default_factory=dict)

    def value(self, vertex: Vertex) -> Fraction:
        weights, intercept = vertex
        return sum((w * x for w, x in zip(weights, self.problem.point, strict=True)), intercept)

    def examine(self, weights: FloatArray, complementary: bool) -> Direction | None:
        """Put a relaxed solution that breaks hardly anything to the closure test, exactly."""
        margins = self.problem.G @ weights
        tight = np.flatnonzero(margins <= 1 + _TIGHT * max(1.0, float(np.abs(weights).max()))).tolist()
        signs = [0 if abs(w) <= _NO_WEIGHT else (1 if w > 0 else -1) for w in weights.tolist()]
        key = (tuple(tight), tuple(signs))
        if key not in self.seen:
            self.seen[key] = self._tested(tight, signs)
        if self.seen[key] is None and complementary:
            raise _Tie("the decision value comes too near to 0 for the tree's floats")
        return self.seen[key]

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


def decide(
    training_set: TrainingSet,
    reference: ExactClassifier,
    point: FloatArray,
    budget: Budget,
    *,
    try_costs: Callable[[FloatArray, FloatArray], Vertex | None] | None = None,
    left_out: int = 0,
) -> Decision:
    """Decide one point.

    Parameters
    ----------
    training_set : TrainingSet
        Separable.
    reference : ExactClassifier
        The SVM of some rescaling.
    point : float array
    budget : Budget
        Of seconds and linear programs.
    try_costs : callable, optional
        Called at every node with costs (one for each feature, original units) and the point: an exact classifier of the
        closure that minimises the weighted sum of |w_j|, or None. It ends the search where it flips the point.
    left_out : int
        Stated in the certificate.
    """
    weights = np.array([float(w) for w in reference.weights])
    problem = PointProblem.of(training_set, point, weights)
    value = reference.decision_value(problem.point)
    if value == 0:
        return Decision(Verdict.UNKNOWN, "the decision value of one rescaling is exactly 0: a tie", tie=True)
    side = 1 if value > 0 else -1
    search = PointSearch(problem, side)

    def at_node(_: FloatArray, mu: FloatArray) -> None:
        assert try_costs is not None
        vertex = try_costs(np.abs(mu) / problem.units, point)
        if vertex is not None and side * search.value(vertex) < 0:
            raise _Flip(vertex)

    try:
        margins = problem.G
    except OverflowError:
        return Decision(Verdict.UNKNOWN, "the units of the features are too unlike for the tree's floats", tie=True)
    tree = Tree(
        margins,
        problem.positive,
        np.full(training_set.n_rows, np.inf),
        budget,
        search.examine,
        None if try_costs is None else at_node,
    )
    decision = _searched(tree, problem, reference, side, left_out)
    decision.refuted_share = 1.0 if decision.certificate is not None else min(tree.refuted_share, 1.0)
    decision.counts = {
        "programs": tree.programs,
        "pivots": tree.lp.pivots,
        "nodes": tree.nodes,
        "rows": len(tree.kept),
        "seconds": time.monotonic() - budget.started,
    }
    return decision


def _searched(tree: Tree, problem: PointProblem, reference: ExactClassifier, side: int, left_out: int) -> Decision:
    code = Verdict.STRONGLY_POSITIVE if side > 0 else Verdict.STRONGLY_NEGATIVE
    try:
        proof = tree.refute().proof
    except Expired as expired:
        share = f"; {tree.refuted_share:.1%} of its tree was refuted" if tree.refuted_share > 0.0005 else ""
        return Decision(Verdict.UNKNOWN, f"{expired}{share}")
    except _Tie as tie:
        return Decision(Verdict.UNKNOWN, str(tie), tie=True)
    except _Flip as flip:
        return Decision(Verdict.NEUTRAL, flip=flip.vertex)
    except RecursionError:
        return Decision(Verdict.UNKNOWN, "the tree is deeper than this process can follow")
    evidence = {"kind": "tree", "classifier": reference.to_json_object(), "tree": Writer(problem).entries(proof)}
    certificate = certificate_of(problem.training_set, problem.point, verdict_words(code), evidence, left_out=left_out)
    try:
        verify.check(certificate.to_json(with_rows=False), certificate.training_json())
    except verify.Refused as refused:  # a verdict is never given on the word of floats
        return Decision(Verdict.UNKNOWN, f"the tree was refuted in floats, but not exactly ({refused})")
    return Decision(code, certificate=certificate)
