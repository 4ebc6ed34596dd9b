"""Does rescaling make any difference at all for this training set? (Theorems 6 and 7, Corollary 8)"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linprog

from rescaleinv._util.parameters import shown
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError, SolverError
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.theory.rationals import nonnegative_solution, solve_in_integers
from rescaleinv.theory.svm import SVMSolution, exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet, require_training_set

# A weight that a linear program can lower by this share of the largest one is not a tie, whatever the rounding was.
_CLEARLY_LOWER = 1e-6
_NOISE = 1e-12


@dataclass(frozen=True)
class Invariance:
    """Whether every point keeps its label under every rescaling; if so, the one classifier that all rescalings give.

    ``proved`` is True where the answer was decided in exact rationals, and False where a float was far enough from a tie.
    """

    invariant: bool
    proved: bool
    weights: FloatArray | None
    intercept: float | None


def _lowest_weight(
    training_set: TrainingSet, svm: SVMSolution, tight: IntArray, feature: int
) -> tuple[float, IntArray]:
    """By how much the linear program of Corollary 8 lowers |w_j|, as a share of the largest weight (0: not at all).

    Only the tight rows of the SVM are constraints. If the SVM's own w_j is minimal over these, it is minimal over all of
    C(X); if not, a short step downwards violates none of the other rows. Also returns the rows that keep |w_j| from
    being lower.
    """
    sizes = np.ldexp(svm.weights, training_set.conditioning.exponent)
    signs = training_set.signs[tight]
    matrix = np.hstack([-training_set.conditioned[tight] * signs[:, None], -signs[:, None].astype(float)])
    cost = np.zeros(training_set.n_features + 1)
    cost[feature] = np.sign(sizes[feature])
    start = np.append(sizes / np.abs(sizes).max(), 0.0)
    bounds = [(-1, 1)] * (training_set.n_features + 1)
    # a step (δw, δb) from the SVM that keeps the tight rows feasible and lowers |w_j|, by at most w_j itself
    bounds[feature] = (-abs(start[feature]), 0) if start[feature] > 0 else (0, abs(start[feature]))
    answer = linprog(cost, matrix, np.zeros(len(tight)), bounds=bounds, method="highs")
    if answer.x is None:
        raise SolverError(f"a linear program of the invariance test failed: {answer.message}")
    return float(-answer.fun), tight[answer.ineqlin.marginals < 0]


def _classifier_of_least_weights(
    training_set: TrainingSet, signs: IntArray, rows: IntArray
) -> tuple[list[Fraction], Fraction] | None:
    """The one classifier of all rescalings, proved by combinations of the given rows alone; None where that fails.

    If (s_j e_j, 0) = Σ c_i y_i (x_i, 1) with c >= 0, then s_j w_j >= Σ c_i for every (w, b) in C(X). A classifier of C(X)
    that reaches this bound wherever it has weight is the smallest in every coordinate: the SVM of every rescaling.
    """
    if not rows.size:
        return None
    integers, exponents = training_set.integer_rows
    y = training_set.signs.tolist()
    lowest = [min(integers[i][j] for i in rows) for j in range(training_set.n_features)]
    shifted = [[value - low for value, low in zip(integers[i], lowest, strict=True)] for i in rows]  # Σ c_i y_i = 0
    columns = np.array(
        [[y[i] * value for value in (*row, 1)] for i, row in zip(rows, shifted, strict=True)], dtype=object
    ).T
    features = np.flatnonzero(signs)
    targets = np.zeros((len(columns), len(features)), dtype=object)
    targets[features, np.arange(len(features))] = signs[features].tolist()
    # as many independent coordinates as there are rows make a square system; the other coordinates are checked after
    units = [Fraction(2) ** e for e in (*(exponents - training_set.conditioning.exponent).tolist(), 0)]
    floats = np.array([[float(unit * value) for value in line] for unit, line in zip(units, columns, strict=True)])
    pivots = qr(floats.T, mode="r", pivoting=True)[1][: len(rows)]
    if len(pivots) != len(rows):
        return None
    found = solve_in_integers(columns[pivots].tolist(), targets[pivots].tolist())
    if found is None:
        return None
    combinations, scale = np.array(found[0], dtype=object), found[1]
    if (combinations < 0).any() or (columns @ combinations != scale * targets).any():
        return None
    weights = [Fraction(0)] * training_set.n_features
    for j, total in zip(features, combinations.sum(axis=0), strict=True):
        weights[j] = int(signs[j]) * Fraction(int(total), scale) / Fraction(2) ** exponents[j]
    margin_without_intercept = training_set.exact_margins(weights, Fraction(0))[rows[0]]
    intercept = y[rows[0]] * (1 - margin_without_intercept)
    return (weights, intercept) if min(training_set.exact_margins(weights, intercept)) >= 1 else None


def _proved_invariant(training_set: TrainingSet) -> tuple[bool, list[Fraction], Fraction]:
    """Decide in rationals: RO(X) is one vector iff no |w_j| of the exact SVM can be lowered on its exact tight rows."""
    svm = exact_svm_at(training_set, np.ldexp(1.0, -training_set.conditioning.exponent))
    tight = training_set.tight_rows(svm.weights, svm.intercept)
    assert tight is not None  # an SVM is in C(X)
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


def _invariance_with_nu(training_set: TrainingSet, margin: NuMargin) -> Invariance:
    from rescaleinv.theory.nu_invariance import nu_svm_is_invariant

    invariant, exact = nu_svm_is_invariant(training_set, margin)
    if not invariant:
        return Invariance(False, exact is not None, None, None)
    svm = nu_svm(training_set, margin, np.ldexp(1.0, -training_set.conditioning.exponent))
    return Invariance(True, True, svm.weights, svm.intercept)


def check_invariance(training_set: TrainingSet, nu: NuMargin | None = None) -> Invariance:
    """Is the label of *every* possible point the same under every rescaling of the features? (Corollary 8)

    At most one small linear program per feature. Where the float answer is near a tie, as it always is when the answer is
    yes, it is decided in exact rationals.

    Parameters
    ----------
    training_set : TrainingSet
    nu : NuMargin, optional
        Of the soft margin by ν instead of the hard one: the same holds with C_ν in place of C(X). Where its intercept is an
        interval, the middle of it is given; "no" may then also mean that floats could not tell.

    Returns
    -------
    Invariance
        Whether it is ``invariant``, whether that was ``proved``, and if so the one classifier that there is.

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
    require_training_set(training_set)
    if nu is not None and not isinstance(nu, NuMargin):
        raise InputError(f"nu is {shown(nu)}; a NuMargin is needed, or None for the hard margin")
    if nu is not None:
        return _invariance_with_nu(training_set, nu)
    svm = minimal_norm_svm(training_set, np.ldexp(1.0, -training_set.conditioning.exponent))
    tight = svm.tight_rows(1e-8)
    sizes = np.ldexp(svm.weights, training_set.conditioning.exponent)
    # the quick proof may round a weight to zero, because it verifies itself; where it fails, no weight is rounded
    signs = np.where(np.abs(sizes) > _NOISE * np.abs(sizes).max(), np.sign(sizes), 0).astype(np.intp)
    supporting: set[int] = set()
    for j in np.flatnonzero(svm.weights):
        share, rows = _lowest_weight(training_set, svm, tight, int(j))
        if share > _CLEARLY_LOWER:
            return Invariance(False, False, None, None)
        if signs[j]:
            supporting.update(rows.tolist())
    quick = _classifier_of_least_weights(training_set, signs, np.array(sorted(supporting), dtype=np.intp))
    invariant, weights, intercept = _proved_invariant(training_set) if quick is None else (True, *quick)
    if not invariant:
        return Invariance(False, True, None, None)
    return Invariance(True, True, np.array([float(w) for w in weights]), float(intercept))
