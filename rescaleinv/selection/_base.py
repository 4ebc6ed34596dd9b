"""What the selectors share: how many features to keep, and the choice of those with the largest scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError
from rescaleinv.theory.validation import checked_labels, checked_rows

BoolArray = npt.NDArray[np.bool_]


class TopSelector(SelectorMixin, BaseEstimator, ABC):
    """Keeps the features with the largest scores; of equal scores, the first features."""

    def __init__(self, n_features_to_select: float = 0.5) -> None:
        self.n_features_to_select = n_features_to_select

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Score the features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Sparse input stays sparse.
        y : sequence of labels, one per row

        Returns
        -------
        self
            The fitted selector.

        Examples
        --------
        >>> from rescaleinv.selection import FisherRatioSelector
        >>> selector = FisherRatioSelector(n_features_to_select=1).fit([[0, 1], [2, 2], [4, 1], [6, 3]], [-1, -1, 1, 1])
        >>> selector.scores_.round(2), selector.get_support()
        (array([2.83, 0.45]), array([ True, False]))
        """
        wanted = self.n_features_to_select
        is_count = isinstance(wanted, Integral) and not isinstance(wanted, bool) and wanted >= 1
        is_share = isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < wanted <= 1
        if not (is_count or is_share):
            raise InputError(
                f"n_features_to_select is {wanted!r}; a number of features (1, 2, …), or a share of them as a float in "
                "(0, 1], is needed"
            )
        features = checked_rows(self, X, fitting=True)
        n_wanted = int(wanted) if is_count else max(1, round(wanted * self.n_features_in_))
        self._select(features, y, n_wanted)
        return self

    @abstractmethod
    def _select(self, features: Any, y: Any, n_wanted: int) -> None:
        """Set ``scores_`` and the mask of the features that are kept."""

    def _keep_largest(self, scores: FloatArray, n_wanted: int, candidates: BoolArray | None = None) -> None:
        order = np.argsort(-scores, kind="stable")
        if candidates is not None:
            order = order[candidates[order]]
        self.scores_ = scores
        self._support = np.zeros(len(scores), dtype=bool)
        self._support[order[:n_wanted]] = True

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._support


def class_codes(estimator: Any, y: Any, n_rows: int) -> tuple[IntArray, int]:
    """For each row the number of its class, and how many classes there are: at least two."""
    labels = checked_labels(estimator, y, n_rows)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"the rows have one class ({classes[0]!r}, {n_rows} rows); {type(estimator).__name__} needs two or more"
        )
    return codes, len(classes)
