"""The paper's Tables 1 to 4 side by side with ours."""

from __future__ import annotations

from typing import Any

from benchmarks.paper.markdown import interval, number, span, table
from benchmarks.paper.summary import GAINS, METHODS, SHARES, STANDARDISED

ABOUT_AVERAGES = """\
Each cell: the mean over tables with its 95 % interval; the least and the largest average of one table (the k-th draw of
every benchmark). The paper does not say in which units its plain SVM was trained; the last two lines are for features
divided by their standard deviations."""

ABOUT_TABLE_1 = """\
Paper / ours, rule "{rule}". The paper's |I(X)| (pairs of a positive and a negative row) is within the range of our draws on
{inside} of {all} benchmarks. "Orders": how many random orders of the rows were tried until a draw was accepted.
"Vertices": those that decide all points.

"""


def averages(rules: dict[str, Any]) -> str:
    """The columns may also be ways of drawing in place of rules."""
    first = next(iter(rules.values()))["averages"]
    rows = [
        [
            name,
            number(first[name]["printed"]),
            number(first[name]["paper"]),
            *(f"{interval(found['averages'][name])}; {span(found['averages'][name])}" for found in rules.values()),
        ]
        for name in (*SHARES, *GAINS, *STANDARDISED)
    ]
    names = [f'"{rule}"' for rule in rules]
    return table(["average", "paper, printed", "paper, from its columns", *names], rows)


def table1(found: dict[str, Any], rule: str) -> str:
    rows = []
    for one in found["benchmarks"]:
        smaller, pairs = one["rows of the smaller class"], one["|I(X)|"]
        rows.append(
            [
                one["number"],
                one["data set"],
                f"{number(one['|X|']['paper'], 0)} / {interval(one['|X|'])}",
                f"{number(pairs['paper'], 0)} / {interval(pairs, 0)}; {span(pairs, 0)}",
                f"{number(smaller['paper'], 0)} / {interval(smaller)}; {span(smaller, 0)}",
                number(one["rows of the learning set"]["mean"]),
                number(one["test rows"]["mean"]),
                number(one["orders tried"]["mean"]),
                f"{number(one['vertices']['mean'], 0)}; {span(one['vertices'], 0)}",
            ]
        )
    inside = sum(one["|I(X)|"]["within range"] is True for one in found["benchmarks"])
    header = ["", "data set", "|X|", "|I(X)|", "smaller class", "rows drawn", "test rows", "orders", "vertices"]
    return ABOUT_TABLE_1.format(rule=rule, inside=inside, all=len(rows)) + table(header, rows)


def table2(rules: dict[str, Any]) -> str:
    rows = []
    for of_rules in zip(*(found["benchmarks"] for found in rules.values()), strict=True):
        shares = [one["figures"]["neutral share"] for one in of_rules]
        cells = [f"{interval(share)}; {span(share, 0)}" for share in shares]
        rows.append([of_rules[0]["number"], of_rules[0]["data set"], number(shares[0]["paper"]), *cells])
    return "Neutral test points, per cent: mean with interval; range of the draws.\n\n" + table(
        ["", "data set", "paper", *(f'"{rule}"' for rule in rules)], rows
    )


def predictive(found: dict[str, Any], share: str) -> str:
    """Table 3 (PPV) or Table 4 (NPV)."""
    wrong, right = ("FP", "TP") if share == "PPV" else ("FN", "TN")
    rows = []
    for one in found["benchmarks"]:
        cells = []
        for method in METHODS:
            figures = [one["figures"][f"{method} {name}"] for name in (wrong, right, share)]
            cells += [f"{number(figure['paper'], 0)} / {interval(figure)}" for figure in figures]
            if figures[2]["defined"] < figures[0]["defined"]:
                cells[-1] += f" ({figures[2]['defined']} draws)"
        rows.append([one["number"], *cells])
    last = ["mean"]
    for method in METHODS:
        average = found["averages"][f"{method} {share}"]
        last += ["", "", f"{number(average['paper'])} / {interval(average)}"]
    header = ["", *(f"{method} {name}" for method in METHODS for name in (wrong, right, share))]
    return table(header, [*rows, last])
