"""Single features: rescaled alone and left out, against SVMs and engines of fewer features."""

import numpy as np
from plain_svm import hard_svm

from rescaleinv import ComplexEngine, TrainingSet, scaling_audit


def test_a_feature_alone_changes_the_labels_that_it_is_said_to_change(audit, tumours):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    checked = 0
    for j, one in enumerate(audit.alone):
        for i in np.flatnonzero(one.flips)[:2]:
            factors = np.ones(9)
            factors[j] = 2.0 ** int(one.flipping_power[i])
            value = hard_svm(training_set.features * factors, training_set.signs, points[i : i + 1] * factors)[0]
            if abs(value) > 1e-3:
                assert (value >= 0) != (audit.values[i] >= 0)
                checked += 1
    assert checked > 5
    assert not (np.array([one.flips for one in audit.alone]) & audit.verdicts.strong).any()


def test_neutral_without_a_feature_is_what_a_smaller_engine_says(audit, tumours):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    for j in (0, 5):
        others = [k for k in range(9) if k != j]
        verdicts = ComplexEngine(TrainingSet(training_set.features[:, others], training_set.signs)).certify(
            points[:, others]
        )
        assert audit.features["neutral without"].iloc[j] == verdicts.neutral.mean()


def test_without_a_feature_that_is_needed_there_is_a_reason():
    audit = scaling_audit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 0, 1], [[0.5, 3]])
    assert audit.features["note"].tolist() == ["the classes can't be separated without it", ""]
    single = scaling_audit([[0], [1]], [0, 1], [[0.5]])
    assert single.features["note"].tolist() == ["it is the only feature"]
