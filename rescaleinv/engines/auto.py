"""Every rescaling at any size: cheap questions first for all points, then a search for flips, then a tree for the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.engines import Abilities, Engine, EngineSettings
from rescaleinv.engines.branch.free.decide import Vertex as ExactPair
from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.branch.free.tree import Budget
from rescaleinv.engines.forced_label import has_one_label
from rescaleinv.engines.search import Flip, FlipSearch, SearchBudget
from rescaleinv.errors import CertificateError
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.verdict import Verdict, Verdicts, verdict_words

DEFAULT_TIME_LIMIT = 5.0
_SHARE_OF_SEARCH = 0.4  # of the time limit of all open points together
_QUICK_PROGRAMS = 200  # of a first look at every open point, before any of them gets a full tree


@dataclass(frozen=True)
class Step:
    """What one step of the sequence did: points it was given, points it settled, seconds."""

    name: str
    n_points: int
    n_settled: int
    seconds: float


class SequenceEngine(Engine):
    """Decides points about every rescaling, in steps from cheap to dear; each step sees what the ones before left open.

    1. Forced labels: every hyperplane that separates the classes labels the point alike.
    2. The search for flips (weighted L1-SVMs and the walk led by points), all open points together.
    3. The tree: a quick look at every open point, then the full budget for each that is left.

    Neutral verdicts rest on two exact classifiers, strong ones on the tree's certificates.

    Parameters
    ----------
    training_set : TrainingSet
        Must be separable.
    time_limit : float, optional
        Seconds per point, on average over the points that steps 2 and 3 are given; None means no limit.
    left_out : int
        How many rows were left out of the data to make it separable, to be stated in certificates.
    seed : int
        Of the search.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> engine = SequenceEngine(ts)
    >>> engine.certify([[-1, 4], [3, 3], [0, 0]]).code
    array([ 0,  1, -1], dtype=int8)
    >>> [(step.name, step.n_settled) for step in engine.steps]
    [('forced label', 2), ('search', 1), ('quick tree', 0), ('tree', 0)]
    """

    name = "sequence"

    def __init__(
        self,
        training_set: TrainingSet,
        *,
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        left_out: int = 0,
        seed: int = 0,
    ) -> None:
        require_training_set(training_set)
        self.training_set: TrainingSet = training_set
        self.time_limit: float | None = time_limit
        self.left_out: int = left_out
        self.seed: int = seed
        self.steps: list[Step] = []
        self._flips: dict[bytes, Flip] = {}

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        return cls(training_set, time_limit=settings.time_limit, left_out=settings.left_out)

    @property
    def abilities(self) -> Abilities:
        return Abilities(every_rescaling=True, proof="point")

    @cached_property
    def search(self) -> FlipSearch:
        return FlipSearch(self.training_set, seed=self.seed)

    @cached_property
    def tree(self) -> TreeEngine:
        return TreeEngine(self.training_set, time_limit=self.time_limit, left_out=self.left_out)

    def precompute(self) -> None:
        """Find the reference SVM, exactly, and the first vertex of the search; have the tree's steps compiled."""
        self.tree.precompute()
        _ = self.search
        _compile_tree()

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        self.precompute()
        run = _Run(self, rows)
        self.steps = [
            run.step("forced label", run.forced_labels),
            run.step("search", run.search_flips),
            run.step("quick tree", run.quick_trees),
            run.step("tree", run.trees),
        ]
        status = np.where(run.code == Verdict.UNKNOWN, "", "certified").astype(object)
        unknown = np.full(len(rows), np.nan)
        return Verdicts(run.code, unknown, unknown.copy(), run.reason, status, rows, self)

    def explain(self, point: Any) -> Witness:
        """Two rescalings that disagree about a neutral point, and the certificate."""
        row = self._checked_point(point)
        flip = self._flips.get(row.tobytes())
        return self.tree.explain(row) if flip is None else flip.witness(left_out=self.left_out)

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """The certificate of a point's verdict."""
        if verdict == Verdict.UNKNOWN:
            raise CertificateError(f"there is no certificate of {verdict_words(verdict)}")
        return self.explain(point).certificate if verdict == Verdict.NEUTRAL else self.tree.certificate(point, verdict)


@cache
def _compile_tree() -> None:
    """Have the tree's steps compiled by a tiny question, so that no point's time limit is spent on that."""
    tiny = TrainingSet([[-1, 5], [5, -1], [1.5, 1.5], [1, 1]], [1, 1, 1, -1])
    TreeEngine(tiny, max_programs=50).certify([[-1, 4], [3, 3]])


class _Run:
    """One call of ``certify``."""

    def __init__(self, engine: SequenceEngine, rows: FloatArray) -> None:
        self.engine, self.rows = engine, rows
        self.code = np.full(len(rows), Verdict.UNKNOWN, dtype=np.int8)
        self.reason = np.full(len(rows), "", dtype=object)
        self.exact = [[Fraction(x) for x in row.tolist()] for row in rows]
        reference = engine.tree._reference
        self.sides = np.array([1 if reference.decision_value(point) >= 0 else -1 for point in self.exact])
        self.spent = 0.0
        self.allowed = np.inf

    @property
    def still_open(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self.code == Verdict.UNKNOWN)

    def step(self, name: str, work: Callable[[], None]) -> Step:
        before, started = self.still_open, time.monotonic()
        work()
        seconds = time.monotonic() - started
        if name in ("search", "quick tree"):
            self.spent += seconds
        return Step(name, len(before), len(before) - len(self.still_open), seconds)

    def forced_labels(self) -> None:
        for p in self.still_open:
            if has_one_label(self.engine.training_set, self.exact[p], self.rows[p], int(self.sides[p])):
                self.code[p] = Verdict.STRONGLY_POSITIVE if self.sides[p] > 0 else Verdict.STRONGLY_NEGATIVE
        if self.engine.time_limit is not None:
            self.allowed = self.engine.time_limit * len(self.still_open)

    def search_flips(self) -> None:
        chosen = self.still_open
        if not len(chosen):
            return
        seconds = _SHARE_OF_SEARCH * self.allowed if np.isfinite(self.allowed) else None
        found = self.engine.search.run(self.rows[chosen], self.sides[chosen], budget=SearchBudget(seconds=seconds))
        for p, flip in zip(chosen, found.flips, strict=True):
            if flip is not None:
                self.engine._flips[self.rows[p].tobytes()] = flip
                self.code[p] = Verdict.NEUTRAL

    def quick_trees(self) -> None:
        for p in self.still_open:
            self._decide(int(p), None, _QUICK_PROGRAMS)

    def trees(self) -> None:
        waiting = list(self.still_open)
        while waiting:
            p = int(waiting.pop(0))
            started = time.monotonic()
            left = max(self.allowed - self.spent, 0.1) / (len(waiting) + 1)
            self._decide(p, left if np.isfinite(left) else None, None)
            self.spent += time.monotonic() - started
        for p in self.still_open:
            side = int(self.sides[p])
            nearest = self.engine.search.least_value(self.rows[p], side)
            self.reason[p] = (
                f"{self.reason[p]}; the decision value nearest to the other side that was found is {nearest:.3g}"
            )

    def _decide(self, p: int, seconds: float | None, programs: int | None) -> None:
        side = int(self.sides[p])

        def try_costs(costs: FloatArray, point: FloatArray) -> ExactPair | None:
            return self.engine.search.flip_at(costs, point, side)

        self.engine.tree.try_costs = try_costs
        decision = self.engine.tree.decide(self.rows[p], Budget(seconds, programs))
        self.code[p], self.reason[p] = decision.code, decision.reason
