"""Feature shaping: each value is replaced by the share of the positive class near it (Forman, Scholz & Rajaram 2009).

After that, a feature is linear in what it says about the class, whatever its original shape. Scaling comes next.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array, csr_array, issparse
from scipy.special import logit
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.scaling._groups import IntArray, ValueGroups, class_totals, value_groups
from rescaleinv.scaling._input import checked_classes
from rescaleinv.scaling._neighbours import laplace, neighbour_estimates
from rescaleinv.scaling.bns import BNSScaler
from rescaleinv.theory.validation import checked_rows

BoolArray = npt.NDArray[np.bool_]

OUTPUTS = ("probability", "log_odds")


class LocalProbabilityShaper(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each value of each feature by a local estimate of the probability of the positive class.

    The estimate at a training value is the share of positive rows among its neighbours in that feature: up to half of
    ``n_neighbors`` from below and as many from above, fewer at the ends, with Laplace's correction (positives + 1) / (rows +
    2). Rows that share the value count half on either side; if only part of a group of equal values belongs to the
    neighbours, all its rows count with the same fraction, so the order of the rows does not matter. Between
    training values the estimate is interpolated linearly; outside them it stays that of the outermost one.

    It fits the training rows closely, so with few rows accuracy can suffer. Two classes only; the positive one is the
    second in sorted order. Missing values are an error.

    Parameters
    ----------
    n_neighbors : int
        From both sides together; at least 2.
    output : {"probability", "log_odds"}
        The estimate p itself, or log(p / (1 - p)).
    keep_zero : bool or "auto"
        Zeros are a separate bin that never mixes with other values, and what they would become is subtracted, so zero stays
        zero and sparse data stays sparse. "auto": only if the training data is sparse.
    nominal : sequence of int or of str, optional
        The features, by number or by name, whose values are only names: the estimate is the share of positive rows (with
        Laplace's correction) among all rows with that value; for a value not seen in training, among all rows.

    Attributes
    ----------
    keep_zero_ : bool
        Whether zeros are kept.
    values_, shapes_, first_ : arrays
        What feature j becomes at each of its training values: ``values_[first_[j]:first_[j + 1]]`` and ``shapes_`` alike.
    zero_shapes_ : array of shape (n_features,)
        What was subtracted from each feature: what its zeros would have become. All 0 if zeros are not kept.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    A pressure that is healthy in the middle range, which a linear classifier can't express:

    >>> import numpy as np
    >>> pressure = np.arange(50, 170, 10.0)[:, None]
    >>> ill = [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> shaper = LocalProbabilityShaper(n_neighbors=4).fit(pressure, ill)
    >>> shaper.transform([[0], [50], [85], [90], [150]]).ravel().round(2)
    array([0.78, 0.78, 0.33, 0.25, 0.82])
    """

    def __init__(
        self,
        n_neighbors: int = 30,
        output: str = "probability",
        keep_zero: bool | str = "auto",
        nominal: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.output = output
        self.keep_zero = keep_zero
        self.nominal = nominal

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.keep_zero in (True, "auto")
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)  # of the labels that it is fitted with
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the shape of each feature.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
        y : sequence of labels, two different ones

        Returns
        -------
        self
            The fitted shaper.

        Examples
        --------
        >>> pressure = np.arange(50, 170, 10.0)[:, None]
        >>> shaper = LocalProbabilityShaper(n_neighbors=4).fit(pressure, [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1])
        >>> shaper.shapes_.round(2)[:6]
        array([0.78, 0.73, 0.58, 0.42, 0.25, 0.17])
        """
        self._check_parameters()
        matrix = checked_rows(self, X, fitting=True)
        n_rows, n_features = matrix.shape
        self.classes_, codes = checked_classes(self, y, n_rows)
        if len(self.classes_) != 2:
            raise InputError(
                f"y has {len(self.classes_)} classes; LocalProbabilityShaper needs two. Only binary classification is "
                "supported: fit one for each class against the rest"
            )
        if issparse(matrix) and self.keep_zero is False:
            raise InputError("X is sparse, and keep_zero=False would fill it; give keep_zero=True or 'auto'")
        self.keep_zero_ = issparse(matrix) if self.keep_zero == "auto" else bool(self.keep_zero)
        self._nominal = self._nominal_mask(n_features)
        self._base = self._shape(laplace(np.array([codes.sum()]), np.array([n_rows])))[0]
        self.zero_shapes_ = np.zeros(n_features)
        parts = [self._fit_part(groups) for groups in value_groups(matrix, codes, 2)]
        columns, values, shapes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        self.values_: FloatArray = values
        self.shapes_: FloatArray = shapes
        self.first_: IntArray = np.searchsorted(columns, np.arange(n_features + 1))
        return self

    def _fit_part(self, groups: ValueGroups) -> tuple[IntArray, FloatArray, FloatArray]:
        """Column, value and shape of some features' knots."""
        if self.keep_zero_:
            here = np.unique(groups.column)
            zero = groups.value == 0
            zeros = class_totals(groups.where(zero), len(self.zero_shapes_))[here]
            self.zero_shapes_[here] = self._shape(laplace(zeros[:, 1], zeros.sum(axis=1)))
            groups = groups.where(~zero)
        sizes = groups.counts.sum(axis=1)
        estimates = neighbour_estimates(groups, sizes, self.n_neighbors / 2)
        named = self._nominal[groups.column]
        estimates[named] = laplace(groups.counts[named, 1], sizes[named])
        return groups.column, groups.value, self._shape(estimates)

    def _shape(self, estimates: FloatArray) -> FloatArray:
        return estimates if self.output == "probability" else np.asarray(logit(estimates))

    def transform(self, X: Any) -> Any:
        """The shaped values; a sparse matrix gives a sparse one, which is possible where zeros are kept.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array or sparse matrix of shape (n_rows, n_features)
            The shaped values.

        Examples
        --------
        >>> pressure = np.arange(50, 170, 10.0)[:, None]
        >>> shaper = LocalProbabilityShaper(n_neighbors=4).fit(pressure, [1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1])
        >>> shaper.transform([[60], [100], [145]]).round(2)
        array([[0.73],
               [0.17],
               [0.78]])
        """
        check_is_fitted(self)
        matrix = checked_rows(self, X, fitting=False)
        if issparse(matrix):
            if not self.keep_zero_:
                raise InputError(
                    "X is sparse, but the shaper was fitted on dense data without keep_zero; fit it with keep_zero=True"
                )
            shaped = csc_array(matrix, copy=True)
            for j in np.flatnonzero(np.diff(shaped.indptr)).tolist():
                cells = slice(shaped.indptr[j], shaped.indptr[j + 1])
                shaped.data[cells] = self._shaped(j, shaped.data[cells])
            return type(matrix)(csr_array(shaped))
        result = np.empty(matrix.shape)
        for j in range(matrix.shape[1]):
            result[:, j] = self._shaped(j, matrix[:, j])
        return result

    def _shaped(self, j: int, cells: FloatArray) -> FloatArray:
        """What the values of feature j become."""
        knots = slice(self.first_[j], self.first_[j + 1])
        values, shapes = self.values_[knots], self.shapes_[knots]
        if not len(values):  # nothing but zeros was seen: other values can't be told from them
            return np.zeros(len(cells))
        if self._nominal[j]:
            position = np.minimum(np.searchsorted(values, cells), len(values) - 1)
            shaped = np.where(values[position] == cells, shapes[position], self._base)
        else:
            shaped = np.interp(cells, values, shapes)
        return np.where(cells == 0, 0.0, shaped - self.zero_shapes_[j]) if self.keep_zero_ else shaped

    def _check_parameters(self) -> None:
        n = self.n_neighbors
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 2:
            raise InputError(
                f"n_neighbors is {n!r}; a whole number of at least 2 is needed, half of it for either side"
            )
        if self.output not in OUTPUTS:
            raise InputError(f"output is {self.output!r}; it must be one of {', '.join(OUTPUTS)}")
        if not (isinstance(self.keep_zero, bool) or self.keep_zero == "auto"):
            raise InputError(f"keep_zero is {self.keep_zero!r}; it must be True, False or 'auto'")

    def _nominal_mask(self, n_features: int) -> BoolArray:
        mask = np.zeros(n_features, dtype=bool)
        names = list(getattr(self, "feature_names_in_", ()))
        wanted = () if self.nominal is None else self.nominal
        if isinstance(wanted, str) or not np.iterable(wanted):
            raise InputError(f"nominal is {wanted!r}; a list of numbers or names of features is needed")
        for which in wanted:
            if isinstance(which, str) and which in names:
                mask[names.index(which)] = True
            elif isinstance(which, Integral) and not isinstance(which, bool) and int(which) in range(n_features):
                mask[int(which)] = True
            else:
                known = f"their names are {', '.join(map(str, names))}" if names else "they have no names"
                raise InputError(
                    f"nominal has {which!r}; numbers from 0 to {n_features - 1} or names of features are needed ({known})"
                )
        return mask


def shaping_pipeline(
    *,
    n_neighbors: int = 30,
    output: str = "probability",
    keep_zero: bool = False,
    nominal: Any = None,
    norm: str = "l2",
) -> Pipeline:
    """The whole of the shaping method as a pipeline: shape, bring to the range from 0 to BNS, normalise each row.

    Its steps are ``shape``, ``range``, ``scale`` and ``normalize``; ``set_params(scale="passthrough")`` leaves one out. A
    classifier goes behind it with ``make_pipeline``.

    Parameters
    ----------
    n_neighbors, output, nominal
        As in :class:`LocalProbabilityShaper`.
    keep_zero : bool
        For sparse data such as text. Values are then not shifted to begin at 0, only brought to at most 1 in size before
        they are scaled: zero stays zero.
    norm : {"l2", "l1", "max"}
        The norm that each row is brought to 1 in.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Not fitted yet.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> features, species = load_iris(return_X_y=True)
    >>> middle = species == 1  # no single feature is linear in it
    >>> plain, shaped = LinearSVC(), make_pipeline(shaping_pipeline(), LinearSVC())
    >>> print(f"{plain.fit(features, middle).score(features, middle):.2f}")
    0.74
    >>> print(f"{shaped.fit(features, middle).score(features, middle):.2f}")
    0.94
    """
    return Pipeline(
        [
            ("shape", LocalProbabilityShaper(n_neighbors, output, keep_zero, nominal)),
            ("range", MaxAbsScaler() if keep_zero else MinMaxScaler()),
            ("scale", BNSScaler(values="tf", threshold="best")),
            ("normalize", Normalizer(norm)),
        ]
    )
