"""Docstrings of public names, by numpydoc's validation: parameters, returns, and an example of each class and function."""

import inspect
from dataclasses import is_dataclass
from enum import IntEnum
from importlib import import_module

import pytest
from numpydoc.validate import validate

import rescaleinv
from rescaleinv.engines import Engine

# Rooms of which every public name is documented in full, as are those of the package itself, methods included.
ROOMS = ("plotting", "scaling", "selection", "online", "datasets", "audit")
# Of every public name: it documents no parameter that it does not have.
EVERYWHERE = {"PR02"}
IN_FULL = {"GL08", "PR01", "PR02", "RT01"}


def home_of(value):
    return f"{value.__module__}.{value.__qualname__}"


def public_values(module):
    return [value for name in module.__all__ if callable(value := getattr(module, name))]


def methods_of(value):
    if not inspect.isclass(value):
        return []
    kinds = (staticmethod, classmethod, property)
    return [
        f"{home_of(value)}.{name}"
        for name, member in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
    ]


def found(name, wanted):
    return [f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code in wanted]


def is_given(value):
    """What users are given and do not make: it lists attributes in place of parameters."""
    return inspect.isclass(value) and (is_dataclass(value) or issubclass(value, (IntEnum, tuple)))


def wanted_of(value):
    """Errors and warnings have no example."""
    if inspect.isclass(value) and issubclass(value, (Exception, Warning)):
        return set()
    return {*IN_FULL, "EX01"} - ({"PR01"} if is_given(value) else set())


@pytest.mark.parametrize("home", ["rescaleinv", *(f"rescaleinv.{room}" for room in ROOMS)])
def test_public_names_are_documented_in_full(home):
    """Engines are asked through estimators: their methods are those of the protocol, documented there in words."""
    values = public_values(import_module(home))
    assert values
    wrong = [line for value in values for line in found(home_of(value), wanted_of(value))]
    spoken_for = [value for value in values if not (inspect.isclass(value) and issubclass(value, Engine))]
    wrong += [line for value in spoken_for for name in methods_of(value) for line in found(name, IN_FULL)]
    assert not wrong, "\n".join(wrong)


def test_no_docstring_names_a_parameter_that_is_not_there():
    names = [name for value in public_values(rescaleinv) for name in (home_of(value), *methods_of(value))]
    assert len(names) > 80
    wrong = [line for name in names for line in found(name, EVERYWHERE)]
    assert not wrong, "\n".join(wrong)


def test_the_validation_sees_what_is_missing(monkeypatch):
    from rescaleinv.datasets import load

    monkeypatch.setattr(load, "__doc__", "The data set of that name.")
    assert {line.split()[1] for line in found("rescaleinv.datasets.load", IN_FULL | {"EX01"})} == {
        "PR01",
        "RT01",
        "EX01",
    }
