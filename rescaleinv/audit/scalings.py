"""What an ordinary SVM says of the points after each of the usual scalings of the features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, InseparableError, RescaleInvError
from rescaleinv.estimators.margin import Margin
from rescaleinv.estimators.reference import ReferenceSVM
from rescaleinv.scaling import BNSScaler, LocalProbabilityShaper
from rescaleinv.scaling.fisher import FisherScaler
from rescaleinv.scaling.logarithm import PositiveLogarithm
from rescaleinv.selection import CMIMSelector, FisherRatioSelector, L0Selector, MutualInformationSelector
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.svm import SVMSolution
from rescaleinv.theory.training_set import TrainingSet

RAW = "as given"
# A decision value nearer to zero than this, relative to its terms, is no evidence: the scaled features are rounded.
_NEAR = 1e-7
# A transformed feature is the feature times a factor, plus a constant, if that holds to this share of its range.
_PROPORTIONAL = 1e-9
_INSEPARABLE = "no hyperplane separates the training rows after it"
_OVERLAPPING = "the classes overlap too much for this ν after it"


def named_scalings() -> dict[str, Any]:
    """The scalings that an audit tries if not told otherwise: names and unfitted transformers.

    "BNS" and "Fisher" weight features by how well they separate the classes, "shaped" replaces values by estimates of the
    class probability, and the last four keep the best half of the features, or as many as separate the training rows (three
    of them look only at whether a value is zero).

    Returns
    -------
    dict from str to transformer
        In the order in which they are tried.

    Examples
    --------
    >>> list(named_scalings())[:5]
    ['as given', 'z-score', 'min-max', 'max-abs', 'robust']
    """
    return {
        RAW: FunctionTransformer(),
        "z-score": StandardScaler(),
        "min-max": MinMaxScaler(),
        "max-abs": MaxAbsScaler(),
        "robust": RobustScaler(),
        "logarithm": PositiveLogarithm(),
        "BNS": make_pipeline(MinMaxScaler(), BNSScaler(values="tf", threshold="best")),
        "Fisher": FisherScaler(),
        "shaped": LocalProbabilityShaper(),
        "best by Fisher": FisherRatioSelector(),
        "best by presence": L0Selector(),
        "best by information": MutualInformationSelector(),
        "best by CMIM": CMIMSelector(),
    }


_MEANINGS = {
    RAW: "nothing: the features as they are in the table",
    "z-score": "subtracts the mean, divides by the standard deviation",
    "min-max": "brings the training values of each feature into [0, 1]",
    "max-abs": "divides by the largest absolute value",
    "robust": "subtracts the median, divides by the range of the middle half",
    "logarithm": "the logarithm of features with positive values",
    "BNS": "weights features by how well they separate the classes (bi-normal separation)",
    "Fisher": "weights features by how well they separate the classes (Fisher's ratio)",
    "shaped": "replaces values by an estimate of the class probability near them",
    "best by Fisher": "keeps the features with the best Fisher ratio",
    "best by presence": "keeps features by whether a value is zero or not",
    "best by information": "keeps the features with most information about the class",
    "best by CMIM": "keeps features that tell most beyond those kept before",
}


def meaning_of(name: str) -> str:
    """What a scaling does, in words, if it is one of those that are tried by themselves; else "".

    >>> meaning_of("z-score")
    'subtracts the mean, divides by the standard deviation'
    """
    return _MEANINGS.get(name, "")


def checked_scalings(scalings: Any) -> dict[str, Any]:
    """The scalings to try, by name, with the features as they are given first."""
    if scalings is None:
        return named_scalings()
    if not isinstance(scalings, Mapping):
        raise InputError(
            f"scalings is a {type(scalings).__name__}; a mapping from names to transformers is needed, such as "
            '{"z-score": StandardScaler()}; named_scalings() gives those that are tried otherwise'
        )
    wrong = [name for name, scaler in scalings.items() if not (hasattr(scaler, "fit") and hasattr(scaler, "transform"))]
    if wrong:
        raise InputError(f"the scaling {wrong[0]!r} is not a transformer: it must have fit and transform")
    return {RAW: FunctionTransformer(), **{str(name): scaler for name, scaler in scalings.items()}}


@dataclass(frozen=True, eq=False)
class ScalingResult:
    """The labels that the SVM of one scaling gives to the points.

    Attributes
    ----------
    name : str
    kind : str
        "diagonal": each feature times a positive factor, which no strong verdict may depend on; "selection": some features
        times positive factors, the others dropped, which is the limit of such; "other": something else, such as a
        logarithm, of which verdicts say nothing; "none": there are no labels, and ``note`` says why.
    factors : array or None
        One per feature, 0 for one that is dropped; None where it is not that.
    values : array or None
        The decision values of the points.
    near : bool array or None
        Where these are too near to zero for a float to have a sign.
    note : str

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
    >>> audit.scalings[0].name, audit.scalings[0].kind
    ('as given', 'diagonal')
    """

    name: str
    kind: str
    factors: FloatArray | None = None
    values: FloatArray | None = None
    near: npt.NDArray[np.bool_] | None = None
    note: str = ""

    @property
    def bound_by_verdicts(self) -> bool:
        """Whether a strong verdict says what the labels are.

        Examples
        --------
        >>> from rescaleinv.audit import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> {one.name: one.bound_by_verdicts for one in audit.scalings if one.name in ("z-score", "logarithm", "shaped")}
        {'z-score': True, 'logarithm': True, 'shaped': False}
        """
        return self.kind in ("diagonal", "selection")

    def signs(self, code: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """+1 or -1 for each point (0 where there is no label); where a float can't tell, what a strong verdict says.

        Parameters
        ----------
        code : int8 array
            The verdicts of the points.

        Returns
        -------
        int8 array

        Examples
        --------
        >>> from rescaleinv.audit import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> audit.scalings[1].name, audit.scalings[1].signs(audit.verdicts.code)
        ('z-score', array([1, 1], dtype=int8))
        """
        if self.values is None or self.near is None:
            return np.zeros(len(code), dtype=np.int8)
        signs = np.where(self.values >= 0, 1, -1).astype(np.int8)
        if self.bound_by_verdicts:
            settled = self.near & (np.abs(code) == 1)
            signs[settled] = code[settled]
        return signs

    def contradictions(self, code: npt.NDArray[np.int8]) -> npt.NDArray[np.intp]:
        """The points with a strong verdict that this scaling clearly gives the other label. There should be none.

        Parameters
        ----------
        code : int8 array
            The verdicts of the points.

        Returns
        -------
        int array
            Their positions.

        Examples
        --------
        >>> from rescaleinv.audit import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]], most_radii=0)
        >>> audit.scalings[1].name, audit.scalings[1].contradictions(audit.verdicts.code)
        ('z-score', array([], dtype=int64))
        """
        if self.values is None or self.near is None or not self.bound_by_verdicts:
            return np.empty(0, dtype=np.intp)
        against = ((code == 1) & (self.values < 0)) | ((code == -1) & (self.values > 0))
        return np.flatnonzero(against & ~self.near)


def clear_values(svm: SVMSolution | ReferenceSVM, points: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """The decision values, and where they are too near to zero to be believed."""
    values = svm.decision_function(points)
    shifted = np.abs(points - svm.training_set.conditioning.anchor)
    return values, np.abs(values) <= _NEAR * (1 + shifted @ np.abs(svm.weights) + abs(svm.value_at_anchor))


def labels_after(name: str, transformer: Any, margin: Margin, points: FloatArray) -> ScalingResult:
    """Fit the transformer to the training rows, train the SVM with this margin on what comes out, and label the points.

    A selector (with a parameter ``n_features_to_select``) after which nothing separates the rows gets more features, one
    at a time.
    """
    found = _labels(name, transformer, margin, points)
    if (
        found.note not in (_INSEPARABLE, _OVERLAPPING)
        or found.factors is None
        or "n_features_to_select" not in transformer.get_params()
    ):
        return found
    for more in range(int(np.count_nonzero(found.factors)) + 1, margin.training_set.n_features):
        wider = _labels(name, clone(transformer).set_params(n_features_to_select=more), margin, points)
        if wider.values is not None:
            without = "nothing separates the rows" if margin.nu is None else "the classes overlap too much for this ν"
            return replace(wider, note=f"{more} features kept; with fewer {without}")
    return found


def _labels(name: str, transformer: Any, margin: Margin, points: FloatArray) -> ScalingResult:
    rows, signs = margin.training_set.features, margin.training_set.signs
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what goes wrong is said in the note
            fitted = clone(transformer).fit(rows, signs)
            if not _tells_features_apart(fitted):
                return ScalingResult(name, "none", note="it can't tell these features from each other")
            scaled = as_matrix(fitted.transform(rows), what=f"the training rows after {name}")
            after = as_matrix(fitted.transform(points), what=f"the points after {name}", n_features=scaled.shape[1])
    except (RescaleInvError, ValueError, TypeError) as error:
        return ScalingResult(name, "none", note=f"can't be applied: {error}")
    factors = read_factors(fitted, np.vstack([rows, points]), np.vstack([scaled, after]))
    kind = "other" if factors is None else "diagonal" if factors.all() else "selection"
    try:
        svm = margin.svm_of(TrainingSet(scaled, signs, positive=1))
    except InseparableError:
        return ScalingResult(name, "none", factors, note=_INSEPARABLE if margin.nu is None else _OVERLAPPING)
    except RescaleInvError as error:
        return ScalingResult(name, "none", factors, note=f"no SVM: {error}")
    same = np.array_equal(scaled, rows) and np.array_equal(after, points)
    note = "changes nothing on these data" if same and name != RAW else ""
    return ScalingResult(name, kind, factors, *clear_values(svm, after), note)


def _tells_features_apart(fitted: Any) -> bool:
    """Not so for a selector that keeps nothing, or for which no feature is worth anything."""
    return not hasattr(fitted, "get_support") or bool(
        fitted.get_support().any() and np.any(getattr(fitted, "scores_", 1))
    )


def read_factors(fitted: Any, before: FloatArray, after: FloatArray) -> FloatArray | None:
    """The factors, if each feature was multiplied by one (mirrored or not) and shifted, or dropped; None if not.

    Read off the rows themselves, so that it holds for any transformer, whatever it calls its attributes.
    """
    n = before.shape[1]
    places = np.arange(n)
    if after.shape[1] != n:
        if not hasattr(fitted, "get_support"):
            return None
        places = np.flatnonzero(fitted.get_support())
        if len(places) != after.shape[1]:
            return None
    factors = np.zeros(n)
    for column, j in enumerate(places):
        change, result = before[:, j] - before[0, j], after[:, column] - after[0, column]
        far = int(np.abs(change).argmax())
        if change[far] == 0:  # a constant feature, which gets no weight at all
            factors[j] = 1.0
            continue
        factor = result[far] / change[far]
        if np.abs(result - factor * change).max() > _PROPORTIONAL * max(np.abs(result).max(), 1e-300):
            return None
        factors[j] = abs(factor)
    return factors if factors.any() else None
