"""Whole verdicts of decimals and integers: maps x -> a x + b of each feature, in floats, change none of them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rescaleinv import RescaleInvariantSVC
from rescaleinv.theory.separability import is_separable
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import check


@st.composite
def written_sets(draw):
    """Rows and points of whole numbers with up to 2 decimal digits, and labels that a hyperplane separates."""
    n, m = draw(st.integers(1, 3)), draw(st.integers(4, 8))
    digits = [draw(st.sampled_from([0, 0, 1, 2])) for _ in range(n)]
    columns = [draw(st.lists(st.integers(-40, 40), min_size=m + 6, max_size=m + 6)) for _ in range(n)]
    table = np.column_stack([np.array(column) / 10.0**d for column, d in zip(columns, digits, strict=True)])
    rows, points = table[:m], table[m:]
    weights = np.array([draw(st.sampled_from([-1, 0, 1, 2])) for _ in range(n)])
    order = np.argsort(np.argsort(rows @ (weights * 10.0 ** np.array(digits)), kind="stable"), kind="stable")
    labels = np.where(order >= draw(st.integers(1, m - 1)), 1, -1)
    assume(is_separable(TrainingSet(rows, labels)))
    # a value of another row in each feature: what ties with the training set
    points[:3] = np.column_stack([[draw(st.sampled_from(column.tolist())) for _ in range(3)] for column in rows.T])
    return rows, labels, points


factors = st.floats(1e-3, 1e3).flatmap(lambda size: st.sampled_from([size, -size]))
maps = st.tuples(factors, st.floats(-2, 2))


def verdicts_of(rows, labels, points, **parameters):
    return RescaleInvariantSVC(inconsistent="raise", **parameters).fit(rows, labels).certify(points)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(written_sets(), st.lists(maps, min_size=3, max_size=3))
def test_affine_maps_in_floats_change_no_verdict(data, chosen):
    rows, labels, points = data
    n = rows.shape[1]
    scale, shift = np.array(chosen[:n]).T
    spread = np.abs(rows).max(axis=0)
    before = verdicts_of(rows, labels, points)
    after = verdicts_of(rows * scale + shift * spread, labels, points * scale + shift * spread)
    assert after.code.tolist() == before.code.tolist()
    size = 1 + np.abs([before.lower, before.upper]).max()
    np.testing.assert_allclose([after.lower, after.upper], [before.lower, before.upper], atol=1e-9 * size)
    for i in np.flatnonzero(after.neutral)[:1]:
        assert check(after.certificate(int(i)).to_json()) == "neutral"


def grid(seed, n_rows=12):
    """Rows on small grids with many ties, separable, and points that tie with them."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 5, (n_rows, 3)).astype(float)
    labels = np.where(rows @ [1, 2, -1] > 0, 1, -1)
    return rows, labels, rng.integers(-4, 5, (30, 3)).astype(float), rng


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [1e-10, 1e-12])
def test_a_grid_with_noise_is_what_it_is(seed, noise):
    """Noise far above rounding is data: the verdicts are those of the floats themselves."""
    rows, labels, points, rng = grid(seed)
    rows = rows / 3 + noise * rng.normal(size=rows.shape)
    points = points / 3 + noise * rng.normal(size=points.shape)
    assert {str(feature) for feature in TrainingSet(rows, labels).reading} == {"as given"}
    as_written = verdicts_of(rows, labels, points)
    as_floats = verdicts_of(rows, labels, points, read_as="float")
    assert as_written.code.tolist() == as_floats.code.tolist()
    assert as_written.lower.tolist() == as_floats.lower.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_single_precision(seed):
    """Whole numbers are the same in single precision; thirds are not, and keep the values that they have there."""
    rows, labels, points, _ = grid(seed)
    expected = verdicts_of(rows, labels, points).code.tolist()
    assert verdicts_of(rows.astype(np.float32), labels, points.astype(np.float32)).code.tolist() == expected
    thirds, third_points = (rows / 3).astype(np.float32), (points / 3).astype(np.float32)
    training_set = TrainingSet(thirds, labels)
    for row in training_set.features:  # they may be on a grid of 2**-25, say, but exactly so
        assert training_set.exact_point(row) == list(map(Fraction, row.tolist()))
    as_floats = verdicts_of(thirds.astype(float), labels, third_points.astype(float), read_as="float")
    assert verdicts_of(thirds, labels, third_points).code.tolist() == as_floats.code.tolist()


@pytest.mark.parametrize("exponent", [-1040, -300, 40, 53, 60])
def test_tiny_and_huge_multiples_of_a_grid(exponent):
    """Powers of two are exact, down to where floats lose digits and up to whole numbers beyond 2**53."""
    rows, labels, points, _ = grid(1)
    expected = verdicts_of(rows, labels, points)
    factor = np.array([1.0, 2.0 ** max(exponent, -480), 1.0])
    found = verdicts_of(rows * factor, labels, points * factor)
    assert found.code.tolist() == expected.code.tolist()


def test_whole_numbers_beyond_2_to_the_53_next_to_small_ones_are_not_put_on_a_grid():
    rows = np.array([[2.0**53 + 2, 1], [2.0**53 + 4, 3], [1, 2], [3, 7], [0, 0]])
    assert [str(feature) for feature in TrainingSet(rows, [1, 1, -1, -1, -1]).reading] == [
        "as given",
        "decimal, 0 digits",
    ]
