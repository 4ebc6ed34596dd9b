"""``rescaleinv audit``: a training table and a test table in, findings in plain words out, and a page to look at."""

from __future__ import annotations

import argparse

import numpy as np

from rescaleinv._util.tables import check_table_name
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.ranges import check_units
from rescaleinv.cli.running import check_limits
from rescaleinv.cli.table_input import read_labelled, require_folder_of
from rescaleinv.errors import InputError


def run_audit(options: argparse.Namespace) -> int:
    """Print the findings, and write what was asked for; 1 if a rescaling contradicts a strong verdict."""
    if options.out is not None:
        check_table_name(options.out)
    require_folder_of(options.out, options.html, options.json)
    check_limits(options)
    if options.max_points < 1:
        raise InputError(f"--max-points {options.max_points}: one at least is needed")
    tables = read_labelled(options)
    check_units(options, tables)
    margin_parameters(options, tables.classes)
    usable = np.flatnonzero(tables.usable)
    if not len(usable):
        raise InputError(f"{options.test} has no row without a missing or too large value")
    if len(usable) < len(tables.points):
        left_out = len(tables.points) - len(usable)
        print(
            f"note: {left_out} of {len(tables.points)} rows of {options.test} have a missing or too large value: left out"
        )
    from rescaleinv.cli.auditing import audit_each_class, audit_rows

    if len(tables.classes) > 2:
        return audit_each_class(tables, options)
    return audit_rows(tables, options)
