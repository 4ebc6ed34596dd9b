"""From the floats of the branch and bound to certificates in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from rescaleinv import verify
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import certificate_of
from rescaleinv.engines.branch.decision import Decision, ProvedLabel, Split
from rescaleinv.engines.branch.leaves import Pair
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.errors import CertificateError
from rescaleinv.theory.rationals import rational_text

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


class _Writer:
    """Pairs, rescalings and ranges of one problem as JSON objects, in the units of the features."""

    def __init__(
        self,
        problem: LimitedProblem,
        point: FloatArray,
        limits: FloatArray,
        penalties: FloatArray | None,
        bits: int | None,
    ) -> None:
        self.problem, self.penalties, self.bits = problem, penalties, bits
        # a power of two for each feature, no less than any difference to the point: a weight times it is what is rounded,
        # so that the weights of features in small units are not rounded away beside those in large ones
        furthest = np.abs(problem.rows - problem.in_units(point)).max(axis=0)
        self.exponents = np.append(np.where(furthest > 0, np.frexp(furthest)[1], 0), 0)
        self.range = {
            "groups": problem.groups.tolist(),
            "rescalings": [[rational_text(Fraction(end)) for end in ends] for ends in limits.tolist()],
            "penalties": None if penalties is None else [rational_text(Fraction(c)) for c in penalties.tolist()],
        }

    def pair(self, pair: Pair) -> dict[str, Any]:
        terms = np.ldexp(np.append(pair.v, pair.t), self.exponents)
        if not self.problem.soft and self.bits is not None:
            # rounding must not take a hard margin below 1; what it adds to a soft one's costs is as little
            terms *= 1 + 2.0**-self.bits * float(np.abs(terms).max()) * len(terms)
        rounded = zip(_rounded(terms, self.bits), self.exponents.tolist(), strict=True)
        v = [value * Fraction(2) ** -exponent for value, exponent in rounded]
        shift = self.problem.shift
        r = [value * Fraction(4) ** -shift for value in _rounded(pair.r, self.bits)]
        if self.penalties is not None:  # what was within its cap stays so, however small that is beside the others
            within = zip(r, pair.r <= self.problem.caps, self.penalties.tolist(), strict=True)
            r = [min(value, Fraction(cap)) if capped else value for value, capped, cap in within]
        return {
            "v": [rational_text(value / Fraction(2) ** shift) for value in v[:-1]],
            "t": rational_text(v[-1]),
            "r": {str(i): rational_text(value) for i, value in enumerate(r) if value},
        }

    def proved_label(self, proved: ProvedLabel, low: list[Fraction], high: list[Fraction]) -> dict[str, Any]:
        # an end of the range as a float may be beyond the exact end by its rounding
        factors = [
            min(max(Fraction(d), least), most)
            for d, least, most in zip(proved.factors.tolist(), low, high, strict=True)
        ]
        return {"inverse_squared_rescaling": [rational_text(d) for d in factors], "pair": self.pair(proved.pair)}

    def cover(self, records: list[Split | Pair]) -> list[Any]:
        return [self.pair(record) if isinstance(record, Pair) else self.split(record) for record in records]

    def split(self, split: Split) -> list[Any]:
        at = [rational_text(Fraction(split.at))] if split.kind == "factor" else []
        return [split.kind, split.which, *at]


def certificate(
    problem: LimitedProblem,
    point: FloatArray,
    decision: Decision,
    limits: FloatArray,
    *,
    penalties: FloatArray | None,
    left_out: int,
) -> Certificate:
    """The certificate of a decided point, checked; ``limits`` are the ranges of τ, one per group."""
    exact_point = problem.training_set.exact_point(point)
    refusal: verify.Refused | None = None
    for bits in _BITS:
        writer = _Writer(problem, point, limits, penalties, bits)
        if decision.cover is not None:
            claim = "strongly positive" if decision.label > 0 else "strongly negative"
            evidence = {"kind": "cover", "range": writer.range, "cover": writer.cover(decision.cover)}
        elif decision.positive is not None and decision.negative is not None:
            claim = "neutral"
            low = [1 / Fraction(most) ** 2 for _, most in limits.tolist()]
            high = [1 / Fraction(least) ** 2 for least, _ in limits.tolist()]
            evidence = {
                "kind": "two-labels",
                "range": writer.range,
                "positive": writer.proved_label(decision.positive, low, high),
                "negative": writer.proved_label(decision.negative, low, high),
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
