"""From the floats of the branch and bound to certificates in exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from scipy.linalg import qr

from rescaleinv import verify
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import certificate_of
from rescaleinv.engines.branch.decision import Decision, ProvedLabel, Split
from rescaleinv.engines.branch.leaves import Pair
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.errors import CertificateError
from rescaleinv.theory.rationals import rational_text, solve

SCOPE = " within the range"
# Numbers of a pair are rounded to so many bits of the largest one: few make short certificates. None: not rounded at all.
_BITS = (26, 40, 53, None)


def _rounded(values: FloatArray, bits: int | None) -> list[Fraction]:
    """To so many bits of the largest one; exact from here on."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest or bits is None:
        return [Fraction(value) for value in values.tolist()]
    shift = bits - int(np.frexp(largest)[1])
    unit, back = Fraction(2) ** shift, Fraction(2) ** -shift
    return [round(Fraction(value) * unit) * back for value in values.tolist()]


def _texts(values: FloatArray | None) -> list[str] | None:
    return None if values is None else [rational_text(Fraction(value)) for value in values.tolist()]


def _text(end: float) -> str | None:
    return None if math.isinf(end) else rational_text(Fraction(end))


class _Writer:
    """Pairs, rescalings and ranges of one problem as JSON objects, in the units of the features."""

    def __init__(self, problem: LimitedProblem, point: FloatArray, limits: FloatArray, bits: int | None) -> None:
        self.problem, self.bits = problem, bits
        self.exact_point = problem.training_set.exact_point(point)
        # a power of two for each feature, no less than any difference to the point: a weight times it is what is rounded,
        # so that the weights of features in small units are not rounded away beside those in large ones
        furthest = np.abs(problem.rows - problem.in_units(point)).max(axis=0)
        self.exponents = np.append(np.where(furthest > 0, np.frexp(furthest)[1], 0), [0, 0])
        # what margins, weights times the features' unit, and multipliers are here divided by
        unit, squared = Fraction(2) ** problem.shift, Fraction(4) ** problem.shift
        self.margin_unit, self.r_unit = Fraction(1), 1 / squared
        if problem.nu is not None:
            self.margin_unit, self.r_unit = squared / Fraction(problem.total), 1 / Fraction(problem.total)
        self.unit = unit
        self.range = {
            "groups": problem.groups.tolist(),
            "rescalings": [[_text(end) for end in ends] for ends in limits.tolist()],
            "penalties": _texts(problem.penalties),
        }
        if problem.nu is not None:
            weights = problem.nu.row_weights
            alike = bool((weights == weights[0]).all())
            self.range["nu"] = rational_text(problem.nu.nu)
            self.range["row_weights"] = None if alike else _texts(weights)

    @cached_property
    def scale_unit(self) -> Fraction:
        """What relative factors, and the scale, are here divided by."""
        return self.unit**2 / Fraction(self.problem.relative_total)

    def pair(self, pair: Pair, sign: int, *, relative: bool = False) -> dict[str, Any]:
        terms = np.ldexp(np.concatenate([pair.v, [pair.t, pair.q]]), self.exponents)
        if not self.problem.soft and self.bits is not None:
            # rounding must not take a hard margin below what it must be; what it adds to a soft one's costs is as little
            lost = 2.0**-self.bits * float(np.abs(terms).max()) * len(terms)
            if relative:
                terms[-1] -= lost
            else:
                terms *= 1 + lost
        rounded = zip(_rounded(terms, self.bits), self.exponents.tolist(), strict=True)
        *v, t, q = [value * Fraction(2) ** -exponent for value, exponent in rounded]
        margin_unit = Fraction(1) if relative else self.margin_unit
        r_unit = 1 / Fraction(self.problem.relative_total) if relative else self.r_unit
        r = [value * r_unit for value in _rounded(pair.r, self.bits)]
        caps = self._exact_caps
        if caps is not None:  # what was within its cap stays so, however small that is beside the others
            within = zip(r, pair.r <= self.problem.caps, caps, strict=True)
            r = [min(value, cap) if capped else value for value, capped, cap in within]
        written = {
            "v": [rational_text(value * margin_unit / self.unit) for value in v],
            "t": rational_text(t * margin_unit),
        }
        has_nu = self.problem.nu is not None
        if has_nu or relative:
            written["q"] = rational_text(q * margin_unit)
        if pair.vanishing:
            self._make_vanish(r, pair, keeps_sum=has_nu and not relative)
        elif has_nu and not relative and caps is not None:
            self._complete(r, caps, sign)
        return {**written, "r": {str(i): rational_text(value) for i, value in enumerate(r) if value}}

    @cached_property
    def _columns(self) -> dict[int, list[int]]:
        """y_i (x_ij - p_j) as integers, each feature in a unit of its own, as far as they were needed."""
        return {}

    def _column(self, feature: int) -> list[int]:
        if feature not in self._columns:
            at, signs = self.exact_point[feature], self.problem.training_set.signs.tolist()
            values = [y * (row[feature] - at) for row, y in zip(self.problem.exact_rows, signs, strict=True)]
            common = math.lcm(*(value.denominator for value in values))
            self._columns[feature] = [int(value * common) for value in values]
        return self._columns[feature]

    def _make_vanish(self, r: list[Fraction], pair: Pair, *, keeps_sum: bool) -> None:
        """Change those r that are furthest from their bounds such that ν is exactly 0 where it must be.

        ``keeps_sum``: and such that their sum is no less than 1.
        """
        caps = self.problem.caps
        room = np.where((pair.r > 0) & (pair.r < caps), np.minimum(np.abs(pair.r), np.abs(caps - pair.r)), 0.0)
        room = np.where((pair.r < 0) | (pair.r > caps), np.abs(pair.r).max(), room)
        equations = [self._column(j) for j in pair.vanishing] + ([[1] * len(r)] if keeps_sum else [])
        scaled = np.array([np.array(line, dtype=float) / max(map(abs, line), default=1) for line in equations])
        _, triangle, order = qr(scaled * room, pivoting=True, mode="economic")
        diagonal = np.abs(np.diag(triangle))
        rank = int((diagonal > 1e-11 * max(float(diagonal[0]), 1e-300)).sum())
        rows = order[:rank].tolist()
        _, _, chosen = qr(scaled[:, rows].T, pivoting=True, mode="economic")
        common = math.lcm(*(value.denominator for value in r))
        whole = [int(value * common) for value in r]
        right = [-Fraction(sum(map(mul, equation, whole)), common) for equation in equations]
        if keeps_sum:
            right[-1] = max(1 + right[-1], Fraction(0))
        matrix = [[equations[k][i] for i in rows] for k in chosen[:rank].tolist()]
        change = solve(matrix, [right[k] for k in chosen[:rank].tolist()])
        for i, by in zip(rows, change or (), strict=False):
            r[i] += by

    @cached_property
    def _exact_caps(self) -> list[Fraction] | None:
        if self.problem.nu is not None:
            return self.problem.nu.exact_caps
        penalties = self.problem.penalties
        return None if penalties is None else [Fraction(c) for c in penalties.tolist()]

    def _complete(self, r: list[Fraction], caps: list[Fraction], sign: int) -> None:
        """Rounding may have left the sum of r below 1: where there is most room in the point's own class, it is made up."""
        missing = 1 - sum(r, Fraction(0))
        if missing > 0:
            own = np.flatnonzero(self.problem.labels == sign).tolist()
            roomiest = max(own, key=lambda i: caps[i] - r[i])
            r[roomiest] += missing

    def proved_label(
        self, proved: ProvedLabel, sign: int, low: list[Fraction], high: list[Fraction | None]
    ) -> dict[str, Any]:
        # an end of the range as a float may be beyond the exact end by its rounding
        factors = [
            max(Fraction(d), least) if most is None else min(max(Fraction(d), least), most)
            for d, least, most in zip(proved.factors.tolist(), low, high, strict=True)
        ]
        return {"inverse_squared_rescaling": [rational_text(d) for d in factors], "pair": self.pair(proved.pair, sign)}

    def cover(self, records: list[Split | Pair], sign: int, *, relative: bool) -> list[Any]:
        return [
            self.pair(record, sign, relative=relative) if isinstance(record, Pair) else self.split(record, relative)
            for record in records
        ]

    def split(self, split: Split, relative: bool) -> list[Any]:
        if split.kind == "scale":
            return [split.kind, rational_text(Fraction(split.at) * self.scale_unit)]
        if split.kind == "factor":
            unit = self.scale_unit if relative and self.problem.free[split.which] else 1
            return [split.kind, split.which, rational_text(Fraction(split.at) * unit)]
        return [split.kind, split.which]


def certificate(
    problem: LimitedProblem,
    point: FloatArray,
    decision: Decision,
    limits: FloatArray,
    *,
    left_out: int,
) -> Certificate:
    """The certificate of a decided point, checked; ``limits`` are the ranges of τ, one per group."""
    exact_point = problem.training_set.exact_point(point)
    low = [Fraction(0) if math.isinf(most) else 1 / Fraction(most) ** 2 for _, most in limits.tolist()]
    high = [1 / Fraction(least) ** 2 if least else None for least, _ in limits.tolist()]
    refusal: verify.Refused | None = None
    for bits in _BITS:
        writer = _Writer(problem, point, limits, bits)
        if decision.cover is not None:
            claim = "strongly positive" if decision.label > 0 else "strongly negative"
            relative = decision.own is not None
            cover = writer.cover(decision.cover, decision.label, relative=relative)
            evidence = {"kind": "cover", "range": writer.range, "cover": cover}
            if decision.own is not None:
                label = writer.proved_label(decision.own, decision.label, low, high)
                evidence |= {"kind": "relative-cover", "label": label}
        elif decision.positive is not None and decision.negative is not None:
            claim = "neutral"
            evidence = {
                "kind": "two-labels",
                "range": writer.range,
                "positive": writer.proved_label(decision.positive, 1, low, high),
                "negative": writer.proved_label(decision.negative, -1, low, high),
            }
        else:
            raise CertificateError(f"the point is unknown: {decision.reason}")
        made = certificate_of(
            problem.training_set, exact_point, claim + SCOPE, evidence, left_out=left_out, given_point=point
        )
        try:
            made.checked_claim = verify.check(made.to_json())
        except verify.NotChecked as error:
            raise CertificateError(f"the certificate is too large to be checked: {error}") from error
        except verify.Refused as error:
            refusal = error
        else:
            return made
    raise CertificateError(f"no certificate: rounding to rationals did not succeed ({refusal})")
