"""Data sets by name: seven ship with the package, the others come from a folder of yours or from OpenML."""

import csv
import io
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv.datasets._catalogue import BINARY, ENTRIES, OpenMLCopy
from rescaleinv.errors import DatasetUnavailableError, InputError

__all__ = ["Dataset", "available", "load"]

_FOLDER_VARIABLE = "RESCALEINV_DATA"


@dataclass(frozen=True, eq=False)
class Dataset:
    """One data set; it unpacks as ``features, labels, feature_names``. The arrays are read-only.

    Parameters
    ----------
    name : str
        As :func:`load` knows it.
    features : array of shape (n_rows, n_features)
    labels : array of shape (n_rows,)
    feature_names : tuple of str
    n_dropped : int
        How many rows were left out because of an empty cell.
    description : str
        What the labels mean.
    attribution : str
        Where the data come from, and their licence.
    groups : array of str, or None
        To which group each row belongs, where the data say so: the species of ``penguins``. Not a feature.

    Examples
    --------
    >>> load("fertility").description
    '+1 = altered, -1 = normal.'
    """

    name: str
    features: npt.NDArray[np.float64] = field(repr=False)
    labels: npt.NDArray[Any] = field(repr=False)
    feature_names: tuple[str, ...]
    n_dropped: int
    description: str
    attribution: str
    groups: npt.NDArray[Any] | None = field(repr=False, default=None)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.features, self.labels, self.feature_names))


# the data set, and the 1-based numbers of the data rows that were left out
_Parsed = tuple[Dataset, list[int]]


def available() -> dict[str, str]:
    """Every name that :func:`load` knows, with where it is read from.

    ``"shipped"`` is the package itself, ``"RESCALEINV_DATA"`` the folder named in that environment variable (the
    file is there, or has to be put there because OpenML has no copy that fits), ``"openml"`` a download.

    Returns
    -------
    dict from str to str
        From each name to "shipped", "RESCALEINV_DATA" or "openml".

    Examples
    --------
    >>> available()["banknote"]
    'shipped'
    """
    places = {}
    for name, entry in ENTRIES.items():
        path = _path_in_folder(name)
        in_folder = entry.openml is None or (path is not None and path.is_file())
        places[name] = "shipped" if entry.ships else _FOLDER_VARIABLE if in_folder else "openml"
    return places


def load(name: str) -> Dataset:
    """The data set of that name; :func:`available` lists the names.

    A set that ships is read from the package. Any other is read from ``<name>.csv`` in the folder named in the
    environment variable ``RESCALEINV_DATA``, else from OpenML. Rows with an empty cell are left out, with a warning.

    Parameters
    ----------
    name : str
        One of the names of :func:`available`.

    Returns
    -------
    Dataset
        It unpacks as ``features, labels, feature_names``.

    Raises
    ------
    DatasetUnavailableError
        The name is unknown, or the data are neither in the folder nor available from OpenML.
    InputError
        The file is not a table of numbers with a last column ``label``.

    Examples
    --------
    >>> data = load("blood_transfusion")
    >>> data.features.shape
    (748, 4)
    >>> features, labels, names = data
    >>> names
    ('recency_months', 'frequency_times', 'monetary_cc', 'time_months')
    >>> int((labels == 1).sum()), int((labels == -1).sum())
    (178, 570)
    >>> penguins = load("penguins")
    >>> penguins.feature_names[-1], sorted(set(penguins.groups.tolist()))
    ('body_mass_g', ['Adelie', 'Chinstrap', 'Gentoo'])
    """
    entry = ENTRIES.get(name)
    if entry is None:
        raise DatasetUnavailableError(f"there is no data set {name!r}; the names are {', '.join(ENTRIES)}")
    path = _path_in_folder(name)
    if entry.ships:
        data, dropped = _from_file(name, resources.files(__name__) / f"{name}.csv")
    elif path is not None and path.is_file():
        data, dropped = _from_file(name, path)
    elif entry.openml is not None:
        data, dropped = _from_openml(name, entry.openml)
    else:
        raise DatasetUnavailableError(_how_to_get(name, "OpenML has no copy that fits"))
    if dropped:
        warnings.warn(
            f"{name}: left out {len(dropped)} of {len(data.labels) + len(dropped)} data rows because of an empty cell: "
            f"{', '.join(map(str, dropped))} (counted from 1)",
            UserWarning,
            stacklevel=2,
        )
    return data


def _path_in_folder(name: str) -> Path | None:
    folder = os.environ.get(_FOLDER_VARIABLE)
    return Path(folder).expanduser() / f"{name}.csv" if folder else None


def _how_to_get(name: str, openml_outcome: str) -> str:
    entry, path = ENTRIES[name], _path_in_folder(name)
    looked = f"there is no file {path}" if path else f"{_FOLDER_VARIABLE} is not set, so no {name}.csv was looked for"
    return (
        f"data set {name!r} is not available: {looked}, and {openml_outcome}. Set {_FOLDER_VARIABLE} to a folder that "
        f"holds {name}.csv: a header, a column of numbers for each feature, and a last column 'label' with "
        f"{entry.listed_classes}. {entry.meaning} The data are at {entry.url}"
    )


def _from_file(name: str, file: Traversable) -> _Parsed:
    try:
        reader = csv.reader(io.StringIO(file.read_text(encoding="utf-8-sig"), newline=""))
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file} is not a CSV file in UTF-8: {error}") from error
    return _parse(name, str(file), lines)


def _from_openml(name: str, copy: OpenMLCopy) -> _Parsed:
    try:
        from sklearn.datasets import fetch_openml

        # The default parser of scikit-learn fails under pandas 3.1 where the classes are numbers (its issue 34892).
        bunch = fetch_openml(data_id=copy.data_id, as_frame=True, parser="liac-arff", n_retries=1)
        if bunch.data.shape != (copy.n_rows, len(copy.feature_names)):
            raise InputError(f"expected {copy.n_rows} rows of {len(copy.feature_names)}, found {bunch.data.shape}")
        lines = [(1, [*copy.feature_names, "label"])]
        table = zip(bunch.data.to_numpy(dtype=object), bunch.data.isna().to_numpy(), bunch.target, strict=True)
        for line, (values, missing, target) in enumerate(table, start=2):
            cells = [
                "" if gone or (copy.stands_for_empty and str(value).startswith(copy.stands_for_empty)) else str(value)
                for value, gone in zip(values, missing, strict=True)
            ]
            label = copy.label_of[str(target)] if copy.label_of else str(target)
            lines.append((line, [copy.number_of.get(cell, cell) for cell in cells] + [label]))
        return _parse(name, f"OpenML data set {copy.data_id}", lines, copy.note)
    except Exception as error:  # whatever a network, a server or a changed format can do
        outcome = f"OpenML data set {copy.data_id} could not be read ({type(error).__name__}: {error})"
        raise DatasetUnavailableError(_how_to_get(name, outcome)) from error


def _parse(name: str, where: str, lines: list[tuple[int, list[str]]], note: str = "") -> _Parsed:
    entry = ENTRIES[name]
    class_of = {str(value): value for value in entry.classes}
    header = lines[0][1] if lines else []
    if len(header) < 2 or header[-1] != "label":
        raise InputError(f"{where}, line 1: the header has to name the features and last 'label', but it is {header}")
    features, labels, groups, dropped = [], [], [], []
    # the column of the groups, if the set has one, is not a feature
    names = [column for column in header[:-1] if column != entry.group]
    if len(names) == len(header) - 1 and entry.group:
        raise InputError(f"{where}, line 1: there is no column {entry.group!r}; the header is {header}")
    for row, (line, cells) in enumerate(lines[1:], start=1):
        if len(cells) != len(header):
            at = f"none for {header[len(cells)]!r}" if len(cells) < len(header) else "some beyond 'label'"
            raise InputError(f"{where}, line {line}: {len(cells)} cells for {len(header)} columns, {at}")
        if not all(map(str.strip, cells)):
            dropped.append(row)
            continue
        if entry.group:
            groups.append(cells[header.index(entry.group)].strip())
        features.append(
            [
                _number(cell, where, line, column)
                for cell, column in zip(cells, header[:-1], strict=False)
                if column != entry.group
            ]
        )
        label = cells[-1].strip()
        if label not in class_of:
            raise InputError(f"{where}, line {line}, column 'label': {label!r} is not {entry.listed_classes}")
        labels.append(class_of[label])
    if not features:
        raise InputError(f"{where}: no complete data row")
    data = Dataset(
        name,
        np.array(features, dtype=np.float64),
        np.array(labels, dtype=np.int8 if entry.classes == BINARY else None),
        tuple(names),
        len(dropped),
        f"{entry.meaning}{note}",
        entry.attribution,
        np.array(groups) if entry.group else None,
    )
    data.features.flags.writeable = False
    data.labels.flags.writeable = False
    if data.groups is not None:
        data.groups.flags.writeable = False
    return data, dropped


def _number(cell: str, where: str, line: int, column: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}, line {line}, column {column!r}: {cell!r} is not a finite number")
    return number
