"""Data frames of all kinds, through narwhals: what came in as polars goes out as polars, and pandas keeps its index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv.errors import InputTypeError, MissingPackageError

# What a table without rows in an order is told to do.
_WAYS_OUT = {
    "polars": "call .collect() on it first",
    "duckdb": "call .fetch_arrow_table() or .df() on it first; without an ORDER BY its rows have no order",
    "dask": "certify_dask takes it, or call .compute() on it first",
}


@dataclass(frozen=True)
class FrameKind:
    """The library of a data frame, and its index where it has one (pandas and those like it)."""

    library: Any  # as narwhals calls it: "pandas", "polars", "pyarrow", …
    index: Any = None

    @classmethod
    def of(cls, X: Any) -> FrameKind | None:
        """What kind of frame X is; None where it is not one.

        >>> FrameKind.of([[1, 2]]) is None
        True
        """
        if isinstance(X, (np.ndarray, list, tuple)):
            return None
        import narwhals as nw

        frame = nw.from_native(X, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        return cls(frame.implementation.name.lower(), getattr(X, "index", None) if hasattr(X, "iloc") else None)

    def __getitem__(self, rows: Any) -> FrameKind:
        """The same for some of the rows."""
        return self if self.index is None else FrameKind(self.library, self.index[rows])

    def made_of(self, columns: Mapping[str, Any]) -> Any:
        """A frame of this kind with these columns, one entry per row."""
        import narwhals as nw

        if self.library == "pandas":
            return pandas_frame(columns, self.index)
        made = nw.from_dict(
            {name: _plain(values) for name, values in columns.items()}, backend=self.library
        ).to_native()
        if self.index is not None:
            made.index = self.index
        return made


def pandas_frame(columns: Mapping[str, Any], index: Any = None) -> Any:
    """A pandas data frame, which is the kind for points that did not come in a frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingPackageError("a data frame", "pandas") from error
    return pd.DataFrame({name: _plain(values) for name, values in columns.items()}, index=index)


def _plain(values: Any) -> npt.NDArray[Any] | list[Any]:
    """Texts as a list of str: arrays of objects are not taken by every library."""
    array = np.asarray(values)
    if array.dtype.kind not in "OU":
        return array
    return [None if value is None else str(value) for value in array.tolist()]


def require_rows(X: Any, what: str) -> None:
    """An ``InputTypeError`` for tables that are queries, not rows: LazyFrames, relations of DuckDB, Dask collections."""
    if isinstance(X, (np.ndarray, list, tuple)):
        return
    import narwhals as nw

    lazy = nw.from_native(X, pass_through=True)
    if isinstance(lazy, nw.LazyFrame):
        library = lazy.implementation.name.lower()
        way_out = _WAYS_OUT.get(library, "make a data frame of it first")
        raise InputTypeError(
            f"{what} is a {type(X).__name__} of {library}, which is a query and not a table: {way_out}"
        )
