"""What each feature has to do with it: rescaled alone, held still, left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from rescaleinv._util.deadline import is_over
from rescaleinv._util.parameters import is_sequence, shown
from rescaleinv._util.types import FloatArray
from rescaleinv.audit.scalings import clear_values
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.theory.training_set import TrainingSet

# Other units: from a thousandth to a thousand, by powers of two, which round nothing.
LARGEST_POWER = 10
POWERS = sorted((k for k in range(-LARGEST_POWER, LARGEST_POWER + 1) if k), key=abs)


@dataclass(frozen=True, eq=False)
class SingleFeature:
    """What rescaling one feature does, all others being as they are given.

    Attributes
    ----------
    flipping_power : int array
        For each point the power k of two nearest to 0 for which the feature times 2**k gives it another label; 0 where
        none was found.
    signs : int8 array
        One row for each of the units that were tried, one column per point: 1 positive, -1 negative, 0 where the decision
        value is too near to zero for a float to have a sign.
    """

    flipping_power: npt.NDArray[np.int64]
    signs: npt.NDArray[np.int8]

    @property
    def flips(self) -> npt.NDArray[np.bool_]:
        """Which labels change."""
        return self.flipping_power != 0

    def contradictions(self, code: npt.NDArray[np.int8]) -> list[tuple[int, int]]:
        """The power of two and the point, where a unit gives a point with a strong verdict the other label: none."""
        against = (self.signs != 0) & (self.signs == -code)
        return [(POWERS[row], int(i)) for row, i in np.argwhere(against)]


def features_at_rest(training_set: TrainingSet, fixed: Sequence[Any] | None) -> npt.NDArray[np.bool_]:
    """Which features keep their scale where factors are limited: those given by name or number, or those of two values.

    >>> ts = TrainingSet([[0, 1.5], [1, 2], [1, 3]], [1, 1, -1], feature_names=["smokes", "age"])
    >>> features_at_rest(ts, None), features_at_rest(ts, ["age"]), features_at_rest(ts, [])
    (array([ True, False]), array([False,  True]), array([False, False]))
    """
    n = training_set.n_features
    if fixed is None:
        values = training_set.features
        return np.array([len(np.unique(values[:, j])) <= 2 for j in range(n)]) & (n > 1)
    if not is_sequence(fixed):
        raise InputError(f"fixed is {shown(fixed)}; a sequence of names or numbers of features is needed")
    names = training_set.feature_names
    found = np.zeros(n, dtype=bool)
    for feature in fixed:
        if isinstance(feature, str) and names is not None and feature in names:
            found[names.index(feature)] = True
        elif isinstance(feature, (int, np.integer)) and not isinstance(feature, bool) and 0 <= feature < n:
            found[feature] = True
        else:
            raise InputError(f"fixed has {feature!r}, which is neither the name nor the number of a feature")
    return found


def not_rescaled(n_points: int) -> SingleFeature:
    """What is known of a feature that was not rescaled: nothing."""
    return SingleFeature(np.zeros(n_points, dtype=np.int64), np.empty((0, n_points), dtype=np.int8))


def rescaled_alone(model: RescaleInvariantSVC, points: FloatArray, values: FloatArray, j: int) -> SingleFeature:
    """Train the model's SVM with feature j in many units, and see which labels change.

    What it finds is certain, being an SVM; a point that it does not find may still change its label between the units
    that were tried.
    """
    training_set, margin = model.training_set_, model._fitted.margin
    powers = np.zeros(len(points), dtype=np.int64)
    if np.ptp(training_set.features[:, j]) == 0:
        return not_rescaled(len(points))  # constant: no weight in any unit
    signs = np.zeros((len(POWERS), len(points)), dtype=np.int8)
    for row, k in enumerate(POWERS):
        if is_over():
            return SingleFeature(powers, signs[:row])
        factors = np.ones(training_set.n_features)
        factors[j] = 2.0**k
        found, near = clear_values(margin.svm_at(factors), points)
        signs[row] = np.where(near, 0, np.where(found >= 0, 1, -1))
        powers[(powers == 0) & ~near & ((found >= 0) != (values >= 0))] = k
    return SingleFeature(powers, signs)


def neutral_without(model: RescaleInvariantSVC, points: FloatArray, j: int) -> tuple[float, str]:
    """The share of neutral points when feature j is left out altogether, or why there is none."""
    training_set = model.training_set_
    if training_set.n_features == 1:
        return np.nan, "it is the only feature"
    others = np.delete(np.arange(training_set.n_features), j)
    smaller = clone(model).set_params(inconsistent="raise", scale_range=None)
    try:
        smaller.fit(training_set.features[:, others], training_set.signs)
        verdicts = smaller.certify(points[:, others])
    except InseparableError:
        return np.nan, "the classes can't be separated without it"
    if verdicts.unknown.any():
        return np.nan, f"{int(verdicts.unknown.sum())} verdicts without it were not decided"
    return float(verdicts.neutral.mean()), ""


def shown_power(power: int) -> str:
    """A power of two as one says it.

    >>> shown_power(3), shown_power(-2)
    ('times 8', 'divided by 4')
    """
    return f"times {2**power:,}" if power > 0 else f"divided by {2**-power:,}"
