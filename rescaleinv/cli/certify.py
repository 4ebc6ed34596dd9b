"""``rescaleinv certify``: a training table and a test table in, verdicts, figures and proofs out."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.tables import check_table_name, write_table
from rescaleinv._util.types import FloatArray
from rescaleinv.cli.options.margin import margin_parameters
from rescaleinv.cli.table_input import LabelledTables, groups_of, read_labelled, require_folder_of
from rescaleinv.errors import InputError, LeftOutWarning, OneLabelWarning
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.metrics import strong_report
from rescaleinv.verdict import Verdicts

if TYPE_CHECKING:
    import pandas as pd

COMPLEX_FILE, CERTIFICATES_FILE = "complex.jsonl", "certificates.jsonl"


def run_certify(options: argparse.Namespace) -> None:
    """Judge the rows of TEST under the rescalings of the features of TRAIN."""
    _check_places(options)
    tables = read_labelled(options)
    _, test, names, classes, points, usable, reasons = tables
    if options.report and options.label not in test.columns:
        raise InputError(f"--report: {options.test} has no column {options.label!r} with the true classes")
    groups = groups_of(tables, options)
    model, notes = _fitted(tables, options)
    rows = "" if len(model.dropped_) else f"; {len(model.training_set_)} training rows"
    print(f"{model.margin_}{rows}; {options.label} {classes[1]} is positive; features: {', '.join(names)}")
    for note in notes:
        print(f"note: {note}")
    print(f"engine {model.engine_}: {model.engine_.reason}")
    model.precompute()
    verdicts = _decided(model, points[usable], options)
    if not usable.all():
        verdicts = Verdicts.all_unknown(points, reasons, verdicts.engine).with_rows(usable, verdicts)
    print(verdicts.summary(groups_by=groups))
    labels = np.full(len(points), "", dtype=object)
    if usable.any():
        labels[usable] = np.array(classes, dtype=object)[model.predict(points[usable]).astype(int)]
    if options.out is not None:
        write_table(_result(verdicts, test, labels, options.keep), options.out, escape_formulas=options.escape_formulas)
    if options.label in test.columns:
        _compare(verdicts, test[options.label], labels, classes)
    if options.proof is not None:
        folder = Path(options.proof)
        shared = model.engine_.abilities.proof == "training set"
        files = [COMPLEX_FILE, CERTIFICATES_FILE] if shared else [CERTIFICATES_FILE]
        print(f"check it yourself: rescaleinv verify {' '.join(str(folder / name) for name in files)}")


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


def _fitted(tables: LabelledTables, options: argparse.Namespace) -> tuple[RescaleInvariantSVC, list[Warning]]:
    """The model, and what it warns of."""
    positive = tables.train[options.label] == tables.classes[1]
    model = RescaleInvariantSVC(
        scale_range=_scale_range(options.scale_range),
        engine=options.engine,
        time_limit=options.time_limit,
        n_jobs=-1,
        **margin_parameters(options, tables.classes),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(tables.training_rows(options.train), positive.to_numpy(dtype=bool))
    notes = [warning.message for warning in caught if isinstance(warning.message, LeftOutWarning | OneLabelWarning)]
    for note in notes:
        if isinstance(note, OneLabelWarning):
            note.label = tables.classes[int(bool(note.label))]  # by its name in the table
    return model, list(notes)


def _decided(model: RescaleInvariantSVC, points: FloatArray, options: argparse.Namespace) -> Verdicts:
    """The verdicts, with proofs if they are wished for."""
    if not len(points):
        raise InputError(f"{options.test} has no row without a missing or too large value")
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
        return proved
    verdicts = model.certify(points)
    if options.certificates is not None:
        verdicts = _writing(lambda: verdicts.prove(options.certificates), options.certificates)
    return verdicts


def _writing(work: Callable[[], Any], where: Any) -> Any:
    try:
        return work()
    except OSError as error:
        raise InputError(f"{where} can't be written: {error.strerror or error}") from error


def _result(verdicts: Verdicts, test: pd.DataFrame, labels: npt.NDArray[Any], keep: list[str]) -> pd.DataFrame:
    """One row per point: its number, the columns to keep, the plain SVM's label, the verdict."""
    frame = verdicts.to_frame()
    frame.insert(0, "row", np.arange(1, len(frame) + 1))
    frame.insert(1, "label", labels.astype(str))
    for place, name in enumerate(keep, 1):
        if name in frame.columns:
            raise InputError(f"--keep {name}: the result has a column of its own with that name")
        frame.insert(place, name, test[name].to_numpy())
    return frame


def _compare(verdicts: Verdicts, truth: pd.Series[Any], labels: npt.NDArray[Any], classes: tuple[str, str]) -> None:
    """Print the figures of the rows whose true class is known and that could be judged."""
    known = truth.isin(classes).to_numpy() & (labels != "")
    if not known.all():
        print(
            f"{int((~known).sum())} rows have no label of these two, or could not be judged: they are not in the figures"
        )
    if known.any():
        print(strong_report(truth[known], verdicts[known], labels[known], classes=classes))


def _scale_range(text: str | None) -> Any:
    """A number, a pair, or pairs in the order of the features, as JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"--scale-range {text[:80]}: a number (2), a pair ([0.5, 2]) or one pair a feature ([[1, 1], …]) is needed"
        ) from error
