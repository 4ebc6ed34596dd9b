"""The work of ``rescaleinv certify`` for two classes, once the tables are read."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.deadline import has_time_for_processes, is_over, share_of_run
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.tables import folded, write_table
from rescaleinv._util.types import FloatArray
from rescaleinv.audit.answer import answer_of
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.ranges import fixed_features, groups_of, scale_range_of, without_units
from rescaleinv.cli.running import announced_run
from rescaleinv.cli.table_input import LabelledTables, groups_of_points
from rescaleinv.errors import InaccurateWarning, InputError, LeftOutWarning, OneLabelWarning
from rescaleinv.estimators.radius import radius_search
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.metrics import strong_report
from rescaleinv.theory.scale_range import as_scale_range
from rescaleinv.verdict import Verdicts

if TYPE_CHECKING:
    import pandas as pd

COMPLEX_FILE, CERTIFICATES_FILE = "complex.jsonl", "certificates.jsonl"
# Of the budget the verdicts may take this share; the rest is for the question how far labels hold.
_SHARE_OF_VERDICTS = 0.5
# How near to each other the ends of a radius are brought, up to where it is looked for, and seconds per row.
_RATIO, _LARGEST, _SECONDS = 1.1, 10.0, 1.0


def certify_rows(tables: LabelledTables, options: argparse.Namespace) -> None:
    """Tell how far the labels of the rows hold, and write what was asked for."""
    groups_of_points(tables, options)  # which says what is wrong with --by before any work
    with announced_run(options):
        model = fitted(tables, options, scale_range=scale_range_of(options, tables))
        verdicts = _decided(model, tables, options)
        radius = None if options.no_radius else _radii(model, tables, verdicts, options)
    _tell(model, tables, verdicts, radius, options)
    if options.out is not None:
        result = result_table(verdicts, radius, model, tables, options)
        write_table(result, options.out, escape_formulas=options.escape_formulas)
    if tables.truth is not None:
        _compare(verdicts, tables.truth, tables.classes)
    if options.proof is not None:
        folder = Path(options.proof)
        shared = model.engine_.abilities.proof == "training set"
        files = [COMPLEX_FILE, CERTIFICATES_FILE] if shared else [CERTIFICATES_FILE]
        print(f"check it yourself: rescaleinv verify {' '.join(str(folder / name) for name in files)}")


def fitted(tables: LabelledTables, options: argparse.Namespace, *, scale_range: Any) -> RescaleInvariantSVC:
    """The model of the training rows, about which the first lines of the output tell."""
    model = RescaleInvariantSVC(
        scale_range=scale_range,
        engine=options.engine,
        time_limit=options.time_limit,
        groups=groups_of(options, tables),
        n_jobs=options.jobs,
        **margin_parameters(options, tables.classes),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(tables.training_frame(), tables.labels == tables.classes[1])
    tell_model(model, tables, options)
    for warning in caught:
        _tell_warning(warning.message, tables, options)
    print(f"engine {model.engine_}: {model.engine_.reason}")
    return model


def shown_classes(tables: LabelledTables, options: argparse.Namespace) -> tuple[str, str]:
    """What to call the two classes: numbers get the name of the label's column."""
    names = getattr(options, "class_names", None)
    if names is not None:
        given = [name.strip() for name in names.split(",")]
        if len(given) != 2 or not all(given) or given[0] == given[1]:
            raise InputError(f"--class-names {names}: two different names are needed: negative,positive")
        return given[0], given[1]
    negative, positive = (f"{options.label} {name}" if _is_number(name) else name for name in tables.classes)
    return negative, positive


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def tell_model(model: RescaleInvariantSVC, tables: LabelledTables, options: argparse.Namespace) -> None:
    """Which SVM it is, of which rows, classes and features."""
    negative, positive = shown_classes(tables, options)
    rows = "" if len(model.dropped_) else f"; {len(model.training_set_)} training rows"
    print(
        f"linear SVM, {model.margin_}{rows}; {positive} is positive, {negative} negative; {len(tables.names)} "
        f"feature{'s' if len(tables.names) != 1 else ''}: {folded(tables.names)}"
    )


def _tell_warning(warning: Any, tables: LabelledTables, options: argparse.Namespace) -> None:
    """What the model warns of, with rows and classes called as in the table."""
    if isinstance(warning, LeftOutWarning):
        warning.rows = tables.row_numbers[warning.rows].tolist()
        print(f"note: {warning}; rows are counted from 1 below the header of {options.train}")
    if isinstance(warning, OneLabelWarning):
        warning.label = shown_classes(tables, options)[int(bool(warning.label))]
    if isinstance(warning, (OneLabelWarning, InaccurateWarning)):
        print(f"note: {warning}")


def _decided(model: RescaleInvariantSVC, tables: LabelledTables, options: argparse.Namespace) -> Verdicts:
    """The verdicts of all rows, with proofs if they are wished for."""
    points = tables.points_frame(np.arange(len(tables.points)))
    # proofs are asked for, and take the time they need
    share = 1.0 if options.proof or options.certificates or options.no_radius else _SHARE_OF_VERDICTS
    if options.proof is not None:
        folder = Path(options.proof)
        kind = model.engine_.abilities.proof
        if kind == "none":
            raise InputError(f"--proof: the engine {model.engine_} can't prove strong verdicts; --engine complex can")
        if kind == "training set":
            proof = _writing(lambda: model.prove(folder / COMPLEX_FILE), folder)
            print(
                f"the complex is complete: {proof.n_vertices:,} vertices, checked exactly "
                f"({proof.n_bytes:,} bytes; {proof.n_corrected} edges corrected)"
            )
        proved: Verdicts = _writing(lambda: model.certify(points).prove(folder / CERTIFICATES_FILE), folder)
        return _with_reasons(proved, tables)
    with share_of_run(share):
        verdicts = model.certify(points)
    if options.certificates is not None:
        verdicts = _writing(lambda: verdicts.prove(options.certificates), options.certificates)
    return _with_reasons(verdicts, tables)


def _with_reasons(verdicts: Verdicts, tables: LabelledTables) -> Verdicts:
    """The verdicts with the reasons that the tables have for rows that can't be judged."""
    verdicts.reason[~tables.usable] = tables.reasons[~tables.usable]
    return verdicts


def _radii(
    model: RescaleInvariantSVC, tables: LabelledTables, verdicts: Verdicts, options: argparse.Namespace
) -> FloatArray:
    """[certified κ, refuted κ] of every row that can be judged, as far as the time goes; nan for the others."""
    radius = np.full((len(verdicts), 2), np.nan)
    radius[tables.usable] = 1.0, np.inf
    every = model.scale_range is None
    if every:
        radius[verdicts.strong] = np.inf
    frozen = _resting(model, tables, options)
    left = np.flatnonzero(tables.usable & ~(verdicts.strong & every))
    if not len(left) or is_over():
        return radius
    if frozen.all():
        radius[left] = np.inf
        return radius
    alone = {} if has_time_for_processes() else {"n_jobs": 1}
    search = radius_search(model, frozen=frozen, time_limit=min(_SECONDS, options.time_limit), **alone)
    with progress_bar("rows, how far labels hold", total=len(left)) as bar:
        radius[left] = search.within_run(tables.points[left], ratio=_RATIO, largest=_LARGEST, report=bar.show)
    return radius


def _resting(model: RescaleInvariantSVC, tables: LabelledTables, options: argparse.Namespace) -> npt.NDArray[np.bool_]:
    """Features that the question how far labels hold does not rescale."""
    names = {*without_units(options, tables), *fixed_features(options, tables)}
    limits = as_scale_range(model.scale_range, len(tables.names), tables.names)
    frozen = np.zeros(len(tables.names), dtype=bool) if limits is None else (limits == 1).all(axis=1)
    return frozen | np.array([name in names for name in tables.names])


def _tell(
    model: RescaleInvariantSVC,
    tables: LabelledTables,
    verdicts: Verdicts,
    radius: FloatArray | None,
    options: argparse.Namespace,
) -> None:
    """The answer, then the verdicts by class."""
    resting = _resting(model, tables, options)
    if radius is not None and not resting.all():
        found = answer_of(radius[tables.usable], options.kappa, every=int(verdicts.strong.sum()))
        if model.scale_range is not None:  # a verdict about a range says nothing about every rescaling
            found = replace(found, every=None)
        print(found.sentence(fixed=int(resting.sum()), grouped=model.groups is not None))
    groups = groups_of_points(tables, options)
    print(replace(verdicts, classes=shown_classes(tables, options)).summary(groups_by=groups))


def _writing(work: Callable[[], Any], where: Any) -> Any:
    try:
        return work()
    except OSError as error:
        raise InputError(f"{where} can't be written: {error.strerror or error}") from error


def result_table(
    verdicts: Verdicts,
    radius: FloatArray | None,
    model: RescaleInvariantSVC,
    tables: LabelledTables,
    options: argparse.Namespace,
) -> pd.DataFrame:
    """One row per point: its number, the columns to keep, the truth, the plain SVM's label, the verdict, the radius."""
    frame = verdicts.to_frame().reset_index(drop=True)
    frame["label"] = class_labels(verdicts, tables.classes)
    values = np.full(len(frame), np.nan)
    values[tables.usable] = model.decision_function(tables.points_frame(tables.usable))
    place = list(frame.columns).index("lower")
    frame.insert(place, "value", values)
    if radius is not None:
        frame.insert(place, "holds up to", radius[:, 0])
        frame.insert(place + 1, "can change at", radius[:, 1])
    if tables.truth is not None:
        frame.insert(0, "truth", tables.truth)
    frame.insert(0, "row", np.arange(1, len(frame) + 1))
    return with_kept(frame, tables)


def class_labels(verdicts: Verdicts, classes: tuple[str, ...]) -> npt.NDArray[Any]:
    """The names of the classes that rows are labelled with; "" where none can be."""
    assert verdicts.labels is not None
    return np.array(["" if label is None else classes[int(label)] for label in verdicts.labels.tolist()], dtype=object)


def with_kept(frame: pd.DataFrame, tables: LabelledTables) -> pd.DataFrame:
    """The table with the columns to keep after the number of the row."""
    for place, name in enumerate(tables.keep, 1):
        if name in frame.columns:
            raise InputError(f"--keep {name}: the result has a column of its own with that name")
        frame.insert(place, name, tables.test[name].to_numpy())
    return frame


def _compare(verdicts: Verdicts, truth: npt.NDArray[Any], classes: tuple[str, ...]) -> None:
    """Print the figures of the rows whose true class is known and that could be judged."""
    labels = class_labels(verdicts, classes)
    known = np.array([value is not None for value in truth.tolist()]) & (labels != "")
    if not known.all():
        print(
            f"{int((~known).sum())} rows have no label of these two, or could not be judged: they are not in the figures"
        )
    if known.any():
        print(strong_report(truth[known], verdicts[known], labels[known], classes=classes))
