"""Compiled work of the gap engine: plain SVMs, the search for a rescaling that flips a point, the best pair of a box.

One file, because numba's cache watches the entry point's file only. Rows are in one common unit, so that a rescaling is
τ_j in the user's own units; ``inverse`` is τ_j² = 1/d_j. Nothing here is trusted: whatever is found is checked elsewhere,
by the inequality of ``gap_leaf`` and in rationals.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# A multiple of the identity, relative to the largest diagonal entry: rows that depend on each other do no harm.
_RIDGE = 1e-12
_WIDE = 256
# When the relaxed classifier's conditions hold this well, the bound that it gives is believed: what is then given up as not
# settled is split, at no cost but time.
_SETTLED = 0.1
# Margins are right to this.
_MARGIN_ERROR = 1e-9


@njit(cache=True, error_model="numpy")
def _solved(system, right):
    """The solution of a linear system; nan where there is none."""
    try:
        return np.linalg.solve(system, right)
    except Exception:  # numba knows no other; singular, or not finite
        return np.full(len(right), np.nan)


@njit(cache=True, error_model="numpy")
def train(rows, labels, need, caps, inverse, multipliers):
    """The SVM of least ½ Σ w_j²/τ_j² + Σ c_i ξ_i with y_i (w·x_i + b) >= need_i - ξ_i, by an active-set method.

    ``multipliers`` (0 <= a_i <= caps_i, Σ a_i y_i = 0; of any other rescaling) are the start and become the answer.
    Returns the weights, the intercept, the rows that are strictly between their bounds, and whether it converged.
    """
    m, n = rows.shape
    # with many features all products at once are cheaper than those of each row that joins
    wide = n >= _WIDE
    gram = rows @ (rows * inverse).T if wide else np.empty((m, m))
    known = np.full(m, wide)
    member = np.zeros(m, np.bool_)
    free = np.empty(m, np.int64)
    count = 0
    gradient = np.zeros(n)
    for i in range(m):
        if multipliers[i] > 0:
            for j in range(n):
                gradient[j] += multipliers[i] * labels[i] * rows[i, j]
            if multipliers[i] < caps[i]:
                free[count] = i
                member[i] = True
                count += 1
    weights = inverse * gradient
    scores = rows @ weights
    intercept = 0.0
    for _ in range(50 + 20 * m):
        if count > 0:
            largest = 0.0
            for p in range(count):
                i = free[p]
                if not known[i]:
                    gram[i] = rows @ (inverse * rows[i])
                    known[i] = True
                largest = max(largest, gram[i, i])
            system = np.zeros((count + 1, count + 1))
            right = np.zeros(count + 1)
            for p in range(count):
                i = free[p]
                rest = scores[i]
                for q in range(count):
                    k = free[q]
                    system[p, q] = labels[i] * labels[k] * gram[i, k]
                    rest -= labels[k] * multipliers[k] * gram[i, k]
                system[p, p] += _RIDGE * largest + 1e-300
                system[p, count] = labels[i]
                system[count, p] = labels[i]
                right[p] = need[i] - labels[i] * rest
                right[count] += labels[i] * multipliers[i]
            found = _solved(system, right)
            if not np.isfinite(found).all():
                break
            for _ in range(3):  # what the ridge took from the margins is given back
                rest_of = right - system @ found
                rest_of[:count] += (_RIDGE * largest + 1e-300) * found[:count]
                if not np.abs(rest_of).max() > 0.1 * _MARGIN_ERROR:
                    break
                better = found + _solved(system, rest_of)
                if not np.isfinite(better).all():
                    break
                found = better
            step = 1.0
            blocking = -1
            for p in range(count):
                a = multipliers[free[p]]
                if found[p] < 0:
                    if a < step * (a - found[p]):
                        step = a / (a - found[p])
                        blocking = p
                elif found[p] > caps[free[p]] and caps[free[p]] - a < step * (found[p] - a):
                    step = (caps[free[p]] - a) / (found[p] - a)
                    blocking = p
            for p in range(count):
                i = free[p]
                change = step * (found[p] - multipliers[i])
                multipliers[i] += change
                if change != 0:
                    factor = change * labels[i]
                    for k in range(m):
                        scores[k] += factor * gram[i, k]
            if blocking >= 0:
                i = free[blocking]
                # the exact bound; what this changes in the scores is rounding
                multipliers[i] = 0.0 if found[blocking] < 0 else caps[i]
                member[i] = False
                count -= 1
                free[blocking] = free[count]
                continue
            intercept = found[count]
        joins = -1
        if count == 0:
            # no row is free: the most violating pair joins, or b is any number of an interval
            highest, lowest = -np.inf, np.inf
            first, second = -1, -1
            for i in range(m):
                bend = labels[i] * need[i] - scores[i]
                may_grow, may_shrink = multipliers[i] < caps[i], multipliers[i] > 0
                if (may_grow if labels[i] > 0 else may_shrink) and bend > highest:
                    highest, first = bend, i
                if (may_shrink if labels[i] > 0 else may_grow) and bend < lowest:
                    lowest, second = bend, i
            if first >= 0 and second >= 0 and highest - lowest > _MARGIN_ERROR:
                joins = first
                free[0] = second
                member[second] = True
                count = 1
            elif highest == -np.inf:
                intercept = lowest
            elif lowest == np.inf:
                intercept = highest
            else:
                intercept = (highest + lowest) / 2
        else:
            worst = _MARGIN_ERROR
            for i in range(m):
                if not member[i]:
                    slack = labels[i] * (scores[i] + intercept) - need[i]
                    wrong = slack if multipliers[i] > 0 else -slack
                    if wrong > worst:
                        worst, joins = wrong, i
        if joins >= 0:
            free[count] = joins
            member[joins] = True
            count += 1
            continue
        gradient[:] = 0.0
        for i in range(m):
            if multipliers[i] > 0:
                for j in range(n):
                    gradient[j] += multipliers[i] * labels[i] * rows[i, j]
        weights = inverse * gradient
        scores = rows @ weights
        # the scores were updated step by step; those of the weights themselves must say the same
        settled = True
        for i in range(m):
            slack = labels[i] * (scores[i] + intercept) - need[i]
            if not member[i] and (slack if multipliers[i] > 0 else -slack) > 2 * _MARGIN_ERROR:
                settled = False
        if settled:
            return weights, intercept, free[:count].copy(), True
    return weights, intercept, free[:count].copy(), False


@njit(cache=True, error_model="numpy")
def slopes(rows, labels, inverse, free, weights, point):
    """The derivative of the decision value of ``point`` by log d_j, while the rows between their bounds stay the same."""
    count = len(free)
    system = np.zeros((count + 1, count + 1))
    right = np.zeros(count + 1)
    residual = point.copy()
    if count == 0:
        return -residual * weights
    signed = np.empty((count, rows.shape[1]))
    for p in range(count):
        signed[p] = labels[free[p]] * rows[free[p]]
        system[p, count] = -labels[free[p]]
        system[count, p] = labels[free[p]]
    scaled = signed * inverse
    system[:count, :count] = scaled @ signed.T
    right[:count] = scaled @ point
    right[count] = 1.0
    largest = 0.0
    for p in range(count):
        largest = max(largest, system[p, p])
    for p in range(count):
        system[p, p] += _RIDGE * largest + 1e-300
    found = _solved(system, right)
    if not np.isfinite(found).all():
        return np.zeros(len(point))
    return -(residual - signed.T @ found[:count]) * weights


@njit(cache=True, error_model="numpy")
def descend(rows, labels, need, caps, groups, low, high, point, sign, factors, multipliers, target):
    """Walk from ``factors`` (one d a group) to corners of the box where sign · decision value is less, until < target.

    While the free rows stay, the value is monotone in each d. All features that would lower it go to their ends at once; if
    that does not help, the better half of them, and so on. ``factors`` and ``multipliers`` become those of the end.
    """
    n_groups = len(low)
    weights, intercept, free, _ = train(rows, labels, need, caps, 1 / factors[groups], multipliers)
    value = sign * ((weights * point).sum() + intercept)
    while value >= target:
        slope = np.zeros(n_groups)
        per_feature = slopes(rows, labels, 1 / factors[groups], free, weights, point)
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
        while hopeful > 0 and not improved:
            trial = factors.copy()
            for p in range(hopeful):
                trial[order[p]] = ends[order[p]]
            start = multipliers.copy()
            weights, intercept, free, _ = train(rows, labels, need, caps, 1 / trial[groups], start)
            reached = sign * ((weights * point).sum() + intercept)
            if reached < value - 1e-9 * (1 + abs(value)):
                factors[:] = trial
                multipliers[:] = start
                value = reached
                improved = True
            hopeful //= 2
        if not improved:
            break
    return value


@njit(cache=True, error_model="numpy")
def search(rows, labels, need, caps, groups, low, high, point, sign, factors, multipliers, target, restarts, random):
    """``descend``, and again from the best corner so far with a few factors turned over. Returns the least value."""
    n_groups = len(low)
    best = descend(rows, labels, need, caps, groups, low, high, point, sign, factors, multipliers, target)
    movable = np.flatnonzero(low < high)
    for _ in range(restarts):
        if best < target or len(movable) == 0:
            break
        trial = factors.copy()
        start = multipliers.copy()
        for _ in range(2 + random.integers(0, max(1, n_groups // 4))):
            g = movable[random.integers(0, len(movable))]
            trial[g] = low[g] if trial[g] > np.sqrt(low[g] * high[g]) else high[g]
        value = descend(rows, labels, need, caps, groups, low, high, point, sign, trial, start, target)
        if value < best:
            best = value
            factors[:] = trial
            multipliers[:] = start
    return best


@njit(cache=True, error_model="numpy")
def _losses(v, nu, low, high, groups, signs, at_low, at_high):
    """Σ (d v_j + ν_j)²/(4d) over each group at both ends of d; where the sign of w_j is given, only that side counts."""
    at_low[:] = 0.0
    at_high[:] = 0.0
    for j in range(len(v)):
        g = groups[j]
        x = low[g] * v[j] + nu[j]
        if signs[j] == 0 or signs[j] * x > 0:
            at_low[g] += x * x / (4 * low[g])
        x = high[g] * v[j] + nu[j]
        if signs[j] == 0 or signs[j] * x > 0:
            at_high[g] += x * x / (4 * high[g])


@njit(cache=True, error_model="numpy")
def _longest(step, values, changes):
    """The longest step, at most the given one, that leaves each positive value at least a fiftieth of what it is."""
    for k in range(len(values)):
        if changes[k] < 0 and values[k] < np.inf:
            step = min(step, -0.98 * values[k] / changes[k])
    return step


@njit(cache=True, error_model="numpy")
def _wide_step(signed, of_v, of_both, of_nu, row_weight, r_weight, v_pull, nu_pull, r_pull):
    """The Newton step of ``best_pair`` where there are more features than rows: v is eliminated, rows remain.

    Unknown are q = (weights of the rows' margins) times their steps, the step of r, and that of t, which has no second
    derivative of its own.
    """
    m, size = signed.shape
    n = size - 1
    rows = np.ascontiguousarray(signed[:, :n])
    y = np.ascontiguousarray(signed[:, n])
    inverse = 1 / (of_v[:n] + 1e-12)
    ratio = of_both[:n] * inverse
    mixed = (rows * ratio) @ rows.T
    system = np.zeros((2 * m + 1, 2 * m + 1))
    system[:m, :m] = (rows * inverse) @ rows.T
    system[:m, m : 2 * m] = mixed
    system[m : 2 * m, :m] = -mixed
    system[m : 2 * m, m : 2 * m] = (rows * (of_nu[:n] - of_both[:n] * ratio)) @ rows.T
    for i in range(m):
        system[i, i] += 1 / max(row_weight[i], 1e-30)
        system[i, 2 * m] = -y[i]
        system[2 * m, i] = y[i]
        for k in range(m):
            system[m + i, m + k] += of_nu[n] * y[i] * y[k]
        system[m + i, m + i] += r_weight[i]
    pulled = inverse * v_pull[:n]
    right = np.empty(2 * m + 1)
    right[:m] = -(rows @ pulled)
    right[m : 2 * m] = -r_pull - rows @ nu_pull[:n] - y * nu_pull[n] + rows @ (of_both[:n] * pulled)
    right[2 * m] = -v_pull[n]
    solved = _solved(system, right)
    v_step = np.empty(size)
    r_step = solved[m : 2 * m].copy()
    v_step[:n] = -pulled - inverse * (rows.T @ solved[:m]) - ratio * (rows.T @ r_step)
    v_step[n] = solved[2 * m]
    return v_step, r_step


@njit(cache=True, error_model="numpy")
def best_pair(signed, sign, groups, low, high, signs, caps, counts, fixed, floor, ceiling, v, r, iterations):
    """Maximise Σ r_i - Σ cost of the rows - Σ losses of the groups over (v, t) and r: the pair that best covers a box.

    An interior-point method (primal-dual, for the quadratic constraints s_g >= loss at either end). ``signed`` has the rows
    y_i (x_i - α, 1). ``counts`` says which rows' margins y_i (v·x_i + t) >= 1 count, with a penalty ``caps`` where that is
    finite; ``fixed`` rows have their multiplier at its cap, so that their cost is linear. ``floor`` < r < ``ceiling``.
    Starts from a strictly feasible ``v`` (with t last) and ``r``; stops when the value is positive, or clearly can't be.

    Returns the value, (v, t) and r that attain it, and of the classifier that the relaxation has in their place the weights
    and the gradients, how far each row is from complementarity (a_i times its slack), and how far each feature is from
    having one factor d (negative where its weight has one sign at one end of the range and the other at the other). The
    last two have the same sum, so that they can be compared.
    """
    m, size = signed.shape
    n = size - 1
    n_groups = len(low)
    soft = np.isfinite(caps[0])
    v = v.copy()
    r = r.copy()
    margins = signed @ v
    penalty = np.zeros(m)
    slack = np.ones(m)
    for i in range(m):
        if counts[i]:
            if soft:
                penalty[i] = max(0.0, 1 - margins[i]) + 0.1
            slack[i] = margins[i] - 1 + penalty[i]
        if penalty[i] <= 0:
            penalty[i] = 1.0
    nu = signed.T @ r
    balance = sign * nu[n]
    above = r - floor
    below = ceiling - r
    at_low, at_high = np.zeros(n_groups), np.zeros(n_groups)
    _losses(v[:n], nu, low, high, groups, signs, at_low, at_high)
    size_of_loss = at_low.sum() + at_high.sum()
    barrier = 0.15 * size_of_loss / n_groups + 1e-12
    total = np.maximum(at_low, at_high) + 2 * barrier
    gap_low, gap_high = total - at_low, total - at_high
    on_margin = np.where(counts, barrier / slack, 0.0)
    on_penalty = np.where(counts & soft, barrier / penalty, 0.0)
    on_floor = barrier / above
    on_ceiling = barrier / below  # zero where there is no ceiling
    on_balance = barrier / balance
    on_low, on_high = barrier / gap_low, barrier / gap_high
    n_constraints = 2 * n_groups + 1 + m + counts.sum() * (2 if soft else 1) + np.isfinite(ceiling).sum()
    wide = n > m and n_groups == n  # then a system of the size of the rows is the smaller one
    step = 1.0
    value = -np.inf
    best_v, best_r = v.copy(), r.copy()
    w, mu = np.zeros(size), np.zeros(size)
    row_weight, row_pull, penalty_pull = np.zeros(m), np.zeros(m), np.zeros(m)
    for _ in range(iterations):
        gap = (on_floor * above).sum() + on_balance * balance + (on_low * gap_low).sum() + (on_high * gap_high).sum()
        for i in range(m):
            if counts[i]:
                gap += on_margin[i] * slack[i]
                if soft:
                    gap += on_penalty[i] * penalty[i]
            if below[i] < np.inf:
                gap += on_ceiling[i] * below[i]
        target = gap / n_constraints / (10.0 if step > 0.6 else 3.0 if step > 0.2 else 1.0)
        for i in range(m):
            row_weight[i], row_pull[i] = 0.0, 0.0
            if counts[i]:
                pull = on_margin[i] / slack[i]
                row_weight[i], row_pull[i] = pull, -target / slack[i]
                if soft:
                    other = on_penalty[i] / penalty[i]
                    penalty_pull[i] = caps[i] - target / slack[i] - target / penalty[i]
                    row_weight[i] = pull * other / (pull + other)
                    row_pull[i] -= pull * penalty_pull[i] / (pull + other)
            elif fixed[i]:
                row_pull[i] = -caps[i]
        r_weight = on_floor / above + on_ceiling / below
        r_pull = -1 - target / above + target / below
        # the second derivatives by (v_j, ν_j), feature by feature; what couples the features of a group follows
        of_v, of_both, of_nu = np.zeros(size), np.zeros(size), np.zeros(size)
        v_pull, nu_pull = signed.T @ row_pull, np.zeros(size)
        pull_low, pull_high = on_low / gap_low, on_high / gap_high
        both = pull_low + pull_high
        total_pull = 1 - target / gap_low - target / gap_high
        slope_low, slope_high = np.zeros((2, n)), np.zeros((2, n))
        for j in range(n):
            g = groups[j]
            x = (low[g] * v[j] + nu[j]) / 2
            keep_low = signs[j] == 0 or signs[j] * x > 0
            if keep_low:
                slope_low[0, j], slope_low[1, j] = x, x / low[g]
            x = (high[g] * v[j] + nu[j]) / 2
            keep_high = signs[j] == 0 or signs[j] * x > 0
            if keep_high:
                slope_high[0, j], slope_high[1, j] = x, x / high[g]
            a, b = on_low[g] / 2 * keep_low, on_high[g] / 2 * keep_high
            of_v[j] = a * low[g] + b * high[g]
            of_both[j] = a + b
            of_nu[j] = a / low[g] + b / high[g]
            a = target / gap_low[g] + pull_low[g] * total_pull[g] / both[g]
            b = target / gap_high[g] + pull_high[g] * total_pull[g] / both[g]
            v_pull[j] += a * slope_low[0, j] + b * slope_high[0, j]
            nu_pull[j] += a * slope_low[1, j] + b * slope_high[1, j]
        common = pull_low * pull_high / both
        turn = slope_low - slope_high
        if n_groups == n:
            for j in range(n):
                c = common[groups[j]]
                of_v[j] += c * turn[0, j] ** 2
                of_both[j] += c * turn[0, j] * turn[1, j]
                of_nu[j] += c * turn[1, j] ** 2
        of_nu[n] = on_balance / balance
        nu_pull[n] -= sign * target / balance
        if wide:
            v_step, r_step = _wide_step(signed, of_v, of_both, of_nu, row_weight, r_weight, v_pull, nu_pull, r_pull)
        else:
            weighted, divided = np.empty((m, size)), np.empty((m, size))
            for i in range(m):
                for j in range(size):
                    weighted[i, j] = row_weight[i] * signed[i, j]
                    divided[i, j] = signed[i, j] / r_weight[i]
            first = signed.T @ weighted + np.diag(of_v)
            spread = signed.T @ divided
            cross, second = np.diag(of_both), np.diag(of_nu)
            if n_groups < n:
                for j in range(n):
                    for k in range(n):
                        if groups[j] == groups[k]:
                            c = common[groups[j]]
                            first[j, k] += c * turn[0, j] * turn[0, k]
                            cross[j, k] += c * turn[0, j] * turn[1, k]
                            second[j, k] += c * turn[1, j] * turn[1, k]
            system = np.empty((2 * size, 2 * size))
            system[:size, :size] = first
            system[:size, size:] = cross
            system[size:, :size] = spread @ cross.T
            system[size:, size:] = spread @ second
            for j in range(size):
                system[j, j] += 1e-12 * (1 + first[j, j])
                system[size + j, size + j] += 1.0
            right = np.empty(2 * size)
            right[:size] = -v_pull
            right[size:] = -(divided.T @ r_pull) - spread @ nu_pull
            solved = _solved(system, right)
            v_step = solved[:size]
            r_step = -(r_pull + signed @ (cross.T @ v_step + second @ solved[size:] + nu_pull)) / r_weight
        if not (np.isfinite(v_step).all() and np.isfinite(r_step).all()):
            break
        margin_step = signed @ v_step
        nu_step = signed.T @ r_step
        slack_step, penalty_step = np.zeros(m), np.zeros(m)
        for i in range(m):
            if counts[i]:
                slack_step[i] = margin_step[i]
                if soft:
                    pull, other = on_margin[i] / slack[i], on_penalty[i] / penalty[i]
                    penalty_step[i] = (-penalty_pull[i] - pull * margin_step[i]) / (pull + other)
                    slack_step[i] += penalty_step[i]
        total_step = -total_pull
        low_step, high_step = np.zeros(n_groups), np.zeros(n_groups)
        for j in range(n):
            g = groups[j]
            low_step[g] += slope_low[0, j] * v_step[j] + slope_low[1, j] * nu_step[j]
            high_step[g] += slope_high[0, j] * v_step[j] + slope_high[1, j] * nu_step[j]
        total_step = (total_step + pull_low * low_step + pull_high * high_step) / both
        low_step, high_step = total_step - low_step, total_step - high_step
        balance_step = sign * nu_step[n]
        # the multipliers' own steps
        margin_change = -on_margin + np.where(counts, (target - on_margin * slack_step) / slack, 0.0)
        penalty_change = -on_penalty + np.where(counts & soft, (target - on_penalty * penalty_step) / penalty, 0.0)
        floor_change = -on_floor + (target - on_floor * r_step) / above
        ceiling_change = -on_ceiling + (target + on_ceiling * r_step) / below
        balance_change = -on_balance + (target - on_balance * balance_step) / balance
        low_change = -on_low + (target - on_low * low_step) / gap_low
        high_change = -on_high + (target - on_high * high_step) / gap_high
        step = _longest(1.0, slack, slack_step)
        step = _longest(step, on_margin, margin_change)
        step = _longest(step, penalty, penalty_step)
        step = _longest(step, on_penalty, penalty_change)
        step = _longest(step, above, r_step)
        step = _longest(step, below, -r_step)
        step = _longest(step, on_floor, floor_change)
        step = _longest(step, on_ceiling, ceiling_change)
        step = _longest(step, on_low, low_change)
        step = _longest(step, on_high, high_change)
        if balance_step < 0:
            step = min(step, -0.98 * balance / balance_step)
        if balance_change < 0:
            step = min(step, -0.98 * on_balance / balance_change)
        for _ in range(40):
            _losses(v[:n] + step * v_step[:n], nu + step * nu_step, low, high, groups, signs, at_low, at_high)
            moved = total + step * total_step
            inside = True
            for g in range(n_groups):
                if moved[g] - at_low[g] <= 0.02 * gap_low[g] or moved[g] - at_high[g] <= 0.02 * gap_high[g]:
                    inside = False
            if inside:
                break
            step *= 0.8
        if not inside:
            break
        v += step * v_step
        r += step * r_step
        nu += step * nu_step
        margins += step * margin_step
        slack += step * slack_step
        penalty += step * penalty_step
        above += step * r_step
        below -= step * r_step
        balance += step * balance_step
        total = moved
        gap_low, gap_high = total - at_low, total - at_high
        on_margin += step * margin_change
        on_penalty += step * penalty_change
        on_floor += step * floor_change
        on_ceiling += step * ceiling_change
        on_balance += step * balance_change
        on_low += step * low_change
        on_high += step * high_change
        # the value of what there is now, and the relaxed classifier that bounds it
        now = r.sum()
        for g in range(n_groups):
            now -= max(at_low[g], at_high[g])
        smooth = r.sum() - total.sum()
        for i in range(m):
            if counts[i] and soft:
                now -= caps[i] * max(0.0, 1 - margins[i])
                smooth -= caps[i] * penalty[i]
            elif fixed[i]:
                now -= caps[i] * (1 - margins[i])
                smooth -= caps[i] * (1 - margins[i])
        if now > value:
            value = now
            best_v[:] = v
            best_r[:] = r
        size_of_loss = np.maximum(at_low, at_high).sum()
        gap = (on_floor * above).sum() + on_balance * balance + (on_low * gap_low).sum() + (on_high * gap_high).sum()
        for i in range(m):
            if counts[i]:
                gap += on_margin[i] * slack[i]
                if soft:
                    gap += on_penalty[i] * penalty[i]
            if below[i] < np.inf:
                gap += on_ceiling[i] * below[i]
        for j in range(n):
            g = groups[j]
            x = low[g] * v[j] + nu[j]
            z = high[g] * v[j] + nu[j]
            x = x if signs[j] == 0 or signs[j] * x > 0 else 0.0
            z = z if signs[j] == 0 or signs[j] * z > 0 else 0.0
            mu[j] = (on_low[g] * x + on_high[g] * z) / 2
            w[j] = (on_low[g] * x / low[g] + on_high[g] * z / high[g]) / 2
        w[n] = -sign * on_balance
        if value > 1e-7 * size_of_loss:
            break
        gradient = -mu
        for i in range(m):
            a = on_margin[i] if counts[i] else caps[i] if fixed[i] else 0.0
            for j in range(size):
                gradient[j] += a * signed[i, j]
        error = np.abs(signed @ w - 1 - on_floor + on_ceiling).max()
        settled = (
            step > 0.3
            and np.abs(gradient).max() < _SETTLED * np.abs(mu).max()
            and error < _SETTLED
            and np.abs(1 - on_low - on_high).max() < _SETTLED
        )
        if settled and smooth + gap < 0 and gap < 0.3 * abs(smooth + gap):
            break
        if gap < 1e-9 * size_of_loss:
            break
    of_rows = np.where(counts, on_margin * on_floor + on_penalty * on_ceiling, 0.0)
    of_features = np.zeros(n)
    for j in range(n):
        g = groups[j]
        x = (v[j] + nu[j] / low[g]) / 2
        z = (v[j] + nu[j] / high[g]) / 2
        x = x if signs[j] == 0 or signs[j] * x > 0 else 0.0
        z = z if signs[j] == 0 or signs[j] * z > 0 else 0.0
        of_features[j] = on_low[g] * on_high[g] * (x - z) * (high[g] * z - low[g] * x)
    return value, best_v, best_r, w[:n].copy(), mu[:n].copy(), of_rows, of_features
