"""The training set: every kind of table, and the paper's objects made of it."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sparse
from made_sets import MAKERS

from rescaleinv.errors import InputError
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
    before = np.array(X).copy()  # pandas 2.2 hands out its own memory for np.array
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


def test_tight_rows_and_gradient_are_those_of_the_definition():
    ts = TrainingSet([[-1, 5], [5, -1], [1, 1], [9, 9]], [1, 1, -1, 1])
    one = Fraction(1)
    assert ts.tight_rows([one, one], Fraction(-3)) == [0, 1, 2]
    assert ts.tight_rows([one, one], Fraction(-3) + Fraction(1, 2**80)) is None  # row 2 is a hair below margin 1
    multipliers = {0: Fraction(1, 3), 2: Fraction(1, 3)}
    by_hand = [Fraction(1, 3) * (x - z) for x, z in zip((-1, 5), (1, 1), strict=True)]
    assert ts.exact_gradient(multipliers) == by_hand
    assert ts.exact_gradient({}) == [0, 0]
