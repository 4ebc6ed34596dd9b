"""``rescaleinv audit``: a training table and a test table in, findings in plain words out, and a page to look at."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rescaleinv._util.tables import check_table_name, write_table
from rescaleinv.audit import scaling_audit
from rescaleinv.audit.report import require_extras, write_report
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.table_input import LabelledTables, groups_of, read_labelled, require_folder_of
from rescaleinv.errors import InputError
from rescaleinv.estimators.svc import RescaleInvariantSVC


def run_audit(options: argparse.Namespace) -> int:
    """Print the findings, and write what was asked for; 1 if a rescaling contradicts a strong verdict."""
    if options.out is not None:
        check_table_name(options.out)
    require_folder_of(options.out, options.html)
    if options.html is not None:
        require_extras()
        if options.max_points < 1:
            raise InputError(f"--max-points {options.max_points}: one at least is needed")
    tables = read_labelled(options)
    groups = groups_of(tables, options)
    usable = np.flatnonzero(tables.usable)
    if not len(usable):
        raise InputError(f"{options.test} has no row without a missing or too large value")
    if len(usable) < len(tables.points):
        left_out = len(tables.points) - len(usable)
        print(
            f"note: {left_out} of {len(tables.points)} rows of {options.test} have a missing or too large value: left out"
        )
    audit = scaling_audit(
        pd.DataFrame(tables.training_rows(options.train), columns=tables.names),
        (tables.train[options.label] == tables.classes[1]).to_numpy(dtype=bool),
        # rows are called by their numbers in the file
        pd.DataFrame(tables.points[usable], columns=tables.names, index=usable + 1),
        _truth(tables, options.label, usable),
        estimator=RescaleInvariantSVC(
            engine=options.engine,
            time_limit=options.time_limit,
            n_jobs=-1,
            **margin_parameters(options, tables.classes),
        ),
        class_names=tables.classes,
        noun=options.noun,
        kappa=options.kappa,
        most_radii=options.radii,
        groups_by=None if groups is None else [groups[i] for i in usable],
        causes=options.html is not None,
    )
    print(audit)
    kept = tables.test.iloc[usable][options.keep].reset_index(drop=True)
    if options.out is not None:
        frame = audit.to_frame().rename(columns={"point": "row"})
        clash = [name for name in options.keep if name in frame.columns]
        if clash:
            raise InputError(f"--keep {clash[0]}: the result has a column of its own with that name")
        write_table(pd.concat([kept, frame], axis=1), options.out, escape_formulas=options.escape_formulas)
    if options.html is not None:
        write_report(audit, options.html, title=options.title, kept=kept, max_points=options.max_points)
        print(f"written: {options.html}; open it in a browser: {Path(options.html).resolve().as_uri()}")
    return 0 if audit.consistency.holds else 1


def _truth(tables: LabelledTables, label: str, usable: Any) -> list[bool | None] | None:
    """Whether each point is truly positive, None where its class is missing or another."""
    if label not in tables.test.columns:
        return None
    known = dict(zip(tables.classes, (False, True), strict=True))
    return [known.get(value) for value in tables.test[label].iloc[usable].tolist()]
