"""The inner loops of the one-pass learners, compiled by numba: one row at a time, in memory for a few rows.

Every learner has a vector of parameters: blocks of one number per feature (weights w, and slopes α and offsets β if it
has them), and the bias last. What distinguishes the learners is the *form* of the decision value, and the step that is
made along the derivative of that value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rescaleinv._util.compiled import entry as _entry
from rescaleinv._util.compiled import step as _step

LINEAR, FS, FS_1, FS_2, FS_3 = range(5)
LOG_LOSS, HINGE, SQUARED_HINGE = range(3)


# Learning on features that are not scaled may diverge. A product of two parameters and a value must stay finite.
_LARGEST_PARAMETER = 1e100


@_step
def _sigmoid(value: Any) -> Any:
    if value >= 0:
        return 1 / (1 + np.exp(-value))
    small = np.exp(value)
    return small / (1 + small)


@_step
def _value(form: Any, theta: Any, x: Any, slope: Any) -> Any:
    """The decision value at x, and its derivative by each parameter in ``slope``."""
    n = len(x)
    total = theta[-1]
    slope[-1] = 1.0
    if form in (LINEAR, FS_3):
        for j in range(n):
            total += theta[j] * x[j]
            slope[j] = x[j]
        for at in range(n, len(theta) - 1):  # the offsets, in FS_3
            total += theta[at]
            slope[at] = 1.0
    elif form == FS_2:
        for j in range(n):
            scaled = theta[n + j] * x[j] + theta[2 * n + j]
            total += theta[j] * scaled
            slope[j] = scaled
            slope[n + j] = theta[j] * x[j]
            slope[2 * n + j] = theta[j]
    else:
        offsets = 2 * n if form == FS else n
        for j in range(n):
            scaled = _sigmoid((theta[n + j] if form == FS else 1.0) * x[j] - theta[offsets + j])
            inner = theta[j] * scaled * (1 - scaled)
            total += theta[j] * scaled
            slope[j] = scaled
            slope[n + j] = inner * x[j]  # FS_1 has no slopes, and its offsets are there
            slope[offsets + j] = -inner
    return total


@_step
def _unpack(is_dense: Any, data: Any, indices: Any, indptr: Any, row: Any, x: Any) -> None:
    """A row of a dense matrix (whose rows are one after the other in ``data``), or of one in CSR form."""
    n = len(x)
    for j in range(n):
        x[j] = data[row * n + j] if is_dense else 0.0
    if not is_dense:
        for at in range(indptr[row], indptr[row + 1]):
            x[indices[at]] += data[at]


@_step
def _observe(x: Any, count: Any, mean: Any, squares: Any) -> None:
    """Equations 2 and 3: mean and sum of squared deviations with x as the ``count``-th row."""
    for j in range(len(x)):
        before = x[j] - mean[j]
        mean[j] += before / count
        squares[j] += before * (x[j] - mean[j])


@_step
def _scale(x: Any, count: Any, mean: Any, squares: Any) -> None:
    """Equation 1; a feature that has been constant is only centred."""
    for j in range(len(x)):
        x[j] -= mean[j]
        if count > 1 and squares[j] > 0:
            x[j] /= np.sqrt(squares[j] / (count - 1))


@_step
def _sum_of_squares(vector: Any, start: Any, end: Any) -> Any:
    total = 0.0
    for at in range(start, end):
        total += vector[at] ** 2
    return total


@_step
def _is_small(vector: Any) -> Any:
    small = True
    for value in vector:
        small = small and abs(value) < _LARGEST_PARAMETER  # not so of NaN
    return small


@_step
def _shrink(theta: Any, n_features: Any, penalties: Any, squared: Any, rate: Any, moved: Any) -> None:
    """The parameters after the step of the penalty alone: one factor per block, never below zero; the bias is free."""
    moved[-1] = theta[-1]
    for block in range(len(penalties)):
        start = block * n_features
        pull = 2 * rate * penalties[block]
        if not squared:
            norm = np.sqrt(_sum_of_squares(theta, start, start + n_features))
            pull = rate * penalties[block] / norm if norm > 0 else 0.0
        for at in range(start, start + n_features):
            moved[at] = theta[at] * max(0.0, 1 - pull)


@_entry
def observe(
    is_dense: Any, data: Any, indices: Any, indptr: Any, n_rows: Any, count: Any, mean: Any, squares: Any
) -> None:
    """Take the rows into the running mean and sum of squared deviations, after ``count`` earlier ones."""
    x = np.empty(len(mean))
    for row in range(n_rows):
        _unpack(is_dense, data, indices, indptr, row, x)
        _observe(x, count + row + 1, mean, squares)


@_entry
def decision_values(
    form: Any,
    is_dense: Any,
    data: Any,
    indices: Any,
    indptr: Any,
    theta: Any,
    scaled: Any,
    count: Any,
    mean: Any,
    squares: Any,
    values: Any,
) -> None:
    """The decision value of each row."""
    x = np.empty(len(mean))
    slope = np.empty(len(theta))
    for row in range(len(values)):
        _unpack(is_dense, data, indices, indptr, row, x)
        if scaled:
            _scale(x, count, mean, squares)
        values[row] = _value(form, theta, x, slope)


@_entry
def learn(
    form: Any,
    loss: Any,
    is_dense: Any,
    data: Any,
    indices: Any,
    indptr: Any,
    positive: Any,
    theta: Any,
    average: Any,
    predicts_by_average: Any,
    count: Any,
    first_rate: Any,
    horizon: Any,
    penalties: Any,
    squared: Any,
    C: Any,
    scaled: Any,
    mean: Any,
    squares: Any,
    mistakes: Any,
) -> Any:
    """Learn from the rows, one after the other; returns how many steps were left out because they diverged.

    Each row is added to the running mean and variance and scaled (if ``scaled``), classified with the current parameters,
    and then learnt from. ``theta``, ``average``, ``mean``, ``squares`` and ``mistakes`` change in place.
    """
    n_features = len(mean)
    x = np.empty(n_features)
    slope = np.empty(len(theta))
    moved = np.empty(len(theta))
    skipped = 0
    for row in range(len(positive)):
        _unpack(is_dense, data, indices, indptr, row, x)
        if scaled:
            _observe(x, count + row + 1, mean, squares)
            _scale(x, count + row + 1, mean, squares)
        if predicts_by_average:
            mistakes[row] = (_value(form, average, x, slope) >= 0) != positive[row]
        value = _value(form, theta, x, slope)
        if not predicts_by_average:
            mistakes[row] = (value >= 0) != positive[row]
        if loss == LOG_LOSS:
            rate = first_rate / (1 + (count + row) / horizon)
            _shrink(theta, n_features, penalties, squared, rate, moved)
            factor = rate * ((1.0 if positive[row] else 0.0) - _sigmoid(value))
        else:
            sign = 1.0 if positive[row] else -1.0
            missing = max(0.0, 1 - sign * value)
            norm = _sum_of_squares(slope, 0, len(slope))
            factor = sign * (min(C, missing / norm) if loss == HINGE else missing / (norm + 0.5 / C))
            for at in range(len(theta)):
                moved[at] = theta[at]
        for at in range(len(theta)):
            moved[at] += factor * slope[at]
        is_sound = _is_small(moved)
        skipped += not is_sound
        for at in range(len(theta)):
            if is_sound:
                theta[at] = moved[at]
            if predicts_by_average:
                average[at] += (theta[at] - average[at]) / (count + row + 1)
    return skipped
