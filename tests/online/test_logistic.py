"""Logistic regression in one pass: against scikit-learn at a constant rate, and what running scales are good for."""

import numpy as np
import pytest
from made_rows import made_rows
from sklearn.linear_model import SGDClassifier

from rescaleinv.datasets import load
from rescaleinv.online import (
    OnlineLogistic,
    online_learner,
)


@pytest.mark.parametrize("average", [False, True])
def test_sgd_is_that_of_scikit_learn_at_a_constant_rate(average):
    X, y = made_rows(10)
    ours = OnlineLogistic(scaled=False, average=average, horizon=10**15).fit(X, y)
    theirs = SGDClassifier(
        loss="log_loss", penalty=None, learning_rate="constant", eta0=0.1, average=average, shuffle=False
    ).partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)


def test_scaling_as_rows_come_makes_units_matter_little():
    X, y, _ = load("pima_diabetes")
    units = 2.0 ** np.array([-9, 3, 7, 0, 12, -3, 5, 1])
    gn = online_learner("GN").fit(X, y)
    np.testing.assert_array_equal(online_learner("GN").fit(X * units, y).predict(X * units), gn.predict(X))
    assert gn.score(X, y) > online_learner("SGD").fit(X, y).score(X, y) + 0.1
