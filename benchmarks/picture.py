"""Draws docs/regions.png, the picture of the README: the paper's example in the plane and its three regions.

python benchmarks/picture.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from rescaleinv.engines.complex import ComplexEngine
from rescaleinv.problem import FloatArray, TrainingSet
from rescaleinv.svm import minimal_norm_svm

ROWS, LABELS = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]
LOW, HIGH = -2.2, 6.2
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#f2f2f2"  # told apart by the colour-blind, and in grey


def clipped(polygon: FloatArray, normal: FloatArray, offset: float) -> FloatArray:
    """The part of a convex polygon where normal·x + offset >= 0."""
    values = polygon @ normal + offset
    corners = []
    for k in range(len(polygon)):
        here, there = values[k - 1], values[k]
        if here * there < 0:
            share = here / (here - there)
            corners.append(polygon[k - 1] + share * (polygon[k] - polygon[k - 1]))
        if there >= 0:
            corners.append(polygon[k])
    return np.array(corners).reshape(-1, 2)


def main() -> None:
    training_set = TrainingSet(ROWS, LABELS)
    engine = ComplexEngine(training_set)
    conditioning = training_set.conditioning
    lines = [conditioning.weights_to_original(v[:-1], v[-1]) for v in engine.vertices.solutions]
    box = np.array([[LOW, LOW], [HIGH, LOW], [HIGH, HIGH], [LOW, HIGH]])
    figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    axes.set_facecolor(GREY)
    for side, colour, where, text in (
        (1, BLUE, (4.2, 2.6), "positive,\nwhatever the scaling"),
        (-1, ORANGE, (0.0, -1.0), "negative,\nwhatever the scaling"),
    ):
        region = box
        for weights, intercept in lines:
            region = clipped(region, side * weights, side * intercept)
        axes.fill(*region.T, color=colour, alpha=0.3, lw=0)
        axes.text(*where, text, ha="center", va="center", color=colour, fontsize=12)
    for place, turn in (((-1.75, 4.75), -45), ((4.75, -1.75), -45)):
        axes.text(*place, "neutral", ha="center", va="center", fontsize=11, color="0.25", rotation=turn)
    x = np.linspace(LOW, HIGH, 2)
    for tau, style in (((1, 1), "-"), ((5, 1), "--"), ((1, 5), ":")):
        svm = minimal_norm_svm(training_set, rescaling=tau)
        y = -(svm.weights[0] * x + svm.intercept) / svm.weights[1]
        axes.plot(x, y, style, color="black", lw=1.3, label=f"SVM with the features times {tau}")
    for sign, marker, colour in ((1, "o", BLUE), (-1, "s", ORANGE)):
        points = training_set.features[training_set.signs == sign]
        name = "positive" if sign > 0 else "negative"
        axes.scatter(
            *points.T, marker=marker, s=60, color=colour, edgecolor="black", zorder=3, label=f"{name} training point"
        )
    axes.scatter(
        -1, 4, marker="*", s=150, color="white", edgecolor="black", zorder=4, label="the point (-1, 4): neutral"
    )
    axes.set(xlim=(LOW, HIGH), ylim=(LOW, HIGH), xlabel="feature 1", ylabel="feature 2", aspect="equal")
    axes.legend(loc="upper right", fontsize=8, framealpha=0.95)
    path = Path(__file__).parent.parent / "docs" / "regions.png"
    figure.savefig(path, dpi=110)
    print(path.name, "written")


if __name__ == "__main__":
    main()
