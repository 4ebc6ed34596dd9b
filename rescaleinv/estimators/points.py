"""Points as people have them: some with missing values, called by the index of a data frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.engines import Engine
from rescaleinv.verdict import Verdicts, read_only, unusable_rows


def certify_with_holes(engine: Engine, rows: FloatArray) -> Verdicts:
    """The verdicts of points; one with a value that no model can take is UNKNOWN for that reason."""
    reasons = unusable_rows(rows)
    usable = np.array(reasons == "", dtype=bool)
    if usable.all():
        return engine.certify_checked(rows)
    verdicts = Verdicts.all_unknown(rows, reasons, engine)
    return verdicts.with_rows(usable, engine.certify_checked(read_only(rows[usable]))) if usable.any() else verdicts


def labels_with_holes(
    classes: npt.NDArray[Any], decision_function: Callable[[FloatArray], FloatArray], rows: FloatArray
) -> npt.NDArray[Any]:
    """The label of each row at the given scaling; None for one with a value that no model can take."""
    usable = np.array(unusable_rows(rows) == "", dtype=bool)
    if usable.all():
        labels: npt.NDArray[Any] = classes[(decision_function(rows) >= 0).astype(np.intp)]
        return labels
    found = np.full(len(rows), None, dtype=object)
    if usable.any():
        found[usable] = classes[(decision_function(rows[usable]) >= 0).astype(np.intp)]
    return found
