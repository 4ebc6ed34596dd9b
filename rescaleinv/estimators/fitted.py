"""What a fitted estimator is made of: computed as a whole, and only then given to the estimator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy.typing as npt

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines import EngineSettings
from rescaleinv.estimators.reference import ReferenceSVM
from rescaleinv.theory.training_set import TrainingSet

Estimator = TypeVar("Estimator")


@contextmanager
def all_or_nothing(estimator: Estimator) -> Iterator[Estimator]:
    """A copy to fit, which the estimator becomes if nothing goes wrong; if something does, it stays as it was."""
    draft: Estimator = object.__new__(type(estimator))
    draft.__dict__ = dict(vars(estimator))
    yield draft
    estimator.__dict__ = draft.__dict__


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of ``RescaleInvariantSVC.fit``, and all that ``save`` writes apart from an engine's own results.

    Attributes
    ----------
    parameters : dict
        Those of the estimator when it was fitted, whatever was set since.
    classes : array
        The negative and the positive label.
    training_set : TrainingSet
        The rows that count; it has the names of the features.
    dropped : int array
        Rows that were left out.
    reference : ReferenceSVM
        The SVM at the given scaling.
    limits, groups : arrays or None
        The range of each factor and the group of each feature, where there are any.
    penalties : array or None
        C times the weight of each row: a soft margin.
    """

    parameters: dict[str, Any]
    classes: npt.NDArray[Any]
    training_set: TrainingSet
    dropped: IntArray
    reference: ReferenceSVM
    limits: FloatArray | None
    groups: IntArray | None
    penalties: FloatArray | None

    @property
    def hard_margin(self) -> bool:
        return math.isinf(self.parameters["C"])

    @property
    def settings(self) -> EngineSettings:
        """What the engines are told."""
        given = self.parameters
        return EngineSettings(
            time_limit=given["time_limit"],
            max_vertices=given["max_vertices"],
            max_seconds=given["max_seconds"],
            n_jobs=given["n_jobs"],
            left_out=len(self.dropped),
            limits=self.limits,
            groups=self.groups,
            penalties=self.penalties,
        )
