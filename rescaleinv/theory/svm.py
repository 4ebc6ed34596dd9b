"""The hard-margin linear SVM at any rescaling of the features (Theorem 2), and how accurately its conditions hold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import nnls

from rescaleinv._util.locks import ForkSafeLock
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.exact_svm import ExactClassifier, exact_svm
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.rationals import rounded
from rescaleinv.theory.training_set import TrainingSet, require_training_set

# A point is a candidate for the tight set if its margin is this near to 1 in the solver's own answer.
_NEARLY_TIGHT = 1e-5
_POLISHED = 1e-9
# Multipliers go with the square of the units: beyond these powers of two a float can't hold them.
_LARGEST_EXPONENT = 500
# Squared factors of exact rescalings are rounded to this many bits: short numbers make short certificates.
SHORT_BITS = 20


def as_rescaling(rescaling: Any, n_features: int) -> FloatArray:
    """Check a rescaling τ: one positive finite factor per feature; None stands for 1 everywhere."""
    if rescaling is None:
        return np.ones(n_features)
    try:
        tau = np.array(rescaling, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the rescaling is not a sequence of numbers: {error}") from error
    if tau.shape != (n_features,):
        raise InputError(f"the rescaling has shape {tau.shape}; one factor for each of {n_features} features is needed")
    wrong = ~(np.isfinite(tau) & (tau > 0))
    if wrong.any():
        j = int(wrong.argmax())
        raise InputError(f"the rescaling has the factor {tau[j]:g} for feature {j}; it must be positive and finite")
    return tau


@dataclass(frozen=True, eq=False)
class SVMSolution:
    """The maximum-margin classifier w·x + b of the features rescaled by τ, in the original units of the features.

    ``weights`` minimises ½ Σ w_j²/τ_j² under y_i (w·x_i + b) >= 1. ``multipliers``, one per row, prove it:
    they are >= 0, zero where the row is not tight, balanced (Σ a_i y_i = 0), and Σ a_i y_i x_i = w / τ².
    ``value_at_anchor`` is w·x + b at the training set's anchor: where the features have large offsets (years, time
    stamps) it keeps the digits that the intercept, a sum of large numbers that cancel, has lost.
    """

    training_set: TrainingSet
    weights: FloatArray
    intercept: float
    multipliers: FloatArray
    rescaling: FloatArray
    value_at_anchor: float

    def decision_function(self, points: Any) -> FloatArray:
        """w·x + b: a point is positive where this is >= 0."""
        rows = as_matrix(points, n_features=self.training_set.n_features)
        return (rows - self.training_set.conditioning.anchor) @ self.weights + self.value_at_anchor

    @cached_property
    def _scaled_rows(self) -> tuple[FloatArray, FloatArray, float]:
        """Rows, weights and intercept in conditioned units times τ, in which the SVM is the plain one."""
        conditioning = self.training_set.conditioning
        factors = np.ldexp(self.rescaling, conditioning.exponent)
        return self.training_set.conditioned * factors, self.weights / self.rescaling, self.value_at_anchor

    def kkt_residual(self) -> float:
        """The largest relative error in any of the conditions that make this the SVM; about 1e-15 when all is well.

        What the rounding of the multipliers to floats can do to a sum of them does not count as an error.
        """
        rows, weights, intercept = self._scaled_rows
        signed = self.training_set.signs * self.multipliers
        total = max(float(np.abs(self.multipliers).sum()), np.finfo(float).tiny)
        magnitude = 1 + np.abs(rows) @ np.abs(weights) + abs(intercept)
        slack = (self.training_set.signs * (rows @ weights + intercept) - 1) / magnitude
        rounding = 2 * np.finfo(float).eps * (np.abs(self.multipliers) @ np.abs(rows))
        gradient = np.abs(weights - (signed.astype(np.longdouble) @ rows).astype(float)) - rounding
        return float(
            max(
                -slack.min(),
                np.abs(slack[self.multipliers > 0]).max(initial=0.0),
                -self.multipliers.min() / total,
                abs(signed.sum()) / total,
                gradient.max() / max(np.abs(weights).max(), np.finfo(float).tiny),
            )
        )

    def is_optimal(self, tolerance: float = _POLISHED) -> bool:
        return self.kkt_residual() <= tolerance

    def tight_rows(self, tolerance: float = 1e-9) -> IntArray:
        """The rows whose margin is 1, up to a relative tolerance."""
        rows, weights, intercept = self._scaled_rows
        magnitude = 1 + np.abs(rows) @ np.abs(weights) + abs(intercept)
        slack = (self.training_set.signs * (rows @ weights + intercept) - 1) / magnitude
        return np.flatnonzero(np.abs(slack) <= tolerance)


class _ParametricSVM:
    """The SVM of one training set as a cvxpy problem that is compiled once; a rescaling is its parameter."""

    def __init__(self, training_set: TrainingSet) -> None:
        import cvxpy as cp

        rows, signs = training_set.conditioned, training_set.signs.astype(float)
        self.factors = cp.Parameter(training_set.n_features, nonneg=True)
        self.weights = cp.Variable(training_set.n_features)
        self.intercept = cp.Variable()
        scores = rows @ cp.multiply(self.factors, self.weights) + self.intercept
        self.problem = cp.Problem(cp.Minimize(cp.sum_squares(self.weights) / 2), [cp.multiply(signs, scores) >= 1])
        self.lock = ForkSafeLock()

    def solve(self, factors: FloatArray) -> tuple[FloatArray, float] | None:
        import cvxpy as cp

        with self.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate answer is polished and then checked anyway
            self.factors.value = factors
            try:
                self.problem.solve(solver=cp.CLARABEL)
            except cp.error.SolverError:
                return None
            if self.weights.value is None or self.intercept.value is None:
                return None
            return np.array(self.weights.value), float(self.intercept.value)


_compiled: WeakKeyDictionary[TrainingSet, _ParametricSVM] = WeakKeyDictionary()


def _parametric(training_set: TrainingSet) -> _ParametricSVM:
    if training_set not in _compiled:
        _compiled[training_set] = _ParametricSVM(training_set)
    return _compiled[training_set]


def _equality_solution(
    rows: FloatArray, signs: FloatArray, active: IntArray
) -> tuple[FloatArray, FloatArray, float] | None:
    """Weights, multipliers and intercept of the SVM in which the active rows are tight and no other row counts.

    The system is kept in its augmented form (its condition is not squared) and refined with residuals in extended
    precision.
    """
    n, p = rows.shape[1], len(active)
    signed = rows[active] * signs[active, None]
    system = np.zeros((n + p + 1, n + p + 1))
    system[:n, :n] = np.eye(n)
    system[:n, n : n + p] = -signed.T
    system[n : n + p, :n] = signed
    system[n : n + p, -1] = signs[active]
    system[-1, n : n + p] = signs[active]
    right = np.zeros(n + p + 1)
    right[n : n + p] = 1
    try:
        inverse_system = np.linalg.inv(system)
    except np.linalg.LinAlgError:
        return None
    extended, target = system.astype(np.longdouble), right.astype(np.longdouble)
    solution = (inverse_system @ right).astype(np.longdouble)
    with np.errstate(over="ignore", invalid="ignore"):  # the refinement of a system that is all but singular diverges
        for _ in range(4):
            solution = solution + inverse_system @ (target - extended @ solution).astype(float)
        result = solution.astype(float)
    if not np.isfinite(result).all():
        return None
    return result[:n], result[n : n + p], float(result[-1])


def _supporting_rows(rows: FloatArray, signs: FloatArray, weights: FloatArray, candidates: IntArray) -> IntArray:
    """Of the candidate rows, independent ones whose non-negative combination comes nearest to the weights."""
    balance = max(np.abs(rows[candidates]).max(), np.finfo(float).tiny)
    columns = np.vstack([(rows[candidates] * signs[candidates, None]).T, balance * signs[candidates]])
    target = np.append(weights, 0.0)
    lengths = np.linalg.norm(columns, axis=0)
    coefficients = nnls(columns / lengths, target / max(np.linalg.norm(target), np.finfo(float).tiny))[0]
    return candidates[coefficients > 0]


def _polish(
    rows: FloatArray, signs: FloatArray, weights: FloatArray, intercept: float
) -> tuple[FloatArray, float, FloatArray] | None:
    """From a solver's answer to one that is correct up to rounding: exchange rows until all conditions hold."""
    slack = signs * (rows @ weights + intercept) - 1
    candidates = np.flatnonzero(slack <= _NEARLY_TIGHT * (1 + np.abs(weights).sum()))
    try:
        active = _supporting_rows(rows, signs, weights, candidates)
    except (RuntimeError, ValueError):
        return None
    for _ in range(20 + 3 * rows.shape[1]):
        answer = _equality_solution(rows, signs, active)
        if answer is None:
            return None
        weights, multipliers, intercept = answer
        total = np.abs(multipliers).sum()
        if multipliers.min(initial=0.0) < -1e-14 * total:
            active = np.delete(active, multipliers.argmin())
            continue
        magnitude = 1 + np.abs(rows) @ np.abs(weights) + abs(intercept)
        slack = (signs * (rows @ weights + intercept) - 1) / magnitude
        if slack.min() >= -1e-12:
            full = np.zeros(len(rows))
            full[active] = np.maximum(multipliers, 0)
            return weights, intercept, full
        # the missing row joins; of the rows that then depend on each other nnls keeps the ones that are needed
        widened = np.append(active, slack.argmin())
        signed = np.vstack([(rows[widened] * signs[widened, None]).T, signs[widened]])
        if np.linalg.matrix_rank(signed) < len(widened):
            combination = lstsq(signed[:, :-1], signed[:, -1])[0]
            ratios = np.where(combination > 1e-12, multipliers / np.where(combination > 1e-12, combination, 1), np.inf)
            widened = np.delete(widened, ratios.argmin())
        active = widened
    return None


def minimal_norm_svm(training_set: TrainingSet, rescaling: Any = None) -> SVMSolution:
    """The SVM of the features rescaled by τ, in original units: the w of least Σ w_j²/τ_j² that separates (Theorem 2).

    Solved by Clarabel through cvxpy (compiled once per training set), then polished on the set of tight rows, so that
    ``kkt_residual()`` is below 1e-9. Where that fails, as it may when factors are far apart, it is solved in rationals.

    Parameters
    ----------
    training_set : TrainingSet
    rescaling : sequence of float, optional
        τ, one positive factor per feature; the features as they are if not given.

    Returns
    -------
    SVMSolution
        Weights and intercept in original units, and the multipliers of the rows.

    Raises
    ------
    InseparableError
        If no hyperplane separates the classes.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> plain = minimal_norm_svm(ts)
    >>> plain.weights.round(9), round(plain.intercept, 9)
    (array([2.5, 2.5]), -6.0)
    >>> minimal_norm_svm(ts, rescaling=[5, 1]).weights.round(9)
    array([3., 2.])
    """
    require_training_set(training_set)
    tau = as_rescaling(rescaling, training_set.n_features)
    exponents = np.frexp(tau)[1] + training_set.conditioning.exponent
    varies = training_set.conditioned.any(axis=0)  # a constant feature gets no weight, whatever its factor
    if not varies.any():
        _require_separable(training_set)  # raises: all rows are the same point
    # a common factor changes nothing; without it the solver sees factors of about 1
    shift = int(exponents[varies].max())
    if abs(shift) > _LARGEST_EXPONENT:
        raise InputError(
            f"the features rescaled have a range of about {2.0**shift if shift < 1024 else np.inf:.3g}; squares of such "
            "numbers are beyond what a float can hold. Multiply all factors by a common one, which changes nothing else"
        )
    factors = np.where(varies, np.ldexp(tau, training_set.conditioning.exponent - shift), 1.0)
    signs = training_set.signs.astype(float)
    rows = training_set.conditioned * factors
    raw = _parametric(training_set).solve(factors)
    polished = None if raw is None else _polish(rows, signs, *raw)
    if polished is not None:
        weights, value_at_anchor, multipliers = polished
        original, intercept = training_set.conditioning.weights_to_original(weights * factors, value_at_anchor)
        multipliers = np.ldexp(multipliers, -2 * shift)
        found = SVMSolution(training_set, original, intercept, multipliers, tau, value_at_anchor)
        if found.is_optimal():
            return found
    _require_separable(training_set)
    exact = exact_svm(training_set, [Fraction(t) ** 2 for t in tau.tolist()], _nearest_points(rows, signs))
    multipliers = np.zeros(len(rows))
    try:
        multipliers[list(exact.multipliers)] = [float(a) for a in exact.multipliers.values()]
    except OverflowError as error:
        raise InputError(
            "the multipliers at this rescaling are beyond what a float can hold; choose factors nearer to 1"
        ) from error
    original = np.array([float(w) for w in exact.weights])
    value_at_anchor = float(exact.decision_value([Fraction(x) for x in training_set.conditioning.anchor.tolist()]))
    return SVMSolution(training_set, original, float(exact.intercept), multipliers, tau, value_at_anchor)


def _require_separable(training_set: TrainingSet) -> None:
    from rescaleinv.theory.separability import separation

    found = separation(training_set)
    if not found.separable:
        raise InseparableError(
            f"no hyperplane separates the {len(training_set.positives)} positive from the "
            f"{len(training_set.negatives)} negative rows (rows {found.conflict_text()} already conflict); "
            "leave points out with separable_subset, or use a soft margin (finite C)"
        )


def _nearest_points(rows: FloatArray, signs: FloatArray) -> list[int]:
    """The rows that support the nearest points of the two convex hulls, by non-negative least squares: a good guess."""
    heavy = 1e6 * max(np.abs(rows).max(), np.finfo(float).tiny)
    columns = np.vstack([(rows * signs[:, None]).T, heavy * (signs > 0), heavy * (signs < 0)])
    target = np.concatenate([np.zeros(rows.shape[1]), [heavy, heavy]])
    try:
        return np.flatnonzero(nnls(columns, target, maxiter=30 * len(rows))[0]).tolist()
    except RuntimeError:
        return []


def exact_svm_at(training_set: TrainingSet, rescaling: Any, *, bits: int = SHORT_BITS) -> ExactClassifier:
    """The SVM at a rational rescaling that agrees with ``rescaling`` to this many bits, exactly.

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])
    >>> svm = exact_svm_at(ts, [3, 1])
    >>> svm.weights, svm.intercept
    ([Fraction(1, 1), Fraction(1, 1)], Fraction(-3, 1))
    """
    tau = as_rescaling(rescaling, training_set.n_features)
    squared = [rounded(Fraction(float(t)) ** 2, bits) for t in tau]
    support = np.flatnonzero(minimal_norm_svm(training_set, tau).multipliers > 0).tolist()
    return exact_svm(training_set, squared, support)
