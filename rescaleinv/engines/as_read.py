"""An engine for the data as they were written: it decides in the units of the reading, and answers in the units given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from rescaleinv import verify
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.engines import Engine, EngineSettings, EngineState, Extremes
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, Verdicts


class ReadingEngine(Engine):
    """Hands points to an engine of ``training_set.as_read``, and brings what it says back to the units that were given.

    For questions about every rescaling the two training sets are the same, but for the rounding of floats. Everything that
    ``Engine`` does not have is looked up in the inner ``engine``.
    """

    def __init__(self, engine: Engine, training_set: TrainingSet) -> None:
        self.engine = engine
        self.training_set = training_set
        self.name = engine.name
        self.scope = engine.scope

    @classmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        raise TypeError("a ReadingEngine is made of another engine")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "engine":
            raise AttributeError(name)
        return getattr(self.engine, name)

    def precompute(self) -> None:
        self.engine.precompute()

    def certify_checked(self, rows: FloatArray) -> Verdicts:
        verdicts = self.engine.certify_checked(self.training_set.reading.values(rows))
        return replace(verdicts, points=rows, engine=self)

    def explain(self, point: Any) -> Witness:
        given = self._checked_point(point)
        witness = self.engine.explain(self.training_set.reading.values(given))
        # its factors are those of given values already: witness_from knows what the training set was read from
        return replace(witness, certificate=witness.certificate.of_given_point(given))

    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        given = self._checked_point(point)
        return self.engine.certificate(self.training_set.reading.values(given), verdict).of_given_point(given)

    def prove(self, path: str | Path) -> Any:
        return self.engine.prove(path)

    @property
    def complexes(self) -> list[verify.Complex]:
        return self.engine.complexes

    def extremes(self) -> Extremes | None:
        inner = self.engine.extremes()
        if inner is None:
            return None
        # w·x + b of read values, as the same function of given ones, then in the conditioned units of these
        reading, outer = self.training_set.reading, self.training_set.conditioning
        weights = np.ldexp(inner.solutions[:, :-1], -inner.conditioning.exponent) / reading.units
        read_anchor = (outer.anchor - np.array([feature.origin for feature in reading])) / reading.units
        at_anchor = (read_anchor - inner.conditioning.anchor) * reading.units
        offsets = inner.solutions[:, -1] + weights @ at_anchor
        return Extremes(np.column_stack([np.ldexp(weights, outer.exponent), offsets]), outer)

    def state(self) -> EngineState | None:
        return self.engine.state()

    def restore_state(
        self, facts: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]], *, trusted: bool = False
    ) -> None:
        self.engine.restore_state(facts, arrays, trusted=trusted)


def reading_engine(engine: Engine, training_set: TrainingSet) -> Engine:
    """The engine itself, or with the reading of its training set around it where that changes anything."""
    return ReadingEngine(engine, training_set) if training_set.reading.changes else engine
