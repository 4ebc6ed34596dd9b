"""Which rows of the data an SVM is trained on, and with which weights."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, LeftOutWarning
from rescaleinv.theory.separability import is_separable, separable_subset
from rescaleinv.theory.soft_margin import correctly_classified
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
    part = whole
    if (weights != 1).any() and not is_separable(whole):
        if drop_rule == "misclassified":
            # separable, unless a class is down to its last row
            part = whole.subset(correctly_classified(whole, weights))
            if not part.conditioned.any():  # both classes at one point, where nothing separates them
                part = whole
        elif np.ptp(weights):
            raise InputError(
                f"drop_rule={drop_rule!r} counts rows, and rows of different weights were given for classes "
                'that are not separable; use drop_rule="misclassified", or a finite C'
            )
    kept = separable_subset(part, drop_rule, time_limit=time_limit).training_set
    left_out = np.setdiff1d(whole.row_numbers, kept.row_numbers)
    if left_out.size:
        warn(LeftOutWarning(left_out.tolist(), whole.n_rows), stacklevel=stacklevel + 1)
    return kept
