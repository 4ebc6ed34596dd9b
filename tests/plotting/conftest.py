"""A fitted estimator with points to draw."""

import pictures  # noqa: F401 - chooses a backend without windows
import pytest

from rescaleinv import RescaleInvariantSVC
from rescaleinv.datasets import load


@pytest.fixture(scope="package")
def fitted():
    features, labels, _ = load("pima_diabetes")
    clf = RescaleInvariantSVC(inconsistent="drop")
    with pytest.warns(UserWarning, match="left out"):
        clf.fit(features[:30, :5], labels[:30])
    return clf, features[30:90, :5], labels[30:90]
