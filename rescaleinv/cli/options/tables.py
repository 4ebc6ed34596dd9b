"""Options of every command that reads a training table and a test table."""

from __future__ import annotations

import argparse

from rescaleinv.cli.options.margin import add_margin


def add_columns(command: argparse.ArgumentParser) -> None:
    """TRAIN, TEST, which column is the label, and which columns are features."""
    command.add_argument("train", metavar="TRAIN", help="the training table, CSV or Parquet")
    command.add_argument("test", metavar="TEST", help="the table to judge; it has the training table's features")
    command.add_argument("--label", metavar="COLUMN", required=True, help="the column of TRAIN with the two classes")
    command.add_argument(
        "--positive", metavar="VALUE", help="the positive class (if not given, the second when sorted)"
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


def add_tables(command: argparse.ArgumentParser) -> None:
    """The same, and who decides."""
    add_columns(command)
    command.add_argument("--engine", default="auto", help="auto (the default), complex, milp, milp:pulp, …")
    command.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="per point, for engines that decide points one at a time (default: 5; inf for no limit)",
    )
    add_margin(command)


def add_groups(command: argparse.ArgumentParser) -> None:
    """By which column figures are told apart."""
    command.add_argument(
        "--by", metavar="COLUMN", help="show the figures for each value of this column of TEST too; it is not a feature"
    )
