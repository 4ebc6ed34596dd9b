"""Tables in files: CSV and Parquet, by the ending of the name."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rescaleinv._util.csv_format import CsvFormat, csv_format
from rescaleinv._util.files import checked_path, replacing
from rescaleinv.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    import pandas as pd

READ_ENDINGS = (".csv", ".tsv", ".txt", ".parquet")
ENDINGS = (".csv", ".tsv", ".parquet", ".json")
# What stands for a missing value, apart from an empty cell.
MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>", "#N/A", "?")
# A first line that is longer than this is not one of column names.
_LONGEST_HEADER = 2**24
# Up to here every integer is a float.
EXACT_INTEGERS = 2**53
# What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Reading:
    """How to read CSV files; what is None is found out.

    Attributes
    ----------
    separator, decimal : str or None
        What stands between cells, and between the digits of a number.
    missing : sequence of str
        What stands for a missing value besides ``MISSING`` and an empty cell.
    """

    separator: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()


def check_table_name(path: str | Path, endings: tuple[str, ...] = ENDINGS) -> str:
    """The ending of a table's name, if it is one of those given."""
    ending = checked_path(path).suffix.lower()
    if ending not in endings:
        raise InputError(f"{path}: a table's name must end in {', '.join(endings[:-1])} or {endings[-1]}")
    return ending


def read_table(path: str | Path, text: str | None = None, reading: Reading | None = None) -> pd.DataFrame:
    """The table in a file; a missing, empty or damaged one is an ``InputError``.

    Encoding, separator and decimal sign of a CSV file are found out where ``reading`` does not say; what is unusual about
    them is in ``table.attrs["format"]``, in words. The column ``text``, if the table has it, is read as text: as it stands
    in a CSV file ("NA" and "01" are texts like any other there), and missing where it is empty.
    """
    ending = check_table_name(path, READ_ENDINGS)
    _require_readable(path)
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingPackageError(f"{path}: a table", "pandas") from error

    try:
        table = pd.read_parquet(path) if ending == ".parquet" else _read_csv(path, text, reading or Reading())
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error
    except ImportError as error:
        raise InputError(f'{path}: Parquet files need pyarrow: pip install "rescaleinv[parquet]"') from error
    except (ValueError, TypeError, pd.errors.ParserWarning) as error:  # all of pandas' and pyarrow's parsing errors
        raise InputError(f"{path} is not a {ending[1:].upper()} table: {' '.join(str(error).split())}") from error
    table.columns = pd.Index([str(name) for name in table.columns], dtype=object)  # Parquet has names of other types
    _require_distinct_columns(list(table.columns), path)
    if text is not None and text in table.columns:
        texts = [None if _is_missing(value) else str(value) for value in table[text].tolist()]
        table[text] = pd.Series(texts, index=table.index, dtype=object)
    return table


def _require_readable(path: str | Path) -> None:
    """Said before pandas is loaded, which takes longer than all the rest."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


def _is_missing(value: object) -> bool:
    # NA first: what it is compared with has no truth value
    return value is None or type(value).__name__ == "NAType" or value == "" or value != value


def _read_csv(path: str | Path, text: str | None, reading: Reading) -> pd.DataFrame:
    import pandas as pd

    form = csv_format(path, reading.separator, reading.decimal)
    names = _header(path, form)
    if not names:
        raise InputError(f"{path} is not a CSV table: it is empty")
    _require_distinct_columns(names, path)
    missing = ["", *MISSING, *reading.missing]
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more fields than there are columns
        table = pd.read_csv(
            path,
            index_col=False,
            sep=form.separator,
            decimal=form.decimal,
            thousands=form.thousands,
            encoding=form.encoding,
            skipinitialspace=True,
            **_exact_floats(pd.__version__),
            dtype=None if text is None else {text: str},
            keep_default_na=False,
            na_values={name: missing for name in names if name != text},
        )
    table.attrs["format"] = form.described()
    return table


def _exact_floats(version: str) -> dict[str, Any]:
    """What older versions of pandas must be told to read every number as the float that is nearest to it.

    >>> _exact_floats("2.2.3"), _exact_floats("3.1.0")
    ({'float_precision': 'round_trip'}, {})
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _header(path: str | Path, form: CsvFormat) -> list[str]:
    with open(path, encoding=form.encoding, newline="") as file:
        beginning = file.read(_LONGEST_HEADER + 1)
    if len(beginning) > _LONGEST_HEADER and "\n" not in beginning and "\r" not in beginning:
        raise InputError(
            f"{path}: its first line is longer than {_LONGEST_HEADER:,} characters; names of columns are needed"
        )
    lines = csv.reader(io.StringIO(beginning, newline=""), delimiter=form.separator, skipinitialspace=True)
    return next((row for row in lines if row), [])


def _require_distinct_columns(names: list[str], path: str | Path) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{path} has the column {repeated[0]!r} twice")


def require_exact(pairs: Iterable[tuple[int, float]], name: str, where: str) -> None:
    """An ``InputError`` for an integer that is not the float which was made of it."""
    for exact, rounded in pairs:
        if exact != rounded:  # Python compares them exactly
            raise InputError(
                f"{where}: the column {name!r} has the integer {exact}, which no float equals; subtract a constant from "
                "the column, in training too, or leave it out"
            )


def _to_parquet(table: pd.DataFrame, buffer: io.BytesIO, path: str | Path) -> None:
    try:
        table.to_parquet(buffer, index=False)
    except ImportError as error:
        raise MissingPackageError(f"{path}: a Parquet file", "pyarrow", '"rescaleinv[parquet]"') from error


def write_table(table: pd.DataFrame, path: str | Path, *, escape_formulas: bool = False) -> None:
    """Write a table, whole or not at all.

    Texts are written as they are. With ``escape_formulas`` those in a CSV file that a spreadsheet would take for a formula
    get an apostrophe in front; numbers stay numbers.
    """
    ending = check_table_name(path)
    _require_distinct_columns(list(table.columns), path)
    buffer = io.BytesIO()
    if ending == ".parquet":
        _to_parquet(table, buffer, path)
    elif ending == ".json":
        buffer.write(table.to_json(orient="records", double_precision=15, force_ascii=False, indent=1).encode() + b"\n")
    else:
        written = _without_formulas(table) if escape_formulas else table
        written.to_csv(buffer, index=False, sep="\t" if ending == ".tsv" else ",")
    try:
        with replacing(path) as file:
            file.write(buffer.getvalue())
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error


def _without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    escaped = table.copy()
    for name in table.columns:
        if table[name].dtype.kind not in "biufM":
            escaped[name] = [_as_text(value) for value in table[name].tolist()]
    return escaped.rename(columns=_as_text)


def _as_text(value: Any) -> Any:
    """
    >>> _as_text("=1+1"), _as_text("plain"), _as_text(-1.5)
    ("'=1+1", 'plain', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def folded(names: Sequence[str], most: int = 12) -> str:
    """Names in one line, the first ones only where there are many.

    >>> folded(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def require_columns(table: pd.DataFrame, wanted: list[str], path: str | Path) -> None:
    """An ``InputError`` that names the columns which are not there."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        columns = folded([repr(name) for name in table.columns], 40)
        raise InputError(f"{path} has no column {', '.join(map(repr, missing))}; it has {columns}")
