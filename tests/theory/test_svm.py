"""The minimal-norm SVM: its optimality conditions, other solvers, rescalings that upset solvers, and refusals."""

import dataclasses
import gc
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import cvxpy
import numpy as np
import pytest
from made_sets import MAKERS, drawn_from, random_rescaling
from scipy.optimize import minimize
from sklearn.svm import SVC

import rescaleinv.theory.svm
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.svm import exact_svm_at, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

SHIPPED = ["breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote"]


def rescalings(ts, seed):
    """τ = 1, then some that span 1e±3 and 1e±6 in the units as they are."""
    rng = np.random.default_rng(seed)
    return [np.ones(ts.n_features), *(random_rescaling(rng, ts.n_features, decades) for decades in (3, 3, 6))]


def assert_optimal(ts, svm):
    """The Karush-Kuhn-Tucker conditions, written here anew: in original units, and sums in rationals."""
    assert svm.kkt_residual() < 1e-9
    assert (svm.multipliers >= 0).all()
    weights = [Fraction(w) for w in svm.weights.tolist()]
    anchor = [Fraction(x) for x in ts.conditioning.anchor.tolist()]
    value_at_anchor = Fraction(svm.value_at_anchor)
    for row, y, a in zip(ts.features.tolist(), ts.signs.tolist(), svm.multipliers.tolist(), strict=True):
        terms = [w * (Fraction(x) - c) for w, x, c in zip(weights, row, anchor, strict=True)]
        size = float(1 + abs(value_at_anchor) + sum(map(abs, terms)))
        margin = float(y * (sum(terms) + value_at_anchor) - 1)
        assert margin >= -1e-9 * size
        assert a == 0 or margin <= 1e-9 * size
    signed = [Fraction(a) * y for a, y in zip(svm.multipliers.tolist(), ts.signs.tolist(), strict=True)]
    assert abs(sum(signed)) <= 1e-9 * svm.multipliers.sum()
    scaled = np.abs(svm.weights / svm.rescaling)
    for j, w in enumerate(weights):
        tau = Fraction(float(svm.rescaling[j]))
        pull = tau * sum(a * (Fraction(x) - anchor[j]) for a, x in zip(signed, ts.features[:, j].tolist(), strict=True))
        spread = float(tau) * np.ptp(ts.features[:, j])
        assert abs(pull - w / tau) <= 1e-9 * scaled.max() + 1e-15 * svm.multipliers.sum() * spread


@pytest.mark.parametrize("name", MAKERS)
def test_made_sets_are_solved_at_every_rescaling(name):
    for seed in range(14):
        ts = MAKERS[name](seed)
        for tau in rescalings(ts, seed):
            assert_optimal(ts, minimal_norm_svm(ts, tau))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_data_are_solved_at_every_rescaling(name):
    for seed in range(4):
        ts, _ = drawn_from(name, seed, rows=30 + 10 * seed)
        for tau in rescalings(ts, seed):
            assert_optimal(ts, minimal_norm_svm(ts, tau))


# Solvers of floats alone gave up on these, or gave a wrong answer without a word.
@pytest.mark.parametrize(
    ("name", "seed", "decades"),
    [
        ("unlike_units", 12, 0),
        ("unlike_units", 13, 3),
        ("integer_ties", 10, 6),
        ("binary", 6, 6),
        ("big_offsets", 2, 3),
    ],
)
def test_hard_rescalings_agree_with_rational_arithmetic(name, seed, decades):
    ts = MAKERS[name](seed)
    for k in range(4):
        tau = random_rescaling(np.random.default_rng([seed, k]), ts.n_features, decades)
        svm, exact = minimal_norm_svm(ts, tau), exact_svm_at(ts, tau, bits=53)
        assert svm.weights == pytest.approx(np.array([float(w) for w in exact.weights]), rel=1e-7)
        values = np.array([float(exact.decision_value([Fraction(x) for x in row])) for row in ts.features.tolist()])
        assert svm.decision_function(ts.features) == pytest.approx(values, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", MAKERS)
def test_the_rational_solver_alone_finds_the_same_svm(name, monkeypatch):
    """Where the float solver gives up, or its answer does not hold, every row is chosen in exact arithmetic."""
    expected = {seed: minimal_norm_svm(MAKERS[name](seed)) for seed in range(7)}
    for broken in (lambda self, factors: None, lambda self, factors: (np.zeros(len(factors)), 0.0)):
        monkeypatch.setattr(rescaleinv.theory.svm._ParametricSVM, "solve", broken)
        for seed, svm in expected.items():
            again = minimal_norm_svm(MAKERS[name](seed))
            assert_optimal(again.training_set, again)
            assert again.weights == pytest.approx(svm.weights, rel=1e-7, abs=1e-9 * np.abs(svm.weights).max())


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "unlike_units"])
def test_scikit_learn_agrees(name):
    """Trained on the features times τ, its weights times τ are ours; libsvm stops at 1e-10 and is asked for no more."""
    for seed in range(7):
        ts = MAKERS[name](seed)
        for tau in (np.ones(ts.n_features), random_rescaling(np.random.default_rng(seed), ts.n_features, 0.5)):
            ours = minimal_norm_svm(ts, tau)
            rows = (ts.features - ts.features.min(axis=0)) * tau
            theirs = SVC(kernel="linear", C=1e10, tol=1e-10).fit(rows, ts.signs)
            assert theirs.coef_[0] * tau == pytest.approx(ours.weights, rel=1e-4, abs=1e-4 * np.abs(ours.weights).max())
            assert theirs.decision_function(rows) == pytest.approx(
                ours.decision_function(ts.features), rel=1e-3, abs=1e-3
            )


@pytest.mark.parametrize("name", ["gaussian", "integer_ties", "proportional_features", "one_positive"])
def test_a_general_purpose_solver_agrees(name):
    for seed in range(6):
        ts = MAKERS[name](seed)
        ours = minimal_norm_svm(ts)
        y, start = ts.signs.astype(float), np.append(ours.weights, ours.intercept)
        start = start * np.random.default_rng(seed).uniform(0.5, 2, len(start))
        constraint = {"type": "ineq", "fun": lambda v, ts=ts, y=y: y * (ts.features @ v[:-1] + v[-1]) - 1}
        theirs = minimize(lambda v: v[:-1] @ v[:-1] / 2, start, constraints=[constraint], method="SLSQP", tol=1e-12)
        assert theirs.success
        assert theirs.x[:-1] == pytest.approx(ours.weights, rel=1e-5, abs=1e-5)


def test_residual_tells_when_something_is_wrong():
    svm = minimal_norm_svm(MAKERS["gaussian"](3))
    row = int(svm.multipliers.argmax())
    loose = int(np.setdiff1d(np.arange(svm.training_set.n_rows), svm.tight_rows())[0])
    more, elsewhere = svm.multipliers.copy(), svm.multipliers.copy()
    more[row] *= 1.001
    elsewhere[loose] = 1e-3 * elsewhere.sum()
    for wrong in (
        {"weights": svm.weights * 1.001},
        {"weights": svm.weights * 0.999},
        {"value_at_anchor": svm.value_at_anchor + 1e-3},
        {"multipliers": -svm.multipliers},
        {"multipliers": more},
        {"multipliers": elsewhere},
        {"rescaling": svm.rescaling * np.linspace(1, 1.01, svm.training_set.n_features)},
    ):
        broken = dataclasses.replace(svm, **wrong)
        assert broken.kkt_residual() > 1e-5
        assert not broken.is_optimal()
    assert svm.is_optimal()


def test_tight_rows_are_those_with_margin_one():
    ts = TrainingSet([[0, 0], [2, 0], [2, 5], [9, 1], [0, -4]], [-1, 1, 1, 1, -1])
    svm = minimal_norm_svm(ts)
    assert svm.weights.round(12).tolist() == [1, 0]
    assert svm.tight_rows().tolist() == [0, 1, 2, 4]


@pytest.mark.parametrize("seed", range(7))
def test_large_offsets_do_not_cost_digits(seed):
    """Years and time stamps: w·x + b is a small difference of large numbers, and still right."""
    ts = MAKERS["big_offsets"](seed)
    moved = TrainingSet(ts.features - ts.features.min(axis=0), ts.signs)
    svm, plain = minimal_norm_svm(ts), minimal_norm_svm(moved)
    assert np.array_equal(svm.weights, plain.weights)
    assert np.array_equal(svm.decision_function(ts.features), plain.decision_function(moved.features))
    assert (ts.signs * svm.decision_function(ts.features)).min() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", MAKERS)
def test_powers_of_two_change_no_bit(name):
    for seed in range(7):
        ts = MAKERS[name](seed)
        powers = np.random.default_rng([1, seed]).integers(-40, 41, ts.n_features)
        tau = random_rescaling(np.random.default_rng([2, seed]), ts.n_features, 1)
        scaled = TrainingSet(np.ldexp(ts.features, powers), ts.signs)
        one, other = minimal_norm_svm(ts, tau), minimal_norm_svm(scaled, np.ldexp(tau, -powers))
        assert np.array_equal(np.ldexp(other.weights, powers), one.weights)
        assert other.value_at_anchor == one.value_at_anchor
        again = minimal_norm_svm(ts, np.ldexp(tau, 17))  # a common factor
        assert np.array_equal(again.weights, one.weights)
        assert np.array_equal(again.multipliers, np.ldexp(one.multipliers, -34))


def test_inseparable_data_name_the_rows_that_conflict():
    ts = TrainingSet([[0.0], [5], [9], [5], [7]], [-1, -1, 1, 1, 1], row_numbers=[10, 11, 12, 13, 14])
    with pytest.raises(InseparableError, match=r"3 positive from the 2 negative rows \(rows 11, 13 already conflict\)"):
        minimal_norm_svm(ts)
    with pytest.raises(InseparableError, match="rows 0, 1 already conflict"):
        minimal_norm_svm(TrainingSet([[3, 4], [3, 4]], [-1, 1]))
    touching = TrainingSet([[0, 0], [2, 2], [1, 1], [0, 3]], [-1, -1, 1, 1])  # (1, 1) lies between two negatives
    with pytest.raises(
        InseparableError, match=r"rows 0, 1, 2 already conflict\); leave points out with separable_subset"
    ):
        minimal_norm_svm(touching, [3, 0.1])


@pytest.mark.parametrize(
    ("rescaling", "message"),
    [
        ([1, 0], "factor 0 for feature 1"),
        ([0, 0], "factor 0 for feature 0"),
        ([-2, 1], "factor -2 for feature 0"),
        ([1, float("nan")], "factor nan for feature 1"),
        ([float("inf"), 1], "factor inf for feature 0"),
        ([1], r"shape \(1,\); one factor for each of 2 features"),
        ([1, 2, 3], r"shape \(3,\)"),
        ([[1, 2]], r"shape \(1, 2\)"),
        (2.0, r"shape \(\)"),
        (["a", 1], "not a sequence of numbers"),
        ([1, [2, 3]], "not a sequence of numbers"),
        ([1e200, 1], "beyond what a float can hold"),
        ([1e-200, 1e-200], "beyond what a float can hold"),
        ([1e308, 1e308], "beyond what a float can hold"),
    ],
    ids=str,
)
def test_bad_rescalings_are_refused(rescaling, message):
    with pytest.raises(InputError, match=message):
        minimal_norm_svm(TrainingSet([[0, 0], [1, 1]], [-1, 1]), rescaling)


def test_the_callers_rescaling_is_not_kept():
    tau = np.array([1.0, 2.0])
    svm = minimal_norm_svm(TrainingSet([[0, 0], [1, 1]], [-1, 1]), tau)
    tau[0] = 9
    assert svm.rescaling.tolist() == [1, 2]
    assert svm.is_optimal()


def test_points_of_another_width_are_refused():
    svm = minimal_norm_svm(TrainingSet([[0, 0], [1, 1]], [-1, 1]))
    with pytest.raises(InputError, match="3 features, but 2 were seen in training"):
        svm.decision_function([[1, 2, 3]])


def test_the_problem_is_compiled_once_a_training_set(monkeypatch):
    built, compiled = [], []
    make, compile_ = cvxpy.Problem.__init__, cvxpy.Problem._construct_chain

    def counting_make(self, *args, **kwargs):
        built.append(self)
        make(self, *args, **kwargs)

    def counting_compile(self, *args, **kwargs):
        compiled.append(self)
        return compile_(self, *args, **kwargs)

    monkeypatch.setattr(cvxpy.Problem, "__init__", counting_make)
    monkeypatch.setattr(cvxpy.Problem, "_construct_chain", counting_compile)
    ts = MAKERS["gaussian"](3)
    for tau in rescalings(ts, 0):
        assert_optimal(ts, minimal_norm_svm(ts, tau))
    ours = rescaleinv.theory.svm._parametric(ts).problem
    assert [problem for problem in built if problem is ours] == [ours]
    assert [problem for problem in compiled if problem is ours] == [ours]
    assert ours.is_dpp()  # else cvxpy would compile it anew for every value of the parameter
    other = MAKERS["gaussian"](4)
    assert_optimal(other, minimal_norm_svm(other))
    assert rescaleinv.theory.svm._parametric(other).problem is not ours


def test_compiled_problems_go_with_their_training_sets():
    ts = MAKERS["gaussian"](3)
    minimal_norm_svm(ts)
    before = len(rescaleinv.theory.svm._compiled)
    del ts
    gc.collect()
    assert len(rescaleinv.theory.svm._compiled) < before


def test_threads_do_not_disturb_each_other():
    ts = MAKERS["gaussian"](6)
    rng = np.random.default_rng(0)
    taus = [random_rescaling(rng, ts.n_features, 1) for _ in range(24)]
    alone = [minimal_norm_svm(ts, tau).weights for tau in taus]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda tau: minimal_norm_svm(ts, tau).weights, taus))
    assert np.array_equal(alone, together)


def test_a_polished_answer_that_does_not_hold_is_not_handed_on(monkeypatch):
    polish = rescaleinv.theory.svm._polish

    def wrong(*arguments):
        weights, intercept, multipliers = polish(*arguments)
        return weights * (1 + 1e-6), intercept, multipliers

    monkeypatch.setattr(rescaleinv.theory.svm, "_polish", wrong)
    ts = MAKERS["gaussian"](4)
    assert_optimal(ts, minimal_norm_svm(ts))
