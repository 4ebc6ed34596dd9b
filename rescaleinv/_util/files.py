"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rescaleinv.errors import InputError


def checked_path(path: Any, what: str = "the path") -> Path:
    """A path, if it can be one: text without NUL bytes, or a ``Path``."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(path, bytes):
        raise InputError(f"{what} is {path!r}; a path is needed, as text or as a pathlib.Path")
    if not str(path) or "\0" in str(path):
        raise InputError(f"{what} is {str(path)!r}, which can't be the name of a file")
    return Path(path)


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` when all is written; if that fails, nothing is changed."""
    target = checked_path(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # a temporary file is for its owner only
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
