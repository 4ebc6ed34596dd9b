"""How many rows per second does a run over files certify, from Parquet to Parquet? Writes results/batch.json.

Ten million rows with 10 features, made in a temporary folder, on 1 and 2 processes and on Dask with 2 workers; each run in
a fresh process, so that imports and the start of workers count. Wanted: 500,000 rows per second on 2 processes, and less
than 1 GB of memory per process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.common import print_table, quick_flag, write_result
from benchmarks.samples import breast_cancer
from rescaleinv import RescaleInvariantSVC, certify_files

ROWS, FILES = 10_000_000, 10
FEATURES = [f"feature {j}" for j in range(10)]
WAYS = ("1 process", "2 processes", "Dask, 2 workers")


def make_inputs(folder: Path, rows: int) -> float:
    """Write files of rows like those of the training set; returns their size in MB."""
    points = breast_cancer(10, 25).points
    rng = np.random.default_rng(0)
    for k in range(FILES):
        n = rows // FILES
        made = points[rng.integers(0, len(points), n)] * rng.uniform(0.9, 1.1, (n, len(FEATURES)))
        pq.write_table(pa.table(list(made.T), FEATURES), folder / f"points-{k}.parquet", use_dictionary=False)
    return sum(path.stat().st_size for path in folder.iterdir()) / 2**20


def fitted_model() -> RescaleInvariantSVC:
    training_set = breast_cancer(10, 25).training_set
    frame = pd.DataFrame(training_set.features, columns=FEATURES)
    return RescaleInvariantSVC(engine="complex", inconsistent="raise").fit(frame, training_set.signs)


class PeakMemory:
    """The largest resident memory of any process below this one (and of itself), sampled from /proc."""

    def __init__(self) -> None:
        self.largest: dict[int, int] = {}
        self._ended = threading.Event()

    def __enter__(self) -> PeakMemory:
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            for process in _family(os.getpid()):
                # the kernel keeps the peak (VmHWM), so that sampling misses only what comes after the last look
                status = _status(process)
                if "VmHWM" in status:
                    self.largest[process] = max(int(status["VmHWM"].split()[0]), self.largest.get(process, 0))


def _status(process: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:  # it has ended
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _family(root: int) -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (status := _status(int(entry.name))):
            parents[int(entry.name)] = int(status["PPid"])
    family, grown = {root}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in family} - family
        family, grown = family | more, bool(more)
    return family


@contextmanager
def dask_cluster() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, scheduler_port=0
    ) as cluster:
        yield cluster.scheduler_address


def one_run(way: str, folder: str) -> dict[str, Any]:
    """Certify all files in one of the ways; the time is that of the whole call."""
    model = fitted_model()
    inputs, out = Path(folder) / "points", Path(folder) / f"verdicts, {way}"

    def timed(**options: Any) -> tuple[float, Any]:
        start = time.perf_counter()
        summary = certify_files(model, inputs, out, **options)
        return time.perf_counter() - start, summary

    with PeakMemory() as memory:
        if way.startswith("Dask"):
            with dask_cluster() as address:
                taken, summary = timed(scheduler=address)
        else:
            taken, summary = timed(n_jobs=int(way.split()[0]))
    return {
        "way": way,
        "rows": summary.rows,
        "vertices": len(model.engine_.engine.vertices.bases),
        "seconds": taken,
        "rows per second": summary.rows / taken,
        "peak memory of a process (MB)": max(memory.largest.values()) / 2**10,
        "peak memory of all (MB)": sum(memory.largest.values()) / 2**10,
        "processes": len(memory.largest),
        "counts": summary.counts,
    }


def main() -> None:
    if sys.argv[1:2] == ["--one-run"]:
        print(json.dumps(one_run(*sys.argv[2:])))
        return
    quick = quick_flag(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "points").mkdir()
        size = make_inputs(Path(folder) / "points", ROWS // 10 if quick else ROWS)
        runs = []
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.batch", "--one-run", way, folder]
            answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            runs.append(json.loads(answer.stdout.splitlines()[-1]))
            print(f"  {way}: {runs[-1]['rows per second']:,.0f} rows per second", flush=True)
    if any(run["counts"] != runs[0]["counts"] for run in runs):
        raise RuntimeError("the ways differ in their verdicts")
    counts = runs[0]["counts"]
    for run in runs:
        del run["counts"]
    print_table(runs)
    if not quick:
        write_result("batch", {"features": len(FEATURES), "input (MB)": size, "verdicts": counts, "runs": runs})


if __name__ == "__main__":
    main()
