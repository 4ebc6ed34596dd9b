"""Compiled code is made, or read from its cache, before any clock starts: no time limit pays for it."""

from __future__ import annotations

import numpy as np

from rescaleinv._util.deadline import uncounted
from rescaleinv.engines import EngineSettings, registered
from rescaleinv.theory.training_set import TrainingSet

_DONE: set[str] = set()


def compile_engine(name: str) -> None:
    """Let the engine of that name decide a few points of a small training set, once per process."""
    if name in _DONE:
        return
    _DONE.add(name)  # first: the engine made here asks for it too
    rng = np.random.default_rng(3)
    rows, points = rng.integers(-4, 5, size=(14, 5)).astype(float), rng.normal(size=(6, 5)) * 3
    signs = np.where(rows @ np.array([2.0, -1, 1, 1, -1]) + 0.5 > 0, 1, -1)
    entry = registered(name)
    limits = None if entry.abilities.every_rescaling else np.array([[0.5, 2.0]] * rows.shape[1])
    engine = entry.load().from_settings(TrainingSet(rows, signs), EngineSettings(limits=limits))
    engine.progress = False
    with uncounted():
        engine.certify_checked(points)
