"""Passive-aggressive steps against scikit-learn, and against the smallest changes found by an optimiser."""

import numpy as np
import pytest
from made_rows import made_rows
from scipy.optimize import minimize
from sklearn.linear_model import SGDClassifier

from rescaleinv.online import (
    online_learner,
)


@pytest.mark.parametrize(
    ("name", "rule", "C"), [("PA", "pa1", 1e9), ("PA-I", "pa1", 0.05), ("PA-II", "pa2", 0.05)], ids=["PA", "I", "II"]
)
def test_passive_aggressive_steps_are_those_of_scikit_learn(name, rule, C):
    X, y = made_rows(11)
    ours = online_learner(name, **({} if name == "PA" else {"C": C})).fit(X, y)
    theirs = SGDClassifier(loss="hinge", penalty=None, learning_rate=rule, eta0=C, fit_intercept=False)
    for x, label in zip(X, y, strict=True):
        theirs.partial_fit([[*x, 1.0]], [label], classes=[-1, 1])
    np.testing.assert_allclose(np.append(ours.coef_, ours.intercept_), theirs.coef_[0], rtol=1e-8)


@pytest.mark.parametrize("name", ["PA", "PA-I", "PA-II"])
def test_passive_aggressive_steps_are_the_smallest_changes(name):
    """Each is the solution of a small convex problem, solved here by a general method."""
    X, y = made_rows(12)
    X /= 2
    C = 0.1
    learner = online_learner(name, **({} if name == "PA" else {"C": C})).partial_fit(X[:10], y[:10])
    moves = []
    for k in range(10, 16):
        before = np.append(learner.coef_, learner.intercept_)
        learner.partial_fit(X[k : k + 1], y[k : k + 1])
        after = np.append(learner.coef_, learner.intercept_)
        x = np.append(X[k], 1.0)

        def cost(v, before=before):
            slack = {"PA": 0.0, "PA-I": C * v[-1], "PA-II": C * v[-1] ** 2}[name]
            return 0.5 * ((v[:-1] - before) ** 2).sum() + slack

        margin = {"type": "ineq", "fun": lambda v, x=x, k=k: y[k] * (v[:-1] @ x) - 1 + (v[-1] if name != "PA" else 0)}
        bounds = [(None, None)] * 5 + [(0, None)]
        best = minimize(cost, np.append(before, 1.0), constraints=[margin], bounds=bounds, options={"ftol": 1e-14})
        np.testing.assert_allclose(after, best.x[:-1], atol=1e-5)
        moves.append(np.abs(after - before).max())
    assert min(moves) == 0 < max(moves)  # some rows have margin enough
