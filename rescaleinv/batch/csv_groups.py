"""CSV files by groups of rows: where the groups begin, found in one pass, and the rows of one of them."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rescaleinv._util.tables import EXACT_INTEGERS, require_exact
from rescaleinv.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

# Every so many rows a file can be entered.
GROUP_ROWS = 65_536
_BYTES_AT_A_TIME = 2**23
# A first line that is longer than this is not one of column names.
LONGEST_HEADER = 2**24
_NEWLINE, _QUOTE, _RETURN = b'\n"\r'


def scan_csv(file: BinaryIO, path: Path) -> tuple[str, tuple[str, ...], tuple[int, ...], tuple[int, ...]]:
    """The hash, the header, and the rows and offsets of groups. A line end inside quotes ends no row."""
    digest = hashlib.sha256()
    header: bytes | None = None
    offsets: list[int] = []
    n_rows = 0
    base = start = quotes = 0  # start: of the record that is being read
    kept = b""  # what there is of that record so far, as far as it matters: the header, or a short one
    while block := file.read(_BYTES_AT_A_TIME):
        digest.update(block)
        ends, quotes = _record_ends(np.frombuffer(block, dtype=np.uint8), quotes)
        starts = np.concatenate([[start], ends[:-1] + base + 1]) if ends.size else ends
        lengths = ends + base - starts
        first_bytes = np.frombuffer(block, dtype=np.uint8)[np.maximum(starts - base, 0)] if ends.size else ends
        blank = (lengths == 0) | ((lengths == 1) & (first_bytes == _RETURN))
        if ends.size and start < base:
            blank[0] = not (kept + block[: ends[0]]).strip(b"\r")
        beginnings = starts[~blank]
        if header is None and beginnings.size:
            stop = int(ends[~blank][0])
            header = (kept if beginnings[0] < base else b"") + block[max(int(beginnings[0]) - base, 0) : stop]
            beginnings = beginnings[1:]
        offsets += beginnings[-n_rows % GROUP_ROWS :: GROUP_ROWS].tolist()
        n_rows += len(beginnings)
        if ends.size:
            start, kept = base + int(ends[-1]) + 1, b""
        if header is None or len(kept) < 2:
            kept += block[max(start - base, 0) :]
        if header is None and len(kept) > LONGEST_HEADER:
            raise InputError(
                f"{path}: its first line is longer than {LONGEST_HEADER:,} bytes; names of columns are needed"
            )
        base += len(block)
    if start < base and kept.strip(b"\r"):  # the last line has no line end
        if header is None:
            header = kept
        else:
            offsets += [start] * (n_rows % GROUP_ROWS == 0)
            n_rows += 1
    if header is None:
        raise InputError(f"{path} is empty; a first line with the names of the columns is needed")
    if b'"' not in header and b"\r" in header.rstrip(b"\r"):
        raise InputError(f"{path} has lines that end in a carriage return alone; a line feed must end them")
    try:
        columns = tuple(next(csv.reader(io.StringIO(header.decode("utf-8-sig"), newline=""))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV table in UTF-8: {error}") from error
    groups = [min(GROUP_ROWS, n_rows - k) for k in range(0, n_rows, GROUP_ROWS)]
    return digest.hexdigest(), columns, tuple(groups), (*offsets, base)


def _record_ends(content: npt.NDArray[np.uint8], quotes: int) -> tuple[npt.NDArray[np.int64], int]:
    """Where records end, given how many quotes came before; and how many there are now."""
    ends = np.flatnonzero(content == _NEWLINE)
    places = np.flatnonzero(content == _QUOTE)
    if quotes % 2 or places.size:
        ends = ends[(np.searchsorted(places, ends) + quotes) % 2 == 0]
    return ends, quotes + len(places)


@dataclass(frozen=True)
class Group:
    """The text of some rows, and where it is from."""

    content: bytes
    names: Sequence[str]
    path: str
    first_row: int
    n_rows: int

    def __str__(self) -> str:
        return f"{self.path}, rows {self.first_row + 1} to {self.first_row + self.n_rows}"


def parse_group(group: Group, features: Sequence[str], keep: Sequence[str]) -> pa.Table:
    """The features as floats, and other columns as texts."""
    import pyarrow as pa

    try:
        numbers = _parsed(group, features, pa.float64())
        texts = _parsed(group, keep, pa.string()) if keep else pa.table({})
    except pa.ArrowInvalid as error:
        raise InputError(_what_is_wrong(group, features, error)) from error
    _require_exact_integers(group, numbers)
    if numbers.num_rows != group.n_rows:
        raise InputError(f"{group}: there are quotes that don't match, or lines of blanks")
    return pa.table([*numbers.columns, *texts.columns], names=[*features, *keep])


def _require_exact_integers(group: Group, numbers: pa.Table) -> None:
    """Refuse whole numbers in the text that were rounded when they were read. They are rare: the text is read again."""
    import pyarrow as pa

    for j, name in enumerate(numbers.column_names):
        values = numbers.column(j).to_numpy()
        with np.errstate(invalid="ignore"):
            large = np.flatnonzero(np.abs(values) >= EXACT_INTEGERS)
        if not large.size:
            continue
        texts = _parsed(group, [name], pa.string(), texts_may_be_missing=True).column(0)
        pairs = ((texts[i].as_py().strip(), float(values[i])) for i in large.tolist())
        whole = ((int(text), value) for text, value in pairs if text.lstrip("+-").isdecimal() and len(text) < 400)
        require_exact(whole, name, str(group))


def _parsed(group: Group, columns: Sequence[str], kind: Any, *, texts_may_be_missing: bool = False) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as pacsv

    return pacsv.read_csv(
        pa.BufferReader(group.content),
        pacsv.ReadOptions(use_threads=False, block_size=len(group.content) + 1, column_names=group.names),
        pacsv.ParseOptions(newlines_in_values=b'"' in group.content),
        pacsv.ConvertOptions(
            column_types=dict.fromkeys(columns, kind),
            include_columns=list(columns),
            strings_can_be_null=texts_may_be_missing,
        ),
    )


def _what_is_wrong(group: Group, features: Sequence[str], error: Exception) -> str:
    """Which cell is not a number, or, where that is not the trouble, what the parser says."""
    import pyarrow as pa

    try:
        texts = _parsed(group, features, pa.string(), texts_may_be_missing=True)
    except pa.ArrowInvalid:
        return f"{group}: {error}"
    for name, column in zip(features, texts.columns, strict=True):
        for i, text in enumerate(column.to_pylist()):
            try:
                float(text or "nan")
            except ValueError:
                return (
                    f"{group.path} has {text!r} in row {group.first_row + i + 1}, column {name!r}, where numbers belong"
                )
    return f"{group}: {error}"
