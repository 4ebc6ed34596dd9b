"""Plain SVMs by the active set, against Clarabel and libsvm."""

import made_sets
import numpy as np
import pytest
from limited_ranges import overlapping
from sklearn.svm import SVC

from rescaleinv import GapEngine, TrainingSet, minimal_norm_svm
from rescaleinv.engines.branch import svm_kernel
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu, nu_svm
from rescaleinv.theory.soft_margin import soft_margin_svm


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


@pytest.mark.parametrize("weighted", [False, True])
def test_the_active_set_finds_the_nu_svm(weighted):
    """Against Clarabel, from one rescaling to the next, and the C-SVM that it equals."""
    training_set = overlapping(1, 6, 60)
    weights = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else None
    least, largest = least_nu(training_set, weights), float(largest_nu(training_set, weights))
    random = np.random.default_rng(0)
    for share in (0.03, 0.3, 0.8):
        margin = NuMargin.of(training_set, least + share * (largest - least), weights)
        problem = GapEngine(training_set, 3.0, nu=margin).problem
        multipliers = problem.given[2].copy()
        points = random.normal(size=(8, 6)) * 3
        for _ in range(8):
            tau = 3.0 ** random.uniform(-1, 1, 6)
            w, b, converged = problem.train(tau**-2, multipliers)
            assert converged
            for label in (1, -1):
                assert multipliers[training_set.signs == label].sum() == pytest.approx(problem.total / 2)
            assert (multipliers <= problem.caps).all()
            svm = nu_svm(training_set, margin, tau)

            def squared_distance(a, tau=tau):
                return float(((training_set.signs * a) @ training_set.features * tau) ** 2 @ np.ones(6))

            ours = squared_distance(multipliers / problem.total)
            assert ours <= squared_distance(svm.multipliers) * (1 + 1e-9)
            values = np.array([w @ problem.in_units(point) + b for point in points])
            accuracy = 1e-5 + 1e-5 / np.sqrt(ours)  # the other solver's, which looks at the squared distance
            np.testing.assert_allclose(
                values, points @ svm.weights + svm.intercept, atol=accuracy * np.abs(values).max()
            )
            # it is the C-SVM with penalties caps/ρ
            rescaled = TrainingSet(training_set.features * tau, training_set.signs)
            theirs = soft_margin_svm(rescaled, 1 / svm.margin, margin.caps)
            np.testing.assert_allclose(theirs.weights * tau, svm.weights, rtol=0.1 * accuracy**0.5, atol=accuracy)


@pytest.mark.parametrize("nu", [False, True])
def test_slopes_are_derivatives(nu):
    training_set = overlapping(4, 5, 40) if nu else made_sets.gaussian(4, 5)
    rows, labels = training_set.features, training_set.signs.astype(float)
    point = np.random.default_rng(0).normal(size=5)
    svm_rows = svm_kernel.SvmRows(rows, labels, np.ones(len(rows)), np.full(len(rows), np.inf))
    start = np.zeros(len(rows))
    if nu:
        problem = GapEngine(training_set, 3.0, nu=0.9).problem
        svm_rows, start, point = problem.svm_rows, problem.given[2], problem.in_units(point)

    def value(factors):
        multipliers = start.copy()
        w, b, free, _ = svm_kernel.train(svm_rows, 1 / factors, multipliers)
        return w @ point + b, (free, multipliers, w)

    factors = np.exp(np.random.default_rng(1).normal(size=5) / 3)
    before, svm = value(factors)
    slopes = svm_kernel.slopes(svm_rows, 1 / factors, *svm, before, point)
    for j in range(5):
        moved = factors.copy()
        moved[j] *= np.exp(1e-6)
        assert (value(moved)[0] - before) / 1e-6 == pytest.approx(slopes[j], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("C", [np.inf, 1.0])
def test_the_search_is_no_worse_than_all_corners(C):
    """Its least value is what the SVM there says, and no corner of the range has a lesser one."""
    training_set = made_sets.gaussian(2, 6) if np.isinf(C) else overlapping(2, 6, 50)
    penalties = None if np.isinf(C) else np.full(training_set.n_rows, C)
    problem = GapEngine(training_set, 4.0, penalties=penalties).problem
    corners = [np.where([k >> j & 1 for j in range(6)], problem.high, problem.low) for k in range(64)]
    classifiers = [problem.train(corner, problem.given[2].copy())[:2] for corner in corners]
    never = -1e300
    for point in np.random.default_rng(0).normal(size=(12, 6)) * 2:
        point = problem.in_units(point)
        sign = np.sign(problem.given[0] @ point + problem.given[1])
        factors, multipliers = np.ones(6), problem.given[2].copy()
        span = svm_kernel.Range(problem.groups, problem.low, problem.high)
        least = svm_kernel.search(
            problem.svm_rows, span, point, sign, factors, multipliers, never, 30, True, np.random.default_rng(0)
        )
        weights, intercept, converged = problem.train(factors, problem.given[2].copy())
        assert converged
        assert least == pytest.approx(sign * (weights @ point + intercept), rel=1e-6, abs=1e-6)
        if least > 0:  # else it is found what was looked for
            assert least <= min(sign * (w @ point + b) for w, b in classifiers) + 1e-6
