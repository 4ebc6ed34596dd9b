"""What the results say, in sentences that are made from the numbers: where they agree with the paper, and where not."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paper.cautious import CONFORMAL, RIGHT_AND_DECIDED, THRESHOLDS
from benchmarks.paper.markdown import interval, number, span
from benchmarks.paper.summary import GAINS, SHARES


def nearest_rule(rules: dict[str, Any]) -> str:
    """The rule with the least mean distance of all shares from the paper's."""
    return min(rules, key=lambda rule: rules[rule]["distance from the paper"]["all shares"])


def standing(found: dict[str, Any]) -> str:
    """Where the paper's figure stands among ours."""
    if found["within range"] is None:
        return "nothing to compare"
    if found["within range"]:
        return "within our range"
    return f"{'below' if found['paper'] < found['least'] else 'above'} all of ours"


def about_rules(rules: dict[str, Any]) -> list[str]:
    """How near the rules come, share by share, the nearest first."""
    lines = []
    for name in (*SHARES, "all shares"):
        by_rule = {rule: found["distance from the paper"][name] for rule, found in rules.items()}
        if None not in by_rule.values():
            ranked = sorted(by_rule, key=by_rule.__getitem__)
            lines.append(f"{name}: " + ", ".join(f'"{rule}" {number(by_rule[rule])}' for rule in ranked))
    return lines


def about_ranges(rules: dict[str, Any]) -> list[str]:
    """How many figures of the paper our draws cover, and how many that are neutral shares."""
    lines = []
    for rule, found in rules.items():
        within, beyond = (found[f"figures of the paper {where} our range"] for where in ("within", "outside"))
        neutral = [one["figures"]["neutral share"]["within range"] for one in found["benchmarks"]]
        lines.append(
            f'"{rule}": {within} of {within + beyond} ({within / (within + beyond):.0%}); of the neutral shares '
            f"{neutral.count(True)} of {len(neutral)}"
        )
    return lines


def about_averages(found: dict[str, Any]) -> list[str]:
    """Each average of the paper against the averages of our tables."""
    lines = []
    for name in (*SHARES, *GAINS):
        one = found["averages"][name]
        if one["paper"] is None or one["mean"] is None:
            continue
        lines.append(
            f"{name}: the paper's columns give {number(one['paper'])} (it prints {number(one['printed'])}), ours "
            f"{interval(one)}; one table gives {span(one)}: {standing(one)}"
        )
    return lines


def shown(figure: dict[str, Any], name: str) -> str:
    digits = 1 if name in SHARES else 0
    return f"{number(figure['paper'], digits)} ({span(figure, digits)})"


def outside(found: dict[str, Any]) -> list[str]:
    """The figures of the paper that none of our draws reaches, one line per benchmark."""
    lines = []
    for one in found["benchmarks"]:
        misses = [
            f"{name} {shown(figure, name)}"
            for name, figure in one["figures"].items()
            if figure["within range"] is False
        ]
        if misses:
            lines.append(f"{one['number']} ({one['data set']}): " + ", ".join(misses))
    return lines


def tally(equal_coverage: dict[str, Any]) -> list[dict[str, Any]]:
    """For each other way and share: on how many benchmarks the strong verdicts are better, worse, or not told apart."""
    rows = []
    for way in (*THRESHOLDS, CONFORMAL):
        for name in RIGHT_AND_DECIDED:
            found = [one[way][f"strong {name} minus this"] for one in equal_coverage.values() if way in one]
            known = [one for one in found if one["difference"] is not None]
            if not known:
                continue
            better = sum(one["low"] is not None and one["low"] > 0 for one in known)
            worse = sum(one["high"] is not None and one["high"] < 0 for one in known)
            rows.append(
                {
                    "against": way,
                    "share": name,
                    "better": better,
                    "worse": worse,
                    "not told apart": len(known) - better - worse,
                    "mean difference": 100 * sum(one["difference"] for one in known) / len(known),
                }
            )
    return rows


def about_other_ways(rows: list[dict[str, Any]]) -> list[str]:
    """One sentence for each other way; it says so where the strong verdicts are the worse choice."""
    lines = []
    for way in dict.fromkeys(row["against"] for row in rows):
        parts = []
        for row in (row for row in rows if row["against"] == way):
            signs = {np.sign(row["mean difference"]), np.sign(row["better"] - row["worse"])} - {0}
            word = {(1,): "better", (-1,): "worse", (): "level"}.get(tuple(signs), "mixed")
            parts.append(
                f"{row['share']} {word} ({row['mean difference']:+.1f} points on average; clearly better on "
                f"{row['better']} benchmarks, clearly worse on {row['worse']})"
            )
        lines.append(f"against {way}: " + "; ".join(parts))
    return lines
