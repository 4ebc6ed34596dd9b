"""A score for each feature of a data matrix: from presence, or from the best of all thresholds on its values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.scaling._groups import IntArray, ValueGroups, value_groups
from rescaleinv.scaling.scores import feature_scores

THRESHOLDS = ("nonzero", "best")


class Scoring(TransformerMixin, BaseEstimator):
    """What the scalers and the selector have in common: a score for each feature."""

    metric: str
    threshold: str

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _score_of(self, tp: Any, fp: Any, positives: int, negatives: int) -> FloatArray:
        return feature_scores(self.metric, tp, fp, positives, negatives)

    def _scores(self, matrix: Any, codes: IntArray, n_classes: int) -> FloatArray:
        """The score of each feature: with more than two classes, the best of each class against the rest."""
        if self.threshold not in THRESHOLDS:
            raise InputError(f"threshold is {self.threshold!r}; it must be one of {', '.join(THRESHOLDS)}")
        if self.threshold == "best" and self.metric == "idf":
            raise InputError(
                "metric='idf' does not look at the classes, so no threshold is best for it; give threshold='nonzero'"
            )
        totals = np.bincount(codes, minlength=n_classes)
        positive = [1] if n_classes == 2 else list(range(n_classes))
        if self.threshold == "nonzero":
            counts = presence(matrix, codes, n_classes)
            every = [self._score_of(counts[k], counts.sum(axis=0) - counts[k], *_sides(totals, k)) for k in positive]
            return np.asarray(np.max(every, axis=0))
        scores = np.zeros(matrix.shape[1])
        for groups in value_groups(matrix, codes, n_classes):
            above = _rows_from_here_up(groups, totals)
            every = [self._score_of(above[:, k], above.sum(axis=1) - above[:, k], *_sides(totals, k)) for k in positive]
            starts = groups.starts()
            scores[groups.column[starts]] = np.maximum.reduceat(np.max(every, axis=0), starts)
        return scores


def _sides(totals: IntArray, k: int) -> tuple[int, int]:
    return int(totals[k]), int(totals.sum() - totals[k])


def presence(matrix: Any, codes: IntArray, n_classes: int) -> IntArray:
    """How many rows of each class (one row per class) have each feature."""
    if issparse(matrix):
        filled = matrix.data != 0
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[filled]
        cells = codes[rows] * matrix.shape[1] + matrix.indices[filled]
        return np.bincount(cells, minlength=n_classes * matrix.shape[1]).reshape(n_classes, -1)
    return np.stack([np.count_nonzero(matrix[codes == k], axis=0) for k in range(n_classes)])


def _rows_from_here_up(groups: ValueGroups, totals: IntArray) -> IntArray:
    """For each group, the rows of each class that have its value or a larger one."""
    before = np.cumsum(groups.counts, axis=0) - groups.counts
    starts = groups.starts()
    first = np.repeat(before[starts], np.diff(starts, append=len(before)), axis=0)
    return np.asarray(totals - (before - first))
