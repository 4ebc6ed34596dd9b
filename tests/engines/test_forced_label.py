"""Points that every separating hyperplane labels alike: proved in rationals, or not claimed."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.forced_label import has_forced_label
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet


def test_one_label_under_every_hyperplane_is_proved_in_rationals():
    """A point on the border of what is proved by the ray: a hair beyond it, the solver must be asked."""
    training_set = TrainingSet([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [-1, 1, 1])

    def proved(point):
        exact = [Fraction(x) for x in point]
        return has_forced_label(training_set, exact, np.array(point), 1)

    assert proved([0.5, 0.5])
    assert proved([1.0, 1.0])
    assert not proved([0.5, 0.5 - 2.0**-53])


def forced(training_set, point, side):
    return has_forced_label(training_set, [Fraction(x) for x in point], np.array(point, dtype=float), side)


def test_what_lies_beyond_a_class_is_forced_and_what_lies_between_is_not():
    """On a line every separating threshold lies between the two nearest points of the classes, 2 and 5."""
    training_set = TrainingSet([[-4.0], [2], [5], [9]], [-1, -1, 1, 1])
    for x, side in ((-100.0, -1), (2.0, -1), (5.0, 1), (100.0, 1)):
        assert forced(training_set, [x], side)
        assert not forced(training_set, [x], -side)
    for x in (np.nextafter(2.0, 3), 3.5, np.nextafter(5.0, 4)):
        assert not forced(training_set, [x], 1)
        assert not forced(training_set, [x], -1)


@pytest.mark.parametrize("maker", sorted(made_sets.MAKERS))
def test_every_separating_hyperplane_agrees(maker):
    """Hyperplanes that are drawn at random, in rationals: a forced label is theirs."""
    rng = np.random.default_rng(0)
    found = 0
    for seed in range(4):
        training_set = made_sets.MAKERS[maker](seed)
        points = training_set.features[rng.integers(0, training_set.n_rows, 6)]
        points = np.vstack([points, 1.5 * points[:3] - 0.5 * points[3:]])
        labels = {(i, side) for i, p in enumerate(points) for side in (1, -1) if forced(training_set, p.tolist(), side)}
        assert not {(i, -side) for i, side in labels} & labels
        found += len(labels)
        for _ in range(4):
            svm = minimal_norm_svm(training_set, rescaling=np.exp(rng.normal(size=training_set.n_features)))
            weights, intercept = [Fraction(w) for w in svm.weights.tolist()], Fraction(float(svm.intercept))
            if min(training_set.exact_margins(weights, intercept)) <= 0:
                continue  # rounding: this one separates nothing
            for i, side in labels:
                value = sum((w * Fraction(x) for w, x in zip(weights, points[i].tolist(), strict=True)), intercept)
                assert value * side > 0
    # of 24 points of the training set, which are all forced: where near ties mislead the floats, some are not proved
    assert found >= (12 if maker == "nearly_tied" else 24)
