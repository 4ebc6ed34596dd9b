"""Selection by presence: counts, differences and entropies against plain loops and the paper's figures."""

import numpy as np
import pytest
from made_rows import made_counts
from sklearn.utils import get_tags

from rescaleinv import InputError
from rescaleinv.selection import L0Selector


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_counts_differences_and_entropies_by_loops(n_classes):
    X, y = made_counts(6, n_classes=n_classes)
    count, difference, entropy = [], [], []
    for column in X.T:
        of_class = [sum(1 for value, label in zip(column, y, strict=True) if value and label == k) for k in set(y)]
        count.append(sum(of_class))
        difference.append(sum(abs(a - b) for a in of_class for b in of_class) / 2)
        shares = [a / sum(of_class) for a in of_class if a]
        entropy.append(sum(p * np.log2(p) for p in shares) if shares else -np.log2(n_classes))
    for criterion, expected in (("count", count), ("difference", difference), ("entropy", entropy)):
        selector = L0Selector(5, criterion=criterion).fit(X, y)
        np.testing.assert_allclose(selector.scores_, expected, atol=1e-12)
        candidates = [j for j in range(X.shape[1]) if 0 < count[j] < len(y)]
        first = sorted(candidates, key=lambda j, expected=expected: (-round(expected[j], 9), j))[:5]
        assert np.flatnonzero(selector.get_support()).tolist() == sorted(first)


def test_figures_of_the_paper():
    """Section 3.2: a word in 661 and 998 documents of the classes beside one in 183 and 548, and one that all have."""
    y = np.repeat([-1, 1], 1000)
    X = np.zeros((2000, 3))
    for j, (negative, positive) in enumerate([(661, 998), (183, 548), (1000, 1000)]):
        X[:negative, j] = X[1000 : 1000 + positive, j] = 1
    assert L0Selector().fit(X, y).scores_.tolist() == [337, 365, 0]
    assert L0Selector(1).fit(X, y).get_support().tolist() == [False, True, False]
    # every document has the third, which is why it is not chosen for its count
    assert L0Selector(1, criterion="count").fit(X, y).get_support().tolist() == [True, False, False]


def test_counting_needs_no_labels():
    X, y = made_counts(7)
    selector = L0Selector(5, criterion="count")
    np.testing.assert_array_equal(selector.fit(X).get_support(), selector.fit(X, y).get_support())
    assert not get_tags(selector).target_tags.required
    assert get_tags(L0Selector()).target_tags.required


def test_absent_and_ever_present_features_are_never_kept():
    X, y = made_counts(8)
    for criterion in ("count", "difference", "entropy"):
        selector = L0Selector(1.0, criterion=criterion).fit(X, y)
        assert not selector.get_support()[[3, 7]].any()
        np.testing.assert_array_equal(selector.get_support(), selector.informative_)


def test_nothing_is_left_of_data_without_zeros():
    selector = L0Selector().fit(np.ones((4, 3)), [0, 0, 1, 1])
    with pytest.warns(UserWarning, match="No features were selected"):
        nothing = selector.transform(np.ones((4, 3)))
    assert nothing.shape == (4, 0)
    assert selector.inverse_transform(nothing).tolist() == np.zeros((4, 3)).tolist()
    with pytest.raises(ValueError, match="different shape"):
        selector.inverse_transform(np.ones((4, 2)))


def test_an_unknown_criterion_is_an_error():
    with pytest.raises(InputError, match="criterion is 'l1'"):
        L0Selector(criterion="l1").fit([[0, 1], [1, 0]], [0, 1])
