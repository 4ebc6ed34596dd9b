"""The truth about small training sets with any margin and any range of rescalings, by enumeration in whole numbers.

It shares no code with the package, and none with ``brute_force``. The SVMs at all rescalings are a union of convex pieces:
in a piece every row is out (no multiplier), on the margin or in it (multiplier at its cap), and every weight has one sign.
There w_j = τ_j² μ_j, with μ = Σ a_i y_i x_i, says low² |μ_j| <= |w_j| <= high² |μ_j|: linear inequalities, so that each
piece is a linear program. A depth-first search leaves out the pieces that are empty. Where a factor has no bound, |w_j| and
|μ_j| are both positive or both 0: the value that is made as large as can be tells whether some SVM is strictly inside.

Meant for up to 3 features and 6 rows. The programs are solved by the simplex method in integers (Edmonds' tableau, Bland's
rule).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from rescaleinv.verdict import Verdict

OUT, ON, IN = "out", "on", "in"


class Program:
    """{x >= 0: A x = b} as an integer tableau with a feasible basis, or ``feasible`` is False."""

    def __init__(self, lines, n_variables):
        """``lines``: n coefficients and the right-hand side; a variable of one line only may start in the basis."""
        n, m = n_variables, len(lines)
        self.n = n
        self.rows, self.basis = [], []
        uses = [sum(1 for line in lines if line[j]) for j in range(n)]
        for i, line in enumerate(lines):
            common = math.lcm(*(v.denominator for v in line))
            numbers = [int(v * common) for v in line]
            own = next((j for j in range(n - 1, -1, -1) if uses[j] == 1 and abs(line[j]) == 1), None)
            if own is not None and common == 1 and numbers[own] * numbers[-1] >= 0:
                sign = numbers[own]
            else:
                own, sign = None, -1 if numbers[-1] < 0 else 1
            self.rows.append([*(sign * v for v in numbers[:-1]), *(int(i == k) for k in range(m)), sign * numbers[-1]])
            self.basis.append(n + i if own is None else own)
        self.divisor = 1
        started = [row for row, j in zip(self.rows, self.basis, strict=True) if j >= n]
        cost = [-sum(row[j] for row in started) for j in range(n)] + [0] * m
        self.cost = [*cost, -sum(row[-1] for row in started)]
        self._improve(n)
        self.feasible = self.cost[-1] == 0
        if self.feasible:
            self._drive_out()

    def _pivot(self, i, j):
        pivot, row, divisor = self.rows[i][j], self.rows[i], self.divisor
        for k, other in enumerate(self.rows):
            if k != i:
                factor = other[j]
                self.rows[k] = [(pivot * a - factor * b) // divisor for a, b in zip(other, row, strict=True)]
        factor = self.cost[j]
        self.cost = [(pivot * a - factor * b) // divisor for a, b in zip(self.cost, row, strict=True)]
        self.divisor, self.basis[i] = pivot, j
        if pivot < 0:
            self.rows = [[-v for v in line] for line in self.rows]
            self.cost, self.divisor = [-v for v in self.cost], -pivot

    def _improve(self, n_columns):
        """Lower the cost as far as it goes; False where it has no bound."""
        while True:
            entering = next((j for j in range(n_columns) if self.cost[j] < 0), None)
            if entering is None:
                return True
            leaving = None
            for i, row in enumerate(self.rows):
                if row[entering] > 0 and (
                    leaving is None
                    or (c := row[-1] * self.rows[leaving][entering] - self.rows[leaving][-1] * row[entering]) < 0
                    or (c == 0 and self.basis[i] < self.basis[leaving])
                ):
                    leaving = i
            if leaving is None:
                return False
            self._pivot(leaving, entering)

    def _drive_out(self):
        """Artificial variables leave the basis; a row that has nothing else is superfluous."""
        for i in reversed(range(len(self.rows))):
            if self.basis[i] >= self.n:
                j = next((j for j in range(self.n) if self.rows[i][j]), None)
                if j is None:
                    del self.rows[i], self.basis[i]
                else:
                    self._pivot(i, j)
        self.rows = [[*row[: self.n], row[-1]] for row in self.rows]

    def least(self, objective):
        """The least value of a linear function, -inf where there is none."""
        common = math.lcm(*(Fraction(v).denominator for v in objective))
        cost = [int(v * common) * self.divisor for v in objective] + [0]
        for row, j in zip(self.rows, self.basis, strict=True):
            factor = cost[j] // self.divisor
            cost = [a - factor * b for a, b in zip(cost, row, strict=True)]
        self.cost = cost
        if not self._improve(self.n):
            return -math.inf
        return Fraction(-self.cost[-1], self.divisor * common)


@dataclass(frozen=True)
class Question:
    """Rows, labels, the caps of the multipliers (None: hard margin), whether these add up to 1 (ν), and squared limits.

    A limit is (low², high²) of a factor; 0 and inf for none.
    """

    rows: tuple
    labels: tuple
    caps: tuple | None
    adds_up: bool
    limits: tuple

    @classmethod
    def of(cls, training_set, limits=None, penalties=None, caps=None):
        rows = tuple(tuple(map(Fraction, row)) for row in training_set.features.tolist())
        n = len(rows[0])
        limits = [(0, math.inf)] * n if limits is None else limits
        squared = tuple(
            (Fraction(float(low)) ** 2, math.inf if math.isinf(high) else Fraction(float(high)) ** 2)
            for low, high in limits
        )
        given = caps if caps is not None else penalties
        bounds = None if given is None else tuple(Fraction(cap) for cap in given)
        return cls(rows, tuple(training_set.signs.tolist()), bounds, caps is not None, squared)

    def pieces(self):
        """All pieces that are not empty, as (programme, index of variables)."""
        found = []
        self._search((), (), found)
        return found

    def _search(self, signs, states, found):
        program = self.program(signs, states)
        if not program.feasible:
            return
        if len(signs) < len(self.limits):
            options = [1, -1, 0] if self.is_free(len(signs)) else [1, -1]
            for sign in options:
                self._search((*signs, sign), states, found)
        elif len(states) < len(self.rows):
            for state in (OUT, ON) if self.caps is None else (OUT, ON, IN):
                self._search(signs, (*states, state), found)
        elif self._has_inner(signs, states):
            found.append((signs, states))

    def is_free(self, j):
        """Whether |w_j| and |μ_j| are not tied by bounds on both sides, so that one may vanish without the other."""
        low, high = self.limits[j]
        return low == 0 or high == math.inf

    def program(self, signs, states, more=None):
        """What is known of a piece: the signs of some weights and the states of some rows.

        Variables: w+ and w- (n each), b+ and b-, ρ, t, a, and slacks; those that are known are left out. ``more``, a point,
        adds f(point) = 0. t is how far the weights and gradients of features without both bounds are from 0, at most 1.
        """
        n, m = len(self.limits), len(self.rows)
        b, rho, t, a = 2 * n, 2 * n + 2, 2 * n + 3, 2 * n + 4
        slack = count(a + m)
        lines = []
        known = dict.fromkeys((j + n * (sign >= 0) for j, sign in enumerate(signs)), Fraction(0))
        known |= {j: Fraction(0) for j, sign in enumerate(signs) if sign == 0}
        known |= {a + i: self.caps[i] if state == IN else Fraction(0) for i, state in enumerate(states) if state != ON}
        if not self.adds_up:
            known[rho] = Fraction(1)

        def add(entries, right, sense="="):
            right = Fraction(right) - sum(v * known[k] for k, v in entries.items() if k in known)
            entries = {k: v for k, v in entries.items() if k not in known}
            size = math.lcm(right.denominator, *(Fraction(v).denominator for v in entries.values()))
            entries = {k: Fraction(v) * size for k, v in entries.items()}
            if sense != "=":
                entries[next(slack)] = Fraction(1 if sense == "<=" else -1)
            lines.append((entries, right * size))

        def gradient(j, factor):
            return {a + i: factor * y * row[j] for i, (row, y) in enumerate(zip(self.rows, self.labels, strict=True))}

        for i, (row, y) in enumerate(zip(self.rows, self.labels, strict=True)):
            margin = {b: y, b + 1: -y, rho: -1}
            for j, x in enumerate(row):
                margin |= {j: y * x, n + j: -y * x}
            state = states[i] if i < len(states) else None
            if state == ON:
                add(margin, 0)
            elif state == OUT or (state is None and self.caps is None):
                add(margin, 0, ">=")
            elif state == IN:
                add(margin, 0, "<=")
            if self.caps is not None and state in (ON, None):
                add({a + i: 1}, self.caps[i], "<=")
        add({a + i: y for i, y in enumerate(self.labels)}, 0)
        if self.adds_up:
            add({a + i: 1 for i in range(m)}, 1)
        if any(sign and self.is_free(j) for j, sign in enumerate(signs)):
            add({t: 1}, 1, "<=")
        for j, sign in enumerate(signs):
            low, high = self.limits[j]
            used = j if sign >= 0 else n + j
            if sign == 0:
                add(gradient(j, 1), 0)
                continue
            if low:
                add(gradient(j, -sign * low) | {used: 1}, 0, ">=")
            if high != math.inf:
                add(gradient(j, sign * high) | {used: -1}, 0, ">=")
            if self.is_free(j):
                add({used: 1, t: -1}, 0, ">=")
                add(gradient(j, sign) | {t: -1}, 0, ">=")
            else:
                add(gradient(j, sign), 0, ">=")
        if more is not None:
            add(self.value(more), 0)
        used = sorted({k for entries, _ in lines for k in entries})
        found = Program([[*(entries.get(k, Fraction(0)) for k in used), right] for entries, right in lines], len(used))
        found.columns = used
        return found

    def value(self, point):
        """The decision value at a point as a function of the variables."""
        n = len(self.limits)
        found = {2 * n: 1, 2 * n + 1: -1}
        for j, x in enumerate(point):
            found |= {j: x, n + j: -x}
        return found

    def _least(self, program, entries, factor=1):
        return program.least([factor * entries.get(k, 0) for k in program.columns])

    def _has_inner(self, signs, states, more=None):
        """Whether some SVM of the piece is at a rescaling, and not only in the closure."""
        if not any(sign and self.is_free(j) for j, sign in enumerate(signs)):
            return more is None or self.program(signs, states, more).feasible
        program = self.program(signs, states, more)
        return program.feasible and self._least(program, {2 * len(self.limits) + 3: 1}, -1) < 0


class BruteForce:
    """All pieces of a question, for many points."""

    def __init__(self, question):
        self.question = question
        self.pieces = question.pieces()
        self._programs = [question.program(*piece) for piece in self.pieces]

    def verdict(self, point):
        """f >= 0 is positive; every optimal intercept counts."""
        question = self.question
        exact = [Fraction(x) for x in map(float, point)]
        values = question.value(exact)
        negative = positive = False
        for piece, program in zip(self.pieces, self._programs, strict=True):
            if not negative:
                negative = question._least(program, values) < 0
            if not positive:
                highest = -question._least(program, values, -1)
                positive = highest > 0 or (highest == 0 and question._has_inner(*piece, more=exact))
        assert negative or positive
        return Verdict.NEUTRAL if negative and positive else Verdict(1 if positive else -1)
