"""The complex engine against brute force, ordinary SVMs and the exact checker."""

import multiprocessing
import os
import pickle
import threading
from fractions import Fraction

import brute_force
import made_sets
import numpy as np
import pytest
from sklearn.svm import SVC

from rescaleinv.engines.complex import engine as engine_module
from rescaleinv.engines.complex import walk
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.errors import CertificateError, InputError, InseparableError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_and_ranges_equal_brute_force(seed):
    rng = np.random.default_rng([7, seed])
    for _ in range(3):
        n, m = rng.integers(1, 4), rng.integers(2, 7)
        rows = rng.integers(-2, 3, (m, n)).astype(float)
        labels = np.where(rows @ rng.normal(size=n) + rng.normal() * 0.3 > 0, 1, -1)
        if len(set(labels.tolist())) == 1:
            continue
        training_set = TrainingSet(rows, labels)
        points = np.vstack([rng.integers(-3, 4, (3, n)), rng.integers(-6, 7, (2, n)) / 2])
        verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
        for i, point in enumerate(points):
            exact_point = [Fraction(x) for x in point.tolist()]
            assert verdicts[i] == brute_force.exact_verdict(training_set, exact_point)
            low, high = brute_force.exact_range(training_set, exact_point)
            assert verdicts.lower[i] == pytest.approx(float(low), abs=1e-9)
            assert verdicts.upper[i] == pytest.approx(float(high), abs=1e-9)
            if verdicts[i] is Verdict.NEUTRAL:
                assert check(verdicts.certificate(i).to_json()) == "neutral"


def test_an_engine_and_its_verdicts_can_be_pickled():
    engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    verdicts = pickle.loads(pickle.dumps(engine.certify([[-1, 4]])))
    assert check(verdicts.certificate(0).to_json()) == "neutral"
    assert not pickle.loads(pickle.dumps(engine)).training_set.features.flags.writeable


@pytest.mark.parametrize("name", ["breast_cancer_wisconsin", "blood_transfusion", "banknote"])
def test_every_neutral_point_has_a_witness_that_an_ordinary_svm_confirms(name):
    training_set, features = made_sets.drawn_from(name, 3)
    points = np.unique(features, axis=0)
    points = points[np.random.default_rng(0).permutation(len(points))[:60]]
    verdicts = ComplexEngine(training_set).certify(points)
    assert verdicts.neutral.any()
    retrained = 0
    for i in np.flatnonzero(verdicts.neutral):
        witness = verdicts.witness(i)
        assert check(witness.certificate.to_json()) == "neutral"
        for rescaling, side in ((witness.positive, 1), (witness.negative, -1)):
            scale = rescaling / (np.ptp(training_set.features * rescaling, axis=0).max() or 1)
            centre = training_set.features.mean(axis=0)
            svm = SVC(kernel="linear", C=1e12, tol=1e-9, max_iter=2_000_000)
            svm.fit((training_set.features - centre) * scale, training_set.signs)
            if (
                svm.fit_status_ == 0
                and (svm.predict((training_set.features - centre) * scale) == training_set.signs).all()
            ):
                value = svm.decision_function((points[i : i + 1] - centre) * scale)[0]
                if abs(value) > 1e-6 and np.ptp(np.log10(rescaling)) < 4:
                    retrained += 1
                    assert np.sign(value) == side
    assert retrained > verdicts.neutral.sum() / 2  # libsvm does not converge at the most uneven rescalings


def test_a_budget_still_proves_neutral_and_says_why_the_rest_is_unknown():
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    whole = ComplexEngine(training_set).certify(features)
    engine = ComplexEngine(training_set, max_vertices=20)
    part = engine.certify(features)
    assert not engine.complete
    assert part.neutral.any()
    assert whole.neutral[part.neutral].all()
    assert (part.neutral | part.unknown).all()
    assert all("20 vertices" in reason for reason in part.reason[part.unknown])
    assert np.isnan(part.lower).all()
    assert check(part.certificate(int(np.flatnonzero(part.neutral)[0])).to_json()) == "neutral"


def test_what_an_incomplete_enumeration_leaves_open_goes_to_the_fallback():
    training_set, features = made_sets.drawn_from("pima_diabetes", 1)
    points = features[:12]
    whole = ComplexEngine(training_set).certify(points)
    fallback = MilpEngine(training_set, time_limit=30)
    part = ComplexEngine(training_set, max_vertices=5, fallback=fallback).certify(points)
    assert (part.code == whole.code).all()
    i = int(np.flatnonzero(part.neutral)[-1])
    assert check(part.certificate(i).to_json()) == "neutral"


@pytest.mark.parametrize("name", ["breast_cancer_wisconsin", "fertility", "banknote"])
def test_powers_of_two_change_no_bit_and_translations_and_permutations_no_verdict(name):
    training_set, features = made_sets.drawn_from(name, 2, rows=15)
    points = features[:100]
    base = ComplexEngine(training_set).certify(points)
    rng = np.random.default_rng(0)
    n = training_set.n_features
    powers = np.ldexp(1.0, rng.integers(-20, 21, n))
    scaled = ComplexEngine(TrainingSet(training_set.features * powers, training_set.signs)).certify(points * powers)
    assert (scaled.code == base.code).all()
    np.testing.assert_array_equal(scaled.lower, base.lower)
    np.testing.assert_array_equal(scaled.upper, base.upper)
    rows, columns = rng.permutation(len(training_set)), rng.permutation(n)
    moved = TrainingSet(training_set.features[rows][:, columns], training_set.signs[rows])
    assert (ComplexEngine(moved).certify(points[:, columns]).code == base.code).all()
    if name == "breast_cancer_wisconsin":  # integers, so that a whole number more is exact
        shift = rng.integers(-1000, 1000, n)
        shifted = ComplexEngine(TrainingSet(training_set.features + shift, training_set.signs)).certify(points + shift)
        assert (shifted.code == base.code).all()
        np.testing.assert_array_equal(shifted.lower, base.lower)


def test_random_rescalings_never_contradict_a_strong_verdict():
    from rescaleinv.theory.svm import minimal_norm_svm

    training_set, features = made_sets.drawn_from("pima_diabetes", 4)
    points = features[:300]
    verdicts = ComplexEngine(training_set).certify(points)
    assert verdicts.strong.any()
    rng = np.random.default_rng(1)
    for _ in range(60):
        svm = minimal_norm_svm(training_set, made_sets.random_rescaling(rng, training_set.n_features))
        values = svm.decision_function(points)
        near = 1e-7 * (1 + np.abs(values))
        assert not (values < -near)[verdicts.strongly_positive].any()
        assert not (values > near)[verdicts.strongly_negative].any()
        assert (values >= verdicts.lower - near).all()
        assert (values <= verdicts.upper + near).all()


def test_bad_input_is_refused():
    training_set = TrainingSet([[0.0, 1], [1, 0], [2, 2]], [-1, 1, 1])
    engine = ComplexEngine(training_set)
    with pytest.raises(InputError, match="3 features, but 2"):
        engine.certify([[1, 2, 3]])
    with pytest.raises(InputError, match="NaN"):
        engine.certify([[1, float("nan")]])
    with pytest.raises(InputError, match="max_vertices"):
        ComplexEngine(training_set, max_vertices=0)
    with pytest.raises(InputError, match="n_jobs"):
        ComplexEngine(training_set, n_jobs=0)
    with pytest.raises(InseparableError):
        ComplexEngine(TrainingSet([[0.0], [1], [2]], [1, -1, 1])).precompute()
    with pytest.raises(CertificateError, match="not neutral"):
        engine.explain(np.array([9.0, 9.0]))


def test_verdicts_as_a_frame_a_slice_and_a_page():
    verdicts = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])).certify(
        [[-1, 4], [4, 4], [0, 0]]
    )
    assert verdicts.summary() == "3 points: 1 strongly positive (33%), 1 strongly negative (33%), 1 neutral (33%)"
    assert verdicts.to_frame()["verdict"].tolist() == ["neutral", "strongly positive", "strongly negative"]
    assert verdicts[1:].code.tolist() == [1, -1]
    assert verdicts[verdicts.neutral].witness(0).positive.shape == (2,)
    assert "neutral" in verdicts._repr_html_()
    with pytest.raises(InputError, match="strongly positive"):
        verdicts.witness(1)
    with pytest.raises(CertificateError, match="prove"):
        verdicts.certificate(2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_while_another_thread_enumerates_is_not_stuck(monkeypatch):
    engine = ComplexEngine(made_sets.integer_ties(3, 3))
    expected = ComplexEngine(engine.training_set).certify([[1.0, 1, 1]])  # compiles, too
    begun, go_on = threading.Event(), threading.Event()
    enumerate_vertices = engine_module.enumerate_vertices

    def slowly(*arguments, **options):
        begun.set()
        go_on.wait()
        return enumerate_vertices(*arguments, **options)

    monkeypatch.setattr(engine_module, "enumerate_vertices", slowly)
    thread = threading.Thread(target=engine.precompute)
    thread.start()
    assert begun.wait(60)

    def in_the_child() -> None:
        engine_module.enumerate_vertices = enumerate_vertices
        assert engine.certify([[1.0, 1, 1]])[0] is expected[0]

    child = multiprocessing.get_context("fork").Process(target=in_the_child)
    child.start()
    child.join(120)
    stuck = child.is_alive()
    child.kill()
    go_on.set()
    thread.join()
    assert not stuck
    assert child.exitcode == 0


def test_more_threads_than_processors_are_not_started():
    training_set = made_sets.integer_ties(3, 3)
    assert ComplexEngine(training_set, n_jobs=10**6).n_threads == ComplexEngine(training_set, n_jobs=-1).n_threads
    assert ComplexEngine(training_set).n_threads == 1


def test_the_time_limit_covers_the_enumeration_and_more_points_allow_more():
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    engine = ComplexEngine(training_set, time_limit=1e-9)
    assert engine.certify(features[:10]).unknown.any()
    assert not engine.complete
    few = len(engine.vertices.bases)
    engine.certify(features[:11])
    assert len(engine.vertices.bases) == few  # not twice as long
    engine.time_limit = 60.0
    assert not engine.certify(features[:10]).unknown.any()
    assert engine.complete
    with pytest.raises(InputError, match="time_limit"):
        ComplexEngine(training_set, time_limit=-1)


def test_a_list_that_can_not_be_copied_is_kept_as_it_is(monkeypatch):
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    whole = ComplexEngine(training_set).certify(features)
    vertices = walk._Walk.vertices

    def without_memory(self, done, stopped, *, copy=True):
        if copy:
            raise MemoryError
        return vertices(self, done, stopped, copy=False)

    monkeypatch.setattr(walk._Walk, "vertices", without_memory)
    np.testing.assert_array_equal(ComplexEngine(training_set).certify(features).code, whole.code)


def test_memory_that_runs_out_is_a_budget_that_is_used_up(monkeypatch):
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    whole = ComplexEngine(training_set).certify(features)
    add, calls = walk._Walk.add, []

    def without_memory(self, neighbours, counts):
        calls.append(len(counts))
        if len(calls) == 4:
            raise MemoryError
        add(self, neighbours, counts)

    monkeypatch.setattr(walk._Walk, "add", without_memory)
    engine = ComplexEngine(training_set)
    part = engine.certify(features)
    assert engine.vertices.stopped == "more memory than there is"
    assert part.neutral.any()
    assert whole.neutral[part.neutral].all()
    assert (part.neutral | part.unknown).all()
    assert check(part.certificate(int(np.flatnonzero(part.neutral)[0])).to_json()) == "neutral"
