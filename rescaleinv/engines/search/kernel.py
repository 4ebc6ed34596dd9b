"""Compiled simplex steps over the weighted L1-SVMs of a training set: ``simplex.py`` drives them.

The unknowns are z = (w, b, ρ) in conditioned units. A row i has the slack y_i (w·x_i + b) - ρ: it is *out* (slack > 0, no
multiplier), *on* (slack 0) or *in* (slack < 0, multiplier at its cap; with the hard margin, caps being infinite, no row
ever is). The constraint is R(w, b) = ρ + Σ_in cap_i slack_i >= 1: with the hard margin it says ρ = 1.

A vertex is a list of n + 2 *items* that fix z: rows that are on (number i), features without weight (m + j) and the
normalisation R = 1 (m + n). ``inverse`` holds the transposed inverse of their matrix: line r is the direction in which
only item r changes, at unit speed. To drop an item is to move along that line until the next row or weight reaches zero.

Slacks are perturbed by tiny generic amounts, so that ties, which are the normal case, do not make the steps cycle. The
multipliers do not depend on that; whether a vertex is feasible without the perturbation is decided exactly elsewhere.
All numbers here are floats: nothing in this module proves anything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rescaleinv._util.compiled import entry as _entry
from rescaleinv._util.compiled import step as _step

OUT, ON, IN = 0, 1, 2

FOUND = 1
NO_END = 0  # the direction meets nothing
LOST = -1  # rounding errors took over: start again
STOPPED = -2  # too many steps

_PIVOT = 1e-11  # speeds below this share of the direction are rounding errors
_RELAXED = 1e-10  # how far a row may be overshot to gain a better pivot (Harris)
_PRICE = 1e-9  # relative: multipliers nearer to their bounds than this are within them
_WIDEST = 8.0  # costs stay within this factor (its logarithm) of the usual ones, so that floats can cope
_AMISS = 1e-6  # slacks of the wrong sign by more than this mean that the steps went wrong
_REFRESH = 64  # exchanges after which the inverse is computed anew


class Rows(NamedTuple):
    """The training rows: ``columns[k, i]`` is entry k of y_i (x_i, 1) and -1, as ρ has it."""

    columns: Any
    caps: Any
    shifts: Any  # the perturbation of each slack


class State(NamedTuple):
    """A vertex; every array is changed in place."""

    items: Any
    inverse: Any
    solution: Any
    slack: Any
    row_state: Any
    sign: Any  # of each weight; 0 for the features among the items
    counts: Any  # position of the normalisation (or -1), exchanges since the last refresh, exchanges in all
    room: Any  # lines to work in: direction, gradient, multipliers, their rates, exchange, target costs
    speed: Any


class Records(NamedTuple):
    """The least and the largest decision value seen of each point, and the items of the vertices that have them."""

    points: Any  # (α, 1), one column per point
    least: Any
    largest: Any
    least_items: Any
    largest_items: Any
    least_costs: Any  # costs at which those vertices are optimal
    largest_costs: Any
    least_states: Any  # the states of the rows there; without columns where no row can be in
    largest_states: Any
    values: Any


@_step
def _refresh(rows, state):
    """Compute the inverse, the solution and the slacks anew; False where the items are dependent."""
    columns, items, inverse = rows.columns, state.items, state.inverse
    size, m = columns.shape
    matrix = np.zeros((size, size))
    right = np.zeros(size)
    state.counts[0] = -1
    for r in range(size):
        item = items[r]
        if item < m:
            matrix[r] = columns[:, item]
            right[r] = rows.shifts[item]
        elif item < m + size - 2:
            matrix[r, item - m] = 1.0
        else:
            state.counts[0] = r
            matrix[r] = _normalisation(rows, state)
            right[r] = 1.0
            for i in range(m):
                if state.row_state[i] == IN:
                    right[r] += rows.caps[i] * rows.shifts[i]
    if not _invert_transposed(matrix, inverse):
        return False
    state.solution[:] = 0.0
    for r in range(size):
        if right[r] != 0.0:
            for k in range(size):
                state.solution[k] += right[r] * inverse[r, k]
    state.slack[:] = -rows.shifts
    for k in range(size):
        if state.solution[k] != 0.0:
            for i in range(m):
                state.slack[i] += state.solution[k] * columns[k, i]
    for r in range(size):
        if items[r] < m:
            state.slack[items[r]] = 0.0
        elif items[r] < m + size - 2:
            state.solution[items[r] - m] = 0.0
    state.counts[1] = 0
    return True


@_step
def _normalisation(rows, state):
    """The gradient of R at the present states of the rows."""
    size, m = rows.columns.shape
    gradient = np.zeros(size)
    gradient[size - 1] = 1.0
    for i in range(m):
        if state.row_state[i] == IN:
            for k in range(size):
                gradient[k] += rows.caps[i] * rows.columns[k, i]
    return gradient


@_step
def _invert_transposed(matrix, inverse):
    """Gauss-Jordan with partial pivoting, into the transpose of ``inverse``; destroys the matrix."""
    size = matrix.shape[0]
    work = np.zeros((size, size))
    for i in range(size):
        work[i, i] = 1.0
    for k in range(size):
        row = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[row, k]):
                row = i
        if abs(matrix[row, k]) < 1e-13:
            return False
        if row != k:
            for j in range(size):
                matrix[row, j], matrix[k, j] = matrix[k, j], matrix[row, j]
                work[row, j], work[k, j] = work[k, j], work[row, j]
        scale = 1.0 / matrix[k, k]
        for j in range(size):
            matrix[k, j] *= scale
            work[k, j] *= scale
        for i in range(size):
            factor = matrix[i, k]
            if i != k and factor != 0.0:
                for j in range(size):
                    matrix[i, j] -= factor * matrix[k, j]
                    work[i, j] -= factor * work[k, j]
    for i in range(size):
        for j in range(size):
            inverse[i, j] = work[j, i]
    return True


@_step
def _meet(rows, state, direction):
    """What is met first along the direction, and after which step: (item, step), item -1 for nothing."""
    columns = rows.columns
    size, m = columns.shape
    n = size - 2
    speed, slack, row_state = state.speed, state.slack, state.row_state
    speed[:] = 0.0
    largest = 0.0
    for k in range(size):
        factor = direction[k]
        if factor != 0.0:
            largest = max(largest, abs(factor))
            for i in range(m):
                speed[i] += factor * columns[k, i]
    floor = _PIVOT * largest
    weights_block = state.counts[0] >= 0
    limit = np.inf
    for i in range(m):
        if row_state[i] != ON:
            side = 1 if row_state[i] == OUT else -1
            if side * speed[i] < -floor:
                limit = min(limit, (max(side * slack[i], 0.0) + _RELAXED) / abs(speed[i]))
    if weights_block:
        for j in range(n):
            if state.sign[j] * direction[j] < -floor:
                left = max(state.sign[j] * state.solution[j], 0.0)
                limit = min(limit, (left + _RELAXED) / abs(direction[j]))
    met, best, step = -1, 0.0, 0.0
    for i in range(m):
        if row_state[i] != ON and abs(speed[i]) > max(floor, best):
            side = 1 if row_state[i] == OUT else -1
            left = max(side * slack[i], 0.0)
            if side * speed[i] < 0 and left <= limit * abs(speed[i]):
                met, best, step = i, abs(speed[i]), left / abs(speed[i])
    if weights_block:
        for j in range(n):
            towards = -state.sign[j] * direction[j]
            left = max(state.sign[j] * state.solution[j], 0.0)
            if towards > max(floor, best) and left <= limit * towards:
                met, best, step = m + j, towards, left / towards
    return met, step


@_step
def _exchange(rows, state, r, turn):
    """Drop item r (``turn``: a row goes out or in, a weight becomes positive or negative) and go to the next vertex."""
    columns, items, inverse, direction = rows.columns, state.items, state.inverse, state.room[0]
    size, m = columns.shape
    norm = state.counts[0]
    dropped = items[r]
    goes_in = dropped < m and turn < 0
    for k in range(size):
        direction[k] = turn * inverse[r, k]
    if goes_in and norm >= 0:
        for k in range(size):
            direction[k] += rows.caps[dropped] * inverse[norm, k]
    met, step = _meet(rows, state, direction)
    if met < 0:
        return NO_END
    for k in range(size):
        state.solution[k] += step * direction[k]
    for i in range(m):
        if state.row_state[i] != ON:
            state.slack[i] += step * state.speed[i]
    if dropped < m:
        state.slack[dropped] = turn * step
        state.row_state[dropped] = IN if goes_in else OUT
        if goes_in and norm >= 0:
            for k in range(size):
                inverse[r, k] -= rows.caps[dropped] * inverse[norm, k]
    else:
        state.sign[dropped - m] = turn
    was_in = met < m and state.row_state[met] == IN
    change = state.room[4]
    if met < m:
        for i in range(size):
            total = 0.0
            for k in range(size):
                total += inverse[i, k] * columns[k, met]
            change[i] = total
        state.row_state[met] = ON
        state.slack[met] = 0.0
    else:
        for i in range(size):
            change[i] = inverse[i, met - m]
        state.sign[met - m] = 0
        state.solution[met - m] = 0.0
    items[r] = met
    state.counts[1] += 1
    state.counts[2] += 1
    if state.counts[1] >= _REFRESH or abs(change[r]) < 1e-11:
        return FOUND if _refresh(rows, state) else LOST
    scale = 1.0 / change[r]
    for k in range(size):
        inverse[r, k] *= scale
    for i in range(size):
        factor = change[i]
        if i != r and factor != 0.0:
            for k in range(size):
                inverse[i, k] -= factor * inverse[r, k]
    if was_in and norm >= 0:
        for k in range(size):
            inverse[r, k] += rows.caps[met] * inverse[norm, k]
    return FOUND


@_step
def _multipliers(inverse, gradient, result):
    size = inverse.shape[0]
    for r in range(size):
        total = 0.0
        for k in range(size):
            total += inverse[r, k] * gradient[k]
        result[r] = total


@_step
def _steepest(rows, state, costs):
    """The item to drop, and how, that lowers the objective fastest for its length: (r, turn), r = -1 for none.

    Without the normalisation (phase one) the objective is -R, and weights cost nothing.
    """
    size, m = rows.columns.shape
    inverse, prices = state.inverse, state.room[2]
    norm = state.counts[0]
    theta = prices[norm] if norm >= 0 else 1.0
    scale = 0.0
    for r in range(size):
        scale = max(scale, abs(prices[r]))
    best_r, best_turn, best = -1, 1, 0.0
    for r in range(size):
        item = state.items[r]
        if r == norm:
            continue
        slope, turn = 0.0, 1
        if item < m:
            if prices[r] < 0:
                slope = -prices[r]
            elif prices[r] > rows.caps[item] * theta:
                slope, turn = prices[r] - rows.caps[item] * theta, -1
        else:
            slope = abs(prices[r]) - (costs[item - m] if norm >= 0 else 0.0)
            turn = 1 if prices[r] < 0 else -1
        if slope <= _PRICE * scale:
            continue
        length = 0.0
        for k in range(size - 1):
            x = inverse[r, k]
            if turn < 0 and item < m and norm >= 0:
                x -= rows.caps[item] * inverse[norm, k]
            length += x * x
        if slope * slope > best * length:
            best, best_r, best_turn = slope * slope / length, r, turn
    return best_r, best_turn


@_step
def _first_vertex(rows, state, most):
    """Phase one, from w = 0: maximise R of the perturbed rows until it has no bound; that ray ends where R = 1.

    NO_END: R has a bound, so no (w, b) has R > 0 (the classes, or their reduced hulls, meet).
    """
    size, m = rows.columns.shape
    if not _refresh(rows, state):
        return LOST
    for _ in range(most):
        gradient = _normalisation(rows, state)
        for k in range(size):
            gradient[k] = -gradient[k]
        _multipliers(state.inverse, gradient, state.room[2])
        r, turn = _steepest(rows, state, state.room[5])
        if r < 0:
            return NO_END
        dropped = state.items[r]
        status = _exchange(rows, state, r, turn)
        if status == LOST:
            return LOST
        if status == NO_END:
            if dropped < m:
                state.row_state[dropped] = IN if turn < 0 else OUT
            state.items[r] = m + size - 2
            return FOUND
    return STOPPED


@_step
def _settle(rows, state):
    """After a change of the perturbation: everything anew, the weights' signs included; LOST where rows are amiss."""
    size, m = rows.columns.shape
    if not _refresh(rows, state):
        return LOST
    for j in range(size - 2):
        state.sign[j] = 1 if state.solution[j] > 0 else -1
    for r in range(size):
        if m <= state.items[r] < m + size - 2:
            state.sign[state.items[r] - m] = 0
    for i in range(m):
        if (state.row_state[i] == OUT and state.slack[i] < -_AMISS) or (
            state.row_state[i] == IN and state.slack[i] > _AMISS
        ):
            return LOST
    return FOUND


@_entry
def solve(large, rows, state, costs, pull, most, cold):
    """Go to the vertex that minimises Σ c_j |w_j| + pull·(w, b); ``cold``: from w = 0, else from the present vertex.

    ``large`` are the rows with perturbations that phase one can see from w = 0, where everything is of their size. There
    the state has two rows on, one of each class, and all others out.
    """
    size = rows.columns.shape[0]
    if cold:
        status = _first_vertex(large, state, most)
        if status == FOUND:
            status = _settle(rows, state)
        if status != FOUND:
            return status
    gradient = state.room[1]
    for _ in range(most):
        for j in range(size - 2):
            gradient[j] = state.sign[j] * costs[j] + pull[j]
        gradient[size - 2] = pull[size - 2]
        gradient[size - 1] = 0.0
        _multipliers(state.inverse, gradient, state.room[2])
        r, turn = _steepest(rows, state, costs)
        if r < 0:
            return FOUND
        status = _exchange(rows, state, r, turn)
        if status != FOUND:
            return status
    return STOPPED


@_step
def _next_event(rows, state, costs, target, now):
    """The next t in [now, 1] at which the vertex stops being optimal for costs + t (target - costs): (t, r, turn)."""
    size, m = rows.columns.shape
    gradient, prices, rates = state.room[1], state.room[2], state.room[3]
    gradient[size - 2] = 0.0
    gradient[size - 1] = 0.0
    for j in range(size - 2):
        gradient[j] = state.sign[j] * costs[j]
    _multipliers(state.inverse, gradient, prices)
    for j in range(size - 2):
        gradient[j] = state.sign[j] * (target[j] - costs[j])
    _multipliers(state.inverse, gradient, rates)
    norm = state.counts[0]
    when, which, how = 1.0, -1, 1
    for r in range(size):
        if r == norm:
            continue
        item = state.items[r]
        if item < m:
            value, rate = prices[r], rates[r]
            other = rows.caps[item] * prices[norm] - prices[r]
            other_rate = rows.caps[item] * rates[norm] - rates[r]
            bounded = rows.caps[item] < np.inf
        else:
            j = item - m
            value, rate = costs[j] + prices[r], target[j] - costs[j] + rates[r]
            other, other_rate = costs[j] - prices[r], target[j] - costs[j] - rates[r]
            bounded = True
        if rate < 0 and value + when * rate < 0:
            when, which, how = max(now, -value / rate), r, 1
        if bounded and other_rate < 0 and other + when * other_rate < 0:
            when, which, how = max(now, -other / other_rate), r, -1
    return when, which, how


@_step
def _judge(state, records, costs, target, share):
    """Let the vertex, which is optimal at costs + share (target - costs), speak for every point."""
    size = state.solution.shape[0]
    n_points = records.points.shape[1]
    rho = state.solution[size - 1]
    values = records.values
    values[:] = state.solution[size - 2] / rho
    for j in range(size - 2):
        if state.sign[j] != 0:
            weight = state.solution[j] / rho
            for p in range(n_points):
                values[p] += weight * records.points[j, p]
    for p in range(n_points):
        if values[p] < records.least[p]:
            records.least[p] = values[p]
            records.least_items[p] = state.items
            for j in range(size - 2):
                records.least_costs[p, j] = costs[j] + share * (target[j] - costs[j])
            for i in range(records.least_states.shape[1]):
                records.least_states[p, i] = state.row_state[i]
        if values[p] > records.largest[p]:
            records.largest[p] = values[p]
            records.largest_items[p] = state.items
            for j in range(size - 2):
                records.largest_costs[p, j] = costs[j] + share * (target[j] - costs[j])
            for i in range(records.largest_states.shape[1]):
                records.largest_states[p, i] = state.row_state[i]


@_step
def _copy(source, target):
    target.items[:] = source.items
    target.inverse[:] = source.inverse
    target.solution[:] = source.solution
    target.slack[:] = source.slack
    target.row_state[:] = source.row_state
    target.sign[:] = source.sign
    target.counts[:2] = source.counts[:2]


@_entry
def search(rows, state, current, candidate, records, costs, usual, changes, driver, side, goal, most):
    """Follow the optimum from the present costs to others, again and again; every vertex on the way speaks for all points.

    All of these vertices are optimal for some costs, so they are in the closure of RO(X). With a ``driver`` the changes
    are those of log c, and side·f of that point is to become least: the best vertex on the way becomes the present one
    unless it is worse; ends when side·f is below ``goal``. Without (-1), log(c / usual) is set to each line of changes.
    Returns (status, changes made).
    """
    size = rows.columns.shape[0]
    target = state.room[5]
    _judge(state, records, costs, costs, 0.0)
    value = side * records.values[driver] if driver >= 0 else 0.0
    _copy(state, current)
    for attempt in range(changes.shape[0]):
        for j in range(size - 2):
            exponent = changes[attempt, j]
            if driver >= 0:
                exponent += np.log(costs[j] / usual[j])
            target[j] = usual[j] * np.exp(min(max(exponent, -_WIDEST), _WIDEST))
        now, best, middle = 0.0, np.inf, 1.0
        for move in range(most):
            when, r, turn = _next_event(rows, state, costs, target, now)
            if move > 0:
                _judge(state, records, costs, target, 0.5 * (now + when))
                if driver >= 0 and side * records.values[driver] < best:
                    best, middle = side * records.values[driver], 0.5 * (now + when)
                    _copy(state, candidate)
            if r < 0:
                break
            if move == most - 1:
                return STOPPED, attempt
            now = when
            status = _exchange(rows, state, r, turn)
            if status != FOUND:
                return status, attempt
        if best < np.inf and best > value:
            _copy(current, state)
            continue
        for j in range(size - 2):
            costs[j] += middle * (target[j] - costs[j])
        if best < np.inf:
            value = best
            _copy(candidate, current)
            _copy(candidate, state)
            if value < goal:
                return FOUND, attempt + 1
    return FOUND, changes.shape[0]
