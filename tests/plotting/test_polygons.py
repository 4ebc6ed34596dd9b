"""Intersections of half-planes, by sampling."""

import numpy as np
from pictures import inside

from rescaleinv.plotting.polygons import intersection


def test_an_intersection_is_that_of_all_half_planes():
    rng = np.random.default_rng(0)
    box = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    for _ in range(30):
        normals, offsets = rng.normal(size=(40, 2)), rng.uniform(-0.1, 1, size=40)
        region, used = intersection(box, normals, offsets)
        points = rng.uniform(-1, 1, size=(500, 2))
        expected = (points @ normals.T + offsets >= 0).all(axis=1)
        np.testing.assert_array_equal(inside(region, points), expected)
        assert len(used) <= 40
