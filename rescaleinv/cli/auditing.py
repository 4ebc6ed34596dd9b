"""The work of ``rescaleinv audit``, once the tables are read."""

from __future__ import annotations

import argparse
import copy
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from rescaleinv._util.deadline import share_of_run
from rescaleinv._util.tables import write_table
from rescaleinv.audit import Audit, scaling_audit
from rescaleinv.audit.report import require_extras, write_report
from rescaleinv.cli.certifying import shown_classes, tell_model
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.ranges import fixed_features, groups_of
from rescaleinv.cli.running import announced_run
from rescaleinv.cli.table_input import LabelledTables, groups_of_points
from rescaleinv.errors import InputError
from rescaleinv.estimators.svc import RescaleInvariantSVC

# What is left of the budget is for the page.
_SHARE_OF_AUDIT = 0.85


def audit_each_class(tables: LabelledTables, options: argparse.Namespace) -> int:
    """An audit of each class against the rest, each with a page of its own."""
    codes: list[int] = []
    if options.class_names:
        raise InputError(
            "--class-names is for two classes; with --positive VALUE one class is audited against the rest"
        )
    if not math.isinf(options.budget):
        options.budget /= len(tables.classes)
    for name in tables.classes:
        print(f"{'' if not codes else chr(10)}{options.label} {name} against the rest:")
        rest = f"not {name}"
        one = replace(
            tables,
            classes=(rest, name),
            labels=np.where(tables.labels == name, name, rest).astype(object),
            truth=_against_rest(tables, name, rest),
        )
        chosen = copy.copy(options)
        for kind in ("html", "out", "json"):
            setattr(chosen, kind, _named_after(getattr(options, kind), name))
        codes.append(audit_rows(one, chosen))
    return max(codes)


def _against_rest(tables: LabelledTables, name: str, rest: str) -> npt.NDArray[Any] | None:
    if tables.truth is None:
        return None
    known = [None if value is None else name if value == name else rest for value in tables.truth.tolist()]
    return np.array(known, dtype=object)


def _named_after(path: str | None, name: str) -> str | None:
    """The path of one class's file: audit.html becomes audit-setosa.html."""
    if path is None:
        return None
    given = Path(path)
    return str(given.with_name(f"{given.stem}-{re.sub(r'[^0-9A-Za-z_.-]+', '_', name)}{given.suffix}"))


def audit_rows(tables: LabelledTables, options: argparse.Namespace) -> int:
    """Print the findings, and write what was asked for; 1 if a rescaling contradicts a strong verdict."""
    if options.html is not None:
        require_extras()
    usable = np.flatnonzero(tables.usable)
    names = shown_classes(tables, options)
    groups = groups_of(options, tables)
    if groups is not None:
        raise InputError("--group is for certify and fit: an audit rescales every feature on its own")
    by = groups_of_points(tables, options)
    with announced_run(options):
        with share_of_run(_SHARE_OF_AUDIT):
            audit = scaling_audit(
                tables.training_frame(),
                tables.labels == tables.classes[1],
                tables.points_frame(usable),  # rows are called by their numbers in the file
                _truth(tables, usable),
                estimator=RescaleInvariantSVC(
                    engine=options.engine,
                    time_limit=options.time_limit,
                    n_jobs=options.jobs,
                    **margin_parameters(options, tables.classes),
                ),
                class_names=names,
                noun=options.noun,
                kappa=options.kappa,
                most_radii=options.radii,
                fixed=[*tables.without_units, *fixed_features(options, tables)],
                groups_by=None if by is None else [by[i] for i in usable],
                causes=options.html is not None,
            )
        tell_model(audit.model, tables, options)
        print(audit)
        _write(audit, tables, usable, options)
    return 0 if audit.consistency.holds else 1


def _write(audit: Audit, tables: LabelledTables, usable: npt.NDArray[Any], options: argparse.Namespace) -> None:
    kept = tables.test.iloc[usable][tables.keep].reset_index(drop=True)
    if options.out is not None:
        frame = audit.to_frame().rename(columns={"point": "row"})
        clash = [name for name in tables.keep if name in frame.columns]
        if clash:
            raise InputError(f"--keep {clash[0]}: the result has a column of its own with that name")
        write_table(pd.concat([kept, frame], axis=1), options.out, escape_formulas=options.escape_formulas)
    if options.json is not None:
        audit.to_json(options.json)
    if options.html is not None:
        write_report(audit, options.html, title=options.title, kept=kept, max_points=options.max_points)
        print(f"written: {options.html}; open it in a browser: {Path(options.html).resolve().as_uri()}")


def _truth(tables: LabelledTables, usable: npt.NDArray[Any]) -> list[bool | None] | None:
    """Whether each point is truly positive, None where its class is missing or another."""
    if tables.truth is None:
        return None
    return [None if value is None else value == tables.classes[1] for value in tables.truth[usable].tolist()]
