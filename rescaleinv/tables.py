"""Tables in files: CSV and Parquet, by the ending of the name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rescaleinv.errors import InputError
from rescaleinv.files import replacing

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".csv", ".parquet")


def check_table_name(path: str | Path) -> str:
    """The ending of a table's name, if it is one that can be read and written."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: a table's name must end in {' or '.join(ENDINGS)}")
    return ending


def read_table(path: str | Path) -> pd.DataFrame:
    """The table in a file; a missing, empty or damaged one is an ``InputError``."""
    import pandas as pd

    ending = check_table_name(path)
    try:
        table = pd.read_csv(path, float_precision="round_trip") if ending == ".csv" else pd.read_parquet(path)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error
    except ImportError as error:
        raise InputError(f'{path}: Parquet files need pyarrow: pip install "rescaleinv[parquet]"') from error
    except ValueError as error:  # all of pandas' and pyarrow's parsing errors
        raise InputError(f"{path} is no {ending[1:].upper()} table: {error}") from error
    _require_distinct_columns(table, path)
    return table


def _require_distinct_columns(table: pd.DataFrame, path: str | Path) -> None:
    repeated = table.columns[table.columns.duplicated()]
    if len(repeated):
        raise InputError(f"{path} has the column {repeated[0]!r} twice")


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table, whole or not at all."""
    ending = check_table_name(path)
    _require_distinct_columns(table, path)
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


def features_and_label(table: pd.DataFrame, label: str, path: str | Path) -> tuple[pd.DataFrame, Any]:
    """The columns of a training table but its label, and the label."""
    if label not in table.columns:
        raise InputError(f"{path} has no column {label!r}; it has {', '.join(map(repr, table.columns))}")
    return table.drop(columns=label), table[label]


def matching_columns(table: pd.DataFrame, wanted: list[str], path: str | Path) -> pd.DataFrame:
    """The wanted columns of a table, in their order; others are left alone."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise InputError(f"{path} has no column {', '.join(map(repr, missing))}, which the training table has")
    return table[wanted]
