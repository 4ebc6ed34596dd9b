"""Features weighted by how well they tell the classes apart: Fisher's ratio as a scaling."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.selection import FisherRatioSelector
from rescaleinv.theory.validation import checked_features


class FisherScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Each feature in units of its standard deviation, times its Fisher ratio: what separates the classes weighs more.

    The ratio is that of :class:`rescaleinv.selection.FisherRatioSelector`. Where it is infinite (a feature that is constant
    within each class) the largest finite ratio of the other features is taken, or 1.

    Attributes
    ----------
    scale_ : array of shape (n_features,)
        The factors.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> scaler = FisherScaler().fit([[0, 1], [2, 2], [4, 1], [6, 3]], [-1, -1, 1, 1])
    >>> scaler.scale_.round(3)
    array([1.265, 0.539])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # converted to dense, as everywhere in an audit
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Find the factors.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
        y : sequence of labels, at least two different ones

        Returns
        -------
        self
            The fitted transformer.

        Examples
        --------
        >>> FisherScaler().fit([[0, 1], [2, 2], [4, 1], [6, 3]], [-1, -1, 1, 1]).scale_.round(3)
        array([1.265, 0.539])
        """
        features = checked_features(self, X, fitting=True)
        ratios = FisherRatioSelector().fit(features, y).scores_
        finite = ratios[np.isfinite(ratios) & (ratios > 0)]
        deviation = features.std(axis=0)
        deviation[np.ptp(features, axis=0) == 0] = 1.0
        self.scale_: FloatArray = np.where(np.isfinite(ratios), ratios, finite.max(initial=1.0)) / deviation
        return self

    def transform(self, X: Any) -> FloatArray:
        """The points times ``scale_``.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_features)
            The scaled points.

        Examples
        --------
        >>> scaler = FisherScaler().fit([[0, 1], [2, 2], [4, 1], [6, 3]], [-1, -1, 1, 1])
        >>> scaler.transform([[1, 1], [2, 4]]).round(2)
        array([[1.26, 0.54],
               [2.53, 2.16]])
        """
        check_is_fitted(self)
        scaled: FloatArray = checked_features(self, X, fitting=False) * self.scale_
        return scaled
