"""Supervised scaling: each feature is multiplied by how well it separates the classes (Forman 2008).

It replaces the inverse document frequency, which ignores the classes. The best of the fifteen scores in that paper is
bi-normal separation, on binary features, with all features kept.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.scaling._input import checked_classes
from rescaleinv.scaling._scoring import Scoring, presence
from rescaleinv.scaling.scores import RATE_LIMIT, check_metric, feature_scores
from rescaleinv.theory.validation import checked_rows

VALUES = ("binary", "tf", "hybrid")


class _DiagonalScaler(OneToOneFeatureMixin, Scoring):
    """Multiplies each feature by its score."""

    values: str

    def fit(self, X: Any, y: Any) -> Self:
        """Score the features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            Numbers, none missing.
        y : sequence of labels, at least two different ones
            With two classes, the positive one is the second in sorted order.

        Returns
        -------
        self
            The fitted scaler.

        Examples
        --------
        >>> words = [[3, 1, 0], [1, 0, 0], [2, 1, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]]
        >>> BNSScaler().fit(words, ["spam", "spam", "spam", "ham", "ham", "ham"]).scale_.round(2)
        array([3.72, 0.  , 3.72])
        """
        check_metric(self.metric)
        if self.values not in VALUES:
            raise InputError(f"values is {self.values!r}; it must be one of {', '.join(VALUES)}")
        matrix = checked_rows(self, X, fitting=True)
        self.classes_, codes = checked_classes(self, y, matrix.shape[0])
        n_classes = len(self.classes_)
        if self.values == "hybrid":
            if n_classes != 2:
                raise InputError(
                    f"y has {n_classes} classes; values='hybrid' needs two, as it asks which features speak for the "
                    "positive one. Give values='binary' or 'tf', or fit one scaler for each class against the rest"
                )
            counts, totals = presence(matrix, codes, 2), np.bincount(codes)
            self.positively_correlated_: npt.NDArray[np.bool_] = counts[1] * totals[0] >= counts[0] * totals[1]
        self.scale_: FloatArray = self._scores(matrix, codes, n_classes)
        return self

    def transform(self, X: Any) -> Any:
        """The values (binary, as given, or hybrid) times ``scale_``; a sparse matrix gives a sparse one.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array or sparse matrix of shape (n_rows, n_features)
            The scaled values.

        Examples
        --------
        >>> words = [[3, 1, 0], [1, 0, 0], [2, 1, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]]
        >>> scaler = BNSScaler(values="tf").fit(words, ["spam", "spam", "spam", "ham", "ham", "ham"])
        >>> scaler.transform([[2, 5, 1]]).round(2)
        array([[7.44, 0.  , 3.72]])
        """
        check_is_fitted(self)
        matrix = checked_rows(self, X, fitting=False)
        if issparse(matrix):
            scaled = matrix.copy()
            scaled.data = self._represented(matrix.data, matrix.indices) * self.scale_[matrix.indices]
            return scaled
        return self._represented(matrix, np.arange(matrix.shape[1])) * self.scale_

    def _represented(self, cells: FloatArray, columns: npt.NDArray[np.integer]) -> FloatArray:
        if self.values == "tf":
            return cells
        occurs = (cells != 0).astype(np.float64)
        if self.values == "binary":
            return occurs
        return np.where(self.positively_correlated_[columns], occurs, cells)


class BNSScaler(_DiagonalScaler):
    """Multiply each feature by its bi-normal separation, abs(F⁻¹(tpr) - F⁻¹(fpr)) with the normal distribution F.

    It learns from the labels: in cross-validation put it into a pipeline, or labels leak. A feature that says nothing
    about the classes gets the factor 0. With more than two classes a feature gets the largest of its separations of one
    class from the rest.

    Parameters
    ----------
    values : {"binary", "tf", "hybrid"}
        What is multiplied: 1 where the feature is not zero (the paper's best), the values as given (such as term
        frequencies), or the latter for features that speak against the positive class and 1 for those that speak for it.
    threshold : {"nonzero", "best"}
        When a row counts as having a feature: if its value is not zero, or if it is at least the threshold with the best
        score of all thresholds (Forman, Scholz & Rajaram 2009), for real-valued features.
    rate_limit : float
        Both rates are clipped to this and 1 minus this.

    Attributes
    ----------
    scale_ : array of shape (n_features,)
        The factors, none below 0: a diagonal rescaling of the represented values.
    positively_correlated_ : array of bool
        The features that speak for the positive class; with ``values="hybrid"`` only.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([[3, 1, 0], [1, 0, 0], [2, 1, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]])
    >>> scaler = BNSScaler().fit(words, ["spam", "spam", "spam", "ham", "ham", "ham"])
    >>> scaler.scale_.round(2)
    array([3.72, 0.  , 3.72])
    >>> scaler.transform(words)[0].round(2)
    array([3.72, 0.  , 0.  ])

    Counts instead of presence, with the best threshold on each:

    >>> BNSScaler(values="tf", threshold="best").fit(words, [1, 1, 1, 0, 0, 0]).scale_.round(2)
    array([3.72, 0.  , 3.72])
    """

    metric = "bns"

    def __init__(self, values: str = "binary", threshold: str = "nonzero", rate_limit: float = RATE_LIMIT) -> None:
        self.values = values
        self.threshold = threshold
        self.rate_limit = rate_limit

    def fit(self, X: Any, y: Any) -> Self:
        if not (isinstance(self.rate_limit, Real) and 0 < self.rate_limit < 0.5):
            raise InputError(f"rate_limit is {self.rate_limit!r}; it must be above 0 and below 0.5")
        return super().fit(X, y)

    fit.__doc__ = _DiagonalScaler.fit.__doc__

    def _score_of(self, tp: Any, fp: Any, positives: int, negatives: int) -> FloatArray:
        return feature_scores("bns", tp, fp, positives, negatives, rate_limit=self.rate_limit)


class SupervisedScaler(_DiagonalScaler):
    """Multiply each feature by its score, by any of the fifteen metrics that Forman (2008) compares.

    Scores such as chi-squared and the odds ratio have a huge range, which does not suit an SVM: their logarithms do better.
    What :class:`BNSScaler` says about pipelines and more than two classes applies here too.

    Parameters
    ----------
    metric : str
        One of ``rescaleinv.scaling.METRICS``: "none", "idf", "bns", "log_odds_ratio", "odds_ratio", "information_gain",
        "chi2", "log_chi2", "probability_ratio", "log_probability_ratio", "accuracy", "balanced_accuracy", "f1",
        "pearson", "pmi".
    values, threshold
        As in :class:`BNSScaler`.

    Attributes
    ----------
    scale_, positively_correlated_, classes_, n_features_in_, feature_names_in_
        As in :class:`BNSScaler`.

    Examples
    --------
    >>> import numpy as np
    >>> words = np.array([[3, 1, 0], [1, 0, 0], [2, 1, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]])
    >>> labels = ["spam", "spam", "spam", "ham", "ham", "ham"]
    >>> SupervisedScaler("pearson").fit(words, labels).scale_.round(2)
    array([0.71, 0.  , 0.71])
    >>> SupervisedScaler("idf").fit(words, labels).scale_.round(2)
    array([0.41, 0.41, 1.1 ])
    """

    def __init__(self, metric: str = "bns", values: str = "binary", threshold: str = "nonzero") -> None:
        self.metric = metric
        self.values = values
        self.threshold = threshold
