"""Supervised scalers and the selector: against plain loops, sparse against dense, and what they keep."""

import numpy as np
import pandas as pd
import pytest
from made_rows import counts_of_words, score_of_presence
from scipy.sparse import csc_matrix, csr_array, csr_matrix, issparse
from sklearn.base import clone

from rescaleinv.errors import InputError
from rescaleinv.scaling import METRICS, BNSScaler, MetricSelector, SupervisedScaler, feature_scores


def best_over_thresholds(metric, column, positive):
    return max(score_of_presence(metric, column >= value, positive) for value in set(column))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", METRICS)
def test_factors_against_plain_loops(metric, n_classes):
    counts, labels = counts_of_words(n_classes=n_classes)
    rng = np.random.default_rng(2)
    numbers = np.hstack([counts - 1, rng.normal(size=(len(counts), 2)).round(1)])
    sides = [labels == k for k in ([1] if n_classes == 2 else range(n_classes))]
    present = [max(score_of_presence(metric, column != 0, side) for side in sides) for column in numbers.T]
    np.testing.assert_allclose(SupervisedScaler(metric).fit(numbers, labels).scale_, present, atol=1e-12)
    if metric == "idf":
        with pytest.raises(InputError, match="does not look at the classes"):
            SupervisedScaler(metric, threshold="best").fit(numbers, labels)
        return
    best = [max(best_over_thresholds(metric, column, side) for side in sides) for column in numbers.T]
    for matrix in (numbers, csr_array(numbers)):
        fitted = SupervisedScaler(metric, threshold="best").fit(matrix, labels)
        np.testing.assert_allclose(fitted.scale_, best, atol=1e-12)


def test_bns_scaler_is_the_supervised_one_by_bns():
    counts, labels = counts_of_words()
    for threshold in ("nonzero", "best"):
        mine = BNSScaler(threshold=threshold).fit(counts, labels).scale_
        assert np.array_equal(mine, SupervisedScaler("bns", threshold=threshold).fit(counts, labels).scale_)
    positive = labels == 1
    tp, fp = (np.count_nonzero(counts[side], axis=0) for side in (positive, ~positive))
    narrow = feature_scores("bns", tp, fp, sum(positive), sum(~positive), rate_limit=0.2)
    assert np.array_equal(BNSScaler(rate_limit=0.2).fit(counts, labels).scale_, narrow)
    assert not np.array_equal(narrow, feature_scores("bns", tp, fp, sum(positive), sum(~positive)))


def test_values_are_presence_counts_or_both():
    counts, labels = counts_of_words()
    scale = BNSScaler().fit(counts, labels).scale_
    for_it = np.array([np.mean(c[labels == 1] != 0) >= np.mean(c[labels == 0] != 0) for c in counts.T])
    assert 2 < for_it.sum() < 10
    assert np.count_nonzero(scale) > 8
    expected = {
        "binary": (counts != 0) * scale,
        "tf": counts * scale,
        "hybrid": np.where(for_it, counts != 0, counts) * scale,
    }
    for values, result in expected.items():
        for kind in (np.asarray, csr_array, csr_matrix, csc_matrix):
            scaler = BNSScaler(values).fit(kind(counts), labels)
            scaled = scaler.transform(kind(counts))
            assert issparse(scaled) == (kind is not np.asarray)
            np.testing.assert_allclose(scaled.toarray() if issparse(scaled) else scaled, result)
            assert np.array_equal(scaler.scale_, scale)
    assert np.array_equal(BNSScaler("hybrid").fit(counts, labels).positively_correlated_, for_it)


def test_stored_zeros_are_zeros():
    matrix = csr_array(([1.0, 0.0, 2.0, 0.0], ([0, 1, 1, 2], [0, 0, 1, 1])), shape=(4, 2))
    assert matrix.nnz == 4
    for threshold in ("nonzero", "best"):
        scaler = BNSScaler(threshold=threshold).fit(matrix, [1, 0, 0, 1])
        assert np.array_equal(scaler.scale_, clone(scaler).fit(matrix.toarray(), [1, 0, 0, 1]).scale_)
        assert np.array_equal(scaler.transform(matrix).toarray(), scaler.transform(matrix.toarray()))


def test_order_of_rows_and_the_input_itself_do_not_change():
    counts, labels = counts_of_words()
    order = np.random.default_rng(0).permutation(len(labels))
    for threshold in ("nonzero", "best"):
        scaler = SupervisedScaler("pearson", "tf", threshold)
        assert np.array_equal(scaler.fit(counts, labels).scale_, clone(scaler).fit(counts[order], labels[order]).scale_)
        sparse = csr_array(counts)
        scaler.fit(sparse, labels).transform(sparse)
        assert np.array_equal(sparse.toarray(), counts)


def test_thresholds_do_not_depend_on_the_unit():
    rng = np.random.default_rng(3)
    numbers, labels = rng.normal(size=(50, 4)), np.arange(50) % 2
    scale = BNSScaler(threshold="best").fit(numbers, labels).scale_
    assert np.array_equal(BNSScaler(threshold="best").fit(-1000 * numbers + 7, labels).scale_, scale)


def test_names_are_kept():
    counts, labels = counts_of_words(n_features=4)
    frame = pd.DataFrame(counts, columns=list("abcd"))
    scaler = SupervisedScaler("chi2").set_output(transform="pandas").fit(frame, labels)
    assert list(scaler.get_feature_names_out()) == list(scaler.transform(frame).columns) == list("abcd")


@pytest.mark.parametrize(
    ("scaler", "labels", "message"),
    [
        (SupervisedScaler("gini"), [0, 1, 1], "metric is 'gini'"),
        (BNSScaler("counts"), [0, 1, 1], "values is 'counts'"),
        (BNSScaler(threshold=1), [0, 1, 1], "threshold is 1"),
        (BNSScaler(rate_limit=0), [0, 1, 1], "rate_limit is 0"),
        (BNSScaler(rate_limit=None), [0, 1, 1], "rate_limit is None"),
        (BNSScaler(), [1, 1, 1], "1 class"),
        (BNSScaler(), None, "requires y"),
        (BNSScaler("hybrid"), [0, 1, 2], "3 classes; values='hybrid' needs two"),
        (MetricSelector(n_features_to_select=0), [0, 1, 1], "n_features_to_select is 0"),
        (MetricSelector(n_features_to_select=True), [0, 1, 1], "n_features_to_select is True"),
        (MetricSelector("gini"), [0, 1, 1], "metric is 'gini'"),
    ],
)
def test_bad_arguments(scaler, labels, message):
    with pytest.raises(InputError, match=message):
        scaler.fit([[0.0, 1], [1, 1], [2, 0]], labels)


def test_gaps_are_an_error():
    with pytest.raises(InputError, match="NaN"):
        BNSScaler().fit([[0, 1], [1, np.nan]], [0, 1])
