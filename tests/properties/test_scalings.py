"""A strong verdict holds under every scaling of this package, and every selection that still separates: it promises that."""

import numpy as np
import pytest
from made_sets import MAKERS

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.scaling import METRICS, MetricSelector, SupervisedScaler
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

TOO_NEAR = 1e-6  # a decision value of a float solver, to be told from 0


def scalings(features, labels):
    """Every diagonal scaling, a factor a feature: 0 where the feature is dropped."""
    for metric in METRICS:
        for threshold in ("nonzero", "best") if metric != "idf" else ("nonzero",):
            yield SupervisedScaler(metric, "tf", threshold).fit(features, labels).scale_
            kept = MetricSelector(metric, max(1, features.shape[1] // 2), threshold).fit(features, labels).get_support()
            yield kept.astype(float)


@pytest.mark.parametrize(
    "maker", ["gaussian", "binary", "constant_feature", "proportional_features", "decimal_ties", "big_offsets"]
)
def test_strong_verdicts_hold_under_every_scaling(maker):
    training_set = MAKERS[maker](5)
    features, labels = training_set.features, training_set.signs
    rng = np.random.default_rng(5)
    shifts = rng.normal(size=(12, 1)) * np.ptp(features, axis=0) / 2
    points = np.vstack([features, features[rng.integers(len(features), size=12)] + shifts])
    verdicts = ComplexEngine(training_set).certify(points)
    compared = 0
    for scale in map(np.array, {tuple(scale) for scale in scalings(features, labels)}):
        kept = scale > 0
        smaller = TrainingSet(features[:, kept], labels) if kept.any() else None
        if smaller is None or not is_separable(smaller):
            continue
        values = minimal_norm_svm(smaller, scale[kept]).decision_function(points[:, kept])
        clear = np.abs(values) > TOO_NEAR
        assert not np.any(verdicts.strongly_positive & clear & (values < 0))
        assert not np.any(verdicts.strongly_negative & clear & (values > 0))
        compared += int((verdicts.strong & clear).sum())
    assert compared > 100
