"""Tables in files: CSV and Parquet, by the ending of the name."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from rescaleinv._util.files import replacing
from rescaleinv.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")


def check_table_name(path: str | Path) -> str:
    """The ending of a table's name, if it is one that can be read and written."""
    ending = Path(path).suffix.lower()
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
    except (ValueError, pd.errors.ParserWarning) as error:  # all of pandas' and pyarrow's parsing errors
        raise InputError(f"{path} is no {ending[1:].upper()} table: {' '.join(str(error).split())}") from error
    _require_distinct_columns(list(table.columns), path)
    if text is not None and text in table.columns:
        texts = [None if _is_missing(value) else str(value) for value in table[text].tolist()]
        table[text] = pd.Series(texts, index=table.index, dtype=object)
    return table


def _is_missing(value: object) -> bool:
    return value is None or value == "" or value != value or type(value).__name__ == "NAType"


def _read_csv(path: str | Path, text: str | None) -> pd.DataFrame:
    import pandas as pd

    with open(path, encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader(file), [])
    if not names:
        raise InputError(f"{path} is no CSV table: it is empty")
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


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table, whole or not at all."""
    ending = check_table_name(path)
    _require_distinct_columns(list(table.columns), path)
    buffer = io.BytesIO()
    if ending == ".csv":
        table.to_csv(buffer, index=False)
    else:
        table.to_parquet(buffer, index=False)
    try:
        with replacing(path) as file:
            file.write(buffer.getvalue())
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error


def require_columns(table: pd.DataFrame, wanted: list[str], path: str | Path) -> None:
    """An ``InputError`` that names the columns which are not there."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise InputError(
            f"{path} has no column {', '.join(map(repr, missing))}; it has {', '.join(map(repr, table.columns))}"
        )
