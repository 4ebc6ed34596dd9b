"""How many vertices has the closure of all ν-SVMs, and does it pay to list them?

    RESCALEINV_DATA=FOLDER python -m benchmarks.nu_vertices [--quick]

Writes benchmarks/results/nu_vertices.json. Gaussian classes that overlap, and Pima's rows and first features (standardised),
with nu="auto": 4, 6 and 8 features, 50, 100 and 200 rows. The walk of benchmarks.nu_complex stops at 200,000 bases or
60 s of processor time, and the counts are then lower limits. Beside it: the processor time that the engine for ν ("staged")
takes for 20 other rows of the same kind, and whether the vertices say the same of them as its verdicts.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common import print_table, quick_flag, write_result
from benchmarks.nu_complex import enumerate_vertices
from benchmarks.sizes import two_classes
from rescaleinv import RescaleInvariantSVC

POINTS = 20
NEAR = 1e-6  # a value of a vertex in floats that is nearer to 0 says nothing


def gaussian(n_features: int, n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(n_rows + POINTS) % 2, 1, -1)
    return rng.normal(size=(len(labels), n_features)) + 0.5 * labels[:, None] * rng.random(n_features), labels


def pima(n_features: int, n_rows: int) -> tuple[Any, Any]:
    rows, labels = two_classes("pima_diabetes", "1")()
    chosen = np.random.default_rng(0).permutation(len(rows))[: n_rows + POINTS]
    rows = np.asarray(rows, dtype=float)[chosen, :n_features]
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), np.asarray(labels)[chosen]


def measured(kind: Any, n_features: int, n_rows: int, quick: bool) -> dict[str, Any]:
    rows, labels = kind(n_features, n_rows)
    clf = RescaleInvariantSVC(nu="auto").fit(rows[:n_rows], labels[:n_rows])
    signs = clf.training_set_.signs
    caps = np.full(n_rows, 1 / (float(clf.nu_) * n_rows))
    enumerate_vertices(rows[:n_rows], signs, caps, most=100)  # compiles, which is not to be measured
    limits = {"most": 2_000, "seconds": 5.0} if quick else {"most": 200_000, "seconds": 60.0}
    found = enumerate_vertices(rows[:n_rows], signs, caps, **limits)
    start = time.process_time()
    verdicts = clf.certify(rows[n_rows:])
    seconds = time.process_time() - start
    values = rows[n_rows:] @ found.vertices[:, :-1].T + found.vertices[:, -1]
    both = (values > NEAR).any(axis=1) & (values < -NEAR).any(axis=1)
    return {
        "kind": kind.__name__,
        "features": n_features,
        "rows": n_rows,
        "nu": round(float(clf.nu_), 4),
        "vertices": len(found.vertices),
        "bases": found.bases,
        "complete": found.complete,
        "stopped by": found.stopped_by or "-",
        "seconds": round(found.seconds, 2),
        "engine's seconds": round(seconds, 2),
        "undecided": int(verdicts.unknown.sum()),
        "strong, but vertices disagree": int((verdicts.strong & both).sum()),
        "neutral, but vertices agree": int((verdicts.neutral & ~both).sum()),
        **{f"walk: {name}": count for name, count in found.counts.items()},
    }


def main() -> None:
    quick = quick_flag(__doc__)
    results = []
    warnings.simplefilter("ignore")
    for kind in (gaussian, pima):
        for n_features in (4, 6, 8):
            for n_rows in (50,) if quick else (50, 100, 200):
                results.append(measured(kind, n_features, n_rows, quick))
                print(results[-1], flush=True)
    print_table(results)
    if not quick:
        print(f"written to {write_result('nu_vertices', results).name}")


if __name__ == "__main__":
    main()
