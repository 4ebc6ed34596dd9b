"""What estimators check: the same refusals as scikit-learn's, as errors of the package."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator

from rescaleinv.errors import InputError, InputTypeError
from rescaleinv.theory.validation import checked_features, checked_labels, checked_rows, checked_weights


class Some(BaseEstimator):
    """An estimator with nothing but its name."""


def test_features_are_noted_when_fitting_and_compared_afterwards():
    estimator = Some()
    frame = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
    assert checked_features(estimator, frame, fitting=True).tolist() == [[1, 3], [2, 4]]
    assert estimator.n_features_in_ == 2
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    assert checked_features(estimator, frame, fitting=False).tolist() == [[1, 3], [2, 4]]
    nameless = Some()
    checked_features(nameless, [[1.0, 2.0]], fitting=True)
    with pytest.raises(InputError, match="1 features, but Some is expecting 2"):
        checked_features(nameless, [[1.0]], fitting=False)
    with pytest.raises(InputError, match="feature names should match"):
        checked_features(estimator, frame[["b", "a"]], fitting=False)


def test_refusals_name_the_estimator_and_have_the_right_kind():
    with pytest.raises(InputError, match=r"NaN or infinity .*; given to Some") as caught:
        checked_features(Some(), [[1.0, np.nan]], fitting=True)
    assert not isinstance(caught.value, TypeError)
    with pytest.raises(InputTypeError, match="given to Some"):  # neither a number nor a text
        checked_features(Some(), np.array([[{"a": 1}]], dtype=object), fitting=True)


@pytest.mark.parametrize(
    ("labels", "kind", "message"),
    [
        (None, InputError, "Some requires y to be passed, but the target y is None; one label per row is needed"),
        ([1, 0, 1], InputError, "inconsistent numbers of samples"),
        ([[1, 0], [0, 1]], InputError, "1d array"),
        ([0.5, 1.5], InputError, "continuous"),
    ],
)
def test_labels_that_are_refused(labels, kind, message):
    with pytest.raises(kind, match=message):
        checked_labels(Some(), labels, 2)


def test_labels_are_an_array():
    assert checked_labels(Some(), pd.Series(["a", "b"], index=[7, 8]), 2).tolist() == ["a", "b"]


def test_weights_are_one_per_row_and_not_negative():
    rows = np.zeros((3, 1))
    assert checked_weights(None, rows).tolist() == [1, 1, 1]
    assert checked_weights([0, 2, 1], rows).tolist() == [0, 2, 1]
    for wrong in ([1, -1, 1], [1, 2], [1, np.nan, 1]):
        with pytest.raises(InputError):
            checked_weights(wrong, rows)


def test_rows_stay_sparse_where_they_were():
    sparse = csr_array(np.eye(2))
    assert issparse(checked_rows(Some(), sparse, fitting=True))
    assert checked_rows(Some(), [[1, 2]], fitting=True).dtype == np.float64
    with pytest.raises(InputError, match="NaN"):
        checked_rows(Some(), [[np.nan]], fitting=True)
