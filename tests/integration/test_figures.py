"""The figures that the pages quote are those of benchmarks/results: whoever measures again has to write them down again."""

import json
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
        yield (
            f"({row['points']} points) | {row['decided']:.1%} | {row['decided_wanted']:.0%} | {duration(row['median_ms'])} "
            f"| {duration(row['mean_ms'])} | {row['contradictions']} | {row['checking_by_finding']:.1f} |"
        )


def batches():
    one, two, dask = (round(run["rows per second"], -3) for run in results("batch")["runs"])
    yield f"{one:,.0f} rows per second in one process, {two:,.0f} in two, {dask:,.0f} on Dask"


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


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("docs/why.md", story),
        ("docs/guide_proofs.md", proofs),
        ("docs/guide_engines.md", engines),
        ("docs/guide_engines.md", sizes),
        ("docs/guide_ranges.md", ranges),
        ("docs/guide_batches.md", batches),
        ("docs/guide_paper_tables.md", paper_tables),
        (
            "docs/what_this_is_not.md",
            lambda: other_ways(
                results("paper_tables")["tables"]["rules"]["misclassified"]["other ways at equal coverage"]
            ),
        ),
    ],
    ids=["why", "proofs", "engines", "sizes", "ranges", "batches", "paper tables", "what this is not"],
)
def test_the_page_quotes_the_results(name, quoted):
    text = page(name)
    figures = list(quoted())
    assert figures
    missing = [figure for figure in figures if figure not in text]
    assert not missing, f"{name} does not have: " + "; ".join(missing)
