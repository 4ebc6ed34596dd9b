"""``rescaleinv certify``: a training table and a test table in; how far each label holds, verdicts and proofs out."""

from __future__ import annotations

import argparse
from pathlib import Path

from rescaleinv._util.tables import check_table_name
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.ranges import check_units
from rescaleinv.cli.running import check_limits
from rescaleinv.cli.table_input import read_labelled, require_folder_of
from rescaleinv.errors import InputError


def run_certify(options: argparse.Namespace) -> None:
    """Judge the rows of TEST under the rescalings of the features of TRAIN."""
    _check_places(options)
    check_limits(options)
    tables = read_labelled(options)
    if options.report and tables.truth is None:
        raise InputError(f"--report: {options.test} has no column {options.label!r} with the true classes")
    if not tables.usable.any():
        raise InputError(f"{options.test} has no row without a missing or too large value")
    check_units(options, tables)
    margin_parameters(options, tables.classes)
    # what works is loaded when there is something to work on: input errors are told at once
    if len(tables.classes) > 2:
        from rescaleinv.cli.multiclass import certify_classes

        certify_classes(tables, options)
    else:
        from rescaleinv.cli.certifying import certify_rows

        certify_rows(tables, options)


def _check_places(options: argparse.Namespace) -> None:
    """What can be said of the places to write to before the work."""
    if options.out is not None:
        check_table_name(options.out)
    require_folder_of(options.out, options.certificates)
    if options.proof is not None:
        try:
            Path(options.proof).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{options.proof} can't be used as a folder: {error.strerror or error}") from error
