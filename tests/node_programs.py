"""Linear programs as the nodes of the tree have them, and the same ones written down for HiGHS."""

import numpy as np
from scipy.optimize import linprog

from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free import simplex_kernel as simplex
from rescaleinv.engines.branch.free.node_lp import NodeLP


def by_highs(lp):
    """The same linear program, written down anew; margins that may fall short get a variable each."""
    n, m, extra = lp.n, lp.m, int(lp.sizes[simplex.N_EXTRA])
    soft = np.isfinite(lp.cap)
    A = np.zeros((m + extra, 2 * n + m + m))
    A[:m, :n], A[:m, 2 * n + m :] = lp.G, np.diag(soft.astype(float))
    for f in range(extra):
        j, (cw, cm, cp) = lp.feature[f], lp.coefficients[:, f]
        A[m + f, j], A[m + f, n + j], A[m + f, 2 * n : 2 * n + m] = cw, cp, cm * lp.G[:, j]
    right = np.concatenate([np.ones(m), lp.kink[m + 2 : m + 2 + extra]])
    sums = np.zeros((2, A.shape[1]))
    sums[0, 2 * n : 2 * n + m], sums[1, 2 * n : 2 * n + m] = lp.positive, ~lp.positive
    cost = np.concatenate([lp.cost, np.where(soft, lp.cap, 0.0)])
    bounds = [*zip(lp.low, lp.high, strict=True), *[(0, None if s else 0) for s in soft]]
    return linprog(cost, -A, -right, sums, [0.5, 0.5], bounds, method="highs-ds")


def a_walk_of_facts(seed, soft):
    """A linear program to which one fact after the other is added, as nodes do."""
    rng = np.random.default_rng([seed, soft])
    n, m = int(rng.integers(2, 9)), int(rng.integers(6, 40))
    positive = np.arange(m) % 2 == 0
    normal = rng.normal(size=n)
    G = rng.normal(size=(m, n)) + (0.6 + (rng.random((m, 1)) if soft else 1.5)) * normal
    cap = np.full(m, 2.0 / m) if soft else np.full(m, np.inf)
    lp = NodeLP(G, positive, cap)
    region = np.zeros((kernel.N_KINDS, n))
    region[[kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH]] = np.inf
    for _ in range(14):
        yield lp, region
        j = int(rng.integers(n))
        g = region[:, j]
        w, mu = abs(lp.x[j]), abs(lp.gradient()[j])
        if not g[kernel.SIGN]:
            g[kernel.SIGN] = 1.0 if normal[j] > 0 else -1.0
        elif rng.random() < 0.5:
            kind = int(rng.choice([kernel.D_LOW, kernel.D_HIGH]))
            inside = min(max(mu / (w + 1e-6), g[kernel.D_LOW]), g[kernel.D_HIGH])
            g[kind] = inside
        else:
            kind = int(rng.choice([kernel.W_LOW, kernel.M_LOW]))
            g[kind] = max(g[kind], 0.7 * (w if kind == kernel.W_LOW else mu))
        lp.know_weight(j, g)
