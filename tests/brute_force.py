"""An independent exact reference for small training sets: every cell of RO(X), by enumeration in fractions.

It shares no code with the package beyond reading the rows: basic solutions by elimination, cells as joins of vertices,
multipliers by intersecting the cone of the pair differences (the paper's Λ) with half-spaces, one after the other.
Meant for up to 3 features and 6 or 7 rows; the work grows as 2^rows · 3^features.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

from rescaleinv.verdict import Verdict

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Vertex:
    """A basic solution (w, b) of C(X) with coordinate planes: its classifier, tight rows and signs of weights."""

    weights: Vector
    intercept: Fraction
    tight: frozenset[int]
    signs: tuple[int, ...]

    def value(self, point: Vector) -> Fraction:
        return sum((w * x for w, x in zip(self.weights, point, strict=True)), self.intercept)


@dataclass(frozen=True)
class Cell:
    """A cell of RO(X): its full tight set, its signs, and the vertices of its closure."""

    tight: frozenset[int]
    signs: tuple[int, ...]
    vertices: tuple[Vertex, ...]


def gaussian_elimination(matrix, right):
    """The textbook's method with fractions; None where the matrix is singular."""
    rows = [[Fraction(v) for v in (*line, value)] for line, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                rows[i] = [v - rows[i][k] * above for v, above in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def _all_vertices(points, labels):
    n = len(points[0])
    lines = [([y * x for x in point] + [y], 1) for point, y in zip(points, labels, strict=True)]
    lines += [([int(k == j) for k in range(n)] + [0], 0) for j in range(n)]
    found = set()
    for chosen in combinations(lines, n + 1):
        answer = gaussian_elimination([line for line, _ in chosen], [value for _, value in chosen])
        if answer is None:
            continue
        *weights, intercept = answer
        margins = [
            y * (sum(w * x for w, x in zip(weights, point, strict=True)) + intercept)
            for point, y in zip(points, labels, strict=True)
        ]
        if min(margins) >= 1:
            tight = frozenset(i for i, margin in enumerate(margins) if margin == 1)
            found.add(Vertex(tuple(weights), intercept, tight, tuple((w > 0) - (w < 0) for w in weights)))
    return sorted(found, key=lambda v: (v.weights, v.intercept))


def _primitive(vector):
    common = math.lcm(*(v.denominator for v in vector))
    integers = [int(v * common) for v in vector]
    divisor = math.gcd(*integers) or 1
    return tuple(Fraction(v // divisor) for v in integers)


def _cut(generators, j, sign):
    """Generators of the part of a cone with sign·x_j >= 0, or x_j = 0 where the sign is 0 (Motzkin's double description)."""
    height = {g: g[j] * (sign or 1) for g in generators}
    kept = {g for g in generators if height[g] == 0 or (sign and height[g] > 0)}
    for up in (g for g in generators if height[g] > 0):
        for down in (g for g in generators if height[g] < 0):
            kept.add(_primitive([height[up] * d - height[down] * u for u, d in zip(up, down, strict=True)]))
    return kept


def has_multipliers(points, labels, tight, signs):
    """Is there μ = Σ a_i y_i x_i with a >= 0 on the tight rows, Σ a_i y_i = 0, that has exactly these signs?

    Such μ are the cone of the differences x+ - x-.
    """
    positive = [points[i] for i in tight if labels[i] > 0]
    negative = [points[i] for i in tight if labels[i] < 0]
    cone = {_primitive([a - b for a, b in zip(p, q, strict=True)]) for p in positive for q in negative}
    for j, sign in enumerate(signs):
        cone = _cut(cone, j, sign)
    return all(any(g[j] * sign > 0 for g in cone) for j, sign in enumerate(signs) if sign)


@lru_cache(maxsize=256)
def _cells(points, labels):
    vertices = _all_vertices(points, labels)
    cells = []
    for signs in product((-1, 0, 1), repeat=len(points[0])):
        fitting = [v for v in vertices if all(a in (0, s) for a, s in zip(v.signs, signs, strict=True))]
        for size in range(2, len(points) + 1):
            for tight in map(frozenset, combinations(range(len(points)), size)):
                corner = [v for v in fitting if tight <= v.tight]
                # the closure of a cell of RO(X) is bounded: the cell is not empty iff it is the join of its vertices
                if not corner or frozenset.intersection(*(v.tight for v in corner)) != tight:
                    continue
                if any(s and all(v.signs[j] == 0 for v in corner) for j, s in enumerate(signs)):
                    continue
                if has_multipliers(points, labels, tight, signs):
                    cells.append(Cell(tight, signs, tuple(corner)))
    return cells


def rescale_optimal_cells(training_set):
    """All cells of RO(X); the union of their closures is the closure of RO(X)."""
    points = tuple(tuple(map(Fraction, row)) for row in training_set.features.tolist())
    return _cells(points, tuple(training_set.signs.tolist()))


def exact_vertices(training_set):
    """V(X), the vertices of the closures of the cells, as a set of ``Vertex``."""
    return {v for cell in rescale_optimal_cells(training_set) for v in cell.vertices}


def exact_range(training_set, point):
    """Infimum and supremum of the decision value at the point over all the rescalings."""
    exact_point = tuple(map(Fraction, map(float, point)))
    values = [v.value(exact_point) for v in exact_vertices(training_set)]
    return min(values), max(values)


def exact_verdict(training_set, point):
    """The verdict: f >= 0 is positive, and for a negative label only RO(X) itself counts, not its closure."""
    exact_point = tuple(map(Fraction, map(float, point)))
    if exact_range(training_set, point)[0] >= 0:
        return Verdict.STRONGLY_POSITIVE
    for cell in rescale_optimal_cells(training_set):
        values = [v.value(exact_point) for v in cell.vertices]
        # the relative interior of the cell has values >= 0 iff one vertex has f > 0 or all have f = 0
        if max(values) > 0 or min(values) == 0:
            return Verdict.NEUTRAL
    return Verdict.STRONGLY_NEGATIVE
