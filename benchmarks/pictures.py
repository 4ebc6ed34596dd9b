"""Draws the pictures of the README and of the page "Why it matters", from shipped data.

python -m benchmarks.pictures

docs/regions.png: the paper's example in the plane and its three regions. docs/units.png: the decision values of 668 women in
two systems of units.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from rescaleinv import RescaleInvariantSVC, Verdict, minimal_norm_svm
from rescaleinv.datasets import load
from rescaleinv.errors import LeftOutWarning
from rescaleinv.plotting import RegionsDisplay
from rescaleinv.plotting.style import LOOKS, legend_above

DOCS = Path(__file__).parents[1] / "docs"

ROWS, LABELS, POINT = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4]]
LOW, HIGH = -2.2, 6.2
# mg/dl to mmol/l, mmHg to kPa, µU/ml to pmol/l
OTHER_UNITS = {"glucose": 0.0555, "blood_pressure": 0.1333, "insulin": 6.0}


def regions() -> None:
    """The plane in three regions, and three SVMs."""
    clf = RescaleInvariantSVC().fit(ROWS, LABELS)
    display = RegionsDisplay.from_estimator(clf, POINT, limits=[(LOW, HIGH)] * 2)
    axes, x = display.ax_, np.array([LOW, HIGH])
    for tau, style in (((1, 1), "-"), ((5, 1), "-."), ((1, 5), ":")):
        svm = minimal_norm_svm(clf.training_set_, rescaling=tau)
        y = -(svm.weights[0] * x + svm.intercept) / svm.weights[1]
        axes.plot(x, y, style, color="black", lw=1.3, label=f"SVM, features times {tau}")
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    for where, text in (
        ((4.2, 3.4), "positive,\nwhatever the scaling"),
        ((0.0, -0.9), "negative,\nwhatever the scaling"),
        ((-1.4, 3.3), "neutral"),
        ((4.9, -1.85), "neutral"),
    ):
        axes.text(*where, text, ha="center", va="center", fontsize=11, bbox=box)
    axes.set(aspect="equal", xlabel="feature 1", ylabel="feature 2")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8, frameon=False)
    display.figure_.set_size_inches(7.6, 5.2)
    display.figure_.savefig(DOCS / "regions.png", dpi=110)


def units() -> None:
    """Each woman's decision value in the units of the laboratory and in others, marked by her verdict."""
    features, labels, names = load("pima_diabetes")
    with warnings.catch_warnings(action="ignore", category=LeftOutWarning):
        clf = RescaleInvariantSVC(inconsistent="drop").fit(features[:100], labels[:100])
    others = features[100:]
    factors = np.array([OTHER_UNITS.get(name, 1.0) for name in names])
    here = clf.decision_function(others)
    there = minimal_norm_svm(clf.training_set_, rescaling=factors).decision_function(others)
    verdicts = clf.certify(others)
    figure, axes = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    for kind, text in (
        (Verdict.STRONGLY_NEGATIVE, "strongly negative"),
        (Verdict.STRONGLY_POSITIVE, "strongly positive"),
        (Verdict.NEUTRAL, "neutral"),
    ):
        some, look = verdicts.code == kind, LOOKS[kind]
        label = f"{text} ({some.sum()})"
        axes.scatter(here[some], there[some], s=16, marker=look.marker, c=look.colour, ec="black", lw=0.3, label=label)
    changed = (here >= 0) != (there >= 0)
    rings = {"s": 70, "facecolors": "none", "edgecolors": "black", "lw": 0.8}
    axes.scatter(here[changed], there[changed], label=f"another diagnosis ({changed.sum()})", **rings)
    axes.axhline(0, color="black", lw=0.8)
    axes.axvline(0, color="black", lw=0.8)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_yscale("symlog", linthresh=1)
    axes.set(xlabel="decision value, mg/dl, mmHg and µU/ml", ylabel="decision value, mmol/l, kPa and pmol/l")
    legend_above(axes)
    figure.savefig(DOCS / "units.png", dpi=110)


def main() -> None:
    regions()
    units()
    print("regions.png and units.png written")


if __name__ == "__main__":
    main()
