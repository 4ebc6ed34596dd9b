"""SVMs that people already have: taken over, compared, or refused in one line with the way out."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from rescaleinv import InputError, OtherInterceptWarning, RescaleInvariantSVC, certify, nu_of
from rescaleinv.datasets import load


def overlapping(seed, n=40):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)) * [1, 20, 0.3] + [5, 0, 1], 2)
    y = X @ [1, 0.05, -2] + rng.normal(size=n) > 3
    return X, y.astype(int)


@pytest.fixture(scope="module")
def data():
    X, y = overlapping(11)
    return StandardScaler().fit_transform(X), np.where(y == 1, "well", "ill")


def same_classifier(one, other, X):
    """The same direction, and the same sides but where the best intercept is not unique."""
    cosine = one.coef_[0] @ other.coef_[0] / np.linalg.norm(one.coef_) / np.linalg.norm(other.coef_)
    assert cosine == pytest.approx(1, abs=1e-5)
    assert (one.predict(X) != other.predict(X)).sum() <= 1


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 3}])
@pytest.mark.parametrize("seed", range(3))
def test_the_model_of_every_rescaling_is_the_svc_at_the_given_scaling(C, class_weight, seed):
    X, y = overlapping(seed)
    X = StandardScaler().fit_transform(X)
    svc = SVC(kernel="linear", C=C, class_weight=class_weight, tol=1e-8).fit(X, y)
    found = RescaleInvariantSVC.from_estimator(svc, X, y)
    assert found.scale_range is None
    assert 0 < found.nu_ <= 1
    same_classifier(found, svc, X)
    # by libsvm's own duals: the sum of the multipliers over the most that it could be
    weights = svc.class_weight_[y]
    assert found.nu_ == pytest.approx(np.abs(svc.dual_coef_).sum() / (C * weights.sum()), rel=1e-5)


def test_standardised_rows_have_the_nu_that_nu_of_says():
    X, y = overlapping(4)
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear", C=2.0, tol=1e-8)).fit(X, y)
    found = RescaleInvariantSVC.from_estimator(pipeline, X, y)
    assert found[-1].nu_ == pytest.approx(nu_of(2.0, X, y), rel=1e-6)


@pytest.mark.parametrize("weights", ["given", None])
def test_sample_weights(weights):
    X, y = overlapping(5)
    X = StandardScaler().fit_transform(X)
    given = np.random.default_rng(0).integers(1, 5, len(y)) if weights else None
    svc = SVC(kernel="linear", tol=1e-8).fit(X, y, sample_weight=given)
    same_classifier(RescaleInvariantSVC.from_estimator(svc, X, y, sample_weight=given), svc, X)
    if weights:
        with pytest.raises(InputError, match="sample_weight"):
            RescaleInvariantSVC.from_estimator(svc, X, y)


@pytest.mark.parametrize("nu", [0.51, 0.71])  # at 28 of 40 rows the best intercept is not unique
def test_nu_svc(nu):
    X, y = overlapping(6)
    X = StandardScaler().fit_transform(X)
    svc = NuSVC(kernel="linear", nu=nu, tol=1e-8).fit(X, y)
    found = RescaleInvariantSVC.from_estimator(svc, X, y)
    assert found.nu_ == nu
    same_classifier(found, svc, X)


def test_with_a_limited_range_the_penalty_stays(data):
    X, y = data
    svc = SVC(kernel="linear", C=2.0, tol=1e-6).fit(X, y)
    found = RescaleInvariantSVC.from_estimator(svc, X, y, scale_range=1.1, time_limit=None)
    assert (found.C, found.nu_, found.scale_range, found.time_limit) == (2.0, None, 1.1, None)
    assert (found.predict(X) == svc.predict(X)).all()


def test_a_pipeline_becomes_a_pipeline_with_the_same_steps():
    X, y = overlapping(7)
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear", tol=1e-8)).fit(X, y)
    found = RescaleInvariantSVC.from_estimator(pipeline, X, y)
    assert isinstance(found, Pipeline)
    assert found[0] is pipeline[0]
    assert (found.predict(X) == pipeline.predict(X)).all()
    limited = RescaleInvariantSVC.from_estimator(pipeline, X, y, scale_range=1.2)
    verdicts = certify(limited, X[:6])
    for label, verdict in zip(pipeline.predict(X[:6]), verdicts.code, strict=True):
        assert verdict != (-1 if label == 1 else 1)  # the given scaling is within the range
    search = GridSearchCV(pipeline, {"svc__C": [1.0, 2.0]}, cv=2).fit(X, y)
    assert isinstance(RescaleInvariantSVC.from_estimator(search, X, y), Pipeline)


def test_separable_classes_with_a_large_penalty():
    X, y = [[0.0, 3], [1, 1], [4, 2], [5, 0], [0, 0], [6, 1]], [0, 0, 1, 1, 0, 1]
    svc = SVC(kernel="linear", C=1e6, tol=1e-8).fit(X, y)
    found = RescaleInvariantSVC.from_estimator(svc, X, y)
    assert (found.predict(X) == svc.predict(X)).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(), "penalises the intercept.*not converged.*SVC\\(kernel='linear'"),
        (SVC(kernel="rbf"), "kernel='rbf'; verdicts are about kernel='linear' only"),
        (LogisticRegression(), "a LogisticRegression was given, which has another objective"),
        (make_pipeline(StandardScaler(), LinearSVC()), "penalises the intercept"),
    ],
    ids=["LinearSVC", "rbf", "logistic", "pipeline"],
)
def test_other_objectives_are_refused_in_one_line(data, model, message):
    X, y = data
    with pytest.raises(InputError, match=message) as refused:
        RescaleInvariantSVC.from_estimator(model.fit(X, y), X, y)
    assert "\n" not in str(refused.value)


def test_what_is_not_the_svm_of_these_rows_is_refused(data):
    X, y = data
    svc = SVC(kernel="linear", C=100.0, max_iter=2).fit(X, y)
    with pytest.raises(InputError, match=r"not the SVM of these rows.*stopped at max_iter=2"):
        RescaleInvariantSVC.from_estimator(svc, X, y)
    good = SVC(kernel="linear").fit(X, y)
    with pytest.raises(InputError, match="support vector"):
        RescaleInvariantSVC.from_estimator(good, X[:20], y[:20])
    with pytest.raises(InputError, match="y has the classes"):
        RescaleInvariantSVC.from_estimator(good, X, np.arange(len(X)) % 2)
    with pytest.raises(InputError, match="not the SVM of these rows"):
        RescaleInvariantSVC.from_estimator(SVC(kernel="linear", C=1.0, tol=1e-6).fit(X * 3, y), X, y)
    with pytest.raises(InputError, match="C is given, but it is taken over"):
        RescaleInvariantSVC.from_estimator(good, X, y, C=3.0)
    with pytest.raises(InputError, match="3 classes"):
        RescaleInvariantSVC.from_estimator(SVC(kernel="linear").fit(X, np.arange(len(X)) % 3), X, np.arange(len(X)) % 3)


def test_certify_says_how(data):
    X, y = data
    with pytest.raises(InputError, match=r"SVC can't certify; RescaleInvariantSVC\.from_estimator\(model, X_train"):
        certify(SVC(kernel="linear").fit(X, y), X)
    with pytest.raises(InputError, match="no verdicts are about a LinearSVC: it penalises the intercept"):
        certify(make_pipeline(StandardScaler(), LinearSVC()).fit(X, y), X)
    with pytest.raises(InputError, match="a fitted RescaleInvariantSVC is needed"):
        certify(LogisticRegression().fit(X, y), X)


@pytest.mark.filterwarnings("ignore")
def test_a_linear_svc_is_refused_with_the_size_of_the_difference_unless_its_intercept_is_to_be_free():
    rows, labels, _ = load("urine")
    model = LinearSVC(loss="hinge", max_iter=50, random_state=0).fit(rows, labels)
    plain = RescaleInvariantSVC(C=1.0, scale_range=1.1).fit(rows, labels)
    differ = int((plain.predict(rows) != model.predict(rows)).sum())
    assert differ > 0
    with pytest.raises(InputError, match=f"Of its 77 training rows {differ} get another label") as caught:
        RescaleInvariantSVC.from_estimator(model, rows, labels)
    assert "stopped at max_iter=50" in str(caught.value)
    assert "labels differ from those of its optimum" in str(caught.value)
    free = RescaleInvariantSVC.from_estimator(model, rows, labels, intercept="free", scale_range=1.1)
    np.testing.assert_allclose(free.coef_, plain.coef_)
    every = RescaleInvariantSVC.from_estimator(model, rows, labels, intercept="free")
    assert (every.predict(rows) == plain.predict(rows)).all()
    with pytest.raises(InputError, match="free already"):
        RescaleInvariantSVC.from_estimator(SVC(kernel="linear").fit(rows, labels), rows, labels, intercept="free")
    with pytest.raises(InputError, match="intercept is 'fixed'"):
        RescaleInvariantSVC.from_estimator(model, rows, labels, intercept="fixed")


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_has_not_converged_is_refused_with_the_number_of_labels():
    rows, labels, _ = load("urine")
    model = SVC(kernel="linear", max_iter=20).fit(rows, labels)
    plain = RescaleInvariantSVC(C=1.0, scale_range=1.1).fit(rows, labels)
    differ = int((plain.predict(rows) != model.predict(rows)).sum())
    assert differ > 0
    with pytest.raises(InputError, match=f"stopped at max_iter=20.*{differ} of 77 labels of the rows differ"):
        RescaleInvariantSVC.from_estimator(model, rows, labels)


def test_another_best_intercept_is_said():
    features, labels, _ = load("banknote")
    model = SVC(kernel="linear", C=1).fit(features[::60], labels[::60])
    with pytest.warns(OtherInterceptWarning, match="the best intercept of this SVM is not unique"):
        found = RescaleInvariantSVC.from_estimator(model, features[::60], labels[::60])
    between = features[found.predict(features) != model.predict(features)]
    assert len(between)  # the warning is about these points, whose label every optimal SVM need not give
    assert not found.certify(between[:3]).strong.any()
