"""``rescaleinv certify``: a training table and a test table in, verdicts, figures and proofs out."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rescaleinv.classifier import RescaleInvariantSVC
from rescaleinv.engines.complex import ComplexEngine
from rescaleinv.errors import InputError, LeftOutWarning
from rescaleinv.metrics import strong_report
from rescaleinv.problem import LARGEST_VALUE, FloatArray, as_matrix
from rescaleinv.tables import check_table_name, read_table, require_columns, write_table
from rescaleinv.verdict import Verdict, Verdicts

if TYPE_CHECKING:
    import pandas as pd

COMPLEX_FILE, CERTIFICATES_FILE = "complex.jsonl", "certificates.jsonl"
_ROW_NUMBERS = "Unnamed: "  # what pandas calls a column without a name, which it writes row numbers to


def run_certify(options: argparse.Namespace) -> None:
    """Judge the rows of TEST under the rescalings of the features of TRAIN."""
    _check_places(options)
    train, test = (read_table(path, text=options.label) for path in (options.train, options.test))
    names = _feature_names(train, options)
    require_columns(test, [*names, *options.keep], options.test)
    if options.report and options.label not in test.columns:
        raise InputError(f"--report: {options.test} has no column {options.label!r} with the true classes")
    classes = _classes(train[options.label], options)
    points, usable, reasons = _usable(test[names], options.test)
    model = _fitted(as_matrix(train[names], what=str(options.train)), train[options.label] == classes[1], options)
    print(
        f"{len(model.training_set_)} training rows; {options.label} {classes[1]} is positive; features: {', '.join(names)}"
    )
    print(f"engine {model.engine_}: {model.engine_.reason}")
    model.precompute()
    verdicts = _decided(model, points[usable], options)
    verdicts = _with_unusable(verdicts, points, usable, reasons)
    print(verdicts.summary())
    labels = np.full(len(points), "", dtype=object)
    if usable.any():
        labels[usable] = np.array(classes, dtype=object)[model.predict(points[usable]).astype(int)]
    if options.out is not None:
        write_table(_result(verdicts, test, labels, options.keep), options.out)
    if options.label in test.columns:
        _compare(verdicts, test[options.label], labels, classes)
    if options.proof is not None:
        folder = Path(options.proof)
        print(f"check it yourself: rescaleinv verify {folder / COMPLEX_FILE} {folder / CERTIFICATES_FILE}")


def _check_places(options: argparse.Namespace) -> None:
    """What can be said of the places to write to before the work."""
    if options.out is not None:
        check_table_name(options.out)
    for path in (options.out, options.certificates):
        if path is not None and not Path(path).parent.is_dir():
            raise InputError(f"{path} can't be written: there is no folder {Path(path).parent}")
    if options.proof is not None:
        try:
            Path(options.proof).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{options.proof} can't be used as a folder: {error.strerror or error}") from error


def _feature_names(train: pd.DataFrame, options: argparse.Namespace) -> list[str]:
    """All columns but the label, those to keep or to ignore, and row numbers."""
    require_columns(train, [options.label], options.train)
    others = {options.label, *options.keep, *options.ignore}
    names = [str(name) for name in train.columns if name not in others]
    numbers = [name for name in names if name.startswith(_ROW_NUMBERS) or not name.strip()]
    if numbers:
        print(f"note: {options.train} has a column without a name; it is taken for row numbers and left out")
    names = [name for name in names if name not in numbers]
    if not names:
        raise InputError(f"{options.train} has no features: no column is left")
    return names


def _classes(labels: pd.Series[Any], options: argparse.Namespace) -> tuple[str, str]:
    """The negative and the positive label."""
    if labels.isna().any():
        raise InputError(f"{options.train}: the label is missing in row {int(labels.isna().argmax()) + 1}")
    values = sorted(labels.unique().tolist())
    if len(values) != 2:
        shown = ", ".join(values[:8]) + (", …" if len(values) > 8 else "")
        raise InputError(f"{options.train}: the label has {len(values)} different values ({shown}); two are needed")
    if options.positive is None or options.positive == values[1]:
        return values[0], values[1]
    if options.positive == values[0]:
        return values[1], values[0]
    raise InputError(f"--positive {options.positive}: the labels are {values[0]} and {values[1]}")


def _usable(features: pd.DataFrame, path: str) -> tuple[FloatArray, npt.NDArray[np.bool_], npt.NDArray[Any]]:
    """The points, which of them can be judged, and why the others can't: one hole does not spoil a whole table."""
    if not len(features):
        raise InputError(f"{path} has no rows")
    if any(kind.kind not in "biuf" for kind in features.dtypes):
        as_matrix(features, what=path)  # which says what is no number, and where
    points = features.to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        too_large = (np.abs(points) > LARGEST_VALUE).any(axis=1)
    reasons = np.full(len(points), "", dtype=object)
    reasons[too_large] = "a value is too large"
    reasons[np.isnan(points).any(axis=1)] = "a value is missing"
    return points, reasons == "", reasons


def _fitted(features: FloatArray, positive: pd.Series[bool], options: argparse.Namespace) -> RescaleInvariantSVC:
    model = RescaleInvariantSVC(
        scale_range=_scale_range(options.scale_range),
        engine=options.engine,
        time_limit=options.time_limit,
        inconsistent=options.inconsistent,
        n_jobs=-1,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LeftOutWarning)
        model.fit(features, positive.to_numpy(dtype=bool))
    for warning in caught:
        if isinstance(warning.message, LeftOutWarning):
            print(f"note: {warning.message}")
    return model


def _decided(model: RescaleInvariantSVC, points: FloatArray, options: argparse.Namespace) -> Verdicts:
    """The verdicts, with proofs if they are wished for."""
    if not len(points):
        raise InputError(f"{options.test} has no row without a missing or too large value")
    if options.proof is not None:
        folder = Path(options.proof)
        engine = model.engine_.engine
        if not isinstance(engine, ComplexEngine):
            raise InputError(f"--proof: the engine {model.engine_} can't prove strong verdicts; --engine complex can")
        proof = _writing(lambda: engine.prove(folder / COMPLEX_FILE), folder)
        print(
            f"the complex is complete: {proof.n_vertices:,} vertices, checked exactly "
            f"({proof.n_bytes:,} bytes; {proof.n_corrected} edges corrected)"
        )
        verdicts: Verdicts = _writing(lambda: model.certify(points).prove(folder / CERTIFICATES_FILE), folder)
        return verdicts
    verdicts = model.certify(points)
    if options.certificates is not None:
        verdicts = _writing(lambda: verdicts.prove(options.certificates), options.certificates)
    return verdicts


def _writing(work: Callable[[], Any], where: Any) -> Any:
    try:
        return work()
    except OSError as error:
        raise InputError(f"{where} can't be written: {error.strerror or error}") from error


def _with_unusable(
    verdicts: Verdicts, points: FloatArray, usable: npt.NDArray[np.bool_], reasons: npt.NDArray[Any]
) -> Verdicts:
    """The verdicts of all points: UNKNOWN where they could not be judged."""
    if usable.all():
        return verdicts
    code = np.full(len(points), Verdict.UNKNOWN, dtype=np.int8)
    lower, upper = np.full((2, len(points)), np.nan)
    status = np.full(len(points), "", dtype=object)
    why = reasons.copy()
    for whole, part in (
        (code, verdicts.code),
        (lower, verdicts.lower),
        (upper, verdicts.upper),
        (status, verdicts.status),
        (why, verdicts.reason),
    ):
        whole[usable] = part
    return replace(verdicts, code=code, lower=lower, upper=upper, status=status, reason=why, points=points)


def _result(verdicts: Verdicts, test: pd.DataFrame, labels: npt.NDArray[Any], keep: list[str]) -> pd.DataFrame:
    """One row a point: its number, the columns to keep, the plain SVM's label, the verdict."""
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
    except ValueError as error:
        raise InputError(
            f"--scale-range {text}: a number (2), a pair ([0.5, 2]) or one pair a feature ([[1, 1], …]) is needed"
        ) from error
