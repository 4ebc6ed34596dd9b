"""Tables larger than memory: any rows of CSV and Parquet files, by their number, without reading the rest."""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rescaleinv._util.files import checked_path
from rescaleinv._util.parameters import is_sequence
from rescaleinv._util.tables import EXACT_INTEGERS, check_table_name, require_exact
from rescaleinv.batch.csv_groups import Group, parse_group, scan_csv
from rescaleinv.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Few enough for a processor's cache while columns become rows.
_ROWS_AT_A_TIME = 16_384
_ENDINGS = (".csv", ".parquet")

Paths = str | Path | Iterable[str | Path]


@dataclass(frozen=True)
class TableFile:
    """A table in a file: what it is, and where its rows are.

    Attributes
    ----------
    path : str
    name : str
        The path below the folder that all inputs share: it stays the same when that folder moves.
    sha256 : str
        Of the whole content.
    size, modified : int
        As the file system says: whether the file is still the one that was hashed.
    schema : pyarrow.Schema
        Names and types of the columns; all are texts in a CSV file.
    group_rows : tuple of int
        Rows of each part that can be read without those before it (row groups).
    offsets : tuple of int
        Where these parts of a CSV file begin and the last one ends, in bytes; empty for Parquet.
    """

    path: str
    name: str
    sha256: str
    size: int
    modified: int
    schema: pa.Schema
    group_rows: tuple[int, ...]
    offsets: tuple[int, ...] = ()

    @property
    def n_rows(self) -> int:
        return sum(self.group_rows)

    def require_unchanged(self) -> None:
        """What was hashed must be what is read."""
        status = os.stat(self.path)
        if (status.st_size, status.st_mtime_ns) != (self.size, self.modified):
            raise InputError(f"{self.path} was changed while it was being read; start again when it is complete")


def find_files(inputs: Paths) -> list[Path]:
    """The files that are meant: paths, patterns such as ``data/*.csv``, and folders with all tables in them."""
    found: list[Path] = []
    if not isinstance(inputs, (str, Path)) and not is_sequence(inputs):
        raise InputError(f"inputs is {inputs!r}; a path, or a sequence of paths, is needed")
    for given in [inputs] if isinstance(inputs, (str, Path)) else list(inputs):
        path = checked_path(given, "an input")
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in _ENDINGS and not _hidden(p, path))
        elif not path.exists() and glob.has_magic(str(given)):
            inside = sorted(Path(match) for match in glob.glob(str(given), recursive=True))
        else:
            inside = [path]
        if not inside:
            raise InputError(f"{given}: no file there ends in {' or '.join(_ENDINGS)}")
        found += inside
    if not found:
        raise InputError("no input was given; files, folders or patterns are needed")
    for path in found:
        check_table_name(path, _ENDINGS)
    for path, count in Counter(path.resolve() for path in found).items():
        if count > 1:
            raise InputError(f"{path} was given twice")
    return found


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def survey(paths: Sequence[Path], n_threads: int = 1) -> list[TableFile]:
    """Read every file once: its hash, its columns and where its rows are."""
    shared = os.path.commonpath([path.resolve().parent for path in paths])
    names = [path.resolve().relative_to(shared).as_posix() for path in paths]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(_surveyed, paths, names))


def _surveyed(path: Path, name: str) -> TableFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            state = (status.st_size, status.st_mtime_ns)
            if path.suffix.lower() == ".csv":
                sha256, names, groups, offsets = scan_csv(file, path)
                schema = pa.schema([(column, pa.string()) for column in names])
            else:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                content = pq.ParquetFile(file)
                schema, offsets = content.schema_arrow.remove_metadata(), ()
                groups = tuple(content.metadata.row_group(k).num_rows for k in range(content.num_row_groups))
    except pa.ArrowException as error:
        raise InputError(f"{path} is not a Parquet table: {error}") from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error
    for column, count in Counter(schema.names).items():
        if count > 1:
            raise InputError(f"{path} has the column {column!r} twice")
    return TableFile(str(path), name, sha256, *state, schema, groups, offsets)


@dataclass(frozen=True)
class Columns:
    """Which columns to read: numbers, and others as they are (the text of a CSV file)."""

    features: tuple[str, ...]
    keep: tuple[str, ...] = ()


def feature_columns(columns: Sequence[Any], names: Sequence[str] | None, n_features: int, where: str) -> list[Any]:
    """The columns that the model was trained with, by their names; if it knows none, all there are."""
    if names is None:
        if len(columns) != n_features:
            raise InputError(
                f"{where} has {len(columns)} columns, and the model was trained with {n_features} features without names; "
                "train it with a data frame, so that columns can be chosen by name"
            )
        return list(columns)
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(
            f"{where} has no column {', '.join(map(repr, missing))}, which the model was trained with; "
            f"it has {', '.join(map(repr, columns))}"
        )
    return list(names)


def choose_columns(
    files: Sequence[TableFile], names: Sequence[str] | None, n_features: int, keep: tuple[str, ...]
) -> Columns:
    """The columns to read, which every file must have, with types that fit."""
    chosen = []
    for file in files:
        for name in keep:
            if name not in file.schema.names:
                raise InputError(f"{file.path} has no column {name!r} to keep")
        candidates = [name for name in file.schema.names if names is not None or name not in keep]
        features = feature_columns(candidates, names, n_features, file.path)
        if not file.offsets:
            _require_numbers(file, features)
        chosen.append((Columns(tuple(features), keep), [_kept_type(file, name) for name in keep]))
        if chosen[-1] != chosen[0]:
            raise InputError(f"{file.path} has other columns, or kept columns of other types, than {files[0].path}")
    return chosen[0][0]


def _kept_type(file: TableFile, name: str) -> pa.DataType:
    """The type of a column as it is kept: there are several for texts, and which one depends on who wrote the file."""
    import pyarrow as pa
    from pyarrow import types

    kind = file.schema.field(name).type
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    return pa.string() if any(test(kind) for test in texts) else kind


def _require_numbers(file: TableFile, features: Iterable[str]) -> None:
    from pyarrow import types

    for name in features:
        kind = file.schema.field(name).type
        value = kind.value_type if types.is_dictionary(kind) else kind
        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
        if not any(test(value) for test in tests):
            raise InputError(f"{file.path}: the column {name!r} is of type {kind}; numbers are needed")


def read_rows(file: TableFile, start: int, stop: int, columns: Columns) -> Iterator[pa.Table]:
    """The rows from ``start`` to before ``stop``, some at a time: first the features as floats, then what is kept."""
    import pyarrow as pa

    firsts = [0, *accumulate(file.group_rows)]
    groups = [k for k, rows in enumerate(file.group_rows) if firsts[k] < stop and firsts[k] + rows > start]
    position = firsts[groups[0]]
    read = _csv_batches if file.offsets else _parquet_batches
    try:
        file.require_unchanged()
        for batch in read(file, groups, columns):
            first, last = max(start - position, 0), min(stop - position, batch.num_rows)
            if first < last:
                yield batch.slice(first, last - first)
            position += batch.num_rows
            if position >= stop:
                break
        file.require_unchanged()
    except pa.ArrowException as error:
        raise InputError(f"{file.path} is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{file.path} can't be read: {error.strerror or error}") from error


def _parquet_batches(file: TableFile, groups: list[int], columns: Columns) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [*columns.features, *columns.keep]
    with pq.ParquetFile(file.path) as content:
        for batch in content.iter_batches(
            _ROWS_AT_A_TIME, row_groups=groups, columns=list(dict.fromkeys(names)), use_threads=False
        ):
            numbers = [_as_floats(batch.column(name), name, file.path) for name in columns.features]
            kept = [batch.column(name).cast(_kept_type(file, name)) for name in columns.keep]
            yield pa.table([*numbers, *kept], names=names)


def _as_floats(values: Any, name: str, path: str) -> pa.Array:
    """A column as floats. Integers that no float equals are refused: they would be other points."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    floats = values.cast(pa.float64(), safe=False)
    if types.is_integer(values.type) and values.type.bit_width > 32:
        large = pc.greater_equal(pc.abs(floats), float(EXACT_INTEGERS))
        exact, rounded = values.filter(large).to_pylist(), floats.filter(large).to_pylist()
        require_exact(zip(exact, rounded, strict=True), name, path)
    return floats


def _csv_batches(file: TableFile, groups: list[int], columns: Columns) -> Iterator[pa.Table]:
    with open(file.path, "rb") as content:
        for group in groups:
            first, end = file.offsets[group : group + 2]
            content.seek(first)
            first_row = sum(file.group_rows[:group])
            rows = Group(content.read(end - first), file.schema.names, file.path, first_row, file.group_rows[group])
            yield parse_group(rows, columns.features, columns.keep)
