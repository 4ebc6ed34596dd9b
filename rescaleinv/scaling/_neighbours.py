"""The share of the positive class around each value of a feature, by prefix sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.scaling._groups import IntArray, ValueGroups


def laplace(positives: npt.NDArray[Any], rows: npt.NDArray[Any]) -> FloatArray:
    """The share of the positives, corrected so that it is never 0 or 1."""
    return (positives + 1.0) / (rows + 2.0)


def neighbour_estimates(groups: ValueGroups, sizes: IntArray, side: float) -> FloatArray:
    """The corrected share of positive rows around the middle of each group, over up to ``side`` rows to either side.

    On a line of all rows in order, a group is an interval as long as it has rows. Its positives are spread evenly on it, and
    a prefix sum of them gives those of any window.
    """
    if not len(sizes):
        return np.empty(0)
    positives = groups.counts[:, 1]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    group_of_row = np.repeat(np.arange(len(sizes)), sizes)
    first = groups.starts()
    column_sizes = np.diff(first, append=len(sizes))
    column_start = np.repeat(starts[first], column_sizes)
    column_end = np.repeat(np.append(starts[first[1:]], ends[-1]), column_sizes)
    # counted within a column, so that equal columns have equal estimates to the last bit
    before = np.cumsum(positives) - positives
    before -= np.repeat(before[first], column_sizes)

    def positives_up_to(position: FloatArray) -> FloatArray:
        group = group_of_row[np.minimum(position.astype(np.int64), column_end - 1)]
        return before[group] + positives[group] * ((position - starts[group]) / sizes[group])

    middle = starts + sizes / 2
    low, high = np.maximum(middle - side, column_start), np.minimum(middle + side, column_end)
    return laplace(positives_up_to(high) - positives_up_to(low), high - low)
