"""What does it cost that verdicts own a copy of their points?

    python -m benchmarks.copies [--quick] [--rows 10000000]

Ten million points of four features are decided by the complex engine of a small training set, once handed over (a read-only
array, which is kept as it is) and once as a caller's own array (which is copied, so that the caller may reuse it). Processor
time and the copy alone, in one run, and the memory of the points. Writes results/copies.json.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.common import print_table, write_result
from rescaleinv._util.types import FloatArray
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import read_only

FEATURES = 4


def training_set() -> TrainingSet:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, FEATURES))
    return TrainingSet(rows, np.where(rows @ [1.0, -1.0, 0.5, 0.2] > 0, 1, -1))


def seconds_of(engine: ComplexEngine, points: FloatArray) -> float:
    started = time.process_time()
    verdicts = engine.certify_checked(points)
    taken = time.process_time() - started
    assert (verdicts.points is points) == (not points.flags.writeable)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100,000 points; the stored results are not overwritten")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3, help="how often each is measured; the least counts")
    options = parser.parse_args()
    n_rows = 100_000 if options.quick else options.rows
    engine = ComplexEngine(training_set(), n_jobs=1, progress=False)
    engine.precompute()
    points = np.random.default_rng(1).normal(size=(n_rows, FEATURES))
    seconds_of(engine, points[:1000].copy())
    copying, copied, handed_over = [], [], []
    for _ in range(options.times):
        started = time.process_time()
        duplicate = points.copy()
        copying.append(time.process_time() - started)
        copied.append(seconds_of(engine, points))
        handed_over.append(seconds_of(engine, read_only(duplicate)))
        del duplicate
    line = {
        "points": n_rows,
        "features": FEATURES,
        "vertices": len(engine.vertices.bases),
        "megabytes of the copy": points.nbytes / 1e6,
        "seconds, copied": min(copied),
        "seconds, handed over": min(handed_over),
        "seconds of a copy": min(copying),
        "share of the copy": min(copying) / min(copied),
    }
    print_table([line])
    if not options.quick:
        write_result("copies", line)


if __name__ == "__main__":
    main()
