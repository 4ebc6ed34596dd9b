"""The work of ``rescaleinv certify`` for more than two classes: sets of classes instead of verdicts."""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from rescaleinv._util.tables import folded, write_table
from rescaleinv.cli.certifying import with_kept
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.ranges import groups_of, scale_range_of
from rescaleinv.cli.running import announced_run
from rescaleinv.cli.table_input import LabelledTables
from rescaleinv.errors import InputError
from rescaleinv.estimators.class_sets import ClassSets
from rescaleinv.estimators.multiclass import RescaleInvariantOneVsOne
from rescaleinv.estimators.svc import RescaleInvariantSVC


def certify_classes(tables: LabelledTables, options: argparse.Namespace) -> None:
    """Tell which classes some rescaling could give each row, and write what was asked for."""
    if options.class_weight not in (None, "balanced"):
        raise InputError(
            '--class-weight: with more than two classes "balanced" is possible; --positive VALUE makes them two'
        )
    if options.proof is not None or options.certificates is not None:
        raise InputError(
            f"--proof and --certificates are for two classes, and {options.label} has {len(tables.classes)}; --positive "
            "VALUE makes them two: this one and the rest"
        )
    binary = RescaleInvariantSVC(
        scale_range=scale_range_of(options, tables),
        engine=options.engine,
        time_limit=options.time_limit,
        groups=groups_of(options, tables),
        n_jobs=options.jobs,
        **margin_parameters(options, tables.classes),
    )
    print(
        f"{len(tables.rows)} training rows; {len(tables.classes)} classes: {folded(list(tables.classes))} (one SVM for each "
        f"pair, they vote; --positive VALUE asks about one class against the rest); {len(tables.names)} features: "
        f"{folded(tables.names)}"
    )
    with announced_run(options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the line below says it
            model = RescaleInvariantOneVsOne(binary).fit(tables.training_frame(), tables.labels.astype(str))
        kinds = sorted({one.margin_ for one in model.estimators_})
        print(f"pairs of classes: {folded(kinds, 4)}")
        found = model.certify(tables.points_frame(np.arange(len(tables.points))))
    print(found.summary())
    if tables.truth is not None:
        _compare(found, tables)
    if options.out is not None:
        frame = found.to_frame().reset_index(drop=True)
        frame["reason"] = np.where(tables.usable, frame["reason"], tables.reasons)
        if tables.truth is not None:
            frame.insert(0, "truth", tables.truth)
        frame.insert(0, "row", np.arange(1, len(frame) + 1))
        write_table(with_kept(frame, tables), options.out, escape_formulas=options.escape_formulas)


def _compare(found: ClassSets, tables: LabelledTables) -> None:
    """How often labels are correct, of all rows and of those with one class whatever the scaling."""
    assert tables.truth is not None
    known = np.array([value is not None for value in tables.truth.tolist()]) & tables.usable
    correct = np.array([a == b for a, b in zip(found.labels.tolist(), tables.truth.tolist(), strict=True)])
    if not known.any():
        return
    line = f"of {known.sum()} rows whose class is known, {correct[known].mean():.1%} are labelled correctly"
    strong = known & found.strong
    if strong.any():
        line += f"; of the {strong.sum()} with one class whatever the scaling, {correct[strong].mean():.1%}"
    print(line)
