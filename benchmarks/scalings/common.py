"""What the reproductions of the two Forman papers share: text sets, one-vs-rest tasks, figures that read in grey, tables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from rescaleinv.errors import DatasetUnavailableError

TEXT_SETS = (
    *("fbis", "la1s", "la2s", "oh0", "oh10", "oh15", "oh5", "ohscal", "re0", "re1"),
    *("tr11", "tr12", "tr21", "tr23", "tr31", "tr41", "tr45", "wap"),
)
# dark to light with a dash and a mark of its own: told apart without colours
STYLES = (
    {"color": "0.0", "ls": "-", "marker": "o"},
    {"color": "0.35", "ls": "--", "marker": "s"},
    {"color": "0.55", "ls": ":", "marker": "^"},
    {"color": "0.2", "ls": "-.", "marker": "D", "mfc": "white"},
    {"color": "0.45", "ls": (0, (5, 1, 1, 1, 1, 1)), "marker": "v", "mfc": "white"},
    {"color": "0.6", "ls": (0, (1, 1)), "marker": "x"},
)


class Task(NamedTuple):
    """One class against all others of its data set."""

    dataset: str
    label: str
    features: Any
    positive: np.ndarray

    @property
    def share(self) -> float:
        return float(np.mean(self.positive))


def load_text(name: str) -> tuple[csr_array, np.ndarray]:
    """Term counts and classes of a text set, from the folder ``text`` in RESCALEINV_DATA."""
    folder = os.environ.get("RESCALEINV_DATA")
    path = Path(folder or "RESCALEINV_DATA").expanduser() / "text" / f"{name}.npz"
    if not folder or not path.is_file():
        raise DatasetUnavailableError(
            f"there is no file {path}; set RESCALEINV_DATA to a folder with text/{name}.npz in it: the term counts as a CSR "
            "matrix (data, indices, indptr, shape), and label"
        )
    with np.load(path, allow_pickle=False) as stored:
        parts = (stored["data"].astype(float), stored["indices"], stored["indptr"])
        return csr_array(parts, shape=tuple(stored["shape"])), stored["label"].astype(str)


def one_vs_rest(dataset: str, features: Any, labels: np.ndarray, least: int = 1) -> list[Task]:
    """A task for each class of at least so many rows; for the rarer one only where there are two."""
    classes, sizes = np.unique(labels, return_counts=True)
    wanted = classes[sizes >= least] if len(classes) > 2 else classes[[np.argmin(sizes)]]
    return [Task(dataset, str(label), features, labels == label) for label in wanted]


def made_text(seed: int, n_rows: int = 120, n_words: int = 150) -> tuple[csr_array, np.ndarray]:
    """Three topics, the last of them rare, with words of their own among words that all have."""
    rng = np.random.default_rng(seed)
    topics = rng.permutation(np.repeat([0, 1, 2], [n_rows * 5 // 10, n_rows * 4 // 10, n_rows - n_rows * 9 // 10]))
    rates = rng.gamma(0.4, 0.8, n_words) * np.ones((3, 1))
    for topic in range(3):
        rates[topic, topic::10] += 1
    return csr_array(rng.poisson(rates[topics]).astype(float)), topics.astype(str)


def linear_svm(features: Any, positive: np.ndarray, C: float = 1.0) -> tuple[LinearSVC, bool]:
    """A linear SVM with hinge loss, and whether it converged."""
    svm = LinearSVC(loss="hinge", C=C, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        svm.fit(features, positive)
    return svm, not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def f_measure(tp: float, fp: float, fn: float) -> float:
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def standard_error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


@contextmanager
def figure_file(path: Path, size: tuple[float, float], columns: int = 1, rows: int = 1) -> Iterator[Any]:
    """A figure with so many axes, saved in the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    yield figure.subplots(rows, columns, squeeze=False).ravel()
    figure.savefig(path, dpi=110)


def markdown_table(rows: Iterable[dict[str, Any]]) -> str:
    """Records with the same keys; numbers with three decimals."""
    rows = list(rows)
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([_text(value) for value in row.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def agreement_table(claims: Iterable[tuple[str, str, bool]]) -> str:
    """What a paper says, what was measured, and whether the two agree."""
    return markdown_table(
        {"the paper says": said, "measured here": found, "agrees": "yes" if agrees else "**no**"}
        for said, found, agrees in claims
    )


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
