"""Reproduces Bollegala & Iba: accuracy of the eighteen one-pass learners on heart, liver and diabetes, and their errors.

python -m benchmarks.scalings.online [--quick]

Needs heart_statlog.csv and bupa_liver.csv in RESCALEINV_DATA; --quick takes a part of the diabetes data, which ships.
"""

from __future__ import annotations

import itertools
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import RESULTS, print_table, quick_flag, write_result
from benchmarks.scalings.online_page import CURVES, draw, page
from benchmarks.scalings.online_printed import SIZES
from rescaleinv.datasets import load
from rescaleinv.online import LEARNERS, online_learner

SPLITS = 20
FILES = {"heart": "heart_statlog", "liver": "bupa_liver", "diabetes": "pima_diabetes"}
# the paper's values of λ, μ, ν, and of c
COEFFICIENTS = (0, 0.01, 0.1, 1, 10, 100)
COSTS = (0.01, 0.1, 1, 10, 100)


def grid(learner: str, coefficients: tuple[float, ...] = COEFFICIENTS) -> list[dict[str, float]]:
    """All combinations of the parameters of a learner; the first has no regularisation."""
    family = learner.removesuffix("+avg")
    names = {
        "SGD": ("l2",),
        "GN": ("l2",),
        "FS": ("l2_weights", "l2_slopes", "l2_offsets"),
        "FS-1": ("l2_weights", "l2_offsets"),
        "FS-2": ("l2_weights", "l2_slopes", "l2_offsets"),
        "FS-3": ("l2_slopes", "l2_offsets"),
        "PA": (),
    }
    if family in ("PA-I", "PA-II"):
        return [{"C": c} for c in sorted(COSTS, reverse=True)]
    return [
        dict(zip(names[family], values, strict=True))
        for values in itertools.product(coefficients, repeat=len(names[family]))
    ]


def splits(features: np.ndarray, labels: np.ndarray, n_test: int, count: int) -> list[tuple[np.ndarray, ...]]:
    """Random ones, with the training rows in random order."""
    found = []
    for seed in range(count):
        order = np.random.default_rng([seed, len(labels)]).permutation(len(labels))
        train, test = order[n_test:], order[:n_test]
        found.append((features[train], labels[train], features[test], labels[test]))
    return found


def accuracies(learner: str, parameters: dict[str, float], split: tuple[np.ndarray, ...]) -> tuple[float, float, bool]:
    """On the training rows and on the test rows after one pass, and whether steps were left out because they ran away."""
    X, y, T, labels = split
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # counted instead
        model = online_learner(learner, **parameters).fit(X, y)
    return float(np.mean(model.predict(X) == y)), float(np.mean(model.predict(T) == labels)), model.n_skipped_ > 0


def figures(values: np.ndarray) -> dict[str, float]:
    """Of one setting: means and standard deviations over the splits."""
    train, test, skipped = values.T
    spread = min(1, len(values) - 1)
    return {
        "train": round(float(train.mean()), 4),
        "test": round(float(test.mean()), 4),
        "test sd": round(float(test.std(ddof=spread)), 4),
        "ran away": round(float(skipped.mean()), 3),
    }


def measure(parts: list[tuple[np.ndarray, ...]], coefficients: tuple[float, ...]) -> dict[str, Any]:
    """Each learner with the parameters that are best on the test rows, as in the paper, and without regularisation."""
    learners = {}
    for learner in LEARNERS:
        settings = grid(learner, coefficients)
        values = [np.array([accuracies(learner, parameters, split) for split in parts]) for parameters in settings]
        best = int(np.argmax([value[:, 1].mean() for value in values]))
        learners[learner] = {
            "best": {"parameters": settings[best], **figures(values[best])},
            "plain": {"parameters": settings[0], **figures(values[0])},
        }
    majority = float(np.mean([max(np.mean(labels == y[0]), np.mean(labels != y[0])) for _, y, _, labels in parts]))
    return {
        "rows": len(parts[0][1]),
        "test rows": len(parts[0][3]),
        "splits": len(parts),
        "larger class": round(majority, 4),
        "learners": learners,
        "curves": {learner: error_curve(learner, learners[learner]["best"]["parameters"], parts) for learner in CURVES},
    }


def error_curve(learner: str, parameters: dict[str, float], parts: list[tuple[np.ndarray, ...]]) -> list[float]:
    """Errors so far after each training row, mean over the splits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        counts = [np.cumsum(online_learner(learner, **parameters).fit(X, y).mistakes_) for X, y, _, _ in parts]
    return np.mean(counts, axis=0).round(2).tolist()


def run(quick: bool) -> dict[str, Any]:
    """All of it; quick: a part of the diabetes data, few splits and parameters, nothing is written."""
    results: dict[str, Any] = {"sets": {}}
    for name in ("diabetes",) if quick else FILES:
        start = time.perf_counter()
        features, labels, _ = load(FILES[name])
        n_test = 30 if quick else SIZES[name][1]
        rows = slice(120 if quick else None)
        parts = splits(features[rows], labels[rows], n_test, 2 if quick else SPLITS)
        results["sets"][name] = measure(parts, COEFFICIENTS[::3] if quick else COEFFICIENTS)
        print(f"{name}: {time.perf_counter() - start:.0f} s")
        table = results["sets"][name]["learners"].items()
        print_table(
            [
                {"learner": learner, **{k: v for k, v in row["best"].items() if k != "parameters"}}
                for learner, row in table
            ]
        )
    if not quick:
        report(results, RESULTS)
    return results


def report(results: dict[str, Any], folder: Path) -> None:
    """Figures and page, from the results."""
    draw(results, folder)
    (folder / "scalings_online.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    is_quick = quick_flag(__doc__)
    measured = run(is_quick)
    if not is_quick:
        write_result("scalings_online", measured)
