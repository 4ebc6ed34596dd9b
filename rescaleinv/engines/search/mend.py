"""One step of the dual simplex: from a vertex that misses a condition by a rounding error to the next one that meets it.

Data with near ties (0.1 + 0.2 beside 0.3, or integers after standardisation) have vertices that the perturbation of the
margins, tiny as it is, puts on the wrong side of such a tie. Exact arithmetic finds the condition that is missed; the
multipliers, which decide what gives way to it, have no ties, so that floats will do for them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.search.simplex import Vertex
from rescaleinv.theory.training_set import TrainingSet

_PIVOT = 1e-9


def without_violation(training_set: TrainingSet, vertex: Vertex, costs: FloatArray, item: int) -> Vertex | None:
    """The vertex after ``item`` has joined: a row whose margin is below 1, or a feature (n_rows + j) of the wrong sign.

    None where nothing can give way: the classes are not separable as far as floats can tell. Hard margin only; weights
    and intercept are those of the old vertex.
    """
    m, n = training_set.n_rows, training_set.n_features
    items = [*vertex.on, *(m + j for j in vertex.zero)]
    try:
        inverse = np.linalg.inv(np.array([_line(training_set, i) for i in items]))
    except np.linalg.LinAlgError:
        return None
    prices = np.append(costs * vertex.signs, 0.0) @ inverse
    sign = vertex.signs[item - m] if item >= m else 1.0
    rates = sign * _line(training_set, item) @ inverse
    limits = np.full(n + 1, np.inf)
    falling, rising = rates > _PIVOT, rates < -_PIVOT
    bounds = np.array([0.0 if i < m else costs[i - m] for i in items])
    limits[falling] = (prices[falling] + bounds[falling]) / rates[falling]
    rising &= np.array(items) >= m
    limits[rising] = (bounds[rising] - prices[rising]) / -rates[rising]
    r = int(limits.argmin())
    signs = vertex.signs.copy()
    if item >= m:
        if limits[r] >= 2 * costs[item - m]:
            signs[item - m] = -sign
            return replace(vertex, signs=signs)
        signs[item - m] = 0.0
    if not np.isfinite(limits[r]):
        return None
    if items[r] >= m:
        signs[items[r] - m] = 1.0 if rates[r] > 0 else -1.0
    items[r] = item
    return replace(
        vertex, signs=signs, on=sorted(i for i in items if i < m), zero=sorted(i - m for i in items if i >= m)
    )


def _line(training_set: TrainingSet, item: int) -> FloatArray:
    """y_i (x_i, 1) of a row; the unit vector of a feature."""
    if item < training_set.n_rows:
        return np.append(training_set.conditioned[item], 1.0) * float(training_set.signs[item])
    return np.eye(training_set.n_features + 1)[item - training_set.n_rows]
