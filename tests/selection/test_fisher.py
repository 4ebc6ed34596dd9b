"""Fisher's ratio against plain loops, and on constant features."""

import numpy as np
import pytest
from made_rows import made_counts
from scipy import sparse

from rescaleinv.selection import FisherRatioSelector


@pytest.mark.parametrize("n_classes", [2, 4])
def test_fisher_ratio_by_loops(n_classes):
    X, y = made_counts(9, n_classes=n_classes)
    expected = []
    for column in X.T:
        parts = [[value for value, label in zip(column, y, strict=True) if label == k] for k in range(n_classes)]
        means = [sum(part) / len(part) for part in parts]
        variances = [sum((v - mean) ** 2 for v in part) / len(part) for part, mean in zip(parts, means, strict=True)]
        expected.append(
            sum(
                abs(means[k] - means[m]) / np.sqrt(variances[k] + variances[m]) if means[k] != means[m] else 0.0
                for k in range(n_classes)
                for m in range(k)
            )
        )
    np.testing.assert_allclose(FisherRatioSelector().fit(X, y).scores_, expected, rtol=1e-12)


@pytest.mark.parametrize("as_matrix", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_fisher_ratio_of_constant_features(as_matrix):
    """0.1 added up and divided is not 0.1 again: a constant feature must not get a score from that."""
    rows = [[0.1, 0.1, 0.0, 1.0], [0.1, 0.1, 0.0, 2.0], [0.1, 0.1, 0.0, 1.0], [0.1, 0.3, 0.7, 2.0]] + 7 * [
        [0.1, 0.3, 0.7, 1.0]
    ]
    y = [0, 0, 0] + 8 * [1]
    scores = FisherRatioSelector().fit(as_matrix(rows), y).scores_
    assert scores[:3].tolist() == [0, np.inf, np.inf]
    assert 0 < scores[3] < np.inf
