"""The complex engine against exact expansion, brute force, ordinary SVMs and the exact checker."""

import pickle
from fractions import Fraction

import brute_force
import made_sets
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from rescaleinv.engines.complex import kernel as _kernel
from rescaleinv.engines.complex import walk
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.complex.hull import outer_vertices
from rescaleinv.engines.complex.ties import ExactVertices
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.engines.redundant_rows import without_inner_rows
from rescaleinv.errors import CertificateError, InputError, InseparableError
from rescaleinv.theory.optimality import CellTest, probe_closed_cell
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check

SHIPPED = ("breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote")
MAKERS = sorted(made_sets.MAKERS)


def points_around(training_set, rng, count):
    """Points with the training rows' own values, so that ties happen, and points between and beyond them."""
    rows = training_set.features
    mixed = np.column_stack([rng.choice(column, count) for column in rows.T])
    step = rng.integers(-2, 3, mixed.shape) * (np.ptp(rows, axis=0) / 4)
    return np.vstack([mixed, mixed + step])


def test_the_walk_finds_the_vertex_that_an_unperturbed_one_misses():
    training_set = TrainingSet([(0, 2), (2, -1), (1, 0), (-1, -1), (0, -2)], [1, 1, 1, -1, -1])
    engine = ComplexEngine(training_set)
    exact = ExactVertices(engine.reduced_training_set, engine.vertices)
    found = {(*exact[v].weights, exact[v].intercept) for v in range(len(engine.vertices.bases))}
    assert found == {(Fraction(2, 3), Fraction(2, 3), Fraction(1, 3)), (1, Fraction(1, 2), 0)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("maker", MAKERS)
def test_compiled_steps_equal_rational_steps_at_every_vertex(maker, seed):
    training_set = without_inner_rows(made_sets.MAKERS[maker](seed, 2 + seed))
    vertices = walk.enumerate_vertices(training_set, walk.Budget(vertices=60), n_threads=1)
    known = {tuple(basis) for basis in vertices.bases.tolist()}
    tables = walk._Tables.of(training_set, vertices.tilt)
    n = training_set.n_features
    decided = 0
    for basis, solution in zip(vertices.bases[:60], vertices.solutions, strict=False):
        edges, exact_solution = walk.expand_exactly(training_set, vertices.tilt, basis.tolist())
        expected = walk.neighbours_along(basis.tolist(), edges, training_set.n_rows)
        np.testing.assert_allclose(solution, exact_solution, rtol=1e-9, atol=1e-9 * np.abs(solution).max())
        assert vertices.stopped or all(tuple(neighbour) in known for neighbour in expected)
        for carried in (False, True):
            room, ends = np.empty((2 * n + 1, n + 1), dtype=np.int32), np.empty((1, 2 * n + 1), dtype=np.int64)
            count, floats = np.empty(1, dtype=np.int64), np.empty((1, n + 1))
            workspace = walk._workspace(training_set.n_rows, n)
            data = (tables.rows, tables.residues, tables.tilt, tables.powers)
            _kernel.expand_block(basis[None, :], *data, carried, workspace, room[None], ends, count, floats)
            assert count[0] != _kernel.INVALID
            if count[0] >= 0:
                decided += 1
                assert room[: count[0]].tolist() == expected
                found = [end if end >= 0 else -1 for end in ends[0, : len(edges)].tolist()]
                assert found == [edge if isinstance(edge, int) else -1 for edge in edges]
    assert decided


@pytest.mark.parametrize("name", SHIPPED)
def test_every_vertex_of_raw_data_is_feasible_and_in_the_closure(name):
    training_set, _ = made_sets.drawn_from(name, 1)
    engine = ComplexEngine(training_set, n_jobs=1)
    vertices, reduced = engine.vertices, engine.reduced_training_set
    rows = np.column_stack([reduced.conditioned, np.ones(len(reduced))]) * reduced.signs[:, None]
    margins = vertices.solutions @ rows.T
    assert (margins - 1 >= -1e-9 * (1 + np.abs(vertices.solutions) @ np.abs(rows.T))).all()
    exact = ExactVertices(reduced, vertices)
    for v in vertices.distinct(np.arange(len(vertices.bases))).tolist():
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


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_and_ranges_equal_brute_force(seed):
    rng = np.random.default_rng([7, seed])
    for _ in range(3):
        n, m = rng.integers(1, 4), rng.integers(2, 7)
        rows = rng.integers(-2, 3, (m, n)).astype(float)
        labels = np.where(rows @ rng.normal(size=n) + rng.normal() * 0.3 > 0, 1, -1)
        if len(set(labels.tolist())) == 1:
            continue
        training_set = TrainingSet(rows, labels)
        points = np.vstack([rng.integers(-3, 4, (3, n)), rng.integers(-6, 7, (2, n)) / 2])
        verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
        for i, point in enumerate(points):
            exact_point = [Fraction(x) for x in point.tolist()]
            assert verdicts[i] == brute_force.exact_verdict(training_set, exact_point)
            low, high = brute_force.exact_range(training_set, exact_point)
            assert verdicts.lower[i] == pytest.approx(float(low), abs=1e-9)
            assert verdicts.upper[i] == pytest.approx(float(high), abs=1e-9)
            if verdicts[i] is Verdict.NEUTRAL:
                assert check(verdicts.certificate(i).to_json()) == "neutral"


def test_a_walk_in_rationals_alone_takes_over_when_compiled_steps_go_wrong(monkeypatch):
    training_set = made_sets.integer_ties(3, 3)
    points = points_around(training_set, np.random.default_rng(0), 20)
    expected = ComplexEngine(training_set).certify(points)

    def lost(bases, rows, residues, tilt, powers, at_once, workspace, neighbours, edges, counts, solutions):
        nonsense = np.arange(bases.shape[1])
        neighbours[:, 0] = nonsense
        counts[:] = np.where((bases == nonsense).all(axis=1), _kernel.INVALID, 1)
        return len(bases)

    monkeypatch.setattr(walk._kernel, "expand_block", lost)
    engine = ComplexEngine(training_set)
    verdicts = engine.certify(points)
    assert engine.vertices.n_in_rationals == len(engine.vertices.bases)
    assert (verdicts.code == expected.code).all()


def test_a_complex_of_a_single_vertex_in_rationals():
    verdicts = ComplexEngine(made_sets.decimal_ties(2)).certify([[0.1, 0.1, 0.1]])
    assert not verdicts.unknown.any()


def test_a_point_whose_value_is_an_intercept_that_cancels_to_zero():
    rows = [[-3e-05, 0.0], [0.0, 0.0], [-6e-05, 0.1], [0.0, 0.1]]
    verdicts = ComplexEngine(TrainingSet(rows, [-1, -1, 1, -1])).certify([[-6e-05, 0.0]])
    assert verdicts[0] is Verdict.STRONGLY_POSITIVE
    assert verdicts.lower[0] == 0


def test_rows_that_are_nearly_tied_by_noise():
    rows = [
        [2.000000017310472, 5.234049667163691e-09, -2.0000000014180666],
        [-3.5248467955213163e-09, 0.9999999966463082, -1.0000000050951405],
        [1.999999992436146, 1.0000000058932876, 1.9999999973165432],
        [-1.7221408860779845e-08, 0.9999999843721527, -1.9999999963337192],
    ]
    training_set = TrainingSet(rows, [1, 1, -1, 1])
    points = np.random.default_rng(0).normal(size=(40, 3)) * 2
    verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
    for i, point in enumerate(points):
        assert verdicts[i] == brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()])


@pytest.mark.parametrize("seed", range(12))
def test_noise_of_all_sizes_on_integers_equals_brute_force(seed):
    rng = np.random.default_rng([13, seed])
    for _ in range(4):
        n, m = rng.integers(1, 4), rng.integers(2, 6)
        rows = rng.integers(-2, 3, (m, n)) + rng.normal(size=(m, n)) * 10.0 ** rng.integers(-14, -6)
        labels = np.where(rows @ rng.normal(size=n) > rng.normal() * 0.3, 1, -1)
        if len(set(labels.tolist())) == 1:
            continue
        training_set = TrainingSet(rows, labels)
        points = rng.integers(-3, 4, (5, n)).astype(float)
        verdicts = ComplexEngine(training_set, n_jobs=1).certify(points)
        for i, point in enumerate(points):
            assert verdicts[i] == brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()])


def test_a_vertex_outside_of_the_closure_is_noticed(monkeypatch):
    training_set = TrainingSet([[1.0, 1], [-1, -1]], [1, -1])
    tilt = np.array([2, 3])
    basis = walk.first_basis(training_set, tilt)
    assert walk.expand_exactly(training_set, tilt, basis)
    monkeypatch.setattr(walk, "probe_closed_cell", lambda *_: CellTest(None, None))
    with pytest.raises(walk._WalkLostError, match="closure"):
        walk.expand_exactly(training_set, tilt, basis)


def test_values_that_overflow_are_decided_exactly():
    a = 1e-149
    d = a * 1e-12
    training_set = TrainingSet([[a + 2 * d, a - d], [a - d, a + 2 * d], [a, a], [0, 0]], [1, 1, -1, -1])
    verdicts = ComplexEngine(training_set).certify([[1e150, -1e150], [-1e150, -1e150]])
    for i in range(2):
        point = [Fraction(x) for x in verdicts.points[i].tolist()]
        assert verdicts[i] == brute_force.exact_verdict(training_set, point)


def test_an_engine_and_its_verdicts_can_be_pickled():
    engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    verdicts = pickle.loads(pickle.dumps(engine.certify([[-1, 4]])))
    assert check(verdicts.certificate(0).to_json()) == "neutral"
    assert not pickle.loads(pickle.dumps(engine)).training_set.features.flags.writeable


def test_a_tie_that_only_a_limit_attains_is_strongly_negative():
    engine = ComplexEngine(TrainingSet([[1, 1], [-1, -1]], [1, -1]))
    verdicts = engine.certify([[0, -1], [0, 0], [0, 1], [1, -1]])
    names = ["STRONGLY_NEGATIVE", "STRONGLY_POSITIVE", "STRONGLY_POSITIVE", "NEUTRAL"]
    assert [verdict.name for verdict in verdicts] == names
    assert verdicts.upper[0] == 0
    assert verdicts.lower[1] == verdicts.upper[1] == 0


def test_a_tie_that_a_finite_rescaling_attains_is_neutral_with_a_certificate():
    # RO(X) is the segment from (0.6, 0.4) to (0.4, 0.6) with b = -1, both ends included
    engine = ComplexEngine(TrainingSet([[-10, 20], [20, -10], [2, 2], [0, 0]], [1, 1, 1, -1]))
    verdicts = engine.certify([[3, -2], [1, 1]])
    assert verdicts.upper.tolist() == [0, 0]
    assert list(verdicts) == [Verdict.NEUTRAL, Verdict.STRONGLY_POSITIVE]
    assert check(verdicts.certificate(0).to_json()) == "neutral"


@pytest.mark.parametrize("name", ["breast_cancer_wisconsin", "blood_transfusion", "banknote"])
def test_every_neutral_point_has_a_witness_that_an_ordinary_svm_confirms(name):
    training_set, features = made_sets.drawn_from(name, 3)
    points = np.unique(features, axis=0)
    points = points[np.random.default_rng(0).permutation(len(points))[:60]]
    verdicts = ComplexEngine(training_set).certify(points)
    assert verdicts.neutral.any()
    retrained = 0
    for i in np.flatnonzero(verdicts.neutral):
        witness = verdicts.witness(i)
        assert check(witness.certificate.to_json()) == "neutral"
        for rescaling, side in ((witness.positive, 1), (witness.negative, -1)):
            scale = rescaling / (np.ptp(training_set.features * rescaling, axis=0).max() or 1)
            centre = training_set.features.mean(axis=0)
            svm = SVC(kernel="linear", C=1e12, tol=1e-9, max_iter=2_000_000)
            svm.fit((training_set.features - centre) * scale, training_set.signs)
            if (
                svm.fit_status_ == 0
                and (svm.predict((training_set.features - centre) * scale) == training_set.signs).all()
            ):
                value = svm.decision_function((points[i : i + 1] - centre) * scale)[0]
                if abs(value) > 1e-6 and np.ptp(np.log10(rescaling)) < 4:
                    retrained += 1
                    assert np.sign(value) == side
    assert retrained > verdicts.neutral.sum() / 2  # libsvm does not converge at the most uneven rescalings


def test_a_budget_still_proves_neutral_and_says_why_the_rest_is_unknown():
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    whole = ComplexEngine(training_set).certify(features)
    engine = ComplexEngine(training_set, max_vertices=20)
    part = engine.certify(features)
    assert not engine.complete
    assert part.neutral.any()
    assert whole.neutral[part.neutral].all()
    assert (part.neutral | part.unknown).all()
    assert all("20 vertices" in reason for reason in part.reason[part.unknown])
    assert np.isnan(part.lower).all()
    assert check(part.certificate(int(np.flatnonzero(part.neutral)[0])).to_json()) == "neutral"


def test_what_an_incomplete_enumeration_leaves_open_goes_to_the_fallback():
    training_set, features = made_sets.drawn_from("pima_diabetes", 1)
    points = features[:12]
    whole = ComplexEngine(training_set).certify(points)
    fallback = MilpEngine(training_set, time_limit=30)
    part = ComplexEngine(training_set, max_vertices=5, fallback=fallback).certify(points)
    assert (part.code == whole.code).all()
    i = int(np.flatnonzero(part.neutral)[-1])
    assert check(part.certificate(i).to_json()) == "neutral"


def test_time_and_memory_budgets_stop_the_walk():
    training_set, _ = made_sets.drawn_from("breast_cancer_wisconsin", 1)
    assert "s" in walk.enumerate_vertices(training_set, walk.Budget(seconds=1e-9)).stopped
    assert "MB" in walk.enumerate_vertices(training_set, walk.Budget(bytes=1)).stopped


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


@pytest.mark.parametrize("name", ["breast_cancer_wisconsin", "fertility", "banknote"])
def test_powers_of_two_change_no_bit_and_translations_and_permutations_no_verdict(name):
    training_set, features = made_sets.drawn_from(name, 2, rows=15)
    points = features[:100]
    base = ComplexEngine(training_set).certify(points)
    rng = np.random.default_rng(0)
    n = training_set.n_features
    powers = np.ldexp(1.0, rng.integers(-20, 21, n))
    scaled = ComplexEngine(TrainingSet(training_set.features * powers, training_set.signs)).certify(points * powers)
    assert (scaled.code == base.code).all()
    np.testing.assert_array_equal(scaled.lower, base.lower)
    np.testing.assert_array_equal(scaled.upper, base.upper)
    rows, columns = rng.permutation(len(training_set)), rng.permutation(n)
    moved = TrainingSet(training_set.features[rows][:, columns], training_set.signs[rows])
    assert (ComplexEngine(moved).certify(points[:, columns]).code == base.code).all()
    if name == "breast_cancer_wisconsin":  # integers, so that a whole number more is exact
        shift = rng.integers(-1000, 1000, n)
        shifted = ComplexEngine(TrainingSet(training_set.features + shift, training_set.signs)).certify(points + shift)
        assert (shifted.code == base.code).all()
        np.testing.assert_array_equal(shifted.lower, base.lower)


def test_random_rescalings_never_contradict_a_strong_verdict():
    from rescaleinv.theory.svm import minimal_norm_svm

    training_set, features = made_sets.drawn_from("pima_diabetes", 4)
    points = features[:300]
    verdicts = ComplexEngine(training_set).certify(points)
    assert verdicts.strong.any()
    rng = np.random.default_rng(1)
    for _ in range(60):
        svm = minimal_norm_svm(training_set, made_sets.random_rescaling(rng, training_set.n_features))
        values = svm.decision_function(points)
        near = 1e-7 * (1 + np.abs(values))
        assert not (values < -near)[verdicts.strongly_positive].any()
        assert not (values > near)[verdicts.strongly_negative].any()
        assert (values >= verdicts.lower - near).all()
        assert (values <= verdicts.upper + near).all()


def test_outer_vertices_keep_all_bounds_and_drop_what_is_inside():
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(12, 4))
    shares = rng.dirichlet(np.ones(12), size=200)
    solutions = np.vstack([shares @ corners, corners])
    outer = outer_vertices(solutions)
    assert set(range(200, 212)) >= set(outer.tolist())
    points = rng.normal(size=(500, 4))
    values, bounds = points @ solutions.T, points @ solutions[outer].T
    np.testing.assert_allclose(values.min(axis=1), bounds.min(axis=1), atol=1e-10)
    np.testing.assert_allclose(values.max(axis=1), bounds.max(axis=1), atol=1e-10)


def test_large_batches_give_the_same_verdicts(monkeypatch):
    training_set, features = made_sets.drawn_from("breast_cancer_wisconsin", 2)
    engine = ComplexEngine(training_set)
    base = engine.certify(features)
    monkeypatch.setattr("rescaleinv.engines.complex.engine._LARGE_BATCH", 10)
    monkeypatch.setattr("rescaleinv.engines.complex.engine._POINTS_AT_A_TIME", 64)
    pruned = engine.certify(features)
    assert len(engine._outer_solutions) < len(engine.vertices.bases)
    assert (pruned.code == base.code).all()
    np.testing.assert_allclose(pruned.lower, base.lower, rtol=1e-9, atol=1e-9)


def test_real_valued_features_need_no_residues():
    features, labels = load_breast_cancer(return_X_y=True)
    training_set = separable_subset(TrainingSet(features[:30, :8], labels[:30])).training_set
    vertices = walk.enumerate_vertices(training_set, walk.Budget())
    assert vertices.n_with_residues < 0.1 * len(vertices.bases)


def test_bad_input_is_refused():
    training_set = TrainingSet([[0.0, 1], [1, 0], [2, 2]], [-1, 1, 1])
    engine = ComplexEngine(training_set)
    with pytest.raises(InputError, match="3 features, but 2"):
        engine.certify([[1, 2, 3]])
    with pytest.raises(InputError, match="NaN"):
        engine.certify([[1, float("nan")]])
    with pytest.raises(InputError, match="max_vertices"):
        ComplexEngine(training_set, max_vertices=0)
    with pytest.raises(InputError, match="n_jobs"):
        ComplexEngine(training_set, n_jobs=0)
    with pytest.raises(InseparableError):
        ComplexEngine(TrainingSet([[0.0], [1], [2]], [1, -1, 1])).precompute()
    with pytest.raises(CertificateError, match="not neutral"):
        engine.explain(np.array([9.0, 9.0]))


def test_verdicts_as_a_frame_a_slice_and_a_page():
    verdicts = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])).certify(
        [[-1, 4], [4, 4], [0, 0]]
    )
    assert verdicts.summary() == "3 points: 1 strongly positive (33%), 1 strongly negative (33%), 1 neutral (33%)"
    assert verdicts.to_frame()["verdict"].tolist() == ["neutral", "strongly positive", "strongly negative"]
    assert verdicts[1:].code.tolist() == [1, -1]
    assert verdicts[verdicts.neutral].witness(0).positive.shape == (2,)
    assert "neutral" in verdicts._repr_html_()
    with pytest.raises(InputError, match="strongly positive"):
        verdicts.witness(1)
    with pytest.raises(CertificateError, match="prove"):
        verdicts.certificate(2)
