"""Separability by exact means, and the rules that leave points out."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from made_sets import MAKERS

import rescaleinv.theory.separability
from rescaleinv.datasets import load
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.rationals import nonnegative_solution
from rescaleinv.theory.separability import exact_separation, is_separable, separable_subset, separation
from rescaleinv.theory.soft_margin import standardised_margins
from rescaleinv.theory.training_set import TrainingSet

RULES = ["misclassified", "fewest", "greedy"]
SHIPPED = ["breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote"]


def separable_by_brute_force(ts):
    """Gordan: strictly separable iff no a >= 0, not 0, has Σ a_i y_i (x_i, 1) = 0. One exact program over all rows."""
    y = ts.signs.tolist()
    lines = [[s * Fraction(x) for s, x in zip(y, column, strict=True)] for column in ts.features.T.tolist()]
    lines += [[Fraction(s) for s in y], [Fraction(1)] * len(y)]
    return nonnegative_solution(lines, [0] * (ts.n_features + 1) + [1]).solution is None


def nasty(seed):
    """Few integer points with many coincidences, labels at random: contradictory as a rule."""
    rng = np.random.default_rng(seed)
    n, rows, top = int(rng.integers(1, 4)), int(rng.integers(2, 9)), int(rng.integers(1, 4))
    labels = rng.choice([-1, 1], rows, p=[0.65, 0.35])
    if abs(labels.sum()) == rows:
        labels[rng.integers(rows)] *= -1
    return TrainingSet(rng.integers(0, top + 1, (rows, n)), labels)


def fewest_by_brute_force(ts):
    """The smallest number of rows without which the rest is separable and has both classes; None where there is none."""
    for k in range(ts.n_rows - 1):
        for gone in itertools.combinations(range(ts.n_rows), k):
            kept = np.delete(np.arange(ts.n_rows), gone)
            if len(set(ts.signs[kept].tolist())) == 2 and separable_by_brute_force(ts.subset(kept)):
                return k
    return None


def assert_proved(ts, found):
    """A separation carries its own proof: check it from scratch."""
    rows = [[Fraction(x) for x in row] for row in ts.features.tolist()]
    if found.separable:
        margins = [
            y * (sum(w * x for w, x in zip(found.weights, row, strict=True)) + found.intercept)
            for row, y in zip(rows, ts.signs.tolist(), strict=True)
        ]
        assert min(margins) > 0
    else:
        assert all(a > 0 for a in found.conflict.values())
        assert len(found.conflict) <= ts.n_features + 2  # basic: no more rows than are needed
        signed = {i: a * int(ts.signs[i]) for i, a in found.conflict.items()}
        assert sum(signed.values()) == 0
        for j in range(ts.n_features):
            assert sum(a * rows[i][j] for i, a in signed.items()) == 0


@pytest.mark.parametrize("name", MAKERS)
def test_made_sets_are_separable_and_not_with_a_contradiction(name):
    for seed in range(8):
        ts = MAKERS[name](seed)
        assert_proved(ts, separation(ts))
        assert is_separable(ts)
        for row in (0, ts.n_rows - 1):
            worse = TrainingSet(np.vstack([ts.features, ts.features[row]]), np.append(ts.signs, -ts.signs[row]))
            found = separation(worse)
            assert not found.separable
            assert_proved(worse, found)


def test_small_integer_sets_agree_with_brute_force():
    answers = []
    for seed in range(250):
        ts = nasty(seed)
        answers.append(separable_by_brute_force(ts))
        for found in (separation(ts), exact_separation(ts, [])):
            assert found.separable == answers[-1]
            assert_proved(ts, found)
    assert 50 < sum(answers) < 200


@pytest.mark.parametrize("seed", range(12))
def test_one_feature_is_separable_iff_the_intervals_are_apart(seed):
    rng = np.random.default_rng(seed)
    values, labels = rng.integers(0, 12, 6), rng.permutation([1, 1, 1, -1, -1, -1])
    positive, negative = values[labels > 0], values[labels < 0]
    expected = positive.min() > negative.max() or positive.max() < negative.min()
    assert is_separable(TrainingSet(values[:, None], labels)) == expected


TOUCHING = {
    "the same point": ([[1, 2], [1, 2]], [1, -1]),
    "the same point among others": ([[0, 0], [1, 2], [5, 5], [1, 2]], [-1, -1, 1, 1]),
    "a point on a segment": ([[0, 0], [3, 3], [1, 1]], [1, 1, -1]),
    "a point on a side of a triangle": ([[0, 0], [4, 0], [0, 4], [2, 2]], [1, 1, 1, -1]),
    "segments that cross": ([[0, 0], [2, 2], [0, 2], [2, 0]], [1, 1, -1, -1]),
    "segments that share a line and an end": ([[0, 0], [1, 1], [1, 1], [2, 2]], [1, 1, -1, -1]),
    "a point in a triangle": ([[0, 0], [9, 0], [0, 9], [2, 3]], [1, 1, 1, -1]),
    "all the same": ([[7]] * 4, [1, -1, 1, -1]),
}


@pytest.mark.parametrize(("rows", "labels"), TOUCHING.values(), ids=TOUCHING)
@pytest.mark.parametrize("unit", [1, 1e-9, 3e11])
def test_hulls_that_only_touch_are_not_separable(rows, labels, unit):
    ts = TrainingSet(np.array(rows) * unit, labels)
    found = separation(ts)
    if unit == 1:  # in other units a point is rounded off the line, and exact arithmetic sees that
        assert not found.separable
    assert found.separable == separable_by_brute_force(ts)
    assert_proved(ts, found)


def test_a_gap_of_one_bit_is_a_gap():
    up = float(np.nextafter(1.0, 2.0))
    assert is_separable(TrainingSet([[0.0], [1.0], [up], [2.0]], [-1, -1, 1, 1]))
    assert not is_separable(TrainingSet([[0.0], [1.0], [1.0], [2.0]], [-1, -1, 1, 1]))
    # in the plane: (1/2, 1/2) is on the segment, the next float is not
    corners = [[0.0, 1.0], [1.0, 0.0]]
    off = [0.5, float(np.nextafter(0.5, 1))]
    assert not is_separable(TrainingSet([*corners, [0.5, 0.5]], [1, 1, -1]))
    assert is_separable(TrainingSet([*corners, off], [1, 1, -1], read_as="float"))
    assert not is_separable(TrainingSet([*corners, off], [1, 1, -1]))  # as written: a grid of halves


def test_a_hundred_thousand_rows():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 50, (100_000, 4))
    labels = np.where(points @ [1, 2, -1, 1] > 60, 1, -1)
    assert is_separable(TrainingSet(points, labels))
    labels[17] *= -1
    ts = TrainingSet(points, labels)
    found = separation(ts)
    assert not found.separable
    assert_proved(ts.subset(sorted(found.conflict)), separation(ts.subset(sorted(found.conflict))))


def assert_sound(ts, subset, rule):
    assert subset.rule == rule
    assert np.array_equal(np.sort(np.concatenate([subset.kept, subset.dropped])), np.arange(ts.n_rows))
    assert np.array_equal(subset.training_set.row_numbers, ts.row_numbers[subset.kept])
    assert np.array_equal(subset.training_set.features, ts.features[subset.kept])
    assert np.array_equal(subset.training_set.signs, ts.signs[subset.kept])
    assert set(subset.training_set.signs.tolist()) == {1, -1}
    assert is_separable(subset.training_set)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SHIPPED)
def test_rules_on_shipped_data(name, rule):
    features, labels, _ = load(name)
    n_dropped = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = rng.choice(len(features), int(rng.integers(30, 51)), replace=False)
        ts = TrainingSet(features[rows], labels[rows], row_numbers=rows)
        subset = separable_subset(ts, rule)
        assert_sound(ts, subset, rule)
        assert np.array_equal(subset.kept, separable_subset(ts, rule).kept)
        n_dropped += len(subset.dropped)
        if rule != "fewest" and seed == 0:
            fewest = separable_subset(ts, "fewest")
            assert fewest.fewest
            assert len(fewest.dropped) <= len(subset.dropped)
    assert n_dropped or name in ("banknote", "breast_cancer_wisconsin")


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("rule", RULES)
def test_of_separable_data_nothing_is_left_out(name, rule):
    ts = MAKERS[name](4)
    subset = separable_subset(ts, rule)
    assert_sound(ts, subset, rule)
    assert subset.dropped.size == 0
    assert subset.fewest


@pytest.mark.parametrize("part", range(4))
def test_no_rule_empties_a_class_and_fewest_is_what_brute_force_says(part):
    for seed in range(part * 30, part * 30 + 30):
        ts = nasty(seed)
        fewest = fewest_by_brute_force(ts)
        for rule in RULES:
            if fewest is None:
                with pytest.raises(InseparableError, match="are the same point with both labels"):
                    separable_subset(ts, rule)
                continue
            subset = separable_subset(ts, rule)
            assert_sound(ts, subset, rule)
            if rule == "fewest" or subset.fewest:
                assert subset.fewest
                assert len(subset.dropped) == fewest


def test_fewest_counts_copies():
    """Two labels at one point, three rows against two: the two go, though it is one point either way."""
    rows = [[0], [5], [5], [5], [5], [5], [9]]
    labels = [-1, -1, -1, -1, 1, 1, 1]
    assert separable_subset(TrainingSet(rows, labels), "fewest").dropped.tolist() == [4, 5]
    labels = [-1, -1, -1, 1, 1, 1, 1]
    assert separable_subset(TrainingSet(rows, labels), "fewest").dropped.tolist() == [1, 2]
    # one row between copies of another: the single one goes, not the five
    rows = [[0]] * 5 + [[1]] + [[2]] * 5
    assert separable_subset(TrainingSet(rows, [-1] * 5 + [1] + [-1] * 5), "fewest").dropped.size == 5  # it may not go
    assert separable_subset(TrainingSet([*rows, [9]], [-1] * 5 + [1] + [-1] * 5 + [1]), "fewest").dropped.tolist() == [
        5
    ]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([[1, 1], [0, 0], [3, 0], [0, 3], [4, 4]], [1, -1, -1, -1, -1]),
        ([[2, 2], [0, 0], [4, 4], [0, 4], [4, 0]], [1, -1, -1, -1, -1]),
        ([[5, 5], [5, 5], [0, 0], [9, 9]], [1, -1, -1, -1]),
        ([[5, 5], [5, 5], [5, 5], [0, 0]], [1, -1, 1, -1]),
        ([[0], [0], [1], [1]], [1, -1, 1, -1]),
    ],
    ids=["in a triangle", "in a square", "on a negative", "two on a negative", "both labels twice"],
)
def test_the_last_positive_point_stays(rows, labels, rule):
    ts = TrainingSet(rows, labels)
    assert not is_separable(ts)
    assert_sound(ts, separable_subset(ts, rule), rule)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("copies", [1, 3])
def test_one_point_with_both_labels_can_not_be_helped(rule, copies):
    ts = TrainingSet([[1, 2]] * (2 * copies), [1, -1] * copies)
    with pytest.raises(InseparableError, match=f"all {2 * copies} rows are the same point with both labels"):
        separable_subset(ts, rule)


def test_unknown_rules_and_bad_time_limits_are_refused():
    ts = TrainingSet([[0], [1]], [-1, 1])
    with pytest.raises(InputError, match="'random' is not known; there are 'misclassified', 'fewest', 'greedy'"):
        separable_subset(ts, "random")
    for limit in (0, -1, float("nan"), "10"):
        with pytest.raises(InputError, match="positive number of seconds, or None, is needed"):
            separable_subset(ts, "fewest", time_limit=limit)


def test_a_time_limit_that_is_too_short_warns_and_falls_back():
    features, labels, _ = load("blood_transfusion")
    ts = TrainingSet(features[:150], labels[:150])
    with pytest.warns(UserWarning, match="not found within 1e-06 s; the greedy rule's are taken") as caught:
        subset = separable_subset(ts, "fewest", time_limit=1e-6)
    assert caught[0].filename == __file__
    assert not subset.fewest
    assert_sound(ts, subset, "fewest")
    assert np.array_equal(subset.kept, separable_subset(ts, "greedy").kept)


def test_a_time_limit_that_is_long_enough_changes_nothing():
    ts = nasty(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert separable_subset(ts, "fewest", time_limit=3600).fewest
        assert separable_subset(ts, "fewest", time_limit=float("inf")).fewest


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_a_float_solver_that_is_wrong_changes_nothing(monkeypatch, margin):
    """Whatever it claims, and whether it finds a conflict or not, is only a proposal."""
    monkeypatch.setattr(
        rescaleinv.theory.separability, "_float_separator", lambda rows, signs: (-rows[0] - 1, 0.5, margin)
    )
    monkeypatch.setattr(rescaleinv.theory.separability, "_float_conflict", lambda rows, signs: np.array([0]))
    for seed in range(60):
        ts = nasty(seed)
        found = separation(ts)
        assert found.separable == separable_by_brute_force(ts)
        assert_proved(ts, found)


def arrangements(rng, features, labels):
    """The same data with the rows in another order, the classes swapped, or both."""
    order = rng.permutation(len(labels))
    yield order, features[order], labels[order]
    yield np.arange(len(labels)), features, -labels
    yield order, features[order], -labels[order]


@pytest.mark.parametrize("rule", ["misclassified", "greedy", "fewest"])
@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_left_out_depends_neither_on_the_order_nor_on_the_names_of_the_classes(name, rule):
    features, labels, _ = load(name)
    features, labels = np.asarray(features), np.asarray(labels)
    inconsistent = 0
    for seed in range(3 if rule == "fewest" else 6):
        rng = np.random.default_rng([seed, 5])
        chosen = rng.permutation(len(features))[:22]
        rows, y = features[chosen], labels[chosen]
        rows = rows[:, : 1 + seed % 3]  # few features, so that rows have to go
        if len(set(y.tolist())) < 2:
            continue
        kept = separable_subset(TrainingSet(rows, y), rule)
        inconsistent += kept.dropped.size > 0
        expected = sorted((*row, label) for row, label in zip(rows[kept.kept].tolist(), y[kept.kept], strict=True))
        for order, other_rows, other_labels in arrangements(rng, rows, y):
            again = separable_subset(TrainingSet(other_rows, other_labels), rule).kept
            same = sorted((*row, y[i]) for row, i in zip(other_rows[again].tolist(), order[again], strict=True))
            assert same == expected
    assert inconsistent


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_misclassified_does_not_depend_on_the_units(name):
    features, labels, _ = load(name)
    for seed in range(4):
        rng = np.random.default_rng([seed, 6])
        chosen = rng.permutation(len(features))[:25]
        rows, y = np.asarray(features)[chosen][:, :4], np.asarray(labels)[chosen]
        expected = separable_subset(TrainingSet(rows, y)).dropped.tolist()
        for factors in (rng.uniform(0.1, 10, rows.shape[1]), 10.0 ** rng.integers(-3, 4, rows.shape[1])):
            assert separable_subset(TrainingSet(rows * factors + 1.7, y)).dropped.tolist() == expected


def test_the_first_rows_of_breast_cancer_in_many_orders():
    """Another row used to go in a third of the orders, as libsvm stops 1e-3 short of the optimum."""
    features, labels, _ = load("breast_cancer_wisconsin")
    rows, y = np.asarray(features)[:25, :4], np.asarray(labels)[:25]
    expected = separable_subset(TrainingSet(rows, y)).training_set.features
    rng = np.random.default_rng(0)
    for _ in range(10):
        order = rng.permutation(25)
        kept = separable_subset(TrainingSet(rows[order], y[order])).training_set.features
        assert sorted(kept.tolist()) == sorted(expected.tolist())


def test_a_row_on_the_hyperplane_is_misclassified_whichever_class_it_has():
    rows = [[-2.0], [-1], [1], [2], [0], [1.5], [-1.5]]
    for sign in (1, -1):
        labels = [-sign, -sign, sign, sign, sign, -sign, sign]  # symmetric but for the row at 0
        margins = standardised_margins(TrainingSet(rows, labels), np.ones(7))
        kept = separable_subset(TrainingSet(rows, labels)).kept.tolist()
        assert [i for i in (4, 5, 6) if margins[i] <= 0 and i in kept] == []


def test_rows_with_weights_count_as_copies():
    rows, labels = [[0.0], [1], [2], [3], [4], [3.5]], [-1, -1, 1, 1, 1, -1]
    training_set = TrainingSet(rows, labels)
    assert (
        separable_subset(training_set).dropped.tolist()
        == separable_subset(training_set, row_weights=[1] * 6).dropped.tolist()
    )
    heavy = separable_subset(training_set, row_weights=[1, 1, 1, 1, 1, 3]).training_set
    copies = separable_subset(TrainingSet([*rows, [3.5], [3.5]], [*labels, -1, -1])).training_set
    assert {*map(tuple, heavy.features.tolist())} == {*map(tuple, copies.features.tolist())}
    with pytest.raises(InputError, match="counts rows"):
        separable_subset(training_set, "greedy", row_weights=[1, 2, 1, 1, 1, 1])
