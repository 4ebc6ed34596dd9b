"""``rescaleinv certify``: a training table and a test table in, verdicts, figures and proofs out."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from rescaleinv.classifier import RescaleInvariantSVC
from rescaleinv.engines.complex import ComplexEngine
from rescaleinv.errors import InputError, LeftOutWarning
from rescaleinv.metrics import strong_report
from rescaleinv.tables import check_table_name, features_and_label, matching_columns, read_table, write_table
from rescaleinv.verdict import Verdicts

COMPLEX_FILE, CERTIFICATES_FILE = "complex.jsonl", "certificates.jsonl"


def run_certify(options: argparse.Namespace) -> None:
    """Judge the rows of TEST under the rescalings of the features of TRAIN."""
    if options.out is not None:
        check_table_name(options.out)  # before the work, not after it
    features, labels = features_and_label(read_table(options.train), options.label, options.train)
    test = read_table(options.test)
    points = matching_columns(test, list(features.columns), options.test)
    if options.report and options.label not in test.columns:
        raise InputError(f"--report: {options.test} has no column {options.label!r} with the true classes")
    classes = _classes(labels, options.positive)
    model = RescaleInvariantSVC(
        scale_range=_scale_range(options.scale_range),
        engine=options.engine,
        time_limit=options.time_limit,
        inconsistent=options.inconsistent,
        n_jobs=-1,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LeftOutWarning)
        model.fit(features, labels == classes[1])
    for warning in caught:
        if isinstance(warning.message, LeftOutWarning):
            print(f"note: {warning.message}")
    print(
        f"{len(model.training_set_)} training rows, {classes[1]} is positive; engine {model.engine_}: {model.engine_.reason}"
    )
    verdicts = model.certify(points)
    if options.proof is not None:
        verdicts = _proved(model, points, _folder(options.proof))
    elif options.certificates is not None:
        verdicts = _writing(lambda: verdicts.prove(options.certificates), options.certificates)
    print(verdicts.summary())
    if options.label in test.columns:
        baseline = [classes[int(positive)] for positive in model.predict(points)]
        print(strong_report(test[options.label], verdicts, baseline, classes=classes))
    if options.out is not None:
        write_table(verdicts.to_frame(), options.out)
    if options.proof is not None:
        folder = Path(options.proof)
        print(f"check it yourself: rescaleinv verify {folder / COMPLEX_FILE} {folder / CERTIFICATES_FILE}")


def _proved(model: RescaleInvariantSVC, points: Any, folder: Path) -> Verdicts:
    """The verdicts, each proved; the certificates are in the folder."""
    engine = model.engine_.engine
    if not isinstance(engine, ComplexEngine):
        raise InputError(f"--proof: the engine {model.engine_} can't prove strong verdicts; --engine complex can")

    def prove() -> Verdicts:
        proof = engine.prove(folder / COMPLEX_FILE)
        print(
            f"the complex is complete: {proof.n_vertices:,} vertices, checked exactly "
            f"({proof.n_bytes:,} bytes; {proof.n_corrected} edges corrected)"
        )
        return model.certify(points).prove(folder / CERTIFICATES_FILE)

    return _writing(prove, folder)


def _writing(work: Any, where: Any) -> Verdicts:
    try:
        verdicts: Verdicts = work()
    except OSError as error:
        raise InputError(f"{where} can't be written: {error.strerror or error}") from error
    return verdicts


def _classes(labels: Any, text: str | None) -> tuple[Any, Any]:
    """The negative and the positive label; which one is positive may be told by its text."""
    values = sorted(labels.dropna().unique().tolist())
    if len(values) != 2:
        shown = ", ".join(map(str, values[:8])) + (", …" if len(values) > 8 else "")
        raise InputError(f"the label has {len(values)} different values ({shown}); two are needed")
    if labels.isna().any():
        raise InputError(f"the label is missing in row {int(labels.isna().argmax())}")
    if text is None:
        return values[0], values[1]
    for k, value in enumerate(values):
        if str(value) == text:
            return values[1 - k], value
    raise InputError(f"--positive {text}: the labels are {values[0]} and {values[1]}")


def _scale_range(text: str | None) -> Any:
    """A number, a pair, or pairs by the feature's name, as JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(
            f'--scale-range {text}: a number (2), a pair ([0.5, 2]) or pairs by name ({{"age": [1, 1], …}}) is needed'
        ) from error


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be used as a folder: {error.strerror or error}") from error
    return folder
