"""Leaves out training rows that can't matter for a hard margin: copies, and points inside the hull of their class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.theory.training_set import TrainingSet

# The walk copes with some hundreds of rows as they are, and facets are too many in more dimensions than this.
_FEW_ROWS = 300
_MOST_FEATURES = 6
# A point is left out only if it is inside of every facet by this share of the range: far beyond Qhull's rounding.
_INSIDE = 1e-7


def rows_that_matter(training_set: TrainingSet) -> IntArray:
    """All rows but copies of others and, where there are many rows, but those inside their class's hull.

    Whenever such a row is tight the vertices of its hull around it are, and its multiplier can be moved to them. What is
    left out is inside beyond any doubt; a row that could be on the boundary stays.

    >>> rows_that_matter(TrainingSet([[0.0], [1], [1], [3]], [-1, 1, 1, 1]))
    array([0, 1, 3])
    """
    labelled = np.column_stack([training_set.features, training_set.signs])
    first = np.sort(np.unique(labelled, axis=0, return_index=True)[1])
    if len(first) <= _FEW_ROWS or training_set.n_features > _MOST_FEATURES:
        return first
    keep = np.ones(len(first), dtype=bool)
    for sign in (1, -1):
        members = np.flatnonzero(training_set.signs[first] == sign)
        keep[members[_inside(training_set.conditioned[first[members]])]] = False
    return first[keep]


def without_inner_rows(training_set: TrainingSet) -> TrainingSet:
    """The training set of the rows that matter."""
    return training_set.subset(rows_that_matter(training_set))


def _inside(points: FloatArray) -> npt.NDArray[np.bool_]:
    """Which points are inside the hull of the others, well away from its boundary."""
    if points.shape[1] == 1:
        return ((points > points.min()) & (points < points.max()))[:, 0]
    try:
        facets = ConvexHull(points).equations
    except QhullError:  # a flat class: nothing is inside
        return np.zeros(len(points), dtype=bool)
    deepest = np.full(len(points), -np.inf)
    for facet in facets:
        np.maximum(deepest, points @ facet[:-1] + facet[-1], out=deepest)
    return deepest < -_INSIDE
