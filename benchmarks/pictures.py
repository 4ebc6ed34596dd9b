"""Draws the pictures of the README and of the page "Why it matters", and measures what that page tells.

python -m benchmarks.pictures             all of them (some minutes); writes results/pictures.json
python -m benchmarks.pictures --quick     only those that take seconds; the stored results are not touched

docs/regions.png: the paper's example in the plane and its three regions. docs/units.png: the decision values of urine
specimens in two systems of units, with their verdicts. docs/causes.png: why labels change after StandardScaler, from
results/causes.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.common import RESULTS, quick_flag, write_result
from rescaleinv import RescaleInvariantSVC, Verdict, minimal_norm_svm
from rescaleinv.datasets import load
from rescaleinv.plotting import RegionsDisplay
from rescaleinv.plotting.style import LOOKS, as_percent, legend_above

DOCS = Path(__file__).parents[1] / "docs"

ROWS, LABELS, POINT = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4]]
LOW, HIGH = -2.2, 6.2
# mOsm to Osm, urea from mmol/l to g/l, calcium from mmol/l to mg/dl
OTHER_UNITS = {"osmolarity_mosm": 0.001, "urea_mmol_l": 0.06006, "calcium_mmol_l": 4.0078}
FACTORS = (1.1, 2, 4)
SECONDS_PER_POINT = 60
# cause -> colour and hatch; light to dark, so that greys tell them apart too
CAUSES = {
    "solver": ("#fee0b6", ""),
    "intercept": ("#fdb863", "\\\\"),
    "C": ("#8a8a8a", ".."),
    "margin": ("#08458c", ""),
}
SHOWN = ("urine", "penguins", "pima_diabetes", "bupa_liver", "wine 0/1", "sonar")


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


def story() -> dict[str, Any]:
    """The SVM of every other specimen, asked about the rest: labels in two systems of units, and verdicts."""
    features, labels, names = load("urine")
    train, test = slice(0, None, 2), slice(1, None, 2)
    factors = np.array([OTHER_UNITS.get(name, 1.0) for name in names])
    model = RescaleInvariantSVC(nu="auto", time_limit=SECONDS_PER_POINT).fit(features[train], labels[train])
    other = RescaleInvariantSVC(nu="auto").fit(features[train] * factors, labels[train])
    here = model.decision_function(features[test])
    there = other.decision_function(features[test] * factors)
    changed = (here >= 0) != (there >= 0)
    verdicts = model.certify(features[test])
    held = {}
    for factor in FACTORS:
        limited = RescaleInvariantSVC(nu="auto", scale_range=factor, time_limit=SECONDS_PER_POINT)
        found = limited.fit(features[train], labels[train]).certify(features[test])
        held[str(factor)] = {"hold": int(found.strong.sum()), "unknown": int(found.unknown.sum())}
    return {
        "training rows": len(labels[train]),
        "points": len(here),
        "margin": model.margin_,
        "another label": int(changed.sum()),
        "strongly positive": int(verdicts.strongly_positive.sum()),
        "strongly negative": int(verdicts.strongly_negative.sum()),
        "neutral": int(verdicts.neutral.sum()),
        "unknown": int(verdicts.unknown.sum()),
        "strong and another label": int((verdicts.strong & changed).sum()),
        "labels that hold up to a factor": held,
        "here": here.tolist(),
        "there": there.tolist(),
        "codes": verdicts.code.tolist(),
    }


def units(found: dict[str, Any]) -> None:
    """Each specimen's decision value in the units of the table and in others, marked by its verdict."""
    here, there, codes = (np.array(found[name]) for name in ("here", "there", "codes"))
    figure, axes = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    for kind, text in (
        (Verdict.STRONGLY_NEGATIVE, "no crystals, whatever the units"),
        (Verdict.STRONGLY_POSITIVE, "crystals, whatever the units"),
        (Verdict.NEUTRAL, "neutral"),
        (Verdict.UNKNOWN, "not decided"),
    ):
        some, look = codes == kind, LOOKS[kind]
        if some.any():
            edge = {} if look.marker == "x" else {"ec": "black", "lw": 0.3}
            label = f"{text} ({some.sum()})"
            axes.scatter(here[some], there[some], s=30, marker=look.marker, c=look.colour, label=label, **edge)
    changed = (here >= 0) != (there >= 0)
    rings = {"s": 110, "facecolors": "none", "edgecolors": "black", "lw": 0.9}
    axes.scatter(here[changed], there[changed], label=f"another diagnosis ({changed.sum()})", **rings)
    axes.axhline(0, color="black", lw=0.8)
    axes.axvline(0, color="black", lw=0.8)
    axes.set(
        xlabel="decision value with mOsm, mmol/l of urea and of calcium",
        ylabel="decision value with Osm, g/l of urea, mg/dl of calcium",
    )
    legend_above(axes)
    figure.savefig(DOCS / "units.png", dpi=110)


def causes() -> None:
    """For some data sets, how many labels of two SVMs StandardScaler changes, by cause."""
    content = json.loads((RESULTS / "causes.json").read_text(encoding="utf-8"))
    rows = {row["data"]: row for row in content["results"]["rows"]}
    figure, both = plt.subplots(1, 2, figsize=(8.6, 3.6), sharex=True, sharey=True, layout="constrained")
    for axes, svm in zip(both, ("LinearSVC", "SVC"), strict=True):
        left = np.zeros(len(SHOWN))
        for cause, (colour, hatch) in CAUSES.items():
            widths = np.array([rows[name][f"{svm}, {cause}"] for name in SHOWN])
            axes.barh(SHOWN, widths, left=left, color=colour, hatch=hatch, ec="black", lw=0.4, label=cause)
            left += widths
        axes.xaxis.set_major_formatter(as_percent)
        axes.set(title=f"{svm}, raw against StandardScaler", xlabel="labels that change")
        axes.spines[["top", "right"]].set_visible(False)
    both[0].invert_yaxis()
    figure.legend(*both[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(CAUSES), frameon=False)
    figure.savefig(DOCS / "causes.png", dpi=110)


def main() -> None:
    quick = quick_flag(__doc__)
    regions()
    causes()
    if not quick:
        found = story()
        units(found)
        write_result("pictures", found)
        print({name: value for name, value in found.items() if name not in ("here", "there", "codes")})


if __name__ == "__main__":
    main()
