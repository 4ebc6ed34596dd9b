"""What runs over files take: a fitted estimator, or a pipeline or search that ends in one."""

from __future__ import annotations

from typing import Any, TypeAlias

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rescaleinv.errors import InputError
from rescaleinv.estimators.saving import model_digest
from rescaleinv.estimators.svc import RescaleInvariantSVC

Model: TypeAlias = Any  # a RescaleInvariantSVC, or a Pipeline (which has no types) that ends in one


def checked_model(model: Any) -> Model:
    """The fitted estimator or pipeline that is meant; a search stands for its best one."""
    found = getattr(model, "best_estimator_", model)
    if isinstance(found, Pipeline) and len(found) == 1:
        found = found[-1]
    if not isinstance(found[-1] if isinstance(found, Pipeline) else found, RescaleInvariantSVC):
        raise InputError(
            f"a fitted RescaleInvariantSVC is needed, or a pipeline that ends in one; {type(model).__name__} was given"
        )
    check_is_fitted(found)
    return found


def estimator_of(model: Model) -> RescaleInvariantSVC:
    """The estimator itself."""
    found: RescaleInvariantSVC = model[-1] if isinstance(model, Pipeline) else model
    return found


def steps_of(model: Model) -> Pipeline | None:
    """The fitted steps before the estimator."""
    return model[:-1] if isinstance(model, Pipeline) else None


def put_together(estimator: RescaleInvariantSVC, steps: Pipeline | None) -> Model:
    """The model of an estimator and the steps before it."""
    return estimator if steps is None else Pipeline([*steps.steps, ("rescaleinvariantsvc", estimator)])


def digest_of(model: Model) -> str:
    """What tells one model from another."""
    digest = model_digest(estimator_of(model)._fitted)
    if isinstance(model, Pipeline):
        from joblib import hash as hash_of  # of arrays by their content

        digest += f" after steps {hash_of(model[:-1])}"
    return digest


def feature_names(model: Model) -> list[str] | None:
    """The columns that the model takes, if it knows their names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else names.tolist()
