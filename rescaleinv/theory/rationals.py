"""Exact linear algebra and linear programming over the rationals: what decides where a float is too close to a tie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

# Systems of this size or larger are worth handing to python-flint.
_FLINT_FROM = 5


def _exact(value: Any) -> Fraction:
    """The number as a rational of Python integers; numpy integers overflow silently, even inside a ``Fraction``."""
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def _integer_row(row: Iterable[Any]) -> list[int]:
    """A positive multiple of the row that has integer entries."""
    values = list(row)
    if all(type(value) is int for value in values):  # most rows are; they skip the slow arithmetic of fractions
        return values
    fractions = [_exact(value) for value in values]
    common = math.lcm(*(value.denominator for value in fractions))
    return [int(value * common) for value in fractions]


@cache
def _integer_matrix() -> Any:
    """The matrices of python-flint, or None where it is not installed."""
    try:
        from flint import fmpz_mat
    except ImportError:
        return None
    return fmpz_mat


def _diagonalised(rows: list[list[int]]) -> list[list[int]] | None:
    """The table [A | B] brought to [d·1 | N], so that A N = d B; None where the square matrix A is singular.

    Elimination without fractions (Bareiss): every entry stays an integer, which is many times faster than arithmetic
    with ``Fraction``. Larger systems are left to python-flint where it is installed: the same numbers up to a common factor.
    """
    size = len(rows)
    if size >= _FLINT_FROM and (matrix := _integer_matrix()) is not None:
        reduced, _, _ = matrix(rows).rref()
        entries = [[int(value) for value in line] for line in reduced.tolist()]
        return entries if all(entries[i][i] for i in range(size)) else None
    previous = 1
    for k in range(len(rows)):
        pivot_row = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot_row is None:
            return None
        rows[k], rows[pivot_row] = rows[pivot_row], rows[k]
        pivot, upper = rows[k][k], rows[k]
        for i, row in enumerate(rows):
            if i != k:
                factor = row[k]
                rows[i] = [
                    (value * pivot - factor * above) // previous for value, above in zip(row, upper, strict=True)
                ]
        previous = pivot
    return rows


def solve(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Fraction] | None:
    """The solution of a square linear system, or None where the matrix is singular.

    >>> solve([[2, 1], [1, 3]], [1, 2])
    [Fraction(1, 5), Fraction(3, 5)]
    >>> solve([[1, 2], [2, 4]], [1, 2]) is None
    True
    """
    rows = _diagonalised([_integer_row([*line, value]) for line, value in zip(matrix, right, strict=True)])
    return None if rows is None else [Fraction(row[-1], row[k]) for k, row in enumerate(rows)]


def solve_in_integers(
    matrix: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
) -> tuple[list[list[int]], int] | None:
    """N and d > 0 with A N = d B, all integers, for several right-hand sides at once; None where A is singular.

    >>> solve_in_integers([[2, 1], [1, 3]], [[1, 0], [2, 5]])
    ([[1, -5], [3, 10]], 5)
    """
    rows = _diagonalised([[*line, *values] for line, values in zip(matrix, right, strict=True)])
    if rows is None:
        return None
    scale = rows[0][0]
    sign = 1 if scale > 0 else -1
    return [[sign * value for value in row[len(rows) :]] for row in rows], sign * scale


@dataclass(frozen=True)
class Feasibility:
    """Either ``solution`` x >= 0 with A x = b, or ``refutation`` y with yᵀA <= 0 and yᵀb > 0; the other is None."""

    solution: list[Fraction] | None
    refutation: list[Fraction] | None


class _Simplex:
    """The simplex table of A x = b, x >= 0 in integers over one common denominator, with Bland's rule (it can't cycle).

    Columns: the unknowns in the order in which they are tried, one artificial per row, the right-hand side. Rows: the
    constraints, then the reduced costs of the sum of the artificials, then those of each cost row.
    """

    def __init__(
        self,
        matrix: Sequence[Sequence[Any]],
        right: Sequence[Any],
        costs: Sequence[Sequence[Any]],
        first: Iterable[int],
    ) -> None:
        self.n_rows, self.n_columns = len(matrix), len(matrix[0]) if len(matrix) else 0
        self.order = list(dict.fromkeys([*first, *range(self.n_columns)]))
        self.scales = []  # what each constraint was multiplied by, its sign included
        table = np.zeros((self.n_rows + 1 + len(costs), self.n_columns + self.n_rows + 1), dtype=object)
        for i, (line, value) in enumerate(zip(matrix, right, strict=True)):
            integers = _integer_row([*line, value])
            sign = -1 if integers[-1] < 0 else 1
            original = next(
                ((_exact(v), whole) for v, whole in zip([*line, value], integers, strict=True) if whole), None
            )
            self.scales.append(sign * (original[1] / original[0]) if original else Fraction(1))
            table[i, : self.n_columns] = [sign * integers[j] for j in self.order]
            table[i, self.n_columns + i] = 1
            table[i, -1] = sign * integers[-1]
        table[self.n_rows, : self.n_columns] = -table[: self.n_rows, : self.n_columns].sum(axis=0)
        table[self.n_rows, -1] = -table[: self.n_rows, -1].sum()
        for k, cost in enumerate(costs):
            integers = _integer_row(cost)
            table[self.n_rows + 1 + k, : self.n_columns] = [integers[j] for j in self.order]
        self.table = table
        self.basis = list(range(self.n_columns, self.n_columns + self.n_rows))
        self.denominator = 1

    def pivot(self, leaving: int, entering: int) -> None:
        pivot, row = self.table[leaving, entering], self.table[leaving].copy()
        table = (self.table * pivot - np.outer(self.table[:, entering], row)) // self.denominator
        table[leaving] = row
        if pivot < 0:  # only when an artificial at zero is driven out; the common denominator stays positive
            table, pivot = -table, -pivot
        self.table, self.denominator = table, int(pivot)
        self.basis[leaving] = entering

    def improve(self, objectives: range) -> bool:
        """Pivot until no column lowers the objective rows, compared in their order; False where there is no bound."""
        while True:
            candidates = (j for j in range(self.n_columns) if self._lowers(j, objectives))
            entering = next(candidates, None)
            if entering is None:
                return True
            rows = [i for i in range(self.n_rows) if self.table[i, entering] > 0]
            if not rows:
                return False
            column = self.table[:, entering]
            leaving = min(rows, key=lambda i: (Fraction(int(self.table[i, -1]), int(column[i])), self.basis[i]))
            self.pivot(leaving, entering)

    def _lowers(self, column: int, objectives: range) -> bool:
        for row in objectives:
            if self.table[row, column]:
                return bool(self.table[row, column] < 0)
        return False

    def feasible(self) -> bool:
        self.improve(range(self.n_rows, self.n_rows + 1))
        return not self.table[self.n_rows, -1]

    def drive_out_artificials(self) -> None:
        """Artificials that are left in the basis, at zero, give way to unknowns wherever a row still has one."""
        for i, variable in enumerate(self.basis):
            if variable >= self.n_columns:
                column = next((j for j in range(self.n_columns) if self.table[i, j]), None)
                if column is not None:
                    self.pivot(i, column)

    def solution(self) -> list[Fraction]:
        values = [Fraction(0)] * self.n_columns
        for i, variable in enumerate(self.basis):
            if variable < self.n_columns:
                values[self.order[variable]] = Fraction(int(self.table[i, -1]), self.denominator)
        return values

    def refutation(self) -> list[Fraction]:
        row = self.table[self.n_rows, self.n_columns : -1]
        duals = [1 - Fraction(int(entry), self.denominator) for entry in row]
        return [y * scale for y, scale in zip(duals, self.scales, strict=True)]

    def prices(self, cost: Sequence[Any]) -> list[Fraction]:
        """The dual solution of the first cost row: artificials cost nothing, so their reduced costs are its negatives."""
        whole = math.lcm(*(_exact(value).denominator for value in cost))  # what the cost row was multiplied by
        row = self.table[self.n_rows + 1, self.n_columns : -1]
        return [
            -Fraction(int(entry), self.denominator * whole) * scale
            for entry, scale in zip(row, self.scales, strict=True)
        ]


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
    simplex = _Simplex(matrix, right, [], first)
    if simplex.feasible():
        return Feasibility(simplex.solution(), None)
    return Feasibility(None, simplex.refutation())


@dataclass(frozen=True)
class BasicSolution:
    """x >= 0 with A x = b of least cost, the columns of its ``basis``, and the ``prices`` that prove it.

    Prices y have yᵀA <= c and yᵀb = c·x, where c is the first cost row.
    """

    solution: list[Fraction]
    basis: list[int]
    prices: list[Fraction]


def least_cost_solution(
    matrix: Sequence[Sequence[Any]], right: Sequence[Any], costs: Sequence[Sequence[Any]], first: Iterable[int] = ()
) -> BasicSolution | None:
    """Minimise c·x over x >= 0 with A x = b, exactly; of several cost rows, each breaks the ties of those before it.

    None where there is no such x; an ``ArithmeticError`` where the cost has no lower bound.

    >>> best = least_cost_solution([[1, 1, 1]], [6], [[3, 2, 5]])
    >>> best.solution, best.basis, best.prices
    ([Fraction(0, 1), Fraction(6, 1), Fraction(0, 1)], [1], [Fraction(2, 1)])
    """
    simplex = _Simplex(matrix, right, costs, first)
    if not simplex.feasible():
        return None
    simplex.drive_out_artificials()
    first_cost = simplex.n_rows + 1
    if not simplex.improve(range(first_cost, first_cost + len(costs))):
        raise ArithmeticError("the cost has no lower bound")
    basis = [simplex.order[column] for column in simplex.basis if column < simplex.n_columns]
    return BasicSolution(simplex.solution(), basis, simplex.prices(costs[0]))


# Beyond this many bits the interpreter may refuse to turn an integer into decimal digits; hexadecimal has no such limit.
_DECIMAL_BITS = 12_000


def rational_text(value: Fraction) -> str:
    """An exact number as text: "5", "-7/5"; numbers of thousands of digits are written in hexadecimal.

    >>> rational_text(Fraction(-7, 5)), rational_text(Fraction(5))
    ('-7/5', '5')
    """
    parts = [hex(part) if part.bit_length() > _DECIMAL_BITS else str(part) for part in value.as_integer_ratio()]
    return parts[0] if value.denominator == 1 else "/".join(parts)


def rounded(value: Fraction, bits: int) -> Fraction:
    """A positive rational rounded to this many bits: a small integer times a power of two."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - bits
    return max(round(value / Fraction(2) ** exponent), 1) * Fraction(2) ** exponent
