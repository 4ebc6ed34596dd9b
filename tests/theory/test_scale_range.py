"""Ranges of rescalings as users write them."""

import numpy as np
import pytest

from rescaleinv.errors import InputError
from rescaleinv.theory.scale_range import as_scale_range

NAMES = ["age", "height", "dose"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (4, [[0.25, 4]] * 3),
        (1, [[1, 1]] * 3),
        (np.float64(2), [[0.5, 2]] * 3),
        ((0.5, 3), [[0.5, 3]] * 3),
        (np.array([0.5, 3]), [[0.5, 3]] * 3),
        ([(1, 1), (0, np.inf), (0.5, 2)], [[1, 1], [0, np.inf], [0.5, 2]]),
        (np.array([[1, 1], [0, np.inf], [0.5, 2]]), [[1, 1], [0, np.inf], [0.5, 2]]),
        ({"dose": 2, "age": (1, 1), "height": (0, 1)}, [[1, 1], [0, 1], [0.5, 2]]),
        ({"dose": 2}, [[0, np.inf], [0, np.inf], [0.5, 2]]),
    ],
)
def test_every_way_of_writing_it(given, expected):
    np.testing.assert_array_equal(as_scale_range(given, 3, NAMES), expected)


@pytest.mark.parametrize("given", [None, np.inf, (0, np.inf), [(0, np.inf)] * 3])
def test_no_limit(given):
    assert as_scale_range(given, 3) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0.5, "a number κ must be at least 1"),
        (0, "neither a number κ"),
        (-2, "a number κ must be at least 1"),
        (float("nan"), "a number κ must be at least 1"),
        ((2, 3), "does not contain 1"),
        ((0.1, 0.5), "does not contain 1"),
        ((3, 0.5), "0 <= low <= high is needed"),
        ((-1, 2), "0 <= low <= high is needed"),
        ((1, float("nan")), "0 <= low <= high is needed"),
        ((1, 1, 1), "neither a number κ"),
        ([(1, 1), (1, 1)], "2 scale ranges were given for 3 features"),
        ([(1, 1), (1, 2), (1,)], "neither a number κ"),
        ("wide", "neither a number κ"),
        ({"age": 2, "height": 2, "dose": 2, "hight": 3}, "name hight, not among the features"),
    ],
)
def test_what_is_no_range(given, message):
    with pytest.raises(InputError, match=message):
        as_scale_range(given, 3, NAMES)


def test_names_are_needed_for_a_mapping():
    with pytest.raises(InputError, match="the features have none"):
        as_scale_range({"age": 2}, 1)
