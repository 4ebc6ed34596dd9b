"""Small integer training sets of all kinds: each engine against brute force, which shares no code with them."""

from fractions import Fraction

import brute_force
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rescaleinv.engines import REGISTRY, EngineSettings, full_name
from rescaleinv.engines.choice import make_engine
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


# Engines that have to build a model for each point take longer.
EXAMPLES = {name: 150 if entry.abilities.enumerates else 25 for name, entry in REGISTRY.items()}
FOR_EVERY_RESCALING = [name for name, entry in REGISTRY.items() if entry.abilities.every_rescaling]


@pytest.mark.parametrize("name", FOR_EVERY_RESCALING)
def test_every_engine_equals_brute_force(name):
    @settings(
        max_examples=EXAMPLES[name],
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.filter_too_much],
    )
    @given(training_sets_with_a_point())
    def equals_brute_force(example):
        training_set, point = example
        verdicts = make_engine(full_name(name), training_set, EngineSettings()).certify(point[None, :])
        true = brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()])
        assert verdicts[0] == true or (verdicts[0] is Verdict.UNKNOWN and not REGISTRY[name].abilities.enumerates)
        if verdicts[0] is Verdict.NEUTRAL:
            assert check(verdicts.certificate(0).to_json()) == "neutral"

    equals_brute_force()
