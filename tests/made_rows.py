"""Rows that several test files of the rooms without engines share: term counts, and a stream of unlike features."""

import numpy as np

from rescaleinv.scaling import feature_scores


def made_counts(seed, n_rows=40, n_features=25, n_classes=2):
    """Term counts with an absent and an ever-present feature, copies, and some features that follow the class."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    rates = rng.uniform(0.05, 0.8, (n_classes, n_features))
    rates[:, ::3] = rates[0, ::3]  # every third tells nothing
    X = (rng.random((n_rows, n_features)) < rates[y]) * rng.integers(1, 5, (n_rows, n_features)).astype(float)
    X[:, 3], X[:, 7] = 0, 2
    X[:, 11] = X[:, 10]
    return X, y


def made_rows(seed, n_rows=60, n_features=4):
    """Features of unlike sizes; one is constant, one is mostly zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * 2.0 ** np.arange(-1, n_features - 1)
    y = np.where(X @ rng.normal(size=n_features) + rng.normal(size=n_rows) > 0, 1, -1)
    X[:, 1] *= rng.random(n_rows) < 0.3
    X[:, 2] = 3
    y[:2] = 1, -1
    return X, y


def counts_of_words(seed=1, n_rows=40, n_features=12, n_classes=2):
    """Small counts: columns that are empty, full, constant, copies and multiples of others."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.uniform(0.1, 2, n_features), (n_rows, n_features)).astype(float)
    counts[:, 0] = 0
    counts[:, 1] = 1
    counts[:, 2] = 3 * counts[:, 3]
    labels = rng.permutation(np.arange(n_rows) % (2 * n_classes) // 2)
    return counts, labels


def score_of_presence(metric, present, positive):
    tp, fp = int(sum(present & positive)), int(sum(present & ~positive))
    return float(feature_scores(metric, [tp], [fp], int(sum(positive)), int(sum(~positive)))[0])
