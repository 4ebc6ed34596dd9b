"""What verdicts mean to a user where classes overlap: three margins beside a threshold on |f| and MAPIE at equal coverage.

    RESCALEINV_DATA=FOLDER python -m benchmarks.nu_meaning [--points 40] [--draws 1] [--only bupa,heart] [--paper] [--again]
                                                           [--processor-time] [--quick]

Writes benchmarks/results/nu_meaning.json and nu_meaning.md after every draw; without --again what is stored stays.
With --processor-time (for a busy machine) limits are of the processor's time. Of each set half of the rows are for
training; --paper adds the paper's 18 benchmarks. (a) the hard margin after leaving rows out, every rescaling; (b) nu="auto",
every rescaling; (c) C = 1 on the standardised rows, within a factor of 4. Beside each: the same number of points, those with
the largest |f| of SVC(C = 1) on the standardised rows, and MAPIE's sets of one class at the level whose coverage is nearest.
And of the points that five scalers disagree about, each with a C of its own by cross-validation: how many are called strong.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PowerTransformer, RobustScaler, StandardScaler
from sklearn.svm import SVC

from benchmarks.common import RESULTS, write_result
from benchmarks.nu import SETS
from benchmarks.paper.cautious import LEVELS, MarginClassifier, count, halves, share
from benchmarks.paper.draws import split
from rescaleinv import RescaleInvariantSVC
from rescaleinv.errors import NotAvailableError

SEED = 0
TIME_LIMIT = 0.5
FACTOR = 4.0
PAPER = 18
MARGINS = {
    "a: rows left out": {"inconsistent": "drop"},
    "b: ν": {"nu": "auto"},
    "c: C = 1, factor 4": {"C": 1.0, "scale_range": FACTOR},
}
FIGURES = ("accuracy", "PPV", "NPV")


def question(name: str, draw: int, n_points: int) -> tuple[Any, Any, Any, Any]:
    """Training rows and their classes, points and theirs."""
    if name.startswith("paper "):
        found = split(int(name.split()[1]), draw, "misclassified")
        return (
            found.learning_features,
            found.learning_signs,
            found.test_features[:n_points],
            found.test_signs[:n_points],
        )
    data, n_rows, _ = SETS[name]
    features, labels = data()
    order = np.random.default_rng([SEED, draw]).permutation(len(features))
    rows, points = order[:n_rows], order[n_rows : n_rows + n_points]
    return features[rows], labels[rows], features[points], labels[points]


def with_threshold(truth: Any, values: Any, n_kept: int) -> tuple[Any, Any]:
    """The points farthest from the hyperplane, as many as there are strong verdicts."""
    kept = np.zeros(len(values), bool)
    kept[np.argsort(-np.abs(values), kind="stable")[:n_kept]] = True
    return count(truth, np.where(values >= 0, 1, -1), kept), kept


def conformal(rows: Any, labels: Any, points: Any, truth: Any, draw: int) -> Any:
    """FP, TP, FN, TN of MAPIE's sets of one class, a row per level; None where it is not installed."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError:
        return None
    train, calibrate = halves(labels, np.random.default_rng([SEED, draw, 1]))
    levels = [level for level in LEVELS if len(calibrate) >= max(1 / (1 - level), 1 / level)]
    if not levels:
        return None
    model = SplitConformalClassifier(
        MarginClassifier().fit(rows[train], labels[train]), confidence_level=levels, conformity_score="lac", prefit=True
    ).conformalize(rows[calibrate], labels[calibrate])
    _, sets = model.predict_set(points)
    members = np.moveaxis(sets.astype(bool), 2, 0)
    return np.array([count(truth, np.where(one[:, 1], 1, -1), one.sum(axis=1) == 1) for one in members])


def scalers_disagree(rows: Any, labels: Any, points: Any) -> Any:
    """The points that five scalers, each with a C tuned for it, label differently."""
    scalers = (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), PowerTransformer())
    found = []
    for scaler in scalers:
        search = GridSearchCV(make_pipeline(scaler, SVC(kernel="linear")), {"svc__C": [0.01, 0.1, 1, 10, 100]}, cv=3)
        found.append(search.fit(rows, labels).predict(points))
    return np.ptp(np.array(found), axis=0) > 0


def one_draw(name: str, draw: int, n_points: int) -> list[dict[str, Any]]:
    rows, labels, points, truth = question(name, draw, n_points)
    scaler = StandardScaler().fit(rows)
    plain = SVC(kernel="linear", C=1.0).fit(scaler.transform(rows), labels)
    values = plain.decision_function(scaler.transform(points))
    sets = conformal(rows, labels, points, truth, draw)
    split_points = scalers_disagree(rows, labels, points)
    found = []
    for margin, parameters in MARGINS.items():
        scaled = "C" in parameters
        x, z = (scaler.transform(rows), scaler.transform(points)) if scaled else (rows, points)
        model = RescaleInvariantSVC(time_limit=TIME_LIMIT, **parameters).fit(x, labels)
        try:
            verdicts = model.certify(z)
        except NotAvailableError:  # one label for all: nothing to certify
            continue
        strong = verdicts.strong
        predicted = np.where(model.predict(z) == model.classes_[1], 1, -1)
        by_threshold, kept = with_threshold(truth, values, int(strong.sum()))
        nearest = None
        if sets is not None:
            covered = sets.sum(axis=1)
            nearest = sets[np.where(covered > 0, np.abs(covered - strong.sum()), np.inf).argmin()].tolist()
        found.append(
            {
                "set": name,
                "draw": draw,
                "margin": margin,
                "rows": len(model.training_set_),
                "left_out": len(model.dropped_),
                "points": len(points),
                "neutral": int(verdicts.neutral.sum()),
                "unknown": int(verdicts.unknown.sum()),
                "all": count(truth, predicted, np.ones(len(points), bool)).tolist(),
                "strong": count(truth, verdicts.code, strong).tolist(),
                "threshold": by_threshold.tolist(),
                "conformal": nearest,
                "scalers_disagree": int(split_points.sum()),
                "strong_where_scalers_disagree": int((split_points & strong).sum()),
                "threshold_where_scalers_disagree": int((split_points & kept).sum()),
            }
        )
    return found


def accuracy(counts: list[int]) -> float:
    return float(share(np.array(counts), "accuracy"))


def mean_and_error(differences: list[float]) -> tuple[float | None, float | None]:
    """The mean over draws and its standard error; draws without a strong verdict have no difference."""
    known = np.array([one for one in differences if np.isfinite(one)])
    if len(known) < 2:
        return None, None
    return float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known)))


def summed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each set and margin, all draws together, and one for each margin over all sets."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for one in found:
        groups[one["set"], one["margin"]].append(one)
        groups["all", one["margin"]].append(one)
    rows = []
    for (name, margin), members in groups.items():
        total = sum(one["points"] for one in members)
        row: dict[str, Any] = {"set": name, "margin": margin, "draws": len(members), "points": total}
        row["neutral"] = sum(one["neutral"] for one in members) / total
        row["unknown"] = sum(one["unknown"] for one in members) / total
        for way in ("all", "strong", "threshold", "conformal"):
            counts = [one[way] for one in members if one[way] is not None]
            for figure in FIGURES:
                value = float(share(np.sum(counts, axis=0), figure)) if counts else float("nan")
                row[f"{way} {figure}"] = value if np.isfinite(value) else None
        for way in ("threshold", "conformal"):
            row[f"accuracy beyond {way}"], row[f"error beyond {way}"] = mean_and_error(
                [accuracy(one["strong"]) - accuracy(one[way]) for one in members if one[way] is not None]
            )
        disagreed = sum(one["scalers_disagree"] for one in members)
        row["scalers disagree"] = disagreed
        for way in ("strong", "threshold"):
            called = sum(one[f"{way}_where_scalers_disagree"] for one in members)
            row[f"{way} of these"] = called / disagreed if disagreed else None
        rows.append(row)
    return rows


def as_markdown(rows: list[dict[str, Any]]) -> str:
    def shown(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.1f}"

    header = ("set", "margin", "points", "neutral %", "unknown %", "accuracy of all labels")
    header += tuple(f"{way}: {figure}" for way in ("strong", "threshold", "conformal") for figure in FIGURES)
    header += ("scalers disagree about", "of these strong %", "of these kept by the threshold %")
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    for row in sorted(rows, key=lambda row: row["set"] != "all"):
        cells = [row["set"], row["margin"], str(row["points"]), shown(row["neutral"]), shown(row["unknown"])]
        cells.append(shown(row["all accuracy"]))
        cells += [shown(row[f"{way} {figure}"]) for way in ("strong", "threshold", "conformal") for figure in FIGURES]
        cells += [str(row["scalers disagree"]), shown(row["strong of these"]), shown(row["threshold of these"])]
        lines.append(f"| {' | '.join(cells)} |")
    note = (
        "Shares in percent. Three margins: the hard one after leaving rows out (a) and ν (b), both under every rescaling; "
        "C = 1 on the standardised rows within a factor of 4 (c). The threshold on |f| keeps as many points as there are "
        "strong verdicts; conformal sets of one class (MAPIE) come as near to that number as their levels allow. A margin "
        "that gives one label to every row has nothing to certify, and is left out of its row. Verdicts are about scaling, "
        "not about accuracy: the figures are here so that nobody has to guess."
    )
    return "\n".join(["# What verdicts mean where classes overlap", "", note, "", *lines]) + "\n"


def write(found: list[dict[str, Any]]) -> None:
    rows = summed(found)
    write_result("nu_meaning", {"draws": found, "rows": rows})
    (RESULTS / "nu_meaning.md").write_text(as_markdown(rows), encoding="utf-8")


def stored() -> list[dict[str, Any]]:
    path = RESULTS / "nu_meaning.json"
    return list(json.loads(path.read_text(encoding="utf-8"))["results"]["draws"]) if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--only", help="names of sets, separated by commas")
    parser.add_argument("--paper", action="store_true", help="the paper's benchmarks too")
    parser.add_argument("--again", action="store_true", help="make the draws again that are stored")
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine")
    parser.add_argument("--quick", action="store_true", help="few points, one draw; stored results are not touched")
    options = parser.parse_args()
    if options.processor_time:
        time.monotonic = time.process_time
    names = options.only.split(",") if options.only else list(SETS)
    names += [f"paper {number}" for number in range(1, PAPER + 1)] if options.paper else []
    n_points, draws = (10, 1) if options.quick else (options.points, options.draws)
    found = [] if options.quick else stored()
    for name, draw in ((name, draw) for draw in range(draws) for name in names):
        others = [one for one in found if (one["set"], one["draw"]) != (name, draw)]
        if len(others) < len(found) and not options.again:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = others + one_draw(name, draw, n_points)
        print(as_markdown([row for row in summed(found) if row["set"] == name]), flush=True)
        if not options.quick:
            write(found)
    print(as_markdown([row for row in summed(found) if row["set"] == "all"]))


if __name__ == "__main__":
    main()
