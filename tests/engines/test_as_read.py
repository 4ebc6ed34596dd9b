"""The engine for the data as written: what it answers is in the units that were given."""

import numpy as np
import pytest

from rescaleinv import RescaleInvariantSVC, minimal_norm_svm
from rescaleinv.datasets import load
from rescaleinv.verify import check

FORMS = {
    "raw": lambda X: X,
    "tenths": lambda X: X * 0.1,
    "standardised": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
}
CHOSEN = list(range(9))


def fitted(form):
    features, labels, _ = load("breast_cancer_wisconsin")
    table = FORMS[form](features[:, CHOSEN])
    model = RescaleInvariantSVC(inconsistent="drop", time_limit=None).fit(table[:30], labels[:30])
    return model, table[30:90]


@pytest.mark.parametrize("form", FORMS)
def test_svms_retrained_at_the_witness_in_given_units_disagree(form):
    model, points = fitted(form)
    verdicts = model.certify(points)
    tried = 0
    for i in np.flatnonzero(verdicts.neutral)[:8]:
        witness = verdicts.witness(i)
        assert check(witness.certificate.to_json()) == "neutral"
        for rescaling, sign in ((witness.positive, 1), (witness.negative, -1)):
            svm = minimal_norm_svm(model.training_set_, rescaling)
            value = points[i] @ svm.weights + svm.intercept
            assert sign * value > -1e-6
            tried += abs(value) > 1e-6
    assert tried > 4


@pytest.mark.parametrize("form", ["tenths", "standardised"])
def test_verdicts_are_those_of_the_raw_data(form):
    raw, raw_points = fitted("raw")
    other, points = fitted(form)
    assert other.training_set_.reading.changes
    assert (other.certify(points).code == raw.certify(raw_points).code).all()
