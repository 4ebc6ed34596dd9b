"""Tables and labels that users give: what is accepted, what is refused, and how the refusal is worded."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from rescaleinv.errors import InputError, RescaleInvError
from rescaleinv.theory.inputs import as_labels, as_matrix, exact_number
from rescaleinv.theory.training_set import TrainingSet

ROWS = [[0.0, 3.0], [1.0, 0.0], [0.0, 5.0], [2.0, 0.5]]


def test_integers_and_booleans_are_numbers():
    assert as_matrix(np.array([[True, False]])).tolist() == [[1, 0]]
    assert as_matrix(np.array([[1, 2]], dtype=np.uint8)).tolist() == [[1, 2]]
    assert as_matrix(pd.DataFrame({"a": [1, 2], "b": [True, False]})).tolist() == [[1, 1], [2, 0]]


REFUSED_TABLES = {
    "NaN": ([[0, 1], [2, float("nan")]], r"NaN or infinity in 1 cell\(s\), first at row 1, column 1"),
    "infinity": ([[0, 1], [float("-inf"), float("inf")]], r"in 2 cell\(s\), first at row 1, column 0"),
    "None": ([[0, 1], [2, None]], r"NaN or infinity in 1 cell\(s\), first at row 1, column 1"),
    "named column": (pd.DataFrame({"a": [0.0, 1], "b": [np.nan, 1]}), r"first at row 0, column 1 \('b'\)"),
    "pandas NA": (pd.DataFrame({"a": [0, 1], "b": pd.array([1, pd.NA], "Int64")}), r"first at row 1, column 1 \('b'\)"),
    "polars null": (pl.DataFrame({"a": [0, None], "b": [1, 2]}), r"first at row 1, column 0 \('a'\)"),
    "masked": (np.ma.masked_greater(np.array([[1, 2], [3, 9]]), 5), r"first at row 1, column 1"),
    "beyond all floats": ([[0, 1], [2, 10**400]], r"infinity in 1 cell\(s\), first at row 1, column 1"),
    "no feature": (np.zeros((5, 0)), r"no feature: 0 feature\(s\) \(shape=\(5, 0\)\)"),
    "no rows": (np.zeros((0, 2)), r"no row: 0 sample\(s\) \(shape=\(0, 2\)\)"),
    "one row": ([[1, 2]], "one row .*both classes are needed"),
    "one dimension": ([1, 2], r"1 dimension\(s\); .*Reshape your data"),
    "three dimensions": (np.zeros((2, 2, 2)), r"3 dimension\(s\)"),
    "empty list": ([], r"1 dimension\(s\)"),
    "ragged": ([[1, 2], [3]], "not a table with rows of one length"),
    "text": (np.array([[1, "two"], [3, 4]], dtype=object), "'two' in column 1, row 0, where numbers belong"),
    "text in a list": ([[1, 2], [3, "four"]], "'four' in column 1, row 1, where numbers belong"),
    "a text among texts of numbers": (np.array([["1", "2"], ["n/k", "4"]]), "'n/k' in column 0, row 1, where numbers"),
    "text in an array": (np.array([["one", "2"], ["3", "4"]]), "'one' in column 0, row 0, where numbers belong"),
    "text in a frame": (pd.DataFrame({"a": [1, 2], "city": ["Cork", "Rome"]}), r"'Cork' in column 1 \('city'\)"),
    "text that looks like a number": (pd.DataFrame({"a": [1, 2], "b": ["1", "2"]}), r"'1' in column 1 \('b'\)"),
    "dates": (pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])}), r"in column 0 \('day'\)"),
    "complex": (np.array([[1j, 2], [3, 4]]), "complex numbers"),
    "too large": ([[0, 1], [2, -1e151]], r"value -1e\+151 at row 1, column 1; products .* overflow"),
    "ranges too small": ([[0, 1], [1e-160, 2]], r"feature\(s\) 0 differ by less than 1e-150"),
}


@pytest.mark.parametrize(("X", "message"), REFUSED_TABLES.values(), ids=REFUSED_TABLES)
def test_bad_tables_are_refused_with_a_reason(X, message):
    with pytest.raises(InputError, match=message) as caught:
        TrainingSet(X, [-1, 1])
    assert isinstance(caught.value, RescaleInvError)
    assert isinstance(caught.value, ValueError)


REFUSED_LABELS = {
    "one class": ([3, 3, 3, 3], r"one class \(3, 4 rows\); both are needed"),
    "three classes": ([1, 2, 3, 1], r"3 classes \(1, 2, 3\); two are needed"),
    "many classes": (["a", "b", "c", "d"], r"4 classes \(a, b, c, d\)"),
    "None": ([1, None, 0, None], "labels of rows 1, 3 are missing"),
    "NaN": ([1.0, 0.0, float("nan"), 1.0], "labels of rows 2 are missing"),
    "NaN among texts": (["a", "b", float("nan"), "a"], "labels of rows 2 are missing"),
    "masked": (np.ma.array([1, 0, 1, 0], mask=[False, True, False, False]), "labels of rows 1 are missing"),
    "pandas NA": (pd.array([1, pd.NA, 0, 1], dtype="Int64"), "labels of rows 1 are missing"),
    "too few": ([1, -1], "2 labels for 4 rows"),
    "too many": ([1, -1, 1, -1, 1], "5 labels for 4 rows"),
    "two columns": (np.ones((4, 2)), "labels have 2 dimensions"),
    "a single one": (1, "labels have 0 dimensions"),
    "ragged": ([[1], [1, 2], [1], [2]], "not a sequence with one label per row"),
    "unlike types": (np.array([1, "a", 1, "a"], dtype=object), "cannot be compared"),
}


@pytest.mark.parametrize(("labels", "message"), REFUSED_LABELS.values(), ids=REFUSED_LABELS)
def test_bad_labels_are_refused_with_a_reason(labels, message):
    with pytest.raises(InputError, match=message):
        TrainingSet(ROWS, labels)


def test_an_unknown_positive_label_is_refused():
    with pytest.raises(InputError, match="positive label 'maybe' is not among the labels no, yes"):
        as_labels(["no", "yes"], 2, positive="maybe")


def test_points_with_another_number_of_features_are_refused():
    with pytest.raises(InputError, match="the points has 3 features, but 2 were seen in training"):
        as_matrix([[1, 2, 3]], what="the points", n_features=2)


def test_numbers_are_exact_or_refused():
    assert exact_number(0.1, "it") == Fraction(0.1)
    assert exact_number(Fraction(1, 3), "it") == Fraction(1, 3)
    assert exact_number(2**70 + 1, "it") == 2**70 + 1  # integers do not go through floats
    for wrong in (float("nan"), float("inf"), "one", None, [1]):
        with pytest.raises(InputError, match=r"the weight is .*; a finite number is needed"):
            exact_number(wrong, "the weight")


BIG = 2**53 + 1
ROUNDED = {
    "int64": np.array([[1, BIG], [2, 3]]),
    "uint64": np.array([[1, 2**64 - 1], [2, 3]], dtype=np.uint64),
    "objects": np.array([[1, BIG], [2, 3]], dtype=object),
    "lists with floats": [[0.5, BIG], [2, 3]],
    "negative": [[1, -BIG], [2, 3]],
    "pandas": pd.DataFrame({"a": [1, 2], "id": [BIG, 3]}),
    "pandas, with a column of floats": pd.DataFrame({"a": [0.5, 2], "id": [BIG, 3]}),
    "pandas, nullable": pd.DataFrame({"a": [0.5, 2], "id": pd.array([BIG, 3], "Int64")}),
    "pandas, signed and unsigned": pd.DataFrame(
        {"a": np.array([-1, 2]), "id": np.array([2**63 + 1, 3], dtype=np.uint64)}
    ),
    "polars": pl.DataFrame({"a": [0.5, 2.0], "id": [BIG, 3]}),
    "sparse": csr_array(np.array([[0, BIG], [2, 0]])),
    "time stamps in nanoseconds": pd.DataFrame(
        {"a": [1, 2], "time": np.array(["2024-05-01T12:00:00.123456789", "2024-05-02"], "M8[ns]").astype("int64")}
    ),
    "decimals": np.array([[1, Decimal(BIG)], [2, 3]], dtype=object),
}


@pytest.mark.parametrize("X", ROUNDED.values(), ids=ROUNDED)
def test_an_integer_that_no_float_holds_is_refused_and_not_rounded(X):
    with pytest.raises(
        InputError, match=r"the integer -?\d+ at row 0, column 1.*, which no float holds exactly"
    ) as caught:
        as_matrix(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[-(2**63), 0], [2**62, 2**53]]),
        [[2.0**60 + 2**10, 1], [10**22, 2]],  # floats, and an integer that is one
        pd.DataFrame({"t": np.array(["2024-05-01T12:00:00", "2024-05-02"], "M8[ns]").astype("int64"), "x": [0.5, 1.5]}),
        np.array([[1e300, 1.0]]) / 1e151,
    ],
    ids=["sentinels", "floats", "time stamps in whole seconds", "large floats"],
)
def test_large_numbers_that_floats_hold_are_kept(X):
    given = X.to_numpy(dtype=object).tolist() if hasattr(X, "to_numpy") else np.asarray(X, dtype=object).tolist()
    assert [[Fraction(v) for v in row] for row in as_matrix(X).tolist()] == [
        [Fraction(v) for v in row] for row in given
    ]
