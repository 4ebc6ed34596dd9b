"""A line of help for ``rescaleinv verify``, which has a parser of its own, so that it can stand alone."""

from __future__ import annotations

from typing import Any


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`; its arguments are read elsewhere."""
    commands.add_parser("verify", help="check certificates in exact arithmetic", add_help=False)
