"""Rows in the form that compiled loops read: dense and sparse alike, nothing is copied unless it has to be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from rescaleinv._util.types import FloatArray

PackedRows = tuple[bool, FloatArray, Any, Any]


def packed(matrix: Any) -> PackedRows:
    """Whether it is dense, its values, and (sparse) the columns that they are in and where each row begins."""
    if not issparse(matrix):
        return True, read_only(np.ascontiguousarray(matrix).ravel()), _NONE, _NONE
    columns, starts = (read_only(part.astype(np.int64, copy=False)) for part in (matrix.indices, matrix.indptr))
    return False, read_only(matrix.data), columns, starts


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written to: numba compiles a loop anew for arrays that can, and most data sets cannot."""
    view = array.view()
    view.flags.writeable = False
    return view


_NONE = read_only(np.empty(0, dtype=np.int64))
