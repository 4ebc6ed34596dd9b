"""The first use of an engine compiles; no time limit may pay for that."""

from importlib import import_module

import numpy as np
import pytest

from rescaleinv import TrainingSet
from rescaleinv.engines import REGISTRY, EngineSettings, compiling
from rescaleinv.engines.choice import make_engine

ONE_AT_A_TIME = [name for name, entry in REGISTRY.items() if not entry.abilities.enumerates and name != "milp"]


@pytest.mark.parametrize("name", ONE_AT_A_TIME)
def test_an_engine_decides_a_few_points_once_per_process(name, monkeypatch):
    monkeypatch.setattr(compiling, "_DONE", set())
    decided = []
    home = REGISTRY[name].load()
    original = home.certify_checked
    monkeypatch.setattr(home, "certify_checked", lambda self, rows: decided.append(original(self, rows)) or decided[-1])
    compiling.compile_engine(name)
    assert len(decided) == 1
    assert not decided[0].unknown.all()
    compiling.compile_engine(name)
    assert len(decided) == 1


@pytest.mark.parametrize("name", ONE_AT_A_TIME)
def test_precomputing_compiles(name, monkeypatch):
    asked = []
    monkeypatch.setattr(import_module(REGISTRY[name].load().__module__), "compile_engine", asked.append)
    training_set = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    limits = None if REGISTRY[name].abilities.every_rescaling else np.array([[0.1, 10.0]] * 2)
    make_engine(name, training_set, EngineSettings(limits=limits)).precompute()
    assert asked[0] == name
