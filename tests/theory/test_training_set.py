"""The training set: what is accepted, what is refused and how, and the paper's objects made of it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from made_sets import MAKERS

from rescaleinv.errors import InputError, RescaleInvError
from rescaleinv.theory.inputs import as_labels, as_matrix
from rescaleinv.theory.training_set import TrainingSet

ROWS = [[0.0, 3.0], [1.0, 0.0], [0.0, 5.0], [2.0, 0.5]]
LABELS = [-1, 1, -1, 1]


def matrices():
    array = np.array(ROWS)
    yield "lists", ROWS
    yield "tuples", tuple(map(tuple, ROWS))
    yield "array", array
    yield "fortran order", np.asfortranarray(array)
    yield "strided", np.repeat(array, 2, axis=1)[:, ::2]
    yield "float32", array.astype(np.float32)
    yield "objects", array.astype(object)
    yield "pandas", pd.DataFrame(array, columns=["a", "b"])
    yield "pandas nullable", pd.DataFrame(array, columns=["a", "b"]).astype("Float64")
    yield "polars", pl.DataFrame({"a": array[:, 0], "b": array[:, 1]})
    for layout in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr"):
        yield f"sparse matrix {layout}", getattr(sparse, f"{layout}_matrix")(array)
        yield f"sparse array {layout}", getattr(sparse, f"{layout}_array")(array)


@pytest.mark.parametrize("X", [pytest.param(X, id=name) for name, X in matrices()])
def test_every_kind_of_table_gives_the_same_features(X):
    ts = TrainingSet(X, LABELS)
    assert ts.features.dtype == np.float64
    assert ts.features.tolist() == ROWS
    assert ts.sha256 == TrainingSet(ROWS, LABELS).sha256


def test_integers_and_booleans_are_numbers():
    assert as_matrix(np.array([[True, False]])).tolist() == [[1, 0]]
    assert as_matrix(np.array([[1, 2]], dtype=np.uint8)).tolist() == [[1, 2]]
    assert as_matrix(pd.DataFrame({"a": [1, 2], "b": [True, False]})).tolist() == [[1, 1], [2, 0]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_feature_names_come_from_a_frame_or_are_given(frame):
    table = frame({"height": [0.0, 1.0], "weight": [2.0, 1.0]})
    assert TrainingSet(table, [0, 1]).feature_names == ("height", "weight")
    assert TrainingSet(table, [0, 1], feature_names=["h", "w"]).feature_names == ("h", "w")
    assert TrainingSet(table.to_numpy(), [0, 1]).feature_names is None
    with pytest.raises(InputError, match="1 feature names were given for 2 features"):
        TrainingSet(table, [0, 1], feature_names=["h"])


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["yes", "no", "yes", "no"], ("no", "yes")),
        ([True, False, True, False], (False, True)),
        ([2, 1, 2, 1], (1, 2)),
        ([1, -1, 1, -1], (-1, 1)),
        ([0.5, 0.0, 0.5, 0.0], (0.0, 0.5)),
        (np.array([[3], [0], [3], [0]]), (0, 3)),
        (pd.Series(["b", "a", "b", "a"], index=[9, 8, 7, 6]), ("a", "b")),
        (pd.Series(["b", "a", "b", "a"], dtype="category"), ("a", "b")),
        (pl.Series(["b", "a", "b", "a"]), ("a", "b")),
        (np.array(["b", "a", "b", "a"], dtype=object), ("a", "b")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_two_labels(labels, classes):
    ts = TrainingSet(ROWS, labels)
    assert ts.classes == classes
    assert ts.signs.tolist() == [1, -1, 1, -1]
    turned = TrainingSet(ROWS, labels, positive=classes[0])
    assert turned.classes == classes[::-1]
    assert turned.signs.tolist() == [-1, 1, -1, 1]


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
    "ragged": ([[1], [1, 2], [1], [2]], "not a sequence with one label a row"),
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


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [1, float("nan")], [float("inf"), 1], ["a", 1], [[1, 2], [3, 4]]])
def test_bad_weights_are_refused(weights):
    ts = TrainingSet(ROWS, LABELS)
    for ask in (ts.is_feasible, ts.lowest_positive, ts.lowest_negated_negative):
        with pytest.raises(InputError, match="weight"):
            ask(weights)


def test_a_bad_intercept_is_refused():
    with pytest.raises(InputError, match="the intercept is nan; a finite number is needed"):
        TrainingSet(ROWS, LABELS).is_feasible([1, 1], float("nan"))


@pytest.mark.parametrize("tolerance", [float("nan"), float("inf"), "a", None])
@pytest.mark.parametrize("intercept", [None, 0])
def test_a_bad_tolerance_is_refused(intercept, tolerance):
    with pytest.raises(InputError, match=r"the tolerance is .*; a finite number is needed"):
        TrainingSet(ROWS, LABELS).is_feasible([1, 1], intercept, tolerance=tolerance)


def callers_arrays():
    yield np.array(ROWS)
    yield np.array(ROWS)[:, :1]
    yield pd.DataFrame(np.array(ROWS), copy=False)
    yield pd.DataFrame({"a": [0.0, 1, 2, 3]})
    yield np.array(ROWS).view(np.matrix)


@pytest.mark.parametrize("X", [*callers_arrays()], ids=lambda X: f"{type(X).__name__}{X.shape}")
def test_the_callers_data_are_neither_changed_nor_aliased(X):
    before = np.array(X)
    ts = TrainingSet(X, LABELS)
    assert not np.shares_memory(ts.features, np.asarray(X))
    assert np.array_equal(np.asarray(X), before)
    if isinstance(X, np.ndarray):
        X[0, 0] = 99  # still the caller's to write
    else:
        X.iloc[0, 0] = 99
    assert np.array_equal(ts.features, before)


@pytest.mark.parametrize("attribute", ["features", "signs", "row_numbers"])
def test_arrays_are_read_only(attribute):
    array = getattr(TrainingSet(np.array(ROWS), LABELS), attribute)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0


def test_margin_vectors_are_built_when_asked_for_and_not_before():
    ts = TrainingSet(np.arange(200_000.0).reshape(-1, 1), np.arange(200_000) % 2)  # 10^10 pairs would not fit
    assert ts.n_pairs == 10**10
    assert ts.pair_numbers[0] == 1
    assert ts.pair_numbers[-1] == 10**10
    small = TrainingSet(ROWS, LABELS)
    assert "margin_vectors" not in vars(small)
    assert small.margin_vectors is small.margin_vectors


def test_margin_vectors_are_half_the_differences_of_all_pairs():
    ts = TrainingSet(ROWS, LABELS)
    by_hand = [[(p - q) / 2 for p, q in zip(ROWS[i], ROWS[k], strict=True)] for i in (1, 3) for k in (0, 2)]
    assert ts.margin_vectors.tolist() == by_hand
    assert len(ts.pair_numbers) == ts.n_pairs == len(by_hand)
    assert ts.positives.tolist() == [ROWS[1], ROWS[3]]
    assert ts.negatives.tolist() == [ROWS[0], ROWS[2]]


def by_brute_force(ts, weights):
    """Membership in G(X) over all the pairs, and the two extremes, with fractions and nothing of the package."""
    rows = [[Fraction(x) for x in row] for row in ts.features.tolist()]
    scores = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in rows]
    positive = [s for s, y in zip(scores, ts.signs, strict=True) if y > 0]
    negative = [s for s, y in zip(scores, ts.signs, strict=True) if y < 0]
    return all((p - q) / 2 >= 1 for p in positive for q in negative), min(positive), min(-q for q in negative)


@pytest.mark.parametrize("name", MAKERS)
def test_feasibility_agrees_with_brute_force(name):
    answers = set()
    for seed in range(12):
        ts = MAKERS[name](seed)
        rng = np.random.default_rng(seed)
        difference = ts.positives.mean(axis=0) - ts.negatives.mean(axis=0)
        for _ in range(6):
            direction = [Fraction(float(v)) for v in difference * rng.uniform(0.2, 2, ts.n_features)]
            _, top, bottom = by_brute_force(ts, direction)
            gap = (top + bottom) / 2
            # exactly on the edge of G(X) where the direction separates; a hair inside and outside of it
            for factor in (1, 1 + Fraction(1, 2**80), 1 - Fraction(1, 2**80)):
                weights = [w * factor / gap for w in direction] if gap else direction
                expected, top_there, bottom_there = by_brute_force(ts, weights)
                assert ts.is_feasible(weights) == expected
                middle = (bottom_there - top_there) / 2
                assert ts.middle_intercept(weights) == middle
                assert ts.is_feasible(weights, middle) == expected  # G(X) is the projection of C(X)
                assert not ts.is_feasible(weights, middle + Fraction(10**30))
                answers.add(expected)
    assert answers == {True, False}


def test_float_and_pair_form_of_the_extremes_agree():
    for seed in range(8):
        ts = MAKERS["integer_ties"](seed)
        weights = np.arange(1, ts.n_features + 1)
        _, lowest_positive, lowest_negated_negative = by_brute_force(ts, weights.tolist())
        assert ts.lowest_positive(weights) == lowest_positive
        assert ts.lowest_negated_negative(weights) == lowest_negated_negative
        assert (ts.margin_vectors @ weights).min() == (lowest_positive + lowest_negated_negative) / 2


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


@pytest.mark.parametrize("name", MAKERS)
def test_integer_rows_are_exact(name):
    for seed in range(7):
        ts = MAKERS[name](seed)
        rows, exponents = ts.integer_rows
        assert [[Fraction(v) * Fraction(2) ** e for v, e in zip(row, exponents, strict=True)] for row in rows] == [
            [Fraction(x) for x in row] for row in ts.features.tolist()
        ]


def test_integer_rows_of_extreme_values_are_exact_and_small_where_they_can_be():
    values = [[0.0, 2.0**60, 5e-324], [1e-140, 3 * 2.0**60, 1e150], [-3e140, 2.0**61, -0.1]]
    ts = TrainingSet(values, [1, -1, 1])
    rows, exponents = ts.integer_rows
    assert [[Fraction(v) * Fraction(2) ** e for v, e in zip(row, exponents, strict=True)] for row in rows] == [
        [Fraction(x) for x in row] for row in values
    ]
    assert [row[1] for row in rows] == [1, 3, 2]


def test_exact_margins():
    ts = TrainingSet([[0.1, 2], [3, -1]], [1, -1])
    weights, intercept = [Fraction(1, 3), Fraction(-2)], Fraction(1, 7)
    expected = [
        Fraction(0.1) * weights[0] + 2 * weights[1] + intercept,
        -(3 * weights[0] - weights[1] + intercept),
    ]
    assert ts.exact_margins(weights, intercept) == expected


def test_the_fingerprint_changes_with_every_cell_label_and_order():
    seen = {TrainingSet(ROWS, LABELS).sha256}
    changed = 0
    for i in range(4):
        for j in range(2):
            rows = np.array(ROWS)
            rows[i, j] = np.nextafter(rows[i, j], np.inf)
            seen.add(TrainingSet(rows, LABELS).sha256)
            changed += 1
        labels = np.array(LABELS)
        labels[i] *= -1
        seen.add(TrainingSet(ROWS, labels).sha256)
        seen.add(TrainingSet(np.roll(ROWS, i, axis=0), np.roll(LABELS, i)).sha256) if i else None
        changed += 2 if i else 1
    seen.add(TrainingSet(np.array(ROWS)[:, ::-1], LABELS).sha256)
    assert len(seen) == changed + 2
    assert TrainingSet(ROWS, ["n", "p", "n", "p"]).sha256 in seen  # what the labels are called is no matter
    assert TrainingSet(np.where(np.array(ROWS) == 0, -0.0, ROWS), LABELS).sha256 in seen


def test_a_subset_keeps_the_numbers_names_and_classes_of_its_rows():
    ts = TrainingSet(pd.DataFrame(ROWS, columns=["a", "b"]), ["x", "a", "x", "a"], positive="a")
    for rows in ([3, 0, 2], np.array([3, 0, 2])):
        part = ts.subset(rows)
        assert part.row_numbers.tolist() == [3, 0, 2]
        assert part.features.tolist() == [ROWS[3], ROWS[0], ROWS[2]]
        assert part.signs.tolist() == [1, -1, -1]
        assert (part.classes, part.feature_names) == (("x", "a"), ("a", "b"))
    assert ts.subset([False, True, True, False]).subset([1, 0]).row_numbers.tolist() == [2, 1]
    with pytest.raises(InputError, match=r"one class \(-1, 2 rows\); both are needed"):
        ts.subset([0, 2])
    with pytest.raises(InputError, match="no rows were chosen"):
        ts.subset([])


def test_row_numbers_are_one_a_row():
    assert TrainingSet(ROWS, LABELS, row_numbers=[7, 5, 3, 1]).row_numbers.tolist() == [7, 5, 3, 1]
    with pytest.raises(InputError, match="2 row numbers were given for 4 rows"):
        TrainingSet(ROWS, LABELS, row_numbers=[1, 2])


def test_repr_and_len_say_what_is_there():
    ts = TrainingSet(ROWS, ["no", "yes", "no", "yes"])
    assert len(ts) == 4
    assert repr(ts) == "TrainingSet(4 rows, 2 features, 2 positive ('yes'), 2 negative ('no'))"


def test_values_that_vanish_beside_their_range_are_refused():
    with pytest.raises(InputError, match="so small beside their range"):
        _ = TrainingSet([[0, 0], [5e-324, 1], [1.0, 3]], [-1, 1, 1]).conditioned
