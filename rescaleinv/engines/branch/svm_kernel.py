"""Compiled: plain SVMs at given rescalings, and the search for a rescaling that changes the label of a point.

Rows are in one common unit, so that a rescaling is τ_j in the user's own units; ``inverse`` is τ_j² = 1/d_j. Nothing here
is trusted: whatever is found is checked elsewhere, by the inequality of ``leaves`` and in rationals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescaleinv._util.compiled import entry, step

# A multiple of the identity, relative to the largest diagonal entry: rows that depend on each other do no harm.
_RIDGE = 1e-12
# With at least this many features all products of rows are computed at once.
_WIDE = 256
# Factors are changed one by one so many times at most, also by this factor; and where the value is no more than so many
# times the least.
_SWEEPS, _A_LITTLE, _NEARLY_BEST = 6, 1.3, 1.5
# Margins are right to this.
_MARGIN_ERROR = 1e-9


class SvmRows(NamedTuple):
    """Training rows: features, labels, the margin that each must have, and the cap of its multiplier (its penalty).

    ``total``: with a ν-margin, what all multipliers add up to, half of it in each class; the margin that every row must have
    is then not given but found, the same for all. 0 without.
    """

    features: np.ndarray
    labels: np.ndarray
    required_margins: np.ndarray
    caps: np.ndarray
    total: float = 0.0


class Range(NamedTuple):
    """The group of each feature, and the ends of the range of each group's factor d."""

    groups: np.ndarray
    low: np.ndarray
    high: np.ndarray


@step
def solve_or_nan(system, right):
    """The solution of a linear system; nan where there is none."""
    try:
        return np.linalg.solve(system, right)
    except Exception:  # numba knows no other; singular, or not finite
        return np.full(len(right), np.nan)


@step
def _gradient(rows, multipliers, gradient):
    gradient[:] = 0.0
    for i in range(len(multipliers)):
        if multipliers[i] > 0:
            factor = multipliers[i] * rows.labels[i]
            for j in range(len(gradient)):
                gradient[j] += factor * rows.features[i, j]


@step
def _free_solution(rows, gram, free, multipliers, scores):
    """Multipliers of the free rows, and the intercept last, that put these rows exactly on their margins."""
    count = len(free)
    largest = 0.0
    for p in range(count):
        largest = max(largest, gram[free[p], free[p]])
    ridge = _RIDGE * largest + 1e-300
    system, right = np.zeros((count + 1, count + 1)), np.zeros(count + 1)
    for p in range(count):
        i = free[p]
        label = rows.labels[i]
        rest = scores[i]
        for q in range(count):
            k = free[q]
            system[p, q] = label * rows.labels[k] * gram[i, k]
            rest -= rows.labels[k] * multipliers[k] * gram[i, k]
        system[p, p] += ridge
        system[p, count] = label
        system[count, p] = label
        right[p] = rows.required_margins[i] - label * rest
        right[count] += label * multipliers[i]
    found = solve_or_nan(system, right)
    if not np.isfinite(found).all():
        return found
    for _ in range(3):  # what the ridge took from the margins is given back
        rest_of = right - system @ found
        rest_of[:count] += ridge * found[:count]
        if not np.abs(rest_of).max() > 0.1 * _MARGIN_ERROR:
            break
        better = found + solve_or_nan(system, rest_of)
        if not np.isfinite(better).all():
            break
        found = better
    return found


@step
def _step_to_bounds(free, found, multipliers, caps):
    """How far the free multipliers may go towards ``found``, and which of them is then at a bound (-1: none)."""
    step, blocking = 1.0, -1
    for p in range(len(free)):
        a, cap = multipliers[free[p]], caps[free[p]]
        if found[p] < 0:
            if a < step * (a - found[p]):
                step, blocking = a / (a - found[p]), p
        elif found[p] > cap and cap - a < step * (found[p] - a):
            step, blocking = (cap - a) / (found[p] - a), p
    return step, blocking


@step
def _most_violating_pair(rows, scores, multipliers):
    """Where no row is free: the pair that violates most (-1, -1: none), and the middle of the intercepts allowed."""
    highest, lowest = -np.inf, np.inf
    first, second = -1, -1
    for i in range(len(multipliers)):
        positive = rows.labels[i] > 0
        threshold = rows.labels[i] * rows.required_margins[i] - scores[i]
        may_grow, may_shrink = multipliers[i] < rows.caps[i], multipliers[i] > 0
        if (may_grow if positive else may_shrink) and threshold > highest:
            highest, first = threshold, i
        if (may_shrink if positive else may_grow) and threshold < lowest:
            lowest, second = threshold, i
    if first >= 0 and second >= 0 and highest - lowest > _MARGIN_ERROR:
        return first, second, 0.0
    if highest == -np.inf:
        return -1, -1, lowest
    return -1, -1, highest if lowest == np.inf else (highest + lowest) / 2


@step
def _most_violating(rows, scores, intercept, multipliers, member, worst):
    """The row at a bound that violates its margin most, by more than ``worst``; -1 where there is none."""
    joins = -1
    for i in range(len(multipliers)):
        if not member[i]:
            slack = rows.labels[i] * (scores[i] + intercept) - rows.required_margins[i]
            wrong = slack if multipliers[i] > 0 else -slack
            if wrong > worst:
                worst, joins = wrong, i
    return joins


@step
def _nu_solution(rows, gram, free, multipliers, scores):
    """Multipliers of the free rows, and last of all the margins w·x and -w·x of the two classes on which these rows are.

    The margin of a class without a free row is 0 here.
    """
    count = len(free)
    largest = 0.0
    for p in range(count):
        largest = max(largest, gram[free[p], free[p]])
    ridge = _RIDGE * largest + 1e-300
    system, right = np.zeros((count + 2, count + 2)), np.zeros(count + 2)
    system[count, count] = system[count + 1, count + 1] = 1.0
    for p in range(count):
        i = free[p]
        label = rows.labels[i]
        side = count if label > 0 else count + 1
        rest = scores[i]
        for q in range(count):
            k = free[q]
            system[p, q] = label * rows.labels[k] * gram[i, k]
            rest -= rows.labels[k] * multipliers[k] * gram[i, k]
        system[p, p] += ridge
        system[p, side] = -1.0
        system[side, p] = 1.0
        system[side, side] = 0.0
        right[p] = -label * rest
        right[side] += multipliers[i]
    found = solve_or_nan(system, right)
    if not np.isfinite(found).all():
        return found
    for _ in range(3):  # what the ridge took from the margins is given back
        rest_of = right - system @ found
        rest_of[:count] += ridge * found[:count]
        if not np.abs(rest_of).max() > 0.1 * _MARGIN_ERROR:
            break
        better = found + solve_or_nan(system, rest_of)
        if not np.isfinite(better).all():
            break
        found = better
    return found


@step
def _class_bounds(rows, scores, multipliers, label):
    """Of a class without a free row: its row with a multiplier and the largest margin, and that without and the least.

    And these margins; the row is -1 where there is none.
    """
    highest, lowest = -np.inf, np.inf
    first, second = -1, -1
    for i in range(len(multipliers)):
        if rows.labels[i] == label:
            margin = label * scores[i]
            if multipliers[i] > 0:
                if margin > highest:
                    highest, first = margin, i
            elif margin < lowest:
                lowest, second = margin, i
    return first, second, highest, lowest


@step
def _beyond_class_margin(rows, scores, margins, multipliers, member, worst):
    """The row at a bound that is on the wrong side of its class's margin by more than ``worst``; -1: none."""
    joins = -1
    for i in range(len(multipliers)):
        if not member[i]:
            slack = rows.labels[i] * scores[i] - margins[0 if rows.labels[i] > 0 else 1]
            wrong = slack if multipliers[i] > 0 else -slack
            if wrong > worst:
                worst, joins = wrong, i
    return joins


@step
def _train_nu(rows, inverse, multipliers):
    """``train`` with a ν-margin: ½ Σ w_j²/τ_j² - total ρ + Σ caps_i ξ_i with y_i (w·x_i + b) >= ρ - ξ_i.

    The multipliers of each class add up to half of ``total``, at the start too. Weights and intercept are divided by ρ.
    """
    features = rows.features
    m, n = features.shape
    wide = n >= _WIDE
    gram = features @ (features * inverse).T if wide else np.empty((m, m))
    known = np.full(m, wide)
    member = np.zeros(m, np.bool_)
    free = np.empty(m, np.int64)
    count = 0
    for i in range(m):
        if 0 < multipliers[i] < rows.caps[i]:
            free[count] = i
            member[i] = True
            count += 1
    gradient = np.zeros(n)
    _gradient(rows, multipliers, gradient)
    weights = inverse * gradient
    scores = features @ weights
    margins = np.zeros(2)
    for _ in range(50 + 20 * m):
        if count > 0:
            for p in range(count):
                i = free[p]
                if not known[i]:
                    gram[i] = features @ (inverse * features[i])
                    known[i] = True
            found = _nu_solution(rows, gram, free[:count], multipliers, scores)
            if not np.isfinite(found).all():
                break
            step, blocking = _step_to_bounds(free[:count], found, multipliers, rows.caps)
            for p in range(count):
                i = free[p]
                change = step * (found[p] - multipliers[i])
                multipliers[i] += change
                if change != 0:
                    factor = change * rows.labels[i]
                    for k in range(m):
                        scores[k] += factor * gram[i, k]
            if blocking >= 0:
                i = free[blocking]
                multipliers[i] = 0.0 if found[blocking] < 0 else rows.caps[i]
                member[i] = False
                count -= 1
                free[blocking] = free[count]
                continue
            margins[0], margins[1] = found[count], found[count + 1]
        joined = False
        for side in range(2):
            label = 1.0 - 2.0 * side
            has_free = False
            for p in range(count):
                has_free = has_free or rows.labels[free[p]] == label
            if not has_free:
                first, second, highest, lowest = _class_bounds(rows, scores, multipliers, label)
                if highest - lowest > _MARGIN_ERROR:
                    for i in (first, second):
                        free[count] = i
                        member[i] = True
                        count += 1
                    joined = True
                else:
                    margins[side] = highest if second < 0 else lowest if first < 0 else (highest + lowest) / 2
        if joined:
            continue
        joins = _beyond_class_margin(rows, scores, margins, multipliers, member, _MARGIN_ERROR)
        if joins >= 0:
            free[count] = joins
            member[joins] = True
            count += 1
            continue
        _gradient(rows, multipliers, gradient)
        weights = inverse * gradient
        scores = features @ weights
        if _beyond_class_margin(rows, scores, margins, multipliers, member, 2 * _MARGIN_ERROR) < 0:
            rho = (margins[0] + margins[1]) / 2
            if not rho > 0:
                break
            return weights / rho, (margins[1] - margins[0]) / (2 * rho), free[:count].copy(), True
    return weights, (margins[1] - margins[0]) / 2, free[:count].copy(), False


@entry
def train(rows, inverse, multipliers):
    """The SVM of least ½ Σ w_j²/τ_j² + Σ c_i ξ_i with y_i (w·x_i + b) >= required margin - ξ_i, by an active-set method.

    ``multipliers`` (0 <= a_i <= caps_i, Σ a_i y_i = 0; of any other rescaling) are the start and become the answer.
    Returns the weights, the intercept, the rows that are strictly between their bounds, and whether it converged.
    """
    if rows.total > 0:
        return _train_nu(rows, inverse, multipliers)
    features = rows.features
    m, n = features.shape
    # with many features all products at once are cheaper than those of each row that joins
    wide = n >= _WIDE
    gram = features @ (features * inverse).T if wide else np.empty((m, m))
    known = np.full(m, wide)
    member = np.zeros(m, np.bool_)
    free = np.empty(m, np.int64)
    count = 0
    for i in range(m):
        if 0 < multipliers[i] < rows.caps[i]:
            free[count] = i
            member[i] = True
            count += 1
    gradient = np.zeros(n)
    _gradient(rows, multipliers, gradient)
    weights = inverse * gradient
    scores = features @ weights
    intercept = 0.0
    for _ in range(50 + 20 * m):
        joins = -1
        if count > 0:
            for p in range(count):
                i = free[p]
                if not known[i]:
                    gram[i] = features @ (inverse * features[i])
                    known[i] = True
            found = _free_solution(rows, gram, free[:count], multipliers, scores)
            if not np.isfinite(found).all():
                break
            step, blocking = _step_to_bounds(free[:count], found, multipliers, rows.caps)
            for p in range(count):
                i = free[p]
                change = step * (found[p] - multipliers[i])
                multipliers[i] += change
                if change != 0:
                    factor = change * rows.labels[i]
                    for k in range(m):
                        scores[k] += factor * gram[i, k]
            if blocking >= 0:
                i = free[blocking]
                # the exact bound; what this changes in the scores is rounding
                multipliers[i] = 0.0 if found[blocking] < 0 else rows.caps[i]
                member[i] = False
                count -= 1
                free[blocking] = free[count]
                continue
            intercept = found[count]
            joins = _most_violating(rows, scores, intercept, multipliers, member, _MARGIN_ERROR)
        else:
            joins, second, intercept = _most_violating_pair(rows, scores, multipliers)
            if joins >= 0:
                free[0] = second
                member[second] = True
                count = 1
        if joins >= 0:
            free[count] = joins
            member[joins] = True
            count += 1
            continue
        _gradient(rows, multipliers, gradient)
        weights = inverse * gradient
        scores = features @ weights
        # the scores were updated step by step; those of the weights themselves must say the same
        if _most_violating(rows, scores, intercept, multipliers, member, 2 * _MARGIN_ERROR) < 0:
            return weights, intercept, free[:count].copy(), True
    return weights, intercept, free[:count].copy(), False


@step
def _nu_slopes(rows, inverse, free, multipliers, weights, value, point):
    """``slopes`` with a ν-margin: f = w·p + (N - P)/2, divided by ρ = (P + N)/2 = 1, where P and N are the classes' margins.

    The margin of a class without a free row is the middle of those of the rows that bound it.
    """
    count = len(free)
    point = point.copy()
    scores = rows.features @ weights
    system, right = np.zeros((count + 2, count + 2)), np.zeros(count + 2)
    signed = np.empty((count, rows.features.shape[1]))
    system[count, count] = system[count + 1, count + 1] = 1.0
    for p in range(count):
        label = rows.labels[free[p]]
        side = count if label > 0 else count + 1
        signed[p] = label * rows.features[free[p]]
        system[p, side] = 1.0
        system[side, p] = -1.0
        system[side, side] = 0.0
    of_margins = (-0.5 - 0.5 * value, 0.5 - 0.5 * value)
    for side in range(2):
        if system[count + side, count + side] != 0:
            label = 1.0 - 2.0 * side
            first, second, _, _ = _class_bounds(rows, scores, multipliers, label)
            share = of_margins[side] * label / (1.0 if first < 0 or second < 0 else 2.0)
            for i in (first, second):
                if i >= 0:
                    point += share * rows.features[i]
    scaled = signed * inverse
    system[:count, :count] = scaled @ signed.T
    right[:count] = scaled @ point
    right[count], right[count + 1] = of_margins
    largest = 0.0
    for p in range(count):
        largest = max(largest, system[p, p])
    for p in range(count):
        system[p, p] += _RIDGE * largest + 1e-300
    found = solve_or_nan(system, right)
    if not np.isfinite(found).all():
        return np.zeros(len(point))
    return -(point - signed.T @ found[:count]) * weights


@entry
def slopes(rows, inverse, free, multipliers, weights, value, point):
    """The derivative of the decision value of ``point`` by log d_j, while the rows between their bounds stay the same."""
    if rows.total > 0:
        return _nu_slopes(rows, inverse, free, multipliers, weights, value, point)
    count = len(free)
    if count == 0:
        return -point * weights
    system, right = np.zeros((count + 1, count + 1)), np.zeros(count + 1)
    signed = np.empty((count, rows.features.shape[1]))
    for p in range(count):
        label = rows.labels[free[p]]
        signed[p] = label * rows.features[free[p]]
        system[p, count] = -label
        system[count, p] = label
    scaled = signed * inverse
    system[:count, :count] = scaled @ signed.T
    right[:count] = scaled @ point
    right[count] = 1.0
    largest = 0.0
    for p in range(count):
        largest = max(largest, system[p, p])
    for p in range(count):
        system[p, p] += _RIDGE * largest + 1e-300
    found = solve_or_nan(system, right)
    if not np.isfinite(found).all():
        return np.zeros(len(point))
    return -(point - signed.T @ found[:count]) * weights


@step
def descend(rows, span, point, sign, factors, multipliers, target, polish):
    """Walk from ``factors`` (one d per group) to corners of the box where sign · decision value is less, until < target.

    While the free rows stay, the value is monotone in each d. All features that would lower it go to their ends at once; if
    that does not help, the better half of them, and so on; then, with ``polish``, all of them go a part of the way along
    the gradient. ``factors`` and ``multipliers`` become those of the end. Infinite where not even the first SVM is found.
    """
    groups, low, high = span.groups, span.low, span.high
    n_groups = len(low)
    weights, intercept, free, found = train(rows, 1 / factors[groups], multipliers)
    if not found:
        return np.inf
    value = sign * ((weights * point).sum() + intercept)
    while value >= target:
        slope = np.zeros(n_groups)
        per_feature = slopes(rows, 1 / factors[groups], free, multipliers, weights, sign * value, point)
        for j in range(len(groups)):
            slope[groups[j]] += sign * per_feature[j]
        ends = factors.copy()
        gains = np.zeros(n_groups)
        hopeful = 0
        for g in range(n_groups):
            if slope[g] < 0 and factors[g] < high[g]:
                ends[g] = high[g]
            elif slope[g] > 0 and factors[g] > low[g]:
                ends[g] = low[g]
            gains[g] = slope[g] * np.log(factors[g] / ends[g])
            if gains[g] > 1e-12:
                hopeful += 1
        order = np.argsort(-gains)
        improved = False
        length = 1.0  # of steps along the gradient, once the corners are no better
        while not improved and (hopeful > 0 or (polish and length > 0.01)):
            trial = factors.copy()
            if hopeful > 0:
                for p in range(hopeful):
                    trial[order[p]] = ends[order[p]]
                hopeful //= 2
            else:
                length *= 0.25
                steepest = np.abs(slope).max()
                for g in range(n_groups):
                    log_step = -slope[g] / (steepest + 1e-300) * length * np.log(high[g] / low[g])
                    trial[g] = min(max(factors[g] * np.exp(log_step), low[g]), high[g])
            start = multipliers.copy()
            weights, intercept, free, found = train(rows, 1 / trial[groups], start)
            tried_value = sign * ((weights * point).sum() + intercept)
            if found and tried_value < value - 1e-6 * (1 + abs(value)):
                factors[:] = trial
                multipliers[:] = start
                value = tried_value
                improved = True
        if not improved:
            break
    return value


@step
def _one_by_one(rows, span, point, sign, factors, multipliers, value, target):
    """Change one factor at a time, while that lowers the value: each SVM is near to the last one, and quickly trained."""
    low, high = span.low, span.high
    improved = True
    for _ in range(_SWEEPS):
        if not improved or value < target:
            break
        improved = False
        for g in range(len(low)):
            for way in range(6):
                old = factors[g]
                if way < 2:
                    new = low[g] if way == 0 else high[g]
                elif way < 4:
                    new = np.sqrt(old * low[g]) if way == 2 else np.sqrt(old * high[g])
                else:
                    new = old * _A_LITTLE if way == 4 else old / _A_LITTLE
                new = min(max(new, low[g]), high[g])
                if new == old:
                    continue
                factors[g] = new
                start = multipliers.copy()
                weights, intercept, _, found = train(rows, 1 / factors[span.groups], start)
                tried_value = sign * ((weights * point).sum() + intercept)
                if found and tried_value < value - 1e-6 * (1 + abs(value)):
                    value, improved = tried_value, True
                    multipliers[:] = start
                else:
                    factors[g] = old
    return value


@step
def _with_point(rows, point, label):
    """The rows and the point, which must have this label (a margin of 0, at any price)."""
    m, n = rows.features.shape
    features = np.empty((m + 1, n))
    features[:m], features[m] = rows.features, point
    labels, margins, caps = np.empty(m + 1), np.empty(m + 1), np.empty(m + 1)
    labels[:m], margins[:m], caps[:m] = rows.labels, rows.required_margins, rows.caps
    labels[m], margins[m], caps[m] = label, 0.0, np.inf
    return SvmRows(features, labels, margins, caps, 0.0)


@step
def _price(rows, with_point, span, point, sign, factors, multipliers, erring):
    """What the other label costs: by how much the best SVM that gives it to the point is worse than the SVM.

    Returns sign · decision value, the price (0 where that is negative, infinite where it is not found), and the price's
    derivative by the factor of each group. ``multipliers`` and ``erring`` are starts, and the answers.
    """
    inverse = 1 / factors[span.groups]
    weights, intercept, _, found = train(rows, inverse, multipliers)
    value = sign * ((weights * point).sum() + intercept)
    slope = np.zeros(len(factors))
    if not found or value < 0:
        return value, 0.0 if found else np.inf, slope
    erring_weights, _, _, found = train(with_point, inverse, erring)
    if not found:
        return value, np.inf, slope
    price = erring[: len(multipliers)].sum() - multipliers.sum()
    for j in range(len(span.groups)):
        half = 0.5 * (weights[j] ** 2 - erring_weights[j] ** 2)
        slope[span.groups[j]] -= half
        price += factors[span.groups[j]] * half
    return value, price, slope


@step
def _lower_price(rows, with_point, span, point, sign, factors, multipliers, erring):
    """Walk to corners of the box where the other label costs less, as ``descend`` does where its value is less.

    The price is smooth, and looks as far as the other label is: these walks end nearer to it than those by the value.
    """
    low, high = span.low, span.high
    n_groups = len(low)
    value, price, slope = _price(rows, with_point, span, point, sign, factors, multipliers, erring)
    while 0 < price < np.inf:
        ends = np.where(slope > 0, low, high)
        gains = slope * (factors - ends)
        order = np.argsort(-gains)
        hopeful = (gains > 1e-9 * gains.max()).sum()
        improved = False
        while hopeful > 0 and not improved:
            trial, start, erring_start = factors.copy(), multipliers.copy(), erring.copy()
            for p in range(min(hopeful, n_groups)):
                trial[order[p]] = ends[order[p]]
            tried_value, tried, tried_slope = _price(rows, with_point, span, point, sign, trial, start, erring_start)
            hopeful //= 2
            if tried < price * (1 - 1e-6):
                value, price, slope = tried_value, tried, tried_slope
                factors[:], multipliers[:], erring[:] = trial, start, erring_start
                improved = True
        if not improved:
            break
    return value, price


@step
def _turned_over(factors, low, high, movable, count, random):
    """The factors with a few of them at their other ends."""
    trial = factors.copy()
    for _ in range(count):
        g = movable[random.integers(0, len(movable))]
        trial[g] = low[g] if trial[g] > np.sqrt(low[g] * high[g]) else high[g]
    return trial


@entry
def search(rows, span, point, sign, factors, multipliers, target, restarts, polish, random):
    """``descend``, then again and again from the best corner so far with a few factors turned over.

    Where there is a price of the other label (not with a ν-margin), the restarts are led by it: from each corner where it
    is the least so far the walk goes on by the value. With ``polish`` the last walk goes along the gradient too.
    ``factors`` and ``multipliers`` become those of the least value, which is returned.
    """
    low, high = span.low, span.high
    at_corners, along_gradient = np.bool_(False), np.bool_(True)  # numba would compile once more for each literal
    given = multipliers.copy()
    best = descend(rows, span, point, sign, factors, multipliers, target, at_corners)
    if best == np.inf:
        multipliers[:] = given
    movable = np.flatnonzero(low < high)
    if len(movable) == 0:
        restarts = 0
    priced = rows.total == 0
    with_point = _with_point(rows, point, -sign)
    corner, start, erring, least = factors.copy(), multipliers.copy(), np.append(multipliers, 0.0), np.inf
    for k in range(restarts):
        if best < target:
            break
        if not priced:
            trial = _turned_over(factors, low, high, movable, 2 + random.integers(0, max(1, len(low) // 4)), random)
            trial_start = multipliers.copy()
            value = descend(rows, span, point, sign, trial, trial_start, target, at_corners)
        else:
            trial = _turned_over(corner, low, high, movable, 0 if k == 0 else 1 + random.integers(0, 4), random)
            trial_start, trial_erring = start.copy(), erring.copy()
            value, price = _lower_price(rows, with_point, span, point, sign, trial, trial_start, trial_erring)
            if price == np.inf and k == 0:
                priced = False
            if price >= least:
                continue
            corner, start, erring, least = trial.copy(), trial_start.copy(), trial_erring, price
            value = descend(rows, span, point, sign, trial, trial_start, target, along_gradient)
            if value < _NEARLY_BEST * best:
                value = _one_by_one(rows, span, point, sign, trial, trial_start, value, target)
        if value < best:
            best = value
            factors[:] = trial
            multipliers[:] = trial_start
    if polish and best >= target:
        best = descend(rows, span, point, sign, factors, multipliers, target, along_gradient)
        best = _one_by_one(rows, span, point, sign, factors, multipliers, best, target)
    return best
