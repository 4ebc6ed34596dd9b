"""``rescaleinv warm``: compile everything now."""

from __future__ import annotations

import argparse
import time
import warnings

from rescaleinv.errors import InputError, NotKeptWarning


def run_warm(_: argparse.Namespace) -> None:
    """Compile the kernels of all engines, of the selection and of the one-pass learners."""
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotKeptWarning)
        try:
            from rescaleinv.engines.compiling import compile_everything

            compile_everything()
            _selection_and_online()
        except NotKeptWarning as warning:
            raise InputError(str(warning)) from warning
    print(f"everything is compiled ({time.monotonic() - started:.0f} s)")


def _selection_and_online() -> None:
    import numpy as np

    from rescaleinv.online import LEARNERS, online_learner
    from rescaleinv.selection import CMIMSelector

    rows = np.random.default_rng(0).integers(0, 2, size=(40, 6))
    CMIMSelector(2).fit(rows, rows[:, 0])
    values = np.random.default_rng(0).normal(size=(40, 3))
    for name in LEARNERS:
        online_learner(name).fit(values, values[:, 0] > 0)
