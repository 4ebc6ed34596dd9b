"""``rescaleinv certify``: a training table and a test table in, verdicts and proofs out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rescaleinv.engines.complex import ComplexEngine
from rescaleinv.errors import InputError
from rescaleinv.problem import TrainingSet
from rescaleinv.separability import separable_subset
from rescaleinv.tables import features_and_label, matching_columns, read_table, write_table

COMPLEX_FILE, CERTIFICATES_FILE = "complex.jsonl", "certificates.jsonl"


def run_certify(options: argparse.Namespace) -> None:
    """Judge the rows of TEST under every rescaling of the features of TRAIN."""
    features, labels = features_and_label(read_table(options.train), options.label, options.train)
    points = matching_columns(read_table(options.test), list(features.columns), options.test)
    found = separable_subset(TrainingSet(features, labels, positive=_positive(labels, options.positive)))
    if len(found.dropped):
        rows = ", ".join(map(str, found.dropped[:8])) + (", …" if len(found.dropped) > 8 else "")
        print(f"no hyperplane separates the classes: {len(found.dropped)} training rows are left out ({rows})")
    engine = ComplexEngine(found.training_set, left_out=len(found.dropped))
    verdicts = engine.certify(points)
    if options.proof is not None:
        folder = _folder(options.proof)
        proof = engine.prove(folder / COMPLEX_FILE)
        print(
            f"the complex is complete: {proof.n_vertices:,} vertices, checked exactly "
            f"({proof.n_bytes:,} bytes, {proof.n_corrected} edges corrected)"
        )
        verdicts = engine.certify(points).prove(folder / CERTIFICATES_FILE)
    print(verdicts.summary())
    if options.out is not None:
        write_table(verdicts.to_frame(), options.out)
    if options.proof is not None:
        print(f"check it yourself: rescaleinv verify {folder / COMPLEX_FILE} {folder / CERTIFICATES_FILE}")


def _positive(labels: Any, text: str | None) -> Any:
    """The label that is written like that."""
    if text is None:
        return None
    values = labels.unique().tolist()
    matching = [value for value in values if str(value) == text]
    if not matching:
        raise InputError(f"--positive {text}: the labels are {', '.join(map(str, values[:8]))}")
    return matching[0]


def _folder(name: str) -> Path:
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be used as a folder: {error.strerror or error}") from error
    return folder
