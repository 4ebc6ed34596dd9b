"""An audit as JSON, for programs: what the page shows to people. ``audit.schema.json``, next to this file, specifies it."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from rescaleinv.verdict import verdict_words

if TYPE_CHECKING:
    from rescaleinv.audit.result import Audit

VERSION = 1


def audit_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of :meth:`~rescaleinv.Audit.to_json`.

    Returns
    -------
    dict

    Examples
    --------
    >>> audit_schema()["title"]
    'An audit by rescaleinv'
    """
    text = files("rescaleinv.audit").joinpath("audit.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def audit_document(audit: Audit) -> dict[str, Any]:
    """What :meth:`~rescaleinv.Audit.to_json` writes, as a dict: numbers, texts, lists, no nan and no infinity."""
    from rescaleinv import __version__

    answer, consistency = audit.answer, audit.consistency
    return {
        "format": "rescaleinv audit",
        "version": VERSION,
        "rescaleinv": __version__,
        "margin": audit.margin,
        "training_rows": audit.model.training_set_.n_rows,
        "rows_left_out": plain(audit.model.dropped_),
        "noun": audit.noun,
        "classes": {"negative": str(audit.class_names[0]), "positive": str(audit.class_names[1])},
        "answer": None if answer is None else {**plain(vars(answer)), "open": answer.open, "text": str(answer)},
        "findings": [
            {"topic": one.topic, "text": one.text, "alarm": bool(one.alarm), "numbers": plain(one.numbers)}
            for one in audit.findings
        ],
        "features": _features(audit),
        "scalings": [
            {"name": one.name, "kind": one.kind, "note": one.note, "has_labels": one.values is not None}
            for one in audit.scalings
        ],
        "points": [_point(audit, i) for i in range(len(audit))],
        "consistency": {
            "rescalings": consistency.n_rescalings,
            "labels": consistency.n_labels,
            "contradictions": [{"rescaling": name, "point": i} for name, i in consistency.contradictions],
        },
        "notes": [str(note) for note in audit.notes],
    }


def _features(audit: Audit) -> list[dict[str, Any]]:
    at_rest = audit.at_rest if len(audit.at_rest) else np.zeros(len(audit.feature_names), dtype=bool)
    records = audit.features.to_dict("records")
    return [
        {
            "name": str(name),
            "not_rescaled": bool(rests),
            "alone": plain(record["alone"]),
            "neutral_without": plain(record["neutral without"]),
            "fixed": plain(record["fixed"]),
            "note": record["note"],
        }
        for name, rests, record in zip(audit.feature_names, at_rest, records, strict=True)
    ]


def _point(audit: Audit, i: int) -> dict[str, Any]:
    verdicts, radius = audit.verdicts, None if audit.radius is None else audit.radius[i]
    truth = audit.truth[i]
    return {
        "name": str(audit.point_names[i]),
        "truth": None if truth is None else str(truth),
        "verdict": verdict_words(int(verdicts.code[i])),
        "lower": plain(verdicts.lower[i]),
        "upper": plain(verdicts.upper[i]),
        "value": plain(audit.values[i]),
        "radius": None
        if radius is None or np.isnan(radius).any()
        else {"certified": plain(radius[0]), "refuted": plain(radius[1])},
        "labels": [audit.class_name(int(sign)) or None for sign in audit.signs[:, i]],
        "changed_by": audit.changed_by(i),
    }


def plain(value: Any) -> Any:
    """As JSON has it: no arrays, keys that are texts, null for nan, "inf" and "-inf" for numbers without end.

    >>> plain({"shares": np.array([0.5, np.nan]), 2: (np.int64(1), np.inf, True)})
    {'shares': [0.5, None], '2': [1, 'inf', True]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value if value is None or isinstance(value, bool | int | float) else str(value)
