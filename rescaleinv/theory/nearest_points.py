"""The nearest points of the two classes' reduced hulls in rationals, by Wolfe's method: no float decides anything.

Slower than a float solver whose answer is mended, and right where floats are not: with values so unlike that the squares of
some vanish beside those of others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from rescaleinv.theory.rationals import solve
from rescaleinv.theory.training_set import TrainingSet


def nearest_points(
    training_set: TrainingSet, caps: Sequence[Fraction], squared: Sequence[Fraction], most_steps: int
) -> list[Fraction] | None:
    """Multipliers 0 <= a_i <= cap_i, half of them in each class, with the least Σ_j τ_j² (Σ_i a_i y_i x_ij)².

    ``squared`` are the τ_j². None where it takes more than so many steps.

    Examples
    --------
    >>> ts = TrainingSet([[0.0, 0], [0, 2], [3, 1]], [-1, -1, 1])
    >>> nearest_points(ts, [Fraction(1)] * 3, [Fraction(1)] * 2, 10)
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    """
    rows, factors = integer_lines(training_set, squared)
    labels = training_set.signs.tolist()
    hulls = _Hulls(rows, labels, caps, factors)
    corners = [hulls.corner([sum(row) for row in rows])]
    shares = [Fraction(1)]
    for _ in range(most_steps):
        nearest, common = _combined([corner.place for corner in corners], shares)
        pulled = list(map(mul, factors, nearest))
        new = hulls.corner([y * sum(map(mul, pulled, row)) for row, y in zip(rows, labels, strict=True)])
        if sum(map(mul, pulled, new.place)) * common >= sum(map(mul, pulled, nearest)):
            break
        corners, shares = [*corners, new], [*shares, Fraction(0)]
        while True:
            best = _nearest_of_plane([corner.place for corner in corners], factors)
            if min(best) >= 0:
                shares = best
                break
            # as far towards it as no share becomes negative; the corner whose share is then 0 is left out
            step = min(old / (old - aim) for old, aim in zip(shares, best, strict=True) if aim < 0)
            shares = [old + step * (aim - old) for old, aim in zip(shares, best, strict=True)]
            kept = [k for k, share in enumerate(shares) if share > 0]
            corners, shares = [corners[k] for k in kept], [shares[k] for k in kept]
    else:
        return None
    multipliers, common = _combined([corner.multipliers for corner in corners], shares)
    return [Fraction(a, common * hulls.whole) for a in multipliers]


def integer_lines(training_set: TrainingSet, squared: Sequence[Fraction]) -> tuple[list[list[int]], list[int]]:
    """The rows from the least value of each feature, and the τ_j², as integers: in units per feature, up to one factor."""
    rows, exponents = training_set.integer_rows
    lowest = [min(column) for column in zip(*rows, strict=True)]
    factors = [t * Fraction(4) ** e for t, e in zip(squared, exponents, strict=True)]
    scale = math.lcm(*(t.denominator for t in factors))
    lines = [[value - low for value, low in zip(row, lowest, strict=True)] for row in rows]
    return lines, [int(t * scale) for t in factors]


class _Corner:
    """A corner of the difference of the two hulls: multipliers, as integers, and where they lead."""

    def __init__(self, multipliers: list[int], place: list[int]) -> None:
        self.multipliers, self.place = multipliers, place


class _Hulls:
    def __init__(
        self,
        rows: Sequence[Sequence[int]],
        labels: Sequence[int],
        caps: Sequence[Fraction],
        factors: Sequence[int],
    ) -> None:
        self.rows, self.labels, self.factors = rows, labels, factors
        self.whole = math.lcm(2, *(cap.denominator for cap in caps))  # multipliers are integers over this
        self.caps = [int(cap * self.whole) for cap in caps]

    def corner(self, scores: Sequence[int]) -> _Corner:
        """The corner of least Σ a_i score_i: in each class the rows of least score are at their caps."""
        multipliers = [0] * len(scores)
        left = {1: self.whole // 2, -1: self.whole // 2}
        for i in sorted(range(len(scores)), key=scores.__getitem__):
            y = self.labels[i]
            multipliers[i] = min(self.caps[i], left[y])
            left[y] -= multipliers[i]
        used = [(a * self.labels[i], self.rows[i]) for i, a in enumerate(multipliers) if a]
        return _Corner(multipliers, [sum(a * row[j] for a, row in used) for j in range(len(self.factors))])


def _combined(vectors: list[list[int]], shares: list[Fraction]) -> tuple[list[int], int]:
    """Σ share_k vector_k as integers over one denominator."""
    common = math.lcm(*(share.denominator for share in shares))
    whole = [int(share * common) for share in shares]
    return [sum(map(mul, whole, column)) for column in zip(*vectors, strict=True)], common


def _nearest_of_plane(places: list[list[int]], factors: Sequence[int]) -> list[Fraction]:
    """The shares, which add up to 1 and may be negative, of the point nearest to 0 in the plane through some places."""
    scaled = [list(map(mul, factors, place)) for place in places]
    lines = [[0, *([1] * len(places))]]
    lines += [[1, *(sum(map(mul, one, other)) for other in places)] for one in scaled]
    answer = solve(lines, [1, *([0] * len(places))])
    assert answer is not None  # as no place is in the plane of the others (Wolfe)
    return list(answer[1:])
