"""Draws docs/regions.png, the picture of the README: the paper's example in the plane and its three regions.

python -m benchmarks.picture
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rescaleinv import RescaleInvariantSVC, minimal_norm_svm
from rescaleinv.plotting import RegionsDisplay

ROWS, LABELS, POINT = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4]]
LOW, HIGH = -2.2, 6.2


def main() -> None:
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
    path = Path(__file__).parent.parent / "docs" / "regions.png"
    display.figure_.savefig(path, dpi=110)
    print(path.name, "written")


if __name__ == "__main__":
    main()
