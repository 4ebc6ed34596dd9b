"""From the gap engine's floats to certificates in exact rationals."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from rescaleinv import verify
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import certificate_of
from rescaleinv.engines.branch.leaves import Pair
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.engines.branch.tree import Decision, Flip
from rescaleinv.errors import CertificateError
from rescaleinv.theory.rationals import rational_text

SCOPE = " within the range"
# Numbers of a pair are rounded to so many bits of the largest one: few make short certificates.
_BITS = (26, 40, 53)


def _rounded(values: FloatArray, bits: int, power: int) -> list[Fraction]:
    """To so many bits of the largest, times a power of two; exact from here on."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return [Fraction(0)] * len(values)
    shift = bits - int(np.frexp(largest)[1])
    unit, back = Fraction(2) ** shift, Fraction(2) ** (power - shift)
    return [round(Fraction(value) * unit) * back for value in values.tolist()]


class _Writer:
    """Pairs, flips and ranges of one problem as JSON objects, in the units of the features."""

    def __init__(
        self, problem: LimitedProblem, point: FloatArray, limits: FloatArray, penalties: FloatArray | None, bits: int
    ) -> None:
        self.problem, self.penalties, self.bits = problem, penalties, bits
        self.reach = 1 + float(np.abs(problem.rows - problem.in_units(point)).sum(axis=1).max())
        self.range = {
            "groups": problem.groups.tolist(),
            "rescalings": [[rational_text(Fraction(end)) for end in ends] for ends in limits.tolist()],
            "penalties": None if penalties is None else [rational_text(Fraction(c)) for c in penalties.tolist()],
        }

    def pair(self, pair: Pair) -> dict[str, Any]:
        # rounding must not take a hard margin below 1; what it adds to a soft one's costs is as little
        v = np.append(pair.v, pair.t)
        spare = 1.0 if self.problem.soft else 1 + 2.0 ** (1 - self.bits) * float(np.abs(v).max()) * self.reach
        exact = _rounded(v * spare, self.bits, 0)
        shift = self.problem.shift
        r = _rounded(pair.r, self.bits, -2 * shift)
        if self.penalties is not None:  # what was within its cap stays so, however small that is beside the others
            within = zip(r, pair.r <= self.problem.caps, self.penalties.tolist(), strict=True)
            r = [min(value, Fraction(cap)) if capped else value for value, capped, cap in within]
        return {
            "v": [rational_text(value / Fraction(2) ** shift) for value in exact[:-1]],
            "t": rational_text(exact[-1]),
            "r": {str(i): rational_text(value) for i, value in enumerate(r) if value},
        }

    def flip(self, flip: Flip, low: list[Fraction], high: list[Fraction]) -> dict[str, Any]:
        # an end of the range as a float may be beyond the exact end by its rounding
        factors = [
            min(max(Fraction(d), least), most) for d, least, most in zip(flip.factors.tolist(), low, high, strict=True)
        ]
        return {"inverse_squared_rescaling": [rational_text(d) for d in factors], "pair": self.pair(flip.pair)}

    def cover(self, records: Iterable[Any]) -> list[Any]:
        entries: list[Any] = []
        for record in records:
            if isinstance(record, Pair):
                entries.append(self.pair(record))
            else:
                kind, which, at = record
                entries.append([kind, which, rational_text(Fraction(at))] if kind == "factor" else [kind, which])
        return entries


def certificate(
    problem: LimitedProblem,
    point: FloatArray,
    decision: Decision,
    limits: FloatArray,
    *,
    penalties: FloatArray | None,
    left_out: int,
) -> Certificate:
    """The certificate of a decided point, checked; ``limits`` are the ranges of τ, one a group."""
    exact_point = problem.training_set.exact_point(point)
    refusal: verify.Refused | None = None
    for bits in _BITS:
        writer = _Writer(problem, point, limits, penalties, bits)
        if decision.cover is not None:
            claim = "strongly positive" if decision.sign > 0 else "strongly negative"
            evidence = {"kind": "cover", "range": writer.range, "cover": writer.cover(decision.cover.records())}
        elif decision.positive is not None and decision.negative is not None:
            claim = "neutral"
            low = [1 / Fraction(most) ** 2 for _, most in limits.tolist()]
            high = [1 / Fraction(least) ** 2 for least, _ in limits.tolist()]
            evidence = {
                "kind": "two-labels",
                "range": writer.range,
                "positive": writer.flip(decision.positive, low, high),
                "negative": writer.flip(decision.negative, low, high),
            }
        else:
            raise CertificateError(f"the point is unknown: {decision.reason}")
        made = certificate_of(
            problem.training_set, exact_point, claim + SCOPE, evidence, left_out=left_out, given_point=point
        )
        try:
            verify.check(made.to_json())
        except verify.Refused as error:
            refusal = error
        else:
            return made
    raise CertificateError(f"no certificate: rounding to rationals did not succeed ({refusal})")
