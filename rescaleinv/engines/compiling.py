"""Compiled code is made, or read from its cache, before any clock starts: no time limit pays for it."""

from __future__ import annotations

import numpy as np

from rescaleinv._util.deadline import uncounted
from rescaleinv.engines import REGISTRY, EngineSettings, registered
from rescaleinv.theory.nu_margin import NuMargin
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


def compile_everything() -> None:
    """Compile what any engine needs: also for soft margins, groups and the rescaling radius."""
    rows = np.array([[-1.0, 5, 0], [5, -1, 1], [1.4, 1.4, 0], [1, 1, 1], [0, 0, 1], [2, 3, 0]])
    training_set = TrainingSet(rows, [1, 1, 1, -1, -1, 1])
    limits, nu = np.array([[0.5, 2.0]] * 3), NuMargin.of(training_set, 0.5, np.ones(6))
    for name, entry in REGISTRY.items():
        if entry.variants:  # these call solvers, and nothing of theirs is compiled here
            continue
        compile_engine(name)
        for settings in (
            EngineSettings(nu=nu),
            EngineSettings(limits=limits, nu=nu),
            EngineSettings(limits=limits, penalties=np.ones(6)),
            EngineSettings(limits=limits, groups=np.array([0, 0, 1])),
        ):
            if entry.abilities.missing(settings.needs):
                continue
            engine = entry.load().from_settings(training_set, settings)
            engine.progress = False
            engine.certify_checked(rows[:2])
            if entry.abilities.radius and settings.limits is not None:
                engine.radius(rows[:2], ratio=1.5, largest=4.0)
