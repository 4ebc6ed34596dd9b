"""Docstrings of public names, by numpydoc's validation: parameters, returns, and an example of each, methods included."""

import inspect
from dataclasses import is_dataclass
from doctest import DocTestParser
from enum import IntEnum
from functools import cached_property
from importlib import import_module

import pytest
from numpydoc.validate import validate

import rescaleinv

# Rooms of which every public name is documented in full, as are those of the package itself, methods included.
ROOMS = ("plotting", "scaling", "selection", "online", "datasets", "audit")
# Of every public name: it documents no parameter that it does not have.
EVERYWHERE = {"PR02"}
IN_FULL = {"GL08", "PR01", "PR02", "RT01", "EX01"}


def home_of(value):
    return f"{value.__module__}.{value.__qualname__}"


def public_values(module):
    return [value for name in module.__all__ if callable(value := getattr(module, name))]


def own_members(value):
    kinds = (staticmethod, classmethod, property, cached_property)
    return [
        name
        for name, member in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
    ]


def methods_of(value):
    """Public methods and properties by the names of the classes that define them: its own, and those of our base classes.

    What a base class of ours documents is documented there, once; scikit-learn's mixins are not ours to document.
    """
    if not inspect.isclass(value):
        return []
    ours = [base for base in value.__mro__ if base.__module__.startswith("rescaleinv")]
    homes = {name: home_of(base) for base in ours for name in own_members(base)}  # the last is the most basic one
    return [f"{home}.{name}" for name, home in homes.items()]


def found(name, wanted):
    result = validate(name)
    wrong = [f"{name}: {code} {text}" for code, text in result["errors"] if code in wanted]
    if (
        "EX01" in wanted
        and not wrong
        and not any(one.want for one in DocTestParser().get_examples(result["docstring"]))
    ):
        wrong.append(f"{name}: its examples show nothing")
    return wrong


def is_given(value):
    """What users are given and do not make: it lists attributes in place of parameters."""
    return inspect.isclass(value) and (is_dataclass(value) or issubclass(value, (IntEnum, tuple)))


def wanted_of(value):
    """Errors and warnings have no example."""
    if inspect.isclass(value) and issubclass(value, (Exception, Warning)):
        return set()
    return IN_FULL - ({"PR01"} if is_given(value) else set())


@pytest.mark.parametrize("home", ["rescaleinv", *(f"rescaleinv.{room}" for room in ROOMS)])
def test_public_names_are_documented_in_full(home):
    values = public_values(import_module(home))
    assert values
    wrong = [line for value in values for line in found(home_of(value), wanted_of(value))]
    wrong += [line for value in values for name in methods_of(value) for line in found(name, IN_FULL)]
    assert not wrong, "\n".join(wrong)


def test_no_docstring_names_a_parameter_that_is_not_there():
    values = public_values(rescaleinv)
    names = [home_of(value) for value in values]
    names += [f"{home_of(value)}.{name}" for value in values if inspect.isclass(value) for name in own_members(value)]
    assert len(names) > 80
    wrong = [line for name in names for line in found(name, EVERYWHERE)]
    assert not wrong, "\n".join(wrong)


def test_the_validation_sees_what_is_missing(monkeypatch):
    from rescaleinv.datasets import load

    name = "rescaleinv.datasets.load"
    monkeypatch.setattr(load, "__doc__", f"{load.__doc__.rpartition('Examples')[0]}Examples\n--------\n>>> x = 1\n")
    assert found(name, {"EX01"}) == [f"{name}: its examples show nothing"]
    monkeypatch.setattr(load, "__doc__", "The data set of that name.")
    assert {line.split()[1] for line in found(name, IN_FULL)} == {"PR01", "RT01", "EX01"}
    assert "rescaleinv.engines.Engine.explain" in methods_of(rescaleinv.ComplexEngine)
    assert "rescaleinv.theory.training_set.TrainingSet.positives" in methods_of(rescaleinv.TrainingSet)
