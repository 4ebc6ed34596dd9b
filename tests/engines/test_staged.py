"""The staged engine against the enumeration, its certificates against the checker, and what limits do to it."""

import pickle
import signal
import time

import joblib
import made_sets
import numpy as np
import pytest
from sklearn.svm import SVC

from rescaleinv import ComplexEngine, InputError, TrainingSet, Verdict
from rescaleinv._util.deadline import run_within
from rescaleinv.engines.staged import StagedEngine, _Answer
from rescaleinv.errors import CertificateError
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check


def larger(seed=0, n_features=16, n_rows=60):
    """More features than anyone enumerates; both classes spread, and labels that depend on scaling."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 9, size=(n_rows, n_features)).astype(float)
    labels = np.where(features @ rng.normal(size=n_features) > 0, 1, -1)
    labels[:2] = 1, -1
    features[:, 0] += 6 * labels
    return TrainingSet(features, labels), rng.integers(0, 9, size=(12, n_features)) + rng.normal(size=(12, 1)) * 4


@pytest.mark.parametrize("maker", made_sets.MAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_verdicts_are_those_of_the_enumeration(maker, seed):
    training_set = made_sets.MAKERS[maker](seed)
    rng = np.random.default_rng(seed)
    low, high = training_set.features.min(axis=0), training_set.features.max(axis=0)
    points = np.vstack(
        [low + rng.random((8, training_set.n_features)) * (high - low), training_set.features[:2], (low + high) / 2]
    )
    truth = ComplexEngine(training_set).certify(points)
    found = StagedEngine(training_set, max_programs=3000).certify(points)
    decided = ~found.unknown
    assert (found.code == truth.code)[decided].all()
    # what stays open are ties, points too near to one for floats, and few that the tree's relaxation is too loose for
    loose = 0
    for i in np.flatnonzero(found.unknown):
        if min(abs(truth.lower[i]), abs(truth.upper[i])) >= 1e-6:
            assert "limit" in found.reason[i] or "can't be refined any more" in found.reason[i]
            loose += 1
    assert loose <= 2
    for i in np.flatnonzero(decided):
        assert check(found.certificate(i).to_json()) == verdict_words(found[i])


def test_larger_sets_are_decided_with_certificates_and_retrained_svms_agree():
    training_set, points = larger()
    engine = StagedEngine(training_set, max_programs=4000, left_out=3)
    verdicts = engine.certify(points)
    assert verdicts.neutral.any()
    assert (~verdicts.unknown).mean() > 0.7
    rng = np.random.default_rng(1)
    for i in np.flatnonzero(~verdicts.unknown):
        certificate = verdicts.certificate(i)
        assert check(certificate.to_json()) == verdict_words(verdicts[i])
        assert certificate.content["training"]["left_out"] == 3
    for _ in range(20):  # rescalings may never contradict a strong verdict
        tau = np.exp(rng.normal(size=training_set.n_features))
        svm = SVC(kernel="linear", C=1e8, tol=1e-8).fit(training_set.features * tau, training_set.signs)
        values = svm.decision_function(points * tau)
        assert (values[verdicts.strongly_positive] > -1e-3).all()
        assert (values[verdicts.strongly_negative] < 1e-3).all()
    i = int(np.flatnonzero(verdicts.neutral)[0])
    witness = verdicts.witness(i)
    for tau, sign in ((witness.positive, 1), (witness.negative, -1)):
        assert (tau > 0).all()
        assert check(witness.certificate.to_json()) == "neutral"
        assert witness.certificate.content["evidence"]["positive" if sign > 0 else "negative"]


@pytest.mark.parametrize(("alone", "left"), [(5.0, None), (0.0, 14.0)])
def test_a_short_run_starts_no_processes(monkeypatch, alone, left):
    """Starting them takes seconds: a budget of 4 s was used up by it."""
    monkeypatch.setattr("rescaleinv.engines.staged._SECONDS_ALONE", alone)
    monkeypatch.setattr(joblib, "Parallel", None)
    training_set, _ = larger(3, 16, 40)
    engine = StagedEngine(training_set, max_programs=200, n_jobs=2)
    with run_within(left):
        engine.certify(training_set.features[:8])
    assert engine.settled_by["tree"] > 1


def test_the_same_seed_gives_the_same_answers_on_one_or_two_processes(monkeypatch):
    monkeypatch.setattr("rescaleinv.engines.staged._SECONDS_ALONE", 0.0)
    calls, parallel = [], joblib.Parallel
    monkeypatch.setattr(joblib, "Parallel", lambda **options: calls.append(options) or parallel(**options))
    training_set, points = larger(3, 16, 40)
    points = np.vstack([points[:4], training_set.features[:8]])  # the search settles the first ones
    first = StagedEngine(training_set, max_programs=200).certify(points)
    again = StagedEngine(training_set, max_programs=200).certify(points)
    assert not calls
    split = StagedEngine(training_set, max_programs=200, n_jobs=2).certify(points)
    assert calls
    for other in (again, split):
        decided = ~first.unknown & ~other.unknown
        assert (first.code == other.code)[decided].all()
    assert (first.code == again.code).all()
    assert first.reason.tolist() == again.reason.tolist()


def test_an_expired_limit_never_yields_a_verdict():
    training_set, points = larger(1)
    truth = StagedEngine(training_set, max_programs=4000).certify(points)
    hurried = StagedEngine(training_set, time_limit=1e-9).certify(points)
    assert hurried.unknown.any()
    known = ~hurried.unknown & ~truth.unknown
    assert (hurried.code == truth.code)[known].all()
    for i in np.flatnonzero(hurried.unknown):
        assert "the time limit of 1e-09 s was reached" in hurried.reason[i]
        assert "the nearest decision value seen to the other side is" in hurried.reason[i]
        with pytest.raises(CertificateError):
            hurried.certificate(i)


def test_a_tie_is_unknown_with_that_reason():
    # f((0, 0)) = 0 at every rescaling
    engine = StagedEngine(TrainingSet([[1.0, 1], [-1, -1]], [1, -1]))
    verdicts = engine.certify([[0.0, 0]])
    assert verdicts.unknown.all()
    assert "tie" in verdicts.reason[0]


def test_what_was_decided_is_kept(monkeypatch):
    training_set, points = larger(2)
    engine = StagedEngine(training_set, max_programs=2000)
    verdicts = engine.certify(points)
    decided = np.flatnonzero(~verdicts.unknown)
    monkeypatch.setattr(StagedEngine, "_decided", lambda *_: pytest.fail("decided twice"))
    for i in decided:
        engine.certificate(points[i], verdicts[i])
    assert (engine.certify(points[decided]).code == verdicts.code[decided]).all()


def test_a_copy_by_pickle_answers_alike():
    training_set, points = larger(4)
    engine = StagedEngine(training_set, max_programs=300)
    before = engine.certify(points)
    copy = pickle.loads(pickle.dumps(engine))
    for i in np.flatnonzero(~before.unknown)[:3]:
        assert copy.certificate(points[i], before[i]).to_json() == before.certificate(i).to_json()


def test_a_strong_point_has_no_witness():
    training_set, points = larger()
    engine = StagedEngine(training_set, max_programs=2000)
    verdicts = engine.certify(points)
    i = int(np.flatnonzero(verdicts.strong)[0])
    with pytest.raises(CertificateError, match="not neutral"):
        engine.explain(points[i])
    with pytest.raises(CertificateError, match="not neutral"):
        engine.certificate(points[i], Verdict.NEUTRAL)


@pytest.mark.parametrize("n_jobs", [0, "2", None, 1.5, True])
def test_wrong_numbers_of_jobs_are_refused(n_jobs):
    with pytest.raises(InputError, match="n_jobs is"):
        StagedEngine(TrainingSet([[1.0, 1], [-1, -1]], [1, -1]), n_jobs=n_jobs)


def test_open_points_take_what_others_have_left():
    training_set, _ = larger(1)
    engine = StagedEngine(training_set, time_limit=3.0)
    answers = [_Answer(seconds=0.5), _Answer(seconds=1.0), _Answer(seconds=2.5), _Answer(seconds=0.0)]
    left = np.array([1, 2])
    # before the last round everybody has what is left of his own, then an equal part of all that is left: 8 s
    assert engine._limits(answers, left, is_last=False) == [2.0, 0.5]
    assert engine._limits(answers, left, is_last=True) == [4.0, 4.0]
    # ten times the limit at most, with what it had
    assert engine._limits(answers * 10, np.array([1]), is_last=True) == [27.0]
    assert StagedEngine(training_set)._limits(answers, left, is_last=True) == [None, None]
    assert engine._outlook([4.0, 4.0]) == "2 open, at most 8 s"
    assert StagedEngine(training_set)._outlook([None]) == "1 open"


def test_a_tree_that_is_killed_leaves_no_verdict(monkeypatch):
    training_set, points = larger()
    engine = StagedEngine(training_set, max_programs=500)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(StagedEngine, "_decided", killed)
    with pytest.raises(KeyboardInterrupt):
        engine.certify(points)
    monkeypatch.undo()
    truth = StagedEngine(training_set, max_programs=500).certify(points)
    after = engine.certify(points)
    decided = ~after.unknown & ~truth.unknown
    assert decided.any()
    assert (after.code == truth.code)[decided].all()
    for i in np.flatnonzero(~after.unknown):
        assert check(after.certificate(i).to_json()) == verdict_words(after[i])


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_rows_that_take_too_long_to_prepare_leave_every_point_unknown(monkeypatch):
    """With many rows the exact SVM takes minutes: the budget ends that too, and later calls begin again."""
    engine = StagedEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    engine.certify_checked(np.array([[3.0, 3]]))  # whatever has to be compiled is
    slow = StagedEngine(engine.training_set)
    prepared = StagedEngine.precompute

    def forever(self):
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(StagedEngine, "precompute", forever)
    with run_within(0.2):
        found = slow.certify_checked(np.array([[3.0, 3], [0, 0]]))
    assert found.unknown.all()
    assert set(found.reason) == {"the budget of 0.2 s was used up by preparing the exact SVM of the training rows"}
    monkeypatch.setattr(StagedEngine, "precompute", prepared)
    assert slow.certify_checked(np.array([[3.0, 3]])).code.tolist() == [1]
