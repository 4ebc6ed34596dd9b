"""Which rows of the data an SVM is trained on, and with which weights."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, LeftOutWarning
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet


def with_class_weights(
    class_weight: Any, labels: npt.NDArray[Any], classes: npt.NDArray[Any], weights: FloatArray
) -> FloatArray:
    """The weights of the rows times those of their classes."""
    try:
        of_class = compute_class_weight(class_weight, classes=classes, y=labels, sample_weight=weights)
    except (ValueError, TypeError) as error:
        raise InputError(f"class_weight is {class_weight!r}: {error}") from error
    if not (np.isfinite(of_class).all() and of_class.min() > 0):
        raise InputError(f"class_weight is {class_weight!r}; weights must be positive and finite")
    return weights * of_class[np.searchsorted(classes, labels)]


def consistent_part(
    whole: TrainingSet, weights: FloatArray, drop_rule: str, time_limit: float | None, *, stacklevel: int
) -> TrainingSet:
    """The training set without the rows that have to go, and a warning that names them."""
    kept = separable_subset(whole, drop_rule, row_weights=weights, time_limit=time_limit).training_set
    left_out = np.setdiff1d(whole.row_numbers, kept.row_numbers)
    if left_out.size:
        warn(LeftOutWarning(left_out.tolist(), whole.n_rows), stacklevel=stacklevel + 1)
    return kept
