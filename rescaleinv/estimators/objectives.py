"""What a fitted linear SVM was meant to minimise, and how far it is from having done so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, InputTypeError
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.theory.inputs import as_labels, as_matrix
from rescaleinv.theory.optima import Objective, Optimum, optimum

# A multiplier may exceed C by rounding, but not by more than this share of it.
_BEYOND_C = 1e-6


def objective_of(model: Any) -> Objective:
    """What a fitted linear SVM for two classes minimises.

    Parameters
    ----------
    model : SVC, NuSVC, LinearSVC or RescaleInvariantSVC
        Fitted; not a pipeline.

    Returns
    -------
    Objective

    Raises
    ------
    InputError
        If it is none of these, or not linear, or has more than two classes, or weights; the message says which.

    Examples
    --------
    >>> objective_of(LinearSVC(C=3.0, loss="hinge").fit([[0.0], [1], [2], [3]], [0, 0, 1, 1]))
    Objective(loss='hinge', C=3.0, nu=nan, intercept='penalised', intercept_scaling=1.0)
    """
    name = type(model).__name__
    if not isinstance(model, SVC | NuSVC | LinearSVC | RescaleInvariantSVC):
        raise InputTypeError(
            f"a {name} was given; SVC(kernel='linear'), NuSVC(kernel='linear'), LinearSVC or RescaleInvariantSVC is needed, "
            "alone or as the last step of a pipeline"
        )
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise InputError(f"the {name} has {len(model.classes_)} classes; two are needed")
    if getattr(model, "class_weight", None) is not None:
        raise InputError(f"the {name} has class_weight={model.class_weight!r}; weights are not supported here")
    if isinstance(model, RescaleInvariantSVC):
        nu = getattr(model, "nu_", None)
        return Objective("hinge", C=float(model.C)) if nu is None else Objective("nu", nu=float(nu))
    if isinstance(model, LinearSVC):
        return _of_liblinear(model)
    if model.kernel != "linear":
        raise InputError(f"the {name} has kernel={model.kernel!r}; kernel='linear' is needed")
    if isinstance(model, NuSVC):
        return Objective("nu", nu=float(model.nu))
    duals = model.dual_coef_.data if hasattr(model.dual_coef_, "tocsr") else np.asarray(model.dual_coef_)
    if np.abs(duals).max(initial=0.0) > model.C * (1 + _BEYOND_C):
        raise InputError(f"the {name} was fitted with sample weights; weights are not supported here")
    return Objective("hinge", C=float(model.C))


def _of_liblinear(model: LinearSVC) -> Objective:
    if model.penalty != "l2":
        raise InputError(f"the LinearSVC has penalty={model.penalty!r}; penalty='l2' is needed")
    penalised = bool(model.fit_intercept)
    return Objective(
        "hinge" if model.loss == "hinge" else "squared hinge",
        C=float(model.C),
        intercept="penalised" if penalised else "none",
        intercept_scaling=float(model.intercept_scaling) if penalised else 1.0,
    )


@dataclass(frozen=True, eq=False)
class OptimumCheck:
    """A fitted model beside the optimum of its own objective.

    Attributes
    ----------
    model : estimator
    objective : Objective
    best : Optimum
    stopped : str
        How the solver came to an early end ("stopped at max_iter=1000"); "" if it did not say so.
    changed : bool array
        The points whose label at the optimum is another than the model's.
    """

    model: BaseEstimator
    objective: Objective
    best: Optimum
    stopped: str
    changed: npt.NDArray[np.bool_]

    @property
    def converged(self) -> bool:
        """Neither did the solver say that it stopped early, nor does a label differ from the optimum's."""
        return not self.stopped and not self.changed.any()

    def __str__(self) -> str:
        name = type(self.model).__name__
        count = f"{int(self.changed.sum())} of {len(self.changed)} labels differ from those of its optimum"
        if not self.best.reached:
            return f"{name}: its optimum was not found to full accuracy (residual {self.best.residual:.1g}); {count}"
        return f"{name} {self.stopped or 'ran to its end'}; {count}"


def how_it_stopped(model: Any) -> str:
    """ "stopped at max_iter=…" where a fitted model's ``fit_status_`` or ``n_iter_`` says so, else "".

    >>> how_it_stopped(SVC(kernel="linear").fit([[0.0], [1], [2], [3]], [0, 0, 1, 1]))
    ''
    """
    most = getattr(model, "max_iter", -1)
    iterations = np.max(getattr(model, "n_iter_", 0), initial=0)
    if getattr(model, "fit_status_", 0) or 0 < most <= iterations:
        return f"stopped at max_iter={most}"
    return ""


def compare_with_optimum(model: Any, X: Any, y: Any, points: Any = None) -> OptimumCheck:
    """Compare a fitted linear SVM with the optimum of its own objective.

    Parameters
    ----------
    model : SVC, NuSVC, LinearSVC or RescaleInvariantSVC
        Fitted; not a pipeline.
    X, y : table and labels
        What it was fitted to.
    points : table, optional
        Whose labels are compared; the training rows if not given.

    Returns
    -------
    OptimumCheck

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> X, y, _ = load("fertility")
    >>> check = compare_with_optimum(SVC(kernel="linear").fit(X, y), X, y)
    >>> print(check)
    SVC ran to its end; 0 of 100 labels differ from those of its optimum
    """
    objective = objective_of(model)
    rows = training_rows(model, as_matrix(X))
    signs, _ = as_labels(y, len(as_matrix(X)), positive=model.classes_[1])
    best = optimum(rows.features, signs[rows.numbers], objective)
    asked = as_matrix(X if points is None else points, what="the points", n_features=rows.features.shape[1])
    given = np.asarray(model.decision_function(asked)) >= 0
    changed = (best.decision_function(asked) >= 0) != given
    return OptimumCheck(model, objective, best, how_it_stopped(model), changed & ~best.near_zero(asked))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows of X that a model was trained on: their numbers in X, and their features."""

    numbers: npt.NDArray[np.intp]
    features: FloatArray


def training_rows(model: Any, X: FloatArray) -> TrainingRows:
    """All rows, but for a hard margin, for which rows may have been left out (``dropped_``)."""
    dropped = getattr(model, "dropped_", np.empty(0, dtype=np.intp))
    kept = np.setdiff1d(np.arange(len(X)), dropped) if math.isinf(getattr(model, "C", 0.0)) else np.arange(len(X))
    return TrainingRows(kept, X[kept])
