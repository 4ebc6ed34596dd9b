"""What a user would do instead of asking for verdicts: what it promises, what it costs, and which neutral points it misses.

python -m benchmarks.alternatives            seven data sets; writes results/alternatives.json and alternatives.md
python -m benchmarks.alternatives --quick    one data set

30 training rows of each shipped data set (hard margin on what a soft margin classifies correctly), 60 points. The verdicts
are those of the enumeration of all vertices, so that neutral points are known exactly. Then MAPIE's controller of the
positive predictive value abstains by |f| and by the rescaling radius, side by side, with up to 250 further points to
calibrate on. Times are those of the processor.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, print_table, quick_flag, write_result
from rescaleinv import RescaleInvariantSVC, TrainingSet, minimal_norm_svm
from rescaleinv.audit.multiplicities import usual_factors
from rescaleinv.datasets import load

DATA = ("banknote", "penguins", "blood_transfusion", "urine", "breast_cancer_wisconsin", "fertility", "pima_diabetes")
N_TRAIN, N_CALIBRATION, N_POINTS = 30, 250, 60
N_RANDOM, N_BOOTSTRAP = 200, 100
# the controller's target and confidence, and what it may choose from, fixed before any data are seen: a factor that the
# radius must reach, or a value that |f| must (1 is the margin)
PPV, CONFIDENCE = 0.9, 0.9
FACTORS = (1.0, 1.1, 1.5, 2.0, 5.0, 10.0)
VALUES = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)
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


def controlled(scores: Any, labels: Any, truth: Any, parameters: Any) -> float | None:
    """The least score with which MAPIE guarantees the PPV, at the smallest share of abstentions; None if there is none."""
    from mapie.risk_control import BinaryClassificationController, abstention_rate, positive_predictive_value

    def label_or_abstain(table: Any, least: float) -> Any:
        return np.where(table[:, 0] >= least, (table[:, 1] > 0).astype(float), np.nan)

    controller = BinaryClassificationController(
        label_or_abstain,
        risk=positive_predictive_value,
        target_level=PPV,
        confidence_level=CONFIDENCE,
        best_predict_param_choice=abstention_rate,
        list_predict_params=np.asarray(parameters, dtype=float)[:, None],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no parameter does it is an answer
        controller.calibrate(np.column_stack([scores, labels]), (np.asarray(truth) > 0).astype(int))
    best = controller.best_predict_param
    return None if best is None else float(np.ravel(best)[0])


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
        "abstention": abstention(model, name, features, labels, calibration, test, by_value),
    }


def abstention(
    model: Any, name: str, features: Any, labels: Any, calibration: Any, test: Any, by_value: float | None
) -> dict[str, Any]:
    """By |f| and by the radius: the share of abstentions and the PPV on the test points."""
    radii, seconds = timed(
        lambda: model.rescaling_radius(features[np.append(calibration, test)], ratio=1.5, largest=12.0)
    )
    certified = radii[:, 0]
    on_calibration, on_test = certified[: len(calibration)], certified[len(calibration) :]
    signs = np.sign(model.decision_function(features[calibration]))
    by_radius = controlled(on_calibration, signs, labels[calibration], FACTORS)
    values = model.decision_function(features[test])
    found: dict[str, Any] = {"data": name, "seconds for the radii": seconds}
    for way, least, scores in (("|f|", by_value, np.abs(values)), ("radius", by_radius, on_test)):
        kept = np.zeros(len(test), dtype=bool) if least is None else scores >= least
        positive = kept & (values >= 0)
        found[way] = {
            "parameter": least,
            "abstained": None if least is None else float(1 - kept.mean()),
            "PPV": float((labels[test][positive] > 0).mean()) if positive.any() else None,
        }
    return found


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
    lines += [
        "",
        f"## Abstention with a guarantee: PPV at least {PPV:.0%} with confidence {CONFIDENCE:.0%}",
        "",
        "MAPIE's `BinaryClassificationController` chooses the parameter on calibration points, at the smallest share of",
        "abstentions; `–`: no parameter keeps the promise.",
        "",
        "| data | abstains by |f| | PPV | abstains by radius | PPV |".replace("|f|", "\\|f\\|"),
        "|---|---|---|---|---|",
    ]

    def shown(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.0f} %"

    for one in found:
        both = one["abstention"]
        cells = [shown(both[way][key]) for way in ("|f|", "radius") for key in ("abstained", "PPV")]
        lines.append(f"| {one['data']} | " + " | ".join(cells) + " |")
    pairs = [(one["abstention"]["|f|"]["abstained"], one["abstention"]["radius"]["abstained"]) for one in found]
    pairs = [pair for pair in pairs if None not in pair]
    less = sum(a < b for a, b in pairs)
    more = sum(a > b for a, b in pairs)
    lines += [
        "",
        f"Where both keep the promise ({len(pairs)} sets) \\|f\\| abstains less on {less}, the radius on {more}, "
        f"and both alike on {len(pairs) - less - more}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    quick = quick_flag(__doc__)
    found = []
    for name in DATA[-1:] if quick else DATA:
        found.append(study(name))
        print_table(found[-1]["rows"])
        print(found[-1]["abstention"], flush=True)
        if not quick:  # what is done stays done if it is stopped; the page says how many sets it is about
            write_result("alternatives", found)
            (RESULTS / "alternatives.md").write_text(page(found), encoding="utf-8")
    print(page(found))


if __name__ == "__main__":
    main()
