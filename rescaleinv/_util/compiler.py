"""How numba compiles what ``compiled`` marks: each piece of code is optimised once, in the entry that it is part of.

numba optimises every function and makes machine code of it, then once more within each function that calls it. Of ours only
entries are called by Python, so their steps, and what numba itself adds to them, are handed on as they are: LLVM sees all of
an entry at once and leaves out what it doesn't need. Python's garbage collector waits until an entry is done.

Should another version of numba lack the parts that this module replaces, everything is compiled as numba does it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack


class _Part(JITCodeLibrary):
    """Code that is only linked into other code: neither optimised by itself nor made machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class EntryCompiler(Compiler):
    """Compiles an entry, with all that it calls as parts of it."""

    def _compile_core(self) -> Any:
        codegen = self.state.targetctx.codegen()
        if not all(hasattr(codegen, name) for name in (*_REPLACED, "_engine")):
            return super()._compile_core()
        with global_compiler_lock, _no_garbage_collection():
            with _plain(codegen):
                self.state.library = codegen.create_library(self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            with _in_parts(codegen):
                return super()._compile_core()


_REPLACED = ("create_library", "unserialize_library", "set_env")


@contextmanager
def _in_parts(codegen: Any) -> Iterator[None]:
    """What is compiled for a caller in compiled code becomes a part."""
    own_level = len(ConfigStack()) + 1
    plain = {name: getattr(type(codegen), name).__get__(codegen) for name in _REPLACED}

    def create_library(name: str, **options: Any) -> Any:
        # at its own level the entry has its library already: this one is for what it calls
        if len(ConfigStack()) <= own_level or ConfigStack().top().no_cpython_wrapper:
            return _Part(codegen, name, **options)
        return plain["create_library"](name, **options)

    def unserialize_library(serialized: Any) -> Any:
        with _plain(codegen):
            return plain["unserialize_library"](serialized)

    def set_env(name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):  # parts have no machine code, hence no environment
            plain["set_env"](name, environment)

    ours = {"create_library": create_library, "unserialize_library": unserialize_library, "set_env": set_env}
    with _replaced(codegen, ours):
        yield


@contextmanager
def _plain(codegen: Any) -> Iterator[None]:
    """What is compiled or read from the cache is a library of its own."""
    with _replaced(codegen, {}):
        yield


@contextmanager
def _replaced(codegen: Any, methods: dict[str, Any]) -> Iterator[None]:
    """Give this object other methods for a while, or those of its class."""
    before = {name: vars(codegen).pop(name) for name in _REPLACED if name in vars(codegen)}
    vars(codegen).update(methods)
    try:
        yield
    finally:
        for name in methods:
            vars(codegen).pop(name, None)
        vars(codegen).update(before)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Compiling makes many objects, of which few are garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
