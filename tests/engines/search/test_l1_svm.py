"""A strong verdict holds for every max-margin classifier with a separable penalty: L1, elastic nets, weighted l_p."""

import cvxpy as cp
import made_sets
import numpy as np
import pytest

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.search import l1_svm
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.training_set import TrainingSet

SETS = [("pima_diabetes", 0), ("fertility", 1), ("breast_cancer_wisconsin", 2)]


def enumerated(name, seed, count=80):
    training_set, points = made_sets.drawn_from(name, seed)
    chosen = points[np.random.default_rng(seed).permutation(len(points))[:count]]
    return training_set, chosen, ComplexEngine(training_set).certify(chosen)


def penalised(training_set, penalty):
    """The classifier of least penalty(w) over C(X), by Clarabel, in conditioned units (powers of two: the same question)."""
    weights, intercept = cp.Variable(training_set.n_features), cp.Variable()
    signs = training_set.signs.astype(float)
    margins = cp.multiply(signs, training_set.conditioned @ weights + intercept)
    cp.Problem(cp.Minimize(penalty(weights)), [margins >= 1]).solve(solver=cp.CLARABEL)
    return training_set.conditioning.weights_to_original(weights.value, float(intercept.value))


def assert_respected(verdicts, values):
    """No strong verdict is contradicted, up to what a float solver's answer is worth."""
    blur = 1e-5 * (1 + np.abs(values))
    assert (values[verdicts.strongly_positive] >= -blur[verdicts.strongly_positive]).all()
    assert (values[verdicts.strongly_negative] <= blur[verdicts.strongly_negative]).all()


@pytest.mark.parametrize(("name", "seed"), SETS)
def test_strong_verdicts_hold_for_l1_svms(name, seed):
    training_set, points, verdicts = enumerated(name, seed)
    assert verdicts.strong.any()
    assert verdicts.neutral.any()
    rng = np.random.default_rng(seed)
    spread = np.ptp(training_set.features, axis=0) + 1e-9
    for _ in range(60):
        found = l1_svm(training_set, spread * np.exp(3 * rng.normal(size=training_set.n_features)))
        assert found.exact is not None
        values = found.decision_function(points)
        assert_respected(verdicts, values)
        assert (values >= verdicts.lower - 1e-6 * (1 + np.abs(values))).all()
        assert (values <= verdicts.upper + 1e-6 * (1 + np.abs(values))).all()


@pytest.mark.parametrize(("name", "seed"), SETS)
def test_strong_verdicts_hold_for_elastic_nets_and_weighted_norms(name, seed):
    training_set, points, verdicts = enumerated(name, seed)
    rng = np.random.default_rng(seed)
    n = training_set.n_features
    for _ in range(4):
        first, second = np.exp(rng.normal(size=(2, n)))
        degree = float(rng.choice([1.5, 2.0, 3.0]))

        def elastic_net(w, first=first, second=second):
            return first @ cp.abs(w) + second @ cp.square(w)

        def weighted_power(w, first=first, power=degree):
            return first @ cp.power(cp.abs(w), power)

        for penalty in (elastic_net, weighted_power):
            weights, intercept = penalised(training_set, penalty)
            assert_respected(verdicts, points @ weights + intercept)


def test_sparse_classifiers_are_tighter_witnesses_than_strong_points_allow():
    """The test above can fail: a point that is not strong is contradicted by some L1-SVM."""
    training_set, points, verdicts = enumerated("pima_diabetes", 0)
    rng = np.random.default_rng(0)
    spread = np.ptp(training_set.features, axis=0) + 1e-9
    values = np.array(
        [
            l1_svm(training_set, spread * np.exp(3 * rng.normal(size=training_set.n_features))).decision_function(
                points
            )
            for _ in range(60)
        ]
    )
    contradicted = (values.min(axis=0) < 0) & (values.max(axis=0) > 0)
    assert (contradicted & verdicts.neutral).sum() >= 0.5 * verdicts.neutral.sum() > 0


def test_the_soft_margin_keeps_its_caps():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(60, 3))
    training_set = TrainingSet(points, np.where(points[:, 0] + rng.normal(size=60) > 0, 1, -1))
    margin = NuMargin.like_penalty(training_set)
    found = l1_svm(training_set, [1, 2, 3], nu=float(margin.nu))
    assert found.exact is not None
    assert found.exact.inside
    caps = NuMargin.of(training_set, float(margin.nu)).exact_caps
    assert all(0 < a <= caps[i] for i, a in found.exact.multipliers.items())
    assert all(found.exact.multipliers[i] == caps[i] for i in found.exact.inside)


def test_wrong_arguments_are_refused():
    training_set = TrainingSet([[0.0, 1], [1, 0]], [1, -1])
    for costs in ([1], [1, -1], [1, np.inf]):
        with pytest.raises(InputError, match="the costs must be 2 positive numbers"):
            l1_svm(training_set, costs)
    with pytest.raises(InputError, match="nu is 2"):
        l1_svm(training_set, nu=2)
    with pytest.raises(InseparableError, match="no hyperplane separates"):
        l1_svm(TrainingSet([[0.0], [1.0], [2.0]], [1, -1, 1]))
