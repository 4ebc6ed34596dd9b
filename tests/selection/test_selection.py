"""The selectors against plain loops, scikit-learn's own figures, and data with ties, copies and constant features."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_checks import not_passed
from scipy import sparse
from sklearn.feature_selection import mutual_info_classif
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from rescaleinv import InputError, selection
from rescaleinv.selection import CMIMSelector, FisherRatioSelector, L0Selector, MutualInformationSelector

SELECTORS = {
    "difference": L0Selector,
    "count": lambda *args: L0Selector(*args, criterion="count"),
    "entropy": lambda *args: L0Selector(*args, criterion="entropy"),
    "fisher": FisherRatioSelector,
    "mim": MutualInformationSelector,
    "cmim": CMIMSelector,
}
each_selector = pytest.mark.parametrize("make", SELECTORS.values(), ids=SELECTORS)


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


# --- scikit-learn ---------------------------------------------------------------------------------------------------


def test_every_check_of_scikit_learn_passes():
    bad, count = not_passed(*(f"selection.{name}" for name in selection.__all__))
    assert not bad
    assert count > 4 * 40


@pytest.mark.filterwarnings("ignore::UserWarning")  # of the checks themselves
@pytest.mark.parametrize("criterion", ["count", "entropy"])
def test_the_checks_pass_with_other_criteria_too(criterion):
    results = check_estimator(L0Selector(criterion=criterion), on_fail=None)
    # skipped unless a variable is set before scipy is imported; the test above has it
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}


@each_selector
def test_sparse_and_dense_input_choose_alike_and_sparse_stays_sparse(make):
    X, y = made_counts(1)
    dense = make(6).fit(X, y)
    for as_sparse in (sparse.csr_array, sparse.csc_matrix):
        matrix = as_sparse(X)
        matrix.data[::5] = 0  # zeros that are stored are zeros
        stored_zeros, plain = make(6).fit(matrix, y), make(6).fit(matrix.toarray(), y)
        np.testing.assert_allclose(stored_zeros.scores_, plain.scores_, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(stored_zeros.get_support(), plain.get_support())
        assert sparse.issparse(stored_zeros.transform(matrix))
    assert not np.array_equal(dense.scores_, plain.scores_)


@each_selector
def test_no_dense_copy_of_wide_sparse_text_is_made(make):
    """Its dense form would take 800 GB."""
    n_rows, n_features = 100_000, 1_000_000
    rng = np.random.default_rng(0)
    columns = rng.integers(0, n_features, 20_000)
    X = sparse.csr_array((np.ones(20_000), (rng.integers(0, n_rows, 20_000), columns)), shape=(n_rows, n_features))
    selector = make(3).fit(X, np.arange(n_rows) % 2)
    assert selector.transform(X).shape == (n_rows, 3)


@each_selector
def test_names_of_features_are_kept(make):
    X, y = made_counts(2)
    names = [f"word{j}" for j in range(X.shape[1])]
    selector = make(4).fit(pd.DataFrame(X, columns=names), y)
    chosen = [names[j] for j in np.flatnonzero(selector.get_support())]
    assert selector.get_feature_names_out().tolist() == chosen
    selector.set_output(transform="pandas")
    assert selector.transform(pd.DataFrame(X, columns=names)).columns.tolist() == chosen
    assert make(4).fit(pl.DataFrame(X, schema=names), y).get_feature_names_out().tolist() == chosen


@each_selector
def test_number_and_share_of_features(make):
    X, y = made_counts(3)
    assert make(7).fit(X, y).get_support().sum() == 7
    assert make(0.2).fit(X, y).get_support().sum() == 5
    assert make(0.001).fit(X, y).get_support().sum() == 1
    assert make(10_000).fit(X, y).get_support().sum() >= 23
    for wrong in (0, -1, 0.0, 1.5, True, None, "all", float("nan")):
        with pytest.raises(InputError, match="n_features_to_select is"):
            make(wrong).fit(X, y)


@each_selector
def test_multiplying_features_by_positive_numbers_changes_no_choice(make):
    X, y = made_counts(4)
    factors = 2.0 ** np.arange(-12, 13)
    np.testing.assert_array_equal(make(6).fit(X * factors, y).get_support(), make(6).fit(X, y).get_support())


@each_selector
def test_wrong_input_is_an_error_of_ours(make):
    with pytest.raises(InputError, match="NaN"):
        make().fit([[1, np.nan], [0, 1]], [0, 1])
    if make is not SELECTORS["count"]:
        with pytest.raises(InputError, match="one class"):
            make().fit([[1, 0], [0, 1]], [5, 5])
        with pytest.raises(InputError, match="y is None"):
            make().fit([[1, 0], [0, 1]], None)


def test_a_pipeline_on_sparse_text():
    X, y = made_counts(5, n_rows=200)
    model = make_pipeline(L0Selector(8), LinearSVC()).fit(sparse.csr_array(X), y)
    assert model.score(sparse.csr_array(X), y) > 0.7


# --- by presence ----------------------------------------------------------------------------------------------------


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


# --- Fisher's ratio -------------------------------------------------------------------------------------------------


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


# --- information ----------------------------------------------------------------------------------------------------


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
