"""The sequence of steps against complete enumerations; every certificate is checked."""

import made_sets
import numpy as np
import pytest

from rescaleinv.engines.auto import SequenceEngine
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.errors import CertificateError
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check


@pytest.mark.parametrize("name", ["pima_diabetes", "breast_cancer_wisconsin"])
def test_no_verdict_contradicts_the_enumeration(name):
    training_set, points = made_sets.drawn_from(name, seed=3)
    chosen = points[np.random.default_rng(0).permutation(len(points))[:12]]
    expected = ComplexEngine(training_set).certify(chosen)
    engine = SequenceEngine(training_set, time_limit=None)
    verdicts = engine.certify(chosen)
    decided = ~verdicts.unknown
    assert np.array_equal(verdicts.code[decided], expected.code[decided])
    assert decided.sum() >= 11
    assert sum(step.n_settled for step in engine.steps) == decided.sum()
    for p in np.flatnonzero(decided)[:6]:
        words = {1: "strongly positive", -1: "strongly negative", 0: "neutral"}[int(verdicts.code[p])]
        assert check(verdicts.certificate(int(p)).to_json()) == words


def test_what_the_time_limit_leaves_open_says_how_near_a_flip_is():
    training_set, points = made_sets.drawn_from("breast_cancer_wisconsin", seed=3)
    engine = SequenceEngine(training_set, time_limit=1e-6)
    verdicts = engine.certify(points[:40])
    for p in np.flatnonzero(verdicts.unknown):
        assert "nearest to the other side" in verdicts.reason[p]
    with pytest.raises(CertificateError, match="no certificate"):
        engine.certificate(points[0], Verdict.UNKNOWN)
