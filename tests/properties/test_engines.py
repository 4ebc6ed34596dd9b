"""Small integer training sets of all kinds: both engines against brute force, which shares no code with them."""

from fractions import Fraction

import brute_force
import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check


@st.composite
def training_sets_with_a_point(draw):
    n = draw(st.integers(1, 3))
    row = st.lists(st.integers(-2, 2), min_size=n, max_size=n)
    rows = draw(st.lists(row, min_size=2, max_size=6))
    labels = draw(st.lists(st.sampled_from([1, -1]), min_size=len(rows), max_size=len(rows)))
    assume(len(set(labels)) == 2)
    training_set = TrainingSet(np.array(rows, dtype=float), labels)
    assume(is_separable(training_set))
    point = draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    return training_set, np.array(point) / 2


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
@given(training_sets_with_a_point())
def test_the_complex_engine_equals_brute_force(example):
    training_set, point = example
    verdicts = ComplexEngine(training_set, n_jobs=1).certify(point[None, :])
    assert verdicts[0] == brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()])
    if verdicts[0] is Verdict.NEUTRAL:
        assert check(verdicts.certificate(0).to_json()) == "neutral"


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
@given(training_sets_with_a_point())
def test_the_milp_engine_equals_brute_force(example):
    training_set, point = example
    verdicts = MilpEngine(training_set).certify(point[None, :])
    assert verdicts[0] in (
        Verdict.UNKNOWN,
        brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()]),
    )
