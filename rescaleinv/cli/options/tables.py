"""Options of every command that reads a training table and a test table."""

from __future__ import annotations

import argparse


def add_tables(command: argparse.ArgumentParser) -> None:
    """TRAIN, TEST, which column is the label, which columns are features, and who decides."""
    command.add_argument("train", metavar="TRAIN", help="the training table, CSV or Parquet")
    command.add_argument("test", metavar="TEST", help="the table to judge; it has the training table's features")
    command.add_argument("--label", metavar="COLUMN", required=True, help="the column of TRAIN with the two classes")
    command.add_argument(
        "--positive", metavar="VALUE", help="the positive class (if not given, the second when sorted)"
    )
    command.add_argument("--engine", default="auto", help="auto (the default), complex, milp, milp:pulp, …")
    command.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="per point, for engines that decide points one at a time (default: 5; inf for no limit)",
    )
    command.add_argument(
        "--inconsistent", choices=("drop", "raise"), default="drop", help="inseparable rows: leave out, or fail"
    )
    command.add_argument(
        "--keep",
        metavar="COLUMN",
        action="append",
        default=[],
        help="not a feature, but shown in results: an identifier",
    )
    command.add_argument("--ignore", metavar="COLUMN", action="append", default=[], help="not a feature")
    command.add_argument(
        "--escape-formulas",
        action="store_true",
        help="in CSV results, an apostrophe before texts that a spreadsheet would run as formulas (= + - @ …)",
    )
