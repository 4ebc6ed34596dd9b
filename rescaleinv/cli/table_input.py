"""What the commands read: a training table and a test table, which columns are features, which rows can be judged."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rescaleinv._util.tables import read_table, require_columns
from rescaleinv._util.types import FloatArray
from rescaleinv.batch.csv_groups import EXACT_INTEGERS, require_exact
from rescaleinv.errors import InputError
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.verdict import unusable_rows

if TYPE_CHECKING:
    import pandas as pd

_ROW_NUMBERS = "Unnamed: "  # what pandas calls a column without a name, which it writes row numbers to


class LabelledTables(NamedTuple):
    """The two tables, the names of their features, the negative and the positive label, and the points of TEST.

    ``usable`` says which points can be judged, ``reasons`` why the others can't.
    """

    train: pd.DataFrame
    test: pd.DataFrame
    names: list[str]
    classes: tuple[str, str]
    points: FloatArray
    usable: npt.NDArray[np.bool_]
    reasons: npt.NDArray[Any]

    def training_rows(self, path: str) -> FloatArray:
        return as_matrix(self.train[self.names], what=path)


def read_labelled(options: argparse.Namespace) -> LabelledTables:
    """Read TRAIN and TEST as the options ``label``, ``positive``, ``keep`` and ``ignore`` say."""
    train, test = (read_table(path, text=options.label) for path in (options.train, options.test))
    names = _feature_names(train, options)
    require_columns(test, [*names, *options.keep], options.test)
    classes = _classes(train[options.label], options)
    return LabelledTables(train, test, names, classes, *_usable(test[names], options.test))


def groups_of(tables: LabelledTables, options: argparse.Namespace) -> list[str] | None:
    """The group of each row of TEST, where ``--by`` names a column; an empty cell is a group of its own."""
    if options.by is None:
        return None
    require_columns(tables.test, [options.by], options.test)
    groups: list[str] = tables.test[options.by].fillna("(empty)").astype(str).tolist()
    return groups


def require_folder_of(*paths: str | None) -> None:
    """What can be said of the places to write to before the work."""
    for path in paths:
        if path is not None and not Path(path).parent.is_dir():
            raise InputError(f"{path} can't be written: there is no folder {Path(path).parent}")


def _feature_names(train: pd.DataFrame, options: argparse.Namespace) -> list[str]:
    """All columns but the label, those to keep or to ignore, and row numbers."""
    require_columns(train, [options.label], options.train)
    others = {options.label, *options.keep, *options.ignore, getattr(options, "by", None)}
    names = [str(name) for name in train.columns if name not in others]
    numbers = [name for name in names if name.startswith(_ROW_NUMBERS) or not name.strip()]
    if numbers:
        print(f"note: {options.train} has a column without a name; it is taken for row numbers and left out")
    names = [name for name in names if name not in numbers]
    if not names:
        raise InputError(f"{options.train} has no features: no column is left")
    return names


def _classes(labels: pd.Series[Any], options: argparse.Namespace) -> tuple[str, str]:
    """The negative and the positive label."""
    if labels.isna().any():
        raise InputError(f"{options.train}: the label is missing in row {int(labels.isna().argmax()) + 1}")
    values = sorted(labels.unique().tolist())
    if len(values) != 2:
        shown = ", ".join(values[:8]) + (", …" if len(values) > 8 else "")
        raise InputError(f"{options.train}: the label has {len(values)} different values ({shown}); two are needed")
    if options.positive is None or options.positive == values[1]:
        return values[0], values[1]
    if options.positive == values[0]:
        return values[1], values[0]
    raise InputError(f"--positive {options.positive}: the labels are {values[0]} and {values[1]}")


def _usable(features: pd.DataFrame, path: str) -> tuple[FloatArray, npt.NDArray[np.bool_], npt.NDArray[Any]]:
    """The points, which of them can be judged, and why the others can't: one hole does not spoil a whole table."""
    if not len(features):
        raise InputError(f"{path} has no rows")
    if any(kind.kind not in "biuf" for kind in features.dtypes):
        as_matrix(features, what=path)  # which says what is not a number, and where
    for name in features.columns:
        if features[name].dtype.kind in "iu":
            values = features[name].dropna()
            large = (
                values[values.abs() >= EXACT_INTEGERS] if values.dtype.kind == "i" else values[values >= EXACT_INTEGERS]
            )
            require_exact(((int(value), float(value)) for value in large.tolist()), name, path)
    points = features.to_numpy(dtype=np.float64, na_value=np.nan)
    reasons = unusable_rows(points)
    return points, np.array(reasons == "", dtype=bool), reasons
