"""The inequality that settles a part."""

import numpy as np
from limited_ranges import EXAMPLE

from rescaleinv import GapEngine
from rescaleinv.engines.branch.leaves import Pair, Part, PointProblem


def test_a_pair_that_errs_is_worth_nothing():
    engine = GapEngine(EXAMPLE, 2.0)
    question = PointProblem(engine.problem, np.array([4.0, 4.0]), 1)
    part = Part.whole(engine.problem, engine.problem.low, engine.problem.high)
    assert question.margin(part, Pair(np.array([-1.0, -1]), 0.0, np.ones(4)))[0] == -np.inf
