"""Which margin the estimator has: against SVC and NuSVC of scikit-learn, in other units, and what is said of it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.utils.class_weight import compute_class_weight

from rescaleinv import (
    InputError,
    InseparableError,
    LeftOutWarning,
    NotAvailableError,
    OneLabelWarning,
    RescaleInvariantOneVsOne,
    RescaleInvariantOneVsRest,
    RescaleInvariantSVC,
    certify,
    certify_files,
    least_nu,
    nu_of,
)
from rescaleinv.datasets import load
from rescaleinv.theory.nu_margin import largest_nu, nu_svm

OVERLAPPING = [[0.0], [1], [2], [8], [9], [10], [9.5]], [0, 0, 0, 1, 1, 1, 0]


def split(name, n_rows=120, seed=0):
    features, labels, _ = load(name)
    order = np.random.default_rng(seed).permutation(len(features))
    return features[order[:n_rows]], labels[order[:n_rows]], features[order[n_rows : n_rows + 200]]


def soft(**parameters):
    return RescaleInvariantSVC(nu="auto", **parameters)


# --- nu="auto" is the SVC that people know ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pima_diabetes", "breast_cancer_wisconsin", "banknote"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {-1: 1.5, 1: 0.7}])
def test_labels_at_the_standardised_scaling_are_those_of_SVC(name, class_weight):
    rows, labels, points = split(name)
    scaler = StandardScaler().fit(rows)
    ours = soft(class_weight=class_weight).fit(scaler.transform(rows), labels)
    theirs = SVC(kernel="linear", C=1, tol=1e-9, class_weight=class_weight).fit(scaler.transform(rows), labels)
    values = theirs.decision_function(scaler.transform(points))
    clear = np.abs(values) > 1e-5  # nearer to 0 libsvm's own tolerance decides
    assert clear.mean() > 0.99
    assert (ours.predict(scaler.transform(points)) == theirs.predict(scaler.transform(points)))[clear].all()


def test_weights_of_rows_are_those_of_SVC_and_a_weight_of_two_is_two_rows():
    rows, labels, points = split("pima_diabetes", 80)
    weights = np.random.default_rng(1).integers(1, 4, len(rows)).astype(float)
    scaler = StandardScaler().fit(rows, sample_weight=weights)
    ours = soft().fit(scaler.transform(rows), labels, sample_weight=weights)
    theirs = SVC(kernel="linear", tol=1e-9).fit(scaler.transform(rows), labels, sample_weight=weights)
    np.testing.assert_array_equal(ours.predict(scaler.transform(points)), theirs.predict(scaler.transform(points)))
    copies = weights.astype(int)
    repeated = soft().fit(rows.repeat(copies, axis=0), labels.repeat(copies))
    assert repeated.nu_ == ours.nu_
    np.testing.assert_allclose(repeated.coef_, soft().fit(rows, labels, sample_weight=weights).coef_, rtol=1e-5)


@pytest.mark.parametrize("nu", [0.85, 0.95])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_number_is_the_nu_of_NuSVC(nu, weighted):
    rows, labels, points = split("pima_diabetes", 150)
    scaler = StandardScaler().fit(rows)
    weights = np.random.default_rng(2).uniform(0.5, 2, len(rows)) if weighted else np.ones(len(rows))
    largest = float(largest_nu(soft().fit(rows, labels).training_set_, weights))
    nu *= largest
    ours = RescaleInvariantSVC(nu=nu).fit(scaler.transform(rows), labels, sample_weight=weights)
    theirs = NuSVC(nu=nu, kernel="linear", tol=1e-10).fit(scaler.transform(rows), labels, sample_weight=weights)
    np.testing.assert_allclose(
        ours.decision_function(scaler.transform(points)),
        theirs.decision_function(scaler.transform(points)),
        atol=1e-3,
    )
    assert ours.nu_ == nu


@pytest.mark.parametrize("class_weight", ["balanced", {-1: 1.0, 1: 1.6}])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_classes_are_weights_of_their_rows_in_NuSVC(class_weight, weighted):
    # NuSVC takes class_weight without a word and ignores it; its sample_weight is what it says
    rows, labels, points = split("pima_diabetes", 150)
    scaler = StandardScaler().fit(rows)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(rows)) if weighted else np.ones(len(rows))
    of_class = compute_class_weight(class_weight, classes=np.array([-1, 1]), y=labels, sample_weight=weights)
    used = weights * of_class[(labels > 0).astype(int)]
    nu = 0.9 * float(largest_nu(soft().fit(rows, labels).training_set_, used))
    ours = RescaleInvariantSVC(nu=nu, class_weight=class_weight)
    ours.fit(scaler.transform(rows), labels, sample_weight=weights)
    theirs = NuSVC(nu=nu, kernel="linear", tol=1e-10, max_iter=10**7)
    theirs.fit(scaler.transform(rows), labels, sample_weight=used)
    np.testing.assert_allclose(
        ours.decision_function(scaler.transform(points)), theirs.decision_function(scaler.transform(points)), atol=1e-3
    )


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), RobustScaler()])
@pytest.mark.parametrize("name", ["pima_diabetes", "breast_cancer_wisconsin"])
def test_nu_auto_is_the_same_before_and_after_scalers(scaler, name):
    rows, labels, _ = split(name)
    raw = soft().fit(rows, labels)
    scaled = make_pipeline(clone(scaler), soft()).fit(rows, labels)[-1]
    assert scaled.nu_ == raw.nu_
    assert raw.nu_ == pytest.approx(nu_of(1.0, rows, labels))


def moved(kind, rows, labels, rng):
    """The same question asked in another way; how the points are asked then, and by what the decision values change."""
    n = rows.shape[1]
    if kind == "units":
        factors, shifts = 2.0 ** rng.integers(-4, 5, n), rng.integers(-8, 9, n).astype(float)
        return rows * factors + shifts, labels, factors, shifts, 1
    order = rng.permutation(len(rows))
    if kind == "order":
        return rows[order], labels[order], np.ones(n), np.zeros(n), 1
    return rows, -labels, np.ones(n), np.zeros(n), -1


@pytest.mark.parametrize("kind", ["units", "order", "names"])
@pytest.mark.parametrize("seed", range(4))
def test_nu_does_not_change_with_units_order_and_names(kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 6, (40, 3)).astype(float)
    labels = np.where(rows @ [1, -1, 0.5] + rng.normal(size=40) * 3 > 1, 1, -1)
    other_rows, other_labels, *_ = moved(kind, rows, labels, rng)
    assert soft().fit(other_rows, other_labels).nu_ == soft().fit(rows, labels).nu_


# --- which margin -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inconsistent", ["soft", "drop", "raise"])
def test_separable_classes_have_a_hard_margin(inconsistent):
    rows, labels = [[0.0, 1], [1, 3], [3, 0], [4, 2]], [0, 0, 1, 1]
    clf = RescaleInvariantSVC(inconsistent=inconsistent).fit(rows, labels)
    assert (clf.margin_, clf.nu_) == ("hard margin", None)
    np.testing.assert_array_equal(clf.coef_, RescaleInvariantSVC().fit(rows, labels).coef_)


def test_a_soft_margin_leaves_no_row_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = RescaleInvariantSVC(inconsistent="soft").fit(*OVERLAPPING)
    assert len(clf.dropped_) == 0
    assert len(clf.training_set_) == 7
    assert clf.nu_ == soft().fit(*OVERLAPPING).nu_ > least_nu(clf.training_set_)
    assert clf.margin_ == (
        f"soft margin, ν = {clf.nu_:.4g} (SVC with C = 1 on the standardised rows; "
        f"the least ν is {least_nu(clf.training_set_):.4g})"
    )


def test_the_margin_says_how_many_rows_are_left():
    with pytest.warns(LeftOutWarning, match="These are 14% of the rows: a hard margin on the rest is pinned"):
        clf = RescaleInvariantSVC(inconsistent="drop").fit(*OVERLAPPING)
    assert clf.margin_ == "hard margin on 6 of 7 rows"


def test_few_rows_left_out_are_named_and_no_more():
    rows = np.r_[np.arange(30), np.arange(40, 70), 50][:, None].astype(float)
    labels = np.r_[np.zeros(30), np.ones(30), 0]
    with pytest.warns(LeftOutWarning) as caught:
        RescaleInvariantSVC(inconsistent="drop").fit(rows, labels)
    assert "pinned" not in str(caught[0].message)


def test_a_penalty_is_said():
    assert RescaleInvariantSVC(C=0.5).fit(*OVERLAPPING).margin_ == "soft margin, C = 0.5"


def test_a_nu_below_the_least_says_that_number():
    least = least_nu(soft().fit(*OVERLAPPING).training_set_)
    with pytest.raises(InseparableError, match=rf"meet up to nu = {least:.6g}"):
        RescaleInvariantSVC(nu=least * 0.5).fit(*OVERLAPPING)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": 0.5, "C": 1.0}, "two soft margins"),
        ({"nu": 0}, "nu is 0"),
        ({"nu": 1.5}, "nu is 1.5"),
        ({"nu": True}, "nu is True"),
        ({"nu": "half"}, "nu is 'half'"),
        ({"nu": float("nan")}, "nu is nan"),
        ({"inconsistent": "hard"}, "inconsistent is 'hard'"),
    ],
)
def test_what_is_no_margin_is_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        RescaleInvariantSVC(**parameters).fit(*OVERLAPPING)


# --- classes that overlap too much ------------------------------------------------------------------------------------

# every row twice, once with each label, and two more of one class
HOPELESS = [[0.0, 1], [1, 0], [2, 2], [0, 1], [1, 0], [2, 2], [1, 1], [1, 1]], ["a"] * 3 + ["b"] * 5


def test_classes_that_no_hyperplane_tells_apart_get_one_label_and_no_verdicts():
    with pytest.warns(OneLabelWarning, match="all 8 training rows the label 'b'"):
        clf = RescaleInvariantSVC(inconsistent="soft").fit(*HOPELESS)
    assert clf.margin_ == "soft margin without a hyperplane: one label for all"
    assert clf.nu_ is None
    assert clf.predict([[0, 0], [5, 5]]).tolist() == ["b", "b"]
    svc = SVC(kernel="linear").fit(*HOPELESS)
    assert svc.predict([[0, 0], [5, 5]]).tolist() == ["b", "b"]
    with pytest.raises(NotAvailableError, match="no hyperplane does better than one label for all"):
        clf.certify([[0, 0]])
    assert (clf.rescaling_radius([[0, 0]]) == np.inf).all()
    assert clf.is_invariant_


def test_classes_that_weigh_alike_get_the_middle_of_all_intercepts():
    rows, labels = [[0.0], [1], [0], [1]], [0, 0, 1, 1]
    with pytest.warns(OneLabelWarning):
        clf = RescaleInvariantSVC(inconsistent="soft").fit(rows, labels)
    assert clf.decision_function([[7.0]]).tolist() == [0.0]


def test_one_label_for_all_training_rows_is_warned_of():
    rng = np.random.default_rng(0)
    rows = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(5, 2)) + 0.7]
    labels = np.r_[np.zeros(40, int), np.ones(5, int)]
    with pytest.warns(OneLabelWarning) as caught:
        clf = soft().fit(rows, labels)
    assert caught[0].filename == __file__
    assert (clf.predict(rows) == 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", OneLabelWarning)
        balanced = soft(class_weight="balanced").fit(rows, labels)
    assert set(balanced.predict(rows)) == {0, 1}


# --- kept with the model ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{"nu": "auto"}, {"nu": 0.6}, {"inconsistent": "soft"}])
def test_the_margin_is_saved(tmp_path, parameters):
    rows, labels, points = split("pima_diabetes", 60)
    clf = RescaleInvariantSVC(**parameters).fit(rows, labels, sample_weight=np.linspace(1, 2, len(rows)))
    clf.save(tmp_path / "model")
    again = RescaleInvariantSVC.load(tmp_path / "model")
    assert (again.nu_, again.margin_, again.nu) == (clf.nu_, clf.margin_, clf.nu)
    ours, theirs = again._fitted.margin.nu, clf._fitted.margin.nu
    assert ours.exact_caps == theirs.exact_caps
    np.testing.assert_array_equal(again.decision_function(points), clf.decision_function(points))


def test_a_model_without_a_hyperplane_is_saved(tmp_path):
    with pytest.warns(OneLabelWarning):
        clf = RescaleInvariantSVC(inconsistent="soft").fit(*HOPELESS)
    clf.save(tmp_path / "model")
    again = RescaleInvariantSVC.load(tmp_path / "model")
    assert again.margin_ == clf.margin_
    assert again.predict([[0, 0]]).tolist() == ["b"]


# --- verdicts -----------------------------------------------------------------------------------------------------------


def small(seed=5, n=3, m=30):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 6, (m, n)).astype(float)
    labels = np.where(rows @ np.linspace(1, -1, n) + rng.normal(size=m) * 2 > 0.5, 1, -1)
    return rows, labels, rng.integers(0, 6, (12, n)).astype(float)


@pytest.fixture(scope="module")
def known():
    rows, labels, points = small()
    clf = RescaleInvariantSVC().fit(rows, labels)
    verdicts = clf.certify(points)
    assert clf.margin_.startswith("soft margin, ν = ")
    assert not verdicts.unknown.any()
    assert verdicts.strong.any()
    assert verdicts.neutral.any()
    return clf, verdicts


@pytest.mark.parametrize("kind", ["units", "order", "names"])
def test_verdicts_do_not_change_with_units_order_and_names(known, kind):
    rows, labels, points = small()
    other_rows, other_labels, factors, shifts, side = moved(kind, rows, labels, np.random.default_rng(1))
    found = RescaleInvariantSVC().fit(other_rows, other_labels).certify(points * factors + shifts)
    np.testing.assert_array_equal(found.code * side, known[1].code)


def test_verdicts_do_not_change_with_copies_of_every_row(known):
    rows, labels, points = small()
    twice = RescaleInvariantSVC(nu=known[0].nu_).fit(np.vstack([rows, rows]), np.append(labels, labels))
    np.testing.assert_array_equal(twice.certify(points).code, known[1].code)


def test_no_sampled_rescaling_contradicts_a_strong_verdict(known):
    clf, verdicts = known
    margin, points = clf._fitted.margin.nu, verdicts.points
    rng = np.random.default_rng(2)
    seen = np.zeros((2, len(points)), dtype=bool)
    for _ in range(60):
        svm = nu_svm(clf.training_set_, margin, np.exp(rng.normal(size=points.shape[1]) * 1.5))
        values = points @ svm.weights + svm.intercept
        assert not (verdicts.strongly_positive & (values < -1e-6)).any()
        assert not (verdicts.strongly_negative & (values > 1e-6)).any()
        seen |= [values > 1e-6, values < -1e-6]
    assert not (seen.all(axis=0) & ~verdicts.neutral).any()


def test_strong_verdicts_are_what_predict_says(known):
    clf, verdicts = known
    labels = clf.predict(verdicts.points)
    assert (labels[verdicts.strongly_positive] == 1).all()
    assert (labels[verdicts.strongly_negative] == -1).all()
    sets = clf.predict_set(verdicts.points)
    np.testing.assert_array_equal(sets.sum(axis=1), np.where(verdicts.neutral, 2, 1))


def test_every_verdict_is_proved(known, tmp_path):
    proved = known[1].prove(tmp_path / "certificates.jsonl")
    assert set(proved.status) == {"proved"}
    from rescaleinv.verify import main

    assert main([str(tmp_path / "certificates.jsonl")]) == 0


def test_verdicts_are_the_same_after_saving_pickling_and_in_a_pipeline(known, tmp_path):
    clf, verdicts = known
    clf.save(tmp_path / "model")
    rows, labels, points = small()
    for other in (RescaleInvariantSVC.load(tmp_path / "model"), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(other.certify(points).code, verdicts.code)
    pipeline = make_pipeline(StandardScaler(), clone(clf)).fit(rows, labels)
    around = certify(pipeline, points)
    assert around.provenance == "every rescaling of the features before the scalers of the pipeline"
    np.testing.assert_array_equal(around.code, verdicts.code)


def test_the_radius_is_infinite_where_the_verdict_is_strong(known):
    clf, verdicts = known
    chosen = np.r_[np.flatnonzero(verdicts.strong)[:3], np.flatnonzero(verdicts.neutral)[:1]]
    radius = clf.rescaling_radius(verdicts.points[chosen], ratio=1.5, largest=50)
    assert np.isposinf(radius[:3]).all()
    assert 1 <= radius[3, 0] <= radius[3, 1]
    assert np.isfinite(radius[3, 0])


def test_files_get_the_same_verdicts(known, tmp_path):
    clf, verdicts = known
    pd.DataFrame(verdicts.points, columns=["a", "b", "c"]).to_csv(tmp_path / "points.csv", index=False)
    summary = certify_files(clf, tmp_path / "points.csv", tmp_path / "out", chunk_rows=7)
    assert summary.rows == len(verdicts)
    np.testing.assert_array_equal(pd.read_parquet(tmp_path / "out")["code"], verdicts.code)


@pytest.mark.parametrize("kind", [RescaleInvariantOneVsOne, RescaleInvariantOneVsRest])
def test_more_than_two_classes(kind):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(45, 2)) + np.repeat([[0, 0], [1.2, 0], [0, 1.2]], 15, axis=0)
    labels = np.repeat(["a", "b", "c"], 15)
    clf = kind(RescaleInvariantSVC(class_weight="balanced")).fit(rows, labels)
    assert all(one.nu_ is not None and not len(one.dropped_) for one in clf.estimators_)
    sets = clf.predict_set(rows[::5])
    chosen = np.searchsorted(clf.classes_, clf.predict(rows[::5]))
    assert sets[np.arange(len(sets)), chosen].all()


def test_a_small_nu_in_unlike_units_is_fitted():
    rows = np.array([[0, 1, 0], [1, 0, 2], [3, 2, 3], [1, 1, 0], [0, 1, 3], [1, 2, 0], [2, 1, 3]])
    labels = [1, -1, -1, -1, 1, -1, 1]
    units = np.array([0.001, 1, 0.001])
    alike = RescaleInvariantSVC(nu=0.6 / 7).fit(rows * 1.0, labels)
    unlike = RescaleInvariantSVC(nu=0.6 / 7).fit(rows * units, labels)
    points = np.array([[0.0, 0, 3], [3, 0, 0], [1, 1, 1]])
    codes = np.array([alike.certify(points).code, unlike.certify(points * units).code])
    assert (codes[0] == codes[1]).all()


def test_a_tiny_nu_on_separable_rows_is_the_hard_margin():
    rows = [[-1784.06, 20.08], [-540.22, -7.37], [314.46, -8.8], [284.97, -9.68], [-1079.13, 2.31], [-532.5, -11.34]]
    labels = [1, -1, -1, -1, -1, -1]
    found, hard = (RescaleInvariantSVC(nu=nu).fit(rows, labels) for nu in (1e-9, None))
    assert found.predict(rows).tolist() == hard.predict(rows).tolist() == labels
    verdicts = found.certify(rows)
    decided = ~verdicts.unknown
    assert decided.any()
    assert (verdicts.code[decided] == hard.certify(rows).code[decided]).all()


def test_words_of_verdicts_do_not_repeat_the_margin():
    rows, labels = np.array([[0.0, 1], [2, 0], [1, 3], [3, 1], [1, 1]]), ["no", "no", "yes", "yes", "no"]
    model = RescaleInvariantSVC(nu=0.5).fit(rows, labels)
    assert "with nu" not in model.certify(rows).summary()
    assert model.margin_.startswith("soft margin, ν = 0.5")
