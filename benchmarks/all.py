"""Measure again whatever was measured with other code: every result that is stale, one after the other.

python -m benchmarks.all --list        which results are stale, and why
python -m benchmarks.all               run the scripts of the stale ones; what is done stays done if it is stopped
python -m benchmarks.all --only gap    these, stale or not

A result stores digests of the code that it depends on (benchmarks/dependencies.py): what its benchmark imports of the
package and of the benchmarks, docstrings and comments left out. It is stale if that part of the package has changed since;
changes of the benchmarks alone are listed, but are no reason to measure again by themselves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.common import RESULTS, code_digests
from benchmarks.dependencies import command


def names() -> list[str]:
    """Every result that is stored."""
    return sorted(path.stem for path in RESULTS.glob("*.json"))


def state(name: str, now: dict[str, str], folder: Path = RESULTS) -> str:
    """ "fresh", or in a few words what is wrong with a stored result.

    >>> state("never measured", {"rescaleinv": "1", "benchmarks": "2"})
    'stale: not there'
    """
    path = folder / f"{name}.json"
    if not path.exists():
        return "stale: not there"
    measured = json.loads(path.read_text(encoding="utf-8")).get("code")
    if measured is None:
        return "stale: measured before digests were stored"
    if measured["rescaleinv"] != now["rescaleinv"]:
        return "stale: the package has changed since, in what it depends on"
    return "fresh" if measured["benchmarks"] == now["benchmarks"] else "fresh, though benchmarks have changed since"


def run(names: Iterable[str]) -> int:
    """Run the commands of these results; the number of those that failed."""
    failed = 0
    for name in names:
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, "-m", *command(name)]).returncode != 0
    return failed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only say which results are stale")
    parser.add_argument("--only", nargs="+", choices=names(), metavar="NAME", help=", ".join(names()))
    options = parser.parse_args(arguments)
    states = {name: state(name, code_digests(name)) for name in options.only or names()}
    for name, text in states.items():
        print(f"{name:20s} {text}")
    if options.list:
        return 0
    return int(run(options.only or [name for name, text in states.items() if text.startswith("stale")]) > 0)


if __name__ == "__main__":
    sys.exit(main())
