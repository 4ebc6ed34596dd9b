"""What a pair (λ, v) proves of a node, in floats, compiled: its value, and which of the node's facts it needs.

λ are prices of margins, v prices of the gradient μ = Gᵀa. For every classifier of the node with its multipliers

    Σ λ_i + min over a of v·μ  <=  1 + Σ_j sup (W_j w_j + v_j μ_j - w_j μ_j),    W = Gᵀλ,

where each supremum is over what the node knows of (w_j, μ_j). A pair for which this fails refutes the node.
"""

from __future__ import annotations

import numpy as np

from rescaleinv._util.compiled import entry, step

# What is known of a feature: rows of the table ``region``. Bounds are of |w_j|, |μ_j| and of d_j = μ_j / w_j.
SIGN, D_LOW, D_HIGH, W_LOW, W_HIGH, M_LOW, M_HIGH = 0, 1, 2, 3, 4, 5, 6
N_KINDS = 7
# What is known of a row: bits. Numbers of these facts are N_KINDS + position.
OUT, LESS, IN, MORE = 1, 2, 4, 8
ROW_OUT, ROW_LESS, ROW_IN, ROW_MORE = 7, 8, 9, 10

ZERO = 3e-8  # coefficients that must vanish may come to this in floats; the exact leaf makes them vanish


@step
def _at(W, v, w, mu):
    return W * w + v * mu - w * mu


@entry
def supremum(W, v, sign, low, high, wl, wu, ml, mu):
    """sup of W w + v μ - w μ over the (w, μ) that a node allows; inf where it has no bound, -inf where there are none."""
    if sign == 0.0:
        return 0.0 if abs(W) <= ZERO and abs(v) <= ZERO else np.inf
    if sign < 0.0:
        W, v = -W, -v
    # the box within the cone
    if high < np.inf:
        wl = max(wl, ml / high) if high > 0.0 else wl
        if high == 0.0 and ml > 0.0:
            return -np.inf
        mu = min(mu, high * wu) if wu < np.inf else (0.0 if high == 0.0 else mu)
    if low > 0.0:
        wu = min(wu, mu / low)
        ml = max(ml, low * wl)
    if wl > wu or ml > mu:
        return -np.inf
    if wu == np.inf and low == 0.0 and ml + ZERO < W:
        return np.inf
    if mu == np.inf and high == np.inf and v > wl + ZERO:
        return np.inf
    best = -np.inf
    for turn in range(2):
        w = wl if turn == 0 else wu
        if w < np.inf:
            first, second = max(ml, low * w), mu if high == np.inf else min(mu, high * w)
            best = max(best, _at(W, v, w, first))
            if second < np.inf:
                best = max(best, _at(W, v, w, second))
        m = ml if turn == 0 else mu
        if m < np.inf:
            first = wl if high == np.inf or high == 0.0 else max(wl, m / high)
            second = wu if low == 0.0 else min(wu, m / low)
            best = max(best, _at(W, v, first, m))
            if second < np.inf:
                best = max(best, _at(W, v, second, m))
        d = low if turn == 0 else high
        if d > 0.0 and d < np.inf:
            first, second = max(wl, ml / d), min(wu, mu / d)
            if first <= second:
                w = min(max((W + v * d) / (2.0 * d), first), second)
                best = max(best, _at(W, v, w, d * w))
    return best


@step
def _products(v, G):
    m, n = G.shape
    values = np.empty(m)
    for i in range(m):
        value = 0.0
        for j in range(n):
            value += G[i, j] * v[j]
        values[i] = value
    return values


@step
def _least_capped(values, order, positive, cap, rows, half):
    """min Σ a_i values_i over capped multipliers, ``half`` in each class: rows that are in, then those of least value."""
    total = 0.0
    for side in range(2):
        left = half
        for i in range(len(values)):
            if positive[i] == (side == 0) and rows[i] & IN:
                left -= cap[i]
                total += cap[i] * values[i]
        if left < -1e-12 * half:
            return np.inf
        for t in range(len(values)):
            i = order[t]
            if left <= 0.0:
                break
            if positive[i] == (side == 0) and not rows[i] & (OUT | IN):
                part = min(left, cap[i])
                total += part * values[i]
                left -= part
        if left > 1e-12 * half:
            return np.inf
    return total


@entry
def least_gradient(v, G, positive, cap, rows, half=0.5):
    """min over the multipliers that the rows allow of v·μ: ``half`` of them in either class. inf where there are none."""
    values = _products(v, G)
    if cap[0] < np.inf:
        return _least_capped(values, np.argsort(values), positive, cap, rows, half)
    total = 0.0
    for side in range(2):
        least = np.inf
        for i in range(len(values)):
            if positive[i] == (side == 0) and not rows[i] & OUT:
                least = min(least, values[i])
        if least == np.inf:
            return np.inf
        total += half * least
    return total


@entry
def leaf_value(lam, v, G, positive, cap, rows, region, half=0.5):
    """The value of a pair: the node is refuted where it exceeds twice ``half``.

    -inf where prices have a sign that they may not have.
    """
    m, n = G.shape
    W = np.zeros(n)
    total = 0.0
    for i in range(m):
        if lam[i] != 0.0:
            if (lam[i] < 0.0 and not rows[i] & (LESS | IN)) or (lam[i] > cap[i] and not rows[i] & (MORE | OUT)):
                return -np.inf
            total += lam[i]
            for j in range(n):
                W[j] += lam[i] * G[i, j]
    terms = np.empty(n)
    for j in range(n):
        g = region[:, j]
        terms[j] = supremum(W[j], v[j], g[0], g[1], g[2], g[3], g[4], g[5], g[6])
    return _total(total, least_gradient(v, G, positive, cap, rows, half), terms)


@entry
def needed_facts(lam, v, G, positive, cap, rows, region, kinds, items, olds, count, enough, half=0.5):
    """Which of the facts (latest first, each undone if the pair still refutes the node) the pair needs.

    ``rows`` and ``region`` are changed: they end as what is left.
    """
    m, n = G.shape
    W = np.zeros(n)
    for i in range(m):
        if lam[i] != 0.0:
            for j in range(n):
                W[j] += lam[i] * G[i, j]
    base = 0.0
    for i in range(m):
        base += lam[i]
    gradient = least_gradient(v, G, positive, cap, rows, half)
    terms = np.empty(n)
    for j in range(n):
        g = region[:, j]
        terms[j] = supremum(W[j], v[j], g[0], g[1], g[2], g[3], g[4], g[5], g[6])
    hard = cap[0] == np.inf
    values = _products(v, G)
    order = np.argsort(values) if not hard else np.zeros(0, np.int64)
    least = np.array([np.inf, np.inf])
    for i in range(m):
        if not rows[i] & OUT:
            side = 0 if positive[i] else 1
            least[side] = min(least[side], values[i])
    needed = np.zeros(count, np.bool_)
    settled = np.zeros((N_KINDS, n), np.bool_)  # a later fact of the same kind is needed: this one is not
    for t in range(count - 1, -1, -1):
        kind, item = kinds[t], items[t]
        if item < 0:  # a row that was deleted: not for here
            continue
        if kind < N_KINDS:
            if settled[kind, item]:
                continue
            g = region[:, item].copy()
            g[kind] = olds[t]
            before = terms[item]
            terms[item] = supremum(W[item], v[item], g[0], g[1], g[2], g[3], g[4], g[5], g[6])
            if _total(base, gradient, terms) > enough:
                region[kind, item] = olds[t]
            else:
                terms[item] = before
                needed[t] = True
                settled[kind, item] = True
            continue
        bit = 1 << (kind - N_KINDS)
        kept = rows[item]
        left = kept & ~bit
        if (lam[item] < 0.0 and not left & (LESS | IN)) or (lam[item] > cap[item] and not left & (MORE | OUT)):
            needed[t] = True
            continue
        rows[item] = left
        if bit & (OUT | IN):
            side = 0 if positive[item] else 1
            lowest = min(least[side], values[item])
            after = (
                half * (lowest + least[1 - side]) if hard else _least_capped(values, order, positive, cap, rows, half)
            )
            if _total(base, after, terms) > enough:
                gradient = after
                least[side] = lowest
            else:
                rows[item] = kept
                needed[t] = True
    return needed


@step
def _total(base, gradient, terms):
    total = base
    for j in range(len(terms)):
        if terms[j] == np.inf:
            return -np.inf
        total -= terms[j]
    return total + gradient


@entry
def weakest(lam, v, G, region, kind, item, value, floor, slack):
    """The value nearest to ``floor`` of this bound (now ``value``) with which the pair loses no more than the slack."""
    W = 0.0
    for i in range(len(lam)):
        if lam[i] != 0.0:
            W += lam[i] * G[i, item]
    g = region[:, item].copy()
    g[kind] = value
    now = supremum(W, v[item], g[0], g[1], g[2], g[3], g[4], g[5], g[6])
    good, bad = value, floor
    for _ in range(14):
        middle = 0.5 * (good + bad)
        if kind <= D_HIGH and good > 0.0 and bad > 0.0:
            middle = np.sqrt(good * bad)
        g[kind] = middle
        then = supremum(W, v[item], g[0], g[1], g[2], g[3], g[4], g[5], g[6])
        if then <= now or then - now <= slack < np.inf:
            good = middle
        else:
            bad = middle
    return good


@entry
def violations(w, mu, p, a, margins, region, rows, cap):
    """How far a relaxed solution is from complementarity: one number for each feature and for each row, in units of Σ p."""
    n, m = len(w), len(a)
    features, states = np.zeros(n), np.zeros(m)
    for j in range(n):
        product = w[j] * mu[j]
        if region[0, j] == 0.0:
            features[j] = abs(product)
            continue
        # the envelope itself, of which the linear program may have a tangent only
        low, high = np.sqrt(region[1, j]), np.sqrt(region[2, j])
        root = low * abs(w[j])
        if high < np.inf:
            root = (low * high * abs(w[j]) + abs(mu[j])) / (low + high) if high > 0.0 else 0.0
        features[j] = product - max(p[j], root * root)
    for i in range(m):
        gap = margins[i] - 1.0
        if gap > 0.0 and not rows[i] & (LESS | OUT | IN):
            states[i] = a[i] * gap
        elif gap < 0.0 and cap[i] < np.inf and not rows[i] & (IN | MORE | OUT):
            states[i] = (cap[i] - a[i]) * -gap
    return features, states
