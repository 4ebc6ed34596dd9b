"""The loop of solver and exact arithmetic: it ends, keeps its deadline, and gives up with a reason."""

import time
from fractions import Fraction

import numpy as np
import pytest
from brute_force import exact_verdict
from near_ties import near_ties

from rescaleinv.engines.milp import faces, search, solvers
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.errors import MissingSolverError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict

each_backend = pytest.mark.parametrize("solver", tuple(solvers.BACKENDS))


@pytest.fixture(autouse=True, scope="module")
def _ortools_before_pulp():
    """PuLP, imported first, makes MathOpt's HiGHS crash."""
    solvers.backend("ortools")


def test_a_tie_that_is_given_up_is_unknown(monkeypatch):
    monkeypatch.setattr(faces, "_MAX_SUBFACES", 1)
    training_set = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    verdicts = MilpEngine(training_set, shortcuts=False).certify([[0, -1]])
    assert verdicts.unknown.all()
    assert "reaches 0" in verdicts.reason[0]


def test_a_candidate_that_is_repeated_for_ever_ends(monkeypatch):
    """A solver that ignores clauses is found out: its solution does not fit the model any more."""
    first = {}
    real = solvers.backend("highs")

    def stubborn(model, *rest):
        first.setdefault("answer", real(model, *rest))
        return first["answer"]

    training_set = TrainingSet([[0, 0], [2, 0], [0, 2], [2, 2]], [-1, -1, 1, 1])
    monkeypatch.setitem(solvers.BACKENDS, "stand-in", lambda: stubborn)
    verdicts = MilpEngine(training_set, solver="stand-in", shortcuts=False).certify([[-9, 1]])
    assert verdicts.code.tolist() in ([1], [2])


def test_the_deadline_is_kept_between_candidates(monkeypatch):
    """A clock that jumps: the second question is not asked any more."""
    now = [0.0]
    monkeypatch.setattr(search.time, "monotonic", lambda: now[0])
    real = solvers.backend("highs")

    def slow(*arguments):
        now[0] += 10
        return real(*arguments)

    monkeypatch.setitem(solvers.BACKENDS, "stand-in", lambda: slow)
    training_set = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    engine = MilpEngine(training_set, solver="stand-in", time_limit=5, shortcuts=False)
    assert engine.certify([[0, -1]]).reason.tolist() == ["the time limit of 5 s was reached"]
    assert time.monotonic() == 10


def test_a_classifier_labels_points_by_the_papers_convention():
    limit = search.Classifier([Fraction(1)], Fraction(-1), rescale_optimal=False)
    attained = search.Classifier([Fraction(1)], Fraction(-1), rescale_optimal=True)
    above, on, below = ([Fraction(x)] for x in (2, 1, 0))
    for classifier in (limit, attained):
        assert [classifier.labels(point, 1) for point in (above, below)] == [True, False]
        assert [classifier.labels(point, -1) for point in (above, on, below)] == [False, False, True]
    assert attained.labels(on, 1)  # f = 0 is positive, where a rescaling attains it
    assert not limit.labels(on, 1)


def test_whatever_goes_wrong_is_an_unknown_verdict_but_a_missing_solver_is_an_error(monkeypatch):
    training_set = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    looking = search.Search(training_set, "highs", None, ())

    def broken(error):
        def question(*_):
            raise error

        monkeypatch.setattr(search.Relaxation, "question", question)
        return search.decide(looking, training_set.features[0], 1)

    outcome = broken(RuntimeError("out of luck"))
    assert (outcome.code, outcome.reason) == (Verdict.UNKNOWN, "RuntimeError: out of luck")
    with pytest.raises(MissingSolverError):
        broken(MissingSolverError("no highspy"))


# --- near ties: a float solver's "infeasible" is not a proof ----------------------------------------------------------

NEARLY_TIED = TrainingSet(
    [
        [-2.00000001, -3, 0.99999999],
        [2.99999999, 3, 2.00000001],
        [1, 3.00000001, -3.00000001],
        [1.00000001, -2.99999999, -2.99999999],
    ],
    [-1, 1, 1, -1],
)


@each_backend
def test_a_near_tie_that_presolve_calls_infeasible(solver, capfd):
    """Neutral in truth. Asked after another point, HiGHS used to say strongly negative, and SCIP always.

    HiGHS in OR-Tools printed a line when it mended a solution.
    """
    point = [0.49999999, 0, 1.5]
    assert exact_verdict(NEARLY_TIED, point) == Verdict.NEUTRAL
    alone = MilpEngine(NEARLY_TIED, solver=solver).certify([point])
    after = MilpEngine(NEARLY_TIED, solver=solver).certify([[0, 0, 0], point])
    points = NEARLY_TIED.reading.values(np.array([[0, 0, 0], point]))
    as_written = MilpEngine(NEARLY_TIED.as_read, solver=solver).certify(points)
    assert {alone.code[0], after.code[1], as_written.code[1]} <= {Verdict.NEUTRAL, Verdict.UNKNOWN}
    assert capfd.readouterr() == ("", "")


@each_backend
def test_no_near_tie_gets_a_wrong_verdict(solver):
    """A sample of what benchmarks/near_ties.py asks."""
    rng = np.random.default_rng(17)
    asked = 0
    for _ in range(5):
        case = near_ties(rng, 4)
        verdicts = MilpEngine(case.training_set, solver=solver, shortcuts=False).certify(case.points)
        for code, truth in zip(verdicts.code.tolist(), case.verdicts, strict=True):
            assert code in (truth, Verdict.UNKNOWN)
            asked += 1
    assert asked > 8


def test_infeasible_is_believed_only_if_it_repeats_without_presolve(monkeypatch):
    real = solvers.backend("highs")
    careful = []

    def hasty(model, time_limit, threads, seed, careful_solve):
        careful.append(careful_solve)
        if not careful_solve:
            return solvers.Answer("infeasible")
        return real(model, time_limit, threads, seed, careful_solve)

    monkeypatch.setitem(solvers.BACKENDS, "stand-in", lambda: hasty)
    training_set = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    verdicts = MilpEngine(training_set, solver="stand-in", shortcuts=False).certify([[-1, 4], [3, 3]])
    assert verdicts.code.tolist() == [0, 1]
    assert careful[:2] == [False, True]


def test_values_too_close_for_a_float_solver_are_unknown_with_that_reason():
    rows = [[0.0, 0.0], [1.0, 1e-9], [3.0, 1.0], [2.0, 2.0]]
    verdicts = MilpEngine(TrainingSet(rows, [-1, -1, 1, 1]), shortcuts=False).certify([[9.0, 9.0]])
    assert verdicts.unknown.all()
    assert "two values of a feature differ by" in verdicts.reason[0]
    assert MilpEngine(TrainingSet(rows, [-1, -1, 1, 1])).certify([[9.0, 9.0]]).code.tolist() == [1]  # exact argument
    apart = [[0.0, 0.0], [1.0, 1e-3], [3.0, 1.0], [2.0, 2.0]]
    assert MilpEngine(TrainingSet(apart, [-1, -1, 1, 1]), shortcuts=False).certify([[9.0, 9.0]]).code.tolist() == [1]
