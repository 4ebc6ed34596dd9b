"""How long an audit takes with the default budget, and how much of it is settled by then.

    RESCALEINV_DATA=FOLDER python -m benchmarks.audits [--budget SECONDS] [--only NAME ...] [--processor-time] [--again]

Writes benchmarks/results/audits.json after each set; sets that are stored there already are left out unless --again is
given. Half of the rows are the training rows, in random order, the other half is audited by the command line in a process of
its own, page and all. Times are those of the clock and of the processor, of the process and its children; ``load`` is that
of the machine at the beginning. With --processor-time (for a machine that others use) there is one process, and the budget
and all limits are of its processor time. Code was compiled before.
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
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks.common import RESULTS, code_digests, write_result
from rescaleinv.datasets import load

# name, and the seconds within which its audit is wanted
SETS = {"banknote": 15, "pima_diabetes": 15, "breast_cancer_wisconsin": 15, "heart_statlog": 90, "wdbc": 90}


def table_of(name: str) -> pd.DataFrame:
    if name == "wdbc":
        from sklearn.datasets import load_breast_cancer

        data = load_breast_cancer(as_frame=True)
        return data.data.assign(label=np.where(data.target > 0, "benign", "malignant"))
    features, labels, names = load(name)
    return pd.DataFrame(features, columns=list(names)).assign(label=np.where(labels > 0, "positive", "negative"))


# What the process runs instead of ``-m rescaleinv`` where limits are of processor time.
_BY_PROCESSOR_TIME = (
    "import sys, time; time.monotonic = time.process_time; from rescaleinv.cli.main import main; sys.exit(main())"
)


def audited(name: str, budget: float | None, folder: Path, *, processor_time: bool) -> dict[str, object]:
    """Run the command, and read what it wrote."""
    table = table_of(name).sample(frac=1, random_state=0)
    half = len(table) // 2
    table[:half].to_csv(folder / "train.csv", index=False)
    table[half:].to_csv(folder / "test.csv", index=False)
    page, out = folder / f"{name}.html", folder / f"{name}.csv"
    program = ["-c", _BY_PROCESSOR_TIME] if processor_time else ["-m", "rescaleinv"]
    command = [sys.executable, *program, "audit", str(folder / "train.csv"), str(folder / "test.csv")]
    command += ["--jobs", "1"] if processor_time else []
    command += ["--label", "label", "--html", str(page), "--out", str(out)]
    command += [] if budget is None else ["--budget", str(budget)]
    load_before, started = os.getloadavg()[0], time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.monotonic() - started
    rows = pd.read_csv(out)
    undecided = rows["verdict"] == "unknown"
    settled = (rows["certified up to"] >= 4) | (rows["refuted at"] <= 4)
    return {
        "data": name,
        "rows": half,
        "features": table.shape[1] - 1,
        "points": len(rows),
        "seconds": round(seconds, 1),
        "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "wanted_seconds": SETS[name],
        "load": round(load_before, 1),
        "undecided": round(float(undecided.mean()), 3),
        "settled_at_4": round(float(settled.mean()), 3),
        "page_bytes": page.stat().st_size,
    }


def stored(budget: float | None, clock: str) -> dict[str, dict[str, object]]:
    """The sets that were measured in the same way with the same code."""
    path = RESULTS / "audits.json"
    if not path.exists():
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    results = content["results"]
    same = (content["code"], results["budget"], results["clock"]) == (code_digests("audits"), budget, clock)
    return {one["data"]: one for one in results["audits"]} if same else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, help="if not given, the default of the command line")
    parser.add_argument("--only", nargs="+", choices=list(SETS))
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine; one process")
    parser.add_argument("--again", action="store_true", help="measure what is stored already as well")
    options = parser.parse_args()
    clock = "processor time of one process" if options.processor_time else "on the wall"
    found = {} if options.again else stored(options.budget, clock)
    with tempfile.TemporaryDirectory() as folder:
        for name in tqdm(options.only or list(SETS), unit=" audits"):
            if name in found:
                continue
            found[name] = audited(name, options.budget, Path(folder), processor_time=options.processor_time)
            print(json.dumps(found[name]), flush=True)
            rows = [found[one] for one in SETS if one in found]
            write_result("audits", {"budget": options.budget, "clock": clock, "audits": rows})


if __name__ == "__main__":
    main()
