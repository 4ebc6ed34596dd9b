"""Every rescaling at the sizes that people have: how many points are decided, in what time, and what contradicts it.

    RESCALEINV_DATA=FOLDER python -m benchmarks.sizes [--points 100] [--only letter,wdbc] [--quick]

Writes benchmarks/results/sizes.json and sizes.md. Default settings (5 s per point), hard margin with inconsistent rows left
out, 2 processes, raw and standardised data. Strong verdicts are put to plain SVMs at sampled rescalings and to L1-SVMs with
sampled costs, solved by HiGHS; every certificate is checked. Where the enumeration is complete, its verdicts are compared.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer

from benchmarks.common import RESULTS, print_table, write_result
from rescaleinv import ComplexEngine, RescaleInvariantSVC
from rescaleinv.datasets import load
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check

SAMPLES = 500
SEED = 0


def two_classes(name: str, positive: str, negative: str | None = None) -> Callable[[], tuple[Any, Any]]:
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
SETS: dict[str, tuple[Callable[[], tuple[Any, Any]], int, float, float]] = {
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
    for _ in range(samples):
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


def checked_certificates(verdicts: Any, most: int) -> dict[str, Any]:
    """Sizes and checking times of certificates; a refused one is an error here."""
    sizes, seconds = [], []
    for i in np.flatnonzero(~verdicts.unknown)[:most]:
        if verdicts.status[i] != "certified":
            continue
        text = verdicts.certificate(int(i)).to_json(with_rows=True)
        started = time.perf_counter()
        assert check(text) == verdict_words(verdicts[int(i)])
        seconds.append(time.perf_counter() - started)
        evidence = verdicts.certificate(int(i)).content["evidence"]
        sizes.append(len(str(evidence)))
    if not sizes:
        return {"certificates": 0, "evidence_bytes": None, "check_seconds": None}
    return {
        "certificates": len(sizes),
        "evidence_bytes": int(np.median(sizes)),
        "check_seconds": float(np.median(seconds)),
    }


def measured(name: str, standardise: bool, n_points: int, samples: int) -> dict[str, Any]:
    data, n_rows, wanted, wanted_seconds = SETS[name]
    features, labels = data()
    order = np.random.default_rng(SEED).permutation(len(features))
    rows, others = order[:n_rows], order[n_rows : n_rows + n_points]
    if standardise:
        mean, deviation = features[rows].mean(axis=0), features[rows].std(axis=0)
        features = (features - mean) / np.where(deviation > 0, deviation, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        model = RescaleInvariantSVC(inconsistent="drop", n_jobs=2).fit(features[rows], labels[rows])
        fitting = time.perf_counter() - started
    points = features[others]
    model.certify(points[:1])  # compiled code is loaded before the clock starts
    model.fit(features[rows], labels[rows])
    started = time.perf_counter()
    verdicts = model.certify(points)
    seconds = time.perf_counter() - started
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
        "fit_seconds": fitting,
        **{f"settled_by_{step}": count for step, count in getattr(model.engine_.engine, "settled_by", {}).items()},
        **checked_certificates(verdicts, 30),
        "contradicted": contradicted(model, points, verdicts, samples),
    }
    print({key: (round(value, 4) if isinstance(value, float) else value) for key, value in result.items()}, flush=True)
    return result


def compared_with_enumeration(n_points: int) -> dict[str, int]:
    """The staged engine against the complex where that is complete."""
    from rescaleinv.engines.staged import StagedEngine

    compared = different = unknown = 0
    for name, n_features in (("breast_cancer_wisconsin", 9), ("pima_diabetes", 8), ("wdbc", 10), ("wdbc", 12)):
        features, labels = wdbc() if name == "wdbc" else two_classes(name, "1")()
        for seed in range(5):
            rng = np.random.default_rng(seed)
            order, chosen = rng.permutation(len(features)), rng.permutation(features.shape[1])[:n_features]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = RescaleInvariantSVC(inconsistent="drop").fit(
                    features[order[:30]][:, chosen], labels[order[:30]]
                )
            points = features[order[30 : 30 + n_points]][:, chosen]
            truth = ComplexEngine(model.training_set_).certify(points)
            found = StagedEngine(model.training_set_, time_limit=5).certify(points)
            decided = ~found.unknown
            compared += int(decided.sum())
            unknown += int(found.unknown.sum())
            different += int((found.code != truth.code)[decided].sum())
    return {"compared": compared, "different": different, "unknown": unknown}


def as_markdown(rows: list[dict[str, Any]], agreement: dict[str, int]) -> str:
    lines = [
        "| training set | features × rows | decided | wanted | s per point | wanted | strong | neutral | contradicted |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['set']} | {row['features']} × {row['rows']} | {row['decided']:.0%} | {row['wanted']:.0%} "
            f"| {row['seconds_per_point']:.2f} | {row['wanted_seconds']:g} | {row['strong']} | {row['neutral']} "
            f"| {row['contradicted']} |"
        )
    lines += ["", f"Against the enumeration: {agreement}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--only", help="names of sets, separated by commas; the stored results are not overwritten")
    parser.add_argument(
        "--quick", action="store_true", help="few points and samples; the stored results are not overwritten"
    )
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(SETS)
    n_points, samples = (10, 10) if options.quick else (options.points, SAMPLES)
    rows = [measured(name, standardise, n_points, samples) for name in names for standardise in (False, True)]
    agreement = compared_with_enumeration(10 if options.quick else 100)
    print_table(
        [{key: row[key] for key in ("set", "decided", "wanted", "seconds_per_point", "contradicted")} for row in rows]
    )
    print(agreement)
    if not (options.only or options.quick):
        write_result("sizes", {"sets": rows, "agreement": agreement})
        (RESULTS / "sizes.md").write_text(as_markdown(rows, agreement), encoding="utf-8")


if __name__ == "__main__":
    main()
