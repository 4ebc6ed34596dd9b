"""The soft-margin linear SVM (finite C), and the margins by which rows are left out of a hard margin."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, InseparableError, SolverError
from rescaleinv.theory.many_rows import MANY, Mask, sample_of, settled_by_few
from rescaleinv.theory.training_set import TrainingSet

# Much tighter than the default 1e-8, which is about the objective: weights are accurate only to its square root.
_SOLVER_TOLERANCES = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "max_iter": 400}
# With a penalty beyond this (features having a range of about 1) the norm of w may be a share of the objective that the
# solver does not see; where the classes are separable, the hard margin's solution may then be that of the soft one.
_LARGE = 1e3
# Slopes are sums of weights; a sum that is this small beside the total is zero.
_NO_SLOPE = 1e-12
# Digits of a margin that the solver's rounding errors do not reach: a row on the hyperplane must have the margin 0.
_DIGITS = 7


@dataclass(frozen=True)
class SoftMarginSVM:
    """A classifier w·x + b in the units of the features, and its value at the training set's anchor."""

    weights: FloatArray
    intercept: float
    value_at_anchor: float


def soft_margin_svm(training_set: TrainingSet, C: float, row_weights: Any = None) -> SoftMarginSVM:
    """Minimise ½ Σ w_j² + C Σ c_i ξ_i with y_i (w·x_i + b) >= 1 - ξ_i, for the features as they are given.

    A quadratic program for Clarabel through cvxpy: an interior-point method does not mind features of very different
    ranges, with which the coordinate steps of libsvm take minutes. Where C is so large that the hard margin's solution is
    the best, that is the answer. Ranges that differ by more than about 1e6 cost digits of the smaller weights. Where the
    best b is not unique (it need not be), it is the middle of the interval of the best ones, as in libsvm.

    Parameters
    ----------
    training_set : TrainingSet
        Need not be separable.
    C : float
        Positive and finite.
    row_weights : array, optional
        c_i > 0, one per row; 1 if not given.

    Examples
    --------
    >>> ts = TrainingSet([[0.0], [1], [3], [4], [2.5]], [-1, -1, 1, 1, -1])
    >>> svm = soft_margin_svm(ts, 0.5)
    >>> svm.weights.round(6), round(svm.intercept, 6)
    (array([0.666667]), -1.666667)
    """
    c = np.ones(training_set.n_rows) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    anchor = training_set.conditioning.anchor
    # a common factor of all features is a change of C and nothing else; with it the solver sees ranges of about 1
    shift = int(np.max(training_set.conditioning.exponent, where=training_set.conditioned.any(axis=0), initial=-1000))
    if shift == -1000:  # all rows are the same point
        weights = np.zeros(training_set.n_features)
    elif (
        C * float(c.min()) * 4.0 ** min(shift, 500) > _LARGE and (hard := _hard_margin(training_set, C * c)) is not None
    ):
        return hard
    else:
        rows = np.ldexp(training_set.features - anchor, -shift)
        weights = np.ldexp(_direction(rows, training_set.signs.astype(float), C, 2 * shift, c), -shift)
    value = middle_intercept((training_set.features - anchor) @ weights, training_set.signs, c)
    return SoftMarginSVM(weights, float(value - weights @ anchor), value)


def _hard_margin(training_set: TrainingSet, penalties: FloatArray) -> SoftMarginSVM | None:
    """The hard margin's SVM if it has one whose multipliers no penalty cuts off: then it is that of the soft margin too."""
    from rescaleinv.theory.svm import minimal_norm_svm

    try:
        svm = minimal_norm_svm(training_set)
    except InseparableError:
        return None
    if (svm.multipliers > penalties).any():
        return None
    return SoftMarginSVM(svm.weights, svm.intercept, svm.value_at_anchor)


def _direction(rows: FloatArray, signs: FloatArray, C: float, power: int, row_weights: FloatArray) -> FloatArray:
    """The best w for the penalty C·2**power."""
    with np.errstate(over="ignore", under="ignore"):
        penalties = np.ldexp(C * row_weights, power)
    if not (np.isfinite(penalties).all() and penalties.min() > 0):
        raise InputError(
            f"C = {C:g} times the square of the features' range (about {2.0 ** min(power / 2, 1000):.3g}) is beyond what "
            "a float can hold; choose a C, or units, nearer to 1"
        )
    found = _direction_of_many(rows, signs, penalties) if len(rows) >= MANY else None
    if found is None:
        weights, status = _solved(rows, signs, penalties)
        if weights is None:
            raise SolverError(f"the soft-margin SVM (C = {C:g}) was not found: {status}")
        found = weights[:-1]
    return found


def _direction_of_many(rows: FloatArray, signs: FloatArray, penalties: FloatArray) -> FloatArray | None:
    """The same from the rows near the margin; None where that is not quicker."""
    columns = np.column_stack([rows, np.ones(len(rows))])

    def beyond(weights: FloatArray) -> FloatArray:
        return signs * (columns @ weights) - 1

    def of_few(counts: Mask, inside: Mask) -> tuple[FloatArray, FloatArray] | None:
        pull = columns[inside].T @ (signs * penalties)[inside]
        weights, _ = _solved(rows[counts], signs[counts], penalties[counts], pull, float(penalties[inside].sum()))
        return None if weights is None else (weights[:-1], beyond(weights))

    sample = sample_of(signs)
    first, _ = _solved(rows[sample], signs[sample], penalties[sample] * (len(rows) / len(sample)))
    return None if first is None else settled_by_few(beyond(first), of_few)


def _solved(
    rows: FloatArray, signs: FloatArray, penalties: FloatArray, pull: FloatArray | None = None, more: float = 0.0
) -> tuple[FloatArray | None, str]:
    """(w, b) of the quadratic program, or None and why not. Other rows, with penalties of ``more`` in all, are inside
    their margin, which is worth ``pull`` · (w, b).
    """
    import cvxpy as cp

    weights, intercept, slack = cp.Variable(rows.shape[1]), cp.Variable(), cp.Variable(len(rows), nonneg=True)
    # the objective is divided by the size that it has at w = 0
    size = float(penalties.sum()) + more
    cost = cp.sum_squares(weights) / (2 * size) + (penalties / size) @ slack
    if pull is not None:
        cost -= (pull[:-1] / size) @ weights + (pull[-1] / size) * intercept
    problem = cp.Problem(cp.Minimize(cost), [cp.multiply(signs, rows @ weights + intercept) >= 1 - slack])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inaccurate answer has 1e-9 at least
        try:
            problem.solve(solver=cp.CLARABEL, **_SOLVER_TOLERANCES)
        except (cp.error.SolverError, ValueError) as error:
            return None, str(error)
    if weights.value is None or intercept.value is None:
        return None, f"the solver says {problem.status}"
    return np.append(weights.value, intercept.value), ""


def middle_intercept(scores: FloatArray, signs: Any, row_weights: FloatArray) -> float:
    """The middle of the b that minimise Σ c_i max(0, 1 - y_i (s_i + b)): convex, its slope grows by c_i at y_i - s_i."""
    bends = signs - scores
    order = np.argsort(bends, kind="stable")
    slopes = np.cumsum(row_weights[order]) - row_weights[signs > 0].sum()
    flat = _NO_SLOPE * row_weights.sum()
    lowest = int(np.argmax(slopes >= -flat))
    highest = lowest + 1 if abs(slopes[lowest]) <= flat else lowest
    return float((bends[order[lowest]] + bends[order[highest]]) / 2)


def standardised_margins(training_set: TrainingSet, row_weights: FloatArray) -> FloatArray:
    """y_i (w·x_i + b) of the soft-margin SVM with C = 1 on the standardised features, to seven digits.

    So a row on the hyperplane has the margin 0, whatever rounding errors the solver made. A row of weight 2 counts as two
    copies of it do.

    >>> ts = TrainingSet([[0.0], [1], [2], [3], [4], [3.5]], [-1, -1, 1, 1, 1, -1])
    >>> standardised_margins(ts, np.ones(6)).round(3) + 0
    array([ 1.  ,  0.5 ,  0.  ,  0.5 ,  1.  , -0.75])
    """
    from sklearn.preprocessing import StandardScaler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a constant feature makes the scaler warn; its weight is zero either way
        rows = StandardScaler().fit(training_set.features, sample_weight=row_weights).transform(training_set.features)
    svm = soft_margin_svm(TrainingSet(rows, training_set.signs), 1.0, row_weights)
    return (training_set.signs * (rows @ svm.weights + svm.intercept)).round(_DIGITS)
