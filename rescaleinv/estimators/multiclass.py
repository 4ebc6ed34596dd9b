"""More than two classes: one-vs-one and one-vs-rest over the binary estimator, with sets of classes for predictions.

A set holds every class that ``predict`` could give at some rescaling. Each binary classifier is rescaled on its own, which
covers the rescalings that they have in common. So a set of one class is a strong verdict: no rescaling changes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.deadline import run_within, share_of_run
from rescaleinv._util.frames import FrameKind
from rescaleinv._util.parameters import shown
from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.estimators.class_sets import ClassSets
from rescaleinv.estimators.fitted import all_or_nothing
from rescaleinv.estimators.saving_many import read_models, write_models
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.theory.validation import checked_features, checked_labels, checked_weights
from rescaleinv.verdict import Verdicts, unusable_rows

# A decision value is larger than another only if it is so by this share: ranges are floats.
_ROUNDING = 1e-9

BoolArray = npt.NDArray[np.bool_]


class _OfBinaryClassifiers(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):
    """What both have in common: binary problems made of the classes, and one estimator for each."""

    def __init__(self, estimator: RescaleInvariantSVC | None = None) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _problems(self, labels: npt.NDArray[Any]) -> list[tuple[npt.NDArray[Any], BoolArray]]:
        """The binary problems: a label for each row, and which of the rows are part of it."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one clone of the estimator for each binary problem.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
        y : sequence of labels, two different ones at least
        sample_weight : sequence of numbers >= 0, optional
            As in :class:`RescaleInvariantSVC`.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> len(clf.estimators_), clf.classes_
        (3, array(['a', 'b', 'c'], dtype='<U1'))
        """
        with all_or_nothing(self) as draft:
            draft._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        features = checked_features(self, X, fitting=True)
        labels = checked_labels(self, y, len(features))
        weights = checked_weights(sample_weight, features)
        classes = np.unique(labels[weights > 0])
        if len(classes) < 2:
            raise InputError(
                f"the training set has one class ({classes[0]!r}, {(weights > 0).sum()} rows); two or more are needed"
            )
        self.classes_ = classes
        estimator = RescaleInvariantSVC() if self.estimator is None else self.estimator
        if not isinstance(estimator, RescaleInvariantSVC):
            raise InputError(f"the estimator is {shown(estimator)}; a RescaleInvariantSVC is needed, or None")
        # rows of other classes are given with weight 0, so that the numbers of rows in warnings are those of X
        self.estimators_ = [
            clone(estimator).fit(X, targets, sample_weight=weights * part) for targets, part in self._problems(labels)
        ]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each point at the given scaling: always one.

        Parameters
        ----------
        X : table of points

        Returns
        -------
        array of shape (n_points,)
            Labels, as they were given to ``fit``.

        Examples
        --------
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsOne().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.predict([[0, 1], [8, 1], [4, 4]])
        array(['a', 'b', 'a'], dtype='<U1')
        """
        check_is_fitted(self)
        return self._predicted(checked_features(self, X, fitting=False))

    def _predicted(self, rows: FloatArray) -> npt.NDArray[Any]:
        values = self._values(rows)
        chosen = (values >= 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[chosen]
        return labels

    def decision_function(self, X: Any) -> FloatArray:
        """One value per class, the largest of which is predicted; with two classes one value, of the second class.

        Parameters
        ----------
        X : table of points

        Returns
        -------
        array of shape (n_points, n_classes), or (n_points,) with two classes
            The columns are those of ``classes_``.

        Examples
        --------
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.decision_function([[0, 1], [8, 1]]).round(2)
        array([[ 1.  , -1.25, -0.78],
               [-1.  ,  0.75, -0.96]])
        """
        check_is_fitted(self)
        return self._values(checked_features(self, X, fitting=False))

    def _values(self, rows: FloatArray) -> FloatArray:
        references = [estimator._fitted.reference for estimator in self.estimators_]
        values = np.column_stack([reference.decision_function(rows) for reference in references])
        return values[:, 0] if len(self.classes_) == 2 else self._class_values(values)

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator with all its binary ones to one file without pickle.

        Parameters
        ----------
        path : str or Path

        Examples
        --------
        >>> import tempfile
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.save(Path(folder) / "model")
        ...     print(RescaleInvariantOneVsRest.load(Path(folder) / "model").predict([[8, 1]]))
        ['b']
        """
        check_is_fitted(self)
        write_models(path, type(self).__name__, self.classes_, list(self.estimators_))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote; no code in the file can run.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        RescaleInvariantOneVsOne or RescaleInvariantOneVsRest
            Fitted.

        Raises
        ------
        InputError
            If the file is damaged, is something else, or was written by a newer version.

        Examples
        --------
        >>> import tempfile
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsOne().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.save(Path(folder) / "model")
        ...     again = RescaleInvariantOneVsOne.load(Path(folder) / "model")
        >>> again.classes_
        array(['a', 'b', 'c'], dtype='<U1')
        """
        classes, estimators = read_models(path, cls.__name__, RescaleInvariantSVC.load)
        found = cls(clone(estimators[0]))
        found.classes_, found.estimators_ = classes, estimators
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimators[0], name):
                setattr(found, name, getattr(estimators[0], name))
        found._require_as_many()
        return found

    @abstractmethod
    def _class_values(self, values: FloatArray) -> FloatArray:
        """A value for each class from those of the binary classifiers, one column each."""

    def predict_set(self, X: Any) -> BoolArray:
        """For each point, which classes some rescaling could give it: bool, one column per class, never a row of False.

        Parameters
        ----------
        X : table of points

        Returns
        -------
        bool array of shape (n_points, n_classes)
            The columns are those of ``classes_``.

        Examples
        --------
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.predict_set([[0, 1], [4, 4]])
        array([[ True, False, False],
               [False,  True,  True]])
        """
        check_is_fitted(self)
        checked_features(self, X, fitting=False)
        return self._sets([estimator.certify(X) for estimator in self.estimators_])

    def _sets(self, verdicts: list[Verdicts]) -> BoolArray:
        if len(self.classes_) == 2:
            return np.column_stack([~verdicts[0].strongly_positive, ~verdicts[0].strongly_negative])
        return self._class_sets(verdicts)

    def certify(self, X: Any, *, budget: float | None = None) -> ClassSets:
        """For each point, which classes some rescaling could give it, with the verdicts behind.

        Parameters
        ----------
        X : table of points
            One with a value that is missing, infinite or too large has all classes, and the reason.
        budget : float, optional
            Seconds for all points and all binary classifiers together; Ctrl-C ends it early. A set that is not settled by
            then is larger than need be.

        Returns
        -------
        ClassSets
            Its ``strong`` says which points have one class whatever the scaling.

        Examples
        --------
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.certify([[0, 1], [8, 1], [4, 4]]).as_text()
        ['a', 'b', 'b or c']
        """
        check_is_fitted(self)
        rows = checked_features(self, X, fitting=False, holes=True)
        reason = unusable_rows(rows)
        usable = np.array(reason == "", dtype=bool)
        verdicts = []
        with run_within(budget, interruptible=budget is not None):
            for k, estimator in enumerate(self.estimators_):
                with share_of_run(1 / (len(self.estimators_) - k)):
                    verdicts.append(estimator.certify(X))
        sets = self._sets(verdicts)
        sets[~usable] = True
        labels = np.full(len(rows), None, dtype=object)
        if usable.any():
            labels[usable] = self._predicted(rows[usable])
        return ClassSets(sets, labels, self.classes_, reason, tuple(verdicts), FrameKind.of(X))

    def _require_as_many(self) -> None:
        """An ``InputError`` unless there is an estimator for every binary problem, of one and the same features."""
        features = {estimator.n_features_in_ for estimator in self.estimators_}
        if len(self.estimators_) != len(self._problems(self.classes_)) or len(features) != 1:
            raise InputError("the file is damaged: its binary classifiers do not fit its classes")

    @abstractmethod
    def _class_sets(self, verdicts: list[Verdicts]) -> BoolArray:
        """``predict_set`` for three classes or more, from the verdicts of the binary classifiers."""


class RescaleInvariantOneVsOne(_OfBinaryClassifiers):
    """One binary classifier for each pair of classes; they vote.

    The class with the most votes is predicted; of classes with as many votes, the one with the largest sum of decision
    values (each brought into (-1/3, 1/3), so that they decide ties and nothing else).

    A class stays in ``predict_set`` unless no rescaling can make it win the vote: unless another class surely gets more
    votes (strong verdicts for it) than this one can get (pairs in which there is no strong verdict against it). So the
    predicted class is in the set. Where strong verdicts run in a circle (a beats b, b beats c, c beats a) all three stay:
    they have as many votes under every rescaling, and the decision values, which depend on it, choose.

    Parameters
    ----------
    estimator : RescaleInvariantSVC, optional
        What is cloned for each pair; ``RescaleInvariantSVC()`` if not given.

    Attributes
    ----------
    classes_ : array
    estimators_ : list of RescaleInvariantSVC
        In the order of the pairs (0, 1), (0, 2), …, (1, 2), …; the later class is the positive one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = RescaleInvariantOneVsOne().fit(X[::5], y[::5])
    >>> clf.predict(X[[1, 52, 119]])
    array([0, 1, 1])
    >>> clf.predict_set(X[[1, 52, 119]])
    array([[ True, False, False],
           [False,  True,  True],
           [False,  True,  True]])

    (The last one is of class 2: the set says that its label depends on the scaling.)
    """

    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.classes_)), 2))

    def _problems(self, labels: npt.NDArray[Any]) -> list[tuple[npt.NDArray[Any], BoolArray]]:
        return [(labels, np.isin(labels, self.classes_[list(pair)])) for pair in self._pairs()]

    def _class_values(self, values: FloatArray) -> FloatArray:
        votes, confidences = np.zeros((2, len(values), len(self.classes_)))
        for (first, second), value in zip(self._pairs(), values.T, strict=True):
            votes[:, second] += value >= 0
            votes[:, first] += value < 0
            confidences[:, second] += value
            confidences[:, first] -= value
        return votes + confidences / (3 * (np.abs(confidences) + 1))

    def _class_sets(self, verdicts: list[Verdicts]) -> BoolArray:
        certain, possible = np.zeros((2, len(verdicts[0]), len(self.classes_)), dtype=np.intp)
        for (first, second), of_pair in zip(self._pairs(), verdicts, strict=True):
            certain[:, second] += of_pair.strongly_positive
            certain[:, first] += of_pair.strongly_negative
            possible[:, second] += ~of_pair.strongly_negative
            possible[:, first] += ~of_pair.strongly_positive
        return possible >= certain.max(axis=1, keepdims=True)


class RescaleInvariantOneVsRest(_OfBinaryClassifiers):
    """One binary classifier for each class against all others; the largest decision value is predicted.

    A class stays in ``predict_set`` unless no rescaling can make its decision value the largest: unless another class's
    is always larger. The ranges of the decision values tell, where the engine gives them; the verdicts do where it does
    not (strongly negative against strongly positive). So the predicted class is in the set. Strongly negative alone does
    not exclude a class: where all are negative, the least negative one is predicted.

    A class between the others is not separable from them by a hyperplane: its classifier has a soft margin then, unless the
    estimator's ``inconsistent`` says otherwise. One-vs-one is the better choice for such data.

    Parameters
    ----------
    estimator : RescaleInvariantSVC, optional
        What is cloned for each class; ``RescaleInvariantSVC()`` if not given.

    Attributes
    ----------
    classes_ : array
    estimators_ : list of RescaleInvariantSVC
        One per class, in their order, with the labels True (the class) and False; of two classes only the second has one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]])
    >>> clf = RescaleInvariantOneVsRest().fit(X, ["a", "a", "b", "b", "c", "c"])
    >>> clf.predict([[0, 1], [8, 1], [4, 4]])
    array(['a', 'b', 'c'], dtype='<U1')
    >>> clf.predict_set([[0, 1], [8, 1], [4, 4]])
    array([[ True, False, False],
           [False,  True, False],
           [False,  True,  True]])
    """

    def _problems(self, labels: npt.NDArray[Any]) -> list[tuple[npt.NDArray[Any], BoolArray]]:
        chosen = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [(labels == label, np.isin(labels, self.classes_)) for label in chosen]

    def _class_values(self, values: FloatArray) -> FloatArray:
        return values

    def _class_sets(self, verdicts: list[Verdicts]) -> BoolArray:
        lower = np.column_stack([np.where(np.isnan(v.lower), -np.inf, v.lower) for v in verdicts])
        upper = np.column_stack([np.where(np.isnan(v.upper), np.inf, v.upper) for v in verdicts])
        negative = np.column_stack([v.strongly_negative for v in verdicts])
        some_positive = np.column_stack([v.strongly_positive for v in verdicts]).any(axis=1, keepdims=True)
        largest = lower.max(axis=1, keepdims=True)
        rounding = _ROUNDING * (1 + np.abs(np.where(np.isinf(largest), 0, largest)))
        return (upper >= largest - rounding) & ~(negative & some_positive)
