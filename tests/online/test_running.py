"""The running scaler against means and variances of all rows, and against the one inside GN."""

import warnings

import numpy as np
import pandas as pd
import pytest
from made_rows import made_rows
from scipy import sparse

from rescaleinv import InputError
from rescaleinv.online import (
    OnlineLogistic,
    RunningScaler,
)


@pytest.mark.parametrize("as_matrix", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_running_mean_and_variance(as_matrix):
    X, _ = made_rows(15)
    X[:, 0] += 1e9  # a sum of squares would lose it
    scaler = RunningScaler().fit(as_matrix(X))
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(scaler.var_, X.var(axis=0, ddof=1), rtol=1e-6)
    assert scaler.var_[2] == 0
    assert scaler.scale_[2] == 1
    parts = RunningScaler()
    for part in np.array_split(X, 7):
        parts.partial_fit(as_matrix(part))
    np.testing.assert_array_equal(parts.var_, scaler.var_)
    np.testing.assert_array_equal(parts.mean_, scaler.mean_)
    assert parts.n_samples_seen_ == 60
    np.testing.assert_allclose(scaler.transform(X), (X - X.mean(axis=0)) / scaler.scale_, atol=1e-6)


def test_the_scaler_after_one_row():
    scaler = RunningScaler().partial_fit([[5.0, 0.0]])
    assert scaler.var_.tolist() == [0, 0]
    assert scaler.transform([[6.0, 0.0]]).tolist() == [[1, 0]]


def test_sparse_rows_are_scaled_without_their_mean_only():
    X, _ = made_rows(16)
    with pytest.raises(InputError, match="with_mean=False"):
        RunningScaler().fit(X).transform(sparse.csr_array(X))
    scaler = RunningScaler(with_mean=False).fit(sparse.csr_array(X))
    matrix = sparse.csr_array(X)
    scaled = scaler.transform(matrix)
    assert sparse.issparse(scaled)
    np.testing.assert_array_equal(matrix.toarray(), X)  # which is not touched
    np.testing.assert_allclose(scaled.toarray(), X / scaler.scale_)
    np.testing.assert_allclose(scaler.transform(X), X / scaler.scale_)


def test_the_scaler_of_gn_is_the_one_by_itself():
    X, y = made_rows(17)
    frame = pd.DataFrame(X, columns=list("abcd"))
    learner = OnlineLogistic().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # names of features included
        scaled = learner.scaler_.transform(frame)
    np.testing.assert_array_equal(scaled, RunningScaler().fit(frame).transform(frame))
    with pytest.raises(AttributeError, match="scaler_"):
        _ = OnlineLogistic(scaled=False).fit(X, y).scaler_
