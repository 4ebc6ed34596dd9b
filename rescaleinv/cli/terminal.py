"""What a terminal is shown: names in a table must not move its cursor, or write over what was said before."""

from __future__ import annotations

import io
import unicodedata
from typing import BinaryIO, TextIO

_LINES = "\n\t"
# These turn the order of what follows them around.
_TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def printable(text: str) -> str:
    r"""The text with control characters written out.

    >>> printable("age\x1b[2J\r\n")
    'age\\x1b[2J\\r\n'
    """
    return "".join(map(_shown, text)) if not text.isprintable() else text


def _shown(character: str) -> str:
    if character in _LINES:
        return character
    if unicodedata.category(character) == "Cc" or character in _TURNING:
        return character.encode("unicode_escape").decode("ascii")
    return character


class PrintableStream(io.TextIOBase):
    """A stream that writes control characters out, but for line ends and tabulators."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    @property
    def buffer(self) -> BinaryIO:
        return self._stream.buffer

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding
