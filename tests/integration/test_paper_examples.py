"""Examples 1 to 3 of the paper through the public names alone, to 1e-9."""

import numpy as np
import pytest

from rescaleinv import (
    TrainingSet,
    check_invariance,
    in_closure,
    is_rescale_optimal,
    is_separable,
    minimal_norm_svm,
    neutral_certificate,
    rescaling_of,
)
from rescaleinv.verify import check

ROWS, LABELS = [[-1, 5], [5, -1], [7 / 5, 7 / 5], [1, 1]], [1, 1, 1, -1]
POINT = [-1, 4]


def near(value):
    return pytest.approx(value, abs=1e-9, rel=0)


@pytest.fixture
def example_1():
    return TrainingSet(ROWS, LABELS)


@pytest.fixture
def example_3():
    return TrainingSet([ROWS[0], ROWS[1], ROWS[3]], [1, 1, -1])


def test_example_1_margin_vectors(example_1):
    assert example_1.margin_vectors == near(np.array([[-1, 2], [2, -1], [0.2, 0.2]]))
    assert list(example_1.pair_numbers) == [1, 2, 3]
    assert is_separable(example_1)


def test_example_1_the_svm(example_1):
    svm = minimal_norm_svm(example_1)
    assert svm.weights == near(np.array([2.5, 2.5]))
    assert svm.intercept == near(-6)
    assert example_1.lowest_positive(svm.weights) == near(7)
    assert example_1.lowest_negated_negative(svm.weights) == near(-5)
    # Theorem 2: b* = 1 - MP = -1 + MN
    assert svm.intercept == near(1 - example_1.lowest_positive(svm.weights))
    assert svm.intercept == near(-1 + example_1.lowest_negated_negative(svm.weights))


def test_example_1_the_rescale_optimal_vectors_are_a_segment(example_1):
    for share in np.linspace(0, 1, 11):
        weights = share * np.array([3, 2]) + (1 - share) * np.array([2, 3])
        assert is_rescale_optimal(example_1, weights)
        assert is_rescale_optimal(example_1, weights, -6)
        assert in_closure(example_1, weights)
        assert not is_rescale_optimal(example_1, weights, -5.9)
        svm = minimal_norm_svm(example_1, rescaling_of(example_1, weights).factors)
        assert svm.weights == near(weights)
        assert svm.intercept == near(-6)
    for outside in ([3.001, 1.999], [1.999, 3.001], [3.5, 1.5], [2.6, 2.5], [2.4, 2.5], [-2.5, 7.5], [0, 5]):
        assert not is_rescale_optimal(example_1, outside)
        assert not in_closure(example_1, outside)


def test_example_1_every_rescaling_gives_a_vector_of_the_segment_and_both_ends_occur(example_1):
    seen = []
    for ratio in 10.0 ** np.linspace(-4, 4, 33):
        svm = minimal_norm_svm(example_1, [ratio, 1])
        assert svm.weights.sum() == near(5)
        assert svm.intercept == near(-6)
        seen.append(svm.weights[0])
    assert min(seen) == near(2)
    assert max(seen) == near(3)
    assert np.all(np.diff(seen) >= -1e-9)  # the larger a feature is made, the more weight it gets


def test_example_2_the_point_that_changes_its_label(example_1):
    plain, stretched = minimal_norm_svm(example_1), minimal_norm_svm(example_1, rescaling=(5, 1))
    assert stretched.weights == near(np.array([3, 2]))
    assert stretched.intercept == near(-6)
    assert plain.decision_function([POINT]) == near(np.array([1.5]))
    assert stretched.decision_function([POINT]) == near(np.array([-1]))
    certificate = neutral_certificate(example_1, POINT, (1, 1), (5, 1))
    assert certificate.claim == "neutral"
    assert check(certificate.to_json()) == "neutral"


def test_example_2_scaled_by_hand_is_the_same_svm(example_1):
    by_hand = minimal_norm_svm(TrainingSet(np.array(ROWS) * [5, 1], LABELS))
    assert by_hand.weights * [5, 1] == near(minimal_norm_svm(example_1, [5, 1]).weights)


def test_example_3_one_vector_is_left(example_1, example_3):
    answer = check_invariance(example_3)
    assert answer.invariant
    assert answer.proved
    assert answer.weights == near(np.array([1, 1]))
    assert answer.intercept == near(-3)
    assert not check_invariance(example_1).invariant
    for rescaling in ([1, 1], [5, 1], [1e-3, 1e3], [70, 0.2]):
        svm = minimal_norm_svm(example_3, rescaling)
        assert svm.weights == near(np.array([1, 1]))
        assert svm.intercept == near(-3)
    assert is_rescale_optimal(example_3, [1, 1])
    for other in ([3, 2], [1, 1.001], [2, 1], [0.5, 1.5]):
        assert not is_rescale_optimal(example_3, other)
        assert not in_closure(example_3, other)
