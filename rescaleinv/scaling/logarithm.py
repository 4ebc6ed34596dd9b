"""The logarithm of the features that allow it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.theory.validation import checked_features


class PositiveLogarithm(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The logarithm of the features whose training values are all positive; the other features stay as they are.

    A later value of zero or less is treated as the smallest training value of its feature.

    Attributes
    ----------
    least_ : array of shape (n_features,)
        The least value of each feature in training.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> PositiveLogarithm().fit([[1.0, -1.0], [10.0, 1.0]]).transform([[100.0, 5.0]]).round(3)
    array([[4.605, 5.   ]])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # converted to dense, as everywhere in an audit
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note which features are positive.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
        y : ignored

        Returns
        -------
        self
            The fitted transformer.

        Examples
        --------
        >>> PositiveLogarithm().fit([[1.0, -1.0], [10.0, 1.0]]).least_
        array([ 1., -1.])
        """
        self.least_: FloatArray = checked_features(self, X, fitting=True).min(axis=0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """The points, with the logarithm of the features that were positive in training.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_features)
            The transformed points.

        Examples
        --------
        The second feature had a negative value in training, and stays as it is:

        >>> PositiveLogarithm().fit([[1.0, -1.0], [10.0, 1.0]]).transform([[100.0, 5.0], [0.0, 5.0]]).round(2)
        array([[4.61, 5.  ],
               [0.  , 5.  ]])
        """
        check_is_fitted(self)
        features = checked_features(self, X, fitting=False)
        positive = self.least_ > 0
        logarithms = np.log(np.where(features > 0, features, np.where(positive, self.least_, 1.0)))
        return np.where(positive, logarithms, features)
