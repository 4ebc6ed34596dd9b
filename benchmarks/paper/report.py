"""The results as Markdown: the paper's tables side by side with ours, where they agree, and what is beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.paper import words
from benchmarks.paper.beyond import other_ways, radius
from benchmarks.paper.draws import LEAST, RANDOM, RULES
from benchmarks.paper.figures import ODDITIES
from benchmarks.paper.markdown import bullets
from benchmarks.paper.side_by_side import ABOUT_AVERAGES, averages, predictive, table1, table2

INTRODUCTION = """\
Rewritten by `python -m benchmarks.paper.tables`; all figures are also in `paper_tables.json`.

The paper is Montazery & Wilson, *Rescale-Invariant SVM for Binary Classification* (IJCAI 2017). Its random subsets and the
rule by which it made them consistent are not published, so that each benchmark is drawn {draws} times for each of three
rules: "misclassified" leaves out what a soft-margin SVM (C = 1, standardised) misclassifies, "fewest" as few rows as
possible, "greedy" the row with the largest slack again and again. A draw takes a random number of random rows, |X| to
1.6 |X|, and is accepted if what the rule leaves has both classes and is within 1 of |X| (class counts as they fall). It is
tested on the paper's number of other rows, or on all others where there are fewer (benchmarks 1, 13 to 15); a row that was
left out of a learning set is no test row. The plain SVM is the hard-margin SVM in the units of the data. Two ways of drawing
were tried: drawing as few rows as it takes came first, and the random number of rows took its place as the main one when
both were known, and is the nearer one to the paper; the other's averages are given too.
After the first run, too, conformal levels that decide nothing were passed over, so that benchmarks 11 and 15 have figures.

Shares are per cent. "51.2 [49.0, 53.4]" is a mean over draws with its 95 % interval, "30 to 75" the least and the largest
of them. Undefined shares (0 of 0) are left out, as in the paper. Counts are for the paper's number of test points. The
paper has one draw of each benchmark: what it must be compared with is the range of our draws, not the interval of their
mean. Were its draw one more of ours, a figure would lie within the range with a chance of at least {chance:.0%}."""

ABOUT_DRAWING = """\
How many rows are drawn, which is not published either, matters too. The averages of the rule "{rule}" where, in place of a
random number, {least} are drawn for |X| to remain, so that fewer are left out (distance of all shares from the paper's, as
above: {distances}):"""

CERTIFIED = """\
Exact certificates: {points proved:,} of {points:,} verdicts of {training sets:,} training sets proved by the exact checker \
(`rescaleinv.verify`: rationals, no tolerance), with {vertices proved:,} vertices; {edges corrected:,} edges of the walk \
corrected, {verdicts that changed:,} verdicts changed."""

ASKED_OF_THE_MILP = """\
The paper's mixed-integer program, which shares no code with the enumeration beyond the exact tests: \
{points that the MILP decided:,} of {points asked of the MILP:,} points decided, \
{points on which the MILP disagrees:,} of them otherwise."""

TIME = """\
The whole command took {minutes:.1f} minutes on {processes} process(es) ({machine[cpu_count]} processors,
{machine[processor]}). {found[points decided]:,} verdicts from {found[training sets enumerated]:,} different training sets
took {found[verdicts (s)]:,.0f} s, enumeration of the vertices included: {mean:.2f} ms per point on average,
{slowest:.0f} ms per point in the slowest draw, on one thread. The paper: "less than a couple of seconds"
per point (CPLEX 12.6.2, Core i7 2.60
GHz)."""

MISPRINTS = """\
The tables above have the corrected figures. Of the five printed averages the neutral share follows from its column; the
strong PPV follows from the column as printed only, with the misprint of benchmark 8; the other three do not follow from
their columns, printed or corrected."""


def markdown(results: dict[str, Any], machine: dict[str, Any], figures: Sequence[str]) -> str:
    """The whole report; ``figures`` are the names of pictures next to it."""
    tables = results["tables"]
    rules, draws = tables["rules"], tables["draws"]
    nearest = words.nearest_rule(rules)
    parts = [
        "# The paper's tables, reproduced and extended",
        INTRODUCTION.format(draws=draws, chance=(draws - 1) / (draws + 1)),
        "## The averages",
        averages(rules),
        ABOUT_AVERAGES,
        "## Where it agrees with the paper, and where not",
        *agreement(rules, nearest),
        *drawing(tables),
        *picture(figures, "paper_neutral.png", "neutral shares of the paper and of our draws"),
        "## Table 1: the training sets",
        table1(rules[nearest], nearest),
        "## Table 2: neutral test points",
        table2(rules),
    ]
    for rule in sorted(rules, key=lambda rule: rule != nearest):
        parts += [f'## Tables 3 and 4, rule "{rule}"', "Paper / ours."]
        parts += [predictive(rules[rule], share) for share in ("PPV", "NPV")]
    parts += [
        "## Every verdict of some draws checked a second way",
        checks(tables["checks"]),
        "## Time",
        timing(tables, results.get("radius"), machine),
        "## Beyond the paper: other ways to be cautious",
        other_ways(rules[nearest], nearest),
        *picture(figures, "paper_cautious.png", "accuracy, PPV and NPV against the share of points decided"),
        "## Beyond the paper: the rescaling radius",
        radius(results.get("radius")),
        *picture(figures, "paper_radius.png", "share of test points certified against the factor"),
        "## What does not fit in the printed tables",
        bullets(ODDITIES),
        MISPRINTS,
    ]
    return "\n\n".join(parts) + "\n"


def picture(figures: Sequence[str], name: str, text: str) -> list[str]:
    return [f"![{text}]({name})"] if name in figures else []


def agreement(rules: dict[str, Any], nearest: str) -> list[str]:
    missed = words.outside(rules[nearest])
    return [
        f'**The rule that comes nearest is "{nearest}"**, by the mean over benchmarks of |our mean - the paper\'s figure| '
        "in percentage points:",
        bullets(words.about_rules(rules)),
        "Figures of the paper's Tables 2 to 4 that lie within the range of our draws:",
        bullets(words.about_ranges(rules)),
        f'The averages, rule "{nearest}":',
        bullets(words.about_averages(rules[nearest])) or "None: not all benchmarks were run.",
        f'The figures of the paper that none of our draws reaches, rule "{nearest}" (in brackets our range):',
        bullets(missed) or "None.",
    ]


def drawing(tables: dict[str, Any]) -> list[str]:
    """The averages when another number of rows is drawn."""
    rule = RULES[0]
    ways = {RANDOM: tables["rules"][rule], LEAST: tables[LEAST]}
    distances = ", ".join(
        f'"{way}" {found["distance from the paper"]["all shares"]:.1f}' for way, found in ways.items()
    )
    return [ABOUT_DRAWING.format(rule=rule, least=LEAST, distances=distances), averages(ways)]


def checks(found: dict[str, int]) -> str:
    lines = [f'These are draws by the rule "{RULES[0]}".']
    if "points" in found:
        lines.append(CERTIFIED.format_map(found))
    if "points asked of the MILP" in found:
        lines.append(ASKED_OF_THE_MILP.format_map(found))
    return bullets(lines)


def timing(tables: dict[str, Any], radius: dict[str, Any] | None, machine: dict[str, Any]) -> str:
    found = tables["time"]
    return TIME.format(
        minutes=sum(part["wall time (s)"] for part in (tables, radius) if part is not None) / 60,
        processes=tables["processes"],
        machine=machine,
        found=found,
        mean=1000 * found["mean per point (s)"],
        slowest=1000 * found["slowest draw, per point (s)"],
    )
