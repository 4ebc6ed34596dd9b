"""The MILP engine against brute force in rationals, itself under other solvers, and the exact checker."""

import os
import sys
from fractions import Fraction

import joblib
import numpy as np
import pytest
from brute_force import exact_range
from made_sets import MAKERS, random_rescaling
from small_sets import points_near, reference, small_set

from rescaleinv.engines.milp import search, solvers
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.engines.milp.solvers.model import Answer
from rescaleinv.errors import CertificateError, InputError, InseparableError, MissingSolverError
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check

BACKENDS = tuple(solvers.BACKENDS)
each_backend = pytest.mark.parametrize("solver", BACKENDS)
POSITIVE, NEGATIVE, NEUTRAL, UNKNOWN = (
    Verdict.STRONGLY_POSITIVE,
    Verdict.STRONGLY_NEGATIVE,
    Verdict.NEUTRAL,
    Verdict.UNKNOWN,
)


@pytest.fixture(autouse=True, scope="module")
def _ortools_before_pulp():
    """PuLP, imported first, makes MathOpt's HiGHS crash."""
    solvers.backend("ortools")


@pytest.fixture
def example():
    """Example 1 of the paper; its Example 2 is the point (-1, 4)."""
    return TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


def assert_certified(verdicts):
    for i in np.flatnonzero(verdicts.neutral):
        assert check(verdicts.certificate(int(i)).to_json()) == "neutral"


# --- the papers' and the theory's own examples ----------------------------------------------------------------------


@each_backend
@pytest.mark.parametrize("shortcuts", [True, False])
def test_example_2_is_neutral(example, solver, shortcuts):
    verdicts = MilpEngine(example, solver=solver, shortcuts=shortcuts).certify([[-1, 4], [3, 3], [0, 0]])
    assert verdicts.code.tolist() == [0, 1, -1]
    assert verdicts.status.tolist() == ["certified", "computed", "computed"]
    assert verdicts.reason.tolist() == ["", "", ""]
    assert_certified(verdicts)
    witness = verdicts.witness(0)
    for rescaling, sign in ((witness.positive, 1), (witness.negative, -1)):
        assert np.sign(minimal_norm_svm(example, rescaling).decision_function([[-1, 4]])[0]) == sign


@each_backend
def test_ranges_that_differ_by_ten_millions(solver):
    """Unconditioned, HiGHS said "infeasible" here, where sup f = 9.5."""
    training_set = TrainingSet([[2, 200000, 0], [3, 100000, 3], [2, 200000, 2]], [-1, -1, 1])
    point = [3, 600000, -1.5]
    assert exact_range(training_set, point)[1] == Fraction(19, 2)
    verdicts = MilpEngine(training_set, solver=solver, shortcuts=False).certify([point])
    assert verdicts.neutral.all()
    assert_certified(verdicts)


@each_backend
def test_no_witness_without_a_margin(solver):
    """Integer rows of both classes alike in feature 1: a classifier of margin 0 with weight on it is none."""
    training_set = TrainingSet([[0, 0], [2, 0], [0, 2], [2, 2], [1, 3]], [-1, -1, 1, 1, 1])
    points = [[-9, 2], [9, 2], [-9, 0], [9, 0], [-9, 1], [9, 1]]
    verdicts = MilpEngine(training_set, solver=solver, shortcuts=False).certify(points)
    assert verdicts.code.tolist() == reference(training_set, points) == [1, 1, -1, -1, 1, 1]


# --- ties -----------------------------------------------------------------------------------------------------------


@each_backend
def test_a_tie_that_is_only_approached_is_strongly_negative(solver):
    """sup f = 0, reached by dropping feature 2, which no rescaling does."""
    training_set = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    points = [[0, -1], [-1, 0], [0, 1], [1, -1]]
    verdicts = MilpEngine(training_set, solver=solver, shortcuts=False).certify(points)
    assert verdicts.code.tolist() == reference(training_set, points) == [-1, -1, 1, 0]


@each_backend
def test_a_tie_that_is_attained_is_neutral(solver):
    """f = 0 at an end of RO(X), or all along it, which is itself in RO(X)."""
    training_set = TrainingSet([[-5, 25], [25, -5], [7, 7], [5, 5]], [1, 1, 1, -1])
    points = [[20, -15], [0, 10], [-15, 20]]
    verdicts = MilpEngine(training_set, solver=solver, shortcuts=False).certify(points)
    assert [exact_range(training_set, point)[1] for point in points] == [0, 0, 0]
    assert verdicts.code.tolist() == reference(training_set, points) == [0, 0, 0]
    assert_certified(verdicts)


@pytest.mark.parametrize("shift", [0.0, 2.0**-44, -(2.0**-44)], ids=["on", "above", "below"])
def test_ties_and_points_next_to_them(shift):
    """The infimum or the supremum is 0, or about 1e-13 away from it: too little for any solver's tolerance."""
    rng = np.random.default_rng(2)
    seen = []
    for _ in range(60):
        training_set = small_set(rng)
        ties = [p for p in points_near(rng, training_set, 10) if 0 in exact_range(training_set, p)][:2]
        if ties:
            points = np.array(ties) + shift * np.ldexp(1.0, training_set.conditioning.exponent)
            expected = reference(training_set, points)
            found = MilpEngine(training_set, shortcuts=False).certify(points).code.tolist()
            # next to a tie a float solver's "infeasible" is not believed: the verdict may be UNKNOWN, never another one
            assert all(code in (truth, Verdict.UNKNOWN) for code, truth in zip(found, expected, strict=True))
            assert shift or found == expected
            seen += [(v, exact_range(training_set, p)[1] == 0) for v, p in zip(expected, ties, strict=True)]
    assert len(seen) > 30
    assert {verdict for verdict, _ in seen} == {-1, 0, 1}
    if shift == 0:
        assert {(0, True), (-1, True)} <= set(seen)  # attained and only approached


# --- against brute force, and the backends against each other --------------------------------------------------------


@pytest.mark.parametrize("shortcuts", [True, False])
def test_agrees_with_brute_force(shortcuts):
    rng = np.random.default_rng(1)
    seen = []
    for _ in range(30):
        training_set = small_set(rng)
        points = points_near(rng, training_set, 6)
        verdicts = MilpEngine(training_set, shortcuts=shortcuts).certify(points)
        expected = reference(training_set, points)
        assert verdicts.code.tolist() == expected, (training_set.features, training_set.signs, points)
        assert_certified(verdicts)
        seen += expected
    assert min(map(seen.count, (-1, 0, 1))) > 20


@each_backend
def test_every_backend_agrees_with_brute_force(solver):
    rng = np.random.default_rng(BACKENDS.index(solver) + 10)
    for _ in range(8):
        training_set = small_set(rng)
        points = points_near(rng, training_set, 4)
        verdicts = MilpEngine(training_set, solver=solver, shortcuts=False).certify(points)
        assert verdicts.code.tolist() == reference(training_set, points)


@pytest.mark.parametrize("maker", MAKERS)
def test_made_sets_under_all_backends_and_plain_svms(maker):
    """Backends agree, certificates hold, and no rescaling that is tried contradicts a strong verdict."""
    training_set = MAKERS[maker](2, 3)
    rng = np.random.default_rng(3)
    points = points_near(rng, training_set, 3)
    verdicts = MilpEngine(training_set, shortcuts=False).certify(points)
    assert not verdicts.unknown.any()
    assert_certified(verdicts)
    for solver in BACKENDS[1:]:
        assert (MilpEngine(training_set, solver=solver).certify(points).code == verdicts.code).all()
    for _ in range(20):
        rescaling = random_rescaling(rng, training_set.n_features) / np.ldexp(1.0, training_set.conditioning.exponent)
        values = minimal_norm_svm(training_set, rescaling).decision_function(points)
        assert not (verdicts.strongly_positive & (values < -1e-7)).any()
        assert not (verdicts.strongly_negative & (values > 1e-7)).any()


# --- invariance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_units_offsets_and_orders_change_no_verdict(seed):
    rng = np.random.default_rng(seed)
    training_set = MAKERS["integer_ties"](seed, 3)
    points = points_near(rng, training_set, 4)
    rows, labels = training_set.features, training_set.signs
    expected = MilpEngine(training_set).certify(points).code.tolist()

    def verdicts(new_rows, new_labels, new_points):
        return MilpEngine(TrainingSet(new_rows, new_labels, positive=1)).certify(new_points).code.tolist()

    factors = np.ldexp(1.0, rng.integers(-20, 21, 3))
    assert verdicts(rows * factors, labels, points * factors) == expected
    offsets = rng.integers(-1000, 1001, 3)
    assert verdicts(rows + offsets, labels, points + offsets) == expected
    order, features = rng.permutation(len(rows)), rng.permutation(3)
    assert verdicts(rows[order][:, features], labels[order], points[:, features]) == expected
    mirrored = np.array([1, -1, 1])
    assert verdicts(rows * mirrored, labels, points * mirrored) == expected


# --- shortcuts ------------------------------------------------------------------------------------------------------


def count_questions(monkeypatch):
    asked = []
    ask = solvers.solve

    def counted(model, *arguments, **options):
        asked.append(model)
        return ask(model, *arguments, **options)

    monkeypatch.setattr(search.solvers, "solve", counted)
    return asked


def test_what_cheap_arguments_settle_never_reaches_the_solver(example, monkeypatch):
    asked = count_questions(monkeypatch)
    engine = MilpEngine(example)
    inside = [[2.0, 2.0], [0.5, 0.5], [6.0, 6.0]]  # every hyperplane that separates gives them one label
    assert engine.certify(inside).code.tolist() == [1, -1, 1]
    assert asked == []
    assert engine.certify([[-1, 4]]).neutral.all()
    before = len(asked)
    assert before >= 1
    assert engine.certify([[-1, 4], [-2, 5], [-1.5, 4.5]]).neutral.all()  # the witness of the first point does
    assert len(asked) == before
    assert MilpEngine(example, shortcuts=False).certify(inside).strong.all()
    assert len(asked) > before


# --- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_tiny_time_limit_is_unknown_with_the_reason(example):
    verdicts = MilpEngine(example, time_limit=1e-9, shortcuts=False).certify([[-1, 4], [3, 3]])
    assert verdicts.unknown.all()
    assert verdicts.reason.tolist() == ["the time limit of 1e-09 s was reached"] * 2
    assert verdicts.status.tolist() == ["", ""]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (lambda *_: Answer("failed", message="numerical trouble"), "failed: numerical trouble"),
        (lambda *_: Answer("limit"), "time limit"),
        (lambda model, *_: Answer("optimal", np.zeros(model.n_variables)), "misses a constraint"),
        (lambda *_: 1 / 0, "ZeroDivisionError"),
    ],
    ids=["failure", "limit", "nonsense", "exception"],
)
def test_a_solver_that_fails_gives_no_verdict(example, monkeypatch, behaviour, reason):
    monkeypatch.setitem(solvers.BACKENDS, "stand-in", lambda: behaviour)
    engine = MilpEngine(example, solver="stand-in", time_limit=60)
    verdicts = engine.certify([[-1, 4], [2, 2]])
    assert verdicts.code.tolist() == [2, 1]  # the second is settled without a solver
    assert reason in verdicts.reason[0]
    with pytest.raises(CertificateError, match=f"UNKNOWN, not neutral.*{reason}"):
        engine.explain([-1, 4])


def test_a_failed_point_does_not_lose_the_others(example, monkeypatch):
    real = solvers.backend("highs")

    def second_time_fails(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise MemoryError("no more")
        return real(*arguments)

    calls = []
    monkeypatch.setitem(solvers.BACKENDS, "stand-in", lambda: second_time_fails)
    verdicts = MilpEngine(example, solver="stand-in", shortcuts=False).certify([[-1, 4], [-1, 4], [-1, 4]])
    assert verdicts.code.tolist() == [0, 2, 0]
    assert verdicts.reason[1] == "the solver 'stand-in' failed: MemoryError: no more"


def test_missing_and_unknown_solvers_are_said_at_once(example, monkeypatch):
    with pytest.raises(InputError, match="'gurobi' is not known"):
        MilpEngine(example, solver="gurobi")
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingSolverError, match="highspy"):
        MilpEngine(example)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": 0}, "time_limit is 0; a positive number"),
        ({"time_limit": "1"}, "time_limit is '1'"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": 1.5}, "n_jobs is 1.5"),
        ({"left_out": -1}, "left_out is -1"),
    ],
)
def test_arguments_are_checked(example, options, message):
    with pytest.raises(InputError, match=message):
        MilpEngine(example, **options)


def test_input_is_checked(example):
    with pytest.raises(InputError, match="a TrainingSet is needed"):
        MilpEngine([[1, 2]])
    with pytest.raises(InputError, match="3 features, but 2 were seen"):
        MilpEngine(example).certify([[1, 2, 3]])
    with pytest.raises(InseparableError):
        MilpEngine(TrainingSet([[0], [1], [2]], [1, -1, 1])).certify([[1]])


def test_explaining_a_strong_point_is_refused(example):
    engine = MilpEngine(example)
    with pytest.raises(CertificateError, match="STRONGLY_POSITIVE, not neutral"):
        engine.explain([3, 3])
    assert check(engine.explain([-1, 4]).certificate.to_json()) == "neutral"  # without a certify before


def test_left_out_rows_are_stated(example):
    certificate = MilpEngine(example, left_out=7).explain([-1, 4]).certificate
    assert certificate.content["training"]["left_out"] == 7


# --- batches --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def batch():
    training_set = MAKERS["integer_ties"](3, 4)
    points = points_near(np.random.default_rng(0), training_set, 10)
    return training_set, points, MilpEngine(training_set).certify(points).code.tolist()


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("shortcuts", [True, False])
def test_jobs_change_no_verdict(batch, backend, shortcuts):
    training_set, points, expected = batch
    assert len(set(expected)) > 1
    with joblib.parallel_config(backend):
        verdicts = MilpEngine(training_set, n_jobs=2, shortcuts=shortcuts).certify(points)
    assert verdicts.code.tolist() == expected
    assert_certified(verdicts)


def dies(search_, point, side):
    """Stands in for the decision of one point: the first coordinate decides whether its process is killed."""
    if point[0] == 99:
        os._exit(1)
    return search.Outcome(Verdict(side))


def test_a_process_that_dies_costs_its_own_point_only(example, monkeypatch):
    monkeypatch.setattr("rescaleinv.engines.milp.engine.decide", dies)
    points = [[3, 3], [99, 3], [0, 0]]
    verdicts = MilpEngine(example, n_jobs=2, shortcuts=False).certify(points)
    assert verdicts.code.tolist() == [1, 2, -1]
    assert "process" in verdicts.reason[1]


def test_a_bar_is_shown_when_asked_for_only(example, capfd, monkeypatch):
    monkeypatch.setattr("rescaleinv._util.progress._DELAY", 0)
    MilpEngine(example).certify([[-1, 4]])
    assert capfd.readouterr() == ("", "")
    MilpEngine(example, progress=True).certify([[-1, 4]])
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "1/1" in shown.err or "0/1" in shown.err
