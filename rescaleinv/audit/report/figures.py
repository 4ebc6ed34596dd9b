"""The pictures of the page, each as a separate SVG that no name in the data can break out of."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from rescaleinv.audit.displays import FeatureShareDisplay, ScalingsDisplay
from rescaleinv.audit.result import Audit
from rescaleinv.plotting import CertifiedShareDisplay, CoverageDisplay, IntervalsDisplay

# Inches: narrow enough for the text to be readable on a phone.
_WIDTH = 5.0


class Picture(NamedTuple):
    """An image as a data address, its caption, and how to read it."""

    source: str
    caption: str
    reading: str


def figures(audit: Audit) -> list[Picture]:
    """All the pictures that this audit has something to show in."""
    return [Picture(_drawn(draw, height), caption, reading) for draw, height, caption, reading in _pictures(audit)]


def _pictures(audit: Audit) -> Iterator[tuple[Callable[[Any], Any], float, str, str]]:
    n_scalings, n_features = int(audit.usable.sum()), min(len(audit.feature_names), 20)
    yield (
        lambda ax: IntervalsDisplay.from_verdicts(audit.verdicts, audit.values, ax=ax),
        3.6,
        "What all rescalings together can do",
        "Each upright line is one of the test rows: the range of its decision value over all rescalings. A line that "
        "crosses zero is neutral: some rescalings put it on one side, some on the other.",
    )
    yield (
        lambda ax: FeatureShareDisplay.from_audit(audit, ax=ax),
        1.7 + 0.42 * n_features,
        "What single features do",
        "Dark bars: labels that change when this feature alone is recorded in other units. Light bars: how many would be "
        "neutral if it were left out; no bar where the classes can't be separated without it. Grey bars, if there are any: "
        "labels that change when all units are a little off, but not when this one is right.",
    )
    yield (
        lambda ax: ScalingsDisplay.from_audit(audit, ax=ax),
        1.3 + 0.3 * n_scalings,
        "What the usual scalings do",
        "Each column is one of the test rows, each line per scaling. A column of one colour gets the same label from all of "
        "them. Within the strong verdicts no rescaling may break the colour; a logarithm, which is none, may.",
    )
    if audit.limited is not None and len(audit.limited.asked):
        known = audit.limited.radius[audit.limited.sample]
        yield (
            lambda ax: CertifiedShareDisplay.from_radius(known, ax=ax),
            3.6,
            "How wrong the units may be",
            "The share of labels that hold when every feature may be off by a factor of up to κ.",
        )
    known_truth = np.array([label is not None for label in audit.truth])
    if audit.report is not None and known_truth.sum() > 1:
        yield (
            lambda ax: CoverageDisplay.from_predictions(
                audit.truth[known_truth],
                audit.verdicts[known_truth],
                audit.values[known_truth],
                classes=audit.class_names,
                ax=ax,
            ),
            3.9,
            "What silence buys",
            "The large marks are the strong verdicts. The lines are the plain SVM if it is silent about the rows nearest to "
            "its hyperplane. PPV: share of the positive labels that are right; NPV: of the negative ones.",
        )


def _drawn(draw: Callable[[Any], Any], height: float) -> str:
    # a fixed salt and no date: the same audit is the same bytes
    with rc_context({"svg.hashsalt": "rescaleinv", "font.size": 9.5}):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(figure.add_subplot())
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", dpi=200, metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode()}"
