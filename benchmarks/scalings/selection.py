"""Reproduces Ferreira & Figueiredo: error against the number of features kept, on Spam, Example1 and Dexter.

python -m benchmarks.scalings.selection [--quick]

Needs spambase.csv, text/example1_*.npz and text/dexter_*.npz in RESCALEINV_DATA; --quick takes made text instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.ensemble import AdaBoostClassifier
from sklearn.random_projection import SparseRandomProjection
from sklearn.svm import SVC

from benchmarks.common import RESULTS, print_table, quick_flag, write_result
from benchmarks.scalings.common import load_text, made_text
from benchmarks.scalings.selection_page import (
    ENTROPY,
    FIRST,
    FISHER,
    PRINTED_FEATURES,
    PROJECTION,
    SECOND,
    Way,
    draw,
    page,
    wide_table,
)
from rescaleinv.datasets import load
from rescaleinv.selection import CMIMSelector, FisherRatioSelector, L0Selector, MutualInformationSelector

SPLITS = 10
# where its figures begin and end
NUMBERS = {
    "Spam": (10, 15, 20, 25, 30, 35, 40, 45, 50, 54),
    "Example1": (500, 1000, 1500, 2250),
    "Dexter": (500, 900, 1300, 1700, 2200),
}
MAKERS: dict[str, Callable[[], Any]] = {
    "SVM": lambda: SVC(kernel="linear", C=1.0),
    "AdaBoost": lambda: AdaBoostClassifier(n_estimators=15, random_state=0),
}
# TD: values as they are; TDI: whether a feature is there. The paper has MIM and CMIM on TDI only, the two methods also.
SELECTORS: dict[Way, Callable[[int], Any]] = {
    FIRST: lambda m: L0Selector(m, criterion="count"),
    SECOND: lambda m: L0Selector(m, criterion="difference"),
    ENTROPY: lambda m: L0Selector(m, criterion="entropy"),
    FISHER: FisherRatioSelector,
    ("TDI", "Method 1"): lambda m: L0Selector(m, criterion="count"),
    ("TDI", "Method 2"): lambda m: L0Selector(m, criterion="difference"),
    ("TDI", "MIM"): MutualInformationSelector,
    ("TDI", "CMIM"): CMIMSelector,
}
# AdaBoost on a dense projection of text takes seconds per fit
MOST_PROJECTED = 600


class Source(NamedTuple):
    """A data set, and how its splits are drawn: training rows per class, and test rows unless they are fixed."""

    name: str
    features: csr_array
    labels: np.ndarray
    per_class: int
    test: tuple[csr_array, np.ndarray] | None = None

    def split(self, seed: int) -> tuple[csr_array, np.ndarray, csr_array, np.ndarray]:
        rng = np.random.default_rng([seed, self.per_class])
        orders = [rng.permutation(np.flatnonzero(self.labels == label)) for label in np.unique(self.labels)]
        rows = np.concatenate([order[: self.per_class] for order in orders])
        others = np.concatenate([order[self.per_class : 2 * self.per_class] for order in orders])
        test = (self.features[others], self.labels[others]) if self.test is None else self.test
        return self.features[rows], self.labels[rows], *test


def sources() -> Iterator[Source]:
    spam, labels, _ = load("spambase")
    yield Source("Spam", csr_array(spam[:, :54]), labels, 500)
    yield Source("Example1", *load_text("example1_train"), 500, load_text("example1_test"))
    yield Source("Dexter", *load_text("dexter_train"), 100, load_text("dexter_valid"))


def made_source() -> Source:
    features, topics = made_text(0, n_rows=160)
    return Source("made", features, np.where(topics == "0", 1, -1), 40)


def presence(matrix: csr_array) -> csr_array:
    return (matrix != 0).astype(np.float64)


def reduced(X: csr_array, y: np.ndarray, T: csr_array, numbers: tuple[int, ...], seed: int) -> Iterator[Any]:
    """Each way and number of features, with the training and test rows that are left of it."""
    views = {"TD": (X, T), "TDI": (presence(X), presence(T))}
    for (matrix, method), make in SELECTORS.items():
        rows, test = views[matrix]
        if method == "CMIM":  # the features for a smaller number are the first of those for a larger one
            ranking = make(max(numbers)).fit(rows, y).ranking_
            chosen = {m: np.sort(ranking[:m]) for m in numbers}
        else:
            chosen = {m: np.flatnonzero(make(m).fit(rows, y).get_support()) for m in numbers}
        for m in numbers:
            yield (matrix, method), m, rows[:, chosen[m]], test[:, chosen[m]]
    for m in numbers:
        projection = SparseRandomProjection(m, density=1 / 3, random_state=seed, dense_output=True).fit(X)
        yield PROJECTION, m, projection.transform(X), projection.transform(T)


def error(name: str, X: Any, y: np.ndarray, T: Any, labels: np.ndarray) -> float:
    if name == "AdaBoost" and not isinstance(X, np.ndarray):
        X = X.tocsc()  # for trees, which look at one feature after the other
    return float(np.mean(MAKERS[name]().fit(X, y).predict(T) != labels))


def measure(source: Source, numbers: tuple[int, ...], splits: int) -> dict[str, Any]:
    """Mean and standard deviation of the error of each way, over the splits."""
    errors: dict[tuple[str, str, str, int], list[float]] = {}
    for seed in range(splits):
        X, y, T, labels = source.split(seed)
        candidates = [((matrix, "all features"), X.shape[1], *views) for matrix, views in both(X, T)]
        for (matrix, method), m, rows, test in [*candidates, *reduced(X, y, T, numbers, seed)]:
            for name in MAKERS:
                if (matrix, method) == PROJECTION and name == "AdaBoost" and m > MOST_PROJECTED:
                    continue
                errors.setdefault((name, matrix, method, m), []).append(error(name, rows, y, test, labels))
    return {
        "splits": splits,
        "rows": len(y),
        "test rows": len(labels),
        "features": X.shape[1],
        "errors": [
            {
                "classifier": name,
                "matrix": matrix,
                "method": method,
                "m": m,
                "error": round(float(np.mean(values)), 5),
                "sd": round(float(np.std(values, ddof=1)), 5) if splits > 1 else None,
            }
            for (name, matrix, method, m), values in errors.items()
        ],
    }


def both(X: csr_array, T: csr_array) -> list[tuple[str, tuple[csr_array, csr_array]]]:
    return [("TD", (X, T)), ("TDI", (presence(X), presence(T)))]


def mean_l0(features: csr_array, labels: np.ndarray) -> list[float]:
    """Table 1: mean number of rows that have a feature, in all and in each class."""
    negative, positive = np.unique(labels)
    parts = (features, features[labels == negative], features[labels == positive])
    return [round(float((part != 0).sum() / part.shape[1]), 2) for part in parts]


def run(quick: bool) -> dict[str, Any]:
    """All of it; quick: made text, a few seconds, nothing is written."""
    results: dict[str, Any] = {"sets": {}, "l0": {}}
    for source in [made_source()] if quick else sources():
        start = time.perf_counter()
        numbers = (10, 40) if quick else NUMBERS[source.name]
        results["sets"][source.name] = measure(source, numbers, 1 if quick else SPLITS)
        for part, data in (("", (source.features, source.labels)), *([("test", source.test)] if source.test else [])):
            results["l0"][_part_name(source, part)] = mean_l0(*data)
        print(f"{source.name}: {time.perf_counter() - start:.0f} s")
        print_table(wide_table(results["sets"][source.name], "SVM"))
    if not quick:
        results["features"] = class_counts(*load_text("example1_train"))
        report(results, RESULTS)
    return results


def class_counts(features: csr_array, labels: np.ndarray) -> dict[str, list[int]]:
    """Negative and positive rows that have the features of which the paper prints it (counted from 1)."""
    columns = [number - 1 for number in PRINTED_FEATURES]
    counts = [(features[labels == label][:, columns] != 0).sum(axis=0) for label in np.unique(labels)]
    return {str(number): [int(part[k]) for part in counts] for k, number in enumerate(PRINTED_FEATURES)}


def _part_name(source: Source, part: str) -> str:
    if source.test is None:
        return source.name
    return f"{source.name}, {'train' if not part else 'validation' if source.name == 'Dexter' else 'test'}"


def report(results: dict[str, Any], folder: Path) -> None:
    """Figures and page, from the results."""
    draw(results, folder)
    (folder / "scalings_selection.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    is_quick = quick_flag(__doc__)
    measured = run(is_quick)
    if not is_quick:
        write_result("scalings_selection", measured)
