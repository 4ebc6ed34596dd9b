"""Selection by the number of rows that have a feature (Ferreira & Figueiredo, Methods 1 and 2)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import entr
from sklearn.utils import Tags

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.selection._base import TopSelector, class_codes
from rescaleinv.selection._presence import presence_counts

_CRITERIA = ("difference", "count", "entropy")


class L0Selector(TopSelector):
    """Keep the features that are present (not zero) in the most rows, or in many more rows of one class than of another.

    For bags of words and the like, where many values are zero. A feature that no row has, or that every row has, is left
    out first: if no value of X is zero, there is nothing left to select.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        The most features to keep: their number, or their share of all features as a float in (0, 1].
    criterion : {"difference", "count", "entropy"}, default="difference"
        With c_k the number of rows of class k that have the feature and c their sum:

        - "difference": the sum of abs(c_k - c_l) over all pairs of classes (Method 2, equation 3). Equation 6 counts each
          pair twice, which ranks the features in the same way.
        - "count": c (Method 1). Needs no labels.
        - "entropy": Σ (c_k/c) log2(c_k/c), the negative entropy (equations 4 and 5). Every feature that only one class
          has gets the best value, 0, even if it is in one row only.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        The criterion of each feature. The entropy of a feature that no row has is given the worst value, -log2 of the
        number of classes.
    informative_ : bool array of shape (n_features,)
        Which features some rows have and others do not.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    As in the paper, unequal class sizes are not corrected for: "difference" then favours the words of the larger class.
    Of features with equal scores, the first are kept.

    Examples
    --------
    >>> X = [[1, 1, 0, 2], [1, 3, 0, 0], [1, 0, 0, 4], [1, 0, 0, 0]]
    >>> selector = L0Selector(n_features_to_select=1).fit(X, [1, 1, -1, -1])
    >>> selector.scores_
    array([0., 2., 0., 0.])
    >>> selector.informative_
    array([False,  True, False,  True])
    >>> selector.get_feature_names_out(["the", "merger", "zebra", "profit"])
    array(['merger'], dtype=object)
    """

    def __init__(self, n_features_to_select: float = 0.5, *, criterion: str = "difference") -> None:
        super().__init__(n_features_to_select)
        self.criterion = criterion

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.criterion != "count"
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count, and choose.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Sparse input stays sparse.
        y : sequence of labels, one per row
            Not needed, and ignored, for ``criterion="count"``.

        Returns
        -------
        self
            The fitted selector.

        Examples
        --------
        >>> words = [[1, 1, 0, 2], [1, 3, 0, 0], [1, 0, 0, 4], [1, 0, 0, 0]]
        >>> L0Selector(n_features_to_select=1, criterion="count").fit(words).get_support()
        array([False,  True, False, False])
        """
        return super().fit(X, y)

    def _select(self, features: Any, y: Any, n_wanted: int) -> None:
        if not isinstance(self.criterion, str) or self.criterion not in _CRITERIA:
            raise InputError(f"criterion is {self.criterion!r}; one of {', '.join(map(repr, _CRITERIA))} is needed")
        n_rows = features.shape[0]
        if self.criterion == "count":
            codes, n_classes = np.zeros(n_rows, dtype=np.intp), 1
        else:
            codes, n_classes = class_codes(self, y, n_rows)
        counts = presence_counts(features, codes, n_classes)
        total = counts.sum(axis=0)
        if self.criterion == "count":
            scores = total
        elif self.criterion == "difference":
            scores = _pairwise_differences(counts)
        else:
            scores = _negative_entropy(counts, total)
        self.informative_ = (total > 0) & (total < n_rows)
        self._keep_largest(scores, n_wanted, self.informative_)

    def inverse_transform(self, X: Any) -> Any:
        """X with columns of zeros where features were left out, even if all of them were.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_selected)

        Returns
        -------
        array or sparse matrix of shape (n_rows, n_features)
            As wide as the rows that the selector was fitted to.

        Examples
        --------
        >>> words = [[1, 1, 0, 2], [1, 3, 0, 0], [1, 0, 0, 4], [1, 0, 0, 0]]
        >>> selector = L0Selector(n_features_to_select=1).fit(words, [1, 1, -1, -1])
        >>> selector.inverse_transform(np.array([[7], [8]]))
        array([[0, 7, 0, 0],
               [0, 8, 0, 0]])
        """
        if self.get_support().any() or np.shape(X)[1:] != (0,):
            return super().inverse_transform(X)
        return np.zeros((np.shape(X)[0], self.n_features_in_), dtype=X.dtype)


def _pairwise_differences(counts: FloatArray) -> FloatArray:
    """The sum of abs(c_k - c_l) over all pairs of rows.

    In ascending order, the r-th of K is added r times and subtracted K-1-r times.
    """
    n_classes = len(counts)
    times = 2.0 * np.arange(n_classes) - (n_classes - 1)
    return np.asarray(times @ np.sort(counts, axis=0), dtype=np.float64)


def _negative_entropy(counts: FloatArray, total: FloatArray) -> FloatArray:
    shares = np.where(total > 0, counts / np.maximum(total, 1), 1 / len(counts))
    return -np.asarray(entr(shares).sum(axis=0) / np.log(2))
