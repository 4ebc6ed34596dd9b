"""From a tree in floats to evidence in exact rationals, as ``rescaleinv.verify`` checks it (kind "tree")."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from scipy.linalg import qr

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.engines.branch.free.tree import Fact, Leaf, Proof, Split, opposite
from rescaleinv.engines.search.exact import solve_exactly
from rescaleinv.theory.rationals import nonnegative_solution, rational_text

# Prices are rounded to multiples of 2^-bits; the values of leaves have more than that to spare.
_BITS = 40
# A price that is nearer to its row's cap than this share of it is at the cap.
_AT_CAP = 1e-9
# A weight's price that is nearer to its limit than this is put on it exactly.
_ON_LIMIT = 1e-6

_WORDS = {kernel.D_LOW: "ratio", kernel.W_LOW: "weight", kernel.M_LOW: "gradient"}
_FIRST = (kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH, kernel.ROW_OUT, kernel.ROW_IN)


class Writer:
    """Writes the proof of one point in preorder: splits as lists, leaves as objects with their prices."""

    def __init__(self, problem: PointProblem) -> None:
        self.problem = problem
        self.region = np.zeros((kernel.N_KINDS, problem.G.shape[1]))
        self.region[[kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH]] = np.inf

    def entries(self, proof: Proof, assumed: Sequence[Fact] = ()) -> list[Any]:
        """The tree as a list; a part of one where something was assumed."""
        found: list[Any] = []
        waiting: list[tuple[Proof, FloatArray]] = [(proof, reduce(_with, assumed, self.region))]
        while waiting:
            node, region = waiting.pop()
            if isinstance(node, Leaf):
                found.append(self._leaf(node, region))
                continue
            if isinstance(node, Split):
                found.append(self.split(node.fact))
                halves = [(node.fact, node.holds), (opposite(node.fact), node.fails)]
                if not self.comes_first(node.fact):
                    halves.reverse()
                waiting += [(part, _with(region, fact)) for fact, part in reversed(halves)]
                continue
            found.append(self._direction(node.direction, node.offset))
            after = region.copy()
            after[kernel.W_HIGH, list(node.direction)] = 0.0
            waiting.append((node.then, after))
        return found

    @staticmethod
    def comes_first(fact: Fact) -> bool:
        """Whether a certificate has this half of a split before the other one."""
        return fact.kind in _FIRST or (fact.kind == kernel.SIGN and fact.value > 0)

    def split(self, fact: Fact) -> list[Any]:
        """The entry of a split."""
        first = fact if self.comes_first(fact) else opposite(fact)
        if first.kind == kernel.SIGN:
            return ["sign", first.item]
        if first.kind == kernel.ROW_OUT:
            return ["row", first.item]
        if first.kind == kernel.ROW_IN:
            return ["cap", first.item]
        low = first.kind - 1
        power = {kernel.D_LOW: -2, kernel.W_LOW: 1, kernel.M_LOW: -1}[low]
        unit = Fraction(float(self.problem.units[first.item])) ** power
        if low != kernel.W_LOW:
            unit /= self.problem.total
        return [_WORDS[low], first.item, rational_text(Fraction(first.value) * unit)]

    def _direction(self, direction: dict[int, Fraction], offset: Fraction) -> dict[str, Any]:
        found: dict[str, Any] = {"h": {str(j): rational_text(value) for j, value in direction.items()}}
        return found if self.problem.caps is not None else {**found, "t": rational_text(offset)}

    def _leaf(self, leaf: Leaf, region: FloatArray) -> dict[str, Any]:
        margins = self._exact_margins(leaf, region)
        gradients = {}
        for j, value in enumerate(self._exact_gradient(leaf.gradient, region)):
            if value:
                gradients[str(j)] = rational_text(value * Fraction(float(self.problem.units[j])))
        total = self.problem.total
        return {"r": {str(i): rational_text(value / total) for i, value in margins.items() if value}, "v": gradients}

    def _exact_gradient(self, v: FloatArray, region: FloatArray) -> list[Fraction]:
        """Rounded, and where μ_j has no bound not above what its price may be."""
        exact = []
        for value, sign, high, w_low, m_high in zip(
            v.tolist(),
            *(region[k].tolist() for k in (kernel.SIGN, kernel.D_HIGH, kernel.W_LOW, kernel.M_HIGH)),
            strict=True,
        ):
            rounded = Fraction(round(value * 2**_BITS), 2**_BITS)
            if not sign:
                rounded = Fraction(0)
            elif np.isinf(high) and np.isinf(m_high):
                rounded = int(sign) * min(int(sign) * rounded, Fraction(w_low))
            exact.append(rounded)
        return exact

    def _exact_margins(self, leaf: Leaf, region: FloatArray) -> dict[int, Fraction]:
        """Rounded, then mended so that weights without a bound get no price above what it may be: one exact solution."""
        problem = self.problem
        margins = {i: self._rounded_price(i, value) for i, value in leaf.margins.items()}
        rows = list(margins)
        if not rows:
            return margins
        sign, low, _, _, w_high, m_low, _ = region
        bounded = (low > 0) | np.isfinite(w_high)
        limit = np.where(sign == 0, 0.0, sign * np.maximum(m_low, low * region[kernel.W_LOW]))
        W = np.array([leaf.margins[i] for i in rows]) @ problem.G[rows]
        above = np.where(sign == 0, np.abs(W), sign * (W - limit))
        must = np.flatnonzero((sign == 0) | (~bounded & (above > -_ON_LIMIT)))
        if not len(must):
            return margins
        # which rows: those with large prices, as far as they are independent; which features: as far as these reach
        scale = np.array([self._room(i, leaf.margins[i]) for i in rows])
        table = (problem.G[rows] * scale[:, None])[:, must]
        _, triangle, order = qr(table.T, pivoting=True, mode="economic")
        diagonal = np.abs(np.diag(triangle))
        rank = int((diagonal > 1e-9 * max(diagonal[0], 1e-300)).sum())
        chosen = [rows[k] for k in order[:rank]]
        _, _, feature_order = qr(problem.G[chosen][:, must], pivoting=True, mode="economic")
        features = [int(must[k]) for k in feature_order[:rank]]
        whole = problem.whole
        matrix = [[whole[i][j] for i in chosen] for j in features]
        right = [
            Fraction(float(limit[j])) * problem.scales[j] - weight
            for j, weight in zip(features, self._weight_prices(margins, features), strict=True)
        ]
        common = math.lcm(*(value.denominator for value in right))
        change = solve_exactly(matrix, [[int(value * common) for value in right]])
        if change is not None:
            for i, by in zip(chosen, change[0], strict=True):
                margins[i] += by / common
        return (
            margins
            if self._on_limits(margins, must.tolist(), limit)
            else self._by_simplex(margins, must.tolist(), limit)
        )

    def _cap(self, row: int) -> Fraction | None:
        """In the units of the prices; None where no price comes near it, as floats take caps above 1 for 1."""
        caps = self.problem.caps
        return None if caps is None or caps[row] >= 2 else caps[row] * self.problem.total

    def _rounded_price(self, row: int, price: float) -> Fraction:
        """A price that is at the row's cap, as far as floats can tell, is at the exact one."""
        cap = self._cap(row)
        if cap is not None and abs(price - float(cap)) <= _AT_CAP * float(cap):
            return cap
        return Fraction(round(price * 2**_BITS), 2**_BITS)

    def _room(self, row: int, price: float) -> float:
        """How far a price may be changed either way."""
        cap = self._cap(row)
        if cap is None or price < 0 or price > float(cap) * (1 + _AT_CAP):
            return abs(price)
        room = min(price, float(cap) - price)
        return room if room > _AT_CAP * float(cap) else 0.0

    def _on_limits(self, margins: dict[int, Fraction], features: list[int], limit: FloatArray) -> bool:
        """Are these prices exactly what they must be, without a change of any sign?"""
        return all(
            weight == Fraction(float(limit[j])) * self.problem.scales[j]
            for j, weight in zip(features, self._weight_prices(margins, features), strict=True)
        )

    def _weight_prices(self, margins: dict[int, Fraction], features: list[int]) -> list[Fraction]:
        """Σ r_i G_ij of these features, each in the unit of its whole numbers."""
        common = math.lcm(*(price.denominator for price in margins.values()))
        numbers = [price.numerator * (common // price.denominator) for price in margins.values()]
        rows = [self.problem.whole[i] for i in margins]
        return [Fraction(sum(map(mul, numbers, [row[j] for row in rows])), common) for j in features]

    def _by_simplex(self, margins: dict[int, Fraction], features: list[int], limit: FloatArray) -> dict[int, Fraction]:
        """Prices with the same sum from any rows, by the exact simplex method, where rounding met dependent rows."""
        if min(margins.values()) < 0 or self.problem.caps is not None:
            return margins
        problem = self.problem
        count = len(problem.whole)
        lines = [[problem.whole[i][j] for i in range(count)] for j in features] + [[1] * count]
        right = [Fraction(float(limit[j])) * problem.scales[j] for j in features] + [sum(margins.values(), Fraction(0))]
        found = nonnegative_solution(lines, right, first=list(margins)).solution
        return margins if found is None else {i: price for i, price in enumerate(found) if price}


def _with(region: FloatArray, fact: Fact) -> FloatArray:
    """What is known with one fact more. (Those of rows do not matter for rounding.)"""
    if fact.kind >= kernel.N_KINDS:
        return region
    after = region.copy()
    stronger = max if fact.kind in (kernel.D_LOW, kernel.W_LOW, kernel.M_LOW) else min
    after[fact.kind, fact.item] = (
        fact.value if fact.kind == kernel.SIGN else stronger(after[fact.kind, fact.item], fact.value)
    )
    return after
