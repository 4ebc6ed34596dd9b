"""Complex certificates: true ones are accepted, and lies are refused with the reason.

A liar here is careful: counts and hashes are made anew, so that only the mathematics can tell. What a refutation must
satisfy is written once more (``is_refutation``), apart from the checker, and the vertices are compared with those of
``brute_force``, which shares no code with the package.
"""

import copy
import dataclasses
import functools
import hashlib
import importlib.util
import json
import math
import multiprocessing
import os
import pickle
import random
import signal
import sys
import tempfile
import types
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import brute_force
import made_sets
import numpy as np
import pytest

from rescaleinv import verify
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import training_object
from rescaleinv.engines.complex import proof as proof_module
from rescaleinv.engines.complex import walk
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.errors import CertificateError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, verdict_words
from rescaleinv.verify import Refused, check, check_complex

SHIPPED = ("breast_cancer_wisconsin", "pima_diabetes", "blood_transfusion", "fertility", "banknote")
ARITHMETICS = (False, True) if importlib.util.find_spec("flint") else (False,)  # python-flint is optional
# Small complexes with ties, with copies of rows, with fractions, with weights that change their sign.
SMALL = [("duplicated_rows", 6, 3), ("nearly_tied", 0, 3), ("integer_ties", 2, 4), ("big_offsets", 6, 3)]
EDGE = r"vertex \d+: the edge that (drops row \d+|gives feature \d+ a (positive|negative) weight): "


def engine_of(training_set, **options):
    return ComplexEngine(training_set, n_jobs=1, progress=False, **options)


def points_around(training_set, rng, count):
    """Points with the training rows' own values, so that ties happen, and points between and beyond them."""
    rows = training_set.features
    mixed = np.column_stack([rng.choice(column, count) for column in rows.T])
    return np.vstack([mixed, mixed + rng.integers(-2, 3, mixed.shape) * (np.ptp(rows, axis=0) / 4)])


def json_line(content):
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


class Content:
    """A complex certificate to be tampered with: its first line, and a record [basis, edges] a vertex."""

    def __init__(self, data: bytes):
        header, *lines = data.splitlines()
        self.header = json.loads(header)
        self.records = [json.loads(line) for line in lines]

    @property
    def n_rows(self):
        return len(self.header["tilt"])

    @functools.cached_property
    def rows(self):
        return [[Fraction(x) for x in row] for row in self.header["training"]["rows"]]

    @property
    def labels(self):
        return self.header["training"]["labels"]

    def copy(self):
        return Content(self.data())

    def with_counts(self):
        """Count the vertices and hash the rows anew."""
        self.header["vertices"] = len(self.records)
        lines = zip(self.labels, self.header["training"]["rows"], strict=True)
        text = "".join(f"{label}:{','.join(str(Fraction(x)) for x in row)}\n" for label, row in lines)
        self.header["training"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
        return self

    def data(self):
        return b"".join(map(json_line, (self.header, *self.records)))

    @functools.cached_property
    def lines(self):
        return self.data().splitlines(keepends=True)

    def with_edge(self, k, e, edge, *, alone=False):
        """The bytes with another edge at vertex k; ``alone`` if the checker need not get to the other vertices."""
        basis, edges = self.records[k]
        line = json_line([basis, [*edges[:e], edge, *edges[e + 1 :]]])
        if alone:
            return json_line({**self.header, "vertices": 1}) + line
        return b"".join([*self.lines[: k + 1], line, *self.lines[k + 2 :]])

    def drops(self, k):
        """What the edges of vertex k drop, and the sign that a dropped feature gets."""
        basis = self.records[k][0]
        tight = [(i, 1) for i in basis if i < self.n_rows]
        return tight + [(i, turn) for i in basis if i >= self.n_rows for turn in (1, -1)]

    def edges(self, real):
        """(vertex, edge) of all edges that lead to a vertex, or of all that are refuted."""
        return [
            (k, e)
            for k, (_, edges) in enumerate(self.records)
            for e, edge in enumerate(edges)
            if real == (isinstance(edge, int) and edge >= 0)
        ]

    def reached(self, k, e):
        """The basis that an edge leads to."""
        basis, edges = self.records[k]
        return sorted([*(item for item in basis if item != self.drops(k)[e][0]), edges[e]])

    def edge_place(self, k, e):
        """The tight rows of an edge and the signs of its weights, from the vertex in the perturbed problem."""
        basis = self.records[k][0]
        m, n = self.n_rows, len(self.rows[0])
        tight = [i for i in basis if i < m]
        support = [j for j in range(n) if m + j not in basis]
        matrix = [[self.labels[i] * x for x in (*(self.rows[i][j] for j in support), 1)] for i in tight]
        still = brute_force.gaussian_elimination(matrix, [1] * len(tight))
        moving = brute_force.gaussian_elimination(matrix, [self.header["tilt"][i] for i in tight])
        signs = [0] * n
        for j, value, rate in zip(support, still, moving, strict=False):
            signs[j] = 1 if (value or rate) > 0 else -1
        dropped, turn = self.drops(k)[e]
        if dropped >= m:
            signs[dropped - m] = turn
        return [i for i in tight if i != dropped], signs

    def is_refutation(self, k, e, vector):
        """Does (h, t) show that the edge holds no classifier? Once more, apart from the checker."""
        tight, signs = self.edge_place(k, e)
        *h, t = (Fraction(value) for value in vector)
        fits = all(value == 0 if sign == 0 else value * sign >= 0 for value, sign in zip(h, signs, strict=True))
        values = [self.labels[i] * (sum(map(Fraction.__mul__, h, self.rows[i])) + t) for i in tight]
        return any(h) and fits and all(value <= 0 for value in values)


@functools.cache
def data_of(maker, seed, n_features):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "complex"
        engine_of(made_sets.MAKERS[maker](seed, n_features)).prove(path)
        return path.read_bytes()


@functools.cache
def example():
    """A point with a strongly negative tie: (0, -1) is on the hyperplane of (1, 0), the limit of classifiers."""
    return TrainingSet([(1, 1), (-1, -1)], [1, -1])


@pytest.fixture
def checked(tmp_path):
    """Checks bytes, or a ``Content``, as a complex certificate."""

    def run(content, flint=False):
        path = tmp_path / "content"
        path.write_bytes(content if isinstance(content, bytes) else content.data())
        return check_complex(path, flint=flint)

    return run


@pytest.fixture
def proved(tmp_path):
    """An engine that was proved, the path of the certificate as ``engine.proof.path``."""

    def run(training_set, **options):
        engine = engine_of(training_set, **options)
        engine.prove(tmp_path / f"complex-{training_set.sha256[:8]}")
        return engine

    return run


@pytest.fixture(params=SMALL, ids=[name for name, *_ in SMALL])
def content(request):
    """A small complex certificate that is true."""
    return Content(data_of(*request.param))


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


# ---- what is true is accepted


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


def small_sets(key, count):
    rng = np.random.default_rng(key)
    while count:
        n, m = rng.integers(1, 4), rng.integers(2, 7)
        rows = rng.integers(-2, 3, (m, n)).astype(float)
        labels = np.where(rows @ rng.normal(size=n) + rng.normal() * 0.3 > 0, 1, -1)
        if len(set(labels.tolist())) == 2:
            count -= 1
            yield TrainingSet(rows / rng.choice([1, 2, 8], n), labels), rng


def decision_values(found, point):
    """The decision values at the solutions of a checked complex, in original units."""
    for *weights, intercept, denominator in found.solutions:
        terms = (Fraction(w * unit) * x for w, unit, x in zip(weights, found.problem.units, point, strict=True))
        yield (sum(terms) + intercept) / denominator


def test_the_solutions_have_the_range_of_all_classifiers(proved):
    for training_set, rng in small_sets(1, 60):
        found = proved(training_set).proof.checked
        n = training_set.n_features
        unit_vectors = [[int(j == k) * sign for j in range(n)] for k in range(n) for sign in (1, -1)]
        for point in [*rng.integers(-6, 7, (8, n)).tolist(), *unit_vectors, [0] * n]:
            exact_point = [Fraction(x, 2) for x in point]
            values = list(decision_values(found, exact_point))
            assert (min(values), max(values)) == brute_force.exact_range(training_set, exact_point)


def test_two_processes_see_the_same(proved, tmp_path, capsys):
    engine = proved(made_sets.integer_ties(0, 6))
    assert engine.proof.n_vertices > 128  # several blocks of lines
    path = engine.proof.path
    assert verify.main([str(path), "--jobs", "2", "--no-flint"]) == 0
    assert f"({engine.proof.n_vertices} vertices)" in capsys.readouterr().out
    content = Content(path.read_bytes())
    content.records[100][1][0] = None
    lie = tmp_path / "lie"
    lie.write_bytes(content.data())
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        again = check_complex(path, parallel=pool.imap)
        assert (again.solutions, again.sha256) == (engine.proof.checked.solutions, engine.proof.sha256)
        with pytest.raises(Refused, match=r"^vertex 100: the edge that .* neither a vertex nor a refutation") as caught:
            check_complex(lie, parallel=pool.imap)
    assert caught.value.vertices == [100]


def test_a_refutation_may_be_written_out(checked, content):
    """The same certificate with the vectors in place of their places, from the rational steps."""
    expected = checked(content)
    again = with_vectors(content)
    assert any(isinstance(edge, list) for _, edges in again.records for edge in edges)
    for flint in ARITHMETICS:
        found = checked(again, flint)
        assert (found.n_vertices, found.solutions) == (expected.n_vertices, expected.solutions)
        assert found.sha256 != expected.sha256


def with_vectors(content):
    again = content.copy()
    training_set = TrainingSet([[float(x) for x in row] for row in content.rows], content.labels)
    tilt = np.array(content.header["tilt"])
    # rows that are copies of others are tight with them in the rational steps, too: these take the certificate's tilt
    for basis, edges in again.records:
        exact = walk.expand_exactly(training_set, tilt, basis)[0]
        edges[:] = [edge if isinstance(edge, int) else [str(x) for x in edge] for edge in exact]
    return again


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


# ---- points


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


def test_a_strong_claim_is_refused_for_every_point_that_is_not(proved):
    """All claims but the true one, for points of all kinds; the ties that a tied point would need do not help."""
    for training_set, rng in small_sets(4, 25):
        engine = proved(training_set)
        n = training_set.n_features
        points = np.vstack([rng.integers(-4, 5, (10, n)) / 2, training_set.features])
        ties = [[str(x) for x in vector] for vector in product((-1, 0, 1), repeat=n + 1)]
        for point in points:
            truth = verdict_words(brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()]))
            certificate = engine.certificate(point, Verdict.STRONGLY_POSITIVE)
            certificate.content["evidence"]["ties"] = ties
            for claim in {"strongly positive", "strongly negative", "neutral", "unknown", "", None} - {truth}:
                certificate.content["claim"] = claim
                strong = str(claim).startswith("strongly")
                match = "is not strongly|may belong to a rescaling" if strong else "a complex does not prove"
                with pytest.raises(Refused, match=match):
                    check(certificate.to_json(), complexes=engine.complexes)


def test_a_neutral_claim_needs_two_rescalings(proved):
    engine = proved(made_sets.gaussian(1, 3))
    points = points_around(engine.training_set, np.random.default_rng(0), 60)
    verdicts = engine.certify(points)
    i = int(np.flatnonzero(verdicts.neutral)[0])
    assert verdicts.lower[i] < 0 < verdicts.upper[i]
    certificate = engine.certificate(points[i], Verdict.STRONGLY_NEGATIVE)
    for claim, match in {
        "strongly negative": "not strongly negative: a vertex has a positive decision value",
        "strongly positive": "not strongly positive: a vertex has a negative decision value",
        "neutral": "a complex does not prove 'neutral'",
    }.items():
        certificate.content["claim"] = claim
        with pytest.raises(Refused, match=match):
            check(certificate.to_json(), complexes=engine.complexes)


def test_evidence_that_refers_to_another_complex_is_refused(proved):
    engine = proved(made_sets.integer_ties(2, 3))
    other = proved(made_sets.integer_ties(5, 3))
    both = [*engine.complexes, *other.complexes]
    point = engine.training_set.features[engine.training_set.signs > 0][0]
    content = engine.certify([point]).certificate(0).content
    assert check(Certificate(content).to_json(), complexes=both) == "strongly positive"

    def refused(match, complexes=both, with_rows=True, **changes):
        lie = copy.deepcopy(content)
        lie["evidence"].update(changes.pop("evidence", {}))
        lie.update(changes)
        with pytest.raises(Refused, match=match):
            check(Certificate(lie).to_json(with_rows=with_rows), complexes=complexes)

    refused("is of other training rows", evidence={"sha256": other.proof.sha256})
    refused("is of other training rows", evidence={"sha256": other.proof.sha256}, with_rows=False)
    other_rows = copy.deepcopy(content["training"])
    other_rows["rows"] = [[str(Fraction(x)) for x in row] for row in other.training_set.features.tolist()]
    other_rows.update(labels=other.training_set.signs.tolist(), sha256=other.training_set.sha256)
    refused("is of other training rows", training=other_rows)
    refused("was not given", evidence={"sha256": "0" * 64})
    refused("was not given", evidence={"sha256": engine.training_set.sha256})
    refused("was not given", evidence={"sha256": engine.proof.sha256.upper()})
    refused("was not given", complexes=())
    refused("was not given", complexes=other.complexes)
    refused("the rows are not in the certificate and were not given", complexes=(), with_rows=False)
    refused("is not that of the rows that were given", complexes=other.complexes, with_rows=False)
    refused("a SHA-256 and a list of ties", evidence={"sha256": 5})
    refused("a SHA-256 and a list of ties", evidence={"sha256": None})
    refused("a SHA-256 and a list of ties", evidence={"ties": {}})
    refused("a SHA-256 and a list of ties", evidence={"ties": None})
    refused("'note' that is not known", evidence={"note": ""})
    refused("point: 3 numbers are needed", point=content["point"][:2])
    lie = copy.deepcopy(content)
    del lie["evidence"]["ties"]
    with pytest.raises(Refused, match="evidence has no field 'ties'"):
        check(Certificate(lie).to_json(), complexes=both)


# ---- statuses


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


def test_verdicts_that_their_certificates_do_not_prove_are_an_error(proved, tmp_path):
    engine = proved(made_sets.gaussian(1, 3))
    verdicts = engine.certify(points_around(engine.training_set, np.random.default_rng(0), 20))
    (tmp_path / "points").write_text("before")
    for turned in (verdicts.code * -1, np.where(verdicts.neutral, 1, verdicts.code).astype(np.int8)):
        wrong = dataclasses.replace(verdicts, code=turned)
        with pytest.raises(CertificateError, match=r"the certificate of point \d+ was refused"):
            wrong.prove(tmp_path / "points")
    assert (tmp_path / "points").read_text() == "before"


# ---- lies about the complex


def test_a_vertex_left_out_with_its_edges_led_elsewhere(checked, content):
    items = content.n_rows + len(content.rows[0])
    training_set = TrainingSet([[float(x) for x in row] for row in content.rows], content.labels)
    for left_out in range(len(content.records)):
        gone = content.records[left_out][0]
        for item in range(items):
            lie = content.copy()
            for k, e in content.edges(real=True):
                basis, edges = lie.records[k]
                if content.reached(k, e) == gone and item not in basis and item != edges[e]:
                    edges[e] = item
            del lie.records[left_out]
            if left_out == 0:
                tight = [i for i in lie.records[0][0] if i < content.n_rows]
                found = walk.exact_multipliers(training_set, np.array(content.header["tilt"]), lie.records[0][0])
                lie.header["multipliers"] = [str(found.get(i, 0)) for i in tight]
            match = EDGE + "the vertex that it leads to (is not listed|has other signs)"
            with pytest.raises(Refused, match=match) as caught:
                checked(lie.with_counts())
            assert len(caught.value.vertices) == 1


def test_an_edge_that_is_real_is_never_refuted_by_any_places(checked, content):
    match = "^" + EDGE.replace(r"\d+", "0", 1) + "its refutation (is|has)"
    for k, e in content.edges(real=True):
        n_tight = sum(item < content.n_rows for item in content.records[k][0])
        n_masks = 1 << (2 * n_tight - 1)
        for mask in range(0, n_masks, 1 if n_masks <= 128 else 13):
            with pytest.raises(Refused, match=match):
                checked(content.with_edge(k, e, -1 - mask, alone=True))


def test_a_real_edge_declared_refuted_in_the_whole_list(checked, content):
    rng = random.Random(1)
    masks = [content.records[k][1][e] for k, e in content.edges(real=False)]
    for k, e in content.edges(real=True):
        for edge in [*rng.sample(masks, 3), -1 - rng.randrange(1 << 9)]:
            with pytest.raises(Refused, match=rf"^vertex {k}: the edge that .*: its refutation") as caught:
                checked(content.with_edge(k, e, edge))
            assert caught.value.vertices == [k]


def test_a_real_edge_is_refuted_by_no_vector(checked, content):
    """No small vector, no vector of another edge, none that points along the edge."""
    rng = random.Random(2)
    n = len(content.rows[0])
    written_out = with_vectors(content)
    vectors = [edge for _, edges in written_out.records for edge in edges if isinstance(edge, list)]
    for k, e in content.edges(real=True):
        for vector in [*rng.sample(vectors, 6), *([str(rng.randint(-3, 3)) for _ in range(n + 1)] for _ in range(3))]:
            assert not content.is_refutation(k, e, vector)
            match = rf"^vertex {k}: the edge that .*: its refutation (is zero|has the wrong sign|is positive at row)"
            with pytest.raises(Refused, match=match):
                checked(content.with_edge(k, e, vector))


def test_a_vector_with_one_entry_changed(checked, content):
    """Refused exactly if it is no refutation any more."""
    written_out = with_vectors(content)
    seen = {True: 0, False: 0}
    blamed = "^" + EDGE + "its refutation (is zero|has the wrong sign at feature|is positive at row)"
    for k, e in written_out.edges(real=False):
        vector = written_out.records[k][1][e]
        for place, value in enumerate(vector):
            exact = Fraction(value)
            for changed in (exact + 1, exact - 1, -exact, 2 * exact, exact + Fraction(1, 10**9), exact - 10**9):
                other = [*vector[:place], str(changed), *vector[place + 1 :]]
                valid = written_out.is_refutation(k, e, other)
                seen[valid] += 1
                if valid and seen[True] % 8 == 0:
                    checked(written_out.with_edge(k, e, other))
                elif not valid:
                    with pytest.raises(Refused, match=blamed):
                        checked(written_out.with_edge(k, e, other, alone=True))
    assert min(seen.values()) > 10


def test_edges_that_lead_across_a_sign_or_to_the_wrong_side(checked, content):
    """A vertex at which a weight passes zero is left aside; an edge leads to the vertex of the opposite edge."""
    numbers = {tuple(basis): k for k, (basis, _) in enumerate(content.records)}
    real = set(content.edges(real=True))
    n_across = n_wrong_side = 0
    for k, (_, edges) in enumerate(content.records):
        drops = content.drops(k)
        for e, f in pairwise(range(len(drops))):
            if drops[e][0] != drops[f][0]:
                continue
            for here, there in ((e, f), (f, e)):
                if (k, here) not in real:
                    continue
                lie = content.copy()
                lie.records[k][1][there] = edges[here]
                n_wrong_side += 1
                with pytest.raises(Refused, match=rf"^vertex {k}: the edge that gives .* has other signs") as caught:
                    checked(lie)
                assert caught.value.vertices == [k]
                if (k, there) not in real:
                    continue
                start = numbers[tuple(content.reached(k, here))]
                back = next(b for a, b in real if a == start and content.reached(a, b) == content.records[k][0])
                lie = content.copy()
                lie.records[start][1][back] = edges[there]
                n_across += 1
                with pytest.raises(Refused, match=rf"^vertex {start}: the edge that .* has other signs"):
                    checked(lie)
    assert n_wrong_side
    assert n_across


def test_damaged_edges(checked, content):
    m, n = content.n_rows, len(content.rows[0])
    k, e = content.edges(real=False)[0]
    basis, edges = content.records[k]
    n_bits = 2 * sum(item < m for item in basis) - 1
    zero = ["0"] * (n + 1)
    for edge, match in [
        (basis[0], "it leads to no vertex"),
        (basis[-1], "it leads to no vertex"),
        (m + n, "it leads to no vertex"),
        (10**30, "it leads to no vertex"),
        (edges[e] - (1 << n_bits), "its refutation has bits that mean nothing"),
        (-(10**30), "its refutation has bits that mean nothing"),
        (-1, "its refutation is not determined by its bits"),
        (zero, "its refutation is zero"),
        ([*zero[:-1], "-1"], "its refutation is zero"),
        (zero[:-1], f"its refutation: {n + 1} numbers are needed"),
        ([*zero, "0"], f"its refutation: {n + 1} numbers are needed"),
        ([], f"its refutation: {n + 1} numbers are needed"),
        ([zero], f"its refutation: {n + 1} numbers are needed"),
        ([1] * (n + 1), "is not an exact number"),
        (["1e3"] * (n + 1), "is not an exact number"),
        (["1/0"] * (n + 1), "a denominator of zero"),
        ([zero] * (n + 1), "is not an exact number"),
        (None, "neither a vertex nor a refutation"),
        (True, "neither a vertex nor a refutation"),
        (False, "neither a vertex nor a refutation"),
        (0.0, "neither a vertex nor a refutation"),
        (-1.0, "neither a vertex nor a refutation"),
        ("0", "neither a vertex nor a refutation"),
        ({}, "neither a vertex nor a refutation"),
    ]:
        lie = content.copy()
        lie.records[k][1][e] = edge
        with pytest.raises(Refused, match=rf"^vertex {k}: the edge that .*: .*{match}") as caught:
            checked(lie)
        assert caught.value.vertices == [k]


def test_damaged_bases_and_lists(checked, content):
    m, n = content.n_rows, len(content.rows[0])
    basis, edges = content.records[1]
    outside = next(i for i in range(m + n) if i not in basis)
    for record, match in [
        ([basis[:-1], edges], f"a basis of {n + 1} rows and features is needed"),
        ([[*basis, outside], edges], f"a basis of {n + 1} rows and features is needed"),
        ([basis[0], edges], f"a basis of {n + 1} rows and features is needed"),
        ([[basis[1], basis[0], *basis[2:]], edges], "the basis is not in ascending order"),
        ([[basis[0], basis[0], *basis[2:]], edges], "the basis is not in ascending order"),
        ([[*basis[:-1], m + n], edges], "an item of the basis is unknown"),
        ([[-1, *basis[1:]], edges], "an item of the basis is unknown"),
        ([[*map(float, basis)], edges], "an item of the basis is unknown"),
        ([[*map(str, basis)], edges], "an item of the basis is unknown"),
        ([[False, *range(2, n + 2)], edges], "an item of the basis is unknown"),
        ([[*basis[:-1], 10**40], edges], "an item of the basis is unknown"),
        ([[*basis[:-1], [basis[-1]]], edges], "an item of the basis is unknown"),
        ([basis, edges[:-1]], f"{len(edges)} edges are needed"),
        ([basis, [*edges, -1]], f"{len(edges)} edges are needed"),
        ([basis, {}], f"{len(edges)} edges are needed"),
        ([basis, "0" * len(edges)], f"{len(edges)} edges are needed"),
        ([basis], "a basis and its edges are needed"),
        ([basis, edges, []], "a basis and its edges are needed"),
        ({"basis": basis, "edges": edges}, "a basis and its edges are needed"),
        (None, "a basis and its edges are needed"),
    ]:
        lie = content.copy()
        lie.records[1] = record
        with pytest.raises(Refused, match=f"^vertex 1: {match}") as caught:
            checked(lie)
        assert caught.value.vertices == [1]


def test_lines_that_are_no_records(checked, content):
    first, *lines = content.data().splitlines(keepends=True)
    one = lines[1]
    for line, match in [
        (b"\n", "not a JSON text"),
        (one[:-2] + b"\n", "not a JSON text"),
        (one[:-1] + b" []\n", "not a JSON text"),
        (one.replace(b"[", b"[\xc3\xa9", 1), "not a JSON text"),
        (one.replace(b"[", b"[\xff", 1), "not a JSON text"),
        (one.replace(b"[[", b"[[NaN,", 1), "NaN is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000 + b"\n", "not a JSON text"),
        (one.replace(b"[[", b"[[" + b"9" * 5000 + b",", 1), "not a JSON text"),
        (b'["' + "é".encode() * 3 + b'",[]]\n', "a basis of"),
    ]:
        with pytest.raises(Refused, match=f"^vertex 1: .*{match}"):
            checked(b"".join([first, lines[0], line, *lines[2:]]))
    with pytest.raises(Refused, match=r"^vertex 1 is listed twice"):
        checked(b"".join([first, lines[0], lines[0], *lines[2:]]))
    with pytest.raises(Refused, match=f"^more vertices are listed than the {len(lines)} of the first line"):
        checked(b"".join([first, *lines, lines[0]]))
    for extra in (b"\n", b"[]\n", b" ", b"\x00"):
        with pytest.raises(Refused, match=f"^more vertices are listed than the {len(lines)} of the first line"):
            checked(b"".join([first, *lines, extra]))
    twice = content.copy()
    twice.records.append(twice.records[0])
    with pytest.raises(Refused, match=f"^vertex {len(lines)} is listed twice"):
        checked(twice.with_counts())


def test_every_other_basis_is_no_vertex(checked, content):
    """One item exchanged for another one: singular, or a row or a weight is wrong; or it is another vertex of the list."""
    m, n = content.n_rows, len(content.rows[0])
    listed = {tuple(basis) for basis, _ in content.records}
    seen = set()
    for k, (basis, _) in list(enumerate(content.records))[::3]:
        for dropped, item in product(basis, range(m + n)):
            other = sorted([*(i for i in basis if i != dropped), item])
            if item in basis or tuple(other) in listed:
                continue
            lie = content.copy()
            lie.records[k][0] = other
            # a basis that is a vertex of C(X), but not of the closure, is refused for what its edges come to
            with pytest.raises(Refused, match=r"^vertex \d+: ") as caught:
                checked(lie)
            seen.add(str(caught.value).split(": ")[1].split()[-1])
    assert {"violated", "singular"} <= seen


def test_a_perturbation_must_be_positive_integers(checked):
    content = Content(data_of("integer_ties", 2, 4))
    m = content.n_rows
    for value in (0, -1, -(2**20), 1.0, 1.5, True, False, None, "1", [1]):
        for i in (0, m - 1):
            lie = content.copy()
            lie.header["tilt"][i] = value
            with pytest.raises(Refused, match=f"^tilt: the perturbation of row {i} is not a positive integer"):
                checked(lie)
    for tilt in ([0] * m, [-value for value in content.header["tilt"]]):
        lie = content.copy()
        lie.header["tilt"] = tilt
        with pytest.raises(Refused, match=r"^tilt: the perturbation of row 0 is not a positive integer"):
            checked(lie)
    for tilt in (None, 5, [], content.header["tilt"][1:], [*content.header["tilt"], 1], {}):
        lie = content.copy()
        lie.header["tilt"] = tilt
        with pytest.raises(Refused, match=r"^tilt: one number per row is needed"):
            checked(lie)


def test_equal_perturbations_of_degenerate_data_leave_ties(checked):
    """They only make the margins larger: a row that was tight by chance still is, and a weight that was 0 is too."""
    seen = set()
    for maker, seed, n_features in [*SMALL, ("binary", 0, 6), ("integer_ties", 0, 5), ("proportional_features", 0, 4)]:
        content = Content(data_of(maker, seed, n_features))
        for k in range(len(content.records)):
            lie = content.copy()
            lie.header["tilt"] = [7] * content.n_rows
            lie.records.insert(0, lie.records.pop(k))
            try:
                checked(lie)
            except Refused as error:
                seen.add(str(error).split(": ")[1].lstrip("rowfeatu 0123456789"))
    assert {"is tight, and not in the basis", "has no weight, and is not in the basis"} <= seen


def test_a_copy_of_a_row_must_be_perturbed_less(checked):
    content = Content(data_of("duplicated_rows", 6, 3))
    m = content.n_rows
    tight = {i for basis, _ in content.records for i in basis if i < m}
    copies = [(i, j) for i in tight for j in range(m) if i != j and content.rows[i] == content.rows[j]]
    assert copies
    for i, j in copies:
        for more in (0, 1):
            lie = content.copy()
            lie.header["tilt"][j] = lie.header["tilt"][i] + more
            with pytest.raises(Refused, match=rf"^vertex \d+: row {j} is {'violated' if more else 'tight, and not'}"):
                checked(lie)


def test_bases_of_another_training_set(checked, content):
    rows = content.header["training"]["rows"]
    used = sorted({i for basis, _ in content.records for i in basis if i < content.n_rows})
    for i, j in pairwise(used):
        if rows[i] == rows[j]:
            continue
        lie = content.copy()
        lie.header["training"]["rows"][i], lie.header["training"]["rows"][j] = rows[j], rows[i]
        with pytest.raises(Refused, match=r"^training\.sha256 is not that of the rows"):
            checked(lie)
        with pytest.raises(Refused, match=r"^vertex \d+"):
            checked(lie.with_counts())
    for i in used:
        lie = content.copy()
        lie.header["training"]["rows"][i][0] = str(Fraction(rows[i][0]) + Fraction(1, 10**6))
        with pytest.raises(Refused, match=r"^training\.sha256 is not that of the rows"):
            checked(lie)
    lie = content.copy()
    lie.header["training"]["labels"] = [-label for label in content.labels]
    with pytest.raises(Refused, match=r"^vertex \d+"):
        checked(lie.with_counts())


def test_no_row_is_overlooked(checked, content):
    """Each row in turn is moved among the other class, or onto a tight row of its own."""
    tight = [i for i in content.records[0][0] if i < content.n_rows]
    for q in set(range(content.n_rows)).difference(tight):
        for i in tight:
            lie = content.copy()
            lie.header["training"]["rows"][q] = content.header["training"]["rows"][i]
            same = content.labels[q] == content.labels[i]
            lie.header["tilt"][q] = lie.header["tilt"][i]
            fault = "tight, and not in the basis" if same else "violated"
            with pytest.raises(Refused, match=f"^vertex 0: row {q} is {fault}"):
                checked(lie.with_counts())


def test_wrong_multipliers(checked, content):
    right = [Fraction(value) for value in content.header["multipliers"]]
    tight = [i for i in content.records[0][0] if i < content.n_rows]
    labels = [content.labels[i] for i in tight]

    def refused(multipliers, match):
        lie = content.copy()
        lie.header["multipliers"] = multipliers
        with pytest.raises(Refused, match=match):
            checked(lie)

    for k, row in enumerate(tight):
        for change in (Fraction(1, 10**9), Fraction(10)):
            unbalanced = [value + change * (i == k) for i, value in enumerate(right)]
            refused([str(x) for x in unbalanced], "^vertex 0: the multipliers of the two classes do not balance")
        partner = labels.index(-labels[k])
        negative = [value - (right[k] + 1) * (i in (k, partner)) for i, value in enumerate(right)]
        first = min(i for i, value in zip(tight, negative, strict=True) if value < 0)
        refused([str(x) for x in negative], f"^vertex 0: the multiplier of row {first} is negative")
        assert first == row or row == tight[k]
    refused(["0"] * len(tight), r"^vertex 0: the gradient of feature \d+ has the wrong sign")
    tiny = Fraction(1, 10**30)
    small_negative = [value or -tiny for value in right]
    if small_negative != right:
        refused([str(x) for x in small_negative], r"^vertex 0: the multiplier of row \d+ is negative")
    for texts in (content.header["multipliers"][1:], [*content.header["multipliers"], "0"], [], None, {}, "1"):
        refused(texts, f"^multipliers: {len(tight)} numbers are needed")
    for text in (1, 1.0, None, "1.0", "inf", "1/0", [], "٣"):
        refused([text, *content.header["multipliers"][1:]], r"^multipliers\[0\]")
    scaled = content.copy()
    scaled.header["multipliers"] = [str(3 * value / 7) for value in right]
    checked(scaled)


def test_multipliers_of_the_wrong_sign(checked):
    """Balanced, not negative, and yet of no use at the first vertex: found where a vertex of another sign comes first."""
    seen = 0
    for maker, seed, n_features in SMALL:
        content = Content(data_of(maker, seed, n_features))
        labels = content.labels
        for k, (basis, _) in enumerate(content.records):
            tight = [i for i in basis if i < content.n_rows]
            for i, j in product(tight, repeat=2):
                if labels[i] <= labels[j]:
                    continue
                lie = content.copy()
                lie.records.insert(0, lie.records.pop(k))
                lie.header["multipliers"] = [str(int(row in (i, j))) for row in tight]
                signs = content.edge_place(k, 0)[1]
                if content.drops(k)[0][0] >= content.n_rows:
                    continue
                gradient = [a - b for a, b in zip(content.rows[i], content.rows[j], strict=True)]
                if all(g * s > 0 for g, s in zip(gradient, signs, strict=True) if s):
                    checked(lie)
                    continue
                seen += 1
                with pytest.raises(Refused, match=r"^vertex 0: the gradient of feature \d+ has the wrong sign"):
                    checked(lie)
    assert seen > 10


def test_damaged_first_lines(checked, content):
    def refused(match, **changes):
        lie = content.copy()
        lie.header.update(changes)
        with pytest.raises(Refused, match=match):
            checked(lie)

    n = len(content.records)
    refused("field 'note' that is not known", note="")
    refused("^schema: 'rescaleinv-complex/2' is not", schema="rescaleinv-complex/2")
    refused("^schema: 'rescaleinv-certificate/1' is not", schema="rescaleinv-certificate/1")
    refused("^schema: None is not", schema=None)
    refused("^versions is not a JSON object", versions=[])
    refused(f"^{n} vertices are listed, not the {n + 1}", vertices=n + 1)
    refused(f"^more vertices are listed than the {n - 1}", vertices=n - 1)
    for count in (0, -1, True, float(n), str(n), None, [n]):
        refused("^vertices is not a number of vertices", vertices=count)
    refused("^training is not a JSON object", training=content.header["training"]["rows"])
    for name in content.header:
        lie = content.copy()
        del lie.header[name]
        with pytest.raises(Refused, match=f"^the complex certificate has no field '{name}'"):
            checked(lie)
    text = content.data()
    for damaged, match in [
        (b"[]\n" + text, "^the complex certificate is not a JSON object"),
        (b"\n" + text, "^the complex certificate's first line is not a JSON text"),
        (b"\xef\xbb\xbf" + text, "^the complex certificate's first line is not a JSON text"),
        (text.replace(b'"tilt":[', b'"tilt":[' + b"[" * 100_000, 1), "first line is not a JSON text"),
        (text.replace(b'"tilt":[', b'"tilt":[' + b"1" * 5000, 1), "first line is not a JSON text"),
        (text.replace(b'"tilt":[', b'"tilt":[NaN,', 1), "^NaN is not JSON"),
        (text.replace(b'"tilt":', b'"vertices":7,"tilt":', 1), "^a JSON object has a field twice"),
        (text.replace(b'"schema"', '"sché"'.encode(), 1), "has no field 'schema'"),
        (text.replace(b'"schema"', b'"sch\xff"', 1), "has no field 'schema'"),
    ]:
        with pytest.raises(Refused, match=match):
            checked(damaged)
    # a complex of no vertices at all
    lie = content.copy()
    lie.records = []
    with pytest.raises(Refused, match=r"^vertices is not a number of vertices"):
        checked(lie.with_counts())


def test_numbers_of_thousands_of_digits(checked):
    """They are read in hexadecimal; what is too large for that must be refused, and not end in another error."""
    content = Content(data_of("integer_ties", 2, 4))
    large = content.copy()
    large.header["multipliers"] = [
        f"{int(Fraction(value).numerator * 16**5000):#x}/{Fraction(value).denominator}"
        for value in large.header["multipliers"]
    ]
    checked(large)
    lie = content.copy()
    lie.header["training"]["rows"][0][0] = "0x" + "f" * 5000
    with pytest.raises(Refused):
        checked(lie)


@pytest.mark.parametrize("training_set", [example(), made_sets.integer_ties(5, 3)], ids=["one vertex", "three"])
def test_truncation_at_any_byte(proved, checked, tmp_path, capsys, training_set):
    data = proved(training_set).proof.path.read_bytes()
    checked(data)
    path = tmp_path / "cut"
    for length in range(len(data)):
        part = data[:length]
        whole_lines = part.endswith(b"\n")
        match = r"^vertex \d+: its line is cut off" if b"\n" in part else "cut off in its first line"
        with pytest.raises(Refused, match=r"^\d+ vertices are listed, not the" if whole_lines else match):
            checked(part)
        path.write_bytes(data[:length])
        assert verify.main([str(path)]) in (1, 2)
    capsys.readouterr()
    path.write_bytes(data)
    assert verify.main([str(path)]) == 0


@pytest.mark.parametrize("flint", ARITHMETICS)
def test_whatever_is_accepted_is_true(checked, flint):
    """Certificates changed at random in several places: any that is accepted still has the range of all classifiers."""
    rng = random.Random(3)
    n_accepted = n_changed = 0
    for training_set, numbers in small_sets(5, 10):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "complex"
            engine_of(training_set).prove(path)
            content = Content(path.read_bytes())
        n = training_set.n_features
        points = [[Fraction(x) for x in point] for point in numbers.integers(-4, 5, (6, n)).tolist()]
        ranges = [brute_force.exact_range(training_set, point) for point in points]
        items = content.n_rows + n
        for _ in range(60):
            lie = content.copy()
            for _ in range(rng.randint(1, 3)):
                basis, edges = rng.choice(lie.records)
                kind = rng.randrange(6)
                if kind == 0:
                    edges[rng.randrange(len(edges))] = rng.randrange(items)
                elif kind == 1:
                    edges[rng.randrange(len(edges))] = -1 - rng.randrange(1 << 2 * n + 1)
                elif kind == 2:
                    edges[rng.randrange(len(edges))] = [str(rng.randint(-2, 2)) for _ in range(n + 1)]
                elif kind == 3:
                    basis[:] = sorted(rng.sample(range(items), n + 1))
                elif kind == 4:
                    lie.header["tilt"][rng.randrange(content.n_rows)] = rng.randint(1, 2**21)
                elif len(lie.records) > 1:
                    del lie.records[rng.randrange(len(lie.records))]
            try:
                found = checked(lie.with_counts(), flint)
            except Refused:
                continue
            n_accepted += 1
            n_changed += lie.records != content.records
            for point, (low, high) in zip(points, ranges, strict=True):
                values = list(decision_values(found, point))
                assert min(values) == low
                assert max(values) == high
    assert n_accepted > 10
    assert n_changed > 0


# ---- the walk is corrected


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
    places = {tuple(basis): k for k, basis in enumerate(vertices.bases.tolist())}
    unknown = np.zeros(vertices.solutions.shape[1])
    solutions = [vertices.solutions[places[tuple(b)]] if tuple(b) in places else unknown for b in bases]
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
                if walk.neighbours_along(basis, only, m) == [lost]:
                    n_wrong.append(tuple(basis))
                    edges[k] = -1
        return edges

    faulty(change)
    engine = with_bases(engine_of(FAULTY), [basis for basis in bases if basis != lost])
    assert assert_corrected(engine, tmp_path / "complex")
    assert n_wrong
    assert engine.proof.n_corrected == len(set(n_wrong)) + 1  # those edges, and the vertex


@pytest.mark.parametrize("place", [0, 1, 20])
def test_a_vertex_that_is_none(tmp_path, place):
    engine = engine_of(FAULTY)
    bases = engine.vertices.bases.tolist()
    items = engine.reduced_training_set.n_rows + FAULTY.n_features
    rng = random.Random(place)
    for _ in range(3):
        wrong = sorted(rng.sample(range(items), FAULTY.n_features + 1))
        assert wrong not in bases
        assert_corrected(with_bases(engine_of(FAULTY), [*bases[:place], wrong, *bases[place:]]), tmp_path / "complex")


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


def test_a_file_that_somebody_else_changes_is_not_believed(monkeypatch, tmp_path):
    other = data_of("integer_ties", 2, 4)

    def swapped(path, **options):
        Path(path).write_bytes(other)
        return check_complex(path, **options)

    monkeypatch.setattr(proof_module.verify, "check_complex", swapped)
    engine = engine_of(FAULTY)
    with pytest.raises(CertificateError, match="was changed by somebody else"):
        engine.prove(tmp_path / "complex")
    assert engine.proof is None


# ---- engines


def test_an_incomplete_enumeration_proves_nothing(tmp_path):
    engine = engine_of(made_sets.drawn_from("breast_cancer_wisconsin", 1, 20)[0], max_vertices=50)
    assert not engine.complete
    for write in (engine.prove, engine.write_proof):
        with pytest.raises(CertificateError, match="nothing is proved: the enumeration of vertices stopped"):
            write(tmp_path / "complex")
    assert not (tmp_path / "complex").exists()
    assert engine.complexes == []


def test_an_engine_with_a_proof_can_be_pickled(proved):
    engine = proved(made_sets.integer_ties(2, 4))
    points = points_around(engine.training_set, np.random.default_rng(1), 10)
    again = pickle.loads(pickle.dumps(engine))
    assert again.proof == engine.proof or again.proof.sha256 == engine.proof.sha256
    assert again.complexes[0].solutions == engine.complexes[0].solutions
    verdicts = again.certify(points).prove()
    assert set(verdicts.status) == {"proved"}
    assert (verdicts.code == engine.certify(points).code).all()


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


# --- what a reviewer found --------------------------------------------------------------------------------------------


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


@pytest.fixture
def two_files(tmp_path):
    """A complex certificate with certificates of points, and the training rows of another one."""
    engine = engine_of(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    engine.prove(tmp_path / "complex")
    verdicts = engine.certify([[-1, 4], [4, 4], [0, 0]])
    verdicts.prove(tmp_path / "points")
    rows = verdicts.certificate(0).training_json()
    (tmp_path / "rows").write_text(rows)
    other = TrainingSet([[-1, 5], [5, -1], [1, 1]], [1, 1, -1])
    (tmp_path / "other rows").write_text(json.dumps(training_object(other, 0)))
    return tmp_path


def test_rows_that_are_given_must_be_those_of_the_complex(two_files, capsys):
    files = [str(two_files / "complex"), str(two_files / "points")]
    assert verify.main([*files, "--training", str(two_files / "rows")]) == 0
    assert verify.main([files[0], "--training", str(two_files / "other rows")]) == 1
    assert "training.sha256 is not that of the rows that were given" in capsys.readouterr().out


def test_a_complex_is_read_from_a_file_only(two_files, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", (two_files / "complex").open())
    assert verify.main(["-"]) == 2
    assert "is read from a file" in capsys.readouterr().err


def test_no_more_processes_than_processors(two_files, monkeypatch):
    asked = []
    monkeypatch.setattr(verify, "_check_complex_file", lambda path, jobs, *_: asked.append(jobs) or check_complex(path))
    assert verify.main([str(two_files / "complex"), "--jobs", "1000000"]) == 0
    assert 1 <= asked[0] <= os.cpu_count()


def test_a_process_that_dies_is_an_error_and_no_endless_wait(two_files, capsys, monkeypatch):
    monkeypatch.setattr(verify, "_check_lines", _die)
    with pytest.raises(verify._Unreadable, match="was killed"):
        verify._check_complex_file(str(two_files / "complex"), 2, False)


def _die(problem, lines):
    os.kill(os.getpid(), signal.SIGKILL)


def test_some_other_module_of_that_name_is_not_python_flint(two_files, monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", types.ModuleType("flint"))
    assert not verify._has_flint()
    assert check_complex(two_files / "complex").n_vertices == 2
