"""The pool of rescalings: what was found for one point speaks for all."""

import made_sets
import numpy as np

from rescaleinv import GapEngine
from rescaleinv.engines.branch.flips import RescalingPool


def test_the_most_adverse_rescaling_is_the_one_with_the_least_value():
    engine = GapEngine(made_sets.gaussian(3, 4), 3.0)
    problem = engine.problem
    pool = RescalingPool(problem)
    point = np.random.default_rng(0).normal(size=4)
    in_units = problem.in_units(point)
    for sign in (1, -1):
        found = pool.most_adverse(in_units, sign, 5)
        values = []
        for factors in found:
            weights, intercept, converged = problem.train(factors, problem.given[2].copy())
            assert converged
            assert (factors >= problem.low).all()
            assert (factors <= problem.high).all()
            values.append(sign * (weights @ in_units + intercept))
        assert values == sorted(values)
        random = np.random.default_rng(0)  # the pool's first corner is among those that were compared
        corner = np.where(random.random(4) < 0.5, problem.low, problem.high)
        weights, intercept, _ = problem.train(corner, problem.given[2].copy())
        assert values[0] <= sign * (weights @ in_units + intercept) + 1e-9


def test_what_changed_one_label_is_kept_for_the_others():
    engine = GapEngine(made_sets.gaussian(0, 4), 2.0)
    engine.pool.fill()
    before = len(engine.pool)
    verdicts = engine.certify(np.random.default_rng(0).normal(size=(12, 4)))
    assert verdicts.neutral.any()
    assert len(engine.pool) > before


def test_rescalings_that_change_a_label_come_nearest_first():
    engine = GapEngine(made_sets.gaussian(0, 4), 4.0)
    points = np.random.default_rng(0).normal(size=(12, 4))
    engine.certify(points)
    problem, several = engine.problem, 0
    for point in points:
        in_units = problem.in_units(point)
        weights, intercept, _ = problem.given
        sign = 1 if weights @ in_units + intercept >= 0 else -1
        found = engine.pool.changing(in_units, sign)
        several += len(found) > 1
        extents = [np.abs(np.log(factors)).max() for factors in found]
        assert extents == sorted(extents)
        for factors in found:
            weights, intercept, _ = problem.train(factors, problem.given[2].copy())
            assert sign * (weights @ in_units + intercept) < 1e-9
    assert several
