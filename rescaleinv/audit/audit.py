"""How much of this classifier is an accident of scaling? Verdicts, the usual scalings and single features side by side."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from rescaleinv._util.deadline import is_over, run_within, share_of_run
from rescaleinv._util.parameters import checked_count, is_number, is_sequence, shown
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.types import FloatArray
from rescaleinv.audit.diagnosis import diagnose
from rescaleinv.audit.features import SingleFeature, features_at_rest, neutral_without, not_rescaled, rescaled_alone
from rescaleinv.audit.limited import LimitedUnits, limited_units
from rescaleinv.audit.result import Audit
from rescaleinv.audit.scalings import ScalingResult, checked_scalings, labels_after
from rescaleinv.errors import InputError, LeftOutWarning
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.metrics import StrongReport, group_rows, strong_report
from rescaleinv.theory.inputs import as_matrix, column_names, is_missing
from rescaleinv.theory.nu_margin import nu_of
from rescaleinv.verdict import Verdicts

# Vertices of the complex times features: up to here the complexes without each of the features are a matter of seconds.
_MOST_VERTICES = 2_000_000
# Of what is left of the budget, one step after the other.
_SHARE_OF_VERDICTS, _SHARE_OF_SVMS, _SHARE_OF_UNITS = 0.5, 0.4, 0.85


def scaling_audit(
    X_train: Any,
    y_train: Any,
    X_test: Any,
    y_test: Any = None,
    scalings: Any = None,
    *,
    estimator: RescaleInvariantSVC | None = None,
    class_names: Sequence[Any] | None = None,
    noun: str = "points",
    kappa: float = 4.0,
    most_radii: int | None = None,
    fixed: Sequence[Any] | None = None,
    budget: float | None = None,
    groups_by: Any = None,
    causes: bool = False,
    progress: bool | None = None,
) -> Audit:
    """Find out how much the labels of the test points depend on how the features were scaled.

    Each point gets its verdict under every rescaling, its label after each of the usual scalings, and the features that
    change its label when they alone are recorded in other units. Every SVM has the same margin and the same training rows:
    the hard margin where a hyperplane separates the classes, and otherwise what the estimator's ``inconsistent`` says (the
    soft margin with one ν for all, or the hard margin without the rows that were left out).

    Parameters
    ----------
    X_train, y_train : table and two classes
    X_test : table
        The points; the index of a data frame gives them their names.
    y_test : sequence of labels, optional
        The true classes; None or nan where one is not known.
    scalings : mapping from name to transformer, optional
        What to compare; ``named_scalings()`` if not given. Each transformer is cloned and fitted to the training rows with
        their classes (as -1 and 1). The features as they are given always come first.
    estimator : RescaleInvariantSVC, optional
        With settings of your own (engine, time limit, …) and no ``scale_range``. A finite C is taken as the ν that stands
        for it, see :func:`rescaleinv.nu_of`: a penalty has no meaning under every rescaling.
    class_names : pair, optional
        What to call the negative and the positive class (the first and the second in sorted order).
    noun : str
        What the points are, for the findings: "patients".
    kappa : float
        The factor in question when units may be off by a limited one.
    most_radii : int, optional
        For so many of the points without a strong verdict at most the rescaling radius is found, evenly chosen; all if not
        given, 0 leaves it out.
    fixed : sequence of feature names or numbers, optional
        Features whose scale is not in question where factors are limited and where single features are recorded in other
        units. If not given, those with two values in the training rows: yes and no have no unit.
    budget : float, optional
        Seconds for the whole audit. What it does not suffice for is left open, and the findings say so. Ctrl-C ends it
        early. No limit if not given.
    groups_by : sequence, optional
        The group of each point (a species, a clinic), for figures by group.
    causes : bool
        Whether to say too why the labels of ``SVC(kernel="linear")`` change with the usual scalers, see
        :func:`rescaleinv.diagnose`.
    progress : bool, optional
        Show progress; on a terminal if not given.

    Returns
    -------
    Audit
        ``print`` shows its findings, ``write_report`` makes a page of it.

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> features, labels, _ = load("breast_cancer_wisconsin")
    >>> audit = scaling_audit(features[:30], labels[:30], features[30:130], labels[30:130], noun="tumours", most_radii=0)
    >>> audit
    Audit(100 points: 37 strongly positive (37%), 4 strongly negative (4%), 59 neutral (59%); 10 scalings)
    >>> audit.findings[1].text
    '41 of 100 tumours (41 %) get the same label under every rescaling of the features: 37 class 1, 4 class -1.'
    >>> audit.disagreement.loc["z-score", "min-max"]
    np.float64(0.08)
    >>> audit.consistency.holds
    True
    """
    if not (is_number(kappa) and 1 < kappa < math.inf):
        raise InputError(f"kappa is {kappa!r}; a finite factor above 1 is needed")
    most_radii = None if most_radii is None else checked_count(most_radii, "most_radii")
    chosen = checked_scalings(scalings)
    with run_within(budget, interruptible=budget is not None):
        model = _fitted(estimator, X_train, y_train)
        points = as_matrix(X_test, what="X_test", n_features=model.n_features_in_)
        if not len(points):
            raise InputError("X_test has no rows; a point at least is needed")
        if groups_by is not None and not is_sequence(groups_by):
            raise InputError(f"groups_by is {shown(groups_by)}; a sequence with one group per point is needed")
        groups = None if groups_by is None else list(groups_by)
        if groups is not None:
            group_rows(groups, len(points))  # which says what is wrong with them before any work
        names = _class_names(class_names, model)
        truth = _truth(y_test, model, len(points))
        at_rest = features_at_rest(model.training_set_, fixed)
        with share_of_run(_SHARE_OF_VERDICTS):
            verdicts = model.certify(X_test)
        values = model.decision_function(X_test)
        results, alone = _labels_of_svms(model, points, values, chosen, at_rest, progress)
        limited = _limited(model, points, verdicts, at_rest, kappa, most_radii, progress)
        without, reason = _without_each(model, points, progress)
        wanted = causes and not is_over()
        diagnosis = diagnose(None, X_train, y_train, X_test, progress=progress) if wanted else None
    return Audit(
        model=model,
        verdicts=replace(verdicts, classes=names),
        values=values,
        scalings=results,
        alone=alone,
        dropped=without,
        limited=limited,
        report=_report(truth, model, verdicts, values),
        truth=np.array([None if sign == 0 else names[sign > 0] for sign in truth.tolist()], dtype=object),
        feature_names=_feature_names(model),
        point_names=_point_names(X_test, len(points)),
        class_names=names,
        noun=noun,
        notes=[reason] if reason else [],
        groups=groups,
        diagnosis=diagnosis,
        at_rest=at_rest,
    )


def _labels_of_svms(
    model: RescaleInvariantSVC,
    points: FloatArray,
    values: FloatArray,
    chosen: dict[str, Any],
    at_rest: npt.NDArray[np.bool_],
    progress: bool | None,
) -> tuple[list[ScalingResult], list[SingleFeature]]:
    """The labels after each named scaling, and with single features in other units, as far as the time goes."""
    results: list[ScalingResult] = []
    alone: list[SingleFeature] = []
    with share_of_run(_SHARE_OF_SVMS), progress_bar("SVMs", progress, total=len(chosen) + len(at_rest)) as bar:
        for name, transformer in chosen.items():
            if is_over() and results:
                results.append(ScalingResult(name, "none", note="there was no time for it"))
            else:
                results.append(labels_after(name, transformer, model._fitted.margin, points))
            bar.show(len(results))
        for j, resting in enumerate(at_rest.tolist()):
            alone.append(not_rescaled(len(points)) if resting else rescaled_alone(model, points, values, j))
            bar.show(len(results) + len(alone))
    return results, alone


def _without_each(
    model: RescaleInvariantSVC, points: FloatArray, progress: bool | None
) -> tuple[list[tuple[float, str]], str]:
    """The share of neutral points without each feature, and why that was not asked for, if it was not."""
    n, reason = model.n_features_in_, _why_not_without(model)
    if reason:
        return [(math.nan, "not asked")] * n, reason
    found = []
    with progress_bar("features left out", progress, total=n) as bar:
        for j in range(n):
            found.append((math.nan, "there was no time for it") if is_over() else neutral_without(model, points, j))
            bar.show(j + 1)
    return found, ""


def _fitted(estimator: RescaleInvariantSVC | None, X: Any, y: Any) -> RescaleInvariantSVC:
    if estimator is None:
        estimator = RescaleInvariantSVC()
    if not isinstance(estimator, RescaleInvariantSVC):
        raise InputError(f"the estimator is a {type(estimator).__name__}; a RescaleInvariantSVC is needed")
    if estimator.scale_range is not None:
        raise InputError("an audit is of all rescalings: scale_range=None is needed")
    if estimator.groups is not None:
        raise InputError("an audit rescales every feature on its own: groups=None is needed")
    chosen = clone(estimator)
    if is_number(chosen.C) and 0 < chosen.C < math.inf and chosen.nu is None:
        chosen.set_params(C=math.inf, nu=nu_of(chosen.C, X, y, class_weight=chosen.class_weight))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)  # the findings say it
        model: RescaleInvariantSVC = chosen.fit(X, y)
    return model


def _limited(
    model: RescaleInvariantSVC,
    points: FloatArray,
    verdicts: Verdicts,
    at_rest: npt.NDArray[np.bool_],
    kappa: float,
    most_radii: int | None,
    progress: bool | None,
) -> LimitedUnits | None:
    if most_radii == 0 or at_rest.all():
        return None
    most = len(points) if most_radii is None else most_radii
    with share_of_run(_SHARE_OF_UNITS), progress_bar("rows, how far labels hold", progress) as bar:
        return limited_units(model, points, verdicts, at_rest, kappa, most, bar)


def _why_not_without(model: RescaleInvariantSVC) -> str:
    """Why verdicts are not asked for without each of the features; "" if they are."""
    if not model.engine_.abilities.enumerates:
        return f"The engine {model.engine_} decides points one by one: it was not asked for verdicts without a feature."
    extremes = model.engine_.engine.extremes()
    if extremes is None or len(extremes.solutions) * model.n_features_in_ > _MOST_VERTICES:
        return "There are so many features that verdicts without each of them were not asked for."
    return ""


def _feature_names(model: RescaleInvariantSVC) -> list[str]:
    names = model.training_set_.feature_names
    return [f"feature {j}" for j in range(model.n_features_in_)] if names is None else list(names)


def _point_names(X: Any, n: int) -> list[str]:
    index = getattr(X, "index", None) if column_names(X) is not None else None
    return [str(name) for name in (range(n) if index is None or callable(index) else index)]


def _class_names(given: Sequence[Any] | None, model: RescaleInvariantSVC) -> tuple[str, str]:
    if given is not None and not is_sequence(given):
        raise InputError(f"class_names is {given!r}; two different names are needed, the negative class first")
    names = [str(name) for name in (model.classes_.tolist() if given is None else given)]
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"class_names is {given!r}; two different names are needed, the negative class first")
    return names[0], names[1]


def _truth(y_test: Any, model: RescaleInvariantSVC, n: int) -> npt.NDArray[np.int8]:
    """+1, -1, and 0 where the class is not known."""
    if y_test is None:
        return np.zeros(n, dtype=np.int8)
    if not is_sequence(y_test):
        raise InputError(f"y_test is {y_test!r}; a sequence with one label per point is needed")
    labels = list(y_test)
    if len(labels) != n:
        raise InputError(f"y_test has {len(labels)} labels for {n} points; one per point is needed, None if not known")
    negative, positive = model.classes_.tolist()
    signs = np.zeros(n, dtype=np.int8)
    for i, label in enumerate(labels):
        if is_missing(label):
            continue
        if label not in (negative, positive):
            raise InputError(f"y_test has {label!r} at point {i}; the classes are {negative!r} and {positive!r}")
        signs[i] = 1 if label == positive else -1
    return signs


def _report(
    truth: npt.NDArray[np.int8], model: RescaleInvariantSVC, verdicts: Verdicts, values: FloatArray
) -> StrongReport | None:
    known = truth != 0
    if not known.any():
        return None
    return strong_report(truth[known], verdicts[known], np.where(values[known] >= 0, 1, -1), classes=(-1, 1))
