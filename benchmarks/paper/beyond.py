"""What is beyond the paper's tables, as Markdown: other ways to be cautious, and the rescaling radius."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.paper.cautious import CONFORMAL, RIGHT_AND_DECIDED, STRONG, THRESHOLDS
from benchmarks.paper.markdown import bullets, number, table
from benchmarks.paper.words import about_other_ways, tally

ABOUT_OTHER_WAYS = """\
On the same splits (rule "{rule}"). A threshold on |f|, the decision value, keeps in each draw exactly as many test points as
have a strong verdict: those farthest from 0. f is the plain SVM's in the units of the data, the plain SVM's on standardised
features, or that of a soft-margin SVM (C = 1, standardised) trained on all the rows drawn, none left out. Split-conformal
(MAPIE, LAC score; that soft-margin SVM trained on half of the rows drawn and calibrated on the others) decides the points
whose set has one class, at the level of 0.5, 0.55, …, 0.95 whose coverage comes nearest. All draws of a benchmark are
counted together; a difference is clear where its 95 % interval (bootstrap over draws) leaves 0 out. The strong verdicts:"""

ABOUT_RADIUS = """\
How wrong may the units be before a test point's label can change? Per cent of the sampled points whose label is certified
for every rescaling with factors in [1/κ, κ] around the units of the data, "to" those for which no such rescaling was found
that changes it; the median of the certified κ; per cent of the points whose two bounds are within a ratio of {ratio:g}.
{points} points, {seconds:.1f} s per point; contradictions with the verdicts about all rescalings: {contradictions}.

"""


def other_ways(found: dict[str, Any], rule: str) -> str:
    equal = found["other ways at equal coverage"]
    ways = [way for way in (STRONG, *THRESHOLDS, CONFORMAL) if any(way in one for one in equal.values())]
    return "\n\n".join(
        [
            ABOUT_OTHER_WAYS.format(rule=rule),
            bullets(about_other_ways(tally(equal))),
            "Accuracy of the decided points, per cent (* clearly worse, ° clearly better than the strong verdicts):",
            accuracy_table(equal, ways),
            "Means over the benchmarks, per cent:",
            means_table(equal, ways),
        ]
    )


def accuracy_table(equal: dict[str, Any], ways: Sequence[str]) -> str:
    rows = []
    for benchmark, found in equal.items():
        cells = [number(100 * found[STRONG]["coverage"])]
        for way in ways:
            one = found.get(way, {})
            if one.get("accuracy") is None:
                cells.append("-")
                continue
            note = f" (covers {number(100 * one['coverage'])}, level {one['level']})" if way == CONFORMAL else ""
            cells.append(number(100 * one["accuracy"]) + mark(one) + note)
        rows.append([benchmark, *cells])
    return table(["", "coverage", *ways], rows)


def mark(found: dict[str, Any]) -> str:
    gain = found.get("strong accuracy minus this")
    if gain is None or gain["low"] is None:
        return ""
    return "*" if gain["low"] > 0 else "°" if gain["high"] < 0 else ""


def means_table(equal: dict[str, Any], ways: Sequence[str]) -> str:
    rows = []
    for way in ways:
        cells = []
        for name in ("coverage", *RIGHT_AND_DECIDED):
            defined = [found[way][name] for found in equal.values() if way in found and found[way][name] is not None]
            cells.append(number(100 * sum(defined) / len(defined)) if defined else "-")
        rows.append([way, *cells])
    return table(["way", "coverage", *RIGHT_AND_DECIDED], rows)


def radius(found: dict[str, Any] | None) -> str:
    if found is None:
        return "Left out of this run."
    factors = found["factors"]
    shown = [min(range(len(factors)), key=lambda k: abs(factors[k] - wanted)) for wanted in (1.1, 1.5, 2, 4, 10, 100)]
    rows = [
        [
            name,
            one["points"],
            *(f"{100 * one['certified'][k]:.0f} to {100 * one['not refuted'][k]:.0f}" for k in shown),
            f"{100 * one['certified for all rescalings']:.0f}",
            "all" if one["median certified factor"] is None else number(one["median certified factor"], 2),
            f"{100 * one['narrowed to the wanted ratio']:.0f}",
        ]
        for name, one in found["data sets"].items()
    ]
    header = ["data set", "points", *(f"κ = {factors[k]:.3g}" for k in shown), "all rescalings", "median κ", "narrowed"]
    about = ABOUT_RADIUS.format(
        ratio=found["wanted ratio"],
        points=found["points"],
        seconds=found["seconds per point"],
        contradictions=found["contradictions with the verdicts"],
    )
    return about + table(header, rows)
