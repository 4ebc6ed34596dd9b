"""Selection of features by any of the fifteen scores of Forman (2008)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.scaling._input import checked_classes
from rescaleinv.scaling._scoring import Scoring
from rescaleinv.scaling.scores import check_metric
from rescaleinv.theory.validation import checked_rows


class MetricSelector(SelectorMixin, Scoring):
    """Keep the features with the best scores by one metric; a scaler after it in a pipeline may use another.

    Of features with equal scores, those that come first are kept. The paper recommends information gain to select and
    bi-normal separation to scale, where not all features can be kept, and to keep all features where that is possible.

    Parameters
    ----------
    metric : str
        As in :class:`~rescaleinv.scaling.SupervisedScaler`.
    n_features_to_select : int
        How many features to keep; if there are fewer, all are kept.
    threshold : {"nonzero", "best"}
        As in :class:`~rescaleinv.scaling.BNSScaler`.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rescaleinv.scaling import BNSScaler
    >>> words = [[3, 1, 0], [1, 0, 0], [2, 1, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]]
    >>> both = make_pipeline(MetricSelector("information_gain", n_features_to_select=2), BNSScaler())
    >>> both.fit_transform(words, ["spam", "spam", "spam", "ham", "ham", "ham"])[0].round(2)
    array([3.72, 0.  ])
    >>> both.get_feature_names_out(["buy", "the", "regards"])
    array(['buy', 'regards'], dtype=object)
    """

    def __init__(
        self, metric: str = "information_gain", n_features_to_select: int = 1000, threshold: str = "nonzero"
    ) -> None:
        self.metric = metric
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold

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
            The fitted selector.

        Examples
        --------
        >>> words = [[3, 1, 0], [1, 0, 0], [2, 1, 0], [0, 1, 1], [0, 0, 2], [1, 1, 0]]
        >>> labels = ["spam", "spam", "spam", "ham", "ham", "ham"]
        >>> selector = MetricSelector("chi2", n_features_to_select=2).fit(words, labels)
        >>> selector.scores_.round(2), selector.get_support()
        (array([3., 0., 3.]), array([ True, False,  True]))
        """
        check_metric(self.metric)
        wanted = self.n_features_to_select
        if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 1:
            raise InputError(f"n_features_to_select is {wanted!r}; a whole number of at least 1 is needed")
        matrix = checked_rows(self, X, fitting=True)
        self.classes_, codes = checked_classes(self, y, matrix.shape[0])
        self.scores_: FloatArray = self._scores(matrix, codes, len(self.classes_))
        return self

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(len(self.scores_), dtype=bool)
        mask[np.argsort(-self.scores_, kind="stable")[: self.n_features_to_select]] = True
        return mask
