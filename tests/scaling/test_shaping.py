"""Shaping against plain loops over rows, sparse against dense, and what happens between, outside and at zero."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_array, issparse
from sklearn.base import clone

from rescaleinv.errors import InputError
from rescaleinv.scaling import BNSScaler, LocalProbabilityShaper, shaping_pipeline


def plain_estimate(value, column, positive, n_neighbors):
    """Walk to either side until its half of the neighbours is used up; equal values are taken together."""
    rows = shares = 0.0
    for side in (-1, 1):
        left = n_neighbors / 2
        for other in sorted({v for v in column if (v - value) * side >= 0}, key=lambda v: abs(v - value)):
            group = [p for v, p in zip(column, positive, strict=True) if v == other]
            taken = min(left, len(group) / 2 if other == value else len(group))
            rows += taken
            shares += taken * sum(group) / len(group)
            left -= taken
    return (shares + 1) / (rows + 2)


def made(seed=0, n_rows=45):
    """Distinct numbers, small integers with many ties, a constant, an empty column, a copy, mostly zeros, negative ones."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_rows) % 3 == 0)
    mostly = rng.poisson(0.4, n_rows) * rng.choice([1, 2.5], n_rows)
    columns = [rng.normal(size=n_rows), rng.integers(0, 4, n_rows), np.full(n_rows, 2), np.zeros(n_rows)]
    columns += [columns[0], mostly, mostly - (rng.random(n_rows) < 0.2)]
    return np.column_stack(columns).astype(float), labels


@pytest.mark.parametrize("n_neighbors", [2, 5, 30, 1000])
def test_estimates_at_training_values_against_plain_loops(n_neighbors):
    features, labels = made()
    shaped = LocalProbabilityShaper(n_neighbors).fit_transform(features, labels)
    for j, column in enumerate(features.T):
        expected = [plain_estimate(value, column, labels, n_neighbors) for value in column]
        np.testing.assert_allclose(shaped[:, j], expected, atol=1e-12)
    assert np.array_equal(shaped[:, 0], shaped[:, 4])  # to the last bit


def test_figures_by_hand():
    """Two to either side of the third of five rows: half of itself, all of the next, half of the one after, on each side."""
    shaper = LocalProbabilityShaper(4).fit([[1], [2], [3], [4], [50]], [1, 1, 0, 0, 1])
    at = dict(zip(shaper.values_, shaper.shapes_, strict=True))
    assert at[3] == pytest.approx((0.5 * 1 + 1 + 0 + 0 + 0.5 * 1 + 1) / (4 + 2))
    assert at[1] == pytest.approx((1 + 1 + 0.5 * 0 + 1) / (2.5 + 2))
    assert shaper.transform([[27]])[0, 0] == pytest.approx((at[4] + at[50]) / 2)
    assert list(shaper.transform([[-9], [1e9]])[:, 0]) == [at[1], at[50]]


def test_log_odds():
    features, labels = made()
    p = LocalProbabilityShaper(10).fit_transform(features, labels)
    odds = LocalProbabilityShaper(10, "log_odds").fit_transform(features, labels)
    np.testing.assert_allclose(odds, np.log(p / (1 - p)), atol=1e-12)
    zeros = LocalProbabilityShaper(10, "log_odds", keep_zero=True).fit(features, labels).zero_shapes_
    rows = [labels[features[:, 5] == 0].sum(), (features[:, 5] == 0).sum()]
    assert zeros[5] == pytest.approx(math.log((rows[0] + 1) / (rows[1] - rows[0] + 1)))


@pytest.mark.parametrize("kind", [np.asarray, csr_array, csc_matrix])
def test_zeros_are_a_bin_of_their_own_and_stay_zero(kind):
    features, labels = made()
    shaper = LocalProbabilityShaper(6, keep_zero=True).fit(kind(features), labels)
    shaped = shaper.transform(kind(features))
    assert issparse(shaped) == (kind is not np.asarray)
    shaped = shaped.toarray() if issparse(shaped) else shaped
    for j, column in enumerate(features.T):
        zero = column == 0
        at_zero = (labels[zero].sum() + 1) / (zero.sum() + 2)
        expected = [
            plain_estimate(value, column[~zero], labels[~zero], 6) - at_zero if value else 0 for value in column
        ]
        np.testing.assert_allclose(shaped[:, j], expected, atol=1e-12)
        assert np.all(shaped[zero, j] == 0)
    never_seen = np.full((1, features.shape[1]), 9.0)
    assert shaper.transform(kind(never_seen))[0, 3] == 0  # only zeros were seen there


def test_sparse_data_keeps_its_zeros_by_default_and_dense_data_does_not():
    features, labels = made()
    assert not LocalProbabilityShaper().fit(features, labels).keep_zero_
    shaper = LocalProbabilityShaper().fit(csr_array(features), labels)
    assert shaper.keep_zero_
    shaped = shaper.transform(csr_array(features))
    assert shaped.nnz == np.count_nonzero(features)
    np.testing.assert_array_equal(shaper.transform(features), shaped.toarray())


def test_stored_zeros_are_zeros():
    features, labels = made()
    stored = csr_array(np.where(features == 0, 7.0, features))
    stored.data[stored.data == 7] = 0
    assert stored.nnz == features.size
    shaped = LocalProbabilityShaper().fit(stored, labels).transform(stored)
    expected = LocalProbabilityShaper().fit_transform(csr_array(features), labels)
    np.testing.assert_array_equal(shaped.toarray(), expected.toarray())


@pytest.mark.parametrize("keep_zero", [False, True])
def test_nominal_features_by_class_fractions(keep_zero):
    frame = pd.DataFrame({"size": np.arange(12.0), "colour": [0, 1, 2, 5] * 3})
    labels = np.array([1, 0, 1, 0] * 2 + [1, 1, 0, 0])
    for nominal in (["colour"], [1]):
        shaper = LocalProbabilityShaper(keep_zero=keep_zero, nominal=nominal).fit(frame, labels)
        at_zero = 4 / 5 if keep_zero else 0
        new = pd.DataFrame({"size": [3.0] * 5, "colour": [0, 1, 2, 5, 3]})
        expected = np.array([4 / 5, 2 / 5, 3 / 5, 1 / 5, 7 / 14]) - at_zero
        np.testing.assert_allclose(shaper.transform(new)[:, 1], expected)
        plain = LocalProbabilityShaper(keep_zero=keep_zero).fit(frame, labels)
        np.testing.assert_array_equal(shaper.transform(new)[:, 0], plain.transform(new)[:, 0])


def test_order_of_rows_and_units_do_not_matter():
    features, labels = made()
    order = np.random.default_rng(5).permutation(len(labels))
    plain = LocalProbabilityShaper(7).fit(features, labels).transform(features)
    np.testing.assert_array_equal(
        LocalProbabilityShaper(7).fit(features[order], labels[order]).transform(features), plain
    )
    # an increasing change of the values changes no estimate at them; a decreasing one neither, but for rounding
    np.testing.assert_array_equal(LocalProbabilityShaper(7).fit_transform(np.exp(features), labels), plain)
    np.testing.assert_allclose(LocalProbabilityShaper(7).fit_transform(-features, labels), plain)


def test_many_features_are_sorted_in_parts(monkeypatch):
    features, labels = made()
    shaper, scaler = LocalProbabilityShaper(), BNSScaler(threshold="best")
    expected = clone(shaper).fit_transform(features, labels), clone(scaler).fit(features, labels).scale_
    monkeypatch.setattr("rescaleinv.scaling._groups._CELLS_AT_ONCE", 2 * len(labels))
    np.testing.assert_array_equal(shaper.fit_transform(features, labels), expected[0])
    np.testing.assert_array_equal(scaler.fit(features, labels).scale_, expected[1])


def test_names_are_kept():
    features, labels = made()
    frame = pd.DataFrame(features, columns=list("abcdefg"))
    pipeline = shaping_pipeline().set_output(transform="pandas")
    assert list(pipeline.fit_transform(frame, labels).columns) == list("abcdefg")


# --- the pipeline ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep_zero", [False, True])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_pipeline_shapes_scales_to_bns_and_normalises(keep_zero, norm):
    features, labels = made()
    given = csr_array(features) if keep_zero else features
    pipeline = shaping_pipeline(n_neighbors=8, output="log_odds", keep_zero=keep_zero, norm=norm).fit(given, labels)
    shaped = LocalProbabilityShaper(8, "log_odds", keep_zero).fit_transform(features, labels)
    bns = BNSScaler(threshold="best").fit(shaped, labels).scale_
    ranged = np.zeros_like(shaped)
    for j in range(shaped.shape[1]):
        column = shaped[:, j] if keep_zero else shaped[:, j] - shaped[:, j].min()
        ranged[:, j] = bns[j] * column / (np.abs(column).max() or 1)
        assert np.ptp(column) == 0 or np.abs(ranged[:, j]).max() == pytest.approx(bns[j])
    lengths = np.abs(ranged).sum(axis=1) if norm == "l1" else np.sqrt((ranged**2).sum(axis=1))
    expected = ranged / np.where(lengths == 0, 1, lengths)[:, None]
    result = pipeline.transform(given)
    assert issparse(result) == keep_zero
    np.testing.assert_allclose(result.toarray() if keep_zero else result, expected, atol=1e-12)


def test_nominal_features_reach_the_shaper():
    features, labels = made()
    pipeline = shaping_pipeline(nominal=[1]).fit(features, labels)
    expected = LocalProbabilityShaper(nominal=[1]).fit_transform(features, labels)
    np.testing.assert_array_equal(pipeline[0].transform(features), expected)


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shaper", "message"),
    [
        (LocalProbabilityShaper(1), "n_neighbors is 1"),
        (LocalProbabilityShaper(2.5), "n_neighbors is 2.5"),
        (LocalProbabilityShaper(output="odds"), "output is 'odds'"),
        (LocalProbabilityShaper(keep_zero="yes"), "keep_zero is 'yes'"),
        (LocalProbabilityShaper(nominal=[7]), "nominal has 7; numbers from 0 to 6"),
        (LocalProbabilityShaper(nominal=["colour"]), "nominal has 'colour'.*they have no names"),
        (LocalProbabilityShaper(nominal="colour"), "nominal is 'colour'; a list"),
        (LocalProbabilityShaper(nominal=3), "nominal is 3; a list"),
    ],
)
def test_bad_arguments(shaper, message):
    with pytest.raises(InputError, match=message):
        shaper.fit(*made())


def test_bad_data():
    features, labels = made()
    with pytest.raises(InputError, match="3 classes; LocalProbabilityShaper needs two"):
        LocalProbabilityShaper().fit(features, np.arange(len(labels)) % 3)
    with pytest.raises(InputError, match="NaN"):
        LocalProbabilityShaper().fit(np.where(features == 2, np.nan, features), labels)
    with pytest.raises(InputError, match="keep_zero=False would fill it"):
        LocalProbabilityShaper(keep_zero=False).fit(csr_array(features), labels)
    with pytest.raises(InputError, match="fitted on dense data without keep_zero"):
        LocalProbabilityShaper().fit(features, labels).transform(csr_array(features))
