"""The audit itself: everything that was found out about a training set and the points of a test set."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rescaleinv._util.files import replacing
from rescaleinv._util.types import FloatArray
from rescaleinv.audit.answer import Answer, answer_of
from rescaleinv.audit.features import SingleFeature, shown_power
from rescaleinv.audit.limited import LimitedUnits
from rescaleinv.audit.scalings import ScalingResult
from rescaleinv.errors import InputError
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.metrics import MultiplicityFigures, StrongReport, group_rows
from rescaleinv.verdict import Verdict, Verdicts, verdict_words

if TYPE_CHECKING:
    import pandas as pd

    from rescaleinv.audit.diagnosis import Diagnosis
    from rescaleinv.audit.findings import Finding


class SVMAtRescaling(NamedTuple):
    """An SVM of rescaled features, and what it makes of one point, feature by feature.

    ``value`` is its decision value, the sum of ``base`` (its value at the mean of the training rows) and ``contributions``
    (one per feature: weight times the distance from that mean); ``name`` says in words what was rescaled.

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
    >>> audit.two_rescalings(0)[1].name
    'feature 0 times 2'
    """

    name: str
    factors: FloatArray
    contributions: FloatArray
    base: float
    value: float


class Consistency(NamedTuple):
    """The check that no rescaling contradicts a strong verdict.

    ``n_rescalings`` scalings were compared, ``n_labels`` labels of points with strong verdicts; ``contradictions`` are
    (scaling, position of the point).

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
    >>> audit.consistency.holds
    True
    """

    n_rescalings: int
    n_labels: int
    contradictions: list[tuple[str, int]]

    @property
    def holds(self) -> bool:
        """No scaling that is a rescaling contradicts a strong verdict.

        Examples
        --------
        >>> Consistency(12, 240, []).holds, Consistency(12, 240, [("z-score", 7)]).holds
        (True, False)
        """
        return not self.contradictions


@dataclass(frozen=True, eq=False)
class Audit:
    """What :func:`scaling_audit` found; ``print`` shows the findings.

    Attributes
    ----------
    model : RescaleInvariantSVC
        Fitted to the training rows.
    verdicts : Verdicts
        Of the points, under every rescaling.
    values : float array
        The plain SVM's decision values, the features being as they are given.
    scalings : list of ScalingResult
        The labels after each named scaling; the first is the features as they are given.
    alone : list of SingleFeature
        For each feature, which labels change when it alone is rescaled.
    dropped : list of (share, note)
        For each feature, the share of neutral points without it, or nan and why.
    limited : LimitedUnits or None
        What units that are off by a limited factor do; None if that was not asked for.
    report : StrongReport or None
        How often labels and strong verdicts are right, where the truth is known.
    truth : array of object
        The true classes by name; None where not known.
    feature_names, point_names : list of str
    class_names : pair of str
        Of the negative and the positive class.
    noun : str
        What the points are.
    notes : list of str
        What was left out, or could not be done.
    groups : list or None
        The group of each point, where figures by group were asked for.
    diagnosis : Diagnosis or None
        Why the labels of ordinary SVMs change with the usual scalers, where that was asked for.
    at_rest : bool array
        Features that are not rescaled where factors are limited, nor alone.

    Examples
    --------
    >>> from rescaleinv import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
    >>> audit.verdicts.code, audit.changed_by(0)
    (array([0, 1], dtype=int8), ['feature 0 times 2', 'feature 1 divided by 2'])
    """

    model: RescaleInvariantSVC
    verdicts: Verdicts
    values: FloatArray
    scalings: list[ScalingResult]
    alone: list[SingleFeature]
    dropped: list[tuple[float, str]]
    limited: LimitedUnits | None
    report: StrongReport | None
    truth: npt.NDArray[Any]
    feature_names: list[str]
    point_names: list[str]
    class_names: tuple[str, str]
    noun: str = "points"
    notes: list[str] = field(default_factory=list)
    groups: list[Any] | None = None
    diagnosis: Diagnosis | None = None
    at_rest: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def answer(self) -> Answer | None:
        """How many labels hold within the factor in question, and how far; None if that was not asked for.

        Where only some of the points without a strong verdict were asked about, the others are not settled.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
        >>> audit.answer
        Answer(kappa=4.0, total=2, hold=1, change=1, within_two=1, every=1)
        """
        if self.radius is None or self.limited is None:
            return None
        known = np.where(np.isnan(self.radius), [1.0, np.inf], self.radius)
        return answer_of(known, self.limited.kappa, every=int(self.verdicts.strong.sum()))

    @property
    def radius(self) -> FloatArray | None:
        """For each point [certified κ, refuted κ], nan where it was not asked for; None if for no point.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
        >>> audit.radius.round(1)
        array([[1. , 1.1],
               [inf, inf]])
        """
        return None if self.limited is None else self.limited.radius

    def __len__(self) -> int:
        return len(self.verdicts)

    @cached_property
    def signs(self) -> npt.NDArray[np.int8]:
        """One row per scaling, one column per point: 1 positive, -1 negative, 0 where the scaling has no labels.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> dict(zip([scaling.name for scaling in audit.scalings[:3]], audit.signs[:3].tolist(), strict=True))
        {'as given': [1, 1], 'z-score': [1, 1], 'min-max': [1, 1]}
        """
        rows = [scaling.signs(self.verdicts.code) for scaling in self.scalings]
        rows[0] = np.where(self.values >= 0, 1, -1).astype(np.int8)  # the plain SVM's labels are exact
        return np.vstack(rows)

    @cached_property
    def usable(self) -> npt.NDArray[np.bool_]:
        """Which of the scalings have labels.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> [scaling.name for scaling, usable in zip(audit.scalings, audit.usable, strict=True) if not usable][:2]
        ['shaped', 'best by Fisher']
        """
        return np.array([scaling.values is not None for scaling in self.scalings])

    @property
    def disagreement(self) -> pd.DataFrame:
        """For each pair of scalings the share of the points that get different labels; nan where one has none.

        Examples
        --------
        >>> from sklearn.preprocessing import StandardScaler
        >>> from rescaleinv import scaling_audit
        >>> rows, points = [[-1, 50], [5, -10], [1.4, 14], [1, 10]], [[-1, 30], [4, 40], [0, 0]]
        >>> audit = scaling_audit(rows, [1, 1, 1, -1], points, scalings={"z-score": StandardScaler()}, most_radii=0)
        >>> audit.disagreement.round(2)
                  as given  z-score
        as given      0.00     0.33
        z-score       0.33     0.00
        """
        import pandas as pd

        signs = self.signs.astype(float)
        signs[~self.usable] = np.nan
        shares = np.array([[np.mean(np.abs(a - b) / 2) for b in signs] for a in signs])
        names = [scaling.name for scaling in self.scalings]
        return pd.DataFrame(shares, index=names, columns=names)

    @property
    def split(self) -> npt.NDArray[np.bool_]:
        """The points that some of the named scalings call positive and others negative.

        Examples
        --------
        >>> from sklearn.preprocessing import StandardScaler
        >>> from rescaleinv import scaling_audit
        >>> rows, points = [[-1, 50], [5, -10], [1.4, 14], [1, 10]], [[-1, 30], [4, 40], [0, 0]]
        >>> audit = scaling_audit(rows, [1, 1, 1, -1], points, scalings={"z-score": StandardScaler()}, most_radii=0)
        >>> audit.split
        array([ True, False, False])
        """
        labels = self.signs[self.usable]
        return (labels.min(axis=0) < 0) & (labels.max(axis=0) > 0)

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """The points to which a rescaling that was tried gives another label: neutral ones, whatever the engine knows.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> audit.changed
        array([ True, False])
        """
        found = np.any([one.flips for one in self.alone], axis=0)
        for scaling in self.scalings:
            if scaling.kind == "diagonal" and scaling.values is not None and scaling.near is not None:
                found |= ~scaling.near & ((scaling.values >= 0) != (self.values >= 0))
        return found if self.radius is None else found | np.isfinite(self.radius[:, 1])

    @cached_property
    def multiplicity(self) -> dict[Any, MultiplicityFigures]:
        """Ambiguity, discrepancy and conflict ratio of all points ("all") and of each group.

        The discrepancy is over the rescalings that the audit tried (the named ones and single features); the conflict ratio
        over the named ones and the features as they are given.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> print(audit.multiplicity["all"])
        ambiguity 50.0%; discrepancy 50.0% found, at most 50.0%; conflict ratio 0.0%
        """
        given = np.where(self.values >= 0, 1, -1)
        usual = [
            np.where(one.near, 0, np.where(one.values >= 0, 1, -1))
            for one in self.scalings[1:]
            if one.kind == "diagonal" and one.values is not None and one.near is not None
        ]
        tried = np.array([*usual, *(signs for one in self.alone for signs in one.signs)], dtype=np.int8)
        tried = tried.reshape(-1, len(self))
        parts: dict[Any, Any] = {"all": slice(None)}
        if self.groups is not None:
            parts |= group_rows(self.groups, len(self))
        code = self.verdicts.code
        return {
            name: MultiplicityFigures.of(code[rows], given[rows], tried[:, rows], tried[: len(usual), rows])
            for name, rows in parts.items()
        }

    @cached_property
    def consistency(self) -> Consistency:
        """Whether any rescaling that was tried contradicts a strong verdict: there should be none.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> audit.consistency
        Consistency(n_rescalings=48, n_labels=48, contradictions=[])
        """
        code = self.verdicts.code
        bound = [one for one in self.scalings if one.bound_by_verdicts and one.values is not None]
        found = [(one.name, int(i)) for one in bound for i in one.contradictions(code)]
        for name, one in zip(self.feature_names, self.alone, strict=True):
            found += [(f"{name} {shown_power(power)}", i) for power, i in one.contradictions(code)]
        tried = len(bound) + sum(len(one.signs) for one in self.alone)
        return Consistency(tried, tried * int(self.verdicts.strong.sum()), found)

    @cached_property
    def findings(self) -> list[Finding]:
        """What it all means, in plain words, with the numbers behind.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> print(audit.findings[0].text)
        1 of 2 points (50 %) is neutral: the label, class 1 or class -1, depends on how the features were scaled.
        """
        from rescaleinv.audit.findings import all_findings

        return all_findings(self)

    @property
    def features(self) -> pd.DataFrame:
        """One row per feature: shares of the points, nan where not known.

        "alone": those whose label changes when this feature alone is rescaled, by a factor from 1/1024 to 1024 (at least
        so many: what was not found between the factors tried is not counted). "neutral without": those that are neutral
        if it is left out. "fixed": those whose label changes within ``limited.kappa``, but does not if the unit of this
        feature is fixed; where only some of the neutral points were asked about, they stand for all.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
        >>> audit.features[["alone", "fixed"]]
                   alone  fixed
        feature 0    0.5    0.0
        feature 1    0.5    0.0
        """
        import pandas as pd

        columns: dict[str, Any] = {
            "alone": [float(one.flips.mean()) if len(self) else np.nan for one in self.alone],
            "neutral without": [share for share, _ in self.dropped],
            "fixed": self._shares_if_fixed(),
            "note": [note for _, note in self.dropped],
        }
        return pd.DataFrame(columns, index=self.feature_names)

    def _shares_if_fixed(self) -> FloatArray:
        if self.limited is None or not self.limited.share:
            return np.full(len(self.feature_names), np.nan if self.limited is None else 0.0)
        return self.limited.kept / (len(self) * self.limited.share)

    def words(self, code: int) -> str:
        """A verdict in the names of the classes: "benign whatever the scaling".

        Parameters
        ----------
        code : int
            A ``Verdict``.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
        >>> audit = scaling_audit(rows, labels, [[-1, 4], [4, 4]], most_radii=0)
        >>> [audit.words(code) for code in audit.verdicts.code]
        ['depends on the scaling', 'up whatever the scaling']
        """
        return self.verdicts.words(code)

    def class_name(self, sign: int) -> str:
        """The name of the class that a sign stands for; "" for none.

        Parameters
        ----------
        sign : int
            +1, -1, or 0 for none.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
        >>> audit = scaling_audit(rows, labels, [[-1, 4], [4, 4]], most_radii=0)
        >>> audit.class_name(1), audit.class_name(-1)
        ('up', 'down')
        """
        return self.class_names[sign > 0] if sign else ""

    def changed_by(self, i: int) -> list[str]:
        """Which features change the label of point i when they are rescaled alone, and by which factor.

        Parameters
        ----------
        i : int
            The position of the point.

        Returns
        -------
        list of str

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> audit.changed_by(0), audit.changed_by(1)
        (['feature 0 times 2', 'feature 1 divided by 2'], [])
        """
        return [
            f"{name} {shown_power(int(one.flipping_power[i]))}"
            for name, one in zip(self.feature_names, self.alone, strict=True)
            if one.flips[i]
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row per point: verdict, interval, radius, the label after each scaling, the features that change it alone.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
        >>> frame = scaling_audit(rows, labels, [[-1, 4], [4, 4]], most_radii=0).to_frame()
        >>> frame.loc[0, ["verdict", "label, z-score", "changed by"]].to_dict()
        {'verdict': 'neutral', 'label, z-score': 'up', 'changed by': 'feature 0 times 2; feature 1 divided by 2'}
        """
        import pandas as pd

        frame = pd.DataFrame({"point": self.point_names})
        if any(label is not None for label in self.truth):
            frame["truth"] = self.truth
        frame["verdict"] = [verdict_words(code) for code in self.verdicts.code.tolist()]
        frame["lower"], frame["upper"] = self.verdicts.lower, self.verdicts.upper
        if self.radius is not None:
            frame["certified up to"], frame["refuted at"] = self.radius.T
        for scaling, signs in zip(self.scalings, self.signs, strict=True):
            frame[f"label, {scaling.name}"] = [self.class_name(int(sign)) for sign in signs]
        frame["changed by"] = ["; ".join(self.changed_by(i)) for i in range(len(self))]
        return frame

    def to_json(self, path: str | Path | None = None) -> str:
        """The whole audit as JSON, written to a file if a path is given; ``audit_schema()`` specifies it.

        Parameters
        ----------
        path : path or None
            Where to write it.

        Returns
        -------
        str
            The JSON text.

        Examples
        --------
        >>> import json
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4]], most_radii=0)
        >>> json.loads(audit.to_json())["points"][0]["verdict"]
        'neutral'
        """
        from rescaleinv.audit.export import audit_document

        text = json.dumps(audit_document(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            with replacing(path) as file:
                file.write(text.encode())
        return text

    def two_rescalings(self, i: int) -> tuple[SVMAtRescaling, SVMAtRescaling]:
        """Two rescalings that disagree about point i, which must be neutral: one that says positive, one negative.

        The simplest that are known: the features as they are given, and one feature in other units; if no single feature
        does it, one of the named scalings; else the two of ``verdicts.witness(i)``, which are certified.

        Parameters
        ----------
        i : int
            The position of the point.

        Returns
        -------
        tuple of SVMAtRescaling
            The one that says positive, and the one that says negative.

        Examples
        --------
        >>> from rescaleinv.audit import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4]])
        >>> positive, negative = audit.two_rescalings(0)
        >>> positive.name, negative.name, positive.value > 0 > negative.value
        ('the features as they are given', 'feature 0 times 2', True)
        """
        if self.verdicts[i] is not Verdict.NEUTRAL:
            raise InputError(
                f"point {i} is {verdict_words(self.verdicts.code[i])}: no two rescalings disagree about it"
            )
        given = ("the features as they are given", np.ones(len(self.feature_names)))
        other = self._single_feature(i) or self._named(i)
        if other is not None:
            pair = (given, other) if self.values[i] >= 0 else (other, given)
        else:
            witness = self.verdicts.witness(i)
            pair = (
                ("a rescaling that makes it positive", witness.positive),
                ("a rescaling that makes it negative", witness.negative),
            )
        positive, negative = (self._rescaling(i, *named) for named in pair)
        return positive, negative

    @cached_property
    def _svms(self) -> dict[bytes, Any]:
        """SVMs that were trained for points to look at, by their rescaling."""
        return {}

    def _single_feature(self, i: int) -> tuple[str, FloatArray] | None:
        powers = np.array([one.flipping_power[i] for one in self.alone], dtype=np.int64)
        if not powers.any():
            return None
        j = int(np.where(powers == 0, np.iinfo(np.int64).max, np.abs(powers)).argmin())
        factors = np.ones(len(powers))
        factors[j] = 2.0 ** int(powers[j])
        return f"{self.feature_names[j]} {shown_power(int(powers[j]))}", factors

    def _named(self, i: int) -> tuple[str, FloatArray] | None:
        for scaling in self.scalings[1:]:
            if scaling.kind != "diagonal" or scaling.values is None or scaling.near is None or scaling.near[i]:
                continue
            if (scaling.values[i] >= 0) != (self.values[i] >= 0) and scaling.factors is not None:
                return scaling.name, scaling.factors
        return None

    def _rescaling(self, i: int, name: str, factors: FloatArray) -> SVMAtRescaling:
        training_set = self.model.training_set_
        svm = self._svms.get(factors.tobytes())
        if svm is None:  # points share rescalings: that of the features as they are given, above all
            svm = self._svms[factors.tobytes()] = self.model._fitted.margin.svm_at(factors)
        middle = training_set.features.mean(axis=0)
        contributions = svm.weights * (self.verdicts.points[i] - middle)
        value = float(svm.decision_function(self.verdicts.points[i : i + 1])[0])
        return SVMAtRescaling(name, factors, contributions, value - float(contributions.sum()), value)

    @property
    def margin(self) -> str:
        """Which SVM this is about, in words: its margin, and how many training rows it has.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0).margin
        'Hard margin; 4 training rows'
        """
        words, rows = self.model.margin_, self.model.training_set_.n_rows
        return words[0].upper() + words[1:] + ("" if len(self.model.dropped_) else f"; {rows} training rows")

    def __str__(self) -> str:
        return "\n".join([self.margin, *(f"- {finding.text}" for finding in self.findings)])

    def __repr__(self) -> str:
        return f"Audit({repr(self.verdicts)[9:-1]}; {int(self.usable.sum())} scalings)"
