"""The distinct values of each feature, and how many rows of each class have them: what all the scalings start from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, issparse
from sklearn.utils import gen_batches

from rescaleinv._util.types import FloatArray

IntArray = npt.NDArray[np.int64]

# The number of cells sorted at once: all the memory it takes is a few arrays of this length.
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class ValueGroups:
    """Groups of rows that share a value of a feature, feature by feature and in rising order of the value.

    ``column`` and ``value`` have one entry per group, ``counts`` one row per group and one column per class.
    """

    column: IntArray
    value: FloatArray
    counts: IntArray

    def where(self, kept: npt.NDArray[np.bool_]) -> ValueGroups:
        return ValueGroups(self.column[kept], self.value[kept], self.counts[kept])

    def starts(self) -> IntArray:
        """The first group of each feature that has any."""
        return np.flatnonzero(np.diff(self.column, prepend=-1))


def value_groups(matrix: Any, codes: IntArray, n_classes: int) -> Iterator[ValueGroups]:
    """The groups of some features at a time. A sparse matrix stays sparse: its zeros make one group per feature."""
    if issparse(matrix):
        yield _of_sparse(csc_array(matrix), codes, n_classes)
        return
    n_rows, n_features = matrix.shape
    for batch in gen_batches(n_features, max(1, _CELLS_AT_ONCE // n_rows)):
        part = np.ascontiguousarray(matrix[:, batch].T)
        order = np.argsort(part, axis=1)
        values = np.take_along_axis(part, order, axis=1)
        column = np.repeat(np.arange(batch.start, batch.stop), n_rows)
        yield _grouped(column, values.ravel(), codes[order.ravel()], n_classes)


def _grouped(column: IntArray, value: FloatArray, codes: IntArray, n_classes: int) -> ValueGroups:
    """Groups of cells that are sorted by column and value."""
    new = np.empty(len(value), dtype=bool)
    new[:1] = True
    new[1:] = (value[1:] != value[:-1]) | (column[1:] != column[:-1])
    starts = np.flatnonzero(new)
    counts = np.empty((len(starts), n_classes), dtype=np.int64)
    for k in range(n_classes if len(starts) else 0):
        counts[:, k] = np.add.reduceat(codes == k, starts, dtype=np.int64)
    return ValueGroups(column[starts], value[starts], counts)


def _of_sparse(matrix: Any, codes: IntArray, n_classes: int) -> ValueGroups:
    n_features = matrix.shape[1]
    column = np.repeat(np.arange(n_features), np.diff(matrix.indptr))
    filled = matrix.data != 0  # a stored zero is a zero
    column, value, labels = column[filled], matrix.data[filled], codes[matrix.indices[filled]]
    order = np.lexsort((value, column))
    groups = _grouped(column[order], value[order], labels[order], n_classes)
    zeros = np.bincount(codes, minlength=n_classes) - class_totals(groups, n_features)
    has_zeros = np.flatnonzero(zeros.any(axis=1))
    column = np.concatenate([groups.column, has_zeros])
    value = np.concatenate([groups.value, np.zeros(len(has_zeros))])
    order = np.lexsort((value, column))
    return ValueGroups(column[order], value[order], np.concatenate([groups.counts, zeros[has_zeros]])[order])


def class_totals(groups: ValueGroups, n_features: int) -> IntArray:
    """How many rows of each class are in the groups of each feature."""
    totals = np.zeros((n_features, groups.counts.shape[1]), dtype=np.int64)
    np.add.at(totals, groups.column, groups.counts)
    return totals
