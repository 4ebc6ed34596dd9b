"""What the scalings check of the labels that they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv.errors import InputError
from rescaleinv.scaling._groups import IntArray
from rescaleinv.theory.validation import checked_labels


def checked_classes(estimator: Any, y: Any, n_rows: int) -> tuple[npt.NDArray[Any], IntArray]:
    """The classes in sorted order, and which of them each row has."""
    classes, codes = np.unique(checked_labels(estimator, y, n_rows), return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"y has 1 class ({classes[0]!r}, {n_rows} rows); at least two classes are needed")
    return classes, codes
