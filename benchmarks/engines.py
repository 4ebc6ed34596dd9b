"""How fast are the engines? Ratios within one run, and absolute times. Writes results/engines.json and growth.png.

Parts: paper (the complex engine against the fastest MILP backend on the paper's 18 shapes), sizes (enumeration at 10 to 16
features), batch (a million points), growth (with features and rows), start (first import and compilation).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common import RESULTS, print_table, write_result
from benchmarks.samples import Sample, breast_cancer, paper_shapes
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.milp.engine import MilpEngine

BACKENDS = ("highs", "ortools", "ortools:highs", "pulp")
MILP_POINTS = 12  # timed without shortcuts; times for a hundred points or a whole data set are extrapolated


def seconds(action: Any) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def warm_up() -> None:
    sample = breast_cancer(3, 12)
    ComplexEngine(sample.training_set).certify(sample.points)


def paper() -> dict[str, Any]:
    """The complex engine with its enumeration against the fastest MILP backend without shortcuts."""
    samples = list(paper_shapes())
    trial = {
        backend: sum(_trial(sample, backend) for sample in samples[::5]) / len(samples[::5]) for backend in BACKENDS
    }
    fastest = min(trial, key=trial.__getitem__)
    print(f"seconds per point on some of the shapes: {trial}", flush=True)
    rows = []
    for sample in samples:
        hundred = np.resize(sample.points, (100, sample.points.shape[1]))
        complex_hundred = min(
            seconds(lambda p=hundred, t=sample.training_set: ComplexEngine(t).certify(p)) for _ in range(3)
        )
        complex_all = min(
            seconds(lambda p=sample.points, t=sample.training_set: ComplexEngine(t).certify(p)) for _ in range(2)
        )
        milp = MilpEngine(sample.training_set, solver=fastest, shortcuts=False)
        milp.precompute()
        a_point = seconds(lambda e=milp, p=hundred: e.certify(p[:MILP_POINTS])) / MILP_POINTS
        rows.append(
            {
                "benchmark": sample.name,
                "features": sample.training_set.n_features,
                "rows": len(sample.training_set),
                "complex, 100 points (s)": complex_hundred,
                "MILP, per point (s)": a_point,
                "ratio at 100 points": 100 * a_point / complex_hundred,
                "points of the whole set": len(sample.points),
                "complex, whole set (s)": complex_all,
                "ratio on the whole set": len(sample.points) * a_point / complex_all,
            }
        )
        print(
            f"  {sample.name}: {rows[-1]['ratio at 100 points']:.0f}x, {rows[-1]['ratio on the whole set']:.0f}x",
            flush=True,
        )
    print_table(rows)
    means = {
        key: float(np.exp(np.mean([np.log(row[key]) for row in rows])))
        for key in ("ratio at 100 points", "ratio on the whole set")
    }
    print(f"fastest backend: {fastest}; geometric means: {means}")
    return {"MILP backends, seconds per point": trial, "fastest": fastest, "geometric means": means, "benchmarks": rows}


def _trial(sample: Sample, backend: str) -> float:
    """Seconds per point of one backend, on two points with at most 30 s each."""
    engine = MilpEngine(sample.training_set, solver=backend, shortcuts=False, time_limit=30)
    engine.precompute()
    return seconds(lambda: engine.certify(sample.points[:2])) / 2


def one_size(n_features: int, rows: int) -> dict[str, Any]:
    """One enumeration, in a process of its own so that its peak memory is its own."""
    warm_up()
    engine = ComplexEngine(breast_cancer(n_features, rows).training_set)
    taken = seconds(engine.precompute)
    return {
        "features": n_features,
        "rows": rows,
        "vertices": len(engine.vertices.bases),
        "complete": engine.complete,
        "seconds": taken,
        "peak memory (GB)": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "decided with residues": engine.vertices.n_with_residues,
        "decided in rationals": engine.vertices.n_in_rationals,
    }


def in_a_process(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.engines", *arguments]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def sizes(largest: int = 16) -> list[dict[str, Any]]:
    shapes = [(10, 25), (12, 40), (14, 30), (16, 25)]
    rows = [in_a_process("--size", str(n), str(m)) for n, m in shapes if n <= largest]
    print_table(rows)
    return rows


def batch() -> dict[str, Any]:
    """A million points at 10 features, against numpy's product with the same vertices on one thread."""
    sample = breast_cancer(10, 25)
    engine = ComplexEngine(sample.training_set)
    engine.precompute()
    rng = np.random.default_rng(0)
    points = sample.points[rng.integers(0, len(sample.points), 1_000_000)] * rng.uniform(0.9, 1.1, (1_000_000, 10))
    pruning = seconds(lambda: engine._outer_solutions)
    vertices = engine._outer_solutions
    few = 20_000

    def numpy_product() -> None:
        conditioned = sample.training_set.conditioning.apply(points[:few])
        for start in range(0, few, 1000):
            values = conditioned[start : start + 1000] @ vertices[:, :-1].T + vertices[:, -1]
            values.min(axis=1), values.max(axis=1)

    with threadpool_limits(1):
        numpy_rate = few / min(seconds(numpy_product) for _ in range(3))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = seconds(lambda: engine.certify(points))
    result = {
        "points": len(points),
        "vertices": len(engine.vertices.bases),
        "vertices on the hull": len(vertices),
        "seconds to prune": pruning,
        "seconds": taken,
        "points per second": len(points) / taken,
        "numpy on one thread, points per second": numpy_rate,
        "threads": engine.n_threads,
        "ratio to numpy times threads": len(points) / taken / (numpy_rate * engine.n_threads),
        "memory added (MB)": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10,
        "peak memory (MB)": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
    }
    print(json.dumps(result))
    return result


def growth() -> dict[str, Any]:
    warm_up()
    by_features = [_growth_row(n, 25) for n in range(2, 14)]
    by_rows = [_growth_row(8, m) for m in (15, 20, 30, 40, 60, 80)]
    print_table(by_features)
    print_table(by_rows)
    _plot_growth(by_features, by_rows)
    return {"25 rows": by_features, "8 features": by_rows}


def _growth_row(n: int, m: int) -> dict[str, Any]:
    found = []
    for seed in range(3):
        engine = ComplexEngine(breast_cancer(n, m, seed).training_set)
        taken = seconds(engine.precompute)
        found.append((len(engine.vertices.bases), taken))
    vertices, times = zip(*found, strict=True)
    return {
        "features": n,
        "rows": m,
        "vertices (median of 3)": int(np.median(vertices)),
        "seconds": float(np.median(times)),
    }


def _plot_growth(by_features: list[dict[str, Any]], by_rows: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, rows, key, title in (
        (axes[0], by_features, "features", "25 training rows"),
        (axes[1], by_rows, "rows", "8 features"),
    ):
        x = [row[key] for row in rows]
        axis.semilogy(x, [row["vertices (median of 3)"] for row in rows], "o-", color="#0072B2", label="vertices")
        axis.set_xlabel("features" if key == "features" else "training rows")
        axis.set_ylabel("vertices", color="#0072B2")
        twin = axis.twinx()
        twin.semilogy(x, [row["seconds"] for row in rows], "s--", color="#D55E00", label="seconds")
        twin.set_ylabel("seconds to enumerate", color="#D55E00")
        axis.set_title(title)
    figure.suptitle("Vertices of the closure of RO(X), breast cancer (WDBC)")
    figure.savefig(RESULTS / "growth.png", dpi=130)


def start() -> dict[str, float]:
    """Import and first certificate with an empty compilation cache, and again with a full one."""
    code = (
        "import time; t = time.perf_counter();"
        "from rescaleinv.engines.complex.engine import ComplexEngine; from rescaleinv.problem import TrainingSet;"
        "ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])).certify([[-1, 4]]);"
        "print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
                ).stdout
            )
            for _ in range(2)
        ]
    result = {"first time (s)": times[0], "from then on (s)": times[1]}
    print(result)
    return result


PARTS = {"start": start, "paper": paper, "sizes": sizes, "batch": batch, "growth": growth}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--size", nargs=2, type=int, metavar=("FEATURES", "ROWS"), help="print one enumeration as JSON")
    options = parser.parse_args()
    if options.size:
        print(json.dumps(one_size(*options.size)))
        return
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    path = RESULTS / "engines.json"
    results = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
    warm_up()
    for name in options.parts or PARTS:
        print(f"== {name}", flush=True)
        results[name] = PARTS[name]()
        write_result("engines", results)


if __name__ == "__main__":
    main()
