"""The gap engine against brute force, plain SVMs at its rescalings, the complex engine, and the exact checker."""

import copy
import itertools

import made_sets
import numpy as np
import pytest
from sklearn.svm import SVC

from rescaleinv import (
    Certificate,
    ComplexEngine,
    GapEngine,
    InputError,
    InseparableError,
    RescaleInvariantSVC,
    TrainingSet,
    Verdict,
    minimal_norm_svm,
)
from rescaleinv.datasets import load
from rescaleinv.engines.branch import svm_kernel
from rescaleinv.engines.branch.leaves import Pair, Part, PointProblem
from rescaleinv.verify import Refused, check

EXAMPLE = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


def overlapping(seed, n_features=3, n_rows=24):
    """Classes that no hyperplane separates; integers, so that rows repeat and tie."""
    random = np.random.default_rng(seed)
    labels = np.where(np.arange(n_rows) % 2, 1, -1)
    rows = random.integers(-3, 4, size=(n_rows, n_features)) + (labels[:, None] > 0)
    return TrainingSet(rows.astype(float), labels)


def plain_values(training_set, tau, points, C=None):
    """Decision values by Clarabel (hard margin) or libsvm (soft) at one rescaling."""
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


@pytest.mark.parametrize("kappa", [1.2, 2.0, 5.0])
@pytest.mark.parametrize(
    "make", [made_sets.gaussian, made_sets.integer_ties, made_sets.proportional_features], ids=lambda f: f.__name__
)
def test_hard_margins_against_plain_svms(make, kappa):
    training_set = make(5, 4)
    points = np.random.default_rng(1).normal(size=(10, 4)) * training_set.features.std(axis=0)
    engine = GapEngine(training_set, kappa)
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


def test_ties_are_unknown_with_that_reason():
    training_set = TrainingSet([[0.0, 0], [0, 3], [3, 3], [3, 0.5]], [-1, -1, 1, 1])
    verdicts = GapEngine(training_set, 2.0).certify([[1.5, 1.5], [1.5, 0.0]])
    assert verdicts.unknown.all()
    assert all("a tie" in reason for reason in verdicts.reason)


def test_small_penalties_beside_large_ones_have_certificates():
    training_set = TrainingSet([[3.0], [-2], [-1], [1], [2]], [-1, -1, -1, 1, 1])
    verdicts = GapEngine(training_set, 2, penalties=[0.001, 0.25, 10, 0.5, 0.25]).certify([[0.48], [0.94], [3.0]])
    assert (verdicts.prove().status == "proved").all()


def test_unlike_units():
    """One feature in units that are 1e5 times larger: the SVM's margins must not suffer."""
    units = np.array([1.0, 1e-5])
    clf = RescaleInvariantSVC(scale_range=1.01).fit(EXAMPLE.features * units, EXAMPLE.signs)
    points = np.array([[-1.0, 4], [4, 4], [0, 0]]) * units
    verdicts = clf.certify(points)
    assert not verdicts.unknown.any()
    assert (verdicts.code == clf.predict(points)).all()


def test_inseparable_rows_are_an_error_of_ours():
    for rows, labels in (([[1.0], [-1], [1], [-1]], [-1, -1, -1, 1]), ([[1.0], [1.0]], [1, -1])):
        with pytest.raises(InseparableError):
            GapEngine(TrainingSet(rows, labels), 2).certify([[0.0]])


def test_reasons_say_what_is_not_known():
    unsure = GapEngine(TrainingSet([[1.0], [2.0]], [1, -1]), 1.2, penalties=[1.0, 1.0]).certify([[1.9]])
    assert "optimal classifiers may differ in their intercepts" in unsure.reason[0]
    example = GapEngine(EXAMPLE, 1.7, penalties=[1.0] * 4).certify([[-1, 4]])
    assert example.unknown[0]
    assert "changes the label" in example.reason[0]
    assert "not for every optimal intercept" in example.reason[0]


def test_an_optimal_interval_of_intercepts_is_no_label():
    """Two rows with C so small that b may be anything in an interval: between its ends some optimal b gives each label."""
    training_set = TrainingSet([[0.0], [1.0]], [-1, 1])
    verdicts = GapEngine(training_set, 1.5, penalties=[0.01, 0.01]).certify([[0.5], [0.2], [400.0]])
    assert not verdicts.strong[:2].any()
    assert verdicts.strongly_positive[2]


# --- the kernel -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [np.inf, 1.0, 0.01])
def test_the_active_set_finds_the_svm(C):
    training_set = made_sets.gaussian(1, 6) if np.isinf(C) else overlapping(1, 6, 60)
    rows, labels = training_set.features, training_set.signs.astype(float)
    random = np.random.default_rng(0)
    multipliers = np.zeros(len(rows))
    for _ in range(20):  # from one rescaling to the next
        tau = 3.0 ** random.uniform(-1, 1, rows.shape[1])
        caps = np.full(len(rows), C)
        svm_rows = svm_kernel.SvmRows(rows, labels, np.ones(len(rows)), caps)
        weights, intercept, _, converged = svm_kernel.train(svm_rows, tau**2, multipliers)
        assert converged
        assert abs(multipliers @ labels) < 1e-9 * max(1, multipliers.sum())
        if np.isinf(C):
            theirs = minimal_norm_svm(training_set, tau)
            np.testing.assert_allclose(weights, theirs.weights, atol=1e-6 * np.abs(theirs.weights).max())
            assert intercept == pytest.approx(theirs.intercept, abs=1e-6)
            continue
        theirs = SVC(C=C, kernel="linear", tol=1e-10).fit(rows * tau, labels)
        np.testing.assert_allclose(weights / tau, theirs.coef_[0], atol=1e-4 * np.abs(theirs.coef_).max())

        def cost(w, b, tau=tau):
            return (w / tau) @ (w / tau) / 2 + C * np.maximum(0, 1 - labels * (rows @ w + b)).sum()

        assert cost(weights, intercept) <= cost(theirs.coef_[0] * tau, theirs.intercept_[0]) * (1 + 1e-6)


def test_slopes_are_derivatives():
    training_set = made_sets.gaussian(4, 5)
    rows, labels = training_set.features, training_set.signs.astype(float)
    point = np.random.default_rng(0).normal(size=5)
    svm_rows = svm_kernel.SvmRows(rows, labels, np.ones(len(rows)), np.full(len(rows), np.inf))

    def value(factors):
        w, b, free, _ = svm_kernel.train(svm_rows, 1 / factors, np.zeros(len(rows)))
        return w @ point + b, w, free

    factors = np.exp(np.random.default_rng(1).normal(size=5) / 3)
    before, weights, free = value(factors)
    slopes = svm_kernel.slopes(svm_rows, 1 / factors, free, weights, point)
    for j in range(5):
        moved = factors.copy()
        moved[j] *= np.exp(1e-6)
        assert (value(moved)[0] - before) / 1e-6 == pytest.approx(slopes[j], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_best_pair_is_the_best(soft, grouped):
    """The interior-point method against cvxpy on the same convex program."""
    import cvxpy as cp

    training_set = overlapping(3, 4, 30) if soft else made_sets.gaussian(6, 4)
    groups = [0, 0, 1, 1] if grouped else None
    penalties = np.full(training_set.n_rows, 0.5) if soft else None
    engine = GapEngine(training_set, 6.0, groups=groups, penalties=penalties)
    problem = engine.problem
    random = np.random.default_rng(0)
    compared = 0
    for point in random.normal(size=(12, 4)) * 2:
        value = problem.given[0] @ problem.in_units(point) + problem.given[1]
        question = PointProblem(problem, point, 1 if value >= 0 else -1)
        relaxed = question.relax(Part.whole(problem, problem.low, problem.high))
        v, r = cp.Variable(5), cp.Variable(training_set.n_rows, nonneg=True)
        nu = question.signed.T @ r
        costs = 0
        constraints = [question.sign * nu[4] >= 0]
        if soft:
            costs = problem.caps @ cp.pos(1 - question.signed @ v)
            constraints.append(r <= problem.caps)
        else:
            constraints.append(question.signed @ v >= 1)
        losses = 0
        for g in range(problem.groups.max() + 1):
            inside = np.flatnonzero(problem.groups == g)
            losses += cp.maximum(
                *(cp.sum_squares(d * v[inside] + nu[inside]) / (4 * d) for d in (problem.low[g], problem.high[g]))
            )
        try:
            best = cp.Problem(cp.Maximize(cp.sum(r) - costs - losses), constraints).solve(solver=cp.CLARABEL)
        except cp.SolverError:  # its own trouble
            continue
        assert (relaxed.value > 0) == (best > 0)
        if best < -1e-3:
            compared += 1
            assert relaxed.value == pytest.approx(best, rel=0.15, abs=1e-3)
            assert relaxed.value <= best + 1e-6 * abs(best)
    assert compared >= 3


@pytest.mark.parametrize("soft", [False, True])
def test_more_features_than_rows(soft):
    """Features that hardly vary change no verdict, but the linear systems behind the best pair are other ones."""
    training_set = overlapping(2, 4, 20) if soft else made_sets.gaussian(12, 4)
    penalties = np.full(training_set.n_rows, 0.5) if soft else None
    random = np.random.default_rng(0)
    points = random.normal(size=(12, 4)) * 2
    noise = 1e-9 * random.normal(size=(training_set.n_rows + len(points), 40))
    wide = TrainingSet(np.hstack([training_set.features, noise[: training_set.n_rows]]), training_set.signs)
    wide_points = np.hstack([points, noise[training_set.n_rows :]])
    narrow = GapEngine(training_set, 3.0, penalties=penalties)
    engine = GapEngine(wide, 3.0, penalties=penalties)
    assert wide.n_features > wide.n_rows
    verdicts, expected = engine.certify(wide_points), narrow.certify(points)
    decided = ~(verdicts.unknown | expected.unknown)
    assert decided.sum() >= 10
    assert (verdicts.code[decided] == expected.code[decided]).all()
    split = [i for i in np.flatnonzero(verdicts.strong) if engine.decide(wide_points[i]).n_parts > 1]
    assert split  # more than the SVM's own pair was needed
    assert check(verdicts.certificate(split[0]).to_json()).endswith("within the range")


def test_a_pair_that_errs_is_worth_nothing():
    engine = GapEngine(EXAMPLE, 2.0)
    question = PointProblem(engine.problem, np.array([4.0, 4.0]), 1)
    part = Part.whole(engine.problem, engine.problem.low, engine.problem.high)
    assert question.margin(part, Pair(np.array([-1.0, -1]), 0.0, np.ones(4)))[0] == -np.inf


# --- certificates -----------------------------------------------------------------------------------------------------


def decided_points():
    """Covers with every kind of split, hard and soft, and neutral points."""
    for soft in (False, True):
        training_set = overlapping(7, 3, 14) if soft else made_sets.gaussian(9, 5)
        penalties = np.full(training_set.n_rows, 0.3) if soft else None
        engine = GapEngine(training_set, 4.0, penalties=penalties, left_out=2)
        points = np.random.default_rng(5).normal(size=(40, training_set.n_features)) * 2
        yield engine, engine.certify(points)


@pytest.fixture(scope="module")
def certificates():
    found = []
    for _, verdicts in decided_points():
        for i in np.flatnonzero(~verdicts.unknown):
            found.append((verdicts.certificate(i), Verdict(int(verdicts.code[i]))))
    return found


def test_certificates_are_accepted(certificates):
    words = {1: "strongly positive", -1: "strongly negative", 0: "neutral"}
    for certificate, verdict in certificates:
        assert check(certificate.to_json()) == f"{words[verdict]} within the range"
    splits = {
        entry[0]
        for certificate, _ in certificates
        for entry in certificate.content["evidence"].get("cover", [])
        if isinstance(entry, list)
    }
    assert splits == {"factor", "sign", "row"}


def refused(content, match):
    with pytest.raises(Refused, match=match):
        check(Certificate(content).to_json())


def test_lies_about_covers_are_refused(certificates):
    strong = [c.content for c, verdict in certificates if verdict != Verdict.NEUTRAL]
    larger = min((c for c in strong if len(c["evidence"]["cover"]) > 5), key=lambda c: len(c["evidence"]["cover"]))
    for whole in (larger, strong[0]):
        cover = whole["evidence"]["cover"]
        places = [k for k, entry in enumerate(cover) if isinstance(entry, dict)]

        def changed(entry=None, k=places[-1], whole=whole, **fields):
            lie = copy.deepcopy(whole)
            if entry is not None:
                lie["evidence"]["cover"][k] = entry
            for name, value in fields.items():
                lie["evidence"]["cover"][k][name] = value
            return lie

        opposite = copy.deepcopy(whole)
        words = ("positive", "negative") if "positive" in opposite["claim"] else ("negative", "positive")
        opposite["claim"] = opposite["claim"].replace(*words)
        refused(opposite, "cover")
        for claim in ("strongly positive", "neutral within the range", "strongly", 3):
            refused({**whole, "claim": claim}, "does not prove")
        refused(changed(r={}), "does not fail")
        refused(changed(v=["0"] * len(cover[places[-1]]["v"])), "margin below 1|does not fail")
        refused(changed(r={"0": "-1"}), "negative|does not fail|wrong side")
        refused(changed(r={"99999": "1"}), "belongs to no row")
        refused(changed(v=["1"]), "numbers are needed")
        refused(changed(["factor", 99, "1"]), "no such group")
        refused(changed(["factor", 0, "1000000"]), "outside of its range")
        refused(changed(["row", 99999]), "no such row")
        refused(changed(["sign", -1]), "no number")
        refused(changed(["luck", 0]), "not known")
        refused(changed("nothing"), "neither a pair nor a split")
        lie = copy.deepcopy(whole)
        lie["evidence"]["cover"].pop()
        refused(lie, "leaves parts of the range out")
        lie = copy.deepcopy(whole)
        lie["evidence"]["cover"].append(cover[places[-1]])
        refused(lie, "more than the range has parts")
        lie = copy.deepcopy(whole)
        lie["evidence"]["range"]["rescalings"] = [["1/1000000", "1000000"]] * len(
            lie["evidence"]["range"]["rescalings"]
        )
        refused(lie, "does not fail|outside")
    for lie_range, match in (
        ({"rescalings": [["2", "3"]]}, "does not contain 1"),
        ({"rescalings": [["0", "3"]]}, "does not contain 1"),
        ({"groups": [1]}, "leaves a number out"),
        ({"groups": ["0"]}, "not numbers"),
        ({"groups": [10**9]}, "not numbers"),
        ({"penalties": ["0"]}, "not positive"),
        ({"penalties": ["1"]}, "are needed"),
    ):
        lie = copy.deepcopy(larger)
        for name, value in lie_range.items():
            old = lie["evidence"]["range"][name]
            length = len(lie["training"]["rows"]) if name == "penalties" else len(old)
            lie["evidence"]["range"][name] = value * (1 if value == ["1"] else length)
        refused(lie, match)


def test_penalties_belong_to_the_claim(certificates):
    """What holds for some penalties is not proved for a hard margin, nor for far larger penalties."""
    soft = [c.content for c, _ in certificates if c.content["evidence"]["range"]["penalties"] is not None]
    lie = copy.deepcopy(soft[0])
    lie["evidence"]["range"]["penalties"] = None
    refused(lie, "margin below 1|capped|not fail|leaves parts|more than")
    lie = copy.deepcopy(soft[0])
    lie["evidence"]["range"]["penalties"] = ["1/1000000"] * len(lie["training"]["rows"])
    refused(lie, "more than the penalty|does not fail")


def test_lies_about_two_labels_are_refused(certificates):
    whole = next(c.content for c, verdict in certificates if verdict == Verdict.NEUTRAL)
    lie = copy.deepcopy(whole)
    sides = lie["evidence"]
    sides["positive"], sides["negative"] = sides["negative"], sides["positive"]
    refused(lie, "evidence.positive: ")
    lie = copy.deepcopy(whole)
    lie["evidence"]["negative"]["inverse_squared_rescaling"][0] = "1000"
    refused(lie, "evidence.negative: the rescaling of group 0 is outside of its range")
    lie = copy.deepcopy(whole)
    lie["evidence"]["negative"] = lie["evidence"]["positive"]
    refused(lie, "evidence.negative")
    refused({**whole, "claim": "neutral"}, "do not prove")


def test_the_inequality_by_hand():
    """Rows at 1 and -1, nothing rescaled, the point 1/8: with v = 1 and r = (1/2, 1/2) both sides are 1: no proof."""
    verdicts = GapEngine(TrainingSet([[1.0], [-1.0]], [1, -1]), (1, 1)).certify([[0.125]])
    content = copy.deepcopy(verdicts.certificate(0).content)

    def with_cover(*entries):
        content["evidence"]["cover"] = list(entries)
        return content

    def pair(**r):
        return {"v": ["1"], "t": "1/8", "r": {key.strip("_"): value for key, value in r.items()}}

    refused(with_cover(pair(_0="1/2", _1="1/2")), "does not fail")
    good = pair(_0="11/20", _1="1/2")
    assert check(Certificate(with_cover(good)).to_json()) == "strongly positive within the range"
    # the negative r of a row whose state is not known is refused, however well the inequality holds
    refused(with_cover(pair(_0="11/20", _1="-1/1000000")), "is negative")
    refused(with_cover(["row", 0], ["row", 0], good, good, good), "its state is known")
    refused(with_cover(["sign", 0], ["sign", 0], good, good, good), "its sign is known")


def test_no_random_change_of_a_pair_proves_the_other_label():
    """What the checker accepts is true: pairs at random, offered for the other label of a strong point, are all refused."""
    random = np.random.default_rng(0)
    engine, verdicts = next(decided_points())
    i = int(np.flatnonzero(verdicts.strong)[0])
    content = verdicts.certificate(i).content
    claim = content["claim"].replace("positive", "x").replace("negative", "positive").replace("x", "negative")
    for _ in range(200):
        pair = {
            "v": [str(int(x)) for x in random.integers(-20, 21, 5)],
            "t": str(int(random.integers(-20, 21))),
            "r": {str(k): str(int(random.integers(0, 9))) for k in random.integers(0, engine.training_set.n_rows, 4)},
        }
        lie = copy.deepcopy(content)
        lie["claim"] = claim
        lie["evidence"]["cover"] = [pair]
        with pytest.raises(Refused):
            check(Certificate(lie).to_json())


def test_prove_checks_every_certificate(tmp_path):
    for _, verdicts in decided_points():
        path = tmp_path / "certificates.jsonl"
        proved = verdicts[:8].prove(path)
        assert (proved.status[~proved.unknown] == "proved").all()
        lines = path.read_text().splitlines()
        assert len(lines) == (~proved.unknown).sum()
        assert all("within the range" in check(line) for line in lines)


# --- the radius -------------------------------------------------------------------------------------------------------


def test_the_radius_is_where_the_label_changes():
    training_set = made_sets.gaussian(8, 4)
    clf = RescaleInvariantSVC().fit(training_set.features, training_set.signs)
    points = np.random.default_rng(1).normal(size=(8, 4))
    radius = clf.rescaling_radius(points, ratio=1.05, largest=50)
    everything = clf.certify(points)
    assert (np.isinf(radius[:, 0]) == everything.strong).all()
    for point, (certified, refuted) in zip(points, radius, strict=True):
        assert certified <= refuted
        if np.isfinite(refuted):
            assert refuted <= certified * 1.05 * (1 + 1e-9)
            assert GapEngine(training_set, refuted * (1 + 1e-9)).certify([point]).neutral[0]
        if 1 < certified < np.inf:
            assert GapEngine(training_set, certified).certify([point]).strong[0]


def test_the_radius_of_the_papers_example_by_hand():
    """f(-1, 4) = 0 at w = (2.8, 2.2), where τ_1/τ_2 = sqrt(2.8/2.2); so κ is the root of that."""
    clf = RescaleInvariantSVC().fit(EXAMPLE.features, EXAMPLE.signs)
    certified, refuted = clf.rescaling_radius([[-1, 4]], ratio=1.0001)[0]
    assert certified < (2.8 / 2.2) ** 0.25 < refuted < certified * 1.0002


def test_the_radius_keeps_frozen_features_and_soft_margins():
    training_set = overlapping(5)
    clf = RescaleInvariantSVC(C=1.0, scale_range=[(1, 1), (0.5, 2), (0.5, 2)]).fit(
        training_set.features, training_set.signs
    )
    points = np.random.default_rng(0).uniform(-3, 4, size=(5, 3))
    radius = clf.rescaling_radius(points, ratio=1.1, largest=20)
    free = RescaleInvariantSVC(C=1.0).fit(training_set.features, training_set.signs)
    assert (radius[:, 1] >= free.rescaling_radius(points, ratio=1.1, largest=20)[:, 0]).all()
    for kappa in (0.5, np.inf, "wide"):
        with pytest.raises(InputError, match="largest is"):
            clf.rescaling_radius(points, largest=kappa)


# --- what users give --------------------------------------------------------------------------------------------------


def test_wrong_arguments_are_refused():
    for options, match in (
        ({"scale_range": None}, "needs a finite scale_range"),
        ({"scale_range": [(1, 1), (0, np.inf)]}, "no engine for such a mixture.*1e-3"),
        ({"scale_range": 2, "groups": [0]}, "1 labels for 2 features"),
        ({"scale_range": 2, "groups": "ab"}, "one label a feature"),
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


def test_limits_leave_points_unknown_with_the_reason():
    training_set = made_sets.gaussian(0, 8)
    points = np.random.default_rng(0).normal(size=(40, 8))
    verdicts = GapEngine(training_set, 6.0, max_parts=1).certify(points)
    assert verdicts.unknown.any()
    reasons = verdicts.reason[verdicts.unknown]
    assert all("not decided within the limit of 1 parts" in reason or "a tie" in reason for reason in reasons)
    more = GapEngine(training_set, 6.0).certify(points)
    decided = ~verdicts.unknown
    assert (verdicts.code[decided] == more.code[decided]).all()
    assert more.unknown.sum() < verdicts.unknown.sum()


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
