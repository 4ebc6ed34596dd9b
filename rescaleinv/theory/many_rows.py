"""Best hyperplanes of many rows, found from the rows near their margin.

The losses Σ c_i max(0, t - s_i) of all rows are not less than what they become where some rows that are taken to be beyond
the margin count as 0, and some that are taken to be inside it as c_i (t - s_i), whatever their scores. So where the best
hyperplane of that smaller program has all such rows on the side on which they were taken to be, it is the best of all rows;
those that are not count as they are from then on, and it is solved again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray, IntArray

Mask = npt.NDArray[np.bool_]
Found = TypeVar("Found")

# From so many rows on.
MANY = 5_000
# Rows of the sample that the first hyperplane is of, and the least number of rows that count as they are at first.
_SAMPLE, _NEAREST = 2_000, 2_000
# The same as a share of all rows.
_SHARE = 0.03


def sample_of(signs: npt.NDArray[np.number]) -> IntArray:
    """Rows spread evenly over each class, which keeps its share.

    >>> sample_of(np.array([1.0, -1.0, 1.0, -1.0]))
    array([0, 1, 2, 3])
    """
    step = -(-len(signs) // _SAMPLE)
    return np.sort(np.concatenate([np.flatnonzero(signs == sign)[::step] for sign in (1, -1)]))


def settled_by_few(first: FloatArray, solve: Callable[[Mask, Mask], tuple[Found, FloatArray] | None]) -> Found | None:
    """What ``solve`` finds when all rows that do not count as they are have the side that they were taken to have.

    Parameters
    ----------
    first : array
        By how much each row is beyond its margin (negative: inside it), for some hyperplane.
    solve : callable
        Takes which rows count as they are, and which of the others are taken to be inside; returns what it found and how
        far each row is beyond its margin then, or None where the program has no solution.

    Returns
    -------
    whatever ``solve`` finds, or None
        None where it is better to take all rows, as most of them would count.
    """
    m = len(first)
    nearest, count = np.argsort(np.abs(first), kind="stable"), max(_NEAREST, int(_SHARE * len(first)))
    inside, counts = first < 0, np.zeros(m, dtype=bool)
    counts[nearest[:count]] = True
    while 2 * counts.sum() < m:
        answer = solve(counts, inside & ~counts)
        wrong = None if answer is None else ~counts & ((answer[1] < 0) != inside)
        if answer is not None and wrong is not None and not wrong.any():
            return answer[0]
        if wrong is None or wrong.sum() > counts.sum():  # those taken to be inside pull more than the others can hold
            count *= 2
            counts[nearest[:count]] = True
        else:
            counts |= wrong
    return None
