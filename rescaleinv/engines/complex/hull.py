"""The bounds that vertices give to points, and which vertices give them: those not inside the hull of the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rescaleinv._util.compiled import entry, step
from rescaleinv._util.types import FloatArray

# A vertex is left out only if a convex combination of others is this near to it (relative to the range of each
# coordinate): then it moves no bound by more than that, and points nearer to zero are decided by all vertices anyway.
_INSIDE = 1e-11
_DIRECTIONS = 64


@step
def _affine_minimum(corral, size, width, weights, system):
    """Weights, of sum 1, of the point nearest to the origin in the affine hull of the corral's points."""
    for i in range(size + 1):
        for j in range(size + 2):
            system[i, j] = 0.0
    for i in range(size):
        system[i, size] = system[size, i] = 1.0
        for j in range(size):
            total = 0.0
            for k in range(width):
                total += corral[i, k] * corral[j, k]
            system[i, j] = total
    system[size, size + 1] = 1.0
    n = size + 1
    for k in range(n):
        row = k
        for i in range(k + 1, n):
            if abs(system[i, k]) > abs(system[row, k]):
                row = i
        if abs(system[row, k]) < 1e-300:
            return False
        if row != k:
            for j in range(n + 1):
                system[row, j], system[k, j] = system[k, j], system[row, j]
        for i in range(k + 1, n):
            factor = system[i, k] / system[k, k]
            for j in range(k, n + 1):
                system[i, j] -= factor * system[k, j]
    for i in range(n - 1, -1, -1):
        total = system[i, n]
        for j in range(i + 1, n):
            total -= system[i, j] * system[j, n]
        system[i, n] = total / system[i, i]
    for i in range(size):
        weights[i] = system[i, n]
    return True


@step
def _lowest_score(columns, n_points, direction, scores):
    """The point (column) that is lowest in a direction, and its score."""
    scores[:n_points] = 0.0
    for k in range(columns.shape[0]):
        factor = direction[k]
        for h in range(n_points):
            scores[h] += factor * columns[k, h]
    best, lowest = 0, np.inf
    for h in range(n_points):
        if scores[h] < lowest:
            best, lowest = h, scores[h]
    return best, lowest


@step
def _nearest(columns, n_points, target, direction, scores):
    """Wolfe's method: the point of the hull of the first columns that is nearest to the target.

    Returns 1 if that is the target itself, 0 with a separating direction if not, -1 if rounding spoils it.
    """
    width = columns.shape[0]
    corral = np.empty((width + 2, width))
    member = np.empty(width + 2, np.int64)
    share, wanted = np.zeros(width + 2), np.zeros(width + 2)
    system = np.empty((width + 3, width + 4))
    size = 1
    member[0] = 0
    corral[0] = columns[:, 0] - target
    share[0] = 1.0
    x = corral[0].copy()
    for _ in range(50 * width):
        largest, square, offset = 0.0, 0.0, 0.0
        for k in range(width):
            largest = max(largest, abs(x[k]))
            square += x[k] * x[k]
            offset += x[k] * target[k]
        if largest <= _INSIDE:
            return 1
        best, lowest = _lowest_score(columns, n_points, x, scores)
        if lowest - offset >= square * (1 - 1e-9):
            direction[:] = x
            return 0
        if size == width + 1:
            return -1
        for i in range(size):
            if member[i] == best:
                return -1
        if lowest - offset > 0.1 * square and square > 1e-12:
            # already separated, if not yet by the nearest point: any separating direction will do
            direction[:] = x
            return 0
        member[size] = best
        corral[size] = columns[:, best] - target
        share[size] = 0.0
        size += 1
        while True:
            if not _affine_minimum(corral, size, width, wanted, system):
                return -1
            step = 1.0
            for i in range(size):
                if wanted[i] < 1e-15:
                    step = min(step, share[i] / max(share[i] - wanted[i], 1e-300))
            kept = 0
            for i in range(size):
                value = share[i] + step * (wanted[i] - share[i])
                if step == 1.0 or value > 1e-14:
                    share[kept], member[kept] = value, member[i]
                    corral[kept] = corral[i]
                    kept += 1
            if step == 1.0:
                break
            if kept == size or kept == 0:
                return -1
            size = kept
        x[:] = 0.0
        for i in range(size):
            for k in range(width):
                x[k] += share[i] * corral[i, k]
    return -1


@entry
def _grow(columns, chosen, n_chosen, is_chosen):
    """Test every point against the hull of the chosen ones; where it is outside, an extreme point joins them."""
    width, n_points = columns.shape
    packed = np.empty((width, n_points))
    for h in range(n_chosen):
        packed[:, h] = columns[:, chosen[h]]
    direction, scores = np.empty(width), np.empty(n_points)
    for v in range(n_points):
        while not is_chosen[v]:
            inside = _nearest(packed, n_chosen, columns[:, v].copy(), direction, scores)
            if inside == 1:
                break
            extreme = v
            if inside == 0:
                extreme, _ = _lowest_score(columns, n_points, direction, scores)
                if is_chosen[extreme]:
                    extreme = v
            is_chosen[extreme] = True
            chosen[n_chosen] = extreme
            packed[:, n_chosen] = columns[:, extreme]
            n_chosen += 1
    return n_chosen


def outer_vertices(solutions: FloatArray) -> npt.NDArray[np.intp]:
    """Positions of vertices whose convex hull holds all others: these alone give the bounds of any point.

    >>> outer_vertices(np.array([[0.0, 0], [1, 0], [0, 1], [0.25, 0.25], [1, 0]]))
    array([0, 1, 2])
    """
    low = solutions.min(axis=0)
    spread = solutions.max(axis=0) - low
    varying = spread > 0
    if not varying.any():
        return np.array([0])
    points = (solutions[:, varying] - low[varying]) / spread[varying]
    directions = np.random.default_rng(0).normal(size=(_DIRECTIONS, points.shape[1]))
    scores = points @ np.vstack([np.eye(points.shape[1]), -np.eye(points.shape[1]), directions]).T
    start = np.unique(scores.argmin(axis=0))
    is_chosen = np.zeros(len(points), dtype=np.bool_)
    is_chosen[start] = True
    chosen = np.zeros(len(points), dtype=np.intp)
    chosen[: len(start)] = start
    columns = np.ascontiguousarray(points.T)
    return np.sort(chosen[: _grow(columns, chosen, len(start), is_chosen)])


# No value is nan, and zeros have no sign that matters: that is what lets the compiler use vector minima.
@entry(fastmath={"contract", "nnan", "nsz"})
def extremes(points, vertices, lower, upper):
    """The least and the largest w·x + b over all vertices (w, b), point by point, without storing the product.

    Points are taken by 64 and vertices by 4, so that a number that was loaded is used four times.
    """
    width = 64
    n_vertices, n = vertices.shape[0], vertices.shape[1] - 1
    block = np.empty((n, width))
    low, high = np.empty(width), np.empty(width)
    first, second, third, fourth = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for start in range(0, points.shape[0], width):
        used = min(width, points.shape[0] - start)
        for i in range(width):
            source = start + min(i, used - 1)
            for j in range(n):
                block[j, i] = points[source, j]
        low[:] = np.inf
        high[:] = -np.inf
        for v1 in range(0, n_vertices, 4):
            v2, v3, v4 = min(v1 + 1, n_vertices - 1), min(v1 + 2, n_vertices - 1), min(v1 + 3, n_vertices - 1)
            first[:], second[:] = vertices[v1, n], vertices[v2, n]
            third[:], fourth[:] = vertices[v3, n], vertices[v4, n]
            for j in range(n):
                w1, w2, w3, w4 = vertices[v1, j], vertices[v2, j], vertices[v3, j], vertices[v4, j]
                for i in range(width):
                    x = block[j, i]
                    first[i] += w1 * x
                    second[i] += w2 * x
                    third[i] += w3 * x
                    fourth[i] += w4 * x
            for i in range(width):
                low[i] = min(low[i], min(min(first[i], second[i]), min(third[i], fourth[i])))
                high[i] = max(high[i], max(max(first[i], second[i]), max(third[i], fourth[i])))
        for i in range(used):
            lower[start + i] = low[i]
            upper[start + i] = high[i]
