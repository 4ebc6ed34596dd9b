"""One budget for a whole run: whatever works within it asks how much is left, and stops with what it has.

Engines have limits per point. A budget is for all points, and for all steps of a run, together; an interrupt (Ctrl-C) ends
it early. Nothing is raised: loops look at ``seconds_left`` and leave open what they have no time for.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

from rescaleinv._util.parameters import is_number
from rescaleinv.errors import InputError

# How often work that does not look at the clock is looked at, in seconds.
_LOOK_AGAIN = 0.5
# Starting processes takes some seconds; a run that has less than this left does without.
_LEAST_FOR_PROCESSES = 15.0


class RunOverError(Exception):
    """The run has no time left; it ends work within ``ended_with_run`` and goes no further than who called that."""


class Deadline:
    """When a run ends, unless a run that it is part of ends before."""

    def __init__(self, seconds: float, outer: Deadline | None = None) -> None:
        self.started: float = time.monotonic()
        self.seconds: float = seconds
        self.interrupted: bool = False
        self.is_share: bool = False  # of a longer run
        self.outer = outer

    def left(self) -> float:
        """Seconds until the end; 0 when it is over."""
        if self.interrupted:
            return 0.0
        own = max(self.seconds - (time.monotonic() - self.started), 0.0)
        return own if self.outer is None else min(own, self.outer.left())

    def why(self) -> str:
        """Why there is no time left, for the reasons of verdicts."""
        if self.outer is not None and self.outer.left() == 0:
            return self.outer.why()
        if self.interrupted:
            return "the run was interrupted"
        if self.is_share:
            return "the time of the budget for this step was used up"
        return f"the budget of {self.seconds:g} s was used up"


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def checked_budget(budget: float | None) -> float | None:
    """A budget in seconds, None for none.

    >>> checked_budget(60)
    60.0
    """
    if budget is None:
        return None
    if not is_number(budget) or not budget > 0:
        raise InputError(f"budget is {budget!r}; a positive number of seconds is needed, or None for no limit")
    return float(budget)


@contextmanager
def run_within(budget: float | None, *, interruptible: bool = False) -> Iterator[Deadline]:
    """A run that may take so many seconds; ``interruptible``: the first Ctrl-C ends it, the second is an interrupt.

    >>> with run_within(10):
    ...     with run_within(1000):
    ...         seconds_left() <= 10
    True
    """
    seconds = checked_budget(budget)
    deadline = Deadline(math.inf if seconds is None else seconds, _current.get())
    token = _current.set(deadline)
    try:
        with _ended_by_interrupts(deadline, interruptible):
            yield deadline
    finally:
        _current.reset(token)


@contextmanager
def share_of_run(share: float) -> Iterator[None]:
    """A step that may take this share of what is left of the present run."""
    left = seconds_left()
    with run_within(None if math.isinf(left) else max(share * left, 1e-3)) as deadline:
        deadline.is_share = True
        yield


@contextmanager
def uncounted() -> Iterator[None]:
    """Work that no budget pays for, such as compiling: the clock of the present run stands still."""
    deadline = _current.get()
    begun = time.monotonic()
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)
        while deadline is not None:
            deadline.started += time.monotonic() - begun
            deadline = deadline.outer


@contextmanager
def _ended_by_interrupts(deadline: Deadline, wanted: bool) -> Iterator[None]:
    here = threading.current_thread() is threading.main_thread()
    if not (wanted and here and signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if deadline.interrupted:
            signal.default_int_handler(number, frame)
        deadline.interrupted = True
        if _ends_at_once.get():
            raise RunOverError

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_ends_at_once: ContextVar[bool] = ContextVar("ends_at_once", default=False)


@contextmanager
def ended_with_run(report: Callable[[float], None]) -> Iterator[None]:
    """Work that does not look at the clock, such as exact arithmetic: ``RunOverError`` where the run ends before it does.

    ``report`` is told twice a second how long it has taken. Only in the main thread, and where there are timers (not on
    Windows): elsewhere the work goes on to its end.
    """
    timers = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not timers or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    started = time.monotonic()

    def look(number: int, frame: FrameType | None) -> None:
        if is_over():
            raise RunOverError
        report(time.monotonic() - started)

    token = _ends_at_once.set(True)
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_AGAIN, _LOOK_AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _ends_at_once.reset(token)


def seconds_left() -> float:
    """How long the present run may still take; infinite if it has no budget."""
    deadline = _current.get()
    return math.inf if deadline is None else deadline.left()


def is_over() -> bool:
    """Whether the present run has no time left."""
    return seconds_left() <= 0


def has_time_for_processes() -> bool:
    """Whether the present run is long enough to start processes: nothing is decided while they start.

    >>> with run_within(5):
    ...     has_time_for_processes()
    False
    """
    return seconds_left() >= _LEAST_FOR_PROCESSES


def why_over() -> str:
    """Why the present run has no time left, in words."""
    deadline = _current.get()
    return "" if deadline is None else deadline.why()


def within_run(limit: float | None, share: float = 1.0) -> float | None:
    """A time limit in seconds (None: none), cut to a share of what is left of the present run.

    >>> within_run(5.0), within_run(None)
    (5.0, None)
    """
    left = share * seconds_left()
    if math.isinf(left):
        return limit
    return left if limit is None else min(limit, left)
