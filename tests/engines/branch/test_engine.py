"""The engine against brute force, plain SVMs at its rescalings, and the complex engine."""

import pickle

import clarabel
import made_sets
import numpy as np
import pytest
from limited_ranges import EXAMPLE, overlapping, plain_values, require_no_contradiction, require_witnesses
from scipy import sparse

from rescaleinv import ComplexEngine, GapEngine, InputError, RescaleInvariantSVC, TrainingSet, verify
from rescaleinv.datasets import load
from rescaleinv.engines.branch import engine as engine_module
from rescaleinv.errors import CertificateError
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu


@pytest.mark.parametrize("kappa", [1.2, 2.0, 5.0])
@pytest.mark.parametrize(
    "make", [made_sets.gaussian, made_sets.integer_ties, made_sets.proportional_features], ids=lambda f: f.__name__
)
def test_hard_margins_against_plain_svms(make, kappa):
    training_set = make(5, 4)
    points = np.random.default_rng(1).normal(size=(10, 4)) * training_set.features.std(axis=0)
    engine = GapEngine(training_set, kappa, max_parts=2000)
    verdicts = engine.certify(points)
    assert verdicts.unknown.sum() <= 1
    require_no_contradiction(engine, verdicts, points, kappa)
    require_witnesses(engine, verdicts, points, (1 / kappa, kappa))


@pytest.mark.parametrize("kappa", [1.3, 3.0])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_soft_margins_against_plain_svms(C, kappa):
    training_set = overlapping(int(10 * C))
    points = np.random.default_rng(2).uniform(-4, 5, size=(10, 3))
    engine = GapEngine(training_set, kappa, penalties=np.full(training_set.n_rows, C))
    verdicts = engine.certify(points)
    assert verdicts.unknown.sum() <= 1
    assert verdicts.strong.any()
    require_no_contradiction(engine, verdicts, points, kappa, C)
    require_witnesses(engine, verdicts, points, (1 / kappa, kappa), C)


@pytest.mark.parametrize("seed", range(6))
def test_nu_margins_against_clarabel(seed):
    """Corners and samples of the range, rows that weigh unlike, groups and frozen features, near the least ν and far."""
    random = np.random.default_rng(seed)
    training_set = overlapping(seed, 3, 20)
    weights = random.uniform(0.5, 2, 20) if seed % 2 else None
    least, largest = least_nu(training_set, weights), float(largest_nu(training_set, weights))
    nu = NuMargin.of(training_set, least + (0.02, 0.2, 0.9)[seed % 3] * (largest - least), weights)
    points = random.uniform(-4, 5, size=(10, 3))
    ranges = [(1, 1), (0.4, 2), (0.4, 2)] if seed > 2 else [(0.4, 2)] * 3
    engine = GapEngine(training_set, ranges, nu=nu, groups=[0, 1, 1] if seed > 3 else None)
    verdicts = engine.certify(points)
    assert verdicts.unknown.sum() <= 1
    for _ in range(30):
        low, high = np.array(ranges).T
        share = random.integers(0, 2, 3) if _ % 2 else random.uniform(0, 1, 3)
        share[2] = share[1] if seed > 3 else share[2]
        values = plain_values(training_set, low * (high / low) ** share, points, nu)
        assert not (verdicts.strongly_positive & (values < -1e-6)).any()
        assert not (verdicts.strongly_negative & (values > 1e-6)).any()
    require_witnesses(engine, verdicts, points, (min(low), max(high)), nu)
    for i in np.flatnonzero(~verdicts.unknown):
        claim = verify.check(verdicts.certificate(i).to_json())
        assert claim.question.scope.nu == nu.nu
        assert (claim.question.scope.row_weights is None) == (weights is None)


def test_nu_at_the_standardised_scaling_is_the_svm_with_C_1():
    """Nothing is rescaled: the verdicts with ν = auto are the labels of SVC(C=1); and the unit of all is of no account."""
    features, labels, _ = load("pima_diabetes")
    rows = (features[:200] - features[:200].mean(axis=0)) / features[:200].std(axis=0)
    points = (features[200:230] - features[:200].mean(axis=0)) / features[:200].std(axis=0)
    training_set = TrainingSet(rows, labels[:200])
    nu = NuMargin.like_penalty(training_set)
    verdicts = GapEngine(training_set, (1, 1), nu=nu).certify(points)
    values = plain_values(training_set, np.ones(8), points, C=1.0)
    assert (verdicts.code == np.where(values >= 0, 1, -1)).all()
    within = GapEngine(training_set, 3.0, nu=nu, max_parts=1000).certify(points)
    larger = GapEngine(TrainingSet(2.0**9 * rows, labels[:200]), 3.0, nu=nu, max_parts=1000).certify(2.0**9 * points)
    assert (within.code == larger.code).all()


def test_both_soft_margins_at_once_are_an_error():
    with pytest.raises(InputError, match="both penalties and nu"):
        GapEngine(overlapping(1), 2, penalties=np.ones(24), nu=0.9)


@pytest.mark.parametrize("name", ["pima_diabetes", "blood_transfusion"])
def test_real_data_that_no_hyperplane_separates(name):
    features, labels, _ = load(name)
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    clf = RescaleInvariantSVC(scale_range=1.5, C=1.0).fit(scaled[:150], labels[:150])
    points = scaled[150:165]
    verdicts = clf.certify(points)
    assert clf.engine_.name == "gap"
    assert verdicts.unknown.sum() <= 1
    random = np.random.default_rng(0)
    for _ in range(10):
        values = plain_values(clf.training_set_, 1.5 ** random.choice([-1, 1], scaled.shape[1]), points, C=1.0)
        assert not (verdicts.strongly_positive & (values < -1e-4)).any()
        assert not (verdicts.strongly_negative & (values > 1e-4)).any()


def test_a_wide_range_agrees_with_every_rescaling():
    features, labels, _ = load("breast_cancer_wisconsin")
    training_set = TrainingSet(features[:25, :5] + 1e-3 * np.arange(125).reshape(25, 5) % 1, labels[:25])
    points = features[40:70, :5]
    everything = ComplexEngine(training_set).certify(points)
    for kappa in (1.5, 30.0):
        limited = GapEngine(training_set, kappa, max_parts=100).certify(points)
        # what is strong under every rescaling is never refuted in a range
        assert not (everything.strong & limited.neutral).any()
        assert (
            limited.code[everything.strong & limited.strong] == everything.code[everything.strong & limited.strong]
        ).all()
    assert (limited.neutral & everything.neutral).sum() >= 0.5 * everything.neutral.sum()


def test_a_smaller_range_never_turns_strong_into_neutral():
    training_set = made_sets.gaussian(3, 5)
    points = np.random.default_rng(0).normal(size=(12, 5))
    last = None
    for kappa in (1.1, 1.5, 3.0, 9.0):
        verdicts = GapEngine(training_set, kappa).certify(points)
        if last is not None:
            assert not (last.neutral & verdicts.strong).any()
        last = verdicts


def test_powers_of_two_and_permutations_change_nothing():
    training_set = made_sets.gaussian(11, 4)
    points = np.random.default_rng(4).normal(size=(10, 4))
    before = GapEngine(training_set, 2.0).certify(points)
    power = np.array([4.0, 1, 0.5, 8])
    # the ranges follow when they are divided by the factor, as long as they contain 1
    limits = np.array([[0.125, 16.0]] * 4)
    wide = GapEngine(training_set, limits).certify(points)
    scaled = TrainingSet(training_set.features * power, training_set.signs)
    after = GapEngine(scaled, limits / power[:, None]).certify(points * power)
    decided = ~(wide.unknown | after.unknown)
    assert (wide.code[decided] == after.code[decided]).all()
    order = np.random.default_rng(0).permutation(training_set.n_rows)
    columns = np.array([2, 0, 3, 1])
    mixed = TrainingSet(training_set.features[order][:, columns], training_set.signs[order])
    again = GapEngine(mixed, 2.0).certify(points[:, columns])
    decided = ~(before.unknown | again.unknown)
    assert (before.code[decided] == again.code[decided]).all()


def test_frozen_features_and_groups():
    """All features in one group is a change of C only: nothing changes in a hard margin. Frozen ones keep their factor."""
    training_set = made_sets.gaussian(2, 4)
    points = np.random.default_rng(3).normal(size=(12, 4))
    together = GapEngine(training_set, 50.0, groups=[0, 0, 0, 0]).certify(points)
    assert together.strong.all()
    single = GapEngine(training_set, 8.0).certify(points)
    paired = GapEngine(training_set, 8.0, groups=["cm", "cm", "kg", "kg"]).certify(points)
    assert not (single.strong & paired.neutral).any()
    assert paired.strong.sum() > single.strong.sum()
    for i in np.flatnonzero(paired.neutral):
        for tau in (paired.witness(i).positive, paired.witness(i).negative):
            assert tau[0] == tau[1]
            assert tau[2] == tau[3]
    frozen = GapEngine(training_set, [(1, 1), (1 / 8, 8), (1 / 8, 8), (1, 1)]).certify(points)
    assert not (single.strong & frozen.neutral).any()
    for i in np.flatnonzero(frozen.neutral):
        assert (frozen.witness(i).positive[[0, 3]] == 1).all()
    alone = GapEngine(training_set, (1, 1)).certify(points)
    assert alone.strong.all()
    reference = RescaleInvariantSVC().fit(training_set.features, training_set.signs).predict(points)
    assert (alone.code == reference).all()


def test_wrong_arguments_are_refused():
    for options, match in (
        ({"scale_range": None}, "needs a finite scale_range"),
        ({"scale_range": [(0, np.inf), (0, np.inf)]}, "needs a finite scale_range"),
        ({"scale_range": 2, "groups": [0]}, "1 labels for 2 features"),
        ({"scale_range": 2, "groups": "ab"}, "one label per feature"),
        ({"scale_range": 2, "groups": {"a": 0}}, "the features have none"),
        ({"scale_range": 2, "groups": [[], []]}, "can't be compared"),
        ({"scale_range": [(1, 1), (0.5, 2)], "groups": [0, 0]}, "share one factor"),
        ({"scale_range": 2, "penalties": [1.0]}, "one for each of 4 rows"),
        ({"scale_range": 2, "penalties": [0.0] * 4}, "penalties must be positive"),
        ({"scale_range": 1e60}, "1e\\+50 is the most"),
        ({"scale_range": 2, "time_limit": 0}, "time_limit is 0"),
        ({"scale_range": 2, "max_parts": 0}, "max_parts is 0"),
        ({"scale_range": 2, "n_jobs": 0}, "n_jobs is 0"),
        ({"scale_range": 2, "left_out": -1}, "left_out is -1"),
    ):
        with pytest.raises(InputError, match=match):
            GapEngine(EXAMPLE, **options)


def test_processes_give_the_same_verdicts():
    training_set = made_sets.gaussian(0, 4)
    points = np.random.default_rng(0).normal(size=(20, 4))
    one = GapEngine(training_set, 2.0).certify(points)
    two = GapEngine(training_set, 2.0, n_jobs=2).certify(points)
    assert (one.code == two.code).all()


def test_the_estimator_saves_soft_margins_and_groups(tmp_path):
    training_set = overlapping(4)
    clf = RescaleInvariantSVC(C=0.7, scale_range=2.0, groups=[0, 0, 1]).fit(
        training_set.features, training_set.signs, sample_weight=np.linspace(0.5, 2, training_set.n_rows)
    )
    points = np.random.default_rng(0).uniform(-3, 4, size=(10, 3))
    clf.save(tmp_path / "model")
    again = RescaleInvariantSVC.load(tmp_path / "model")
    assert (again.certify(points).code == clf.certify(points).code).all()
    assert (again.engine_.engine.penalties == 0.7 * np.linspace(0.5, 2, training_set.n_rows)).all()


def test_what_was_decided_is_not_decided_again(monkeypatch):
    """Certificates, witnesses and proofs come from what ``certify`` found, in this process or in others."""
    training_set = made_sets.gaussian(0, 4)
    points = np.random.default_rng(0).normal(size=(12, 4))
    for n_jobs in (1, 2):
        engine = GapEngine(training_set, 2.0, n_jobs=n_jobs)
        verdicts = engine.certify(points)
        assert verdicts.neutral.any()
        assert verdicts.strong.any()
        with monkeypatch.context() as patched:
            patched.setattr(engine_module, "decide", lambda *_, **__: pytest.fail("decided again"))
            assert (verdicts.prove().status[~verdicts.unknown] == "proved").all()
            for i in np.flatnonzero(verdicts.neutral):
                verdicts.witness(i)


def test_each_certificate_is_checked_once(monkeypatch):
    verdicts = GapEngine(made_sets.gaussian(0, 3), 2.0).certify(np.random.default_rng(0).normal(size=(6, 3)))
    checked = []
    check_once = verify.check
    monkeypatch.setattr(verify, "check", lambda text, *a, **k: checked.append(text) or check_once(text, *a, **k))
    assert (verdicts.prove().status[~verdicts.unknown] == "proved").all()
    assert len(checked) == len(set(checked)) == (~verdicts.unknown).sum()


def test_old_decisions_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(engine_module, "_MOST_KEPT", 3000)
    engine = GapEngine(made_sets.gaussian(0, 4), 2.0)
    points = np.random.default_rng(0).normal(size=(12, 4))
    verdicts = engine.certify(points)
    assert 1 <= len(engine._kept) < (~verdicts.unknown).sum()
    assert engine._kept_bytes == sum(decision.nbytes for decision in engine._kept.values())
    # they are decided again, with the same answer
    assert (verdicts.prove().status[~verdicts.unknown] == "proved").all()


def test_a_proof_that_does_not_survive_exact_arithmetic_is_no_verdict(monkeypatch):
    """Every certificate is refused here: what was near to failing is unknown, with the reason, and not neutral."""
    monkeypatch.setattr(engine_module, "_SURE_SLACK", np.inf)
    monkeypatch.setattr(verify, "check", lambda *_, **__: (_ for _ in ()).throw(verify.Refused("a test says so")))
    verdicts = GapEngine(made_sets.gaussian(0, 4), 2.0).certify(np.random.default_rng(0).normal(size=(6, 4)))
    assert verdicts.unknown.all()
    assert all("rounding to rationals did not succeed" in reason for reason in verdicts.reason)


def test_an_engine_that_is_pickled_decides_the_same():
    engine = GapEngine(made_sets.gaussian(0, 4), 2.0)
    points = np.random.default_rng(0).normal(size=(8, 4))
    codes = engine.certify(points).code
    again = pickle.loads(pickle.dumps(engine))
    assert not again._kept
    assert (again.certify(points).code == codes).all()


def soft_margin_by_clarabel(rows, signs, penalty, point):
    """The decision value of a point at the given scaling, by a quadratic program of its own."""
    m, n = rows.shape
    unit = np.abs(rows).max(axis=0)
    cost = sparse.diags(np.r_[1 / unit**2, np.zeros(m + 1)]).tocsc()
    margins = np.hstack([-signs[:, None] * rows / unit, -signs[:, None], -np.eye(m)])
    slacks = np.hstack([np.zeros((m, n + 1)), -np.eye(m)])
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    program = sparse.csc_matrix(np.vstack([margins, slacks]))
    right = np.r_[-np.ones(m), np.zeros(m)]
    linear = np.r_[np.zeros(n + 1), np.full(m, penalty)]
    answer = clarabel.DefaultSolver(cost, linear, program, right, [clarabel.NonnegativeConeT(2 * m)], options).solve()
    solution = np.array(answer.x)
    return float(solution[:n] @ (point / unit) + solution[n])


@pytest.mark.parametrize("seed", range(6))
def test_soft_margins_of_features_in_unlike_units(seed):
    """Both witnesses of a neutral point are on their side when trained again, and its certificate can be made."""
    rng = np.random.default_rng([seed, 9])
    signs = np.where(np.arange(14) % 2, 1, -1)
    units = 10.0 ** rng.integers(-4, 5, 3)
    rows = (rng.normal(size=(14, 3)) + 0.5 * signs[:, None]) * units
    penalty = 10.0 ** rng.uniform(-3, 3)
    points = np.vstack([rows[:3], rng.normal(size=(5, 3)) * 2 * units])
    engine = GapEngine(TrainingSet(rows, signs), 5.0, penalties=np.full(14, penalty), time_limit=5.0)
    verdicts = engine.certify(points)
    for i in np.flatnonzero(verdicts.neutral).tolist():
        assert verify.check(verdicts.certificate(i).to_json()) == "neutral within the range"
        witness = verdicts.witness(i)
        for tau, sign in ((witness.positive, 1), (witness.negative, -1)):
            assert sign * soft_margin_by_clarabel(rows * tau, signs.astype(float), penalty, points[i] * tau) > 0
    assert verdicts.neutral.any() or verdicts.strong.any()


def test_a_neutral_verdict_without_a_certificate_is_unknown(monkeypatch):
    engine = GapEngine(made_sets.gaussian(0, 4), 4.0)
    verdicts = engine.certify(np.random.default_rng(0).normal(size=(8, 4)))
    assert verdicts.neutral.any()
    assert verdicts.strong.any()

    def none(*_):
        raise CertificateError("a test says so")

    monkeypatch.setattr(engine, "_certificate", none)
    proved = verdicts.prove()
    assert proved.unknown[verdicts.neutral].all()
    assert set(proved.reason[verdicts.neutral]) == {"a test says so"}
    assert (proved.code[verdicts.strong] == verdicts.code[verdicts.strong]).all()
    assert set(proved.status[verdicts.strong]) == {"computed"}


def test_points_that_are_settled_early_leave_their_time_to_others(monkeypatch):
    """Ten points of 2 s each, by a clock that is set by hand: first 0.5 s each, then all that is left, within limits."""
    clock = [100.0]
    monkeypatch.setattr(engine_module.time, "monotonic", lambda: clock[0])
    engine = GapEngine(EXAMPLE, 2.0, time_limit=2.0)
    (first, is_last), (second, is_last_too) = engine._rounds(10)
    assert (first(10), is_last, is_last_too) == (0.5, False, True)
    rounds = engine._rounds(10)
    next(rounds)
    (second, _) = next(rounds)
    assert second(1) == 10 * 2.0  # never more than ten times its own
    clock[0] += 5.0
    assert second(5) == pytest.approx(15 / 5)
    clock[0] += 100.0
    assert second(5) == 2.0  # nor less than its own, if others took more
    [(alone, _)] = engine._rounds(1)
    assert alone(1) == 2.0
    [(unlimited, _)] = GapEngine(EXAMPLE, 2.0)._rounds(10)
    assert unlimited(10) is None
