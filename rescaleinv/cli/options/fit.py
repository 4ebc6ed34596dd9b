"""Options of ``rescaleinv fit``."""

from __future__ import annotations

import argparse
from typing import Any

from rescaleinv.cli.options.margin import add_margin
from rescaleinv.cli.options.tables import add_jobs, add_reading, add_units

_EXAMPLES = """\
examples:
  rescaleinv fit train.csv --label ill --ignore patient --out model.npz
  rescaleinv fit train.csv --label ill --nu auto --scale-range 4 --out model.npz

exit codes: 0: done; 2: the input can't be used, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    fit = commands.add_parser(
        "fit",
        help="train a model and write it to a file",
        description="Trains an SVM on TRAIN and writes it to a file that the commands radius and batch take, and "
        "RescaleInvariantSVC.load in Python. All columns of TRAIN but the label and those that are ignored are features.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fit.set_defaults(work="rescaleinv.cli.fit:run_fit")
    fit.add_argument("train", metavar="TRAIN", help="the training table: CSV, TSV or Parquet; - for standard input")
    fit.add_argument("--label", metavar="COLUMN", required=True, help="the column of TRAIN with the two classes")
    fit.add_argument("--ignore", metavar="COLUMN", action="append", default=[], help="not a feature")
    add_reading(fit)
    add_units(fit)
    fit.add_argument("--out", metavar="MODEL", required=True, help="the file of the model: model.npz")
    fit.add_argument(
        "--scale-range", metavar="RANGE", help="rescalings to consider: 2, or [0.5, 2] (all, if not given)"
    )
    fit.add_argument("--engine", default="auto", help="auto (the default), complex, milp, milp:pulp, …")
    fit.add_argument("--enumerate", action="store_true", help="do now, and keep, what the first verdict would wait for")
    add_jobs(fit)
    add_margin(fit)
