"""How long an audit takes with the default budget, and how much of it is settled by then.

    RESCALEINV_DATA=FOLDER python -m benchmarks.audits [--budget 60] [--only NAME ...]

Writes benchmarks/results/audits.json (not with --only). Half of the rows are the training rows, in random order, the other
half is audited by the command line in a process of its own, page and all. Times are those of the clock and of the processor,
of the process and its children; ``load`` is that of the machine at the beginning. Code was compiled before.
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

from benchmarks.common import write_result
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


def audited(name: str, budget: float, folder: Path) -> dict[str, object]:
    """Run the command, and read what it wrote."""
    table = table_of(name).sample(frac=1, random_state=0)
    half = len(table) // 2
    table[:half].to_csv(folder / "train.csv", index=False)
    table[half:].to_csv(folder / "test.csv", index=False)
    page, out = folder / f"{name}.html", folder / f"{name}.csv"
    command = [sys.executable, "-m", "rescaleinv", "audit", str(folder / "train.csv"), str(folder / "test.csv")]
    command += ["--label", "label", "--budget", str(budget), "--html", str(page), "--out", str(out)]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--only", nargs="+", choices=list(SETS))
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in tqdm(options.only or list(SETS), unit=" audits"):
            found.append(audited(name, options.budget, Path(folder)))
            print(json.dumps(found[-1]))
    if not options.only:
        write_result("audits", {"budget": options.budget, "audits": found})


if __name__ == "__main__":
    main()
