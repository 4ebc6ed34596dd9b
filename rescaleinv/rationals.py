"""Exact linear algebra and linear feasibility over the rationals: the last word where a float is too near a tie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np


def _integer_row(row: Iterable[Any]) -> list[int]:
    """A positive multiple of the row that has integer entries."""
    fractions = [Fraction(value) for value in row]
    common = math.lcm(*(value.denominator for value in fractions))
    return [int(value * common) for value in fractions]


def solve(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Fraction] | None:
    """The solution of a square linear system, or None where the matrix is singular.

    Elimination without fractions (Bareiss): every entry stays an integer, which is many times faster than
    arithmetic with ``Fraction``.

    >>> solve([[2, 1], [1, 3]], [1, 2])
    [Fraction(1, 5), Fraction(3, 5)]
    >>> solve([[1, 2], [2, 4]], [1, 2]) is None
    True
    """
    size = len(matrix)
    rows = [_integer_row([*line, value]) for line, value in zip(matrix, right, strict=True)]
    previous = 1
    for k in range(size):
        pivot_row = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot_row is None:
            return None
        rows[k], rows[pivot_row] = rows[pivot_row], rows[k]
        pivot, upper = rows[k][k], rows[k]
        for i in range(size):
            if i != k:
                factor = rows[i][k]
                rows[i] = [
                    (value * pivot - factor * above) // previous for value, above in zip(rows[i], upper, strict=True)
                ]
        previous = pivot
    return [Fraction(row[size], row[k]) for k, row in enumerate(rows)]


@dataclass(frozen=True)
class Feasibility:
    """Either ``solution`` x >= 0 with A x = b, or ``refutation`` y with yᵀA <= 0 and yᵀb > 0; the other is None."""

    solution: list[Fraction] | None
    refutation: list[Fraction] | None


def nonnegative_solution(
    matrix: Sequence[Sequence[Any]], right: Sequence[Any], first: Iterable[int] = ()
) -> Feasibility:
    """Find x >= 0 with A x = b, or prove that there is none; exactly.

    The simplex method in integers with Bland's rule (it can't cycle). Columns in ``first``, such as the support of a
    float solution, are tried before the others. The solution is basic: its columns are linearly independent.

    >>> nonnegative_solution([[1, 1], [1, -1]], [2, 0]).solution
    [Fraction(1, 1), Fraction(1, 1)]
    >>> nonnegative_solution([[1, 1]], [-1]).refutation
    [Fraction(-1, 1)]
    """
    n_rows, n_columns = len(matrix), len(matrix[0]) if matrix else 0
    scales, body = [], []
    for line, value in zip(matrix, right, strict=True):
        integers = _integer_row([*line, value])
        sign = -1 if integers[-1] < 0 else 1
        body.append([sign * entry for entry in integers])
        original = next(((Fraction(v), i) for v, i in zip([*line, value], integers, strict=True) if i), None)
        scales.append(sign * (original[1] / original[0]) if original else Fraction(1))
    order = list(dict.fromkeys([*first, *range(n_columns)]))
    # columns: the unknowns, one artificial a row, the right-hand side; the last row holds the reduced costs
    table = np.zeros((n_rows + 1, n_columns + n_rows + 1), dtype=object)
    for i, line in enumerate(body):
        table[i, :n_columns] = [line[j] for j in order]
        table[i, n_columns + i] = 1
        table[i, -1] = line[-1]
    table[-1, :n_columns] = -table[:-1, :n_columns].sum(axis=0)
    table[-1, -1] = -table[:-1, -1].sum()
    basis = list(range(n_columns, n_columns + n_rows))
    denominator = 1
    while table[-1, -1] != 0:
        entering = next((j for j in range(n_columns) if table[-1, j] < 0), None)
        if entering is None:
            duals = [1 - Fraction(int(table[-1, n_columns + i]), denominator) for i in range(n_rows)]
            return Feasibility(None, [y * scale for y, scale in zip(duals, scales, strict=True)])
        candidates = [i for i in range(n_rows) if table[i, entering] > 0]
        leaving = min(candidates, key=lambda i: (Fraction(int(table[i, -1]), int(table[i, entering])), basis[i]))
        pivot = table[leaving, entering]
        pivot_row = table[leaving].copy()
        table = (table * pivot - np.outer(table[:, entering], pivot_row)) // denominator
        table[leaving] = pivot_row
        denominator = int(pivot)
        basis[leaving] = entering
    solution = [Fraction(0)] * n_columns
    for i, column in enumerate(basis):
        if column < n_columns:
            solution[order[column]] = Fraction(int(table[i, -1]), denominator)
    return Feasibility(solution, None)
