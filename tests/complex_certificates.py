"""Complex certificates to be tampered with, and what tests of them share.

What a refutation must satisfy is written once more (``is_refutation``), apart from the checker.
"""

import functools
import hashlib
import importlib.util
import json
import tempfile
from fractions import Fraction
from pathlib import Path

import brute_force
import made_sets
import numpy as np

from rescaleinv.engines.complex import exact_walk
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.training_set import TrainingSet

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

    def edge_cell(self, k, e):
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
        tight, signs = self.edge_cell(k, e)
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


def with_vectors(content):
    again = content.copy()
    training_set = TrainingSet([[float(x) for x in row] for row in content.rows], content.labels)
    perturbation = np.array(content.header["tilt"])
    # rows that are copies of others are tight with them in the rational steps too: these take the certificate's own
    for basis, edges in again.records:
        exact = exact_walk.expand_exactly(training_set, perturbation, basis)[0]
        edges[:] = [edge if isinstance(edge, int) else [str(x) for x in edge] for edge in exact]
    return again
