"""Other ways to be cautious on the paper's splits: how accurate are they when they decide as many points?

Thresholds on |decision value| keep, in each draw, exactly as many test points as have a strong verdict: those farthest from
zero. Split-conformal prediction (MAPIE) decides the points whose set has one class; its only
parameter is the confidence level, and the level whose coverage comes nearest over all draws of a benchmark is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.paper.draws import SEED, Decided, Signs, Split, signs_of
from rescaleinv._util.types import FloatArray

STRONG, RAW, STANDARDISED, SOFT, CONFORMAL = (
    "strong verdicts",
    "|f|, units of the data",
    "|f|, standardised",
    "|f|, soft margin",
    "split-conformal",
)
THRESHOLDS = (RAW, STANDARDISED, SOFT)
COVERAGES = np.linspace(0.05, 1, 20)
LEVELS = tuple(np.round(np.arange(0.5, 0.96, 0.05), 2).tolist())
BOOTSTRAPS = 2000
# the cells FP, TP, FN, TN of a row of counts, and which of them make the shares
RIGHT_AND_DECIDED = {"accuracy": ((1, 3), (0, 1, 2, 3)), "PPV": ((1,), (0, 1)), "NPV": ((3,), (2, 3))}
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """FP, TP, FN, TN of one draw: at equal coverage, along ``COVERAGES``, and of the conformal sets along ``LEVELS``."""

    n_points: int
    equal: dict[str, Counts]
    curves: dict[str, Counts]
    conformal: Counts | None


def compare(decided: Decided, *, conformal: bool) -> Comparison:
    """All ways on the test points of one draw."""
    split, truth = decided.split, decided.split.test_signs
    strong = np.abs(decided.codes) == 1
    values = {
        RAW: decided.values,
        STANDARDISED: decided.standardised_values,
        SOFT: _soft_margin(split.learning_features, split.learning_signs).decision_function(split.test_features),
    }
    return Comparison(
        len(truth),
        {
            STRONG: count(truth, decided.codes, strong),
            **{way: _farthest(truth, value, int(strong.sum())) for way, value in values.items()},
        },
        {
            way: np.array([_farthest(truth, value, round(share * len(truth))) for share in COVERAGES])
            for way, value in values.items()
        },
        _conformal(split) if conformal else None,
    )


def count(truth: Signs, labels: Signs, decided: npt.NDArray[np.bool_]) -> Counts:
    """FP, TP, FN, TN among the decided points."""
    cells = ((-1, 1), (1, 1), (1, -1), (-1, -1))
    return np.array([(decided & (truth == true) & (labels == label)).sum() for true, label in cells])


def _farthest(truth: Signs, values: FloatArray, n_kept: int) -> Counts:
    """The counts of the points whose values are farthest from zero; of equal ones the first, as they are in random order."""
    kept = np.zeros(len(values), dtype=bool)
    kept[np.argsort(-np.abs(values), kind="stable")[:n_kept]] = True
    return count(truth, signs_of(values), kept)


def _soft_margin(features: FloatArray, signs: Signs) -> Pipeline:
    """What many would do at once: standardise, C = 1, no row left out."""
    return make_pipeline(StandardScaler(), SVC(kernel="linear", C=1.0)).fit(features, signs)


class MarginClassifier(ClassifierMixin, BaseEstimator):
    """The soft-margin SVM with |f| in place of probabilities, for MAPIE: only their order counts there.

    Not a logistic function, which floats round to 1 from f = 37 on, so that points would tie.
    """

    def fit(self, X: FloatArray, y: Signs) -> MarginClassifier:
        self.svm_ = _soft_margin(X, y)
        self.classes_ = self.svm_.classes_
        return self

    def predict(self, X: FloatArray) -> Signs:
        return self.svm_.predict(X)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        values = self.svm_.decision_function(X)
        positive = (1 + values / (1 + np.abs(values))) / 2
        return np.column_stack([1 - positive, positive])


def halves(signs: Signs, rng: np.random.Generator) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows to train on and rows to calibrate with, half of each class each; of an odd number one more to train on."""
    train, calibrate = [], []
    for sign in (1, -1):
        rows = rng.permutation(np.flatnonzero(signs == sign))
        train.append(rows[: -(-len(rows) // 2)])
        calibrate.append(rows[-(-len(rows) // 2) :])
    return np.concatenate(train), np.concatenate(calibrate)


def _conformal(split: Split) -> Counts:
    """The counts of the points with one class in their set, a row for each of ``LEVELS``.

    MAPIE needs 1 / (1 - level) rows to calibrate with; a level that has fewer decides nothing.
    """
    from mapie.classification import SplitConformalClassifier

    features, signs = split.learning_features, split.learning_signs
    train, calibrate = halves(signs, np.random.default_rng([SEED, split.benchmark.number, split.draw, 1]))
    counts = np.zeros((len(LEVELS), 4), dtype=np.int64)
    within_reach = [k for k, level in enumerate(LEVELS) if len(calibrate) >= max(1 / (1 - level), 1 / level)]
    if not within_reach:
        return counts
    model = SplitConformalClassifier(
        MarginClassifier().fit(features[train], signs[train]),
        confidence_level=[LEVELS[k] for k in within_reach],
        conformity_score="lac",
        prefit=True,
    ).conformalize(features[calibrate], signs[calibrate])
    _, sets = model.predict_set(split.test_features)  # points, classes, levels
    for k, members in zip(within_reach, np.moveaxis(sets.astype(bool), 2, 0), strict=True):
        labels = np.where(members[:, 1], 1, -1).astype(np.int8)
        counts[k] = count(split.test_signs, labels, members.sum(axis=1) == 1)
    return counts


# --- all draws of a benchmark together ------------------------------------------------------------------------------


def share(counts: Counts, name: str) -> Any:
    """Accuracy, PPV or NPV of counts, along the last axis; NaN where nothing was decided."""
    right, decided = RIGHT_AND_DECIDED[name]
    with np.errstate(invalid="ignore", divide="ignore"):
        return counts[..., right].sum(axis=-1) / counts[..., decided].sum(axis=-1)


def at_equal_coverage(comparisons: Sequence[Comparison]) -> dict[str, dict[str, Any]]:
    """Each way's shares over all draws together, and by how much the strong verdicts' differ, with 95 % intervals.

    The intervals are the bootstrap's over draws, the same draws for both ways.
    """
    counts = {way: np.array([one.equal[way] for one in comparisons]) for way in (STRONG, *THRESHOLDS)}
    n_points = sum(one.n_points for one in comparisons)
    level = None
    conformal = conformal_counts(comparisons)
    if conformal is not None:
        covered = conformal.sum(axis=(0, 2)) / n_points
        gaps = np.abs(covered - counts[STRONG].sum() / n_points)
        nearest = int(np.where(covered > 0, gaps, np.inf).argmin())  # a level that decides nothing says nothing
        counts[CONFORMAL], level = conformal[:, nearest], LEVELS[nearest]
    draws = np.random.default_rng(SEED).multinomial(
        len(comparisons), [1 / len(comparisons)] * len(comparisons), size=BOOTSTRAPS
    )
    results: dict[str, dict[str, Any]] = {}
    for way, of_draws in counts.items():
        total = of_draws.sum(axis=0)
        results[way] = {"coverage": float(total.sum() / n_points), **({"level": level} if way == CONFORMAL else {})}
        for name in RIGHT_AND_DECIDED:
            results[way][name] = float(share(total, name))
            if way != STRONG:
                gains = share(draws @ counts[STRONG], name) - share(draws @ of_draws, name)
                gain = float(share(counts[STRONG].sum(axis=0), name) - share(total, name))
                enough = np.isfinite(gains).mean() > 0.95
                low, high = np.nanquantile(gains, [0.025, 0.975]).tolist() if enough else (np.nan, np.nan)
                results[way][f"strong {name} minus this"] = {"difference": gain, "low": low, "high": high}
    return results


def conformal_counts(comparisons: Sequence[Comparison]) -> Counts | None:
    """Draws, levels, cells; None where it was left out."""
    given = [one.conformal for one in comparisons if one.conformal is not None]
    return np.array(given) if given else None


def curves(comparisons: Sequence[Comparison]) -> dict[str, dict[str, list[float]]]:
    """Coverage, accuracy, PPV and NPV along thresholds and levels, and of the strong verdicts, all draws together."""
    n_points = sum(one.n_points for one in comparisons)
    counts = {way: sum(one.curves[way] for one in comparisons) for way in THRESHOLDS}
    counts[STRONG] = sum(one.equal[STRONG] for one in comparisons)[None]
    conformal = conformal_counts(comparisons)
    if conformal is not None:
        counts[CONFORMAL] = conformal.sum(axis=0)
    return {
        way: {
            "coverage": (rows.sum(axis=1) / n_points).tolist(),
            **{name: share(rows, name).tolist() for name in RIGHT_AND_DECIDED},
        }
        for way, rows in counts.items()
    }
