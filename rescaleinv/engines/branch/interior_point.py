"""Compiled: the pair that best settles a part of the range, by an interior-point method (primal-dual).

Nothing here is trusted: the inequality of ``leaves`` is computed again from the pair that is found.

All conditions that are inequalities are kept in one vector, with one multiplier each, in the order of ``_sections``: the
margins of the rows, their penalties, the lower and the upper bounds of r, the balance of r and its sum, and that the
epigraph variable of each group is above its loss at the lower and at the upper end of its range.

With a ν-margin the margin that all rows must have is a variable: v has it as its last entry, rows have a last column of -1,
and r must add up to a given total. So it is in a part of relative factors, where r need not add up to anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescaleinv._util.compiled import entry, step

# numba's cache watches the file of the entry point only: after a change of ``solve_or_nan``, touch this file too.
from rescaleinv.engines.branch.svm_kernel import solve_or_nan

# When the relaxed classifier's conditions hold this well, the bound that it gives is believed: what is then given up as not
# settled is split, at no cost but time.
_SETTLED = 0.1
# A step leaves every condition at least this share of its slack.
_KEPT = 0.02
# Where parts of the part start must not be near the end: the last iterate whose gap was this many times the value.
_EARLY = 2.0
# Its conditions may be off the centre by this factor.
_CENTRED = 1000.0
# A part whose bound is negative is given up when the gap is this share of it.
_HOPELESS = 0.6


class Rows(NamedTuple):
    """The rows y_i (x_i - α, 1) with their penalties, and what a part of the range says of them.

    ``counts``: the margin y_i (v·x_i + t) >= 1 counts, with a penalty ``caps`` where that is finite. ``fixed``: the
    multiplier is at its cap, so that the cost is linear. The r of a row is between ``floor`` and ``ceiling``. ``total``:
    what multipliers add up to where the margin that rows must have is a variable (else 0; ``required`` is 1, otherwise 0).
    ``reward``: 1 where Σ r_i counts as a gain; 0 with a ν-margin, where r must at least add up to the total instead.
    """

    signed: np.ndarray
    caps: np.ndarray
    counts: np.ndarray
    fixed: np.ndarray
    floor: np.ndarray
    ceiling: np.ndarray
    total: float
    required: float
    reward: float


class Box(NamedTuple):
    """The group of each feature, the ends of the range of each group's d, and the signs of the weights where given."""

    groups: np.ndarray
    low: np.ndarray
    high: np.ndarray
    signs: np.ndarray


class Iterate(NamedTuple):
    """Where the method is: v (with t last), r, the groups' epigraph variables, all conditions and their multipliers."""

    v: np.ndarray
    r: np.ndarray
    total: np.ndarray
    values: np.ndarray
    duals: np.ndarray


class Curvature(NamedTuple):
    """The barrier's second derivatives by (v_j, ν_j), one array entry per column: features, intercept, the ν-margin's.

    ``common`` (per group) times the products of ``turn`` (per feature) couples the features of a group.
    """

    of_v: np.ndarray
    of_both: np.ndarray
    of_nu: np.ndarray
    common: np.ndarray
    turn: np.ndarray


class Slopes(NamedTuple):
    """Derivatives of a group's loss by (v_j, ν_j) at both ends of its range, and the pull on the epigraph variable."""

    at_low: np.ndarray
    at_high: np.ndarray
    total_pull: np.ndarray


class BestPair(NamedTuple):
    """What ``best_pair`` found.

    ``value`` is attained by ``v`` (with t last) and ``r``. ``weights`` and ``gradients`` are of the classifier that the
    relaxation has in their place. ``of_rows`` says how far each row is from complementarity (a_i times its slack),
    ``of_features`` how far each feature is from having one factor d (negative where its weight has one sign at one end of
    the range and the other at the other). The last two have the same sum, so that they can be compared. ``bound`` is
    above all values of the part, as far as the method converged. ``iterate`` is where parts of the part begin.
    """

    value: float
    v: np.ndarray
    r: np.ndarray
    weights: np.ndarray
    gradients: np.ndarray
    of_rows: np.ndarray
    of_features: np.ndarray
    bound: float
    iterate: Iterate


@step
def _ends(box, j, v, nu):
    """(d v_j + ν_j) at both ends of the range of d; 0 where the weight's given sign is the other one."""
    g = box.groups[j]
    x = box.low[g] * v + nu
    z = box.high[g] * v + nu
    sign = box.signs[j]
    if sign != 0:
        x = x if sign * x > 0 else 0.0
        z = z if sign * z > 0 else 0.0
    return x, z


@step
def _losses(box, v, nu, at_low, at_high):
    """Σ (d v_j + ν_j)²/(4d) over each group at both ends of d."""
    at_low[:] = 0.0
    at_high[:] = 0.0
    for j in range(len(box.groups)):
        g = box.groups[j]
        x, z = _ends(box, j, v[j], nu[j])
        at_low[g] += x * x / (4 * box.low[g])
        at_high[g] += z * z / (4 * box.high[g])


@step
def _sections(m, n_groups):
    """Where in the vector of conditions those on penalties, floors, ceilings, balance and sum, low and high ends begin."""
    return m, 2 * m, 3 * m, 4 * m, 4 * m + 2, 4 * m + 2 + n_groups


@step
def _longest_step(values, changes, active):
    """The longest step up to 1 that leaves each positive value at least ``_KEPT`` of what it is."""
    step = 1.0
    for k in range(len(values)):
        if active[k] and changes[k] < 0:
            step = min(step, -(1 - _KEPT) * values[k] / changes[k])
    return step


@entry
def first_iterate(rows, box, sign, v, r):
    """Where the method starts: from a strictly feasible ``v`` (with t last) and ``r``, all conditions equally far off."""
    m, n = len(rows.caps), len(box.groups)
    n_groups = len(box.low)
    soft = np.isfinite(rows.caps[0])
    penalties, floors, ceilings, balance, lows, highs = _sections(m, n_groups)
    values = np.ones(highs + n_groups)
    margins = rows.signed @ v
    nu = rows.signed.T @ r
    for i in range(m):
        if rows.counts[i]:
            penalty = max(0.0, rows.required - margins[i]) + 0.1 if soft else 0.0
            values[i] = margins[i] - rows.required + penalty
            if soft:
                values[penalties + i] = penalty
        values[floors + i] = r[i] - rows.floor[i]
        if rows.ceiling[i] < np.inf:
            values[ceilings + i] = rows.ceiling[i] - r[i]
    if sign != 0:
        values[balance] = sign * nu[n]
    if rows.reward == 0:
        values[balance + 1] = r.sum() - rows.total
    at_low, at_high = np.zeros(n_groups), np.zeros(n_groups)
    _losses(box, v, nu, at_low, at_high)
    barrier = 0.15 * (at_low.sum() + at_high.sum()) / n_groups + 1e-12
    total = np.maximum(at_low, at_high) + 2 * barrier
    values[lows:highs] = total - at_low
    values[highs:] = total - at_high
    return Iterate(v.copy(), r.copy(), total, values, np.where(_active(rows, sign, n_groups), barrier / values, 0.0))


@step
def _active(rows, sign, n_groups):
    """Which of the conditions there are; where the sign is 0, r need not pull to either side."""
    m = len(rows.caps)
    soft = np.isfinite(rows.caps[0])
    penalties, _, ceilings, balance, _, highs = _sections(m, n_groups)
    active = np.ones(highs + n_groups, np.bool_)
    active[balance] = sign != 0
    active[balance + 1] = rows.reward == 0
    for i in range(m):
        active[i] = rows.counts[i]
        active[penalties + i] = rows.counts[i] and soft
        active[ceilings + i] = rows.ceiling[i] < np.inf
    return active


@step
def _inherited(rows, box, iterate, nu, active):
    """An iterate of a larger part as one of this part: strictly feasible there too, as every condition is only weaker.

    What was far from its bound and is further now keeps its multiplier within reason.
    """
    m, n_groups = len(rows.caps), len(box.low)
    _, floors, ceilings, _, lows, highs = _sections(m, n_groups)
    v, r, total = iterate.v.copy(), iterate.r.copy(), iterate.total.copy()
    values, duals = iterate.values.copy(), iterate.duals.copy()
    centre = (values * duals).sum() / active.sum()
    for i in range(m):
        values[floors + i] = r[i] - rows.floor[i]
        if rows.ceiling[i] < np.inf:
            values[ceilings + i] = rows.ceiling[i] - r[i]
    at_low, at_high = np.zeros(n_groups), np.zeros(n_groups)
    _losses(box, v, nu, at_low, at_high)
    values[lows:highs] = total - at_low
    values[highs:] = total - at_high
    for k in range(len(values)):
        if not active[k]:
            values[k], duals[k] = 1.0, 0.0
        else:
            duals[k] = min(max(duals[k], centre / _CENTRED / values[k]), _CENTRED * centre / values[k])
    return v, r, total, values, duals


@step
def _derivatives_of_losses(box, v, nu, values, duals, target, v_pull, nu_pull):
    """The losses' part of the Newton system; the pulls are added to ``v_pull`` and ``nu_pull``."""
    n, n_groups = len(box.groups), len(box.low)
    lows = len(values) - 2 * n_groups
    gap_low, gap_high = values[lows : lows + n_groups], values[lows + n_groups :]
    on_low, on_high = duals[lows : lows + n_groups], duals[lows + n_groups :]
    of_v, of_both, of_nu = np.zeros(len(v)), np.zeros(len(v)), np.zeros(len(v))
    pull_low, pull_high = on_low / gap_low, on_high / gap_high
    both = pull_low + pull_high
    total_pull = 1 - target / gap_low - target / gap_high
    at_low, at_high = np.zeros((2, n)), np.zeros((2, n))
    for j in range(n):
        g = box.groups[j]
        x, z = _ends(box, j, v[j], nu[j])
        at_low[0, j], at_low[1, j] = x / 2, x / (2 * box.low[g])
        at_high[0, j], at_high[1, j] = z / 2, z / (2 * box.high[g])
        free = box.signs[j] == 0
        a = on_low[g] / 2 if free or x != 0 else 0.0
        b = on_high[g] / 2 if free or z != 0 else 0.0
        of_v[j] = a * box.low[g] + b * box.high[g]
        of_both[j] = a + b
        of_nu[j] = a / box.low[g] + b / box.high[g]
        a = target / gap_low[g] + pull_low[g] * total_pull[g] / both[g]
        b = target / gap_high[g] + pull_high[g] * total_pull[g] / both[g]
        v_pull[j] += a * at_low[0, j] + b * at_high[0, j]
        nu_pull[j] += a * at_low[1, j] + b * at_high[1, j]
    common, turn = pull_low * pull_high / both, at_low - at_high
    if n_groups == n:
        for j in range(n):
            c = common[box.groups[j]]
            of_v[j] += c * turn[0, j] ** 2
            of_both[j] += c * turn[0, j] * turn[1, j]
            of_nu[j] += c * turn[1, j] ** 2
    return Curvature(of_v, of_both, of_nu, common, turn), Slopes(at_low, at_high, total_pull)


@step
def _step_by_features(signed, groups, curvature, row_weight, r_weight, v_pull, nu_pull, r_pull):
    """The Newton step with a system of twice the features: r is eliminated."""
    m, size = signed.shape
    n = len(groups)
    weighted, divided = np.empty((m, size)), np.empty((m, size))
    for i in range(m):
        for j in range(size):
            weighted[i, j] = row_weight[i] * signed[i, j]
            divided[i, j] = signed[i, j] / r_weight[i]
    first = signed.T @ weighted + np.diag(curvature.of_v)
    spread = signed.T @ divided
    cross, second = np.diag(curvature.of_both), np.diag(curvature.of_nu)
    if len(curvature.common) < n:
        turn = curvature.turn
        for j in range(n):
            for k in range(n):
                if groups[j] == groups[k]:
                    c = curvature.common[groups[j]]
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
    solved = solve_or_nan(system, right)
    v_step = solved[:size].copy()
    r_step = -(r_pull + signed @ (cross.T @ v_step + second @ solved[size:] + nu_pull)) / r_weight
    return v_step, r_step


@step
def _step_by_rows(signed, n, curvature, row_weight, r_weight, v_pull, nu_pull, r_pull):
    """The Newton step where there are more features than rows: v is eliminated, rows remain.

    Unknown are q = (weights of the rows' margins) times their steps, the step of r, and those of the last columns, which
    have no second derivatives of their own.
    """
    m, size = signed.shape
    rows = np.ascontiguousarray(signed[:, :n])
    last = np.ascontiguousarray(signed[:, n:])
    inverse = 1 / (curvature.of_v[:n] + 1e-12)
    of_both, of_nu = curvature.of_both, curvature.of_nu
    ratio = of_both[:n] * inverse
    mixed = (rows * ratio) @ rows.T
    system = np.zeros((2 * m + size - n, 2 * m + size - n))
    system[:m, :m] = (rows * inverse) @ rows.T
    system[:m, m : 2 * m] = mixed
    system[m : 2 * m, :m] = -mixed
    system[m : 2 * m, m : 2 * m] = (rows * (of_nu[:n] - of_both[:n] * ratio)) @ rows.T
    system[m : 2 * m, m : 2 * m] += (last * of_nu[n:]) @ last.T
    system[:m, 2 * m :] = -last
    system[2 * m :, :m] = last.T
    for i in range(m):
        system[i, i] += 1 / max(row_weight[i], 1e-30)
        system[m + i, m + i] += r_weight[i]
    pulled = inverse * v_pull[:n]
    right = np.empty(2 * m + size - n)
    right[:m] = -(rows @ pulled)
    right[m : 2 * m] = -r_pull - rows @ nu_pull[:n] - last @ nu_pull[n:] + rows @ (of_both[:n] * pulled)
    right[2 * m :] = -v_pull[n:]
    solved = solve_or_nan(system, right)
    v_step = np.empty(size)
    r_step = solved[m : 2 * m].copy()
    v_step[:n] = -pulled - inverse * (rows.T @ solved[:m]) - ratio * (rows.T @ r_step)
    v_step[n:] = solved[2 * m :]
    return v_step, r_step


@step
def _step(rows, box, sign, v, nu, values, duals, target):
    """The Newton steps of v, r, ν, of the values of all conditions, and of the epigraph variables."""
    m, size = rows.signed.shape
    n, n_groups = len(box.groups), len(box.low)
    soft = np.isfinite(rows.caps[0])
    penalties, floors, ceilings, balance, lows, highs = _sections(m, n_groups)
    row_weight, row_pull, penalty_pull = np.zeros(m), np.zeros(m), np.zeros(m)
    r_weight, r_pull = np.empty(m), np.empty(m)
    for i in range(m):
        if rows.counts[i]:
            pull = duals[i] / values[i]
            row_weight[i], row_pull[i] = pull, -target / values[i]
            if soft:
                other = duals[penalties + i] / values[penalties + i]
                penalty_pull[i] = rows.caps[i] - target / values[i] - target / values[penalties + i]
                row_weight[i] = pull * other / (pull + other)
                row_pull[i] -= pull * penalty_pull[i] / (pull + other)
        elif rows.fixed[i]:
            row_pull[i] = -rows.caps[i]
        above, below = values[floors + i], values[ceilings + i]
        r_weight[i] = duals[floors + i] / above + duals[ceilings + i] / below
        r_pull[i] = -rows.reward - target / above + (target / below if rows.ceiling[i] < np.inf else 0.0)
    v_pull, nu_pull = rows.signed.T @ row_pull, np.zeros(size)
    curvature, slopes = _derivatives_of_losses(box, v, nu, values, duals, target, v_pull, nu_pull)
    curvature.of_nu[n] = duals[balance] / values[balance]
    nu_pull[n] -= sign * target / values[balance]
    if rows.reward == 0:
        curvature.of_nu[n + 1] = duals[balance + 1] / values[balance + 1]
        nu_pull[n + 1] += target / values[balance + 1]
    if rows.total > 0:
        v_pull[n + 1] -= rows.total
    if n > m and n_groups == n:  # then a system of the size of the rows is the smaller one
        v_step, r_step = _step_by_rows(rows.signed, n, curvature, row_weight, r_weight, v_pull, nu_pull, r_pull)
    else:
        v_step, r_step = _step_by_features(
            rows.signed, box.groups, curvature, row_weight, r_weight, v_pull, nu_pull, r_pull
        )
    nu_step = rows.signed.T @ r_step
    changes = np.zeros(len(values))
    margin_step = rows.signed @ v_step
    for i in range(m):
        if rows.counts[i]:
            changes[i] = margin_step[i]
            if soft:
                pull, other = duals[i] / values[i], duals[penalties + i] / values[penalties + i]
                changes[penalties + i] = (-penalty_pull[i] - pull * margin_step[i]) / (pull + other)
                changes[i] += changes[penalties + i]
        changes[floors + i] = r_step[i]
        if rows.ceiling[i] < np.inf:
            changes[ceilings + i] = -r_step[i]
    changes[balance] = sign * nu_step[n]
    if rows.reward == 0:
        changes[balance + 1] = -nu_step[n + 1]
    low_step, high_step = np.zeros(n_groups), np.zeros(n_groups)
    for j in range(n):
        g = box.groups[j]
        low_step[g] += slopes.at_low[0, j] * v_step[j] + slopes.at_low[1, j] * nu_step[j]
        high_step[g] += slopes.at_high[0, j] * v_step[j] + slopes.at_high[1, j] * nu_step[j]
    pull_low, pull_high = duals[lows:highs] / values[lows:highs], duals[highs:] / values[highs:]
    total_step = (-slopes.total_pull + pull_low * low_step + pull_high * high_step) / (pull_low + pull_high)
    changes[lows:highs] = total_step - low_step
    changes[highs:] = total_step - high_step
    return v_step, r_step, nu_step, changes, total_step


@step
def _inside(box, v, nu, total, values, at_low, at_high):
    """Whether the losses, which are not linear, leave their conditions ``_KEPT`` of their slack; ``at_*`` become them."""
    _losses(box, v, nu, at_low, at_high)
    n_groups = len(box.low)
    lows = len(values) - 2 * n_groups
    for g in range(n_groups):
        if total[g] - at_low[g] <= _KEPT * values[lows + g]:
            return False
        if total[g] - at_high[g] <= _KEPT * values[lows + n_groups + g]:
            return False
    return True


@step
def _relaxed_classifier(box, v, nu, on_low, on_high, weights, gradients):
    for j in range(len(box.groups)):
        g = box.groups[j]
        x, z = _ends(box, j, v[j], nu[j])
        gradients[j] = (on_low[g] * x + on_high[g] * z) / 2
        weights[j] = (on_low[g] * x / box.low[g] + on_high[g] * z / box.high[g]) / 2


@step
def _settled(rows, weights, gradients, duals, n_groups):
    """Whether the relaxed classifier's own conditions hold well enough for its bound to be believed."""
    m, size = rows.signed.shape
    _, floors, ceilings, _, lows, highs = _sections(m, n_groups)
    rest = -gradients
    scores = rows.signed @ weights
    error = 0.0
    for i in range(m):
        a = duals[i] if rows.counts[i] else rows.caps[i] if rows.fixed[i] else 0.0
        if a != 0:
            for j in range(size):
                rest[j] += a * rows.signed[i, j]
        error = max(error, abs(scores[i] - rows.reward - duals[floors + i] + duals[ceilings + i]))
    return (
        error < _SETTLED * max(1.0, np.abs(scores).max())
        and np.abs(rest).max() < _SETTLED * np.abs(gradients).max()
        and np.abs(1 - duals[lows:highs] - duals[highs:]).max() < _SETTLED
    )


@step
def _looseness(rows, box, v, nu, duals):
    """``of_rows`` and ``of_features`` of a ``BestPair``."""
    m, n_groups = len(rows.caps), len(box.low)
    penalties, floors, ceilings, _, lows, highs = _sections(m, n_groups)
    of_rows, of_features = np.zeros(m), np.zeros(len(box.groups))
    for i in range(m):
        if rows.counts[i]:
            of_rows[i] = duals[i] * duals[floors + i] + duals[penalties + i] * duals[ceilings + i]
    for j in range(len(box.groups)):
        g = box.groups[j]
        x, z = _ends(box, j, v[j], nu[j])
        x, z = x / (2 * box.low[g]), z / (2 * box.high[g])
        of_features[j] = duals[lows + g] * duals[highs + g] * (x - z) * (box.high[g] * z - box.low[g] * x)
    return of_rows, of_features


@entry
def best_pair(rows, box, sign, iterate, iterations):
    """Maximise Σ r_i - Σ cost of the rows - Σ losses of the groups over (v, t) and r: the pair that best covers a part.

    With a ν-margin total times the last entry of v takes the place of Σ r_i; with relative factors, where that is the margin
    that rows must have too, total times what it exceeds 1 by is added.

    Starts from an iterate of this part or of a larger one; stops when the value is positive, or clearly can't be.
    """
    m, size = rows.signed.shape
    n, n_groups = len(box.groups), len(box.low)
    soft = np.isfinite(rows.caps[0])
    penalties, _, _, balance, lows, highs = _sections(m, n_groups)
    active = _active(rows, sign, n_groups)
    n_active = active.sum()
    nu = rows.signed.T @ iterate.r
    v, r, total, values, duals = _inherited(rows, box, iterate, nu, active)
    margins = rows.signed @ v
    step, value, bound = 1.0, -np.inf, np.inf
    best_v, best_r = v.copy(), r.copy()
    weights, gradients = np.zeros(size), np.zeros(size)
    at_low, at_high = np.zeros(n_groups), np.zeros(n_groups)
    gap = (values * duals).sum()
    kept = Iterate(v.copy(), r.copy(), total.copy(), values.copy(), duals.copy())
    for _ in range(iterations):
        target = gap / n_active / (5.0 if step > 0.6 else 2.0 if step > 0.2 else 1.0)
        v_step, r_step, nu_step, changes, total_step = _step(rows, box, sign, v, nu, values, duals, target)
        if not (np.isfinite(v_step).all() and np.isfinite(r_step).all()):
            break
        dual_changes = np.where(active, -duals + (target - duals * changes) / values, 0.0)
        step = min(_longest_step(values, changes, active), _longest_step(duals, dual_changes, active))
        inside = False
        for _ in range(40):
            inside = _inside(
                box, v + step * v_step, nu + step * nu_step, total + step * total_step, values, at_low, at_high
            )
            if inside:
                break
            step *= 0.8
        if not inside:
            break
        v += step * v_step
        r += step * r_step
        nu += step * nu_step
        total += step * total_step
        values += step * changes
        values[lows:highs] = total - at_low
        values[highs:] = total - at_high
        duals += step * dual_changes
        # the value of what there is now, and the bound by the relaxed classifier
        margins = rows.signed @ v
        losses = np.maximum(at_low, at_high).sum()
        gain = rows.reward * r.sum()
        if rows.total > 0:
            gain += rows.total * (v[size - 1] - rows.reward)
        now, smooth = gain - losses, gain - total.sum()
        for i in range(m):
            if rows.counts[i] and soft:
                now -= rows.caps[i] * max(0.0, rows.required - margins[i])
                smooth -= rows.caps[i] * values[penalties + i]
            elif rows.fixed[i]:
                now -= rows.caps[i] * (rows.required - margins[i])
                smooth -= rows.caps[i] * (rows.required - margins[i])
        if now > value:
            value = now
            best_v[:] = v
            best_r[:] = r
        gap = (values * duals).sum()
        bound = smooth + gap
        if gap > _EARLY * abs(now):
            kept = Iterate(v.copy(), r.copy(), total.copy(), values.copy(), duals.copy())
        _relaxed_classifier(box, v, nu, duals[lows:highs], duals[highs:], weights, gradients)
        weights[n] = -sign * duals[balance]
        if rows.total > 0:
            weights[n + 1], gradients[n + 1] = duals[balance + 1], -rows.total
        if value > 1e-7 * losses or gap < 1e-9 * losses:
            break
        if (
            bound < 0
            and gap < _HOPELESS * -bound
            and step > 0.1
            and _settled(rows, weights, gradients, duals, n_groups)
        ):
            break
    of_rows, of_features = _looseness(rows, box, v, nu, duals)
    return BestPair(value, best_v, best_r, weights[:n].copy(), gradients[:n].copy(), of_rows, of_features, bound, kept)
