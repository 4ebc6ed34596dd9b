"""Checks of the tables, labels and numbers that users give: each check returns clean arrays or says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.frames import require_rows
from rescaleinv._util.parameters import shown
from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError

# Products of two values, summed over features, must stay finite.
LARGEST_VALUE = 1e150
# Beyond this not every whole number is a float.
_LARGEST_SAFE_INTEGER = 2.0**53


def listing(items: Sequence[Any], most: int = 5) -> str:
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of a data frame's columns, or None where X has none (or names that are not text)."""
    columns = getattr(X, "column_names", None) or getattr(X, "columns", None)  # Arrow has the first, others the second
    if columns is None or callable(columns):
        return None
    names = tuple(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def is_missing(value: Any) -> bool:
    """None, NaN, infinity, or the NA of pandas (which need not be installed)."""
    if isinstance(value, (float, np.floating)):
        return not np.isfinite(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _first_text(column: npt.NDArray[Any]) -> tuple[int, Any] | None:
    """Row and value of the first entry that is not a number, or else of the first text that looks like one."""
    found = None
    for row, value in enumerate(column):
        if is_missing(value):  # reported as such, with its row
            continue
        try:
            float(value)
        except (TypeError, ValueError):
            return row, value.item() if isinstance(value, np.generic) else value
        except OverflowError:  # an integer beyond all floats
            continue
        if found is None and isinstance(value, (str, bytes)):
            found = row, value.item() if isinstance(value, np.generic) else value
    return found


def _to_float(value: Any) -> float:
    try:
        return float("nan") if is_missing(value) else float(value)
    except OverflowError:
        return float("inf")


def _dense(X: Any) -> npt.NDArray[Any]:
    if np.ma.is_masked(X):
        X = X.filled(np.nan) if X.dtype.kind in "fO" else X.astype(float).filled(np.nan)
    if hasattr(X, "toarray"):  # scipy.sparse, whichever of its formats
        X = X.toarray()
    elif hasattr(X, "to_numpy"):  # pandas and polars
        X = X.to_numpy()
    try:
        array = np.asarray(X)
        # numpy would turn a whole list into text because of one text in it; as objects, the offending entry can be found
        return array if array.dtype.kind not in "US" or array is X else np.array(X, dtype=object)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"the features are not a table with rows of one length: {error}") from error


def _column(X: Any, j: int) -> npt.NDArray[Any]:
    """Column j as it was given, before any conversion to floats."""
    if hasattr(X, "iloc"):  # pandas
        return np.asarray(X.iloc[:, j].to_numpy())
    if hasattr(X, "get_column_index"):  # polars
        return np.asarray(X[:, j].to_numpy())
    if hasattr(X, "column_names"):  # Arrow
        return np.asarray(X.column(j).to_numpy())
    if hasattr(X, "tocsc"):  # scipy.sparse
        return np.asarray(X.tocsc()[:, [j]].toarray().ravel())
    if isinstance(X, np.ndarray):
        return np.asarray(X[:, j]).ravel()  # a matrix has two dimensions in every column
    return np.array([row[j] for row in X], dtype=object)


def _first_rounded(X: Any, matrix: FloatArray) -> tuple[int, int, Any] | None:
    """Row, column and value of the first number that was rounded when it became a float, among the large ones.

    Identifiers and time stamps in nanoseconds are integers beyond 2**53; rows that differ would become one point.
    """
    large = (np.abs(matrix) >= _LARGEST_SAFE_INTEGER) & np.isfinite(matrix)
    for j in np.flatnonzero(large.any(axis=0)).tolist():
        column = _column(X, j)
        if column.dtype.kind == "f" and column.dtype.itemsize <= 8:
            continue
        for i in np.flatnonzero(large[:, j]).tolist():
            value = column[i].item() if isinstance(column[i], np.generic) else column[i]
            if isinstance(value, (int, Fraction, Decimal)) and Fraction(value) != Fraction(float(matrix[i, j])):
                return i, j, value
    return None


def as_matrix(X: Any, *, what: str = "X", n_features: int | None = None, holes: bool = False) -> FloatArray:
    """Return X (array, data frame, sparse matrix or nested lists) as a finite float64 matrix, or say what is wrong.

    With ``holes`` values that are missing, infinite or too large are left in it.

    >>> as_matrix([[1, 2], [3, 4]]).dtype
    dtype('float64')
    >>> as_matrix([[1, float("nan")]])
    Traceback (most recent call last):
        ...
    rescaleinv.errors.InputError: X has NaN or infinity in 1 cell(s), first at row 0, column 1; remove or impute them first
    """
    require_rows(X, what)
    names = column_names(X)
    raw = _dense(X)
    if raw.ndim != 2:
        raise InputError(
            f"{what} has {raw.ndim} dimension(s); a table with one row per point and one column per feature is needed. "
            "Reshape your data: X.reshape(1, -1) makes one point out of a vector, X.reshape(-1, 1) one feature"
        )
    if np.iscomplexobj(raw):
        raise InputError(f"{what} holds complex numbers. Complex data not supported: real numbers are needed")
    if raw.dtype.kind in "mM":  # as texts: some are turned into numbers of nanoseconds without a word
        raw = raw.astype(str).astype(object)
    if raw.dtype.kind not in "biuf":
        for j in range(raw.shape[1]):
            offender = _first_text(raw[:, j])
            if offender is not None:
                where = f"{j} ({names[j]!r})" if names else str(j)
                row, value = offender
                raise InputError(
                    f"{what} has {value!r} in column {where}, row {row}, where numbers belong; "
                    "encode text and dates as numbers first"
                )
        if raw.dtype.kind not in "O":
            raise InputError(f"{what} has values of type {raw.dtype}; numbers are needed")
    if raw.shape[1] == 0:
        raise InputError(f"{what} has no feature: 0 feature(s) (shape={raw.shape}) while a minimum of 1 is required")
    if raw.shape[0] == 0:
        raise InputError(f"{what} has no row: 0 sample(s) (shape={raw.shape}) while a minimum of 1 is required")
    if n_features is not None and raw.shape[1] != n_features:
        raise InputError(f"{what} has {raw.shape[1]} features, but {n_features} were seen in training")
    if raw.dtype.kind == "O":
        raw = np.vectorize(_to_float, otypes=[np.float64])(raw)
    matrix = np.ascontiguousarray(raw, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size and not holes:
        row, column = bad[0]
        where = f"{column} ({names[column]!r})" if names else str(column)
        raise InputError(
            f"{what} has NaN or infinity in {len(bad)} cell(s), first at row {row}, column {where}; "
            "remove or impute them first"
        )
    largest = np.nanmax(np.abs(matrix), initial=0) if bad.size else np.abs(matrix).max()
    rounded = _first_rounded(X, matrix) if largest >= _LARGEST_SAFE_INTEGER else None
    if rounded is not None:
        row, column, value = rounded
        where = f"{column} ({names[column]!r})" if names else str(column)
        raise InputError(
            f"{what} has the integer {value} at row {row}, column {where}, which no float holds exactly (whole numbers are "
            "exact up to 2**53); leave identifiers out, and count time stamps from a later start or in a larger unit"
        )
    if largest > LARGEST_VALUE and not holes:
        row, column = np.argwhere(np.abs(matrix) == largest)[0]
        raise InputError(
            f"{what} has the value {matrix[row, column]:g} at row {row}, column {column}; "
            f"products of values beyond {LARGEST_VALUE:g} overflow. Choose a larger unit for that feature"
        )
    return matrix


def as_labels(y: Any, n_rows: int, positive: Any = None) -> tuple[npt.NDArray[np.int8], tuple[Any, Any]]:
    """Return the signs (+1 / -1) of any two labels, and the labels as (negative, positive).

    The positive one is ``positive`` where given, else the second in sorted order.

    >>> as_labels(["no", "yes", "no"], 3)
    (array([-1,  1, -1], dtype=int8), ('no', 'yes'))
    """
    try:
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError as error:  # sequences of different lengths
        raise InputError(f"the labels are not a sequence with one label per row: {error}") from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise InputError(f"the labels have {labels.ndim} dimensions; one label per row is needed")
    if len(labels) != n_rows:
        raise InputError(f"there are {len(labels)} labels for {n_rows} rows; one label per row is needed")
    # numpy turns NaN into the text "nan" in a list of texts, so look at the list itself
    given = y if isinstance(y, (list, tuple)) else labels
    if isinstance(y, np.ma.MaskedArray):
        given = np.ma.filled(y.astype(object), np.nan).ravel()
    missing = [i for i, label in enumerate(given) if is_missing(label)]
    if missing:
        raise InputError(f"the labels of rows {listing(missing)} are missing (None, NaN or infinity)")
    try:
        values, counts = np.unique(labels, return_counts=True)
    except TypeError as error:
        raise InputError(f"the labels are of types that cannot be compared with each other: {error}") from error
    classes = values.tolist()
    if len(classes) == 1:
        raise InputError(f"the training set has one class ({classes[0]!r}, {counts[0]} rows); both are needed")
    try:
        is_known = positive is None or bool(positive in classes)
    except (TypeError, ValueError):  # NA, or an array
        is_known = False
    if not is_known:
        raise InputError(f"the positive label {shown(positive)} is not among the labels {listing(classes)}")
    if len(classes) > 2:
        raise InputError(
            f"the labels have {len(classes)} classes ({listing(classes)}); two are needed. "
            "Only binary classification is supported here"
        )
    chosen = classes[1] if positive is None else positive
    negative = classes[0] if chosen == classes[1] else classes[1]
    return np.where(labels == values[classes.index(chosen)], 1, -1).astype(np.int8), (negative, chosen)


def exact_number(value: Any, what: str) -> Fraction:
    """The number as an exact rational, or an ``InputError`` that names what was expected."""
    try:
        return Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(float(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} is {value!r}; a finite number is needed") from error
