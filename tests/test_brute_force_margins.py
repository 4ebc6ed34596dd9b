"""The exact reference for margins and ranges against the other brute force, a plain SVM and cases done by hand."""

import math
from fractions import Fraction

import attack_sets
import brute_force
import numpy as np
import pytest
from brute_force_margins import BruteForce, Program, Question
from limited_ranges import overlapping, plain_values

from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict

LINE = TrainingSet([[0.0], [1], [3], [4]], [-1, -1, 1, 1])


def test_the_simplex_method_in_integers():
    # x + y <= 4, x - y = 1/2, both not negative
    program = Program([[1, 1, 1, 4], [1, -1, 0, Fraction(1, 2)]], 3)
    assert program.feasible
    assert program.least([-1, 0, 0]) == Fraction(-9, 4)
    assert program.least([1, 0, 0]) == Fraction(1, 2)
    assert program.least([0, 0, 1]) == 0
    assert Program([[1, -1, 1]], 2).least([0, -1]) == -math.inf
    assert not Program([[1, 1, Fraction(-1)]], 2).feasible


@pytest.mark.parametrize("kind", sorted(attack_sets.KINDS))
def test_every_rescaling_is_that_of_the_other_brute_force(kind):
    found = [one for seed in range(6) if (one := attack_sets.drawn(kind, seed, n_rows=4)) is not None]
    assert found
    for training_set, points in found:
        truth = BruteForce(Question.of(training_set))
        assert [truth.verdict(point) for point in points] == [
            brute_force.exact_verdict(training_set, point) for point in points
        ]


def test_one_feature_by_hand():
    # the hyperplane is at 2 whatever the factor; f = 0 is positive
    hard = BruteForce(Question.of(LINE, [(0.5, 2.0)]))
    assert [hard.verdict([x]) for x in (1.9, 2.0, 2.1)] == [-1, 1, 1]
    # all rows of a class at their caps: the intercept is anything between the inner margins, and outwards without end
    margin = NuMargin.of(LINE, 1)
    largest = BruteForce(Question.of(LINE, [(1.0, 1.0)], caps=margin.exact_caps))
    assert [largest.verdict([x]) for x in (-5, 2.0, 9)] == [Verdict.NEUTRAL] * 3
    # a penalty so small that every row is at its cap: w = 6 C τ², and b is anything that leaves all rows in the margin
    soft = BruteForce(Question.of(LINE, [(1.0, 1.0)], penalties=[Fraction(1, 100)] * 4))
    assert soft.verdict([2.0]) is Verdict.NEUTRAL


@pytest.mark.parametrize("margin", ["hard", "C", "nu"])
def test_limited_ranges_have_the_labels_of_plain_svms(margin):
    rng = np.random.default_rng(3)
    training_set = TrainingSet([[-1, 5], [5, -1], [1.5, 1.5], [1, 1]], [1, 1, 1, -1])
    if margin != "hard":
        training_set = overlapping(4, 2, 5)
    nu = NuMargin.of(training_set, 0.75) if margin == "nu" else None
    penalties = np.full(training_set.n_rows, 0.5) if margin == "C" else None
    question = Question.of(training_set, [(0.5, 2.0)] * 2, penalties, None if nu is None else nu.exact_caps)
    truth = BruteForce(question)
    points = np.vstack([[-1, 4.2], rng.normal(size=(11, 2)) * 2])
    verdicts = [truth.verdict(point) for point in points]
    rescalings = [2 ** rng.uniform(-1, 1, 2) for _ in range(40)]
    values = np.array(
        [plain_values(training_set, tau, points, nu or (0.5 if margin == "C" else None)) for tau in rescalings]
    )
    for verdict, some in zip(verdicts, values.T, strict=True):
        clear = set(np.sign(some[np.abs(some) > 1e-5]).astype(int).tolist())
        assert verdict is Verdict.NEUTRAL or clear == {int(verdict)}
    assert Verdict.NEUTRAL in verdicts
    assert any(abs(verdict) == 1 for verdict in verdicts)
