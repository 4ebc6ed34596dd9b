"""The figures that the pages quote are those of benchmarks/results: whoever measures again has to write them down again."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.paper.cautious import SOFT, STRONG
from benchmarks.paper.words import tally

ROOT = Path(__file__).parents[2]


def results(name):
    return json.loads((ROOT / f"benchmarks/results/{name}.json").read_text(encoding="utf-8"))["results"]


def page(name):
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def duration(milliseconds):
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def seconds(value):
    return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s" if value >= 0.1 else f"{value:.2f} s"


def proofs():
    found = results("proof")
    for row in found["sizes"]:
        yield (
            f"| {row['vertices']:,} | {row['bytes per vertex']:.0f} | {row['write / enumerate']:.1f} "
            f"| {seconds(row['check, pure Python (s)'])} | {seconds(row['check, flint (s)'])} |"
        )
    totals = found["corrections"]["totals"]
    assert totals["edges corrected"] == 0
    yield f"On {totals['training sets']} draws"
    yield f"corrected none of the walk's {totals['edges']:,} edges"


def engines():
    found = results("engines")
    means = found["paper"]["geometric means"]
    yield f"{means['ratio at 100 points']:,.0f} times faster"
    yield f"{means['ratio on the whole set']:,.0f} times faster"
    for row in found["sizes"]:
        taken = f"{row['seconds']:.3f}" if row["seconds"] < 1 else f"{row['seconds']:.0f}"
        yield (
            f"| {row['features']} features, {row['rows']} training rows: {row['vertices']:,} vertices "
            f"| {taken} s, {row['peak memory (GB)']:.1f} GB |"
        )
    batch = found["batch"]
    yield f"{batch['vertices on the hull']} vertices on the hull of {batch['vertices']:,} | {batch['seconds']:.1f} s |"


def sizes():
    for row in results("sizes")["sets"].values():
        assert row["contradicted"] == 0
        yield (
            f"| {row['set']} | {row['features']} × {row['rows']:,} | {row['decided']:.0%} "
            f"| {row['strong']}, {row['neutral']} | {row['seconds_per_point']:.2g} s |"
        )


def ranges():
    for row in results("gap")["questions"]:
        assert row["contradictions"] == 0
        ratio = row["checking_by_finding"]
        yield (
            f"({row['points']} points) | {row['decided']:.1%} | {row['decided_wanted']:.0%} | {duration(row['median_ms'])} "
            f"| {duration(row['mean_ms'])} | {row['contradictions']} | {'' if ratio is None else f'{ratio:.1f} '}|"
        )
    for row in results("radius")["questions"]:
        assert row["contradictions"] == 0
        yield f"| {row['question']} | {row['narrow']:.0%} | {row['mean_s']:.2f} s | {row['median_s']:.2f} s |"


def batches():
    one, two, dask = (round(run["rows per second"], -3) for run in results("batch")["runs"])
    yield f"{one:,.0f} rows per second in one process, {two:,.0f} in two, {dask:,.0f} on Dask"
    yield f"{process_memory():.1f} GB per process"


def paper_tables():
    tables = results("paper_tables")["tables"]
    found = tables["rules"]["misclassified"]
    within, outside = (found[f"figures of the paper {where} our range"] for where in ("within", "outside"))
    yield f"{within} of the paper's {within + outside} figures"
    means = {name: f"{one['mean']:.1f}" for name, one in found["averages"].items()}
    share = found["averages"]["neutral share"]
    assert share["printed"] > share["largest"]
    yield f"The mean neutral share is {means['neutral share']} % (the paper: {share['printed']} %, above all of our"
    yield f"PPV rises from {means['SVM PPV']} to {means['strong PPV']} %"
    yield f"NPV from {means['SVM NPV']} to {means['strong NPV']} %"
    assert tables["checks"]["points proved"] == tables["checks"]["points"]
    yield f"All {tables['checks']['points']:,} verdicts"
    yield f"A verdict takes {1000 * tables['time']['mean per point (s)']:.1f} ms on average"
    yield from other_ways(found["other ways at equal coverage"])


def other_ways(equal):
    """Strong verdicts are not more accurate than a threshold of equal coverage, and the pages must say so."""
    strong, threshold = (
        100 * sum(one[way]["accuracy"] for one in equal.values()) / len(equal) for way in (STRONG, SOFT)
    )
    (row,) = [row for row in tally(equal) if (row["against"], row["share"]) == (SOFT, "accuracy")]
    assert threshold > strong
    yield f"{threshold:.1f} against {strong:.1f} %"
    yield f"clearly so on {row['worse']}"
    assert row["better"] < row["worse"]


def story():
    """Eight specimens get another diagnosis, all of them neutral."""
    found = results("pictures")
    assert found["unknown"] == found["strong and another label"] == 0
    yield f"({found['another label']}, {found['points']})"
    yield f"{found['another label']} of {found['points']} specimens"
    strong = found["strongly positive"] + found["strongly negative"]
    yield f"not one of the {strong} strong labels"
    yield f"**Strong** ({strong} specimens)"
    yield f"**Neutral** ({found['neutral']} specimens)"
    held = found["labels that hold up to a factor"]
    assert not any(one["unknown"] for one in held.values())
    near, twice, far = (held[factor]["hold"] for factor in ("1.1", "2", "4"))
    yield (
        f"Of these {found['points']} labels {near} hold when every unit may be off by up to a factor of 1.1, "
        f"{twice} with a factor of 2, and {far} with a factor of 4"
    )
    (urine,) = [row for row in results("causes")["units"] if row["data"] == "urine"]
    yield f"{urine['labels that differ at the optimum']:.1%}".replace("%", " % of the labels")


def alternatives():
    rows = [row for one in results("alternatives") for row in one["rows"]]

    def total(way, key):
        return sum(row[key] for row in rows if row["way"] == way)

    assert total("verdicts", "missed") == 0
    assert total("200 random rescalings", "missed") < total("threshold on |f|", "missed")
    yield f"200 random rescalings miss {total('200 random rescalings', 'missed')}. So"
    yield (
        f"Of {total('verdicts', 'neutral')} neutral points the five usual scalers miss "
        f"{total('grid of five scalers', 'missed')}, "
        f"a threshold that keeps as many points misses {total('threshold on |f|', 'missed')}, the bootstrap misses "
        f"{total('bootstrap self-consistency', 'missed')} and flags "
        f"{total('bootstrap self-consistency', 'flagged though strong')} points"
    )


WAYS = {
    "all": "all of them",
    "strong": "**strong**",
    "threshold": "threshold on the value",
    "conformal": "conformal sets",
}


def meaning():
    """The rows over all sets, as the page has them, and the two sentences about them."""
    rows = [row for row in results("nu_meaning")["rows"] if row["set"] == "all"]
    assert [row["margin"][0] for row in rows] == ["a", "b", "c"]
    for row in rows:
        open_ones = f"{percent(row['neutral'])} % neutral, {percent(row['unknown'])} % not decided"
        yield f"{open_ones} of {row['points']:,} points"
        for way, kept in WAYS.items():
            cells = [percent(row[f"{way} {figure}"]) for figure in ("accuracy", "PPV", "NPV")]
            yield f"| {kept} | {' | '.join(cells)} |"
        assert abs(row["accuracy beyond threshold"]) < 2 * row["error beyond threshold"]
        difference = round(100 * row["accuracy beyond threshold"], 1) + 0.0
        yield f"{difference:+.1f} ± {100 * row['error beyond threshold']:.1f}".replace("-", "−")
    yield f"{rows[0]['scalers disagree']} labels"
    for way in ("strong", "threshold"):
        yield ", ".join(f"{100 * row[f'{way} of these']:.0f}" for row in rows) + " %"


def percent(value):
    return f"{100 * value:.1f}"


def abstaining():
    """Radius against |f| as what MAPIE's controller abstains by."""
    found = results("abstention")
    lines = found["totals"]

    def total(key):
        return sum(line[key] for line in lines)

    both = [line for line in lines if line["by both"]]
    value, radius = (
        sum(line[f"abstained by {way}"] * line["by both"] for line in both) / total("by both")
        for way in ("|f|", "radius")
    )
    less, more = total("|f| abstains less"), total("radius abstains less")
    assert len({one["benchmark"] for one in found["draws"]}) == len(found["draws"]) == 18
    yield "one draw of each of the paper's 18 benchmarks"
    able = f"|f| can keep {total('guaranteed by |f|')} and the radius {total('guaranteed by radius')}"
    shares = f"|f| abstains from {100 * value:.1f} % of the test points and the radius from {100 * radius:.1f} %"
    same = total("by both") - less - more
    yield f"Of {total('draws')} promises {able}; where both can ({total('by both')}), {shares}"
    yield f"|f| from fewer in {less}, the radius from fewer in {more}, and both from as many in {same}"


def memory():
    """In words of the FAQ."""
    *_, some, many = results("engines")["sizes"]
    vertices = f"{many['vertices'] / 1e6:.1f} million vertices at {many['features']} features"
    yield f"About {some['peak memory (GB)']:.1f} GB up to {some['features']} features"
    yield f"{many['peak memory (GB)']:.1f} GB for {vertices}"
    yield f"Batches take {process_memory():.1f} GB per process"


def process_memory():
    return max(run["peak memory of a process (MB)"] for run in results("batch")["runs"]) / 1000


QUOTED = [
    ("docs/why.md", story),
    ("docs/guide_proofs.md", proofs),
    ("docs/guide_engines.md", engines),
    ("docs/guide_engines.md", sizes),
    ("docs/guide_ranges.md", ranges),
    ("docs/guide_batches.md", batches),
    ("docs/faq.md", memory),
    ("docs/guide_abstention.md", abstaining),
    ("docs/guide_paper_tables.md", paper_tables),
    ("docs/what_this_is_not.md", alternatives),
    ("docs/what_this_is_not.md", meaning),
    (
        "docs/what_this_is_not.md",
        lambda: other_ways(results("paper_tables")["tables"]["rules"]["misclassified"]["other ways at equal coverage"]),
    ),
]


@pytest.mark.parametrize(
    ("name", "quoted"),
    QUOTED,
    ids=[
        "why",
        "proofs",
        "engines",
        "sizes",
        "ranges",
        "batches",
        "memory",
        "abstaining",
        "paper tables",
        "alternatives",
        "meaning",
        "what this is not",
    ],
)
def test_the_page_quotes_the_results(name, quoted):
    text = page(name)
    figures = list(quoted())
    assert figures
    missing = [figure for figure in figures if figure not in text]
    assert not missing, f"{name} does not have: " + "; ".join(missing)


# What looks like a measurement: a number with one of these units
FIGURE = re.compile(
    r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:\s?(?:%|ms\b|s\b|seconds?\b|minutes?\b|[GMk]B\b)| times\b| rows per second\b)"
)
# ... and is none: settings, targets, examples of words
SETTINGS = {
    "docs/certificates.md": ["2^-45 times the largest"],
    "docs/command_line.md": ["60 seconds unless you say otherwise"],
    "docs/guide_abstention.md": ["at least 90 % with a confidence of 90 %", "at least 80, 90 or 95 %, confidence 90 %"],
    "docs/guide_audit.md": ['"13 % of these tumours'],
    "docs/guide_diagnose.md": ["a neutral share of 5 % overall may be 30 % of one group"],
    "docs/guide_engines.md": ["(5 s per point, unless you say otherwise"],
    "docs/guide_overlap.md": ["above 5 % of the rows"],
    "docs/guide_ranges.md": [
        "Within 2 s per point on average, of one processor (text: 30 s)",
        "at most 2 s of one processor per point",
        "both factors are at most 10 % apart",
        "brackets of at most 10 %",
    ],
    "docs/what_this_is_not.md": ['"50 %"'],
}
PAGES = [
    "README.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md") if path.name != "changelog.md"),
]


def from_nowhere(text, known):
    """The figures of a page that are in none of the known sentences; code is not looked at."""
    shown = re.sub(r"```.*?```|`[^`]*`", lambda found: " " * len(found.group()), text)
    covered = [
        (found.start(), found.end()) for words in known for found in re.finditer(re.escape(words), text) if words
    ]
    return [
        text[max(0, found.start() - 40) : found.end() + 20]
        for found in FIGURE.finditer(shown)
        if not any(start <= found.start() and found.end() <= end for start, end in covered)
    ]


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_of_a_page_is_measured_or_a_setting(name):
    known = [figure for page_name, quoted in QUOTED if page_name == name for figure in quoted()]
    unknown = from_nowhere(page(name), known + SETTINGS.get(name, []))
    assert not unknown, (
        f"{name} has figures that neither the results nor SETTINGS know (quote them in QUOTED): " + " … ".join(unknown)
    )


def test_figures_from_nowhere_are_seen():
    text = "It takes 12 ms, or 3,000 rows per second; `limit=5 s` is code. At most 40 % of them."
    assert len(from_nowhere(text, [])) == 3
    assert len(from_nowhere(text, ["takes 12 ms", "At most 40 % of"])) == 1
    assert len(from_nowhere(text, ["takes 13 ms"])) == 3
