"""Small training sets of awkward values: powers of two, sentinels, near ties, decimals, subnormal numbers.

What ordinary data have only now and then meets in every set here: values that differ by 2**61 or 2**64, numbers that miss
each other by one bit, exact ties beside them. Small enough for ``brute_force``: up to 3 features and 6 rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rescaleinv.errors import InputError
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.training_set import TrainingSet

INT64_MIN = float(-(2**63))


def _small_integers(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(float)


def powers_of_two(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Small integers with some entries ±2**k: k = 61 is where 2**61 - 1 fails."""
    values = _small_integers(rng, shape)
    exponents = rng.choice([-61, -60, 1, 30, 31, 32, 52, 53, 60, 61, 62, 63, 64, 122, 183], shape)
    return np.where(rng.random(shape) < 0.4, rng.choice([-1.0, 1.0], shape) * 2.0**exponents, values)


def sentinels(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Small integers with a column or two that has a sentinel for what is missing."""
    values = _small_integers(rng, shape)
    chosen = [
        INT64_MIN,
        2.0**63,
        2.0**62,
        2.0**61,
        -(2.0**31),
        2.0**31 - 1,
        2.0**53,
        -9999.0,
        1e30,
        -1.7976931348623157e308 / 2**600,
    ]
    return np.where(rng.random(shape) < 0.2, rng.choice(chosen), values)


def near_ties(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Small integers that miss their ties by a few bits, from 1e-5 down to the last one."""
    values = _small_integers(rng, shape)
    size = 2.0 ** -rng.integers(17, 52)
    return values + rng.integers(-2, 3, shape) * size


def decimals(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Multiples of 0.1, 0.33, 0.07: ties of decimals that are not ties of floats."""
    return rng.integers(-5, 6, shape) * rng.choice([0.1, 0.33, 0.07, 1e-5, 1e5], shape[1])


def subnormals(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Columns of ordinary numbers beside columns that are next to nothing, down to the smallest number there is."""
    values = _small_integers(rng, shape)
    tiny = rng.choice([5e-324, -5e-324, 1e-310, 2.0**-1022], shape) * (rng.random() < 0.3)
    return values * 2.0 ** rng.choice([0, -300, -480], shape[1]) + tiny


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    maker.__name__: maker for maker in (powers_of_two, sentinels, near_ties, decimals, subnormals)
}


def drawn(
    kind: str, seed: int, n_points: int = 4, n_rows: int = 6, separable: bool = True
) -> tuple[TrainingSet, np.ndarray] | None:
    """A training set of the kind with some points, or None where the draw gives none; every other one overlaps if it may."""
    rng = np.random.default_rng([*kind.encode(), seed])
    n, m = int(rng.integers(1, 4)), int(rng.integers(2, n_rows + 1))
    rows = KINDS[kind](rng, (m, n))
    # labels by a hyperplane through the sorted rows, so that most draws are separable however unlike the values are
    order = np.argsort(np.argsort(rows @ (rng.integers(-2, 3, n) * 1.0)))
    labels = np.where(order >= rng.integers(1, m), 1, -1)
    if not separable and m > 2 and seed % 2:
        labels[int(rng.integers(m))] *= -1
    try:
        training_set = TrainingSet(rows, labels, read_as="float")
        _ = training_set.conditioned
        if abs(labels.sum()) == m or (separable and not is_separable(training_set)):
            return None
    except InputError:  # refused: values that vanish beside their range
        return None
    points = KINDS[kind](rng, (n_points, n))
    points[::2] = np.column_stack([rng.choice(column, len(points[::2])) for column in rows.T])  # values that tie
    points[1::4] += 0.5
    return training_set, points


def limits(rng: np.random.Generator, n_features: int) -> np.ndarray:
    """Ranges of factors: the same one for most features, and some that are fixed or have a range of their own."""
    kappa = float(rng.choice([1.5, 2, 4, 10]))
    choices = [[1 / kappa, kappa], [1 / kappa, kappa], [1 / kappa, kappa], [1.0, 1.0], [1.0, 3.0]]
    return np.array([choices[k] for k in rng.integers(0, len(choices), n_features)])


def penalties(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """One for all rows, or one for each."""
    if rng.random() < 0.7:
        return np.full(n_rows, rng.choice([0.01, 0.1, 1, 10]))
    return rng.choice([0.25, 1, 3], n_rows)


def nu_margin(rng: np.random.Generator, training_set: TrainingSet) -> NuMargin:
    """Near its least and largest values, at them or between; a round one now and then, and rows of unlike weights."""
    weights = None if rng.random() < 0.7 else rng.choice([0.5, 1, 2], training_set.n_rows)
    least, largest = least_nu(training_set, weights), float(largest_nu(training_set, weights))
    nu = least + (largest - least) * float(rng.choice([0.01, 0.1, 0.5, 0.9, 1.0, rng.random()]))
    if rng.random() < 0.3:
        nu = float(rng.choice([0.25, 0.5, 0.6, 0.75, 1 / 3, 2 / 3, 0.8]))
    return NuMargin.of(training_set, nu, weights)
