"""The reading of features: decimals and grids are recognised, noise and coincidences are not, and every map is exact."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.theory.conditioning import FeatureReading, Reading, read_feature
from rescaleinv.theory.training_set import TrainingSet

SHIPPED = ("banknote", "blood_transfusion", "breast_cancer_wisconsin", "fertility", "pima_diabetes")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1, 2, 5], "decimal, 0 digits"),
        ([0.1, 0.2, 0.3], "decimal, 1 digit"),
        ([0.5, 0.25, 3], "decimal, 2 digits"),
        ([1e-7, 2e-7, 12.0], "decimal, 7 digits"),
        ([3, 3, 3], "as given"),
        ([0.1 + 0.2, 0.1, 0.7, 0.2], "grid of step 0.1"),
        ([1 / 3, 2 / 3, 7 / 3], "grid of step 0.333333"),
        ([np.pi, np.e, np.sqrt(2)], "as given"),
        ([2.0**60, 2.0**60 + 2**10, 1.0], "as given"),
        ([-4, 4, -(2.0**63)], "as given"),
        ([5e-324, 1e-323, 1.5e-323], "as given"),
        ([1e-300, 2e-300, 4e-300], "as given"),
    ],
    ids=str,
)
def test_in_words(column, words):
    assert str(read_feature(np.array(column, dtype=float))) == words


def values_are_affine(column, values):
    """Exactly: (v_i - v_0)(x_k - x_0) = (v_k - v_0)(x_i - x_0) with integers x that are known."""
    x, v = [Fraction(int(a)) for a in column], [Fraction(float(a)) for a in values]
    k = next(i for i in range(len(x)) if x[i] != x[0])
    return all((v[i] - v[0]) * (x[k] - x[0]) == (v[k] - v[0]) * (x[i] - x[0]) for i in range(len(x)))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(-1000, 1000), min_size=6, max_size=30, unique=True),
    st.floats(0.01, 100),
    st.floats(-100, 100),
)
def test_scaled_and_shifted_integers_are_put_back_on_their_grid(integers, factor, shift):
    column = np.array(integers, dtype=float) * factor + shift
    read = read_feature(column)
    assert values_are_affine(integers, read.values(column))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.decimals(-999, 999, places=3), min_size=4, max_size=20).filter(lambda v: len(set(v)) > 1))
def test_decimals_are_read_as_the_decimals_that_they_are(decimals):
    column = np.array([float(d) for d in decimals])
    read = read_feature(column)
    assert read.kind == "decimal"
    exact = [Fraction(read.origin) + read.unit * Fraction(v) for v in read.values(column).tolist()]
    assert exact == [Fraction(d) for d in decimals]


@pytest.mark.parametrize("seed", range(20))
def test_what_only_looks_like_a_grid_is_not_touched(seed):
    """Steps with noise of 1e-10, single precision, and plain random numbers."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, 20, 25).astype(float)
    noisy = steps + 1e-10 * rng.normal(size=25)
    single = (steps * 0.1).astype(np.float32).astype(float)
    for column in (noisy, single * np.pi, rng.normal(size=25), rng.normal(size=5), rng.uniform(size=3)):
        assert read_feature(column).values(column).tolist() == column.tolist()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_data_and_what_scalers_make_of_them(name):
    """Whatever an affine map in floats did to a feature, its values are again the same numbers, exactly."""
    features = np.asarray(load(name).features)[:40]
    rng = np.random.default_rng(0)
    for column in features.T:
        if np.ptp(column) == 0:
            continue
        raw = read_feature(column)
        assert raw.kind == "decimal"
        values = raw.values(column)
        assert (values * (10.0**raw.digits if raw.unit == 1 else 1) == np.rint(column * 10.0**raw.digits)).all()
        whole = np.rint(column * 10.0**raw.digits)
        for factor, shift in (
            (1 / column.std(), -column.mean() / column.std()),
            (0.1, 0.0),
            (2.54, 0.0),
            (0.4 + rng.random(), 3.0),
        ):
            scaled = column * factor + shift
            assert values_are_affine(whole, read_feature(scaled).values(scaled))


def test_points_on_the_grid_between_its_values_and_anywhere_else():
    column = (np.array([0.0, 1, 3, 4, 9]) - 3.4) / 3.1
    read = read_feature(column)
    assert read.kind == "grid"
    raw = np.array([2, 5, -7, 1.5, 2.7, 11])
    assert read.values((raw - 3.4) / 3.1).tolist() == raw.tolist()
    elsewhere = np.array([0.123456789012345678, np.pi])
    back = [Fraction(read.origin) + read.unit * Fraction(v) for v in read.values(elsewhere).tolist()]
    assert all(abs(b - Fraction(x)) <= Fraction(abs(x)) / 2**50 for b, x in zip(back, elsewhere.tolist(), strict=True))


def test_a_decimal_point_with_more_digits_keeps_its_value():
    read = read_feature(np.array([0.1, 0.2, 0.7]))
    assert read.values(np.array([0.3, 0.25, 1.5])).tolist() == [3, 2.5, 15]
    assert read.values(np.array([np.pi]))[0] == pytest.approx(10 * np.pi, rel=1e-15)


def test_a_training_set_is_read_once_and_can_be_taken_at_its_word():
    rows = [[0.1, 1, 0.5], [0.2, 2, 0.25], [0.3, 4, 0.75]]
    written, word = TrainingSet(rows, [1, -1, 1]), TrainingSet(rows, [1, -1, 1], read_as="float")
    assert [str(f) for f in written.reading] == ["decimal, 1 digit", "decimal, 0 digits", "decimal, 2 digits"]
    assert written.as_read.features.tolist() == [[1, 1, 0.5], [2, 2, 0.25], [3, 4, 0.75]]  # 0.75 is exact as it is
    assert written.as_read is written.as_read
    assert written.as_read.read_from is written
    assert {str(f) for f in word.reading} == {"as given"}
    assert word.as_read is word
    assert word.subset([0, 1]).read_as == "float"
    assert written.features.tolist() == rows
    assert written.exact_point(np.array([0.1, 7, 0.5])) == [Fraction(1, 10), 7, Fraction(1, 2)]
    for wrong in ("text", None, 3):
        with pytest.raises(InputError, match="read_as is"):
            TrainingSet(rows, [1, -1, 1], read_as=wrong)


def test_two_values_are_always_a_grid_and_keep_their_order():
    column = np.array([np.pi, np.e, np.pi, np.e])
    assert read_feature(column).values(column).tolist() == [1, 0, 1, 0]


def test_one_point_or_many_are_read_alike():
    reading = Reading([FeatureReading("decimal", 1, 0.0, Fraction(1, 10)), FeatureReading("as given")])
    table = np.array([[0.1, 5.5], [0.7, np.pi]])
    assert reading.values(table).tolist() == [reading.values(row).tolist() for row in table]


@pytest.mark.parametrize(
    ("training", "point", "value"),
    [
        ([0.28, 0.29], 0.285, 28.5),  # 0.285 * 100 is 28.499999999999996
        ([0.1, 0.2], 0.125, 1.25),
        ([4.34, 4.36], 4.35, 435.0),
        ([0.01, 0.03], 0.0155, 1.55),
        ([1.1, 2.2], 0.123456789, 0.123456789 * 10),  # more digits than are looked at
    ],
)
def test_points_with_some_digits_more_than_the_training_rows(training, point, value):
    read = read_feature(np.array(training))
    assert read.kind == "decimal"
    assert read.values(np.array([point]))[0] == value


def test_midpoints_of_decimals_are_on_the_hyperplane():
    """f = 0 is positive, whatever the rounding of 100 times the point."""
    for low in range(1, 1000, 7):
        training_set = TrainingSet([[low / 100], [(low + 1) / 100]], [-1, 1])
        values = training_set.reading.values(np.array([[float(f"{low / 100:.2f}5")]]))
        assert values[0, 0] == low + 0.5
