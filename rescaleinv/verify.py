"""Checks certificates in exact rational arithmetic. Needs only the standard library, and runs as a single file.

    python -m rescaleinv.verify FILE [FILE ...] [--training ROWS.json] [--points P.csv --verdicts V.csv] [--quiet]

A FILE holds one certificate, or one per line, or the complex certificate that certificates of strong verdicts refer to.
Nothing is taken on trust: the training rows, the point and the evidence are read as exact fractions, and each condition is
tested without any tolerance. The first one that fails is named. What was proved is printed with the question that it
answers: the point, the training rows, the rescalings and the margin. (Where python-flint is installed it solves the larger
linear systems, with the same results; --no-flint does without, and python -I does not look for it in other folders.)

Exit codes: 0, everything was proved; 1, something was refused; 2, something could not be checked, because it can't be read
or something it refers to was not given; 3, a certificate needs more work to check than --max-work and --max-bytes allow.

Evidence for "neutral": two classifiers, each the maximum-margin classifier of the training rows after multiplying feature
j by tau_j, of which one labels the point positive and one negative. That (w, b) is the maximum-margin classifier at tau
is shown by multipliers a, with d_j = 1 / tau_j^2: the Karush-Kuhn-Tucker conditions of min 1/2 sum_j d_j w_j^2 subject to
y_i (w.x_i + b) >= 1, which is convex, so that they are sufficient.

Evidence for "strongly positive" and "strongly negative": a complex certificate, which lists all vertices of the closure of
the set of all those classifiers, and proves that none is missing. The margins are perturbed, y_i (w.x_i + b) >= 1 + e p_i
with e infinitely small, so that a vertex is a *basis*: rows whose margin is tight and features whose weight is zero, n + 1
in all. Each edge that leaves it drops one of them. Either the edge leads to another vertex of the list, or it is refuted:
a classifier of that edge with multipliers a >= 0 on its tight rows has gradients mu_j = sum_i a_i y_i x_ij with the signs
of its weights, but there is (h, t) with h_j w_j >= 0, h_j = 0 where w_j = 0, h not 0, and y_i (h.x_i + t) <= 0 on the tight
rows, whence 0 < h.mu = sum_i a_i y_i (h.x_i + t) <= 0. Since the set is connected, and one vertex is shown to be in it, a
list that no edge leaves is complete. The classifier at a rescaling is continuous in e; so the solutions at e = 0 have the
least and the largest decision value of any point.

Claims "within the range" are about the rescalings tau_j in given ranges (features of a group share one), and about soft
margins where there are penalties c_i: about every classifier (w, b) that minimises 1/2 sum_j d_j w_j^2 + sum_i c_i xi_i
with y_i (w.x_i + b) >= 1 - xi_i, xi_i >= 0. Their evidence: the range is split into parts, until each has a pair (v,
t), r that settles it. A part knows bounds l <= d <= u of each group, the signs of some weights, and of some rows that
they are out (multiplier a_i = 0, margin >= 1), on (margin = 1) or capped (a_i = c_i, margin <= 1); one of these holds
for each row, and each split covers all possibilities. Suppose that an optimal classifier of the part has s f <= 0 at
the point p, s = 1 for a positive and -1 for a negative claim. With mu = sum_i a_i y_i x_i, mu_j = d_j w_j, its
conditions give sum a_i - sum c_i xi_i = mu.w. Let e_i = 1 - y_i (v.(x_i - p) + t), nu = sum r_i y_i (x_i - p). As sum
a_i y_i = 0, sum a_i = mu.v + sum a_i e_i; and w.nu = sum r_i y_i (w.x_i + b) - f sum r_i y_i. So, if s sum r_i y_i >= 0
and r_i >= 0 for free rows and those out, r_i <= c_i for free rows and those capped,

    sum r_i  <=  sum_i (the largest possible a_i e_i)  +  sum_j (mu_j v_j + nu_j w_j - mu_j w_j)

where the last sum is at most the sum over groups of the larger one, for d = l or u, of sum_j (d v_j + nu_j)^2 / (4 d),
without the features whose weight must not have the sign of d v_j + nu_j. A pair for which this does not hold settles
the part: s f > 0. Where d has no upper bound the sum has a bound only if each v_j is 0 or against the sign of its weight;
it is convex in d and goes to 0, so that the end u counts as 0. Likewise the end l = 0, with nu_j in the place of v_j.

With a nu-margin the classifiers minimise 1/2 sum_j d_j w_j^2 - rho + sum_i c_i xi_i with y_i (w.x_i + b) >= rho - xi_i,
where c_i = (weight of the row) / (nu times the sum of the weights); so the multipliers are at most c_i and add up to 1,
rho >= 0 (all being 0 is feasible), and mu.w = rho - sum c_i xi_i. A pair has one more number q, e_i = q - y_i (v.(x_i - p)
+ t), whence q = mu.v + sum a_i e_i; and if sum r_i >= 1, w.nu >= rho sum r_i - sum c_i xi_i >= mu.w. So q takes the place
of sum r_i on the left. There is a minimiser, as the c_i of each class must add up to 1/2 at least.

A relative cover is for ranges without an end, where sum a_i may be any number (hard margins), or rho may (nu-margins). Both
margins do not depend on a common factor of all d: divide a by sum a_i, or (w, b) and xi by rho, and d changes by a factor
c > 0, the scale, to the relative d' = c d, with sum a_i = 1, margins of 1 - xi_i, and mu.w = 1 - sum c_i xi_i. Parts have
bounds of the scale and of d, or of d' itself for a group whose d may be any number. With e_i = q - y_i (v.(x_i - p) + t)
as above q = mu.v + sum a_i e_i; and if f = 0, w.nu >= sum r_i - sum c_i xi_i. So q + sum r_i - 1 takes the place of sum r_i
on the left, d' that of d, and a pair for which the inequality does not hold excludes f = 0. The optimal classifiers of all d
of the range are a connected set (for one d they differ in b at most, by an interval, and the set changes with d without a
jump), and those of one d are shown to have s f > 0 (whence rho > 0: it is 0 for all d or for none, and then f = 0).

A tree proves a strong verdict about every rescaling without a list of vertices. Put the point p at the origin, G_i = y_i
(x_i - p). A classifier w of the closure with decision value 0 at p has G_i.w >= 1 and multipliers a >= 0, sum a_i = 1,
half of it in each class, a_i > 0 only where G_i.w = 1, whose gradients mu = sum_i a_i G_i have mu_j w_j > 0 wherever w_j
is not 0; so sum_j w_j mu_j = 1. The tree splits on what is known of the pair (w, a), each time into all that there is:
the sign of w_j and mu_j, |mu_j| <= t |w_j| or >=, |w_j| <= t or >=, |mu_j| <= t or >=, a_i = 0 or G_i.w <= 1. A leaf has
prices r of margins (r_i >= 0 unless G_i.w <= 1 is known) and v of gradients. With W = sum_i r_i G_i, every such pair has

    sum_i r_i + (the least possible v.mu)  <=  W.w + v.mu  <=  1 + sum_j (the largest possible W_j w_j + v_j mu_j - w_j mu_j)

so that a leaf for which this fails is empty. Where all rows that may have a_i > 0 have G_i.h + t y_i <= 0 and h_j has the
sign of feature j, h.mu <= 0 (as sum a_i y_i = 0) although no h_j mu_j is negative: these mu_j are 0, hence these w_j are.
No classifier of the closure has the value 0, the closure is connected, and one rescaling is shown: all have its sign.

Claims "with nu" are about every rescaling with the soft margin that has no scale: about every classifier (w, b) that, with
some rho, minimises 1/2 sum_j d_j w_j^2 - rho + sum_i k_i xi_i with y_i (w.x_i + b) >= rho - xi_i, xi_i >= 0, and caps k_i =
c_i / (nu sum c) for row weights c_i. By its optimality conditions there are multipliers 0 <= a_i <= k_i, half of them in
each class, with d_j w_j = mu_j = sum_i a_i y_i x_ij; a_i > 0 only where xi_i makes the margin tight, and a_i = k_i where
xi_i > 0. So a and d give w, and the rows with 0 < a and with a < k give the interval of each class's score at margin rho,
hence all optimal b: a strong verdict is about every one of them, and a point that two of them label differently is
neutral. The tree is the one above, with margins and b divided by rho: each row has a_i = 0 or G_i.w <= 1, and a_i = k_i or
G_i.w >= 1; sum_j w_j mu_j = 1 - sum_i k_i xi_i. If r_i <= k_i for the rows that may fall short of their margin, then W.w
>= sum_i r_i - sum_i k_i xi_i, and the inequality of a leaf is the same, with the least v.mu over multipliers that have
caps.

The format is specified in docs/certificates.md.
"""

from __future__ import annotations

import argparse
import csv
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
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import islice, pairwise
from operator import itemgetter, mul
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

SCHEMA = "rescaleinv-certificate/1"
COMPLEX_SCHEMA = "rescaleinv-complex/1"

# The limits: what a certificate may take before the checker stops and says so (``LimitReached``).
MAX_WORK = 10**9  # steps per certificate, and per vertex of a complex certificate: a step is some 50 to 100 ns
MAX_BYTES = 2**26  # bytes of a line, or of a certificate that is written on several lines
MAX_BITS = 2**20  # bits of a common denominator
_HEX_DIGITS = 2**15  # digits of a number in hexadecimal; in decimal the format allows 4,300


# ==== Outcomes: refused, or not checked =================================================================================


class Refused(ValueError):
    """A certificate that does not prove its claim; the message names the first condition that fails.

    ``vertices`` are the numbers of the vertices of a complex certificate that were found to be wrong.
    """

    def __init__(self, condition: str, vertices: Iterable[int] = ()) -> None:
        super().__init__(condition)
        self.vertices = list(vertices)


class NotChecked(Refused):
    """Nothing was proved, but nothing was found wrong either.

    It is a ``Refused``, so that no caller takes it for a proof.
    """


class Missing(NotChecked):
    """The certificate refers to training rows or to a complex certificate that were not given."""


class LimitReached(NotChecked):
    """Checking the certificate would take more than the limits allow."""


def _require(holds: bool, condition: str) -> None:
    if not holds:
        raise Refused(condition)


def _require_given(holds: bool, condition: str) -> None:
    if not holds:
        raise Missing(condition)


# ==== Limits: work is counted before it is done =========================================================================


class _Meter:
    """Counts steps; None allows any number of them."""

    def __init__(self, most: int | None) -> None:
        self.most, self.spent = most, 0


_METER: ContextVar[_Meter] = ContextVar("_METER")


@contextmanager
def _guarded(max_work: int | None) -> Iterator[None]:
    """What is done inside may take ``max_work`` steps, and whatever the interpreter can't read is ``Refused``."""
    token = _METER.set(_Meter(max_work))
    try:
        yield
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"larger numbers or deeper nesting than are read here: {error}") from error
    finally:
        _METER.reset(token)


def _spend(steps: int) -> None:
    """Call it before the work. A step is a multiplication of small integers; longer ones count by their product."""
    meter = _METER.get(None)
    if meter is None or meter.most is None:
        return
    meter.spent += steps
    if meter.spent > meter.most:
        raise LimitReached(f"this certificate needs more than {meter.most:,} steps to check; --max-work allows more")


def _words(*numbers: int) -> int:
    """The length of the longest number, in words of 64 bits."""
    return max(map(int.bit_length, numbers), default=0) // 64 + 1


def _steps(*lengths: int) -> int:
    """The steps of a multiplication, a division or a gcd of integers with so many words."""
    return 1 + math.prod(lengths) // 16


# ==== JSON and exact numbers ============================================================================================

_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|[0-9]{1,4300})(?:/(?:0x[0-9a-f]+|[0-9]{1,4300}))?")
_ROW_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")


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


def _fields(record: Any, what: str, names: str) -> list[Any]:
    """The values of exactly these fields: none missing, and none besides that a reader might take for checked."""
    wanted = names.split()
    _require(isinstance(record, dict), f"{what} is not a JSON object")
    for name in wanted:
        _require(name in record, f"{what} has no field {name!r}")
    for name in record:
        _require(name in wanted, f"{what} has a field {name!a} that is not known")
    return [record[name] for name in wanted]


def _shortened(text: Any) -> str:
    shown = ascii(text)
    return shown if len(shown) <= 80 else f"{shown[:60]}... ({len(shown):,} characters)"


def _number(text: Any, what: str) -> Fraction:
    is_number = isinstance(text, str) and _NUMBER.fullmatch(text) is not None
    _require(is_number, f"{what}: {_shortened(text)} is not an exact number")
    if len(text) > 100:
        if len(text) > 2 * _HEX_DIGITS:
            raise LimitReached(f"{what} has more than {_HEX_DIGITS:,} digits")
        _spend(_steps(len(text) // 16, len(text) // 16))  # to lowest terms
    numerator, _, denominator = text.partition("/")
    parts = [int(part, 16) if "x" in part else int(part) for part in (numerator, denominator or "1")]
    _require(parts[1] > 0, f"{what}: {_shortened(text)} has a denominator of zero")
    return Fraction(parts[0], parts[1])


def _numbers(texts: Any, what: str, length: int) -> list[Fraction]:
    _require(isinstance(texts, list) and len(texts) == length, f"{what}: {length} numbers are needed")
    return [_number(text, f"{what}[{k}]") for k, text in enumerate(texts)]


def _multipliers(record: Any, what: str, n_rows: int) -> dict[int, Fraction]:
    """A JSON object from row numbers to exact numbers; the rows that it leaves out have 0."""
    _require(isinstance(record, dict), f"{what} is not a JSON object")
    numbers: dict[int, Fraction] = {}
    for key, text in record.items():
        row = int(key) if _ROW_NUMBER.fullmatch(key) else -1
        _require(0 <= row < n_rows, f"{what}: the multiplier {_shortened(key)} belongs to no row")
        numbers[row] = _number(text, f"{what}[{key}]")
    return numbers


# ==== Integer arithmetic ================================================================================================


def _dot(first: Iterable[Any], second: Iterable[Any]) -> Any:
    return sum(map(mul, first, second))


def _least_common_multiple(numbers: Iterable[int]) -> int:
    multiple = 1
    for number in numbers:
        if number != 1:
            _spend(2 * _steps(_words(multiple), _words(number)))
            multiple = math.lcm(multiple, number)
            if multiple.bit_length() > MAX_BITS:
                raise LimitReached(f"this certificate needs a common denominator of more than {MAX_BITS:,} bits")
    return multiple


def _over_one_denominator(values: Iterable[Fraction]) -> tuple[list[int], int]:
    """Fractions as integers over their least common denominator."""
    values = list(values)
    common = _least_common_multiple(dict.fromkeys(value.denominator for value in values))
    _spend(len(values) * _steps(_words(common), _words(*(value.numerator for value in values))))
    return [value.numerator * (common // value.denominator) for value in values], common


def _total(terms: Iterable[Fraction]) -> Fraction:
    total = Fraction(0)
    for term in terms:
        _spend(4 * _steps(_words(*total.as_integer_ratio()), _words(*term.as_integer_ratio())))
        total += term
    return total


def _product(*factors: Fraction) -> Fraction:
    product = Fraction(1)
    for factor in factors:
        _spend(4 * _steps(_words(*product.as_integer_ratio()), _words(*factor.as_integer_ratio())))
        product *= factor
    return product


def _solve(rows: list[list[int]]) -> tuple[int, list[list[int]]] | None:
    """Solve the square system in the leading columns for each column behind it, in integers.

    Gauss-Jordan without fractions (Bareiss): each division leaves no remainder. Returns D > 0 and D times the solutions,
    one list per row; None where the system is singular.
    """
    previous = 1
    for k in range(len(rows)):
        pivot_row = next((i for i in range(k, len(rows)) if rows[i][0]), None)
        if pivot_row is None:
            return None
        rows[k], rows[pivot_row] = rows[pivot_row], rows[k]
        pivot, *upper = rows[k]
        _spend(2 * len(rows) * len(upper) * _steps(_words(pivot), _words(*upper)))
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
    longest = size * max(_words(*row) for row in rows)  # of a determinant
    _spend(size * size * width * _steps(longest, longest) // 4)
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


# ==== The question: training rows, point, rescalings, margin ============================================================


class _Training:
    """The training rows, checked against their SHA-256."""

    def __init__(self, record: Any) -> None:
        is_read = isinstance(record, dict) and "reading" in record
        sha256, left_out, labels, rows, *reading = _fields(
            record, "training", "sha256 left_out labels rows" + " reading" * is_read
        )
        _require(type(left_out) is int and left_out >= 0, "training.left_out is not a number of rows")
        _require(isinstance(rows, list) and bool(rows), "training.rows is not a list of rows")
        _require(isinstance(rows[0], list) and bool(rows[0]), "training.rows[0] has no features")
        _require(isinstance(labels, list) and len(labels) == len(rows), "training.labels: one label per row is needed")
        _require(all(type(y) is int and y in (1, -1) for y in labels), "training.labels are not all 1 or -1")
        _require(len(set(labels)) == 2, "training.labels: both classes are needed")
        self.labels: list[int] = labels
        self.rows = [_numbers(row, f"training.rows[{i}]", len(rows[0])) for i, row in enumerate(rows)]
        self.n_features = len(rows[0])
        self.left_out: int = left_out
        self.sha256: str = sha256
        digest = hashlib.sha256()
        for row, label in zip(self.rows, labels, strict=True):
            digest.update(f"{label}:{','.join(map(str, row))}\n".encode())
        _require(digest.hexdigest() == sha256, "training.sha256 is not that of the rows")
        self.reading: list[_FeatureReading | None] | None = _check_reading(reading[0], self.rows) if is_read else None
        self.last_optimum: tuple[str, _NuOptimum] | None = None  # and the text that it was found to be optimal from

    @property
    def identity(self) -> tuple[Any, ...]:
        """Rows that are equal may stand for different numbers: they are the same only if they were read alike."""
        return self.sha256, None if self.reading is None else tuple(self.reading)

    @cached_property
    def units(self) -> list[int]:
        """What to multiply each feature by, so that all its values are integers."""
        return [_least_common_multiple(x.denominator for x in column) for column in zip(*self.rows, strict=True)]

    @cached_property
    def signed(self) -> list[list[int]]:
        """y_i (x_i, 1) in those units."""
        longest = _words(*(x.numerator for row in self.rows for x in row))
        _spend(len(self.rows) * sum(_steps(longest, _words(unit)) for unit in self.units))
        return [
            [y * x.numerator * (unit // x.denominator) for x, unit in zip(row, self.units, strict=True)] + [y]
            for row, y in zip(self.rows, self.labels, strict=True)
        ]

    @cached_property
    def words(self) -> int:
        return max(_words(*row) for row in self.signed)


def _in_units(vector: list[Fraction], units: list[int]) -> list[Fraction]:
    """(h, t) for the features as the integers that they are in ``_Training.signed``."""
    return [_product(h, Fraction(1, unit)) for h, unit in zip(vector, units, strict=False)] + vector[-1:]


@dataclass(frozen=True)
class Scope:
    """The classifiers that a claim is about.

    ``groups`` has the group of each feature and ``factors`` the least and largest factor of each group (0 and None where
    there is no end); None where the claim is about every rescaling. ``penalties`` has one penalty per training row, ``nu``
    the soft margin without a scale and ``row_weights`` the weights of the rows that it goes with (None: all alike); both
    None for a hard margin.
    """

    groups: tuple[int, ...] | None = None
    factors: tuple[tuple[Fraction, Fraction | None], ...] | None = None
    penalties: tuple[Fraction, ...] | None = None
    nu: Fraction | None = None
    row_weights: tuple[Fraction, ...] | None = None

    def __str__(self) -> str:
        if self.groups is None or self.factors is None:
            rescalings = "every rescaling"
        elif len(set(self.factors)) == 1:
            rescalings = f"factors from {_ends_text(*self.factors[0])}"
        else:
            rescalings = "factors " + _listed([f"{g}: {_ends_text(*ends)}" for g, ends in enumerate(self.factors)])
        if self.groups is not None and self.factors is not None and len(self.factors) < len(self.groups):
            rescalings += f" of {len(self.factors)} groups {_listed(list(map(str, self.groups)))}"
        if self.nu is not None:
            weights = (
                ""
                if self.row_weights is None
                else f", row weights {_range_text(min(self.row_weights), max(self.row_weights))}"
            )
            return f"{rescalings}, nu = {_brief(self.nu)}{weights}"
        if self.penalties is None:
            return f"{rescalings}, hard margin"
        least, most = min(self.penalties), max(self.penalties)
        return f"{rescalings}, penalties {_brief(least) if least == most else _range_text(least, most)}"


def _brief(value: Fraction) -> str:
    """A number for people: exact where it is short."""
    if max(map(int.bit_length, value.as_integer_ratio())) <= 40:
        text = str(value)
        if len(text) <= 12:
            return text
    try:
        return f"~{float(value):.6g}"
    except OverflowError:
        return "~1e+999" if value > 0 else "~-1e+999"


def _range_text(least: Fraction, most: Fraction) -> str:
    return f"{_brief(least)} to {_brief(most)}"


def _ends_text(least: Fraction, most: Fraction | None) -> str:
    return f"{_brief(least)} to infinity" if most is None else _range_text(least, most)


def _listed(texts: list[str]) -> str:
    return f"({', '.join(texts[:8])}{', ...' if len(texts) > 8 else ''})"


@dataclass(frozen=True)
class Question:
    """What a claim is about. ``left_out`` is what the certificate states; it is not proved."""

    point: tuple[Fraction, ...]
    training_sha256: str
    n_rows: int
    left_out: int
    scope: Scope
    reading: tuple[_FeatureReading | None, ...] | None = None  # of decimals and grids from floats, up to their rounding

    @property
    def point_sha256(self) -> str:
        """SHA-256 of the numerators and denominators in lowest terms, in hexadecimal, joined by commas."""
        parts = (part for x in self.point for part in x.as_integer_ratio())
        return hashlib.sha256(",".join(map(hex, parts)).encode()).hexdigest()

    def __str__(self) -> str:
        point = _listed([_brief(x) for x in self.point])
        rows = f"{self.n_rows} rows" + (f", {self.left_out} said to be left out" if self.left_out else "")
        return (
            f"point {point} {self.point_sha256[:12]}, training {self.training_sha256[:12]} ({rows}), {self.scope}"
            + (", numbers as written" if self.reading is not None else "")
        )


class Claim(str):
    """What was proved, as the text of the claim, with the question that it answers."""

    question: Question

    def __new__(cls, text: str, question: Question) -> Claim:
        claim = super().__new__(cls, text)
        claim.question = question
        return claim

    def __getnewargs__(self) -> tuple[str, Question]:  # type: ignore[override]
        return str(self), self.question


# ==== The reading: what the given floats stand for ======================================================================

# Decimals and values on a grid may differ from the float that was given by rounding, and by no more than this share of the
# feature's largest value (128 units in the last place).
_LARGEST_ROUNDING = Fraction(1, 2**45)


class _FeatureReading(NamedTuple):
    """The number that stands for a given float g is x with |origin + unit x - g| <= rounding."""

    origin: Fraction
    unit: Fraction
    rounding: Fraction


def _check_reading(record: Any, rows: list[list[Fraction]]) -> list[_FeatureReading | None]:
    """Is every row as near to the floats that were given as is stated, and is that no more than rounding?"""
    n = len(rows[0])
    _require(isinstance(record, list) and len(record) == n, "training.reading: one entry per feature is needed")
    maps: list[_FeatureReading | None] = []
    for j, entry in enumerate(record):
        what = f"training.reading[{j}]"
        if entry is None:
            maps.append(None)
            continue
        *texts, given_texts = _fields(entry, what, "origin unit rounding given")
        read = _FeatureReading(*(_number(text, what) for text in texts))
        given = _numbers(given_texts, f"{what}.given", len(rows))
        _require(read.unit > 0, f"{what}.unit is not positive")
        largest = _product(max(map(abs, given)), _LARGEST_ROUNDING)
        _require(0 <= read.rounding <= largest, f"{what}.rounding is more than rounding can be")
        for i, (row, float_given) in enumerate(zip(rows, given, strict=True)):
            off = abs(_total([read.origin, _product(read.unit, row[j]), -float_given]))
            _require(off <= read.rounding, f"{what}: row {i} differs from the number given by more than the rounding")
        maps.append(read)
    return maps


def _check_given_point(record: Any, point: list[Fraction], training: _Training) -> list[Fraction]:
    """The point as it was given: it stands for the certified one by the reading of the training rows."""
    if training.reading is None:
        return point
    given = _numbers(record, "given_point", len(point))
    for j, (read, x, float_given) in enumerate(zip(training.reading, point, given, strict=True)):
        if read is None:
            _require(x == float_given, f"given_point[{j}] is not the point's, and the feature has no reading")
            continue
        allowed = max(read.rounding, _product(abs(float_given), _LARGEST_ROUNDING))
        off = abs(_total([read.origin, _product(read.unit, x), -float_given]))
        _require(off <= allowed, f"given_point[{j}] differs from the point by more than the rounding")
    return given


# ==== Kind "two-rescalings": neutral under every rescaling ==============================================================


def _check_maximum_margin(record: Any, what: str, training: _Training) -> tuple[list[Fraction], Fraction]:
    """Is the classifier the maximum-margin classifier at its rescaling? If so, return its weights and intercept."""
    n, rows = training.n_features, training.signed
    names = "weights intercept multipliers inverse_squared_rescaling"
    weight_texts, intercept_text, multiplier_texts, rescaling_texts = _fields(record, what, names)
    weights = _numbers(weight_texts, f"{what}.weights", n)
    intercept = _number(intercept_text, f"{what}.intercept")
    inverse_squared = _numbers(rescaling_texts, f"{what}.inverse_squared_rescaling", n)
    for j, d in enumerate(inverse_squared):
        _require(d > 0, f"{what}: the rescaling of feature {j} is not positive")
    multipliers = _multipliers(multiplier_texts, f"{what}.multipliers", len(rows))
    for i, value in multipliers.items():
        _require(value > 0, f"{what}: the multiplier of row {i} is not positive")
    classifier, denominator = _over_one_denominator(_in_units([*weights, intercept], training.units))
    _spend(len(rows) * (n + 1) * _steps(training.words, _words(*classifier)))
    for i, row in enumerate(rows):
        margin = _dot(row, classifier)
        _require(margin >= denominator, f"{what}: row {i} has a margin below 1")
        _require(margin == denominator or i not in multipliers, f"{what}: row {i} has a multiplier, but is not tight")
    numbers, common = _over_one_denominator(multipliers.values())
    _spend(len(numbers) * (n + 1) * _steps(training.words, _words(*numbers)))
    supports = [rows[i] for i in multipliers]
    *gradient, balance = [_dot(numbers, (row[j] for row in supports)) for j in range(n + 1)]
    _require(balance == 0, f"{what}: the multipliers of the two classes do not balance")
    for j, (d, w, slope, unit) in enumerate(zip(inverse_squared, weights, gradient, training.units, strict=True)):
        _require(
            _product(d, w, Fraction(common), Fraction(unit)) == slope,
            f"{what}: the weight of feature {j} is not optimal",
        )
    return weights, intercept


def _decision(weights: list[Fraction], intercept: Fraction, point: list[Fraction]) -> Fraction:
    return _total([*(_product(w, x) for w, x in zip(weights, point, strict=True)), intercept])


def _check_two_rescalings(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    _require(claim == "neutral", f"two rescalings that disagree prove 'neutral', not {claim!a}")
    _, positive, negative = _fields(evidence, "evidence", "kind positive negative")
    value = _decision(*_check_maximum_margin(positive, "evidence.positive", training), point)
    _require(value >= 0, "evidence.positive does not label the point positive")
    value = _decision(*_check_maximum_margin(negative, "evidence.negative", training), point)
    _require(value < 0, "evidence.negative does not label the point negative")
    return Scope()


# ==== Complex certificates: all vertices of the closure =================================================================


class _Vertex(NamedTuple):
    """What is left to know about a vertex once it was checked by itself."""

    basis: bytes
    ends: list[int]  # the item that each edge reaches, or -1
    signs: list[int]
    solution: tuple[int, ...]


def _key(basis: list[int]) -> bytes:
    return array("l", basis).tobytes()


class _Perturbed:
    """The perturbed problem: y_i (w.x_i + b) >= 1 + e perturbation_i, with the signed rows as integers."""

    def __init__(self, training: _Training, perturbation: list[int], flint: bool, max_work: int | None) -> None:
        self.rows, self.words, self.units = training.signed, training.words, training.units
        self.perturbation = perturbation
        self.perturbation_words = _words(*perturbation)
        self.n_features = training.n_features
        self.solve = _solve_with_flint if flint else _solve
        self.max_work = max_work

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
        zero_weights = {item - m for item in basis if item >= m}
        support = [j for j in range(n) if j not in zero_weights]
        solution, signs = self._solution(tight, support)
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
            except LimitReached:
                raise
            except Refused as error:
                raise Refused(f"{self.name(dropped, turn)}: {error}") from error
            ends.append(edge if leads else -1)
        return _Vertex(_key(basis), ends, signs, solution)

    def _solution(self, tight: list[int], support: list[int]) -> tuple[tuple[int, ...], list[int]]:
        """(w, b) at e = 0, as integers and their denominator, and the signs of the weights for e > 0.

        A number is its value at e = 0, or where that is 0 its rate of change with e: no slack and no weight may be 0.
        """
        n = self.n_features
        system = [[self.rows[i][j] for j in support] + [self.rows[i][n], 1, self.perturbation[i]] for i in tight]
        solved = self.solve(system)
        if solved is None:
            raise Refused("the basis is singular")
        denominator, values = solved
        still, moving = [0] * (n + 1), [0] * (n + 1)
        for j, (value, rate) in zip([*support, n], values, strict=True):
            still[j], moving[j] = value, rate
        longest = _words(denominator, *still, *moving)
        _spend(2 * len(self.rows) * (n + 1) * _steps(longest, max(self.words, self.perturbation_words)))
        in_basis = set(tight)
        for q, row in enumerate(self.rows):
            if q not in in_basis:
                slack = _dot(row, still) - denominator or _dot(row, moving) - denominator * self.perturbation[q]
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
        """(h, t), as it is given or by where it may differ from zero, as the bits of -1 - edge.

        One bit for each tight row, where y_i (h.x_i + t) may differ from 0, then one for each feature with weight, where
        h_j may. Its scale: 1 at the dropped row, or ``turn`` at the dropped feature.
        """
        m, n = len(self.rows), self.n_features
        if isinstance(edge, list):
            return _over_one_denominator(_in_units(_numbers(edge, "its refutation", n + 1), self.units))[0]
        _require(type(edge) is int, "neither a vertex nor a refutation")
        mask = -1 - edge
        _require(mask < 1 << (len(tight) + len(support)), "its refutation has bits that mean nothing")
        zero_rows = [i for k, i in enumerate(tight) if not mask >> k & 1]
        chosen = [j for k, j in enumerate(support, len(tight)) if mask >> k & 1]
        _require(len(zero_rows) == len(chosen) + 1, "its refutation is not determined by its bits")
        lines = []
        for i in zero_rows:
            right = int(i == dropped) if dropped < m else -turn * self.rows[i][dropped - m]
            lines.append([self.rows[i][j] for j in chosen] + [self.rows[i][n], right])
        solved = self.solve(lines)
        if solved is None:
            raise Refused("its refutation is not determined by its bits")
        denominator, values = solved
        h = [0] * (n + 1)
        for j, (value,) in zip([*chosen, n], values, strict=True):
            h[j] = value
        if dropped >= m:
            h[dropped - m] = turn * denominator
        return h

    def _require_refuted(self, h: list[int], tight: list[int], signs: list[int]) -> None:
        weights = h[:-1]
        _require(any(weights), "its refutation is zero")
        for j, (value, sign) in enumerate(zip(weights, signs, strict=True)):
            _require(value == 0 or value * sign > 0, f"its refutation has the wrong sign at feature {j}")
        _spend(len(tight) * len(h) * _steps(self.words, _words(*h)))
        for i in tight:
            _require(_dot(self.rows[i], h) <= 0, f"its refutation is positive at row {i}")

    def check_start(self, basis: list[int], signs: list[int], multipliers: Any) -> None:
        """The first vertex is in the closure: multipliers whose gradients have the signs of its weights."""
        m, n = len(self.rows), self.n_features
        tight = [item for item in basis if item < m]
        values = _numbers(multipliers, "multipliers", len(tight))
        for i, value in zip(tight, values, strict=True):
            _require(value >= 0, f"vertex 0: the multiplier of row {i} is negative")
        numbers, _ = _over_one_denominator(values)
        _spend(len(numbers) * (n + 1) * _steps(self.words, _words(*numbers)))
        gradient = [_dot(numbers, (self.rows[i][j] for i in tight)) for j in range(n + 1)]
        _require(gradient[n] == 0, "vertex 0: the multipliers of the two classes do not balance")
        for j, sign in enumerate(signs):
            _require(not sign or gradient[j] * sign > 0, f"vertex 0: the gradient of feature {j} has the wrong sign")


def _check_lines(problem: _Perturbed, lines: list[bytes]) -> list[_Vertex | Refused]:
    """The vertices of these lines, or what is wrong with them."""
    found: list[_Vertex | Refused] = []
    for line in lines:
        try:
            with _guarded(problem.max_work):
                found.append(problem.vertex(line))
        except Refused as error:
            found.append(error)
    return found


@dataclass(frozen=True)
class Complex:
    """A complex certificate that was checked: the solutions (w, b) of all vertices, as integers over one denominator."""

    sha256: str
    training: _Training
    problem: _Perturbed
    n_vertices: int
    solutions: list[tuple[int, ...]]

    @cached_property
    def words(self) -> int:
        return max(_words(*solution) for solution in self.solutions)

    def check(self, claim: str, point: list[Fraction], refutations: list[Any]) -> None:
        """Does every vertex give the point this label?"""
        numbers, common = _over_one_denominator(point)
        scaled = [x * unit for x, unit in zip(numbers, self.training.units, strict=True)] + [common]
        _spend(len(self.solutions) * len(scaled) * _steps(self.words, _words(*scaled)))
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
        """The decision value 0, where it is the largest, must belong only to limits of classifiers.

        The classifier at a rescaling is the limit of the perturbed ones, each in the hull of listed vertices of one cell;
        so it is in the hull of solutions whose signs do not conflict, all of value 0 if it has that. It is tight where all
        of them are and has the signs that any of them has: call that their joint cell. It holds no classifier if some
        (h, t) refutes the multipliers, whose gradients have just those signs, zeros included.
        """
        n = self.training.n_features
        vectors = [self._tie_vector(_numbers(texts, "evidence.ties", n + 1)) for texts in refutations]
        cells = list(dict.fromkeys(self._cell(zero) for zero in zeros))
        _require_all_refuted(cells, vectors, len(self.problem.rows))

    def _cell(self, solution: tuple[int, ...]) -> _Cell:
        *classifier, denominator = solution
        rows = self.problem.rows
        _spend(len(rows) * len(classifier) * _steps(self.problem.words, _words(*classifier)))
        weights = classifier[:-1]
        return _Cell(
            _bits(_dot(row, classifier) == denominator for row in rows),
            _bits(w > 0 for w in weights),
            _bits(w < 0 for w in weights),
        )

    def _tie_vector(self, vector: list[Fraction]) -> _TieVector:
        h, _ = _over_one_denominator(_in_units(vector, self.training.units))
        rows = self.problem.rows
        _spend(len(rows) * len(h) * _steps(self.problem.words, _words(*h)))
        return _TieVector(
            _bits(_dot(row, h) > 0 for row in rows), _bits(x > 0 for x in h[:-1]), _bits(x < 0 for x in h[:-1])
        )


def _bits(truths: Iterable[bool]) -> int:
    return int("".join("1" if truth else "0" for truth in truths), 2)


class _Cell(NamedTuple):
    """The rows that are tight, and the features with a positive and with a negative weight, as the bits of integers."""

    tight: int
    positive: int
    negative: int

    def agrees(self, other: _Cell) -> bool:
        return not (self.positive & other.negative or self.negative & other.positive)

    def joined(self, other: _Cell) -> _Cell:
        return _Cell(self.tight & other.tight, self.positive | other.positive, self.negative | other.negative)


class _TieVector(NamedTuple):
    """(h, t): the rows where y_i (h.x_i + t) > 0, and the features where h is positive and where it is negative."""

    violated: int
    positive: int
    negative: int

    def opposes(self, cell: _Cell) -> bool:
        return bool(self.positive & cell.negative or self.negative & cell.positive)

    def refutes(self, cell: _Cell) -> bool:
        weighs = self.positive & cell.positive or self.negative & cell.negative
        return bool(weighs) and not self.opposes(cell) and not self.violated & cell.tight


def _require_all_refuted(cells: list[_Cell], vectors: list[_TieVector], n_rows: int) -> None:
    """Is every joint cell of these refuted by one of the vectors?

    Not all joint cells need to be looked at, of which there may be exponentially many. What refutes a cell also refutes
    its join with further ones, as long as none of these has a weight of the sign opposite to h_j where the cell has none.
    So only its joins with one such cell come next.
    """
    size = 1 + n_rows // 1000  # sets of rows and features are the bits of integers
    waiting, seen = list(cells), set(cells)
    while waiting:
        cell = waiting.pop()
        _spend(50 + size * len(vectors))
        if not cell.tight:  # no multipliers at all
            continue
        fewest: list[_Cell] | None = None
        for vector in (vector for vector in vectors if vector.refutes(cell)):
            _spend(size * len(cells))
            opposed = [other for other in cells if vector.opposes(other) and cell.agrees(other)]
            if fewest is None or len(opposed) < len(fewest):
                fewest = opposed
            if not fewest:
                break
        if fewest is None:
            raise Refused("the decision value 0 may belong to a rescaling: no refutation of that is valid")
        for joined in map(cell.joined, fewest):
            if joined not in seen:
                seen.add(joined)
                waiting.append(joined)


def check_complex(
    path: str | Path,
    *,
    flint: bool | None = None,
    parallel: Callable[..., Iterable[list[_Vertex | Refused]]] = map,
    report: Callable[[int, int], None] = lambda done, total: None,
    max_work: int | None = MAX_WORK,
    max_bytes: int = MAX_BYTES,
) -> Complex:
    """Check a complex certificate, or raise ``Refused``. It then serves any number of points (``check``).

    ``flint`` says whether python-flint solves the linear systems; if not given, where it is installed. ``parallel`` is a
    ``map`` that may use several processes. ``report`` is called now and then with the number of vertices done and in all.
    ``max_work`` limits the steps for each line of the file and ``max_bytes`` its length; beyond that ``LimitReached`` is
    raised.
    """
    with_flint = _has_flint() if flint is None else flint
    with _guarded(max_work):
        return _check_complex(path, with_flint, parallel, report, max_bytes)


def _read_line(file: BinaryIO, max_bytes: int) -> bytes:
    line = file.readline(max_bytes + 1)
    if len(line) > max_bytes:
        raise LimitReached(f"this certificate needs more than {max_bytes:,} bytes on a line; --max-bytes allows more")
    return line


def _check_complex(
    path: str | Path,
    flint: bool,
    parallel: Callable[..., Any],
    report: Callable[[int, int], None],
    max_bytes: int,
) -> Complex:
    digest = hashlib.sha256()
    with open(path, "rb") as file:

        def lines() -> Iterator[bytes]:
            while line := _read_line(file, max_bytes):
                digest.update(line)
                yield line

        stream = lines()
        header = next(stream, b"")
        _require(header.endswith(b"\n"), "the complex certificate is cut off in its first line")
        record = _parse(header.decode("utf-8", "replace"), "the complex certificate's first line")
        names = "schema training tilt vertices multipliers versions"
        schema, rows, perturbation, n_vertices, multipliers, versions = _fields(
            record, "the complex certificate", names
        )
        _require(schema == COMPLEX_SCHEMA, f"schema: {schema!a} is not {COMPLEX_SCHEMA!r}")
        _require(isinstance(versions, dict), "versions is not a JSON object")
        training = _Training(rows)
        is_list = isinstance(perturbation, list) and len(perturbation) == len(training.rows)
        _require(is_list, "tilt: one number per row is needed")
        for i, value in enumerate(perturbation):
            _require(type(value) is int and value > 0, f"tilt: the perturbation of row {i} is not a positive integer")
        _require(type(n_vertices) is int and n_vertices > 0, "vertices is not a number of vertices")
        meter = _METER.get()
        problem = _Perturbed(training, perturbation, flint, meter.most)
        blocks = iter(lambda: list(islice(stream, 64)), [])
        found: dict[bytes, _Vertex] = {}
        solutions: dict[tuple[int, ...], None] = {}
        number = 0
        for results in parallel(partial(_check_lines, problem), blocks):
            wrong = [number + k for k, result in enumerate(results) if isinstance(result, Refused)]
            for result in results:
                _require(number < n_vertices, f"more vertices are listed than the {n_vertices} of the first line")
                if isinstance(result, LimitReached):
                    raise LimitReached(f"vertex {number}: {result}")
                if isinstance(result, Refused):
                    raise Refused(f"vertex {number}: {result}", wrong)
                _require(result.basis not in found, f"vertex {number} is listed twice")
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


# ==== Kind "complex": strong verdicts under every rescaling =============================================================

_Known = dict[str, Complex]


def _check_complex_evidence(
    evidence: Any, claim: str, point: list[Fraction], training: _Training, known: _Known
) -> Scope:
    _require(claim in ("strongly positive", "strongly negative"), f"a complex does not prove {claim!a}")
    _, sha256, ties = _fields(evidence, "evidence", "kind sha256 ties")
    _require(isinstance(sha256, str) and isinstance(ties, list), "evidence: a SHA-256 and a list of ties are needed")
    _require_given(
        sha256 in known, f"evidence: the complex certificate with the SHA-256 {sha256[:16]!a}... was not given"
    )
    found = known[sha256]
    _require(found.training.sha256 == training.sha256, "evidence: the complex certificate is of other training rows")
    found.check(claim, point, ties)
    return Scope()


# ==== Kinds "cover", "relative-cover" and "two-labels": claims within a range ===========================================

_FREE, _OUT, _ON, _CAPPED = range(4)  # the states of a row


class _Range:
    """The rescalings of a claim "within the range": groups of features, bounds of d = 1/tau^2 of each, the margin.

    ``caps`` are the most that the multipliers of the rows can be: penalties, or those of a nu-margin; None: any number.
    """

    def __init__(self, record: Any, training: _Training) -> None:
        self.has_nu = isinstance(record, dict) and "nu" in record
        names = "groups rescalings penalties" + " nu row_weights" * self.has_nu
        groups, rescalings, penalties, *margin = _fields(record, "range", names)
        n, m = training.n_features, len(training.rows)
        _require(isinstance(groups, list) and len(groups) == n, "range.groups: the group of each feature is needed")
        _require(all(type(g) is int and 0 <= g < n for g in groups), "range.groups are not numbers of groups")
        _require(set(groups) == set(range(max(groups) + 1)), "range.groups leaves a number out")
        self.groups: list[int] = groups
        n_groups = max(groups) + 1
        is_list = isinstance(rescalings, list) and len(rescalings) == n_groups
        _require(is_list, "range.rescalings: one per group is needed")
        factors: list[tuple[Fraction, Fraction | None]] = []
        self.low: list[Fraction] = []
        self.high: list[Fraction | None] = []  # None: no upper bound
        for g, ends in enumerate(rescalings):
            what = f"range.rescalings[{g}]"
            _require(isinstance(ends, list) and len(ends) == 2, f"{what} is not a pair")
            least = _number(ends[0], what)
            most = None if ends[1] is None else _number(ends[1], what)
            _require(0 <= least <= 1 and (most is None or most >= 1), f"{what} does not contain 1, or is negative")
            factors.append((least, most))
            self.low.append(Fraction(0) if most is None else 1 / most**2)
            self.high.append(1 / least**2 if least else None)
        self.caps = None if penalties is None else _positive(penalties, "range.penalties", m)
        self.scope = Scope(tuple(groups), tuple(factors), None if self.caps is None else tuple(self.caps))
        if self.has_nu:
            _require(penalties is None, "range: it has both penalties and a nu")
            nu, weights = _number(margin[0], "range.nu"), margin[1]
            _require(nu > 0, "range.nu is not positive")
            self.caps = self._caps(
                nu, None if weights is None else _positive(weights, "range.row_weights", m), training
            )
            row_weights = None if weights is None else tuple(_numbers(weights, "range.row_weights", m))
            self.scope = Scope(tuple(groups), tuple(factors), nu=nu, row_weights=row_weights)

    def is_free(self, g: int) -> bool:
        """Whether the group may be rescaled by any factor."""
        return not self.low[g] and self.high[g] is None

    def _caps(self, nu: Fraction, weights: list[Fraction] | None, training: _Training) -> list[Fraction]:
        weights = [Fraction(1)] * len(training.rows) if weights is None else weights
        total = _product(nu, _total(weights))
        caps = [_product(weight, 1 / total) for weight in weights]
        for label in (1, -1):
            of_class = _total(cap for cap, y in zip(caps, training.labels, strict=True) if y == label)
            _require(2 * of_class >= 1, "range.nu is too large: no classifier is optimal")
        return caps


def _positive(texts: Any, what: str, length: int) -> list[Fraction]:
    values = _numbers(texts, what, length)
    for i, value in enumerate(values):
        _require(value > 0, f"{what}: that of row {i} is not positive")
    return values


def _seen_from(training: _Training, point: list[Fraction]) -> tuple[list[list[int]], list[int]]:
    """y_i (x_i - p) as integers, and the unit of each feature that makes them so."""
    ratios, offsets, units = [], [], []
    for unit, p in zip(training.units, point, strict=True):
        common = _least_common_multiple([unit, p.denominator])
        ratios.append(common // unit)
        offsets.append(p.numerator * (common // p.denominator))
        units.append(common)
    _spend(len(training.rows) * len(point) * _steps(training.words, _words(*ratios)))
    rows = [
        [x * ratio - y * offset for x, ratio, offset in zip(row, ratios, offsets, strict=False)]
        for row, y in zip(training.signed, training.labels, strict=True)
    ]
    return rows, units


class _PartOfRange(NamedTuple):
    """Bounds of d (None: none), signs of weights and states of rows; bounds of the scale of a relative cover."""

    low: list[Fraction]
    high: list[Fraction | None]
    signs: list[int]
    states: list[int]
    least_scale: Fraction = Fraction(1)
    most_scale: Fraction | None = Fraction(1)


class _PointInRange:
    """The inequality that settles a part of the range for one point and one sign, in integers where there are many terms.

    The sign is 0 in a relative cover: what is excluded is a decision value of 0.
    """

    def __init__(self, training: _Training, span: _Range, point: list[Fraction], sign: int) -> None:
        self.span, self.sign, self.labels = span, sign, training.labels
        self.has_q = span.has_nu or sign == 0
        self.rows, self.units = _seen_from(training, point)
        self.words = max(_words(*row) for row in self.rows)

    def require_settled(self, leaf: Any, part: _PartOfRange) -> None:
        n, m, states = len(self.units), len(self.rows), part.states
        v_texts, t_text, r_record, *q_text = _fields(leaf, "a pair", "v t r" + " q" * self.has_q)
        v, t = _numbers(v_texts, "v", n), _number(t_text, "t")
        q = _number(q_text[0], "q") if self.has_q else Fraction(1)
        r = _multipliers(r_record, "r", m)
        caps = self.span.caps
        for i, value in r.items():
            _require(value >= 0 or states[i] in (_ON, _CAPPED), f"r[{i}] is negative")
            if caps is not None and states[i] in (_FREE, _CAPPED):
                _require(value <= caps[i], f"r[{i}] is more than the penalty")
        numbers, common = _over_one_denominator(r.values())
        balance = sum(number * self.labels[i] for i, number in zip(r, numbers, strict=True))
        _require(balance * self.sign >= 0, "r pulls to the wrong side")
        rows = [self.rows[i] for i in r]
        _spend(len(rows) * n * _steps(self.words, _words(*numbers)))
        nu = [Fraction(_dot(numbers, (row[j] for row in rows)), common * self.units[j]) for j in range(n)]
        total = Fraction(sum(numbers), common)
        if self.sign == 0:
            gain = _total([q, total, Fraction(-1)])
        elif self.span.has_nu:
            _require(total >= 1, "r adds up to less than 1")
            gain = q
        else:
            gain = total
        gain -= self._costs(v, t, q, states)
        _require(gain > self._losses(v, nu, part), "the inequality that would settle it does not fail")

    def _losses(self, v: list[Fraction], nu: list[Fraction], part: _PartOfRange) -> Fraction:
        """The sum over groups of the larger one of the losses at the two ends, which is 0 where there is no end."""
        ends = [self._ends(g, part) for g in range(len(part.low))]
        terms: list[list[list[Fraction]]] = [[[], []] for _ in ends]
        for j, g in enumerate(self.span.groups):
            sign, (low, high) = part.signs[j], ends[g]
            if not low:
                _require(not nu[j] or sign * nu[j] < 0, f"d has no positive bound for feature {j}, and nu is not 0")
            if high is None:
                _require(not v[j] or sign * v[j] < 0, f"d has no upper bound for feature {j}, and v is not 0")
            for end, d in enumerate((low, high)):
                if d:
                    x = _total([_product(d, v[j]), nu[j]])
                    if sign * x >= 0:
                        terms[g][end].append(_product(x, x, 1 / (4 * d)))
        return _total(max(_total(at_low), _total(at_high)) for at_low, at_high in terms)

    def _ends(self, g: int, part: _PartOfRange) -> tuple[Fraction, Fraction | None]:
        """Between which d of the group is (in a relative cover: the relative d); None: no upper bound."""
        low, high = part.low[g], part.high[g]
        if self.span.is_free(g):
            return low, high
        least = _product(low, part.least_scale)
        return least, None if high is None or part.most_scale is None else _product(high, part.most_scale)

    def _costs(self, v: list[Fraction], t: Fraction, q: Fraction, states: list[int]) -> Fraction:
        """The largest possible sum of a_i e_i."""
        (*numbers, offset, needed), common = _over_one_denominator([*_in_units([*v, t], self.units), q])
        _spend(len(self.rows) * (len(numbers) + 1) * _steps(self.words, _words(*numbers)))
        caps, costs = self.span.caps, []
        for i, row in enumerate(self.rows):
            if states[i] != _OUT:
                missing = needed - _dot(row, numbers) - self.labels[i] * offset
                if caps is None:
                    _require(missing <= 0, f"(v, t) has a margin below 1 at row {i}")
                elif missing > 0 or states[i] == _CAPPED:
                    costs.append(_product(caps[i], Fraction(missing)))
        return _total(costs) / common


def _replaced(items: list[Any], position: int, item: Any) -> list[Any]:
    return [*items[:position], item, *items[position + 1 :]]


def _check_cover(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    sign = _sign_within_range(claim)
    _, record, cover = _fields(evidence, "evidence", "kind range cover")
    span = _Range(record, training)
    whole = _PartOfRange(span.low, span.high, [0] * training.n_features, [_FREE] * len(training.rows))
    _require_covered(cover, _PointInRange(training, span, point, sign), whole)
    return span.scope


def _check_relative_cover(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    sign = _sign_within_range(claim)
    _, record, label, cover = _fields(evidence, "evidence", "kind range label cover")
    span = _Range(record, training)
    _require(span.caps is None or span.has_nu, "a relative cover is not for penalties")
    _require_label(label, "evidence.label", _PointInRange(training, span, point, sign))
    signs, states = [0] * training.n_features, [_FREE] * len(training.rows)
    whole = _PartOfRange(span.low, span.high, signs, states, Fraction(0), None)
    _require_covered(cover, _PointInRange(training, span, point, 0), whole)
    return span.scope


def _sign_within_range(claim: Any) -> int:
    claims = {"strongly positive within the range": 1, "strongly negative within the range": -1}
    _require(isinstance(claim, str) and claim in claims, f"a cover of a range does not prove {claim!a}")
    return claims[claim]


def _require_covered(cover: Any, question: _PointInRange, whole: _PartOfRange) -> None:
    _require(isinstance(cover, list), "evidence.cover is not a list")
    waiting = [whole]
    for number, entry in enumerate(cover):
        _require(bool(waiting), f"evidence.cover[{number}] is more than the range has parts")
        part = waiting.pop()
        try:
            if isinstance(entry, dict):
                question.require_settled(entry, part)
            else:
                _require(isinstance(entry, list) and len(entry) in (2, 3), "neither a pair nor a split")
                _spend(20 + len(part.signs) + len(part.states))
                waiting += _halves(entry, part, question)
        except NotChecked:
            raise
        except Refused as error:
            raise Refused(f"evidence.cover[{number}]: {error}") from error
    _require(not waiting, "evidence.cover leaves parts of the range out")


def _halves(entry: list[Any], part: _PartOfRange, question: _PointInRange) -> list[_PartOfRange]:
    """What a part is split into; together they are the part."""
    low, high, signs, states, least_scale, most_scale = part
    kind, which = entry[:2]
    if kind == "scale" and len(entry) == 2 and question.sign == 0:
        at = _split_at(which, least_scale, most_scale)
        return [part._replace(least_scale=at), part._replace(most_scale=at)]
    _require(type(which) is int and which >= 0, "a split has no number")
    if kind == "factor" and len(entry) == 3:
        _require(which < len(low), "there is no such group")
        at = _split_at(entry[2], low[which], high[which])
        return [part._replace(low=_replaced(low, which, at)), part._replace(high=_replaced(high, which, at))]
    if kind == "sign" and len(entry) == 2:
        _require(which < len(signs) and signs[which] == 0, "there is no such feature, or its sign is known")
        return [part._replace(signs=_replaced(signs, which, sign)) for sign in (-1, 1)]
    _require(kind == "row" and len(entry) == 2, f"a split of the kind {_shortened(kind)} is not known")
    _require(which < len(states) and states[which] == _FREE, "there is no such row, or its state is known")
    known = (_ON, _OUT) if question.span.caps is None else (_CAPPED, _ON, _OUT)
    return [part._replace(states=_replaced(states, which, state)) for state in known]


def _split_at(text: Any, low: Fraction, high: Fraction | None) -> Fraction:
    at = _number(text, "the value to split at")
    _require(at > 0 and low <= at and (high is None or at <= high), "it is split outside of its range")
    return at


def _require_label(record: Any, what: str, question: _PointInRange) -> None:
    """That all classifiers of one rescaling of the range give the point the sign of the question."""
    span = question.span
    texts, leaf = _fields(record, what, "inverse_squared_rescaling pair")
    factors = _numbers(texts, f"{what}.inverse_squared_rescaling", len(span.low))
    for g, (d, low, high) in enumerate(zip(factors, span.low, span.high, strict=True)):
        inside = d > 0 and low <= d and (high is None or d <= high)
        _require(inside, f"{what}: the rescaling of group {g} is outside of its range")
    point = _PartOfRange(factors, list(factors), [0] * len(question.units), [_FREE] * len(question.rows))
    try:
        question.require_settled(leaf, point)
    except NotChecked:
        raise
    except Refused as error:
        raise Refused(f"{what}: {error}") from error


def _check_two_labels(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    _require(claim == "neutral within the range", f"two rescalings of a range do not prove {claim!a}")
    _, record, *sides = _fields(evidence, "evidence", "kind range positive negative")
    span = _Range(record, training)
    for side, name, sign in zip(sides, ("positive", "negative"), (1, -1), strict=True):
        _require_label(side, f"evidence.{name}", _PointInRange(training, span, point, sign))
    return span.scope


# ==== Kind "tree": every rescaling, by branch and bound =================================================================

# What is known of a feature: its sign (0: unknown), and bounds of |mu_j| / |w_j|, |w_j| and |mu_j| (None: none).
_Feature = tuple[int, Fraction, Fraction | None, Fraction, Fraction | None, Fraction, Fraction | None]
_NOTHING_KNOWN: _Feature = (0, Fraction(0), None, Fraction(0), None, Fraction(0), None)
# The position of the lower bound in it, for each kind of split at a number.
_BOUNDED = {"ratio": 1, "weight": 3, "gradient": 5}
# What is known of a row: its multiplier is 0; its margin is at most 1; its multiplier is at the cap; margin at least 1.
_IS_OUT, _IS_AT_MOST_1, _IS_IN, _IS_AT_LEAST_1 = 1, 2, 4, 8


def _smaller(*bounds: Fraction | None) -> Fraction | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _tightened(known: _Feature) -> _Feature | None:
    """What follows from the bounds of a feature of known sign; None where no (|w_j|, |mu_j|) satisfies them."""
    sign, low, high, w_low, w_high, m_low, m_high = known
    if high is not None:
        if low > high or high == 0:
            m_high = Fraction(0)
        if low > high:
            w_high = Fraction(0)
        if m_low > 0 == high:
            return None
        w_low = max(w_low, m_low / high) if high else w_low
        m_high = _smaller(m_high, None if w_high is None else high * w_high)
    if low:
        w_high = _smaller(w_high, None if m_high is None else m_high / low)
        m_low = max(m_low, low * w_low)
    if (w_high is not None and w_low > w_high) or (m_high is not None and m_low > m_high):
        return None
    return sign, low, high, w_low, w_high, m_low, m_high


def _largest_term(W: Fraction, v: Fraction, known: _Feature) -> Fraction:
    """The largest W w + v mu - w mu of a feature whose bounds are tightened; Refused where it has no bound.

    The expression has no local maximum inside of a region: it is largest at a corner, or on a line mu = d w.
    """
    sign, low, high, w_low, w_high, m_low, m_high = known
    if not sign:
        _require(W == 0 and v == 0, "a feature of unknown sign has a price")
        return Fraction(0)
    longest = max(
        max(value.numerator.bit_length(), value.denominator.bit_length())
        for value in (W, v, low, high, w_low, w_high, m_low, m_high)
        if value is not None
    )
    _spend(100 * _steps(longest // 64 + 1, longest // 64 + 1))
    if not W and not v:  # -w mu
        return -w_low * m_low
    W, v = sign * W, sign * v
    _require(w_high is not None or low > 0 or m_low >= W, "a weight without a bound has a price that is too large")
    no_bound = m_high is None and high is None
    _require(not no_bound or v <= w_low, "a gradient without a bound has a price that is too large")
    corners = [(w_low, m_low)]
    if w_high is not None:
        corners.append((w_high, max(m_low, low * w_high) if low else m_low))
    if m_high is not None:
        corners.append((max(w_low, m_high / high) if high else w_low, m_high))
    for w in (w_low, w_high):
        if w is not None:
            top = _smaller(m_high, None if high is None else high * w)
            if top is not None:
                corners.append((w, top))
    for mu in (m_low, m_high):
        if mu is not None:
            last = _smaller(w_high, mu / low if low else None)
            if last is not None:
                corners.append((last, mu))
    for d in (low, high):
        if d:
            first, last = max(w_low, m_low / d), _smaller(w_high, None if m_high is None else m_high / d)
            if last is None or first <= last:
                w = max((W + v * d) / (2 * d), first)
                w = w if last is None else min(w, last)
                corners.append((w, d * w))
    return W * v - min((w - v) * (mu - W) for w, mu in corners)


class _PointInTree:
    """The rows seen from a point, and what is known at a node of its tree; facts are undone on the way back.

    ``caps`` are those of the multipliers, one per row; None for a hard margin.
    """

    def __init__(self, training: _Training, point: list[Fraction], caps: list[Fraction] | None = None) -> None:
        self.labels, self.caps = training.labels, caps
        numbers, common = _over_one_denominator(caps or [])
        self.whole_caps, self.whole_half = [2 * number for number in numbers], common  # over twice the denominator
        self.rows, self.units = _seen_from(training, point)
        self.words = max(_words(*row) for row in self.rows)
        self.features: list[_Feature] = [_NOTHING_KNOWN] * training.n_features
        self.states = [0] * len(self.rows)
        self.undo: list[tuple[list[Any], int, Any]] = []
        # what follows from what is known of a feature, by the identity of the latter, which is kept beside it
        self.regions: dict[int, tuple[_Feature, _Feature | None]] = {}

    def region(self, j: int) -> _Feature | None:
        """The bounds of a feature, tightened; None where they leave nothing. Most stay the same from leaf to leaf."""
        known = self.features[j]
        if id(known) not in self.regions:
            self.regions[id(known)] = known, _tightened(known) if known[0] else known
        return self.regions[id(known)][1]

    def back_to(self, depth: int) -> None:
        while len(self.undo) > depth:
            table, k, before = self.undo.pop()
            table[k] = before

    def know(self, table: list[Any], k: int, value: Any) -> None:
        self.undo.append((table, k, table[k]))
        table[k] = value

    def know_bound(self, j: int, position: int, value: Fraction) -> None:
        """A bound holds next to those that are known, which may be stronger."""
        known = list(self.features[j])
        before = known[position]
        known[position] = value if before is None else (max if position % 2 else min)(before, value)
        self.know(self.features, j, tuple(known))

    def halves(self, split: list[Any]) -> list[Callable[[], None]]:
        """The two facts of which one holds."""
        _spend(20)
        _require(len(split) in (2, 3) and isinstance(split[0], str), "neither a split nor a leaf")
        kind, which = split[:2]
        _require(type(which) is int and which >= 0, "a split has no number")
        if kind == "row" and len(split) == 2:
            _require(which < len(self.rows), "there is no such row")
            state = self.states[which]
            return [partial(self.know, self.states, which, state | bit) for bit in (_IS_OUT, _IS_AT_MOST_1)]
        if kind == "cap" and len(split) == 2 and self.caps is not None:
            _require(which < len(self.rows), "there is no such row")
            state = self.states[which]
            return [partial(self.know, self.states, which, state | bit) for bit in (_IS_IN, _IS_AT_LEAST_1)]
        _require(which < len(self.features), "there is no such feature")
        if kind == "sign" and len(split) == 2:
            known, *rest = self.features[which]
            _require(known == 0, "the sign of the feature is known")
            return [partial(self.know, self.features, which, (sign, *rest)) for sign in (1, -1)]
        _require(kind in _BOUNDED and len(split) == 3, f"a split of the kind {_shortened(kind)} is not known")
        at = _number(split[2], "the value to split at")
        _require(at >= 0, "it is split at a negative value")
        low = _BOUNDED[kind]
        return [partial(self.know_bound, which, low + 1, at), partial(self.know_bound, which, low, at)]

    def require_vanishing(self, record: Any) -> None:
        """The weights of some features are 0, because h.mu can't be positive: know it."""
        h_record, *t_texts = _fields(record, "a direction", "h t" if self.caps is None else "h")
        h = _multipliers(h_record, "h", len(self.features))
        _require(bool(h), "h is 0")
        for j, value in h.items():
            _require(value * self.features[j][0] > 0, f"h has another sign than feature {j}, or its sign is unknown")
        if self.caps is None:
            self._require_no_gain(h, _number(t_texts[0], "t"))
        else:
            least = self._least_gradient({j: -value for j, value in h.items()})
            _require(least is not None, "no multipliers are left: a leaf is needed")
            _require(least is None or least >= 0, "h.mu may be positive")
        for j in h:
            self.know_bound(j, 4, Fraction(0))

    def _require_no_gain(self, h: dict[int, Fraction], t: Fraction) -> None:
        """Hard margin: h.G_i + t y_i <= 0 for every row that may have a multiplier."""
        (*numbers, offset), _ = _over_one_denominator(
            [*(_product(value, Fraction(1, self.units[j])) for j, value in h.items()), t]
        )
        _spend(len(self.rows) * (len(h) + 1) * _steps(self.words, _words(*numbers)))
        for i, (row, y) in enumerate(zip(self.rows, self.labels, strict=True)):
            if not self.states[i] & _IS_OUT:
                total = _dot(numbers, (row[j] for j in h)) + y * offset
                _require(total <= 0, f"row {i}, which may have a multiplier, is on the other side")

    def require_empty(self, leaf: Any) -> None:
        """Do the prices of the leaf prove that there is nothing at this node?"""
        r_record, v_record = _fields(leaf, "a leaf", "r v")
        r = _multipliers(r_record, "r", len(self.rows))
        v = _multipliers(v_record, "v", len(self.features))
        for i, price in r.items():
            _require(price >= 0 or bool(self.states[i] & (_IS_AT_MOST_1 | _IS_IN)), f"r[{i}] is negative")
            if self.caps is not None and not self.states[i] & (_IS_AT_LEAST_1 | _IS_OUT):
                _require(price <= self.caps[i], f"r[{i}] is more than the cap")
        least = self._least_gradient(v)
        if least is None:  # there are no multipliers
            return
        regions: list[_Feature] = []
        for j in range(len(self.features)):
            region = self.region(j)
            if region is None:
                return
            regions.append(region)
        numbers, common = _over_one_denominator(r.values())
        rows = [self.rows[i] for i in r]
        _spend(len(self.features) * (len(rows) + 1) * _steps(self.words, _words(*numbers)))
        losses = []
        for j, (unit, region) in enumerate(zip(self.units, regions, strict=True)):
            weight = Fraction(_dot(numbers, (row[j] for row in rows)), common * unit)
            try:
                losses.append(_largest_term(weight, v.get(j, Fraction(0)), region))
            except NotChecked:
                raise
            except Refused as error:
                raise Refused(f"feature {j}: {error}") from error
        gain = _total([Fraction(sum(numbers), common), least])
        _require(gain - _total(losses) > 1, "the inequality that would exclude it does not fail")

    def _least_gradient(self, v: dict[int, Fraction]) -> Fraction | None:
        """The least v.mu, half of it from either class; None where a class can't have as much."""
        pick: Callable[[list[int]], Any] = itemgetter(*v) if len(v) > 1 else lambda row: [row[j] for j in v]
        numbers, common = _over_one_denominator(_product(value, Fraction(1, self.units[j])) for j, value in v.items())
        _spend(len(self.rows) * (len(v) + 1) * _steps(self.words, _words(*numbers)))
        if self.caps is not None:
            values = [_dot(numbers, pick(row)) for row in self.rows]
            _spend(len(values) * (4 + _steps(_words(self.whole_half, *self.whole_caps), _words(*values))))
            halves = [self._least_half(values, side) for side in (1, -1)]
            if halves[0] is None or halves[1] is None:
                return None
            return Fraction(halves[0] + halves[1], 2 * self.whole_half * common)
        total = 0
        for side in (1, -1):
            values = [
                _dot(numbers, pick(row))
                for row, y, state in zip(self.rows, self.labels, self.states, strict=True)
                if y == side and not state & _IS_OUT
            ]
            if not values:
                return None
            total += min(values)
        return Fraction(total, 2 * common)

    def _least_half(self, values: list[int], side: int) -> int | None:
        """The least sum of a_i values_i over one class, times twice the caps' denominator: half of Σ a is there, rows that
        are in are at their caps, and of the others the cheap ones come first."""
        left, total, free = self.whole_half, 0, []
        for i, (y, state) in enumerate(zip(self.labels, self.states, strict=True)):
            if y != side or (state & _IS_OUT and not state & _IS_IN):
                continue
            if state & _IS_OUT:
                return None
            if state & _IS_IN:
                left -= self.whole_caps[i]
                total += self.whole_caps[i] * values[i]
            else:
                free.append(i)
        if left < 0:
            return None
        for i in sorted(free, key=values.__getitem__):
            part = min(left, self.whole_caps[i])
            left -= part
            total += part * values[i]
        return None if left else total


def _check_tree(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    _require(claim in ("strongly positive", "strongly negative"), f"a tree does not prove {claim!a}")
    _, classifier, tree = _fields(evidence, "evidence", "kind classifier tree")
    value = _decision(*_check_maximum_margin(classifier, "evidence.classifier", training), point)
    has_sign = value > 0 if claim == "strongly positive" else value < 0
    _require(has_sign, "evidence.classifier does not have the sign of the claim at the point")
    _require_excluded(tree, _PointInTree(training, point))
    return Scope()


def _require_excluded(tree: Any, node: _PointInTree) -> None:
    """Does the tree exclude that any classifier of the closure has the value 0 at the point?"""
    _require(isinstance(tree, list), "evidence.tree is not a list")
    waiting: list[tuple[int, Callable[[], None] | None]] = [(0, None)]
    for number, entry in enumerate(tree):
        _require(bool(waiting), f"evidence.tree[{number}] is more than there is to exclude")
        depth, fact = waiting.pop()
        node.back_to(depth)
        if fact is not None:
            fact()
        try:
            if isinstance(entry, list):
                first, second = node.halves(entry)
                waiting += [(len(node.undo), second), (len(node.undo), first)]
            elif isinstance(entry, dict) and "h" in entry:
                node.require_vanishing(entry)
                waiting.append((len(node.undo), None))
            else:
                node.require_empty(entry)
        except NotChecked:
            raise
        except Refused as error:
            raise Refused(f"evidence.tree[{number}]: {error}") from error
    _require(not waiting, "evidence.tree leaves something out")


# ==== Kinds "nu-tree", "nu-two-rescalings", "nu-two-intercepts": every rescaling, a soft margin that has no scale =======


# Weights; for each class the largest score of a row with a multiplier, and the least of one below its cap; the denominator.
_NuOptimum = tuple[list[Fraction], dict[int, tuple[int, int | None]], int]


class _NuMargin:
    """The margin that the evidence states: nu, the weights of the rows, and the caps that follow."""

    def __init__(self, record: Any, training: _Training) -> None:
        self.record = record
        nu_text, weight_texts = _fields(record, "evidence.margin", "nu row_weights")
        nu, m = _number(nu_text, "evidence.margin.nu"), len(training.rows)
        _require(nu > 0, "evidence.margin.nu is not positive")
        if weight_texts is None:
            weights = None
            self.caps = [1 / (nu * m)] * m
        else:
            weights = _numbers(weight_texts, "evidence.margin.row_weights", m)
            for i, weight in enumerate(weights):
                _require(weight > 0, f"evidence.margin.row_weights[{i}] is not positive")
            total = _product(nu, _total(weights))
            self.caps = [_product(weight, 1 / total) for weight in weights]
        self.scope = Scope(nu=nu, row_weights=None if weights is None else tuple(weights))

    def values(
        self, record: Any, what: str, training: _Training, point: list[Fraction]
    ) -> tuple[Fraction | None, Fraction | None]:
        """The least and the largest decision value of the optimal classifiers at a rescaling, up to a common factor; None
        where there is no bound, because every row of a class is at its cap.

        The multipliers must be optimal there; no intercept is stated, since all optimal ones follow.
        """
        # certificates about the same rows, one after the other, mostly state the same classifier: it is checked once
        text = json.dumps([self.record, record], sort_keys=True)
        if training.last_optimum is None or training.last_optimum[0] != text:
            training.last_optimum = text, self._optimum(record, what, training)
        weights, ends, denominator = training.last_optimum[1]
        score = _total(_product(w, x) for w, x in zip(weights, point, strict=True))
        (low, high), (other_low, other_high) = ends[1], ends[-1]
        lowest = None if high is None else _total([score, Fraction(other_low - high, 2 * denominator)])
        highest = None if other_high is None else _total([score, Fraction(other_high - low, 2 * denominator)])
        return lowest, highest

    def _optimum(self, record: Any, what: str, training: _Training) -> _NuOptimum:
        """The weights that the multipliers make, and the scores between which the thresholds of the classes are."""
        n, rows = training.n_features, training.signed
        multiplier_texts, rescaling_texts = _fields(record, what, "multipliers inverse_squared_rescaling")
        inverse_squared = _numbers(rescaling_texts, f"{what}.inverse_squared_rescaling", n)
        for j, d in enumerate(inverse_squared):
            _require(d > 0, f"{what}: the rescaling of feature {j} is not positive")
        multipliers = _multipliers(multiplier_texts, f"{what}.multipliers", len(rows))
        for i, value in multipliers.items():
            _require(0 < value <= self.caps[i], f"{what}: the multiplier of row {i} is not positive or above its cap")
        for side in (1, -1):
            half = _total(value for i, value in multipliers.items() if training.labels[i] == side)
            _require(half == Fraction(1, 2), f"{what}: the multipliers of a class do not add up to 1/2")
        numbers, common = _over_one_denominator(multipliers.values())
        _spend(len(numbers) * n * _steps(training.words, _words(*numbers)))
        slopes = [_dot(numbers, (rows[i][j] for i in multipliers)) for j in range(n)]
        weights = [
            _product(Fraction(slope, common * unit), 1 / d)
            for slope, unit, d in zip(slopes, training.units, inverse_squared, strict=True)
        ]
        _require(any(weights), f"{what}: all weights are 0, so that the reduced hulls meet")
        classifier, denominator = _over_one_denominator(_in_units([*weights, Fraction(0)], training.units))
        _spend(len(rows) * n * _steps(training.words, _words(*classifier)))
        ends: dict[int, tuple[int, int | None]] = {}
        scores = [_dot(row, classifier) for row in rows]
        for side in (1, -1):
            members = [i for i, y in enumerate(training.labels) if y == side]
            least = max(scores[i] for i in members if i in multipliers)
            above = min((scores[i] for i in members if multipliers.get(i, Fraction(0)) < self.caps[i]), default=None)
            _require(above is None or least <= above, f"{what}: the multipliers are not optimal at this rescaling")
            ends[side] = least, above
        return weights, ends, denominator


def _check_nu_two_rescalings(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    _require(claim == "neutral with nu", f"two rescalings with nu that disagree prove 'neutral with nu', not {claim!a}")
    _, record, positive, negative = _fields(evidence, "evidence", "kind margin positive negative")
    margin = _NuMargin(record, training)
    lowest, _largest = margin.values(positive, "evidence.positive", training, point)
    _require(
        lowest is not None and lowest >= 0,
        "evidence.positive does not label the point positive with every optimal intercept",
    )
    _least, highest = margin.values(negative, "evidence.negative", training, point)
    _require(
        highest is not None and highest < 0,
        "evidence.negative does not label the point negative with every optimal intercept",
    )
    return margin.scope


def _check_nu_two_intercepts(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    _require(claim == "neutral with nu", f"two intercepts with nu that disagree prove 'neutral with nu', not {claim!a}")
    _, record, classifier = _fields(evidence, "evidence", "kind margin classifier")
    margin = _NuMargin(record, training)
    lowest, highest = margin.values(classifier, "evidence.classifier", training, point)
    _require(lowest is None or lowest < 0, "no optimal intercept of evidence.classifier labels the point negative")
    _require(highest is None or highest >= 0, "no optimal intercept of evidence.classifier labels the point positive")
    return margin.scope


def _check_nu_tree(evidence: Any, claim: str, point: list[Fraction], training: _Training, _: Any) -> Scope:
    claims = {"strongly positive with nu": 1, "strongly negative with nu": -1}
    _require(isinstance(claim, str) and claim in claims, f"a tree with nu does not prove {claim!a}")
    _, record, classifier, tree = _fields(evidence, "evidence", "kind margin classifier tree")
    margin = _NuMargin(record, training)
    lowest, highest = margin.values(classifier, "evidence.classifier", training, point)
    has_sign = lowest is not None and lowest > 0 if claims[claim] > 0 else highest is not None and highest < 0
    _require(has_sign, "evidence.classifier does not have the sign of the claim at the point")
    _require_excluded(tree, _PointInTree(training, point, margin.caps))
    return margin.scope


# ==== Certificates ======================================================================================================

# One checker for each kind of evidence. It raises ``Refused``, or returns the rescalings and the margin that the claim is
# about. A new kind is a section of its own and a line here.
_KINDS: dict[str, Callable[[Any, str, list[Fraction], _Training, _Known], Scope]] = {
    "two-rescalings": _check_two_rescalings,
    "complex": _check_complex_evidence,
    "cover": _check_cover,
    "relative-cover": _check_relative_cover,
    "two-labels": _check_two_labels,
    "tree": _check_tree,
    "nu-two-rescalings": _check_nu_two_rescalings,
    "nu-two-intercepts": _check_nu_two_intercepts,
    "nu-tree": _check_nu_tree,
}


def check(
    certificate: str,
    training: str | None = None,
    complexes: Iterable[Complex] = (),
    *,
    max_work: int | None = MAX_WORK,
) -> Claim:
    """Check the JSON text of a certificate; return the claim that it proves, or raise ``Refused``.

    The claim is a text, such as "neutral", with an attribute ``question``: the point, the training rows, the rescalings
    and the margin that it is about.

    ``training`` is the JSON text of the training rows, for a certificate that refers to them by their SHA-256 only. A
    certificate that brings its own rows is refused if they are not these. ``complexes`` are the complex certificates,
    checked by ``check_complex``, that certificates of strong verdicts refer to; they bring their training rows.
    ``max_work`` limits the steps; beyond that ``LimitReached`` is raised.
    """
    with _guarded(max_work):
        given = None if training is None else _given_training(training)
        return _check(certificate, given, {found.sha256: found for found in complexes})


@lru_cache(maxsize=1)
def _given_training(text: str) -> _Training:
    """Read once where many certificates refer to the same rows, one after the other."""
    return _Training(_parse(text, "the text of the training rows"))


def _check(certificate: str, given: _Training | None, known: _Known) -> Claim:
    content = _parse(certificate, "the certificate")
    is_read = isinstance(content, dict) and "given_point" in content
    names = "schema claim point training evidence versions digest" + " given_point" * is_read
    schema, claim, point_texts, training_record, evidence, versions, digest, *given_point = _fields(
        content, "the certificate", names
    )
    _require(schema == SCHEMA, f"schema: {_shortened(schema)} is not {SCHEMA!r}")
    del content["digest"]
    canonical = json.dumps(content, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
    _require(hashlib.sha256(canonical).hexdigest() == digest, "digest: the certificate is damaged")
    _require(isinstance(versions, dict), "versions is not a JSON object")
    rows, left_out = _training_of(training_record, given, known)
    point = _numbers(point_texts, "point", rows.n_features)
    _require(isinstance(evidence, dict) and "kind" in evidence, "evidence has no kind")
    kind = evidence["kind"]
    is_known = isinstance(kind, str) and kind in _KINDS
    _require(is_known, f"evidence of kind {_shortened(kind)} is not known to this checker")
    _require(not is_read or rows.reading is not None, "given_point: the training rows have no reading")
    _require(is_read or rows.reading is None, "given_point is missing, and the training rows have a reading")
    asked = _check_given_point(given_point[0] if is_read else None, point, rows)
    scope = _KINDS[kind](evidence, claim, point, rows, known)
    in_other_units = any(read is not None and read.unit != 1 for read in rows.reading or ())
    _require(scope.factors is None or not in_other_units, "training.reading: factors of a range are of given units")
    reading = None if rows.reading is None else tuple(rows.reading)
    return Claim(claim, Question(tuple(asked), rows.sha256, len(rows.rows), left_out, scope, reading))


def _training_of(record: Any, given: _Training | None, known: _Known) -> tuple[_Training, int]:
    """The training rows that a certificate brings or refers to, and how many it says were left out."""
    if isinstance(record, dict) and "rows" not in record:
        sha256, left_out = _fields(record, "training", "sha256 left_out")
        _require(type(left_out) is int and left_out >= 0, "training.left_out is not a number of rows")
        at_hand = ([] if given is None else [given]) + [found.training for found in known.values()]
        _require_given(bool(at_hand), "training: the rows are not in the certificate and were not given")
        rows = next((rows for rows in at_hand if rows.sha256 == sha256), at_hand[0])
        _require(rows.sha256 == sha256, "training.sha256 is not that of the rows that were given")
    else:
        rows = _Training(record)
        left_out = rows.left_out
    _require(given is None or given.sha256 == rows.sha256, "training.sha256 is not that of the rows that were given")
    is_same = given is None or given.identity == rows.identity
    _require(is_same, "training.reading is not that of the rows that were given")
    return rows, left_out


# ==== A table of verdicts: is every row covered by a certificate? =======================================================

_CODES = {"strongly positive": 1, "strongly negative": -1, "neutral": 0, "unknown": 2}
_WORDS = {code: words for words, code in _CODES.items()}
_SCOPE_SUFFIX = re.compile(" (within the range|with nu)$")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_MOST_ROWS_NAMED = 10


class _Unreadable(Exception):
    """A file that can't be used at all."""


def _table(path: str, max_bytes: int) -> Iterator[list[str]]:
    """The rows of a CSV file, the header first; each has as many fields as the header."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if file.read(4) == "PAR1":
                raise _Unreadable(f"{path} is a Parquet file; write it as CSV first: pandas.read_parquet, then to_csv")
            file.seek(0)

            def lines() -> Iterator[str]:
                while line := file.readline(max_bytes + 1):
                    if len(line) > max_bytes:
                        raise LimitReached(
                            f"{path} has a line of more than {max_bytes:,} bytes; --max-bytes allows more"
                        )
                    yield line

            width = None
            for number, row in enumerate(csv.reader(lines()), 1):
                if not row:
                    continue
                width = width or len(row)
                if len(row) != width:
                    raise _Unreadable(f"{path}: row {number} has {len(row)} fields, and the first one has {width}")
                yield row
            if width is None:
                raise _Unreadable(f"{path} is an empty table")
    except (UnicodeDecodeError, csv.Error) as error:
        raise _Unreadable(f"{path} is not a CSV table: {error}") from error


def _as_float(text: str) -> float | None:
    """The number that a field holds; None where it is missing, infinite or not a number."""
    value = float(text) if _DECIMAL.fullmatch(text.strip()) else math.inf
    return value if math.isfinite(value) else None


class _Points:
    """The points of a CSV table, found by their values as floats."""

    def __init__(self, path: str, features: str | None, max_bytes: int) -> None:
        self.path = path
        rows = _table(path, max_bytes)
        names = next(rows)
        chosen = names if features is None else [name.strip() for name in features.split(",")]
        for name in chosen:
            if names.count(name) != 1:
                raise _Unreadable(f"{path} has {names.count(name)} columns named {name!a}; it has {_listed(names)}")
        columns = [names.index(name) for name in chosen]
        self.n_features = len(columns)
        self.texts: list[tuple[str, ...]] = []
        self._found: dict[tuple[float | None, ...], list[int]] = {}
        for number, row in enumerate(rows):
            texts = tuple(row[k].strip() for k in columns)
            self.texts.append(texts)
            values = tuple(map(_as_float, texts))
            if None not in values:
                self._found.setdefault(values, []).append(number)

    def rows_of(self, point: tuple[Fraction, ...]) -> list[int]:
        """The rows that have this point: each value is what the field says, or the nearest float."""
        try:
            values = tuple(map(float, point))
        except OverflowError:
            return []
        return [
            row
            for row in self._found.get(values, [])
            if all(
                x in (Fraction(value), Fraction(text))
                for x, value, text in zip(point, values, self.texts[row], strict=True)
            )
        ]


class _VerdictTable:
    """The verdicts of a CSV table, as ``rescaleinv certify --out`` and ``Verdicts.to_frame`` write them."""

    def __init__(self, path: str, n_points: int, max_bytes: int) -> None:
        self.path = path
        rows = _table(path, max_bytes)
        names = next(rows)
        wanted = ["verdict", "code", "row", "input"]
        columns = {name: names.index(name) for name in wanted if name in names}
        if not {"verdict", "code"} & set(columns):
            raise _Unreadable(f"{path} has neither a column 'verdict' nor a column 'code'; it has {_listed(names)}")
        codes: list[int] = []
        names_of_rows: list[str] = []
        inputs = set()
        for row in rows:
            codes.append(self._code(row, columns, len(codes)))
            names_of_rows.append(row[columns["row"]] if "row" in columns else str(len(codes)))
            inputs.update([row[columns["input"]]] if "input" in columns else [])
        if len(inputs) > 1:
            raise _Unreadable(f"{path} has the rows of {len(inputs)} inputs; check the rows of one input at a time")
        self._arrange(names_of_rows, codes, n_points)

    def _arrange(self, names: list[str], codes: list[int], n_points: int) -> None:
        """One verdict for each point: by the numbers of the rows, from 0 or from 1, or in order if they have other names."""
        found = dict(zip(names, codes, strict=True))
        for name in names if len(found) < len(names) else ():
            _require(names.count(name) == 1, f"row {_shortened(name)} is listed twice")
        if all(map(_ROW_NUMBER.fullmatch, names)):
            first = min(map(int, names), default=1)
            _require(first in (0, 1), f"the rows are numbered from {first}; the first ones are missing")
            names = [str(first + k) for k in range(n_points)]
            for name in names:
                _require(name in found, f"row {name} is missing: there are {n_points} points")
        _require(len(found) == n_points, f"{len(found)} verdicts are listed for {n_points} points")
        self.names, self.codes = names, [found[name] for name in names]

    def _code(self, row: list[str], columns: dict[str, int], number: int) -> int:
        """What a row says, by its number or in words; where it has both they must agree, unless the words are others."""
        words = _CODES.get(row[columns["verdict"]].strip().replace("_", " ").lower()) if "verdict" in columns else None
        if "code" in columns:
            text = row[columns["code"]].strip()
            code = int(text) if text in ("1", "-1", "0", "2") else None
            code = code if words in (None, code) else None
        else:
            code = words
        if code is None:
            fields = " and ".join(_shortened(row[columns[name]]) for name in ("verdict", "code") if name in columns)
            raise _Unreadable(f"{self.path}: line {number + 2}: {fields} is not a verdict")
        return code


class _Coverage:
    """Which rows of a table of verdicts the certificates have proved."""

    def __init__(self, points: _Points, verdicts: _VerdictTable) -> None:
        self.points, self.verdicts = points, verdicts
        self.proved: list[set[int]] = [set() for _ in verdicts.codes]
        self.n_elsewhere = 0
        self.settings: dict[tuple[str, Scope, Any], None] = {}

    def add(self, claim: Claim) -> list[int]:
        """Take note of a claim that was proved; returns the rows that have its point."""
        rows = self.points.rows_of(claim.question.point)
        for row in rows:
            self.proved[row].add(_CODES[_SCOPE_SUFFIX.sub("", claim)])
        if rows:
            question = claim.question
            self.settings[question.training_sha256, question.scope, question.reading] = None
        else:
            self.n_elsewhere += 1
        return rows

    def name(self, row: int) -> str:
        return f"row {self.verdicts.names[row]}"

    def failures(self) -> Iterator[str]:
        for row, (code, proved) in enumerate(zip(self.verdicts.codes, self.proved, strict=True)):
            if code != 2 and code not in proved:
                words = " and ".join(_WORDS[other] for other in sorted(proved))
                found = f"what was proved of it is {words}" if proved else "no certificate of its point was proved"
                yield f"{self.name(row)} says {_WORDS[code]}, but {found}"

    def result(self) -> str:
        """All rows are covered: in words; ``Refused`` if the certificates do not answer one question."""
        if len(self.settings) > 1:
            texts = [f"training {sha256[:12]}, {scope}" for sha256, scope, _ in self.settings]
            raise Refused(f"the certificates answer {len(texts)} different questions: {'; '.join(texts[:3])}")
        n_unknown = self.verdicts.codes.count(2)
        shown = (
            f"{len(self.verdicts.codes) - n_unknown} of {len(self.verdicts.codes)} verdicts are covered, each row once"
        )
        if n_unknown:
            shown += f" ({n_unknown} are unknown and claim nothing)"
        for sha256, scope, _ in self.settings:
            shown += f"; training {sha256[:12]}, {scope}"
        if self.n_elsewhere:
            shown += f"; {self.n_elsewhere} certificates are about other points"
        return shown


# ==== The command line ==================================================================================================


def _printable(text: str) -> str:
    """One line without control characters, whatever a file's name or a certificate has in it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _certificates(path: str, max_bytes: int) -> Iterator[tuple[str, str | None]]:
    """The certificates in a file, each with a name: one over several lines, or one per line; None if it has none."""
    with sys.stdin.buffer if path == "-" else open(path, "rb") as file:
        numbered = enumerate(iter(lambda: _read_line(file, max_bytes), b""), 1)
        lines = ((number, line) for number, line in numbered if line.strip())
        try:
            first = next(lines, None)
            if first is None:
                raise _Unreadable(f"{path} has no certificate")
            if f'"{COMPLEX_SCHEMA}"'.encode() in first[1][:100]:
                raise _Unreadable(
                    f"{path} looks like a complex certificate, which is read from a file and begins with its schema"
                )
            if first[1].strip() == b"{":
                rest = file.read(max_bytes + 1)
                if len(rest) > max_bytes:
                    raise LimitReached(f"this certificate has more than {max_bytes:,} bytes; --max-bytes allows more")
                yield path, (first[1] + rest).decode()
                return
            second = next(lines, None)
            if second is None:
                yield path, first[1].decode()
                return
            if b'"rescaleinv-certificate/' not in first[1]:
                yield path, None
                return
            for number, line in (first, second):
                yield f"{path}:{number}", line.decode()
            for number, line in lines:
                yield f"{path}:{number}", line.decode()
        except UnicodeDecodeError as error:
            raise _Unreadable(f"{path} is not text: {error}") from error


def _is_complex(path: str) -> bool:
    """Does the file begin as a complex certificate does? Only then is it read line by line."""
    if path == "-":
        return False
    if Path(path).exists() and not Path(path).is_file():
        raise _Unreadable(f"{path} is not a file; use - to read certificates from the standard input")
    beginning = f'{{"schema":"{COMPLEX_SCHEMA}"'.encode()
    with open(path, "rb") as file:
        return file.read(len(beginning)) == beginning


def _bar(path: str) -> Callable[[int, int], None]:
    """Progress on a terminal; nothing elsewhere."""
    last = [time.monotonic()]

    def show(done: int, total: int) -> None:
        if sys.stderr.isatty() and (time.monotonic() - last[0] > 0.3 or (done == total and last[1:])):
            last[:] = [time.monotonic(), 1]
            text = f"{_printable(path)}: {done:,} of {total:,} vertices ({done / total:.0%})" if done < total else ""
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    return show


def _check_complex_file(
    path: str, jobs: int, flint: bool | None, max_work: int = MAX_WORK, max_bytes: int = MAX_BYTES
) -> Complex:
    check_file = partial(check_complex, path, flint=flint, report=_bar(path), max_work=max_work, max_bytes=max_bytes)
    if jobs == 1:
        return check_file()
    # here, as most who check need neither
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import get_context

    def parallel(function: Callable[..., Any], blocks: Iterable[Any]) -> Iterator[Any]:
        waiting: deque[Any] = deque()  # only some, so that the file is not read faster than it is checked
        for block in blocks:
            waiting.append(pool.submit(function, block))
            if len(waiting) > 8 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            return check_file(parallel=parallel)
        except BrokenExecutor as error:
            raise _Unreadable(f"{path}: a process that checked it was killed; try --jobs 1") from error


class _Run:
    """All files of one call: what was proved, refused, not checked or repeated."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.counts = {"proved": 0, "refused": 0, "not checked": 0, "repeated": 0}
        self.exit_codes: set[int] = set()
        self.known: _Known = {}
        self._scopes: dict[Scope, int] = {}
        self._names: dict[tuple[Any, ...], str] = {}  # what was proved, and where first
        self.given = self._training()
        self.coverage: _Coverage | None = None
        if options.verdicts is not None:
            points = _Points(options.points, options.features, options.max_bytes)
            with self._reporting(options.verdicts):
                self.coverage = _Coverage(points, _VerdictTable(options.verdicts, len(points.texts), options.max_bytes))

    def _training(self) -> _Training | None:
        if self.options.training is None:
            return None
        with open(self.options.training, "rb") as file, _guarded(self.options.max_work):
            content = file.read(self.options.max_bytes + 1)
            if len(content) > self.options.max_bytes:
                raise LimitReached(
                    f"{self.options.training} has more than {self.options.max_bytes:,} bytes; --max-bytes allows more"
                )
            return _Training(_parse(content.decode(), "the text of the training rows"))

    def tell(self, name: str, words: str) -> None:
        print(_printable(f"{name}: {words}"))

    @contextmanager
    def _reporting(self, name: str) -> Iterator[None]:
        """Print what goes wrong inside, and go on."""
        try:
            yield
        except NotChecked as error:
            self.tell(name, f"NOT CHECKED: {error}")
            self.counts["not checked"] += 1
            self.exit_codes.add(3 if isinstance(error, LimitReached) else 2)
        except Refused as error:
            self.tell(name, f"REFUSED: {error}")
            self.counts["refused"] += 1
            self.exit_codes.add(1)

    def proved(self, name: str, statement: tuple[Any, ...], words: str) -> None:
        """Count what was proved, each statement once."""
        before = self._names.get(statement)
        self._names.setdefault(statement, name)
        self.counts["proved" if before is None else "repeated"] += 1
        if not self.options.quiet:
            self.tell(name, f"proved: {words}" + ("" if before is None else f" (repeats {before}, counted once)"))

    def complex_in(self, path: str) -> None:
        options = self.options
        flint = False if options.no_flint else None
        found = _check_complex_file(path, options.jobs, flint, options.max_work, options.max_bytes)
        given, rows_found = self.given, found.training
        is_same = given is None or given.sha256 == rows_found.sha256
        _require(is_same, "training.sha256 is not that of the rows that were given")
        is_same = given is None or given.identity == rows_found.identity
        _require(is_same, "training.reading is not that of the rows that were given")
        self.known[found.sha256] = found
        rows = f"training {found.training.sha256[:12]} ({len(found.training.rows)} rows)"
        words = f"the complex is complete ({found.n_vertices:,} vertices); {rows}, every rescaling, hard margin"
        self.proved(path, ("complex", found.sha256), words)

    def certificate(self, name: str, text: str | None) -> None:
        if text is None:
            raise Refused("this is not a file of certificates: its first line is not one")
        with _guarded(self.options.max_work):
            claim = _check(text, self.given, self.known)
        question = claim.question
        scope = self._scopes.setdefault(question.scope, len(self._scopes))
        rows = [] if self.coverage is None else [self.coverage.name(row) for row in self.coverage.add(claim)]
        words = f"{claim}; {''.join(f'{row}, ' for row in rows[:3])}{question}"
        self.proved(name, (str(claim), question.point_sha256, question.training_sha256, scope, question.reading), words)

    def files(self) -> None:
        """Check all files, complexes first."""
        kinds = [(_is_complex(path), path) for path in self.options.files]
        for is_complex, path in kinds:
            if is_complex:
                with self._reporting(path):
                    self.complex_in(path)
        for is_complex, path in kinds:
            if not is_complex:
                with self._reporting(path):
                    for name, text in _certificates(path, self.options.max_bytes):
                        with self._reporting(name):
                            self.certificate(name, text)

    def table(self) -> None:
        """Is every row of the table of verdicts covered?"""
        if self.coverage is None:
            return
        n_failures = 0
        for n_failures, failure in enumerate(self.coverage.failures(), 1):
            if n_failures <= _MOST_ROWS_NAMED:
                self.tell(self.options.verdicts, failure)
        with self._reporting(self.options.verdicts):
            points = self.coverage.points
            hint = "; if the table has other columns than the features, name these with --features"
            hint = hint if not self.coverage.settings else ""
            _require(not n_failures, f"{n_failures} of {len(points.texts)} verdicts are not covered{hint}")
            self.proved(self.options.verdicts, ("table",), self.coverage.result())

    def summary(self) -> None:
        counts = self.counts
        if sum(counts.values()) > 1 and not self.options.quiet:
            more = [f"{counts[kind]} {kind}" for kind in ("not checked", "repeated") if counts[kind]]
            print(", ".join([f"{counts['proved']} proved, {counts['refused']} refused", *more]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rescaleinv verify",
        description=(__doc__ or "").partition("\n\nEvidence for")[0],
        epilog="What the evidence is, and why it proves its claim: see the beginning of this file and docs/certificates.md.",
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="certificates, one per file or one per line (- reads standard input), and the complex certificates that they\n"
        "refer to",
    )
    parser.add_argument(
        "--training",
        metavar="ROWS",
        help="the training rows, for certificates that only refer to them (others must agree)",
    )
    parser.add_argument("--points", metavar="CSV", help="the table of points that --verdicts is about")
    parser.add_argument(
        "--verdicts",
        metavar="CSV",
        help="a table of verdicts, one row per point: is each one covered by a certificate?",
    )
    parser.add_argument(
        "--features", metavar="NAMES", help="the columns of --points that are features, with commas between (all)"
    )
    parser.add_argument("--quiet", action="store_true", help="print only what was not proved")
    parser.add_argument(
        "--max-work",
        metavar="STEPS",
        type=int,
        default=MAX_WORK,
        help=f"steps per certificate, and per vertex of a complex certificate ({MAX_WORK:,})",
    )
    parser.add_argument(
        "--max-bytes", metavar="BYTES", type=int, default=MAX_BYTES, help=f"bytes per line ({MAX_BYTES:,})"
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="processes for a complex certificate")
    parser.add_argument("--no-flint", action="store_true", help="do without python-flint even where it is installed")
    return parser


def main(arguments: Iterable[str] | None = None) -> int:
    """Exit code 0: everything was proved; 1: something was refused; 2: it could not be checked; 3: a limit was reached."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # names of files may be anything
    parser = _parser()
    options = parser.parse_args(None if arguments is None else list(arguments))
    for name in ("jobs", "max_work", "max_bytes"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} {getattr(options, name)}: at least 1 is needed")
    if (options.points is None) != (options.verdicts is None):
        parser.error("--points and --verdicts belong together: the points, and what is said of them")
    if options.features is not None and options.points is None:
        parser.error("--features names columns of --points, which is not given")
    options.jobs = min(options.jobs, os.cpu_count() or 1)  # more would only be in each other's way
    try:
        run = _Run(options)
        run.files()
        run.table()
        run.summary()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough; nothing may be said about what it did not see
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except LimitReached as error:
        print(_printable(f"rescaleinv verify: error: {error}"), file=sys.stderr)
        return 3
    except MemoryError:
        print("rescaleinv verify: error: there is not enough memory to check this", file=sys.stderr)
        return 2
    except (OSError, ValueError, RecursionError, _Unreadable) as error:
        message = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            message = f"{error.filename} can't be read: {error.strerror}"
        print(_printable(f"rescaleinv verify: error: {message}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("rescaleinv verify: interrupted", file=sys.stderr)
        return 130
    except Exception as error:  # a defect of the checker, which must not pass for a refusal
        print(_printable(f"rescaleinv verify: error: it could not be checked: {error!r}"), file=sys.stderr)
        return 2
    return min(run.exit_codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
