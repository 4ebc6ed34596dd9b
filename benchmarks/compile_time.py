"""What first use costs: processor time of the first call on a machine without compiled code.

python -m benchmarks.compile_time              every job; writes results/compile_time.json
python -m benchmarks.compile_time --functions  and the functions that took longest, with their specialisations
python -m benchmarks.compile_time --only demo engine:gap

Each job runs in a fresh process with an empty cache. The cost of compiling is the processor time that numba reports for
each of our functions, from its source to machine code, without the functions that are compiled within it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import print_table, write_result

# What each job runs; "engine:NAME" is what that engine needs before it decides the first point.
JOBS = ("demo", "engine:complex", "engine:staged", "engine:gap", "selection", "online")

_RUN = """
import json, sys, time
from benchmarks.compile_time import watch, work
functions = {}
watch(functions)
started = time.process_time()
work(sys.argv[1])
print("\\n" + json.dumps({"seconds": time.process_time() - started, "functions": functions}))
"""


def work(job: str) -> None:
    """Do what is to be measured, in this process."""
    kind, _, name = job.partition(":")
    if kind == "engine":
        from rescaleinv.engines.compiling import compile_engine

        compile_engine(name)
    elif kind == "demo":
        from rescaleinv.cli.main import main

        if main(["demo"]) != 0:
            raise RuntimeError("the demo failed")
    elif kind == "selection":
        import numpy as np

        from rescaleinv.selection import CMIMSelector

        rows = np.random.default_rng(0).integers(0, 2, size=(40, 6))
        CMIMSelector(2).fit(rows, rows[:, 0])
    else:
        import numpy as np

        from rescaleinv.online import LEARNERS, online_learner

        rows = np.random.default_rng(0).normal(size=(40, 3))
        for name in LEARNERS:
            online_learner(name).fit(rows, rows[:, 0] > 0)


def watch(functions: dict[str, list[Any]]) -> None:
    """Note for each function how often it was compiled, and the processor time without that of the functions within."""
    from numba.core import event

    stack: list[list[Any]] = []

    class Listener(event.Listener):
        def on_start(self, happened: Any) -> None:
            stack.append([time.process_time(), 0.0])

        def on_end(self, happened: Any) -> None:
            started, within = stack.pop()
            took = time.process_time() - started
            if stack:
                stack[-1][1] += took
            function = happened.data["dispatcher"].py_func
            entry = functions.setdefault(f"{function.__module__}.{function.__name__}", [0, 0.0])
            entry[0] += 1
            entry[1] += took - within

    event.register("numba:compile", Listener())


def measure(job: str) -> dict[str, Any]:
    """The processor time of a job without compiled code, and how much of it is compiling."""
    with tempfile.TemporaryDirectory() as cache:
        first = _once(job, cache)
        size = sum(path.stat().st_size for path in Path(cache).rglob("*") if path.is_file())
    return {
        "job": job,
        "first_seconds": first["seconds"],
        "compiling_seconds": sum(seconds for _, seconds in first["functions"].values()),
        "functions_compiled": len(first["functions"]),
        "specialisations": sum(count for count, _ in first["functions"].values()),
        "cache_megabytes": size / 1e6,
        "functions": dict(sorted(first["functions"].items(), key=lambda item: -item[1][1])),
    }


def _once(job: str, cache: str) -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", _RUN, job], capture_output=True, text=True, env=environment, encoding="utf-8"
    )
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=JOBS, default=JOBS, metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--functions", action="store_true", help="the functions that took longest")
    options = parser.parse_args()
    results = [measure(job) for job in options.only]
    print_table([{name: value for name, value in row.items() if name != "functions"} for row in results])
    for row in results if options.functions else ():
        print(f"\n{row['job']}: how often compiled, seconds without those of functions within")
        for name, (count, seconds) in list(row["functions"].items())[:25]:
            print(f"  {count:3d}  {seconds:7.2f}  {name}")
    if tuple(options.only) == JOBS:
        print(f"written: {write_result('compile_time', results)}")


if __name__ == "__main__":
    main()
