"""Plain SVMs by the active set, against Clarabel and libsvm."""

import made_sets
import numpy as np
import pytest
from limited_ranges import overlapping
from sklearn.svm import SVC

from rescaleinv import minimal_norm_svm
from rescaleinv.engines.branch import svm_kernel


@pytest.mark.parametrize("C", [np.inf, 1.0, 0.01])
def test_the_active_set_finds_the_svm(C):
    training_set = made_sets.gaussian(1, 6) if np.isinf(C) else overlapping(1, 6, 60)
    rows, labels = training_set.features, training_set.signs.astype(float)
    random = np.random.default_rng(0)
    multipliers = np.zeros(len(rows))
    for _ in range(20):  # from one rescaling to the next
        tau = 3.0 ** random.uniform(-1, 1, rows.shape[1])
        caps = np.full(len(rows), C)
        svm_rows = svm_kernel.SvmRows(rows, labels, np.ones(len(rows)), caps)
        weights, intercept, _, converged = svm_kernel.train(svm_rows, tau**2, multipliers)
        assert converged
        assert abs(multipliers @ labels) < 1e-9 * max(1, multipliers.sum())
        if np.isinf(C):
            theirs = minimal_norm_svm(training_set, tau)
            np.testing.assert_allclose(weights, theirs.weights, atol=1e-6 * np.abs(theirs.weights).max())
            assert intercept == pytest.approx(theirs.intercept, abs=1e-6)
            continue
        theirs = SVC(C=C, kernel="linear", tol=1e-10).fit(rows * tau, labels)
        np.testing.assert_allclose(weights / tau, theirs.coef_[0], atol=1e-4 * np.abs(theirs.coef_).max())

        def cost(w, b, tau=tau):
            return (w / tau) @ (w / tau) / 2 + C * np.maximum(0, 1 - labels * (rows @ w + b)).sum()

        assert cost(weights, intercept) <= cost(theirs.coef_[0] * tau, theirs.intercept_[0]) * (1 + 1e-6)


def test_slopes_are_derivatives():
    training_set = made_sets.gaussian(4, 5)
    rows, labels = training_set.features, training_set.signs.astype(float)
    point = np.random.default_rng(0).normal(size=5)
    svm_rows = svm_kernel.SvmRows(rows, labels, np.ones(len(rows)), np.full(len(rows), np.inf))

    def value(factors):
        w, b, free, _ = svm_kernel.train(svm_rows, 1 / factors, np.zeros(len(rows)))
        return w @ point + b, w, free

    factors = np.exp(np.random.default_rng(1).normal(size=5) / 3)
    before, weights, free = value(factors)
    slopes = svm_kernel.slopes(svm_rows, 1 / factors, free, weights, point)
    for j in range(5):
        moved = factors.copy()
        moved[j] *= np.exp(1e-6)
        assert (value(moved)[0] - before) / 1e-6 == pytest.approx(slopes[j], rel=1e-3, abs=1e-4)
