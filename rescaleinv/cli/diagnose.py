"""``rescaleinv diagnose``: a training table and a test table in, why labels change with the scaler out."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from rescaleinv._util.tables import check_table_name
from rescaleinv.cli.table_input import groups_of_points, read_labelled, require_folder_of, require_two_classes
from rescaleinv.errors import InputError

_PICTURES = (".png", ".svg", ".pdf")


def run_diagnose(options: argparse.Namespace) -> None:
    """Print why labels differ, in words and as a table, and write what was asked for."""
    _check(options)
    tables = read_labelled(options)
    groups_of_points(tables, options)  # which says what is wrong with --by before any work
    usable = np.flatnonzero(tables.usable)
    if not len(usable):
        raise InputError(f"{options.test} has no row without a missing or too large value")
    if len(usable) < len(tables.points):
        left_out = len(tables.points) - len(usable)
        print(f"note: {left_out} of {len(tables.points)} rows have a missing or too large value: left out")
    require_two_classes(tables, options)
    # what works is loaded when there is something to work on: input errors are told at once
    from rescaleinv.cli.diagnosing import diagnose_rows

    diagnose_rows(tables, usable, options)


def _check(options: argparse.Namespace) -> None:
    """What can be said before any work."""
    if len(set(options.scalers)) < 2:
        raise InputError("--scalers: two different ones at least are needed, to be compared with each other")
    if options.out is not None:
        check_table_name(options.out)
    if options.picture is not None and Path(options.picture).suffix.lower() not in _PICTURES:
        raise InputError(f"--picture {options.picture}: its name must end with {', '.join(_PICTURES)}")
    require_folder_of(options.out, options.picture)
