"""Does rescaling make any difference at all for this training set? (Theorems 6 and 7, Corollary 8)"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from rescaleinv.errors import SolverError
from rescaleinv.evidence import exact_svm_at
from rescaleinv.problem import FloatArray, TrainingSet
from rescaleinv.rationals import nonnegative_solution
from rescaleinv.svm import SVMSolution, minimal_norm_svm

# A weight that a linear program can lower by this share of the largest one is no tie, whatever the rounding was.
_CLEARLY_LOWER = 1e-6


@dataclass(frozen=True)
class Invariance:
    """Whether every point keeps its label under every rescaling; if so, the one classifier that all rescalings give.

    ``proved`` tells that the answer was decided in exact rationals; it is so unless a float was far from a tie.
    """

    invariant: bool
    proved: bool
    weights: FloatArray | None
    intercept: float | None


def _lowest_weight(training_set: TrainingSet, svm: SVMSolution, feature: int) -> float:
    """How low the linear program of Corollary 8 gets |w_j|, as a share of the largest weight (0: not at all).

    It is written over the tight rows of the SVM only. If the SVM's own w_j is least over these, it is least over all of
    C(X), as these are some of its constraints; if not, a short step along the way down breaks none of the others.
    """
    tight = svm.tight_rows(1e-8)
    reach = np.ldexp(svm.weights, training_set.conditioning.exponent)
    signs = training_set.signs[tight]
    matrix = np.hstack([-training_set.conditioned[tight] * signs[:, None], -signs[:, None].astype(float)])
    cost = np.zeros(training_set.n_features + 1)
    cost[feature] = np.sign(reach[feature])
    start = np.append(reach / np.abs(reach).max(), 0.0)
    bounds = [(-1, 1)] * (training_set.n_features + 1)
    # a step (δw, δb) from the SVM that keeps the tight rows feasible and lowers |w_j|, by at most w_j itself
    bounds[feature] = (-abs(start[feature]), 0) if start[feature] > 0 else (0, abs(start[feature]))
    answer = linprog(cost, matrix, np.zeros(len(tight)), bounds=bounds, method="highs")
    if answer.x is None:
        raise SolverError(f"a linear program of the invariance test failed: {answer.message}")
    return float(-answer.fun)


def _proved_invariant(training_set: TrainingSet) -> tuple[bool, list[Fraction], Fraction]:
    """Decide in rationals: RO(X) is one vector iff no |w_j| of the exact SVM can be lowered on its exact tight rows."""
    svm = exact_svm_at(training_set, np.ldexp(1.0, -training_set.conditioning.exponent))
    margins = training_set.exact_margins(svm.weights, svm.intercept)
    tight = [i for i, margin in enumerate(margins) if margin == 1]
    rows, _ = training_set.integer_rows
    y = training_set.signs.tolist()
    columns = [[y[i] * value for value in rows[i]] + [y[i]] for i in tight]
    matrix = list(zip(*columns, strict=True))
    for j, w in enumerate(svm.weights):
        if w:  # w_j is least iff its unit vector is a non-negative combination of the tight rows
            target = [0] * (training_set.n_features + 1)
            target[j] = 1 if w > 0 else -1
            if nonnegative_solution(matrix, target).solution is None:
                return False, svm.weights, svm.intercept
    return True, svm.weights, svm.intercept


def check_invariance(training_set: TrainingSet) -> Invariance:
    """Is the label of *every* possible point the same under every rescaling of the features? (Corollary 8)

    At most one small linear program a feature. Where the float answer is near a tie, as it always is when the answer is
    yes, it is decided in exact rationals.

    Raises
    ------
    InseparableError
        If no hyperplane separates the classes.

    Examples
    --------
    Examples 1 and 3 of the paper:

    >>> check_invariance(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])).invariant
    False
    >>> check_invariance(TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1]))
    Invariance(invariant=True, proved=True, weights=array([1., 1.]), intercept=-3.0)
    """
    svm = minimal_norm_svm(training_set, np.ldexp(1.0, -training_set.conditioning.exponent))
    for j in np.flatnonzero(svm.weights):
        if _lowest_weight(training_set, svm, int(j)) > _CLEARLY_LOWER:
            return Invariance(False, False, None, None)
    invariant, weights, intercept = _proved_invariant(training_set)
    if not invariant:
        return Invariance(False, True, None, None)
    return Invariance(True, True, np.array([float(w) for w in weights]), float(intercept))
