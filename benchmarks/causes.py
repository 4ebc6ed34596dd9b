"""Why labels change when a StandardScaler is added: the four causes, on every data set at hand.

python -m benchmarks.causes            all data sets, 5 splits (some minutes); writes results/causes.json and causes.md
python -m benchmarks.causes --quick    two data sets, 2 splits

Half of the rows (at most 1,000) are for training, the others (at most 1,000) for the labels; C = 1; the features as they
are against StandardScaler. Data sets that do not ship are read from RESCALEINV_DATA; the page names those that are missing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.common import RESULTS, print_table, quick_flag, write_result
from rescaleinv import diagnose
from rescaleinv.datasets import available, load
from rescaleinv.errors import DatasetUnavailableError

SPLITS = 5
MOST_ROWS = 1000
SVC_ITERATIONS = 100_000
CAUSES = ("solver", "intercept", "C", "margin")
# name -> the two classes that are told apart, where there are more than two
TWO_CLASSES: dict[str, tuple[Any, Any]] = {
    "ecoli": ("cp", "im"),
    "glass": (1, 2),
    "vehicle": ("bus", "van"),
    "vowel": (0, 1),
    "letter": ("A", "B"),
    "optdigits": (3, 8),
}


class Task(NamedTuple):
    name: str
    features: Any
    labels: Any


def tasks(names: list[str] | None = None) -> tuple[list[Task], list[str]]:
    """The data sets at hand as tasks of two classes, and the names of those that are not."""
    found, missing = [], []
    for name, place in available().items():
        if names is not None and name not in names:
            continue
        if place == "openml":
            missing.append(name)
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # rows with an empty cell are left out
                features, labels, _ = load(name)
        except DatasetUnavailableError:
            missing.append(name)
            continue
        found.append(_two_classes(name, features, labels))
    if names is None or "wine" in names:
        wine = load_wine()
        found.append(Task("wine 0/1", wine.data[wine.target < 2], wine.target[wine.target < 2]))
    return found, missing


def _two_classes(name: str, features: Any, labels: Any) -> Task:
    if name not in TWO_CLASSES:
        return Task(name, features, labels)
    pair = TWO_CLASSES[name]
    rows = np.isin(labels, pair)
    return Task(f"{name} {pair[0]}/{pair[1]}", features[rows], labels[rows])


def split(task: Task, seed: int) -> tuple[Any, Any, Any]:
    """Training rows, their labels, and the points."""
    X, points, y, _ = train_test_split(
        task.features, task.labels, test_size=0.5, random_state=seed, stratify=task.labels
    )
    return X[:MOST_ROWS], y[:MOST_ROWS], points[:MOST_ROWS]


def _linear() -> Any:
    return LinearSVC(loss="hinge", random_state=0)


def _svc() -> Any:
    return SVC(kernel="linear", max_iter=SVC_ITERATIONS)


def compared(make: Callable[[], Any], X: Any, y: Any, points: Any) -> Any:
    """The diagnosis of raw against standardised features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not converge is what this is about
        models = {"raw": make().fit(X, y), "standardised": make_pipeline(StandardScaler(), make()).fit(X, y)}
    return diagnose(models, X, y, points, progress=False).pairs[0]


def row_of(task: Task, splits: int) -> dict[str, Any]:
    """Mean shares over the splits."""
    started = time.process_time()
    sums: dict[str, float] = {}
    stopped = {"LinearSVC": 0, "SVC": 0}
    worst = 0.0
    for seed in range(splits):
        X, y, points = split(task, seed)
        linear, svc = compared(_linear, X, y, points), compared(_svc, X, y, points)
        shares = {
            "LinearSVC as run": linear.n_changed,
            "LinearSVC at its optimum": linear.left["solver"],
            "SVC objective at its optimum": linear.left["intercept"],
            "SVC as run": svc.n_changed,
            **{f"LinearSVC, {cause}": linear.counts[cause] for cause in CAUSES},
            **{f"SVC, {cause}": svc.counts[cause] for cause in CAUSES},
        }
        for name, count in shares.items():
            sums[name] = sums.get(name, 0.0) + count / len(points) / splits
        for name, pair in (("LinearSVC", linear), ("SVC", svc)):
            stopped[name] += bool(pair.chain.first.stopped)
            worst = max(worst, *(s.best.residual for two in pair.chain.stages for s in two if s.best is not None))
    return {
        "data": task.name,
        "rows": len(X),
        "features": X.shape[1],
        "points": len(points),
        **sums,
        "raw LinearSVC stopped at max_iter": stopped["LinearSVC"],
        "raw SVC stopped at max_iter": stopped["SVC"],
        "splits": splits,
        "largest residual": worst,
        "seconds": time.process_time() - started,
    }


# urine: mOsm to Osm, urea from mmol/L to g/L (60.06 g/mol), calcium from mmol/L to mg/dL (40.078 g/mol)
UNITS = {
    "urine": {"osmolarity_mosm": 1e-3, "urea_mmol_l": 0.06006, "calcium_mmol_l": 4.0078},
    # glucose from mg/dL to mmol/L
    "pima_diabetes": {"glucose": 1 / 18.016},
}


def units_row(name: str, splits: int) -> dict[str, Any]:
    """The share of labels that other units change at the optimum of SVC, C = 1."""
    features, labels, names = load(name)
    factors = np.ones(len(names))
    for feature, factor in UNITS[name].items():
        matches = [j for j, own in enumerate(names) if own.startswith(feature)]
        factors[matches[0]] = factor
    share = 0.0
    for seed in range(splits):
        X, y, points = split(Task(name, features, labels), seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = [
                _svc().fit(X, y),
                make_pipeline(FunctionTransformer(lambda rows: rows * factors), _svc()).fit(X, y),
            ]
        pair = diagnose(models, X, y, points, progress=False).pairs[0]
        share += pair.left["solver"] / len(points) / splits
    return {"data": name, "changed units": UNITS[name], "labels that differ at the optimum": share, "splits": splits}


def page(rows: list[dict[str, Any]], units: list[dict[str, Any]], missing: list[str]) -> str:
    """The results as Markdown."""

    def percent(value: float) -> str:
        return f"{100 * value:.1f}"

    columns = ("LinearSVC as run", "LinearSVC at its optimum", "SVC objective at its optimum", "SVC as run")
    lines = [
        "# Why labels change when a StandardScaler is added",
        "",
        "Made by `python -m benchmarks.causes`: the share of test labels that differ, in per cent, between the features as",
        f"they are and z-scores. Half of the rows, at most {MOST_ROWS:,}, to train on, C = 1, {rows[0]['splits']} splits.",
        '`LinearSVC` is `LinearSVC(loss="hinge")` with its 1,000 iterations,',
        f'`SVC` is `SVC(kernel="linear", max_iter={SVC_ITERATIONS})`.',
        "",
        "| data | training rows | " + " | ".join(columns) + " | raw LinearSVC stopped at max_iter | raw SVC stopped |",
        "|---" * (len(columns) + 4) + "|",
    ]
    lines += [
        f"| {row['data']} | {row['rows']} × {row['features']} | "
        + " | ".join(percent(row[name]) for name in columns)
        + f" | {row['raw LinearSVC stopped at max_iter']} of {row['splits']}"
        + f" | {row['raw SVC stopped at max_iter']} of {row['splits']} |"
        for row in rows
    ]
    means = " | ".join(percent(float(np.mean([row[name] for row in rows]))) for name in columns)
    lines += [f"| *mean* | | {means} | | |", ""]
    lines += [
        "## The same labels by cause",
        "",
        "Each label that differs has one cause, so a line adds up to the label share as run.",
        "",
    ]
    for svm in ("LinearSVC", "SVC"):
        lines += [f"| {svm} | as run | " + " | ".join(CAUSES) + " |", "|---" * (len(CAUSES) + 2) + "|"]
        for row in rows:
            cells = [percent(row[f"{svm} as run"]), *(percent(row[f"{svm}, {cause}"]) for cause in CAUSES)]
            lines.append(f"| {row['data']} | " + " | ".join(cells) + " |")
        cells = [
            percent(float(np.mean([row[name] for row in rows])))
            for name in (f"{svm} as run", *(f"{svm}, {cause}" for cause in CAUSES))
        ]
        lines += ["| *mean* | " + " | ".join(cells) + " |", ""]
    lines += ["## Other units", "", "Labels that differ between two choices of units, `SVC` at its optimum, C = 1.", ""]
    lines += ["| data | units changed | labels that differ |", "|---|---|---|"]
    for row in units:
        changed = ", ".join(f"{name} × {factor:.4g}" for name, factor in row["changed units"].items())
        lines.append(f"| {row['data']} | {changed} | {percent(row['labels that differ at the optimum'])} |")
    worst = max(row["largest residual"] for row in rows)
    lines += ["", f"Largest residual of any optimum: {worst:.1g}."]
    if missing:
        lines += ["", f"Not at hand: {', '.join(missing)} (a CSV file in the folder RESCALEINV_DATA)."]
    return "\n".join(lines) + "\n"


def main() -> None:
    quick = quick_flag(__doc__)
    splits = 2 if quick else SPLITS
    found, missing = tasks(["urine", "fertility"] if quick else None)
    rows = []
    for task in found:
        rows.append(row_of(task, splits))
        print_table([{k: v for k, v in rows[-1].items() if k in ("data", "LinearSVC as run", "SVC as run", "seconds")}])
    units = [units_row(name, splits) for name in UNITS]
    if not quick:
        write_result("causes", {"rows": rows, "units": units, "missing": missing})
        (RESULTS / "causes.md").write_text(page(rows, units, missing), encoding="utf-8")
    print(page(rows, units, missing))


if __name__ == "__main__":
    main()
