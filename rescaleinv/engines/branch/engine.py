"""Limited rescaling, soft margins and many features: branch and bound, one point at a time, each with its proof."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rescaleinv._util.deadline import is_over, why_over, within_run
from rescaleinv._util.parameters import checked_count, checked_time_limit, is_number, n_workers
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.engines import Engine, EngineSettings
from rescaleinv.engines.branch.certificates import SCOPE, certificate
from rescaleinv.engines.branch.decision import Decision, ProvedLabel
from rescaleinv.engines.branch.flips import RescalingPool
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.engines.branch.radius import Bracket, RadiusSearch
from rescaleinv.engines.branch.tree import decide
from rescaleinv.engines.compiling import compile_engine
from rescaleinv.errors import CertificateError, InputError
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.scale_range import as_groups, as_scale_range
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.verdict import Verdict, Verdicts

# Parts into which the range of a point may be split before it is UNKNOWN; less than 1 ms each with 30 features and 100 rows.
DEFAULT_MAX_PARTS = 20_000
# The same for all ranges that the radius of a point tries.
_PARTS_PER_RADIUS = 4000
# Points that are settled early leave what they do not need of their time to others: of its own a point takes this share
# first, and later no more than so many times all of it.
_SHARE_OF_FIRST_ROUND, _MOST_TIMES = 0.25, 10.0
# Points handed to a process at a time.
_POINTS_PER_TURN = 8
# Bytes of decisions that are kept for certificates; beyond that the oldest are forgotten, and decided again when needed.
_MOST_KEPT = 256 * 2**20
# Where a proof comes nearer to failing than this, its certificate is made at once: what rounding to rationals breaks is
# not decided.
_SURE_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class _Decider:
    """What decides points, without what is kept: it goes to other processes."""

    problem: LimitedProblem
    pool: RescalingPool
    limits: FloatArray
    left_out: int
    time_limit: float | None
    max_parts: int

    def decide(self, point: FloatArray) -> Decision:
        decision = decide(self.problem, point, self.pool, time_limit=self.time_limit, max_parts=self.max_parts)
        if decision.decided and decision.least_slack < _SURE_SLACK:
            try:
                self.certificate(point, decision, self.limits)
            except CertificateError as error:
                return Decision(decision.label, reason=str(error), n_parts=decision.n_parts)
        # of a proof only what its certificate needs is kept
        for proved in (decision.positive, decision.negative, decision.own):
            if proved is not None:
                proved.pairs.clear()
        return decision

    def certificate(self, point: FloatArray, decision: Decision, limits: FloatArray) -> Certificate:
        """For the ranges ``limits`` of τ, one row per feature."""
        groups = self.problem.groups
        first = [int(np.flatnonzero(groups == g)[0]) for g in range(int(groups.max()) + 1)]
        return certificate(self.problem, point, decision, limits[first], left_out=self.left_out)


def _in_turn(work: Callable[[FloatArray], Any], rows: FloatArray) -> list[Any]:
    compile_engine(GapEngine.name)  # in a process of its own
    return [work(row) for row in rows]


class GapEngine(Engine):
    """Decides whether a label is the same for all rescalings in a limited range, with a hard or a soft margin (C or ν).

    A strong verdict comes with parts that cover the range, each settled by an inequality that anyone can check; a neutral
    one with two rescalings in the range. Both are "certified". What is not settled within the limits is UNKNOWN, and so is a
    tie: a decision value that comes to 0 exactly has no strict proof. ``lower`` and ``upper`` of the verdicts are nan.

    Parameters
    ----------
    training_set : TrainingSet
        Must be separable unless there are penalties or a ν.
    scale_range : number, pair, array of pairs, or mapping
        The range of each factor τ, as in :class:`rescaleinv.RescaleInvariantSVC`; free features, (0, inf), beside others.
    groups : sequence or mapping, optional
        Features with the same label share one factor τ: those of one unit, or the columns of one variable.
    penalties : array, optional
        C times the weight of each row: a soft margin. The verdict is then about *every* optimal classifier, as its intercept
        need not be unique. None: a hard margin.
    nu : NuMargin or number, optional
        The soft margin that has no scale (:func:`rescaleinv.nu_of`), in place of penalties.
    time_limit : float, optional
        Seconds per point, on average over a call: points that are settled early leave what they do not need to others.
    max_parts : int
        Parts of the range per point; see ``time_limit``.
    n_jobs : int, optional
        Processes, by joblib; None is 1 and -1 all processors.
    left_out : int
        How many rows were left out of the data to make it separable, to be stated in certificates.
    progress : bool, optional
        A progress bar on stderr; if not given, only on a terminal and when it takes long.

    Examples
    --------
    Example 2 of the paper: the label of (-1, 4) changes at τ = (5, 1), and not where units are wrong by 5 % at most.

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> GapEngine(ts, 1.05).certify([[-1, 4], [3, 3]])
    Verdicts(2 points: 2 strongly positive (100%))
    >>> verdicts = GapEngine(ts, 5).certify([[-1, 4], [3, 3]])
    >>> verdicts.code
    array([0, 1], dtype=int8)
    >>> from rescaleinv.verify import check
    >>> check(verdicts.certificate(0).to_json()), check(verdicts.certificate(1).to_json())
    ('neutral within the range', 'strongly positive within the range')

    Any factor of the first feature, while the second keeps its scale, says the same as every rescaling of both.

    >>> GapEngine(ts, [(0, float("inf")), (1, 1)]).certify([[-1, 4], [3, 3]]).code
    array([0, 1], dtype=int8)
    """

    def __init__(
        self,
        training_set: TrainingSet,
        scale_range: Any,
        *,
        groups: Any = None,
        penalties: Any = None,
        nu: NuMargin | float | None = None,
        time_limit: float | None = None,
        max_parts: int = DEFAULT_MAX_PARTS,
        n_jobs: int | None = None,
        left_out: int = 0,
        progress: bool | None = None,
    ) -> None:
        require_training_set(training_set)
        self.training_set: TrainingSet = training_set
        n, names = training_set.n_features, training_set.feature_names
        limits = as_scale_range(scale_range, n, names)
        if limits is None:
            raise InputError("the gap engine needs a finite scale_range, such as 2 for factors in [1/2, 2]")
        self.limits: FloatArray = limits
        self.groups: IntArray = as_groups(groups, n, names)
        self.penalties: FloatArray | None = None if penalties is None else _numbers(penalties)
        if self.penalties is not None and self.penalties.shape != (training_set.n_rows,):
            raise InputError(
                f"penalties has shape {self.penalties.shape}; one for each of {training_set.n_rows} rows is needed"
            )
        if self.penalties is not None and not (np.isfinite(self.penalties).all() and self.penalties.min() > 0):
            raise InputError("the penalties must be positive and finite, for a soft margin; None is a hard margin")
        if nu is not None and penalties is not None:
            raise InputError("both penalties and nu are given; a soft margin has one of them")
        self.nu: NuMargin | None = nu if nu is None or isinstance(nu, NuMargin) else NuMargin.of(training_set, nu)
        self.problem: LimitedProblem = LimitedProblem.of(training_set, limits, self.groups, self.penalties, self.nu)
        self.pool: RescalingPool = RescalingPool(self.problem)
        self._kept: OrderedDict[bytes, Decision] = OrderedDict()
        self._kept_bytes: int = 0
        self.time_limit: float | None = checked_time_limit(time_limit)
        self.max_parts: int = checked_count(max_parts, "max_parts", 1)
        self.n_jobs: int = n_workers(n_jobs)
        self.left_out: int = checked_count(left_out, "left_out")
        self.progress: bool | None = progress

    name = "gap"
    scope = SCOPE  # claims are about the range

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        """Make the engine with what it needs of the settings."""
        return cls(
            training_set,
            settings.limits,
            groups=settings.groups,
            penalties=settings.penalties,
            nu=settings.nu,
            time_limit=settings.time_limit,
            n_jobs=settings.n_jobs,
            left_out=settings.left_out,
        )

    def precompute(self) -> None:
        """Train the SVM at the given scaling."""
        compile_engine(self.name)
        _ = self.problem.given

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        """``certify`` for a matrix that was already checked."""
        self.precompute()
        codes, reasons = np.full(len(rows), Verdict.UNKNOWN, dtype=np.int8), np.full(len(rows), "", dtype=object)
        left, settled = np.arange(len(rows)), 0
        with progress_bar("points", self.progress, len(rows)) as bar:
            for seconds, is_last in self._rounds(len(rows)):
                for k, decision in enumerate(self._for_each(self._decider(seconds(len(left))).decide, rows[left])):
                    i = left[k]
                    self._keep(rows[i], decision)
                    reasons[i] = decision.reason
                    if decision.decided:
                        codes[i] = decision.label if decision.cover is not None else Verdict.NEUTRAL
                    settled += decision.decided or is_last
                    bar.show(settled)
                left = np.flatnonzero(codes == Verdict.UNKNOWN)
        reasons[(codes == Verdict.UNKNOWN) & (reasons == "")] = why_over()
        status = np.where(codes == Verdict.UNKNOWN, "", "certified").astype(object)
        unknown = np.full(len(rows), np.nan)
        return Verdicts(codes, unknown, unknown.copy(), reasons, status, rows, self)

    def _rounds(self, n_points: int) -> Iterator[tuple[Callable[[int], float | None], bool]]:
        """Rounds through the points that are open: the seconds that each may take, given how many these are; the last one?

        First each may take a part of its own time, then what all have left is shared.
        """
        limit = self.time_limit
        if limit is None or n_points == 1:
            yield lambda _: limit, True
            return
        started = time.monotonic()
        yield lambda _: _SHARE_OF_FIRST_ROUND * limit, False

        def shared(n_left: int) -> float:
            unused = limit * n_points - (time.monotonic() - started) * min(self.n_jobs, n_points)
            return float(np.clip(unused / max(n_left, 1), limit, _MOST_TIMES * limit))

        yield shared, True

    def _decider(self, seconds: float | None = None) -> _Decider:
        return _Decider(
            self.problem,
            self.pool,
            self.limits,
            self.left_out,
            within_run(self.time_limit if seconds is None else seconds),
            self.max_parts,
        )

    def _for_each(self, work: Callable[[FloatArray], Any], rows: FloatArray) -> Iterator[Any]:
        """What ``work`` gives for each row, in order, by as many processes as there may be, while the run has time."""
        if self.n_jobs == 1 or len(rows) == 1:
            for row in rows:
                if is_over():
                    return
                yield work(row)
            return
        from joblib import Parallel, delayed

        self.pool.fill()
        turns = [rows[k : k + _POINTS_PER_TURN] for k in range(0, len(rows), _POINTS_PER_TURN)]
        for found in Parallel(n_jobs=self.n_jobs, return_as="generator")(
            delayed(_in_turn)(work, turn) for turn in turns
        ):
            yield from found
            if is_over():
                return

    def decide(self, point: FloatArray) -> Decision:
        """What is found about one point, with its cover or its two rescalings.

        Parameters
        ----------
        point : float array of shape (n_features,)

        Returns
        -------
        Decision

        Examples
        --------
        >>> engine = GapEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]), 2)
        >>> for point in ([4.0, 4.0], [-1.0, 4.0]):
        ...     found = engine.decide(np.array(point))
        ...     print(found.label, "in all of the range" if found.cover else "at the given scaling, and another elsewhere")
        1 in all of the range
        1 at the given scaling, and another elsewhere
        """
        decision = self._decider().decide(point)
        self._keep(point, decision)
        return decision

    def _keep(self, point: FloatArray, decision: Decision) -> None:
        if not decision.decided:
            return
        old = self._kept.pop(point.tobytes(), None)
        self._kept_bytes += decision.nbytes - (0 if old is None else old.nbytes)
        self._kept[point.tobytes()] = decision
        while self._kept_bytes > _MOST_KEPT and len(self._kept) > 1:
            self._kept_bytes -= self._kept.popitem(last=False)[1].nbytes

    def _decided(self, point: FloatArray) -> Decision:
        kept = self._kept.get(point.tobytes())
        return self.decide(point) if kept is None else kept

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": OrderedDict(), "_kept_bytes": 0}

    def radius(self, points: Any, *, ratio: float = 1.01, largest: float = 1000.0) -> FloatArray:
        """For each point [certified κ, refuted κ]: its label holds for all τ in [1/κ, κ], and does not.

        Features whose range is (1, 1) stay frozen, all others change by factors up to κ, whatever their range; groups are
        kept. The two are nearer to each other than ``ratio`` unless
        a limit (``time_limit`` and ``max_parts``, for all ranges that are tried) or ``largest`` was reached: a point that
        keeps its label up to that has infinity as its refuted κ. (With a soft margin a label is refuted where every optimal
        classifier gives the other one; where only some do, neither end moves.)
        """
        brackets = self.radius_brackets(points, ratio=ratio, largest=largest)
        return np.array([[bracket.lower, bracket.upper] for bracket in brackets]).reshape(-1, 2)

    def radius_brackets(self, points: Any, *, ratio: float = 1.01, largest: float = 1000.0) -> list[Bracket]:
        """``radius`` with the proofs of both ends, for ``radius_certificates``.

        Parameters
        ----------
        points : table
        ratio, largest : float
            As in ``radius``.

        Returns
        -------
        list of Bracket
            One per point.

        Examples
        --------
        >>> engine = GapEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]), 2)
        >>> [bracket] = engine.radius_brackets([[-1, 4]], ratio=1.1)
        >>> bracket.lower < 1.065 < bracket.upper
        True
        """
        rows = as_matrix(points, what="the points", n_features=self.training_set.n_features)
        for name, value in (("ratio", ratio), ("largest", largest)):
            if not (is_number(value) and 1 < value <= 1e50):
                raise InputError(f"{name} is {value!r}; a number above 1, and at most 1e50, is needed")
        self.precompute()
        parts = min(self.max_parts, _PARTS_PER_RADIUS)
        search = RadiusSearch(self.problem, self.pool, float(ratio), float(largest), within_run(self.time_limit), parts)
        found = []
        with progress_bar("points", self.progress, len(rows)) as bar:
            for bracket in self._for_each(search.of, rows):
                found.append(bracket)
                bar.show(len(found))
        return found + [Bracket(1.0, math.inf)] * (len(rows) - len(found))

    def radius_certificates_of(
        self, point: FloatArray, *, ratio: float = 1.01, largest: float = 1000.0
    ) -> tuple[Certificate | None, Certificate | None]:
        """The certificates of both ends of the radius of a point (a table of one row); None where there is no such end."""
        [bracket] = self.radius_brackets(point, ratio=ratio, largest=largest)
        return self.radius_certificates(point[0], bracket)

    def radius_certificates(self, point: Any, bracket: Bracket) -> tuple[Certificate | None, Certificate | None]:
        """The certificates that the label holds for κ = ``bracket.lower``, and that it does not for ``bracket.upper``.

        Parameters
        ----------
        point : sequence with one number per feature
        bracket : Bracket
            What ``radius_brackets`` found for it.

        Returns
        -------
        tuple of Certificate or None
            None where the bracket has no such end.

        Examples
        --------
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> engine = GapEngine(ts, 2)
        >>> [bracket] = engine.radius_brackets([[-1, 4]])
        >>> [certificate.claim for certificate in engine.radius_certificates([-1, 4], bracket)]
        ['strongly positive within the range', 'neutral within the range']
        """
        row = self._checked_point(point)
        made = []
        for kappa, decision in ((bracket.lower, bracket.holds), (bracket.upper, bracket.changes)):
            frozen = (self.limits == 1).all(axis=1)
            limits = np.where(frozen[:, None], 1.0, [1 / kappa, kappa])
            made.append(None if decision is None else self._decider().certificate(row, decision, limits))
        return made[0], made[1]

    def _certificate(self, point: FloatArray, decision: Decision) -> Certificate:
        return self._decider().certificate(point, decision, self.limits)

    def explain(self, point: Any) -> Witness:
        """Two rescalings in the range that disagree about a neutral point."""
        row = self._checked_point(point)
        decision = self._decided(row)
        if decision.positive is None or decision.negative is None:
            raise CertificateError(
                f"no two rescalings were found that disagree: {decision.reason or 'the point is strong'}"
            )
        return Witness(
            self._rescaling(decision.positive), self._rescaling(decision.negative), self._certificate(row, decision)
        )

    def _rescaling(self, proved: ProvedLabel) -> FloatArray:
        return np.clip(proved.factors[self.groups] ** -0.5, self.limits[:, 0], self.limits[:, 1])

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """Two rescalings in the range, or the parts that cover the range and what settles each."""
        if verdict is Verdict.NEUTRAL:
            return self.explain(point).certificate
        row = self._checked_point(point)
        decision = self._decided(row)
        if decision.cover is None or decision.label != verdict:
            raise CertificateError(f"the verdict was not found again: {decision.reason or 'another one was'}")
        return self._certificate(row, decision)


def _numbers(penalties: Any) -> FloatArray:
    try:
        given = np.asarray(penalties)
        if given.dtype.kind not in "iuf":
            raise TypeError(f"values of type {given.dtype}")
        return given.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"penalties is {penalties!r}; one number per row is needed ({error})") from error
