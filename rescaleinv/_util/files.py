"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` when all is written; if that fails, nothing is changed."""
    target = Path(path)
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
