"""Optima of the objectives of linear SVMs, against cvxpy, scikit-learn and each other, at any scale."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC, NuSVC

from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.optima import Objective, optimum
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.training_set import TrainingSet

OBJECTIVES = [
    Objective("hinge"),
    Objective("hinge", C=30.0, intercept="penalised"),
    Objective("hinge", C=0.2, intercept="penalised", intercept_scaling=5.0),
    Objective("hinge", intercept="none"),
    Objective("squared hinge", C=0.3),
    Objective("squared hinge", intercept="penalised", intercept_scaling=0.5),
    Objective("squared hinge", C=50.0, intercept="none"),
]


def made(seed, m=40, n=3, integers=False):
    """Overlapping classes; integers have ties and duplicates."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (m, n)).astype(float) if integers else rng.normal(size=(m, n))
    signs = np.where(rows[:, 0] + rng.normal(size=m) > 0.3, 1, -1)
    signs[:2] = 1, -1
    return rows, signs


def value(objective, rows, signs, weights, intercept):
    loss = np.maximum(1 - signs * (rows @ weights + intercept), 0)
    of_intercept = (intercept / objective.intercept_scaling) ** 2 if objective.intercept == "penalised" else 0.0
    power = 2 if objective.loss == "squared hinge" else 1
    return (weights @ weights + of_intercept) / 2 + objective.C * (loss**power).sum()


def by_cvxpy(objective, rows, signs):
    """The least value of the objective as it is written down in scikit-learn's guide; nothing here is shared."""
    w, b = cp.Variable(rows.shape[1]), cp.Variable()
    loss = cp.pos(1 - cp.multiply(signs, rows @ w + b))
    cost = cp.sum_squares(w) / 2 + objective.C * (
        cp.sum_squares(loss) if objective.loss == "squared hinge" else cp.sum(loss)
    )
    if objective.intercept == "penalised":
        cost += cp.square(b / objective.intercept_scaling) / 2
    return cp.Problem(cp.Minimize(cost), [b == 0] if objective.intercept == "none" else []).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_no_classifier_has_a_smaller_value(objective, integers):
    for seed in range(3):
        rows, signs = made(seed, integers=integers)
        found = optimum(rows, signs, objective)
        assert found.reached
        here = value(objective, rows, signs, found.weights, found.intercept)
        assert here == pytest.approx(by_cvxpy(objective, rows, signs), rel=1e-6)
        rng = np.random.default_rng(seed)
        for size in (1e-1, 1e-3, 1e-5):
            change, shift = size * rng.normal(size=3), size * rng.normal()
            shift = 0.0 if objective.intercept == "none" else shift
            assert value(objective, rows, signs, found.weights + change, found.intercept + shift) >= here * (
                1 - 1e-12
            ), size


@pytest.mark.parametrize("factors", [(1e-4, 1.0, 1e4), (1e5, 1e5, 1e5), (1e-6, 1e-6, 1e-6), (1e-6, 1.0, 1e6)])
@pytest.mark.parametrize("loss", ["hinge", "squared hinge"])
def test_the_scale_of_the_features_does_not_matter(loss, factors):
    rows, _ = made(5, m=60)
    signs = np.where(rows @ [1, 1, 1] + np.random.default_rng(5).normal(size=60) > 0.3, 1, -1)
    rows = rows * factors + 7 * np.array(factors)
    for intercept in ("free", "penalised"):
        objective = Objective(loss, intercept=intercept)
        found = optimum(rows, signs, objective)
        assert found.reached
        # along the ray through the optimum: the value is least at t = 1
        here = value(objective, rows, signs, found.weights, found.intercept)
        for t in (1 - 1e-4, 1 + 1e-4):
            assert value(objective, rows, signs, t * found.weights, t * found.intercept) >= here * (1 - 1e-9)


def test_a_common_factor_is_a_change_of_C():
    rows, signs = made(2)
    plain = optimum(rows, signs, Objective("hinge", C=4.0))
    larger = optimum(8 * rows, signs, Objective("hinge", C=4.0 / 64))
    np.testing.assert_allclose(8 * larger.weights, plain.weights, rtol=1e-9)
    assert larger.intercept == pytest.approx(plain.intercept, rel=1e-9)


def test_a_shift_changes_a_penalised_intercept_only():
    rows, signs = made(3)
    for objective, same in ((Objective("hinge"), True), (Objective("hinge", intercept="penalised"), False)):
        here, moved = (optimum(x, signs, objective) for x in (rows, rows + 10))
        assert np.allclose(here.weights, moved.weights, rtol=1e-7) == same


@pytest.mark.parametrize("seed", range(3))
def test_as_scikit_learn_finds_it(seed):
    rows, signs = made(seed, m=50)
    ours = optimum(rows, signs, Objective("hinge"))
    svc = SVC(kernel="linear", tol=1e-10).fit(rows, signs)
    np.testing.assert_allclose(ours.decision_function(rows), svc.decision_function(rows), atol=1e-6)
    for loss in ("hinge", "squared hinge"):
        objective = Objective(loss, intercept="penalised", intercept_scaling=2.0)
        linear = LinearSVC(
            loss=loss.replace(" ", "_"), dual=True, tol=1e-10, max_iter=10**6, intercept_scaling=2.0, random_state=0
        ).fit(rows, signs)
        found = optimum(rows, signs, objective).decision_function(rows)
        np.testing.assert_allclose(found, linear.decision_function(rows), atol=1e-6)


@pytest.mark.parametrize("factors", [(1, 1, 1), (1, 100, 3000)])
def test_nu(factors):
    rows, signs = made(1, m=50)
    rows = rows * np.array(factors)
    found = optimum(rows, signs, Objective("nu", nu=0.7))
    assert found.reached
    # the same classifier is that of the hinge loss with the C that was found
    hinge = optimum(rows, signs, Objective("hinge", C=found.penalty))
    np.testing.assert_allclose(hinge.decision_function(rows), found.decision_function(rows), atol=1e-7)
    if max(factors) == 1:
        svc = NuSVC(nu=0.7, kernel="linear", tol=1e-10).fit(rows, signs)
        np.testing.assert_allclose(found.decision_function(rows), svc.decision_function(rows), atol=1e-5)


def test_nu_without_a_margin_is_refused():
    rows, signs = made(1, m=50)
    with pytest.raises(InseparableError, match="overlap"):
        optimum(rows, signs, Objective("nu", nu=0.05))


def test_hard_margin():
    rows, signs = np.array([[0.0, 0], [1, 0], [3, 1], [4, 0]]), np.array([-1, -1, 1, 1])
    found = optimum(rows, signs, Objective("hinge", C=np.inf))
    large = soft_margin_svm(TrainingSet(rows, signs), 1e4)
    np.testing.assert_allclose(found.weights, large.weights, atol=1e-6)
    with pytest.raises(InputError, match="finite C"):
        optimum(rows, signs, Objective("hinge", C=np.inf, intercept="penalised"))


def test_the_middle_of_the_best_intercepts():
    """All multipliers at an end: every b between two bends is best, and libsvm takes the middle."""
    rows, signs = np.array([[0.0], [1], [10], [11]]), np.array([-1, 1, -1, 1])
    found = optimum(rows, signs, Objective("hinge", C=1e-4))
    svc = SVC(kernel="linear", C=1e-4, tol=1e-12).fit(rows, signs)
    assert found.intercept == pytest.approx(svc.intercept_[0], abs=1e-9)


def test_all_rows_the_same_point_or_constant_features():
    signs = np.array([1, -1, -1])
    for objective in OBJECTIVES:
        found = optimum(np.full((3, 2), 4.0), signs, objective)
        assert found.reached
        assert (found.decision_function(np.full((1, 2), 4.0)) < 0).all()
    rows, signs = made(4)
    constant = np.column_stack([rows, np.full(len(rows), 3.0)])
    assert optimum(constant, signs, Objective()).weights[-1] == 0
    # for a penalised intercept a constant feature is a second intercept
    assert optimum(constant, signs, Objective(intercept="penalised")).weights[-1] != 0


def test_what_is_not_optimal_is_said_to_be_so(monkeypatch):
    from rescaleinv.theory import optima

    rows, signs = made(6)
    monkeypatch.setattr(optima, "_clarabel", lambda program: (np.zeros(4), np.zeros(len(program.rows))))
    monkeypatch.setattr(optima, "_MOST_EXCHANGES", 0)
    found = optima.optimum(rows, signs, Objective())
    assert found.residual > 0.1
    assert not found.reached
