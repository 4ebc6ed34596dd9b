"""The weighted L1-SVM: every one of them is in the closure of RO(X), so a strong verdict holds for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.search.exact import ExactVertex, ExactVertices
from rescaleinv.engines.search.simplex import L1Simplex
from rescaleinv.errors import InputError
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.training_set import TrainingSet, require_training_set


@dataclass(frozen=True)
class L1SVM:
    """The classifier w·x + b of least Σ c_j |w_j|, floats in the original units.

    ``exact`` is the vertex in rationals with the proof that it is in the closure of RO(X); None where floats were too
    coarse to find one.
    """

    training_set: TrainingSet
    weights: FloatArray
    intercept: float
    exact: ExactVertex | None

    def decision_function(self, points: Any) -> FloatArray:
        """w·x + b, one value per point."""
        return as_matrix(points, n_features=self.training_set.n_features) @ self.weights + self.intercept


def l1_svm(training_set: TrainingSet, costs: Any = None, nu: float | None = None) -> L1SVM:
    """The max-margin classifier with the penalty Σ c_j |w_j|.

    Parameters
    ----------
    training_set : TrainingSet
    costs : sequence of float, optional
        c, one positive number per feature, original units; 1 if not given.
    nu : float, optional
        The soft margin without a scale: the classifier is scaled so that rows on the margin have y f = 1.

    Raises
    ------
    InseparableError
        If the classes (with ``nu`` their reduced hulls) are not separable.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> l1_svm(ts, [1, 2]).weights.round(9) + 0.0, l1_svm(ts, [2, 1]).weights.round(9) + 0.0
    (array([3., 2.]), array([2., 3.]))
    """
    require_training_set(training_set)
    n = training_set.n_features
    given = np.ones(n) if costs is None else np.array(costs, dtype=float)
    if given.shape != (n,) or not (np.isfinite(given) & (given > 0)).all():
        raise InputError(f"the costs must be {n} positive numbers, one per feature")
    margin = None if nu is None else NuMargin.of(training_set, nu)
    simplex = L1Simplex(training_set, None if margin is None else margin.caps)
    conditioned = np.ldexp(given, -training_set.conditioning.exponent)
    conditioned /= conditioned.max()
    vertex = simplex.solve(conditioned)
    exact = ExactVertices(training_set, None if margin is None else margin.exact_caps).of(vertex, conditioned)
    if exact is not None:
        return L1SVM(training_set, np.array([float(w) for w in exact.weights]), float(exact.intercept), exact)
    weights, intercept = training_set.conditioning.weights_to_original(vertex.weights, vertex.intercept)
    return L1SVM(training_set, weights, intercept, None)
