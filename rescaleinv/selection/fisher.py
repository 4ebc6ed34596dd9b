"""Selection by Fisher's ratio: how far apart the classes' means are, in units of their spread."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from rescaleinv._util.types import FloatArray
from rescaleinv.selection._base import TopSelector, class_codes


class FisherRatioSelector(TopSelector):
    """Keep the features whose means differ most between the classes, in units of the spread within them.

    The ratio of a feature is ``abs(mean1 - mean2) / sqrt(variance1 + variance2)``. It does not change when a feature is
    multiplied by a number, nor when one is added to it.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        The most features to keep: their number, or their share of all features as a float in (0, 1].

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        The ratio; with more than two classes, the sum of the ratios of all pairs (the paper has two classes only). It is
        0 where the means are equal, and inf where they differ and the feature is constant within both classes.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Variances are those of the rows at hand (division by their number). Of features with equal scores, the first are kept.

    Examples
    --------
    >>> selector = FisherRatioSelector(n_features_to_select=1)
    >>> selector.fit([[0, 1], [2, 2], [4, 1], [6, 2]], [-1, -1, 1, 1]).scores_.round(3)
    array([2.828, 0.   ])
    >>> selector.transform([[7, 8]])
    array([[7]])
    """

    def _select(self, features: Any, y: Any, n_wanted: int) -> None:
        codes, n_classes = class_codes(self, y, features.shape[0])
        moments = [_mean_and_variance(features[codes == k]) for k in range(n_classes)]
        scores = sum(
            (_ratio(abs(mean - other_mean), variance + other_variance))
            for (mean, variance), (other_mean, other_variance) in combinations(moments, 2)
        )
        self._keep_largest(np.asarray(scores), n_wanted)


def _mean_and_variance(rows: Any) -> tuple[FloatArray, FloatArray]:
    """Of each column; exactly the value and 0 where it is constant, so that rounding does not pass for a difference."""
    if issparse(rows):
        mean, variance = mean_variance_axis(rows, axis=0)
        least, most = min_max_axis(rows, axis=0)
    else:
        mean, variance = rows.mean(axis=0), rows.var(axis=0)
        least, most = rows.min(axis=0), rows.max(axis=0)
    constant = least == most
    return np.where(constant, least, mean), np.where(constant, 0.0, variance)


def _ratio(distance: FloatArray, variance: FloatArray) -> FloatArray:
    limit = np.where(distance > 0, np.inf, 0.0)
    return np.divide(distance, np.sqrt(variance), out=limit, where=variance > 0)
