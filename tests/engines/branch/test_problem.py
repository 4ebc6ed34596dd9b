"""Units, and training sets that are none."""

import numpy as np
import pytest
from limited_ranges import EXAMPLE

from rescaleinv import GapEngine, InseparableError, RescaleInvariantSVC, TrainingSet


def test_unlike_units():
    """One feature in units that are 1e5 times larger: the SVM's margins must not suffer."""
    units = np.array([1.0, 1e-5])
    clf = RescaleInvariantSVC(scale_range=1.01).fit(EXAMPLE.features * units, EXAMPLE.signs)
    points = np.array([[-1.0, 4], [4, 4], [0, 0]]) * units
    verdicts = clf.certify(points)
    assert not verdicts.unknown.any()
    assert (verdicts.code == clf.predict(points)).all()


def test_inseparable_rows_are_an_error_of_ours():
    for rows, labels in (([[1.0], [-1], [1], [-1]], [-1, -1, -1, 1]), ([[1.0], [1.0]], [1, -1])):
        with pytest.raises(InseparableError):
            GapEngine(TrainingSet(rows, labels), 2).certify([[0.0]])
