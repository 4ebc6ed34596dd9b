"""Every rescaling with a ν-margin against dense samples of rescalings: 1 to 10 features, integers and copies included.

    python -m benchmarks.nu_agreement [--quick]

Writes benchmarks/results/nu_agreement.json. Strong verdicts are put to ν-SVMs at sampled rescalings, solved by Clarabel in a
form of their own and only counted where their duality gap is tiny; every certificate is checked; a neutral verdict is
retrained at its two rescalings. Points that samples change and that are not decided are counted as missed.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np

from benchmarks.common import print_table, quick_flag, write_result
from benchmarks.nu_samples import KINDS, contradicted, made, nu_svm, rescalings, solutions
from rescaleinv.engines.staged import StagedEngine
from rescaleinv.verdict import Verdict, verdict_words
from rescaleinv.verify import check

SETS = 50
SAMPLES = 60
PROGRAMS = 1000


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
        "kind": KINDS[seed % len(KINDS)],
        "features": X.shape[1],
        "rows": len(y),
        "nu": float(margin.nu),
        "points": len(points),
        **{verdict_words(code): counts[verdict_words(code)] for code in (1, -1, 0, 2)},
        "contradicted": len(wrong),
        "refused": refused,
        "retrained against": _retrained(training_set, margin, points, verdicts),
        "changed by samples": len(changed),
        "missed": sum(verdicts.code[i] == Verdict.UNKNOWN for i in changed),
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


def main() -> None:
    quick = quick_flag(__doc__)
    results = [compared(seed, 20 if quick else SAMPLES) for seed in range(4 if quick else SETS)]
    print_table(results)
    numbers = [
        name for name, value in results[0].items() if isinstance(value, int) and name not in ("features", "rows")
    ]
    totals = {name: int(sum(result[name] for result in results)) for name in numbers}
    print(f"{len(results)} training sets: {totals}")
    if not quick:
        write_result("nu_agreement", {"training_sets": len(results), "totals": totals, "sets": results})


if __name__ == "__main__":
    main()
