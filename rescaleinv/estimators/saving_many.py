"""Several models in one file without pickle: each as the bytes of its own file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rescaleinv.errors import InputError
from rescaleinv.estimators.saving import pack, reading, unpack, write

Model = TypeVar("Model")


def write_models(path: str | Path, kind: str, classes: npt.NDArray[Any], models: Sequence[Any]) -> None:
    """Write models that have ``save``, what they make up, and its classes, to one file."""
    packed = None if classes.dtype.kind in "biufUmM" else pack(classes.tolist())
    arrays: dict[str, npt.NDArray[Any]] = {} if packed is not None else {"classes": classes}
    with tempfile.TemporaryDirectory() as folder:
        for k, model in enumerate(models):
            model.save(Path(folder) / "model")
            arrays[f"model.{k}"] = np.frombuffer((Path(folder) / "model").read_bytes(), dtype=np.uint8)
    write(path, {"kind": kind, "n_models": len(models), "classes": packed}, arrays)


def read_models(path: str | Path, kind: str, load: Callable[[Path], Model]) -> tuple[npt.NDArray[Any], list[Model]]:
    """The classes and the models of a file that ``write_models`` wrote."""
    with reading(path) as (content, arrays), tempfile.TemporaryDirectory() as folder:
        if content.get("kind") != kind:
            raise ValueError(f"it holds {content.get('kind', 'RescaleInvariantSVC')!r}, and {kind!r} was asked for")
        classes = (
            arrays["classes"] if content["classes"] is None else np.array(unpack(content["classes"]), dtype=object)
        )
        if classes.ndim != 1 or len(classes) < 2 or not all(a < b for a, b in pairwise(classes)):
            raise ValueError("its labels are not different ones in ascending order")
        models = []
        for k in range(int(content["n_models"])):
            file = Path(folder) / "model"
            file.write_bytes(arrays[f"model.{k}"].tobytes())
            try:
                models.append(load(file))
            except InputError as error:
                raise ValueError(f"its classifier {k}: {str(error).rpartition(': ')[2]}") from error
        if not models:
            raise ValueError("it has no classifier")
    return classes, models
