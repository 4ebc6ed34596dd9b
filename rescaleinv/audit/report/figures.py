"""The pictures of the page, each as an SVG element in the colours of the page; names in the data are drawn, not text."""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from rescaleinv.audit.displays import CausesDisplay, FeatureShareDisplay, ScalingsDisplay
from rescaleinv.audit.result import Audit
from rescaleinv.plotting import CertifiedShareDisplay, CoverageDisplay, IntervalsDisplay
from rescaleinv.plotting.style import DARK_ORANGE, INK, LOOKS
from rescaleinv.verdict import Verdict

# Inches: narrow enough for the text to be readable on a phone.
_WIDTH = 4.1


# Colours become those of the page, so that pictures are dark where the page is.
_COLOURS = {
    LOOKS[Verdict.STRONGLY_POSITIVE].colour: "var(--positive)",
    LOOKS[Verdict.STRONGLY_NEGATIVE].colour: "var(--negative)",
    LOOKS[Verdict.NEUTRAL].colour: "var(--neutral)",
    LOOKS[Verdict.UNKNOWN].colour: "var(--unknown)",
    DARK_ORANGE: "var(--warn-line)",
    INK: "currentColor",
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#cccccc": "var(--line)",
}


class Picture(NamedTuple):
    """A drawing as an SVG element of the page, its caption, and how to read it."""

    drawing: str
    caption: str
    reading: str


def figures(audit: Audit) -> list[Picture]:
    """All the pictures that this audit has something to show in."""
    return [
        Picture(_drawn(draw, height, f"{caption}. {reading}"), caption, reading)
        for draw, height, caption, reading in _pictures(audit)
    ]


def _pictures(audit: Audit) -> Iterator[tuple[Callable[[Any], Any], float, str, str]]:
    n_scalings, n_features = int(audit.usable.sum()), min(len(audit.feature_names), 20)
    if audit.limited is not None and len(audit.limited.asked):
        known = audit.limited.radius[audit.limited.sample]
        yield (
            lambda ax: CertifiedShareDisplay.from_radius(known, ax=ax),
            3.6,
            "How wrong the units may be",
            "The share of labels that hold when every feature may be off by a factor of up to κ.",
        )
    if np.isfinite(audit.verdicts.lower).any():
        yield (
            lambda ax: IntervalsDisplay.from_verdicts(audit.verdicts, audit.values, ax=ax),
            3.6,
            "What all rescalings together can do",
            f"Each upright line is one of the {audit.noun}: the range of its decision value over all rescalings. A line "
            "that crosses zero depends on the scaling: some rescalings put it on one side, some on the other.",
        )
    if np.nan_to_num(audit.features[["alone", "neutral without", "fixed"]].to_numpy(dtype=float)).any():
        yield (
            lambda ax: FeatureShareDisplay.from_audit(audit, ax=ax),
            1.7 + 0.42 * n_features,
            "What single features do",
            "Labels that change when this feature alone is recorded in other units; how many would depend on the scaling if "
            "it were left out; and labels that change when all units are a little off, but not when this one is right. No "
            "bar: none, or not known.",
        )
    yield (
        lambda ax: ScalingsDisplay.from_audit(audit, ax=ax),
        1.3 + 0.3 * n_scalings,
        "What the usual scalings do",
        f"Each column is one of the {audit.noun}, each line a scaling. A column of one colour gets the same label from all "
        "of them. Where the verdict is one class, no rescaling may break the colour" + _others(audit),
    )
    causes = audit.diagnosis
    if causes is not None and any(pair.n_changed for pair in causes.pairs):
        yield (
            lambda ax: CausesDisplay.from_diagnosis(causes, ax=ax),
            1.8 + 0.3 * len(causes.pairs),
            "Why labels of ordinary SVMs change",
            'Each bar is a pair of scalers before SVC(kernel="linear"): the share of labels that differ, by cause. Only '
            "where the margin moved is it about scaling.",
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


def _others(audit: Audit) -> str:
    """Which of the lines of the scalings figure are not rescalings."""
    names = [scaling.name for scaling in audit.scalings if scaling.kind == "other"]
    if not names:
        return "."
    shown = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"; {shown} {'is not one' if len(names) == 1 else 'are not'}, and may."


def _drawn(draw: Callable[[Any], Any], height: float, described: str) -> str:
    # a fixed salt and no date: the same audit is the same bytes; no two pictures of a page share a name
    salt = hashlib.sha256(described.encode()).hexdigest()
    with rc_context({"svg.hashsalt": salt, "font.size": 9.5, "svg.fonttype": "path"}):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(figure.add_subplot())
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", dpi=200, transparent=True, metadata={"Date": None, "Creator": None})
    return _of_page(buffer.getvalue().decode(), described, salt[:8])


def _of_page(text: str, described: str, prefix: str) -> str:
    """The SVG element without its prologue, in the colours of the page, with names of its own, and described."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    for colour, name in _COLOURS.items():
        text = text.replace(colour, name)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-")
    opening, rest = text.split(">", 1)
    opening = re.sub(r' (width|height)="[^"]*"', "", opening)
    label = html.escape(described, quote=True)
    return f'{opening} role="img" aria-label="{label}" focusable="false">{rest}'.strip()
