"""Training sets, plain SVMs and checks for the tests of limited ranges."""

import itertools

import made_sets
import numpy as np
import pytest
from sklearn.svm import SVC

from rescaleinv import Certificate, GapEngine, TrainingSet, minimal_norm_svm
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.verify import Refused, check

EXAMPLE = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


def overlapping(seed, n_features=3, n_rows=24):
    """Classes that no hyperplane separates; integers, so that rows repeat and tie."""
    random = np.random.default_rng(seed)
    labels = np.where(np.arange(n_rows) % 2, 1, -1)
    rows = random.integers(-3, 4, size=(n_rows, n_features)) + (labels[:, None] > 0)
    return TrainingSet(rows.astype(float), labels)


def plain_values(training_set, tau, points, C=None):
    """Decision values by Clarabel (hard margin, or a ``NuMargin`` in place of C) or libsvm (soft) at one rescaling."""
    if isinstance(C, NuMargin):
        svm = nu_svm(training_set, C, tau)
        return points @ svm.weights + svm.intercept
    if C is None:
        return minimal_norm_svm(training_set, tau).decision_function(points)
    svm = SVC(C=C, kernel="linear", tol=1e-9, max_iter=200_000).fit(training_set.features * tau, training_set.signs)
    return svm.decision_function(points * tau)


def corners_and_samples(n_features, kappa, random, n_samples):
    for corner in itertools.product([1 / kappa, kappa], repeat=n_features):
        yield np.array(corner)
    for _ in range(n_samples):
        yield kappa ** random.uniform(-1, 1, n_features)


def require_no_contradiction(engine, verdicts, points, kappa, C=None, n_samples=30, seed=0):
    """No plain SVM at a corner or a random rescaling of the range gives a strong point the other label."""
    random = np.random.default_rng(seed)
    for tau in corners_and_samples(points.shape[1], kappa, random, n_samples):
        values = plain_values(engine.training_set, tau, points, C)
        assert not (verdicts.strongly_positive & (values < -1e-5)).any(), tau
        assert not (verdicts.strongly_negative & (values > 1e-5)).any(), tau


def require_witnesses(engine, verdicts, points, limits, C=None):
    """Both rescalings of a neutral point are in the range, and plain SVMs trained there disagree."""
    for i in np.flatnonzero(verdicts.neutral):
        witness = verdicts.witness(i)
        for tau, sign in ((witness.positive, 1), (witness.negative, -1)):
            assert (tau >= limits[0] - 1e-12).all()
            assert (tau <= limits[1] + 1e-12).all()
            assert sign * plain_values(engine.training_set, tau, points[i : i + 1], C)[0] > -1e-5


def decided_points():
    """Covers with every kind of split, hard and soft, and neutral points."""
    for margin in ("hard", "soft", "nu"):
        training_set = made_sets.gaussian(9, 5) if margin == "hard" else overlapping(7, 3, 14)
        penalties = np.full(training_set.n_rows, 0.3) if margin == "soft" else None
        nu = 0.8 if margin == "nu" else None
        engine = GapEngine(training_set, 4.0, penalties=penalties, nu=nu, left_out=2)
        points = np.random.default_rng(5).normal(size=(40, training_set.n_features)) * 2
        yield engine, engine.certify(points)


def refused(content, match):
    with pytest.raises(Refused, match=match):
        check(Certificate(content).to_json())
