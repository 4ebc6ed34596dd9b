"""Mutual information against scikit-learn, and CMIM against a search through all pairs."""

import numpy as np
import pytest
from made_rows import made_counts
from sklearn.feature_selection import mutual_info_classif

from rescaleinv.selection import CMIMSelector, MutualInformationSelector


@pytest.mark.parametrize("n_classes", [2, 4])
def test_mutual_information_is_that_of_scikit_learn(n_classes):
    X, y = made_counts(10, n_classes=n_classes)
    expected = mutual_info_classif(X != 0, y, discrete_features=True)
    np.testing.assert_allclose(MutualInformationSelector().fit(X, y).scores_, expected, atol=1e-12)


def conditional_information(x, y, z):
    """I(x; y | z), from relative frequencies."""
    total = 0.0
    for a, b, c in {*zip(x, y, z, strict=True)}:
        xyz, xz, yz, only_z = (
            np.mean(part) for part in ((x == a) & (y == b) & (z == c), (x == a) & (z == c), (y == b) & (z == c), z == c)
        )
        total += xyz * np.log(xyz * only_z / (xz * yz))
    return total


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_cmim_chooses_as_a_search_through_all_pairs_does(seed, n_classes):
    X, y = made_counts(seed, n_rows=30, n_features=14, n_classes=n_classes)
    selector = CMIMSelector(9).fit(X, y)
    present = X != 0
    nothing = np.zeros(len(y))
    chosen = []
    for j in selector.ranking_:
        scores = [
            min(conditional_information(y, column, given) for given in [nothing, *present[:, chosen].T])
            for column in present.T
        ]
        best = max(score for k, score in enumerate(scores) if k not in chosen)
        assert scores[j] == pytest.approx(best, abs=1e-10)  # of equal ones, either
        assert selector.scores_[j] == pytest.approx(scores[j], abs=1e-10)
        chosen.append(j)
    assert sorted(chosen) == np.flatnonzero(selector.get_support()).tolist()
    # all pairs once more: a feature left out has a bound that holds, and is not above the last that was chosen
    for k in set(range(14)) - set(chosen):
        exact = min(conditional_information(y, present[:, k], given) for given in [nothing, *present[:, chosen[:-1]].T])
        assert exact - 1e-10 <= selector.scores_[k] <= selector.scores_[chosen[-1]] + 1e-10


def test_cmim_does_not_choose_a_copy():
    X, y = made_counts(12, n_rows=300)
    best = MutualInformationSelector(1).fit(X, y).get_support().argmax()
    X = np.column_stack([X[:, best], X[:, best] * 3, X])
    y = np.array(["yes", "no"])[y]
    assert MutualInformationSelector(3).fit(X, y).get_support()[[0, 1, best + 2]].all()
    chosen = CMIMSelector(3).fit(X, y).get_support()
    assert chosen[[0, 1, best + 2]].sum() == 1
    scores = CMIMSelector(1.0).fit(X, y)
    assert (np.diff(scores.scores_[scores.ranking_]) <= 0).all()
    assert sorted(scores.ranking_) == list(range(X.shape[1]))


def test_rounding_is_no_information():
    """A copy tells nothing new, exactly: differences of logarithms alone would leave something of either sign."""
    for seed in range(20):
        X, y = made_counts(seed, n_rows=37 + seed, n_classes=3)
        scores = CMIMSelector(1.0).fit(np.column_stack([X, X]), y).scores_
        first, second = np.split(scores, 2)
        assert (np.minimum(first, second) == 0).all()
        assert max(first.max(), second.max()) > 0.01
