"""How verdicts look in every picture, and where a picture is drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

from rescaleinv.errors import InputError
from rescaleinv.verdict import Verdict


class Look(NamedTuple):
    """Colour, hatch and marker of a verdict."""

    colour: str
    hatch: str
    marker: str


# Colour-blind people can distinguish blue and orange; dark, light and middle can be distinguished in greyscale.
LOOKS = {
    Verdict.STRONGLY_POSITIVE: Look("#08458c", "//", "o"),
    Verdict.STRONGLY_NEGATIVE: Look("#fdb863", "\\\\", "s"),
    Verdict.NEUTRAL: Look("#8a8a8a", "", "D"),
    Verdict.UNKNOWN: Look("#f2f2f2", "..", "x"),
}
INK = "#222222"
DARK_ORANGE = "#c65102"  # for thin lines, for which the light one is too pale


def axes_for(ax: Any, size: tuple[float, float]) -> Any:
    """The axes that were given, or those of a new figure whose layout cuts nothing off."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise InputError('pictures need matplotlib: pip install "rescaleinv[plot]"') from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def legend_above(ax: Any, columns: int = 2, **options: Any) -> None:
    """A legend that hides no data; it ends where the axes end, and may reach over the names at their left."""
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    ax.legend(ncols=columns, fontsize=8, frameon=False, **place, **options)


def as_percent(value: float, _: Any = None) -> str:
    """The text of a tick of an axis of shares.

    >>> as_percent(0.975), as_percent(0.5)
    ('97.5%', '50%')
    """
    return f"{100 * value:.3g}%"


def shortened(text: str, most: int = 24) -> str:
    """A name that leaves room for the picture; matplotlib would read dollar signs as formulas."""
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("$", r"\$")
