"""Decides points by all vertices of the closure of RO(X): enumerated once per training set, then a matrix product."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from rescaleinv import verify
from rescaleinv._util.deadline import why_over, within_run
from rescaleinv._util.locks import ForkSafeLock
from rescaleinv._util.parameters import (
    available_processors,
    checked_count,
    checked_limit,
    checked_time_limit,
    n_workers,
)
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.certificates.two_rescalings import certificate_of, witness_from
from rescaleinv.engines import Engine, EngineSettings, EngineState, Extremes
from rescaleinv.engines.compiling import compile_engine
from rescaleinv.engines.complex.decide import ExactDecisions
from rescaleinv.engines.complex.hull import extremes, outer_vertices
from rescaleinv.engines.complex.proof import ComplexProof, ProofWriter
from rescaleinv.engines.complex.restored import require_complete, require_true_solutions
from rescaleinv.engines.complex.walk import Budget, Vertices, enumerate_vertices
from rescaleinv.engines.redundant_rows import rows_that_matter
from rescaleinv.errors import CertificateError
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.verdict import Verdict, Verdicts, verdict_words

_POINTS_AT_A_TIME = 65_536
# Fewer products of a point and a vertex than this take less time than starting threads does.
_WORTH_THREADS = 1_000_000
# Fewer vertices than this are checked in less time than starting processes takes.
_WORTH_PROCESSES = 2_000
# What the time limit allows for so many points an enumeration may always take.
_FEW_POINTS = 12
# Of what is left of a run that has a budget, the enumeration may take this share.
_SHARE_OF_RUN = 0.5
# From so many points on, leaving out the vertices that are inside the hull of the others pays for finding them.
_LARGE_BATCH = 200_000


class ComplexEngine(Engine):
    """All rescalings at once: the vertices of the closure of RO(X), and what they say of any number of points.

    The number of vertices grows about threefold with each feature: thousands at 10 features, a million at 14.

    Parameters
    ----------
    training_set : TrainingSet
        Must be separable.
    max_vertices, max_seconds, max_bytes : optional
        The budget of the enumeration. When it is used up, the vertices found so far still prove points neutral where they
        can; the other points go to ``fallback`` if there is one, and are UNKNOWN if not.
    time_limit : float, optional
        Seconds per point. The first ``certify`` may enumerate for this long times the number of points (times 12 for
        fewer points: the vertices serve all points to come), and a later one that allows twice as much tries again.
        Whether a finite rescaling attains a tie is left open after this time.
    fallback : Engine, optional
        Decides the points that an incomplete enumeration leaves open.
    n_jobs : int, optional
        Threads; None is 1 and -1 all processors.
    left_out : int
        How many rows were left out of the training set before, for the certificates to state.
    progress : bool, optional
        Show a progress bar; if not given, on a terminal and when it takes longer than a second or two.

    Examples
    --------
    >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    >>> verdicts = engine.certify([[-1, 4], [4, 4], [0, 0]])
    >>> list(verdicts)
    [<Verdict.NEUTRAL: 0>, <Verdict.STRONGLY_POSITIVE: 1>, <Verdict.STRONGLY_NEGATIVE: -1>]
    >>> verdicts.lower.round(9), verdicts.upper.round(9)
    (array([-1., 14., -6.]), array([ 4., 14., -6.]))
    >>> from rescaleinv.verify import check
    >>> check(verdicts.certificate(0).to_json())
    'neutral'
    """

    def __init__(
        self,
        training_set: TrainingSet,
        *,
        max_vertices: int | None = 20_000_000,
        max_seconds: float | None = None,
        max_bytes: int | None = 8 * 2**30,
        time_limit: float | None = None,
        fallback: Engine | None = None,
        n_jobs: int | None = None,
        left_out: int = 0,
        progress: bool | None = None,
    ) -> None:
        require_training_set(training_set)
        self.training_set: TrainingSet = training_set
        self.budget: Budget = Budget(
            checked_limit(max_vertices, "max_vertices"),
            checked_time_limit(max_seconds, "max_seconds"),
            checked_limit(max_bytes, "max_bytes"),
        )
        self.time_limit: float | None = checked_time_limit(time_limit)
        self.fallback: Engine | None = fallback
        # each thread has its own memory to work in, and more threads than processors are no faster
        self.n_threads: int = min(n_workers(n_jobs), available_processors())
        self.left_out: int = checked_count(left_out, "left_out")
        self.progress: bool | None = progress
        self.proof: ComplexProof | None = None
        self._lock: ForkSafeLock = ForkSafeLock()
        self._vertices: Vertices | None = None
        self._allowed: float = math.inf  # seconds that an enumeration had, if the number of points set its limit
        # the vertices are from a file: "certified" is not said of what nobody computed here
        self.only_read: bool = False

    name = "complex"

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        """Make the engine with what it needs of the settings."""
        options: dict[str, Any] = {} if settings.max_vertices is None else {"max_vertices": settings.max_vertices}
        return cls(
            training_set,
            max_seconds=settings.max_seconds,
            time_limit=settings.time_limit,
            fallback=settings.fallback,
            n_jobs=settings.n_jobs,
            left_out=settings.left_out,
            **options,
        )

    def precompute(self) -> None:
        """Enumerate the vertices now; otherwise the first ``certify`` does it."""
        self._enumerate(self.budget)

    def _enumerate(self, budget: Budget) -> None:
        """Enumerate the vertices unless that was done, or was stopped when it had at least half of this time."""
        # what the vertices leave open must have its time too
        budget = replace(budget, seconds=within_run(budget.seconds, _SHARE_OF_RUN))
        with self._lock:
            seconds = math.inf if budget.seconds is None else budget.seconds
            known = self._vertices
            if known is not None and (not known.stopped or seconds < 2 * self._allowed):
                return
            self._reduce()
            if budget.seconds is not None:
                compile_engine(self.name)
            with progress_bar("vertices", self.progress) as bar:
                found = enumerate_vertices(
                    self._reduced,
                    budget,
                    n_threads=self.n_threads,
                    report=lambda found, still_open: bar.show(found, f"{still_open:,} still open"),
                )
            out_of_time = found.stopped in (budget.exceeded(0, math.inf, 0), why_over())
            self._allowed = seconds if out_of_time and budget != self.budget else math.inf
            self._keep(found)

    def _require_vertices(self) -> None:
        if self._vertices is None:
            self._enumerate(self.budget)

    def _enumerate_for(self, n_points: int) -> None:
        """Enumerate for no longer than the time limit allows for so many points."""
        if self.time_limit is not None:
            most = math.inf if self.budget.seconds is None else self.budget.seconds
            self._enumerate(replace(self.budget, seconds=min(self.time_limit * max(n_points, _FEW_POINTS), most)))

    def restore(self, vertices: Vertices, *, trusted: bool = False) -> None:
        """Take vertices that were stored; a ``ValueError`` where they can't be those of this training set.

        Parameters
        ----------
        vertices : Vertices
        trusted : bool
            This process computed them: they are not checked again, and neutral verdicts are "certified".

        Examples
        --------
        What one engine has enumerated, another one of the same training set takes over:

        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> again = ComplexEngine(ts)
        >>> again.restore(ComplexEngine(ts).vertices)
        >>> again.certify([[-1, 4], [4, 4]]).status.tolist()
        ['computed', 'computed']
        """
        self._reduce()
        n_rows, n = self._reduced.n_rows, self._reduced.n_features
        bases, solutions = vertices.bases, vertices.solutions
        # compiled code looks rows up by these numbers, and does not check them
        if (
            bases.dtype != np.int32
            or bases.shape != solutions.shape
            or bases.shape[1:] != (n + 1,)
            or not len(bases)
            or bases.min() < 0
            or bases.max() >= n_rows + n
            or (np.diff(np.sort(bases, axis=1), axis=1) == 0).any()
            or solutions.dtype != np.float64
            or not np.isfinite(solutions).all()
            or vertices.perturbation.dtype != np.int64
            or vertices.perturbation.shape != (n_rows,)
        ):
            raise ValueError("its vertices are not those of its training set")
        require_true_solutions(self._reduced, vertices)
        if not trusted:
            require_complete(self._reduced, vertices, self.n_threads)
        self._keep(vertices)
        self.only_read = not trusted

    def _reduce(self) -> None:
        self._kept = rows_that_matter(self.training_set)
        self._reduced = self.training_set.subset(self._kept)

    def _keep(self, vertices: Vertices) -> None:
        self._decisions: ExactDecisions = ExactDecisions(self.training_set, self._reduced, vertices, self.time_limit)
        self.__dict__.pop("_outer_solutions", None)
        self._vertices = vertices

    def extremes(self) -> Extremes | None:
        """The vertices and their units, if the enumeration is complete."""
        if not self.complete:
            return None
        return Extremes(self.vertices.solutions, self._reduced.conditioning)

    def state(self) -> EngineState | None:
        """The vertices if they have been enumerated already."""
        if self._vertices is None:
            return None
        values = {field.name: getattr(self._vertices, field.name) for field in fields(self._vertices)}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {name: value for name, value in values.items() if name not in arrays}, arrays

    def restore_state(
        self, facts: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]], *, trusted: bool = False
    ) -> None:
        """Take the vertices of a model file, as if they had been enumerated."""
        values: dict[str, Any] = {**arrays, **facts}
        self.restore(Vertices(**values), trusted=trusted)

    @property
    def vertices(self) -> Vertices:
        """The vertices in the conditioned units of ``reduced_training_set``.

        Examples
        --------
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> len(engine.vertices.solutions)
        2
        """
        self._require_vertices()
        assert self._vertices is not None
        return self._vertices

    @property
    def decisions(self) -> ExactDecisions:
        """What the vertices say of single points, exactly.

        Examples
        --------
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.decisions.decide(np.array([-1.0, 4.0])).code
        <Verdict.NEUTRAL: 0>
        """
        self._require_vertices()
        return self._decisions

    @property
    def reduced_training_set(self) -> TrainingSet:
        """The training set without the rows that can't matter; the vertices' bases number its rows.

        Examples
        --------
        Of rows that are given twice one is enough:

        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1], [1, 1]], [1, 1, 1, -1, -1]))
        >>> engine.reduced_training_set.row_numbers
        array([0, 1, 2, 3])
        """
        self._require_vertices()
        return self._reduced

    @property
    def complete(self) -> bool:
        """Whether all vertices were found within the budget.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("breast_cancer_wisconsin")
        >>> ts = TrainingSet(X[:30], y[:30])
        >>> ComplexEngine(ts).complete, ComplexEngine(ts, max_vertices=10).complete
        (True, False)
        """
        return not self.vertices.stopped

    def write_proof(self, path: str | Path) -> ComplexProof:
        """Write the complex certificate: strong verdicts are "certified" from then on. It is not checked yet.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        ComplexProof
            Its ``path``, ``sha256``, ``n_vertices`` and ``n_bytes``.

        Examples
        --------
        >>> import tempfile
        >>> from rescaleinv.verify import check_complex
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proof = engine.write_proof(Path(folder) / "complex.jsonl")
        ...     checked = check_complex(proof.path)
        >>> proof.n_vertices, engine.certify([[4, 4]]).status.tolist()
        (2, ['certified'])
        """
        writer = self._writer()
        with progress_bar("vertices written", self.progress, len(writer.vertices.bases)) as bar:
            proof = writer.write(path, lambda done, total: bar.show(done))
        return self._proved_by(writer, proof)

    def prove(self, path: str | Path) -> ComplexProof:
        """Write the complex certificate and have it checked by ``rescaleinv.verify``, exactly.

        Where the checker finds the walk wrong about an edge, the walk is corrected. Strong verdicts of ``certify`` are
        "certified" from then on, and ``Verdicts.prove`` makes them "proved".

        Examples
        --------
        >>> import tempfile, pathlib
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proof = engine.prove(pathlib.Path(folder) / "complex.jsonl")
        >>> proof.n_vertices, proof.n_corrected
        (2, 0)
        >>> print(engine.certify([[-1, 4], [4, 4], [0, 0]]).prove().status)
        ['proved' 'proved' 'proved']
        """
        writer = self._writer()
        with (
            progress_bar("vertices checked", self.progress, len(writer.vertices.bases)) as bar,
            Parallel(n_jobs=self.n_threads, return_as="generator") as pool,
        ):

            def parallel(check: Callable[..., Any], blocks: Iterable[Any]) -> Iterable[Any]:
                return pool(delayed(check)(block) for block in blocks)

            proof = writer.prove(
                path,
                parallel=map if len(writer.vertices.bases) < _WORTH_PROCESSES else parallel,
                report_check=lambda done, total: bar.show(done),
            )
        return self._proved_by(writer, proof)

    def _proved_by(self, writer: ProofWriter, proof: ComplexProof) -> ComplexProof:
        if writer.vertices is not self.vertices:  # the walk was corrected
            self._keep(writer.vertices)
        self.proof = proof
        return proof

    def _writer(self) -> ProofWriter:
        vertices = self.vertices
        return ProofWriter(
            self.training_set,
            self._kept,
            vertices,
            left_out=self.left_out,
            n_threads=self.n_threads,
            budget=self.budget,
        )

    @property
    def complexes(self) -> list[verify.Complex]:
        """The complex certificate, if it was checked."""
        return [self.proof.checked] if self.proof is not None and self.proof.checked is not None else []

    @cached_property
    def _outer_solutions(self) -> FloatArray:
        return self.vertices.solutions[outer_vertices(self.vertices.solutions)]

    def decision_ranges(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the largest decision value over the vertices, point by point, as floats.

        Parameters
        ----------
        points : float array of shape (n_points, n_features)

        Returns
        -------
        tuple of two float arrays of shape (n_points,)

        Examples
        --------
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> lower, upper = engine.decision_ranges(np.array([[-1.0, 4.0], [4.0, 4.0]]))
        >>> lower.round(6), upper.round(6)
        (array([-1., 14.]), array([ 4., 14.]))
        """
        solutions = self._outer_solutions if len(points) >= _LARGE_BATCH else self.vertices.solutions
        lower, upper = np.empty(len(points)), np.empty(len(points))
        starts = range(0, len(points), max(min(_POINTS_AT_A_TIME, -(-len(points) // self.n_threads)), 64))

        def part(start: int) -> int:
            stop = min(start + starts.step, len(points))
            conditioned = self._reduced.conditioning.apply(points[start:stop])
            extremes(conditioned, solutions, lower[start:stop], upper[start:stop])
            return stop - start

        if len(points) * len(solutions) < _WORTH_THREADS:
            for start in starts:
                part(start)
            return lower, upper
        with (
            progress_bar("points", self.progress, total=len(points)) as bar,
            ThreadPoolExecutor(self.n_threads) as pool,
        ):
            done = 0
            for count in pool.map(part, starts):
                done += count
                bar.show(done)
        return lower, upper

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        """``certify`` for a matrix that was already checked."""
        self._enumerate_for(len(rows))
        lower, upper = self.decision_ranges(rows)
        near = self.decisions.near(rows)
        code = np.full(len(rows), Verdict.UNKNOWN, dtype=np.int8)
        code[lower > near] = Verdict.STRONGLY_POSITIVE
        code[upper < -near] = Verdict.STRONGLY_NEGATIVE
        code[(lower < -near) & (upper > near)] = Verdict.NEUTRAL
        reason = np.full(len(rows), "", dtype=object)
        for i in np.flatnonzero(code == Verdict.UNKNOWN):
            decision = self.decisions.decide(rows[i])
            code[i], lower[i], upper[i], reason[i] = decision.code, decision.lower, decision.upper, decision.reason
        strong = "computed" if self.proof is None else "certified"
        neutral = "computed" if self.only_read else "certified"
        status = np.where(code == Verdict.NEUTRAL, neutral, np.where(code == Verdict.UNKNOWN, "", strong))
        verdicts = Verdicts(code, lower, upper, reason, status.astype(object), rows, self)
        return verdicts if self.complete else self._partial(verdicts)

    def _partial(self, verdicts: Verdicts) -> Verdicts:
        """The verdicts of an incomplete enumeration: neutral stays, the rest is open, and no bound is known."""
        unbounded = np.full(len(verdicts), np.nan)
        neutral, still_open = verdicts.neutral, ~verdicts.neutral
        reason = f"the enumeration of vertices stopped: it took {self.vertices.stopped}"
        partial = Verdicts.all_unknown(verdicts.points, reason, self)
        partial = partial.with_rows(neutral, replace(verdicts, lower=unbounded, upper=unbounded)[neutral])
        if self.fallback is None or not still_open.any():
            return partial
        return partial.with_rows(still_open, self.fallback.certify_checked(verdicts.points[still_open]))

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """The certificate of a verdict; a strong one refers to the complex certificate, which must have been written."""
        if verdict is Verdict.NEUTRAL:
            return self.explain(point).certificate
        if self.fallback is not None and not self.complete:  # which then gave the verdict
            return self.fallback.certificate(point, verdict)
        if self.proof is None:
            raise CertificateError(
                "a strong verdict is certified by the whole complex: call prove(path) of the engine first"
            )
        row = self._checked_point(point)
        exact_point = [Fraction(x) for x in row.tolist()]
        refutations = self.decisions.tie_refutations(row) if verdict is Verdict.STRONGLY_NEGATIVE else []
        evidence = {
            "kind": "complex",
            "sha256": self.proof.sha256,
            "ties": [[rational_text(value) for value in vector] for vector in refutations],
        }
        return certificate_of(self.training_set, exact_point, verdict_words(verdict), evidence, left_out=self.left_out)

    def explain(self, point: Any) -> Witness:
        """Two finite rescalings that disagree about a neutral point, with the exact certificate."""
        row = self._checked_point(point)
        exact_point = [Fraction(x) for x in row.tolist()]
        positive, negative = self.decisions.classifier(row, 1), self.decisions.classifier(row, -1)
        if (positive is None or negative is None) and self.fallback is not None and not self.complete:
            return self.fallback.explain(row)
        if positive is None or negative is None:
            raise CertificateError("the point is not neutral: no two rescalings disagree about it")
        return witness_from(self.training_set, exact_point, positive, negative, left_out=self.left_out)
