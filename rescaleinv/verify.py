"""Checks a certificate in exact rational arithmetic. Imports the standard library only, and runs as a single file.

    python -m rescaleinv.verify FILE [FILE ...] [--training ROWS.json] [--jobs N] [--no-flint]

A FILE holds one certificate, or one a line, or the complex certificate that certificates of strong verdicts refer to.
Nothing is taken on trust: the training rows, the point and the evidence are read as exact fractions, and each condition is
tested without any tolerance. The first one that fails is named. (Where python-flint is installed it solves the larger
linear systems, with the same results; --no-flint does without, and python -I looks for it in no other folder.)

Evidence for "neutral": two classifiers, each the maximum-margin classifier of the training rows after multiplying feature
j by tau_j, of which one labels the point positive and one negative. That (w, b) is the maximum-margin classifier at tau
is shown by multipliers a, with d_j = 1 / tau_j^2: the Karush-Kuhn-Tucker conditions of min 1/2 sum_j d_j w_j^2 under
y_i (w.x_i + b) >= 1, which is convex, so that they suffice.

Evidence for "strongly positive" and "strongly negative": a complex certificate, which lists all vertices of the closure of
the set of all those classifiers, and proves that none is missing. The margins are perturbed, y_i (w.x_i + b) >= 1 + e tilt_i
with e infinitely small, so that a vertex is a *basis*: rows whose margin is tight and features whose weight is zero, n + 1
in all. Each edge that leaves it drops one of them. Either the edge leads to another vertex of the list, or it is refuted:
a classifier of that edge with multipliers a >= 0 on its tight rows has gradients mu_j = sum_i a_i y_i x_ij of the signs of
its weights, but there is (h, t) with h_j w_j >= 0, h_j = 0 where w_j = 0, h not 0, and y_i (h.x_i + t) <= 0 on the tight
rows, whence 0 < h.mu = sum_i a_i y_i (h.x_i + t) <= 0. The set being connected, and one vertex shown to be in it, a list
that no edge leaves is complete. The classifier at a rescaling is continuous in e; so the solutions at e = 0 have the least
and the largest decision value of any point.

Claims "within the range" are about the rescalings tau_j in given ranges (features of a group share one), and about soft
margins where there are penalties c_i: about every classifier (w, b) that minimises 1/2 sum_j d_j w_j^2 + sum_i c_i xi_i
with y_i (w.x_i + b) >= 1 - xi_i, xi_i >= 0. Their evidence: the range is split into parts, until each has a pair (v,
t), r that settles it. A part knows bounds l <= d <= u of each group, the signs of some weights, and of some rows that
they are out (multiplier a_i = 0, margin >= 1), on (margin = 1) or capped (a_i = c_i, margin <= 1); one of these holds
for each row, and each split is into all that there is. Suppose that an optimal classifier of the part has s f <= 0 at
the point p, s = 1 for a positive and -1 for a negative claim. With mu = sum_i a_i y_i x_i, mu_j = d_j w_j, its
conditions give sum a_i - sum c_i xi_i = mu.w. Let e_i = 1 - y_i (v.(x_i - p) + t), nu = sum r_i y_i (x_i - p). As sum
a_i y_i = 0, sum a_i = mu.v + sum a_i e_i; and w.nu = sum r_i y_i (w.x_i + b) - f sum r_i y_i. So, if s sum r_i y_i >= 0
and r_i >= 0 for free rows and those out, r_i <= c_i for free rows and those capped,

    sum r_i  <=  sum_i (the largest possible a_i e_i)  +  sum_j (mu_j v_j + nu_j w_j - mu_j w_j)

where the last sum is at most the sum over groups of the larger one, for d = l or u, of sum_j (d v_j + nu_j)^2 / (4 d),
without the features whose weight must not have the sign of d v_j + nu_j. A pair for which this does not hold settles
the part: s f > 0.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import os
import re
import sys
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

SCHEMA = "rescaleinv-certificate/1"
COMPLEX_SCHEMA = "rescaleinv-complex/1"
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|[0-9]{1,4300})(?:/(?:0x[0-9a-f]+|[0-9]{1,4300}))?")


class Refused(ValueError):
    """A certificate that does not prove its claim; the message names the first condition that fails.

    ``vertices`` are the numbers of the vertices of a complex certificate that were found to be wrong.
    """

    def __init__(self, condition: str, vertices: Iterable[int] = ()) -> None:
        super().__init__(condition)
        self.vertices = list(vertices)


def _require(holds: bool, condition: str) -> None:
    if not holds:
        raise Refused(condition)


def _number(text: Any, what: str) -> Fraction:
    _require(isinstance(text, str) and _NUMBER.fullmatch(text) is not None, f"{what}: {text!a} is not an exact number")
    numerator, _, denominator = text.partition("/")
    parts = [int(part, 16) if "x" in part else int(part) for part in (numerator, denominator or "1")]
    _require(parts[1] > 0, f"{what}: {text!r} has a denominator of zero")
    return Fraction(parts[0], parts[1])


def _numbers(texts: Any, what: str, length: int) -> list[Fraction]:
    _require(isinstance(texts, list) and len(texts) == length, f"{what}: {length} numbers are needed")
    return [_number(text, f"{what}[{k}]") for k, text in enumerate(texts)]


def _fields(record: Any, what: str, names: str) -> list[Any]:
    """The values of exactly these fields: none missing, and none besides that a reader might take for checked."""
    wanted = names.split()
    _require(isinstance(record, dict), f"{what} is not a JSON object")
    for name in wanted:
        _require(name in record, f"{what} has no field {name!r}")
    for name in record:
        _require(name in wanted, f"{what} has a field {name!a} that is not known")
    return [record[name] for name in wanted]


class _Training:
    """The training rows, checked against their SHA-256."""

    def __init__(self, record: Any) -> None:
        sha256, left_out, labels, rows = _fields(record, "training", "sha256 left_out labels rows")
        _require(type(left_out) is int and left_out >= 0, "training.left_out is not a number of rows")
        _require(isinstance(rows, list) and bool(rows), "training.rows is not a list of rows")
        _require(isinstance(rows[0], list) and bool(rows[0]), "training.rows[0] has no features")
        _require(isinstance(labels, list) and len(labels) == len(rows), "training.labels: one label a row is needed")
        _require(all(type(y) is int and y in (1, -1) for y in labels), "training.labels are not all 1 or -1")
        _require(len(set(labels)) == 2, "training.labels: both classes are needed")
        self.labels: list[int] = labels
        self.rows = [_numbers(row, f"training.rows[{i}]", len(rows[0])) for i, row in enumerate(rows)]
        self.n_features = len(rows[0])
        self.sha256 = sha256
        digest = hashlib.sha256()
        for row, label in zip(self.rows, labels, strict=True):
            digest.update(f"{label}:{','.join(map(str, row))}\n".encode())
        _require(digest.hexdigest() == sha256, "training.sha256 is not that of the rows")


def _decision(weights: list[Fraction], intercept: Fraction, point: list[Fraction]) -> Fraction:
    return sum((w * x for w, x in zip(weights, point, strict=True)), intercept)


def _check_maximum_margin(record: Any, what: str, training: _Training) -> tuple[list[Fraction], Fraction]:
    """Is the classifier the maximum-margin classifier at its rescaling? If so, return its weights and intercept."""
    n = training.n_features
    names = "weights intercept multipliers inverse_squared_rescaling"
    weight_texts, intercept_text, multiplier_texts, rescaling_texts = _fields(record, what, names)
    weights = _numbers(weight_texts, f"{what}.weights", n)
    intercept = _number(intercept_text, f"{what}.intercept")
    inverse_squared = _numbers(rescaling_texts, f"{what}.inverse_squared_rescaling", n)
    for j, d in enumerate(inverse_squared):
        _require(d > 0, f"{what}: the rescaling of feature {j} is not positive")
    _require(isinstance(multiplier_texts, dict), f"{what}.multipliers is not a JSON object")
    multipliers: dict[int, Fraction] = {}
    for key, text in multiplier_texts.items():
        row = int(key) if re.fullmatch(r"0|[1-9][0-9]{0,15}", key) else -1
        _require(0 <= row < len(training.rows), f"{what}: the multiplier {key!a} belongs to no row")
        multipliers[row] = _number(text, f"{what}.multipliers[{key}]")
        _require(multipliers[row] > 0, f"{what}: the multiplier of row {row} is not positive")
    for i, (row_values, label) in enumerate(zip(training.rows, training.labels, strict=True)):
        margin = label * _decision(weights, intercept, row_values)
        _require(margin >= 1, f"{what}: row {i} has a margin below 1")
        _require(margin == 1 or i not in multipliers, f"{what}: row {i} has a multiplier, but is not tight")
    balance = sum(a * training.labels[i] for i, a in multipliers.items())
    _require(balance == 0, f"{what}: the multipliers of the two classes do not balance")
    for j in range(n):
        gradient = sum((a * training.labels[i] * training.rows[i][j] for i, a in multipliers.items()), Fraction(0))
        _require(inverse_squared[j] * weights[j] == gradient, f"{what}: the weight of feature {j} is not optimal")
    return weights, intercept


def _check_two_rescalings(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> None:
    _require(claim == "neutral", f"two rescalings that disagree prove 'neutral', not {claim!a}")
    _, positive, negative = _fields(evidence, "evidence", "kind positive negative")
    value = _decision(*_check_maximum_margin(positive, "evidence.positive", training), point)
    _require(value >= 0, "evidence.positive does not label the point positive")
    value = _decision(*_check_maximum_margin(negative, "evidence.negative", training), point)
    _require(value < 0, "evidence.negative does not label the point negative")


class _Vertex(NamedTuple):
    """What is left to know of a vertex once it was checked by itself."""

    basis: bytes
    ends: list[int]  # the item that each edge reaches, or -1
    signs: list[int]
    solution: tuple[int, ...]


def _key(basis: list[int]) -> bytes:
    return array("l", basis).tobytes()


def _solve(rows: list[list[int]]) -> tuple[int, list[list[int]]] | None:
    """Solve the square system that the leading columns are for each column behind it, in integers.

    Gauss-Jordan without fractions (Bareiss): each division leaves no rest. Returns D > 0 and D times the solutions, one
    list a row; None where the system is singular.
    """
    previous = 1
    for k in range(len(rows)):
        place = next((i for i in range(k, len(rows)) if rows[i][0]), None)
        if place is None:
            return None
        rows[k], rows[place] = rows[place], rows[k]
        pivot, *upper = rows[k]
        rows = [
            [(value * pivot - row[0] * above) // previous for value, above in zip(row[1:], upper, strict=True)]
            if i != k
            else upper
            for i, row in enumerate(rows)
        ]
        previous = pivot
    return (previous, rows) if previous > 0 else (-previous, [[-value for value in row] for row in rows])


def _solve_with_flint(rows: list[list[int]]) -> tuple[int, list[list[int]]] | None:
    from flint import fmpz_mat

    size, width = len(rows), len(rows[0])
    reduced, denominator, rank = fmpz_mat(rows).rref()
    entries = [int(entry) for entry in reduced.entries()]
    if rank < size or any(not entries[i * width + i] for i in range(size)):
        return None
    sign = 1 if denominator > 0 else -1
    solved = [[sign * entry for entry in entries[i * width + size : (i + 1) * width]] for i in range(size)]
    return abs(int(denominator)), solved


def _has_flint() -> bool:
    try:
        from flint import fmpz_mat  # noqa: F401 (the question is whether it is there)
    except ImportError:
        return False
    return True


def _dot(first: Iterable[Any], second: Iterable[Any]) -> Any:
    return sum(map(mul, first, second))


class _Perturbed:
    """The perturbed problem: signed rows y_i (x_i, 1) as integers, each feature in a unit that makes it so."""

    def __init__(self, training: _Training, tilt: list[int], flint: bool) -> None:
        self.units = [math.lcm(*(x.denominator for x in column)) for column in zip(*training.rows, strict=True)]
        self.rows = [
            [y * int(x * unit) for x, unit in zip(row, self.units, strict=True)] + [y]
            for row, y in zip(training.rows, training.labels, strict=True)
        ]
        self.tilt = tilt
        self.n_features = training.n_features
        self.solve = _solve_with_flint if flint else _solve

    def vertex(self, line: bytes) -> _Vertex:
        """Check all that can be said of a vertex without the others."""
        m, n = len(self.rows), self.n_features
        _require(line.endswith(b"\n"), "its line is cut off")
        record = _parse(line.decode("ascii", "replace"), "its line")
        _require(isinstance(record, list) and len(record) == 2, "a basis and its edges are needed")
        basis, edges = record
        _require(isinstance(basis, list) and len(basis) == n + 1, f"a basis of {n + 1} rows and features is needed")
        _require(all(type(item) is int and 0 <= item < m + n for item in basis), "an item of the basis is unknown")
        _require(all(a < b for a, b in pairwise(basis)), "the basis is not in ascending order")
        tight = [item for item in basis if item < m]
        support = [j for j in range(n) if m + j not in basis]
        solution, signs = self._place(tight, support)
        drops = self.drops(basis)
        _require(isinstance(edges, list) and len(edges) == len(drops), f"{len(drops)} edges are needed")
        ends = []
        for (dropped, turn), edge in zip(drops, edges, strict=True):
            leads = type(edge) is int and edge >= 0
            try:
                if leads:
                    _require(edge < m + n and edge not in basis, "it leads to no vertex")
                else:
                    edge_signs = [turn if m + j == dropped else sign for j, sign in enumerate(signs)]
                    h = self._vector(edge, dropped, turn, tight, support)
                    self._require_refuted(h, [i for i in tight if i != dropped], edge_signs)
            except Refused as error:
                raise Refused(f"{self.name(dropped, turn)}: {error}") from error
            ends.append(edge if leads else -1)
        return _Vertex(_key(basis), ends, signs, solution)

    def _place(self, tight: list[int], support: list[int]) -> tuple[tuple[int, ...], list[int]]:
        """(w, b) at e = 0, as integers and their denominator, and the signs of the weights for e > 0.

        A number is its value at e = 0, or where that is 0 its rate of change with e: no slack and no weight may be 0.
        """
        n = self.n_features
        solved = self.solve([[self.rows[i][j] for j in support] + [self.rows[i][n], 1, self.tilt[i]] for i in tight])
        if solved is None:
            raise Refused("the basis is singular")
        denominator, values = solved
        still, moving = [0] * (n + 1), [0] * (n + 1)
        for j, (value, rate) in zip([*support, n], values, strict=True):
            still[j], moving[j] = value, rate
        for q, row in enumerate(self.rows):
            if q not in tight:
                slack = _dot(row, still) - denominator or _dot(row, moving) - denominator * self.tilt[q]
                _require(slack > 0, f"row {q} is " + ("violated" if slack else "tight, and not in the basis"))
        signs = [0] * n
        for j in support:
            weight = still[j] or moving[j]
            _require(weight != 0, f"feature {j} has no weight, and is not in the basis")
            signs[j] = 1 if weight > 0 else -1
        common = math.gcd(denominator, *still)
        return (*(value // common for value in still), denominator // common), signs

    def drops(self, basis: list[int]) -> list[tuple[int, int]]:
        """The edges that leave a basis: the item that each drops, and the sign that a dropped feature's weight gets."""
        m = len(self.rows)
        return [(i, 1) for i in basis if i < m] + [(i, turn) for i in basis if i >= m for turn in (1, -1)]

    def name(self, dropped: int, turn: int) -> str:
        m = len(self.rows)
        if dropped < m:
            return f"the edge that drops row {dropped}"
        return f"the edge that gives feature {dropped - m} a {'positive' if turn > 0 else 'negative'} weight"

    def _vector(self, edge: Any, dropped: int, turn: int, tight: list[int], support: list[int]) -> list[Any]:
        """(h, t), as it is given or by the places where it may not be zero, as the bits of -1 - edge.

        A bit for each tight row, where y_i (h.x_i + t) may differ from 0, then one for each feature with weight, where
        h_j may. Its scale: 1 at the dropped row, or ``turn`` at the dropped feature.
        """
        m, n = len(self.rows), self.n_features
        if isinstance(edge, list):
            return self.in_units(_numbers(edge, "its refutation", n + 1))
        _require(type(edge) is int, "neither a vertex nor a refutation")
        mask = -1 - edge
        _require(mask < 1 << (len(tight) + len(support)), "its refutation has bits that mean nothing")
        zero_rows = [i for k, i in enumerate(tight) if not mask >> k & 1]
        chosen = [j for k, j in enumerate(support, len(tight)) if mask >> k & 1]
        _require(len(zero_rows) == len(chosen) + 1, "its refutation is not determined by its places")
        lines = []
        for i in zero_rows:
            right = int(i == dropped) if dropped < m else -turn * self.rows[i][dropped - m]
            lines.append([self.rows[i][j] for j in chosen] + [self.rows[i][n], right])
        solved = self.solve(lines)
        if solved is None:
            raise Refused("its refutation is not determined by its places")
        denominator, values = solved
        h = [0] * (n + 1)
        for j, (value,) in zip([*chosen, n], values, strict=True):
            h[j] = value
        if dropped >= m:
            h[dropped - m] = turn * denominator
        return h

    def _require_refuted(self, h: list[Any], tight: list[int], signs: list[int]) -> None:
        weights = h[:-1]
        _require(any(weights), "its refutation is zero")
        for j, (value, sign) in enumerate(zip(weights, signs, strict=True)):
            _require(value == 0 or value * sign > 0, f"its refutation has the wrong sign at feature {j}")
        for i in tight:
            _require(_dot(self.rows[i], h) <= 0, f"its refutation is positive at row {i}")

    def check_start(self, basis: list[int], signs: list[int], multipliers: Any) -> None:
        """The first vertex is in the closure: multipliers whose gradients have the signs of its weights."""
        m, n = len(self.rows), self.n_features
        tight = [item for item in basis if item < m]
        values = _numbers(multipliers, "multipliers", len(tight))
        for i, value in zip(tight, values, strict=True):
            _require(value >= 0, f"vertex 0: the multiplier of row {i} is negative")
        gradient = [sum(value * self.rows[i][j] for i, value in zip(tight, values, strict=True)) for j in range(n + 1)]
        _require(gradient[n] == 0, "vertex 0: the multipliers of the two classes do not balance")
        for j, sign in enumerate(signs):
            _require(not sign or gradient[j] * sign > 0, f"vertex 0: the gradient of feature {j} has the wrong sign")

    def in_units(self, vector: list[Fraction]) -> list[Fraction]:
        """(h, t) for the features as the integers that they are here."""
        return [h / unit for h, unit in zip(vector, self.units, strict=False)] + vector[-1:]


def _check_lines(problem: _Perturbed, lines: list[bytes]) -> list[_Vertex | str]:
    """The vertices of these lines, or what is wrong with them."""
    found: list[_Vertex | str] = []
    for line in lines:
        try:
            found.append(problem.vertex(line))
        except (ValueError, RecursionError) as error:
            found.append(str(error))
    return found


@dataclass(frozen=True)
class Complex:
    """A complex certificate that was checked: the solutions (w, b) of all vertices, as integers over one denominator."""

    sha256: str
    training: _Training
    problem: _Perturbed
    n_vertices: int
    solutions: list[tuple[int, ...]]

    def check(self, claim: str, point: list[Fraction], refutations: list[Any]) -> None:
        """Does every vertex give the point this label?"""
        common = math.lcm(*(x.denominator for x in point))
        scaled = [int(x * unit * common) for x, unit in zip(point, self.problem.units, strict=True)] + [common]
        zeros = []
        for solution in self.solutions:
            value = _dot(scaled, solution)
            if claim == "strongly positive":
                _require(value >= 0, "the point is not strongly positive: a vertex has a negative decision value")
            else:
                _require(value <= 0, "the point is not strongly negative: a vertex has a positive decision value")
                if value == 0:
                    zeros.append(solution)
        self._check_not_attained(zeros, refutations)

    def _check_not_attained(self, zeros: list[tuple[int, ...]], refutations: list[Any]) -> None:
        """The decision value 0, where it is the largest, must belong to limits of classifiers only.

        The classifier at a rescaling is the limit of the perturbed ones, each in the hull of listed vertices of one cell;
        so it is in the hull of solutions whose signs do not conflict, all of value 0 if it has that. It is tight where all
        of them are and has the signs that any of them has. It is none if some (h, t) refutes its multipliers, whose
        gradients have just those signs, zeros included.
        """
        n, rows = self.training.n_features, self.problem.rows
        vectors = [self.problem.in_units(_numbers(texts, "evidence.ties", n + 1)) for texts in refutations]
        places = []
        for *classifier, denominator in zeros:
            tight = frozenset(i for i, row in enumerate(rows) if _dot(row, classifier) == denominator)
            places.append((tight, tuple((w > 0) - (w < 0) for w in classifier[:n])))
        waiting = list(places)
        seen = set(waiting)
        while waiting:
            tight, signs = waiting.pop()
            if not tight:  # no multipliers at all
                continue
            refuted = any(self._refutes(vector, tight, signs) for vector in vectors)
            _require(refuted, "the decision value 0 may belong to a rescaling: no refutation of that is valid")
            for other_tight, other_signs in places:
                if all(a * b >= 0 for a, b in zip(signs, other_signs, strict=True)):
                    joined = (tight & other_tight, tuple(a or b for a, b in zip(signs, other_signs, strict=True)))
                    if joined not in seen:
                        seen.add(joined)
                        waiting.append(joined)

    def _refutes(self, vector: list[Fraction], tight: frozenset[int], signs: tuple[int, ...]) -> bool:
        products = [h * sign for h, sign in zip(vector, signs, strict=False)]
        return (
            all(product >= 0 for product in products)
            and any(products)
            and all(_dot(self.problem.rows[i], vector) <= 0 for i in tight)
        )


def check_complex(
    path: str | Path,
    *,
    flint: bool | None = None,
    parallel: Callable[..., Iterable[list[_Vertex | str]]] = map,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Complex:
    """Check a complex certificate, or raise ``Refused``. It then serves any number of points (``check``).

    ``flint`` says whether python-flint solves the linear systems; if not given, where it is installed. ``parallel`` is a
    ``map`` that may use several processes. ``report`` is called now and then with the numbers of vertices done and in all.
    """
    try:
        return _check_complex(path, _has_flint() if flint is None else flint, parallel, report)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"larger numbers or deeper nesting than are read here: {error}") from error


def _check_complex(
    path: str | Path, flint: bool, parallel: Callable[..., Any], report: Callable[[int, int], None]
) -> Complex:
    digest = hashlib.sha256()
    with open(path, "rb") as file:

        def lines() -> Iterator[bytes]:
            for line in file:
                digest.update(line)
                yield line

        stream = lines()
        header = next(stream, b"")
        _require(header.endswith(b"\n"), "the complex certificate is cut off in its first line")
        record = _parse(header.decode("utf-8", "replace"), "the complex certificate's first line")
        names = "schema training tilt vertices multipliers versions"
        schema, rows, tilt, n_vertices, multipliers, versions = _fields(record, "the complex certificate", names)
        _require(schema == COMPLEX_SCHEMA, f"schema: {schema!a} is not {COMPLEX_SCHEMA!r}")
        _require(isinstance(versions, dict), "versions is not a JSON object")
        training = _Training(rows)
        _require(isinstance(tilt, list) and len(tilt) == len(training.rows), "tilt: one number a row is needed")
        for i, value in enumerate(tilt):
            _require(type(value) is int and value > 0, f"tilt: the perturbation of row {i} is not a positive integer")
        _require(type(n_vertices) is int and n_vertices > 0, "vertices is not a number of vertices")
        problem = _Perturbed(training, tilt, flint)
        blocks = iter(lambda: list(islice(stream, 64)), [])
        found: dict[bytes, _Vertex] = {}
        solutions: dict[tuple[int, ...], None] = {}
        number = 0
        for results in parallel(partial(_check_lines, problem), blocks):
            wrong = [number + k for k, result in enumerate(results) if isinstance(result, str)]
            for result in results:
                _require(number < n_vertices, f"more vertices are listed than the {n_vertices} of the first line")
                if isinstance(result, str):
                    raise Refused(f"vertex {number}: {result}", wrong)
                _require(result.basis not in found, f"vertex {number} is listed before")
                solutions[result.solution] = None
                found[result.basis] = result._replace(solution=())  # kept once for all vertices that share it
                number += 1
            report(number, n_vertices)
        _require(number == n_vertices, f"{number} vertices are listed, not the {n_vertices} of the first line")
    first = next(iter(found.values()))
    problem.check_start(array("l", first.basis).tolist(), first.signs, multipliers)
    _check_edges(problem, found)
    return Complex(digest.hexdigest(), training, problem, n_vertices, list(solutions))


def _check_edges(problem: _Perturbed, found: dict[bytes, _Vertex]) -> None:
    """Does each edge that was not refuted lead to a vertex of the list, and is that on the same side of everything?

    All the neighbour's weights must have the signs of the edge; its slacks are positive, the dropped row's too. What it
    reaches is tight or 0 there, so that the edge can't go on.
    """
    m = len(problem.rows)
    for number, vertex in enumerate(found.values()):
        basis = array("l", vertex.basis).tolist()
        for (dropped, turn), end in zip(problem.drops(basis), vertex.ends, strict=True):
            if end < 0:
                continue
            what = f"vertex {number}: {problem.name(dropped, turn)}: the vertex that it leads to"
            other = found.get(_key(sorted([*(item for item in basis if item != dropped), end])))
            if other is None:
                raise Refused(f"{what} is not listed", [number])
            fits = all(a * b >= 0 for a, b in zip(vertex.signs, other.signs, strict=True))
            if not fits or (dropped >= m and other.signs[dropped - m] != turn):
                raise Refused(f"{what} has other signs", [number])


def _check_complex_evidence(
    evidence: Any, claim: str, point: list[Fraction], training: _Training, known: _Known
) -> None:
    _require(claim in ("strongly positive", "strongly negative"), f"a complex does not prove {claim!a}")
    _, sha256, ties = _fields(evidence, "evidence", "kind sha256 ties")
    _require(isinstance(sha256, str) and isinstance(ties, list), "evidence: a SHA-256 and a list of ties are needed")
    _require(sha256 in known, f"evidence: the complex certificate with the SHA-256 {sha256[:16]!a}… was not given")
    found = known[sha256]
    _require(found.training.sha256 == training.sha256, "evidence: the complex certificate is of other training rows")
    found.check(claim, point, ties)


_FREE, _OUT, _ON, _CAPPED = range(4)


class _Range:
    """The rescalings of a claim "within the range": groups of features, the bounds of d = 1/tau^2 of each, the penalties."""

    def __init__(self, record: Any, training: _Training) -> None:
        groups, rescalings, penalties = _fields(record, "range", "groups rescalings penalties")
        n, m = training.n_features, len(training.rows)
        _require(isinstance(groups, list) and len(groups) == n, "range.groups: the group of each feature is needed")
        _require(all(type(g) is int and 0 <= g < n for g in groups), "range.groups are not numbers of groups")
        _require(set(groups) == set(range(max(groups) + 1)), "range.groups leaves a number out")
        self.groups: list[int] = groups
        n_groups = max(groups) + 1
        _require(
            isinstance(rescalings, list) and len(rescalings) == n_groups, "range.rescalings: one a group is needed"
        )
        self.low, self.high = [], []
        for g, ends in enumerate(rescalings):
            least, most = _numbers(ends, f"range.rescalings[{g}]", 2)
            _require(0 < least <= 1 <= most, f"range.rescalings[{g}] does not contain 1, or is not positive")
            self.low.append(1 / most**2)
            self.high.append(1 / least**2)
        self.penalties = None if penalties is None else _numbers(penalties, "range.penalties", m)
        for i, penalty in enumerate(self.penalties or ()):
            _require(penalty > 0, f"range.penalties: that of row {i} is not positive")


class _PointInRange:
    """The inequality that settles a part of the range for one point and one sign, in integers where there are many terms."""

    def __init__(self, training: _Training, span: _Range, point: list[Fraction], sign: int) -> None:
        self.span, self.sign, self.labels = span, sign, training.labels
        self.units = []
        columns = []
        for column, p in zip(zip(*training.rows, strict=True), point, strict=True):
            unit = math.lcm(p.denominator, *(x.denominator for x in column))
            offset = p.numerator * (unit // p.denominator)
            columns.append([x.numerator * (unit // x.denominator) - offset for x in column])
            self.units.append(unit)
        self.rows = [[y * x for x in row] for row, y in zip(zip(*columns, strict=True), training.labels, strict=True)]

    def require_settled(
        self, leaf: Any, low: list[Fraction], high: list[Fraction], signs: list[int], states: list[int]
    ) -> None:
        n, m = len(self.units), len(self.rows)
        v_texts, t_text, r_texts = _fields(leaf, "a pair", "v t r")
        v, t = _numbers(v_texts, "v", n), _number(t_text, "t")
        _require(isinstance(r_texts, dict), "r is not a JSON object")
        r: dict[int, Fraction] = {}
        for key, text in r_texts.items():
            row = int(key) if re.fullmatch(r"0|[1-9][0-9]{0,15}", key) else -1
            _require(0 <= row < m, f"r: {key!a} is no row")
            r[row] = _number(text, f"r[{key}]")
        penalties = self.span.penalties
        for i, value in r.items():
            _require(value >= 0 or states[i] in (_ON, _CAPPED), f"r[{i}] is negative")
            if penalties is not None and states[i] in (_FREE, _CAPPED):
                _require(value <= penalties[i], f"r[{i}] is more than the penalty")
        balance = sum((value * self.labels[i] for i, value in r.items()), Fraction(0))
        _require(balance * self.sign >= 0, "r pulls to the wrong side")
        total = sum(r.values(), Fraction(0)) - self._costs(v, t, states)
        common = math.lcm(*(value.denominator for value in r.values())) if r else 1
        numbers = [(int(value * common), self.rows[i]) for i, value in r.items()]
        ends: list[list[Fraction]] = [[Fraction(0), Fraction(0)] for _ in low]
        for j, g in enumerate(self.span.groups):
            nu = Fraction(sum(value * row[j] for value, row in numbers), common * self.units[j])
            for end, d in enumerate((low[g], high[g])):
                x = d * v[j] + nu
                if signs[j] * x >= 0:
                    ends[g][end] += x * x / (4 * d)
        total -= sum((max(pair) for pair in ends), Fraction(0))
        _require(total > 0, "the inequality that would settle it does not fail")

    def _costs(self, v: list[Fraction], t: Fraction, states: list[int]) -> Fraction:
        """The largest possible sum of a_i e_i."""
        scaled = [value / unit for value, unit in zip(v, self.units, strict=True)]
        common = math.lcm(t.denominator, *(value.denominator for value in scaled))
        numbers, offset = [int(value * common) for value in scaled], int(t * common)
        penalties, cost = self.span.penalties, Fraction(0)
        for i, row in enumerate(self.rows):
            if states[i] != _OUT:
                missing = common - _dot(row, numbers) - self.labels[i] * offset
                if penalties is None:
                    _require(missing <= 0, f"(v, t) has a margin below 1 at row {i}")
                elif missing > 0 or states[i] == _CAPPED:
                    cost += penalties[i] * Fraction(missing, common)
        return cost


def _check_cover(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> None:
    claims = {"strongly positive within the range": 1, "strongly negative within the range": -1}
    _require(isinstance(claim, str) and claim in claims, f"a cover of a range does not prove {claim!a}")
    _, record, cover = _fields(evidence, "evidence", "kind range cover")
    span = _Range(record, training)
    question = _PointInRange(training, span, point, claims[claim])
    _require(isinstance(cover, list), "evidence.cover is not a list")
    n, m = training.n_features, len(training.rows)
    waiting = [(span.low, span.high, [0] * n, [_FREE] * m)]
    for number, entry in enumerate(cover):
        _require(bool(waiting), f"evidence.cover[{number}] is more than the range has parts")
        low, high, signs, states = waiting.pop()
        try:
            if isinstance(entry, dict):
                question.require_settled(entry, low, high, signs, states)
                continue
            _require(isinstance(entry, list) and len(entry) in (2, 3), "neither a pair nor a split")
            kind, which = entry[:2]
            _require(type(which) is int and which >= 0, "a split has no number")
            if kind == "factor" and len(entry) == 3:
                _require(which < len(low), "there is no such group")
                at = _number(entry[2], "the place of the split")
                _require(low[which] <= at <= high[which], "it is split outside of its range")
                waiting.append(([*low[:which], at, *low[which + 1 :]], high, signs, states))
                waiting.append((low, [*high[:which], at, *high[which + 1 :]], signs, states))
            elif kind == "sign" and len(entry) == 2:
                _require(which < n and signs[which] == 0, "there is no such feature, or its sign is known")
                for sign in (-1, 1):
                    waiting.append((low, high, [*signs[:which], sign, *signs[which + 1 :]], states))
            else:
                _require(kind == "row" and len(entry) == 2, f"a split of the kind {kind!a} is not known")
                _require(which < m and states[which] == _FREE, "there is no such row, or its state is known")
                for state in (_ON, _OUT) if span.penalties is None else (_CAPPED, _ON, _OUT):
                    waiting.append((low, high, signs, [*states[:which], state, *states[which + 1 :]]))
        except Refused as error:
            raise Refused(f"evidence.cover[{number}]: {error}") from error
    _require(not waiting, "evidence.cover leaves parts of the range out")


def _check_two_labels(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> None:
    _require(claim == "neutral within the range", f"two rescalings of a range do not prove {claim!a}")
    _, record, *sides = _fields(evidence, "evidence", "kind range positive negative")
    span = _Range(record, training)
    for side, name, sign in zip(sides, ("positive", "negative"), (1, -1), strict=True):
        texts, leaf = _fields(side, f"evidence.{name}", "inverse_squared_rescaling pair")
        factors = _numbers(texts, f"evidence.{name}.inverse_squared_rescaling", len(span.low))
        for g, (d, low, high) in enumerate(zip(factors, span.low, span.high, strict=True)):
            _require(low <= d <= high, f"evidence.{name}: the rescaling of group {g} is outside of its range")
        question = _PointInRange(training, span, point, sign)
        try:
            question.require_settled(leaf, factors, factors, [0] * training.n_features, [_FREE] * len(training.rows))
        except Refused as error:
            raise Refused(f"evidence.{name}: {error}") from error


_Known = dict[str, Complex]

# One checker for each kind of evidence; other kinds join here.
_KINDS: dict[str, Callable[[Any, str, list[Fraction], _Training, _Known], None]] = {
    "two-rescalings": _check_two_rescalings,
    "complex": _check_complex_evidence,
    "cover": _check_cover,
    "two-labels": _check_two_labels,
}


def _no_constant(name: str) -> None:
    raise Refused(f"{name} is not JSON")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    _require(len(record) == len(pairs), "a JSON object has a field twice")
    return record


def _parse(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"{what} is not a JSON text: {error}") from error


def check(certificate: str, training: str | None = None, complexes: Iterable[Complex] = ()) -> str:
    """Check the JSON text of a certificate; return the claim that it proves, or raise ``Refused``.

    ``training`` is the JSON text of the training rows, for a certificate that refers to them by their SHA-256 only. A
    certificate that brings its own rows is refused if they are not these. ``complexes`` are the complex certificates,
    checked by ``check_complex``, that certificates of strong verdicts refer to; they bring their training rows.
    """
    try:
        return _check(certificate, training, complexes)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"larger numbers or deeper nesting than are read here: {error}") from error


def _check(certificate: str, training: str | None, complexes: Iterable[Complex]) -> str:
    content = _parse(certificate, "the certificate")
    names = "schema claim point training evidence versions digest"
    schema, claim, point_texts, training_record, evidence, versions, digest = _fields(content, "the certificate", names)
    _require(schema == SCHEMA, f"schema: {schema!a} is not {SCHEMA!r}")
    del content["digest"]
    canonical = json.dumps(content, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
    _require(hashlib.sha256(canonical).hexdigest() == digest, "digest: the certificate is damaged")
    _require(isinstance(versions, dict), "versions is not a JSON object")
    given = None if training is None else _Training(_parse(training, "the training rows"))
    known = {found.sha256: found for found in complexes}
    if isinstance(training_record, dict) and "rows" not in training_record:
        sha256, left_out = _fields(training_record, "training", "sha256 left_out")
        _require(type(left_out) is int and left_out >= 0, "training.left_out is not a number of rows")
        at_hand = ([] if given is None else [given]) + [found.training for found in known.values()]
        _require(bool(at_hand), "training: the rows are not in the certificate and were not given")
        rows = next((rows for rows in at_hand if rows.sha256 == sha256), at_hand[0])
        _require(rows.sha256 == sha256, "training.sha256 is not that of the rows that were given")
    else:
        rows = _Training(training_record)
    _require(given is None or given.sha256 == rows.sha256, "training.sha256 is not that of the rows that were given")
    point = _numbers(point_texts, "point", rows.n_features)
    _require(isinstance(evidence, dict) and "kind" in evidence, "evidence has no kind")
    kind = evidence["kind"]
    _require(isinstance(kind, str) and kind in _KINDS, f"evidence of kind {kind!a} is not known to this checker")
    _KINDS[kind](evidence, claim, point, rows, known)
    return str(claim)


class _Unreadable(Exception):
    """A file that can't be used at all."""


def _certificates(path: str) -> list[tuple[str, str]]:
    """The certificates in a file, each with a name: one over several lines, or one a line."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _Unreadable(f"{path} is no text: {error}") from error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise _Unreadable(f"{path} has no certificate")
    if f'"{COMPLEX_SCHEMA}"' in lines[0][1][:100]:
        raise _Unreadable(
            f"{path} looks like a complex certificate, which is read from a file and begins with its schema"
        )
    if len(lines) > 1 and lines[0][1].strip() == "{":
        lines = [(1, text)]
    return [(path if len(lines) == 1 else f"{path}:{number}", line) for number, line in lines]


def _is_complex(path: str) -> bool:
    """Does the file begin as a complex certificate does? Only then is it read line by line."""
    if path == "-":
        return False
    if Path(path).exists() and not Path(path).is_file():
        raise _Unreadable(f"{path} is no file; use - to read certificates in")
    beginning = f'{{"schema":"{COMPLEX_SCHEMA}"'.encode()
    with open(path, "rb") as file:
        return file.read(len(beginning)) == beginning


def _bar(path: str) -> Callable[[int, int], None]:
    """Progress on a terminal; nothing elsewhere."""
    last = [time.monotonic()]

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty() and (time.monotonic() - last[0] > 0.3 or (done == total and last[1:])):
            last[:] = [time.monotonic(), 1]
            text = f"{path}: {done:,} of {total:,} vertices ({done / total:.0%})" if done < total else ""
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    return show


def _check_complex_file(path: str, jobs: int, flint: bool | None) -> Complex:
    if jobs == 1:
        return check_complex(path, flint=flint, report=_bar(path))
    # here, as most who check need neither
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import get_context

    def parallel(function: Callable[..., Any], blocks: Iterable[Any]) -> Iterator[Any]:
        waiting: deque[Any] = deque()  # some only, so that the file is not read faster than it is checked
        for block in blocks:
            waiting.append(pool.submit(function, block))
            if len(waiting) > 8 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            return check_complex(path, flint=flint, parallel=parallel, report=_bar(path))
        except BrokenExecutor as error:
            raise _Unreadable(f"{path}: a process that checked it was killed; try --jobs 1") from error


def _check_files(options: argparse.Namespace) -> tuple[int, int]:
    """Check all files, complexes first; returns how many certificates are proved, and how many refused."""
    training = None if options.training is None else Path(options.training).read_text(encoding="utf-8")
    pinned = None if training is None else _Training(_parse(training, "the training rows")).sha256
    complexes = []
    results: list[bool] = []

    def tell(name: str, work: Callable[[], str]) -> None:
        try:
            print(f"{name}: proved: {work()}")
            results.append(True)
        except Refused as error:
            print(f"{name}: REFUSED: {error}")
            results.append(False)

    def complex_in(path: str) -> str:
        found = _check_complex_file(path, options.jobs, False if options.no_flint else None)
        _require(pinned in (None, found.training.sha256), "training.sha256 is not that of the rows that were given")
        complexes.append(found)
        return f"the complex is complete ({found.n_vertices:,} vertices)"

    kinds = [(_is_complex(path), path) for path in options.files]
    for is_complex, path in kinds:
        if is_complex:
            tell(path, partial(complex_in, path))
    for is_complex, path in kinds:
        for name, text in () if is_complex else _certificates(path):
            tell(name, partial(check, text, training, complexes))
    return sum(results), len(results) - sum(results)


def main(arguments: Iterable[str] | None = None) -> int:
    """Exit code 0: every certificate is proved; 1: one is refused; 2: a file can't be read."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # names of files may be anything
    parser = argparse.ArgumentParser(
        prog="rescaleinv verify", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="certificates, one a file or one a line (- reads them in), and the complex certificates that they refer to",
    )
    parser.add_argument(
        "--training",
        metavar="ROWS",
        help="the training rows, for certificates that only refer to them (others must agree)",
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="processes for a complex certificate")
    parser.add_argument("--no-flint", action="store_true", help="do without python-flint even where it is installed")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}: at least one process is needed")
    options.jobs = min(options.jobs, os.cpu_count() or 1)  # more would only be in each other's way
    try:
        proved, refused = _check_files(options)
    except (OSError, ValueError, RecursionError, _Unreadable) as error:
        print(f"rescaleinv verify: error: {error}", file=sys.stderr)
        return 2
    if proved + refused > 1:
        print(f"{proved} proved, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
