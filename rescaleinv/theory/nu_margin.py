"""The ν-SVM: a soft margin without a scale, so that "every rescaling" has a meaning for classes that overlap.

It minimises ½ Σ w_j² - νρ + Σ c_i ξ_i / Σ c with y_i (w·x_i + b) >= ρ - ξ_i, or, what is the same, it is the hard-margin SVM
of the two *reduced* convex hulls: multipliers add up to 1/2 in each class, and none exceeds its cap c_i / (ν Σ c). A common
factor of all features changes no label, and whether the reduced hulls are disjoint does not depend on any rescaling.
Docs: theory page, section 11.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from rescaleinv._util.parameters import is_number, shown
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InaccurateWarning, InputError, InseparableError, SolverError
from rescaleinv.theory.many_rows import MANY, Mask, sample_of, settled_by_few
from rescaleinv.theory.nearest_points import nearest_points
from rescaleinv.theory.svm import as_rescaling
from rescaleinv.theory.training_set import TrainingSet, require_training_set
from rescaleinv.theory.validation import with_class_weights

# ν must exceed the least one by this share of it: nearer than that the reduced hulls nearly touch, and floats can't tell.
_ABOVE_LEAST = 1e-7
# Sums of caps that differ by less than this are equal: the best intercept is then an interval.
_SAME_SUM = 1e-12
# The solver's ν is good to this share of it.
_SAME_NU = 1e-9
# A ν that stands for a penalty is a decimal of so many digits: the same one whatever the units and the order of the rows.
_DIGITS = 9
# A distance of the reduced hulls that is below this share of the features' range is the unit of a second solution.
_SMALL, _LEAST_SIZE = 0.05, 1e-9
# Multipliers that differ from both of their bounds by more than such a share of their caps are taken to be between them.
_BETWEEN = (1e-3, 1e-5, 1e-7)
# The first hyperplane of many rows is that of a sample with so many times the ν: its reduced hulls should not meet.
_MORE_OF_SAMPLE = 1.3
# How far the hyperplane of least loss may move at a time, as a share of its largest weight, where it is found from few rows.
_FIRST_STEP = 0.05
# Multipliers whose rows are out of order by more than this share of the scores' spread are computed again in rationals, as
# long as the steps times the numbers of the training set are not more than so many.
_MOST_DISORDER, _MOST_WORK = 1e-7, 10_000_000
_SOLVER_SETTINGS = {"verbose": False, "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_iter": 400}


@dataclass(frozen=True, eq=False)
class NuSVM:
    """The ν-SVM at one rescaling, in the units of the features, scaled so that its margin ρ is 1 (as ``NuSVC`` does).

    ``margin`` is ρ without that: where ``multipliers``, which add up to 1, make the weights.
    """

    weights: FloatArray
    intercept: float
    value_at_anchor: float
    multipliers: FloatArray
    margin: float


@dataclass(frozen=True, eq=False)
class NuMargin:
    """A ν and the caps that it puts on the rows' multipliers, where these add up to 1: c_i / (ν Σ c), exactly.

    Examples
    --------
    >>> ts = TrainingSet([[0.0], [1], [2], [3]], [-1, -1, 1, 1])
    >>> margin = NuMargin.of(ts, 0.5)
    >>> margin.nu, margin.caps
    (Fraction(1, 2), array([0.5, 0.5, 0.5, 0.5]))
    """

    nu: Fraction
    row_weights: FloatArray
    least: float = 0.0  # the least ν, where it was looked for
    # at the largest ν the best ρ has no upper bound: which one is taken, in units of the least of them
    rho: float = 1.0

    def __getstate__(self) -> dict[str, Any]:
        """Whole numbers instead of a fraction, which skops can't keep."""
        fields = {"row_weights": self.row_weights, "least": self.least, "rho": self.rho}
        return {"nu": [self.nu.numerator, self.nu.denominator], **fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, nu=Fraction(*state["nu"]))

    @classmethod
    def of(cls, training_set: TrainingSet, nu: float | Fraction, row_weights: Any = None) -> NuMargin:
        """For a ν above the least one and not above the largest.

        Raises
        ------
        InputError
            If ν is so large that the caps of one class add up to less than 1/2.
        InseparableError
            If ν is not above the least one; the message says that number.
        """
        if not is_number(nu) or nu in (np.inf, -np.inf):
            raise InputError(f"nu is {shown(nu)}; a number above 0 and up to 1 is needed")
        weights = _checked_weights(training_set, row_weights)
        largest = largest_nu(training_set, weights)
        if isinstance(nu, float):
            nu = _meant(nu, weights, largest)
        if not 0 < nu <= largest:
            raise InputError(
                f"nu is {float(nu):g}; with {int((training_set.signs > 0).sum())} positive and "
                f"{int((training_set.signs < 0).sum())} negative rows it must be positive and at most {float(largest):.6g}. "
                'Choose a smaller nu, or class_weight="balanced", with which it may be up to 1'
            )
        least = least_nu(training_set, weights)
        if least * (1 + _ABOVE_LEAST) >= largest:
            raise InseparableError(
                "the classes overlap so much that no hyperplane does better than one label for all: there is no nu-SVM, and "
                'every soft margin gives all points one label. class_weight="balanced" weighs the classes alike'
            )
        if nu <= least * (1 + _ABOVE_LEAST):
            raise InseparableError(
                f"nu is {float(nu):.6g}, and the classes overlap: the reduced hulls meet up to nu = {least:.6g}. Choose "
                f"a nu above that (at most {float(largest):.6g})"
            )
        return cls(Fraction(nu), weights, least)

    @classmethod
    def like_penalty(
        cls, training_set: TrainingSet, C: float = 1.0, row_weights: Any = None, scaling_weights: Any = None
    ) -> NuMargin:
        """The ν that stands for a penalty C, see :func:`nu_of`; ``InseparableError`` where it is not above the least.

        Rows are standardised with ``scaling_weights`` (``row_weights`` if not given): those of the rows without those of
        their classes.
        """
        weights = _checked_weights(training_set, row_weights)
        of_scaling = weights if scaling_weights is None else _checked_weights(training_set, scaling_weights)
        nu = _nu_of_penalty(training_set, C, weights, of_scaling)
        try:
            found = cls.of(training_set, nu, weights)
            if found.nu < largest_nu(training_set, weights):
                return found
            return replace(found, rho=_rho_of_penalty(training_set, C, weights, of_scaling))
        except InseparableError as error:
            raise InseparableError(
                f"the classes overlap so much that the SVM with C = {C:g} on the standardised rows has no weights at all: "
                'it gives every point one label, and so does every rescaling. Try class_weight="balanced" '
                f"({error})"
            ) from error

    @cached_property
    def _caps_of_weights(self) -> tuple[list[Fraction], IntArray]:
        """The caps of the different weights, and which of them each row has."""
        values, which, counts = np.unique(self.row_weights, return_inverse=True, return_counts=True)
        total = self.nu * _sum(values, counts)
        return [Fraction(c) / total for c in values.tolist()], which

    @cached_property
    def exact_caps(self) -> list[Fraction]:
        """One per row."""
        caps, which = self._caps_of_weights
        return [caps[k] for k in which.tolist()]

    @cached_property
    def caps(self) -> FloatArray:
        """One per row, as floats, and at most 1: no multiplier exceeds 1/2, so that larger ones say nothing more."""
        caps, which = self._caps_of_weights
        return np.array([float(min(cap, Fraction(1))) for cap in caps])[which]


def largest_nu(training_set: TrainingSet, row_weights: Any = None) -> Fraction:
    """The largest ν: twice the share of the lighter class.

    >>> largest_nu(TrainingSet([[0.0], [1], [2], [3]], [-1, -1, -1, 1]))
    Fraction(1, 2)
    """
    weights = _checked_weights(training_set, row_weights)
    totals = [_sum(*np.unique(weights[training_set.signs == sign], return_counts=True)) for sign in (1, -1)]
    return 2 * min(totals) / sum(totals)


def _sum(values: FloatArray, counts: IntArray) -> Fraction:
    """The sum of values that occur so often, exactly."""
    pairs = zip(values.tolist(), counts.tolist(), strict=True)
    return sum((count * Fraction(value) for value, count in pairs), Fraction(0))


def least_nu(training_set: TrainingSet, row_weights: Any = None) -> float:
    """The ν at and below which the reduced convex hulls of the classes meet: how much the classes overlap.

    It is the least mean hinge loss of any hyperplane. No rescaling of the features changes it; 0 means that a hyperplane
    separates the classes, and the largest ν (twice the share of the smaller class) that no hyperplane does better than one
    label for all.

    Parameters
    ----------
    training_set : TrainingSet
        Need not be separable.
    row_weights : array, optional
        c_i > 0, one per row; 1 if not given.

    Returns
    -------
    float
        Between 0 and the largest ν.

    Examples
    --------
    >>> separable = TrainingSet([[0.0], [1], [2], [3]], [-1, -1, 1, 1])
    >>> overlapping = TrainingSet([[0.0], [2], [1], [3]], [-1, -1, 1, 1])
    >>> least_nu(separable), round(least_nu(overlapping), 3)
    (0.0, 0.667)
    """
    from rescaleinv.theory.separability import is_separable

    require_training_set(training_set)
    weights = _checked_weights(training_set, row_weights)
    if is_separable(training_set):
        return 0.0
    columns = np.column_stack([training_set.conditioned, np.ones(training_set.n_rows)])
    signed = training_set.signs.astype(float)[:, None] * columns
    losses = weights / weights.sum()
    best = _least_loss_of_many(signed, losses) if len(signed) >= MANY else None
    if best is None:
        best = _least_loss(signed, losses)
    # the hinge losses of that hyperplane by our own sum: whatever the solver's tolerance is, they are a bound from above
    found = float(weights @ np.maximum(1 - signed @ best, 0) / weights.sum())
    return min(found, float(largest_nu(training_set, weights)))


def _least_loss(
    signed: FloatArray, losses: FloatArray, pull: FloatArray | None = None, bounds: FloatArray | None = None
) -> FloatArray:
    """The hyperplane of least hinge loss; other rows are inside their margin, which is worth ``pull`` · (w, b)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack

    m, n = signed.shape
    answer = linprog(
        np.concatenate([np.zeros(n) if pull is None else -pull, losses]),
        A_ub=hstack([csr_array(-signed), -eye_array(m)], format="csr"),
        b_ub=-np.ones(m),
        bounds=[*([(None, None)] * n if bounds is None else bounds.tolist()), *[(0, None)] * m],
        method="highs",
    )
    if answer.status != 0:
        raise SolverError(f"the least nu was not found: the solver says {answer.message}")
    found: FloatArray = answer.x[:n]
    return found


def _least_loss_of_many(signed: FloatArray, losses: FloatArray) -> FloatArray | None:
    """The same from the rows near the margin; None where that is not quicker."""
    sample = sample_of(np.sign(signed[:, -1]))
    near = _least_loss(signed[sample], losses[sample])

    def of_few(counts: Mask, inside: Mask) -> tuple[FloatArray, FloatArray] | None:
        nonlocal near
        step = _FIRST_STEP * float(np.abs(near).max())
        pull = signed[inside].T @ losses[inside]
        while np.isfinite(step):
            # rows near the margin need not hold the hyperplane: without a bound there may be no best one
            found = _least_loss(signed[counts], losses[counts], pull, np.column_stack([near - step, near + step]))
            beyond = signed @ found - 1
            inner = float(np.abs(found - near).max()) < step * (1 - _SAME_NU)
            near = found
            if inner or (~counts & ((beyond < 0) != inside)).any():
                return found, beyond
            step *= 2
        return None

    return settled_by_few(signed @ near - 1, of_few)


def nu_svm(training_set: TrainingSet, margin: NuMargin, rescaling: Any = None) -> NuSVM:
    """The ν-SVM at a rescaling τ (None: the features as they are given).

    A quadratic program for Clarabel, on features divided by one common power of two, which changes no label. Where its
    answer is not accurate, since features have very unlike sizes, it is computed in rationals, and if that takes too long,
    there is an ``InaccurateWarning``. Where the best intercept is not unique, it is the middle of the interval of the best
    ones, as in libsvm. At the largest ν that has no bound: the intercept is then that of the SVC whose penalty ν stands for,
    or (ν is a number) the end that there is.

    Examples
    --------
    >>> ts = TrainingSet([[0.0], [1], [2.5], [3], [4], [2]], [-1, -1, -1, 1, 1, 1])
    >>> svm = nu_svm(ts, NuMargin.of(ts, 0.5))
    >>> svm.weights.round(6), round(svm.intercept, 6)
    (array([1.]), -2.0)
    """
    tau, caps = as_rescaling(rescaling, training_set.n_features), margin.caps
    anchor, signs = training_set.conditioning.anchor, training_set.signs.astype(float)
    from_anchor = training_set.features - anchor
    spread = float(np.ptp(from_anchor * tau, axis=0).max())
    shift = int(np.frexp(spread)[1]) if spread > 0 else 0
    rows = np.ldexp(from_anchor * tau, -shift)
    try:
        multipliers = _multipliers(rows, signs, caps)
    except SolverError:
        found = _in_rationals(training_set, margin, tau)
        if found is None:
            raise
        return found
    direction = rows.T @ (signs * multipliers)
    rho, offset = margin_and_intercept(rows @ direction, signs, caps, margin.rho)
    disorder = _disorder(rows, signs, caps, multipliers)
    if not rho > 0 or disorder > _MOST_DISORDER:
        found = _in_rationals(training_set, margin, tau)
        if found is not None:
            return found
    if not rho > 0:
        raise InseparableError(
            "the reduced hulls of the two classes meet: nu is not above the least one (see least_nu)"
        )
    if disorder > _MOST_DISORDER:
        warnings.warn(InaccurateWarning(disorder), stacklevel=2)
    weights = np.ldexp(direction * tau, -shift) / rho
    value = offset / rho
    return NuSVM(weights, float(value - weights @ anchor), value, multipliers, float(np.ldexp(rho, 2 * shift)))


def _in_rationals(training_set: TrainingSet, margin: NuMargin, tau: FloatArray) -> NuSVM | None:
    """The ν-SVM at a rescaling computed in rationals and rounded at the end; None where that takes too many steps."""
    squared = [Fraction(t) ** 2 for t in tau.tolist()]
    signs, anchor = training_set.signs.tolist(), [Fraction(x) for x in training_set.conditioning.anchor.tolist()]
    found = nearest_points(training_set, margin.exact_caps, squared, _MOST_WORK // training_set.features.size)
    if found is None:
        return None
    gradient = training_set.exact_gradient({i: a for i, a in enumerate(found) if a})
    weights = [t * mu for t, mu in zip(squared, gradient, strict=True)]
    at_anchor = sum((w * x for w, x in zip(weights, anchor, strict=True)), Fraction(0))
    scores = training_set.exact_margins(weights, -at_anchor)
    ends = {}
    for side in (1, -1):
        own = [(score, cap) for score, cap, y in zip(scores, margin.exact_caps, signs, strict=True) if y == side]
        ends[side] = _exact_quantile(sorted(own))
    for side in (1, -1):  # at the largest ν every row of a class is at its cap, and there is no other end
        if sum(cap for cap, y in zip(margin.exact_caps, signs, strict=True) if y == side) == Fraction(1, 2):
            ends[side] += (Fraction(margin.rho) - 1) * (ends[1] + ends[-1])
            break
    rho, offset = (ends[1] + ends[-1]) / 2, (ends[-1] - ends[1]) / 2
    if not rho > 0:
        return None
    intercept = (offset - at_anchor) / rho
    return NuSVM(
        np.array([float(w / rho) for w in weights]),
        float(intercept),
        float(offset / rho),
        np.array([float(a) for a in found]),
        float(rho),
    )


def _exact_quantile(scores: list[tuple[Fraction, Fraction]]) -> Fraction:
    """``_quantile`` of sorted scores with their caps, exactly."""
    left = Fraction(1, 2)
    for k, (score, cap) in enumerate(scores):
        left -= cap
        if left <= 0:
            return score if left or k + 1 == len(scores) else (score + scores[k + 1][0]) / 2
    return scores[-1][0]


def _multipliers(rows: FloatArray, signs: FloatArray, caps: FloatArray) -> FloatArray:
    """The best multipliers, by a quadratic program, and then by the linear system of the rows that are on the margin."""
    found = _multipliers_of_many(rows, signs, caps) if len(rows) >= MANY else None
    if found is None:
        found = _in_its_own_units(rows, signs, caps, np.zeros(len(rows)))
    return _polished(rows, signs, caps, found)


def _multipliers_of_many(rows: FloatArray, signs: FloatArray, caps: FloatArray) -> FloatArray | None:
    """The best multipliers from the rows near the margin; None where that is not quicker."""

    def beyond(multipliers: FloatArray, of: Any = slice(None)) -> FloatArray:
        scores = rows @ (rows[of].T @ (signs[of] * multipliers))
        rho, offset = margin_and_intercept(scores, signs, caps)
        return signs * (scores + offset) - rho

    def of_few(counts: Mask, inside: Mask) -> tuple[FloatArray, FloatArray] | None:
        found = np.where(inside, caps, 0.0)
        try:
            found[counts] = _in_its_own_units(rows[counts], signs[counts], caps[counts], found, (rows, signs))
        except SolverError:
            return None
        found = _polished(rows, signs, caps, found)
        return found, beyond(found)

    sample = sample_of(signs)
    wider = caps[sample] * (len(rows) / len(sample)) / _MORE_OF_SAMPLE
    for sign in (1, -1):  # what a sample's reduced hulls are must exist, and should not meet
        own = signs[sample] == sign
        wider[own] *= max(1.0, (0.5 + _SAME_NU) / float(wider[own].sum()))
    try:
        first = _in_its_own_units(rows[sample], signs[sample], wider, np.zeros(len(sample)))
    except SolverError:
        return None
    return settled_by_few(beyond(first, sample), of_few)


def _in_its_own_units(
    rows: FloatArray, signs: FloatArray, caps: FloatArray, fixed: FloatArray, all_rows: Any = None
) -> FloatArray:
    """The best multipliers, where other rows (of ``all_rows``) have those of ``fixed``.

    Near the least ν the reduced hulls nearly touch, and the objective is tiny: it is solved once more in its own units.
    """
    others, of_others = (rows, signs) if all_rows is None else all_rows
    pull = others.T @ (of_others * fixed)
    halves = np.array([0.5 - fixed[of_others > 0].sum(), 0.5 - fixed[of_others < 0].sum()])
    found, size = np.full(len(rows), 0.0), 1.0
    for _ in range(2):
        found = _solved(rows / size, signs, caps, pull / size, halves)
        distance = float(np.linalg.norm(rows.T @ (signs * found) + pull))
        if not distance < _SMALL * size:
            break
        size = max(distance, _LEAST_SIZE)
    return found


def _solved(rows: FloatArray, signs: FloatArray, caps: FloatArray, pull: FloatArray, halves: FloatArray) -> FloatArray:
    """The multipliers a that bring g = Σ a_i y_i x_i + pull nearest to 0 and add up to ``halves`` in the two classes."""
    sizes = np.abs(rows).max(axis=0)
    sizes[sizes == 0] = 1.0
    status = ""
    # features of very different sizes, where that is needed: each row of the system in the units of its own feature
    for units in (np.ones(len(sizes)), sizes):
        found, status = _by_interior_point(rows / units, signs, caps, pull / units, 1 / units, halves)
        if found is not None:
            return np.clip(found, 0.0, caps)
    raise SolverError(f"the nu-SVM was not found: the solver says {status}")


def _by_interior_point(
    rows: FloatArray, signs: FloatArray, caps: FloatArray, pull: FloatArray, units: FloatArray, halves: FloatArray
) -> tuple[FloatArray | None, str]:
    """Minimise ½ ‖g‖² with Σ a_i y_i x_i + pull = units · g by Clarabel; None where it fails, and what it says."""
    import clarabel
    from scipy.sparse import block_array, csc_matrix, diags_array, eye_array

    m, n = rows.shape
    ends = np.vstack([signs > 0, signs < 0]).astype(float)
    equations = block_array(
        [[(rows * signs[:, None]).T, -diags_array(units)], [ends, None], [-eye_array(m), None], [eye_array(m), None]]
    )
    right = np.concatenate([-pull, halves, np.zeros(m), caps])
    settings = clarabel.DefaultSettings()
    for name, value in _SOLVER_SETTINGS.items():
        setattr(settings, name, value)
    answer = clarabel.DefaultSolver(
        csc_matrix(diags_array(np.concatenate([np.zeros(m), np.ones(n)]))),
        np.zeros(m + n),
        csc_matrix(equations),
        right,
        [clarabel.ZeroConeT(n + 2), clarabel.NonnegativeConeT(2 * m)],
        settings,
    ).solve()
    # whether an answer is accurate is looked at later
    good = answer.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    found = np.array(answer.x)[:m]
    return (found if good and np.isfinite(found).all() else None), str(answer.status)


def _polished(rows: FloatArray, signs: FloatArray, caps: FloatArray, found: FloatArray) -> FloatArray:
    """The multipliers with which all rows strictly between their bounds have their class's score, if these fit better."""
    best, least = found, _disorder(rows, signs, caps, found)
    for tolerance in _BETWEEN:
        on = np.flatnonzero((found > tolerance * caps) & (found < (1 - tolerance) * caps))
        fixed = np.where(found > caps / 2, caps, 0.0)
        fixed[on] = 0.0
        signed = rows * signs[:, None]
        ends = np.column_stack([signs[on] > 0, signs[on] < 0]).astype(float)
        halves = np.array([0.5 - fixed[signs > 0].sum(), 0.5 - fixed[signs < 0].sum()])
        size = float(np.abs(signed).max()) or 1.0
        products = (signed[on] / size) @ (signed[on] / size).T
        matrix = np.block([[products, -ends], [ends.T, np.zeros((2, 2))]])
        right = np.concatenate([-(signed[on] / size) @ (signed.T @ fixed / size), halves])
        answer = np.linalg.lstsq(matrix, right, rcond=None)[0][: len(on)]
        tried = fixed.copy()
        tried[on] = answer
        if (answer < 0).any() or (answer > caps[on]).any() or np.abs(ends.T @ answer - halves).max() > 1e-12:
            continue
        disorder = _disorder(rows, signs, caps, tried)
        if disorder < least:
            best, least = tried, disorder
    return best


def _disorder(rows: FloatArray, signs: FloatArray, caps: FloatArray, a: FloatArray) -> float:
    """By how much a row that should not be is nearer than one that should, as a share of the spread: 0 at the optimum."""
    scores = signs * (rows @ (rows.T @ (signs * a)))
    worst = 0.0
    for sign in (1, -1):
        own = signs == sign
        held, free = own & (a > 1e-9 * caps), own & (a < (1 - 1e-9) * caps)
        if held.any() and free.any():
            worst = max(worst, float(scores[held].max() - scores[free].min()))
    return worst / (float(np.ptp(scores)) or 1.0)


def margin_and_intercept(
    scores: FloatArray, signs: FloatArray, caps: FloatArray, rho: float = 1.0
) -> tuple[float, float]:
    """The best ρ and b for given scores w·x: ρ - b and ρ + b are quantiles of the two classes' scores, weighted by caps.

    Where one of these has no upper bound, ρ is ``rho`` times the least of the best ones.
    """
    ends = {side: _quantiles(side * scores[signs == side], caps[signs == side]) for side in (1, -1)}
    lows, highs = ([ends[side][k] for side in (1, -1)] for k in (0, 1))
    if max(highs) < np.inf:
        positive, negative = ((low + high) / 2 for low, high in zip(lows, highs, strict=True))
    else:  # ρ + b is what is left of 2ρ: the middle of what both intervals allow
        total = rho * sum(lows)
        positive = (max(lows[0], total - highs[1]) + min(highs[0], total - lows[1])) / 2
        negative = total - positive
    return (positive + negative) / 2, (negative - positive) / 2


def _quantiles(values: FloatArray, caps: FloatArray) -> tuple[float, float]:
    """Between which values the caps of the smaller ones add up to 1/2; no upper end where it takes all of them."""
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(caps[order])
    first = min(int(np.argmax(sums >= 0.5 - _SAME_SUM)), len(values) - 1)
    low = float(values[order[first]])
    if abs(sums[first] - 0.5) > _SAME_SUM:
        return low, low
    return low, float(values[order[first + 1]]) if first + 1 < len(values) else np.inf


def _nu_of_penalty(training_set: TrainingSet, C: float, weights: FloatArray, scaling_weights: FloatArray) -> Fraction:
    return nu_at_rows(training_set, _standardised(training_set, scaling_weights), C, weights)


def nu_at_rows(training_set: TrainingSet, rows: FloatArray, C: float, weights: FloatArray) -> Fraction:
    """The ν at which the ν-SVM of these rows (those of the training set, scaled somehow) is the SVM with the penalty C."""
    from rescaleinv.theory.soft_margin import soft_margin_svm

    svm = soft_margin_svm(_with_rows(training_set, rows), C, weights)
    slack = np.maximum(1 - training_set.signs * (rows @ svm.weights + svm.intercept), 0)
    # Σ a = ‖w‖² + C Σ c ξ by complementarity; divided by C Σ c
    nu = float((svm.weights @ svm.weights / C + weights @ slack) / weights.sum())
    # Where every multiplier is at one of its ends (and rows weigh alike), ν m / 2 is a whole number, and the best intercept
    # an interval; a ν that misses it by rounding would pick one of its ends.
    largest = largest_nu(training_set, weights)
    meant = _meant(nu, weights, largest)
    return min(Fraction(f"{nu:.{_DIGITS}g}"), largest) if meant == Fraction(nu) else meant


def _with_rows(training_set: TrainingSet, rows: FloatArray) -> TrainingSet:
    return TrainingSet(rows, training_set.signs, positive=1, read_as="float")


def _rho_of_penalty(training_set: TrainingSet, C: float, weights: FloatArray, scaling_weights: FloatArray) -> float:
    """At the largest ν: the margin, 1, of the SVM with the penalty C in units of the least best one for its weights."""
    from rescaleinv.theory.soft_margin import soft_margin_svm

    rows = _standardised(training_set, scaling_weights)
    svm = soft_margin_svm(_with_rows(training_set, rows), C, weights)
    caps = weights / weights.sum() / float(largest_nu(training_set, weights))
    scores, y = training_set.signs * (rows @ svm.weights), training_set.signs
    least = sum(_quantiles(scores[y == side], caps[y == side])[0] for side in (1, -1)) / 2
    return max(1 / least, 1.0) if least > 0 else 1.0


def _meant(nu: float, weights: FloatArray, largest: Fraction) -> Fraction:
    """A ν that misses the largest one, or (where rows weigh alike) the multipliers' ends, by rounding, is meant to be it."""
    ends = [largest]
    if (weights == weights[0]).all():
        ends.append(Fraction(round(nu * len(weights) / 2) * 2, len(weights)))
    return next((end for end in ends if end > 0 and abs(nu - float(end)) <= _SAME_NU * nu), Fraction(nu))


def _standardised(training_set: TrainingSet, weights: FloatArray) -> FloatArray:
    """The rows with mean 0 and deviation 1; of the values as they were written, which are the same in every unit."""
    rows = training_set.as_read.features
    varies = np.ptp(rows, axis=0) > 0
    centred = np.where(varies, rows - np.average(rows, axis=0, weights=weights), 0.0)
    return centred / np.where(varies, np.sqrt(np.average(centred**2, axis=0, weights=weights)), 1.0)


def nu_of(C: float, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None) -> float:
    """The ν that stands for a penalty C: at the standardised scaling both SVMs are one.

    ``ν = Σ a_i / (C m)`` of the dual ``a`` of the SVM with penalty C on the standardised training rows. The number does not
    change with the units of the features, so it may be used under every rescaling, which a C may not.

    Parameters
    ----------
    C : float
        The penalty, positive and finite; 1 is what ``nu="auto"`` takes.
    X, y
        The training rows, as they were given to ``fit``.
    sample_weight : array, optional
        Positive, one per row.
    class_weight : dict, "balanced" or None
        As in ``SVC``; the rows are standardised without it.

    Returns
    -------
    float

    Examples
    --------
    >>> X, y = [[0.0, 1], [2, 0], [1, 3], [3, 1], [1, 1]], [-1, -1, 1, 1, -1]
    >>> round(nu_of(1, X, y), 4), round(nu_of(100, X, y), 4)
    (0.4, 0.004)
    """
    if isinstance(C, bool) or not isinstance(C, Real) or not 0 < C < float("inf"):
        raise InputError(f"C is {C!r}; a positive and finite number is needed")
    training_set = TrainingSet(X, y)
    weights = _checked_weights(training_set, sample_weight)
    labels = np.asarray(y)
    row_weights = with_class_weights(class_weight, labels, np.unique(labels), weights)
    return float(_nu_of_penalty(training_set, float(C), row_weights, weights))


def _checked_weights(training_set: TrainingSet, row_weights: Any) -> FloatArray:
    if row_weights is None:
        return np.ones(training_set.n_rows)
    try:
        weights = np.asarray(row_weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the weights of the rows are {shown(row_weights)}; numbers are needed ({error})") from error
    if weights.shape != (training_set.n_rows,) or not (np.isfinite(weights).all() and weights.min() > 0):
        raise InputError(f"one positive, finite weight for each of {training_set.n_rows} rows is needed")
    return weights
