"""Units that are off by a limited factor, against random and regular rescalings."""

import numpy as np
import pytest
from plain_svm import hard_svm

from rescaleinv import scaling_audit


def test_radii_are_those_of_the_estimator(limited):
    units, verdicts = limited.limited, limited.verdicts
    assert len(units.asked) == min(12, verdicts.neutral.sum())
    assert verdicts.neutral[units.asked].all()
    assert units.share == len(units.asked) / verdicts.neutral.sum()
    assert np.isposinf(limited.radius[verdicts.strong]).all()
    left = np.setdiff1d(np.flatnonzero(verdicts.neutral), units.asked)
    assert np.isnan(limited.radius[left]).all()
    assert (limited.radius[units.asked, 0] < limited.radius[units.asked, 1]).all()
    np.testing.assert_array_equal(units.changed, units.asked[limited.radius[units.asked, 1] <= 1.6])
    assert 0 < len(units.changed) < 12
    neutral = verdicts.neutral[units.sample]
    assert neutral.sum() == len(units.asked)
    assert abs(neutral.mean() - verdicts.neutral.mean()) < 0.03


def test_within_a_radius_random_rescalings_change_no_label(limited):
    rng = np.random.default_rng(0)
    rows, signs = limited.model.training_set_.features, limited.model.training_set_.signs
    for i in limited.limited.asked[:4]:
        point, reach = limited.verdicts.points[[i]], np.log(limited.radius[i, 0])
        for _ in range(5):
            tau = np.exp(rng.uniform(-reach, reach, size=4))
            value = hard_svm(rows * tau, signs, point * tau)[0]
            assert abs(value) < 1e-3 or (value >= 0) == (limited.values[i] >= 0)


def test_fixing_a_feature_keeps_labels_that_no_grid_of_the_others_changes(limited):
    units, rows = limited.limited, limited.model.training_set_.features
    signs = limited.model.training_set_.signs
    assert units.kept.any()
    grid = [np.array(tau) for tau in np.ndindex(3, 3, 3)]
    for j in range(4):
        flipped = np.zeros(len(units.changed), dtype=bool)
        for place in grid:
            tau = np.insert(1.6 ** (place - 1.0), j, 1.0)
            values = hard_svm(rows * tau, signs, limited.verdicts.points[units.changed] * tau)
            flipped |= (np.abs(values) > 1e-3) & ((values >= 0) != (limited.values[units.changed] >= 0))
        assert flipped.sum() <= len(flipped) - units.kept[j]
        share = limited.features["fixed"].iloc[j]
        assert share == pytest.approx(units.kept[j] / len(units.asked) * limited.verdicts.neutral.mean())


def test_one_feature_that_is_fixed_leaves_nothing_to_rescale():
    audit = scaling_audit([[0], [1]], [0, 1], [[0.5], [2]])
    assert not len(audit.limited.asked)
    assert audit.features["fixed"].tolist() == [0.0]
