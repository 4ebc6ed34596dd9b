"""One point: a flip of the hook ends the search, budgets end it with a reason."""

from fractions import Fraction

import made_sets
import numpy as np

from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.branch.free.tree import Budget
from rescaleinv.verdict import Verdict


def test_the_same_budget_of_programs_gives_the_same_result():
    training_set = made_sets.real_sized()
    point = training_set.features[0] * 0.2
    first, second = (TreeEngine(training_set, max_programs=300).decide(point) for _ in range(2))
    assert (first.code, first.reason, first.refuted_share) == (second.code, second.reason, second.refuted_share)
    assert {k: v for k, v in first.counts.items() if k != "seconds"} == {
        k: v for k, v in second.counts.items() if k != "seconds"
    }


def test_an_expired_search_has_no_verdict_but_a_reason():
    training_set = made_sets.real_sized()
    point = training_set.features[0] * 0.2
    engine = TreeEngine(training_set)
    by_count = engine.decide(point, Budget(programs=40))
    by_time = engine.decide(point, Budget(seconds=1e-9))
    assert by_count.code == by_time.code == Verdict.UNKNOWN
    assert "40 linear programs" in by_count.reason
    assert "time limit" in by_time.reason
    assert by_count.certificate is by_time.certificate is by_count.flip is None
    assert 0 <= by_count.refuted_share < 1


def test_a_flip_that_the_hook_finds_ends_the_search():
    training_set = made_sets.real_sized()
    point = training_set.features[0] * 0.2
    calls = []
    exact = TreeEngine(training_set).reference

    def try_costs(costs, at):
        calls.append(costs)
        assert costs.shape == (18,)
        assert (costs >= 0).all()
        np.testing.assert_array_equal(at, point)
        value = exact.decision_value([Fraction(x) for x in point.tolist()])
        assert value
        return [-w for w in exact.weights], -exact.intercept

    decision = TreeEngine(training_set, try_costs=try_costs, max_programs=500).decide(point)
    assert calls
    assert decision.code == Verdict.NEUTRAL
    assert decision.flip is not None
