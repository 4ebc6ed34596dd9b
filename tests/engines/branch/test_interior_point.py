"""The best pair of a part against cvxpy, and with more features than rows."""

import made_sets
import numpy as np
import pytest
from limited_ranges import overlapping

from rescaleinv import GapEngine, TrainingSet
from rescaleinv.engines.branch.leaves import Part, PointProblem
from rescaleinv.verify import check


@pytest.mark.parametrize("margin", ["hard", "soft", "nu"])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_best_pair_is_the_best(margin, grouped):
    """The interior-point method against cvxpy on the same convex program."""
    import cvxpy as cp

    soft, nu_margin = margin != "hard", margin == "nu"
    training_set = overlapping(3, 4, 30) if soft else made_sets.gaussian(6, 4)
    groups = [0, 0, 1, 1] if grouped else None
    penalties = np.full(training_set.n_rows, 0.5) if margin == "soft" else None
    engine = GapEngine(training_set, 6.0, groups=groups, penalties=penalties, nu=0.8 if nu_margin else None)
    problem = engine.problem
    random = np.random.default_rng(0)
    compared = 0
    for point in random.normal(size=(12, 4)) * 2:
        value = problem.given[0] @ problem.in_units(point) + problem.given[1]
        question = PointProblem(problem, point, 1 if value >= 0 else -1)
        relaxed = question.relax(Part.whole(problem, problem.low, problem.high))
        v, r = cp.Variable(6 if nu_margin else 5), cp.Variable(training_set.n_rows, nonneg=True)
        nu = question.signed.T @ r
        costs = 0
        constraints = [question.sign * nu[4] >= 0]
        if soft:
            costs = problem.caps @ cp.pos((0 if nu_margin else 1) - question.signed @ v)
            constraints.append(r <= problem.caps)
            if nu_margin:
                constraints.append(cp.sum(r) >= problem.total)
        else:
            constraints.append(question.signed @ v >= 1)
        losses = 0
        for g in range(problem.groups.max() + 1):
            inside = np.flatnonzero(problem.groups == g)
            losses += cp.maximum(
                *(cp.sum_squares(d * v[inside] + nu[inside]) / (4 * d) for d in (problem.low[g], problem.high[g]))
            )
        try:
            gain = problem.total * v[5] if nu_margin else cp.sum(r)
            best = cp.Problem(cp.Maximize(gain - costs - losses), constraints).solve(solver=cp.CLARABEL)
        except cp.SolverError:  # its own trouble
            continue
        assert (relaxed.value > 0) == (best > 0) or abs(best) < 1e-2 * problem.total  # it gives up what is so near
        if best < -1e-3:
            compared += 1
            assert relaxed.value == pytest.approx(best, rel=0.4, abs=1e-3)  # it stops where that is clear
            assert relaxed.value <= best + 1e-6 * abs(best)
    assert compared >= 3


@pytest.mark.parametrize("margin", ["hard", "soft", "nu"])
def test_more_features_than_rows(margin):
    """Features that hardly vary change no verdict, but the linear systems behind the best pair are other ones."""
    training_set = made_sets.gaussian(12, 4) if margin == "hard" else overlapping(2, 4, 20)
    penalties = np.full(training_set.n_rows, 0.5) if margin == "soft" else None
    nu = 0.7 if margin == "nu" else None
    random = np.random.default_rng(0)
    points = random.normal(size=(12, 4)) * 2
    noise = 1e-9 * random.normal(size=(training_set.n_rows + len(points), 40))
    wide = TrainingSet(np.hstack([training_set.features, noise[: training_set.n_rows]]), training_set.signs)
    wide_points = np.hstack([points, noise[training_set.n_rows :]])
    narrow = GapEngine(training_set, 3.0, penalties=penalties, nu=nu)
    engine = GapEngine(wide, 3.0, penalties=penalties, nu=nu)
    assert wide.n_features > wide.n_rows
    verdicts, expected = engine.certify(wide_points), narrow.certify(points)
    decided = ~(verdicts.unknown | expected.unknown)
    assert decided.sum() >= 10
    assert (verdicts.code[decided] == expected.code[decided]).all()
    split = [i for i in np.flatnonzero(verdicts.strong) if engine.decide(wide_points[i]).n_parts > 1]
    assert split  # more than the SVM's own pair was needed
    assert check(verdicts.certificate(split[0]).to_json()).endswith("within the range")
