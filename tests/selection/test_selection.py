"""The selectors against plain loops, scikit-learn's own figures, and data with ties, copies and constant features."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_checks import not_passed
from made_rows import made_counts
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
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


# --- Fisher's ratio -------------------------------------------------------------------------------------------------


# --- information ----------------------------------------------------------------------------------------------------
