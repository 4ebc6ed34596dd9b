"""What the search says where nothing can be proved."""

import itertools

import made_sets
import numpy as np
import pytest
from limited_ranges import EXAMPLE, overlapping

from rescaleinv import GapEngine, TrainingSet
from rescaleinv.engines.branch import tree
from rescaleinv.engines.branch.leaves import Pair
from rescaleinv.engines.branch.tree import Budget, PointSearch
from rescaleinv.verify import check


def test_ties_are_unknown_with_that_reason():
    training_set = TrainingSet([[0.0, 0], [0, 3], [3, 3], [3, 0.5]], [-1, -1, 1, 1])
    verdicts = GapEngine(training_set, 2.0).certify([[1.5, 1.5], [1.5, 0.0]])
    assert verdicts.unknown.all()
    assert all("a tie" in reason for reason in verdicts.reason)


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


def given_up_and_resumed(margin):
    """Points that a few parts do not settle within a factor of 8; then within smaller factors, from the trees of that."""
    training_set = made_sets.gaussian(9, 4) if margin == "hard" else overlapping(7, 3, 14)
    penalties = np.full(training_set.n_rows, 0.3) if margin == "soft" else None
    engine = GapEngine(training_set, 8.0, penalties=penalties)
    found = 0
    for point in np.random.default_rng(6).normal(size=(25, training_set.n_features)) * 3:
        search = PointSearch(engine.problem, point, engine.pool)
        n_groups = len(engine.problem.low)

        def within(kappa, parts, search=search, n_groups=n_groups):
            ends = np.full(n_groups, kappa**-2.0), np.full(n_groups, kappa**2.0)
            return search.cover(*ends, Budget(None, parts), one_of_many=True, hopeful=False)

        if search.own is None or within(8.0, 6).decided:
            continue
        for kappa in (4.0, 2.0, 1.5):
            resumed = within(kappa, 300)
            if resumed.cover is not None and sum(isinstance(entry, Pair) for entry in resumed.cover) > 1:
                yield engine, point, kappa, resumed
                found += 1
    assert found > 3


@pytest.mark.parametrize("margin", ["hard", "soft"])
def test_a_tree_that_was_given_up_goes_on_in_a_smaller_range_and_proves_it(margin):
    for engine, point, kappa, resumed in given_up_and_resumed(margin):
        limits = np.tile([1 / kappa, kappa], (len(point), 1))
        certificate = engine._decider().certificate(point, resumed, limits)
        assert check(certificate.to_json()).startswith("strongly")
        fresh = GapEngine(engine.training_set, kappa, penalties=engine.penalties).decide(point)
        assert fresh.label == resumed.label
        assert not fresh.neutral


def test_walks_go_on_while_the_tree_grows(monkeypatch):
    """Turns of walks take about their share of the time: not all of it at the beginning, and not none later."""
    ticks = itertools.count()
    monkeypatch.setattr(tree.time, "monotonic", lambda: next(ticks) * 0.01)
    engine = GapEngine(overlapping(11, 3, 30), 8.0, penalties=np.full(30, 1.0))
    turns, at_parts = PointSearch.turn, []

    def counted(self, *args):
        at_parts.append(budget.parts)
        return turns(self, *args)

    monkeypatch.setattr(PointSearch, "turn", counted)
    for point in np.random.default_rng(3).normal(size=(12, 3)):
        budget = Budget(None, 400)
        PointSearch(engine.problem, point, engine.pool).decide(engine.problem.low, engine.problem.high, budget)
        if budget.parts >= 100:
            break
        at_parts.clear()
    assert budget.parts >= 100, "no point has a tree"
    assert at_parts[:2] == [1, 1]
    later = [parts for parts in at_parts if parts > 1]
    assert 0 < len(later) < budget.parts / 2
