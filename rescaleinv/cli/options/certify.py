"""Options of ``rescaleinv certify``."""

from __future__ import annotations

import argparse
from typing import Any

from rescaleinv.cli.options.tables import add_groups, add_tables

_EXAMPLES = """\
examples:
  rescaleinv certify train.csv test.csv --label ill --keep patient --out verdicts.csv
  rescaleinv certify train.csv test.parquet --label class --positive malignant --out verdicts.parquet
  rescaleinv certify train.csv test.csv --label ill --proof proof && rescaleinv verify proof/*.jsonl

exit codes: 0: done; 2: the input can't be used, and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    certify = commands.add_parser(
        "certify",
        help="judge the rows of a table under every rescaling of its features",
        description="Says of each row of TEST whether an SVM's answer, trained on TRAIN, holds under every rescaling of the "
        "features. All columns of TRAIN but the label, and those that are kept or ignored, are features. Where TEST has the "
        "label too, the answers are compared with it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    certify.set_defaults(work="rescaleinv.cli.certify:run_certify")
    add_tables(certify)
    add_groups(certify)
    certify.add_argument(
        "--scale-range", metavar="RANGE", help="rescalings to consider: 2, or [0.5, 2] (all, if not given)"
    )
    certify.add_argument(
        "--kappa", metavar="FACTOR", type=float, default=4.0, help="the factor that the first sentence is about (4)"
    )
    certify.add_argument("--no-radius", action="store_true", help="verdicts only, not how far each label holds")
    certify.add_argument(
        "--out", metavar="FILE", help="write the verdicts there, CSV, TSV or Parquet, one row per point"
    )
    proofs = certify.add_mutually_exclusive_group()
    proofs.add_argument("--certificates", metavar="FILE", help="write certificates there, one per line, and check them")
    proofs.add_argument("--proof", metavar="FOLDER", help="certificates of all verdicts, strong ones too, checked")
    certify.add_argument("--report", action="store_true", help="fail if TEST has no label to compare with")
