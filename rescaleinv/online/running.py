"""RunningScaler: mean and variance of features that come one row at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.sparsefuncs import inplace_column_scale
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.online._kernel import observe
from rescaleinv.online._rows import packed
from rescaleinv.theory.validation import checked_rows


class RunningScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Subtract the mean and divide by the standard deviation, both updated row by row.

    The scaling of the learner GN of Bollegala & Iba (equations 1 to 3), by itself. It needs memory for two rows, however
    many it sees. The result is the same to the last bit, however the rows are divided among calls of ``partial_fit``
    (scikit-learn's ``StandardScaler`` takes each call's rows together, and divides by their number).

    Parameters
    ----------
    with_mean : bool, default=True
        Whether ``transform`` subtracts the mean. Sparse input would be dense after that, and is refused; ``fit`` and
        ``partial_fit`` take it either way, one row at a time.

    Attributes
    ----------
    mean_ : float array of shape (n_features,)
    var_ : float array of shape (n_features,)
        Divided by the number of rows less one, as in the paper; 0 after one row.
    scale_ : float array of shape (n_features,)
        The standard deviation, or 1 where it is 0.
    n_samples_seen_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> scaler = RunningScaler().partial_fit([[1.0, 5.0], [3.0, 5.0]])
    >>> scaler = scaler.partial_fit([[5.0, 5.0]])
    >>> scaler.mean_, scaler.var_
    (array([3., 5.]), array([4., 0.]))
    >>> scaler.transform([[7.0, 6.0]])
    array([[2., 1.]])
    """

    def __init__(self, *, with_mean: bool = True) -> None:
        self.with_mean = with_mean

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget what was seen, and look at the rows of X.

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
        >>> scaler = RunningScaler().fit([[1.0, 5.0], [3.0, 5.0]])
        >>> scaler.fit([[10.0, 0.0], [20.0, 4.0]]).mean_
        array([15.,  2.])
        """
        return self._observe(X, starts=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Look at the rows of X, after those seen before.

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
        >>> scaler = RunningScaler().partial_fit([[1.0, 5.0], [3.0, 5.0]])
        >>> scaler.partial_fit([[5.0, 8.0]]).mean_, scaler.n_samples_seen_
        (array([3., 6.]), 3)
        """
        return self._observe(X, starts=not hasattr(self, "mean_"))

    def _observe(self, X: Any, *, starts: bool) -> Self:
        rows = checked_rows(self, X, fitting=starts)
        if starts:
            self._start(self.n_features_in_)
        observe(*packed(rows), rows.shape[0], self.n_samples_seen_, self.mean_, self._squares)
        self.n_samples_seen_ += rows.shape[0]
        return self

    def _start(self, n_features: int) -> None:
        self.n_samples_seen_ = 0
        self.mean_: FloatArray = np.zeros(n_features)
        self._squares: FloatArray = np.zeros(n_features)  # S of equation 3

    @property
    def var_(self) -> FloatArray:
        """The variance so far.

        Examples
        --------
        >>> RunningScaler().fit([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]]).var_
        array([4., 0.])
        """
        return self._squares / max(1, self.n_samples_seen_ - 1)

    @property
    def scale_(self) -> FloatArray:
        """What ``transform`` divides by.

        Examples
        --------
        >>> RunningScaler().fit([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]]).scale_
        array([2., 1.])
        """
        return np.sqrt(np.where(self._squares > 0, self.var_, 1.0))

    def transform(self, X: Any) -> Any:
        """Scale the rows of X by what was seen so far.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array or sparse matrix of shape (n_rows, n_features)
            The scaled rows; sparse only with ``with_mean=False``.

        Examples
        --------
        >>> RunningScaler().fit([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]]).transform([[7.0, 6.0]])
        array([[2., 1.]])
        """
        check_is_fitted(self, "mean_")
        rows = checked_rows(self, X, fitting=False)
        if not issparse(rows):
            return (rows - self.mean_ if self.with_mean else rows) / self.scale_
        if self.with_mean:
            raise InputError(
                "X is sparse, and would be dense once the mean is subtracted; use with_mean=False, or give it in parts as "
                "dense arrays"
            )
        rows = rows.copy()
        inplace_column_scale(rows, 1 / self.scale_)
        return rows
