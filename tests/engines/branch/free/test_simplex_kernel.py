"""The compiled simplex method against HiGHS, as one fact after the other is added."""

import numpy as np
import pytest
from node_programs import a_walk_of_facts, by_highs

from rescaleinv.engines.branch.free import simplex_kernel as simplex


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_values_are_those_of_another_solver(seed, soft):
    statuses = set()
    for lp, region in a_walk_of_facts(seed, soft):
        status, value = lp.relax(region)
        other = by_highs(lp)
        statuses.add(status)
        if status == simplex.INFEASIBLE:
            assert other.status == 2
            break
        assert status == simplex.OPTIMAL
        assert value == pytest.approx(other.fun, abs=1e-6)
        assert lp.r[: lp.m][np.isinf(lp.cap)].min(initial=1.0) > 1 - 1e-7
    assert simplex.OPTIMAL in statuses
