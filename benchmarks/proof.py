"""What does the proof of strong verdicts cost, and how often does it find the walk wrong?

    python -m benchmarks.proof [--quick]

Sizes: for 4 to 12 features, the largest complex of some draws is enumerated and its certificate is written and checked: in
pure Python, with python-flint, and with python-flint in two processes. Enumeration and writing use the same number of
threads and take turns. Corrections: the certificates of draws at all of the paper's sizes are written and checked, and what
the exact check changed is counted. Writes results/proof.json.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.common import print_table, quick_flag, write_result
from benchmarks.samples import PAPER_BENCHMARKS, Sample, breast_cancer, draw
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.complex.proof import ComplexProof
from rescaleinv.errors import DatasetUnavailableError
from rescaleinv.verify import check_complex

# Data sets of the paper by their features; drawn at each of its |X|.
BY_FEATURES = {4: "banknote", 8: "pima_diabetes", 9: "breast_cancer_wisconsin", 10: "indian_liver_patient"}
# More features than the paper has: WDBC with its first ones, as benchmarks/engines.py draws it.
MORE_FEATURES = {10: 25, 12: 40}
DRAWS = {4: 20, 8: 20, 9: 20, 10: 10, 12: 6}  # a draw at 12 features takes seconds
CORRECTION_DRAWS = 10
# What is short is repeated until it took this many seconds in all, or this many times, and the best is taken.
SECONDS_TO_REPEAT, MOST_REPEATS = 4.0, 7
PURE_PYTHON_LIMIT = 300.0  # seconds; a check that would take longer is not finished


class TooSlowError(Exception):
    """A check would take longer than it may."""


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def largest(samples: Iterable[Sample]) -> Sample:
    """The sample with most vertices."""
    return max(samples, key=lambda sample: len(ComplexEngine(sample.training_set).vertices.bases))


def size_samples(quick: bool) -> Iterator[Sample]:
    """For each number of features the draw with most vertices, of some seeds at each size."""
    for n, name in BY_FEATURES.items():
        sizes = sorted({rows for other, rows in PAPER_BENCHMARKS if other == name})
        seeds = range(2 if quick else DRAWS[n])
        try:
            yield largest(draw(name, rows, seed) for rows in sizes for seed in seeds)
        except DatasetUnavailableError as error:
            print(f"left out: {error}", flush=True)
    for n, rows in MORE_FEATURES.items():
        if not quick or n <= 10:
            yield largest(breast_cancer(n, rows, seed) for seed in range(1 if quick else DRAWS[n]))


def enumerate_and_write(sample: Sample, path: Path) -> tuple[float, float, ComplexProof, int]:
    """The best times to enumerate and to write, in turns so that a busy machine slows both."""
    enumerations: list[float] = []
    writings: list[float] = []
    while len(writings) < MOST_REPEATS and sum(enumerations + writings) < SECONDS_TO_REPEAT:
        engine = ComplexEngine(sample.training_set, progress=False)
        enumerations.append(seconds(engine.precompute))
        writings.append(seconds(partial(engine.write_proof, path)))
    assert engine.proof is not None
    return min(enumerations), min(writings), engine.proof, engine.n_threads


def check_seconds(proof: ComplexProof, limit: float = float("inf"), **options: Any) -> float | None:
    """The best time to check a certificate; None where it would take longer than the limit."""
    times: list[float] = []

    def report(done: int, total: int) -> None:
        elapsed = time.perf_counter() - start
        if elapsed > 10 and elapsed * total > limit * done:
            raise TooSlowError

    while len(times) < MOST_REPEATS and sum(times) < SECONDS_TO_REPEAT:
        start = time.perf_counter()
        try:
            checked = check_complex(proof.path, report=report, **options)
        except TooSlowError:
            return None
        times.append(time.perf_counter() - start)
        assert (checked.sha256, checked.n_vertices) == (proof.sha256, proof.n_vertices)
    return min(times)


def one_size(sample: Sample, path: Path, pool: Any) -> dict[str, Any]:
    enumeration, writing, proof, n_threads = enumerate_and_write(sample, path)
    has_flint = find_spec("flint") is not None
    return {
        "training set": sample.name,
        "features": sample.training_set.n_features,
        "rows": len(sample.training_set),
        "vertices": proof.n_vertices,
        "file (kB)": proof.n_bytes / 1000,
        "bytes per vertex": proof.n_bytes / proof.n_vertices,
        "threads": n_threads,
        "enumerate (s)": enumeration,
        "write (s)": writing,
        "write / enumerate": writing / enumeration,
        "check, pure Python (s)": check_seconds(proof, PURE_PYTHON_LIMIT, flint=False),
        "check, flint (s)": check_seconds(proof, flint=True) if has_flint else None,
        "check, flint, 2 processes (s)": check_seconds(proof, flint=True, parallel=pool.imap) if has_flint else None,
    }


def sizes(quick: bool, folder: Path) -> list[dict[str, Any]]:
    rows = []
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        # compilation, imports and the start of processes are not to be measured
        pool.map(time.sleep, [1.0, 1.0], chunksize=1)
        one_size(breast_cancer(6, 25), folder / "complex.jsonl", pool)
        for sample in tqdm(size_samples(quick), unit=" sizes"):
            rows.append(one_size(sample, folder / "complex.jsonl", pool))
    print_table(rows)
    return rows


def n_edges(engine: ComplexEngine) -> int:
    """Edge directions at all vertices: one for each tight row, two for each feature without weight."""
    n_rows, n = engine.reduced_training_set.n_rows, engine.training_set.n_features
    return int((2 * (n + 1) - (engine.vertices.bases < n_rows).sum(axis=1)).sum())


def corrections(quick: bool, folder: Path) -> dict[str, Any]:
    """What the exact check corrected, by data set, at the paper's sizes and on raw integers."""
    seeds = range(1 if quick else CORRECTION_DRAWS)
    # two of the paper's benchmarks have the same shape: their draws differ by the benchmark's number
    jobs = [(name, rows, 100 * k + seed) for k, (name, rows) in enumerate(PAPER_BENCHMARKS, 1) for seed in seeds]
    counts: dict[str, Counter[str]] = {}
    for name, rows, seed in tqdm(jobs, unit=" sets"):
        try:
            sample = draw(name, rows, seed)
        except DatasetUnavailableError:
            continue
        engine = ComplexEngine(sample.training_set, progress=False)
        walked = len(engine.vertices.bases)
        proof = engine.prove(folder / "complex.jsonl")
        counts.setdefault(name, Counter()).update(
            {
                "training sets": 1,
                "vertices": proof.n_vertices,
                "edges": n_edges(engine),
                "edges corrected": proof.n_corrected,
                "vertices added": proof.n_vertices - walked,
                "vertices in rationals": proof.n_in_rationals,
                "largest complex": 0,
            }
        )
        counts[name]["largest complex"] = max(counts[name]["largest complex"], proof.n_vertices)
    totals: Counter[str] = Counter()
    for count in counts.values():
        totals.update(count)
    totals["largest complex"] = max(count["largest complex"] for count in counts.values())
    by_set = [{"data set": name, **count} for name, count in counts.items()]
    print_table([*by_set, {"data set": "all", **totals}])
    return {"totals": dict(totals), "data sets": by_set}


def main() -> None:
    quick = quick_flag(__doc__)
    # the rows that a data set is always loaded without would be named again and again
    warnings.filterwarnings("ignore", message=".* because of an empty cell", category=UserWarning)
    with tempfile.TemporaryDirectory() as folder:
        results = {"sizes": sizes(quick, Path(folder)), "corrections": corrections(quick, Path(folder))}
    if not quick:
        print(f"written to {write_result('proof', results).name}")


if __name__ == "__main__":
    main()
