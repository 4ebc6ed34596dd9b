"""Entries are optimised with all their steps at once; what others compile, and entries within entries, stay whole."""

import gc

import numpy as np
import pytest
from numba import njit
from numba.core.registry import cpu_target

from rescaleinv._util import compiled, compiler


@compiled.step
def _weigh(values, weight):
    total = 0.0
    for value in values:
        total += weight * value
    return total


def _uncached(function):
    """An entry without a file on disk: this module may lie where nothing can be written."""
    return njit(pipeline_class=compiler.EntryCompiler, no_cfunc_wrapper=True)(function)


@_uncached
def _double(values):
    return _weigh(values, 2.0) + np.abs(values).max()


@_uncached
def _quadruple(values):
    return 2 * _double(values)


VALUES = np.array([1.0, -2.0, 5.0])


def libraries(dispatcher):
    return [result.library for result in dispatcher.overloads.values()]


def test_steps_are_parts_of_entries_and_entries_are_whole():
    assert _quadruple(VALUES) == 26.0  # the entry within it is compiled on the way,
    assert _double(VALUES) == 13.0  # and Python can call it
    assert all(isinstance(library, compiler._Part) for library in libraries(_weigh))
    assert not any(isinstance(library, compiler._Part) for library in libraries(_double) + libraries(_quadruple))


def test_code_of_others_may_call_our_steps_and_is_compiled_by_numba_alone():
    assert _double(VALUES) == 13.0

    @njit
    def inner(values):
        return values[0]

    @njit
    def outer(values):
        return _weigh(values, 3.0) + inner(values) + np.abs(values).max()

    assert outer(VALUES) == 18.0
    assert inner(VALUES) == 1.0
    assert not any(isinstance(library, compiler._Part) for library in libraries(inner) + libraries(outer))


def test_a_function_with_wrappers_stays_whole_within_an_entry():
    @njit
    def third(x):
        return x / 3

    @_uncached
    def sixth(x):
        return third(x) / 2

    assert sixth(6.0) == 1.0
    assert third(6.0) == 2.0


def test_an_error_in_an_entry_leaves_numba_as_it_was():
    @_uncached
    def broken(x):
        return x.not_there

    with pytest.raises(Exception, match="not_there"):
        broken(1.0)
    assert gc.isenabled()
    assert not set(compiler._REPLACED) & set(vars(cpu_target.target_context.codegen()))


def test_another_numba_is_left_to_itself(monkeypatch):
    monkeypatch.setattr(compiler, "_REPLACED", (*compiler._REPLACED, "not_in_this_version"))

    @_uncached
    def halve(values):
        return _weigh(values, 0.5)

    assert halve(VALUES) == 2.0
