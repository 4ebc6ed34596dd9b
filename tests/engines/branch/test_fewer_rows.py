"""Relaxations with fewer rows: what they settle all rows settle, and a wrong guess is noticed."""

import made_sets
import numpy as np
import pytest
from limited_ranges import overlapping

from rescaleinv import GapEngine
from rescaleinv.engines.branch.fewer_rows import FewerRows
from rescaleinv.engines.branch.leaves import Part, PointProblem


def engine_of(margin, kappa=1.5):
    training_set = made_sets.gaussian(5, 4) if margin == "hard" else overlapping(3, 4, 80)
    penalties = np.full(training_set.n_rows, 0.5) if margin == "soft" else None
    engine = GapEngine(training_set, kappa, penalties=penalties, nu=0.9 if margin == "nu" else None)
    engine.precompute()
    return engine


def question_about(problem, point):
    value = problem.given[0] @ problem.in_units(point) + problem.given[1]
    return PointProblem(problem, point, 1 if value >= 0 else -1)


@pytest.mark.parametrize("margin", ["hard", "soft", "nu"])
def test_multipliers_of_fewer_rows_are_those_of_all(margin):
    problem = engine_of(margin).problem
    fewer = FewerRows._guessed(problem, problem.low, problem.high)
    assert 2 <= len(fewer.caps) < len(problem.rows)
    question = question_about(problem, np.array([0.5, 1.0, -0.5, 0.0]))
    random = np.random.default_rng(0)
    r = random.uniform(0, np.minimum(fewer.caps, 3.0))
    completed = fewer.multipliers(r, problem.caps)
    assert completed.sum() == pytest.approx(r.sum())
    assert (completed <= problem.caps * (1 + 1e-12)).all()
    signed = fewer.rows(question.signed, problem.caps)
    np.testing.assert_allclose(signed.T @ r, question.signed.T @ completed, atol=1e-9)


@pytest.mark.parametrize("margin", ["hard", "soft", "nu"])
def test_what_fewer_rows_settle_is_settled(margin):
    """Whatever the relaxation says is settled is so by the inequality of all rows; a wrong guess is made good."""
    problem = engine_of(margin).problem
    part = Part.whole(problem, problem.low, problem.high)
    wrong = FewerRows._with(
        problem.caps, np.array([int(np.argmax(problem.labels)), int(np.argmin(problem.labels))]), ()
    )
    settled = 0
    for point in np.random.default_rng(0).normal(size=(12, 4)) * 2:
        question = question_about(problem, point)
        plain = question.relax(part)
        for guess in (FewerRows._guessed(problem, part.low, part.high), wrong):
            question._use(guess)
            relaxed = question.relax(part)
            settled += relaxed.value > 0
            if relaxed.value > 0:
                assert question.margin(part, relaxed.pair)[0] > 0
                assert plain.value > 0
    assert settled


def test_rows_that_were_missing_are_added():
    problem = engine_of("soft").problem
    fewer = FewerRows._guessed(problem, problem.low, problem.high)
    assert fewer.together
    row = int(fewer.together[0][0])
    more = np.zeros(len(problem.rows), dtype=bool)
    more[row] = True
    grown = fewer.with_rows(more, problem.caps)
    assert row in grown.kept
    assert all(row not in rows for rows in grown.together)
    assert grown.caps.sum() == pytest.approx(fewer.caps.sum())
    missing = np.zeros(len(problem.rows))
    missing[row] = -1.0
    assert fewer.wrong(missing)[row]
    assert not grown.wrong(missing)[row]
