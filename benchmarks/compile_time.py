"""What first use costs: processor time of the first call on a machine without compiled code.

python -m benchmarks.compile_time              every job; writes results/compile_time.json after each
python -m benchmarks.compile_time --functions  and the functions that took longest, with their specialisations
python -m benchmarks.compile_time --only demo engine:gap     these; stored results of the others stay

Each job runs in a fresh process with an empty cache. The cost of compiling is the processor time that numba reports for
each of our functions, from its source to machine code, without the functions that are compiled within it. Engines are then
compiled once more as numba does it by itself, without ``rescaleinv._util.compiler``: ``plain_seconds``, in the same run.
A second process, with what the first has left in the cache, is what later uses cost.
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

from benchmarks.common import RESULTS, print_table, write_result

# What each job runs; "engine:NAME" is what that engine needs before it decides the first point.
JOBS = ("demo", "engine:complex", "engine:staged", "engine:gap", "selection", "online", "warm")

_RUN = """
import json, sys, time
if sys.argv[2] == "plain":
    from numba.core.compiler import Compiler
    from rescaleinv._util import compiled
    compiled.EntryCompiler = Compiler
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
    elif kind in ("demo", "warm"):
        from rescaleinv.cli.main import main

        if main([kind]) != 0:
            raise RuntimeError(f"{kind} failed")
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
    """The processor time of a job without compiled code, how much of it is compiling, and the time of the next use."""
    with tempfile.TemporaryDirectory() as cache:
        first = _once(job, cache)
        size = sum(path.stat().st_size for path in Path(cache).rglob("*") if path.is_file())
        second = _once(job, cache)
    result = {
        "job": job,
        "first_seconds": first["seconds"],
        "second_seconds": second["seconds"],
        "compiling_seconds": _compiling(first),
        "plain_seconds": None,
        "ratio": None,
        "functions_compiled": len(first["functions"]),
        "specialisations": sum(count for count, _ in first["functions"].values()),
        "cache_megabytes": size / 1e6,
        "functions": dict(sorted(first["functions"].items(), key=lambda item: -item[1][1])),
    }
    if job.startswith("engine:"):
        with tempfile.TemporaryDirectory() as cache:
            result["plain_seconds"] = _compiling(_once(job, cache, "plain"))
        result["ratio"] = result["compiling_seconds"] / result["plain_seconds"]
    return result


def _compiling(run: dict[str, Any]) -> float:
    return float(sum(seconds for _, seconds in run["functions"].values()))


def _once(job: str, cache: str, way: str = "ours") -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", _RUN, job, way], capture_output=True, text=True, env=environment, encoding="utf-8"
    )
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return found


def stored() -> dict[str, dict[str, Any]]:
    """The results that are there already, by job."""
    path = RESULTS / "compile_time.json"
    if not path.exists():
        return {}
    return {row["job"]: row for row in json.loads(path.read_text(encoding="utf-8"))["results"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=JOBS, default=JOBS, metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--functions", action="store_true", help="the functions that took longest")
    options = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for job in options.only:
        results[job] = measure(job)
        known = {**stored(), job: results[job]}  # read anew: jobs may be measured side by side
        write_result("compile_time", [known[name] for name in JOBS if name in known])
        print(f"{job}: {results[job]['first_seconds']:.1f} s", flush=True)
    print_table([{k: v for k, v in results[job].items() if k != "functions"} for job in options.only])
    for job in options.only if options.functions else ():
        print(f"\n{job}: how often compiled, seconds without those of functions within")
        for name, (count, seconds) in list(results[job]["functions"].items())[:25]:
            print(f"  {count:3d}  {seconds:7.2f}  {name}")


if __name__ == "__main__":
    main()
