"""The learners with scalings of features: steps down the numerical gradient of the paper's objective."""

import math
import warnings

import numpy as np
import pytest
from feature_scaling_formulas import decision_value
from made_rows import made_rows
from sklearn.exceptions import ConvergenceWarning

from rescaleinv.datasets import load
from rescaleinv.online import (
    OnlineLogistic,
    online_learner,
)


def objective(variant, x, target, coefficients, squared, parameters):
    """Equation 7 for one row: log loss and the penalties."""
    w, alpha, beta, b = parameters
    value = decision_value(variant, x, w, alpha, beta, b)
    loss = target * np.logaddexp(0, -value) + (1 - target) * np.logaddexp(0, value)
    norms = [math.sqrt(sum(v * v for v in block)) for block in (w, alpha, beta)]
    return loss + sum(c * (n**2 if squared else n) for c, n in zip(coefficients, norms, strict=True))


def numerical_gradient(function, at, step=1e-6):
    gradient = np.zeros(len(at))
    for j in range(len(at)):
        up, down = at.copy(), at.copy()
        up[j] += step
        down[j] -= step
        gradient[j] = (function(up) - function(down)) / (2 * step)
    return gradient


def parameters_of(learner, free):
    """w, α, β, b of any of the learners by log loss; those that are not free are fixed by the paper."""
    if isinstance(learner, OnlineLogistic):
        n = learner.n_features_in_
        scale = learner.scaler_.scale_ if learner.scaled else np.ones(n)
        w = learner.coef_[0] * scale
        b = learner.intercept_[0] + (learner.coef_[0] @ learner.scaler_.mean_ if learner.scaled else 0.0)
        blocks = {"w": w, "alpha": np.ones(n), "beta": np.zeros(n), "b": np.array([b])}
    else:
        blocks = {
            "w": learner.weights_,
            "alpha": learner.slopes_,
            "beta": learner.offsets_,
            "b": learner.intercept_,
        }
    return blocks, np.concatenate([blocks[name] for name in free])


FREE = {
    "SGD": ("w", "b"),
    "GN": ("w", "b"),
    "FS": ("w", "alpha", "beta", "b"),
    "FS-1": ("w", "beta", "b"),
    "FS-2": ("w", "alpha", "beta", "b"),
    "FS-3": ("alpha", "beta", "b"),
}


@pytest.mark.parametrize("penalty", ["squared", "norm"])
@pytest.mark.parametrize("name", FREE)
def test_every_step_is_down_the_numerical_gradient(name, penalty):
    X, y = made_rows(8)
    X[:, 3] /= 4
    horizon, rate = 40, 0.2
    of_block = {"w": 3.0, "alpha": 2.0, "beta": 5.0}
    if penalty == "norm":  # does not fade near zero: small enough not to get there
        of_block = {"w": 0.3, "alpha": 0.2, "beta": 0.1}
    if name in ("SGD", "GN"):
        learner = online_learner(name, l2=of_block["w"], horizon=horizon, learning_rate=rate, penalty=penalty)
    else:
        settings = {"w": "l2_weights", "alpha": "l2_slopes", "beta": "l2_offsets"}
        chosen = {settings[block]: of_block[block] for block in FREE[name][:-1]}
        learner = online_learner(name, horizon=horizon, learning_rate=rate, penalty=penalty, **chosen)
    coefficients = [of_block[block] / horizon if block in FREE[name] else 0.0 for block in ("w", "alpha", "beta")]
    variant = name if name.startswith("FS") else "FS-2"  # with α = 1 and β = 0 that is logistic regression
    learner.partial_fit(X[:7], y[:7], classes=[-1, 1])  # some way from the start
    for k in range(7, 12):
        blocks, before = parameters_of(learner, FREE[name])
        learner.partial_fit(X[k : k + 1], y[k : k + 1])
        after = parameters_of(learner, FREE[name])[1]
        x = learner.scaler_.transform(X[k : k + 1])[0] if name == "GN" else X[k]

        def at(vector, blocks=blocks, x=x, k=k):
            moved = dict(zip(FREE[name], np.split(vector, np.arange(1, len(FREE[name])) * 4), strict=True))
            w, alpha, beta, b = ({**blocks, **moved}[block] for block in ("w", "alpha", "beta", "b"))
            return objective(variant, x, float(y[k] == 1), coefficients, penalty == "squared", (w, alpha, beta, b[0]))

        eta = rate / (1 + k / horizon)  # equation 12
        np.testing.assert_allclose(after, before - eta * numerical_gradient(at, before), atol=2e-8)
        assert np.abs(after - before).max() > 1e-4


def test_the_start_is_at_the_features_as_they_are():
    """One row of zeros moves nothing but the bias of FS-2, which shows where the rest starts."""
    learner = online_learner("FS-2").partial_fit([[0.0, 0.0]], [1], classes=[0, 1])
    assert learner.slopes_.tolist() == [1, 1]
    assert learner.weights_.tolist() == learner.offsets_.tolist() == [0, 0]
    assert learner.intercept_.tolist() == [0.05]
    assert online_learner("FS-3").partial_fit([[0.0, 0.0]], [1], classes=[0, 1]).slopes_.tolist() == [0, 0]


def test_fs_2_is_not_convex_though_each_second_derivative_is_positive():
    x, point = [2.0], np.array([0.5, 1.0, 0.0, 0.0])

    def at(v):
        return objective("FS-2", x, 1.0, (0.001, 0.001, 0.001), True, (v[:1], v[1:2], v[2:3], v[3]))

    hessian = np.array(
        [numerical_gradient(lambda v, j=j: numerical_gradient(at, v, 1e-4)[j], point, 1e-4) for j in range(4)]
    )
    assert np.diag(hessian).min() > 0
    assert np.linalg.eigvalsh((hessian + hessian.T) / 2).min() < -0.1


@pytest.mark.parametrize("name", ["FS-2", "FS-2+avg"])
def test_what_runs_away_stays_finite_and_says_so(name):
    X, y, _ = load("pima_diabetes")
    with pytest.warns(ConvergenceWarning, match="steps were left out, as parameters grew"):
        learner = online_learner(name).fit(X, y)
    assert learner.n_skipped_ > 0
    assert np.isfinite(learner.decision_function(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert online_learner("GN").fit(X, y).n_skipped_ == 0
