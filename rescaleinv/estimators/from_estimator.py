"""Models that people already have: an SVM of scikit-learn, trained again so that it can certify, and compared."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, InputTypeError, OtherInterceptWarning
from rescaleinv.theory.inputs import as_labels, as_matrix
from rescaleinv.theory.nu_margin import nu_at_rows
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.theory.validation import checked_weights, with_class_weights

# What is taken over from the model, and so is not for the caller to say.
_TAKEN_OVER = ("C", "nu", "class_weight", "inconsistent")
# A multiplier may exceed its bound by rounding, but not by more than this share of it.
_BEYOND = 1e-6
# Objectives that differ by less than this share are equal: libsvm gets no nearer with large penalties.
_SAME = 1e-4
# Intercepts that differ by more, where the margin is 1, are two.
_SAME_INTERCEPT = 1e-2

_OF_LINEAR_SVC = (
    "it penalises the intercept (and squares the hinge loss unless told otherwise), and on features that are not scaled "
    "it has usually not converged, so it is another classifier. Fit SVC(kernel='linear', C=…) to the same rows and give that"
)


def way_to_certify(model: Any) -> str:
    """What to do with a model that can't certify."""
    if isinstance(model, LinearSVC):
        return f"no verdicts are about a LinearSVC: {_OF_LINEAR_SVC} to RescaleInvariantSVC.from_estimator"
    if isinstance(model, SVC | NuSVC) and model.kernel == "linear":
        return "RescaleInvariantSVC.from_estimator(model, X_train, y_train) makes one of it that can"
    return "a fitted RescaleInvariantSVC is needed, or a pipeline or a search that ends in one"


def certifying(kind: Any, model: Any, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> Any:
    """``RescaleInvariantSVC.from_estimator``; ``kind`` is that class."""
    for name in _TAKEN_OVER:
        if name in parameters:
            raise InputError(f"{name} is given, but it is taken over from the model")
    if hasattr(model, "best_estimator_"):
        return certifying(kind, model.best_estimator_, X, y, sample_weight, parameters)
    if isinstance(model, Pipeline):
        check_is_fitted(model)
        before = model[:-1]
        inner = certifying(kind, model[-1], before.transform(X) if len(before) else X, y, sample_weight, parameters)
        return Pipeline([*model.steps[:-1], (model.steps[-1][0], inner)])
    intercept = parameters.pop("intercept", None)
    if intercept not in (None, "free"):
        raise InputError(f"intercept is {intercept!r}; 'free' is needed, or nothing")
    if isinstance(model, LinearSVC):
        return _of_linear_svc(kind, model, X, y, sample_weight, intercept, parameters)
    if intercept is not None:
        raise InputError(
            f"intercept='free' is for a LinearSVC: the intercept of a {type(model).__name__} is free already"
        )
    _require_supported(model)
    features = as_matrix(X, n_features=model.n_features_in_)
    weights = _row_weights(model, features, y, sample_weight)
    training_set, used = _training_set(features, y, weights)
    allowed = _require_optimum(model, training_set, used, weights)
    margin = _margin(model, training_set, used, parameters.get("scale_range"))
    found = kind(class_weight=_class_weight(model), **margin, **parameters).fit(X, y, sample_weight)
    _require_agreement(model, found, allowed)
    _compare_intercepts(model, found)
    return found


def _of_linear_svc(
    kind: Any, model: LinearSVC, X: Any, y: Any, sample_weight: Any, intercept: str | None, parameters: dict[str, Any]
) -> Any:
    """Refused, with the size of the difference; with ``intercept="free"`` the SVM of the same C whose intercept is free."""
    from rescaleinv.estimators.objectives import compare_with_optimum  # which knows our own estimator too

    check_is_fitted(model)
    features = as_matrix(X, n_features=model.n_features_in_)
    if intercept is None:
        said = f"a LinearSVC can't be taken over: {_OF_LINEAR_SVC}, or say intercept='free' to have that SVM certified"
        try:
            check = compare_with_optimum(model, X, y)
        except InputError:  # weights, or another penalty: how far it is off is not known
            raise InputTypeError(said) from None
        signs, _ = as_labels(y, len(features), positive=model.classes_[1])
        free = soft_margin_svm(TrainingSet(features, signs, positive=1), float(model.C))
        labels = features @ free.weights + free.intercept >= 0
        differ = int((labels != (model.decision_function(features) >= 0)).sum())
        raise InputTypeError(
            f"{said}. Of its {len(labels)} training rows {differ} get another label from the SVM with a free intercept; "
            f"{check}"
        )
    if model.class_weight is not None:
        raise InputError("the LinearSVC has a class_weight; fit SVC(kernel='linear', class_weight=…) and give that")
    weights = checked_weights(sample_weight, features)
    training_set, used = _training_set(features, y, weights)
    if parameters.get("scale_range") is not None:
        margin = {"C": float(model.C)}
    else:
        margin = {"nu": float(nu_at_rows(training_set, training_set.features, float(model.C), used))}
    return kind(**margin, **parameters).fit(X, y, sample_weight)


def _require_supported(model: Any) -> None:
    name = type(model).__name__
    if not isinstance(model, SVC | NuSVC):
        raise InputTypeError(
            f"a {name} was given, which has another objective; a fitted SVC(kernel='linear') or NuSVC(kernel='linear') is "
            "needed, alone or at the end of a pipeline"
        )
    if model.kernel != "linear":
        raise InputError(f"the {name} has kernel={model.kernel!r}; verdicts are about kernel='linear' only")
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise InputError(f"the {name} has {len(model.classes_)} classes; two are needed")


def _class_weight(model: Any) -> dict[Any, float] | None:
    """The weight of each class as it was used: "balanced" is a pair of numbers once the model is fitted."""
    if model.class_weight is None:
        return None
    return dict(zip(model.classes_.tolist(), np.asarray(model.class_weight_).tolist(), strict=True))


def _row_weights(model: Any, features: FloatArray, y: Any, sample_weight: Any) -> FloatArray:
    """The weights of the rows times those of their classes, which bound the model's multipliers."""
    labels = np.asarray(y)
    if labels.size != len(features):
        raise InputError(f"there are {labels.size} labels for {len(features)} rows; give what the model was fitted to")
    try:
        found = sorted(set(labels.ravel().tolist()))
    except TypeError as error:
        raise InputError(f"the labels can't be compared with each other: {error}") from error
    if found != model.classes_.tolist():
        raise InputError(f"y has the classes {found}, the model {model.classes_.tolist()}; give what it was fitted to")
    given = checked_weights(sample_weight, features)
    weights = with_class_weights(_class_weight(model), labels.ravel(), model.classes_, given)
    duals, support = _duals(model), model.support_
    if support.max(initial=-1) >= len(features):
        raise InputError(
            f"row {support.max()} is a support vector of the model, X has {len(features)} rows; give what it was fitted to"
        )
    if isinstance(model, SVC) and (duals > model.C * weights[support] * (1 + _BEYOND)).any():
        raise InputError(
            "a multiplier of the model is larger than C times the weight of its row: it was fitted to other rows, or with a "
            "sample_weight; give what it was fitted with"
        )
    return weights


def _training_set(features: FloatArray, y: Any, weights: FloatArray) -> tuple[TrainingSet, FloatArray]:
    """The rows that weigh something, and their weights."""
    rows = np.flatnonzero(weights)
    signs, _ = as_labels(np.asarray(y).ravel()[rows], len(rows))
    return TrainingSet(features[rows], signs, positive=1, read_as="float"), weights[rows]


def _margin(model: Any, training_set: TrainingSet, weights: FloatArray, scale_range: Any) -> dict[str, Any]:
    """C or ν: the model's own, or for the question about every rescaling the ν that equals its C at these features."""
    if isinstance(model, NuSVC):
        return {"nu": float(model.nu)}
    if scale_range is not None:
        return {"C": float(model.C)}
    return {"nu": float(nu_at_rows(training_set, training_set.features, float(model.C), weights))}


def _require_optimum(model: Any, training_set: TrainingSet, weights: FloatArray, full: FloatArray) -> float:
    """Refuse a model whose objective is further from its optimum than libsvm's ``tol`` explains; returns how far it may be.

    Where libsvm stops, no row violates its condition by more than ``tol``, so that the objective is at most tol · Σ C_i
    above the optimum. ``full`` has the weights of all rows.
    """
    # a NuSVC is the SVM with this penalty, in units in which its margin is 1
    C = float(model.C) if isinstance(model, SVC) else float((_duals(model) / full[model.support_]).max(initial=0.0))
    if not C > 0:
        raise InputError(f"the {type(model).__name__} has no support vector: it gives every point one label")
    tolerance = float(model.tol) * (1.0 if isinstance(model, SVC) else C)
    best = soft_margin_svm(training_set, C, weights)
    least = _objective(best.weights, best.intercept, training_set, C * weights)
    found = _objective(_coefficients(model), float(model.intercept_[0]), training_set, C * weights)
    allowed = 2 * tolerance * C * float(weights.sum()) + _SAME * least
    if found - least > allowed:
        stopped = f" (it stopped at max_iter={model.max_iter})" if model.fit_status_ else ""
        rows = training_set.features
        theirs = rows @ _coefficients(model) + float(model.intercept_[0]) >= 0
        differ = int((theirs != (rows @ best.weights + best.intercept >= 0)).sum())
        raise InputError(
            f"the {type(model).__name__} is not the SVM of these rows: its objective is {found:.6g}, and that of the SVM "
            f"trained again {least:.6g}{stopped}; {differ} of {len(rows)} labels of the rows differ. "
            "Give the rows, labels and weights that it was fitted to; if they are, it "
            "has not converged: scale the features or raise max_iter"
        )
    return allowed


def _require_agreement(model: Any, found: Any, allowed: float) -> None:
    """The weights point the same way. (The unit of a ν-SVM need not be unique, nor its intercept.)

    The objective is at least ½‖w - w*‖² above the optimum, which bounds how far the weights may be from the best ones.
    """
    theirs, ours = _coefficients(model), _coefficients(found)
    along = ours * float(theirs @ ours / (ours @ ours)) if ours.any() else ours
    if np.linalg.norm(theirs - along) > 2 * np.sqrt(2 * allowed):
        raise InputError(
            f"the {type(model).__name__} and the SVM that was trained again do not agree, although the former is near the "
            "optimum of its objective; please report this with the data"
        )


def _compare_intercepts(model: Any, found: Any) -> None:
    """Warn where the best intercept is not unique and the model has another one than the middle of the best ones."""
    theirs, ours = _coefficients(model), _coefficients(found)
    if not ours.any():
        return
    unit = float(theirs @ ours / (ours @ ours))
    given, middle = float(np.ravel(model.intercept_)[0]), unit * float(found.intercept_[0])
    if abs(given - middle) > _SAME_INTERCEPT:
        warnings.warn(OtherInterceptWarning(given, middle), stacklevel=4)


def _objective(coef: FloatArray, intercept: float, training_set: TrainingSet, penalties: FloatArray) -> float:
    slack = np.maximum(1 - training_set.signs * (training_set.features @ coef + intercept), 0)
    return float(coef @ coef / 2 + penalties @ slack)


def _coefficients(model: Any) -> FloatArray:
    coef = model.coef_
    return np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64).ravel()


def _duals(model: Any) -> FloatArray:
    """The multiplier of each support vector."""
    duals = model.dual_coef_
    return np.abs(np.asarray(duals.toarray() if hasattr(duals, "toarray") else duals).ravel())
