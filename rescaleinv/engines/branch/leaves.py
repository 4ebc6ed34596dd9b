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

With a ν-margin, where rows must have a margin ρ that is found and not given, and Σ a_i is given, a pair has one more number
q, which takes the place of 1 in e_i; Σ r_i must be at least Σ a_i, and Σ a_i q stands on the left instead of Σ r_i.

Where d has no upper bound each v_j must be 0, or against the sign of the weight, and the upper end counts as 0; where d
comes to 0, so it is with ν_j and the lower end. Hard margins and ν-margins, on which a common factor of all d has no
influence, have Σ a_i (or the margin ρ) of any size then. In *relative* parts multipliers and d are divided by it: the
relative factor of a group is d times the scale, which is between bounds of its own; that of a group with any factor has
its own bounds at once. The left side is Σ r_i + Σ a_i (q - 1), and what is excluded is f = 0, so that r need not pull to
one side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines.branch import interior_point, svm_kernel
from rescaleinv.engines.branch.fewer_rows import FewerRows
from rescaleinv.engines.branch.problem import CAPPED, FREE, ON, IntStates, LimitedProblem

# The inequality must hold by this much of the sizes of its terms: far more than rounding can do.
_SURE = 1e-10
# Hard margins are made larger by this before they are rounded, so that exact ones are at least 1.
_SPARE = 1e-9
# An interior-point method's time goes with the cube of the features, or of the rows where these are fewer: beyond this only
# the SVM's own pair is tried.
_MOST_UNKNOWNS = 500
_ITERATIONS = 100
# With fewer rows a part is tried so many times, each time with the rows that were missing, and then with all.
_GUESSES = 3
# The caps of each class must add up to so much more than a ν-margin needs; and where its relaxation starts, multipliers are
# this share of what is to spare from their bounds.
_LEAST_SPARE, _FAR, _INSIDE = 1e-6, 0.3, 0.01
# Where there is no bound the relaxation has one of these, the next where what it finds is not true without; and at least so
# far from the other end.
_NEAR_0, _APART = (1e-6, 1e-9, 1e-12), 1e-3
# Prices ν of features whose factor comes to 0 that are nearer to 0 than this, relative to their terms, are made 0.
_NEARLY_0 = 1e-9


def in_place_of_none(low: Any, high: Any, centre: Any = 1.0, near: float = _NEAR_0[0]) -> tuple[Any, Any]:
    """Numbers, or arrays of them, for floats to compute with where there is no bound: where low is 0 or high infinite."""
    apart = _APART * near / _NEAR_0[0]
    return (
        np.where(low > 0, low, np.minimum(near * centre, apart * high)),
        np.where(np.isfinite(high), high, np.maximum(centre / near, low / apart)),
    )


class Scale(NamedTuple):
    """Bounds of the scale that makes factors relative; ``free``: groups whose relative factors have their own bounds."""

    least: float
    most: float
    free: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the range: factors within [low, high] (one per group), signs of weights, states of rows.

    ``scale``, of a part of relative factors only, has the bounds of the scale, and which groups have no use for it.
    """

    low: FloatArray
    high: FloatArray
    signs: IntStates
    states: IntStates
    scale: Scale | None = None

    @classmethod
    def whole(cls, problem: LimitedProblem, low: FloatArray, high: FloatArray, *, relative: bool = False) -> Part:
        n_rows, n_features = problem.rows.shape
        scale = Scale(0.0, np.inf, problem.free) if relative else None
        return cls(low, high, np.zeros(n_features, np.int64), np.zeros(n_rows, np.int64), scale)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Between which d of each group is, relative where it is."""
        if self.scale is None:
            return self.low, self.high
        least, most, free = self.scale
        with np.errstate(invalid="ignore"):  # 0 times infinity is not used
            return np.where(free, self.low, self.low * least), np.where(free, self.high, self.high * most)

    def finite_ends(self, problem: LimitedProblem, near: float = _NEAR_0[0]) -> tuple[FloatArray, FloatArray]:
        """``ends``, with others in their place where there is no bound: for floats to compute with."""
        if self.scale is None and problem.bounded:
            return self.low, self.high
        return in_place_of_none(*self.ends, problem.centre, near)

    @property
    def bounded(self) -> bool:
        low, high = self.ends
        return bool(low.min() > 0 and np.isfinite(high).all())

    def with_scale(self, least: float, most: float) -> Part:
        assert self.scale is not None
        return replace(self, scale=self.scale._replace(least=least, most=most))

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
    """(v, t) and r, in the units of the problem; t is the value at the point, q the margin that rows must have.

    ``slack``: by how much the inequality fails, relative to the sizes of its terms, in the part that the pair settles.
    ``vanishing``: the features whose ν must be 0, exactly.
    """

    v: FloatArray
    t: float
    r: FloatArray
    slack: float = 0.0
    q: float = 1.0
    vanishing: tuple[int, ...] = ()

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
        signed = np.column_stack([self.shifted, np.ones(len(self.shifted))]) * problem.labels[:, None]
        if problem.total > 0:
            signed = np.column_stack([signed, -np.ones(len(signed))])
        self.signed = np.ascontiguousarray(signed)
        weights, intercept, multipliers = problem.given
        self.given_value = float(weights @ self.point + intercept)
        self._start = self._interior_start(weights, multipliers)
        self.fewer: FewerRows | None = None

    def _interior_start(self, weights: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(v, t) and r strictly inside all their bounds."""
        problem = self.problem
        if problem.total > 0:
            return np.append(1.1 * np.append(weights, self.given_value), 1.0), self._interior_of_nu(multipliers)
        total = max(float(multipliers.sum()), np.finfo(float).tiny)
        r, far = multipliers.copy(), 0.1 * problem.share_of_weights
        for label in (1.0, -1.0):
            rows = problem.labels == label
            r[rows] += far * total / rows.sum()
        r = np.minimum(r, (1 - far) * problem.caps)
        own = problem.labels == self.sign
        r[~own] *= min(1.0, (1 - far) * r[own].sum() / r[~own].sum())
        return 1.1 * np.append(weights, self.given_value), r

    def _interior_of_nu(self, multipliers: FloatArray) -> FloatArray:
        """r strictly between 0 and the caps, its sum a little more than needed, more of it in the point's own class."""
        problem = self.problem
        spare = self._spare * _FAR * problem.share_of_weights
        inside = _INSIDE * spare
        r = np.clip(multipliers, inside * problem.caps, (1 - inside) * problem.caps)
        for label in (self.sign, -self.sign):
            own = problem.labels == label
            wanted = problem.total / 2 * (1 + spare * (0.5 if label == self.sign else 0.2))
            room = np.where(own, (1 - inside) * problem.caps - r, 0.0)
            missing = wanted - float(r[own].sum())
            if missing > 0:
                r += room * (missing / float(room.sum()))
        own = problem.labels == self.sign
        r[~own] *= min(1.0, float(r[own].sum()) * (1 - 0.1 * spare) / float(r[~own].sum()))
        return r

    @cached_property
    def _spare(self) -> float:
        """By what share of it each class could have more than its half of a ν-margin's multipliers; at most 0.2."""
        problem = self.problem
        most = min(float(problem.caps[problem.labels == label].sum()) for label in (1.0, -1.0))
        return min(0.2, 2 * most / problem.total - 1)

    @cached_property
    def _sizes(self) -> FloatArray:
        return np.abs(self.signed)

    @cached_property
    def _far(self) -> float:
        """More than any multiplier will be."""
        return 20 * max(float(self.problem.given[2].sum()), float(self._start[1].sum()))

    @property
    def relaxable(self) -> bool:
        """Whether the best pair of a part can be found in a reasonable time."""
        n_rows, n_features = self.problem.rows.shape
        has_interior = self.problem.total == 0 or self._spare > _LEAST_SPARE
        return min(n_rows, n_features) <= _MOST_UNKNOWNS and has_interior

    def bounds(self, states: IntStates, caps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between which r_i must be: [0, c_i] for a free row, no cap where it is out, none at all where it is on."""
        far = self._far
        floor = np.where((states == ON) | (states == CAPPED), -far, 0.0)
        ceiling = np.where((states == FREE) | (states == CAPPED), caps, np.inf)
        if self.problem.soft:
            ceiling = np.where(np.isinf(ceiling), far, ceiling)
        return floor, ceiling

    def margin(self, part: Part, pair: Pair) -> tuple[float, Pair]:
        """By how much the inequality fails (positive: the part is settled), surely; and the pair, made strictly valid."""
        problem, states, relative = self.problem, part.states, part.scale is not None
        low, high = (end[problem.groups] for end in part.ends)
        v, t, r, q = np.where(np.isinf(high) & (part.signs * pair.v >= 0), 0.0, pair.v), pair.t, pair.r, pair.q
        n = len(v)
        margins = self.signed[:, : n + 1] @ np.append(v, t)
        counts = (states == FREE) | (states == ON)
        if not problem.soft:
            least = float(margins.min(where=counts, initial=np.inf))
            if relative:
                q = min(least - _SPARE * float(np.abs(margins).max()), max(q, 1.0))
            elif least <= 0:
                return -np.inf, pair
            else:
                scale = (1 + _SPARE) / least if least < np.inf else 1.0
                v, t, margins = v * scale, t * scale, margins * scale
        floor, ceiling = self.bounds(states, problem.caps)
        r, vanishing = self._with_vanishing(np.clip(r, floor, ceiling), low == 0, part.signs, floor, ceiling)
        nu = self.signed[:, : n + 1].T @ r
        if len(vanishing):
            terms = self._sizes[:, vanishing].T @ np.abs(r)
            if (np.abs(nu[vanishing]) > _NEARLY_0 * terms).any():
                return -np.inf, pair
            nu[vanishing] = 0.0
        if (part.signs * nu[:-1] > 0)[low == 0].any() or (r < floor).any() or (r > ceiling).any():
            return -np.inf, pair
        if not relative and (self.sign * nu[n] < 0 or (problem.total > 0 and r.sum() < problem.total)):
            return -np.inf, pair
        at = []
        for d in (low, high):
            bounded = (d > 0) & np.isfinite(d)
            d = np.where(bounded, d, 1.0)
            x = d * v + nu[:-1]
            of_features = np.where(bounded & (part.signs * x >= 0), x * x / (4 * d), 0.0)
            at.append(np.bincount(problem.groups, of_features, len(part.low)))
        losses = float(np.maximum(*at).sum())
        costs = 0.0
        if problem.soft:
            missing = np.where(counts, np.maximum(q - margins, 0), np.where(states == CAPPED, q - margins, 0.0))
            costs = float(problem.caps @ missing)
        gain, size_of_gain = float(r.sum()), float(np.abs(r).sum())
        if relative:
            total = problem.relative_total
            gain, size_of_gain = gain + total * (q - 1), size_of_gain + total * (1 + abs(q))
        elif problem.total > 0:
            gain = problem.total * q
            size_of_gain = abs(gain)
        sizes = size_of_gain + losses + abs(costs)
        # rounding in ν, which is squared: what the terms that cancel in it could have done
        per_low = np.abs(nu[:-1]) / np.where(low > 0, low, np.inf)
        unsure = float((np.abs(r) @ self._sizes)[:n] @ (np.abs(v) + per_low))
        surely = gain - losses - costs - _SURE * sizes - 1e-13 * unsure
        return surely, Pair(v, t, r, surely / sizes if sizes > 0 else 0.0, q, tuple(vanishing.tolist()))

    def _with_vanishing(
        self, r: FloatArray, comes_to_0: npt.NDArray[np.bool_], signs: IntStates, floor: FloatArray, ceiling: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """r with ν_j = 0, as floats have it, where d_j comes to 0 and ν_j is not against the sign; and which these are.

        Those r_i change that are furthest from their bounds. The sum of a ν-margin stays.
        """
        n = len(comes_to_0)
        if not comes_to_0.any():
            return r, np.zeros(0, np.int64)
        columns = self.signed[:, :n]
        nu, sizes = columns.T @ r, np.abs(columns).T @ np.abs(r)
        vanishing = np.flatnonzero(comes_to_0 & (signs * nu >= -_NEARLY_0 * sizes))
        if len(vanishing):
            table = columns[:, vanishing]
            wanted = -nu[vanishing]
            if self.problem.total > 0:
                table, wanted = np.column_stack([table, np.ones(len(r))]), np.append(wanted, 0.0)
            room = np.minimum(np.minimum(r - floor, ceiling - r), np.abs(r).max())
            change = np.linalg.lstsq((table * room[:, None]).T, wanted, rcond=1e-12)[0]
            r = r + room * change
        return r, vanishing

    def at(self, factors: FloatArray, multipliers: FloatArray) -> tuple[float, list[Pair]]:
        """The decision value at one rescaling, and pairs that prove its sign: of the SVM, and of the SVM made to err.

        ``multipliers`` (of any rescaling) are a start. The erring SVM, with the point as one more row, is the best of those
        that give the point the other label (or 0). The SVM's weights as v with the erring one's multipliers as r are best
        at this rescaling; the means of both have v = ν / d, and lose least around it.
        """
        problem = self.problem
        weights, intercept, _ = problem.train(factors, multipliers)
        value = float(weights @ self.point + intercept)
        if problem.total > 0:  # the relaxation finds what proves it
            return value, []
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
        """The best of the pairs, with r or (hard margins) a power of two times r: the margin, and the pair made valid.

        There must be one.
        """
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

    def prepare(self, low: FloatArray, high: FloatArray) -> None:
        """For relaxations of parts of this range: with fewer rows, where that pays."""
        self._use(FewerRows.of(self.problem, *self.problem.finite_ends(low, high)))

    def _use(self, fewer: FewerRows | None) -> None:
        start = None if fewer is None else fewer.start(self._start[1], self.problem.labels)
        self.fewer = None
        if fewer is not None and start is not None:
            self.fewer = fewer
            self._of_fewer = fewer.rows(self.signed, self.problem.caps), start

    @cached_property
    def _with_margin(self) -> FloatArray:
        """``signed`` with a column for the margin that rows must have."""
        n = self.problem.rows.shape[1]
        return np.ascontiguousarray(np.column_stack([self.signed[:, : n + 1], -np.ones(len(self.signed))]))

    def relax(self, part: Part, start: interior_point.Iterate | None = None) -> Relaxed:
        """The best pair of a part by an interior-point method, from where it ended in a larger part."""
        if part.scale is not None:
            v, r = self._start
            first = v if self.problem.total > 0 else np.append(v, 1.0), r
            return self._relax_all(self._with_margin, part, first, start)
        for _ in range(_GUESSES):
            if self.fewer is None:
                break
            relaxed = self._relax_fewer(self.fewer, part, start)
            if relaxed is not None:
                return relaxed
        return self._relax_all(self.signed, part, self._start, start)

    def _relax_all(
        self,
        signed: FloatArray,
        part: Part,
        first: tuple[FloatArray, FloatArray],
        start: interior_point.Iterate | None,
    ) -> Relaxed:
        """``relax`` with all rows."""
        for near in _NEAR_0:
            best = self._best_pair(signed, self.problem.caps, part.states, part, first, start, near)
            relaxed = self._relaxed(part, best, best.r, best.of_rows)
            if relaxed.value > 0 or not best.value > 0 or part.bounded:
                break
            start = None
        return relaxed

    def _relax_fewer(self, fewer: FewerRows, part: Part, start: interior_point.Iterate | None) -> Relaxed | None:
        """``relax`` with fewer rows; None where all rows say something else of what was found."""
        signed, first = self._of_fewer
        best = self._best_pair(signed, fewer.caps, fewer.states(part.states), part, (self._start[0], first), start)
        n_rows = len(self.problem.rows)
        r, of_rows = fewer.multipliers(best.r, self.problem.caps), fewer.of_rows(best.of_rows, n_rows)
        relaxed = self._relaxed(part, best, r, of_rows)
        if best.value > 0 and not relaxed.value > 0:
            margins = self.signed[:, : len(relaxed.pair.v) + 1] @ np.append(relaxed.pair.v, relaxed.pair.t)
            wrong = fewer.wrong(relaxed.pair.q - margins)
            self._use(fewer.with_rows(wrong, self.problem.caps) if wrong.any() else None)
            return None
        return relaxed

    def _best_pair(
        self,
        signed: FloatArray,
        caps: FloatArray,
        states: IntStates,
        part: Part,
        first: tuple[FloatArray, FloatArray],
        start: interior_point.Iterate | None,
        near: float = _NEAR_0[0],
    ) -> interior_point.BestPair:
        counts = (states == FREE) | (states == ON)
        floor, ceiling = self.bounds(states, caps)
        relative = part.scale is not None
        total = self.problem.relative_total if relative else self.problem.total
        required, reward = 0.0 if total > 0 else 1.0, 1.0 if relative or total == 0 else 0.0
        rows = interior_point.Rows(signed, caps, counts, states == CAPPED, floor, ceiling, total, required, reward)
        box = interior_point.Box(self.problem.groups, *part.finite_ends(self.problem, near), part.signs)
        sign = 0.0 if relative else self.sign
        if start is not None and len(start.r) == len(signed):
            best = interior_point.best_pair(rows, box, sign, start, _ITERATIONS)
            if np.isfinite(best.value):  # else rounding has put it outside
                return best
        begin = interior_point.first_iterate(rows, box, sign, *first)
        return interior_point.best_pair(rows, box, sign, begin, _ITERATIONS)

    def _relaxed(self, part: Part, best: interior_point.BestPair, r: FloatArray, of_rows: FloatArray) -> Relaxed:
        n = self.problem.rows.shape[1]
        pair = Pair(best.v[:n], float(best.v[n]), r, q=float(best.v[n + 1]) if len(best.v) > n + 1 else 1.0)
        value = float(best.value)
        of_rows = _finite(np.where(part.states == FREE, of_rows, 0.0))
        if value > 0:
            tried = [pair]
            if part.scale is not None and not part.bounded:  # what must vanish may do so only if all of it does
                nothing = np.zeros_like
                tried += [replace(pair, r=nothing(r)), Pair(nothing(pair.v), 0.0, r, q=0.0)]
            value, better = max((self.margin(part, one) for one in tried), key=lambda found: found[0])
            pair = better if value > 0 else pair
        return Relaxed(value, pair, best.weights, best.gradients, of_rows, _finite(best.of_features), best.iterate)


def _finite(values: FloatArray) -> FloatArray:
    """The values, those that are not finite replaced; most often all are, and then it takes no time."""
    return values if np.isfinite(values).all() else np.nan_to_num(values)
