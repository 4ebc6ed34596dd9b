"""One way to compile for all kernels: it works where nothing can be written, and says what a newcomer waits for.

``entry`` is for what Python calls. It is kept on disk, next to the code or in ``NUMBA_CACHE_DIR``, with all the steps inside
it. ``step`` is for what only compiled code calls: it has no wrappers for Python, and none to be compiled.

numba's cache looks only at the file of the entry point, so steps live in the file of the entries that call them.
"""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

from rescaleinv._util.compiler import EntryCompiler
from rescaleinv.errors import NotKeptWarning

_LOG = logging.getLogger("rescaleinv")
# Who waits longer than this is told why.
_PATIENCE = 2.0  # seconds


def entry(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function that Python calls; options are those of :func:`numba.njit`."""
    if function is None:
        return lambda wrapped: entry(wrapped, **options)
    ours = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": EntryCompiler}
    settings = {**ours, **options}
    try:
        return njit(cache=True, **settings)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn_once()
        return njit(**settings)(function)


def step(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function that only compiled code calls; options are those of :func:`numba.njit`."""
    if function is None:
        return lambda wrapped: step(wrapped, **options)
    settings = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    return njit(**settings)(function)


class _Notice(event.Listener):
    """Says that code is being compiled, once per process, when that has taken longer than ``_PATIENCE`` in all."""

    def __init__(self) -> None:
        self.kept = True
        self._depth = 0
        self._spent = 0.0
        self._started = 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        self._depth += 1  # numba compiles one function at a time, and those that it calls within it
        if self._depth > 1 or self._said or not _is_ours(event):
            return
        self._started = time.monotonic()
        self._timer = threading.Timer(max(0.0, _PATIENCE - self._spent), self._say)
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._spent += time.monotonic() - self._started

    def _say(self) -> None:
        self._said = True
        if multiprocessing.current_process().name == "MainProcess":
            how_often = "once per machine" if self.kept else "in every process, as it can't be kept"
            _LOG.warning("rescaleinv: compiling, %s", how_often)


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).startswith("rescaleinv.")


def _warn_once() -> None:
    if _NOTICE.kept:
        _NOTICE.kept = False
        warnings.warn(NotKeptWarning(), stacklevel=4)


_NOTICE = _Notice()
event.register("numba:compile", _NOTICE)
