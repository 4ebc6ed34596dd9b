"""What stands in the tables of the page: plain values, in words where a reader wants words."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, NamedTuple

from rescaleinv._util.deadline import is_over
from rescaleinv.audit.result import Audit, SVMAtRescaling
from rescaleinv.audit.scalings import meaning_of
from rescaleinv.errors import CertificateError
from rescaleinv.metrics import StrongReport
from rescaleinv.verdict import Verdict, verdict_words

_KINDS = {
    "diagonal": "a rescaling",
    "selection": "features dropped",
    "other": "not a rescaling",
    "none": "no labels",
}

_TWO = "Two rescalings that disagree:"
_NONE = "Two that disagree are too extreme to be written down."
_NO_TIME = "Two that disagree were not worked out in the time given."


class PointRow(NamedTuple):
    """One row of the table of points."""

    number: int
    name: str
    truth: str
    verdict: str
    words: str
    style: str
    label: str
    value: float
    lower: float
    upper: float
    n_positive: int
    n_scalings: int
    radius: float
    changes_at: float
    changed_by: str


def point_rows(audit: Audit, chosen: list[int]) -> list[PointRow]:
    """The table of points, one row each."""
    signs = audit.signs[audit.usable]
    rows = []
    for i in chosen:
        words = verdict_words(audit.verdicts.code[i])
        rows.append(
            PointRow(
                number=i,
                name=audit.point_names[i],
                truth="" if audit.truth[i] is None else audit.truth[i],
                verdict=words,
                words=audit.words(int(audit.verdicts.code[i])),
                style=words.removeprefix("strongly "),
                label=audit.class_name(int(audit.signs[0, i])),
                value=float(audit.values[i]),
                lower=float(audit.verdicts.lower[i]),
                upper=float(audit.verdicts.upper[i]),
                n_positive=int((signs[:, i] > 0).sum()),
                n_scalings=len(signs),
                radius=math.nan if audit.radius is None else float(audit.radius[i, 0]),
                changes_at=math.nan if audit.radius is None else float(audit.radius[i, 1]),
                changed_by=", ".join(audit.changed_by(i)),
            )
        )
    return rows


def point_details(audit: Audit, i: int) -> dict[str, Any]:
    """What a click on a point shows: its values, its labels, and two rescalings if it is neutral."""
    pair: tuple[SVMAtRescaling, ...] = ()
    in_time = not is_over()
    if audit.verdicts[i] is Verdict.NEUTRAL and in_time:
        with suppress(
            CertificateError
        ):  # the page is still worth having if no rescaling is short enough to be written down
            pair = audit.two_rescalings(i)
    return {
        "name": audit.point_names[i],
        "text": _in_words(audit, i, _TWO if pair else _NONE if in_time else _NO_TIME),
        "values": audit.verdicts.points[i].tolist(),
        "labels": [
            [scaling.name, audit.class_name(int(signs[i]))]
            for scaling, signs in zip(audit.scalings, audit.signs, strict=True)
            if signs[i]
        ],
        "rescalings": [_rescaling(audit, one, sign) for one, sign in zip(pair, (1, -1), strict=False)],
    }


def _in_words(audit: Audit, i: int, rescalings: str) -> str:
    verdict, (lower, upper) = audit.verdicts[i], (float(audit.verdicts.lower[i]), float(audit.verdicts.upper[i]))
    if verdict is Verdict.UNKNOWN:
        return f"Not decided: {audit.verdicts.reason[i]}."
    between = f" The decision value lies between {lower:.3g} and {upper:.3g}." if math.isfinite(lower + upper) else ""
    if verdict is Verdict.NEUTRAL:
        return f"The label depends on the scaling.{between} {rescalings}"
    return f"{audit.class_name(int(verdict))} under every rescaling of the features.{between}"


def _rescaling(audit: Audit, one: SVMAtRescaling, sign: int) -> dict[str, Any]:
    return {
        "name": one.name,
        "label": audit.class_name(sign),
        "sign": sign,
        "value": one.value,
        "base": one.base,
        "factors": one.factors.tolist(),
        "contributions": one.contributions.tolist(),
    }


def scaling_rows(audit: Audit) -> list[dict[str, Any]]:
    """The named scalings: what they are, how many points they call positive, how far they are from the given scaling."""
    shares = audit.disagreement.iloc[0].tolist()
    return [
        {
            "name": scaling.name,
            "meaning": meaning_of(scaling.name),
            "kind": _KINDS[scaling.kind],
            "positive": int((signs > 0).sum()) if scaling.values is not None else None,
            "different": share,
            "note": scaling.note,
        }
        for scaling, signs, share in zip(audit.scalings, audit.signs, shares, strict=True)
    ]


def feature_rows(audit: Audit) -> list[dict[str, Any]]:
    """The features: what rescaling or leaving out each of them does."""
    return [
        {
            "name": name,
            "alone": row["alone"],
            "without": row["neutral without"],
            "fixed": row["fixed"],
            "note": row["note"],
        }
        for name, row in zip(audit.feature_names, audit.features.to_dict("records"), strict=True)
    ]


def strong_rows(audit: Audit) -> list[dict[str, Any]]:
    """How often labels are right; nothing where no truth is known."""
    report: StrongReport | None = audit.report
    if report is None:
        return []
    return [
        {"name": name, "figures": figures}
        for name, figures in (("plain SVM", report.svm), ("strong verdicts", report.strong))
    ]
