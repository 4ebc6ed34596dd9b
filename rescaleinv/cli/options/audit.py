"""Options of ``rescaleinv audit``."""

from __future__ import annotations

import argparse
from typing import Any

from rescaleinv.cli.options.tables import add_groups, add_tables

_EXAMPLES = """\
examples:
  rescaleinv audit train.csv test.csv --label ill --html audit.html
  rescaleinv audit train.csv test.csv --label ill --keep patient --noun patients --html audit.html --out points.csv

exit codes: 0: done; 1: a rescaling contradicts a strong verdict; 2: the input can't be used, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    audit = commands.add_parser(
        "audit",
        help="what scaling does to the answers, in pictures and plain words",
        description="Says of each row of TEST whether an SVM's answer, trained on TRAIN, is an accident of scaling: under "
        "every rescaling of the features, after the usual scalings, and with single features in other units. All columns "
        "of TRAIN but the label, and those that are kept or ignored, are features.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    audit.set_defaults(work="rescaleinv.cli.audit:run_audit")
    add_tables(audit)
    add_groups(audit)
    audit.add_argument("--html", metavar="FILE", help="write a page there that stands alone, to open in a browser")
    audit.add_argument("--out", metavar="FILE", help="write a table there, CSV, TSV or Parquet, one row per point")
    audit.add_argument("--json", metavar="FILE", help="write all of it there as JSON, for programs")
    audit.add_argument("--kappa", metavar="FACTOR", type=float, default=4.0, help="how far off units may be (4)")
    audit.add_argument(
        "--radii", metavar="NUMBER", type=int, help="so many rows at most to find the rescaling radius of (all)"
    )
    audit.add_argument(
        "--class-names", metavar="NAMES", help="what to call the two classes: negative,positive (as in the table)"
    )
    audit.add_argument("--title", default="Scaling audit", help="of the page")
    audit.add_argument("--noun", default="rows", help="what the rows of TEST are: patients, parcels, …")
    audit.add_argument(
        "--max-points", metavar="NUMBER", type=int, default=1000, help="so many rows on the page, neutral ones first"
    )
