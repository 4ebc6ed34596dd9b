"""The tables of the paper (Montazery & Wilson 2017) from the real data, and what they do not show.

    python -m benchmarks.paper.tables

Its random subsets are not published, so that each of the 18 benchmarks is drawn 30 times for each rule by which points are
left out of inconsistent learning sets. Writes results/paper_tables.json, paper_tables.md and three figures. Needs the data
set indian_liver_patient in the folder RESCALEINV_DATA, matplotlib (extra "plot") and MAPIE (extra "benchmarks").

With --parts tables, or --parts radius, the other part is taken from the results of the last run; with --parts alone both
are, and only the Markdown and the figures are written again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from tqdm import tqdm

from benchmarks.common import RESULTS, machine, write_result
from benchmarks.paper.cautious import Comparison, at_equal_coverage, compare, curves
from benchmarks.paper.checks import by_certificates, by_milp
from benchmarks.paper.draws import LEAST, RULES, Decided, decide, load_quietly, split
from benchmarks.paper.figures import BENCHMARKS
from benchmarks.paper.radius import points_per_split, radii, share_curves
from benchmarks.paper.report import markdown
from benchmarks.paper.summary import summary
from rescaleinv.errors import DatasetUnavailableError

PARTS = ("tables", "radius")


@dataclass(frozen=True)
class Outcome:
    """What came of one draw by one rule; ``repeated`` where another rule had left the same rows before."""

    decided: Decided
    comparison: Comparison | None
    checks: Counter[str]
    repeated: bool = False


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = [one.number for one in BENCHMARKS]
    add = parser.add_argument
    add("--draws", type=int, default=30, help="draws per benchmark (30)")
    add("--benchmarks", type=int, nargs="+", choices=numbers, default=numbers, metavar="N", help="1 to 18 (all)")
    add("--checked", type=int, default=3, help="draws per benchmark whose verdicts are all proved (3)")
    add("--milp-points", type=int, default=4, help="points of each benchmark's first draw asked of the MILP, too (4)")
    add("--radius-points", type=int, default=60, help="points per data set whose rescaling radius is sought (60)")
    add("--radius-draws", type=int, default=5, help="draws per benchmark that they are taken from (5)")
    add("--radius-ratio", type=float, default=1.1, help="how far apart a radius's two bounds may be (1.1)")
    add("--parts", nargs="*", choices=PARTS, default=list(PARTS), metavar="PART", help="tables, radius (both)")
    add("--without-conformal", action="store_true", help="leave MAPIE's conformal classifier out")
    add("--without-figures", action="store_true", help="leave the figures out")
    add("--jobs", type=int, default=-1, help="processes (-1: one a processor)")
    add("--out", type=Path, default=RESULTS, help="folder of the results")
    return parser.parse_args(arguments)


def missing(given: argparse.Namespace) -> str | None:
    """What is needed and missing, in words."""
    needed = {
        "mapie": "conformal" if "tables" in given.parts and not given.without_conformal else None,
        "matplotlib": None if given.without_figures else "figures",
    }
    for module, flag in needed.items():
        if flag is not None and find_spec(module) is None:
            return f"{module} is not installed: install it, or give --without-{flag}"
    try:
        for number in given.benchmarks if given.parts else ():
            load_quietly(BENCHMARKS[number - 1].data_set)
    except DatasetUnavailableError as error:
        return f"{error}; or name other --benchmarks"
    return None


def one_draw(number: int, draw: int, given: argparse.Namespace) -> list[Outcome]:
    """One draw by each rule, and by the first one in the other way of drawing. The same rows are looked at once."""
    done: dict[tuple[int, ...], Outcome] = {}
    outcomes = []
    for rule in RULES:
        this = split(number, draw, rule)
        before = done.get(this.fingerprint)
        if before is not None:
            again = replace(before.decided, split=this)
            outcomes.append(Outcome(again, before.comparison, Counter(), repeated=True))
            continue
        decided = decide(this)
        checks: Counter[str] = Counter()
        if rule == RULES[0] and draw < given.checked:
            checks.update(by_certificates(decided))  # "+=" would lose the zeros
        if rule == RULES[0] and draw == 0:
            checks.update(by_milp(decided, given.milp_points))
        outcomes.append(Outcome(decided, compare(decided, conformal=not given.without_conformal), checks))
        done[this.fingerprint] = outcomes[-1]
    outcomes.append(Outcome(decide(split(number, draw, RULES[0], LEAST)), None, Counter()))
    return outcomes


def in_parallel(work: Any, jobs: Iterable[tuple[Any, ...]], what: str, given: argparse.Namespace) -> list[Any]:
    """The results in the order of the jobs, with a bar on standard error."""
    jobs = list(jobs)
    pool = Parallel(n_jobs=given.jobs, return_as="generator")
    return list(tqdm(pool(delayed(work)(*job) for job in jobs), total=len(jobs), unit=f" {what}"))


def of_rule(outcomes: Sequence[Outcome], rule: str) -> dict[str, Any]:
    """Tables 1 to 4 and the comparison with other ways, for one rule."""
    mine = [one for one in outcomes if one.decided.split.rule == rule and one.comparison is not None]
    by_benchmark: dict[int, list[Comparison]] = {}
    by_data_set: dict[str, list[Comparison]] = {}
    for one in mine:
        benchmark = one.decided.split.benchmark
        by_benchmark.setdefault(benchmark.number, []).append(one.comparison)
        by_data_set.setdefault(benchmark.data_set, []).append(one.comparison)
    return {
        **summary([one.decided for one in mine]),
        "other ways at equal coverage": {number: at_equal_coverage(some) for number, some in by_benchmark.items()},
        "other ways, curves": {name: curves(some) for name, some in by_data_set.items()},
    }


def checks(outcomes: Sequence[Outcome]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in outcomes:
        total.update(one.checks)
    return dict(total)


def timing(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Seconds of the verdicts, on one processor each."""
    timed = [one.decided for one in outcomes if not one.repeated]
    seconds, points = sum(one.seconds for one in timed), sum(len(one.codes) for one in timed)
    return {
        "training sets enumerated": len(timed),
        "points decided": points,
        "verdicts (s)": seconds,
        "mean per point (s)": seconds / points,
        "slowest draw, per point (s)": max(one.seconds / len(one.codes) for one in timed),
        "slowest draw (s)": max(one.seconds for one in timed),
    }


def ready_for_json(value: Any) -> Any:
    """Undefined shares as null, which JSON has instead of NaN; keys as text."""
    if isinstance(value, dict):
        return {str(key): ready_for_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [ready_for_json(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def tables(given: argparse.Namespace) -> dict[str, Any]:
    """Tables 1 to 4, the comparison with other ways, and the second checks."""
    # the draws whose verdicts are proved take longest: first, so that no process has them left at the end
    jobs = [(number, draw, given) for draw in range(given.draws) for number in given.benchmarks]
    outcomes = [one for some in in_parallel(one_draw, jobs, "draws", given) for one in some]
    return {
        "draws": given.draws,
        "rules": {rule: of_rule(outcomes, rule) for rule in RULES},
        LEAST: summary([one.decided for one in outcomes if one.decided.split.drawing == LEAST]),
        "checks": checks(outcomes),
        "time": timing(outcomes),
    }


def radius(given: argparse.Namespace) -> dict[str, Any]:
    """The share of points certified as the factor grows."""
    n_points = points_per_split(given.radius_points, given.radius_draws)
    splits = [split(number, draw, RULES[0]) for draw in range(given.radius_draws) for number in given.benchmarks]
    jobs = [(one, n_points, given.radius_ratio) for one in splits]
    return share_curves(in_parallel(radii, jobs, "splits", given), given.radius_ratio)


def run(given: argparse.Namespace) -> dict[str, Any]:
    """Run the wanted parts, and write their results with those of the others from the last run if there are any."""
    before = given.out / "paper_tables.json"
    results = json.loads(before.read_text("utf-8"))["results"] if before.is_file() else {}
    for part, work in {"tables": tables, "radius": radius}.items():
        if part in given.parts:
            start = time.perf_counter()
            found = ready_for_json(work(given))
            taken = {"wall time (s)": time.perf_counter() - start, "processes": effective_n_jobs(given.jobs)}
            results[part] = {**found, **taken}
            write_result("paper_tables", results, given.out)  # whatever becomes of the next part
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(arguments)
    lack = missing(given)
    if lack is not None:
        print(lack, file=sys.stderr)
        return 2
    results = run(given)
    if "tables" not in results:
        print(f"there are no tables from an earlier run in {given.out}: add tables to --parts", file=sys.stderr)
        return 2
    figures = [] if given.without_figures else draw_figures(results, given.out)
    text = markdown(results, machine(), figures)
    (given.out / "paper_tables.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


def draw_figures(results: dict[str, Any], folder: Path) -> list[str]:
    """The names of the figures that were written."""
    from benchmarks.paper import plots
    from benchmarks.paper.words import nearest_rule

    rules = results["tables"]["rules"]
    curves_of = rules[nearest_rule(rules)]["other ways, curves"]
    plots.neutral_shares(rules, folder / "paper_neutral.png")
    plots.cautious(curves_of, folder / "paper_cautious.png")
    names = ["paper_neutral.png", "paper_cautious.png"]
    if "radius" in results:
        plots.radius(results["radius"], folder / "paper_radius.png")
        names.append("paper_radius.png")
    return names


if __name__ == "__main__":
    sys.exit(main())
