"""Options of ``rescaleinv demo``."""

from __future__ import annotations

import argparse
from typing import Any

_EXAMPLES = """\
example:
  rescaleinv demo

exit codes: 0: done; 2: something could not be done, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    demo = commands.add_parser(
        "demo",
        help="work through the paper's examples and a real data set",
        description="Works through the three examples of the paper and a data set that ships, with proofs.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.set_defaults(work="rescaleinv.cli.demo:run_demo")
