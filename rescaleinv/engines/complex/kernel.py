"""Compiled steps of the walk over the vertices of the closure of RO(X); ``walk.py`` drives them.

A vertex of the perturbed problem is a *basis*: rows T whose margin is tight and features Z whose weight is zero, n + 1 in
all. Its numbers come in two levels: the value at no perturbation, and its rate of change with an infinitesimal one.

Every decision is a sign. A float far from zero has it. A float near zero is tested for being zero exactly by a residue
modulo the prime 2**61 - 1 (wrong with a chance of 4e-19), which is carried along only where it is needed. What is near
zero and not zero (decimal data have many: 0.1 + 0.2 is nearly 0.3) is computed again as a pair of floats, high and low,
with twice the digits; what even then has no clear sign is left to rational arithmetic, outside of this module.

All of it is one file because numba's cache on disk looks at the file of the entry point only: steps that lived in another
file could change without being compiled again.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, uint64

PRIME = (1 << 61) - 1
LARGEST_POWER = 2200  # powers of two are tabulated from -LARGEST_POWER to LARGEST_POWER

AMBIGUOUS = -1  # a float was near zero, and no residues were carried
UNDECIDED = -2  # near zero, not zero: rational arithmetic must decide
INVALID = -3  # the basis is no vertex of the complex: the walk went wrong before

_NEAR = 1e-9  # relative: floats nearer to zero than this have no sign of their own

_P = uint64(PRIME)
_MASK30 = uint64((1 << 30) - 1)
_MASK31 = uint64((1 << 31) - 1)
_1, _30, _31, _61 = uint64(1), uint64(30), uint64(31), uint64(61)
_ZERO = uint64(0)


# Only what Python calls gets wrappers and a place in the cache on disk, which holds the steps inside of it too. A step
# has no wrapper: Python must not call it.
_step = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
_entry = njit(cache=True, nogil=True, error_model="numpy")


@_step
def _fold(x):
    x = (x >> _61) + (x & _P)
    return x - _P if x >= _P else x


@_step
def _mul(a, b):
    """a b modulo the prime, by halves of 31 bits."""
    ah, al, bh, bl = a >> _31, a & _MASK31, b >> _31, b & _MASK31
    middle = al * bh + ah * bl
    return _fold(((ah * bh) << _1) + (middle >> _30) + ((middle & _MASK30) << _31) + al * bl)


@_step
def _add(a, b):
    x = a + b
    return x - _P if x >= _P else x


@_step
def _sub(a, b):
    return a - b if a >= b else a + _P - b


@_step
def _inverse(a):
    """a to the power of p - 2."""
    result, exponent = _1, _P - uint64(2)
    while exponent > _ZERO:
        if exponent & _1:
            result = _mul(result, a)
        a = _mul(a, a)
        exponent >>= _1
    return result


@_entry
def float_residues(values, powers):
    """The residues of floats, which are rationals: m 2**e."""
    result = np.empty(values.shape, dtype=np.uint64)
    flat, out = values.ravel(), result.ravel()
    for i in range(flat.size):
        mantissa, exponent = math.frexp(flat[i])
        whole = int(mantissa * 9007199254740992.0)  # 2**53
        magnitude = uint64(abs(whole))
        residue = _mul(_fold(magnitude), powers[exponent - 53 + LARGEST_POWER])
        out[i] = _sub(_ZERO, residue) if whole < 0 else residue
    return result


@_step
def _invert(matrix, size, inverse, work, correction):
    """Gauss-Jordan with partial pivoting, then refinement. Returns the relative error left, or 1 where it is too large."""
    for i in range(size):
        for j in range(size):
            work[i, j] = matrix[i, j]
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(size):
        best, row = 0.0, -1
        for i in range(k, size):
            if abs(work[i, k]) > best:
                best, row = abs(work[i, k]), i
        if row < 0 or best < 1e-12:
            return 1.0
        if row != k:
            for j in range(size):
                work[row, j], work[k, j] = work[k, j], work[row, j]
                inverse[row, j], inverse[k, j] = inverse[k, j], inverse[row, j]
        scale = 1.0 / work[k, k]
        for j in range(size):
            work[k, j] *= scale
            inverse[k, j] *= scale
        for i in range(size):
            factor = work[i, k]
            if i != k and factor != 0.0:
                for j in range(size):
                    work[i, j] -= factor * work[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
    for step in range(3):
        worst, bulk = 0.0, 0.0
        for i in range(size):
            for j in range(size):
                total = -1.0 if i == j else 0.0
                for k in range(size):
                    product = matrix[i, k] * inverse[k, j]
                    total += product
                    bulk = max(bulk, abs(product))
                work[i, j] = total
                worst = max(worst, abs(total))
        # the residual has rounding errors of its own, below which it tells nothing
        hidden = 4e-16 * size * bulk
        if worst < 1e-13 or worst <= hidden or (step == 2 and worst < 1e-10):
            return worst + hidden if worst + hidden < 1e-4 else 1.0
        if worst > 1e-3:
            return 1.0
        for i in range(size):
            for j in range(size):
                total = 0.0
                for k in range(size):
                    total += inverse[i, k] * work[k, j]
                correction[i, j] = total
        for i in range(size):
            for j in range(size):
                inverse[i, j] -= correction[i, j]
    return 1.0


@_step
def _invert_residues(matrix, size, inverse, work):
    for i in range(size):
        for j in range(size):
            work[i, j] = matrix[i, j]
            inverse[i, j] = _1 if i == j else _ZERO
    for k in range(size):
        row = k
        while row < size and work[row, k] == _ZERO:
            row += 1
        if row == size:
            return False
        if row != k:
            for j in range(size):
                work[row, j], work[k, j] = work[k, j], work[row, j]
                inverse[row, j], inverse[k, j] = inverse[k, j], inverse[row, j]
        scale = _inverse(work[k, k])
        for j in range(size):
            work[k, j] = _mul(work[k, j], scale)
            inverse[k, j] = _mul(inverse[k, j], scale)
        for i in range(size):
            factor = work[i, k]
            if i != k and factor != _ZERO:
                for j in range(size):
                    work[i, j] = _sub(work[i, j], _mul(factor, work[k, j]))
                    inverse[i, j] = _sub(inverse[i, j], _mul(factor, inverse[k, j]))
    return True


@_step
def _add_pair(high, low, x, y):
    """(high, low) + (x, y), where the second of each is the rounding error that the first leaves."""
    total = high + x
    back = total - high
    error = (high - (total - back)) + (x - back) + low + y
    result = total + error
    return result, error - (result - total)


@_step
def _product_pair(x, y):
    """x y and its rounding error, by halves of 26 bits."""
    product = x * y
    t = 134217729.0 * x
    xh = t - (t - x)
    xl = x - xh
    t = 134217729.0 * y
    yh = t - (t - y)
    yl = y - yh
    return product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl


@_step
def _multiply_pairs(xh, xl, yh, yl):
    product, error = _product_pair(xh, yh)
    error += xh * yl + xl * yh
    total = product + error
    return total, error - (total - product)


@_step
def _entry_sign(value, residue, carried, table):
    """The sign of an entry of the simplex table; 2 where residues must tell, 3 where rationals must.

    The last row of the table's array is none of its rows: it holds the error that entries may have by now, and the
    error of an entry of size 1.
    """
    if carried:
        if residue == _ZERO:
            return 0
        if abs(value) < 100 * table[-1, 0]:
            return 3
    elif abs(value) < max(_NEAR, 10 * table[-1, 0]):
        return 2
    return 1 if value > 0 else -1


@_step
def _pivot(table, low, residues, carried, n_rows, n_columns, row, column):
    """Exchange the row's variable with the column's; returns False where entries have grown too much."""
    if carried:
        largest = _pivot_pairs(table, low, n_rows, n_columns, row, column)
        _pivot_residues(table, low, residues, n_rows, n_columns, row, column)
    else:
        scale = -1.0 / table[row, column]
        for j in range(n_columns):
            table[row, j] *= scale
        table[row, column] = -scale
        largest = 0.0
        for i in range(n_rows):
            factor = table[i, column]
            if i != row and factor != 0.0:
                for j in range(n_columns):
                    if j != column:
                        table[i, j] += factor * table[row, j]
                        largest = max(largest, abs(table[i, j]))
                table[i, column] = factor * table[row, column]
    table[-1, 0] = max(table[-1, 0], table[-1, 1] * largest)
    return table[-1, 0] < 1e-6


@_step
def _pivot_pairs(table, low, n_rows, n_columns, row, column):
    high, rest = table[row, column], low[row, column]
    inverse = 1.0 / high
    product, error = _product_pair(high, inverse)
    inverse_low = inverse * ((1.0 - product) - error - rest * inverse)
    for j in range(n_columns):
        table[row, j], low[row, j] = _multiply_pairs(table[row, j], low[row, j], -inverse, -inverse_low)
    table[row, column], low[row, column] = inverse, inverse_low
    largest = 0.0
    for i in range(n_rows):
        factor, factor_low = table[i, column], low[i, column]
        if i != row and factor != 0.0:
            for j in range(n_columns):
                if j != column:
                    x, y = _multiply_pairs(factor, factor_low, table[row, j], low[row, j])
                    table[i, j], low[i, j] = _add_pair(table[i, j], low[i, j], x, y)
                    largest = max(largest, abs(table[i, j]))
            table[i, column], low[i, column] = _multiply_pairs(factor, factor_low, inverse, inverse_low)
    return largest


@_step
def _pivot_residues(table, low, residues, n_rows, n_columns, row, column):
    """The same for the residues; an entry whose residue is zero is zero."""
    inverse = _inverse(residues[row, column])
    negative = _sub(_ZERO, inverse)
    for j in range(n_columns):
        residues[row, j] = _mul(residues[row, j], negative)
    residues[row, column] = inverse
    for i in range(n_rows):
        factor = residues[i, column]
        if i != row and factor != _ZERO:
            for j in range(n_columns):
                if j != column:
                    residues[i, j] = _add(residues[i, j], _mul(factor, residues[row, j]))
            residues[i, column] = _mul(factor, inverse)
    for i in range(n_rows):
        for j in range(n_columns):
            if residues[i, j] == _ZERO:
                table[i, j] = 0.0
                low[i, j] = 0.0


@_step
def _compare_ratios(table, low, residues, carried, i, best, column):
    """The sign of (ratio of row i - ratio of the best row), each its constant over minus its entry; 2 and 3 as above."""
    ahead, behind = table[i, 0] * -table[best, column], table[best, 0] * -table[i, column]
    if abs(ahead - behind) > _NEAR * (abs(ahead) + abs(behind)):
        return 1 if ahead > behind else -1
    if not carried:
        return 2
    if _mul(residues[i, 0], residues[best, column]) == _mul(residues[best, 0], residues[i, column]):
        return 0
    x, x_low = _multiply_pairs(table[i, 0], low[i, 0], -table[best, column], -low[best, column])
    y, y_low = _multiply_pairs(table[best, 0], low[best, 0], table[i, column], low[i, column])
    difference, _ = _add_pair(x, x_low, y, y_low)
    if abs(difference) <= 100 * table[-1, 0] * (abs(x) + abs(y)):
        return 3
    return 1 if difference > 0 else -1


@_step
def _leaving_row(table, low, residues, carried, n_basic, column, row_variables, preferred):
    """The basic row that first reaches zero as the column's variable grows: its number, -1 for none, or a status - 10.

    Of rows that reach it together the preferred variable's leaves, or else that of the lowest number.
    """
    best = np.int64(-1)
    for i in range(n_basic):
        sign = _entry_sign(table[i, column], residues[i, column], carried, table)
        if sign >= 2:
            return -10 - sign
        if sign > -1:
            continue
        order = -1
        if best >= 0:
            order = _compare_ratios(table, low, residues, carried, i, best, column)
        if order >= 2:
            return -10 - order
        if order == 0 and row_variables[best] != preferred:
            order = -1 if row_variables[i] == preferred or row_variables[i] < row_variables[best] else 1
        if order < 0:
            best = i
    return best


@_step
def _status_of(sign):
    return AMBIGUOUS if sign == 2 else UNDECIDED


@_step
def _entering_column(table, residues, carried, row, n_columns, direction, blocked, column_variables, bland):
    """A column that moves the row's variable in the direction: its number, -1 for none, or a status - 10."""
    best, best_size = -1, 0.0
    for j in range(1, n_columns):
        if j == blocked:
            continue
        sign = _entry_sign(table[row, j], residues[row, j], carried, table)
        if sign >= 2:
            return -10 - sign
        if sign == direction:
            if bland:
                if best < 0 or column_variables[j] < column_variables[best]:
                    best = j
            elif abs(table[row, j]) > best_size:
                best, best_size = j, abs(table[row, j])
    return best


@_step
def _gave_up(carried):
    return UNDECIDED if carried else AMBIGUOUS


@_step
def _swap(table, low, residues, carried, n, k, row, column, row_variables, column_variables):
    """Exchange a row's variable with a column's, and keep the books; False where entries have grown too much."""
    fine = _pivot(table, low, residues, carried, n + 1, k + 2, row, column)
    row_variables[row], column_variables[column] = column_variables[column], row_variables[row]
    return fine


@_step
def _make_feasible(table, low, residues, carried, k, n, row_variables, column_variables):
    """Phase one: an artificial variable, the last column, is added to every a_i and then driven to zero."""
    up, down, none = np.int64(1), np.int64(-1), np.int64(0)  # numba would compile once more for each literal number
    artificial = 2 * k + 1
    worst, place = 0.0, down
    for i in range(k + 1):
        sign = _entry_sign(table[i, 0], residues[i, 0], carried, table)
        if sign >= 2:
            return _status_of(sign)
        if sign < 0 and table[i, 0] < worst:
            worst, place = table[i, 0], i
    if place < 0:
        return 0
    if not _swap(table, low, residues, carried, n, k, place, k + 1, row_variables, column_variables):
        return _gave_up(carried)
    for iteration in range(400):
        bland = iteration > 60
        entering = _entering_column(table, residues, carried, place, k + 2, down, none, column_variables, bland)
        leaving = place
        if entering == -1:
            # the artificial is at its least; only zero will do, and then any exchange takes it out
            sign = _entry_sign(table[place, 0], residues[place, 0], carried, table)
            if sign >= 2:
                return _status_of(sign)
            if sign != 0:
                return INVALID
            entering = _entering_column(table, residues, carried, place, k + 2, up, none, column_variables, bland)
            if entering == -1:
                return INVALID
        elif entering >= 0:
            leaving = _leaving_row(table, low, residues, carried, k + 1, entering, row_variables, artificial)
        if entering < 0:
            return _status_of(-10 - entering)
        if leaving < 0:
            return _status_of(-10 - leaving)
        if not _swap(table, low, residues, carried, n, k, leaving, entering, row_variables, column_variables):
            return _gave_up(carried)
        if leaving == place:
            return 0
    return _gave_up(carried)


@_step
def _note_edges(table, residues, carried, k, n, row_variables, column_variables, tight_edge, up_edge, down_edge):
    """What the present basic solution shows: multipliers that are 0, and the signs of the μ_j."""
    for j in range(1, k + 2):
        if column_variables[j] <= k:
            tight_edge[column_variables[j]] = 1
    for i in range(k + 1):
        if row_variables[i] <= k and tight_edge[row_variables[i]] == 0:
            sign = _entry_sign(table[i, 0], residues[i, 0], carried, table)
            if sign >= 2:
                return _status_of(sign)
            if sign == 0:
                tight_edge[row_variables[i]] = 1
    for j in range(n - k):
        if up_edge[j] == 0 or down_edge[j] == 0:
            sign = _entry_sign(table[k + 1 + j, 0], residues[k + 1 + j, 0], carried, table)
            if sign >= 2:
                return _status_of(sign)
            if sign > 0:
                up_edge[j] = 1
            elif sign < 0:
                down_edge[j] = 1
    return 0


@_step
def _refutation(k, column_variables):
    """The table's columns as a bit mask, below zero; whoever solves for them exactly has the edge's refutation.

    Bit i <= k: the tight row i may be on the wrong side; bit k + 1 + j: the feature j may have weight.
    """
    mask = np.int64(0)
    for j in range(1, k + 2):
        if column_variables[j] <= 2 * k:  # the artificial variable, which is fixed at zero, has no bit
            mask |= np.int64(1) << column_variables[j]
    return -1 - mask


@_step
def _find_edges(
    table, low, residues, carried, k, n, row_variables, column_variables, tight_edge, up_edge, down_edge, edges
):
    """Which edges at a vertex belong to the complex: a linear program each, all from one table.

    Rows 0 … k are the multipliers a_i, rows k+1 … n the μ_j of the features without weight; columns are the constant
    and the ν_j >= 0 of the features with weight (μ_j s_j = 1 + ν_j, scaled). Dropping tight row i is an edge iff a_i can be
    0 while all a >= 0; giving feature j weight of a sign is one iff μ_j can have that sign.
    """
    status = _make_feasible(table, low, residues, carried, k, n, row_variables, column_variables)
    if status < 0:
        return status
    blocked = np.int64(-1)
    for j in range(1, k + 2):
        if column_variables[j] == 2 * k + 1:
            blocked = j
    # questions 0 … k: can a_i be 0; then for each feature without weight: can μ_j be positive, negative
    for question in range(k + 1 + 2 * (n - k)):
        feature, up = (question - k - 1) // 2, (question - k - 1) % 2 == 0
        for iteration in range(401):
            status = _note_edges(
                table, residues, carried, k, n, row_variables, column_variables, tight_edge, up_edge, down_edge
            )
            if status < 0:
                return status
            if question <= k:
                known, row, direction = tight_edge[question], np.int64(-1), np.int64(-1)
                for i in range(k + 1):
                    if row_variables[i] == question:
                        row = i
            elif up:
                known, row, direction = up_edge[feature], k + 1 + feature, np.int64(1)
            else:
                known, row, direction = down_edge[feature], k + 1 + feature, np.int64(-1)
            if known == 2:
                edges[question] = _refutation(k, column_variables)
            if known != 0:
                break
            if iteration == 400:
                return _gave_up(carried)
            entering = _entering_column(
                table, residues, carried, row, k + 2, direction, blocked, column_variables, iteration > 60
            )
            if entering == -1:  # the best value is reached, and it is not enough
                edges[question] = _refutation(k, column_variables)
                break
            if entering < 0:
                return _status_of(-10 - entering)
            preferred = question if question <= k else np.int64(-1)
            leaving = _leaving_row(table, low, residues, carried, k + 1, entering, row_variables, preferred)
            if leaving == -1:  # no bound, which only a μ_j can have
                if direction > 0:
                    up_edge[feature] = 1
                else:
                    down_edge[feature] = 1
                break
            if leaving < 0:
                return _status_of(-10 - leaving)
            if not _swap(table, low, residues, carried, n, k, leaving, entering, row_variables, column_variables):
                return _gave_up(carried)
    return 0


@_step
def _dot_pair(size, rows, row, support, high, low, start):
    """start + rows[row]·(high, low) over the support, as a pair."""
    total, rest = start, 0.0
    for j in range(size):
        x = rows[row, support[j]]
        product, error = _product_pair(x, high[j])
        total, rest = _add_pair(total, rest, product, error + x * low[j])
    return total, rest


@_step
def _low_parts(matrix, size, inverse, low, work):
    """Turn the inverse into pairs by one step of refinement with exact products: the high part changes too."""
    for i in range(size):
        for j in range(size):
            total, rest = (1.0 if i == j else 0.0), 0.0
            for k in range(size):
                product, error = _product_pair(-matrix[i, k], inverse[k, j])
                total, rest = _add_pair(total, rest, product, error)
            work[i, j] = total + rest
    for i in range(size):
        for j in range(size):
            total = 0.0
            for k in range(size):
                total += inverse[i, k] * work[k, j]
            low[i, j] = total
    for i in range(size):
        for j in range(size):
            inverse[i, j], low[i, j] = _add_pair(inverse[i, j], 0.0, low[i, j], 0.0)


@_step
def _solve_basis(
    size,
    tilt,
    tight,
    inverse,
    low,
    inverse_r,
    tiny,
    carried,
    weight,
    weight_low,
    weight_rate,
    rate_low,
    value_r,
    sign_of,
):
    """The weights and the intercept at a vertex, their rates under the perturbation, and the signs of the weights."""
    for j in range(size):
        value, rest, scale, rate, rate_rest, rate_scale, residue = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, _ZERO
        for i in range(size):
            x = tilt[tight[i]]
            scale += abs(inverse[j, i])
            rate_scale += abs(inverse[j, i]) * x
            if carried:
                value, rest = _add_pair(value, rest, inverse[j, i], low[j, i])
                product, error = _product_pair(inverse[j, i], x)
                rate, rate_rest = _add_pair(rate, rate_rest, product, error + low[j, i] * x)
                residue = _add(residue, inverse_r[j, i])
            else:
                value += inverse[j, i]
                rate += inverse[j, i] * x
        weight[j], weight_low[j], weight_rate[j], rate_low[j], value_r[j] = value, rest, rate, rate_rest, residue
        if j == size - 1:
            break  # the intercept's sign does not matter
        if abs(value) > _NEAR * scale or (carried and residue != _ZERO and abs(value) > tiny * scale):
            sign_of[j] = 1 if value > 0 else -1
        elif not carried:
            return AMBIGUOUS
        elif residue != _ZERO or abs(rate) <= _NEAR * rate_scale:
            return UNDECIDED
        else:
            weight[j] = 0.0
            weight_low[j] = 0.0
            sign_of[j] = 1 if rate > 0 else -1
    return 0


@_step
def _refine_solution(matrix, size, inverse, weight, work):
    """One step of refinement with exact products, so that a weight is right to rounding and not to the largest one's."""
    for i in range(size):
        total, rest = 1.0, 0.0
        for j in range(size):
            product, error = _product_pair(-matrix[i, j], weight[j])
            total, rest = _add_pair(total, rest, product, error)
        work[0, i] = total + rest
    for j in range(size):
        for i in range(size):
            weight[j] += inverse[j, i] * work[0, i]


@_step
def _find_slacks(
    size, rows, rows_r, tilt, tight, support, in_basis, inverse, weight, weight_low, weight_rate, rate_low, value_r, tiny,
    carried, products, slack, slack_rate, scale_of,
):  # fmt: skip
    """How far the other rows are from being tight; ``products`` are their margins per unit of each tight row's margin."""
    for q in range(rows.shape[0]):
        if in_basis[q]:
            continue
        value, scale, rate, rate_scale = -1.0, 1.0, -tilt[q], tilt[q]
        for i in range(size):
            total = 0.0
            for j in range(size):
                total += rows[q, support[j]] * inverse[j, i]
            products[q, i] = total
            value += total
            scale += abs(total)
            rate += total * tilt[tight[i]]
            rate_scale += abs(total) * tilt[tight[i]]
        if carried:
            rate = _dot_pair(size, rows, q, support, weight_rate, rate_low, -tilt[q])[0]
        if abs(value) <= _NEAR * scale:
            if not carried:
                return AMBIGUOUS
            if _dot_residues(size, rows_r, q, support, value_r, _sub(_ZERO, _1)) == _ZERO:
                if abs(rate) <= _NEAR * rate_scale:
                    return UNDECIDED
                if rate < 0:
                    return INVALID
                value = 0.0
            else:
                value = _dot_pair(size, rows, q, support, weight, weight_low, -1.0)[0]
                if abs(value) <= tiny * scale:
                    return UNDECIDED
        if value < 0:
            return INVALID
        slack[q], slack_rate[q], scale_of[q] = value, rate, scale
    return 0


@_step
def _dot_residues(size, rows_r, row, support, vector, total):
    for j in range(size):
        total = _add(total, _mul(rows_r[row, support[j]], vector[j]))
    return total


@_step
def _fill_table(
    k, n, rows, rows_r, powers, tight, empty, sign_of, inverse, low, inverse_r, error_of_one, carried, table,
    table_low, table_r, row_vars, column_vars, up_edge, down_edge,
):  # fmt: skip
    """The table that ``_find_edges`` begins with."""
    size = k + 1
    for j in range(k):
        largest = 0.0
        for i in range(size):
            largest = max(largest, abs(inverse[j, i]))
        exponent = -math.frexp(largest)[1]
        factor = sign_of[j] * math.ldexp(1.0, exponent)
        for i in range(size):
            table[i, j + 1] = factor * inverse[j, i]
            table_low[i, j + 1] = factor * low[j, i] if carried else 0.0
            if carried:
                residue = _mul(inverse_r[j, i], powers[exponent + LARGEST_POWER])
                table_r[i, j + 1] = residue if sign_of[j] > 0 else _sub(_ZERO, residue)
        for z in range(n - k):
            total, rest, residue = 0.0, 0.0, _ZERO
            for i in range(size):
                x = rows[tight[i], empty[z]]
                if carried:
                    product, error = _product_pair(inverse[j, i], x)
                    total, rest = _add_pair(total, rest, product, error + low[j, i] * x)
                    residue = _add(residue, _mul(table_r[i, j + 1], rows_r[tight[i], empty[z]]))
                else:
                    total += inverse[j, i] * x
            table[size + z, j + 1], table_low[size + z, j + 1] = factor * total, factor * rest
            table_r[size + z, j + 1] = residue
        column_vars[j + 1] = size + j
    column_vars[k + 1] = 2 * k + 1
    growth = 1.0
    for i in range(n + 1):
        total, rest, residue, largest = 0.0, 0.0, _ZERO, 0.0
        for j in range(1, k + 1):
            if carried:
                residue = _add(residue, table_r[i, j])
                if table_r[i, j] == _ZERO:
                    table[i, j] = 0.0
                    table_low[i, j] = 0.0
                total, rest = _add_pair(total, rest, table[i, j], table_low[i, j])
            else:
                total += table[i, j]
            largest = max(largest, abs(table[i, j]))
        if carried and residue == _ZERO:
            total, rest = 0.0, 0.0
        table[i, 0], table_low[i, 0], table_r[i, 0] = total, rest, residue
        # rows are scaled for the floats' sake only; whether a residue is zero does not change with it
        exponent = -math.frexp(largest)[1] if largest > 0 else 0
        scale = math.ldexp(1.0, exponent)
        for j in range(k + 1):
            table[i, j] *= scale
            table_low[i, j] *= scale
        # errors are relative to the largest entry of a column, so that scaling a row up makes its errors larger
        growth = max(growth, scale)
        table[i, k + 1], table_low[i, k + 1] = (1.0 if i < size else 0.0), 0.0
        table_r[i, k + 1] = powers[LARGEST_POWER - exponent] if i < size else _ZERO
        row_vars[i] = i
    table[-1, 1] = error_of_one
    table[-1, 0] = table[-1, 1] * growth
    for z in range(n - k):
        constant = True
        for i in range(size):
            constant = constant and rows[tight[i], empty[z]] == 0.0
        up_edge[z] = down_edge[z] = 2 if constant else 0  # a feature that is 0 on all tight rows has no gradient


@_step
def _is_sooner(
    value, rate, speed, value_r, speed_r, best_value, best_rate, best_speed, best_value_r, best_speed_r, blur, carried
):
    """Is value / speed + infinitesimal rate / speed less than the best so far? 1 or 0, or a status below zero.

    ``blur`` is the relative error of the two ratios together.
    """
    ahead, behind = value * best_speed, best_value * speed
    if abs(ahead - behind) > (_NEAR + blur) * (ahead + behind):
        return 1 if ahead < behind else 0
    if not carried:
        return AMBIGUOUS
    if _mul(value_r, best_speed_r) != _mul(best_value_r, speed_r):
        return UNDECIDED
    ahead, behind = rate * best_speed, best_rate * speed
    if abs(ahead - behind) <= _NEAR * (abs(ahead) + abs(behind)):
        return UNDECIDED
    return 1 if ahead < behind else 0


@_step
def _is_sooner_by_pairs(v, v_low, s, s_low, best_v, best_v_low, best_s, best_s_low, blur):
    """The first comparison of ``_is_sooner`` with twice the digits, for ratios known to differ."""
    ahead, low = _product_pair(v, best_s)
    behind, low_behind = _product_pair(-best_v, s)
    difference, _ = _add_pair(
        ahead, low + v * best_s_low + v_low * best_s, behind, low_behind - best_v * s_low - best_v_low * s
    )
    if abs(difference) <= blur * (abs(ahead) + abs(behind)):
        return UNDECIDED
    return 1 if difference < 0 else 0


@_step
def _follow(
    size, edge, z, turn, rows, rows_r, tight, support, in_basis, inverse, sign_of, weight, weight_low, weight_rate, value_r,
    products, slack, slack_rate, scale_of, direction, direction_low, direction_r, noise, tiny, carried,
):  # fmt: skip
    """What is met first along an edge: a row that becomes tight or a weight (m + j) that becomes zero."""
    m = rows.shape[0]
    reached, best_value, best_rate, best_speed = -1, 0.0, 0.0, 0.0
    best_value_low, best_speed_low, best_value_r, best_speed_r = 0.0, 0.0, _ZERO, _ZERO
    own_error, best_error = 0.0, 0.0
    for candidate in range(m + size - 1):
        value_low, speed_low, residue, speed_r = 0.0, 0.0, _ZERO, _ZERO
        j = candidate - m
        if j < 0:
            if in_basis[candidate]:
                continue
            if z < 0:
                speed = -products[candidate, edge]
            else:
                speed = rows[candidate, z]
                for i in range(size):
                    speed -= products[candidate, i] * rows[tight[i], z]
                speed *= -turn
            value, rate, scale, item = slack[candidate], slack_rate[candidate], scale_of[candidate], candidate
        else:
            speed = -sign_of[j] * direction[j]
            scale = 0.0
            for i in range(size):
                scale = max(scale, abs(inverse[j, i]))
            value, rate, item = sign_of[j] * weight[j], sign_of[j] * weight_rate[j], m + support[j]
        if speed < -max(_NEAR, 10 * noise) * scale:
            continue
        if carried:
            if j < 0:
                speed_r = _dot_residues(size, rows_r, candidate, support, direction_r, _ZERO)
                if z >= 0:
                    speed_r = _add(speed_r, rows_r[candidate, z]) if turn > 0 else _sub(speed_r, rows_r[candidate, z])
                speed_r = _sub(_ZERO, speed_r)
                residue = _dot_residues(size, rows_r, candidate, support, value_r, _sub(_ZERO, _1))
                own = turn * rows[candidate, z] if z >= 0 else 0.0
                high, low = _dot_pair(size, rows, candidate, support, direction, direction_low, own)
                speed, speed_low = -high, -low
                if value != 0.0:
                    value, value_low = _dot_pair(size, rows, candidate, support, weight, weight_low, -1.0)
            else:
                sign = sign_of[j]
                speed_r, residue = direction_r[j], value_r[j]
                if sign > 0:
                    speed_r = _sub(_ZERO, speed_r)
                else:
                    residue = _sub(_ZERO, residue)
                speed_low, value_low = -sign * direction_low[j], sign * weight_low[j]
            if speed_r == _ZERO:
                continue
            if abs(speed) <= tiny * scale:
                return UNDECIDED
            if speed < 0:
                continue
        elif speed < _NEAR * scale:
            return AMBIGUOUS
        own_error = (tiny if carried else noise) * (scale / max(value, 1e-300) + scale / speed) if value > 0 else 0.0
        sooner = 1
        if reached >= 0:
            blur = own_error + best_error
            sooner = _is_sooner(
                value, rate, speed, residue, speed_r, best_value, best_rate, best_speed, best_value_r, best_speed_r, blur,
                carried,
            )  # fmt: skip
            if sooner == UNDECIDED and _mul(residue, best_speed_r) != _mul(best_value_r, speed_r):
                sooner = _is_sooner_by_pairs(
                    value,
                    value_low,
                    speed,
                    speed_low,
                    best_value,
                    best_value_low,
                    best_speed,
                    best_speed_low,
                    tiny + blur,
                )
        if sooner < 0:
            return sooner
        if sooner == 1:
            reached, best_value, best_rate, best_speed = item, value, rate, speed
            best_value_low, best_speed_low, best_value_r, best_speed_r = value_low, speed_low, residue, speed_r
            best_error = own_error
    return reached if reached >= 0 else UNDECIDED


@_step
def _edge_direction(
    size, edge, z, turn, rows, rows_r, tight, inverse, low, inverse_r, carried, direction, direction_low, direction_r
):
    """The change of the weights and the intercept along an edge."""
    for j in range(size):
        if z < 0:
            direction[j], direction_low[j] = inverse[j, edge], low[j, edge]
            direction_r[j] = inverse_r[j, edge]
        elif carried:
            total, rest, residue = 0.0, 0.0, _ZERO
            for i in range(size):
                x = -turn * rows[tight[i], z]
                product, error = _product_pair(x, inverse[j, i])
                total, rest = _add_pair(total, rest, product, error + x * low[j, i])
                residue = _add(residue, _mul(inverse_r[j, i], rows_r[tight[i], z]))
            direction[j], direction_low[j] = total, rest
            direction_r[j] = residue if turn < 0 else _sub(_ZERO, residue)
        else:
            total = 0.0
            for i in range(size):
                total -= turn * inverse[j, i] * rows[tight[i], z]
            direction[j] = total


@_step
def _read_basis(basis, m, n, tight, support, empty, in_basis):
    """Split a basis into tight rows, features with weight (and the intercept) and features without; how many are tight."""
    in_basis[:] = 0
    size = 0
    for position in range(n + 1):
        in_basis[basis[position]] = 1
        if basis[position] < m:
            tight[size] = basis[position]
            size += 1
    k = 0
    for j in range(n):
        if in_basis[m + j]:
            empty[j - k] = j
        else:
            support[k] = j
            k += 1
    support[k] = n
    return size if size == k + 1 else -1


@njit(nogil=True, error_model="numpy", inline="always")  # one thing less to be linked and optimised twice
def expand(
    basis, rows, rows_r, tilt, powers, carried, floats, residues, integers, tall, in_basis, neighbours, edges, solution
):
    """All neighbours of a vertex along edges of the complex. Returns their number, or a status below zero.

    ``edges`` receives for each direction (each tight row dropped; each feature without weight given some, up and down)
    the item that is reached, or below zero what refutes the edge.

    ``rows`` are y_i (x_i, 1), ``tilt`` the direction of the perturbation; an item i < m of a basis is a tight row, m + j a
    feature without weight. ``solution`` receives (w, b) at no perturbation. The other arrays are room to work in.
    """
    m, n = rows.shape[0], rows.shape[1] - 1
    matrix, inverse, work, low, table = floats[0], floats[1], floats[2], floats[3], floats[4]
    weight, weight_low, weight_rate = floats[5, 0], floats[5, 1], floats[5, 2]
    direction, direction_low, rate_low, table_low = floats[6, 0], floats[6, 1], floats[6, 2], floats[7]
    matrix_r, inverse_r, work_r, table_r = residues[0], residues[1], residues[2], residues[3]
    value_r, direction_r = residues[4, 0], residues[4, 1]
    tight, support, empty, sign_of = integers[0], integers[1], integers[2], integers[3]
    tight_edge, up_edge, down_edge = integers[4], integers[5], integers[6]
    slack, slack_rate, scale_of, products = tall[0], tall[1], tall[2], tall[3:].reshape(m, n + 1)
    size = _read_basis(basis, m, n, tight, support, empty, in_basis)
    if size < 0:
        return INVALID
    for i in range(size):
        for j in range(size):
            matrix[i, j] = rows[tight[i], support[j]]
            matrix_r[i, j] = rows_r[tight[i], support[j]]
    error = _invert(matrix, size, inverse, work, low)
    if error == 1.0:
        return UNDECIDED
    noise = max(1e-14, 2 * error)  # relative errors of plain floats
    tiny = max(1e-24, 100 * error * error)  # what pairs of floats can tell from zero
    if not carried and noise > 1e-10:
        return AMBIGUOUS
    if carried:
        if not _invert_residues(matrix_r, size, inverse_r, work_r):
            return UNDECIDED
        _low_parts(matrix, size, inverse, low, work)
    status = _solve_basis(
        size, tilt, tight, inverse, low, inverse_r, tiny, carried, weight, weight_low, weight_rate, rate_low, value_r,
        sign_of,
    )  # fmt: skip
    if status < 0:
        return status
    if not carried:
        _refine_solution(matrix, size, inverse, weight, work)
    solution[:] = 0.0
    for j in range(size):
        solution[support[j]] = weight[j]
    status = _find_slacks(
        size, rows, rows_r, tilt, tight, support, in_basis, inverse, weight, weight_low, weight_rate, rate_low, value_r,
        tiny, carried, products, slack, slack_rate, scale_of,
    )  # fmt: skip
    if status < 0:
        return status
    integers[4:7] = 0
    _fill_table(
        size - 1, n, rows, rows_r, powers, tight, empty, sign_of, inverse, low, inverse_r, tiny if carried else noise,
        carried, table, table_low, table_r, integers[7], integers[8], up_edge, down_edge,
    )  # fmt: skip
    status = _find_edges(
        table, table_low, table_r, carried, size - 1, n, integers[7], integers[8], tight_edge, up_edge, down_edge, edges
    )
    if status < 0:
        return status
    count = 0
    for edge in range(size + 2 * (n + 1 - size)):
        slot, up = (edge - size) // 2, (edge - size) % 2 == 0
        if edge < size:
            exists, dropped, turn, z = tight_edge[edge], tight[edge], 1.0, -1
        else:
            exists, z = (up_edge[slot] if up else down_edge[slot]), empty[slot]
            dropped, turn = m + z, (1.0 if up else -1.0)
        if exists != 1:
            continue
        _edge_direction(
            size,
            edge,
            z,
            turn,
            rows,
            rows_r,
            tight,
            inverse,
            low,
            inverse_r,
            carried,
            direction,
            direction_low,
            direction_r,
        )
        reached = _follow(
            size, edge, z, turn, rows, rows_r, tight, support, in_basis, inverse, sign_of, weight, weight_low, weight_rate,
            value_r, products, slack, slack_rate, scale_of, direction, direction_low, direction_r, noise, tiny, carried,
        )  # fmt: skip
        if reached < 0:
            return reached
        edges[edge] = reached
        _exchange(basis, dropped, reached, neighbours[count])
        count += 1
    return count


@_step
def _exchange(basis, dropped, reached, result):
    """The sorted basis with one item exchanged."""
    position = 0
    placed = False
    for item in basis:
        if item == dropped:
            continue
        if not placed and reached < item:
            result[position] = reached
            position += 1
            placed = True
        result[position] = item
        position += 1
    if not placed:
        result[position] = reached


@_entry
def expand_block(bases, rows, rows_r, tilt, powers, carry_at_once, workspace, neighbours, edges, counts, solutions):
    """``expand`` for several vertices; returns how many of them needed residues."""
    floats, residues, integers, tall, in_basis = workspace
    n_carried = 0
    for v in range(bases.shape[0]):
        carried = carry_at_once
        while True:
            n_carried += carried
            counts[v] = expand(
                bases[v], rows, rows_r, tilt, powers, carried, floats, residues, integers, tall, in_basis, neighbours[v],
                edges[v], solutions[v],
            )  # fmt: skip
            if counts[v] != AMBIGUOUS or carried:
                break
            carried = True
    return n_carried


@_entry
def solution_residues(bases, rows_r):
    """The residues of (w, b) of each basis: two bases with the same ones have the same solution. 0 rows where singular."""
    m, n = rows_r.shape[0], rows_r.shape[1] - 1
    result = np.zeros((bases.shape[0], n + 1), dtype=np.uint64)
    tight, support, empty = np.empty(n + 2, np.int64), np.empty(n + 2, np.int64), np.empty(n + 2, np.int64)
    in_basis = np.empty(m + n, np.uint8)
    room = np.zeros((3, n + 2, n + 2), dtype=np.uint64)
    for v in range(bases.shape[0]):
        size = _read_basis(bases[v], m, n, tight, support, empty, in_basis)
        for i in range(size):
            for j in range(size):
                room[0, i, j] = rows_r[tight[i], support[j]]
        if _invert_residues(room[0], size, room[1], room[2]):
            for j in range(size):
                total = _ZERO
                for i in range(size):
                    total = _add(total, room[1, j, i])
                result[v, support[j]] = total
    return result


@_entry
def absorb(bases, hashes, n_known, slots, keys, neighbours, counts):
    """Add the neighbours that are not known yet to the list of bases; returns the new length of the list.

    ``slots`` is an open hash table of list positions + 1; its length is a power of two.
    """
    mask = uint64(slots.shape[0] - 1)
    width = bases.shape[1]
    for v in range(neighbours.shape[0]):
        for e in range(max(counts[v], 0)):
            item = neighbours[v, e]
            code = _ZERO
            for position in range(width):
                code ^= keys[item[position]]
            place = code & mask
            known = False
            while slots[place] != 0:
                other = slots[place] - 1
                if hashes[other] == code:
                    known = True
                    for position in range(width):
                        if bases[other, position] != item[position]:
                            known = False
                            break
                    if known:
                        break
                place = (place + _1) & mask
            if not known:
                for position in range(width):
                    bases[n_known, position] = item[position]
                hashes[n_known] = code
                slots[place] = n_known + 1
                n_known += 1
    return n_known


@_entry
def rehash(hashes, n_known, slots):
    """Fill an empty hash table with the first ``n_known`` items."""
    mask = uint64(slots.shape[0] - 1)
    for v in range(n_known):
        place = hashes[v] & mask
        while slots[place] != 0:
            place = (place + _1) & mask
        slots[place] = v + 1
