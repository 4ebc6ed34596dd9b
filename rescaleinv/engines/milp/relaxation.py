"""The bounded MILP behind section 5 of the paper: is there a rescale-optimal classifier on the other side of a point?

Weights are divided by their sum of absolute values, in conditioned units, so that every number in the model is about 1.
Signs of weights and gradient may agree by both being zero, so a solution is a *candidate*: a set of tight rows and a sign
vector that exact arithmetic must confirm. What it refutes comes back as clauses over the binary variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.milp.solvers.model import Model, RowBuilder
from rescaleinv.theory.optimality import CellTest
from rescaleinv.theory.training_set import TrainingSet

# The other side begins this far on the point's own side (conditioned units, weights of sum 1): so every face close to
# a tie becomes a candidate, to be decided in exact arithmetic, and a solver's tolerance of 1e-9 does not matter.
NEAR_TIE = 1e-6
# A row is tight, and a weight is zero, where the solver's solution has it within this.
_NEARLY = 1e-7


@dataclass(frozen=True)
class Clause:
    """One of the binary variables ``on`` is 1, or one of ``off`` is 0."""

    on: frozenset[int]
    off: frozenset[int]

    def rules_out(self, values: FloatArray) -> bool:
        return not any(values[k] > 0.5 for k in self.on) and not any(values[k] < 0.5 for k in self.off)


@dataclass(frozen=True)
class Candidate:
    """Tight rows and signs of weights that a solution proposes, as read off its values and as its binaries say.

    The first has every tight row of the second and no sign that the second has not.
    """

    values: FloatArray
    tight: list[int]
    signs: list[int]
    declared_tight: list[int]
    declared_signs: list[int]

    def readings(self) -> list[tuple[list[int], list[int]]]:
        both = [(self.tight, self.signs), (self.declared_tight, self.declared_signs)]
        return both if both[0] != both[1] else both[:1]


class Relaxation:
    """The part of the model that is the same for every point of a training set."""

    def __init__(self, training_set: TrainingSet) -> None:
        self.training_set = training_set
        self.n, self.m = training_set.n_features, training_set.n_rows
        # differences of floats, rounded once: large offsets, which conditioning keeps where they are exact, lose nothing
        self._lowest = training_set.features.min(axis=0)
        self.rows = self.conditioned(training_set.features)
        n, m = self.n, self.m
        sizes = {
            "up": n,
            "down": n,
            "intercept": 1,
            "margin": 1,
            "multiplier": m,
            "tight": m,
            "positive": n,
            "negative": n,
        }
        ends = np.cumsum(list(sizes.values())).tolist()
        self._start = {name: end - size for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self.n_variables = ends[-1]
        self.model = self._build()

    def conditioned(self, points: FloatArray) -> FloatArray:
        return np.ldexp(points - self._lowest, -self.training_set.conditioning.exponent)

    def tight(self, i: int) -> int:
        """The variable z_i: row i is tight."""
        return self._start["tight"] + i

    def signed(self, j: int, sign: int) -> int:
        """The variable p_j or q_j: weight j may be positive, or negative."""
        return self._start["positive" if sign > 0 else "negative"] + j

    def _block(self, name: str, size: int) -> range:
        return range(self._start[name], self._start[name] + size)

    def _score(self, row: FloatArray) -> tuple[list[int], FloatArray]:
        """w·x + b as positions and coefficients."""
        columns = [*self._block("up", self.n), *self._block("down", self.n), self._start["intercept"]]
        return columns, np.concatenate([row, -row, [1.0]])

    def _build(self) -> Model:
        n, m, rows = self.n, self.m, self.rows
        signs = self.training_set.signs.astype(float)
        ranges = rows.max(axis=0) - rows.min(axis=0)
        lower, upper = np.zeros(self.n_variables), np.ones(self.n_variables)
        intercept, margin = self._start["intercept"], self._start["margin"]
        lower[intercept], upper[intercept] = -2.0, 2.0  # |w·x| <= 1, and the margin is 1/2 at most
        upper[list(self._block("multiplier", m))] = 0.5
        for j in np.flatnonzero(ranges == 0).tolist():  # a feature that is constant on X never has weight
            for variable in (self.signed(j, 1), self.signed(j, -1)):
                upper[variable] = 0.0
        builder = RowBuilder(self.n_variables)
        weights = [*self._block("up", n), *self._block("down", n)]
        builder.add(weights, [1.0] * (2 * n), 1.0, 1.0)
        for sign in (1, -1):
            members = [self._start["multiplier"] + i for i in range(m) if signs[i] == sign]
            builder.add(members, [1.0] * len(members), 0.5, 0.5)
        # slack <= R_i (1 - z_i): each class has a tight row x', and |w·(x_i - x')| <= R_i, the largest of the differences
        widest = [float(np.abs(rows[signs == signs[i]] - rows[i]).max()) for i in range(m)]
        for i in range(m):
            columns, values = self._score(rows[i])
            columns, values = [*columns, margin], np.append(signs[i] * values, -1.0)
            builder.add(columns, values.tolist(), lower=0.0)
            builder.add([*columns, self.tight(i)], [*values.tolist(), widest[i]], upper=widest[i])
            builder.add([self._start["multiplier"] + i, self.tight(i)], [1.0, -0.5], upper=0.0)
        multipliers = list(self._block("multiplier", m))
        for j in range(n):
            positive, negative = self.signed(j, 1), self.signed(j, -1)
            builder.add([self._start["up"] + j, positive], [1.0, -1.0], upper=0.0)
            builder.add([self._start["down"] + j, negative], [1.0, -1.0], upper=0.0)
            builder.add([positive, negative], [1.0, 1.0], upper=1.0)
            gradient, half = (signs * rows[:, j]).tolist(), ranges[j] / 2
            builder.add([*multipliers, positive], [*gradient, -half], lower=-half)
            builder.add([*multipliers, negative], [*gradient, half], upper=half)
        integer = np.zeros(self.n_variables, dtype=bool)
        integer[self._start["tight"] :] = True
        return Model(lower, upper, integer, *builder.build())

    def question(self, point: FloatArray, side: int, clauses: Iterable[Clause]) -> Model:
        """Is there a classifier with side·f(point) <= 0 (or within ``NEAR_TIE`` of it), beyond what the clauses rule out?"""
        builder = RowBuilder(self.n_variables)
        columns, values = self._score(self.conditioned(point))
        size = np.abs(values).max()
        builder.add(columns, (side * values / size).tolist(), upper=NEAR_TIE)
        for clause in clauses:
            on, off = sorted(clause.on), sorted(clause.off)
            builder.add([*on, *off], [1.0] * len(on) + [-1.0] * len(off), lower=1.0 - len(off))
        return self.model.with_rows(*builder.build())

    def smallest_gap(self, point: FloatArray) -> float:
        """The smallest difference between two different values of a feature, rows and point, in conditioned units."""
        values = np.sort(np.vstack([self.rows, self.conditioned(point)]), axis=0)
        gaps = np.diff(values, axis=0)
        varies = self.rows.any(axis=0)  # a constant feature never has weight
        return float(gaps[:, varies][gaps[:, varies] > 0].min(initial=1.0))

    def candidate(self, values: FloatArray) -> Candidate:
        """What a solution proposes. Binaries are rounded."""
        n, m = self.n, self.m
        up, down = values[:n], values[n : 2 * n]
        weights = up - down
        scores = self.rows @ weights + values[self._start["intercept"]]
        slack = self.training_set.signs * scores - values[self._start["margin"]]
        declared = [self.tight(i) for i in range(m)]
        declared_tight = [i for i in range(m) if values[declared[i]] > 0.5]
        declared_signs = [
            int(values[self.signed(j, 1)] > 0.5) - int(values[self.signed(j, -1)] > 0.5) for j in range(n)
        ]
        tight = sorted({*declared_tight, *np.flatnonzero(slack <= _NEARLY).tolist()})
        signs = [s if abs(w) > _NEARLY else 0 for s, w in zip(declared_signs, weights.tolist(), strict=True)]
        return Candidate(values, tight, signs if any(signs) else declared_signs, declared_tight, declared_signs)

    def refuted(self, test: CellTest, signs: Sequence[int]) -> tuple[Clause, list[int]]:
        """The clause that follows where no multipliers exist, and the features that it is about.

        h·μ = Σ a_i y_i (h·x_i + t) is positive where all the weights in the support of h have their signs. So some row
        with y_i (h·x_i + t) > 0 must be tight: a row of *all* of them, not only of those that the candidate had.
        """
        assert test.direction is not None
        h, t = test.direction
        helpful = [i for i, value in enumerate(self.training_set.exact_margins(h, t)) if value > 0]
        about = [j for j, value in enumerate(h) if value]
        on = frozenset(self.tight(i) for i in helpful)
        return Clause(on, frozenset(self.signed(j, signs[j]) for j in about)), about
