"""Passive-aggressive learning in one pass: PA, PA-I, PA-II."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.online import _kernel
from rescaleinv.online._base import OnlineBinaryClassifier, Step
from rescaleinv.online.running import RunningScaler

_LOSSES = {"hinge": _kernel.HINGE, "squared_hinge": _kernel.SQUARED_HINGE}


class OnlinePassiveAggressive(OnlineBinaryClassifier):
    """The smallest change of a linear classifier that gives the current row a margin of 1 (Crammer et al. 2006).

    Parameters
    ----------
    C : float, default=inf
        What a missing margin costs. inf is PA: the change always suffices.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        How a missing margin counts: "hinge" with a finite C is PA-I, "squared_hinge" PA-II.
    average : bool, default=False
        Predict with the mean of the parameters after each row so far, instead of the last ones; also while learning,
        for the count of errors. The steps are the same.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The second is the positive one.
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
    n_seen_, n_errors_ : int
        How many rows were seen, and how many of them were misclassified before they were learnt from.
    mistakes_ : bool array
        Which rows of the last call were; its cumulative sum is the curve of errors.
    n_skipped_ : int
        Steps that were left out because parameters grew beyond 1e100, with a warning.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The bias is the weight of one more feature that is always 1, and counts in the size of a change; the paper of Bollegala
    & Iba does not say whether theirs has one. Memory does not grow with the rows, and of a sparse matrix one row at a time
    is unpacked. scikit-learn's ``SGDClassifier(learning_rate="pa1")`` does the same if several passes or more classes
    are wanted.

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> X, y, names = load("banknote")
    >>> order = np.random.default_rng(0).permutation(len(X))
    >>> clf = OnlinePassiveAggressive(C=0.01, average=True).fit(X[order], y[order])
    >>> print(clf.n_errors_, "errors in", clf.n_seen_, "rows; then", round(clf.score(X, y), 3))
    44 errors in 1372 rows; then 0.988
    """

    def __init__(self, *, C: float = math.inf, loss: str = "hinge", average: bool = False) -> None:
        self.C = C
        self.loss = loss
        self.average = average

    def _check_parameters(self) -> None:
        if not (isinstance(self.C, Real) and self.C > 0):
            raise InputError(f"C is {self.C!r}; a positive number is needed, or inf")
        if not isinstance(self.loss, str) or self.loss not in _LOSSES:
            raise InputError(f"loss is {self.loss!r}; one of {', '.join(map(repr, _LOSSES))} is needed")

    def _first_parameters(self, n_features: int, n_rows: int) -> tuple[int, FloatArray, RunningScaler | None]:
        return _kernel.LINEAR, np.zeros(n_features + 1), None

    def _step(self) -> Step:
        return Step(_LOSSES[self.loss], C=float(self.C))

    @property
    def coef_(self) -> FloatArray:
        """The weights.

        Examples
        --------
        One row, and the smallest change that gives it a margin of 1:

        >>> OnlinePassiveAggressive().partial_fit([[2.0, 0.0]], [1], classes=[0, 1]).coef_
        array([[0.4, 0. ]])
        """
        return self._block(0)[None, :]

    @property
    def intercept_(self) -> FloatArray:
        """The bias.

        Examples
        --------
        >>> clf = OnlinePassiveAggressive().partial_fit([[2.0, 0.0]], [1], classes=[0, 1])
        >>> clf.intercept_, clf.decision_function([[2.0, 0.0]])
        (array([0.2]), array([1.]))
        """
        return self._parameters[-1:].copy()
