"""The rescaling radius against verdicts for single ranges, and by hand."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest
from limited_ranges import EXAMPLE, overlapping

from rescaleinv import GapEngine, InputError, RescaleInvariantSVC
from rescaleinv.engines.branch.tree import Budget, PointSearch
from rescaleinv.verify import check


def test_the_radius_is_where_the_label_changes():
    training_set = made_sets.gaussian(8, 4)
    clf = RescaleInvariantSVC().fit(training_set.features, training_set.signs)
    points = np.random.default_rng(1).normal(size=(8, 4))
    radius = clf.rescaling_radius(points, ratio=1.05, largest=50)
    everything = clf.certify(points)
    assert (np.isinf(radius[:, 0]) == everything.strong).all()
    for point, (certified, refuted) in zip(points, radius, strict=True):
        assert certified <= refuted
        if np.isfinite(refuted):
            assert refuted <= certified * 1.05 * (1 + 1e-9)
            assert GapEngine(training_set, refuted * (1 + 1e-9)).certify([point]).neutral[0]
        if 1 < certified < np.inf:
            assert GapEngine(training_set, certified).certify([point]).strong[0]


def test_the_radius_of_the_papers_example_by_hand():
    """f(-1, 4) = 0 at w = (2.8, 2.2), where τ_1/τ_2 = sqrt(2.8/2.2); so κ is the root of that."""
    clf = RescaleInvariantSVC().fit(EXAMPLE.features, EXAMPLE.signs)
    certified, refuted = clf.rescaling_radius([[-1, 4]], ratio=1.0001)[0]
    assert certified < (2.8 / 2.2) ** 0.25 < refuted < certified * 1.0002


def test_the_radius_keeps_frozen_features_and_soft_margins():
    training_set = overlapping(5)
    clf = RescaleInvariantSVC(C=1.0, scale_range=[(1, 1), (0.5, 2), (0.5, 2)]).fit(
        training_set.features, training_set.signs
    )
    points = np.random.default_rng(0).uniform(-3, 4, size=(5, 3))
    radius = clf.rescaling_radius(points, ratio=1.1, largest=20)
    free = RescaleInvariantSVC(C=1.0).fit(training_set.features, training_set.signs)
    assert (radius[:, 1] >= free.rescaling_radius(points, ratio=1.1, largest=20)[:, 0]).all()
    for kappa in (0.5, np.inf, "wide"):
        with pytest.raises(InputError, match="largest is"):
            clf.rescaling_radius(points, largest=kappa)


def test_both_ends_of_the_bracket_have_certificates():
    for margin in ("hard", "soft", "nu"):
        training_set = made_sets.gaussian(9, 4) if margin == "hard" else overlapping(7, 3, 14)
        penalties = np.full(training_set.n_rows, 0.3) if margin == "soft" else None
        engine = GapEngine(training_set, 2.0, penalties=penalties, nu=0.8 if margin == "nu" else None)
        points = np.random.default_rng(5).normal(size=(10, training_set.n_features)) * 2
        ends = set()
        for point, bracket in zip(points, engine.radius_brackets(points, ratio=1.1, largest=10.0), strict=True):
            holds, changes = engine.radius_certificates(point, bracket)
            if holds is not None:
                ends.add("holds")
                assert check(holds.to_json()).startswith("strongly")
                assert f'"{Fraction(bracket.lower)}"' in holds.to_json() or bracket.lower == 1
            if changes is not None:
                ends.add("changes")
                assert check(changes.to_json()) == "neutral within the range"
                assert bracket.lower <= bracket.upper <= 10.0 * (1 + 1e-9)
            else:
                assert bracket.upper == np.inf
        assert ends == {"holds", "changes"}


def test_what_changes_one_label_is_tried_on_others():
    """The same question twice: the second time the rescaling that changes the label is known, and nothing is walked to."""
    training_set = made_sets.gaussian(8, 4)
    engine = GapEngine(training_set, 2.0)
    points = np.random.default_rng(1).normal(size=(8, 4))
    first = engine.radius(points, ratio=1.05, largest=50.0)
    assert np.isfinite(first[:, 1]).any()
    again = engine.radius(points, ratio=1.05, largest=50.0)
    assert (again[:, 0] <= first[:, 1]).all()
    assert (first[:, 0] <= again[:, 1]).all()
    assert (np.isfinite(again[:, 1]) == np.isfinite(first[:, 1])).all()


def test_a_range_that_is_too_much_is_given_up_without_a_verdict():
    training_set = made_sets.gaussian(0, 8)
    engine = GapEngine(training_set, 6.0)
    engine.precompute()
    open_points = 0
    for point in np.random.default_rng(0).normal(size=(40, 8)):
        search = PointSearch(engine.problem, point, engine.pool)
        hurried = search.cover(engine.problem.low, engine.problem.high, Budget(None, 150), one_of_many=True)
        if not hurried.decided:
            open_points += 1
            assert "not decided" in hurried.reason or "a tie" in hurried.reason
            continue
        patient = engine.decide(point)
        assert (hurried.cover is not None) == (patient.cover is not None)
    assert open_points


def test_a_label_that_holds_up_to_the_largest_is_said_to_hold_beyond():
    engine = GapEngine(EXAMPLE, 2.0)
    [[lower, upper]] = engine.radius([[9.0, 9.0]], largest=10.0)
    assert lower == 10.0
    assert upper == np.inf
