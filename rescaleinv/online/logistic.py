"""Logistic regression in one pass: on the features as given (SGD), or scaled as the rows come (GN)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.online import _kernel
from rescaleinv.online._base import OnlineLogLossClassifier, Step
from rescaleinv.online.running import RunningScaler


class OnlineLogistic(OnlineLogLossClassifier):
    """Logistic regression that sees each row once: the learners SGD and GN of Bollegala & Iba, with and without averaging.

    Parameters
    ----------
    scaled : bool, default=True
        True is GN: each row is first added to a running mean and variance (equations 2 and 3), then scaled by these
        (equation 1), then classified, then learnt from. False is SGD, on the features as given.
    l2 : float, default=0
        The coefficient λ of regularisation of the weights. It is divided by the horizon, as in the paper.
    average : bool, default=False
        Predict with the mean of the parameters after each row so far, instead of the last ones; also while learning,
        for the count of errors. The steps are the same.
    learning_rate : float, default=0.1
        η_0 of the rate of equation 12, η_0 / (1 + k / horizon), where k rows were seen before.
    horizon : int, optional
        How many rows are expected in all. If not given, the number of rows of the first call of ``fit`` or ``partial_fit``
        is taken: give it if the rows come in parts.
    penalty : {"squared", "norm"}, default="squared"
        "squared" is λ times the squared norm of the weights, whose gradient the updates of the paper have: the weights are
        multiplied by 1 - 2 λ η. The objective that it prints (equation 7) has the norm itself, without the square;
        "norm" follows the gradient of that. A step of the penalty alone never takes weights beyond zero.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The second is the positive one.
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        The classifier in the units of X: with ``scaled`` the scaling so far is multiplied in.
    scaler_ : RunningScaler
        The scaling so far; with ``scaled`` only.
    n_seen_, n_errors_ : int
        How many rows were seen, and how many of them were misclassified before they were learnt from.
    mistakes_ : bool array
        Which rows of the last call were; its cumulative sum is the curve of errors.
    n_skipped_ : int
        Steps that were left out because parameters grew beyond 1e100, with a warning.
    horizon_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Memory does not grow with the rows. Of a sparse matrix one row at a time is unpacked (centring leaves no zeros),
    so the time depends on the number of features, not on the number of stored values.

    A row counts in the mean and variance that it is scaled by, so the first one is all zeros after scaling. A feature that
    has been constant so far is only centred. The paper leaves open where to start; it is at zero weights.

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> X, y, names = load("pima_diabetes")
    >>> for scaled in (False, True):
    ...     clf = OnlineLogistic(scaled=scaled).fit(X, y)
    ...     print(scaled, clf.n_errors_, "errors in", clf.n_seen_, "rows; then", round(clf.score(X, y), 3))
    False 332 errors in 768 rows; then 0.608
    True 191 errors in 768 rows; then 0.764
    """

    _coefficients: ClassVar = ("l2",)

    def __init__(
        self,
        *,
        scaled: bool = True,
        l2: float = 0.0,
        average: bool = False,
        learning_rate: float = 0.1,
        horizon: int | None = None,
        penalty: str = "squared",
    ) -> None:
        self.scaled = scaled
        self.l2 = l2
        self.average = average
        self.learning_rate = learning_rate
        self.horizon = horizon
        self.penalty = penalty

    def _first_vector(self, n_features: int) -> tuple[int, FloatArray, RunningScaler | None]:
        scaler = None
        if self.scaled:
            scaler = RunningScaler()
            scaler._start(n_features)
        return _kernel.LINEAR, np.zeros(n_features + 1), scaler

    def _step(self) -> Step:
        return self._log_loss_step(self.l2)

    @property
    def scaler_(self) -> RunningScaler:
        """The scaling so far.

        Examples
        --------
        The scaling of rows that came in two parts:

        >>> clf = OnlineLogistic(horizon=4).partial_fit([[0.0, 10.0], [1.0, 30.0]], [0, 1])
        >>> clf.partial_fit([[0.0, 20.0], [1.0, 40.0]], [0, 1]).scaler_.mean_
        array([ 0.5, 25. ])
        """
        scaler = getattr(self, "_scaler", None)
        if not isinstance(scaler, RunningScaler):
            raise AttributeError("there is no scaler_ before fit, nor with scaled=False")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(scaler, name, getattr(self, name))
        return scaler

    @property
    def coef_(self) -> FloatArray:
        """The weights in the units of X.

        Examples
        --------
        In the units of X: a feature whose numbers are ten times as large gets a tenth of the weight.

        >>> rows = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.1]])
        >>> OnlineLogistic().fit(rows, [0, 1, 0, 1]).coef_.round(4)
        array([[ 0.1254, -0.1271]])
        >>> OnlineLogistic().fit(rows * [10, 1], [0, 1, 0, 1]).coef_.round(4)
        array([[ 0.0125, -0.1271]])
        """
        weights = self._block(0)
        return (weights if self._scaler is None else weights / self._scaler.scale_)[None, :]

    @property
    def intercept_(self) -> FloatArray:
        """The bias in the units of X.

        Examples
        --------
        >>> clf = OnlineLogistic().fit([[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.1]], [0, 1, 0, 1])
        >>> (clf.coef_ @ [0.5, 0.5] + clf.intercept_).round(4), clf.decision_function([[0.5, 0.5]]).round(4)
        (array([-0.0167]), array([-0.0167]))
        """
        shift = 0.0 if self._scaler is None else float(self.coef_[0] @ self._scaler.mean_)
        return np.array([self._parameters[-1] - shift])
