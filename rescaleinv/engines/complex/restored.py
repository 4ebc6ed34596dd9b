"""Vertices that were read from a file: what the file says of them is checked, not believed."""

from __future__ import annotations

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.complex.exact_walk import WalkError, exact_vertex
from rescaleinv.engines.complex.walk import BasisArray, Vertices, leads_elsewhere
from rescaleinv.theory.training_set import TrainingSet

_AT_A_TIME = 4096
# A stored solution this near to the true one, relative to the largest value of its component, decides no point wrongly:
# decision values are taken as floats only where they are ten times as far from zero.
_TOLERANCE = 1e-10
# Floats tell that much of a well-conditioned basis; where they do not, rationals do.
_CLEARLY_EQUAL = 1e-11
# Of longer lists so many vertices, drawn at random, have their edges followed: some seconds of work.
_MOST_FOLLOWED = 50_000
_MOST_FOLLOWED_EXACTLY = 200


def require_complete(training_set: TrainingSet, vertices: Vertices, n_threads: int = 1) -> None:
    """A ``ValueError`` where vertices are missing from a list that claims to be complete, or some are none.

    Every edge of a vertex must lead to another on the list. Beyond 50,000 vertices only a sample is followed, which finds a
    list that was cut short, but not one from which single vertices were taken out.
    """
    if vertices.stopped:  # it does not claim to be complete, and gives no strong verdicts
        return
    try:
        incomplete = leads_elsewhere(training_set, vertices, n_threads, _MOST_FOLLOWED, _MOST_FOLLOWED_EXACTLY)
    except WalkError as error:
        raise ValueError(f"it has a vertex that is not one of the complex: {error}") from error
    if incomplete:
        raise ValueError("its list of vertices is not complete: an edge leads to one that is missing")


def require_true_solutions(training_set: TrainingSet, vertices: Vertices) -> None:
    """A ``ValueError`` unless each solution is that of its basis, and classifies every row with margin 1 or more."""
    solutions = vertices.solutions
    scale = np.abs(solutions).max(axis=0)
    signs = training_set.signs.astype(np.float64)
    signed = np.column_stack([training_set.conditioned, np.ones(training_set.n_rows)]) * signs[:, None]
    for start in range(0, len(solutions), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        error = np.abs(_solved(signed, vertices.bases[part]) - solutions[part])
        doubtful = np.flatnonzero(~(error <= _CLEARLY_EQUAL * scale).all(axis=1))  # so is the nan of a singular basis
        for i in doubtful.tolist():
            _require_exactly(training_set, vertices, start + i, scale)
        sizes = np.abs(solutions[part]) @ np.abs(signed).T
        if (solutions[part] @ signed.T < 1 - 1e-9 * (1 + sizes)).any():
            raise ValueError("it has a vertex that does not separate its training set with margin 1")


def _solved(signed: FloatArray, bases: BasisArray) -> FloatArray:
    """The solutions of some bases in floats: tight rows have margin 1, features of the basis no weight."""
    n_rows, width = signed.shape
    rows = np.vstack([signed, np.eye(width)[:-1]])
    systems = rows[bases]
    right = (bases < n_rows).astype(np.float64)
    try:
        return np.linalg.solve(systems, right[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:  # one of them is singular in floats: all of this part are looked at exactly
        return np.full(right.shape, np.nan)


def _require_exactly(training_set: TrainingSet, vertices: Vertices, i: int, scale: FloatArray) -> None:
    basis = vertices.bases[i].tolist()
    n_tight = sum(item < training_set.n_rows for item in basis)
    solution = exact_vertex(training_set, basis, [1] * n_tight)
    if solution is None:
        raise ValueError("it has a basis that has no solution")
    weights, intercept = solution
    conditioning = training_set.conditioning
    units = [
        w * 2 ** int(e) if e >= 0 else w / 2 ** int(-e) for w, e in zip(weights, conditioning.exponent, strict=True)
    ]
    anchor = [x.as_integer_ratio() for x in conditioning.anchor.tolist()]
    at_anchor = intercept + sum(w * p / q for w, (p, q) in zip(weights, anchor, strict=True))
    true = np.array([*map(float, units), float(at_anchor)])
    if not (np.abs(true - vertices.solutions[i]) <= _TOLERANCE * scale).all():
        raise ValueError("it has a vertex with the solution of another basis")
