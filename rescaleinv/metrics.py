"""How good the strong verdicts are on points whose true class is known, beside the plain SVM's labels for them.

The figures are those of Tables 2 to 4 of the paper (Montazery & Wilson 2017), and its rule for what is undefined: a share
of nothing is NaN, prints as ``-``, and stays out of means.
"""

from __future__ import annotations

import html
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rescaleinv._util.parameters import is_sequence, shown
from rescaleinv.errors import InputError
from rescaleinv.verdict import Verdict, Verdicts

SignArray = npt.NDArray[np.int8]
Classes = tuple[Any, Any]

_KINDS = (Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE, Verdict.NEUTRAL, Verdict.UNKNOWN)
# the columns of a report, in the order of the fields of Figures, and which of them are shares
_COLUMNS = ("FP", "TP", "PPV", "FN", "TN", "NPV", "neutral", "neutral share", "unknown", "coverage")
_SHARES = ("PPV", "NPV", "neutral share", "coverage")


@dataclass(frozen=True)
class Figures:
    """What one way to classify did on the test points; in a mean, the counts are means too.

    Attributes
    ----------
    fp, tp : number of points
        Those called positive that are negative (false positives), and that are positive (true positives).
    ppv : float
        The share of the truly positive among those called positive, tp / (fp + tp).
    fn, tn : number of points
        Those called negative that are positive (false negatives), and that are negative (true negatives).
    npv : float
        The share of the truly negative among those called negative, tn / (fn + tn).
    neutral, unknown : number of points
        Those that were called neither, because their label depends on the scaling, or is not known to hold.
    neutral_share : float
        The share of the neutral among all points.
    coverage : float
        The share of those called positive or negative among all points.
    """

    fp: float
    tp: float
    ppv: float
    fn: float
    tn: float
    npv: float
    neutral: float
    neutral_share: float
    unknown: float
    coverage: float


@dataclass(frozen=True)
class StrongReport:
    """The figures of the plain SVM and of the strong verdicts on the same points; ``print`` shows them as a table.

    Attributes
    ----------
    svm, strong : Figures
        The plain SVM calls every point positive or negative: it has no neutral points, and coverage 1.
    classes : tuple or None
        The negative and the positive label. None if there were no points to tell them from, or in a mean of reports
        whose classes differ.
    averaged : int
        How many reports this one is the mean of: 0 for a report that is not a mean.
    multiplicity : MultiplicityFigures or None
        Ambiguity, discrepancy and conflict ratio of the points; None in a mean.
    groups : dict
        The report of each group of points, where groups were asked for.

    Examples
    --------
    >>> strong_report([1, -1, -1], [1, 0, -1], [1, 1, -1]).strong.coverage
    0.6666666666666666
    """

    svm: Figures
    strong: Figures
    classes: Classes | None
    averaged: int = 0
    multiplicity: MultiplicityFigures | None = field(default=None, compare=False)
    groups: dict[Any, StrongReport] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame with one row for the plain SVM and one for the strong verdicts; shares from 0 to 1.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> report = strong_report(["ill", "ill", "well"], [1, 0, -1], ["ill", "well", "well"], classes=("well", "ill"))
        >>> report.to_frame()[["TP", "TN", "FN", "coverage"]].round(2)
                         TP  TN  FN  coverage
        plain SVM         1   1   1      1.00
        strong verdicts   1   1   0      0.67
        """
        rows = [list(astuple(figures)) for figures in (self.svm, self.strong)]
        return pd.DataFrame(rows, columns=list(_COLUMNS), index=["plain SVM", "strong verdicts"])

    def _heading(self) -> str:
        named = "" if self.classes is None else f", positive: {self.classes[1]!r}, negative: {self.classes[0]!r}"
        if self.averaged:
            return f"mean of {self.averaged} report(s){named}"
        figures = self.svm
        return f"{figures.fp + figures.tp + figures.fn + figures.tn} point(s){named}"

    def _texts(self) -> pd.DataFrame:
        """The data frame with its figures as they are shown."""
        count = "{:.1f}".format if self.averaged else "{:d}".format
        frame = self.to_frame()
        return pd.DataFrame({name: frame[name].map(_percent if name in _SHARES else count) for name in frame})

    def __str__(self) -> str:
        text = f"{self._heading()}\n{self._texts().to_string()}"
        if self.shows_words and self.multiplicity is not None:
            text += f"\n{self.multiplicity}"
        for group, report in self.groups.items():
            text += f"\n\n{group}: {report}"
        return text

    @property
    def shows_words(self) -> bool:
        """Whether the words of the field say more than the table does: labels of other scalings, or groups, were given.

        Examples
        --------
        >>> truth, verdicts, labels = ["ill", "ill", "well"], [1, 0, -1], ["ill", "well", "well"]
        >>> strong_report(truth, verdicts, labels, classes=("well", "ill")).shows_words
        False
        >>> others = {"min-max": ["ill", "ill", "well"]}
        >>> report = strong_report(truth, verdicts, labels, classes=("well", "ill"), scalings=others)
        >>> report.shows_words, str(report.multiplicity)
        (True, 'ambiguity 33.3%; discrepancy 33.3% found, at most 33.3%; conflict ratio 33.3%')
        """
        return bool(self.groups) or (self.multiplicity is not None and not math.isnan(self.multiplicity.discrepancy))

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self._heading())}</p>{self._texts().to_html(escape=True)}"


def strong_report(
    y_true: Any,
    verdicts: Any,
    baseline: Any,
    *,
    classes: Sequence[Any] | None = None,
    groups_by: Any = None,
    scalings: Mapping[str, Any] | None = None,
) -> StrongReport:
    """Compare the strong verdicts with the plain SVM's labels on points whose true class is known.

    A strongly positive point that is truly positive is a true positive of the strong verdicts; one that is truly negative
    is a false positive of theirs. Neutral and unknown points are neither.

    Parameters
    ----------
    y_true : sequence of labels
        The true classes of the points: text, numbers or booleans.
    verdicts : Verdicts, or sequence of its codes
        The verdicts of the same points.
    baseline : sequence of labels
        The plain SVM's labels for the same points: what ``predict`` says.
    classes : pair of labels, optional
        The negative and the positive one, such as the ``classes_`` of an estimator or the ``classes`` of a training set.
        If not given, they are the two labels that occur, and the positive one is the second in sorted order.
    groups_by : sequence, optional
        The group of each point; the report of each is in ``groups``. What is 5 % of all points may be 30 % of one group.
    scalings : mapping from name to sequence of labels, optional
        The labels of the same points after other scalings, for the discrepancy and the conflict ratio in ``multiplicity``.

    Returns
    -------
    StrongReport
        The figures of both on the same points.

    Warns
    -----
    UserWarning
        If most of the strong verdicts contradict the baseline: a strong verdict holds for the scaling of the plain SVM
        too, so the two classes were probably exchanged.

    Examples
    --------
    >>> truth = ["ill", "ill", "well", "ill", "well", "well"]
    >>> verdicts = [1, 0, 0, 1, 1, 0]
    >>> svm_labels = ["ill", "well", "ill", "ill", "ill", "ill"]
    >>> report = strong_report(truth, verdicts, svm_labels, classes=("well", "ill"))
    >>> print(report)
    6 point(s), positive: 'ill', negative: 'well'
                    FP TP    PPV FN TN   NPV neutral neutral share unknown coverage
    plain SVM        3  2  40.0%  1  0  0.0%       0          0.0%       0   100.0%
    strong verdicts  1  2  66.7%  0  0     -       3         50.0%       0    50.0%
    >>> report.strong.coverage
    0.5
    """
    codes = _codes(verdicts)
    columns = {"y_true": _column(y_true, "y_true", len(codes)), "baseline": _column(baseline, "baseline", len(codes))}
    pair = _pair(classes, columns)
    truth, labels = (_signs(labels, name, pair) for name, labels in columns.items())
    contradicted = int(np.count_nonzero(codes == -labels))  # neutral (0) and unknown (2) are no label's opposite
    agreed = int(np.count_nonzero(codes == labels))
    if pair is not None and contradicted > agreed:
        warnings.warn(
            f"{contradicted} of {contradicted + agreed} strong verdicts contradict the baseline, with {pair[1]!r} as the "
            f"positive class; if it is the negative one, give classes=({pair[1]!r}, {pair[0]!r})",
            stacklevel=2,
        )
    if scalings is not None and not isinstance(scalings, Mapping):
        raise InputError(f"scalings is {shown(scalings)}; a mapping from names to labels is needed")
    tried = [
        _signs(_column(others, f"scalings[{name!r}]", len(codes)), f"scalings[{name!r}]", pair)
        for name, others in (scalings or {}).items()
    ]
    others = np.array(tried, dtype=np.int8).reshape(len(tried), len(codes))
    whole = _report(truth, labels, codes, others, pair)
    if groups_by is None:
        return whole
    members = group_rows(groups_by, len(codes))
    groups = {g: _report(truth[k], labels[k], codes[k], others[:, k], pair) for g, k in members.items()}
    return replace(whole, groups=groups)


def _report(
    truth: SignArray, labels: SignArray, codes: SignArray, others: SignArray, pair: Classes | None
) -> StrongReport:
    figures = MultiplicityFigures.of(codes, labels, others)
    return StrongReport(_figures(truth, labels), _figures(truth, codes), pair, multiplicity=figures)


def mean_report(reports: Iterable[StrongReport]) -> StrongReport:
    """The mean of several reports, figure by figure, as in the last rows of the paper's tables.

    Each report counts the same, whatever the number of its points. An undefined share is left out of its mean, so two
    means may be over different reports; a mean of undefined shares only is undefined.

    Parameters
    ----------
    reports : iterable of StrongReport

    Returns
    -------
    StrongReport
        With ``averaged`` as the number of reports.

    Examples
    --------
    >>> first = strong_report([1, -1, -1], [1, 1, -1], [1, 1, -1])
    >>> second = strong_report([1, -1, -1], [0, 0, -1], [1, -1, -1])
    >>> print(mean_report([first, second]))
    mean of 2 report(s), positive: 1, negative: -1
                      FP   TP    PPV   FN   TN     NPV neutral neutral share unknown coverage
    plain SVM        0.5  1.0  75.0%  0.0  1.5  100.0%     0.0          0.0%     0.0   100.0%
    strong verdicts  0.5  0.5  50.0%  0.0  1.0  100.0%     1.0         33.3%     0.0    66.7%
    """
    single = list(reports) if is_sequence(reports) else []
    if not is_sequence(reports) or not all(isinstance(report, StrongReport) for report in single):
        raise InputError(f"the reports are {shown(reports)}; a sequence of those of strong_report is needed")
    if not single:
        raise InputError("there is no report to take the mean of; one at least is needed")
    if any(report.averaged for report in single):
        raise InputError("one of the reports is itself a mean; give the reports that it was made of instead")
    classes = {report.classes for report in single}
    return StrongReport(
        _mean([report.svm for report in single]),
        _mean([report.strong for report in single]),
        classes.pop() if len(classes) == 1 else None,
        len(single),
    )


def verdict_confusion(y_true: Any, verdicts: Any, *, classes: Sequence[Any] | None = None) -> pd.DataFrame:
    """How often each verdict was given to the points of each true class, as a pandas data frame.

    One row per class, the positive one first, and one column per verdict: what is correct is on the diagonal.

    Parameters
    ----------
    y_true, verdicts, classes
        As in ``strong_report``.

    Returns
    -------
    pandas.DataFrame
        Counts.

    Examples
    --------
    >>> print(verdict_confusion(["yes", "no", "no", "no"], [1, -1, 0, 1]))  # doctest: +NORMALIZE_WHITESPACE
    verdict     strongly positive  strongly negative  neutral  unknown
    true class
    yes                         1                  0        0        0
    no                          1                  1        1        0
    """
    codes = _codes(verdicts)
    labels = _column(y_true, "y_true", len(codes))
    pair = _pair(classes, {"y_true": labels})
    rows = _counts(_signs(labels, "y_true", pair), codes)
    return pd.DataFrame(
        rows if pair is not None else [],
        index=pd.Index([] if pair is None else pair[::-1], name="true class"),
        columns=pd.Index([kind.name.lower().replace("_", " ") for kind in _KINDS], name="verdict"),
    )


@dataclass(frozen=True)
class MultiplicityFigures:
    """How much labels depend on the scaling, in the words of Marx, Calmon & Ustun (2020) and Meyer et al. (2023).

    Attributes
    ----------
    points : int
    ambiguity : float
        The share of the points to which some rescaling gives another label: that of the neutral ones.
    ambiguity_at_most : float
        The same if all unknown points were neutral.
    discrepancy : float
        The largest share of labels that any one of the rescalings tried changes against the given one; nan without any.
    discrepancy_at_most : float
        What no rescaling exceeds, tried or not: strong labels are the same for all, so only the others can change.
    conflict_ratio : float
        The share of the points to which the usual scalings do not all give the same label; nan if none was tried.

    Examples
    --------
    >>> MultiplicityFigures.of([1, 0, 0, -1], [1, 1, -1, -1], [[1, -1, -1, -1], [1, 1, 1, -1]])  # doctest: +ELLIPSIS
    MultiplicityFigures(points=4, ambiguity=0.5, ..., discrepancy=0.25, discrepancy_at_most=0.5, conflict_ratio=0.5)
    """

    points: int
    ambiguity: float
    ambiguity_at_most: float
    discrepancy: float
    discrepancy_at_most: float
    conflict_ratio: float

    @classmethod
    def of(cls, codes: Any, given: Any, tried: Any, usual: Any = None) -> MultiplicityFigures:
        """From verdicts' codes, the given labels as signs, and one row of signs per rescaling (0: no clear label).

        Parameters
        ----------
        codes, given : arrays of one entry per point
        tried : array with one row per rescaling that was tried
        usual : array with one row per usual scaling, optional
            What the conflict ratio is over; ``tried`` if not given.

        Returns
        -------
        MultiplicityFigures

        Examples
        --------
        Of four points two are neutral; of two rescalings each changes one label:

        >>> print(MultiplicityFigures.of([1, 0, 0, -1], [1, 1, -1, -1], [[1, -1, -1, -1], [1, 1, 1, -1]]))
        ambiguity 50.0%; discrepancy 25.0% found, at most 50.0%; conflict ratio 50.0%
        """
        codes, given = np.asarray(codes), np.asarray(given)
        n = len(codes)
        tried = np.asarray(tried, dtype=np.int8).reshape(len(tried), n)
        labels = np.vstack([given, tried if usual is None else np.asarray(usual, dtype=np.int8).reshape(len(usual), n)])
        neutral, unknown = (int((codes == kind).sum()) for kind in (Verdict.NEUTRAL, Verdict.UNKNOWN))
        conflicts = (labels > 0).any(axis=0) & (labels < 0).any(axis=0)
        most = max((int(count) for count in (tried == -given).sum(axis=1)), default=0)
        return cls(
            n,
            _share(neutral, n),
            _share(neutral + unknown, n),
            _share(most, n) if len(tried) else math.nan,
            _share(neutral + unknown, n),
            _share(int(conflicts.sum()), n) if len(labels) > 1 else math.nan,
        )

    def __str__(self) -> str:
        ambiguity = _percent(self.ambiguity)
        if self.ambiguity_at_most > self.ambiguity:
            ambiguity += f" (up to {_percent(self.ambiguity_at_most)} if unknown points are neutral)"
        text = f"ambiguity {ambiguity}; discrepancy "
        if math.isnan(self.discrepancy):
            text += f"at most {_percent(self.discrepancy_at_most)}"
        else:
            text += f"{_percent(self.discrepancy)} found, at most {_percent(self.discrepancy_at_most)}"
        return text if math.isnan(self.conflict_ratio) else f"{text}; conflict ratio {_percent(self.conflict_ratio)}"


def group_rows(groups_by: Any, n_points: int) -> dict[Any, npt.NDArray[np.intp]]:
    """The positions of each group's points, groups in sorted order.

    >>> group_rows(["b", "a", "b"], 3)
    {'a': array([1]), 'b': array([0, 2])}
    """
    labels = _series(groups_by, "groups_by").tolist()
    if len(labels) != n_points:
        raise InputError(f"groups_by has {len(labels)} group(s) for {n_points} point(s); one per point is needed")
    try:
        found = sorted(set(labels))
    except TypeError:  # of types that can't be compared: in the order in which they come
        found = list(dict.fromkeys(labels))
    return {group: np.flatnonzero([label == group for label in labels]) for group in found}


# --- reading what was given -----------------------------------------------------------------------------------------


def _series(given: Any, what: str) -> pd.Series:
    """A list, array or series of one dimension and without gaps. pandas sees the gaps of all of them, masked ones too."""
    try:
        series = pd.Series(given)
        series.unique()  # labels are looked up, so they must be hashable
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} can't be read; a sequence with one entry per point is needed: {error}") from error
    missing = np.flatnonzero(series.isna())
    if missing.size:
        raise InputError(
            f"{what} is missing (None or NaN) at {missing.size} point(s), first at point {missing[0]}; "
            "leave such points out"
        )
    return series


def _column(given: Any, what: str, n_points: int) -> list[Any]:
    labels: list[Any] = _series(given, what).tolist()
    if len(labels) != n_points:
        raise InputError(f"{what} has {len(labels)} label(s) for {n_points} verdict(s); one per point is needed")
    return labels


def _codes(verdicts: Any) -> SignArray:
    series = _series(verdicts.code if isinstance(verdicts, Verdicts) else verdicts, "verdicts")
    # True would pass for 1: a mask such as strongly_positive is no sequence of verdicts
    wrong = [code for code in series.unique().tolist() if isinstance(code, bool) or code not in list(Verdict)]
    if wrong:
        needed = ", ".join(f"{kind.value} ({kind.name})" for kind in _KINDS)
        raise InputError(f"verdicts has {wrong[0]!r}; a Verdicts is needed, or its codes: {needed}")
    return series.to_numpy(dtype=np.int8)


def _pair(classes: Sequence[Any] | None, columns: dict[str, list[Any]]) -> Classes | None:
    """The negative and the positive label: those given, or the two that occur; None if nothing occurs."""
    if classes is not None:
        given = _series(classes, "classes").tolist()
        if len(given) != 2 or given[0] == given[1]:
            raise InputError(f"classes is {given}; two different labels are needed, the negative and the positive one")
        return given[0], given[1]
    where = " and ".join(columns)
    try:
        found = sorted(set().union(*columns.values()))
    except TypeError as error:
        raise InputError(
            f"the labels of {where} are of types that can't be compared with each other: {error}"
        ) from error
    if not found:
        return None
    if len(found) != 2:
        shown = ", ".join(map(repr, found[:5])) + (", …" if len(found) > 5 else "")
        raise InputError(
            f"{len(found)} label(s) occur in {where} ({shown}); two are needed. "
            "Where only one occurs, say which it is: classes=(negative, positive)"
        )
    return found[0], found[1]


def _signs(labels: list[Any], what: str, pair: Classes | None) -> SignArray:
    """+1 for the positive label, -1 for the negative one: as verdicts, the codes of a method that is always sure."""
    if pair is None:
        return np.empty(0, np.int8)
    sign_of = {pair[0]: Verdict.STRONGLY_NEGATIVE, pair[1]: Verdict.STRONGLY_POSITIVE}
    signs = np.fromiter((sign_of.get(label, 0) for label in labels), np.int8, len(labels))
    strangers = np.flatnonzero(signs == 0)
    if strangers.size:
        raise InputError(
            f"{what} has {labels[strangers[0]]!r} at point {strangers[0]}, which is neither of the classes "
            f"{pair[0]!r} (negative) and {pair[1]!r} (positive); leave such points out, or give other classes"
        )
    return signs


# --- counting -------------------------------------------------------------------------------------------------------


def _counts(truth: SignArray, codes: SignArray) -> list[list[int]]:
    """For the truly positive and the truly negative points, how many have each kind of verdict."""
    return [[int(np.count_nonzero((truth == sign) & (codes == kind))) for kind in _KINDS] for sign in (1, -1)]


def _figures(truth: SignArray, codes: SignArray) -> Figures:
    (tp, fn, *positive_rest), (fp, tn, *negative_rest) = _counts(truth, codes)
    neutral, unknown = (p + n for p, n in zip(positive_rest, negative_rest, strict=True))
    return Figures(
        fp=fp,
        tp=tp,
        ppv=_share(tp, fp + tp),
        fn=fn,
        tn=tn,
        npv=_share(tn, fn + tn),
        neutral=neutral,
        neutral_share=_share(neutral, len(codes)),
        unknown=unknown,
        coverage=_share(fp + tp + fn + tn, len(codes)),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def _mean(figures: list[Figures]) -> Figures:
    columns = {field.name: [getattr(one, field.name) for one in figures] for field in fields(Figures)}
    defined = {name: [value for value in values if not math.isnan(value)] for name, values in columns.items()}
    return Figures(
        **{name: math.fsum(values) / len(values) if values else math.nan for name, values in defined.items()}
    )
