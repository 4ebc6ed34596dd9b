"""Units that may be off by a limited factor: how far a label holds, and whether it does if one feature's unit is fixed.

Where all features but one may be rescaled freely nothing is gained by fixing that one: a common factor of all features
changes no maximum-margin classifier. So the question what a feature causes by its units needs a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rescaleinv._util.deadline import has_time_for_processes, is_over, share_of_run
from rescaleinv._util.progress import Bar
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines.choice import choose_engine
from rescaleinv.estimators.radius import radius_search
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.verdict import Verdicts

# Seconds for a question about a point, if the estimator has no smaller limit of its own.
_SECONDS = 1.0
# How near to each other the certified and the refuted κ of a point are brought.
_RATIO = 1.1
# Up to which κ they are looked for.
_LARGEST = 10.0
# Of the time for questions about limited units, the radii may take this share.
_SHARE_OF_RADII = 0.75


@dataclass(frozen=True, eq=False)
class LimitedUnits:
    """What happens when the factor of each feature is between 1/κ and κ.

    Attributes
    ----------
    kappa : float
    radius : array (n_points, 2)
        [certified κ, refuted κ] as ``rescaling_radius`` gives them; infinite for strong verdicts, nan where not asked.
    asked : int array
        The points without a strong verdict that were asked about: all, or so many of them, evenly.
    share : float
        The share of the points without a strong verdict that ``asked`` are.
    changed : int array
        Those of them whose label was refuted within ``kappa``.
    kept, undecided : int arrays, one entry a feature
        How many of ``changed`` keep their label within ``kappa`` if the factor of this feature is 1; for how many that
        was not decided.

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4]])
    >>> audit.limited.kappa, audit.limited.changed
    (4.0, array([0]))
    """

    kappa: float
    radius: FloatArray
    asked: IntArray
    share: float
    changed: IntArray
    kept: IntArray
    undecided: IntArray

    @property
    def sample(self) -> IntArray:
        """Points that stand for all: those asked, and the same share of those with a strong verdict.

        Examples
        --------
        >>> from rescaleinv.audit import scaling_audit
        >>> rows, points = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [[-1, 4], [4, 4], [4, -1], [5, 5]]
        >>> audit = scaling_audit(rows, [1, 1, 1, -1], points, most_radii=1)
        >>> audit.limited.asked, audit.limited.sample
        (array([0]), array([0, 1]))
        """
        strong = np.flatnonzero(np.isposinf(self.radius[:, 0]))
        chosen = _evenly(strong, round(self.share * len(strong)))
        return np.sort(np.concatenate([self.asked, np.setdiff1d(chosen, self.asked)]))


def limited_units(
    model: RescaleInvariantSVC,
    points: FloatArray,
    verdicts: Verdicts,
    at_rest: npt.NDArray[np.bool_],
    kappa: float,
    most: int,
    bar: Bar,
) -> LimitedUnits:
    """Find the radius of the points without a strong verdict, and what freezing each feature does to those that change.

    A point whose label holds within κ holds all the more if a feature is frozen, so only the others are asked again.
    Features ``at_rest`` are not rescaled. What there is no time for has the radius [1, infinity].
    """
    n = model.n_features_in_
    open_points = np.flatnonzero(~verdicts.strong)
    asked = _evenly(open_points, min(most, len(open_points)))
    radius = np.full((len(points), 2), np.nan)
    radius[verdicts.strong] = np.inf
    time_limit = _SECONDS if model.time_limit is None else min(model.time_limit, _SECONDS)
    alone = {} if has_time_for_processes() else {"n_jobs": 1}
    search = radius_search(model, frozen=at_rest, time_limit=time_limit, **alone)
    with share_of_run(_SHARE_OF_RADII):
        radius[asked] = search.within_run(points[asked], ratio=_RATIO, largest=_LARGEST, report=bar.show)
    changed = asked[radius[asked, 1] <= kappa]
    kept, undecided = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    for j in np.flatnonzero(~at_rest).tolist() if len(changed) else ():
        others = at_rest | (np.arange(n) == j)
        if others.all():
            kept[j] = len(changed)  # nothing is rescaled
            continue
        if is_over():
            undecided[j] = len(changed)
            continue
        ranges = np.where(others[:, None], 1.0, [1 / kappa, kappa])
        settings = replace(model._fitted.settings, time_limit=time_limit, limits=ranges)
        found = choose_engine("auto", model.training_set_, settings).engine.certify_checked(points[changed])
        kept[j], undecided[j] = int(found.strong.sum()), int(found.unknown.sum())
        bar.show(len(asked), f"{j + 1} of {n} features fixed")
    return LimitedUnits(kappa, radius, asked, len(asked) / max(len(open_points), 1), changed, kept, undecided)


def _evenly(numbers: IntArray, count: int) -> IntArray:
    """So many of the numbers, spread evenly over all of them."""
    return numbers[np.linspace(0, len(numbers) - 1, count).round().astype(np.intp)] if count else numbers[:0]
