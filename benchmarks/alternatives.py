"""What a user would do instead of asking for verdicts: what it promises, what it costs, and which neutral points it misses.

python -m benchmarks.alternatives            seven data sets; writes results/alternatives.json and alternatives.md
python -m benchmarks.alternatives --quick    one data set

30 training rows of each shipped data set (hard margin on what a soft margin classifies correctly), 60 points. The verdicts
are those of the enumeration of all vertices, so that neutral points are known exactly. MAPIE's controller of the positive
predictive value has up to 250 further points to calibrate on; benchmarks.abstention compares what it may abstain by. Times
are those of the processor. What is done stays done if it is stopped.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.abstention import VALUES, controlled
from benchmarks.common import RESULTS, code_digests, print_table, quick_flag, write_result
from rescaleinv import RescaleInvariantSVC, TrainingSet, minimal_norm_svm
from rescaleinv.audit.multiplicities import usual_factors
from rescaleinv.datasets import load

DATA = ("banknote", "penguins", "blood_transfusion", "urine", "breast_cancer_wisconsin", "fertility", "pima_diabetes")
N_TRAIN, N_CALIBRATION, N_POINTS = 30, 250, 60
N_RANDOM, N_BOOTSTRAP = 200, 100
BAR = "\\|"  # within a table of Markdown
PROMISES = {
    "grid of five scalers": "these five agree; nothing about others",
    "200 random rescalings": "these 200 agree; nothing about others",
    "bootstrap self-consistency": "100 resampled trainings agree; says nothing of scaling",
    "MAPIE by |f|": "PPV at least 90 % with confidence 90 %; says nothing of scaling",
    "threshold on |f|": "none; as many points as are neutral, those nearest to the hyperplane",
    "verdicts": "every rescaling there is",
}


def _signs(training_set: TrainingSet, tau: Any, points: Any) -> Any:
    return np.where(minimal_norm_svm(training_set, tau).decision_function(points) >= 0, 1, -1)


def by_scalers(training_set: TrainingSet, points: Any) -> Any:
    """The points about which the usual five do not agree."""
    labels = [_signs(training_set, None, points)]
    labels += [_signs(training_set, tau, points) for tau in usual_factors(training_set.features).values()]
    return np.ptp(labels, axis=0) > 0


def by_random_rescalings(training_set: TrainingSet, points: Any) -> Any:
    """The same for random factors between 1/1024 and 1024 of the standardised features."""
    rng = np.random.default_rng(0)
    sizes = usual_factors(training_set.features)["StandardScaler"]
    draws = [sizes * 2.0 ** rng.uniform(-10, 10, len(sizes)) for _ in range(N_RANDOM)]
    return np.ptp([_signs(training_set, tau, points) for tau in [None, *draws]], axis=0) > 0


def by_bootstrap(training_set: TrainingSet, points: Any) -> Any:
    """The same for SVMs of resampled training rows."""
    rng = np.random.default_rng(0)
    labels = []
    while len(labels) < N_BOOTSTRAP:
        rows = np.unique(rng.integers(training_set.n_rows, size=training_set.n_rows))
        signs = training_set.signs[rows]
        if np.ptp(signs):
            part = TrainingSet(training_set.features[rows], signs, positive=1)
            labels.append(_signs(part, None, points))
    return np.ptp(labels, axis=0) > 0


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    started = time.process_time()
    found = work(*arguments)
    return found, time.process_time() - started


def study(name: str) -> dict[str, Any]:
    """Everything about one data set."""
    features, labels, _ = load(name)
    order = np.random.default_rng(0).permutation(len(features))
    train, rest = order[:N_TRAIN], order[N_TRAIN:]
    calibration, test = (
        rest[: min(N_CALIBRATION, len(rest) // 2)],
        rest[min(N_CALIBRATION, len(rest) // 2) :][:N_POINTS],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that are left out
        model = RescaleInvariantSVC(inconsistent="drop", engine="complex", time_limit=0.05).fit(
            features[train], labels[train]
        )
    points, ts = features[test], model.training_set_
    verdicts, seconds = timed(model.certify, points)
    neutral = verdicts.neutral
    values = model.decision_function(points)
    calibration_values = model.decision_function(features[calibration])
    flags: dict[str, tuple[Any, float]] = {
        "grid of five scalers": timed(by_scalers, ts, points),
        "200 random rescalings": timed(by_random_rescalings, ts, points),
        "bootstrap self-consistency": timed(by_bootstrap, ts, points),
    }
    by_value, cost = timed(
        controlled,
        np.abs(calibration_values),
        np.sign(calibration_values),
        labels[calibration],
        VALUES,
    )
    if by_value is not None:
        flags["MAPIE by |f|"] = (np.abs(values) < by_value, cost)
    flags["threshold on |f|"] = (np.abs(values) < np.sort(np.abs(values))[min(neutral.sum(), len(values) - 1)], 0.0)
    flags["verdicts"] = (~verdicts.strong, seconds)
    rows = [
        {
            "data": name,
            "way": way,
            "neutral": int(neutral.sum()),
            "missed": int((neutral & ~flagged).sum()),
            "flagged though strong": int((verdicts.strong & flagged).sum()),
            "seconds": spent,
        }
        for way, (flagged, spent) in flags.items()
    ]
    return {
        "data": name,
        "points": len(points),
        "unknown": int(verdicts.unknown.sum()),
        "rows": rows,
    }


def page(found: list[dict[str, Any]]) -> str:
    """The results as Markdown."""
    rows = [row for one in found for row in one["rows"]]
    lines = [
        "# What one would do instead of asking for verdicts",
        "",
        f"Made by `python -m benchmarks.alternatives`: {len(found)} data sets, {N_TRAIN} training rows, hard margin, up to",
        f"{N_POINTS} points each, one draw. Sums over the data sets; seconds of the processor.",
        "",
        "| way | promises | neutral points | missed | flagged though strong | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for way, promise in PROMISES.items():
        own = [row for row in rows if row["way"] == way]
        sums = {key: sum(row[key] for row in own) for key in ("neutral", "missed", "flagged though strong", "seconds")}
        lines.append(
            f"| {way.replace('|', BAR)} ({len(own)} sets) | {promise} | {sums['neutral']} | {sums['missed']} "
            f"| {sums['flagged though strong']} | {sums['seconds']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def stored() -> list[dict[str, Any]]:
    """The data sets of an earlier run with the same code."""
    path = RESULTS / "alternatives.json"
    if not path.exists():
        return []
    content = json.loads(path.read_text(encoding="utf-8"))
    return list(content["results"]) if content["code"] == code_digests("alternatives") else []


def main() -> None:
    quick = quick_flag(__doc__)
    found = [] if quick else stored()
    for name in DATA[-1:] if quick else DATA:
        if name in {one["data"] for one in found}:
            continue
        found.append(study(name))
        print_table(found[-1]["rows"])
        if not quick:  # the page says how many sets it is about
            write_result("alternatives", found)
            (RESULTS / "alternatives.md").write_text(page(found), encoding="utf-8")
    print(page(found))


if __name__ == "__main__":
    main()
