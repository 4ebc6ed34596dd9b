"""One part of the range and the pair that settles it: the inequality that the branch and bound rests on.

In a part of the range each group's factor d is in [low, high]; of some features the sign of the weight is given, of some
rows whether they are out (multiplier 0, margin >= 1), on the margin (margin 1), or capped (multiplier at its penalty,
margin <= 1). Suppose that an optimal classifier (w, b) there, with multipliers a and gradients μ = Σ a_i y_i x_i = d w,
gives the point α a decision value f with σ f <= 0. Its conditions say Σ a_i - Σ c_i ξ_i = Σ μ_j w_j. For any v, t and any
r with σ Σ r_i y_i >= 0 (and r_i within ``bounds``), with ν = Σ r_i y_i (x_i - α) and e_i = 1 - y_i (v·(x_i - α) + t), that
gives

    Σ r_i  <=  Σ_i max over the a_i that are possible of a_i e_i  +  Σ_j max over d, w of (d v_j w + ν_j w - d w²)

and the last maximum is that of (d v_j + ν_j)²/(4d) at an end of the range of d (a group's sum is convex in d too), or 0
where w must not have the sign of d v_j + ν_j. A pair (v, t), r for which it does not hold settles the whole part: σ f > 0.
(``verify`` has the derivation.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch import interior_point, svm_kernel
from rescaleinv.engines.branch.problem import CAPPED, FREE, ON, IntStates, LimitedProblem

# The inequality must hold by this much of the sizes of its terms: far more than rounding can do.
_SURE = 1e-10
# Hard margins are made larger by this before they are rounded, so that exact ones are at least 1.
_SPARE = 1e-9
# An interior-point method's time goes with the cube of the features, or of the rows where these are fewer: beyond this only
# the SVM's own pair is tried.
_MOST_UNKNOWNS = 500
_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the range: factors within [low, high] (one per group), signs of weights, states of rows."""

    low: FloatArray
    high: FloatArray
    signs: IntStates
    states: IntStates

    @classmethod
    def whole(cls, problem: LimitedProblem, low: FloatArray, high: FloatArray) -> Part:
        n_rows, n_features = problem.rows.shape
        return cls(low, high, np.zeros(n_features, np.int64), np.zeros(n_rows, np.int64))

    def with_factor(self, group: int, low: float, high: float) -> Part:
        lows, highs = self.low.copy(), self.high.copy()
        lows[group], highs[group] = low, high
        return replace(self, low=lows, high=highs)

    def with_sign(self, feature: int, sign: int) -> Part:
        signs = self.signs.copy()
        signs[feature] = sign
        return replace(self, signs=signs)

    def with_state(self, row: int, state: int) -> Part:
        states = self.states.copy()
        states[row] = state
        return replace(self, states=states)


@dataclass(frozen=True, eq=False)
class Pair:
    """(v, t) and r, in the units of the problem; t is the value at the point.

    ``slack``: by how much the inequality fails, relative to the sizes of its terms, in the part that the pair settles.
    """

    v: FloatArray
    t: float
    r: FloatArray
    slack: float = 0.0

    @property
    def nbytes(self) -> int:
        return int(self.v.nbytes + self.r.nbytes)


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The best pair that was found for a part, its value, and where the relaxation behind it is loose."""

    value: float
    pair: Pair
    weights: FloatArray
    gradients: FloatArray
    of_rows: FloatArray
    of_features: FloatArray
    iterate: interior_point.Iterate


class PointProblem:
    """The question about one point: has every optimal classifier in the range sign · f > 0 there?"""

    def __init__(self, problem: LimitedProblem, point: FloatArray, sign: int) -> None:
        self.problem, self.sign = problem, float(sign)
        self.point = problem.in_units(point)
        self.shifted = problem.rows - self.point
        self.signed = np.ascontiguousarray(
            np.column_stack([self.shifted, np.ones(len(self.shifted))]) * problem.labels[:, None]
        )
        weights, intercept, multipliers = problem.given
        self.given_value = float(weights @ self.point + intercept)
        self._start = self._interior_start(weights, multipliers)

    def _interior_start(self, weights: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(v, t) and r strictly inside all their bounds."""
        problem = self.problem
        total = max(float(multipliers.sum()), np.finfo(float).tiny)
        r = multipliers.copy()
        for label in (1.0, -1.0):
            rows = problem.labels == label
            r[rows] += 0.1 * total / rows.sum()
        r = np.minimum(r, 0.9 * problem.caps)
        own = problem.labels == self.sign
        r[~own] *= min(1.0, 0.9 * r[own].sum() / r[~own].sum())
        return 1.1 * np.append(weights, self.given_value), r

    @property
    def relaxable(self) -> bool:
        """Whether the best pair of a part can be found in a reasonable time."""
        n_rows, n_features = self.problem.rows.shape
        return min(n_rows, n_features) <= _MOST_UNKNOWNS

    def bounds(self, states: IntStates) -> tuple[FloatArray, FloatArray]:
        """Between which r_i must be: [0, c_i] for a free row, no cap where it is out, none at all where it is on."""
        far = 20 * max(float(self.problem.given[2].sum()), float(self._start[1].sum()))
        floor = np.where((states == ON) | (states == CAPPED), -far, 0.0)
        ceiling = np.where((states == FREE) | (states == CAPPED), self.problem.caps, np.inf)
        if self.problem.soft:
            ceiling = np.where(np.isinf(ceiling), far, ceiling)
        return floor, ceiling

    def margin(self, part: Part, pair: Pair) -> tuple[float, Pair]:
        """By how much the inequality fails (positive: the part is settled), surely; and the pair, made strictly valid."""
        problem, states = self.problem, part.states
        v, t, r = pair.v, pair.t, pair.r
        margins = self.signed @ np.append(v, t)
        counts = (states == FREE) | (states == ON)
        if not problem.soft:
            least = float(margins.min(where=counts, initial=np.inf))
            if least <= 0:
                return -np.inf, pair
            scale = (1 + _SPARE) / least if least < np.inf else 1.0
            v, t, margins = v * scale, t * scale, margins * scale
        floor, ceiling = self.bounds(states)
        r = np.clip(r, floor, ceiling)
        nu = self.signed.T @ r
        if self.sign * nu[-1] < 0:
            return -np.inf, pair
        at = np.zeros((2, len(part.low)))
        for end, factor in zip(at, (part.low, part.high), strict=True):
            d = factor[problem.groups]
            x = d * v + nu[:-1]
            np.add.at(end, problem.groups, np.where(part.signs * x < 0, 0.0, x * x / (4 * d)))
        losses = float(at.max(axis=0).sum())
        costs = 0.0
        if problem.soft:
            missing = np.where(counts, np.maximum(1 - margins, 0), np.where(states == CAPPED, 1 - margins, 0.0))
            costs = float(problem.caps @ missing)
        sizes = float(np.abs(r).sum()) + losses + abs(costs)
        # rounding in ν, which is squared: what the terms that cancel in it could have done
        unsure = float(
            np.abs(self.signed).T.dot(np.abs(r))[:-1] @ (np.abs(v) + np.abs(nu[:-1]) / part.low[problem.groups])
        )
        value = float(r.sum()) - losses - costs
        surely = value - _SURE * sizes - 1e-13 * unsure
        return surely, Pair(v, t, r, surely / sizes if sizes > 0 else 0.0)

    def at(self, factors: FloatArray, multipliers: FloatArray) -> tuple[float, list[Pair]]:
        """The decision value at one rescaling, and pairs that prove its sign: of the SVM, and of the SVM made to err.

        ``multipliers`` (of any rescaling) are a start. The erring SVM, with the point as one more row, is the best of those
        that give the point the other label (or 0). The SVM's weights as v with the erring one's multipliers as r are best
        at this rescaling; the means of both have v = ν / d, and lose least around it.
        """
        problem = self.problem
        weights, intercept, _ = problem.train(factors, multipliers)
        value = float(weights @ self.point + intercept)
        erring = np.append(multipliers, 0.0)
        with_point = svm_kernel.SvmRows(
            np.vstack([problem.rows, self.point]),
            np.append(problem.labels, -self.sign),
            np.append(np.ones(len(problem.rows)), 0.0),
            np.append(problem.caps, np.inf),
        )
        erring_weights, erring_intercept, _, _ = svm_kernel.train(with_point, 1 / factors[problem.groups], erring)
        middle = Pair(
            (weights + erring_weights) / 2,
            (value + float(erring_weights @ self.point + erring_intercept)) / 2,
            (multipliers + erring[:-1]) / 2,
        )
        return value, [Pair(weights, value, erring[:-1]), middle]

    def best_of(self, part: Part, pairs: list[Pair]) -> tuple[float, Pair]:
        """The best of the pairs, with r or (hard margins) a power of two times r: the margin, and the pair made valid."""
        best = max((self.margin(part, pair) for pair in pairs), key=lambda found: found[0])
        if best[0] > 0 or self.problem.soft:
            return best
        for factor in (0.5, 2.0):
            while True:
                tried = self.margin(part, replace(best[1], r=best[1].r * factor))
                if not tried[0] > best[0]:
                    break
                best = tried
        return best

    def relax(self, part: Part, start: interior_point.Iterate | None = None) -> Relaxed:
        """The best pair of a part by an interior-point method, from where it ended in a larger part."""
        counts = (part.states == FREE) | (part.states == ON)
        floor, ceiling = self.bounds(part.states)
        rows = interior_point.Rows(self.signed, self.problem.caps, counts, part.states == CAPPED, floor, ceiling)
        box = interior_point.Box(self.problem.groups, part.low, part.high, part.signs)
        first = start is None
        if start is None:
            start = interior_point.first_iterate(rows, box, self.sign, *self._start)
        best = interior_point.best_pair(rows, box, self.sign, start, _ITERATIONS)
        if not first and not np.isfinite(best.value):  # rounding has put it outside
            start = interior_point.first_iterate(rows, box, self.sign, *self._start)
            best = interior_point.best_pair(rows, box, self.sign, start, _ITERATIONS)
        pair, value = Pair(best.v[:-1], float(best.v[-1]), best.r), float(best.value)
        of_rows = np.nan_to_num(np.where(part.states == FREE, best.of_rows, 0.0))
        if value > 0:
            value, better = self.margin(part, pair)
            pair = better if value > 0 else pair
        return Relaxed(
            value, pair, best.weights, best.gradients, of_rows, np.nan_to_num(best.of_features), best.iterate
        )
