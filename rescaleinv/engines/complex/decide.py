"""What the vertices say of one point, exactly: where decision values are near zero, rationals take the place of floats."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.finite_rescaling import label_at_finite_rescaling
from rescaleinv.certificates.two_rescalings import exact_optimum
from rescaleinv.engines.complex.ties import ExactVertex, ExactVertices, attained_tie
from rescaleinv.engines.complex.walk import Vertices
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict

# Decision values nearer to zero than this, relative to the margin and the sizes of their terms, are decided in rationals.
NEAR = 1e-9


@dataclass(frozen=True)
class Decision:
    """The verdict of one point, the range of its decision values, and why it is unknown if it is."""

    code: Verdict
    lower: float
    upper: float
    reason: str = ""


@dataclass(frozen=True)
class _Values:
    """The decision values of a point at all vertices, and which of them are too near zero for a float to have a sign."""

    value: FloatArray
    near: npt.NDArray[np.bool_]


class ExactDecisions:
    """Decides points by the vertices of ``reduced``, the rows of the training set that matter."""

    def __init__(
        self, training_set: TrainingSet, reduced: TrainingSet, vertices: Vertices, seconds: float | None = None
    ) -> None:
        self.training_set = training_set
        self.reduced = reduced
        self.vertices = vertices
        self.exact = ExactVertices(reduced, vertices)
        self.seconds = seconds  # for the question whether a tie is attained, of one point

    def near(self, points: FloatArray) -> FloatArray:
        """For each point, how near zero its least or largest decision value must be to have no sign of its own."""
        largest = np.abs(self.vertices.solutions).max(axis=0)
        with np.errstate(over="ignore"):  # an infinite nearness sends the point to the rationals
            size = 1 + np.abs(self.reduced.conditioning.apply(points)) @ largest[:-1] + largest[-1]
        nearness: FloatArray = NEAR * size
        return nearness

    def decide(self, point: FloatArray) -> Decision:
        """The verdict of a point, whatever its decision values are."""
        values = self._values(point)
        exact = self._exact_values(point, values)
        clear = values.value[~values.near]
        lower = min([*map(_to_float, exact.values()), clear.min(initial=np.inf)])
        upper = max([*map(_to_float, exact.values()), clear.max(initial=-np.inf)])
        any_negative = bool((clear < 0).any()) or min(exact.values(), default=0) < 0
        any_positive = bool((clear > 0).any()) or max(exact.values(), default=0) > 0
        if not any_negative:
            return Decision(Verdict.STRONGLY_POSITIVE, lower, upper)
        if any_positive:
            return Decision(Verdict.NEUTRAL, lower, upper)
        tie = attained_tie(self.reduced, [self.exact[v] for v, value in exact.items() if value == 0], self.seconds)
        if not tie.decided:
            why = "the largest decision value is 0, and whether a finite rescaling attains it was not decided"
            return Decision(Verdict.UNKNOWN, lower, upper, why)
        return Decision(Verdict.STRONGLY_NEGATIVE if tie.classifier is None else Verdict.NEUTRAL, lower, upper)

    def tie_refutations(self, point: FloatArray) -> list[list[Fraction]]:
        """For a strongly negative point: vectors (h, t) which show that no finite rescaling has the value 0."""
        exact = self._exact_values(point, self._values(point))
        return attained_tie(self.reduced, [self.exact[v] for v, value in exact.items() if value == 0]).refutations

    def classifier(self, point: FloatArray, side: int) -> ExactClassifier | None:
        """A classifier of RO(X) that puts the point on the given side, exactly, if the vertices have one."""
        values = self._values(point)
        exact_point = [Fraction(x) for x in point.tolist()]
        clear = np.flatnonzero(~values.near & (side * values.value > 0))
        doubtful = self.exact.distinct(np.flatnonzero(values.near))
        zeros: list[ExactVertex] = []
        for v in [*clear[np.argsort(-side * values.value[clear])][:3].tolist(), *doubtful]:
            vertex = self.exact[v]
            value = vertex.value(exact_point)
            if side * value > 0:
                return label_at_finite_rescaling(self.training_set, vertex.weights, vertex.intercept, exact_point)
            if value == 0:
                zeros.append(vertex)
        if side > 0 and zeros:
            tie = attained_tie(self.reduced, zeros)
            if tie.classifier is not None:
                return exact_optimum(self.training_set, *tie.classifier)
        return None

    def _values(self, point: FloatArray) -> _Values:
        solutions = self.vertices.solutions
        conditioned = self.reduced.conditioning.apply(point)
        with np.errstate(over="ignore", invalid="ignore"):
            values = solutions[:, :-1] @ conditioned + solutions[:, -1]
            size = 1 + np.abs(solutions[:, :-1]) @ np.abs(conditioned) + np.abs(solutions[:, -1])
        return _Values(values, ~(np.abs(values) > NEAR * size))  # a nan, from terms that overflow, is near too

    def _exact_values(self, point: FloatArray, values: _Values) -> dict[int, Fraction]:
        """The exact decision values at the vertices where floats have no sign, one vertex for each solution."""
        exact_point = [Fraction(x) for x in point.tolist()]
        chosen = self.exact.distinct(np.flatnonzero(values.near))
        return {v: self.exact[v].value(exact_point) for v in chosen}


def _to_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
