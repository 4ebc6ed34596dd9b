"""What fitted models minimise, and whether they did."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC, NuSVC

from rescaleinv.datasets import load
from rescaleinv.errors import InputError, InputTypeError, LeftOutWarning
from rescaleinv.estimators.objectives import compare_with_optimum, how_it_stopped, objective_of
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.theory.optima import Objective

X, Y, _ = load("pima_diabetes")
X, Y = X[:120], Y[:120]


def fitted(model, **options):
    return model.fit(X, Y, **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (SVC(kernel="linear", C=2.0, max_iter=5), Objective("hinge", C=2.0)),
        (NuSVC(kernel="linear", nu=0.4, max_iter=5), Objective("nu", nu=0.4)),
        (LinearSVC(max_iter=5), Objective("squared hinge", intercept="penalised")),
        (
            LinearSVC(loss="hinge", intercept_scaling=3, max_iter=5),
            Objective("hinge", intercept="penalised", intercept_scaling=3.0),
        ),
        (LinearSVC(loss="hinge", fit_intercept=False, max_iter=5), Objective("hinge", intercept="none")),
        (RescaleInvariantSVC(C=3.0), Objective("hinge", C=3.0)),
    ],
    ids=repr,
)
def test_objective_of(model, expected):
    assert repr(objective_of(fitted(model))) == repr(expected)  # nan is not equal to itself


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: fitted(SVC(max_iter=5)), "kernel='rbf'"),
        (lambda: fitted(LinearSVC(class_weight="balanced", max_iter=5)), "weights are not supported"),
        (lambda: fitted(LinearSVC(penalty="l1", dual=False, max_iter=5)), "penalty='l1'"),
        (lambda: SVC(kernel="linear", max_iter=50).fit(X, np.arange(120) % 3), "3 classes"),
        (lambda: SVC(kernel="linear").fit(X[:, 1:3], Y, sample_weight=np.full(120, 5.0)), "sample weights"),
        (lambda: "svm", "a str was given"),
    ],
)
def test_what_has_no_objective_here_is_refused_in_one_line(model, message):
    with pytest.raises((InputError, InputTypeError), match=message) as caught:
        objective_of(model())
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_stopped_early_is_said_to_be_so():
    model = fitted(LinearSVC(loss="hinge", max_iter=3, random_state=0))
    check = compare_with_optimum(model, X, Y)
    assert check.stopped == how_it_stopped(model) == "stopped at max_iter=3"
    assert not check.converged
    # the number is that of labels that a run to the end changes
    assert 0 < check.changed.sum() == int(str(check).split("; ")[1].split()[0])
    assert check.best.reached
    assert how_it_stopped(fitted(SVC(kernel="linear", max_iter=10))) == "stopped at max_iter=10"


def test_a_model_that_converged():
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    for model in (
        SVC(kernel="linear", tol=1e-8),
        NuSVC(kernel="linear", nu=0.6, tol=1e-8),
        LinearSVC(tol=1e-8, max_iter=100000),
        RescaleInvariantSVC(C=1.0),
    ):
        check = compare_with_optimum(model.fit(standardised, Y), standardised, Y)
        assert check.converged, model


def test_rows_that_a_hard_margin_left_out_do_not_count():
    with pytest.warns(LeftOutWarning):
        model = RescaleInvariantSVC(inconsistent="drop").fit(X, Y)
    assert compare_with_optimum(model, X, Y, X[:20]).converged
