"""The one-pass learners against numerical gradients, numerical optimisation, scikit-learn, and plain loops."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from estimator_checks import not_passed
from feature_scaling_formulas import decision_value
from made_rows import made_rows
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from rescaleinv import InputError
from rescaleinv.online import (
    LEARNERS,
    OnlineFeatureScaling,
    OnlineLogistic,
    OnlinePassiveAggressive,
    online_learner,
)

each_learner = pytest.mark.parametrize("name", LEARNERS)


# --- scikit-learn ---------------------------------------------------------------------------------------------------


def test_every_check_of_scikit_learn_passes():
    names = ("OnlineFeatureScaling", "OnlineLogistic", "OnlinePassiveAggressive", "RunningScaler")
    bad, count = not_passed(*(f"online.{name}" for name in names))
    assert not bad
    assert count > 4 * 40


@pytest.mark.filterwarnings("ignore::UserWarning")  # of the checks themselves
@pytest.mark.parametrize("name", ["SGD+avg", "FS-1+avg", "FS-2", "FS-3+avg", "PA-II"])
def test_the_checks_pass_with_other_settings_too(name):
    results = check_estimator(online_learner(name), on_fail=None)
    # skipped unless a variable is set before scipy is imported; the test above has it
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}


@each_learner
def test_parts_and_sparse_rows_give_the_same_to_the_last_bit(name):
    X, y = made_rows(1)
    whole = online_learner(name).fit(X, y)
    values = whole.decision_function(X)
    sparse_one = online_learner(name).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(sparse_one.decision_function(sparse.csc_matrix(X)), values)
    parts = online_learner(name)
    if hasattr(parts, "horizon"):
        parts.set_params(horizon=len(X))
    for start, end in ((0, 1), (1, 2), (2, 30), (30, 60)):
        parts.partial_fit(X[start:end], y[start:end], classes=[-1, 1])
    np.testing.assert_array_equal(parts.decision_function(X), values)
    assert (parts.n_seen_, parts.n_errors_) == (whole.n_seen_, whole.n_errors_)
    assert whole.fit(X, y).n_seen_ == len(X)  # fit starts afresh
    np.testing.assert_array_equal(whole.decision_function(X), values)


@each_learner
def test_errors_are_those_of_predictions_before_learning(name):
    X, y = made_rows(2)
    learner = online_learner(name, **({} if name.startswith("PA") else {"horizon": len(X)}))
    learner.partial_fit(X[:20], y[:20], classes=[-1, 1])
    errors = int(learner.n_errors_)
    for x, label in zip(X[20:], y[20:], strict=True):
        before = pickle.loads(pickle.dumps(learner))
        if name.startswith("GN"):
            before.scaler_.partial_fit([x])  # which knows nothing of labels
        errors += before.predict([x])[0] != label
        learner.partial_fit([x], [label])
        assert learner.n_errors_ == errors
    whole = online_learner(name).fit(X, y)
    assert whole.mistakes_.sum() == whole.n_errors_ == errors
    assert 0 < errors < len(X)


@each_learner
def test_memory_does_not_grow_with_the_rows(name):
    X, y = made_rows(3, n_rows=100)
    learner = online_learner(name).partial_fit(X, y)
    size = len(pickle.dumps(learner))
    for _ in range(50):
        learner.partial_fit(X, y)
    assert learner.n_seen_ == 5100
    assert len(pickle.dumps(learner)) <= size + 8  # numbers have become longer


@each_learner
def test_sparse_rows_are_never_made_dense_together(name, monkeypatch):
    X, y = made_rows(4)

    def refuse(*args, **options):
        raise AssertionError("made dense")

    matrix = sparse.csr_array(X)
    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    monkeypatch.setattr(sparse.csr_array, "todense", refuse)
    assert online_learner(name).fit(matrix, y).predict(matrix).shape == (len(y),)


@each_learner
def test_names_and_labels(name):
    X, y = made_rows(5)
    frame = pd.DataFrame(X, columns=list("abcd"))
    learner = online_learner(name).fit(frame, np.array(["no", "yes"])[(y > 0) * 1])
    assert learner.feature_names_in_.tolist() == list("abcd")
    assert set(learner.predict(frame)) <= {"no", "yes"}
    np.testing.assert_array_equal(learner.predict(frame) == "yes", online_learner(name).fit(X, y).predict(X) == 1)
    if hasattr(learner, "predict_proba"):
        proba = learner.predict_proba(frame)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        np.testing.assert_array_equal(proba[:, 1] >= 0.5, learner.predict(frame) == "yes")


@each_learner
def test_wrong_input_is_an_error_of_ours(name):
    X, y = made_rows(6)
    with pytest.raises(InputError, match="one class"):
        online_learner(name).fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="one class"):
        online_learner(name).partial_fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="Only binary"):
        online_learner(name).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(InputError, match="NaN"):
        online_learner(name).fit(np.where(X == 3, np.nan, X), y)
    learner = online_learner(name).fit(X, y)
    with pytest.raises(InputError, match=r"labels \[5\] are not among"):
        learner.partial_fit(X[:1], [5])
    with pytest.raises(InputError, match="at the first call they were"):
        learner.partial_fit(X[:1], [1], classes=[1, 2])
    with pytest.raises(NotFittedError):
        online_learner(name).predict(X)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (OnlineLogistic(learning_rate=0), "learning_rate is 0"),
        (OnlineLogistic(horizon=2.5), "horizon is 2.5"),
        (OnlineLogistic(l2=-1), "l2 is -1"),
        (OnlineLogistic(penalty="l1"), "penalty is 'l1'"),
        (OnlineFeatureScaling(l2_offsets=math.nan), "l2_offsets is nan"),
        (OnlineFeatureScaling(variant="FS-4"), "variant is 'FS-4'"),
        (OnlineFeatureScaling(variant="FS-3", l2_weights=1.0), "FS-3 has no weights"),
        (OnlineFeatureScaling(variant="FS-1", l2_slopes=1.0), "FS-1 has no slopes"),
        (OnlinePassiveAggressive(C=0), "C is 0"),
        (OnlinePassiveAggressive(loss="log"), "loss is 'log'"),
    ],
)
def test_wrong_parameters_are_errors_of_ours(learner, message):
    with pytest.raises(InputError, match=message):
        learner.fit(*made_rows(7))


# --- the steps ------------------------------------------------------------------------------------------------------


def test_a_strong_penalty_stops_at_zero():
    X, y = made_rows(9)
    for penalty in ("squared", "norm"):
        learner = OnlineLogistic(scaled=False, l2=1e6, penalty=penalty).fit(X, y)
        # what is left is the step of the last row
        assert np.abs(learner.coef_).max() <= 0.1 * np.abs(X[-1]).max()


@pytest.mark.parametrize("family", ["SGD", "GN", "FS", "FS-1", "FS-2", "FS-3", "PA", "PA-I", "PA-II"])
def test_averages_are_means_of_the_parameters_after_each_row(family):
    X, y = made_rows(13)
    X[:, 3] /= 4
    settings = {} if family.startswith("PA") else {"horizon": 60}
    plain, averaged = online_learner(family, **settings), online_learner(f"{family}+avg", **settings)
    seen = []
    for x, label in zip(X, y, strict=True):
        plain.partial_fit([x], [label], classes=[-1, 1])
        averaged.partial_fit([x], [label], classes=[-1, 1])
        seen.append(plain._parameters.copy())
    np.testing.assert_allclose(averaged._parameters, np.mean(seen, axis=0), rtol=1e-9, atol=1e-12)
    assert not np.allclose(averaged._parameters, seen[-1])


@each_learner
def test_public_parameters_are_what_predicts(name):
    X, y = made_rows(14)
    learner = online_learner(name).fit(X, y)
    if name.startswith("FS"):
        parameters = learner.weights_, learner.slopes_, learner.offsets_, learner.intercept_[0]
        expected = [decision_value(name.removesuffix("+avg"), x, *parameters) for x in X]
    else:
        expected = X @ learner.coef_[0] + learner.intercept_[0]
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-9, atol=1e-9)
