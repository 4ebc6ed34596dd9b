"""The figures of the paper's tables: the paper's shares beside ours, and the share certified against the factor κ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from benchmarks.paper.cautious import CONFORMAL, RAW, SOFT, STANDARDISED, STRONG

# distinguishable by colour-blind people (Okabe and Ito)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
STYLES = {RAW: ("-", COLOURS[0]), STANDARDISED: ("--", COLOURS[2]), SOFT: (":", "black"), CONFORMAL: ("", COLOURS[4])}
TITLES = {
    "breast_cancer_wisconsin": "Breast cancer (9 features)",
    "pima_diabetes": "Pima diabetes (8)",
    "blood_transfusion": "Blood transfusion (4)",
    "indian_liver_patient": "Indian liver patient (10)",
    "fertility": "Fertility (9)",
    "banknote": "Banknote (4)",
}


def neutral_shares(rules: dict[str, Any], path: Path) -> None:
    """Each benchmark's neutral share: the paper's one draw, and the mean and range of ours for each rule."""
    figure, axes = plt.subplots(figsize=(11, 4.2), layout="constrained")
    for k, (rule, found) in enumerate(rules.items()):
        shares = [one["figures"]["neutral share"] for one in found["benchmarks"]]
        at = np.arange(len(shares)) + 0.22 * (k - 1)
        means = np.array([share["mean"] for share in shares])
        spread = np.abs(np.array([[share["least"], share["largest"]] for share in shares]).T - means)
        axes.errorbar(
            at, means, spread, fmt="os^"[k], ms=4, lw=1, color=COLOURS[k], label=f'rule "{rule}": mean and range'
        )
    benchmarks = next(iter(rules.values()))["benchmarks"]
    paper = [one["figures"]["neutral share"]["paper"] for one in benchmarks]
    axes.scatter(np.arange(len(paper)), paper, marker="_", s=500, color="black", zorder=3, label="the paper's draw")
    axes.set_xticks(np.arange(len(paper)), [one["number"] for one in benchmarks])
    axes.set(xlabel="benchmark", ylabel="neutral test points (%)", ylim=(-2, 102))
    axes.legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.12), frameon=False)
    _save(figure, path)


def cautious(by_data_set: dict[str, Any], path: Path) -> None:
    """Accuracy, PPV and NPV against coverage, one column per data set."""
    names = ("accuracy", "PPV", "NPV")
    figure, grid = plt.subplots(
        len(names), len(by_data_set), figsize=(2.7 * len(by_data_set) + 0.6, 7.4), sharex=True, squeeze=False
    )
    for column, (data_set, ways) in enumerate(by_data_set.items()):
        for row, name in enumerate(names):
            axes = grid[row, column]
            for way, (line, colour) in STYLES.items():
                if way in ways:
                    marker = {} if line else {"marker": "D", "ms": 4, "ls": ""}
                    axes.plot(
                        ways[way]["coverage"], ways[way][name], color=colour, label=way, **({"ls": line} | marker)
                    )
            strong = ways[STRONG]
            axes.scatter(strong["coverage"], strong[name], marker="*", s=150, color=COLOURS[1], zorder=4, label=STRONG)
            axes.grid(alpha=0.3)
            if row == 0:
                axes.set_title(TITLES[data_set], fontsize=10)
            if column == 0:
                axes.set_ylabel(name)
            axes.set_xlim(0, 1.02)
        grid[-1, column].set_xlabel("share of points decided")
    figure.legend(*_all_labels(grid), ncols=5, loc="upper center", frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    _save(figure, path)


def _all_labels(grid: Any) -> tuple[list[Any], list[str]]:
    found: dict[str, Any] = {}
    for handle, label in zip(*grid[0, 0].get_legend_handles_labels(), strict=True):
        found.setdefault(label, handle)
    return list(found.values()), list(found)


def radius(curves: dict[str, Any], path: Path) -> None:
    """One curve per data set; beyond the break, the share that holds under all rescalings."""
    figure, (axes, end) = plt.subplots(1, 2, figsize=(8.4, 4.6), width_ratios=(8, 1), sharey=True, layout="constrained")
    factors = curves["factors"]
    for colour, (name, found) in zip(COLOURS, curves["data sets"].items(), strict=False):
        axes.plot(factors, found["certified"], color=colour, label=TITLES[name])
        axes.fill_between(factors, found["certified"], found["not refuted"], color=colour, alpha=0.2, lw=0)
        end.plot([0], [found["certified for all rescalings"]], "o", color=colour)
    axes.set(xscale="log", xlim=(1, factors[-1]), ylim=(0, 1.02))
    axes.set(xlabel="κ: every factor in [1/κ, κ]", ylabel="share of test points whose label is certified")
    end.set(xticks=[0], xticklabels=["all\nrescalings"], xlim=(-1, 1))
    for one in (axes, end):
        one.grid(alpha=0.3)
    axes.legend(fontsize=8)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=110)
    plt.close(figure)
