"""What the scalings check of the data that they are given. Sparse data stays sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from rescaleinv.checks import checked_labels
from rescaleinv.errors import InputError, InputTypeError
from rescaleinv.scaling._groups import IntArray


def checked_matrix(estimator: Any, X: Any, *, fitting: bool) -> Any:
    """X as a finite float matrix, dense or in compressed sparse rows, with the names of its features noted or compared."""
    try:
        return validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=fitting)
    except TypeError as error:
        raise InputTypeError(str(error)) from error
    except ValueError as error:
        raise InputError(str(error)) from error


def checked_classes(estimator: Any, y: Any, n_rows: int) -> tuple[npt.NDArray[Any], IntArray]:
    """The classes in sorted order, and which of them each row has."""
    classes, codes = np.unique(checked_labels(estimator, y, n_rows), return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"y has 1 class ({classes[0]!r}, {n_rows} rows); two classes are needed at least")
    return classes, codes
