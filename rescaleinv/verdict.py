"""Verdicts of a batch of points: masks to ask with, witnesses, certificates, and their check."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload
from warnings import warn

import numpy as np
import numpy.typing as npt

from rescaleinv import verify
from rescaleinv._util.files import replacing
from rescaleinv._util.frames import FrameKind, pandas_frame
from rescaleinv._util.parameters import shown
from rescaleinv._util.progress import progress_bar
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.errors import CertificateError, InputError, InputTypeError, RefusedWarning
from rescaleinv.theory.inputs import LARGEST_VALUE

if TYPE_CHECKING:
    from rescaleinv.engines import Engine

# Why a row with an empty cell is UNKNOWN.
MISSING = "a value is missing"


class Verdict(IntEnum):
    """What is known about a point's label over all the rescalings that are considered.

    Examples
    --------
    >>> Verdict(0), Verdict.STRONGLY_NEGATIVE == -1
    (<Verdict.NEUTRAL: 0>, True)
    """

    STRONGLY_NEGATIVE = -1
    NEUTRAL = 0
    STRONGLY_POSITIVE = 1
    UNKNOWN = 2


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, which its owner hands over: nobody writes to it from now on."""
    array.flags.writeable = False
    return array


def unusable_rows(matrix: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Why each row of a table of numbers can't be judged, as an array of texts; "" for those that can.

    >>> unusable_rows(np.array([[1.0, 2], [np.nan, np.inf], [0, -1e200]])).tolist()
    ['', 'a value is missing', 'a value is infinite or beyond 1e+150']
    """
    reasons = np.full(len(matrix), "", dtype=object)
    if len(matrix) and np.abs(matrix).max() <= LARGEST_VALUE:  # nothing is missing or too large: the usual case
        return reasons
    with np.errstate(invalid="ignore"):
        reasons[(np.abs(matrix) > LARGEST_VALUE).any(axis=1)] = f"a value is infinite or beyond {LARGEST_VALUE:g}"
    reasons[np.isnan(matrix).any(axis=1)] = MISSING
    return reasons


def _position(i: Any) -> int:
    """The position of a point: a whole number."""
    if not isinstance(i, (int, np.integer)) or isinstance(i, bool):
        raise InputTypeError(f"the point is {shown(i)}; its position, a whole number, is needed")
    return int(i)


def verdict_words(code: int) -> str:
    """A verdict in words, as certificates claim it: "strongly positive"."""
    return Verdict(code).name.lower().replace("_", " ")


def class_words(label: Any) -> str:
    """What to call a class: its name, or "class 1" where that is a number.

    >>> class_words("benign"), class_words(-1), class_words("1")
    ('benign', 'class -1', 'class 1')
    """
    try:
        float(label)
    except (TypeError, ValueError):
        return str(label)
    return f"class {label}"


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts of a batch of points. A verdict is never a class label; the boolean masks are the way to ask.

    Attributes
    ----------
    code : int8 array
        ``Verdict`` values: 1 strongly positive, -1 strongly negative, 0 neutral, 2 unknown.
    lower, upper : float array
        Infimum and supremum of the decision value over all the rescalings; nan where not known.
    reason : array of str
        Why a point is unknown; of a neutral one (ν-margin) whether the best intercepts of one rescaling disagree; else "".
    status : array of str
        What was shown: "proved" (its certificate was checked: ``prove``), "certified" (there is one), "computed"; "" if
        unknown.
    points : float array
        The points in original units: a copy that is read-only, unless a read-only array was handed over.
    engine : Engine
        What decided them, and makes their certificates.
    provenance : str
        Which features the verdicts are about, where they were certified as part of a pipeline; else "".
    labels : array or None
        The labels at the given scaling, None among them where a value is missing; None where an engine was asked itself.
    classes : pair or None
        The negative and the positive label; None where an engine was asked itself.
    frame_kind : FrameKind or None
        What the points came in, where that was a data frame; ``to_frame`` gives the same kind.

    Examples
    --------
    >>> from rescaleinv import RescaleInvariantSVC
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> verdicts = clf.certify([[-1, 4], [4, 4], [0, 0]])
    >>> verdicts
    Verdicts(3 points: 1 strongly positive (33%), 1 strongly negative (33%), 1 neutral (33%))
    >>> verdicts.strong, verdicts.lower
    (array([False,  True,  True]), array([-1., 14., -6.]))
    """

    code: npt.NDArray[np.int8]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    reason: npt.NDArray[Any]
    status: npt.NDArray[Any]
    points: npt.NDArray[np.float64]
    engine: Engine = field(repr=False)
    provenance: str = ""
    labels: npt.NDArray[Any] | None = None
    classes: tuple[Any, Any] | None = None
    frame_kind: FrameKind | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # certificates are made of the points later: a caller that reuses its buffer must not change what they say
        if self.points.flags.writeable:
            object.__setattr__(self, "points", read_only(self.points.copy()))

    @property
    def strongly_positive(self) -> npt.NDArray[np.bool_]:
        """Every rescaling gives the positive label; one boolean per point.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> points = np.array([[-1, 4], [4, 4], [0, 0]])
        >>> points[clf.certify(points).strongly_positive]
        array([[4, 4]])
        """
        return self.code == Verdict.STRONGLY_POSITIVE

    @property
    def strongly_negative(self) -> npt.NDArray[np.bool_]:
        """Every rescaling gives the negative label; one boolean per point.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4], [4, 4], [0, 0]]).strongly_negative
        array([False, False,  True])
        """
        return self.code == Verdict.STRONGLY_NEGATIVE

    @property
    def neutral(self) -> npt.NDArray[np.bool_]:
        """Two rescalings disagree about the point; one boolean per point.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> verdicts = clf.certify([[-1, 4], [4, 4], [0, 0]])
        >>> for i in np.flatnonzero(verdicts.neutral):
        ...     print(i, verdicts.witness(i))
        0 positive with feature 1 times 1.22; negative with feature 0 times 1.22
        """
        return self.code == Verdict.NEUTRAL

    @property
    def unknown(self) -> npt.NDArray[np.bool_]:
        """Not decided; ``reason`` says why. One boolean per point.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> verdicts = clf.certify([[-1, 4], [4, np.nan]])
        >>> verdicts.unknown, verdicts.reason[verdicts.unknown].tolist()
        (array([False,  True]), ['a value is missing'])
        """
        return self.code == Verdict.UNKNOWN

    @property
    def strong(self) -> npt.NDArray[np.bool_]:
        """Every rescaling gives the same label, whichever; one boolean per point.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> points = [[-1, 4], [4, 4], [0, 0]]
        >>> np.where(clf.certify(points).strong, clf.predict(points), "look again")
        array(['look again', 'up', 'down'], dtype='<U10')
        """
        return self.strongly_positive | self.strongly_negative

    def __len__(self) -> int:
        return len(self.code)

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        """No array is made of verdicts by accident: compared with labels, they would pass for some."""
        raise TypeError(
            "a verdict is not a class label; .code has the numbers, .strong and the other masks the answers"
        )

    def __iter__(self) -> Iterator[Verdict]:
        return (Verdict(int(code)) for code in self.code)

    @overload
    def __getitem__(self, key: int) -> Verdict: ...

    @overload
    def __getitem__(self, key: slice | npt.NDArray[Any]) -> Verdicts: ...

    def __getitem__(self, key: Any) -> Verdict | Verdicts:
        """One ``Verdict`` for a number; for a slice, a mask or an array of numbers, the ``Verdicts`` of those points."""
        if isinstance(key, (int, np.integer)):
            return Verdict(int(self.code[key]))
        names = ("code", "lower", "upper", "reason", "status", "points", "labels", "frame_kind")
        chosen: dict[str, Any] = {name: getattr(self, name)[key] for name in names if getattr(self, name) is not None}
        return replace(self, **chosen)

    @classmethod
    def all_unknown(cls, points: npt.NDArray[np.float64], reason: Any, engine: Engine) -> Verdicts:
        """UNKNOWN for every point, for one reason or for one reason per point.

        Parameters
        ----------
        points : array of shape (n_points, n_features)
        reason : str or array of str
        engine : Engine
            What was asked.

        Returns
        -------
        Verdicts

        Examples
        --------
        An engine that has no time left:

        >>> from rescaleinv import ComplexEngine, TrainingSet
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> Verdicts.all_unknown(np.array([[-1.0, 4], [4, 4]]), "no time was left", engine)
        Verdicts(2 points: 2 unknown (100%))
        """
        n = len(points)
        unbounded = np.full(n, np.nan)
        reasons, status = np.full(n, "", dtype=object), np.full(n, "", dtype=object)
        reasons[:] = reason
        return cls(
            np.full(n, Verdict.UNKNOWN, dtype=np.int8), unbounded, unbounded.copy(), reasons, status, points, engine
        )

    def with_rows(self, rows: npt.NDArray[Any], others: Verdicts) -> Verdicts:
        """These verdicts, but those of the given rows (a mask or positions) are the ``others``, in their order.

        Parameters
        ----------
        rows : array
        others : Verdicts
            One for each of these rows.

        Returns
        -------
        Verdicts

        Examples
        --------
        Neutral verdicts of one engine, the rest by another:

        >>> from rescaleinv import ComplexEngine, TrainingSet
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> points = np.array([[-1.0, 4], [4, 4], [0, 0]])
        >>> still_open = Verdicts.all_unknown(points, "not asked yet", engine)
        >>> still_open.with_rows(np.array([1, 2]), engine.certify(points[1:])).code
        array([ 2,  1, -1], dtype=int8)
        """
        changed = {}
        for name in ("code", "lower", "upper", "reason", "status"):
            changed[name] = getattr(self, name).copy()
            changed[name][rows] = getattr(others, name)
        return replace(self, **changed)

    def witness(self, i: int) -> Witness:
        """The two rescalings that disagree about point i, which must be neutral.

        Parameters
        ----------
        i : int
            The position of the point.

        Returns
        -------
        Witness

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> witness = clf.certify([[-1, 4]]).witness(0)
        >>> witness.words(witness.negative)
        'feature 0 times 1.22'
        """
        verdict = self[_position(i)]
        if verdict is not Verdict.NEUTRAL:
            raise InputError(
                f"point {i} is {verdict_words(verdict)}: only a neutral point has two rescalings that disagree"
            )
        return replace(self.engine.explain(self.points[i]), feature_names=self.engine.training_set.feature_names)

    def certificate(self, i: int) -> Certificate:
        """The certificate of point i for ``rescaleinv.verify``; its ``status`` must be "certified" or "proved".

        Parameters
        ----------
        i : int
            The position of the point.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4]]).certificate(0).claim
        'neutral'
        """
        verdict = self[_position(i)]
        if verdict is Verdict.UNKNOWN:
            raise CertificateError(f"point {i} is unknown: there is nothing to certify")
        return self.engine.certificate(self.points[i], verdict)

    def prove(self, path: str | Path | None = None, *, progress: bool | None = None) -> Verdicts:
        """Have the certificate of each point checked by ``rescaleinv.verify``; returns the verdicts with their new status.

        Points without a certificate keep their status, and so do strong ones if the engine's complex certificate was not
        checked. One for which none can be made is "computed"; but a neutral verdict of an engine that decides by
        certificates of single points rests on nothing else, and becomes UNKNOWN. Should a certificate be refused, which
        is an error of this package, that point becomes UNKNOWN with the reason, a ``RefusedWarning`` names it, and the
        others are kept.
        With ``path`` the certificates are written there, one per line. If the engine has a complex certificate they leave
        the training rows to it, and ``verify`` must be given both.

        Parameters
        ----------
        path : str or Path, optional
            Where to write the certificates.
        progress : bool, optional
            Show a bar; by default where it takes long.

        Returns
        -------
        Verdicts
            The same, with their new status.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> print(clf.certify([[-1, 4]]).prove().status)
        ['proved']
        """
        complexes = self.engine.complexes
        status, code, reason = self.status.copy(), self.code.copy(), self.reason.copy()
        strong_too = bool(complexes) or self.engine.abilities.proof == "point"
        has_one = np.isin(status, ["certified", "proved"])
        waiting = np.flatnonzero(self.neutral | (has_one & strong_too))
        refused: dict[int, str] = {}
        with (
            nullcontext(None) if path is None else replacing(path) as file,
            progress_bar("certificates", progress, total=len(waiting)) as bar,
        ):
            for done, i in enumerate(waiting.tolist()):
                try:
                    certificate = self.certificate(i)
                    text = certificate.to_json(with_rows=not complexes)
                    problem = self._problem_with(i, text, certificate.checked_claim)
                except CertificateError as error:  # no rescaling short enough to be written down
                    status[i] = "computed"
                    if self.code[i] == Verdict.NEUTRAL and self.engine.abilities.proof == "point":
                        code[i], status[i], reason[i] = Verdict.UNKNOWN, "", str(error)
                    continue
                if problem:
                    refused[i] = reason[i] = problem
                    code[i], status[i] = Verdict.UNKNOWN, ""
                    continue
                status[i] = "proved"
                if file is not None:
                    file.write(text.encode() + b"\n")
                bar.show(done)
        if refused:
            warn(RefusedWarning(refused), stacklevel=2)
        return replace(self, status=status, code=code, reason=reason)

    def _problem_with(self, i: int, text: str, checked_claim: str | None) -> str:
        """Why the certificate does not prove the verdict of point i; "" if it does. Nothing is checked twice."""
        try:
            shown = checked_claim or verify.check(text, complexes=self.engine.complexes)
        except verify.Refused as error:
            return f"its certificate was refused: {error}"
        claimed = verdict_words(self.code[i]) + self.engine.scope
        return "" if shown == claimed else f"its certificate proves {shown!r} and not {claimed!r}"

    def counts(self) -> dict[str, int]:
        """How many verdicts there are of each kind.

        Returns
        -------
        dict
            Kind in words -> number of points.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4], [4, 4], [0, 0]]).counts()
        {'strongly positive': 1, 'strongly negative': 1, 'neutral': 1, 'unknown': 0}
        """
        return {verdict_words(kind): int((self.code == kind).sum()) for kind in (1, -1, 0, 2)}

    def words(self, code: int) -> str:
        """A verdict in the words of the classes, "benign whatever the scaling"; "strongly positive" where none are known.

        Parameters
        ----------
        code : int
            A ``Verdict``.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[4, 4]]).words(1)
        'up whatever the scaling'
        """
        if self.classes is None:
            return verdict_words(code)
        if code == Verdict.NEUTRAL:
            return "depends on the scaling" + self._within
        if code == Verdict.UNKNOWN:
            return "not decided"
        return f"{class_words(self.classes[int(code > 0)])} whatever the scaling{self._within}"

    @property
    def _within(self) -> str:
        """What words add where verdicts are about a range; that a margin has a ν is said of the margin."""
        return self.engine.scope.removesuffix(" with nu")

    @property
    def ambiguity(self) -> tuple[float, float]:
        """The share of points to which some rescaling gives another label: of the neutral ones, and with the unknown ones.

        In the words of Marx, Calmon & Ustun (2020). No one rescaling changes a larger share of the labels than the second
        number: that bounds the discrepancy too. nan without points.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4], [4, 4], [0, 0], [-1, 5]]).ambiguity
        (0.25, 0.25)
        """
        if not len(self):
            return np.nan, np.nan
        return float(self.neutral.mean()), float((self.neutral | self.unknown).mean())

    def summary(self, *, groups_by: Any = None) -> str:
        """One line in words; where points were proved it says how many of each kind.

        Parameters
        ----------
        groups_by : sequence, optional
            The group of each point. Then a line with the ambiguity of all points follows, and a line for each group.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4], [4, 4], [None, 1]]).summary()
        '3 points: 1 up whatever the scaling (33%), 1 depends on the scaling (33%), 1 not decided (33%)'
        """
        if groups_by is None:
            return self._counted(self.words)
        groups = list(groups_by)
        if len(groups) != len(self):
            raise InputError(f"groups_by has {len(groups)} group(s) for {len(self)} point(s); one per point is needed")
        lines = [self._counted(self.words), self._ambiguous()]
        for group in dict.fromkeys(sorted(groups, key=str)):
            part = self[np.array([one == group for one in groups], dtype=bool)]
            lines.append(f"{group}: {part._ambiguous()}; {part._counted(part.words)}")
        return "\n".join(lines)

    def _ambiguous(self) -> str:
        least, most = self.ambiguity
        between = "" if most == least else f" (up to {most:.0%} if unknown points are neutral)"
        return f"ambiguity {least:.0%}{between}, discrepancy at most {most:.0%}"

    def _counted(self, words: Callable[[int], str]) -> str:
        total = max(len(self), 1)
        parts = []
        for kind in (1, -1, 0, 2):
            mask = self.code == kind
            count, proved = int(mask.sum()), int((self.status[mask] == "proved").sum())
            if count:
                said = words(kind) if count == 1 else words(kind).replace("depends", "depend", 1)
                parts.append(f"{count} {said} ({count / total:.0%}{f', {proved} proved' if proved else ''})")
        return f"{len(self)} points: {', '.join(parts) or 'none'}"

    def to_frame(self) -> Any:
        """A data frame, one row per point: of the kind that the points came in (with its index), else of pandas.

        Returns
        -------
        data frame
            With the columns ``label`` (at the given scaling, where it is known), ``verdict`` (in words), ``code``,
            ``lower``, ``upper``, ``status`` and ``reason``.

        Examples
        --------
        >>> import pandas as pd
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> clf.certify(pd.DataFrame([[-1, 4], [4, 4]], index=["Ann", "Bob"])).to_frame()["verdict"].to_dict()
        {'Ann': 'neutral', 'Bob': 'strongly positive'}
        """
        columns = self._columns()
        return pandas_frame(columns) if self.frame_kind is None else self.frame_kind.made_of(columns)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {} if self.labels is None else {"label": self.labels}
        columns["verdict"] = [verdict_words(code) for code in self.code.tolist()]
        columns |= {"code": self.code, "lower": self.lower, "upper": self.upper}
        return {**columns, "status": self.status, "reason": self.reason}

    def __repr__(self) -> str:
        return f"Verdicts({self._counted(verdict_words)})"

    def _repr_html_(self) -> str:
        shown = self[:20]
        index = None if shown.frame_kind is None else shown.frame_kind.index
        table = pandas_frame(shown._columns(), index).to_html(escape=True, float_format="{:.4g}".format)
        more = f"<p>… {len(self) - 20} more</p>" if len(self) > 20 else ""
        return f"<p>{html.escape(self.summary())}</p>{table}{more}"
