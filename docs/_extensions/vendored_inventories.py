"""Links to other projects without a network: inventories for intersphinx, made of the lists in ``docs/inventories``."""

from __future__ import annotations

import tempfile
import zlib
from pathlib import Path
from typing import Any

HEADER = """# Sphinx inventory version 2
# Project: {name}
# Version:
# The remainder of this file is compressed using zlib.
"""


def mapping(folder: Path) -> dict[str, tuple[str, str]]:
    """What ``intersphinx_mapping`` needs: for each list the project's address and a file in Sphinx's own format."""
    made = Path(tempfile.mkdtemp(prefix="inventories-"))
    found = {}
    for path in sorted(folder.glob("*.txt")):
        address, *lines = path.read_text(encoding="utf-8").split("\n")
        names = [line.split() for line in lines if line]
        content = "".join(f"{name} {kind} 1 {page} -\n" for name, kind, page in names)
        target = made / f"{path.stem}.inv"
        target.write_bytes(HEADER.format(name=path.stem).encode() + zlib.compress(content.encode()))
        found[path.stem] = (address, str(target))
    return found


def names(folder: Path) -> dict[str, str]:
    """For ``numpydoc_xref_aliases``: the short name of each object in the lists, and its full name, or a role."""
    found = {}
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            name, kind, _ = line.split()
            short = name.rpartition(".")[2]
            if kind.startswith("py:"):
                found[short] = name if short != name else f":{kind.removeprefix('py:')}:`{name}`"
    return found


def setup(app: Any) -> dict[str, bool]:
    return {"parallel_read_safe": True}
