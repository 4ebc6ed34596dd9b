"""What the commands read: a training table and a test table, which columns are features, which rows can be judged."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.tables import EXACT_INTEGERS, Reading, folded, read_table, require_columns, require_exact
from rescaleinv._util.types import FloatArray
from rescaleinv.cli.columns import named_columns, require_numbers, tell_identifiers, without_row_numbers, without_units
from rescaleinv.cli.one_hot import one_hot_columns
from rescaleinv.errors import InputError
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.verdict import unusable_rows

if TYPE_CHECKING:
    import pandas as pd

# A label with more different values than this is not one of classes.
_MOST_CLASSES = 20
_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


@dataclass(frozen=True, eq=False)
class LabelledTables:
    """What was read of TRAIN and TEST.

    Attributes
    ----------
    names : list of str
        The features.
    rows, labels, row_numbers : arrays
        The training rows, their classes by name, and where they stand in the file (the first row below the header is 1).
    classes : tuple of str
        Two, the negative one first; or more.
    test : data frame
        TEST as it was read.
    points, usable, reasons : arrays
        The features of TEST, which of its rows can be judged, and why the others can't.
    truth : array or None
        The classes of the rows of TEST by name, None where one is not known; None where TEST has no label.
    without_units : list of str
        Features with two values and those made of categories: limited ranges leave them as they are.
    keep : list of str
        Columns of TEST that results are to show.
    """

    names: list[str]
    rows: FloatArray
    labels: npt.NDArray[Any]
    row_numbers: npt.NDArray[np.intp]
    classes: tuple[str, ...]
    test: pd.DataFrame
    points: FloatArray
    usable: npt.NDArray[np.bool_]
    reasons: npt.NDArray[Any]
    truth: npt.NDArray[Any] | None
    without_units: list[str]
    keep: list[str]

    def training_frame(self) -> pd.DataFrame:
        """The training rows with the names of their features, and called by their numbers in the file."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.names, index=self.row_numbers)

    def points_frame(self, chosen: npt.NDArray[Any]) -> pd.DataFrame:
        """Some rows of TEST, called by their numbers in the file."""
        import pandas as pd

        numbers = np.arange(1, len(self.points) + 1)
        return pd.DataFrame(self.points[chosen], columns=self.names, index=numbers[chosen])


def read_labelled(options: argparse.Namespace) -> LabelledTables:
    """Read TRAIN and TEST as the options about tables say."""
    reading = reading_of(options)
    train, test = (_read(path, options.label, reading) for path in (options.train, options.test))
    require_columns(train, [options.label], options.train)
    keep = named_columns(options.keep, list(test.columns), "--keep", options.test)
    categories = named_columns(options.one_hot, list(train.columns), "--one-hot", options.train)
    names = _feature_names(train, test, keep, options)
    require_numbers(train, [name for name in names if name not in categories], options.train)
    require_columns(test, names, options.test)
    if not len(test):
        raise InputError(f"{options.test} has no rows")
    require_numbers(test, [name for name in names if name not in categories], options.test, empty_too=True)
    fill = options.impute == "median"
    made: list[str] = []
    if categories:
        train, test, names, made = one_hot_columns(train, test, names, categories, fill=fill)
    tell_identifiers(train, [name for name in names if name not in made])
    classes, labels, truth = _classes(train[options.label], test, options)
    train_rows, kept_rows = _training_rows(train[names], labels, options)
    points = exact_numbers(test[names], options.test)
    if fill:
        points = np.where(np.isnan(points), np.median(train_rows, axis=0), points)
    reasons = unusable_rows(points)
    for name in categories:
        strange = test[name].notna() & ~test[name].isin(train[name].dropna().unique())
        reasons[strange.to_numpy()] = [
            f"{name} is {value!r}, which no training row has" for value in test[name][strange].tolist()
        ]
    return LabelledTables(
        names=names,
        rows=train_rows,
        labels=labels[kept_rows],
        row_numbers=kept_rows + 1,
        classes=classes,
        test=test,
        points=points,
        usable=np.array(reasons == "", dtype=bool),
        reasons=reasons,
        truth=truth,
        without_units=sorted({*made, *without_units(train, names)}, key=names.index),
        keep=keep,
    )


def reading_of(options: argparse.Namespace) -> Reading:
    """How files are written, as the options say."""
    return Reading(_SEPARATORS.get(options.sep, options.sep), options.decimal, tuple(options.na))


def _read(path: str, label: str, reading: Reading) -> pd.DataFrame:
    table = read_table(path, text=label, reading=reading)
    if table.attrs.get("format"):
        print(f"{path}: {table.attrs['format']}")
    return table


def groups_of_points(tables: LabelledTables, options: argparse.Namespace) -> list[str] | None:
    """The group of each row of TEST, where ``--by`` names a column; an empty cell is a group of its own."""
    if options.by is None:
        return None
    require_columns(tables.test, [options.by], options.test)
    groups: list[str] = tables.test[options.by].astype(object).fillna("(empty)").astype(str).tolist()
    return groups


def require_folder_of(*paths: str | None) -> None:
    """What can be said of the places to write to before the work."""
    for path in paths:
        if path is not None and not Path(path).parent.is_dir():
            raise InputError(f"{path} can't be written: there is no folder {Path(path).parent}")
        if path is not None and Path(path).is_dir():
            raise InputError(f"{path} can't be written: it is a folder")


def require_model(path: str) -> None:
    """What can be said of a model's file before anything that reads it is loaded."""
    try:
        with Path(path).open("rb"):
            pass
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL byte
        raise InputError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from error


def require_two_classes(tables: LabelledTables, options: argparse.Namespace) -> None:
    """For commands that are about two classes."""
    if len(tables.classes) > 2:
        raise InputError(
            f"{options.train}: {options.label} has {len(tables.classes)} classes ({folded(list(tables.classes), 8)}); "
            "--positive VALUE asks about one of them against the rest"
        )


def _feature_names(train: pd.DataFrame, test: pd.DataFrame, keep: list[str], options: argparse.Namespace) -> list[str]:
    """All columns but the label, those to keep or to ignore, and row numbers."""
    both = [*train.columns, *(name for name in test.columns if name not in train.columns)]
    ignored = named_columns(options.ignore, both, "--ignore", options.train)
    others = {options.label, *keep, *ignored, getattr(options, "by", None)}
    names = without_row_numbers([str(name) for name in train.columns if name not in others], options.train)
    if not names:
        raise InputError(f"{options.train} has no features: no column is left")
    return names


def _classes(
    labels: pd.Series[Any], test: pd.DataFrame, options: argparse.Namespace
) -> tuple[tuple[str, ...], npt.NDArray[Any], npt.NDArray[Any] | None]:
    """The classes, that of each training row (None where it is missing and such rows are left out), and the truth."""
    if labels.isna().any() and options.impute != "drop":
        raise InputError(
            f"{options.train}: the label is missing in row {int(labels.isna().argmax()) + 1}; --impute drop leaves such "
            "rows out"
        )
    values = sorted(labels.dropna().unique().tolist())
    if len(values) < 2 or (len(values) > _MOST_CLASSES and options.positive is None):
        needed = "two are needed" if len(values) < 2 else "this is not a label of classes, or --positive must name one"
        raise InputError(
            f"{options.train}: the label has {len(values)} different values ({folded(values, 8)}); {needed}"
        )
    if options.positive is not None and options.positive not in values:
        listed = f"{values[0]} and {values[1]}" if len(values) == 2 else folded(values)
        raise InputError(f"--positive {options.positive}: the labels are {listed}")
    names = {value: value for value in values}
    classes = tuple(values)
    if options.positive is not None:
        rest = f"not {options.positive}" if len(values) > 2 else next(v for v in values if v != options.positive)
        names = {value: value if value == options.positive else rest for value in values}
        classes = (rest, options.positive)
    truth = None
    if options.label in test.columns:
        truth = np.array([names.get(value) for value in test[options.label].tolist()], dtype=object)
    return classes, np.array([names.get(value) for value in labels.tolist()], dtype=object), truth


def _training_rows(
    features: pd.DataFrame, labels: npt.NDArray[Any], options: argparse.Namespace
) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """The training rows with missing values filled in or left out, as ``--impute`` says, and which rows they are."""
    missing = features.isna()
    incomplete = missing.any(axis=1).to_numpy() | np.array([label is None for label in labels.tolist()])
    if not incomplete.any():
        return as_matrix(features, what=options.train), np.arange(len(features))
    counts = missing.sum()
    where = folded([f"{name} ({count})" for name, count in counts.items() if count])
    if options.impute is None:
        raise InputError(
            f"{options.train}: {int(incomplete.sum())} of {len(features)} rows have a missing value, in {where}; --impute "
            "median fills them in with the middle value of the column, --impute drop leaves these rows out, --ignore "
            "COLUMN excludes a column"
        )
    if options.impute == "drop":
        kept = np.flatnonzero(~incomplete)
        print(
            f"note: {int(incomplete.sum())} of {len(features)} rows of {options.train} have a missing value: left out"
        )
        if not len(kept):
            raise InputError(f"{options.train} has no row without a missing value; --impute median fills them in")
        return as_matrix(features.iloc[kept], what=options.train), kept
    print(f"note: missing values are filled in with the median of their column in {options.train}: {where}")
    return as_matrix(features.fillna(features.median()), what=options.train), np.arange(len(features))


def exact_numbers(features: pd.DataFrame, path: str) -> FloatArray:
    """The points with nan where a value is missing: one hole does not spoil a whole table."""
    for name in features.columns:
        if features[name].dtype.kind in "iu":
            values = features[name].dropna()
            large = (
                values[values.abs() >= EXACT_INTEGERS] if values.dtype.kind == "i" else values[values >= EXACT_INTEGERS]
            )
            require_exact(((int(value), float(value)) for value in large.tolist()), name, path)
    matrix: FloatArray = features.to_numpy(dtype=np.float64, na_value=np.nan)
    return matrix
