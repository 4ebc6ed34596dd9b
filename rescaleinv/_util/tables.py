"""Tables in files: CSV and Parquet, by the ending of the name."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rescaleinv._util.files import checked_path, replacing
from rescaleinv.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")
# A first line that is longer than this is not one of column names.
_LONGEST_HEADER = 2**24
# What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def check_table_name(path: str | Path) -> str:
    """The ending of a table's name, if it is one that can be read and written."""
    ending = checked_path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: a table's name must end in {' or '.join(ENDINGS)}")
    return ending


def read_table(path: str | Path, text: str | None = None) -> pd.DataFrame:
    """The table in a file; a missing, empty or damaged one is an ``InputError``.

    The column ``text``, if the table has it, is read as text: as it stands in a CSV file ("NA" and "01" are texts like any
    other there), and missing where it is empty.
    """
    import pandas as pd

    ending = check_table_name(path)
    try:
        table = _read_csv(path, text) if ending == ".csv" else pd.read_parquet(path)
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


def _is_missing(value: object) -> bool:
    # NA first: what it is compared with has no truth value
    return value is None or type(value).__name__ == "NAType" or value == "" or value != value


def _read_csv(path: str | Path, text: str | None) -> pd.DataFrame:
    import pandas as pd

    with open(path, encoding="utf-8-sig", newline="") as file:
        beginning = file.read(_LONGEST_HEADER + 1)
    if len(beginning) > _LONGEST_HEADER and "\n" not in beginning and "\r" not in beginning:
        raise InputError(
            f"{path}: its first line is longer than {_LONGEST_HEADER:,} characters; names of columns are needed"
        )
    names = next(csv.reader(io.StringIO(beginning, newline="")), [])
    if not names:
        raise InputError(f"{path} is not a CSV table: it is empty")
    _require_distinct_columns(names, path)
    nothing = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "#N/A"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row with more fields than there are columns
        return pd.read_csv(
            path,
            index_col=False,
            dtype=None if text is None else {text: str},
            keep_default_na=False,
            na_values={name: nothing for name in names if name != text},
        )


def _require_distinct_columns(names: list[str], path: str | Path) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{path} has the column {repeated[0]!r} twice")


def write_table(table: pd.DataFrame, path: str | Path, *, escape_formulas: bool = False) -> None:
    """Write a table, whole or not at all.

    Texts are written as they are. With ``escape_formulas`` those in a CSV file that a spreadsheet would take for a formula
    get an apostrophe in front; numbers stay numbers.
    """
    ending = check_table_name(path)
    _require_distinct_columns(list(table.columns), path)
    buffer = io.BytesIO()
    if ending == ".csv":
        (_without_formulas(table) if escape_formulas else table).to_csv(buffer, index=False)
    else:
        table.to_parquet(buffer, index=False)
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


def require_columns(table: pd.DataFrame, wanted: list[str], path: str | Path) -> None:
    """An ``InputError`` that names the columns which are not there."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, missing))}; it has {', '.join(map(repr, table.columns))}"
        )
