"""Options of ``rescaleinv diagnose``."""

from __future__ import annotations

import argparse
from typing import Any

from rescaleinv.cli.options.tables import add_columns, add_groups

SVMS = ("svc", "nusvc", "linearsvc", "linearsvc-hinge")
SCALERS = ("raw", "standard", "minmax", "robust", "maxabs")

_EXAMPLES = """\
examples:
  rescaleinv diagnose train.csv test.csv --label ill
  rescaleinv diagnose train.csv test.csv --label ill --svm linearsvc-hinge --scalers raw standard
  rescaleinv diagnose train.csv test.csv --label ill --by clinic --out rows.csv --picture causes.png

exit codes: 0: done; 2: the input can't be used, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    diagnose = commands.add_parser(
        "diagnose",
        help="why labels change when a scaler is added: solver, intercept, C or margin",
        description="Trains the same linear SVM on TRAIN after each of several scalers, and says of each pair how many "
        "labels of TEST differ and why: because a solver stopped early, because the intercept is penalised, because C means "
        "something else, or because the margin moved. All columns of TRAIN but the label, and those that are kept or "
        "ignored, are features.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    diagnose.set_defaults(work="rescaleinv.cli.diagnose:run_diagnose")
    add_columns(diagnose)
    add_groups(diagnose)
    diagnose.add_argument("--svm", choices=SVMS, default="svc", help="which SVM of scikit-learn (svc)")
    diagnose.add_argument("--scalers", nargs="+", choices=SCALERS, default=list(SCALERS), help="two or more (all five)")
    diagnose.add_argument("--C", metavar="NUMBER", type=float, default=1.0, help="the penalty (1); not for nusvc")
    diagnose.add_argument("--nu", metavar="NUMBER", type=float, default=0.5, help="of nusvc (0.5)")
    diagnose.add_argument(
        "--max-iter",
        metavar="NUMBER",
        type=int,
        help="where the solver stops (1000 for linearsvc, as in scikit-learn; 1000000 for the others)",
    )
    diagnose.add_argument(
        "--out", metavar="FILE", help="write a table there, CSV or Parquet: the cause of each row and pair"
    )
    diagnose.add_argument("--picture", metavar="FILE", help="draw the causes there, PNG, SVG or PDF")
