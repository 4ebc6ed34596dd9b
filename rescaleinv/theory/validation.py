"""Checks of the data that estimators are given, using scikit-learn's own checks where it has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d, validate_data

from rescaleinv._util.parameters import is_number, shown
from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, InputTypeError
from rescaleinv.theory.inputs import as_matrix


def checked_features(estimator: Any, X: Any, *, fitting: bool, holes: bool = False) -> FloatArray:
    """X as a dense, finite float matrix. Number and names of the features are noted when fitting, compared otherwise.

    With ``holes`` values that are missing, infinite or too large are left in it.
    """
    try:
        matrix = as_matrix(X, holes=holes)
    except InputError as error:
        message = f"{error}; given to {type(estimator).__name__}"
        try:
            np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
        except TypeError as problem:  # neither a number nor a text, which would be a ValueError
            raise InputTypeError(f"{message} ({problem})") from error
        except ValueError:
            pass
        raise InputError(message) from error
    try:
        validate_data(estimator, X, skip_check_array=True, reset=fitting)
    except TypeError as error:  # column names of mixed types
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    return matrix


def checked_labels(estimator: Any, y: Any, n_rows: int) -> npt.NDArray[Any]:
    """One label per row, as an array."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; one label per row is needed"
        )
    try:
        labels = column_or_1d(y, warn=True)
        check_consistent_length(labels, np.empty(n_rows))
        check_classification_targets(labels)
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error
    return np.asarray(labels)


def checked_weights(sample_weight: Any, features: FloatArray) -> FloatArray:
    """One weight >= 0 a row, not all of them zero; 1 where none are given."""
    try:
        weights: FloatArray = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
    except TypeError as error:
        raise InputTypeError(f"sample_weight is not a sequence of numbers: {error}") from error
    except ValueError as error:
        raise InputError(str(error)) from error
    if not np.isfinite(weights).all():
        raise InputError("sample_weight has NaN or infinity; one finite number per row is needed")
    return weights


def with_class_weights(
    class_weight: Any, labels: npt.NDArray[Any], classes: npt.NDArray[Any], weights: FloatArray
) -> FloatArray:
    """The weights of the rows times those of their classes."""
    if isinstance(class_weight, dict) and not all(is_number(weight) for weight in class_weight.values()):
        raise InputError(f"class_weight is {shown(class_weight)}; the weight of a class must be a number")
    try:
        of_class = compute_class_weight(class_weight, classes=classes, y=labels, sample_weight=weights)
    except (ValueError, TypeError) as error:
        raise InputError(f"class_weight is {class_weight!r}: {error}") from error
    if not (np.isfinite(of_class).all() and of_class.min() > 0):
        raise InputError(f"class_weight is {class_weight!r}; weights must be positive and finite")
    return weights * of_class[np.searchsorted(classes, labels)]


def checked_rows(estimator: Any, X: Any, *, fitting: bool) -> Any:
    """X as a finite float matrix: in CSR form where it came sparse, dense otherwise; names as in ``checked_features``."""
    try:
        return validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, order="C", reset=fitting)
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error
