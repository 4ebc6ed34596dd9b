"""Vertices from a file are checked: what the file says of them is not believed."""

import itertools
from dataclasses import replace

import made_sets
import numpy as np
import pytest

from rescaleinv import ComplexEngine, InputError, RescaleInvariantSVC, TrainingSet
from rescaleinv.engines.complex import kernel, restored, walk
from rescaleinv.engines.complex.restored import require_complete, require_true_solutions
from rescaleinv.estimators import saving


def enumerated(training_set):
    engine = ComplexEngine(training_set)
    engine.precompute()
    return engine


SETS = [made_sets.gaussian(1, 3), made_sets.gaussian(2, 4), TrainingSet([[0, 0, 1], [2, 0, 1], [0, 2, 3]], [-1, 1, 1])]


@pytest.mark.parametrize("training_set", SETS, ids=["gaussian 3", "gaussian 4", "integers"])
def test_true_solutions_pass(training_set):
    engine = enumerated(training_set)
    require_true_solutions(engine.reduced_training_set, engine.vertices)
    points = training_set.features[:2] + 0.5
    other = ComplexEngine(training_set)
    other.restore(engine.vertices)
    assert (other.certify(points).code == engine.certify(points).code).all()


LIES = {
    "negated": lambda s: -s,
    "zero": lambda s: s * 0,
    "another's": lambda s: np.roll(s, 1, axis=0),
    "one value": lambda s: s + np.eye(*s.shape) * 1e-6,
    "larger": lambda s: s * (1 + 1e-8),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("training_set", SETS[:2], ids=["gaussian 3", "gaussian 4"])
def test_lies_about_solutions_are_refused(training_set, lie):
    engine = enumerated(training_set)
    lying = replace(engine.vertices, solutions=lie(engine.vertices.solutions))
    with pytest.raises(ValueError, match="it has a "):
        ComplexEngine(training_set).restore(lying)


def test_a_basis_that_separates_nothing_is_refused():
    training_set = made_sets.gaussian(1, 3)
    engine = enumerated(training_set)
    n_rows = engine.reduced_training_set.n_rows
    signs = engine.reduced_training_set.signs
    # tight rows of one class only, with no weights: b = 1 gives every negative row the margin -1
    positive = int(np.flatnonzero(signs > 0)[0])
    basis = np.array([[positive, n_rows, n_rows + 1, n_rows + 2]], dtype=np.int32)
    lying = replace(engine.vertices, bases=basis, solutions=np.array([[0.0, 0, 0, 1]]))
    with pytest.raises(ValueError, match="does not separate its training set"):
        ComplexEngine(training_set).restore(lying)


@pytest.mark.parametrize("training_set", SETS, ids=["gaussian 3", "gaussian 4", "integers"])
def test_a_list_that_any_one_vertex_was_taken_from_is_refused(training_set):
    vertices = enumerated(training_set).vertices
    for left_out in range(len(vertices.bases)):
        shorter = replace(
            vertices,
            bases=np.delete(vertices.bases, left_out, axis=0),
            solutions=np.delete(vertices.solutions, left_out, axis=0),
        )
        if len(shorter.bases):
            with pytest.raises(ValueError, match="not complete"):
                ComplexEngine(training_set).restore(shorter)


def test_so_is_one_whose_steps_need_rationals(monkeypatch):
    vertices = enumerated(SETS[0]).vertices
    steps = walk._Walk.steps

    def undecided(self, *arguments):
        found = steps(self, *arguments)
        found.counts[:] = kernel.UNDECIDED
        return found

    monkeypatch.setattr(walk._Walk, "steps", undecided)
    reduced = enumerated(SETS[0]).reduced_training_set
    require_complete(reduced, vertices)
    shorter = replace(vertices, bases=vertices.bases[1:], solutions=vertices.solutions[1:])
    with pytest.raises(ValueError, match="not complete"):
        require_complete(reduced, shorter)


def test_half_of_a_list_is_refused_even_if_only_a_sample_is_followed(monkeypatch):
    monkeypatch.setattr(restored, "_MOST_FOLLOWED", 10)
    engine = enumerated(made_sets.gaussian(2, 4))
    require_complete(engine.reduced_training_set, engine.vertices)
    half = replace(engine.vertices, bases=engine.vertices.bases[::2], solutions=engine.vertices.solutions[::2])
    with pytest.raises(ValueError, match="not complete"):
        require_complete(engine.reduced_training_set, half)
    # what says itself that it is not complete may be so
    require_complete(engine.reduced_training_set, replace(half, stopped="more than 1 s"))


def test_a_separating_vertex_outside_of_the_complex_is_refused():
    engine = enumerated(made_sets.gaussian(1, 3))
    reduced, vertices = engine.reduced_training_set, engine.vertices
    seen = {tuple(basis) for basis in vertices.bases.tolist()}
    rows = np.column_stack([reduced.conditioned, np.ones(len(reduced))]) * reduced.signs[:, None]
    lines = np.vstack([rows, np.eye(4)[:3]])
    found = 0
    for basis in itertools.combinations(range(len(lines)), 4):
        if basis in seen or abs(np.linalg.det(lines[list(basis)])) < 1e-9:
            continue
        solution = np.linalg.solve(lines[list(basis)], [float(item < len(rows)) for item in basis])
        if (rows @ solution < 1 - 1e-9).any():
            continue
        found += 1
        lying = replace(
            vertices,
            bases=np.vstack([vertices.bases, np.int32(basis)]),
            solutions=np.vstack([vertices.solutions, solution]),
        )
        require_true_solutions(reduced, lying)  # it is a vertex of C(X)
        with pytest.raises(ValueError, match=r"not complete|not one of the complex"):
            require_complete(reduced, lying)
    assert found


def test_a_model_file_that_leaves_a_vertex_out_is_refused(tmp_path):
    training_set = made_sets.gaussian(1, 3)
    clf = RescaleInvariantSVC(inconsistent="raise").fit(training_set.features, training_set.signs).precompute()
    clf.save(tmp_path / "model")
    with saving.reading(tmp_path / "model") as (content, arrays):
        pass
    shorter = {name: arrays[name][1:] for name in ("vertices.bases", "vertices.solutions")}
    saving.write(tmp_path / "model", content, {**arrays, **shorter})
    with pytest.raises(InputError, match="its list of vertices is not complete"):
        RescaleInvariantSVC.load(tmp_path / "model")


def test_a_model_file_with_negated_solutions_is_refused(tmp_path):
    training_set = made_sets.gaussian(1, 3)
    clf = RescaleInvariantSVC(inconsistent="raise").fit(training_set.features, training_set.signs).precompute()
    clf.save(tmp_path / "model")
    with saving.reading(tmp_path / "model") as (content, arrays):
        pass
    turned = {**arrays, "vertices.solutions": -arrays["vertices.solutions"]}
    saving.write(tmp_path / "model", content, turned)
    with pytest.raises(InputError, match="is damaged, or is not a model"):
        RescaleInvariantSVC.load(tmp_path / "model")


def test_nothing_that_was_only_read_is_called_certified(tmp_path):
    training_set = made_sets.gaussian(1, 3)
    clf = RescaleInvariantSVC(inconsistent="raise").fit(training_set.features, training_set.signs).precompute()
    points = np.random.default_rng(0).normal(size=(40, 3)) * 2
    before = clf.certify(points)
    assert before.neutral.any()
    assert set(before.status[before.neutral]) == {"certified"}
    clf.save(tmp_path / "model")
    after = RescaleInvariantSVC.load(tmp_path / "model").certify(points)
    assert (after.code == before.code).all()
    assert set(after.status) == {"computed"}
    assert set(after.prove().status[after.neutral]) == {"proved"}  # the certificate is made, and checked, here
