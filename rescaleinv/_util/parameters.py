"""Checks of parameters that many functions have: one meaning and one text for each."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from rescaleinv.errors import InputError

# Values longer than this are cut in messages.
_LONGEST_SHOWN = 80
# More workers than this for each processor only cost memory.
_MOST_PER_PROCESSOR = 4


def shown(value: Any) -> str:
    """A value as a message shows it: on one line, and not all of it if it is long.

    >>> shown([[1, 2]] * 100)
    '[[1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2 …'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 2].rstrip()} …"


def is_number(value: Any) -> bool:
    """A real number and not nan; True and False are no numbers here."""
    return isinstance(value, Real) and not _is_bool(value) and not math.isnan(value)


def is_sequence(value: Any) -> bool:
    """One thing after the other in one dimension: not text, not a mapping, not a table.

    >>> is_sequence([1, 2]), is_sequence("ab"), is_sequence(5)
    (True, False, False)
    """
    return (
        isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)) and getattr(value, "ndim", 1) == 1
    )


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool_"


def checked_time_limit(value: Any, name: str = "time_limit") -> float | None:
    """Seconds; None where there is no limit, which infinity means too.

    >>> checked_time_limit(2), checked_time_limit(float("inf"))
    (2.0, None)
    >>> checked_time_limit("2")
    Traceback (most recent call last):
        ...
    rescaleinv.errors.InputError: time_limit is '2'; a positive number of seconds, or None for no limit, is needed
    """
    if value is None:
        return None
    if not is_number(value) or value <= 0:
        raise InputError(f"{name} is {shown(value)}; a positive number of seconds, or None for no limit, is needed")
    return None if math.isinf(value) else float(value)


def checked_limit(value: Any, name: str) -> int | None:
    """The most of something that may be used (max_vertices, max_bytes); None where there is no limit."""
    if value is not None and (not is_number(value) or value <= 0):
        raise InputError(f"{name} is {shown(value)}; a positive number, or None for no limit, is needed")
    return None if value is None or math.isinf(value) else math.ceil(value)


def checked_count(value: Any, name: str, least: int = 0) -> int:
    """A whole number, of at least ``least``."""
    if not isinstance(value, Integral) or _is_bool(value) or value < least:
        raise InputError(f"{name} is {shown(value)}; a whole number of at least {least} is needed")
    return int(value)


def checked_flag(value: Any, name: str, *, or_none: bool = False) -> None:
    """True or False (or None)."""
    if not (_is_bool(value) or (or_none and value is None)):
        raise InputError(f"{name} is {shown(value)}; True or False{', or None,' if or_none else ''} is needed")


def available_processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_n_jobs(value: Any, name: str = "n_jobs") -> int | None:
    """As given, if it is one: None, a whole number but 0."""
    if value is None:
        return None
    if not isinstance(value, Integral) or _is_bool(value) or value == 0:
        raise InputError(
            f"{name} is {shown(value)}; a number of workers is needed, -1 for all processors, or None for one"
        )
    return int(value)


def n_workers(n_jobs: Any) -> int:
    """How many threads or processes to use: None is one, -1 all processors, -2 all but one, and so on.

    No more than four for each processor are used, however many are asked for.

    >>> n_workers(None), n_workers(1), n_workers(-1) == available_processors(), n_workers(10**6) < 10**6
    (1, 1, True, True)
    """
    given = checked_n_jobs(n_jobs)
    processors = available_processors()
    if given is None:
        return 1
    if given < 0:
        return max(processors + 1 + given, 1)
    return min(given, _MOST_PER_PROCESSOR * processors)
