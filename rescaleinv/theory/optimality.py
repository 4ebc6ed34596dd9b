"""Theorem 9 in point form: which classifiers are the SVM of some rescaling, which are limits of such, and of which one."""

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
# What the rounding of a float intercept's terms may come to, relative to them.
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
    """The same for the closure of RO(X): nothing is asked of μ_j where s_j = 0."""
    return _cell_test(training_set, tight, signs, [])


@dataclass(frozen=True)
class _Place:
    """Where a classifier lies: its tight rows and the signs of its weights."""

    tight: list[int]
    signs: list[int]


def _places(training_set: TrainingSet, weights: Any, intercept: Any, tolerance: float) -> list[_Place]:
    """The place of a classifier; none where it is not in C(X), or its intercept is not half-way between the classes.

    A weight within the tolerance of 0 may be a tiny one or rounding error: so there are several places, from the signs as
    given to those with all such weights taken for 0, the smallest first.
    """
    require_training_set(training_set)
    w = training_set.exact_weights(weights)
    allowed = exact_number(tolerance, "the tolerance")
    # the margins' own size, in which the features' offsets cancel
    ranges = training_set.features.max(axis=0) - training_set.features.min(axis=0)
    slack = allowed * (1 + sum(abs(v) * Fraction(x) for v, x in zip(w, ranges.tolist(), strict=True)))
    b = training_set.middle_intercept(w)  # every SVM has this one: both classes have tight rows
    if intercept is not None:
        # a float intercept has lost the digits that the offsets took: no tolerance of the margins makes up for them
        largest = np.abs(training_set.features).max(axis=0).tolist()
        terms = abs(b) + sum(abs(v) * Fraction(x) for v, x in zip(w, largest, strict=True))
        if abs(exact_number(intercept, "the intercept") - b) > slack + (_LOST_DIGITS * terms if tolerance else 0):
            return []
    margins = training_set.exact_margins(w, b)
    if min(margins) < 1 - slack:
        return []
    tight = [i for i, margin in enumerate(margins) if margin <= 1 + slack]
    reach = [abs(v) * Fraction(2) ** int(e) for v, e in zip(w, training_set.conditioning.exponent, strict=True)]
    levels = sorted({Fraction(0), *(r for r in reach if r <= allowed * max(reach))})
    return [
        _Place(tight, [0 if r <= level else (1 if v > 0 else -1) for v, r in zip(w, reach, strict=True)])
        for level in levels
    ]


def _optimal_place(places: list[_Place], training_set: TrainingSet) -> tuple[_Place, dict[int, Fraction]] | None:
    for place in places:
        multipliers = probe_cell(training_set, place.tight, place.signs).multipliers
        if multipliers is not None:
            return place, multipliers
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

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> [is_rescale_optimal(ts, w) for w in ([3, 2], [2.5, 2.5], [3.5, 1.5], [4, 4])]
    [True, True, False, False]
    """
    return _optimal_place(_places(training_set, weights, intercept, tolerance), training_set) is not None


def in_closure(training_set: TrainingSet, weights: Any, intercept: Any = None, *, tolerance: float = 1e-9) -> bool:
    """Is (w, b) in the closure of RO(X): a limit of SVMs of rescalings, such as an SVM on a part of the features?

    Parameters are those of ``is_rescale_optimal``.

    >>> ts = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    >>> is_rescale_optimal(ts, [1, 0]), in_closure(ts, [1, 0]), in_closure(ts, [1.5, -0.5])
    (False, True, False)
    """
    places = _places(training_set, weights, intercept, tolerance)[-1:]  # the last one, with most zeros, asks for least
    return any(probe_closed_cell(training_set, place.tight, place.signs).holds for place in places)


@dataclass(frozen=True)
class Rescaling:
    """A rescaling τ (``factors``, one a feature) and the ``multipliers`` (one a row) which prove that w is its SVM."""

    factors: FloatArray
    multipliers: FloatArray


def rescaling_of(
    training_set: TrainingSet, weights: Any, intercept: Any = None, *, tolerance: float = 1e-9
) -> Rescaling:
    """A rescaling τ of the features at which (w, b) is the SVM: train one on ``x * τ`` and see.

    Of the many that do, one whose factors are as alike as possible. Parameters are those of ``is_rescale_optimal``.

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
    found = _optimal_place(_places(training_set, weights, intercept, tolerance), training_set)
    if found is None:
        raise InputError("these weights are not the SVM of any rescaling of the features: they are not in RO(X)")
    place, rough = found
    w = training_set.exact_weights(weights)
    exponents = [int(e) for e in training_set.conditioning.exponent]
    # in conditioned units, in which factors can be compared with each other
    reach = [value * Fraction(2) ** e for value, e in zip(w, exponents, strict=True)]
    multipliers = _exact_even_multipliers(training_set, place, reach) or rough
    gradient = [g / Fraction(2) ** e for g, e in zip(_gradient(training_set, multipliers), exponents, strict=True)]
    logs = np.array([_log2(r / g) / 2 if s else np.nan for r, g, s in zip(reach, gradient, place.signs, strict=True)])
    logs[np.isnan(logs)] = np.nanmean(logs)  # any factor does: none of the weight is there
    values = np.zeros(training_set.n_rows)
    values[list(multipliers)] = [float(a) for a in multipliers.values()]
    return Rescaling(np.exp2(logs - exponents), values)


def _log2(value: Fraction) -> float:
    """Of a positive number that may be beyond the range of a float."""
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log2(value / Fraction(2) ** shift) + shift


def _gradient(training_set: TrainingSet, multipliers: dict[int, Fraction]) -> list[Fraction]:
    """μ = Σ a_i y_i x_i, original units, exactly."""
    rows, exponents = training_set.integer_rows
    signed = {i: a * int(training_set.signs[i]) for i, a in multipliers.items()}
    return [
        sum((a * rows[i][j] for i, a in signed.items()), Fraction(0)) * Fraction(2) ** e
        for j, e in enumerate(exponents)
    ]


def _exact_even_multipliers(
    training_set: TrainingSet, place: _Place, reach: list[Fraction]
) -> dict[int, Fraction] | None:
    """``even_multipliers``, made exact: the least ratio is nearly that of the floats. None where the floats fail.

    A float solver leaves errors of 1e-9 in μ. Where the weight is tiny that is the wrong rescaling, or no number at all.
    """
    largest = max(map(abs, reach))
    share = [float(abs(r) / largest) for r in reach]
    support = [j for j, s in enumerate(place.signs) if s]
    near = even_multipliers(training_set, place.tight, place.signs, np.array(share))
    if near is None:
        return None
    gradient = (near * training_set.signs) @ training_set.conditioned
    ratio = min(float(place.signs[j] * gradient[j]) / share[j] if share[j] else 0.0 for j in support)
    least = [_short(0.99 * ratio * share[j]) for j in support]
    if min(least) <= 0:
        return None
    vanishing = [j for j, s in enumerate(place.signs) if not s]
    lines, right = _cell_system(training_set, place.tight, place.signs, vanishing)
    units = zip(training_set.conditioning.exponent, training_set.integer_rows[1], strict=True)
    unit = [Fraction(2) ** (int(conditioned) - integer) for conditioned, integer in units]
    for k, j in enumerate(support):
        right[k] = Fraction(least[k]) * unit[j]
    lines.append([1] * len(place.tight) + [0] * len(support))
    right.append(1)
    positive = [k for k, i in enumerate(place.tight) if near[i] > 0]
    answer = nonnegative_solution(lines, right, first=positive).solution
    if answer is None:
        return None
    return {i: a for i, a in zip(place.tight, answer, strict=False) if a}


def _short(value: float) -> float:
    """Cut down to 8 bits: exact arithmetic is quicker with short numbers."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 256), exponent - 8)


def even_multipliers(
    training_set: TrainingSet, tight: Sequence[int], signs: Sequence[int], reach: FloatArray, *, closed: bool = False
) -> FloatArray | None:
    """Multipliers with the largest least ratio μ_j / w_j, in conditioned units: the rescaling that is least extreme.

    ``reach`` holds the weights in these units; ``closed`` asks nothing of μ_j where w_j = 0. None where floats fail.
    """
    s = np.array(signs)
    support = np.flatnonzero(s)
    vanishing = np.array([], dtype=np.intp) if closed else np.flatnonzero(s == 0)
    columns = training_set.conditioned[tight] * training_set.signs[tight, None]
    share = np.abs(reach[support]) / np.abs(reach).max()
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
