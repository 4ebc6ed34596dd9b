"""Strong verdicts about every rescaling at 16 to 60 features: the engine around the tree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from rescaleinv._util.parameters import checked_count, checked_limit, checked_time_limit
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.certificates.finite_rescaling import label_at_finite_rescaling
from rescaleinv.certificates.two_rescalings import NU_SCOPE, nu_witness_from, witness_from
from rescaleinv.engines import Engine, EngineSettings
from rescaleinv.engines.branch.free.decide import Decision, Question, decide
from rescaleinv.engines.branch.free.parts import joined, parts_of
from rescaleinv.engines.branch.free.tree import Budget, Fact
from rescaleinv.engines.compiling import compile_engine
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_nu import ExactNuClassifier, exact_nu_svm_at
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.svm import exact_svm_at
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.verdict import Verdict, Verdicts, verdict_words

DEFAULT_MAX_PROGRAMS = 20_000
# Decisions that are kept, so that a certificate is not searched for again.
_KEPT = 10_000
# Rescalings that are tried for the one ν-SVM that trees start from.
_MOST_REFERENCES = 20


class TreeEngine(Engine):
    """Decides whether a label is the same for every rescaling, by branch and bound, one point at a time.

    The closure of all rescaled SVMs is connected: if no classifier in it has the decision value 0 at the point, all give
    it one label. The tree refutes that there is one, and each of its leaves is an inequality of rationals; a strong verdict
    is given only after its certificate was checked. It is no good at finding flips: let a search for them go before it.
    A point whose decision value comes to 0 exactly is UNKNOWN here (a tie).

    Parameters
    ----------
    training_set : TrainingSet
        Must be separable, unless there is a ``nu``.
    nu : NuMargin, optional
        The soft margin that has no scale; verdicts are then about every optimal intercept, and claims end in " with nu".
    time_limit : float, optional
        Seconds per point; beyond it the verdict is UNKNOWN.
    max_programs : int, optional
        Linear programs per point. With this limit alone, verdicts are the same on every machine.
    try_costs : callable, optional
        See ``decide``: a search for flips that is asked at every node.
    left_out : int
        How many rows were left out of the data to make it separable, to be stated in certificates.
    progress : bool, optional
        A progress bar on stderr; if not given, only on a terminal and when it takes long.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> verdicts = TreeEngine(ts).certify([[-1, 4], [3, 3], [0, 0]])
    >>> verdicts.code
    array([ 0,  1, -1], dtype=int8)
    >>> from rescaleinv.verify import check
    >>> check(verdicts.certificate(1).to_json())
    'strongly positive'
    """

    name = "tree"

    def __init__(
        self,
        training_set: TrainingSet,
        *,
        nu: NuMargin | None = None,
        time_limit: float | None = None,
        max_programs: int | None = DEFAULT_MAX_PROGRAMS,
        try_costs: Any = None,
        left_out: int = 0,
        progress: bool | None = None,
    ) -> None:
        require_training_set(training_set)
        self.training_set: TrainingSet = training_set
        self.nu: NuMargin | None = nu
        self.scope = "" if nu is None else NU_SCOPE
        self.time_limit: float | None = checked_time_limit(time_limit)
        self.max_programs: int | None = checked_limit(max_programs, "max_programs")
        self.try_costs: Any = try_costs
        self.left_out: int = checked_count(left_out, "left_out")
        self.progress: bool | None = progress
        self._decisions: dict[bytes, Decision] = {}

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        return cls(training_set, nu=settings.nu, time_limit=settings.time_limit, left_out=settings.left_out)

    def precompute(self) -> None:
        """Find the SVM, exact, at the scaling in which all features have about the same range."""
        compile_engine(self.name)
        _ = self.reference

    @cached_property
    def reference(self) -> ExactClassifier | ExactNuClassifier:
        """The SVM, exact, at the scaling in which all features have about the same range (or near it)."""
        usual = np.ldexp(1.0, -self.training_set.conditioning.exponent)
        if self.nu is None:
            return exact_svm_at(self.training_set, usual)
        random = np.random.default_rng(0)
        for _ in range(_MOST_REFERENCES):  # any rescaling will do; near ties are not the same at all of them
            try:
                return exact_nu_svm_at(self.training_set, self.nu, usual)
            except CertificateError as error:
                last = error
            usual = usual * np.exp(0.3 * random.normal(size=len(usual)))
        raise last

    def decide(self, point: FloatArray, budget: Budget | None = None, try_costs: Any = None) -> Decision:
        """One point (checked), within the budget, or within the engine's limits; kept for its certificate."""
        key = np.asarray(point, dtype=np.float64).tobytes()
        known = self._decisions.get(key)
        if known is not None and (known.code != Verdict.UNKNOWN):
            return known
        limits = Budget(self.time_limit, self.max_programs) if budget is None else budget
        found = decide(
            self.training_set,
            self.reference,
            point,
            limits,
            try_costs=try_costs or self.try_costs,
            left_out=self.left_out,
        )
        if len(self._decisions) < _KEPT:
            self._decisions[key] = found
        return found

    def decide_in_parts(
        self, point: FloatArray, budget: Budget, splits: Sequence[Fact], n_jobs: int, try_costs: Any = None
    ) -> Decision:
        """One point (checked) on several processes, which share its tree: ``splits`` are those of an earlier decision."""
        from joblib import Parallel, delayed

        question = Question.of(self.training_set, self.reference, point)
        if isinstance(question, Decision):
            return question
        facts = splits[: max((n_jobs - 1).bit_length(), 1)]
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        found = parallel(
            delayed(self.decide_part)(point, budget.seconds, budget.programs, part, try_costs)
            for part in parts_of(facts)
        )
        decision = joined(question, facts, found, self.left_out)
        self._decisions[point.tobytes()] = decision
        return decision

    def decide_part(
        self, point: FloatArray, seconds: float | None, programs: int | None, assumed: Sequence[Fact], try_costs: Any
    ) -> Decision:
        """A part of one point's tree, in a process of its own."""
        self.precompute()
        budget = Budget(seconds, programs)
        return decide(self.training_set, self.reference, point, budget, try_costs=try_costs, assumed=assumed)

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        self.precompute()
        codes, reasons = np.full(len(rows), Verdict.UNKNOWN, dtype=np.int8), np.full(len(rows), "", dtype=object)
        with progress_bar("points", self.progress, len(rows)) as bar:
            for i, row in enumerate(rows):
                decision = self.decide(row)
                codes[i], reasons[i] = decision.code, decision.reason
                bar.show(i + 1)
        status = np.where(codes == Verdict.UNKNOWN, "", "certified").astype(object)
        unknown = np.full(len(rows), np.nan)
        return Verdicts(codes, unknown, unknown.copy(), reasons, status, rows, self)

    def explain(self, point: Any) -> Witness:
        """Two rescalings that disagree about a neutral point, and the certificate of it."""
        row = self._checked_point(point)
        decision = self.decide(row)
        if decision.flip is None:
            raise CertificateError(
                f"the point is {verdict_words(decision.code)}, not neutral; {decision.reason}".rstrip("; ")
            )
        return self.witness_of(row, decision)

    def witness_of(self, row: FloatArray, decision: Decision) -> Witness:
        """Of a decision that found a flip: its classifier and the reference, both at finite rescalings."""
        exact_point, reference = [Fraction(x) for x in row.tolist()], self.reference
        if isinstance(decision.flip, ExactNuClassifier):
            assert isinstance(reference, ExactNuClassifier)
            pair = [reference, decision.flip]
            if reference.side_of(exact_point) < 0:
                pair.reverse()
            if decision.flip.straddles(exact_point):
                pair = [decision.flip] * 2
            return nu_witness_from(exact_point, *pair, left_out=self.left_out)
        assert decision.flip is not None
        assert isinstance(reference, ExactClassifier)
        flipped = label_at_finite_rescaling(self.training_set, *decision.flip, exact_point)
        sides = [reference, flipped]
        if reference.decision_value(exact_point) < 0:
            sides.reverse()
        return witness_from(self.training_set, exact_point, *sides, left_out=self.left_out)

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """The certificate of a point's verdict."""
        decision = self.decide(self._checked_point(point))
        if decision.code != verdict or verdict == Verdict.UNKNOWN:
            raise CertificateError(
                f"the verdict was not found again: {decision.reason or verdict_words(decision.code)}"
            )
        if decision.certificate is not None:
            return decision.certificate
        return self.explain(point).certificate
