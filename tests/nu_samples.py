"""The ν-SVM at single rescalings, by a quadratic program that shares no code with the library: Clarabel on the primal."""

import clarabel
import numpy as np
from scipy import sparse

# A solution counts if its duality gap is below this share of ‖w‖²: then w is within the square root of it of the optimum.
GAP = 1e-9


def nu_svm(X, y, caps, tau):
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


def _solved(rows, y, caps):
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


def _intercepts(rows, y, caps, w):
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


def contradictions(X, y, caps, points, codes, rescalings, clear=1e-3):
    """(points that some rescaling labels against their strong verdict, how many rescalings were solved).

    A label counts where every best intercept puts the decision value beyond 0 by ``clear`` times the size of its terms.
    """
    wrong, solved = set(), 0
    for tau in rescalings:
        found = nu_svm(X, y, caps, tau)
        if found is None:
            continue
        solved += 1
        w, low, high = found
        for i, code in enumerate(codes):
            value = points[i] @ w
            size = clear * (1 + np.abs(points[i] - X.mean(axis=0)) @ np.abs(w))
            if (code == 1 and value + low < -size) or (code == -1 and value + high > size):
                wrong.add(i)
    return wrong, solved
