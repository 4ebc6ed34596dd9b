"""Section 5 of the paper: one mixed-integer program per point, whose solutions count only after an exact check.

One SVM gives the point its label. The program looks for an SVM of any rescaling that gives it the other label.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from rescaleinv._util.parameters import checked_count, checked_time_limit, n_workers
from rescaleinv._util.progress import Bar, progress_bar
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.certificates.finite_rescaling import label_at_finite_rescaling
from rescaleinv.certificates.two_rescalings import exact_optimum, witness_from
from rescaleinv.engines import Engine, EngineSettings
from rescaleinv.engines.forced_label import has_forced_label
from rescaleinv.engines.milp import solvers
from rescaleinv.engines.milp.relaxation import Clause
from rescaleinv.engines.milp.search import Classifier, Outcome, Search, decide, unknown
from rescaleinv.engines.redundant_rows import without_inner_rows
from rescaleinv.errors import CertificateError, MissingSolverError
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.svm import exact_svm_at
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.verdict import Verdict, Verdicts, verdict_words

# Points handed to each process before what was learnt from them is shared with the others.
_POINTS_PER_ROUND = 4
# Of the clauses that hold for every point, the latest are kept for the next points; too many would slow the solver down.
_MAX_CLAUSES = 500
# Decision values closer to the other side than this are decided exactly.
_NEARLY_OTHER_SIDE = 1e-6


class MilpEngine(Engine):
    """Decides points one at a time by mixed-integer programming (the paper's section 5), each solution checked exactly.

    A neutral verdict is exact, and has a certificate ("certified"). A strong verdict rests on a float solver's word that
    there is nothing more to find: it is "computed". The solver is asked for everything within 1e-6 of the other side
    (weights of sum 1, features of range 1), and what it finds there is decided in rationals, so that near a tie no
    tolerance of the solver's decides; where that can't be finished the verdict is UNKNOWN, with the reason.

    Parameters
    ----------
    training_set : TrainingSet
        Must be separable.
    solver : {"highs", "ortools", "ortools:highs", "pulp"}
        HiGHS by highspy; SCIP or HiGHS by OR-Tools; CBC by PuLP.
    time_limit : float, optional
        Seconds per point; beyond it the verdict is UNKNOWN.
    shortcuts : bool
        Settle points by cheap exact arguments first: classifiers that were found for earlier points, and a label that
        every separating hyperplane gives. Without them each point goes to the solver.
    n_jobs : int, optional
        Processes, by joblib; None is 1 and -1 all processors. ``joblib.parallel_config`` chooses another of its backends.
    left_out : int
        How many rows were left out of the data to make it separable, to be stated in certificates.
    progress : bool, optional
        A progress bar on stderr; if not given, only on a terminal and when it takes long.

    Examples
    --------
    Example 2 of the paper:

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> engine = MilpEngine(ts)
    >>> verdicts = engine.certify([[-1, 4], [3, 3], [0, 0]])
    >>> verdicts.code, verdicts.status.tolist()
    (array([ 0,  1, -1], dtype=int8), ['certified', 'computed', 'computed'])
    >>> from rescaleinv.verify import check
    >>> check(verdicts.certificate(0).to_json())
    'neutral'
    """

    def __init__(
        self,
        training_set: TrainingSet,
        *,
        solver: str = "highs",
        time_limit: float | None = None,
        shortcuts: bool = True,
        n_jobs: int | None = None,
        left_out: int = 0,
        progress: bool | None = None,
    ) -> None:
        require_training_set(training_set)
        solvers.backend(solver)  # an unknown or missing solver is an error now, not at the first point
        self.training_set: TrainingSet = training_set
        self.solver: str = solver
        self.name: str = f"milp:{solver}"
        self.time_limit: float | None = checked_time_limit(time_limit)
        self.shortcuts: bool = shortcuts
        self.n_jobs: int = n_workers(n_jobs)
        self.left_out: int = checked_count(left_out, "left_out")
        self.progress: bool | None = progress
        self._clauses: dict[Clause, None] = {}
        self._known: list[Classifier] = []

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        """Make the engine with what it needs of the settings; the variant is the solver."""
        return cls(
            training_set,
            solver=settings.variant,
            time_limit=settings.time_limit,
            n_jobs=settings.n_jobs,
            left_out=settings.left_out,
        )

    def precompute(self) -> None:
        """Find the SVM, exact, at the scaling in which all features have about the same range."""
        if not self._known:
            svm = self._reference
            self._known.append(Classifier(svm.weights, svm.intercept, True))

    @cached_property
    def _essential(self) -> TrainingSet:
        """The rows that matter: with copies of a row each choice of one of them would be another candidate."""
        return without_inner_rows(self.training_set)

    @cached_property
    def _reference(self) -> ExactClassifier:
        # this scaling is the same for data that differ by powers of two, and so is everything that follows
        rescaling = np.ldexp(1.0, -self.training_set.conditioning.exponent)
        return exact_svm_at(self.training_set, rescaling)

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        """``certify`` for a matrix that was already checked."""
        self.precompute()
        batch = _Batch(self, rows)
        with progress_bar("points", self.progress, len(rows)) as bar:
            batch.run(bar)
        codes = np.array([outcome.code for outcome in batch.outcomes], dtype=np.int8)
        status = np.where(codes == Verdict.NEUTRAL, "certified", np.where(codes == Verdict.UNKNOWN, "", "computed"))
        unbounded = np.full(len(rows), np.nan)
        reasons = np.array([outcome.reason for outcome in batch.outcomes], dtype=object)
        return Verdicts(codes, unbounded, unbounded.copy(), reasons, status.astype(object), rows, self)

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """The certificate of a neutral point; a strong verdict has none, which is a ``CertificateError``."""
        if verdict is Verdict.NEUTRAL:
            return self.explain(point).certificate
        raise CertificateError(
            f"a {verdict_words(verdict)} verdict of the mixed-integer program has no certificate; "
            "ComplexEngine.prove makes one"
        )

    def explain(self, point: Any) -> Witness:
        """Two finite rescalings that disagree about a neutral point, and the certificate of it."""
        row = self._checked_point(point)
        self.precompute()
        exact_point = [Fraction(x) for x in row.tolist()]
        if not all(self._labelling(exact_point, side) for side in (1, -1)):
            verdicts = self.certify_checked(row[None, :])
            if not verdicts.neutral[0]:
                name = Verdict(int(verdicts.code[0])).name
                raise CertificateError(f"the point is {name}, not neutral; {verdicts.reason[0]}".rstrip("; "))
        evidence = [self._evidence(exact_point, side) for side in (1, -1)]
        return witness_from(self.training_set, exact_point, *evidence, left_out=self.left_out)

    def _evidence(self, point: list[Fraction], side: int) -> ExactClassifier:
        """The SVM of a finite rescaling that gives the point this label, from the clearest classifier that leads to one."""
        problem: CertificateError | None = None
        for classifier in self._labelling(point, side):
            try:
                return self._finite(classifier, point)
            except CertificateError as error:
                problem = error
        raise CertificateError(f"no finite rescaling was made of the classifiers that are known: {problem}")

    def _finite(self, classifier: Classifier, point: list[Fraction]) -> ExactClassifier:
        if classifier is self._known[0]:
            return self._reference
        if classifier.rescale_optimal:
            return exact_optimum(self.training_set, classifier.weights, classifier.intercept)
        return label_at_finite_rescaling(self.training_set, classifier.weights, classifier.intercept, point)

    def _labelling(self, point: list[Fraction], side: int) -> list[Classifier]:
        """The classifiers known so far that give the point this label, the clearest first."""
        fitting = [classifier for classifier in self._known if classifier.labels(point, side)]
        return sorted(fitting, key=lambda classifier: -abs(classifier.value(point)))

    def _learn(self, outcome: Outcome) -> None:
        self._clauses.update(dict.fromkeys(outcome.clauses))
        self._known += [c for c in outcome.classifiers if c not in self._known]

    def _search(self) -> Search:
        return Search(self._essential, self.solver, self.time_limit, tuple(self._clauses)[-_MAX_CLAUSES:])


class _Batch:
    """The points of one ``certify``: which are settled, and which are still open."""

    def __init__(self, engine: MilpEngine, points: FloatArray) -> None:
        self.engine, self.points = engine, points
        self.exact_points = [[Fraction(x) for x in row] for row in points.tolist()]
        reference = engine._known[0]
        self.sides = [1 if reference.value(point) >= 0 else -1 for point in self.exact_points]
        self._outcomes: list[Outcome | None] = [None] * len(points)

    @property
    def outcomes(self) -> list[Outcome]:
        return [outcome for outcome in self._outcomes if outcome is not None]

    def run(self, bar: Bar) -> None:
        pending = list(range(len(self.points)))
        if self.engine.shortcuts:
            self._settle_by(self.engine._known, pending)
            for i in pending:
                if self._outcomes[i] is None and has_forced_label(
                    self.engine.training_set, self.exact_points[i], self.points[i], self.sides[i]
                ):
                    self._outcomes[i] = Outcome(Verdict(self.sides[i]))
                bar.show(len(self.outcomes))
        width = self._width()
        while pending := [i for i in pending if self._outcomes[i] is None]:
            this_round = pending[:width]
            known_before = len(self.engine._known)
            for i, outcome in zip(this_round, self._ask(this_round), strict=True):
                self._outcomes[i] = outcome
                self.engine._learn(outcome)
            if self.engine.shortcuts:
                self._settle_by(self.engine._known[known_before:], pending)
            bar.show(len(self.outcomes))

    def _width(self) -> int:
        if self.engine.n_jobs == 1:
            return 1
        return _POINTS_PER_ROUND * self.engine.n_jobs

    def _ask(self, positions: list[int]) -> list[Outcome]:
        """Decide the points of one round, in separate processes where there is more than one job."""
        search = self.engine._search()
        tasks = [(search, self.points[i], self.sides[i]) for i in positions]
        if self.engine.n_jobs == 1:
            return [decide(*task) for task in tasks]
        from joblib import Parallel, delayed

        try:
            return list(Parallel(n_jobs=self.engine.n_jobs)(delayed(decide)(*task) for task in tasks))
        except MissingSolverError:
            raise
        except Exception:  # a process died and took the others with it: try again, each point on its own
            return [self._ask_alone(task) for task in tasks]

    def _ask_alone(self, task: tuple[Search, FloatArray, int]) -> Outcome:
        from joblib import Parallel, delayed

        try:
            found: list[Outcome] = Parallel(n_jobs=2)([delayed(decide)(*task)])
        except Exception as error:
            return unknown(f"the process that worked on the point failed: {type(error).__name__}")
        return found[0]

    def _settle_by(self, classifiers: list[Classifier], pending: list[int]) -> None:
        """Points that get the other label from one of the classifiers are neutral: floats select them, rationals decide."""
        conditioning = self.engine.training_set.conditioning
        left = np.array([i for i in pending if self._outcomes[i] is None], dtype=np.intp)
        shifted = conditioning.apply(self.points[left])
        sides = np.array(self.sides)[left]
        anchor = [Fraction(x) for x in conditioning.anchor.tolist()]
        for classifier in classifiers:
            weights = [
                w * Fraction(2) ** int(e) for w, e in zip(classifier.weights, conditioning.exponent, strict=True)
            ]
            values = shifted @ np.array([float(w) for w in weights]) + float(classifier.value(anchor))
            for i in left[sides * values < _NEARLY_OTHER_SIDE].tolist():
                if self._outcomes[i] is None and classifier.labels(self.exact_points[i], -self.sides[i]):
                    self._outcomes[i] = Outcome(Verdict.NEUTRAL)
