"""What each feature has to do with it: rescaled alone, held still, left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from rescaleinv._util.types import FloatArray
from rescaleinv.audit.scalings import clear_values
from rescaleinv.errors import InseparableError
from rescaleinv.estimators.svc import RescaleInvariantSVC

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


def rescaled_alone(model: RescaleInvariantSVC, points: FloatArray, values: FloatArray, j: int) -> SingleFeature:
    """Train the model's SVM with feature j in many units, and see which labels change.

    What it finds is certain, being an SVM; a point that it does not find may still change its label between the units
    that were tried.
    """
    training_set, margin = model.training_set_, model._fitted.margin
    powers = np.zeros(len(points), dtype=np.int64)
    if np.ptp(training_set.features[:, j]) == 0:
        return SingleFeature(powers, np.empty((0, len(points)), dtype=np.int8))  # constant: no weight in any unit
    signs = np.zeros((len(POWERS), len(points)), dtype=np.int8)
    for row, k in enumerate(POWERS):
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
