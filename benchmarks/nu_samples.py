"""The ν-SVM at single rescalings, by a quadratic program that shares no code with the library (Clarabel on the primal), and
training sets to compare with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from rescaleinv import TrainingSet
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu

KINDS = ("floats", "integers", "binary", "unlike units", "duplicates")

# A solution counts if its duality gap is below this share of ‖w‖²: then w is within the square root of it of the optimum.
GAP = 1e-9


def nu_svm(X: Any, y: Any, caps: Any, tau: Any) -> tuple[Any, float, float] | None:
    """(w, lowest b, highest b), original units, divided by ρ; None where the solver is not good enough.

    min ½ Σ w_j² - ρ + Σ cap_i ξ_i with y_i (w·(τ x_i) + b) >= ρ - ξ_i, ξ >= 0. A common factor of the rows changes nothing
    but the size of w, which the second attempt makes 1.
    """
    centre = X.mean(axis=0)
    factor = 1 / np.abs((X - centre) * tau).max()
    for _ in range(3):
        rows = (X - centre) * tau * factor
        w, gap = _solved(rows, y, caps)
        if w is None or not np.any(w):
            return None
        if gap <= GAP:
            low, high, rho = _intercepts(rows, y, caps, w)
            w = w * tau * factor
            return w / rho, low / rho - w @ centre / rho, high / rho - w @ centre / rho
        factor /= np.linalg.norm(w)
    return None


def _solved(rows: Any, y: Any, caps: Any) -> tuple[Any, float]:
    """w and its duality gap as a share of ‖w‖²."""
    m, n = rows.shape
    P = sparse.diags([1.0] * n + [0.0] * (m + 2), format="csc")
    q = np.concatenate([np.zeros(n + 1), [-1.0], caps])
    signed = y[:, None] * np.column_stack([rows, np.ones(m)])
    eye = sparse.identity(m)
    A = sparse.bmat([[-signed, np.ones((m, 1)), -eye], [sparse.csc_matrix((m, n + 1)), None, -eye]], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solver = clarabel.DefaultSolver(P, q, A, np.zeros(2 * m), [clarabel.NonnegativeConeT(2 * m)], settings)
    a = np.clip(np.array(solver.solve().z[:m]), 0, caps)
    for side in (1, -1):  # within 1/2 for each class, as near to the solver's as may be
        own = y == side
        missing = 0.5 - a[own].sum()
        room = caps[own] - a[own] if missing > 0 else a[own]
        a[own] += missing * room / max(room.sum(), 1e-300)
    w = (a * y) @ rows
    square = w @ w
    if not np.isfinite(square) or square == 0:
        return None, np.inf
    scores = y * (rows @ w)
    # the least mean of margins over all multipliers: what w is worth
    worth = 0.0
    for side in (1, -1):
        own = np.flatnonzero(y == side)
        order = own[np.argsort(scores[own])]
        before = np.concatenate([[0.0], np.cumsum(caps[order])[:-1]])
        worth += np.clip(0.5 - before, 0, caps[order]) @ scores[order]
    return w, abs(square - worth) / square


def _intercepts(rows: Any, y: Any, caps: Any, w: Any) -> tuple[float, float, float]:
    """The lowest and the highest best intercept, and ρ."""
    scores, ends = y * (rows @ w), {}
    for side in (1, -1):
        own = np.flatnonzero(y == side)
        order = own[np.argsort(scores[own])]
        sums = np.cumsum(caps[order])
        first = order[np.searchsorted(sums, 0.5 - 1e-7)]
        last = order[min(np.searchsorted(sums, 0.5 + 1e-7), len(order) - 1)]
        ends[side] = scores[first], scores[last]
    return (ends[-1][0] - ends[1][1]) / 2, (ends[-1][1] - ends[1][0]) / 2, (ends[1][0] + ends[-1][0]) / 2


def contradictions(
    X: Any, y: Any, caps: Any, points: Any, codes: Any, rescalings: Iterable[Any], clear: float = 1e-3
) -> tuple[set[int], int]:
    """(points that some rescaling labels against their strong verdict, how many rescalings were solved)."""
    solved = solutions(X, y, caps, rescalings)
    return contradicted(X, points, codes, solved, clear), len(solved)


def solutions(X: Any, y: Any, caps: Any, rescalings: Iterable[Any]) -> list[tuple[Any, float, float]]:
    """The ν-SVMs at the rescalings at which the solver is good enough."""
    found = (nu_svm(X, y, caps, tau) for tau in rescalings)
    return [svm for svm in found if svm is not None]


def contradicted(
    X: Any, points: Any, codes: Any, svms: Iterable[tuple[Any, float, float]], clear: float = 1e-3
) -> set[int]:
    """The points whose strong verdict (1 or -1) one of the ν-SVMs is against.

    It is where some best intercept puts the decision value beyond 0 by ``clear`` times the size of its terms.
    """
    wrong = set[int]()
    for w, low, high in svms:
        for i, code in enumerate(codes):
            value = points[i] @ w
            size = clear * (1 + np.abs(points[i] - X.mean(axis=0)) @ np.abs(w))
            if (code == 1 and value + low < -size) or (code == -1 and value + high > size):
                wrong.add(i)
    return wrong


def rescalings(X: Any, count: int, seed: int = 0) -> list[Any]:
    """Factors that make the features alike, times random ones, from none to some thousand."""
    rng = np.random.default_rng(seed)
    spread = np.maximum(X.std(axis=0), 1e-9)
    sizes = (0, 0.5, 1, 1, 2, 2)
    return [np.exp(sizes[k % len(sizes)] * rng.normal(size=X.shape[1])) / spread for k in range(count)]


def made(seed: int) -> tuple[TrainingSet, NuMargin, Any]:
    """A training set of one of the kinds, points, and a ν: that of C = 1, or one that is farther from the least."""
    rng = np.random.default_rng([seed, 23])
    kind, n, m = KINDS[seed % len(KINDS)], 1 + seed % 10, 14 + 3 * (seed % 7)
    if kind in ("integers", "duplicates"):
        X = rng.integers(0, 4, size=(m, n)).astype(float)
    elif kind == "binary":
        X = rng.integers(0, 2, size=(m, n)).astype(float)
    else:
        X = rng.normal(size=(m, n))
    y = np.where((X - X.mean(axis=0)) @ rng.normal(size=n) + rng.normal(size=m) * rng.choice([0.3, 1.0]) > 0, 1, -1)
    y[:4] = 1, -1, 1, -1
    if kind == "unlike units":
        X = X * 10.0 ** rng.integers(-3, 4, size=n)
    if kind == "duplicates":
        X, y = np.vstack([X, X[: m // 2]]), np.append(y, y[: m // 2])
    training_set = TrainingSet(X, y)
    while least_nu(training_set) > 0.98 * largest_nu(training_set):  # no hyperplane does better than one label for all
        X = X + np.outer(y > 0, np.eye(n)[0])
        training_set = TrainingSet(X, y)
    least, largest = least_nu(training_set), float(largest_nu(training_set))
    margin = NuMargin.of(training_set, least + (0.05, 0.3, 0.7)[seed % 3] * (largest - least))
    points = np.vstack([X[:2], X[rng.integers(len(X), size=4)] + X.std(axis=0) * rng.normal(size=(4, n)) / 2])
    return training_set, margin, points
