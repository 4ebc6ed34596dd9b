"""How far the labels of points hold: the engines for that question, made once and kept with the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.deadline import is_over, share_of_run
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.engines.choice import EngineChoice, choose_engine
from rescaleinv.engines.forced_label import has_forced_label
from rescaleinv.estimators.fitted import Fitted

# The engine of radii tries ranges of its own for features that are not frozen: this one says only that they are not.
_NOT_FROZEN = (0.5, 2.0)


# Points are handed over by so many when a run has a budget.
_AT_A_TIME = 8
# These may take so many times their share of what is left.
_MORE_THAN_FAIR = 3


def radius_search(model: Any, *, frozen: npt.NDArray[np.bool_] | None = None, **changed: Any) -> RadiusSearch:
    """The search for a fitted ``RescaleInvariantSVC``, with other values for some of its parameters.

    Features that are ``frozen`` are not rescaled, whatever the model's own ``scale_range`` says.
    """
    fitted: Fitted = model._fitted
    if frozen is not None and frozen.any():
        limits = np.tile([0.0, np.inf], (len(frozen), 1)) if fitted.limits is None else fitted.limits
        fitted = replace(fitted, limits=np.where(frozen[:, None], 1.0, limits))
    return RadiusSearch(replace(fitted, parameters={**fitted.parameters, **changed}), model.engine_)


class RadiusSearch:
    """Finds [certified κ, refuted κ] of points for a fitted model."""

    def __init__(self, fitted: Fitted, own: EngineChoice) -> None:
        training_set, settings = fitted.training_set, fitted.settings
        n, limits = training_set.n_features, fitted.limits
        frozen = np.zeros(n, dtype=bool) if limits is None else (limits == 1).all(axis=1)
        ranges = np.where(frozen[:, None], 1.0, np.array(_NOT_FROZEN))
        self._fitted = fitted
        self._limited = choose_engine("auto", training_set, replace(settings, limits=ranges))
        every = choose_engine("auto", training_set, replace(settings, limits=None, groups=None, penalties=None))
        # what it has enumerated, or with ν decided point by point, is not done again
        has_answers = own.abilities.enumerates or fitted.margin.nu is not None
        self._every = own if has_answers and own.abilities.every_rescaling else every

    def of(self, points: FloatArray, *, ratio: float, largest: float) -> FloatArray:
        """One row [certified κ, refuted κ] per point; infinity for both where every rescaling gives one label."""
        found = np.full((len(points), 2), np.inf)
        left = np.flatnonzero(~self._same_for_every_rescaling(points))
        found[left] = self.of_changeable(points[left], ratio=ratio, largest=largest)
        return found

    def of_changeable(self, points: FloatArray, *, ratio: float, largest: float) -> FloatArray:
        """``of`` for points of which it is known that some rescaling may change their label."""
        if not len(points):
            self._limited.engine  # noqa: B018 - what is wrong with the settings is said whatever the points are
            return np.empty((0, 2))
        return self._limited.engine.radius(points, ratio=ratio, largest=largest)

    def certificates(
        self, point: FloatArray, *, ratio: float, largest: float
    ) -> tuple[Certificate | None, Certificate | None]:
        """That the label of a point (a table of one row) holds for the certified κ, and that it does not for the refuted."""
        return self._limited.engine.radius_certificates_of(point, ratio=ratio, largest=largest)

    def within_run(
        self, points: FloatArray, *, ratio: float, largest: float, report: Callable[[int], None]
    ) -> FloatArray:
        """``of_changeable`` as far as the budget of the run goes; [1, infinity] for points that it does not reach."""
        found = np.tile([1.0, np.inf], (len(points), 1))
        for start in range(0, len(points), _AT_A_TIME):
            if is_over():
                break
            part = slice(start, start + _AT_A_TIME)
            # hard points at the beginning leave time for those at the end
            with share_of_run(min(_MORE_THAN_FAIR * _AT_A_TIME / (len(points) - start), 1.0)):
                found[part] = self.of_changeable(points[part], ratio=ratio, largest=largest)
            report(min(start + _AT_A_TIME, len(points)))
        return found

    def _same_for_every_rescaling(self, points: FloatArray) -> npt.NDArray[np.bool_]:
        """Points whose label no rescaling changes, as far as that is known without much work (not with a finite C)."""
        if self._fitted.margin.penalties is not None:
            return np.zeros(len(points), dtype=bool)
        if self._fitted.margin.nu is not None or self._every.abilities.enumerates:
            return self._every.engine.certify_checked(points).strong
        read, reading = self._fitted.training_set.as_read, self._fitted.training_set.reading
        sides = np.where(self._fitted.reference.decision_function(points) >= 0, 1, -1)
        return np.array(
            [
                has_forced_label(read, [Fraction(x) for x in point.tolist()], point, int(side))
                for point, side in zip(reading.values(points), sides, strict=True)
            ],
            dtype=bool,
        )
