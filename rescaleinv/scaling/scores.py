"""How well the presence of a feature separates two classes: the fifteen scores of Forman (2008), Figure 5.

All are computed from four counts: ``tp`` and ``fp`` are the rows of the positive and of the negative class that have the
feature, ``fn`` and ``tn`` those that lack it. Logarithms are natural. What the papers leave open is settled as follows:

- A feature that is *negatively* correlated with the class is read the other way round: its absence counts as its presence.
- A feature that all rows have, or none, says nothing about the classes: all of its scores except ``none`` are 0.
- No score is negative: a logarithm below 0 (small classes, where 0.5 stands for a count of 0) counts as 0, and the
  logarithm of chi-squared is log(1 + chi²).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, xlogy

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError

# The inverse normal is infinite at 0 and 1: rates are kept this far from both.
RATE_LIMIT = 0.0005


@dataclass(frozen=True)
class Counts:
    """The counts of features that are positively correlated with the class, or were reversed so that they are."""

    tp: FloatArray
    fp: FloatArray
    positives: float
    negatives: float

    @property
    def fn(self) -> FloatArray:
        return self.positives - self.tp

    @property
    def tn(self) -> FloatArray:
        return self.negatives - self.fp

    @property
    def present(self) -> FloatArray:
        return self.tp + self.fp

    @property
    def rows(self) -> float:
        return self.positives + self.negatives

    @property
    def tpr(self) -> FloatArray:
        return self.tp / self.positives

    @property
    def fpr(self) -> FloatArray:
        return self.fp / self.negatives


def bi_normal_separation(counts: Counts, rate_limit: float = RATE_LIMIT) -> FloatArray:
    """How far apart two normal distributions are that a common threshold cuts at the two rates."""
    rates = (np.clip(rate, rate_limit, 1 - rate_limit) for rate in (counts.tpr, counts.fpr))
    high, low = (ndtri(rate) for rate in rates)
    return np.asarray(high - low)


def _or_half(count: FloatArray) -> FloatArray:
    return np.where(count == 0, 0.5, count)


def _odds_ratio(counts: Counts) -> FloatArray:
    return _or_half(counts.tp) * _or_half(counts.tn) / (_or_half(counts.fp) * _or_half(counts.fn))


def _probability_ratio(counts: Counts) -> FloatArray:
    return _or_half(counts.tp) / counts.positives / (_or_half(counts.fp) / counts.negatives)


def _pointwise_mutual_information(counts: Counts) -> FloatArray:
    return np.log(_or_half(counts.tp) * counts.rows / (_or_half(counts.present) * counts.positives))


def _entropy(first: FloatArray | float, second: FloatArray | float) -> FloatArray:
    """The entropy of a class with these two counts, times the number of rows (0 if there are none)."""
    return np.asarray(xlogy(first + second, first + second) - xlogy(first, first) - xlogy(second, second))


def _information_gain(counts: Counts) -> FloatArray:
    after = _entropy(counts.tp, counts.fp) + _entropy(counts.fn, counts.tn)
    return (_entropy(counts.positives, counts.negatives) - after) / counts.rows


def _correlation(counts: Counts) -> FloatArray:
    absent = counts.rows - counts.present
    spread = np.sqrt(counts.positives * counts.negatives * counts.present * absent)
    return (counts.tp * counts.tn - counts.fp * counts.fn) / np.where(spread == 0, 1, spread)


def _chi_squared(counts: Counts) -> FloatArray:
    return counts.rows * _correlation(counts) ** 2


_SUPERVISED: dict[str, Callable[[Counts], FloatArray]] = {
    "bns": bi_normal_separation,
    "log_odds_ratio": lambda counts: np.log(_odds_ratio(counts)),
    "odds_ratio": _odds_ratio,
    "information_gain": _information_gain,
    "chi2": _chi_squared,
    "log_chi2": lambda counts: np.log1p(_chi_squared(counts)),
    "probability_ratio": _probability_ratio,
    "log_probability_ratio": lambda counts: np.log(_probability_ratio(counts)),
    "accuracy": lambda counts: (counts.tp + counts.tn) / counts.rows,
    "balanced_accuracy": lambda counts: counts.tpr - counts.fpr,
    "f1": lambda counts: 2 * counts.tp / (counts.positives + counts.present),
    "pearson": _correlation,
    "pmi": _pointwise_mutual_information,
}
# In the order of the text: first the two that ignore the classes.
METRICS = ("none", "idf", *_SUPERVISED)


def feature_scores(
    metric: str, tp: Any, fp: Any, positives: int, negatives: int, *, rate_limit: float = RATE_LIMIT
) -> FloatArray:
    """The score of each feature by one metric, from how many rows of each class have it.

    Scores by different metrics are not comparable. As scale factors for an SVM with a fixed C their size matters, not only
    their order.

    Parameters
    ----------
    metric : str
        One of ``METRICS``. ``balanced_accuracy`` is tpr - fpr, 0 for a feature that says nothing about the classes;
        ``accuracy`` is the share of the rows that the feature alone labels correctly, high for any rare feature of a
        rare class.
    tp, fp : array of numbers
        The rows of the positive and of the negative class that have the feature.
    positives, negatives : int
        The number of rows of each class; both at least 1.
    rate_limit : float
        For ``bns``: rates are clipped to this and 1 minus this.

    Returns
    -------
    array of numbers >= 0
        One score per feature.

    Examples
    --------
    One word is in 80 % of the positive documents, another in 3 %, and no negative document has either. BNS ranks them as
    they deserve; the inverse document frequency does the opposite.

    >>> feature_scores("bns", [80, 3], [0, 0], 100, 900).round(2)
    array([4.13, 1.41])
    >>> feature_scores("idf", [80, 3], [0, 0], 100, 900).round(2)
    array([2.53, 5.81])
    """
    check_metric(metric)
    tp, fp = np.asarray(tp, dtype=np.float64), np.asarray(fp, dtype=np.float64)
    if min(positives, negatives) < 1:
        raise InputError(
            f"there are {positives} positive and {negatives} negative rows; at least one of each is needed"
        )
    if np.any((tp < 0) | (tp > positives) | (fp < 0) | (fp > negatives)):
        raise InputError(
            f"a count is below 0 or above the size of its class ({positives} positive, {negatives} negative)"
        )
    if metric == "none":
        return np.ones(np.broadcast_shapes(tp.shape, fp.shape))
    rows = positives + negatives
    present = tp + fp
    constant = (present == 0) | (present == rows)
    if metric == "idf":
        return np.where(constant, 0.0, np.log(rows / np.where(constant, 1, present)))
    reversed_ = tp * negatives < fp * positives
    counts = Counts(
        np.where(reversed_, positives - tp, tp),
        np.where(reversed_, negatives - fp, fp),
        float(positives),
        float(negatives),
    )
    scores = bi_normal_separation(counts, rate_limit) if metric == "bns" else _SUPERVISED[metric](counts)
    return np.where(constant, 0.0, np.maximum(scores, 0.0))


def check_metric(metric: Any) -> None:
    """Raise an error if there is no metric of that name."""
    if metric not in METRICS:
        raise InputError(f"metric is {metric!r}; it must be one of {', '.join(METRICS)}")
