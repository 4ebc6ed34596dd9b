"""Options of ``rescaleinv completion``."""

from __future__ import annotations

import argparse
from typing import Any

_EXAMPLES = """\
examples:
  rescaleinv completion bash > ~/.local/share/bash-completion/completions/rescaleinv
  rescaleinv completion zsh > ~/.zfunc/_rescaleinv

exit codes: 0: done; 2: the package shtab is missing, and one line says how to install it
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    completion = commands.add_parser(
        "completion",
        help="a script that completes commands and options in the shell",
        description="Prints a script for the shell that completes commands, options and file names.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.set_defaults(work="rescaleinv.cli.completion:run_completion")
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="which shell")
