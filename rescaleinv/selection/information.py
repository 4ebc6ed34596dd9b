"""Selection by mutual information with the class: each feature separately (MIM), or given those already chosen (CMIM)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array
from scipy.special import xlogy

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.selection._base import TopSelector, class_codes
from rescaleinv.selection._conditional import choose
from rescaleinv.selection._presence import presence_counts


class MutualInformationSelector(TopSelector):
    """Keep the features whose presence (a value other than zero) says most about the class (MIM).

    Values other than zero are not distinguished. For features that are real numbers, scikit-learn's
    ``SelectKBest(mutual_info_classif)`` has estimates from nearest neighbours.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        The most features to keep: their number, or their share of all features as a float in (0, 1].

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        The mutual information of presence and class, in nats.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Two features that say the same thing get the same score and are both kept; :class:`CMIMSelector` keeps one of them. Of
    features with equal scores, the first are kept.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 0], [0, 3, 0], [0, 0, 0]]
    >>> selector = MutualInformationSelector(n_features_to_select=1).fit(X, ["a", "a", "b", "b"])
    >>> selector.scores_.round(3)
    array([0.693, 0.   , 0.   ])
    >>> selector.get_support()
    array([ True, False, False])
    """

    def _select(self, features: Any, y: Any, n_wanted: int) -> None:
        codes, n_classes = class_codes(self, y, features.shape[0])
        counts = presence_counts(features, codes, n_classes)
        self._keep_largest(mutual_information(counts, np.bincount(codes).astype(np.float64)), n_wanted)


class CMIMSelector(TopSelector):
    """Keep features that each say something about the class that none of those chosen before says (CMIM).

    Fleuret's conditional mutual information maximisation: the next feature is the one with the largest minimum of
    I(class; presence of the feature) and, over the features m chosen so far, I(class; presence of the feature | presence
    of m). Only what can still win is computed (his lazy algorithm), from the rows that have the features; sparse data stays
    sparse.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        The most features to keep: their number, or their share of all features as a float in (0, 1].

    Attributes
    ----------
    ranking_ : int array
        The chosen features in the order of choice.
    scores_ : float array of shape (n_features,)
        In nats. For a chosen feature, the minimum when it was chosen, which never increases along ``ranking_``; for any
        other, an upper bound on its minimum at the end, which no chosen feature is below.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Only presence counts, as in :class:`MutualInformationSelector`. When no feature says anything new the scores are
    0, and the first of those left are taken.

    Examples
    --------
    The second feature repeats the first, the third adds to it:

    >>> X = [[1, 1, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    >>> selector = CMIMSelector(n_features_to_select=2).fit(X, [1, 1, 1, 1, 0, 0])
    >>> selector.ranking_
    array([0, 2])
    >>> selector.scores_.round(3)
    array([0.318, 0.   , 0.174])
    """

    def _select(self, features: Any, y: Any, n_wanted: int) -> None:
        codes, n_classes = class_codes(self, y, features.shape[0])
        counts = presence_counts(features, codes, n_classes)
        class_sizes = np.bincount(codes).astype(np.float64)
        columns = csc_array(features)
        columns.eliminate_zeros()
        columns.sort_indices()
        scores = mutual_information(counts, class_sizes)
        self.ranking_: IntArray = choose(
            columns.indices.astype(np.int64),
            columns.indptr.astype(np.int64),
            codes.astype(np.int64),
            np.ascontiguousarray(counts.T.astype(np.int64)),
            class_sizes.astype(np.int64),
            scores,
            min(n_wanted, len(scores)),
        )
        self.scores_ = scores
        self._support = np.zeros(len(scores), dtype=bool)
        self._support[self.ranking_] = True


def mutual_information(counts: FloatArray, class_sizes: FloatArray) -> FloatArray:
    """The mutual information of presence and class, in nats, for each column of ``counts`` (one row per class)."""
    n_rows = class_sizes.sum()
    sizes = class_sizes[:, None]
    both = np.stack([counts, sizes - counts])
    of_presence = both.sum(axis=1, keepdims=True)
    # an empty cell adds nothing; max(, 1) keeps its logarithm finite
    terms = xlogy(both, np.maximum(both, 1) * n_rows) - xlogy(both, np.maximum(of_presence, 1) * sizes)
    return np.maximum(terms.sum(axis=(0, 1)) / n_rows, 0.0)
