"""Compiled steps of the walk over the vertices of the closure of RO(X); ``walk`` drives them.

A vertex of the perturbed problem is a *basis*: rows T whose margin is tight and features Z whose weight is zero, n + 1 in
all. Its numbers come in two levels: the value without perturbation, and its rate of change under an infinitesimal one.

Every decision is a sign. A float far from zero has it. A float near zero is computed again as a pair of floats, high and
low, with twice the digits, and as a residue modulo a prime that is drawn at random (``residues``). A number is taken for
zero if its residue is zero and the pair is zero up to its error; it has the pair's sign if the residue is not zero and the
pair is clear of its error. Everything else (numbers near zero beyond all digits, or a residue that a float contradicts) is
left to rational arithmetic, outside this module. So a wrong decision needs a number that is not zero, that is zero to some
24 digits, and that the prime divides: given the first two, the chance is below 1e-12 (see ``residues``).

All of it is one file because numba's cache on disk looks only at the file of the entry point: steps that lived in another
file could change without being compiled again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import uint64
from numba.extending import intrinsic

from rescaleinv._util.compiled import entry as _entry
from rescaleinv._util.compiled import step as _step

LARGEST_POWER = 2200  # powers of two are tabulated from -LARGEST_POWER to LARGEST_POWER

AMBIGUOUS = -1  # a float was near zero, and no residues were computed
UNDECIDED = -2  # near zero, not zero: rational arithmetic must decide
INVALID = -3  # the basis is not a vertex of the complex: an earlier step was wrong

_NEAR = 1e-9  # relative: floats nearer to zero than this have no sign of their own

_1, _ZERO = uint64(1), uint64(0)


# What belongs together travels together. A tuple costs nothing at run time: numba takes it apart.


class Field(NamedTuple):
    """Arithmetic modulo a prime p < 2**62, in Montgomery's form: a number x is kept as x 2**64 modulo p.

    ``inverse`` is 1/p modulo 2**64; ``one`` and ``square`` are 2**64 and 2**128 modulo p.
    """

    prime: np.uint64
    inverse: np.uint64
    one: np.uint64
    square: np.uint64


class Training(NamedTuple):
    """Rows y_i (x_i, 1), their residues, the direction of the perturbation, and the residues of powers of two.

    Error bounds are multiplied by ``caution``, which is 1 unless a walk has gone wrong before.
    """

    field: Field

    rows: npt.NDArray[np.float64]
    residues: npt.NDArray[np.uint64]
    perturbation: npt.NDArray[np.float64]
    powers: npt.NDArray[np.uint64]
    caution: float


class Basis(NamedTuple):
    """``size`` tight rows, features with weight (and the intercept, n, as the last), features without."""

    size: int
    tight: npt.NDArray[np.int64]
    support: npt.NDArray[np.int64]
    empty: npt.NDArray[np.int64]
    in_basis: npt.NDArray[np.uint8]


class Numbers(NamedTuple):
    """An array of numbers three times: floats, what rounding took from them, and residues."""

    high: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    residue: npt.NDArray[np.uint64]


class Vertex(NamedTuple):
    """Weights and intercept as ``Numbers``, their rates of change under the perturbation, and the signs of the weights."""

    weight: npt.NDArray[np.float64]
    weight_low: npt.NDArray[np.float64]
    weight_residue: npt.NDArray[np.uint64]
    rate: npt.NDArray[np.float64]
    rate_low: npt.NDArray[np.float64]
    sign: npt.NDArray[np.int64]


class Slacks(NamedTuple):
    """How far rows are from being tight, the rates, the sizes of the terms, and margins per tight row's margin.

    ``speed`` and ``speed_scale`` are those of rows and then of weights along the edge that is being followed.
    """

    value: npt.NDArray[np.float64]
    rate: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]
    products: npt.NDArray[np.float64]
    speed: npt.NDArray[np.float64]
    speed_scale: npt.NDArray[np.float64]


class Accuracy(NamedTuple):
    """Relative errors of floats and of pairs of floats, and whether pairs and residues are computed at all."""

    noise: float
    tiny: float
    with_residues: bool


class Simplex(NamedTuple):
    """The table of ``_find_edges``, k features with weight out of n, and which variables its rows and columns stand for.

    ``error`` holds the error that entries may have by now, and that of an entry of size 1.
    """

    field: Field
    high: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    residue: npt.NDArray[np.uint64]
    error: npt.NDArray[np.float64]
    with_residues: bool
    k: int
    n: int
    row_variables: npt.NDArray[np.int64]
    column_variables: npt.NDArray[np.int64]


class Edges(NamedTuple):
    """Which edges exist (1; 2: refuted without asking): a tight row dropped, a feature given positive, negative weight.

    ``ends`` has for each direction the item that is reached, or below zero what refutes the edge.
    """

    tight: npt.NDArray[np.int64]
    up: npt.NDArray[np.int64]
    down: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


class Move(NamedTuple):
    """An edge by its number; the feature that gets weight (-1 where a tight row is dropped), and the weight's sign."""

    number: int
    feature: int
    turn: float


class Meeting(NamedTuple):
    """What may be met along an edge: its distance from zero, how fast it falls, both three times, and its rate."""

    value: float
    value_low: float
    value_residue: np.uint64
    speed: float
    speed_low: float
    speed_residue: np.uint64
    rate: float
    error: float


_inlined = _step(forceinline=True)


# ---- arithmetic: residues, floats, pairs of floats


@intrinsic
def _high_product(typing_context, a, b):
    """The upper half of the product of two integers of 64 bits."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(argument, wide) for argument in arguments))
        return builder.trunc(builder.lshr(product, wide(64)), ir.IntType(64))

    return uint64(uint64, uint64), generate


@_inlined
def _mul(field, a, b):
    """a b modulo the prime, by Montgomery's method: no division."""
    high = _high_product(a, b)
    multiple = _high_product(a * b * field.inverse, field.prime)
    return high - multiple if high >= multiple else high + field.prime - multiple


@_inlined
def _add(field, a, b):
    x = a + b
    return x - field.prime if x >= field.prime else x


@_inlined
def _sub(field, a, b):
    return a - b if a >= b else a + field.prime - b


@_step
def _inverse(field, a):
    """a to the power of p - 2."""
    result, exponent = field.one, field.prime - uint64(2)
    while exponent > _ZERO:
        if exponent & _1:
            result = _mul(field, result, a)
        a = _mul(field, a, a)
        exponent >>= _1
    return result


@_entry
def float_residues(field, values, powers):
    """The residues of floats, which are rationals: m 2**e."""
    result = np.empty(values.shape, dtype=np.uint64)
    flat, out = values.ravel(), result.ravel()
    for i in range(flat.size):
        mantissa, exponent = math.frexp(flat[i])
        whole = int(mantissa * 9007199254740992.0)  # 2**53
        residue = _mul(field, _mul(field, uint64(abs(whole)), field.square), powers[exponent - 53 + LARGEST_POWER])
        out[i] = _sub(field, _ZERO, residue) if whole < 0 else residue
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
def _invert_residues(field, matrix, size, inverse, work):
    for i in range(size):
        for j in range(size):
            work[i, j] = matrix[i, j]
            inverse[i, j] = field.one if i == j else _ZERO
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
        scale = _inverse(field, work[k, k])
        for j in range(size):
            work[k, j] = _mul(field, work[k, j], scale)
            inverse[k, j] = _mul(field, inverse[k, j], scale)
        for i in range(size):
            factor = work[i, k]
            if i != k and factor != _ZERO:
                for j in range(size):
                    work[i, j] = _sub(field, work[i, j], _mul(field, factor, work[k, j]))
                    inverse[i, j] = _sub(field, inverse[i, j], _mul(field, factor, inverse[k, j]))
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


# ---- the simplex table: which edges belong to the complex


@_inlined
def _entry_sign(value, residue, error, with_residues):
    """The sign of an entry of the simplex table; 2 where residues must tell, 3 where rationals must."""
    if with_residues:
        if residue == _ZERO:
            return 0
        if abs(value) < 100 * error:
            return 3
    elif abs(value) < max(_NEAR, 10 * error):
        return 2
    return 1 if value > 0 else -1


@_inlined
def _status_of(sign):
    return AMBIGUOUS if sign == 2 else UNDECIDED


@_inlined
def _gave_up(simplex):
    return UNDECIDED if simplex.with_residues else AMBIGUOUS


@_step
def _pivot_floats(table, n_rows, n_columns, row, column):
    """Exchange the row's variable with the column's; returns the largest entry."""
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
    return largest


@_step
def _pivot_pairs(table, low, n_rows, n_columns, row, column):
    """The same for pairs of floats."""
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
def _pivot_residues(field, residues, n_rows, n_columns, row, column):
    """The same for the residues."""
    inverse = _inverse(field, residues[row, column])
    negative = _sub(field, _ZERO, inverse)
    for j in range(n_columns):
        residues[row, j] = _mul(field, residues[row, j], negative)
    residues[row, column] = inverse
    for i in range(n_rows):
        factor = residues[i, column]
        if i != row and factor != _ZERO:
            for j in range(n_columns):
                if j != column:
                    residues[i, j] = _add(field, residues[i, j], _mul(field, factor, residues[row, j]))
            residues[i, column] = _mul(field, factor, inverse)


@_step
def _clear_zeros(high, low, residues, n_rows, n_columns, error):
    """Entries whose residue is zero are zero; False where a float says that one is not: the residue misleads."""
    for i in range(n_rows):
        for j in range(n_columns):
            if residues[i, j] == _ZERO:
                if abs(high[i, j]) > 100 * error:
                    return False
                high[i, j] = 0.0
                low[i, j] = 0.0
    return True


@_step
def _pivot(simplex, row, column):
    """Exchange the row's variable with the column's; returns False where the entries can't be relied on any more."""
    high, low, residue, error = simplex.high, simplex.low, simplex.residue, simplex.error
    n_rows, n_columns = simplex.n + 1, simplex.k + 2
    pivot = abs(high[row, column])
    if simplex.with_residues:
        largest = _pivot_pairs(high, low, n_rows, n_columns, row, column)
        _pivot_residues(simplex.field, residue, n_rows, n_columns, row, column)
    else:
        largest = _pivot_floats(high, n_rows, n_columns, row, column)
    rows, columns = simplex.row_variables, simplex.column_variables
    rows[row], columns[column] = columns[column], rows[row]
    error[0] = max(error[0], error[1] * largest * max(1.0, 1.0 / pivot))  # the pivot's own error grows like its inverse
    if simplex.with_residues and not _clear_zeros(high, low, residue, n_rows, n_columns, error[0]):
        return False
    return error[0] < 1e-6


@_inlined
def _compare_ratios(simplex, i, best, column):
    """The sign of (ratio of row i - ratio of the best row), each its constant over minus its entry; 2 and 3 as above."""
    high, low, residue, field = simplex.high, simplex.low, simplex.residue, simplex.field
    ahead, behind = high[i, 0] * -high[best, column], high[best, 0] * -high[i, column]
    if abs(ahead - behind) > _NEAR * (abs(ahead) + abs(behind)):
        return 1 if ahead > behind else -1
    if not simplex.with_residues:
        return 2
    x, x_low = _multiply_pairs(high[i, 0], low[i, 0], -high[best, column], -low[best, column])
    y, y_low = _multiply_pairs(high[best, 0], low[best, 0], high[i, column], low[i, column])
    difference, _ = _add_pair(x, x_low, y, y_low)
    clear = abs(difference) > 100 * simplex.error[0] * (abs(x) + abs(y))
    same = _mul(field, residue[i, 0], residue[best, column]) == _mul(field, residue[best, 0], residue[i, column])
    if clear == same:  # floats contradict residues, or can't tell
        return 3
    if same:
        return 0
    return 1 if difference > 0 else -1


@_step
def _leaving_row(simplex, column, preferred):
    """The basic row that first reaches zero as the column's variable grows: its number, -1 for none, or a status - 10.

    Of rows that reach it together, the preferred variable's leaves, or else the one whose variable has the lowest number.
    """
    high, residue, variables = simplex.high, simplex.residue, simplex.row_variables
    error, with_residues = simplex.error[0], simplex.with_residues
    best = np.int64(-1)
    for i in range(simplex.k + 1):
        sign = _entry_sign(high[i, column], residue[i, column], error, with_residues)
        if sign >= 2:
            return -10 - sign
        if sign > -1:
            continue
        order = -1
        if best >= 0:
            order = _compare_ratios(simplex, i, best, column)
        if order >= 2:
            return -10 - order
        if order == 0 and variables[best] != preferred:
            order = -1 if variables[i] == preferred or variables[i] < variables[best] else 1
        if order < 0:
            best = i
    return best


@_step
def _entering_column(simplex, row, direction, blocked, bland):
    """A column that moves the row's variable in the direction: its number, -1 for none, or a status - 10."""
    high, residue, variables = simplex.high, simplex.residue, simplex.column_variables
    error, with_residues = simplex.error[0], simplex.with_residues
    best, best_size = -1, 0.0
    for j in range(1, simplex.k + 2):
        if j == blocked:
            continue
        sign = _entry_sign(high[row, j], residue[row, j], error, with_residues)
        if sign >= 2:
            return -10 - sign
        if sign == direction:
            if bland:
                if best < 0 or variables[j] < variables[best]:
                    best = j
            elif abs(high[row, j]) > best_size:
                best, best_size = j, abs(high[row, j])
    return best


@_step
def _make_feasible(simplex):
    """Phase one: an artificial variable, the last column, is added to every a_i and then driven to zero."""
    up, down, none = np.int64(1), np.int64(-1), np.int64(0)  # numba would compile once more for each literal number
    high, residue, k = simplex.high, simplex.residue, simplex.k
    error, with_residues = simplex.error[0], simplex.with_residues
    artificial = 2 * k + 1
    worst, position = 0.0, down
    for i in range(k + 1):
        sign = _entry_sign(high[i, 0], residue[i, 0], error, with_residues)
        if sign >= 2:
            return _status_of(sign)
        if sign < 0 and high[i, 0] < worst:
            worst, position = high[i, 0], i
    if position < 0:
        return 0
    if not _pivot(simplex, position, k + 1):
        return _gave_up(simplex)
    for iteration in range(400):
        bland = iteration > 60
        entering = _entering_column(simplex, position, down, none, bland)
        leaving = position
        if entering == -1:
            # the artificial is at its least; only zero will do, and then any exchange takes it out
            sign = _entry_sign(high[position, 0], residue[position, 0], simplex.error[0], with_residues)
            if sign >= 2:
                return _status_of(sign)
            if sign != 0:
                return INVALID
            entering = _entering_column(simplex, position, up, none, bland)
            if entering == -1:
                return INVALID
        elif entering >= 0:
            leaving = _leaving_row(simplex, entering, artificial)
        if entering < 0:
            return _status_of(-10 - entering)
        if leaving < 0:
            return _status_of(-10 - leaving)
        if not _pivot(simplex, leaving, entering):
            return _gave_up(simplex)
        if leaving == position:
            return 0
    return _gave_up(simplex)


@_step
def _note_edges(simplex, edges):
    """What the present basic solution shows: multipliers that are 0, and the signs of the μ_j."""
    tight, up, down = edges.tight, edges.up, edges.down
    high, residue, k = simplex.high, simplex.residue, simplex.k
    error, with_residues = simplex.error[0], simplex.with_residues
    rows, columns = simplex.row_variables, simplex.column_variables
    for j in range(1, k + 2):
        if columns[j] <= k:
            tight[columns[j]] = 1
    for i in range(k + 1):
        if rows[i] <= k and tight[rows[i]] == 0:
            sign = _entry_sign(high[i, 0], residue[i, 0], error, with_residues)
            if sign >= 2:
                return _status_of(sign)
            if sign == 0:
                tight[rows[i]] = 1
    for j in range(simplex.n - k):
        if up[j] == 0 or down[j] == 0:
            sign = _entry_sign(high[k + 1 + j, 0], residue[k + 1 + j, 0], error, with_residues)
            if sign >= 2:
                return _status_of(sign)
            if sign > 0:
                up[j] = 1
            elif sign < 0:
                down[j] = 1
    return 0


@_step
def _refutation(simplex):
    """The table's columns as a bit mask, below zero; whoever solves for them exactly has the edge's refutation.

    Bit i <= k: the tight row i may be on the wrong side; bit k + 1 + j: the feature j may have weight.
    """
    mask = np.int64(0)
    for j in range(1, simplex.k + 2):
        variable = simplex.column_variables[j]
        if variable <= 2 * simplex.k:  # the artificial variable, which is fixed at zero, has no bit
            mask |= np.int64(1) << variable
    return -1 - mask


@_step
def _find_edges(simplex, edges):
    """Which edges at a vertex belong to the complex: a linear program each, all from one table.

    Rows 0 … k are the multipliers a_i, rows k+1 … n the μ_j of the features without weight; columns are the constant
    and the ν_j >= 0 of the features with weight (μ_j s_j = 1 + ν_j, scaled). Dropping tight row i is an edge iff a_i can be
    0 while all a >= 0; giving feature j weight of a sign is one iff μ_j can have that sign.
    """
    status = _make_feasible(simplex)
    if status < 0:
        return status
    k = simplex.k
    blocked = np.int64(-1)
    for j in range(1, k + 2):
        if simplex.column_variables[j] == 2 * k + 1:
            blocked = j
    # questions 0 … k: can a_i be 0; then for each feature without weight: can μ_j be positive, negative
    for question in range(k + 1 + 2 * (simplex.n - k)):
        feature, up = (question - k - 1) // 2, (question - k - 1) % 2 == 0
        for iteration in range(401):
            status = _note_edges(simplex, edges)
            if status < 0:
                return status
            if question <= k:
                known, row, direction = edges.tight[question], np.int64(-1), np.int64(-1)
                for i in range(k + 1):
                    if simplex.row_variables[i] == question:
                        row = i
            elif up:
                known, row, direction = edges.up[feature], k + 1 + feature, np.int64(1)
            else:
                known, row, direction = edges.down[feature], k + 1 + feature, np.int64(-1)
            if known == 2:
                edges.ends[question] = _refutation(simplex)
            if known != 0:
                break
            if iteration == 400:
                return _gave_up(simplex)
            entering = _entering_column(simplex, row, direction, blocked, iteration > 60)
            if entering == -1:  # the best value is reached, and it is not enough
                edges.ends[question] = _refutation(simplex)
                break
            if entering < 0:
                return _status_of(-10 - entering)
            preferred = question if question <= k else np.int64(-1)
            leaving = _leaving_row(simplex, entering, preferred)
            if leaving == -1:  # no bound, which only a μ_j can have
                if direction > 0:
                    edges.up[feature] = 1
                else:
                    edges.down[feature] = 1
                break
            if leaving < 0:
                return _status_of(-10 - leaving)
            if not _pivot(simplex, leaving, entering):
                return _gave_up(simplex)
    return 0


# ---- the solution at a vertex


@_inlined
def _dot_pair(basis, rows, row, high, low, start):
    """start + rows[row]·(high, low) over the support, as a pair."""
    size, support = basis.size, basis.support
    total, rest = start, 0.0
    for j in range(size):
        x = rows[row, support[j]]
        product, error = _product_pair(x, high[j])
        total, rest = _add_pair(total, rest, product, error + x * low[j])
    return total, rest


@_inlined
def _dot_residues(field, basis, residues, row, vector, total):
    size, support = basis.size, basis.support
    for j in range(size):
        total = _add(field, total, _mul(field, residues[row, support[j]], vector[j]))
    return total


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
def _solve_basis(training, basis, inverse, accuracy, vertex):
    """The weights and the intercept at a vertex, their rates under the perturbation, and the signs of the weights."""
    tight, perturbation, field = basis.tight, training.perturbation, training.field
    high, low, residues = inverse
    with_residues = accuracy.with_residues
    size = basis.size
    for j in range(size):
        value, rest, scale, rate, rate_rest, rate_scale, residue = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, _ZERO
        for i in range(size):
            x = perturbation[tight[i]]
            scale += abs(high[j, i])
            rate_scale += abs(high[j, i]) * x
            if with_residues:
                value, rest = _add_pair(value, rest, high[j, i], low[j, i])
                product, error = _product_pair(high[j, i], x)
                rate, rate_rest = _add_pair(rate, rate_rest, product, error + low[j, i] * x)
                residue = _add(field, residue, residues[j, i])
            else:
                value += high[j, i]
                rate += high[j, i] * x
        vertex.weight[j], vertex.weight_low[j], vertex.weight_residue[j] = value, rest, residue
        vertex.rate[j], vertex.rate_low[j] = rate, rate_rest
        if j == size - 1:
            break  # the intercept's sign does not matter
        if abs(value) > (accuracy.tiny if with_residues else _NEAR) * scale:
            if with_residues and residue == _ZERO:
                return UNDECIDED  # the float contradicts the residue
            vertex.sign[j] = 1 if value > 0 else -1
        elif not with_residues:
            return AMBIGUOUS
        elif residue != _ZERO or abs(rate) <= _NEAR * rate_scale:
            return UNDECIDED
        else:
            vertex.weight[j] = 0.0
            vertex.weight_low[j] = 0.0
            vertex.sign[j] = 1 if rate > 0 else -1
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
def _find_slacks(training, basis, inverse, vertex, accuracy, slacks):
    """How far the other rows are from being tight; ``products`` are their margins per unit of each tight row's margin."""
    size, tight, support, in_basis, products = basis.size, basis.tight, basis.support, basis.in_basis, slacks.products
    rows, perturbation, field = training.rows, training.perturbation, training.field
    with_residues = accuracy.with_residues
    for q in range(rows.shape[0]):
        if in_basis[q]:
            continue
        value, scale, rate, rate_scale = -1.0, 1.0, -perturbation[q], perturbation[q]
        for i in range(size):
            total = 0.0
            for j in range(size):
                total += rows[q, support[j]] * inverse[j, i]
            products[q, i] = total
            value += total
            scale += abs(total)
            rate += total * perturbation[tight[i]]
            rate_scale += abs(total) * perturbation[tight[i]]
        if with_residues:
            rate = _dot_pair(basis, rows, q, vertex.rate, vertex.rate_low, -perturbation[q])[0]
        if abs(value) <= _NEAR * scale:
            if not with_residues:
                return AMBIGUOUS
            residue = _dot_residues(
                field, basis, training.residues, q, vertex.weight_residue, _sub(field, _ZERO, field.one)
            )
            value = _dot_pair(basis, rows, q, vertex.weight, vertex.weight_low, -1.0)[0]
            if (abs(value) > accuracy.tiny * scale) == (residue == _ZERO):
                return UNDECIDED  # the float contradicts the residue, or can't tell
            if residue == _ZERO:
                if abs(rate) <= _NEAR * rate_scale:
                    return UNDECIDED
                if rate < 0:
                    return INVALID
                value = 0.0
        if value < 0:
            return INVALID
        slacks.value[q], slacks.rate[q], slacks.scale[q] = value, rate, scale
    return 0


@_step
def _fill_columns(training, basis, inverse, sign, simplex):
    """The columns of the ν_j: multipliers and gradients per unit of them, each column scaled by a power of two."""
    tight, empty, with_residues = basis.tight, basis.empty, simplex.with_residues
    of_high, of_low, of_exact = inverse
    rows, residues, field = training.rows, training.residues, training.field
    high, low, exact = simplex.high, simplex.low, simplex.residue
    k, size = simplex.k, basis.size
    for j in range(k):
        largest = 0.0
        for i in range(size):
            largest = max(largest, abs(of_high[j, i]))
        exponent = -math.frexp(largest)[1]
        factor = sign[j] * math.ldexp(1.0, exponent)
        for i in range(size):
            high[i, j + 1] = factor * of_high[j, i]
            low[i, j + 1] = factor * of_low[j, i] if with_residues else 0.0
            if with_residues:
                residue = _mul(field, of_exact[j, i], training.powers[exponent + LARGEST_POWER])
                exact[i, j + 1] = residue if sign[j] > 0 else _sub(field, _ZERO, residue)
                if residue == _ZERO:
                    if abs(high[i, j + 1]) > 100 * simplex.error[1]:
                        return UNDECIDED
                    high[i, j + 1], low[i, j + 1] = 0.0, 0.0
        for z in range(simplex.n - k):
            total, rest, residue, scale = 0.0, 0.0, _ZERO, 1.0
            for i in range(size):
                x = rows[tight[i], empty[z]]
                if with_residues:
                    product, error = _product_pair(of_high[j, i], x)
                    scale += abs(factor * product)
                    total, rest = _add_pair(total, rest, product, error + of_low[j, i] * x)
                    residue = _add(field, residue, _mul(field, exact[i, j + 1], residues[tight[i], empty[z]]))
                else:
                    total += of_high[j, i] * x
            if with_residues and residue == _ZERO:
                if abs(factor * total) > 100 * simplex.error[1] * scale:
                    return UNDECIDED  # the float contradicts the residue
                total, rest = 0.0, 0.0
            high[size + z, j + 1], low[size + z, j + 1] = factor * total, factor * rest
            exact[size + z, j + 1] = residue
        simplex.column_variables[j + 1] = size + j
    simplex.column_variables[k + 1] = 2 * k + 1
    return 0


@_step
def _fill_table(training, basis, inverse, sign, simplex, edges):
    """The table that ``_find_edges`` begins with."""
    with_residues = simplex.with_residues
    if _fill_columns(training, basis, inverse, sign, simplex) < 0:
        return UNDECIDED
    high, low, exact, field = simplex.high, simplex.low, simplex.residue, training.field
    k, size = simplex.k, basis.size
    growth = 1.0
    for i in range(simplex.n + 1):
        total, rest, residue, largest = 0.0, 0.0, _ZERO, 0.0
        for j in range(1, k + 1):
            if with_residues:
                residue = _add(field, residue, exact[i, j])
                total, rest = _add_pair(total, rest, high[i, j], low[i, j])
            else:
                total += high[i, j]
            largest = max(largest, abs(high[i, j]))
        if with_residues and residue == _ZERO:
            if abs(total) > 100 * simplex.error[1] * k * max(1.0, largest):
                return UNDECIDED  # the float contradicts the residue
            total, rest = 0.0, 0.0
        high[i, 0], low[i, 0], exact[i, 0] = total, rest, residue
        # rows are scaled for the floats' sake only; whether a residue is zero does not change with it
        exponent = -math.frexp(largest)[1] if largest > 0 else 0
        scale = math.ldexp(1.0, exponent)
        for j in range(k + 1):
            high[i, j] *= scale
            low[i, j] *= scale
        # errors are relative to the largest entry of a column, so that scaling a row up makes its errors larger
        growth = max(growth, scale)
        high[i, k + 1], low[i, k + 1] = (1.0 if i < size else 0.0), 0.0
        exact[i, k + 1] = training.powers[LARGEST_POWER - exponent] if i < size else _ZERO
        simplex.row_variables[i] = i
    simplex.error[0] = simplex.error[1] * growth
    for z in range(simplex.n - k):
        constant = True
        for i in range(size):
            constant = constant and training.rows[basis.tight[i], basis.empty[z]] == 0.0
        edges.up[z] = edges.down[z] = 2 if constant else 0  # a feature that is 0 on all tight rows has no gradient
    return 0


# ---- along an edge to the next vertex


@_step
def _is_sooner(field, new, best, accuracy):
    """Is the new value / speed + infinitesimal rate / speed less than the best so far? 1 or 0, or a status below zero."""
    blur = new.error + best.error  # the relative error of the two ratios together
    ahead, behind = new.value * best.speed, best.value * new.speed
    if abs(ahead - behind) > (_NEAR + blur) * (ahead + behind):
        return 1 if ahead < behind else 0
    if not accuracy.with_residues:
        return AMBIGUOUS
    ahead, low = _product_pair(new.value, best.speed)
    behind, low_behind = _product_pair(-best.value, new.speed)
    difference, _ = _add_pair(
        ahead,
        low + new.value * best.speed_low + new.value_low * best.speed,
        behind,
        low_behind - best.value * new.speed_low - best.value_low * new.speed,
    )
    clear = abs(difference) > (accuracy.tiny + blur) * (abs(ahead) + abs(behind))
    same = _mul(field, new.value_residue, best.speed_residue) == _mul(field, best.value_residue, new.speed_residue)
    if clear == same:  # floats contradict residues, or can't tell
        return UNDECIDED
    if clear:
        return 1 if difference < 0 else 0
    ahead, behind = new.rate * best.speed, best.rate * new.speed
    if abs(ahead - behind) <= _NEAR * (abs(ahead) + abs(behind)):
        return UNDECIDED
    return 1 if ahead < behind else 0


@_inlined
def _row_in_pairs(training, basis, vertex, direction, move, row, plain):
    """How a row is met along an edge, with twice the digits and with residues; ``plain`` has it in floats."""
    rows, residues, field, z = training.rows, training.residues, training.field, move.feature
    speed_r = _dot_residues(field, basis, residues, row, direction.residue, _ZERO)
    if z >= 0:
        speed_r = _add(field, speed_r, residues[row, z]) if move.turn > 0 else _sub(field, speed_r, residues[row, z])
    value_r = _dot_residues(field, basis, residues, row, vertex.weight_residue, _sub(field, _ZERO, field.one))
    own = move.turn * rows[row, z] if z >= 0 else 0.0
    high, low = _dot_pair(basis, rows, row, direction.high, direction.low, own)
    value, value_low = plain.value, 0.0
    if value != 0.0:
        value, value_low = _dot_pair(basis, rows, row, vertex.weight, vertex.weight_low, -1.0)
    return Meeting(value, value_low, value_r, -high, -low, _sub(field, _ZERO, speed_r), plain.rate, 0.0)


@_inlined
def _weight_in_pairs(field, vertex, direction, j, plain):
    """The same for a weight."""
    sign = vertex.sign[j]
    speed_r, value_r = direction.residue[j], vertex.weight_residue[j]
    if sign > 0:
        speed_r = _sub(field, _ZERO, speed_r)
    else:
        value_r = _sub(field, _ZERO, value_r)
    return Meeting(
        plain.value,
        sign * vertex.weight_low[j],
        value_r,
        plain.speed,
        -sign * direction.low[j],
        speed_r,
        plain.rate,
        0.0,
    )


@_inlined
def _with_error(new, relative, scale):
    """The same with the relative error of its ratio."""
    error = relative * (scale / max(new.value, 1e-300) + scale / new.speed) if new.value > 0 else 0.0
    return Meeting(
        new.value, new.value_low, new.value_residue, new.speed, new.speed_low, new.speed_residue, new.rate, error
    )


@_step
def _look_ahead(training, basis, move, inverse, vertex, slacks, direction, noise):
    """How fast rows and weights approach zero along an edge, in floats; returns a distance at which one is met for sure.

    Nothing that is clearly farther away need be known exactly: of an integer table's many zero speeds hardly any matter.
    """
    slack, slack_scale, speeds, scales = slacks.value, slacks.scale, slacks.speed, slacks.speed_scale
    weight, along = vertex.weight, direction.high
    size, tight, in_basis, products, sign = basis.size, basis.tight, basis.in_basis, slacks.products, vertex.sign
    rows, z = training.rows, move.feature
    m = rows.shape[0]
    limit = np.inf
    for candidate in range(m + size - 1):
        j = candidate - m
        if j < 0:
            if in_basis[candidate]:
                continue
            value, scale = slack[candidate], slack_scale[candidate]
            if z < 0:
                speed = -products[candidate, move.number]
            else:
                speed, terms = rows[candidate, z], abs(rows[candidate, z])
                for i in range(size):
                    product = products[candidate, i] * rows[tight[i], z]
                    speed -= product
                    terms += abs(product)
                speed *= -move.turn
                scale = max(scale, terms)
        else:
            value, speed, scale = sign[j] * weight[j], -sign[j] * along[j], 0.0
            for i in range(size):
                term = abs(inverse[j, i])
                scale += term if z < 0 else term * max(1.0, abs(rows[tight[i], z]))
        speeds[candidate], scales[candidate] = speed, scale
        blur = 10 * noise * scale
        if speed > 2 * blur:
            limit = min(limit, (value + blur) / (speed - blur))
    return limit


@_step
def _follow(training, basis, move, inverse, vertex, slacks, direction, accuracy):
    """What is met first along an edge: a row that becomes tight or a weight (m + j) that becomes zero."""
    slack, slack_rate, speeds, scales = slacks.value, slacks.rate, slacks.speed, slacks.speed_scale
    weight, weight_rate, in_basis, sign = vertex.weight, vertex.rate, basis.in_basis, vertex.sign
    m = training.rows.shape[0]
    noise, tiny, with_residues = accuracy
    limit = _look_ahead(training, basis, move, inverse, vertex, slacks, direction, noise)
    reached, best = -1, Meeting(0.0, 0.0, _ZERO, 0.0, 0.0, _ZERO, 0.0, 0.0)
    for candidate in range(m + basis.size - 1):
        j = candidate - m
        if j < 0:
            if in_basis[candidate]:
                continue
            value, rate = slack[candidate], slack_rate[candidate]
        else:
            value, rate = sign[j] * weight[j], sign[j] * weight_rate[j]
        speed, scale = speeds[candidate], scales[candidate]
        blur = 10 * noise * scale
        if speed < -max(_NEAR * scale, blur) or value - blur > limit * (max(speed, 0.0) + blur):
            continue
        new = Meeting(value, 0.0, _ZERO, speed, 0.0, _ZERO, rate, 0.0)
        if with_residues:
            if j < 0:
                new = _row_in_pairs(training, basis, vertex, direction, move, candidate, new)
            else:
                new = _weight_in_pairs(training.field, vertex, direction, j, new)
            if (abs(new.speed) > tiny * scale) == (new.speed_residue == _ZERO):
                return UNDECIDED  # the float contradicts the residue, or can't tell
            if new.speed_residue == _ZERO or new.speed < 0:
                continue
        elif speed < _NEAR * scale:
            return AMBIGUOUS
        new = _with_error(new, tiny if with_residues else noise, scale)
        sooner = 1
        if reached >= 0:
            sooner = _is_sooner(training.field, new, best, accuracy)
        if sooner < 0:
            return sooner
        if sooner == 1:
            reached, best = (candidate if j < 0 else m + basis.support[j]), new
    return reached if reached >= 0 else UNDECIDED


@_step
def _edge_direction(training, basis, move, inverse, with_residues, direction):
    """The change of the weights and the intercept along an edge."""
    size, tight = basis.size, basis.tight
    high, low, exact = inverse
    rows, residues, field, z = training.rows, training.residues, training.field, move.feature
    for j in range(size):
        if z < 0:
            direction.high[j], direction.low[j] = high[j, move.number], low[j, move.number]
            direction.residue[j] = exact[j, move.number]
        elif with_residues:
            total, rest, residue = 0.0, 0.0, _ZERO
            for i in range(size):
                x = -move.turn * rows[tight[i], z]
                product, error = _product_pair(x, high[j, i])
                total, rest = _add_pair(total, rest, product, error + x * low[j, i])
                residue = _add(field, residue, _mul(field, exact[j, i], residues[tight[i], z]))
            direction.high[j], direction.low[j] = total, rest
            direction.residue[j] = residue if move.turn < 0 else _sub(field, _ZERO, residue)
        else:
            total = 0.0
            for i in range(size):
                total -= move.turn * high[j, i] * rows[tight[i], z]
            direction.high[j] = total


@_step
def _read_basis(items, m, n, tight, support, empty, in_basis):
    """Split a basis into tight rows, features with weight (and the intercept) and features without; how many are tight."""
    in_basis[:] = 0
    size = 0
    for position in range(n + 1):
        in_basis[items[position]] = 1
        if items[position] < m:
            tight[size] = items[position]
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


@_step
def _exchange(items, dropped, reached, result):
    """The sorted basis with one item exchanged."""
    position = 0
    placed = False
    for item in items:
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


@_step
def _follow_edges(items, training, basis, inverse, vertex, slacks, direction, accuracy, edges, neighbours):
    """Follow every edge that exists; returns the number of neighbours, or a status below zero."""
    m, n, size = training.rows.shape[0], training.rows.shape[1] - 1, basis.size
    count = 0
    for edge in range(size + 2 * (n + 1 - size)):
        slot, up = (edge - size) // 2, (edge - size) % 2 == 0
        if edge < size:
            exists, dropped, move = edges.tight[edge], basis.tight[edge], Move(edge, np.int64(-1), 1.0)
        else:
            exists, move = (
                (edges.up[slot] if up else edges.down[slot]),
                Move(edge, basis.empty[slot], 1.0 if up else -1.0),
            )
            dropped = m + move.feature
        if exists != 1:
            continue
        _edge_direction(training, basis, move, inverse, accuracy.with_residues, direction)
        reached = _follow(training, basis, move, inverse.high, vertex, slacks, direction, accuracy)
        if reached < 0:
            return reached
        edges.ends[edge] = reached
        _exchange(items, dropped, reached, neighbours[count])
        count += 1
    return count


@_step(inline="always")  # one thing less to be linked and optimised twice
def expand(items, training, with_residues, workspace, neighbours, ends, solution):
    """All neighbours of a vertex along edges of the complex. Returns their number, or a status below zero.

    An item i < m of a basis is a tight row, m + j a feature without weight. ``ends`` receives for each direction (each
    tight row dropped; each feature without weight given some, up and down) the item that is reached, or below zero what
    refutes the edge; ``solution`` (w, b) without perturbation. The workspace is room to work in.
    """
    rows = training.rows
    m, n = rows.shape[0], rows.shape[1] - 1
    floats, residues, integers, tall, in_basis, ahead = workspace
    tight, support, empty = integers[0], integers[1], integers[2]
    size = _read_basis(items, m, n, tight, support, empty, in_basis)
    if size < 0:
        return INVALID
    basis = Basis(size, tight, support, empty, in_basis)
    matrix, work, matrix_r = floats[0], floats[2], residues[0]
    for i in range(size):
        for j in range(size):
            matrix[i, j] = rows[tight[i], support[j]]
            matrix_r[i, j] = training.residues[tight[i], support[j]]
    inverse = Numbers(floats[1], floats[3], residues[1])
    error = _invert(matrix, size, inverse.high, work, inverse.low)
    if error == 1.0:
        return UNDECIDED
    # relative errors of plain floats, and what pairs of floats can tell from zero
    noise, tiny = max(1e-14, 2 * error), max(1e-24, 100 * error * error)
    accuracy = Accuracy(training.caution * noise, training.caution * tiny, with_residues)
    if not with_residues and accuracy.noise > 1e-10:
        return AMBIGUOUS
    if with_residues:
        if not _invert_residues(training.field, matrix_r, size, inverse.residue, residues[2]):
            return UNDECIDED
        _low_parts(matrix, size, inverse.high, inverse.low, work)
    vertex = Vertex(floats[5, 0], floats[5, 1], residues[4, 0], floats[5, 2], floats[6, 2], integers[3])
    status = _solve_basis(training, basis, inverse, accuracy, vertex)
    if status < 0:
        return status
    if not with_residues:
        _refine_solution(matrix, size, inverse.high, vertex.weight, work)
    solution[:] = 0.0
    for j in range(size):
        solution[support[j]] = vertex.weight[j]
    slacks = Slacks(tall[0], tall[1], tall[2], tall[3:].reshape(m, n + 1), ahead[0], ahead[1])
    status = _find_slacks(training, basis, inverse.high, vertex, accuracy, slacks)
    if status < 0:
        return status
    integers[4:7] = 0
    edges = Edges(integers[4], integers[5], integers[6], ends)
    simplex = Simplex(
        training.field,
        floats[4],
        floats[7],
        residues[3],
        floats[8, 0],
        with_residues,
        size - 1,
        n,
        integers[7],
        integers[8],
    )
    simplex.error[1] = accuracy.tiny if with_residues else accuracy.noise
    status = _fill_table(training, basis, inverse, vertex.sign, simplex, edges)
    if status == 0:
        status = _find_edges(simplex, edges)
    if status < 0:
        return status
    direction = Numbers(floats[6, 0], floats[6, 1], residues[4, 1])
    return _follow_edges(items, training, basis, inverse, vertex, slacks, direction, accuracy, edges, neighbours)


# ---- blocks of vertices, and the list of those that are known


@_entry(_nrt=False)
def expand_block(bases, training, residues_at_once, workspace, neighbours, ends, counts, solutions):
    """``expand`` for several vertices; returns how many of them needed residues."""
    n_with_residues = 0
    for v in range(bases.shape[0]):
        with_residues = residues_at_once
        while True:
            n_with_residues += with_residues
            counts[v] = expand(bases[v], training, with_residues, workspace, neighbours[v], ends[v], solutions[v])
            if counts[v] != AMBIGUOUS or with_residues:
                break
            with_residues = True
    return n_with_residues


@_entry(_nrt=False)
def absorb(bases, hashes, n_known, slots, keys, neighbours, counts):
    """Add the neighbours that are not known yet to the list of bases; returns the new length of the list.

    ``slots`` is an open hash table of list positions + 1; its length is a power of two.
    """
    mask = uint64(slots.shape[0] - 1)
    width = bases.shape[1]
    for v in range(neighbours.shape[0]):
        for e in range(max(counts[v], 0)):
            items = neighbours[v, e]
            code = _ZERO
            for position in range(width):
                code ^= keys[items[position]]
            slot = code & mask
            known = False
            while slots[slot] != 0:
                other = slots[slot] - 1
                if hashes[other] == code:
                    known = True
                    for position in range(width):
                        if bases[other, position] != items[position]:
                            known = False
                            break
                    if known:
                        break
                slot = (slot + _1) & mask
            if not known:
                for position in range(width):
                    bases[n_known, position] = items[position]
                hashes[n_known] = code
                slots[slot] = n_known + 1
                n_known += 1
    return n_known


@_entry(_nrt=False)
def rehash(hashes, n_known, slots):
    """Fill an empty hash table with the first ``n_known`` items."""
    mask = uint64(slots.shape[0] - 1)
    for v in range(n_known):
        slot = hashes[v] & mask
        while slots[slot] != 0:
            slot = (slot + _1) & mask
        slots[slot] = v + 1
