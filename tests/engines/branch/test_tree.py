"""What the search says where nothing can be proved."""

import made_sets
import numpy as np
from limited_ranges import EXAMPLE

from rescaleinv import GapEngine, TrainingSet


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
