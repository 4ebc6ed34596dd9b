"""Every rescaling with a ν-margin against dense samples of rescalings: 1 to 10 features, integers and copies included.

    python -m benchmarks.nu_agreement [--sets 50] [--again] [--quick]

Writes benchmarks/results/nu_agreement.json after every training set; what is stored is not compared again without --again.
Strong verdicts are put to ν-SVMs at sampled rescalings, solved by Clarabel in a form of their own and only counted where
their duality gap is tiny; every certificate is checked; a neutral verdict is retrained at its two rescalings. Points that
samples change and that are not decided are counted as missed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, print_table, write_result
from benchmarks.nu_samples import KINDS, contradicted, made, nu_svm, rescalings, solutions
from rescaleinv.engines.staged import StagedEngine
from rescaleinv.verdict import Verdict, verdict_words
from rescaleinv.verify import check

SETS = 50
SAMPLES = 60
PROGRAMS = 1000
NOT_SUMMED = ("seed", "features", "rows")


def compared(seed: int, samples: int) -> dict[str, Any]:
    """One training set."""
    training_set, margin, points = made(seed)
    X, y = training_set.features, training_set.signs
    started = time.process_time()
    verdicts = StagedEngine(training_set, nu=margin, max_programs=PROGRAMS).certify(points)
    seconds = time.process_time() - started
    svms = solutions(X, y, margin.caps, rescalings(X, samples, seed))
    wrong = contradicted(X, points, verdicts.code, svms)
    refused = sum(
        check(verdicts.certificate(int(i)).to_json()) != f"{verdict_words(verdicts[int(i)])} with nu"
        for i in np.flatnonzero(~verdicts.unknown)
    )
    # a point that is open here, though samples give it both labels
    changed = contradicted(X, points, np.ones(len(points)), svms) & contradicted(X, points, -np.ones(len(points)), svms)
    counts = Counter(verdict_words(code) for code in verdicts.code.tolist())
    return {
        "seed": seed,
        "kind": KINDS[seed % len(KINDS)],
        "features": X.shape[1],
        "rows": len(y),
        "nu": float(margin.nu),
        "points": len(points),
        **{verdict_words(code): counts[verdict_words(code)] for code in (1, -1, 0, 2)},
        "contradicted": len(wrong),
        "refused": int(refused),
        "retrained against": int(_retrained(training_set, margin, points, verdicts)),
        "changed by samples": len(changed),
        "missed": int(sum(verdicts.code[i] == Verdict.UNKNOWN for i in changed)),
        "samples solved": len(svms),
        "seconds": round(seconds, 2),
    }


def _retrained(training_set: Any, margin: Any, points: Any, verdicts: Any) -> int:
    """Neutral points for which a ν-SVM trained at a rescaling of the witness has the label that it should not have."""
    wrong = 0
    for i in np.flatnonzero(verdicts.neutral).tolist():
        witness = verdicts.witness(i)
        for tau, side in ((witness.positive, 1), (witness.negative, -1)):
            found = nu_svm(training_set.features, training_set.signs, margin.caps, tau)
            if found is not None:
                w, low, high = found
                away = 1e-3 * (1 + np.abs(points[i] - training_set.features.mean(axis=0)) @ np.abs(w))
                wrong += bool(max(side * (points[i] @ w + low), side * (points[i] @ w + high)) < -away)
    return wrong


def totals(results: list[dict[str, Any]]) -> dict[str, int]:
    numbers = [name for name, value in results[0].items() if isinstance(value, int) and name not in NOT_SUMMED]
    return {name: int(sum(result[name] for result in results)) for name in numbers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=SETS)
    parser.add_argument("--again", action="store_true", help="compare the training sets again that are stored")
    parser.add_argument("--quick", action="store_true", help="four training sets, few samples; nothing is stored")
    options = parser.parse_args()
    path = RESULTS / "nu_agreement.json"
    results: list[dict[str, Any]] = []
    if path.exists() and not (options.again or options.quick):
        results = json.loads(path.read_text(encoding="utf-8"))["results"]["sets"]
    for seed in range(4 if options.quick else options.sets):
        if any(result["seed"] == seed for result in results):
            continue
        results.append(compared(seed, 20 if options.quick else SAMPLES))
        if not options.quick:
            summary = {"training_sets": len(results), "totals": totals(results), "sets": results}
            write_result("nu_agreement", summary)
    print_table(results)
    print(f"{len(results)} training sets: {totals(results)}")


if __name__ == "__main__":
    main()
