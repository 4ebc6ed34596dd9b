"""Every rescaling at the sizes that people have: a search for flips, then branch and bound; cheap steps first."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextvars import copy_context
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rescaleinv._util.deadline import (
    RunOverError,
    ended_with_run,
    has_time_for_processes,
    is_over,
    seconds_left,
    why_over,
    within_run,
)
from rescaleinv._util.progress import Bar, progress_bar
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.engines import Engine, EngineSettings
from rescaleinv.engines.branch.free.decide import Decision
from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.branch.free.tree import Budget, Fact
from rescaleinv.engines.compiling import compile_engine
from rescaleinv.engines.search.flips import Flip, FlipSearch, SearchBudget
from rescaleinv.engines.search.nu_flips import TWO_INTERCEPTS, NuFlip, nu_flip, nu_svm_near
from rescaleinv.errors import CertificateError, InputError, InseparableError, SolverError
from rescaleinv.theory.exact_nu import ExactNuClassifier
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.verdict import Verdict, Verdicts, verdict_words


class _Round(NamedTuple):
    """What a round spends: ``common`` sweeps of the search for all points together, then on each point that is still open
    ``sweeps``, and linear programs of its tree, ``per_row`` of them for each training row, as its presolve may ask.

    ``programs`` None: as many as the time limit allows.
    """

    common: int
    sweeps: int
    programs: int | None
    per_row: int = 0


# What one point's search finds speaks for all others, so that no point is pressed at first.
_ROUNDS = (_Round(300, 100, 40), _Round(0, 600, 600, 1), _Round(0, 12_000, None))
# The search may take this share of what a point is allowed.
_SHARE_OF_SEARCH = 0.35
# Points that a process is handed at a time, before the last round: what it knows is not sent for every single one.
_POINTS_PER_TASK = 2
# Starting processes takes some seconds: that is worth it after so many seconds of work.
_SECONDS_ALONE = 5.0
# In the last round a point may take what others have left of their time, but no more than so many times its own.
_MOST_TIMES = 10.0
# A cost that is less than this share of the largest one is raised to it: an L1-SVM needs positive costs.
_LEAST_COST = 1e-9


@dataclass(frozen=True, eq=False)
class _Answer:
    """What is known of a point: two exact vertices that disagree, or what the tree found."""

    flip: Flip | NuFlip | None = None
    decision: Decision | None = None
    seconds: float = 0.0
    searched: float = 0.0  # of these, in the search for flips

    @property
    def is_tie(self) -> bool:
        """Whether a tie ended the last tree: no larger one would do better."""
        return self.decision is not None and self.decision.tie

    @property
    def note(self) -> str:
        """What is to be said of a settled point: how its best intercepts disagree (ν-margin), if it is neutral for that."""
        if isinstance(self.flip, NuFlip):
            return TWO_INTERCEPTS if self.flip.positive is self.flip.negative else ""
        return "" if self.decision is None else self.decision.reason

    @property
    def code(self) -> Verdict:
        if self.flip is not None:
            return Verdict.NEUTRAL
        return Verdict.UNKNOWN if self.decision is None else self.decision.code


class StagedEngine(Engine):
    """Decides labels under every rescaling where the vertices are too many to list: 16 to 60 features, hundreds of rows.

    Points go through rounds, all of them through a cheap one before any goes through an expensive one. In each round a
    search looks for two classifiers of the closure that disagree about a point (whatever it finds speaks for all points);
    for what stays open a tree refutes that any classifier has the decision value 0 there. Neutral verdicts rest on two
    exact classifiers, strong ones on a tree whose every leaf is checked in rationals. What neither settles in time is
    UNKNOWN, with the reason and the nearest decision value that was seen. ``lower`` and ``upper`` of the verdicts are nan:
    nothing is enumerated.

    Parameters
    ----------
    training_set : TrainingSet
        Must be separable, unless there is a ``nu``.
    nu : NuMargin, optional
        The soft margin that has no scale; verdicts are then about every optimal intercept, and claims end in " with nu".
    time_limit : float, optional
        Seconds per point, on average over a call; None: no limit. Points that are settled early leave what they do not
        need to those that stay open, of which none takes more than ten times its own.
    max_programs : int, optional
        Linear programs of a point's tree. With this limit alone (no ``time_limit``) verdicts are the same on every machine.
    n_jobs : int
        Processes for the trees, by joblib (-1: all cores). Where fewer points than processes are left, each point's tree
        is split among them.
    left_out : int
        How many rows were left out of the data to make it separable, to be stated in certificates.
    seed : int
        Of the search.
    progress : bool, optional
        A progress bar on stderr; if not given, only on a terminal and when it takes long.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> verdicts = StagedEngine(ts).certify([[-1, 4], [3, 3], [0, 0]])
    >>> verdicts.code
    array([ 0,  1, -1], dtype=int8)
    >>> from rescaleinv.verify import check
    >>> [check(verdicts.certificate(i).to_json()) for i in range(3)]
    ['neutral', 'strongly positive', 'strongly negative']
    """

    name = "staged"

    def __init__(
        self,
        training_set: TrainingSet,
        *,
        nu: NuMargin | None = None,
        time_limit: float | None = None,
        max_programs: int | None = None,
        n_jobs: int = 1,
        left_out: int = 0,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        require_training_set(training_set)
        if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
            raise InputError(f"n_jobs is {n_jobs!r}; a number of processes, or -1 for all cores, is needed")
        # the tree's engine checks the limits
        self._tree = TreeEngine(
            training_set, nu=nu, time_limit=time_limit, max_programs=max_programs, left_out=left_out
        )
        self.training_set: TrainingSet = training_set
        self.nu: NuMargin | None = nu
        self.scope = self._tree.scope
        self.time_limit: float | None = self._tree.time_limit
        self.max_programs: int | None = self._tree.max_programs
        self.n_jobs: int = n_jobs
        self.left_out: int = self._tree.left_out
        self.seed: int = seed
        self.progress: bool | None = progress
        self._answers: dict[bytes, _Answer] = {}
        self._seconds_alone: float = 0.0
        self._has_processes: bool = False
        # how many of the points so far each step has settled
        self.settled_by: Counter[str] = Counter()

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        from joblib import effective_n_jobs

        return cls(
            training_set,
            nu=settings.nu,
            time_limit=settings.time_limit,
            n_jobs=int(effective_n_jobs(settings.n_jobs)),
            left_out=settings.left_out,
        )

    def __getstate__(self) -> dict[str, Any]:
        # the search holds compiled workspaces, and is made anew where it is needed
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    @cached_property
    def _search(self) -> FlipSearch | None:
        """None where floats lose the first vertex: the trees, whose last word is exact, are then on their own."""
        try:
            caps = None if self.nu is None else self.nu.exact_caps
            return FlipSearch(self.training_set, caps, seed=self.seed)
        except (InseparableError, SolverError):  # the exact SVM was found before: the classes are separable
            return None

    def precompute(self) -> None:
        """The SVM at one scaling, exactly, and the first vertex of the search."""
        compile_engine(self.name)
        self._tree.precompute()
        _ = self._search

    def _prepare(self) -> None:
        """``precompute`` as long as the run has time for it, with a bar of seconds: many rows take minutes."""
        left = seconds_left()
        total = None if math.isinf(left) else round(left)
        with (
            progress_bar("s of preparing", self.progress, total) as bar,
            ended_with_run(lambda took: bar.show(int(took))),
        ):
            self.precompute()

    # --- deciding -----------------------------------------------------------------------------------------------------

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        compile_engine(self.name)
        try:
            self._prepare()
        except RunOverError:
            return Verdicts.all_unknown(rows, f"{why_over()} by preparing the exact SVM of the training rows", self)
        answers = [self._answers.get(row.tobytes(), _Answer()) for row in rows]
        with progress_bar("points", self.progress, len(rows)) as bar:
            for spent in _ROUNDS:
                self._search_flips(rows, answers, spent)
                self._grow_trees(rows, answers, spent, bar)
            bar.show(len(rows))
        self._answers.update((row.tobytes(), answer) for row, answer in zip(rows, answers, strict=True))
        codes = np.array([answer.code for answer in answers], dtype=np.int8)
        reasons = np.array([self._reason(row, answer) for row, answer in zip(rows, answers, strict=True)], dtype=object)
        status = np.where(codes == Verdict.UNKNOWN, "", "certified").astype(object)
        unknown = np.full(len(rows), np.nan)
        return Verdicts(codes, unknown, unknown.copy(), reasons, status, rows, self)

    def _still_open(self, answers: list[_Answer], times: float = 1.0) -> IntArray:
        """Points that are not settled and that the next step may settle: so many times the limit allow it, and no tie."""
        limit = np.inf if self.time_limit is None else times * self.time_limit
        if is_over():
            return np.empty(0, dtype=np.intp)
        return np.array(
            [
                i
                for i, answer in enumerate(answers)
                if answer.code == Verdict.UNKNOWN and answer.seconds < limit and not answer.is_tie
            ],
            dtype=np.intp,
        )

    def _search_flips(self, rows: FloatArray, answers: list[_Answer], spent: _Round) -> None:
        left = self._still_open(answers)
        if not left.size or self._search is None:
            return
        seconds = None
        if self.time_limit is not None:
            allowed = _SHARE_OF_SEARCH * self.time_limit
            seconds = sum(max(allowed - answers[i].searched, 0.0) for i in left)
        seconds = within_run(seconds, _SHARE_OF_SEARCH)
        budget = SearchBudget(spent.common, spent.sweeps, seconds)
        found = self._search.run(rows[left], self._sides(rows[left]), budget=budget)
        for i, vertices in zip(left, found.flips, strict=True):
            started = time.monotonic()
            flip = vertices if vertices is None or self.nu is None else self._at_finite_rescalings(vertices)
            before, took = answers[i], found.seconds / len(left) + time.monotonic() - started
            decision = None if flip is not None else before.decision
            answers[i] = _Answer(flip, decision, before.seconds + took, before.searched + took)
            self.settled_by["search"] += flip is not None

    def _at_finite_rescalings(self, vertices: Flip) -> NuFlip | None:
        """With a ν-margin a flip counts at finite rescalings at which every best intercept gives the same label, or at one
        at which these disagree."""
        assert self.nu is not None
        sides = ((vertices.positive, 1), (vertices.negative, -1))
        return nu_flip(vertices.point, *(nu_svm_near(vertex, self.nu, vertices.point, side) for vertex, side in sides))

    def _sides(self, rows: FloatArray) -> npt.NDArray[np.float64]:
        """The labels at the tree's own scaling, which the search is to contradict (only a hint: floats will do)."""
        reference = self._tree.reference
        weights = np.array([float(w) for w in reference.weights])
        if isinstance(reference, ExactClassifier):
            intercept = reference.intercept
        else:
            intercept = (reference.thresholds[-1][0] - reference.thresholds[1][0]) / 2
        return np.where(rows @ weights + float(intercept) >= 0, 1.0, -1.0)

    def _grow_trees(self, rows: FloatArray, answers: list[_Answer], spent: _Round, bar: Bar) -> None:
        is_last = spent.programs is None
        left = self._still_open(answers, _MOST_TIMES if is_last else 1.0)
        limits = self._limits(answers, left, is_last=is_last)
        programs = self.max_programs
        if spent.programs is not None:
            most = spent.programs + spent.per_row * self.training_set.n_rows
            programs = min(most, self.max_programs or most)
        settled = len(rows) - len(left)
        bar.show(settled, self._outlook(limits))
        splits = [() if (known := answers[i].decision) is None else known.first_splits for i in left]
        if is_last and len(left) < self.n_jobs and all(splits) and self._in_processes():
            grown = self._decisions_in_parts(rows, left, limits, splits)
        else:
            grown = self._tree_decisions(rows, left, limits, programs)
        for done, (i, decision, seconds) in enumerate(grown, 1):
            answers[i] = replace(answers[i], decision=decision, seconds=answers[i].seconds + seconds)
            self.settled_by["tree"] += decision.code != Verdict.UNKNOWN
            settled += decision.code != Verdict.UNKNOWN
            bar.show(settled, self._outlook(limits[done:]))

    def _limits(self, answers: list[_Answer], left: IntArray, *, is_last: bool) -> list[float | None]:
        """What each open point may take now: what is left of its time and, in the last round, of that of all points."""
        if self.time_limit is None or not left.size:
            return [None] * len(left)
        spared = 0.0
        if is_last:
            unused = self.time_limit * len(answers) - sum(answer.seconds for answer in answers)
            spared = max(min(unused / len(left), (_MOST_TIMES - 1) * self.time_limit), 0.0)
        return [max(self.time_limit - answers[i].seconds, spared) for i in left]

    def _outlook(self, limits: list[float | None]) -> str:
        """For the progress bar: how many points are open, and how long they may take."""
        if not limits:
            return ""
        known = [seconds for seconds in limits if seconds is not None]
        most = f", at most {sum(known) / self.n_jobs:,.0f} s" if len(known) == len(limits) else ""
        return f"{len(limits):,} open{most}"

    def _in_processes(self) -> bool:
        """Whether points are shared out among processes from now on."""
        enough = self._seconds_alone >= _SECONDS_ALONE and has_time_for_processes()
        self._has_processes = self.n_jobs > 1 and (self._has_processes or enough)
        return self._has_processes

    def _tree_decisions(
        self, rows: FloatArray, left: IntArray, limits: list[float | None], programs: int | None
    ) -> Iterator[tuple[int, Decision, float]]:
        begun = 0
        while begun < len(left) and (begun == len(left) - 1 or not self._in_processes()):
            if is_over():
                return
            decision, seconds = self._decided(rows[left[begun]], within_run(limits[begun]), programs)
            self._seconds_alone += seconds
            yield int(left[begun]), decision, seconds
            begun += 1
        left, limits = left[begun:], limits[begun:]
        if not left.size:
            return
        from joblib import Parallel, delayed

        at_a_time = _POINTS_PER_TASK if len(left) > 4 * self.n_jobs else 1
        tasks = [left[k : k + at_a_time] for k in range(0, len(left), at_a_time)]
        spans = [limits[k : k + at_a_time] for k in range(0, len(left), at_a_time)]

        run = copy_context()  # tasks are handed out in threads of joblib, which know nothing of this run's budget

        def work() -> Iterator[Any]:
            for task, span in zip(tasks, spans, strict=True):
                if run.run(is_over):
                    return
                allowed = [run.run(within_run, limit) for limit in span]
                yield delayed(self._decided_task)(rows[task], allowed, programs)

        # nothing waits in a queue, so that a run that is over has no tasks left to cancel
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator", pre_dispatch="n_jobs", batch_size=1)
        for found, task in zip(parallel(work()), tasks, strict=False):  # the generator first: it must come to its end
            for i, (decision, seconds) in zip(task, found, strict=True):
                yield int(i), decision, seconds

    def _decisions_in_parts(
        self, rows: FloatArray, left: IntArray, limits: list[float | None], splits: list[tuple[Fact, ...]]
    ) -> Iterator[tuple[int, Decision, float]]:
        """Fewer points than processes: one after the other, each on all processes."""
        for i, seconds, facts in zip(left, limits, splits, strict=True):
            if is_over():
                return
            started = time.monotonic()
            budget = Budget(within_run(seconds), self.max_programs)
            decision = self._tree.decide_in_parts(rows[i], budget, facts, self.n_jobs, self._try_costs)
            yield int(i), decision, time.monotonic() - started

    def _decided_task(
        self, rows: FloatArray, limits: list[float | None], programs: int | None
    ) -> list[tuple[Decision, float]]:
        self.precompute()  # in a process of its own
        return [self._decided(row, seconds, programs) for row, seconds in zip(rows, limits, strict=True)]

    def _decided(self, row: FloatArray, seconds: float | None, programs: int | None) -> tuple[Decision, float]:
        started = time.monotonic()
        decision = self._tree.decide(row, Budget(seconds, programs), try_costs=self._try_costs)
        return decision, time.monotonic() - started

    def _try_costs(
        self, costs: FloatArray, point: FloatArray
    ) -> tuple[list[Fraction], Fraction] | ExactNuClassifier | None:
        """The L1-SVM at the costs of a relaxed solution: at a node of the tree it finds flips that no other search does."""
        conditioning = self.training_set.conditioning
        given = np.ldexp(costs, -conditioning.exponent)
        if self._search is None or not 0 < given.max() < np.inf:
            return None
        given = np.maximum(given / given.max(), _LEAST_COST)
        try:
            vertex = self._search.simplex.solve(given)
        except SolverError:
            return None
        value = float(vertex.weights @ conditioning.apply(point[None])[0] + vertex.intercept)
        side = int(self._sides(point[None])[0])
        if value * side >= 0:
            return None
        exact = self._search.exact.of(vertex, given)
        if exact is not None and self.nu is not None:
            return nu_svm_near(exact, self.nu, [Fraction(x) for x in point.tolist()], -side)
        return None if exact is None else (exact.weights, exact.intercept)

    def _reason(self, row: FloatArray, answer: _Answer) -> str:
        if answer.code != Verdict.UNKNOWN:
            return answer.note
        if self._search is None:
            return self._obstacle(answer)
        nearest = self._search.least_value(row, int(self._sides(row[None])[0]))
        seen = f"the nearest decision value seen to the other side is {nearest:.3g} (the margin is 1)"
        return f"{self._obstacle(answer)}; {seen}"

    def _obstacle(self, answer: _Answer) -> str:
        """Why a point is still open: a tie, or a limit and how far the tree came."""
        decision = answer.decision
        if is_over() and (decision is None or not decision.tie):
            refuted = 0.0 if decision is None else decision.refuted_share
            return why_over() + (f", with {refuted:.1%} of the tree refuted" if refuted > 0.0005 else "")
        out_of_time = self.time_limit is not None and answer.seconds >= 0.9 * self.time_limit
        if decision is None or (out_of_time and not decision.tie):
            refuted = 0.0 if decision is None else decision.refuted_share
            share = f", with {refuted:.1%} of the tree refuted" if refuted > 0.0005 else ""
            longer = answer.seconds > 1.5 * (self.time_limit or 0) + 1
            spared = f" (and {answer.seconds:.0f} s with what other points had left)" if longer else ""
            return f"the time limit of {self.time_limit or 0:g} s was reached{spared}{share}"
        return decision.reason

    def account(self, point: Any) -> dict[str, Any]:
        """What a point that was certified took: the step that settled it ("" if none did), seconds, programs, nodes.

        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> engine = StagedEngine(ts)
        >>> engine.certify([[3.0, 3]]).code
        array([1], dtype=int8)
        >>> found = engine.account([3.0, 3])
        >>> found["step"], found["programs"]
        ('tree', 1)
        """
        answer = self._known(self._checked_point(point))
        step = "search" if answer.flip is not None else "tree"
        counts = {} if answer.decision is None else answer.decision.counts
        return {
            "step": step if answer.code != Verdict.UNKNOWN else "",
            "seconds": answer.seconds,
            "programs": int(counts.get("programs", 0)),
            "nodes": int(counts.get("nodes", 0)),
        }

    # --- showing why --------------------------------------------------------------------------------------------------

    def _known(self, row: FloatArray) -> _Answer:
        if row.tobytes() not in self._answers:
            self.certify_checked(row[None])
        return self._answers[row.tobytes()]

    def explain(self, point: Any) -> Witness:
        """Two rescalings that disagree about a neutral point, and the certificate of it."""
        row = self._checked_point(point)
        answer = self._known(row)
        if answer.flip is not None:
            return answer.flip.witness(left_out=self.left_out)
        if answer.decision is not None and answer.decision.flip is not None:
            return self._tree.witness_of(row, answer.decision)
        raise CertificateError(f"the point is {verdict_words(answer.code)}, not neutral")

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """The certificate of a point's verdict."""
        answer = self._known(self._checked_point(point))
        if verdict == Verdict.UNKNOWN or answer.code != verdict:
            raise CertificateError(f"the point is {verdict_words(answer.code)}, not {verdict_words(verdict)}")
        if answer.decision is not None and answer.decision.certificate is not None:
            return answer.decision.certificate
        return self.explain(point).certificate
