"""Options about what goes where: all commands have them, ``verify`` apart."""

from __future__ import annotations

import argparse

FORMATS = ("csv", "tsv", "parquet", "json")


def add_streams(command: argparse.ArgumentParser) -> None:
    """``--quiet``, and for commands that write a table ``--format``."""
    command.add_argument("--quiet", action="store_true", help="say nothing but errors")
    if any(action.dest == "out" and action.metavar == "FILE" for action in command._actions):
        command.add_argument(
            "--format",
            choices=FORMATS,
            help="of the table that --out writes (by its name, if not given); without --out it goes to standard output",
        )
