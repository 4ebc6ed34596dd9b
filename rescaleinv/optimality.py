"""Theorem 9 in point form: which classifiers are the SVM of some rescaling, which are limits of such, and of which one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from rescaleinv.errors import InputError
from rescaleinv.problem import FloatArray, TrainingSet
from rescaleinv.rationals import nonnegative_solution

# Below this size the exact simplex needs no hint from the float solver; above, the hint saves most of its pivots.
_HINT_FROM = 14


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
    rows, exponents = training_set.integer_rows
    y = training_set.signs.tolist()
    support = [j for j, s in enumerate(signs) if s]
    n_strict = len(support)
    lines, right = [], []
    for k, j in enumerate(support):
        surplus = [-1 if other == k else 0 for other in range(n_strict)]
        lines.append([int(signs[j]) * y[i] * rows[i][j] for i in tight] + surplus)
        right.append(1)
    for j in vanishing:
        lines.append([y[i] * rows[i][j] for i in tight] + [0] * n_strict)
        right.append(0)
    lines.append([y[i] for i in tight] + [0] * n_strict)
    right.append(0)
    answer = nonnegative_solution(lines, right, first=_float_support(training_set, tight, support, signs, vanishing))
    if answer.solution is not None:
        found = {int(i): a for i, a in zip(tight, answer.solution, strict=False) if a}
        return CellTest(found, None)
    assert answer.refutation is not None
    *entries, t = answer.refutation
    h = [Fraction(0)] * training_set.n_features
    for j, value in zip([*support, *vanishing], entries, strict=True):
        h[j] = value * (int(signs[j]) or 1) / Fraction(2) ** exponents[j]
    return CellTest(None, (h, t))


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
    """Where a classifier lies: its tight rows and the signs of its weights, or None where it is not in C(X)."""

    tight: list[int]
    signs: list[int]


def _place(training_set: TrainingSet, weights: Any, intercept: Any, tolerance: float) -> _Place | None:
    w = training_set.exact_weights(weights)
    b = training_set.middle_intercept(w) if intercept is None else Fraction(intercept)
    margins = training_set.exact_margins(w, b)
    allowed = Fraction(tolerance)
    # the size of the terms that cancel in a margin: what a tolerance is relative to
    largest = np.abs(training_set.features).max(axis=0)
    size = 1 + abs(b) + sum(abs(v) * Fraction(x) for v, x in zip(w, largest.tolist(), strict=True))
    if min(margins) < 1 - allowed * size:
        return None
    reach = [abs(v) * Fraction(2) ** int(e) for v, e in zip(w, training_set.conditioning.exponent, strict=True)]
    zero = [r <= allowed * max(reach) for r in reach]
    signs = [0 if z else (1 if v > 0 else -1) for v, z in zip(w, zero, strict=True)]
    return _Place([i for i, margin in enumerate(margins) if margin <= 1 + allowed * size], signs)


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
        Relative. A row is tight where its margin is within it of 1, a weight is zero where it is within it of 0. With 0,
        and numbers given as ``Fraction``, the answer is exact. Given tight rows and signs it is exact anyway.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> [is_rescale_optimal(ts, w) for w in ([3, 2], [2.5, 2.5], [3.5, 1.5], [4, 4])]
    [True, True, False, False]
    """
    place = _place(training_set, weights, intercept, tolerance)
    return place is not None and probe_cell(training_set, place.tight, place.signs).holds


def in_closure(training_set: TrainingSet, weights: Any, intercept: Any = None, *, tolerance: float = 1e-9) -> bool:
    """Is (w, b) in the closure of RO(X): a limit of SVMs of rescalings, such as an SVM on a part of the features?

    Parameters are those of ``is_rescale_optimal``.

    >>> ts = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    >>> is_rescale_optimal(ts, [1, 0]), in_closure(ts, [1, 0]), in_closure(ts, [1.5, -0.5])
    (False, True, False)
    """
    place = _place(training_set, weights, intercept, tolerance)
    return place is not None and probe_closed_cell(training_set, place.tight, place.signs).holds


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
    >>> from rescaleinv.svm import minimal_norm_svm
    >>> minimal_norm_svm(ts, tau).weights.round(9)
    array([2.8, 2.2])
    """
    place = _place(training_set, weights, intercept, tolerance)
    test = None if place is None else probe_cell(training_set, place.tight, place.signs)
    if place is None or test is None or test.multipliers is None:
        raise InputError("these weights are not the SVM of any rescaling of the features: they are not in RO(X)")
    w = np.array([float(value) for value in training_set.exact_weights(weights)])
    units = np.ldexp(1.0, training_set.conditioning.exponent)
    multipliers = _even_multipliers(training_set, place, w * units)
    if multipliers is None:  # the float solver lost a thin cell; the exact multipliers are rougher, but right
        multipliers = np.zeros(training_set.n_rows)
        for i, a in test.multipliers.items():
            multipliers[i] = float(a)
    gradient = (multipliers * training_set.signs) @ training_set.conditioned  # μ in conditioned units
    support = np.array(place.signs) != 0
    factors = np.ones(training_set.n_features)
    factors[support] = np.sqrt(w[support] * units[support] / gradient[support])
    factors[~support] = np.exp(np.log(factors[support]).mean())  # any factor does: none of the weight is there
    return Rescaling(factors / units, multipliers)


def _even_multipliers(training_set: TrainingSet, place: _Place, reach: FloatArray) -> FloatArray | None:
    """Multipliers with the largest least ratio μ_j / w_j, in conditioned units: the rescaling that is least extreme."""
    tight = place.tight
    signs = np.array(place.signs)
    support, zero = np.flatnonzero(signs), np.flatnonzero(signs == 0)
    columns = training_set.conditioned[tight] * training_set.signs[tight, None]
    share = np.abs(reach[support]) / np.abs(reach).max()
    inequality = np.hstack([-(columns[:, support] * signs[support]).T, share[:, None]])
    equality = np.vstack([columns[:, zero].T, training_set.signs[tight], np.ones(len(tight))])
    equality = np.hstack([equality, np.zeros((len(equality), 1))])
    right = np.append(np.zeros(len(equality) - 1), 1.0)
    cost = np.append(np.zeros(len(tight)), -1.0)
    answer = linprog(cost, inequality, np.zeros(len(support)), equality, right, method="highs")
    if answer.x is None or answer.x[-1] < 1e-9:
        return None
    multipliers = np.zeros(training_set.n_rows)
    multipliers[tight] = np.maximum(answer.x[:-1], 0)
    return multipliers
