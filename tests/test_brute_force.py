"""The exact reference of the tests against the paper's examples and Theorem 9."""

from fractions import Fraction

import numpy as np
from brute_force import exact_range, exact_verdict, exact_vertices, has_multipliers, rescale_optimal_cells
from made_sets import random_rescaling
from small_sets import points_near, small_set

from rescaleinv.theory.optimality import is_rescale_optimal
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict


def test_brute_force_knows_the_papers_examples():
    exact = TrainingSet([[-5, 25], [25, -5], [7, 7], [5, 5]], [1, 1, 1, -1])  # Example 1, times 5, in integers
    vertices = {(v.weights, v.intercept) for v in exact_vertices(exact)}
    assert vertices == {((Fraction(3, 5), Fraction(2, 5)), -6), ((Fraction(2, 5), Fraction(3, 5)), -6)}
    assert exact_verdict(exact, [-5, 20]) == Verdict.NEUTRAL
    assert exact_range(exact, [-5, 20]) == (-1, 4)
    single = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])  # Example 3
    assert [v.weights for v in exact_vertices(single)] == [(1, 1)]


def test_brute_forces_cells_are_those_of_theorem_9():
    """The middle of each of its cells is rescale-optimal, and samples of rescalings stay within its range."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        training_set = small_set(rng)
        for cell in rescale_optimal_cells(training_set):
            share = Fraction(1, len(cell.vertices))
            n = training_set.n_features
            middle = [share * sum(v.weights[j] for v in cell.vertices) for j in range(n)]
            intercept = share * sum(v.intercept for v in cell.vertices)
            assert is_rescale_optimal(training_set, middle, intercept, tolerance=0)
        point = points_near(rng, training_set, 1)
        low, high = map(float, exact_range(training_set, point[0]))
        for _ in range(5):
            rescaling = random_rescaling(rng, n) / np.ldexp(1.0, training_set.conditioning.exponent)
            value = minimal_norm_svm(training_set, rescaling).decision_function(point)[0]
            assert low - 1e-6 * (1 + abs(low)) <= value <= high + 1e-6 * (1 + abs(high))


def test_multipliers_of_the_reference_take_zeros_seriously():
    rows, labels = [(Fraction(1), Fraction(1)), (Fraction(-1), Fraction(-1))], [1, -1]
    assert has_multipliers(rows, labels, [0, 1], (1, 1))
    assert not has_multipliers(rows, labels, [0, 1], (1, 0))
    assert not has_multipliers(rows, labels, [0, 1], (1, -1))
