"""Convex polygons: the part of a box that lies on the correct side of many lines."""

from __future__ import annotations

import numpy as np

from rescaleinv._util.types import FloatArray, IntArray

# A corner this far beyond a line, relative to the terms of the line's equation, is rounding.
_ROUNDING = 1e-12


def clipped(polygon: FloatArray, normal: FloatArray, offset: float) -> FloatArray:
    """The part of a convex polygon (its corners in order) where normal·x + offset >= 0.

    >>> square = np.array([[0.0, 0], [2, 0], [2, 2], [0, 2]])
    >>> clipped(square, np.array([-1.0, -1]), 1.0).tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    values = polygon @ normal + offset
    corners = []
    for k in range(len(polygon)):
        before, here = values[k - 1], values[k]
        if before * here < 0:
            corners.append(polygon[k - 1] + before / (before - here) * (polygon[k] - polygon[k - 1]))
        if here >= 0:
            corners.append(polygon[k])
    return np.array(corners).reshape(-1, 2)


def intersection(box: FloatArray, normals: FloatArray, offsets: FloatArray) -> tuple[FloatArray, IntArray]:
    """The part of a convex polygon where every normal·x + offset >= 0, and which lines cut it.

    The line that cuts off most comes first, so that of many thousands only those are used that bound the result.

    >>> square = np.array([[0.0, 0], [2, 0], [2, 2], [0, 2]])
    >>> part, lines = intersection(square, np.array([[-1.0, 0], [-1, 0], [0, 1]]), np.array([1.5, 1.0, 5.0]))
    >>> part.tolist(), lines.tolist()
    ([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]], [1])
    """
    used: list[int] = []
    region = box
    while len(region):
        values = normals @ region.T + offsets[:, None]
        size = np.abs(normals) @ np.abs(region).T + np.abs(offsets)[:, None]
        excess = (values / np.maximum(size, np.finfo(float).tiny)).min(axis=1)
        excess[used] = np.inf
        worst = int(excess.argmin())
        if excess[worst] >= -_ROUNDING:
            break
        used.append(worst)
        region = clipped(region, normals[worst], float(offsets[worst]))
    return region, np.array(used, dtype=np.intp)
