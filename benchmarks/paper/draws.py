"""Training and test sets like the paper's, whose random subsets are not published, and what is decided on them.

A draw is a random order of a data set's rows. The first |X| to 1.6 |X| of them are the learning set, and rows are
left out of it until it is consistent. The draw is accepted when what remains has both classes and is within 1 of |X|;
otherwise another order is tried. How many rows are taken is not published either, so there are two ways: a number at
random (``RANDOM``), or as few as it takes for |X| to remain (``LEAST``). The test rows are taken from the other end of the
order.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.paper.figures import BENCHMARKS, PaperBenchmark
from rescaleinv._util.types import FloatArray
from rescaleinv.datasets import Dataset, load
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

RANDOM, LEAST = "a random number of rows", "as few rows as it takes"
RULES = ("misclassified", "fewest", "greedy")
SEED = 2017
MOST_ROWS = 1.6  # times |X|
MOST_ORDERS = 1000  # of the rows, until a draw is accepted
Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Split:
    """A learning set, what is left of it when it is made consistent, and test rows that are not in it."""

    benchmark: PaperBenchmark
    rule: str
    draw: int
    training_set: TrainingSet
    learning_features: FloatArray
    learning_signs: Signs
    test_features: FloatArray
    test_signs: Signs
    orders_tried: int
    drawing: str

    @property
    def class_rows(self) -> tuple[int, int]:
        positive = int((self.training_set.signs > 0).sum())
        return positive, len(self.training_set) - positive

    @property
    def fingerprint(self) -> tuple[int, ...]:
        """Equal for two rules that left the same rows of the same draw."""
        return len(self.learning_signs), self.orders_tried, *self.training_set.row_numbers.tolist()


@dataclass(frozen=True)
class Decided:
    """What was decided about the test rows of a split."""

    split: Split
    codes: Signs
    values: FloatArray  # of the plain SVM, in the units of the data
    standardised_values: FloatArray  # of the plain SVM, the features divided by their standard deviations
    n_vertices: int
    seconds: float  # for the verdicts, enumeration included

    @property
    def labels(self) -> Signs:
        return signs_of(self.values)


def signs_of(values: FloatArray) -> Signs:
    """The labels of decision values, by the paper's convention: 0 is positive."""
    return np.where(values >= 0, 1, -1).astype(np.int8)


def load_quietly(name: str) -> Dataset:
    """The data set, without the warning that names the rows it is always loaded without."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* because of an empty cell", category=UserWarning)
        return load(name)


def split(number: int, draw: int, rule: str, drawing: str = RANDOM, points: int | None = None) -> Split:
    """One draw of one of the paper's benchmarks, numbered from 1; with at most so many points as the paper, or as given."""
    benchmark = BENCHMARKS[number - 1]
    features, labels, _ = load_quietly(benchmark.data_set)
    rng = np.random.default_rng([SEED, number, draw])
    for tried in range(1, MOST_ORDERS + 1):
        order = rng.permutation(len(features))
        size = int(rng.integers(benchmark.rows, int(MOST_ROWS * benchmark.rows) + 1))
        if drawing == LEAST:
            size, training_set = _grow(features[order], labels[order], benchmark.rows, rule)
        else:
            training_set = _consistent(features[order[:size]], labels[order[:size]], rule)
        if training_set is not None and abs(len(training_set) - benchmark.rows) <= 1:
            test = order[max(size, len(order) - (points or benchmark.points)) :]
            return Split(
                benchmark,
                rule,
                draw,
                training_set,
                features[order[:size]],
                labels[order[:size]],
                features[test],
                labels[test],
                tried,
                drawing,
            )
    raise RuntimeError(f"none of {MOST_ORDERS} orders gave {benchmark.rows} consistent rows of {benchmark.data_set}")


def _consistent(features: FloatArray, labels: Signs, rule: str) -> TrainingSet | None:
    """What is left of the rows when they are made consistent; None if they are of one class."""
    if len(set(labels.tolist())) < 2:
        return None
    return separable_subset(TrainingSet(features, labels), rule).training_set


def _grow(features: FloatArray, labels: Signs, rows: int, rule: str) -> tuple[int, TrainingSet | None]:
    """The first rows that leave ``rows`` when made consistent, or else nearest to it and within 1; None if none do."""
    size, nearest = rows, (2, 0, None)
    while size <= MOST_ROWS * rows and nearest[0] > 0:
        kept = _consistent(features[:size], labels[:size], rule)
        missing = 1 if kept is None else rows - len(kept)
        if kept is not None and abs(missing) < nearest[0]:
            nearest = abs(missing), size, kept
        size += max(missing, 1)
    return nearest[1:]


def decide(given: Split) -> Decided:
    """The verdicts of the test rows, and the plain SVM's decision values in two units."""
    training_set = given.training_set
    start = time.perf_counter()
    engine = ComplexEngine(training_set, n_jobs=1, progress=False)
    codes = engine.certify(given.test_features).code
    seconds = time.perf_counter() - start
    deviations = training_set.features.std(axis=0)
    rescaling = 1 / np.where(deviations > 0, deviations, 1)
    return Decided(
        given,
        codes,
        minimal_norm_svm(training_set).decision_function(given.test_features),
        minimal_norm_svm(training_set, rescaling).decision_function(given.test_features),
        len(engine.vertices.bases),
        seconds,
    )
