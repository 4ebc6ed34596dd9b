"""How a CSV file was written: its encoding, its separator, and what stands for the decimal point."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rescaleinv.errors import InputError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tabulator", "|": "bar", " ": "space"}
_SAMPLED_LINES = 200
_SAMPLED_CHARACTERS = 2**18
_BYTES_AT_A_TIME = 2**20
_ENCODINGS = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with a byte order mark", "utf-16": "UTF-16", "cp1252": "Latin-1"}
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
_WITH_POINT = re.compile(r"[+-]?\d+\.\d+(e[+-]?\d+)?", re.IGNORECASE)
_WITH_BOTH = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")


@dataclass(frozen=True)
class CsvFormat:
    """What ``pandas.read_csv`` must be told about a file.

    >>> CsvFormat("cp1252", ";", ",").described()
    'separated by semicolons, decimal comma, Latin-1'
    >>> CsvFormat("utf-8", ",", ".").described()
    ''
    """

    encoding: str
    separator: str
    decimal: str
    thousands: str | None = None

    def described(self) -> str:
        """What is unusual about the file, in words; "" if nothing is."""
        parts = []
        if self.separator != ",":
            parts.append(f"separated by {SEPARATORS.get(self.separator, repr(self.separator))}s")
        if self.decimal != ".":
            parts.append("decimal comma" if self.decimal == "," else f"decimal sign {self.decimal!r}")
        if self.thousands:
            parts.append("points between thousands")
        if self.encoding not in ("utf-8", "utf-8-sig"):
            parts.append(_ENCODINGS[self.encoding])
        return ", ".join(parts)


def csv_format(path: str | Path, separator: str | None = None, decimal: str | None = None) -> CsvFormat:
    """How the file was written, as far as it is not given."""
    encoding = _encoding(path)
    with open(path, encoding=encoding, newline="") as file:
        beginning = file.read(_SAMPLED_CHARACTERS)
    if "\0" in beginning:
        raise InputError(f"{path} is not a CSV table: it has NUL bytes in it, as files that are not texts have")
    lines = [line for line in beginning.splitlines(keepends=True) if line.strip()]
    if len(beginning) == _SAMPLED_CHARACTERS and len(lines) > 1:
        lines.pop()  # it may be cut off
    sample = "".join(lines[: _SAMPLED_LINES + 1])
    if separator is None:
        separator = _separator(sample)
    cells = [cell.strip() for row in _rows(sample, separator)[1:] for cell in row]
    thousands = None
    if decimal is None:
        decimal, thousands = _decimal(cells)
    return CsvFormat(encoding, separator, decimal, thousands)


def _encoding(path: str | Path) -> str:
    """UTF-8 if the whole file is that; else the encoding of Western Windows, a superset of the printable Latin-1."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open(path, "rb") as file:
        block = file.read(_BYTES_AT_A_TIME)
        if block.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        try:
            while block:
                decoder.decode(block)
                block = file.read(_BYTES_AT_A_TIME)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _rows(text: str, separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True))
    except csv.Error:  # a NUL byte, a field without an end
        return []


def _separator(sample: str) -> str:
    """The separator that gives all lines as many fields as the header has, more than one; of several, the most fields.

    >>> _separator("x;y\\n1,5;2\\n"), _separator("a,b;c\\n1,2;3\\n"), _separator("x\\n1\\n"), _separator("a b\\n1 2\\n")
    (';', ',', ',', ' ')
    """
    best, most = "", 1
    headers = {}
    for separator in SEPARATORS:
        if separator == " " and best:
            break
        counts = [len(row) for row in _rows(sample, separator) if row]
        headers[separator] = counts[0] if counts else 0
        if counts and counts[0] > most and set(counts) == {counts[0]}:
            best, most = separator, counts[0]
    # no separator fits all lines: the header tells, and the reading what is wrong with which line
    return best or max((s for s in headers if s != " "), key=lambda s: headers[s], default=",")


def _decimal(cells: Sequence[str]) -> tuple[str, str | None]:
    """The decimal sign and the sign between thousands of numbers that are written as these.

    >>> _decimal(["1,5", "2"]), _decimal(["1.5", "1,5"]), _decimal(["1.234,5", "1.000,0"])
    ((',', None), ('.', None), (',', '.'))
    """
    commas = sum(bool(_WITH_COMMA.fullmatch(cell)) for cell in cells)
    points = sum(bool(_WITH_POINT.fullmatch(cell)) for cell in cells)
    both = sum(bool(_WITH_BOTH.fullmatch(cell)) for cell in cells)
    if both and (commas or not points):
        return ",", "."
    return (",", None) if commas and not points else (".", None)
