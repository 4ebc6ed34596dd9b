"""Every rescaling at the sizes that people have: how many points are decided, in what time, and what contradicts it.

    RESCALEINV_DATA=FOLDER python -m benchmarks.sizes [--only letter,wdbc] [--parts sets,agreement,growth] [--again]
                                                      [--points 100] [--processor-time] [--quick]

Writes benchmarks/results/sizes.json, sizes.md and sizes_growth.png, and the table of docs/guide_engines.md; what is measured
is stored at once, so that a run that was stopped goes on where it was. Default settings (5 s per point, on average), hard
margin with inconsistent rows left out, 2 processes, raw and standardised data. With --processor-time (for a machine that
others use) there is one process, and every limit and every time is of its processor time. Strong verdicts are put to plain
SVMs at sampled rescalings and to L1-SVMs with sampled costs, solved by HiGHS; every certificate is checked. Where the
enumeration is complete, the verdicts are compared with its own.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer

from benchmarks.common import RESULTS, code_digests, print_table, write_result, write_table_between
from rescaleinv import ComplexEngine, RescaleInvariantSVC
from rescaleinv.datasets import load
from rescaleinv.engines.compiling import compile_engine
from rescaleinv.engines.staged import StagedEngine
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check

SAMPLES = 500
SEED = 0
GUIDE = Path(__file__).parents[1] / "docs" / "guide_engines.md"
MARKS = ("<!-- sizes: written by benchmarks.sizes -->", "<!-- sizes: end -->")
Data = Callable[[], tuple[Any, Any]]


def two_classes(name: str, positive: str, negative: str | None = None) -> Data:
    def made() -> tuple[Any, Any]:
        features, labels, _ = load(name)
        names = np.asarray(labels).astype(str)
        keep = np.ones(len(names), bool) if negative is None else (names == positive) | (names == negative)
        return np.asarray(features)[keep], np.where(names[keep] == positive, 1, -1)

    return made


def wdbc() -> tuple[Any, Any]:
    features, labels = load_breast_cancer(return_X_y=True)
    return features, 2 * labels - 1


# name: data, training rows, share wanted, seconds per point wanted
SETS: dict[str, tuple[Data, int, float, float]] = {
    "pima": (two_classes("pima_diabetes", "1"), 384, 1.0, 1.0),
    "ilpd": (two_classes("indian_liver_patient", "1"), 290, 1.0, 0.1),
    "heart": (two_classes("heart_statlog", "1"), 135, 0.97, 0.6),
    "letter": (two_classes("letter", "A", "B"), 800, 0.97, 1.0),
    "vehicle": (two_classes("vehicle", "saab", "bus"), 200, 0.95, 2.0),
    "credit-g": (two_classes("credit_g_numeric", "good"), 500, 0.97, 2.0),
    "wdbc": (wdbc, 285, 0.90, 2.0),
    "spambase": (two_classes("spambase", "1"), 2300, 0.80, 5.0),
    "sonar": (two_classes("sonar", "M"), 104, 1.0, 0.2),
}
# Training sets at which the enumeration is complete, for comparison: data, features, training rows.
ENUMERABLE: tuple[tuple[str, Data, int, int], ...] = (
    ("breast_cancer_wisconsin", two_classes("breast_cancer_wisconsin", "1"), 9, 60),
    ("pima", two_classes("pima_diabetes", "1"), 8, 100),
    ("heart, 10 features", two_classes("heart_statlog", "1"), 10, 40),
    ("wdbc, 10 features", wdbc, 10, 40),
    ("wdbc, 12 features", wdbc, 12, 30),
)
DRAWS = 5


# --- one training set ---------------------------------------------------------------------------------------------------


def contradicted(model: RescaleInvariantSVC, points: Any, verdicts: Any, samples: int) -> int:
    """Strong verdicts that some sampled rescaling or some weighted L1-SVM contradicts."""
    rng = np.random.default_rng(SEED)
    training_set = model.training_set_
    rows, y = training_set.conditioned, training_set.signs.astype(float)
    conditioned = training_set.conditioning.apply(points)
    wrong = np.zeros(len(points), bool)

    def compare(values: Any) -> None:
        nonlocal wrong
        wrong |= (verdicts.strongly_positive & (values < -1e-6)) | (verdicts.strongly_negative & (values > 1e-6))

    n = rows.shape[1]
    signed = y[:, None] * np.column_stack([rows, -rows, np.ones(len(rows))])
    for _ in range(samples if verdicts.strong.any() else 0):
        costs = np.exp(rng.normal(size=n) * rng.choice([0.5, 1.0, 2.0]))
        bounds = [(0, None)] * (2 * n) + [(None, None)]
        lp = linprog([*costs, *costs, 0.0], A_ub=-signed, b_ub=-np.ones(len(rows)), bounds=bounds, method="highs")
        if lp.x is not None:
            compare(conditioned @ (lp.x[:n] - lp.x[n : 2 * n]) + lp.x[-1])
        tau = np.exp(rng.normal(size=n) * rng.choice([0.5, 1.0, 2.0])) * np.ldexp(
            1.0, -training_set.conditioning.exponent
        )
        svm = minimal_norm_svm(training_set, tau)
        compare((points - training_set.conditioning.anchor) @ svm.weights + svm.value_at_anchor)
    return int(wrong.sum())


def checked_certificates(verdicts: Any) -> dict[str, Any]:
    """Sizes and checking times of all certificates; a refused one is an error here."""
    sizes, seconds = [], []
    for i in np.flatnonzero(~verdicts.unknown):
        if verdicts.status[i] != "certified":
            continue
        certificate = verdicts.certificate(int(i))
        text, rows = certificate.to_json(with_rows=False), certificate.training_json()
        started = time.perf_counter()
        assert check(text, rows) == verdict_words(verdicts[int(i)])
        seconds.append(time.perf_counter() - started)
        sizes.append(len(json.dumps(certificate.content["evidence"])))
    if not sizes:
        return {"certificates": 0}
    return {
        "certificates": len(sizes),
        "evidence_bytes": int(np.median(sizes)),
        "most_evidence_bytes": max(sizes),
        "check_seconds": float(np.median(seconds)),
        "most_check_seconds": max(seconds),
    }


def drawn(data: Data, n_rows: int, n_points: int, standardise: bool, seed: int = SEED) -> tuple[Any, Any, Any]:
    """Training rows, their labels, and points of the same data."""
    features, labels = data()
    order = np.random.default_rng(seed).permutation(len(features))
    rows, others = order[:n_rows], order[n_rows : n_rows + n_points]
    if standardise:
        mean, deviation = features[rows].mean(axis=0), features[rows].std(axis=0)
        features = (features - mean) / np.where(deviation > 0, deviation, 1)
    return features[rows], labels[rows], features[others]


def fitted(features: Any, labels: Any, jobs: int) -> RescaleInvariantSVC:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RescaleInvariantSVC(inconsistent="drop", n_jobs=jobs).fit(features, labels)


def accounts(model: RescaleInvariantSVC, points: Any) -> dict[str, Any]:
    """What the points took, one by one, where they were decided one by one."""
    engine: Any = model.engine_.engine
    if model.engine_.name == "complex" and engine.complete:
        return {"settled": {"enumeration": len(points)}, "vertices": len(engine.vertices.bases)}
    if model.engine_.name == "complex":
        engine = engine.fallback
    found = [engine.account(row) for row in model.training_set_.reading.values(points)]
    steps = [one["step"] for one in found]
    grown = [one for one in found if one["programs"]]
    return {
        "settled": {step or "nothing": steps.count(step) for step in sorted(set(steps))},
        "median_seconds": float(np.median([one["seconds"] for one in found])),
        "most_seconds": float(max(one["seconds"] for one in found)),
        "trees": len(grown),
        "median_programs": float(np.median([one["programs"] for one in grown])) if grown else 0.0,
        "mean_programs": float(np.mean([one["programs"] for one in grown])) if grown else 0.0,
        "mean_nodes": float(np.mean([one["nodes"] for one in grown])) if grown else 0.0,
    }


def measured(name: str, standardise: bool, n_points: int, samples: int, jobs: int) -> dict[str, Any]:
    data, n_rows, wanted, wanted_seconds = SETS[name]
    features, labels, points = drawn(data, n_rows, n_points, standardise)
    started = time.monotonic()
    model = fitted(features, labels, jobs)
    fitting = time.monotonic() - started
    compile_engine("complex")
    compile_engine("staged")
    started = time.monotonic()
    model.certify(points[:1])
    first = time.monotonic() - started
    model = fitted(features, labels, jobs)
    started, wall = time.monotonic(), time.perf_counter()
    verdicts = model.certify(points)
    seconds, wall = time.monotonic() - started, time.perf_counter() - wall
    result = {
        "set": name + (", standardised" if standardise else ""),
        "features": features.shape[1],
        "rows": model.training_set_.n_rows,
        "left_out": len(model.dropped_),
        "points": len(points),
        "engine": model.engine_.name,
        "decided": float((~verdicts.unknown).mean()),
        "wanted": wanted,
        "strong": int(verdicts.strong.sum()),
        "neutral": int(verdicts.neutral.sum()),
        "seconds_per_point": seconds / len(points),
        "wanted_seconds": wanted_seconds,
        "first_answer_seconds": first,
        "fit_seconds": fitting,
        "wall_seconds": wall,
        "load": os.getloadavg()[0],
        "jobs": jobs,
        **accounts(model, points),
        "open": {int(i): verdicts.reason[i] for i in np.flatnonzero(verdicts.unknown)},
        **checked_certificates(verdicts),
        "samples": samples,
        "contradicted": contradicted(model, points, verdicts, samples),
        "code": code_digests()["rescaleinv"],
    }
    print({key: (round(value, 4) if isinstance(value, float) else value) for key, value in result.items()}, flush=True)
    return result


# --- against the enumeration --------------------------------------------------------------------------------------------


def compared(index: int, n_points: int) -> dict[str, Any]:
    """The staged engine against the complex where that is complete, raw and standardised in turn."""
    name, data, n_features, n_rows = ENUMERABLE[index]
    found = {"set": name, "features": n_features, "rows": n_rows, "points": 0, "decided": 0, "different": 0}
    for seed in range(DRAWS):
        features, labels, points = drawn(data, n_rows, n_points, bool(seed % 2), seed)
        chosen = np.random.default_rng(seed).permutation(features.shape[1])[:n_features]
        model = fitted(features[:, chosen], labels, 1)
        read = model.training_set_.as_read
        points = model.training_set_.reading.values(points[:, chosen])
        truth = ComplexEngine(read).certify(points)
        verdicts = StagedEngine(read, time_limit=5).certify(points)
        decided = ~verdicts.unknown
        found["points"] += len(points)
        found["decided"] += int(decided.sum())
        found["different"] += int((verdicts.code != truth.code)[decided].sum())
        for i in np.flatnonzero(decided):
            certificate = verdicts.certificate(int(i))
            assert check(certificate.to_json(with_rows=False), certificate.training_json()) == verdict_words(
                verdicts[i]
            )
    print(found, flush=True)
    return {**found, "code": code_digests()["rescaleinv"]}


# --- growth -------------------------------------------------------------------------------------------------------------

GROWTH = (
    *(("features", "wdbc", wdbc, n, 150) for n in (5, 10, 15, 20, 25, 30)),
    *(("features", "credit-g", SETS["credit-g"][0], n, 150) for n in (6, 12, 18, 24)),
    *(("rows", "letter", SETS["letter"][0], 16, m) for m in (50, 100, 200, 400, 800)),
    *(("rows", "vehicle", SETS["vehicle"][0], 18, m) for m in (50, 100, 200, 300)),
)


def grown(index: int, n_points: int, jobs: int) -> dict[str, Any]:
    """Seconds per point of the staged engine at one size."""
    along, name, data, n_features, n_rows = GROWTH[index]
    features, labels, points = drawn(data, n_rows, n_points, standardise=False)
    model = fitted(features[:, :n_features], labels, jobs)
    points = model.training_set_.reading.values(points[:, :n_features])
    engine = StagedEngine(model.training_set_.as_read, time_limit=5.0, n_jobs=jobs)
    engine.precompute()
    started = time.monotonic()
    verdicts = engine.certify(points)
    found = {
        "along": along,
        "set": name,
        "features": n_features,
        "rows": model.training_set_.n_rows,
        "points": len(points),
        "seconds_per_point": (time.monotonic() - started) / len(points),
        "decided": float((~verdicts.unknown).mean()),
        "strong": int(verdicts.strong.sum()),
        "code": code_digests()["rescaleinv"],
    }
    print(found, flush=True)
    return found


def draw_growth(rows: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(8, 5.4), sharex="col", sharey="row", layout="constrained")
    for column, along in enumerate(("features", "rows")):
        for name in dict.fromkeys(row["set"] for row in rows if row["along"] == along):
            line = [row for row in rows if row["set"] == name and row["along"] == along]
            sizes = [row[along] for row in line]
            axes[0, column].plot(sizes, [row["seconds_per_point"] for row in line], "o-", label=name)
            axes[1, column].plot(sizes, [100 * row["decided"] for row in line], "o-", label=name)
        axes[0, column].set_yscale("log")
        axes[1, column].set(xlabel=f"number of {along}", ylim=(0, 105))
        axes[0, column].legend(frameon=False, fontsize=8)
    axes[0, 0].set_ylabel("seconds per point")
    axes[1, 0].set_ylabel("points decided (%)")
    figure.savefig(RESULTS / "sizes_growth.png", dpi=110)
    plt.close(figure)


# --- results ------------------------------------------------------------------------------------------------------------


def stored() -> dict[str, Any]:
    path = RESULTS / "sizes.json"
    empty: dict[str, Any] = {"clock": "", "sets": {}, "agreement": {}, "growth": {}}
    return json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else empty


def as_markdown(results: dict[str, Any]) -> str:
    lines = [
        "# Every rescaling at the sizes that people have",
        "",
        f"Made by `python -m benchmarks.sizes`. Default settings, hard margin, one draw; times are {results['clock']}.",
        "",
        "| training set | features × rows | decided | wanted | s per point | wanted | median s | first answer s | strong "
        "| neutral | settled by | programs per tree | certificate bytes | checking s | contradicted |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["sets"].values():
        settled = ", ".join(f"{step} {count}" for step, count in row["settled"].items())
        median, programs = row.get("median_seconds"), row.get("mean_programs")
        lines.append(
            f"| {row['set']} | {row['features']} × {row['rows']} | {row['decided']:.0%} | {row['wanted']:.0%} "
            f"| {row['seconds_per_point']:.2f} | {row['wanted_seconds']:g} | {'' if median is None else f'{median:.2f}'} "
            f"| {row['first_answer_seconds']:.2f} | {row['strong']} | {row['neutral']} | {settled} "
            f"| {'' if programs is None else f'{programs:,.0f}'} | {row.get('evidence_bytes', 0):,} "
            f"| {row.get('check_seconds', 0):.3f} | {row['contradicted']} |"
        )
    agreement = list(results["agreement"].values())
    if agreement:
        points, decided, different = (sum(row[key] for row in agreement) for key in ("points", "decided", "different"))
        lines += [
            "",
            f"Against the enumeration, where it is complete: {points:,} points of {len(agreement) * DRAWS} training sets, "
            f"{decided:,} decided by the staged engine, {different} of them otherwise.",
        ]
    return "\n".join(lines) + "\n"


def guide_lines(results: dict[str, Any]) -> list[str]:
    """The table of docs/guide_engines.md."""
    lines = [
        "| training set, 100 points | features × rows | decided | strong, neutral | mean per point |",
        "|---|---|---|---|---|",
    ]
    for row in results["sets"].values():
        lines.append(
            f"| {row['set']} | {row['features']} × {row['rows']:,} | {row['decided']:.0%} "
            f"| {row['strong']}, {row['neutral']} | {row['seconds_per_point']:.2g} s |"
        )
    return lines


def store(results: dict[str, Any]) -> None:
    write_result("sizes", results)
    write_table_between(MARKS, guide_lines(results), GUIDE)
    (RESULTS / "sizes.md").write_text(as_markdown(results), encoding="utf-8")
    if results["growth"]:
        draw_growth(list(results["growth"].values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--only", help=f"names of sets, separated by commas: {', '.join(SETS)}")
    parser.add_argument("--parts", default="sets,agreement,growth")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="rescalings and L1-SVMs that strong verdicts meet")
    parser.add_argument("--forms", default="raw,standardised")
    parser.add_argument("--again", action="store_true", help="measure what is stored already as well")
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine; one process")
    parser.add_argument("--quick", action="store_true", help="few points and samples; nothing is stored")
    options = parser.parse_args()
    jobs = 2
    if options.processor_time:
        jobs, time.monotonic = 1, time.process_time  # limits and times alike
    names = options.only.split(",") if options.only else list(SETS)
    n_points, samples = (10, 10) if options.quick else (options.points, options.samples)
    results = stored()
    tasks: list[tuple[str, str, Callable[[], dict[str, Any]]]] = []
    for form in options.forms.split(","):
        for name in names:
            key, standardise = name + (", standardised" if form != "raw" else ""), form != "raw"
            tasks.append(("sets", key, lambda n=name, s=standardise: measured(n, s, n_points, samples, jobs)))
    for k in range(len(ENUMERABLE)):
        tasks.append(("agreement", ENUMERABLE[k][0], lambda k=k: compared(k, 10 if options.quick else 100)))
    for k in range(len(GROWTH)):
        key = f"{GROWTH[k][1]} {GROWTH[k][3]} {GROWTH[k][4]}"
        tasks.append(("growth", key, lambda k=k: grown(k, 5 if options.quick else 20, jobs)))
    for part, key, task in tasks:
        if part not in options.parts.split(",") or (key in results[part] and not (options.again or options.quick)):
            continue
        results[part][key] = task()
        results["clock"] = "processor time of one process" if options.processor_time else "on 2 processes"
        if not options.quick:
            store(results)
    columns = ("set", "decided", "wanted", "seconds_per_point", "wanted_seconds", "contradicted")
    if results["sets"]:
        print_table([{key: row[key] for key in columns} for row in results["sets"].values()])


if __name__ == "__main__":
    main()
