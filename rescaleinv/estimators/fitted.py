"""What a fitted estimator is made of: computed as a whole, and only then given to the estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy.typing as npt

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines import EngineSettings
from rescaleinv.engines.choice import EngineChoice, choose_engine
from rescaleinv.estimators.margin import Margin, nothing_to_certify
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
    margin : Margin
        The rows that count, the SVM at the given scaling, and which margin it has.
    limits, groups : arrays or None
        The range of each factor and the group of each feature, where there are any.
    """

    parameters: dict[str, Any]
    classes: npt.NDArray[Any]
    margin: Margin
    limits: FloatArray | None
    groups: IntArray | None

    @property
    def training_set(self) -> TrainingSet:
        """The rows that count; it has the names of the features."""
        return self.margin.training_set

    @property
    def reference(self) -> ReferenceSVM:
        """The SVM at the given scaling."""
        return self.margin.reference

    @property
    def hard_margin(self) -> bool:
        return self.margin.reference.hard_margin

    @property
    def settings(self) -> EngineSettings:
        """What the engines are told."""
        given = self.parameters
        return EngineSettings(
            time_limit=given["time_limit"],
            max_vertices=given["max_vertices"],
            max_seconds=given["max_seconds"],
            n_jobs=given["n_jobs"],
            left_out=len(self.margin.dropped),
            limits=self.limits,
            groups=self.groups,
            penalties=self.margin.penalties,
            nu=self.margin.nu,
        )

    def engine_for(self, training_set: TrainingSet) -> EngineChoice:
        """The engine for these rows: those of the model, or the same rows in other values."""
        if self.margin.one_label:
            label = self.classes[int(self.reference.intercept >= 0)]
            return EngineChoice("none", nothing_to_certify(label), training_set, self.settings)
        return choose_engine(self.parameters["engine"], training_set, self.settings)
