"""The walk: all vertices, each feasible and in the closure, within its budget."""

from fractions import Fraction

import made_sets
import numpy as np
import pytest
from complex_certificates import SHIPPED, points_around
from sklearn.datasets import load_breast_cancer

from rescaleinv.engines.complex import exact_walk, kernel, walk
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.complex.ties import ExactVertices
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet


def test_the_walk_finds_the_vertex_that_an_unperturbed_one_misses():
    training_set = TrainingSet([(0, 2), (2, -1), (1, 0), (-1, -1), (0, -2)], [1, 1, 1, -1, -1])
    engine = ComplexEngine(training_set)
    exact = ExactVertices(engine.reduced_training_set, engine.vertices)
    found = {(*exact[v].weights, exact[v].intercept) for v in range(len(engine.vertices.bases))}
    assert found == {(Fraction(2, 3), Fraction(2, 3), Fraction(1, 3)), (1, Fraction(1, 2), 0)}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_vertex_of_raw_data_is_feasible_and_in_the_closure(name):
    training_set, _ = made_sets.drawn_from(name, 1)
    engine = ComplexEngine(training_set, n_jobs=1)
    vertices, reduced = engine.vertices, engine.reduced_training_set
    rows = np.column_stack([reduced.conditioned, np.ones(len(reduced))]) * reduced.signs[:, None]
    margins = vertices.solutions @ rows.T
    assert (margins - 1 >= -1e-9 * (1 + np.abs(vertices.solutions) @ np.abs(rows.T))).all()
    exact = ExactVertices(reduced, vertices)
    for v in exact.distinct(np.arange(len(vertices.bases))):
        vertex = exact[v]
        assert min(reduced.exact_margins(vertex.weights, vertex.intercept)) == 1
        assert probe_closed_cell(reduced, sorted(vertex.tight), vertex.signs).holds
    for v in range(min(50, len(vertices.bases))):
        weights, intercept = reduced.conditioning.weights_to_original(
            vertices.solutions[v, :-1], vertices.solutions[v, -1]
        )
        expected = np.array([float(w) for w in exact[v].weights])
        np.testing.assert_allclose(weights, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
        assert intercept == pytest.approx(float(exact[v].intercept), rel=1e-7, abs=1e-7)


def test_a_walk_in_rationals_alone_takes_over_when_compiled_steps_go_wrong(monkeypatch):
    training_set = made_sets.integer_ties(3, 3)
    points = points_around(training_set, np.random.default_rng(0), 20)
    expected = ComplexEngine(training_set).certify(points)

    def lost(bases, training, at_once, workspace, neighbours, edges, counts, solutions):
        nonsense = np.arange(bases.shape[1])
        neighbours[:, 0] = nonsense
        counts[:] = np.where((bases == nonsense).all(axis=1), kernel.INVALID, 1)
        return len(bases)

    monkeypatch.setattr(kernel, "expand_block", lost)
    engine = ComplexEngine(training_set)
    verdicts = engine.certify(points)
    assert engine.vertices.n_in_rationals == len(engine.vertices.bases)
    assert (verdicts.code == expected.code).all()


def test_a_complex_of_a_single_vertex_in_rationals():
    verdicts = ComplexEngine(made_sets.decimal_ties(2)).certify([[0.1, 0.1, 0.1]])
    assert not verdicts.unknown.any()


def test_time_and_memory_budgets_stop_the_walk():
    training_set, _ = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    assert "s" in walk.enumerate_vertices(training_set, walk.Budget(seconds=1e-9)).stopped
    assert "MB" in walk.enumerate_vertices(training_set, walk.Budget(bytes=1)).stopped


def test_real_valued_features_need_no_residues():
    features, labels = load_breast_cancer(return_X_y=True)
    training_set = separable_subset(TrainingSet(features[:30, :8], labels[:30])).training_set
    vertices = walk.enumerate_vertices(training_set, walk.Budget())
    assert vertices.n_with_residues < 0.1 * len(vertices.bases)


def test_a_walk_that_gets_lost_is_repeated_with_more_caution_before_rationals(monkeypatch):
    training_set = made_sets.integer_ties(3, 3)
    whole = walk.enumerate_vertices(training_set, walk.Budget())
    expand_block, cautions = kernel.expand_block, []

    def lost_at_first(bases, training, *rest):
        cautions.append(training.caution)
        if training.caution == 1:
            raise exact_walk.WalkLostError("planted")
        return expand_block(bases, training, *rest)

    monkeypatch.setattr(kernel, "expand_block", lost_at_first)
    found = walk.enumerate_vertices(training_set, walk.Budget())
    assert set(cautions) == {1, walk._CAUTION}
    assert found.n_in_rationals < len(found.bases)
    assert len(found.bases) == len(whole.bases)


def test_time_is_up_amid_steps_in_rationals(monkeypatch):
    training_set, _ = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    clock = [0.0]
    expand_exactly = exact_walk.expand_exactly

    def slow(*arguments):
        clock[0] += 1
        return expand_exactly(*arguments)

    monkeypatch.setattr(walk, "expand_exactly", slow)
    monkeypatch.setattr(walk.time, "monotonic", lambda: clock[0])
    found = walk.enumerate_vertices(training_set, walk.Budget(seconds=5), in_rationals=True)
    assert "5 s" in found.stopped
    assert found.n_in_rationals == len(found.bases) <= 7
