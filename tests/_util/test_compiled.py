"""Compiling: kept on disk or not, and a word to those who wait."""

import logging
import threading
import time

import pytest
from numba.core import caching, event

from rescaleinv._util import compiled
from rescaleinv.errors import NotKeptWarning


def twice(x):
    return 2 * x


twice.__module__ = "rescaleinv.made_up"


@pytest.fixture
def nowhere(monkeypatch):
    """No folder can be written to, as in a container with a random user."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    monkeypatch.setattr(compiled, "_NOTICE", compiled._Notice())


@pytest.mark.usefixtures("nowhere")
def test_without_a_place_for_the_cache_code_is_compiled_all_the_same(recwarn):
    functions = [compiled.entry(twice), compiled.entry(fastmath=True)(twice)]
    assert [function(4.0) for function in functions] == [8.0, 8.0]
    (warning,) = [found for found in recwarn if found.category is NotKeptWarning]  # once, not for each function
    assert "NUMBA_CACHE_DIR" in str(warning.message)
    assert "rescaleinv warm" in str(warning.message)


def test_other_errors_of_numba_are_not_hidden(monkeypatch):
    def broken(**options):
        raise RuntimeError("the compiler is not at home")

    monkeypatch.setattr(compiled, "njit", broken)
    with pytest.raises(RuntimeError, match="not at home"):
        compiled.entry(twice)


def test_entries_are_kept_and_steps_are_not():
    @compiled.step
    def half(x):
        return x / 2

    @compiled.entry
    def quarter(x):
        return half(half(x))

    assert quarter(8.0) == 2.0
    assert quarter(1.0 * 0) == 0.0
    assert isinstance(quarter._cache, caching.FunctionCache)
    assert not isinstance(half._cache, caching.FunctionCache)


def test_division_by_zero_is_that_of_numpy():
    @compiled.entry
    def inverse(x):
        return 1 / x

    assert inverse(0.0) == float("inf")


class Dispatcher:
    py_func = twice


def happen(notice, seconds):
    started = event.Event("numba:compile", event.EventStatus.START, {"dispatcher": Dispatcher})
    ended = event.Event("numba:compile", event.EventStatus.END, {"dispatcher": Dispatcher})
    notice.on_start(started)
    time.sleep(seconds)
    notice.on_end(ended)


def wait_for_timers():
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()


def test_who_waits_is_told_once(monkeypatch, caplog):
    monkeypatch.setattr(compiled, "_PATIENCE", 0.05)
    notice = compiled._Notice()
    with caplog.at_level(logging.WARNING, "rescaleinv"):
        happen(notice, 0.0)
        wait_for_timers()
        assert not caplog.messages
        happen(notice, 0.3)
        happen(notice, 0.3)
    assert caplog.messages == ["rescaleinv: compiling, once per machine"]


def test_what_is_not_kept_is_not_called_once_per_machine(monkeypatch, caplog):
    monkeypatch.setattr(compiled, "_PATIENCE", 0.0)
    notice = compiled._Notice()
    notice.kept = False
    with caplog.at_level(logging.WARNING, "rescaleinv"):
        happen(notice, 0.2)
    assert caplog.messages == ["rescaleinv: compiling, in every process, as it can't be kept"]


def test_code_of_others_is_not_our_business(monkeypatch, caplog):
    monkeypatch.setattr(compiled, "_PATIENCE", 0.0)
    monkeypatch.setattr(Dispatcher, "py_func", happen)
    with caplog.at_level(logging.WARNING, "rescaleinv"):
        happen(compiled._Notice(), 0.05)
    assert not caplog.messages


def test_the_listener_is_registered():
    assert compiled._NOTICE in event._registered["numba:compile"]
