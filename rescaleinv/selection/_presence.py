"""How many rows of each class have a feature, that is, a value other than zero (stored zeros are zeros)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from rescaleinv._util.types import FloatArray, IntArray


def presence_counts(features: Any, codes: IntArray, n_classes: int) -> FloatArray:
    """One row per class, one column per feature: ℓ0 of the feature within the class."""
    if not issparse(features):
        return np.array([np.count_nonzero(features[codes == k], axis=0) for k in range(n_classes)], dtype=np.float64)
    present = features.data != 0
    class_of_value = np.repeat(codes, np.diff(features.indptr))[present]
    # values of one class in one column are added up
    ones = np.ones(len(class_of_value))
    counts = csr_array((ones, (class_of_value, features.indices[present])), shape=(n_classes, features.shape[1]))
    return counts.toarray()
