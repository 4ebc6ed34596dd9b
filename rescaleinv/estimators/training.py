"""Which rows of the data a hard margin is trained on."""

from __future__ import annotations

from warnings import warn

import numpy as np

from rescaleinv._util.deadline import within_run
from rescaleinv._util.types import FloatArray
from rescaleinv.errors import LeftOutWarning
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet

# How long the fewest rows to leave out are looked for, if no limit is given.
_SECONDS_FOR_FEWEST = 60.0


def consistent_part(
    whole: TrainingSet, weights: FloatArray, drop_rule: str, time_limit: float | None, *, stacklevel: int
) -> TrainingSet:
    """The training set without the rows that have to go, and a warning that names them."""
    seconds = within_run(_SECONDS_FOR_FEWEST if time_limit is None else time_limit) or 1e-3
    kept = separable_subset(whole, drop_rule, row_weights=weights, time_limit=seconds).training_set
    left_out = np.setdiff1d(whole.row_numbers, kept.row_numbers)
    if left_out.size:
        warn(LeftOutWarning(left_out.tolist(), whole.n_rows), stacklevel=stacklevel + 1)
    return kept
