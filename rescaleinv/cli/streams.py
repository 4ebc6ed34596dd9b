"""``-`` for standard input and output, ``--format`` and ``--quiet``: what commands read and write are files all the same."""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from rescaleinv._util.files import replacing
from rescaleinv.cli.terminal import PrintableStream
from rescaleinv.errors import InputError

_INPUTS = ("train", "test", "points")


@contextmanager
def standard_streams(options: argparse.Namespace) -> Iterator[None]:
    """Put standard input into a file, and the result from a file to where it belongs when the work is done.

    Where the result goes to standard output, what the command says goes to standard error.
    """
    from_input = [name for name in _INPUTS if getattr(options, name, None) == "-"]
    out, wanted = getattr(options, "out", None), getattr(options, "format", None)
    if wanted is not None and out is None:
        out = "-"
    if len(from_input) > 1:
        raise InputError("one table at most can be read from standard input (-)")
    spooled: str | None = None
    with ExitStack() as stack:
        folder = (
            Path(stack.enter_context(tempfile.TemporaryDirectory())) if from_input or out == "-" or wanted else None
        )
        if folder is not None and from_input:
            setattr(options, from_input[0], spooled := _spooled(folder))
        result = None
        if folder is not None and (out == "-" or wanted):
            result = folder / f"result.{wanted or 'csv'}"
            options.out = str(result)
        target = sys.stdout
        if options.quiet:
            stack.enter_context(redirect_stdout(io.StringIO()))
        if out == "-" and not options.quiet:
            stack.enter_context(redirect_stdout(PrintableStream(sys.stderr)))
        try:
            yield
        except InputError as error:
            if spooled is None or spooled not in str(error):
                raise
            raise InputError(str(error).replace(spooled, "standard input")) from error
        if result is not None and result.exists():
            _deliver(result, str(out), target)


class _Spooled(str):
    """The path of a file with standard input, which is what people are told in its place."""

    def __format__(self, _: str) -> str:
        return "standard input"


def _spooled(folder: Path) -> str:
    """Standard input as a file: CSV, or Parquet, which says so in its first bytes."""
    beginning = sys.stdin.buffer.read(4)
    path = folder / ("stdin.parquet" if beginning == b"PAR1" else "stdin.csv")
    with path.open("wb") as file:
        file.write(beginning)
        shutil.copyfileobj(sys.stdin.buffer, file)
    return _Spooled(path)


def _deliver(result: Path, out: str, target: Any) -> None:
    content = result.read_bytes()
    if out == "-":
        target.buffer.write(content)
        target.buffer.flush()
        return
    with replacing(out) as file:
        file.write(content)
