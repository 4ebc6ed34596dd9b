"""The checks that many functions share: one meaning for each parameter, whoever asks."""

import numpy as np
import pytest

from rescaleinv._util import parameters
from rescaleinv._util.parameters import (
    available_processors,
    checked_count,
    checked_limit,
    checked_n_jobs,
    checked_time_limit,
    is_number,
    n_workers,
)
from rescaleinv.errors import InputError

NO_NUMBERS = ["1", b"1", True, np.True_, float("nan"), np.float64("nan"), [1], (1,), {}, object(), np.array([1.0]), 1j]


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("check", [checked_time_limit, checked_n_jobs, lambda v: checked_limit(v, "max_bytes")])
def test_what_is_no_number_is_refused(check, value):
    assert not is_number(value)
    with pytest.raises(InputError, match=r"^\w+ is "):
        check(value)


def test_limits():
    assert checked_time_limit(None) is checked_time_limit(float("inf")) is None
    assert checked_time_limit(np.float32(0.5)) == 0.5
    assert checked_limit(None, "max_vertices") is checked_limit(float("inf"), "max_vertices") is None
    assert checked_limit(1e6, "max_vertices") == 10**6
    assert checked_limit(np.int8(3), "max_vertices") == 3
    for value in (0, -1, -0.5):
        with pytest.raises(InputError, match=r"max_seconds is .* positive number of seconds, or None for no limit"):
            checked_time_limit(value, "max_seconds")
        with pytest.raises(InputError, match=r"max_bytes is .* positive number, or None for no limit"):
            checked_limit(value, "max_bytes")


def test_counts():
    assert checked_count(np.int64(0), "left_out") == 0
    for value in (-1, 1.0, None, True, "2"):
        with pytest.raises(InputError, match=r"left_out is .*; a whole number of at least 0 is needed"):
            checked_count(value, "left_out")
    with pytest.raises(InputError, match="max_parts is 0; a whole number of at least 1"):
        checked_count(0, "max_parts", 1)


def test_workers(monkeypatch):
    monkeypatch.setattr(parameters, "available_processors", lambda: 3)
    assert [n_workers(n) for n in (None, 1, 2, -1, -2, -9)] == [1, 1, 2, 3, 2, 1]
    assert n_workers(10**6) == 12  # a million threads took 3 GB before they did anything
    with pytest.raises(InputError, match="n_jobs is 0; a number of workers is needed, -1 for all processors, or None"):
        n_workers(0)


def test_there_is_a_processor():
    assert available_processors() >= 1
