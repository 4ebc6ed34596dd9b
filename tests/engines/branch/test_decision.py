"""What was found about a point: which proof there is, what it rests on, how near it comes to failing."""

import numpy as np

from rescaleinv.engines.branch.decision import Decision, ProvedLabel, Split
from rescaleinv.engines.branch.leaves import Pair


def pair(slack, n=3):
    return Pair(np.zeros(n), 0.0, np.zeros(2 * n), slack)


def test_a_cover_decides_and_rests_on_the_pairs_of_its_parts():
    first, second = pair(0.5), pair(0.125)
    decision = Decision(1, cover=[Split("factor", 0, 2.0), first, Split("sign", 1), second])
    assert decision.decided
    assert not decision.neutral
    assert decision.pairs == [first, second]
    assert decision.least_slack == 0.125


def test_two_labels_are_neutral_and_one_is_nothing():
    up, down = ProvedLabel(np.ones(1), pair(0.25), [pair(0.001)]), ProvedLabel(np.full(1, 2.0), pair(0.75))
    both = Decision(-1, positive=up, negative=down)
    assert both.neutral
    assert both.decided
    assert both.pairs == [up.pair, down.pair]  # those for the parts around prove nothing here
    assert both.least_slack == 0.25
    for one in (Decision(1, positive=up), Decision(-1, negative=down), Decision(1, reason="time")):
        assert not one.neutral
        assert not one.decided
        assert one.pairs == []
        assert one.least_slack == 0.0


def test_a_cover_without_a_part_is_a_proof_all_the_same():
    """Where no rescaling is left to look at; it is not the same as no cover."""
    assert Decision(1, cover=[]).decided
    assert not Decision(1, cover=None).decided


def test_its_size_grows_with_the_numbers_that_it_keeps():
    small, large = Decision(1, cover=[pair(0.1, 10)]), Decision(1, cover=[pair(0.1, 1000), pair(0.1, 1000)])
    assert large.nbytes - small.nbytes >= 8 * 3 * (2000 - 10)
    assert Decision(1).nbytes > 0
