"""``rescaleinv fit``: train a model and write it to a file."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.ranges import check_units, groups_of, scale_range_of
from rescaleinv.cli.table_input import read_labelled, require_folder_of, require_two_classes
from rescaleinv.errors import InputError


def run_fit(options: argparse.Namespace) -> None:
    """Train on all rows of TRAIN; the labels of the model are the names of the classes."""
    require_folder_of(options.out)
    # there is no second table: the training table is read as one
    options.test, options.positive, options.keep, options.one_hot = options.train, None, [], []
    tables = read_labelled(options)
    require_two_classes(tables, options)
    check_units(options, tables)
    parameters = margin_parameters(options, tables.classes[:2])
    if isinstance(parameters["class_weight"], dict):
        parameters["class_weight"] = {tables.classes[int(k)]: w for k, w in parameters["class_weight"].items()}
    # loaded when there is something to work on: input errors are told at once
    from rescaleinv.estimators.svc import RescaleInvariantSVC

    model = RescaleInvariantSVC(
        scale_range=scale_range_of(options, tables),
        groups=groups_of(options, tables),
        engine=options.engine,
        n_jobs=options.jobs,
        **parameters,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(tables.training_frame(), tables.labels.astype(str))
    for warning in caught:
        print(f"note: {warning.message}")
    print(f"{model.margin_}; {options.label} {model.classes_[1]} is positive; features: {', '.join(tables.names)}")
    print(f"engine {model.engine_}: {model.engine_.reason}")
    if options.enumerate:
        model.precompute()
    try:
        model.save(Path(options.out))
    except OSError as error:
        raise InputError(f"{options.out} can't be written: {error.strerror or error}") from error
    print(f"written: {options.out}")
