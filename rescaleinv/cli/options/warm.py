"""Options of ``rescaleinv warm``."""

from __future__ import annotations

import argparse
from typing import Any

_EXAMPLES = """\
examples:
  rescaleinv warm
  NUMBA_CACHE_DIR=/opt/cache rescaleinv warm

exit codes: 0: done; 2: compiled code can't be kept, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    warm = commands.add_parser(
        "warm",
        help="compile everything now, for container images and workers",
        description="Compiles all that is compiled on first use, and keeps it: next to the package where that can be "
        "written to, else in the user's cache folder, or in the folder that the variable NUMBA_CACHE_DIR names. In a "
        "Dockerfile, set that variable for the image, and the first question of a container is answered at once.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    warm.set_defaults(work="rescaleinv.cli.warm:run_warm")
