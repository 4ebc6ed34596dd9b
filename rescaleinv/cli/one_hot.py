"""Columns of categories as columns of zeros and ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rescaleinv.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_MOST = 50


def one_hot_columns(
    train: pd.DataFrame, test: pd.DataFrame, names: list[str], chosen: list[str], *, fill: bool
) -> tuple[pd.DataFrame, pd.DataFrame, list[str], list[str]]:
    """Both tables with a column of 0 and 1 for each category in place of the chosen columns, and the names of features.

    Of two categories one column is made, since the other would say the same. A category that no training row has makes a
    row of TEST incomplete, and so does a missing one, unless ``fill`` puts the most frequent one there.
    """
    made: list[str] = []
    for name in chosen:
        if name not in names:
            raise InputError(f"--one-hot {name}: it is not a feature, as it is the label, kept or ignored")
        values = sorted(train[name].dropna().unique().tolist(), key=str)
        if not 2 <= len(values) <= _MOST:
            raise InputError(
                f"--one-hot {name}: it has {len(values)} different values, two to {_MOST} can be made columns of; "
                f"--ignore {name} excludes it"
            )
        shown = values[1:] if len(values) == 2 else values
        columns = [f"{name}={value}" for value in shown]
        most = train[name].mode().iloc[0] if fill else None
        train, test = (_encoded(table, name, values, shown, columns, most) for table in (train, test))
        position = names.index(name)
        names = [*names[:position], *columns, *names[position + 1 :]]
        made += columns
    return train, test, names, made


def _encoded(
    table: pd.DataFrame, name: str, values: list[Any], shown: list[Any], columns: list[str], most: Any
) -> pd.DataFrame:
    import pandas as pd

    given = table[name] if most is None else table[name].fillna(most)
    known = given.isin(values).to_numpy()
    encoded = {
        column: np.where(known, (given == value).to_numpy(), np.nan)
        for column, value in zip(columns, shown, strict=True)
    }
    return pd.concat([table, pd.DataFrame(encoded, index=table.index)], axis=1)
