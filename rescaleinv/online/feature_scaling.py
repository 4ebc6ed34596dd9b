"""Logistic regression in one pass that learns a scaling of each feature along with its weight: FS, FS-1, FS-2, FS-3."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.online import _kernel
from rescaleinv.online._base import OnlineLogLossClassifier, Step
from rescaleinv.online.running import RunningScaler

# the form of the decision value, and the blocks of parameters in their order
_VARIANTS = {
    "FS": (_kernel.FS, ("weights", "slopes", "offsets")),
    "FS-1": (_kernel.FS_1, ("weights", "offsets")),
    "FS-2": (_kernel.FS_2, ("weights", "slopes", "offsets")),
    "FS-3": (_kernel.FS_3, ("slopes", "offsets")),
}


class OnlineFeatureScaling(OnlineLogLossClassifier):
    """Logistic regression on features that are scaled by functions learnt along with it (Bollegala & Iba, section 4).

    The decision value is Σ w_j s_j(x_j) + b, and one step of gradient descent per row moves w, b and the parameters of s.
    If features are not of similar size, FS-2 and FS-3 diverge and FS and FS-1 see constants; the paper's own tables
    have GN (:class:`OnlineLogistic`) ahead of all of them.

    Parameters
    ----------
    variant : {"FS", "FS-1", "FS-2", "FS-3"}, default="FS"
        The scaling s of a feature's value x: 1 / (1 + exp(-α x + β)) (FS, equation 4), the same with α = 1 (FS-1, equation
        14), α x + β (FS-2, equation 18), and α x + β with w = 1 (FS-3, equation 24).
    l2_weights, l2_slopes, l2_offsets : float, default=0
        The coefficients λ, μ, ν of regularisation of w, α, β. They are divided by the horizon, as in the paper. What the
        variant does not have must be 0: slopes in FS-1, weights in FS-3.
    average : bool, default=False
        Predict with the means of w, α, β and b after each row so far, instead of the last ones; also while learning, for
        the count of errors. The steps are the same.
    learning_rate : float, default=0.1
        η_0 of the rate of equation 12, η_0 / (1 + k / horizon), where k rows were seen before.
    horizon : int, optional
        How many rows are expected in all. If not given, the number of rows of the first call of ``fit`` or ``partial_fit``
        is taken: give it if the rows come in parts.
    penalty : {"squared", "norm"}, default="squared"
        "squared" is what the updates of the paper (equations 8 to 27) descend: λ, μ, ν times the squared norms. The
        objective that it prints (equation 7) has the norms themselves, without the squares; "norm" follows the gradient of
        that. A step of the penalty alone never takes parameters beyond zero.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The second is the positive one.
    weights_, slopes_, offsets_, intercept_ : arrays
        w, α and β, one number per feature, and b: the averages with ``average``. Those that the variant fixes are 1.
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
    *Differences from the printed paper.* Labels are 0 and 1 in the updates, as the log loss requires, not -1 and 1. With
    that and ``penalty="squared"`` all printed updates are the gradients. FS-2 and FS-3 are called convex; FS-3 is, FS-2
    is convex only in each parameter separately (w_j α_j is a product). The second derivative by β of FS-2 is
    y (1 - y) w² + 2 ν; the paper prints the one by α again.

    *What it leaves open.* Learning starts at w = 0, α = 1, β = 0, b = 0, features as given, and for FS-3, where α is
    the weight, at α = 0.

    Memory does not grow with the rows. Of a sparse matrix one row at a time is unpacked (zeros are scaled too).

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> X, y, names = load("banknote")
    >>> order = np.random.default_rng(0).permutation(len(X))
    >>> clf = OnlineFeatureScaling(variant="FS").fit(X[order], y[order])
    >>> print(clf.n_errors_, "errors in", clf.n_seen_, "rows; then", round(clf.score(X, y), 3))
    215 errors in 1372 rows; then 0.88
    """

    _coefficients: ClassVar = ("l2_weights", "l2_slopes", "l2_offsets")

    def __init__(
        self,
        *,
        variant: str = "FS",
        l2_weights: float = 0.0,
        l2_slopes: float = 0.0,
        l2_offsets: float = 0.0,
        average: bool = False,
        learning_rate: float = 0.1,
        horizon: int | None = None,
        penalty: str = "squared",
    ) -> None:
        self.variant = variant
        self.l2_weights = l2_weights
        self.l2_slopes = l2_slopes
        self.l2_offsets = l2_offsets
        self.average = average
        self.learning_rate = learning_rate
        self.horizon = horizon
        self.penalty = penalty

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.variant, str) or self.variant not in _VARIANTS:
            raise InputError(f"variant is {self.variant!r}; one of {', '.join(map(repr, _VARIANTS))} is needed")
        for block in ("weights", "slopes"):
            if block not in self._blocks and getattr(self, f"l2_{block}"):
                raise InputError(
                    f"l2_{block} is {getattr(self, f'l2_{block}')!r}, but {self.variant} has no {block}; 0 is needed"
                )

    @property
    def _blocks(self) -> tuple[str, ...]:
        return _VARIANTS[self.variant][1]

    def _first_vector(self, n_features: int) -> tuple[int, FloatArray, RunningScaler | None]:
        starts_at_one = "slopes" if "weights" in self._blocks else None
        first = [np.full(n_features, float(block == starts_at_one)) for block in self._blocks]
        return _VARIANTS[self.variant][0], np.concatenate([*first, [0.0]]), None

    def _step(self) -> Step:
        return self._log_loss_step(*(getattr(self, f"l2_{block}") for block in self._blocks))

    def _named_block(self, name: str) -> FloatArray:
        check_is_fitted(self)
        if name not in self._blocks:
            return np.ones(self.n_features_in_)
        return self._block(self._blocks.index(name))

    @property
    def weights_(self) -> FloatArray:
        """The weights w of the scaled features.

        Examples
        --------
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.1]], [0, 1, 0, 1]
        >>> clf = OnlineFeatureScaling(learning_rate=1.0).fit(rows, labels)
        >>> clf.weights_.round(2)
        array([ 0.22, -0.15])
        """
        return self._named_block("weights")

    @property
    def slopes_(self) -> FloatArray:
        """The factors α of the features.

        Examples
        --------
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.1]], [0, 1, 0, 1]
        >>> clf = OnlineFeatureScaling(learning_rate=1.0).fit(rows, labels)
        >>> clf.slopes_.round(2)
        array([0.97, 1.  ])
        """
        return self._named_block("slopes")

    @property
    def offsets_(self) -> FloatArray:
        """The offsets β of the features.

        Examples
        --------
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.1]], [0, 1, 0, 1]
        >>> clf = OnlineFeatureScaling(learning_rate=1.0).fit(rows, labels)
        >>> clf.offsets_.round(3)
        array([0.044, 0.074])
        """
        return self._named_block("offsets")

    @property
    def intercept_(self) -> FloatArray:
        """The bias b.

        Examples
        --------
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0], [0.2, 0.9], [0.9, 0.1]], [0, 1, 0, 1]
        >>> clf = OnlineFeatureScaling(learning_rate=1.0).fit(rows, labels)
        >>> clf.intercept_.round(2)
        array([0.07])
        """
        return self._parameters[-1:].copy()
