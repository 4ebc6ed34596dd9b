"""Float vertices made exact: are they in the closure of RO(X), what do they say of a point, and at which rescaling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.finite_rescaling import label_at_finite_rescaling
from rescaleinv.engines.search.mend import without_violation
from rescaleinv.engines.search.simplex import Vertex
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.rationals import solve
from rescaleinv.theory.training_set import TrainingSet

_MOST_MENDS = 40
# Multipliers are rounded to so many bits: few make short certificates.
_BITS = (32, 53)
_LARGE_SYSTEM = 12  # from this size on python-flint, where it is installed, is worth the conversion


def solve_exactly(matrix: list[list[int]], rights: list[list[int]]) -> list[list[Fraction]] | None:
    """The solutions of a square system of integers for several right-hand sides; None where it is singular.

    >>> solve_exactly([[2, 1], [1, 3]], [[1, 2], [3, 4]])
    [[Fraction(1, 5), Fraction(3, 5)], [Fraction(1, 1), Fraction(1, 1)]]
    """
    if len(matrix) >= _LARGE_SYSTEM:
        try:
            from flint import fmpz_mat
        except ImportError:
            pass
        else:
            try:
                answer = fmpz_mat(matrix).solve(fmpz_mat([list(line) for line in zip(*rights, strict=True)]))
            except ZeroDivisionError:
                return None
            table = [[Fraction(int(x.p), int(x.q)) for x in line] for line in answer.tolist()]
            return [list(column) for column in zip(*table, strict=True)]
    found = [solve(matrix, right) for right in rights]
    return None if found[0] is None else [line for line in found if line is not None]


@dataclass(frozen=True)
class ExactVertex:
    """A vertex of the closure of RO(X), proved: (w, b) in rationals of the original units, with its multipliers.

    ``multipliers`` are those of the closure test; rows of ``inside`` (ν-margin) have theirs at the cap. Moving along
    ``step`` gives every feature without weight a weight in proportion to its μ_j, which leads into RO(X) itself unless the
    vertex is degenerate.
    """

    training_set: TrainingSet
    weights: list[Fraction]
    intercept: Fraction
    multipliers: dict[int, Fraction]
    inside: frozenset[int]
    gradient: list[Fraction]
    step: tuple[list[Fraction], Fraction]

    def value(self, point: Sequence[Fraction]) -> Fraction:
        """The decision value w·α + b."""
        return sum((w * x for w, x in zip(self.weights, point, strict=True)), self.intercept)

    @cached_property
    def _margins(self) -> list[Fraction]:
        return self.training_set.exact_margins(self.weights, self.intercept)

    @cached_property
    def _speeds(self) -> list[Fraction]:
        return self.training_set.exact_margins(*self.step)

    @cached_property
    def _longest_step(self) -> Fraction | None:
        """How far along ``step`` all margins and signs stay as they must be; None where not at all."""
        limits = [Fraction(1)]
        for i, (margin, speed) in enumerate(zip(self._margins, self._speeds, strict=True)):
            slack, change = (1 - margin, -speed) if i in self.inside else (margin - 1, speed)
            if change < 0:
                limits.append(slack / -change)
        for w, change, mu in zip(self.weights, self.step[0], self.gradient, strict=True):
            if w and w * change < 0:
                limits.append(w / -change / 2)
            elif not w and not change and mu:
                return None  # a feature of the basis whose weight is 0 by degeneracy: this step does not give it any
            elif not w and change and change * mu <= 0:
                return None
        return min(limits) if min(limits) > 0 else None

    def at_finite_rescaling(self, point: list[Fraction]) -> ExactClassifier:
        """The SVM of a finite rescaling near the vertex that labels the point as the vertex does.

        Raises
        ------
        CertificateError
            If the point lies on the vertex's hyperplane, or (ν-margin) a degenerate vertex has no such step.
        """
        value = self.value(point)
        if value == 0:
            raise CertificateError("the point lies on the classifier: no nearby one is bound to give it the same label")
        longest = self._longest_step
        if longest is None:
            if self.inside:
                raise CertificateError("the vertex is degenerate: no step from it leads to a finite rescaling")
            return label_at_finite_rescaling(self.training_set, self.weights, self.intercept, point)
        change = sum((w * x for w, x in zip(self.step[0], point, strict=True)), self.step[1])
        if change * value < 0:
            longest = min(longest, -value / change / 2)
        length = Fraction(1, 2 ** max(0, _log2_floor(1 / longest) + 1))
        weights = [w + length * h for w, h in zip(self.weights, self.step[0], strict=True)]
        inverse_squared = [mu / w if w else Fraction(1) for mu, w in zip(self.gradient, weights, strict=True)]
        return ExactClassifier(weights, self.intercept + length * self.step[1], self.multipliers, inverse_squared)


def _log2_floor(value: Fraction) -> int:
    """⌊log2⌋ of a number >= 1."""
    return (value.numerator // value.denominator).bit_length() - 1


class ExactVertices:
    """Makes float vertices exact; each one once.

    Parameters
    ----------
    training_set : TrainingSet
    caps : list of Fraction, optional
        The ν-margin's largest multipliers, exactly (they sum to more than 1/2 over each class); none for the hard margin.
    """

    def __init__(self, training_set: TrainingSet, caps: list[Fraction] | None = None) -> None:
        self.training_set = training_set
        self.caps = caps
        self._known: dict[tuple[int, ...], ExactVertex | None] = {}

    def of(self, vertex: Vertex, costs: FloatArray) -> ExactVertex | None:
        """The vertex with the proof that it is in the closure of RO(X); None where that fails.

        ``costs`` are those at which it is optimal, in floats of conditioned units: they give the multipliers.
        """
        key = (*vertex.on, -1, *vertex.zero)
        if key not in self._known:
            self._known[key] = self._prove(vertex, costs)
        return self._known[key]

    def _cap(self, row: int) -> Fraction:
        if self.caps is None:
            raise CertificateError(f"row {row} has no cap: with the hard margin no multiplier has one")
        return self.caps[row]

    def _prove(self, vertex: Vertex, costs: FloatArray) -> ExactVertex | None:
        """Near ties make a float vertex miss conditions by next to nothing: it is mended, one condition at a time."""
        for _ in range(_MOST_MENDS):
            missed: int | None = None
            for bits in _BITS:
                multipliers = self._rounded_multipliers(vertex, costs, bits)
                found = None if multipliers is None else self._check(vertex, multipliers)
                if isinstance(found, ExactVertex):
                    return found
                missed = found if missed is None else missed
            mended = None
            if missed is not None and self.caps is None:
                mended = without_violation(self.training_set, vertex, costs, missed)
            if mended is None:
                return None
            vertex = mended
        return None

    def _rounded_multipliers(self, vertex: Vertex, costs: FloatArray, bits: int) -> dict[int, Fraction] | None:
        """a with μ_j ≈ ±c_j on the features with weight, rounded, each class summing to exactly 1/2."""
        ts = self.training_set
        y: FloatArray = ts.signs.astype(float)
        support = [j for j in range(ts.n_features) if j not in set(vertex.zero)]
        rows = np.column_stack([ts.conditioned[vertex.on][:, support], np.ones(len(vertex.on))]) * y[vertex.on, None]
        target = np.append(costs[support] * vertex.signs[support], 0.0)
        inner = np.column_stack([ts.conditioned[vertex.inside][:, support], np.ones(len(vertex.inside))])
        caps = np.array([float(self._cap(i)) for i in vertex.inside])
        pushed: FloatArray = (caps * y[vertex.inside]) @ inner
        try:
            # a = θ p - q, and θ makes the sum, that of the caps included, 1
            p, q = np.linalg.solve(rows.T, np.column_stack([target, pushed])).T
        except np.linalg.LinAlgError:
            return None
        theta = (1 - caps.sum() + q.sum()) / p.sum()
        values = theta * p - q
        if not np.isfinite(values).all() or values.min() < -1e-9:
            return None
        unit = Fraction(1, 2**bits)
        found = {i: max(round(Fraction(float(a)) / unit), 0) * unit for i, a in zip(vertex.on, values, strict=True)}
        for i in vertex.inside:
            found[i] = self._cap(i)
        for sign in (1, -1):
            members = [i for i in vertex.on if y[i] == sign]
            if not members:
                return None
            largest = max(members, key=found.__getitem__)
            found[largest] += Fraction(1, 2) - sum(a for i, a in found.items() if y[i] == sign)
        return {i: a for i, a in found.items() if a}

    def _check(self, vertex: Vertex, multipliers: dict[int, Fraction]) -> ExactVertex | int | None:
        """Every condition of the closure, exactly; or the row, or the feature (n_rows + j), that misses its own most."""
        ts = self.training_set
        if min(multipliers.values()) < 0:
            return None
        if self.caps is not None and any(a > self.caps[i] for i, a in multipliers.items()):
            return None
        rows, exponents = ts.integer_rows
        y: list[int] = ts.signs.tolist()
        zero = set(vertex.zero)
        support = [j for j in range(ts.n_features) if j not in zero]
        scaled = _gradient(rows, y, multipliers, ts.n_features)  # μ_j 2^-e_j
        # the weights that the step gives: μ_j in conditioned units, back in the units of the integers
        units = [int(e) - own for e, own in zip(ts.conditioning.exponent, exponents, strict=True)]
        given = [scaled[j] / Fraction(4) ** units[j] if j in zero else Fraction(0) for j in range(ts.n_features)]
        common = math.lcm(*(value.denominator for value in given))
        whole = [int(value * common) for value in given]
        matrix = [[y[i] * value for value in (*(rows[i][j] for j in support), 1)] for i in vertex.on]
        pushes = [-y[i] * sum(whole[j] * rows[i][j] for j in zero) for i in vertex.on]
        answer = solve_exactly(matrix, [[1] * len(vertex.on), pushes])
        if answer is None:
            return None
        weights, steps = [Fraction(0)] * ts.n_features, list(given)
        for position, j in enumerate(support):
            weights[j], steps[j] = answer[0][position], answer[1][position] / common
        wrong = [j for j in support if weights[j] * scaled[j] < 0]
        if wrong:
            return ts.n_rows + max(wrong, key=lambda j: abs(weights[j]) * Fraction(2) ** units[j])
        if any(w and not mu for w, mu in zip(weights, scaled, strict=True)):
            return None
        powers = [Fraction(2) ** e for e in exponents]
        found = ExactVertex(
            ts,
            [w / unit for w, unit in zip(weights, powers, strict=True)],
            answer[0][-1],
            multipliers,
            frozenset(vertex.inside),
            [mu * unit for mu, unit in zip(scaled, powers, strict=True)],
            ([w / unit for w, unit in zip(steps, powers, strict=True)], answer[1][-1] / common),
        )
        slacks = [1 - margin if i in found.inside else margin - 1 for i, margin in enumerate(found._margins)]
        least = min(slacks)
        return found if least >= 0 else slacks.index(least)


def _gradient(rows: list[list[int]], y: list[int], multipliers: dict[int, Fraction], n_features: int) -> list[Fraction]:
    """Σ a_i y_i x_i in the units of the integer rows."""
    common = math.lcm(*(a.denominator for a in multipliers.values()))
    signed = [(int(a * common) * y[i], rows[i]) for i, a in multipliers.items()]
    return [Fraction(sum(a * row[j] for a, row in signed), common) for j in range(n_features)]
