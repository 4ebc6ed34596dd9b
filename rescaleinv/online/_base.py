"""What the one-pass learners share: classes, counting, averaging, and the call of the compiled loop."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self
from warnings import warn

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.online import _kernel
from rescaleinv.online._rows import packed, read_only
from rescaleinv.online.running import RunningScaler
from rescaleinv.theory.validation import checked_labels, checked_rows


class Step(NamedTuple):
    """How a learner moves its parameters: what the compiled loop needs to know about it."""

    loss: int
    rate: float = 0.0
    horizon: float = 1.0
    penalties: tuple[float, ...] = ()
    squared: bool = True
    C: float = math.inf


class OnlineBinaryClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier for two classes that sees each row once and keeps only its parameters."""

    average: bool
    classes_: npt.NDArray[Any]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise an error if a parameter can't be used."""

    @abstractmethod
    def _first_parameters(self, n_features: int, n_rows: int) -> tuple[int, FloatArray, RunningScaler | None]:
        """The form of the decision value, the vector to start from, and the scaler where there is one."""

    @abstractmethod
    def _step(self) -> Step:
        """How to learn."""

    def fit(self, X: Any, y: Any) -> Self:
        """Forget what was learnt, and learn from the rows of X: once, in their order.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
            A sparse matrix is unpacked one row at a time.
        y : sequence of two different labels

        Returns
        -------
        self
            The fitted classifier.

        Examples
        --------
        >>> from rescaleinv.online import OnlineLogistic
        >>> clf = OnlineLogistic().fit([[0.0, 10.0], [1.0, 30.0], [0.1, 20.0], [0.9, 40.0]], ["no", "yes", "no", "yes"])
        >>> clf.n_seen_, clf.n_errors_
        (4, 2)
        """
        return self._learn(X, y, None, starts=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from the rows of X after those seen before.

        Parameters
        ----------
        X, y
            As in ``fit``, but y may hold one class only.
        classes : sequence of two labels, optional
            Needed at the first call, unless its y holds both; the larger label is the positive one.

        Returns
        -------
        self
            The classifier, fitted to all rows so far.

        Examples
        --------
        A stream of single rows, of which the first has one class only:

        >>> from rescaleinv.online import OnlineLogistic
        >>> clf = OnlineLogistic(horizon=4)
        >>> stream = [([0.0, 10.0], "no"), ([1.0, 30.0], "yes"), ([0.1, 20.0], "no"), ([0.9, 40.0], "yes")]
        >>> for row, label in stream:
        ...     clf = clf.partial_fit([row], [label], classes=["no", "yes"])
        >>> clf.n_seen_, clf.predict([[1.0, 35.0]])
        (4, array(['yes'], dtype='<U3'))
        """
        return self._learn(X, y, classes, starts=not hasattr(self, "classes_"))

    def _learn(self, X: Any, y: Any, classes: Any, *, starts: bool) -> Self:
        self._check_parameters()
        rows = checked_rows(self, X, fitting=starts)
        labels = checked_labels(self, y, rows.shape[0])
        known = None if starts else self.classes_
        self.classes_ = _two_classes(labels, classes, known)
        if starts:
            self._form, self._theta, self._scaler = self._first_parameters(self.n_features_in_, rows.shape[0])
            self._average = self._theta.copy()
            self.n_seen_ = self.n_errors_ = self.n_skipped_ = 0
        scaler = self._scaler or _no_scaler(self.n_features_in_)
        step = self._step()
        self.mistakes_ = np.zeros(rows.shape[0], dtype=bool)
        skipped = _kernel.learn(
            self._form,
            step.loss,
            *packed(rows),
            read_only(labels == self.classes_[1]),
            self._theta,
            self._average,
            bool(self.average),
            self.n_seen_,
            float(step.rate),
            float(step.horizon),
            np.array(step.penalties, dtype=np.float64),
            step.squared,
            step.C,
            self._scaler is not None,
            scaler.mean_,
            scaler._squares,
            self.mistakes_,
        )
        self.n_seen_ += rows.shape[0]
        scaler.n_samples_seen_ += rows.shape[0]
        self.n_errors_ += int(self.mistakes_.sum())
        self.n_skipped_ += skipped
        if skipped:
            warn(
                f"{skipped} of {rows.shape[0]} steps were left out, as parameters grew without bound; scale the features, "
                "or learn more slowly",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @property
    def _parameters(self) -> FloatArray:
        """What predictions are made with."""
        check_is_fitted(self)
        return self._average if self.average else self._theta

    def _block(self, number: int) -> FloatArray:
        return self._parameters[number * self.n_features_in_ : (number + 1) * self.n_features_in_].copy()

    def decision_function(self, X: Any) -> FloatArray:
        """One value per row: positive (``classes_[1]``) where it is >= 0.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
            The values.

        Examples
        --------
        >>> from rescaleinv.online import OnlineLogistic
        >>> clf = OnlineLogistic().fit([[0.0, 10.0], [1.0, 30.0], [0.1, 20.0], [0.9, 40.0]], ["no", "yes", "no", "yes"])
        >>> clf.decision_function([[1.0, 35.0], [0.0, 15.0]]).round(2)
        array([ 0.1 , -0.13])
        """
        parameters = self._parameters
        rows = checked_rows(self, X, fitting=False)
        scaler = self._scaler or _no_scaler(self.n_features_in_)
        values: FloatArray = np.empty(rows.shape[0])
        _kernel.decision_values(
            self._form,
            *packed(rows),
            read_only(parameters),
            self._scaler is not None,
            scaler.n_samples_seen_,
            scaler.mean_,
            scaler._squares,
            values,
        )
        return values

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
            Labels, as they were given to ``fit``.

        Examples
        --------
        >>> from rescaleinv.online import OnlineLogistic
        >>> clf = OnlineLogistic().fit([[0.0, 10.0], [1.0, 30.0], [0.1, 20.0], [0.9, 40.0]], ["no", "yes", "no", "yes"])
        >>> clf.predict([[1.0, 35.0], [0.0, 15.0]])
        array(['yes', 'no'], dtype='<U3')
        """
        positive = self.decision_function(X) >= 0
        labels: npt.NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels


class OnlineLogLossClassifier(OnlineBinaryClassifier):
    """A one-pass learner by stochastic gradient descent on the log loss, with the learning rate of equation 12."""

    learning_rate: float
    horizon: int | None
    penalty: str
    # the parameters that are coefficients of regularisation
    _coefficients: ClassVar[tuple[str, ...]]

    def _check_parameters(self) -> None:
        if not (isinstance(self.learning_rate, Real) and 0 < self.learning_rate < math.inf):
            raise InputError(f"learning_rate is {self.learning_rate!r}; a positive number is needed")
        if self.horizon is not None and not (isinstance(self.horizon, Integral) and self.horizon > 0):
            raise InputError(f"horizon is {self.horizon!r}; a number of rows, or None, is needed")
        if self.penalty not in ("squared", "norm"):
            raise InputError(f'penalty is {self.penalty!r}; "squared" or "norm" is needed')
        for name in self._coefficients:
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 <= value < math.inf):
                raise InputError(f"{name} is {value!r}; a number >= 0 is needed")

    def _first_parameters(self, n_features: int, n_rows: int) -> tuple[int, FloatArray, RunningScaler | None]:
        self.horizon_ = n_rows if self.horizon is None else int(self.horizon)
        return self._first_vector(n_features)

    @abstractmethod
    def _first_vector(self, n_features: int) -> tuple[int, FloatArray, RunningScaler | None]:
        """As ``_first_parameters``, which also settles the horizon."""

    def _log_loss_step(self, *coefficients: float) -> Step:
        penalties = tuple(value / self.horizon_ for value in coefficients)
        return Step(_kernel.LOG_LOSS, self.learning_rate, self.horizon_, penalties, self.penalty == "squared")

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each of the two classes by the logistic model.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, 2)
            The columns are those of ``classes_``.

        Examples
        --------
        >>> from rescaleinv.online import OnlineLogistic
        >>> clf = OnlineLogistic().fit([[0.0, 10.0], [1.0, 30.0], [0.1, 20.0], [0.9, 40.0]], ["no", "yes", "no", "yes"])
        >>> clf.predict_proba([[1.0, 35.0], [0.0, 15.0]]).round(2)
        array([[0.48, 0.52],
               [0.53, 0.47]])
        """
        values = self.decision_function(X)
        return np.column_stack([expit(-values), expit(values)])


def _no_scaler(n_features: int) -> RunningScaler:
    scaler = RunningScaler()
    scaler._start(n_features)
    return scaler


def _two_classes(labels: npt.NDArray[Any], given: Any, known: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    seen = np.unique(labels)
    if given is not None:
        given = np.unique(given)
        if known is not None and not np.array_equal(given, known):
            raise InputError(f"classes are {given.tolist()}, but at the first call they were {known.tolist()}")
    classes = known if known is not None else seen if given is None else given
    if len(classes) > 2:
        raise InputError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"{len(classes)} classes were given, two are needed"
        )
    if len(classes) < 2:
        raise InputError(f"there is one class ({classes[0]!r}); two are needed, name both in partial_fit(classes=…)")
    unknown = np.setdiff1d(seen, classes)
    if unknown.size:
        raise InputError(f"the labels {unknown.tolist()} are not among the classes {classes.tolist()}")
    return classes
