"""Rows that can't matter are left out, and no verdict changes."""

import numpy as np
import pytest
from scipy.optimize import linprog

from rescaleinv.engines import redundant_rows
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.redundant_rows import rows_that_matter, without_inner_rows
from rescaleinv.theory.training_set import TrainingSet


def test_a_hundred_thousand_rows_are_reduced_to_those_that_matter():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(100_000, 4))
    rows = rows[np.abs(rows.sum(axis=1)) > 0.05]
    training_set = TrainingSet(rows, np.sign(rows.sum(axis=1)))
    reduced = without_inner_rows(training_set)
    assert reduced.n_rows < 2000
    kept = training_set.subset(np.sort(rng.permutation(len(rows))[:800]))
    small = without_inner_rows(kept)
    points = rng.normal(size=(200, 4)) / 5
    assert small.n_rows < kept.n_rows
    assert (ComplexEngine(small).certify(points).code == ComplexEngine(kept).certify(points).code).all()
    assert ComplexEngine(training_set).certify(points).strong.any()


def by_linear_programs(points):
    """Which points are convex combinations of the others, by one linear program for each."""
    inside = []
    for i in range(len(points)):
        others = np.delete(points, i, axis=0)
        matrix = np.vstack([others.T, np.ones(len(others))])
        found = linprog(np.zeros(len(others)), A_eq=matrix, b_eq=np.append(points[i], 1), method="highs")
        inside.append(found.status == 0)
    return np.array(inside)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_inner_rows_are_those_that_linear_programs_find(monkeypatch, n_features):
    monkeypatch.setattr(redundant_rows, "_FEW_ROWS", 10)
    rng = np.random.default_rng(n_features)
    rows = rng.normal(size=(60, n_features))
    rows[:, 0] += np.sign(rows[:, 0])
    training_set = TrainingSet(rows, np.sign(rows[:, 0]))
    expected = np.ones(60, dtype=bool)
    for sign in (1, -1):
        members = np.flatnonzero(training_set.signs == sign)
        expected[members] = ~by_linear_programs(rows[members])
    assert rows_that_matter(training_set).tolist() == np.flatnonzero(expected).tolist()
    assert 4 <= expected.sum() + 2 * (n_features == 1) < 60


def test_rows_on_the_border_stay(monkeypatch):
    """On a grid of integers many rows are on the sides of the hull without being its corners: these are not doubted."""
    monkeypatch.setattr(redundant_rows, "_FEW_ROWS", 3)
    square = np.array([[x, y] for x in range(5) for y in range(5)], dtype=float)
    training_set = TrainingSet(np.vstack([square, [[20.0, 2.0]]]), [1] * 25 + [-1])
    kept = training_set.features[rows_that_matter(training_set)]
    border = [row for row in square.tolist() if {0.0, 4.0} & set(row)]
    assert kept.tolist() == [*border, [20.0, 2.0]]


def test_a_flat_class_loses_copies_only(monkeypatch):
    monkeypatch.setattr(redundant_rows, "_FEW_ROWS", 1)
    rows = [[0.0, 0], [1, 0], [2, 0], [1, 0], [3, 0], [1, 5], [1, 6], [1, 5]]
    training_set = TrainingSet(rows, [-1] * 5 + [1] * 3)
    assert rows_that_matter(training_set).tolist() == [0, 1, 2, 4, 5, 6]


def test_few_rows_and_many_features_lose_copies_only():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 7))
    training_set = TrainingSet(np.vstack([rows, rows[:5]]), np.sign(np.r_[rows[:, 0], rows[:5, 0]]))
    assert rows_that_matter(training_set).tolist() == list(range(400))
    few = TrainingSet([[-1.0], [1], [2], [3]], [-1, 1, 1, 1])
    assert rows_that_matter(few).tolist() == [0, 1, 2, 3]


def test_the_same_point_with_both_labels_is_no_copy():
    assert rows_that_matter(TrainingSet([[0.0], [0], [0], [1]], [-1, 1, -1, 1])).tolist() == [0, 1, 3]
