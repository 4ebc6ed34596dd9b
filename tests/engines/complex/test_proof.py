"""Complex certificates that are true are accepted, and a walk that went wrong is corrected."""

import dataclasses
import functools
import hashlib
import json
import math
import random
from fractions import Fraction
from itertools import product

import brute_force
import made_sets
import numpy as np
import pytest
from complex_certificates import (
    ARITHMETICS,
    SHIPPED,
    Content,
    decision_values,
    engine_of,
    example,
    points_around,
    small_sets,
    with_vectors,
)

from rescaleinv import verify
from rescaleinv.engines.complex import exact_walk, walk
from rescaleinv.engines.complex import proof as proof_module
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.errors import CertificateError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, verdict_words
from rescaleinv.verify import Refused, check, check_complex


def assert_all_agree(engine, points):
    """Both arithmetics read the same from the certificate, and every decided point is proved."""
    proof = engine.proof
    data = proof.path.read_bytes()
    assert proof.n_bytes == len(data)
    assert proof.sha256 == hashlib.sha256(data).hexdigest()
    assert proof.n_vertices == len(engine.vertices.bases)
    for flint in ARITHMETICS:
        again = check_complex(proof.path, flint=flint)
        assert (again.n_vertices, again.solutions, again.sha256) == (
            proof.n_vertices,
            proof.checked.solutions,
            proof.sha256,
        )
    assert all(math.gcd(*solution) == 1 for solution in proof.checked.solutions)  # each once, in lowest terms
    verdicts = engine.certify(points)
    after = verdicts.prove()
    assert (after.code == verdicts.code).all()
    assert (after.status[~after.unknown] == "proved").all()
    assert (after.status[after.unknown] == "").all()
    assert not after.unknown.any()


@pytest.mark.parametrize(("seed", "rows"), [(0, 15), (2, 20)])
@pytest.mark.parametrize("name", SHIPPED)
def test_raw_data_is_proved(proved, name, seed, rows):
    training_set, points = made_sets.drawn_from(name, seed, rows)
    chosen = np.random.default_rng(seed).permutation(len(points))[:12]
    assert_all_agree(proved(training_set), np.vstack([points[chosen], training_set.features[:4]]))


@pytest.mark.parametrize("n_features", range(1, 7))
@pytest.mark.parametrize("maker", sorted(made_sets.MAKERS))
def test_made_sets_are_proved(proved, maker, n_features):
    for seed in (0, 5):
        training_set = made_sets.MAKERS[maker](seed, n_features)
        assert_all_agree(proved(training_set), points_around(training_set, np.random.default_rng(seed), 4))


def test_the_solutions_have_the_range_of_all_classifiers(proved):
    for training_set, rng in small_sets(1, 60):
        found = proved(training_set).proof.checked
        n = training_set.n_features
        unit_vectors = [[int(j == k) * sign for j in range(n)] for k in range(n) for sign in (1, -1)]
        for point in [*rng.integers(-6, 7, (8, n)).tolist(), *unit_vectors, [0] * n]:
            exact_point = [Fraction(x, 2) for x in point]
            values = list(decision_values(found, exact_point))
            assert (min(values), max(values)) == brute_force.exact_range(training_set, exact_point)


def test_a_refutation_may_be_written_out(checked, content):
    """The same certificate with the vectors in place of the masks, from the rational steps."""
    expected = checked(content)
    again = with_vectors(content)
    assert any(isinstance(edge, list) for _, edges in again.records for edge in edges)
    for flint in ARITHMETICS:
        found = checked(again, flint)
        assert (found.n_vertices, found.solutions) == (expected.n_vertices, expected.solutions)
        assert found.sha256 != expected.sha256


@pytest.mark.parametrize("solve", [verify._solve, verify._solve_with_flint][: len(ARITHMETICS)])
def test_linear_systems_are_solved_exactly_or_found_singular(solve):
    rng = random.Random(4)
    n_singular = 0
    for _ in range(400):
        size, columns = rng.randint(1, 4), rng.randint(1, 2)
        rows = [[rng.randint(-2, 2) for _ in range(size + columns)] for _ in range(size)]
        matrix = [row[:size] for row in rows]
        expected = [brute_force.gaussian_elimination(matrix, [row[size + c] for row in rows]) for c in range(columns)]
        found = solve([[*row] for row in rows])
        if expected[0] is None:
            n_singular += 1
            assert found is None
        else:
            denominator, values = found
            assert denominator > 0
            assert [[Fraction(value, denominator) for value in row] for row in values] == [
                list(row) for row in zip(*expected, strict=True)
            ]
    assert n_singular > 20


def test_shipped_points_of_each_kind_are_proved_and_the_file_is_accepted(proved, tmp_path, capsys):
    training_set, points = made_sets.drawn_from("banknote", 0, 15)
    engine = proved(training_set)
    verdicts = engine.certify(points[::40])
    assert set(verdicts.code.tolist()) == {-1, 0, 1}
    after = verdicts.prove(tmp_path / "points")
    assert set(after.status) == {"proved"}
    assert verify.main([str(engine.proof.path), str(tmp_path / "points")]) == 0
    out = capsys.readouterr().out
    assert f"{len(points[::40]) + 1} proved, 0 refused" in out
    assert verify.main([str(tmp_path / "points")]) == 2  # nothing can be checked without the complex certificate
    assert "REFUSED" not in capsys.readouterr().out
    for i, line in enumerate((tmp_path / "points").read_text().splitlines()):
        assert check(line, complexes=engine.complexes) == verdict_words(after.code[i])
        assert "rows" not in json.loads(line)["training"]
        with_rows = verdicts.certificate(i).to_json()
        assert check(with_rows, complexes=engine.complexes) == verdict_words(after.code[i])


def test_the_strongly_negative_tie_of_the_example(proved):
    """(1, 0) is no classifier, but its limit. (h, t) refutes it iff h_1 > 0 and h_1 + h_2 + |t| <= 0: all of a grid."""
    engine = proved(example())
    verdicts = engine.certify([[0, -1]])
    assert verdicts[0] is Verdict.STRONGLY_NEGATIVE
    assert verdicts.upper[0] == 0
    certificate = verdicts.certificate(0)
    assert certificate.content["evidence"]["ties"]
    assert verdicts.prove().status[0] == "proved"
    seen = set()
    for vector in product(range(-2, 3), repeat=3):
        certificate.content["evidence"]["ties"] = [[str(value) for value in vector]]
        valid = vector[0] > 0 and vector[0] + vector[1] + abs(vector[2]) <= 0
        seen.add(valid)
        if valid:
            assert check(certificate.to_json(), complexes=engine.complexes) == "strongly negative"
        else:
            with pytest.raises(Refused, match="the decision value 0 may belong to a rescaling"):
                check(certificate.to_json(), complexes=engine.complexes)
    assert seen == {True, False}
    for ties in ([], [["0", "0", "0"]], [["-1", "1", "0"]]):
        certificate.content["evidence"]["ties"] = ties
        with pytest.raises(Refused, match="the decision value 0 may belong to a rescaling"):
            check(certificate.to_json(), complexes=engine.complexes)
    for ties in ([["1", "-1"]], [["1", "-1", "0", "0"]], ["1-1"], [None], [[1, -1, 0]], [["1", "-1", "0"], []]):
        certificate.content["evidence"]["ties"] = ties
        with pytest.raises(Refused, match=r"^evidence\.ties"):
            check(certificate.to_json(), complexes=engine.complexes)
    # a vector of no use beside one that is
    certificate.content["evidence"]["ties"] = [["0", "0", "0"], ["1", "-1", "0"]]
    assert check(certificate.to_json(), complexes=engine.complexes) == "strongly negative"


def test_ties_are_proved_where_they_hold_and_refused_where_they_are_attained(proved):
    """Largest decision value 0: strongly negative where only limits have it, and neutral where a classifier has."""
    n_strong = n_neutral = n_joined = 0
    for training_set, _ in small_sets(2, 40):
        n = training_set.n_features
        grid = np.array(list(product(range(-4, 5), repeat=n)), dtype=float)
        if n == 3:
            grid = grid[::7]
        engine = proved(training_set)
        verdicts = engine.certify(grid / 2)
        tied = np.flatnonzero((verdicts.upper == 0) & ~verdicts.strongly_positive)
        assert set(verdicts[tied[:12]].prove().status) <= {"proved"}
        stolen = []
        for i in tied[:12].tolist():
            point = [Fraction(x) for x in verdicts.points[i].tolist()]
            assert max(decision_values(engine.proof.checked, point)) == 0
            verdict = brute_force.exact_verdict(training_set, point)
            assert verdicts[i] is verdict
            certificate = engine.certificate(verdicts.points[i], Verdict.STRONGLY_NEGATIVE)
            ties = certificate.content["evidence"]["ties"]
            if verdict is Verdict.STRONGLY_NEGATIVE:
                n_strong += 1
                n_joined += len(ties) > 1
                stolen += ties
                assert ties
                assert check(certificate.to_json(), complexes=engine.complexes) == "strongly negative"
                lies = [[], [[str(-Fraction(x)) for x in vector] for vector in ties]]
            else:
                n_neutral += 1
                lies = [[], ties, stolen, [[str(x) for x in vector] for vector in product((-1, 0, 1), repeat=n + 1)]]
            for lie in lies:
                certificate.content["evidence"]["ties"] = lie
                with pytest.raises(Refused, match="the decision value 0 may belong to a rescaling"):
                    check(certificate.to_json(), complexes=engine.complexes)
    assert min(n_strong, n_neutral) >= 5
    assert n_joined >= 2


def test_cells_between_tied_vertices_must_be_refuted_too(proved):
    """Each tied vertex is a limit only, but a classifier between them has the value 0: it must not be overlooked.

    That happens where one feature comes twice: its weight can be shared in any way, but neither share can be 0.
    """
    found = 0
    for plane, _ in small_sets(3, 150):
        if plane.n_features != 2:
            continue
        training_set = TrainingSet(plane.features[:, [0, 0, 1]], plane.signs)
        labels = plane.signs.tolist()
        rows = [[Fraction(x) for x in row] for row in training_set.features.tolist()]
        vertices = brute_force.exact_vertices(training_set)
        cells = brute_force.rescale_optimal_cells(training_set)
        for ends in (cell.vertices for cell in cells if len(cell.vertices) == 2):
            shared, _, weight = ends[0].weights if ends[0].weights[0] else ends[1].weights
            if not weight or any(cell.vertices == (end,) for cell in cells for end in ends):
                continue
            for a in range(-5, 6):
                point = [Fraction(a), Fraction(a), -(shared * a + ends[0].intercept) / weight]
                others = [v.value(point) for v in vertices if v not in ends]
                if others and max(others) < 0 == ends[0].value(point) == ends[1].value(point):
                    break
            else:
                continue
            vectors = [
                vector
                for vector in product(range(-3, 4), repeat=4)
                if any(refutes(vector, end, rows, labels) for end in ends)
            ]
            assert all(any(refutes(vector, end, rows, labels) for vector in vectors) for end in ends)
            engine = proved(training_set)
            certificate = engine.certificate([0, 0, 0], Verdict.STRONGLY_NEGATIVE)
            certificate.content["point"] = [str(x) for x in point]
            certificate.content["evidence"]["ties"] = [[str(x) for x in vector] for vector in vectors]
            with pytest.raises(Refused, match="the decision value 0 may belong to a rescaling"):
                check(certificate.to_json(), complexes=engine.complexes)
            found += 1
            break
        if found == 3:
            break
    assert found == 3


def refutes(vector, vertex, rows, labels):
    *h, t = vector
    products = [value * sign for value, sign in zip(h, vertex.signs, strict=True)]
    margins = (labels[i] * (sum(a * b for a, b in zip(h, rows[i], strict=True)) + t) for i in vertex.tight)
    return min(products) >= 0 and any(products) and all(value <= 0 for value in margins)


def test_statuses_of_the_complex_engine(tmp_path):
    training_set = made_sets.gaussian(1, 3)
    points = points_around(training_set, np.random.default_rng(0), 20)
    engine = engine_of(training_set)
    computed = engine.certify(points)
    strong, neutral = computed.strong, computed.neutral
    assert strong.any()
    assert neutral.any()
    assert set(computed.status[strong]) == {"computed"}
    assert set(computed.status[neutral]) == {"certified"}
    with pytest.raises(CertificateError, match=r"call prove\(path\)"):
        computed.certificate(int(np.flatnonzero(strong)[0]))
    only_neutral = computed.prove()
    assert set(only_neutral.status[strong]) == {"computed"}
    assert set(only_neutral.status[neutral]) == {"proved"}
    assert f"{neutral.sum()} neutral ({neutral.mean():.0%}, {neutral.sum()} proved)" in only_neutral.summary()
    assert only_neutral.summary().count("proved") == 1
    assert "proved" not in computed.summary()

    written = engine.write_proof(tmp_path / "complex")
    assert written.checked is None
    assert engine.complexes == []
    certified = engine.certify(points)
    assert set(certified.status) == {"certified"}
    assert "proved" not in certified.summary()
    assert set(certified.prove().status[strong]) == {"certified"}  # the complex is not checked yet
    text = certified.certificate(int(np.flatnonzero(strong)[0])).to_json()
    assert check(text, complexes=[check_complex(tmp_path / "complex")]).startswith("strongly")

    proof = engine.prove(tmp_path / "complex")
    assert proof.sha256 == written.sha256
    again = engine.certify(points)
    assert set(again.status) == {"certified"}
    proved = again.prove()
    assert set(proved.status) == {"proved"}
    for name, count in proved.counts().items():
        assert not count or f"{count} {name} ({count / len(points):.0%}, {count} proved)" in proved.summary()
    assert set(proved.prove().status) == {"proved"}
    assert set(computed.prove().status[strong]) == {"computed"}  # these had no certificate


def test_statuses_of_the_mixed_integer_program(tmp_path):
    training_set = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    verdicts = MilpEngine(training_set).certify([[-1, 4], [3, 3], [0, 0]])
    assert verdicts.status.tolist() == ["certified", "computed", "computed"]
    for i in (1, 2):
        with pytest.raises(CertificateError, match="has no certificate"):
            verdicts.certificate(i)
    proved = verdicts.prove(tmp_path / "points")
    assert proved.status.tolist() == ["proved", "computed", "computed"]
    assert proved.summary().count("proved") == 1
    assert "1 neutral (33%, 1 proved)" in proved.summary()
    assert len((tmp_path / "points").read_text().splitlines()) == 1
    assert verify.main([str(tmp_path / "points")]) == 0


FAULTY = made_sets.integer_ties(0, 5)


@pytest.fixture
def faulty(monkeypatch):
    """Makes the compiled steps report other edges: ``change(number, basis, edges)`` returns what they say."""

    def patch(change):
        def edges_of(*arguments):
            for number, (basis, edges) in enumerate(walk.edges_of(*arguments)):
                yield basis, change(number, basis, None if edges is None else [*edges])

        monkeypatch.setattr(proof_module, "edges_of", edges_of)

    return patch


@functools.cache
def faultless():
    """The engine, its bases, and verdicts of some points."""
    engine = engine_of(FAULTY)
    points = points_around(FAULTY, np.random.default_rng(0), 20)
    return {tuple(basis) for basis in engine.vertices.bases.tolist()}, points, engine.certify(points)


def assert_corrected(engine, path, n_corrected=None):
    bases, points, expected = faultless()
    proof = engine.prove(path)
    found = check_complex(path)
    assert found.sha256 == proof.sha256 == engine.proof.sha256
    assert n_corrected is None or proof.n_corrected == n_corrected
    assert proof.n_vertices == found.n_vertices == len(engine.vertices.bases)
    verdicts = engine.certify(points).prove()
    assert (verdicts.code == expected.code).all()
    np.testing.assert_allclose(verdicts.lower, expected.lower, rtol=1e-9)
    np.testing.assert_allclose(verdicts.upper, expected.upper, rtol=1e-9)
    assert set(verdicts.status) == {"proved"}
    return {tuple(basis) for basis in engine.vertices.bases.tolist()} == bases


def test_real_edges_that_were_taken_for_refuted(faulty, tmp_path):
    n_real = []

    def change(number, basis, edges):
        if number % 3 == 0:
            n_real.append(sum(edge >= 0 for edge in edges))
            return [-1 if edge >= 0 else edge for edge in edges]
        return edges

    faulty(change)
    engine = engine_of(FAULTY)
    wrong = range(0, len(engine.vertices.bases), 3)
    path = tmp_path / "complex"
    assert assert_corrected(engine, path)
    assert engine.proof.n_corrected == sum(n_real[: len(wrong)])
    assert engine.proof.n_in_rationals == len(wrong)


@pytest.mark.parametrize("way", ["another item", "a refuted edge followed", "another refutation", "nothing known"])
def test_one_edge_is_wrong(faulty, tmp_path, way):
    items = FAULTY.n_rows + FAULTY.n_features

    def change(number, basis, edges):
        if number != 4:
            return edges
        real = next(k for k, edge in enumerate(edges) if edge >= 0)
        unreal = next(k for k, edge in enumerate(edges) if edge < 0)
        other = next(item for item in range(items) if item not in basis and item != edges[real])
        if way == "another item":
            edges[real] = other
        elif way == "a refuted edge followed":
            edges[unreal] = other
        elif way == "another refutation":
            edges[unreal] = -1
        else:
            return None
        return edges

    faulty(change)
    wrong = way in ("another item", "a refuted edge followed")
    engine = engine_of(FAULTY)
    assert assert_corrected(engine, tmp_path / "complex", n_corrected=int(wrong))
    assert engine.proof.n_in_rationals == 1


def with_bases(engine, bases):
    """The engine as if its walk had found these vertices."""
    vertices = engine.vertices
    positions = {tuple(basis): k for k, basis in enumerate(vertices.bases.tolist())}
    unknown = np.zeros(vertices.solutions.shape[1])
    solutions = [vertices.solutions[positions[tuple(b)]] if tuple(b) in positions else unknown for b in bases]
    engine._keep(dataclasses.replace(vertices, bases=np.array(bases, dtype=np.int32), solutions=np.array(solutions)))
    return engine


@pytest.mark.parametrize("known_in_rationals", [False, True])
@pytest.mark.parametrize("missing", [slice(0, 1), slice(5, 6), slice(1, None), slice(0, -1), slice(2, None, 3)])
def test_vertices_that_are_missing(faulty, tmp_path, missing, known_in_rationals):
    if known_in_rationals:
        faulty(lambda number, basis, edges: None)
    engine = engine_of(FAULTY)
    bases = engine.vertices.bases.tolist()
    n_missing = len(bases[missing])
    del bases[missing]
    assert assert_corrected(with_bases(engine, bases), tmp_path / "complex", n_corrected=n_missing)


def test_a_walk_that_missed_an_edge_and_all_behind_it(faulty, tmp_path):
    """One vertex is never reached: every edge to it was taken for refuted, each time it was looked at."""
    whole = engine_of(FAULTY)
    bases = whole.vertices.bases.tolist()
    m = whole.reduced_training_set.n_rows
    lost = bases[7]
    n_wrong = []

    def change(number, basis, edges):
        for k, edge in enumerate(edges):
            if edge >= 0:
                only = [edge if i == k else -1 for i in range(len(edges))]
                if exact_walk.neighbours_along(basis, only, m) == [lost]:
                    n_wrong.append(tuple(basis))
                    edges[k] = -1
        return edges

    faulty(change)
    engine = with_bases(engine_of(FAULTY), [basis for basis in bases if basis != lost])
    assert assert_corrected(engine, tmp_path / "complex")
    assert n_wrong
    assert engine.proof.n_corrected == len(set(n_wrong)) + 1  # those edges, and the vertex


@pytest.mark.parametrize("position", [0, 1, 20])
def test_a_vertex_that_is_none(tmp_path, position):
    engine = engine_of(FAULTY)
    bases = engine.vertices.bases.tolist()
    items = engine.reduced_training_set.n_rows + FAULTY.n_features
    rng = random.Random(position)
    for _ in range(3):
        wrong = sorted(rng.sample(range(items), FAULTY.n_features + 1))
        assert wrong not in bases
        assert_corrected(
            with_bases(engine_of(FAULTY), [*bases[:position], wrong, *bases[position:]]), tmp_path / "complex"
        )


def test_writing_alone_corrects_a_vertex_that_is_none(tmp_path):
    engine = engine_of(FAULTY)
    bases = engine.vertices.bases.tolist()
    n_rows = engine.reduced_training_set.n_rows
    wrong = [0, *range(n_rows, n_rows + FAULTY.n_features)]  # no feature has weight
    proof = with_bases(engine, [wrong, *bases]).write_proof(tmp_path / "complex")
    assert wrong not in engine.vertices.bases.tolist()
    assert proof.n_vertices == len(engine.vertices.bases)
    assert check_complex(tmp_path / "complex").sha256 == proof.sha256


def test_a_right_walk_needs_no_correction(tmp_path):
    assert assert_corrected(engine_of(FAULTY), tmp_path / "complex", n_corrected=0)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_rows_that_were_left_aside_are_in_the_certificate(proved, n_features):
    rng = np.random.default_rng(n_features)
    rows = rng.normal(size=(360, n_features))
    rows[:, 0] += np.where(rows[:, 0] > 0, 0.5, -0.5)
    rows = rows[[*range(360), 0, 1, 2, 0]]
    training_set = TrainingSet(rows, np.where(rows[:, 0] > 0, 1, -1))
    engine = proved(training_set, left_out=3)
    assert len(engine.reduced_training_set) < 300
    content = Content(engine.proof.path.read_bytes())
    assert content.header["training"]["sha256"] == training_set.sha256
    assert content.header["training"]["left_out"] == 3
    assert len(content.rows) == 364
    assert engine.proof.checked.training.sha256 == training_set.sha256
    points = points_around(training_set, rng, 15)
    assert_all_agree(engine, points)
    assert engine.certify(points[:1]).certificate(0).content["training"]["sha256"] == training_set.sha256


def test_the_sizes_of_features_change_nothing_but_units(proved):
    """Features times powers of two: the same bases and verdicts, and units that make integers of all."""
    training_set = made_sets.integer_ties(2, 4)
    factors = np.array([0.25, 1, 2**-40, 2**30])
    scaled = TrainingSet(training_set.features * factors, training_set.signs)
    first, second = proved(training_set), proved(scaled)
    assert second.proof.checked.problem.units == [4, 1, 2**40, 1]
    assert math.prod(first.proof.checked.problem.units) == 1
    assert [r for r, _ in Content(first.proof.path.read_bytes()).records] == [
        r for r, _ in Content(second.proof.path.read_bytes()).records
    ]
    points = points_around(training_set, np.random.default_rng(5), 20)
    assert (first.certify(points).prove().code == second.certify(points * factors).prove().code).all()


def test_a_neutral_point_within_rounding_of_a_tie_has_a_certificate():
    """Factors from float multipliers make the classifier optimal to 1e-16, which is more than the point's value."""
    rows = [
        [0.99, 0.99, 0.66, 0.66, 0],
        [0.33, 0.99, 0.33, 0, 0.2],
        [0.99, 0.66, 0.66, 0.66, 0.2],
        [0.33, 0, 0.99, 0.99, 0],
        [0.99, 0, 0.99, 0.33, 0],
    ]
    verdicts = engine_of(TrainingSet(rows, [-1, -1, 1, -1, 1])).certify([[0.33, 0.66, 0.495, 0.66, 0]])
    assert verdicts.prove().status.tolist() == ["proved"]


def test_features_that_differ_by_hundreds_of_orders_of_magnitude():
    training_set = TrainingSet([[1e-140, 1e-140], [4e120, 5e-140]], [-1, 1])
    assert engine_of(training_set).certify([[2e120, 3e-140]]).prove().status.tolist() == ["proved"]


def test_a_point_without_a_certificate_does_not_stop_the_others(monkeypatch):
    engine = engine_of(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    verdicts = engine.certify([[-1, 4], [-1, 4.25]])
    assert verdicts.neutral.all()
    explain = engine.explain

    def only_the_second(point):
        if point[1] == 4:
            raise CertificateError("none to be found")
        return explain(point)

    monkeypatch.setattr(engine, "explain", only_the_second)
    assert verdicts.prove().status.tolist() == ["computed", "proved"]


def test_repeating_the_walk_in_rationals_has_a_limit(monkeypatch, tmp_path):
    def broken():
        engine = engine_of(FAULTY)
        n_rows = engine.reduced_training_set.n_rows
        wrong = [0, *range(n_rows, n_rows + FAULTY.n_features)]  # no feature has weight
        return with_bases(engine, [wrong, *engine.vertices.bases.tolist()])

    monkeypatch.setattr(proof_module, "_SECONDS_IN_RATIONALS", 0.0)
    engine = broken()
    with pytest.raises(CertificateError, match="repeating it in rationals took more than 0 s"):
        engine.write_proof(tmp_path / "complex")
    assert not (tmp_path / "complex").exists()
    assert engine.proof is None
    engine = broken()
    engine.budget = walk.Budget(vertices=1, seconds=100.0)  # the engine's own limits count too
    with pytest.raises(CertificateError, match="more than 1 vertices"):
        engine.write_proof(tmp_path / "complex")
