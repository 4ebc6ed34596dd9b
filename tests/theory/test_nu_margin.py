"""The ν-SVM against scikit-learn's NuSVC and SVC, its least ν against a plain linear program, and its invariances."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

from rescaleinv import InaccurateWarning, InputError, InseparableError, RescaleInvariantSVC, TrainingSet
from rescaleinv.datasets import load
from rescaleinv.theory.exact_nu import exact_nu_svm_at
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu, nu_of, nu_svm


def overlapping(seed, m=40, n=4, integers=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(m, n)).astype(float) if integers else rng.normal(size=(m, n))
    score = X @ rng.normal(size=n)
    y = np.where(score + rng.normal(size=m) * score.std() > np.median(score), 1, -1)
    return TrainingSet(X, y)


SETS = [
    overlapping(seed, m, n, integers) for seed, (m, n) in enumerate([(30, 1), (40, 3), (60, 6)]) for integers in (0, 1)
]


def hulls_meet(training_set, nu):
    """Whether some 0 <= a <= 1/(ν m), 1/2 per class, has Σ a y x = 0: the definition, by an LP of its own."""
    X, y = training_set.features, training_set.signs
    A = np.vstack([(X * y[:, None]).T, y > 0, y < 0])
    answer = linprog(np.zeros(len(y)), A_eq=A, b_eq=[*np.zeros(X.shape[1]), 0.5, 0.5], bounds=(0, 1 / (nu * len(y))))
    return answer.status == 0


@pytest.mark.parametrize("training_set", SETS)
def test_the_least_nu_is_where_the_reduced_hulls_meet(training_set):
    least = least_nu(training_set)
    assert 0 < least < largest_nu(training_set)
    assert hulls_meet(training_set, least * 0.999)
    assert not hulls_meet(training_set, least * 1.001)


def test_the_least_nu_of_separable_classes_is_zero():
    assert least_nu(TrainingSet([[0.0, 5], [1, 4], [3, 9], [4, 1]], [-1, -1, 1, 1])) == 0


@pytest.mark.parametrize("training_set", SETS)
def test_the_least_nu_does_not_change_with_units_and_copies(training_set):
    least = least_nu(training_set)
    rng = np.random.default_rng(1)
    X, y = training_set.features, training_set.signs
    moved = TrainingSet(X * np.exp(rng.normal(size=X.shape[1]) * 3) + rng.normal(size=X.shape[1]) * 100, y)
    assert least_nu(moved) == pytest.approx(least, rel=1e-6)
    assert least_nu(TrainingSet(np.vstack([X, X]), np.append(y, y))) == pytest.approx(least, rel=1e-6)
    assert least_nu(training_set, np.full(len(y), 3.0)) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("training_set", SETS)
@pytest.mark.parametrize("share", [0.03, 0.37, 0.81])
def test_decision_values_are_those_of_NuSVC(training_set, share):
    least, largest = least_nu(training_set), float(largest_nu(training_set))
    nu = least + share * (largest - least)
    ours = nu_svm(training_set, NuMargin.of(training_set, nu))
    theirs = NuSVC(nu=nu, kernel="linear", tol=1e-10).fit(training_set.features, training_set.signs)
    values = training_set.features @ ours.weights + ours.intercept
    np.testing.assert_allclose(values, theirs.decision_function(training_set.features), atol=2e-4)


def test_row_weights_are_those_of_NuSVC():
    training_set = SETS[2]
    weights = np.random.default_rng(0).uniform(0.5, 2, size=training_set.n_rows)
    nu = 0.8 * float(largest_nu(training_set, weights))
    ours = nu_svm(training_set, NuMargin.of(training_set, nu, weights))
    theirs = NuSVC(nu=nu, kernel="linear", tol=1e-10).fit(
        training_set.features, training_set.signs, sample_weight=weights
    )
    values = training_set.features @ ours.weights + ours.intercept
    np.testing.assert_allclose(values, theirs.decision_function(training_set.features), atol=2e-4)


@pytest.mark.parametrize("name", ["pima_diabetes", "banknote", "breast_cancer_wisconsin"])
@pytest.mark.parametrize("C", [1.0, 0.1])
def test_at_the_standardised_scaling_it_is_the_SVC_label_for_label(name, C):
    features, labels, _ = load(name)
    order = np.random.default_rng(5).permutation(len(features))
    train, test = order[:150], order[150:400]
    scaler = StandardScaler().fit(features[train])
    standardised = TrainingSet(scaler.transform(features[train]), labels[train])
    svm = nu_svm(standardised, NuMargin.like_penalty(standardised, C))
    svc = SVC(kernel="linear", C=C, tol=1e-8).fit(standardised.features, standardised.signs)
    points = scaler.transform(features[test])
    theirs = svc.decision_function(points)
    ours = points @ svm.weights + svm.intercept
    clear = np.abs(theirs) > 1e-4  # nearer to 0 libsvm's own tolerance decides
    assert clear.mean() > 0.98
    assert (np.sign(ours) == np.sign(theirs))[clear].all()


def test_nu_of_a_penalty_does_not_change_with_units():
    training_set = SETS[2]
    nu = nu_of(1.0, training_set.features, training_set.signs)
    assert nu_of(1.0, training_set.features * [1000, 0.001, 7] + [5, -3, 1e4], training_set.signs) == pytest.approx(
        nu, rel=1e-6
    )
    svc = SVC(kernel="linear", C=1.0, tol=1e-9).fit(
        StandardScaler().fit_transform(training_set.features), training_set.signs
    )
    assert nu == pytest.approx(np.abs(svc.dual_coef_).sum() / training_set.n_rows, rel=1e-5)


def test_labels_do_not_change_with_a_common_factor():
    training_set = SETS[3]
    margin = NuMargin.like_penalty(training_set)
    plain, scaled = nu_svm(training_set, margin), nu_svm(training_set, margin, np.full(training_set.n_features, 1000.0))
    np.testing.assert_allclose(plain.weights, scaled.weights, rtol=1e-5, atol=1e-8)
    assert plain.intercept == pytest.approx(scaled.intercept, rel=1e-5)


@pytest.mark.parametrize("name", ["pima_diabetes", "breast_cancer_wisconsin", "banknote"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_rows_that_hold_the_margin_are_the_nearest_ones_in_raw_units_too(name, seed):
    """The conditions of optimality, which a solver with an absolute tolerance misses where the hulls nearly touch."""
    features, labels, _ = load(name)
    order = np.random.default_rng(3).permutation(len(features))[:200]
    training_set = TrainingSet(features[order], labels[order])
    tau = np.ones(features.shape[1])
    if seed is not None:
        tau = np.exp(np.random.default_rng(seed).normal(size=features.shape[1]) * 2)
    margin = NuMargin.like_penalty(training_set)
    svm = nu_svm(training_set, margin, tau)
    gradient = training_set.features.T @ (training_set.signs * svm.multipliers)
    along = gradient * tau**2
    np.testing.assert_allclose(svm.weights / np.abs(svm.weights).max(), along / np.abs(along).max(), atol=1e-6)
    margins = training_set.signs * (training_set.features @ svm.weights + svm.intercept)
    size = np.abs(training_set.features * svm.weights).sum(axis=1).max() * 1e-7
    assert (margins[svm.multipliers > 1e-6 * margin.caps] <= 1 + size).all()
    assert (margins[svm.multipliers < (1 - 1e-6) * margin.caps] >= 1 - size).all()


def test_multipliers_prove_the_solution():
    training_set = SETS[4]
    margin = NuMargin.like_penalty(training_set)
    a = nu_svm(training_set, margin).multipliers
    assert a.min() >= 0
    assert (a <= margin.caps).all()
    for sign in (1, -1):
        assert a[training_set.signs == sign].sum() == pytest.approx(0.5)


def test_caps_are_exact():
    margin = NuMargin.of(SETS[1], Fraction(2, 3))
    assert margin.exact_caps == [Fraction(3, 2 * SETS[1].n_rows)] * SETS[1].n_rows


def test_where_every_multiplier_is_at_an_end_nu_is_a_whole_number_of_rows():
    # the SVC has all multipliers at 0 or C here: ν m / 2 = 2 rows per class
    training_set = TrainingSet([[0.0], [2], [1], [3]], [-1, -1, 1, 1])
    assert NuMargin.like_penalty(training_set, 0.01).nu == 1


def test_a_nu_that_is_too_small_says_the_least():
    least = least_nu(SETS[0])
    with pytest.raises(InseparableError, match=rf"meet up to nu = {least:.6g}"):
        NuMargin.of(SETS[0], least * 0.9)


@pytest.mark.parametrize("nu", [0.999, 1.5, 0.0, -1.0])
def test_a_nu_out_of_range_says_the_range(nu):
    training_set = TrainingSet([[0.0], [1], [2], [3]], [-1, -1, -1, 1])
    with pytest.raises(InputError, match=r"it must be positive and at most 0\.5"):
        NuMargin.of(training_set, nu)


def test_classes_that_overlap_altogether_are_said_to_do_so():
    training_set = TrainingSet([[0.0], [1], [0], [1], [0.5]], [-1, -1, 1, 1, 1])
    with pytest.raises(InseparableError, match="no weights at all"):
        NuMargin.like_penalty(training_set)


@pytest.mark.parametrize("C", [0, -1, float("inf"), float("nan"), "1", None, True])
def test_nu_of_refuses_a_wrong_penalty(C):
    with pytest.raises(InputError, match="C is "):
        nu_of(C, [[0.0], [1], [2]], [-1, 1, 1])


@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 0], [1, 1, float("nan")]])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(InputError, match="one positive, finite weight"):
        least_nu(TrainingSet([[0.0], [1], [2]], [-1, 1, 1]), weights)


def test_the_largest_nu_as_a_float_is_the_largest_nu():
    ts = TrainingSet([[0.0], [1], [2], [3], [2.5], [9], [8], [7], [6], [5]], [1, -1, -1, -1, -1, -1, -1, -1, -1, -1])
    assert float(largest_nu(ts)) == 0.2
    assert largest_nu(ts) < 0.2  # as the float is more than 1/5
    assert NuMargin.of(ts, 0.2).nu == largest_nu(ts)


def test_there_may_be_no_nu_at_all():
    ts = TrainingSet([[0.0], [1], [0], [1]], [1, 1, -1, -1])
    with pytest.raises(InseparableError, match="no hyperplane does better than one label for all"):
        NuMargin.of(ts, 0.5)


def unlike_sizes(seed):
    """Three features of two decimals, in units up to 1e8 apart."""
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(25, 3)), 2)
    labels = np.where(rows[:, 0] + rng.normal(size=25) * 0.7 > 0, 1, -1)
    return TrainingSet(rows * [1.0, 1e4, 1e8], labels)


@pytest.mark.parametrize("seed", range(4))
def test_features_of_very_unlike_sizes(seed):
    training_set = unlike_sizes(seed)
    margin = NuMargin.like_penalty(training_set)
    exact = exact_nu_svm_at(training_set, margin, np.ones(3), bits=120)
    expected = np.array([float(w) for w in exact.weights])
    svm = nu_svm(training_set, margin)
    np.testing.assert_allclose(svm.weights / svm.weights[0], expected / expected[0], rtol=1e-6)
    values = exact.decision_values([Fraction(x) for x in training_set.features[0].tolist()])
    middle = float((values[0] + values[1]) / 2 / exact_rho(exact))
    assert training_set.features[0] @ svm.weights + svm.intercept == pytest.approx(middle, rel=1e-6, abs=1e-6)


def exact_rho(exact):
    return sum((low + high) / 2 for low, high in exact.thresholds.values()) / 2


def test_an_inaccurate_svm_is_announced(monkeypatch):
    """Many rows are too many for rationals. Clarabel takes these ones only with each feature in its own units."""
    monkeypatch.setattr("rescaleinv.theory.nu_margin._MOST_WORK", 0)
    monkeypatch.setattr("rescaleinv.theory.nu_margin._MOST_DISORDER", -1.0)
    training_set = unlike_sizes(1)
    with pytest.warns(InaccurateWarning, match="standardise the features"):
        svm = nu_svm(training_set, NuMargin.like_penalty(training_set))
    labels = np.sign((training_set.features - training_set.conditioning.anchor) @ svm.weights + svm.value_at_anchor)
    assert np.mean(labels == training_set.signs) > 0.5  # how inaccurate it is depends on the versions of the libraries


def test_values_that_no_float_solver_takes_have_verdicts_and_labels():
    """Ratios of 1e18 and more: once a CertificateError of certify, and an InseparableError of fit."""
    rows = [[-1.0, 2.0**60], [-1.0, -4.0], [2.0**-60, 2.0**64], [2.0**122, 1.0]]
    model = RescaleInvariantSVC(nu=0.45).fit(rows, [1, -1, -1, -1])
    assert len(model.certify(rows)) == 4
    rows = [[4.0, 2.0**64], [2.0**31, 4.0], [-2.0, -2.0], [2.0**122, -3.0]]
    model = RescaleInvariantSVC(nu=0.05).fit(rows, [-1, -1, -1, 1])
    assert model.predict(rows).tolist() == [-1, -1, -1, 1]
    assert len(model.certify(rows)) == 4


@pytest.mark.parametrize("C", [0.001, 0.01])
def test_at_the_largest_nu_the_intercept_is_that_of_the_SVC(C):
    # every positive row is at its cap, so that the best intercept has no lower bound
    rng = np.random.default_rng(4)
    shift = np.array([1.0, 0.5, 0])
    X = np.vstack([rng.normal(size=(50, 3)), rng.normal(size=(20, 3)) + shift])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.array([-1] * 50 + [1] * 20)
    training_set = TrainingSet(X, y)
    margin = NuMargin.like_penalty(training_set, C)
    assert margin.nu == largest_nu(training_set)
    assert margin.rho > 1.5
    found, theirs = nu_svm(training_set, margin), SVC(kernel="linear", C=C, tol=1e-8, max_iter=10**6).fit(X, y)
    np.testing.assert_allclose(found.weights, theirs.coef_[0], rtol=1e-4, atol=1e-7)
    # 20 of the negative rows may be at their caps as well: a short interval, of which libsvm takes what its tolerance gives
    np.testing.assert_allclose(found.intercept, theirs.intercept_[0], rtol=2e-3)
    # as a number it takes the end that there is
    end = nu_svm(training_set, NuMargin.of(training_set, margin.nu))
    assert end.intercept / np.linalg.norm(end.weights) > found.intercept / np.linalg.norm(found.weights)
