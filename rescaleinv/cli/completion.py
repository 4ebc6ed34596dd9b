"""``rescaleinv completion``: a script for the shell."""

from __future__ import annotations

import argparse

from rescaleinv.errors import MissingPackageError


def run_completion(options: argparse.Namespace) -> None:
    """Print the script that shtab makes of the parser."""
    try:
        import shtab
    except ImportError as error:
        raise MissingPackageError("completion", "shtab", '"rescaleinv[completion]"') from error
    from rescaleinv.cli.main import make_parser

    print(shtab.complete(make_parser(), shell=options.shell))
