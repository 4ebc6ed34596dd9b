"""RescaleInvariantSVC as scikit-learn and its users meet it, and ``certify`` through pipelines and searches."""

import json
import warnings

import cvxpy as cp
import joblib
import made_sets
import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_checks import not_passed
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rescaleinv import (
    ComplexEngine,
    InputError,
    InputTypeError,
    InseparableError,
    LeftOutWarning,
    NotAvailableError,
    RescaleInvariantSVC,
    TrainingSet,
    Verdict,
    certify,
    minimal_norm_svm,
)
from rescaleinv.datasets import load
from rescaleinv.theory.scale_range import as_groups
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check

ROWS, LABELS = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
POINTS = [[-1, 4], [4, 4], [0, 0]]
# two rows of each class, and a row of the first class deep inside the second
INCONSISTENT = [[0.0], [1], [2], [8], [9], [10], [9.5]], [0, 0, 0, 1, 1, 1, 0]


@pytest.fixture(scope="module")
def tumours():
    data = load("breast_cancer_wisconsin")
    return data.features, np.where(data.labels > 0, "benign", "malignant"), list(data.feature_names)


def test_every_check_of_scikit_learn_passes():
    bad, count = not_passed("RescaleInvariantSVC")
    assert not bad
    assert count > 60


# --- what it says ---------------------------------------------------------------------------------------------------


def test_example_of_the_paper():
    clf = RescaleInvariantSVC().fit(ROWS, LABELS)
    assert clf.classes_.tolist() == ["down", "up"]
    np.testing.assert_allclose(clf.coef_, [[2.5, 2.5]])
    np.testing.assert_allclose(clf.intercept_, [-6])
    assert clf.predict(POINTS).tolist() == ["up", "up", "down"]
    np.testing.assert_allclose(clf.decision_function(POINTS), [1.5, 14, -6])
    verdicts = clf.certify(POINTS)
    assert list(verdicts) == [Verdict.NEUTRAL, Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE]
    assert check(verdicts.certificate(0).to_json()) == "neutral"
    assert clf.predict_set(POINTS).tolist() == [[True, True], [False, True], [True, False]]
    assert not clf.is_invariant_
    assert clf.fit([ROWS[0], ROWS[1], ROWS[3]], ["up", "up", "down"]).is_invariant_


@pytest.mark.parametrize("seed", range(6))
def test_no_rescaling_contradicts_a_strong_verdict(seed):
    training_set = made_sets.gaussian(seed, 1 + seed % 4)
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, training_set.n_features))
    clf = RescaleInvariantSVC().fit(training_set.features, training_set.signs)
    verdicts = clf.certify(points)
    assert verdicts.strong.any()
    for factors in np.exp(rng.normal(scale=2, size=(8, training_set.n_features))):
        rescaled = RescaleInvariantSVC().fit(training_set.features * factors, training_set.signs)
        labels = rescaled.predict(points * factors)
        assert (labels[verdicts.strongly_positive] == 1).all()
        assert (labels[verdicts.strongly_negative] == -1).all()


def test_fitting_and_predicting_enumerate_nothing(tumours):
    features, labels, _ = tumours
    clf = RescaleInvariantSVC().fit(features[:30], labels[:30])
    clf.predict(features)
    assert clf.engine_.made is None
    assert clf.precompute() is clf
    assert isinstance(clf.engine_.made, ComplexEngine)
    engine = clf.engine_.made
    clf.certify(features[:5])
    assert clf.engine_.made is engine
    assert clf.fit(features[:30], labels[:30]).engine_.made is None


@pytest.mark.filterwarnings("ignore::rescaleinv.LeftOutWarning")
def test_engines_agree(tumours):
    features, labels, _ = tumours
    few = features[:, [0, 2, 5]]
    by_name = {
        name: RescaleInvariantSVC(engine=name, inconsistent="drop")
        .fit(few[:20], labels[:20])
        .certify(few[100:115])
        .code
        for name in ("complex", "milp", "milp:ortools")
    }
    assert (by_name["complex"] == by_name["milp"]).all()
    assert (by_name["complex"] == by_name["milp:ortools"]).all()


# --- rows that have to go -------------------------------------------------------------------------------------------


def test_inconsistent_rows_may_be_refused():
    with pytest.raises(InseparableError, match="no hyperplane separates"):
        RescaleInvariantSVC(inconsistent="raise").fit(*INCONSISTENT)


def test_one_point_with_both_labels_is_hopeless():
    with pytest.raises(InseparableError, match="the same point with both labels"):
        RescaleInvariantSVC(inconsistent="drop").fit([[1, 2]] * 4, [0, 1, 0, 1])


# --- soft margins and limited ranges --------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 1, 30])
def test_a_finite_C_is_the_soft_margin_of_scikit_learn(C):
    data = load("pima_diabetes")
    features, labels = StandardScaler().fit_transform(data.features)[:150], data.labels[:150]
    clf = RescaleInvariantSVC(C=C).fit(features, labels)
    theirs = SVC(kernel="linear", C=C, tol=1e-8).fit(features, labels)
    np.testing.assert_allclose(clf.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(clf.decision_function(features), theirs.decision_function(features), atol=1e-4)
    assert clf.dropped_.size == 0
    assert clf.training_set_.n_rows == 150


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"C": 1.0}, "C is finite, and scale_range is None"),
        ({"engine": "gap"}, "engine='gap' needs a finite scale_range"),
        ({"engine": "milp", "scale_range": 2}, "engine='milp' considers every rescaling"),
    ],
)
def test_what_no_engine_decides_is_a_clear_error(options, what):
    clf = RescaleInvariantSVC(**options).fit(ROWS, LABELS)
    assert clf.predict(POINTS).tolist() == ["up", "up", "down"]
    assert clf.engine_.name == "none"
    for refused in (clf.certify, clf.predict_set):
        with pytest.raises(NotAvailableError, match=what) as caught:
            refused(POINTS)
        assert isinstance(caught.value, NotImplementedError)


def test_limited_ranges_and_soft_margins_are_certified():
    assert RescaleInvariantSVC(scale_range=1.05).fit(ROWS, LABELS).certify(POINTS).code.tolist() == [1, 1, -1]
    assert RescaleInvariantSVC(scale_range=5).fit(ROWS, LABELS).certify(POINTS).code.tolist() == [0, 1, -1]
    soft = RescaleInvariantSVC(scale_range=(0.9, 1.2), C=1000.0).fit(ROWS, LABELS)
    assert soft.engine_.name == "gap"
    assert soft.predict_set(POINTS)[1:].tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize("nu", [None, 0.4])
def test_one_group_of_all_features_changes_nothing(nu):
    for scale_range in (100, None):
        clf = RescaleInvariantSVC(groups=[0, 0], scale_range=scale_range, nu=nu).fit(ROWS, LABELS)
        verdicts = clf.certify(POINTS)
        assert verdicts.strong.all()
        assert (clf.classes_[(verdicts.code > 0).astype(int)] == clf.predict(POINTS)).all()
        for i in range(len(POINTS)):
            assert check(verdicts.certificate(i).to_json()).endswith(" within the range")
    assert clf.engine_.reason.startswith("all features share one factor, which changes nothing")


def test_every_factor_of_each_group():
    """One group frozen and the others free is every rescaling of groups: against plain SVMs at sampled factors."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(20, 4))
    signs = np.where(rows @ [1, 2, -1, 0.5] > 0, 1, -1)
    points, groups = random.normal(size=(30, 4)) * 1.5, [0, 0, 1, 2]
    ranges = [(1, 1), (1, 1), (0, np.inf), (0, np.inf)]
    shared = RescaleInvariantSVC(groups=groups, scale_range=ranges).fit(rows, signs).certify(points)
    every = RescaleInvariantSVC().fit(rows, signs).certify(points)
    assert shared.neutral.any()
    assert (shared.strong & every.neutral).any()  # fewer rescalings
    assert not (every.strong & shared.neutral).any()
    for _ in range(50):
        tau = (10 ** random.uniform(-3, 3, 3))[groups]
        values = minimal_norm_svm(TrainingSet(rows, signs), tau).decision_function(points)
        assert (shared.code * values)[shared.strong].min() > -1e-6


def _made_rows(seed, n_features, n_rows=20):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_rows, n_features)) * 10 ** random.uniform(-1, 1, n_features)
    direction = random.normal(size=n_features) / rows.std(axis=0)
    return rows, direction, random.normal(size=(12, n_features)) * rows.std(axis=0) * 1.5, random


def _plain_svm(rows, signs, nu, points):
    """Decision values by Clarabel: libsvm is wrong by more than a margin where factors are a thousand apart."""
    weights, intercept, margin = cp.Variable(rows.shape[1]), cp.Variable(), cp.Variable()
    slack = cp.Variable(len(rows), nonneg=True)
    cost, limits = cp.sum_squares(weights) / 2, [cp.multiply(signs, rows @ weights + intercept) >= margin - slack]
    if nu is None:
        limits += [margin == 1, slack == 0]
    else:
        cost += cp.sum(slack) / len(rows) - nu * margin
    tight = {"tol_gap_abs": 1e-14, "tol_gap_rel": 1e-14, "tol_feas": 1e-12}
    cp.Problem(cp.Minimize(cost), limits).solve(solver=cp.CLARABEL, **tight)
    return (points @ weights.value + intercept.value) / margin.value


@pytest.mark.parametrize("groups", [[0, 0, 1, 1], [0, 1, 1, 2], ["cm", "kg", "cm", "cm"]])
@pytest.mark.parametrize("nu", [None, 0.55])  # with which the best intercept is unique
def test_groups_without_a_range_are_every_factor_of_each_group(groups, nu):
    """Against plain SVMs at sampled factors of the groups: strong verdicts hold, witnesses change the label."""
    rows, direction, points, random = _made_rows(7, 4)
    noise = 0.0 if nu is None else random.normal(size=len(rows))
    signs = np.where(rows @ direction + noise > 0, 1, -1)
    clf = RescaleInvariantSVC(groups=groups, nu=nu).fit(rows, signs)
    verdicts = clf.certify(points)
    assert not verdicts.unknown.any()
    assert verdicts.neutral.any()
    assert verdicts.strong.any()
    numbers = as_groups(groups, 4)

    def values_at(tau, x):
        size = (rows * tau).std() / 100  # a common factor changes nothing
        return _plain_svm(rows * tau / size, signs, nu, x * tau / size)

    for _ in range(40):
        values = values_at((10 ** random.uniform(-2, 2, len(set(groups))))[numbers], points)
        assert (verdicts.code * values)[verdicts.strong].min() > -1e-4
    kept = (clf.engine_.engine.limits == 1).all(axis=1)
    for i in np.flatnonzero(verdicts.neutral):
        witness = verdicts.witness(i)
        for tau, sign in ((witness.positive, 1), (witness.negative, -1)):
            assert all(np.ptp(tau[numbers == g]) == 0 for g in numbers)
            assert (tau[kept] == 1).all()
            if tau.max() / tau.min() < 1e4:  # further apart than that no solver in floats is accurate
                assert sign * values_at(tau, points[i : i + 1])[0] > -1e-4
    for i in range(len(points)):
        certificate = verdicts.certificate(i).to_json()
        assert check(certificate) == f"{verdict_words(verdicts.code[i])} within the range"
        assert json.loads(certificate)["evidence"]["range"]["groups"] == numbers.tolist()


@pytest.mark.parametrize("nu", [None, 0.45])  # with which the best intercept is unique
def test_groups_of_one_feature_each_are_every_rescaling(nu):
    rows, direction, points, random = _made_rows(7, 3)
    signs = np.where(rows @ direction + (0.0 if nu is None else random.normal(size=len(rows))) > 0, 1, -1)
    single = RescaleInvariantSVC(groups=["a", "b", "c"], nu=nu).fit(rows, signs).certify(points)
    every = RescaleInvariantSVC(nu=nu).fit(rows, signs).certify(points)
    assert not single.unknown.any()
    assert single.code.tolist() == every.code.tolist()


def test_the_radius_moves_every_group_whichever_keeps_its_scale_in_verdicts():
    rows, direction, points, _ = _made_rows(3, 3)
    signs = np.where(rows @ direction > 0, 1, -1)
    without, within = (RescaleInvariantSVC(groups=[0, 0, 1], scale_range=one).fit(rows, signs) for one in (None, 1000))
    assert (without.rescaling_radius(points[:4], ratio=1.1) == within.rescaling_radius(points[:4], ratio=1.1)).all()


def test_groups_with_a_penalty_need_a_range():
    clf = RescaleInvariantSVC(groups=[0, 0], C=100.0).fit(ROWS, LABELS)
    with pytest.raises(NotAvailableError, match="C is finite, and scale_range is None"):
        clf.certify(POINTS)


def test_groups_are_those_of_the_features_that_the_svm_sees():
    """A scaler changes the features of a group by unlike factors: it is not gone around."""
    rows, direction, points, _ = _made_rows(3, 3)
    signs = np.where(rows @ direction > 0, 1, -1)
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC(groups=[0, 0, 1])).fit(rows, signs)
    found = certify(pipeline, points)
    assert found.provenance == "the features that the last step of the pipeline sees"
    assert found.code.tolist() == pipeline[-1].certify(pipeline[:-1].transform(points)).code.tolist()


def test_groups_without_a_range_are_kept_in_a_file(tmp_path):
    clf = RescaleInvariantSVC(groups=[0, 0]).fit(ROWS, LABELS)
    clf.save(tmp_path / "model")
    again = RescaleInvariantSVC.load(tmp_path / "model")
    assert again.engine_.reason == clf.engine_.reason
    assert again.certify(POINTS).code.tolist() == clf.certify(POINTS).code.tolist()


def test_free_and_frozen_features_are_certified_side_by_side():
    """One feature free and one frozen are all ratios of two factors: with a hard margin that is every rescaling."""
    for ranges in ([(1, 1), (0, np.inf)], [(0, np.inf), (1, 1)]):
        clf = RescaleInvariantSVC(scale_range=ranges).fit(ROWS, LABELS)
        verdicts = clf.certify(POINTS)
        assert verdicts.code.tolist() == [0, 1, -1]
        assert verdicts.status.tolist() == ["certified"] * 3
        assert clf.rescaling_radius(POINTS)[1:].tolist() == [[np.inf, np.inf]] * 2


def test_the_invariance_of_soft_margins_is_refused():
    with pytest.raises(NotAvailableError, match="hard margin"):
        _ = RescaleInvariantSVC(C=1.0).fit(ROWS, LABELS).is_invariant_


def test_ranges_that_free_every_feature_are_no_limit():
    verdicts = RescaleInvariantSVC(scale_range=(0, np.inf)).fit(ROWS, LABELS).certify(POINTS)
    assert verdicts.code.tolist() == [0, 1, -1]


# --- weights --------------------------------------------------------------------------------------------------------


def test_rows_without_weight_are_not_there():
    features, labels = INCONSISTENT
    weights = [1, 1, 1, 1, 1, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = RescaleInvariantSVC().fit(features, labels, sample_weight=weights)
    assert clf.dropped_.size == 0
    assert clf.training_set_.row_numbers.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(InputError, match="one class"):
        RescaleInvariantSVC().fit(features, labels, sample_weight=[1, 1, 1, 0, 0, 0, 0])


def test_a_hard_margin_does_not_depend_on_positive_weights():
    plain = RescaleInvariantSVC().fit(ROWS, LABELS)
    weighted = RescaleInvariantSVC(class_weight={"up": 5, "down": 0.1}).fit(ROWS, LABELS, sample_weight=[1, 2, 3, 9])
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)


@pytest.mark.parametrize("rule", ["fewest", "greedy"])
def test_rules_that_count_rows_refuse_weights_that_differ(rule):
    features, labels = INCONSISTENT
    with pytest.raises(InputError, match="counts rows"):
        RescaleInvariantSVC(inconsistent="drop", drop_rule=rule).fit(
            features, labels, sample_weight=[1, 2, 3, 4, 5, 6, 7]
        )
    with pytest.warns(LeftOutWarning):
        RescaleInvariantSVC(inconsistent="drop", drop_rule=rule).fit(features, labels, sample_weight=[2] * 7)
    # where nothing has to go, there is nothing to refuse
    RescaleInvariantSVC(inconsistent="drop", drop_rule=rule).fit(ROWS, LABELS, sample_weight=[1, 2, 3, 4])


# --- in the company of others ---------------------------------------------------------------------------------------


def test_certify_goes_through_a_pipeline_to_the_estimator(tumours):
    features, labels, _ = tumours
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC()).fit(features[:30], labels[:30])
    inner = pipeline[-1].certify(pipeline[0].transform(features[30:80]))
    assert (certify(pipeline, features[30:80]).code == inner.code).all()
    assert (certify(make_pipeline(pipeline), features[30:80]).code == inner.code).all()


def test_standardising_is_one_of_the_rescalings():
    training_set = made_sets.gaussian(4, 4)
    points = np.random.default_rng(0).normal(size=(60, 4))
    alone = RescaleInvariantSVC().fit(training_set.features, training_set.signs)
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC()).fit(training_set.features, training_set.signs)
    codes = certify(pipeline, points).code
    assert (certify(alone, points).code == codes).all()
    assert {-1, 0, 1} == set(codes)


def test_a_search_stands_for_its_best_estimator(tumours):
    features, labels, _ = tumours
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC())
    grid = {"rescaleinvariantsvc__drop_rule": ["misclassified", "greedy"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        search = GridSearchCV(pipeline, grid, cv=3).fit(features[:60], labels[:60])
    assert search.best_score_ > 0.8
    assert search.best_estimator_[-1].engine_.made is None
    assert (certify(search, features[60:80]).code == certify(search.best_estimator_, features[60:80]).code).all()


def test_cross_validation_with_soft_and_hard_margins(tumours):
    features, labels, _ = tumours
    for C in (0.1, float("inf")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftOutWarning)
            scores = cross_val_score(RescaleInvariantSVC(C=C), features[:90], labels[:90], cv=3)
        assert scores.min() > 0.8


def test_certify_says_what_cannot_certify():
    other = LogisticRegression().fit(ROWS, LABELS)
    for estimator in (other, make_pipeline(StandardScaler(), LogisticRegression()).fit(ROWS, LABELS)):
        with pytest.raises(
            InputError, match="LogisticRegression can't certify; a fitted RescaleInvariantSVC is needed"
        ):
            certify(estimator, POINTS)
    for unfitted in (RescaleInvariantSVC(), make_pipeline(StandardScaler(), RescaleInvariantSVC())):
        with pytest.raises(NotFittedError):
            certify(unfitted, POINTS)


def test_clones_have_the_parameters_and_nothing_else():
    clf = RescaleInvariantSVC(scale_range=(0.5, 2), C=3, engine="milp", drop_rule="fewest", n_jobs=2).fit(ROWS, LABELS)
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert not hasattr(copy, "classes_")
    assert not hasattr(copy, "is_invariant_")


def test_tables_of_all_kinds_say_the_same(tumours):
    features, labels, names = tumours
    plain = RescaleInvariantSVC().fit(features[:30], labels[:30])
    expected = plain.certify(features[30:60]).code
    assert not hasattr(plain, "feature_names_in_")
    kinds = {
        "pandas": lambda rows: pd.DataFrame(rows, columns=names),
        "polars": lambda rows: pl.DataFrame(rows, schema=names),
        "csr": sparse.csr_array,
        "coo": sparse.coo_matrix,
        "lists": lambda rows: rows.tolist(),
    }
    for kind, table in kinds.items():
        clf = RescaleInvariantSVC().fit(table(features[:30]), labels[:30])
        assert (clf.certify(table(features[30:60])).code == expected).all(), kind
        assert (clf.predict(table(features)) == plain.predict(features)).all(), kind
        if kind in ("pandas", "polars"):
            assert clf.feature_names_in_.tolist() == names
            assert clf.training_set_.feature_names == tuple(names)
            with pytest.raises(InputError, match="feature names should match"):
                clf.predict(table(features)[names[::-1]])


@pytest.mark.parametrize("wrap", [pd.Series, pl.Series, list, np.array], ids=["pandas", "polars", "list", "array"])
def test_labels_of_all_kinds(wrap):
    clf = RescaleInvariantSVC().fit(ROWS, wrap(LABELS))
    assert clf.predict(POINTS).tolist() == ["up", "up", "down"]
    assert clf.training_set_.classes == ("down", "up")


@pytest.mark.parametrize("enumerated", [False, True])
def test_pickled_estimators_go_on_where_they_were(tmp_path, enumerated):
    clf = RescaleInvariantSVC().fit(ROWS, LABELS)
    if enumerated:
        clf.precompute()
    joblib.dump(clf, tmp_path / "model")
    again = joblib.load(tmp_path / "model")
    assert (again.engine_.made is not None) == enumerated
    assert (again.certify(POINTS).code == clf.certify(POINTS).code).all()
    assert repr(again.engine_) == repr(clf.engine_)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C is 0; a positive number is needed"),
        ({"C": float("nan")}, "C is nan"),
        ({"C": "1"}, "C is '1'"),
        ({"engine": "simplex"}, "the engine 'simplex' is not known; there are 'auto', 'complex'"),
        ({"engine": ["auto"]}, "the engine .'auto'. is not known"),
        ({"inconsistent": "ignore"}, "inconsistent is 'ignore'"),
        ({"drop_rule": "all"}, "the rule 'all' is not known"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"max_vertices": -1}, "max_vertices is -1"),
        ({"max_seconds": "long"}, "max_seconds is 'long'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"scale_range": (2, 3)}, "does not contain 1"),
        ({"class_weight": "heavy"}, "class_weight is 'heavy'"),
        ({"class_weight": {"up": 0}}, "weights must be positive"),
    ],
)
def test_parameters_are_checked_when_fitting(options, message):
    with pytest.raises(InputError, match=message):
        RescaleInvariantSVC(**options).fit(ROWS, LABELS)


def test_data_are_refused_with_reasons():
    clf = RescaleInvariantSVC()
    with pytest.raises(InputError, match=r"NaN or infinity in 1 cell.*row 1, column 0"):
        clf.fit([[1, 2], [np.nan, 1]], [0, 1])
    with pytest.raises(InputError, match="NaN or infinity"):
        clf.fit(sparse.csr_array([[1, 2], [np.nan, 1]]), [0, 1])
    with pytest.raises(InputTypeError, match="where numbers belong"):
        clf.fit(pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"]).astype(object)}), [0, 1])
    with pytest.raises(InputError, match="Only binary classification is supported"):
        clf.fit([[1], [2], [3]], [0, 1, 2])
    with pytest.raises(InputTypeError, match="labels represented as bytes"):
        clf.fit([[1], [2]], [b"no", b"yes"])
    with pytest.raises(InputError, match="Unknown label type: continuous"):
        clf.fit([[1], [2]], [0.5, 1.5])
    with pytest.raises(InputError, match="Negative values in data"):
        clf.fit(ROWS, LABELS, sample_weight=[1, 1, 1, -1])
    with pytest.raises(InputError, match="X has 3 features, but RescaleInvariantSVC is expecting 2"):
        clf.fit(ROWS, LABELS).certify([[1, 2, 3]])


def test_the_training_set_is_the_estimators_own():
    rows = np.array(ROWS)
    clf = RescaleInvariantSVC().fit(rows, LABELS)
    rows[:] = 0
    assert (clf.training_set_.features == ROWS).all()
    assert isinstance(clf.training_set_, TrainingSet)


def test_weights_that_leave_both_classes_at_one_point():
    rows, labels = [[3.0], [3], [1], [1], [4], [4]], [0, 1, 1, 0, 0, 1]
    with pytest.warns(LeftOutWarning):
        clf = RescaleInvariantSVC(inconsistent="drop").fit(rows, labels, sample_weight=[1, 1, 2, 2, 1, 1])
    assert set(clf.predict(rows)) == {0, 1}


def test_a_verdict_does_not_pass_for_a_label():
    verdicts = RescaleInvariantSVC().fit([[0.0], [1]], [0, 1]).certify([[0.0], [1]])
    for attempt in (np.asarray, lambda v: np.array([0, 1]) == v, np.mean):
        with pytest.raises(TypeError, match="not a class label"):
            attempt(verdicts)


@pytest.mark.parametrize("scale_range", [object(), print], ids=["object", "function"])
def test_scale_ranges_that_are_none(scale_range):
    with pytest.raises(InputError, match="neither a number"):
        RescaleInvariantSVC(scale_range=scale_range).fit([[0.0], [1]], [0, 1])


def test_the_class_itself_is_not_fitted():
    with pytest.raises(InputError, match="can't certify"):
        certify(RescaleInvariantSVC, [[0.0]])
