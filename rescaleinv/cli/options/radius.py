"""Options of ``rescaleinv radius``."""

from __future__ import annotations

import argparse
from typing import Any

from rescaleinv.cli.options.tables import add_reading

_EXAMPLES = """\
examples:
  rescaleinv radius model.npz test.csv --keep patient --out radii.csv
  rescaleinv radius model.npz test.csv --format json

exit codes: 0: done; 2: the input can't be used, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    radius = commands.add_parser(
        "radius",
        help="how wrong units may be before each label can change",
        description="For each row of POINTS, the label of the model and two factors: up to the first, no rescaling of the "
        "features changes the label; up to the second, one does.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    radius.set_defaults(work="rescaleinv.cli.radius:run_radius")
    radius.add_argument("model", metavar="MODEL", help="what rescaleinv fit wrote")
    radius.add_argument("points", metavar="POINTS", help="a table with the model's features; - for standard input")
    radius.add_argument(
        "--keep", metavar="COLUMN", action="append", default=[], help="a column to show in the result: an identifier"
    )
    add_reading(radius)
    radius.add_argument("--out", metavar="FILE", help="write a table there, one row per point; - for standard output")
    radius.add_argument(
        "--ratio",
        metavar="NUMBER",
        type=float,
        default=1.01,
        help="how near to each other the two factors are brought (1.01)",
    )
    radius.add_argument(
        "--largest",
        metavar="FACTOR",
        type=float,
        default=1000.0,
        help="labels that hold up to this are not tried further (1000)",
    )
