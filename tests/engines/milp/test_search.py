"""The loop of solver and exact arithmetic: it ends, keeps its deadline, and gives up with a reason."""

import time
from fractions import Fraction

import pytest

from rescaleinv.engines.milp import faces, search, solvers
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.errors import MissingSolverError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict


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
