"""Options of every command that reads a training table and a test table."""

from __future__ import annotations

import argparse

from rescaleinv.cli.options.margin import add_margin


def add_columns(command: argparse.ArgumentParser) -> None:
    """TRAIN, TEST, which column is the label, and which columns are features."""
    command.add_argument("train", metavar="TRAIN", help="the training table: CSV, TSV or Parquet")
    command.add_argument("test", metavar="TEST", help="the table to judge; it has the training table's features")
    command.add_argument("--label", metavar="COLUMN", required=True, help="the column of TRAIN with the classes")
    command.add_argument(
        "--positive",
        metavar="VALUE",
        help="the positive class (of two: the second when sorted; of more: this one against the rest)",
    )
    add_reading(command)
    _add_features(command)
    command.add_argument(
        "--escape-formulas",
        action="store_true",
        help="in CSV results, an apostrophe before texts that a spreadsheet would run as formulas (= + - @ …)",
    )


def add_reading(command: argparse.ArgumentParser) -> None:
    """How the files are written, where that is not to be found out."""
    command.add_argument("--sep", metavar="SIGN", help="between the cells of CSV files: ',', ';', tab, … (found out)")
    command.add_argument("--decimal", metavar="SIGN", help="the decimal sign of numbers: . or , (found out)")
    command.add_argument(
        "--na",
        metavar="TEXT",
        action="append",
        default=[],
        help="stands for a missing value, besides empty cells, ?, NA and the like",
    )
    command.add_argument(
        "--impute",
        choices=("median", "drop"),
        help="missing values: fill in the median of the training rows, or leave training rows with one out",
    )


def _add_features(command: argparse.ArgumentParser) -> None:
    """Which columns are features. Options take a name, or several with commas."""
    for option, text in (
        ("--keep", "not a feature, but shown in results: an identifier"),
        ("--ignore", "not a feature"),
        ("--one-hot", "a column of categories: each becomes a feature of zeros and ones"),
    ):
        command.add_argument(option, metavar="COLUMN", action="append", default=[], help=text)


def add_units(command: argparse.ArgumentParser) -> None:
    """What is known of the units of features."""
    command.add_argument(
        "--fixed",
        metavar="COLUMN",
        action="append",
        default=[],
        help="a feature whose scale is right: it is not rescaled",
    )
    command.add_argument(
        "--range",
        metavar="COLUMN=FACTOR",
        action="append",
        default=[],
        help="how far off the unit of this feature may be: glucose=18, 1:inf or free (the others keep the default)",
    )
    command.add_argument(
        "--group",
        "--groups",
        metavar="COLUMNS",
        action="append",
        default=[],
        help="features that share a unit, and so one factor: systolic,diastolic",
    )


def add_jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--jobs", metavar="NUMBER", type=int, default=-1, help="threads or processes to work with (-1: all processors)"
    )


def add_tables(command: argparse.ArgumentParser) -> None:
    """The same, what is known of units, and who decides."""
    add_columns(command)
    add_units(command)
    command.add_argument("--engine", default="auto", help="auto (the default), complex, milp, milp:pulp, …")
    command.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="per point, for engines that decide points one at a time (default: 5; inf for no limit)",
    )
    command.add_argument(
        "--budget",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="for the whole run (60; inf for no limit); Ctrl-C ends it early. What is decided by then is kept",
    )
    add_jobs(command)
    add_margin(command)


def add_groups(command: argparse.ArgumentParser) -> None:
    """By which column figures are told apart."""
    command.add_argument(
        "--by", metavar="COLUMN", help="show the figures for each value of this column of TEST too; it is not a feature"
    )
