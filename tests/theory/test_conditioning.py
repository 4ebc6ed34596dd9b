"""The change of units: exact to the bit, and the same for data that differ by powers of two or exact offsets."""

from fractions import Fraction

import numpy as np
import pytest
from made_sets import MAKERS

from rescaleinv.errors import InputError
from rescaleinv.theory.training_set import TrainingSet


@pytest.mark.parametrize("name", MAKERS)
def test_powers_of_two_leave_the_conditioned_features_as_they_are_to_the_bit(name):
    for seed in range(7):
        ts = MAKERS[name](seed)
        powers = np.random.default_rng(seed).integers(-60, 61, ts.n_features)
        scaled = TrainingSet(np.ldexp(ts.features, powers), ts.signs)
        assert scaled.conditioned.tobytes() == ts.conditioned.tobytes()
        assert np.array_equal(
            scaled.conditioning.exponent, np.where(np.ptp(ts.features, axis=0), powers, 0) + ts.conditioning.exponent
        )


def test_exact_translations_leave_the_conditioned_features_as_they_are_to_the_bit():
    for name in ("integer_ties", "binary", "duplicated_rows", "one_positive", "big_offsets"):
        for seed in range(7):
            ts = MAKERS[name](seed)
            offsets = np.random.default_rng(seed).integers(-(10**9), 10**9, ts.n_features)
            moved = TrainingSet(ts.features + offsets, ts.signs)
            assert moved.conditioned.tobytes() == ts.conditioned.tobytes()


@pytest.mark.parametrize("name", MAKERS)
def test_conditioning_is_exact_and_makes_ranges_alike(name):
    for seed in range(7):
        ts = MAKERS[name](seed)
        ranges = np.ptp(ts.conditioned, axis=0)
        assert ((ranges == 0) | ((ranges >= 0.5) & (ranges <= 1))).all()
        for row, conditioned in zip(ts.features.tolist(), ts.conditioned.tolist(), strict=True):
            for j, (x, z) in enumerate(zip(row, conditioned, strict=True)):
                unit = Fraction(2) ** int(ts.conditioning.exponent[j])
                assert Fraction(z) * unit + Fraction(float(ts.conditioning.anchor[j])) == Fraction(x)


def test_where_differences_would_be_rounded_nothing_is_subtracted():
    ts = TrainingSet([[1e16, 1.0], [1.0, 2.0], [0.1, 3.0]], [1, -1, -1])
    assert ts.conditioning.anchor.tolist() == [0.0, 1.0]
    assert np.ldexp(ts.conditioned, ts.conditioning.exponent)[:, 0].tolist() == [1e16, 1.0, 0.1]


def test_a_classifier_of_conditioned_features_comes_back_in_original_units():
    ts = MAKERS["unlike_units"](4)
    weights = np.arange(1.0, ts.n_features + 1)
    original, intercept = ts.conditioning.weights_to_original(weights, 0.25)
    assert ts.features @ original + intercept == pytest.approx(ts.conditioned @ weights + 0.25, rel=1e-12)


def test_values_that_vanish_beside_their_range_are_refused():
    with pytest.raises(InputError, match="so small beside their range"):
        _ = TrainingSet([[0, 0], [5e-324, 1], [1.0, 3]], [-1, 1, 1]).conditioned
