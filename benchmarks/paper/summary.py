"""From draws to figures: means with 95 % intervals, averages as the paper averages, and how far away the paper's are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.paper.draws import Decided
from benchmarks.paper.figures import BENCHMARKS, PRINTED_AVERAGES, PaperBenchmark, column_averages
from rescaleinv.metrics import strong_report

COUNTS = ("FP", "TP", "FN", "TN")
PREDICTIVE = ("PPV", "NPV")
METHODS = ("SVM", "strong")
SHARES = ("neutral share", *(f"{method} {name}" for name in PREDICTIVE for method in METHODS))
FIGURES = (
    "neutral share",
    *(f"{method} {name}" for method in METHODS for name in ("FP", "TP", "PPV", "FN", "TN", "NPV")),
)
GAINS = ("PPV gain", "NPV gain")
STANDARDISED = ("standardised SVM PPV", "standardised SVM NPV")


def figures_of(decided: Decided) -> dict[str, float]:
    """The figures of one draw: per cent, and counts for as many test points as the paper's benchmark has."""
    split = decided.split
    report = strong_report(split.test_signs, decided.codes, decided.labels, classes=(-1, 1))
    scale = split.benchmark.points / len(split.test_signs)
    figures = {"neutral share": 100 * report.strong.neutral_share, "unknown": float(report.strong.unknown)}
    for method, found in zip(METHODS, (report.svm, report.strong), strict=True):
        figures |= {f"{method} {name}": scale * getattr(found, name.lower()) for name in COUNTS}
        figures |= {f"{method} {name}": 100 * getattr(found, name.lower()) for name in PREDICTIVE}
    other = strong_report(
        split.test_signs, decided.codes, np.where(decided.standardised_values >= 0, 1, -1), classes=(-1, 1)
    )
    return figures | {"standardised SVM PPV": 100 * other.svm.ppv, "standardised SVM NPV": 100 * other.svm.npv}


def printed(benchmark: PaperBenchmark) -> dict[str, float]:
    """The paper's figures under the same names, NaN where it prints "-"."""
    figures = {"neutral share": 100 * (benchmark.neutral / benchmark.points)}
    for method, found in zip(METHODS, (benchmark.svm, benchmark.strong), strict=True):
        figures |= {f"{method} {name}": float(getattr(found, name.lower())) for name in COUNTS}
        for name, right, wrong in (("PPV", found.tp, found.fp), ("NPV", found.tn, found.fn)):
            figures[f"{method} {name}"] = 100 * (right / (right + wrong)) if right + wrong else math.nan
    return figures


def spread(values: Sequence[float]) -> dict[str, float]:
    """Mean of what is defined with its 95 % interval (Student's), least and largest value; NaN where there is none."""
    defined = np.array([value for value in values if not math.isnan(value)])
    if not defined.size:
        return {"defined": 0, **dict.fromkeys(("mean", "low", "high", "least", "largest"), math.nan)}
    mean = float(defined.mean())
    half = math.nan
    if defined.size > 1:
        half = float(student.ppf(0.975, defined.size - 1) * defined.std(ddof=1) / math.sqrt(defined.size))
    return {
        "defined": int(defined.size),
        "mean": mean,
        "low": mean - half,
        "high": mean + half,
        "least": float(defined.min()),
        "largest": float(defined.max()),
    }


def compared(values: Sequence[float], of_paper: float) -> dict[str, Any]:
    """The spread of our draws, the paper's figure, and whether that lies between the least and the largest of ours.

    None where the paper's figure, or all of ours, are undefined. Counts of the paper are whole numbers and its shares are
    of whole numbers, so no rounding is allowed for.
    """
    found = spread(values)
    known = not math.isnan(of_paper) and found["defined"] > 0
    within = bool(found["least"] <= of_paper <= found["largest"]) if known else None
    return {**found, "paper": of_paper, "within range": within}


def table_average(figures: Sequence[dict[str, float]], name: str) -> float:
    """The mean over benchmarks, undefined ones left out."""
    defined = [one[name] for one in figures if not math.isnan(one[name])]
    return sum(defined) / len(defined) if defined else math.nan


def averages(by_benchmark: dict[int, list[dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """The last lines of the paper's tables: the k-th draws of all benchmarks make one table, with an average each."""
    tables = list(zip(*by_benchmark.values(), strict=True))
    columns = {name: [table_average(table, name) for table in tables] for name in (*SHARES, *STANDARDISED)}
    for gain, name in zip(GAINS, PREDICTIVE, strict=True):
        columns[gain] = [b - a for a, b in zip(columns[f"SVM {name}"], columns[f"strong {name}"], strict=True)]
    whole = len(by_benchmark) == len(BENCHMARKS)  # a part of the benchmarks has no average in print
    following = {**column_averages(), **dict.fromkeys(STANDARDISED, math.nan)}
    in_print = {**PRINTED_AVERAGES, **dict.fromkeys(STANDARDISED, math.nan)}
    for gain, name in zip(GAINS, PREDICTIVE, strict=True):
        for source in (following, in_print):
            source[gain] = source[f"strong {name}"] - source[f"SVM {name}"]
    return {
        name: {
            **compared(values, following[name] if whole else math.nan),
            "printed": in_print[name] if whole else math.nan,
        }
        for name, values in columns.items()
    }


def one_benchmark(draws: Sequence[Decided], figures: Sequence[dict[str, float]]) -> dict[str, Any]:
    benchmark = draws[0].split.benchmark
    of_paper = printed(benchmark)
    splits = [one.split for one in draws]
    return {
        "number": benchmark.number,
        "data set": benchmark.data_set,
        "|X|": compared([len(one.training_set) for one in splits], benchmark.rows),
        "|I(X)|": compared([math.prod(one.class_rows) for one in splits], benchmark.pairs),
        "rows of the smaller class": compared(
            [min(one.class_rows) for one in splits], benchmark.class_rows[0] if benchmark.class_rows else math.nan
        ),
        "rows of the learning set": spread([len(one.learning_signs) for one in splits]),
        "test rows": spread([len(one.test_signs) for one in splits]),
        "orders tried": spread([one.orders_tried for one in splits]),
        "vertices": spread([one.n_vertices for one in draws]),
        "unknown verdicts": int(sum(one["unknown"] for one in figures)),
        "seconds per point": sum(one.seconds for one in draws) / sum(len(one.codes) for one in draws),
        "figures": {name: compared([one[name] for one in figures], of_paper[name]) for name in FIGURES},
    }


def distance(benchmarks: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The mean over benchmarks of |our mean - the paper's figure|, in percentage points, of each share and of them all."""
    gaps = {
        name: [abs(one["figures"][name]["mean"] - one["figures"][name]["paper"]) for one in benchmarks]
        for name in SHARES
    }
    means = {name: float(np.nanmean(values)) for name, values in gaps.items()}
    return {**means, "all shares": sum(means.values()) / len(means)}


def summary(decided: Sequence[Decided]) -> dict[str, Any]:
    """Everything about one rule."""
    draws: dict[int, list[Decided]] = {}
    for one in decided:
        draws.setdefault(one.split.benchmark.number, []).append(one)
    figures = {number: [figures_of(one) for one in some] for number, some in draws.items()}
    benchmarks = [one_benchmark(some, figures[number]) for number, some in draws.items()]
    within = Counter(figure["within range"] for one in benchmarks for figure in one["figures"].values())
    return {
        "averages": averages(figures),
        "distance from the paper": distance(benchmarks),
        "figures of the paper within our range": within[True],
        "figures of the paper outside our range": within[False],
        "benchmarks": benchmarks,
    }
