"""What a strong verdict promises: the same label after every selection of features that still separates the classes."""

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.selection import CMIMSelector, FisherRatioSelector, L0Selector, MutualInformationSelector
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

MAKERS = ("binary", "integer_ties", "duplicated_rows", "constant_feature", "proportional_features", "gaussian")
TOLERANCE = 1e-7


def selections(training_set):
    """Every different set of features that a selector of ours keeps."""
    X, y = training_set.features, training_set.signs
    for n_features in range(1, training_set.n_features):
        kinds = [FisherRatioSelector, MutualInformationSelector, CMIMSelector]
        selectors = [kind(n_features) for kind in kinds]
        selectors += [L0Selector(n_features, criterion=criterion) for criterion in ("difference", "count", "entropy")]
        yield from (tuple(np.flatnonzero(selector.fit(X, y).get_support())) for selector in selectors)


@pytest.mark.parametrize("maker", MAKERS)
def test_strongly_classified_points_keep_their_labels(maker):
    compared = 0
    for seed in range(1, 9):
        training_set = made_sets.MAKERS[maker](seed)
        rng = np.random.default_rng([3, seed])
        mixed = np.column_stack([rng.choice(column, 60) for column in training_set.features.T])
        points = mixed + rng.integers(-2, 3, mixed.shape) * 0.5
        verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
        for kept in set(selections(training_set)) - {()}:
            columns = list(kept)
            part = TrainingSet(training_set.features[:, columns], training_set.signs)
            if not is_separable(part):
                continue
            tau = made_sets.random_rescaling(rng, len(columns), decades=1)
            values = minimal_norm_svm(part, tau).decision_function(points[:, columns])
            assert (values[verdicts.strongly_positive] >= -TOLERANCE).all()
            # where the largest value over all rescalings is 0, a selection may reach it: the one tie
            beaten = verdicts.strongly_negative & (verdicts.upper < -TOLERANCE)
            assert (values[beaten] < 0).all()
            assert (values[verdicts.strongly_negative] <= TOLERANCE).all()
            compared += int(verdicts.strong.sum())
    assert compared > 50
