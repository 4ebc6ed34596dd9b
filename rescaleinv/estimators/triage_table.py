"""A table to decide what to look at first: label, verdict, how far the label holds, decision value, calibrated figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.deadline import run_within, share_of_run
from rescaleinv._util.frames import FrameKind, pandas_frame
from rescaleinv._util.parameters import is_number, shown
from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, MissingPackageError
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.theory.validation import checked_features, checked_labels
from rescaleinv.verdict import unusable_rows


class _OnlyNumbers(ClassifierMixin, BaseEstimator):
    """The estimator for rows that were checked already, whose columns have no names any more."""

    def __init__(self, estimator: RescaleInvariantSVC) -> None:
        self.estimator = estimator
        self.classes_ = estimator.classes_

    def fit(self, X: Any, y: Any) -> _OnlyNumbers:
        """It is fitted."""
        return self

    def decision_function(self, X: Any) -> Any:
        return self.estimator._fitted.reference.decision_function(np.asarray(X))

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) >= 0).astype(np.intp)]


def triage(
    estimator: RescaleInvariantSVC,
    X: Any,
    *,
    calibration: tuple[Any, Any] | None = None,
    confidence: float = 0.9,
    largest: float = 10.0,
    budget: float | None = None,
) -> Any:
    """One row per point, with what helps to decide which ones to look at again.

    Parameters
    ----------
    estimator : RescaleInvariantSVC
        Fitted.
    X : table of points
        One with a missing value has a verdict (UNKNOWN) and a reason, and nothing else.
    calibration : pair (X, y), optional
        Rows with known labels that the estimator was not trained on: for a calibrated probability (Platt's) and a conformal
        set of classes. Needs MAPIE.
    confidence : float
        Of the conformal sets: the true class is in the set of such a share of new points, on average.
    largest : float
        How far labels are followed; one that holds up to it has infinity in ``can change at``.
    budget : float, optional
        Seconds for all points together; what is open by then says so.

    Returns
    -------
    data frame
        Of the kind and with the index of X. Columns ``label``, ``verdict``, ``holds up to`` and ``can change at`` (the
        rescaling radius), ``value`` (at the given scaling), ``lower`` and ``upper`` (over all rescalings), ``reason``; with
        ``calibration`` also ``probability`` (of the positive class) and ``conformal set``. This is about scaling; only the
        last two are about accuracy.

    Examples
    --------
    >>> from rescaleinv import RescaleInvariantSVC
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
    >>> print(triage(clf, [[-1, 4], [4, 4]])[["label", "verdict", "holds up to", "value"]].round(1))
      label            verdict  holds up to  value
    0    up            neutral          1.0    1.5
    1    up  strongly positive          inf   14.0
    """
    if not isinstance(estimator, RescaleInvariantSVC):
        raise InputError(f"the estimator is a {type(estimator).__name__}; a fitted RescaleInvariantSVC is needed")
    check_is_fitted(estimator)
    if not is_number(confidence) or not 0 < confidence < 1:
        raise InputError(f"confidence is {shown(confidence)}; a number between 0 and 1 is needed")
    known = None if calibration is None else _checked_calibration(estimator, calibration)
    with run_within(budget, interruptible=budget is not None):
        with share_of_run(0.5):
            verdicts = estimator.certify(X)
        rows = checked_features(estimator, X, fitting=False, holes=True)
        usable = np.array(unusable_rows(rows) == "", dtype=bool)
        radius, values = np.full((len(rows), 2), np.nan), np.full(len(rows), np.nan)
        open_rows = usable & ~(verdicts.strong & ("range" not in verdicts.engine.scope))
        radius[usable & ~open_rows] = np.inf
        if open_rows.any():
            radius[open_rows] = estimator._radius_search().within_run(
                rows[open_rows], ratio=1.1, largest=largest, report=lambda done: None
            )
    if usable.any():
        values[usable] = estimator._fitted.reference.decision_function(rows[usable])
    columns: dict[str, Any] = dict(verdicts._columns())
    table = {
        "label": columns["label"],
        "verdict": columns["verdict"],
        "holds up to": radius[:, 0],
        "can change at": radius[:, 1],
        "value": values,
        "lower": columns["lower"],
        "upper": columns["upper"],
    }
    if known is not None:
        table |= _calibrated(estimator, known, confidence, rows, usable)
    table["reason"] = columns["reason"]
    kind = FrameKind.of(X)
    return pandas_frame(table) if kind is None else kind.made_of(table)


def _checked_calibration(estimator: RescaleInvariantSVC, calibration: Any) -> tuple[FloatArray, npt.NDArray[Any]]:
    if not (isinstance(calibration, tuple) and len(calibration) == 2):
        raise InputError("calibration is a pair (X, y) of rows that the estimator was not trained on")
    known = checked_features(estimator, calibration[0], fitting=False)
    labels = np.atleast_1d(np.asarray(calibration[1]))
    if len(labels) != len(known):
        raise InputError(f"calibration has {len(labels)} labels for {len(known)} rows; one per row is needed")
    labels = checked_labels(estimator, labels, len(known))
    if not np.isin(labels, estimator.classes_).all():
        raise InputError(f"calibration has other labels than the model, which has {estimator.classes_.tolist()}")
    return known, labels


def _calibrated(
    estimator: RescaleInvariantSVC,
    calibration: tuple[FloatArray, npt.NDArray[Any]],
    confidence: float,
    rows: Any,
    usable: npt.NDArray[np.bool_],
) -> dict[str, Any]:
    """The probability of the positive class, and the classes of a split conformal set, by one half of the rows each."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError as error:
        raise MissingPackageError("calibration", "MAPIE", '"rescaleinv[conformal]"') from error
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    known, labels = calibration
    probability, sets = np.full(len(rows), np.nan), np.full(len(rows), "", dtype=object)
    plain = _OnlyNumbers(estimator)
    calibrated = CalibratedClassifierCV(FrozenEstimator(plain), method="sigmoid").fit(known[::2], labels[::2])
    conformal = SplitConformalClassifier(FrozenEstimator(calibrated), confidence_level=confidence, prefit=True)
    conformal.conformalize(known[1::2], labels[1::2])
    if usable.any():
        probability[usable] = calibrated.predict_proba(rows[usable])[:, 1]
        chosen = conformal.predict_set(rows[usable])[1][:, :, 0]
        sets[usable] = [" or ".join(str(name) for name in estimator.classes_[row]) for row in chosen]
    return {"probability": probability, "conformal set": sets}
