"""What the benchmarks share: the --quick flag, a plain table, and results as JSON with the machine they ran on."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import dependencies

RESULTS = Path(__file__).parent / "results"
_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "cvxpy",
    "clarabel",
    "highspy",
    "ortools",
    "pulp",
    "numba",
    "python-flint",
    "mapie",
)


def quick_flag(description: str | None) -> bool:
    """Was the script called with --quick (smaller sizes, and the stored results are not touched)?"""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; the stored results are not overwritten")
    return bool(parser.parse_args().quick)


def machine() -> dict[str, Any]:
    """The machine and the versions: measured times mean little without them."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:  # an optional one
            versions[package] = None
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu_count": os.cpu_count(),
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def code_digests(name: str | None = None) -> dict[str, str]:
    """Digests of the code that the result of that name is measured with; without a name, of all code."""
    return dependencies.digests(name or "")


def write_result(name: str, payload: Any, folder: Path = RESULTS) -> Path:
    """Write ``results/<name>.json``: the payload, the machine, and what code it was measured with."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    content = {"machine": machine(), "code": code_digests(name), "results": payload}
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def write_table_between(marks: tuple[str, str], lines: Sequence[str], page: Path) -> None:
    """Put a table into a page of the docs, between two marks that it has."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(marks[0], 1)
    after = rest.split(marks[1], 1)[1]
    table = "\n".join(lines)
    page.write_text(f"{before}{marks[0]}\n\n{table}\n\n{marks[1]}{after}", encoding="utf-8")


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Records with the same keys as a table, one line each."""
    cells = [list(rows[0]), *([_text(value) for value in row.values()] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
