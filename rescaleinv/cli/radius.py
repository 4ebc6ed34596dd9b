"""``rescaleinv radius``: how wrong units may be before each label can change."""

from __future__ import annotations

import argparse

import numpy as np

from rescaleinv._util.tables import check_table_name, read_table, require_columns, write_table
from rescaleinv.cli.columns import require_numbers
from rescaleinv.cli.table_input import exact_numbers, reading_of, require_folder_of, require_model
from rescaleinv.errors import InputError
from rescaleinv.verdict import unusable_rows


def run_radius(options: argparse.Namespace) -> None:
    """One row per point: its label, the factor up to which that is certified, and the one at which it was refuted."""
    if options.out is not None:
        check_table_name(options.out)
        require_folder_of(options.out)
    require_model(options.model)
    import pandas as pd

    from rescaleinv.estimators.svc import RescaleInvariantSVC

    model = RescaleInvariantSVC.load(options.model)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise InputError(f"{options.model} has no names of features: train it on a table with names (rescaleinv fit)")
    table = read_table(options.points, reading=reading_of(options))
    require_columns(table, [*names, *options.keep], options.points)
    require_numbers(table, list(names), options.points, empty_too=True)
    points = exact_numbers(table[list(names)], options.points)
    reasons = unusable_rows(points)
    usable = np.array(reasons == "", dtype=bool)
    radii = np.full((len(points), 2), np.nan)
    labels = np.full(len(points), "", dtype=object)
    if usable.any():
        frame = pd.DataFrame(points[usable], columns=list(names))
        radii[usable] = model.rescaling_radius(frame, ratio=options.ratio, largest=options.largest)
        labels[usable] = model.predict(frame)
    print(f"{options.model}: {model.margin_}")
    for factor in (1.1, 2.0, 10.0):
        holds = int((radii[usable, 0] >= factor).sum())
        print(f"{holds} of {len(points)} labels hold if each unit may be wrong by a factor of {factor:g}")
    if not usable.all():
        print(f"note: {int((~usable).sum())} rows have a missing or too large value: they have no radius")
    result = {
        "row": np.arange(1, len(points) + 1),
        **{name: table[name].to_numpy() for name in options.keep},
        "label": labels.astype(str),
        "certified": radii[:, 0],
        "refuted": radii[:, 1],
        "reason": reasons.astype(str),
    }
    if options.out is not None:
        write_table(pd.DataFrame(result), options.out)
