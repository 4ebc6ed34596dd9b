"""One budget for a run: what is left of it, shares of it, and interrupts that end it."""

import os
import signal
import time

import pytest

from rescaleinv._util.deadline import (
    RunOverError,
    checked_budget,
    ended_with_run,
    is_over,
    run_within,
    seconds_left,
    share_of_run,
    uncounted,
    why_over,
    within_run,
)
from rescaleinv.errors import InputError


def test_without_a_budget_there_is_no_end():
    assert seconds_left() == float("inf")
    assert not is_over()
    with run_within(None):
        assert seconds_left() == float("inf")
        assert within_run(None) is None


def test_limits_are_cut_to_what_is_left():
    with run_within(100):
        assert 99 < seconds_left() <= 100
        assert within_run(5.0) == 5.0
        assert 49 < within_run(None, 0.5) <= 50
        with share_of_run(0.1):
            assert 9 < seconds_left() <= 10
    assert within_run(None) is None


def test_an_outer_end_is_the_end():
    with run_within(1e-9):
        time.sleep(1e-3)
        with run_within(1000):
            assert is_over()
            assert why_over() == "the budget of 1e-09 s was used up"
    assert why_over() == ""


def _interrupted_again():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)


@pytest.fixture
def _interrupts():
    """As in a terminal: a process that a shell starts in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_the_first_interrupt_ends_the_run_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT)
    with run_within(1000, interruptible=True) as deadline:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert deadline.interrupted
        assert is_over()
        assert why_over() == "the run was interrupted"
        with pytest.raises(KeyboardInterrupt):
            _interrupted_again()
    assert signal.getsignal(signal.SIGINT) is before


needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")


def _never_looks_at_the_clock(give_up):
    """Work of at most so many seconds."""
    end = time.monotonic() + give_up
    while time.monotonic() < end:
        pass
    return "done"


@needs_timers
def test_work_that_does_not_look_at_the_clock_ends_with_the_run():
    told = []
    with run_within(1.2), pytest.raises(RunOverError), ended_with_run(told.append):
        _never_looks_at_the_clock(60)
    assert told
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with run_within(60), ended_with_run(told.append):
        assert _never_looks_at_the_clock(0.01) == "done"


@needs_timers
def test_an_interrupt_ends_such_work_at_once():
    def interrupted():
        os.kill(os.getpid(), signal.SIGINT)
        _never_looks_at_the_clock(60)

    with run_within(60, interruptible=True), pytest.raises(RunOverError), ended_with_run(lambda took: None):
        interrupted()


@needs_timers
def test_somebody_elses_timer_is_left_alone():
    def others(number, frame):
        raise AssertionError

    signal.signal(signal.SIGALRM, others)
    try:
        with run_within(0.01), ended_with_run(lambda took: None):
            assert _never_looks_at_the_clock(0.05) == "done"
        assert signal.getsignal(signal.SIGALRM) is others
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_the_clock_can_stand_still():
    with run_within(1.0), share_of_run(0.5):
        before = seconds_left()
        with uncounted():
            assert seconds_left() == float("inf")
            time.sleep(0.3)
        assert before - seconds_left() < 0.2


@pytest.mark.parametrize("budget", [0, -1, True, "60", float("nan")])
def test_what_is_no_budget(budget):
    with pytest.raises(InputError, match="a positive number of seconds is needed"):
        checked_budget(budget)
