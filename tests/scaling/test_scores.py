"""The fifteen scores against plain loops, scipy, scikit-learn and the figures in the papers."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.metrics import mutual_info_score

from rescaleinv.errors import InputError
from rescaleinv.scaling import METRICS, feature_scores


def plain_score(metric, tp, fp, positives, negatives):
    """One feature at a time, as the formulas of the papers read."""
    rows = positives + negatives
    if metric == "none":
        return 1.0
    if tp + fp in (0, rows):
        return 0.0
    if metric == "idf":
        return math.log(rows / (tp + fp))
    if tp / positives < fp / negatives:
        tp, fp = positives - tp, negatives - fp
    fn, tn = positives - tp, negatives - fp

    def half(count):
        return count or 0.5

    def entropy(x, y):
        return sum(-part / (x + y) * math.log(part / (x + y)) for part in (x, y) if part)

    def chi(count, expected):
        return (count - expected) ** 2 / expected

    word = (tp + fp) / rows
    odds = half(tp) * half(tn) / (half(fp) * half(fn))
    ratio = (tp / positives) / (half(fp) / negatives)
    squared = (
        chi(tp, (tp + fp) * positives / rows)
        + chi(fn, (fn + tn) * positives / rows)
        + chi(fp, (tp + fp) * negatives / rows)
        + chi(tn, (fn + tn) * negatives / rows)
    )
    precision, recall = tp / (tp + fp), tp / positives
    rates = [min(max(rate, 0.0005), 1 - 0.0005) for rate in (recall, fp / negatives)]
    return {
        "bns": abs(NormalDist().inv_cdf(rates[0]) - NormalDist().inv_cdf(rates[1])),
        "odds_ratio": odds,
        "log_odds_ratio": max(0.0, math.log(odds)),
        "information_gain": entropy(positives, negatives) - (word * entropy(tp, fp) + (1 - word) * entropy(fn, tn)),
        "chi2": squared,
        "log_chi2": math.log(1 + squared),
        "probability_ratio": ratio,
        "log_probability_ratio": max(0.0, math.log(ratio)),
        "accuracy": (tp + tn) / rows,
        "balanced_accuracy": abs(recall - fp / negatives),
        "f1": 2 * precision * recall / (precision + recall),
        "pearson": abs(np.corrcoef([1] * tp + [0] * fn + [1] * fp + [0] * tn, [1] * positives + [0] * negatives)[0, 1]),
        "pmi": math.log((tp / rows) / (word * positives / rows)),
    }[metric]


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (2, 9), (7, 3), (5, 5)])
@pytest.mark.parametrize("metric", METRICS)
def test_every_count_of_small_classes_against_plain_loops(metric, positives, negatives):
    pairs = [(tp, fp) for tp in range(positives + 1) for fp in range(negatives + 1)]
    scores = feature_scores(metric, *np.array(pairs).T, positives, negatives)
    expected = [plain_score(metric, tp, fp, positives, negatives) for tp, fp in pairs]
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    assert np.all(scores >= 0)


def test_there_are_fifteen():
    assert len(METRICS) == len(set(METRICS)) == 15


@pytest.mark.parametrize("metric", METRICS)
def test_presence_and_absence_are_worth_the_same(metric):
    if metric == "idf":  # it ignores the classes, and prefers what is rare
        return
    tp, fp = np.array([3, 0, 40, 17]), np.array([1, 90, 20, 51])
    np.testing.assert_allclose(
        feature_scores(metric, tp, fp, 40, 100), feature_scores(metric, 40 - tp, 100 - fp, 40, 100)
    )


def words(seed=0, n_rows=60, n_features=20):
    rng = np.random.default_rng(seed)
    present = rng.random((n_rows, n_features)) < rng.random(n_features)
    labels = np.arange(n_rows) % 3 == 0
    return present.astype(float), labels


def test_information_gain_is_scikit_learns_mutual_information():
    present, labels = words()
    counts = present[labels].sum(axis=0), present[~labels].sum(axis=0)
    expected = [mutual_info_score(labels, column) for column in present.T]
    np.testing.assert_allclose(feature_scores("information_gain", *counts, 20, 40), expected, atol=1e-12)


def test_chi_squared_is_scipys_and_scikit_learns():
    present, labels = words()
    tp, fp = present[labels].sum(axis=0), present[~labels].sum(axis=0)
    scores = feature_scores("chi2", tp, fp, 20, 40)
    for k in range(present.shape[1]):
        table = [[tp[k], fp[k]], [20 - tp[k], 40 - fp[k]]]
        assert scores[k] == pytest.approx(chi2_contingency(table, correction=False).statistic, abs=1e-12)
    # scikit-learn's sums over the two cells of presence only, which leaves out this factor
    theirs = sklearn_chi2(csr_array(present), labels)[0]
    np.testing.assert_allclose(scores, theirs * 60 / (60 - present.sum(axis=0)), atol=1e-12)


def test_the_papers_words():
    """Forman 2008: its toy words of 80 % and 3 % of the positives; "cost" in 130 of 990 negatives and no positive."""
    common, rare = feature_scores("bns", [80, 3], [0, 0], 100, 1000)
    assert common > 2 * rare
    common, rare = feature_scores("idf", [80, 3], [0, 0], 100, 1000)
    assert common < rare
    cost, scattered = feature_scores("bns", [0, 2], [130, 30], 60, 990)
    assert cost == pytest.approx(NormalDist().inv_cdf(130 / 990) - NormalDist().inv_cdf(0.0005))
    assert cost > 2 > 10 * scattered
    cost, scattered = feature_scores("idf", [0, 2], [130, 30], 60, 990)
    assert cost < scattered


def test_the_limit_on_rates_is_a_parameter():
    wide, narrow = (feature_scores("bns", [10], [0], 10, 10, rate_limit=limit)[0] for limit in (0.0005, 0.1))
    assert wide == pytest.approx(2 * NormalDist().inv_cdf(0.9995))
    assert narrow == pytest.approx(2 * NormalDist().inv_cdf(0.9))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gini", [1], [1], 2, 2), "'gini'; it must be one of none, idf, bns"),
        (("bns", [1], [1], 0, 2), "0 positive and 2 negative rows"),
        (("bns", [3], [1], 2, 2), "above the size of its class"),
        (("bns", [1], [-1], 2, 2), "below 0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        feature_scores(*arguments)
