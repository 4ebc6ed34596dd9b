"""Two audits of real data that several test files look at."""

import pandas as pd
import pytest

from rescaleinv import RescaleInvariantSVC, scaling_audit
from rescaleinv.datasets import load


@pytest.fixture(scope="package")
def tumours():
    features, labels, names = load("breast_cancer_wisconsin")
    return pd.DataFrame(features, columns=list(names)), labels


@pytest.fixture(scope="package")
def audit(tumours):
    features, labels = tumours
    return scaling_audit(features[:30], labels[:30], features[30:110], labels[30:110], noun="tumours", most_radii=0)


@pytest.fixture(scope="package")
def limited():
    features, labels, names = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features[:, :4], columns=list(names[:4]))
    patient = RescaleInvariantSVC(inconsistent="drop", time_limit=60)  # so that a busy machine changes nothing
    return scaling_audit(
        table[:30], labels[:30], table[30:90], scalings={}, estimator=patient, most_radii=12, kappa=1.6
    )
