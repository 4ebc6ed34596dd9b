"""Exact minimisation over a face, and ties that are attained on it or only approached, against brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from brute_force import exact_vertices, rescale_optimal_cells
from small_sets import points_near, small_set

from rescaleinv.engines.milp import faces
from rescaleinv.theory.optimality import is_rescale_optimal, probe_cell, probe_closed_cell
from rescaleinv.theory.training_set import TrainingSet


@pytest.mark.parametrize("hint_from", [0, 99])
def test_lowest_is_the_least_vertex_of_the_face(monkeypatch, hint_from):
    """With and without a float solver's hint: the brute force's vertices of the face have no lower value."""
    monkeypatch.setattr(faces, "_HINT_FROM", hint_from)
    rng = np.random.default_rng(4)
    for _ in range(25):
        training_set = small_set(rng)
        for cell in rescale_optimal_cells(training_set)[:3]:
            test = probe_closed_cell(training_set, sorted(cell.tight), cell.signs)
            face = faces.Face.of(training_set, test.multipliers)
            point = [Fraction(x) for x in points_near(rng, training_set, 1)[0].tolist()]
            for side in (1, -1):
                found = faces.lowest(training_set, face, point, side)
                members = [
                    side * v.value(tuple(point))
                    for v in exact_vertices(training_set)
                    if face.tight <= v.tight and all(a in (0, s) for a, s in zip(v.signs, face.signs, strict=True))
                ]
                assert found.value == min(members)
                value = sum(w * x for w, x in zip(found.weights, point, strict=True)) + found.intercept
                assert side * value == found.value
                assert min(training_set.exact_margins(found.weights, found.intercept)) == 1


def test_a_wrong_hint_is_not_believed(monkeypatch):
    """A basis that is feasible and not optimal: its prices do not hold for the columns that it leaves out."""
    training_set = TrainingSet([[0, 0], [1, 0], [0, 1]], [-1, 1, 1])
    face, point = faces.Face(frozenset([0, 1]), (1, 1)), [Fraction(-2), Fraction(-3)]
    expected = faces.lowest(training_set, face, point, -1)
    monkeypatch.setattr(faces, "_HINT_FROM", 0)
    for wrong in ([0, 1, 6], [0, 1, 2, 3, 4], [5, 6], [0]):
        monkeypatch.setattr(faces, "_float_basis", lambda *_, columns=wrong: columns)
        assert faces.lowest(training_set, face, point, -1).value == expected.value == 11


def assert_search_agrees(training_set, face):
    """The search for an attained tie, on a whole face of the closure, finds a cell of RO(X) iff brute force knows one."""
    m, n = training_set.n_rows, training_set.n_features
    whole = faces.Lowest(Fraction(0), [], Fraction(0), [Fraction(0)] * m, [Fraction(0)] * n)
    found = faces.attained_tie(training_set, face, whole)
    inside = [
        cell
        for cell in rescale_optimal_cells(training_set)
        if face.tight <= cell.tight and all(a in (0, s) for a, s in zip(cell.signs, face.signs, strict=True))
    ]
    assert found.decided
    assert (found.classifier is not None) == bool(inside)
    if found.classifier is not None:
        assert is_rescale_optimal(training_set, *found.classifier, tolerance=0)
    return bool(inside)


def test_a_face_meets_rescale_optimal_cells_where_brute_force_says_so():
    rng = np.random.default_rng(6)
    outcomes = []
    for _ in range(40):
        training_set = small_set(rng)
        vertices = sorted(exact_vertices(training_set), key=lambda v: v.weights)
        for first, second in itertools.combinations_with_replacement(vertices[:5], 2):
            pairs = list(zip(first.signs, second.signs, strict=True))
            face = faces.Face(first.tight & second.tight, tuple(a or b for a, b in pairs))
            if all(a * b >= 0 for a, b in pairs) and probe_closed_cell(training_set, [*face.tight], face.signs).holds:
                outcomes.append(assert_search_agrees(training_set, face))
    assert {True, False} == set(outcomes)


@pytest.mark.parametrize(
    ("rows", "labels", "face"),
    [
        # one more row must be tight
        ([[0, 2, 1], [1, 1, 3], [3, 1, 2], [0, 3, 3]], [1, -1, -1, -1], faces.Face(frozenset([0, 2]), (-1, 0, -1))),
        # one more weight must be zero: features 0 and 3 are alike, so no SVM has weight on one of them alone
        (
            [[1, 3, 0, 1], [2, 1, 0, 2], [0, 1, 3, 0], [0, 0, 0, 0], [3, 0, 1, 3]],
            [-1, 1, -1, 1, -1],
            faces.Face(frozenset([0, 1, 4]), (-1, -1, -1, 0)),
        ),
    ],
    ids=["row", "weight"],
)
def test_a_sub_face_is_rescale_optimal_where_the_middle_is_not(rows, labels, face):
    training_set = TrainingSet(rows, labels)
    assert probe_closed_cell(training_set, sorted(face.tight), face.signs).holds
    assert not probe_cell(training_set, sorted(face.tight), face.signs).holds
    assert assert_search_agrees(training_set, face)


def test_an_empty_face_has_no_lowest_value():
    training_set = TrainingSet([[0], [1], [3]], [-1, 1, 1])
    assert faces.lowest(training_set, faces.Face(frozenset([0, 1]), (1,)), [Fraction(0)], 1).value == -1
    assert faces.lowest(training_set, faces.Face(frozenset([0, 1, 2]), (1,)), [Fraction(0)], 1) is None
