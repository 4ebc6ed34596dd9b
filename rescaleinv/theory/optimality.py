"""Theorem 9 in point form: which classifiers are the SVM of some rescaling, or a limit of such, and of which one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.theory.inputs import exact_number
from rescaleinv.theory.rationals import nonnegative_solution
from rescaleinv.theory.training_set import TrainingSet, require_training_set

# Below this size the exact simplex needs no hint from the float solver; above, the hint saves most of its pivots.
_HINT_FROM = 14
# How large the rounding errors in a float intercept may be, relative to the terms that it is a sum of.
_LOST_DIGITS = Fraction(1, 2**48)


@dataclass(frozen=True)
class CellTest:
    """Whether multipliers exist for a set of tight rows and a sign vector, with the proof either way.

    ``multipliers`` (row -> a_i >= 0, original units, exact) where they exist; otherwise ``direction`` (h, t), with
    h_j s_j >= 0 where s_j != 0, some of these positive, and y_i (h·x_i + t) <= 0 on the tight rows, which rules them out.
    """

    multipliers: dict[int, Fraction] | None
    direction: tuple[list[Fraction], Fraction] | None

    @property
    def holds(self) -> bool:
        return self.multipliers is not None


def _cell_test(
    training_set: TrainingSet, tight: Sequence[int], signs: Sequence[int], vanishing: Sequence[int]
) -> CellTest:
    """Are there a >= 0 on the tight rows, Σ a_i y_i = 0, with s_j μ_j >= 1 where s_j != 0 and μ_j = 0 on ``vanishing``?"""
    support = [j for j, s in enumerate(signs) if s]
    lines, right = _cell_system(training_set, tight, signs, vanishing)
    answer = nonnegative_solution(lines, right, first=_float_support(training_set, tight, support, signs, vanishing))
    if answer.solution is not None:
        found = {int(i): a for i, a in zip(tight, answer.solution, strict=False) if a}
        return CellTest(found, None)
    assert answer.refutation is not None
    *entries, t = answer.refutation
    exponents = training_set.integer_rows[1]
    h = [Fraction(0)] * training_set.n_features
    for j, value in zip([*support, *vanishing], entries, strict=True):
        h[j] = value * (int(signs[j]) or 1) / Fraction(2) ** exponents[j]
    return CellTest(None, (h, t))


def _cell_system(
    training_set: TrainingSet, tight: Sequence[int], signs: Sequence[int], vanishing: Sequence[int]
) -> tuple[list[list[int]], list[Any]]:
    """That question as A (a, surplus) = b, in the units of ``integer_rows``; the last row is the balance of the classes."""
    rows = training_set.integer_rows[0]
    y = training_set.signs.tolist()
    support = [j for j, s in enumerate(signs) if s]
    n_strict = len(support)
    lines: list[list[int]] = []
    right: list[Any] = []
    for k, j in enumerate(support):
        surplus = [-1 if other == k else 0 for other in range(n_strict)]
        lines.append([int(signs[j]) * y[i] * rows[i][j] for i in tight] + surplus)
        right.append(1)
    for j in vanishing:
        lines.append([y[i] * rows[i][j] for i in tight] + [0] * n_strict)
        right.append(0)
    lines.append([y[i] for i in tight] + [0] * n_strict)
    right.append(0)
    return lines, right


def _float_support(
    training_set: TrainingSet,
    tight: Sequence[int],
    support: Sequence[int],
    signs: Sequence[int],
    vanishing: Sequence[int],
) -> list[int]:
    if len(support) + len(vanishing) < _HINT_FROM:
        return []
    columns = training_set.conditioned[tight] * training_set.signs[tight, None]
    inequality = -(columns[:, support] * np.asarray(signs)[support]).T
    equality = np.vstack([columns[:, vanishing].T, training_set.signs[tight]])
    answer = linprog(
        np.ones(len(tight)), inequality, -np.ones(len(support)), equality, np.zeros(len(equality)), method="highs"
    )
    if answer.x is None:
        return []
    surplus = np.flatnonzero(answer.slack > 1e-9) + len(tight)
    return [*np.flatnonzero(answer.x > 1e-12).tolist(), *surplus.tolist()]


def probe_cell(training_set: TrainingSet, tight: Sequence[int], signs: Sequence[int]) -> CellTest:
    """Is (tight rows, signs) a cell of RO(X)? Decided exactly: μ has the sign s_j in every coordinate, 0 with 0."""
    return _cell_test(training_set, tight, signs, [j for j, s in enumerate(signs) if not s])


def probe_closed_cell(training_set: TrainingSet, tight: Sequence[int], signs: Sequence[int]) -> CellTest:
    """The same for the closure of RO(X): no demand on μ_j where s_j = 0."""
    return _cell_test(training_set, tight, signs, [])


@dataclass(frozen=True)
class _Cell:
    """The cell that a classifier lies in: its tight rows and the signs of its weights."""

    tight: list[int]
    signs: list[int]


def _cells(training_set: TrainingSet, weights: Any, intercept: Any, tolerance: float) -> list[_Cell]:
    """The cells a classifier may lie in; none where it is not in C(X) or its intercept is not half-way between the classes.

    A weight within the tolerance of 0 may be a tiny weight or a rounding error. So there may be several cells: from the
    signs as given to the signs with all such weights set to 0, smallest weights first.
    """
    require_training_set(training_set)
    w = training_set.exact_weights(weights)
    allowed = exact_number(tolerance, "the tolerance")
    # the size of the margins, in which the offsets of the features cancel
    ranges = training_set.features.max(axis=0) - training_set.features.min(axis=0)
    slack = allowed * (1 + sum(abs(v) * Fraction(x) for v, x in zip(w, ranges.tolist(), strict=True)))
    b = training_set.middle_intercept(w)  # every SVM has this one: both classes have tight rows
    if intercept is not None:
        # a float intercept has lost the digits that large offsets took up; the tolerance of the margins does not cover that
        largest = np.abs(training_set.features).max(axis=0).tolist()
        terms = abs(b) + sum(abs(v) * Fraction(x) for v, x in zip(w, largest, strict=True))
        if abs(exact_number(intercept, "the intercept") - b) > slack + (_LOST_DIGITS * terms if tolerance else 0):
            return []
    margins = training_set.exact_margins(w, b)
    if min(margins) < 1 - slack:
        return []
    tight = [i for i, margin in enumerate(margins) if margin <= 1 + slack]
    sizes = [abs(v) * Fraction(2) ** int(e) for v, e in zip(w, training_set.conditioning.exponent, strict=True)]
    levels = sorted({Fraction(0), *(size for size in sizes if size <= allowed * max(sizes))})
    return [
        _Cell(tight, [0 if size <= level else (1 if v > 0 else -1) for v, size in zip(w, sizes, strict=True)])
        for level in levels
    ]


def _optimal_cell(cells: list[_Cell], training_set: TrainingSet) -> tuple[_Cell, dict[int, Fraction]] | None:
    """The first of the cells that is one of RO(X), with multipliers that prove it."""
    for cell in cells:
        multipliers = probe_cell(training_set, cell.tight, cell.signs).multipliers
        if multipliers is not None:
            return cell, multipliers
    return None


def is_rescale_optimal(
    training_set: TrainingSet, weights: Any, intercept: Any = None, *, tolerance: float = 1e-9
) -> bool:
    """Is (w, b) in RO(X): the SVM of *some* rescaling of the features? (Theorem 9)

    Parameters
    ----------
    training_set : TrainingSet
    weights, intercept : sequence of float or Fraction, and one
        Original units. Without an intercept the one half-way between the classes is taken.
    tolerance : float
        Relative. A row is tight where its margin is within it of 1, a weight within it of 0 may stand for 0. With 0,
        and numbers given as ``Fraction``, the answer is exact. Given tight rows and signs it is exact anyway.

    Returns
    -------
    bool

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> [is_rescale_optimal(ts, w) for w in ([3, 2], [2.5, 2.5], [3.5, 1.5], [4, 4])]
    [True, True, False, False]
    """
    return _optimal_cell(_cells(training_set, weights, intercept, tolerance), training_set) is not None


def in_closure(training_set: TrainingSet, weights: Any, intercept: Any = None, *, tolerance: float = 1e-9) -> bool:
    """Is (w, b) in the closure of RO(X): a limit of SVMs of rescalings, such as an SVM on a part of the features?

    Parameters
    ----------
    training_set : TrainingSet
    weights, intercept, tolerance
        As in :func:`is_rescale_optimal`.

    Returns
    -------
    bool

    Examples
    --------
    >>> ts = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    >>> is_rescale_optimal(ts, [1, 0]), in_closure(ts, [1, 0]), in_closure(ts, [1.5, -0.5])
    (False, True, False)
    """
    cells = _cells(training_set, weights, intercept, tolerance)[
        -1:
    ]  # the last one has the most zeros: the weakest demand
    return any(probe_closed_cell(training_set, cell.tight, cell.signs).holds for cell in cells)


@dataclass(frozen=True)
class Rescaling:
    """A rescaling τ (``factors``, one per feature) and the ``multipliers`` (one per row) which prove that w is its SVM."""

    factors: FloatArray
    multipliers: FloatArray


def rescaling_of(
    training_set: TrainingSet, weights: Any, intercept: Any = None, *, tolerance: float = 1e-9
) -> Rescaling:
    """A rescaling τ of the features at which (w, b) is the SVM: train one on ``x * τ`` and see.

    Of the many possible ones, this is one whose factors are as similar as possible.

    Parameters
    ----------
    training_set : TrainingSet
    weights, intercept, tolerance
        As in :func:`is_rescale_optimal`.

    Returns
    -------
    Rescaling
        Its ``factors`` are τ.

    Raises
    ------
    InputError
        If (w, b) is not the SVM of any rescaling.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> tau = rescaling_of(ts, [2.8, 2.2]).factors
    >>> from rescaleinv.theory.svm import minimal_norm_svm
    >>> minimal_norm_svm(ts, tau).weights.round(9)
    array([2.8, 2.2])
    """
    found = _optimal_cell(_cells(training_set, weights, intercept, tolerance), training_set)
    if found is None:
        raise InputError("these weights are not the SVM of any rescaling of the features: they are not in RO(X)")
    cell, rough = found
    w = training_set.exact_weights(weights)
    exponents = [int(e) for e in training_set.conditioning.exponent]
    # in conditioned units, in which factors can be compared with each other
    sizes = [value * Fraction(2) ** e for value, e in zip(w, exponents, strict=True)]
    multipliers = _exact_even_multipliers(training_set, cell, sizes) or rough
    gradient = [g / Fraction(2) ** e for g, e in zip(training_set.exact_gradient(multipliers), exponents, strict=True)]
    logs = np.array([_log2(r / g) / 2 if s else np.nan for r, g, s in zip(sizes, gradient, cell.signs, strict=True)])
    logs[np.isnan(logs)] = np.nanmean(logs)  # any factor will do: the feature has no weight
    values = np.zeros(training_set.n_rows)
    values[list(multipliers)] = [float(a) for a in multipliers.values()]
    return Rescaling(np.exp2(logs - exponents), values)


def _log2(value: Fraction) -> float:
    """The logarithm of a positive number that may be beyond the range of a float."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log2(value / Fraction(2) ** shift) + shift


def _exact_even_multipliers(
    training_set: TrainingSet, cell: _Cell, sizes: list[Fraction]
) -> dict[int, Fraction] | None:
    """``even_multipliers`` made exact, with nearly the same smallest ratio. None where the float solver fails.

    A float solver leaves errors of 1e-9 in μ, which for a tiny weight means a wrong rescaling or none at all.
    """
    largest = max(map(abs, sizes))
    share = [float(abs(size) / largest) for size in sizes]
    support = [j for j, s in enumerate(cell.signs) if s]
    near = even_multipliers(training_set, cell.tight, cell.signs, np.array(share))
    if near is None:
        return None
    gradient = (near * training_set.signs) @ training_set.conditioned
    ratio = min(float(cell.signs[j] * gradient[j]) / share[j] if share[j] else 0.0 for j in support)
    least = [_short(0.99 * ratio * share[j]) for j in support]
    if min(least) <= 0:
        return None
    vanishing = [j for j, s in enumerate(cell.signs) if not s]
    lines, right = _cell_system(training_set, cell.tight, cell.signs, vanishing)
    units = zip(training_set.conditioning.exponent, training_set.integer_rows[1], strict=True)
    unit = [Fraction(2) ** (int(conditioned) - integer) for conditioned, integer in units]
    for k, j in enumerate(support):
        right[k] = Fraction(least[k]) * unit[j]
    lines.append([1] * len(cell.tight) + [0] * len(support))
    right.append(1)
    positive = [k for k, i in enumerate(cell.tight) if near[i] > 0]
    answer = nonnegative_solution(lines, right, first=positive).solution
    if answer is None:
        return None
    return {i: a for i, a in zip(cell.tight, answer, strict=False) if a}


def _short(value: float) -> float:
    """Rounded down to 8 bits: exact arithmetic is faster with short numbers."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 256), exponent - 8)


def even_multipliers(
    training_set: TrainingSet, tight: Sequence[int], signs: Sequence[int], sizes: FloatArray, *, closed: bool = False
) -> FloatArray | None:
    """Multipliers with the largest possible smallest ratio μ_j / w_j, in conditioned units: the least extreme rescaling.

    ``sizes`` holds the weights in these units; ``closed`` makes no demand on μ_j where w_j = 0. None where the float
    solver fails.
    """
    s = np.array(signs)
    support = np.flatnonzero(s)
    vanishing = np.array([], dtype=np.intp) if closed else np.flatnonzero(s == 0)
    columns = training_set.conditioned[tight] * training_set.signs[tight, None]
    share = np.abs(sizes[support]) / np.abs(sizes).max()
    inequality = np.hstack([-(columns[:, support] * s[support]).T, share[:, None]])
    equality = np.vstack([columns[:, vanishing].T, training_set.signs[tight], np.ones(len(tight))])
    equality = np.hstack([equality, np.zeros((len(equality), 1))])
    right = np.append(np.zeros(len(equality) - 1), 1.0)
    cost = np.append(np.zeros(len(tight)), -1.0)
    answer = linprog(cost, inequality, np.zeros(len(support)), equality, right, method="highs")
    if answer.x is None or answer.x[-1] < 1e-9:
        return None
    multipliers = np.zeros(training_set.n_rows)
    multipliers[tight] = np.maximum(answer.x[:-1], 0)
    return multipliers
