"""Fleuret's lazy search for features with large conditional mutual information, compiled by numba.

Fleuret, Fast binary feature selection with conditional mutual information, JMLR 5 (2004).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rescaleinv._util.compiled import entry, step

# Information is a difference of sums of n log n: what is left of equal ones is rounding.
_NOTHING = 1e-12


@step
def _n_log_n(n: Any) -> Any:
    return n * np.log(n) if n > 0 else 0.0


@step
def _count_common(short: Any, long: Any, codes: Any, common: Any) -> None:
    """How many rows of each class are in both ascending lists; binary search in the longer one."""
    common[:] = 0
    start = 0
    for row in short:
        start += np.searchsorted(long[start:], row)
        if start == len(long):
            return
        if long[start] == row:
            common[codes[row]] += 1


@step
def _conditional_information(common: Any, here: Any, there: Any, sizes: Any) -> Any:
    """I(class; feature | other), in nats, from the rows of each class that have both, the feature, the other one."""
    n_rows = sizes.sum()
    n_there, n_here, n_common = there.sum(), here.sum(), common.sum()
    total = _n_log_n(n_there) + _n_log_n(n_rows - n_there)
    total -= _n_log_n(n_common) + _n_log_n(n_there - n_common) + _n_log_n(n_here - n_common)
    total -= _n_log_n(n_rows - n_here - n_there + n_common)
    for k in range(len(sizes)):
        total += _n_log_n(common[k]) + _n_log_n(here[k] - common[k]) + _n_log_n(there[k] - common[k])
        total += _n_log_n(sizes[k] - here[k] - there[k] + common[k])
        total -= _n_log_n(there[k]) + _n_log_n(sizes[k] - there[k])
    value = total / n_rows
    return value if value > _NOTHING else 0.0


@entry
def choose(indices: Any, indptr: Any, codes: Any, counts: Any, class_sizes: Any, scores: Any, n_wanted: Any) -> Any:
    """The chosen features in order; ``scores``, which comes as the mutual information of each feature, is lowered in place.

    A feature's score only falls as more features are chosen. So it is looked at again only while it is still above the
    best of this round, and only for the features chosen since it was last looked at.
    """
    n_features = len(scores)
    chosen = np.empty(n_wanted, dtype=np.int64)
    taken = np.zeros(n_features, dtype=np.bool_)
    looked_at = np.zeros(n_features, dtype=np.int64)
    common = np.zeros(len(class_sizes), dtype=np.int64)
    for round_ in range(n_wanted):
        best, winner = -1.0, -1
        for j in range(n_features):
            if taken[j]:
                continue
            rows = indices[indptr[j] : indptr[j + 1]]
            while scores[j] > best and looked_at[j] < round_:
                other = chosen[looked_at[j]]
                others = indices[indptr[other] : indptr[other + 1]]
                if len(rows) <= len(others):
                    _count_common(rows, others, codes, common)
                else:
                    _count_common(others, rows, codes, common)
                value = _conditional_information(common, counts[j], counts[other], class_sizes)
                scores[j] = min(scores[j], value)
                looked_at[j] += 1
            if scores[j] > best:
                best, winner = scores[j], j
        chosen[round_] = winner
        taken[winner] = True
    return chosen
