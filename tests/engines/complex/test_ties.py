"""Decision values that are exactly 0: attained by a finite rescaling, or only by a limit."""

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check


def test_a_tie_that_only_a_limit_attains_is_strongly_negative():
    engine = ComplexEngine(TrainingSet([[1, 1], [-1, -1]], [1, -1]))
    verdicts = engine.certify([[0, -1], [0, 0], [0, 1], [1, -1]])
    names = ["STRONGLY_NEGATIVE", "STRONGLY_POSITIVE", "STRONGLY_POSITIVE", "NEUTRAL"]
    assert [verdict.name for verdict in verdicts] == names
    assert verdicts.upper[0] == 0
    assert verdicts.lower[1] == verdicts.upper[1] == 0


def test_a_tie_that_a_finite_rescaling_attains_is_neutral_with_a_certificate():
    # RO(X) is the segment from (0.6, 0.4) to (0.4, 0.6) with b = -1, both ends included
    engine = ComplexEngine(TrainingSet([[-10, 20], [20, -10], [2, 2], [0, 0]], [1, 1, 1, -1]))
    verdicts = engine.certify([[3, -2], [1, 1]])
    assert verdicts.upper.tolist() == [0, 0]
    assert list(verdicts) == [Verdict.NEUTRAL, Verdict.STRONGLY_POSITIVE]
    assert check(verdicts.certificate(0).to_json()) == "neutral"


def test_a_tie_is_left_open_when_time_is_up():
    training_set = TrainingSet([[1, 1], [-1, -1]], [1, -1])
    verdicts = ComplexEngine(training_set, time_limit=60).certify([[0, -1]])
    assert verdicts[0] is Verdict.STRONGLY_NEGATIVE
    engine = ComplexEngine(training_set)
    engine.precompute()
    engine.decisions.seconds = 0.0
    verdicts = engine.certify([[0, -1], [5, 5]])
    assert list(verdicts) == [Verdict.UNKNOWN, Verdict.STRONGLY_POSITIVE]
    assert "was not decided" in verdicts.reason[0]
