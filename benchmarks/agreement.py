"""Do the two exact engines agree, and does any plain SVM contradict them?

For each training set (shipped data at the paper's sizes, and made ones with integers, copies, constant and proportional
features, decimals, offsets), 30 points are decided by the complex engine and by the MILP, and compared with 500 random
rescalings solved as plain SVMs. Writes results/agreement.json.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.common import print_table, quick_flag, write_result
from benchmarks.samples import MAKERS, PAPER_BENCHMARKS, Sample, draw, made
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.errors import DatasetUnavailableError
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.verify import check

POINTS = 30
RESCALINGS = 500


def training_sets() -> list[Sample]:
    """More than 60 of them: a draw of each of the paper's shapes, and seven of each kind of made set (1 to 7 features)."""
    samples = []
    for number, (name, rows) in enumerate(PAPER_BENCHMARKS):
        try:
            samples.append(draw(name, rows, 1000 + number))
        except DatasetUnavailableError:
            continue
    return samples + [made(seed, maker) for maker in MAKERS for seed in range(7)]


def compare(sample: Sample, n_points: int, n_rescalings: int, seed: int) -> dict[str, Any]:
    """Both engines on some points of a sample, and random rescalings against the strong verdicts."""
    rng = np.random.default_rng(seed)
    points = sample.points[rng.permutation(len(sample.points))[:n_points]]
    mine = ComplexEngine(sample.training_set).certify(points)
    other = MilpEngine(sample.training_set, time_limit=120).certify(points)
    both = ~mine.unknown & ~other.unknown
    contradictions, near = 0, 0
    for _ in range(n_rescalings):
        rescaling = 10.0 ** rng.uniform(-3, 3, sample.training_set.n_features)
        spread = np.ptp(sample.training_set.features, axis=0)
        values = minimal_norm_svm(sample.training_set, rescaling / np.where(spread > 0, spread, 1)).decision_function(
            points
        )
        unclear = np.abs(values) < 1e-6
        near += int(unclear.sum())
        contradictions += int((mine.strongly_positive & (values < 0) & ~unclear).sum())
        contradictions += int((mine.strongly_negative & (values >= 0) & ~unclear).sum())
    neutral = np.flatnonzero(mine.neutral)
    proved = sum(check(mine.certificate(int(i)).to_json()) == "neutral" for i in neutral[:3])
    return {
        "training set": sample.name,
        "features": sample.training_set.n_features,
        "rows": len(sample.training_set),
        "points": len(points),
        "neutral": len(neutral),
        "ties": int(((mine.lower == 0) | (mine.upper == 0)).sum()),
        "disagreements": int((mine.code != other.code)[both].sum()),
        "unknown complex": int(mine.unknown.sum()),
        "unknown milp": int(other.unknown.sum()),
        "contradicted by a rescaling": contradictions,
        "too near zero to compare": near,
        "certificates checked": proved,
    }


def main() -> None:
    quick = quick_flag(__doc__)
    samples = training_sets()[:: 10 if quick else 1]
    rows = []
    for k, sample in enumerate(tqdm(samples, unit=" sets")):
        rows.append(compare(sample, POINTS, RESCALINGS // (10 if quick else 1), seed=k))
    print_table(rows)
    totals = Counter()
    for row in rows:
        totals.update(
            {key: value for key, value in row.items() if isinstance(value, int) and key not in ("features", "rows")}
        )
    print(f"\n{len(rows)} training sets: " + ", ".join(f"{value:,} {key}" for key, value in totals.items()))
    if not quick:
        write_result("agreement", {"totals": {"training sets": len(rows), **totals}, "training sets": rows})


if __name__ == "__main__":
    main()
