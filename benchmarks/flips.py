"""The search for flips at real sizes: neutral points found and certified, and the time per linear program beside HiGHS.

    RESCALEINV_DATA=FOLDER python -m benchmarks.flips [--points 100] [--only NAME ...]

Writes benchmarks/results/flips.json. Raw data, rows drawn at random; hard margin on what is left of them by the rule
"misclassified" (and, for some sets, the ν-margin that stands for C = 1 on all rows); the points are other rows. Times are
those of the processor, so that other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer

from benchmarks.common import print_table, write_result
from rescaleinv import TrainingSet
from rescaleinv.datasets import load
from rescaleinv.engines.search import FlipSearch
from rescaleinv.engines.search.simplex import L1Simplex
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.separability import separable_subset
from rescaleinv.verify import check

# name -> (training rows, positive label, negative label)
SETS = {
    "indian_liver_patient": (290, 1, -1),
    "heart_statlog": (135, 1, -1),
    "letter": (800, "A", "B"),
    "vehicle": (200, "saab", "bus"),
    "credit_g_numeric": (500, "good", "bad"),
    "wdbc": (285, 1, 0),
    "spambase": (2300, 1, -1),
    "sonar": (104, "M", "R"),
}
SOFT = {
    "bupa_liver": (172, 1, -1),
    "pima_diabetes": (384, 1, -1),
    **{k: SETS[k] for k in ("heart_statlog", "credit_g_numeric")},
}
N_PROGRAMS = 20
N_CHECKED = 3


def drawn(name: str, n_rows: int, positive, negative, n_points: int):
    if name == "wdbc":
        features, labels = load_breast_cancer(return_X_y=True)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # empty cells of indian_liver_patient
            features, labels, _ = load(name)
    labels = np.asarray(labels)
    chosen = np.flatnonzero((labels == positive) | (labels == negative))
    order = chosen[np.random.default_rng(0).permutation(len(chosen))]
    signs = np.where(labels[order] == positive, 1, -1)
    training_set = TrainingSet(features[order[:n_rows]], signs[:n_rows], positive=1)
    return training_set, features[order[n_rows:]][:n_points]


def program_times(training_set: TrainingSet) -> dict[str, float]:
    """Milliseconds per linear program: cold, at independent random costs, after a small change, and HiGHS (cold)."""
    rng = np.random.default_rng(1)
    started = time.process_time()
    simplex = L1Simplex(training_set)
    cold = time.process_time() - started
    usual = simplex.default_costs()
    rows = training_set.conditioned * training_set.signs[:, None]
    matrix = -np.hstack([rows, -rows, training_set.signs[:, None]])
    bounds = [(0, None)] * (2 * training_set.n_features) + [(None, None)]
    times = {"independent": 0.0, "small_change": 0.0, "highs": 0.0}
    for _ in range(N_PROGRAMS):
        costs = usual * np.exp(rng.normal(size=len(usual)))
        started = time.process_time()
        vertex = simplex.solve(costs)
        times["independent"] += time.process_time() - started
        started = time.process_time()
        answer = linprog(
            np.concatenate([costs, costs, [0.0]]), matrix, -np.ones(len(rows)), bounds=bounds, method="highs"
        )
        times["highs"] += time.process_time() - started
        assert abs(costs @ np.abs(vertex.weights) / answer.fun - 1) < 1e-4
        changed = costs * np.exp(0.3 * rng.normal(size=len(usual)) * (rng.random(len(usual)) < 0.2))
        started = time.process_time()
        simplex.solve(changed)
        times["small_change"] += time.process_time() - started
    return {"cold": 1e3 * cold, **{key: 1e3 * value / N_PROGRAMS for key, value in times.items()}}


def searched(search: FlipSearch, points: np.ndarray) -> dict[str, float]:
    started = time.process_time()
    found = search.run(points)
    seconds = time.process_time() - started
    return {
        "points": len(points),
        "neutral": int(found.neutral.sum()),
        "cpu_seconds": seconds,
        "us_per_vertex": 1e6 * seconds / max(found.n_vertices, 1),
        "sweeps": found.n_sweeps,
        "expansions": found.n_expansions,
        "vertices": found.n_vertices,
    }


def hard(name: str, n_points: int) -> dict[str, float]:
    training_set, points = drawn(name, *SETS[name], n_points)
    kept = separable_subset(training_set, rule="misclassified").training_set
    times = program_times(kept)
    search = FlipSearch(kept)
    result = searched(search, points)
    flips = [flip for flip in search.run(points).flips if flip is not None][:N_CHECKED]
    started = time.process_time()
    sizes = []
    for flip in flips:
        text = flip.witness().certificate.to_json()
        assert check(text) == "neutral"
        sizes.append(len(text))
    return {
        "set": name,
        "margin": "hard",
        "features": kept.n_features,
        "rows": kept.n_rows,
        **result,
        **{f"ms_{key}": value for key, value in times.items()},
        "certificate_bytes": float(np.mean(sizes)) if sizes else 0.0,
        "certificate_seconds": (time.process_time() - started) / max(len(flips), 1),
    }


def soft(name: str, n_points: int) -> dict[str, float]:
    training_set, points = drawn(name, *SOFT[name], n_points)
    margin = NuMargin.like_penalty(training_set)
    result = searched(FlipSearch(training_set, margin.exact_caps), points)
    shape = {"features": training_set.n_features, "rows": training_set.n_rows}
    return {"set": name, "margin": f"nu = {float(margin.nu):.3f}", **shape, **result}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--only", nargs="*", help="names of data sets; without it all, and the results are stored")
    arguments = parser.parse_args()
    results = []
    tiny = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    FlipSearch(tiny).run([[-1, 4], [4, 4]])  # what is compiled at first use is no time of theirs
    for run, names in ((hard, SETS), (soft, SOFT)):
        for name in names:
            if arguments.only and name not in arguments.only:
                continue
            results.append(run(name, arguments.points))
            print({k: round(v, 3) if isinstance(v, float) else v for k, v in results[-1].items()}, flush=True)
    if not arguments.only:
        write_result("flips", results)
    columns = [
        "set",
        "margin",
        "features",
        "rows",
        "points",
        "neutral",
        "cpu_seconds",
        "sweeps",
        "expansions",
        "vertices",
    ]
    print_table([{column: row[column] for column in columns} for row in results])


if __name__ == "__main__":
    main()
