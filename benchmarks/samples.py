"""Training sets for the benchmarks: the shapes of the paper's 18, and made ones with all kinds of ties."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from benchmarks.paper.figures import BENCHMARKS
from rescaleinv._util.types import FloatArray
from rescaleinv.datasets import load
from rescaleinv.errors import DatasetUnavailableError
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import made_sets

# Table 1 of the paper: data set and |X|.
PAPER_BENCHMARKS = tuple((one.data_set, one.rows) for one in BENCHMARKS)


@dataclass(frozen=True)
class Sample:
    """A separable training set, and points of the same data that are not in it."""

    name: str
    training_set: TrainingSet
    points: FloatArray


def draw(name: str, rows: int, seed: int) -> Sample:
    """A draw of raw rows of a data set, consistent after points were left out, with |X| within 1 of ``rows``."""
    features, labels, _ = load(name)
    return _draw(name, np.asarray(features), np.asarray(labels), rows, np.random.default_rng([seed, rows]))


def _draw(name: str, features: FloatArray, labels: FloatArray, rows: int, rng: np.random.Generator) -> Sample:
    for size in np.linspace(rows, 1.6 * rows, 200).astype(int):
        order = rng.permutation(len(features))
        chosen = order[:size]
        if len(set(labels[chosen].tolist())) < 2:
            continue
        subset = separable_subset(TrainingSet(features[chosen], labels[chosen]))
        if abs(len(subset.training_set) - rows) <= 1:
            return Sample(f"{name}, {rows} rows", subset.training_set, features[order[size:]])
    raise RuntimeError(f"no consistent draw of {rows} rows of {name} was found")


def paper_shapes(seed: int = 0) -> Iterator[Sample]:
    """One draw for each of the paper's benchmarks whose data set is available (indian_liver_patient may not be)."""
    for number, (name, rows) in enumerate(PAPER_BENCHMARKS, 1):
        try:
            sample = draw(name, rows, seed + 100 * number)
        except DatasetUnavailableError:
            continue
        yield Sample(f"{number}. {sample.name}", sample.training_set, sample.points)


def breast_cancer(n_features: int, rows: int, seed: int = 0) -> Sample:
    """scikit-learn's breast cancer data (WDBC), its first features."""
    features, labels = load_breast_cancer(return_X_y=True)
    name = f"WDBC, {n_features} features"
    return _draw(name, features[:, :n_features], labels, rows, np.random.default_rng([seed, n_features, rows]))


def made(seed: int, maker: str) -> Sample:
    """A made training set with 1 to 7 features, and points with its own values, between them and beyond."""
    training_set = made_sets.MAKERS[maker](seed)
    rng = np.random.default_rng([11, seed])
    rows = training_set.features
    mixed = np.column_stack([rng.choice(column, 200) for column in rows.T])
    steps = rng.integers(-2, 3, mixed.shape) * (np.ptp(rows, axis=0) / 4)
    return Sample(f"{maker} {seed}", training_set, mixed + steps * (np.arange(200) % 2)[:, None])


MAKERS = tuple(sorted(made_sets.MAKERS))
