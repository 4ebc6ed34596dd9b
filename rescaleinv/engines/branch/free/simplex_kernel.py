"""The dual simplex method for the linear programs of a tree's nodes, compiled.

Unknowns x: weights w (n), products p (n), multipliers a (m), each within [low, high]. Rows, all with one kink each:
margins G_i·w (m), sums of the multipliers of either class (2), and feature rows cw w_j + cm μ_j + cp p_j, μ = Gᵀa.
The price of a row lies in a box [price_low, price_high]: a row that must reach its kink has [0, inf), an equation
(-inf, inf), a margin that may fall short at a cost per unit [0, cost]. Minimised is cost·x and what rows fall short by.

The basis is kept as its kernel: the rows at their kinks against the unknowns off their bounds, with an explicit inverse.
All else (rows off their kinks, unknowns at bounds) needs no linear algebra, and the nodes share G.
"""

from __future__ import annotations

import numpy as np

from rescaleinv._util.compiled import entry, step

PIVOT = 1e-8  # smaller pivots are not taken
FEASIBLE = 1e-9  # violations below are none
REFACTOR = 60  # pivots until the inverse is made anew
TRUSTED = 30  # pivots after which a ray that proves infeasibility is computed anew; whoever uses it tests it

# Sums may be taken in any order, so that they can be vectorised; infinities keep their meaning.
_SUMS = {"reassoc", "contract"}

OPTIMAL, CUT_OFF, INFEASIBLE, STOPPED = 0, 1, 2, 3

# Layout of the integers that describe the sizes and the state
K, N_FEATURES, N_ROWS, N_EXTRA, SINCE = 0, 1, 2, 3, 4


@step(fastmath=_SUMS)
def _entry(q, e, G, positive, feature, cw, cm, cp, n, m):
    """Coefficient of unknown e in row q."""
    if q < m:
        return G[q, e] if e < n else 0.0
    if q < m + 2:
        if e < 2 * n:
            return 0.0
        return 1.0 if positive[e - 2 * n] == (q == m) else 0.0
    f = q - m - 2
    j = feature[f]
    if e < n:
        return cw[f] if e == j else 0.0
    if e < 2 * n:
        return cp[f] if e - n == j else 0.0
    return cm[f] * G[e - 2 * n, j] if cm[f] != 0.0 else 0.0


@step(fastmath=_SUMS)
def _fold(prices, rows, count, out_w, out_m, out_p, out_class, G, feature, cw, cm, cp, n, m):
    """Sum the rows with these prices, as coefficients of w, μ, p and of the two classes (added to what is there)."""
    for t in range(count):
        value = prices[t]
        if value == 0.0:
            continue
        q = rows[t]
        if q < m:
            for j in range(n):
                out_w[j] += value * G[q, j]
        elif q < m + 2:
            out_class[q - m] += value
        else:
            f = q - m - 2
            j = feature[f]
            out_w[j] += value * cw[f]
            out_m[j] += value * cm[f]
            out_p[j] += value * cp[f]


@step(fastmath=_SUMS)
def _invert(matrix, inverse, k):
    """Gauss-Jordan with row pivoting; False where the matrix is nearly singular."""
    for i in range(k):
        for j in range(k):
            inverse[i, j] = 1.0 if i == j else 0.0
    for c in range(k):
        best, where = 0.0, -1
        for i in range(c, k):
            if abs(matrix[i, c]) > best:
                best, where = abs(matrix[i, c]), i
        if best < 1e-11:
            return False
        if where != c:
            for j in range(k):
                matrix[c, j], matrix[where, j] = matrix[where, j], matrix[c, j]
                inverse[c, j], inverse[where, j] = inverse[where, j], inverse[c, j]
        scale = 1.0 / matrix[c, c]
        for j in range(k):
            matrix[c, j] *= scale
            inverse[c, j] *= scale
        for i in range(k):
            if i != c and matrix[i, c] != 0.0:
                factor = matrix[i, c]
                for j in range(c, k):
                    matrix[i, j] -= factor * matrix[c, j]
                for j in range(k):
                    inverse[i, j] -= factor * inverse[c, j]
    return True


@step(fastmath=_SUMS)
def _slack_basis(sizes, place_x, place_row, x, y, low, high, n, m, rows):
    """No row at its kink: always dual feasible."""
    sizes[K] = 0
    place_x[:] = -1
    place_row[:] = -1
    for e in range(2 * n + m):
        x[e] = min(max(0.0, low[e]), high[e])
    for q in range(rows):
        y[q] = 0.0


@step(fastmath=_SUMS)
def _refactor(sizes, G, positive, feature, cw, cm, cp, inverse, basic, active):
    k, n, m = sizes[K], sizes[N_FEATURES], sizes[N_ROWS]
    work = np.empty((k, k))
    for i in range(k):
        for t in range(k):
            work[i, t] = _entry(active[i], basic[t], G, positive, feature, cw, cm, cp, n, m)
    sizes[SINCE] = 0
    return _invert(work, inverse, k)


@step(fastmath=_SUMS)
def _primal(
    sizes, G, GT, positive, feature, cw, cm, cp, kink, low, high, inverse, basic, active, place_x, place_row, x, r
):
    """The values of all unknowns and rows, from the basis and the bounds alone; returns the error at the kinks."""
    k, n, m, extra = sizes[K], sizes[N_FEATURES], sizes[N_ROWS], sizes[N_EXTRA]
    for e in range(2 * n + m):
        if place_x[e] >= 0:
            x[e] = 0.0
        elif x[e] < low[e]:
            x[e] = low[e]
        elif x[e] > high[e]:
            x[e] = high[e]
    _rows(n, m, extra, G, GT, positive, feature, cw, cm, cp, x, r)
    left = np.empty(k)
    for i in range(k):
        left[i] = kink[active[i]] - r[active[i]]
    for t in range(k):
        total = 0.0
        for i in range(k):
            total += inverse[t, i] * left[i]
        x[basic[t]] = total
    _rows(n, m, extra, G, GT, positive, feature, cw, cm, cp, x, r)
    error = 0.0
    for i in range(k):
        error = max(error, abs(r[active[i]] - kink[active[i]]))
    return error


@step(fastmath=_SUMS)
def _rows(n, m, extra, G, GT, positive, feature, cw, cm, cp, x, r):
    """The values of all rows."""
    mu = np.zeros(n)
    for i in range(m + 2):
        r[i] = 0.0
    _add_margins(x, GT, n, m, r)
    for i in range(m):
        a = x[2 * n + i]
        if a != 0.0:
            r[m if positive[i] else m + 1] += a
            for j in range(n):
                mu[j] += a * G[i, j]
    for f in range(extra):
        j = feature[f]
        r[m + 2 + f] = cw[f] * x[j] + cm[f] * mu[j] + cp[f] * x[n + j]


@step(fastmath=_SUMS)
def _add_margins(weights, GT, n, m, out):
    """Add G·weights to ``out``, column by column of G: long loops, which are vectorised."""
    for j in range(n):
        w = weights[j]
        if w != 0.0:
            for i in range(m):
                out[i] += w * GT[j, i]


@entry(fastmath=_SUMS)
def prices(sizes, G, GT, positive, feature, cw, cm, cp, cost, inverse, basic, active, place_x, place_row, y, z):
    """Prices of the rows at their kinks, and reduced costs."""
    k, n, m, extra = sizes[K], sizes[N_FEATURES], sizes[N_ROWS], sizes[N_EXTRA]
    rows = m + 2 + extra
    out_w, out_m, out_p, out_class = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(2)
    single, price = np.zeros(1, np.int64), np.zeros(1)
    for q in range(rows):
        if place_row[q] < 0 and y[q] != 0.0:
            single[0], price[0] = q, y[q]
            _fold(price, single, 1, out_w, out_m, out_p, out_class, G, feature, cw, cm, cp, n, m)
    left = np.empty(k)
    for t in range(k):
        left[t] = cost[basic[t]] - _column_value(basic[t], out_w, out_m, out_p, out_class, G, positive, n)
    found = np.zeros(k)
    for t in range(k):
        if left[t] != 0.0:
            for i in range(k):
                found[i] += left[t] * inverse[t, i]
    for i in range(k):
        y[active[i]] = found[i]
    _fold(found, active, k, out_w, out_m, out_p, out_class, G, feature, cw, cm, cp, n, m)
    _columns(out_w, out_m, out_p, out_class, GT, positive, n, m, z)
    for e in range(2 * n + m):
        z[e] = 0.0 if place_x[e] >= 0 else cost[e] - z[e]


@step(fastmath=_SUMS)
def _columns(out_w, out_m, out_p, out_class, GT, positive, n, m, out):
    """Folded rows at the columns of all unknowns."""
    for j in range(n):
        out[j] = out_w[j]
        out[n + j] = out_p[j]
    for i in range(m):
        out[2 * n + i] = out_class[0] if positive[i] else out_class[1]
    _add_margins(out_m, GT, n, m, out[2 * n :])


@step(fastmath=_SUMS)
def _column_value(e, out_w, out_m, out_p, out_class, G, positive, n):
    """Folded rows at the column of unknown e."""
    if e < n:
        return out_w[e]
    if e < 2 * n:
        return out_p[e - n]
    i = e - 2 * n
    total = out_class[0] if positive[i] else out_class[1]
    for j in range(n):
        total += out_m[j] * G[i, j]
    return total


@step(fastmath=_SUMS)
def _leaving(sizes, basic, place_row, x, low, high, r, kink, y, price_low, price_high, weight_x, weight_row):
    """The basic unknown (its place) or row that is violated most, by Devex weights, and which way it has to go."""
    k, m, extra = sizes[K], sizes[N_ROWS], sizes[N_EXTRA]
    worst, kind, which, direction = 0.0, 0, -1, 0
    for t in range(k):
        e = basic[t]
        short, over = low[e] - x[e], x[e] - high[e]
        size = max(short, over)
        if size > FEASIBLE and size * size > worst * weight_x[e]:
            worst, kind, which, direction = size * size / weight_x[e], 1, t, 1 if short > over else -1
    for q in range(m + 2 + extra):
        if place_row[q] >= 0:
            continue
        gap = kink[q] - r[q]
        if abs(gap) <= FEASIBLE or gap * gap <= worst * weight_row[q]:
            continue
        if gap > 0.0 and y[q] < price_high[q]:
            worst, kind, which, direction = gap * gap / weight_row[q], 2, q, 1
        elif gap < 0.0 and y[q] > price_low[q]:
            worst, kind, which, direction = gap * gap / weight_row[q], 2, q, -1
    return kind, which, direction


@step(fastmath=_SUMS)
def _entering(sizes, active, alpha_row, alpha, direction, place_x, x, low, high, y, z, price_low, price_high):
    """Ratio test (Harris): returns the step, the kind (1 unknown, 2 row), which, and for rows the end of its box."""
    k, n, m = sizes[K], sizes[N_FEATURES], sizes[N_ROWS]
    tolerance = 1e-9
    bound = np.inf
    for turn in range(2):
        best, kind, which, end = 0.0, 0, -1, 0
        step = np.inf
        for e in range(2 * n + m):
            if place_x[e] >= 0 or low[e] == high[e]:
                continue
            slope = direction * alpha[e]
            if abs(slope) < PIVOT:
                continue
            if slope > 0.0:
                if x[e] >= high[e]:
                    continue
                reduced = max(z[e], 0.0)
            else:
                if x[e] <= low[e]:
                    continue
                reduced = max(-z[e], 0.0)
            size = abs(slope)
            if turn == 0:
                bound = min(bound, (reduced + tolerance) / size)
            elif reduced <= bound * size and size > best:
                best, kind, which, step = size, 1, e, reduced / size
        for i in range(k):
            slope = direction * alpha_row[i]
            size = abs(slope)
            if size < PIVOT:
                continue
            q = active[i]
            reduced = y[q] - price_low[q] if slope > 0.0 else price_high[q] - y[q]
            if reduced == np.inf:
                continue
            reduced = max(reduced, 0.0)
            if turn == 0:
                bound = min(bound, (reduced + tolerance) / size)
            elif reduced <= bound * size and size > best:
                best, kind, which, step = size, 2, i, reduced / size
                end = -1 if slope > 0.0 else 1
        if bound == np.inf:
            return np.inf, 0, -1, 0
    return step, kind, which, end


@step(fastmath=_SUMS)
def _pivot(sizes, inverse, basic, active, place_x, place_row, leaving_kind, leaving, kind, which, change, rho):
    """Exchange two items, and update the inverse. ``change``: that of the basics per unit of the entering one."""
    k = sizes[K]
    sizes[SINCE] += 1
    if leaving_kind == 1 and kind == 1:  # column against column
        pivot = -change[leaving]
        for i in range(k):
            inverse[leaving, i] /= pivot
        for t in range(k):
            if t != leaving and change[t] != 0.0:
                for i in range(k):
                    inverse[t, i] += change[t] * inverse[leaving, i]
        place_x[basic[leaving]] = -1
        basic[leaving] = which
        place_x[which] = leaving
    elif leaving_kind == 2 and kind == 2:  # row against row
        pivot = rho[which]
        for t in range(k):
            own = inverse[t, which] / pivot
            if own != 0.0:
                for i in range(k):
                    inverse[t, i] -= rho[i] * own
            inverse[t, which] = own
        place_row[active[which]] = -1
        active[which] = leaving
        place_row[leaving] = which
    elif leaving_kind == 2:  # the kernel grows
        pivot = rho[k]
        for t in range(k):
            factor = change[t] / pivot
            if factor != 0.0:
                for i in range(k):
                    inverse[t, i] -= factor * rho[i]
            inverse[t, k] = factor
        for i in range(k):
            inverse[k, i] = -rho[i] / pivot
        inverse[k, k] = 1.0 / pivot
        basic[k], active[k] = which, leaving
        place_x[which], place_row[leaving] = k, k
        sizes[K] = k + 1
    else:  # the kernel shrinks: unknown ``leaving`` and row ``which`` go, the last ones take their places
        pivot = inverse[leaving, which]
        for t in range(k):
            if t == leaving:
                continue
            factor = inverse[t, which] / pivot
            if factor != 0.0:
                for i in range(k):
                    inverse[t, i] -= factor * inverse[leaving, i]
        place_x[basic[leaving]] = -1
        place_row[active[which]] = -1
        last = k - 1
        if leaving != last:
            for i in range(k):
                inverse[leaving, i] = inverse[last, i]
            basic[leaving] = basic[last]
            place_x[basic[leaving]] = leaving
        if which != last:
            for t in range(k):
                inverse[t, which] = inverse[t, last]
            active[which] = active[last]
            place_row[active[which]] = which
        sizes[K] = last


@step(fastmath=_SUMS)
def _objective(cost, x, r, kink, y, place_row, n, m, price_high):
    total = 0.0
    for e in range(2 * n + m):
        if cost[e] != 0.0:
            total += cost[e] * x[e]
    for i in range(m):
        if place_row[i] < 0 and y[i] != 0.0:
            total += y[i] * (kink[i] - r[i])
    return total


@step(fastmath=_SUMS)
def solve(
    sizes,
    G,
    GT,
    positive,
    feature,
    cw,
    cm,
    cp,
    cost,
    kink,
    price_low,
    price_high,
    low,
    high,
    inverse,
    basic,
    active,
    place_x,
    place_row,
    x,
    r,
    y,
    z,
    ray,
    most,
    cutoff,
    current,
):
    """Minimise from the basis that is there; returns (status, value, pivots). ``ray``: prices that prove infeasibility.

    ``current``: the values and prices are those of this basis and these bounds already.
    """
    n, m = sizes[N_FEATURES], sizes[N_ROWS]
    size = 2 * n + m
    alpha = np.empty(size)
    rho = np.empty(inverse.shape[0] + 1)
    change = np.empty(inverse.shape[0])
    column = np.empty(inverse.shape[0])
    by_margin = np.empty(m)
    out_w, out_m, out_p, out_class = np.empty(n), np.empty(n), np.empty(n), np.empty(2)
    single, price = np.zeros(1, np.int64), np.zeros(1)
    weight_x, weight_row = np.ones(size), np.ones(r.shape[0])
    fresh = False  # values and prices are computed anew, not updated
    pivots = 0
    steps = 0
    if sizes[SINCE] >= REFACTOR:
        if not _refactor(sizes, G, positive, feature, cw, cm, cp, inverse, basic, active):
            _slack_basis(sizes, place_x, place_row, x, y, low, high, n, m, m + 2 + sizes[N_EXTRA])
        fresh = True
    if fresh or not current:
        _primal(
            sizes, G, GT, positive, feature, cw, cm, cp, kink, low, high, inverse, basic, active, place_x, place_row, x, r
        )  # fmt: skip
        prices(sizes, G, GT, positive, feature, cw, cm, cp, cost, inverse, basic, active, place_x, place_row, y, z)
    fresh = True
    while True:
        k, extra = sizes[K], sizes[N_EXTRA]
        value = _objective(cost, x, r, kink, y, place_row, n, m, price_high)
        if value > cutoff and (fresh or sizes[SINCE] <= TRUSTED):
            return CUT_OFF, value, pivots
        leaving_kind, leaving, direction = _leaving(
            sizes, basic, place_row, x, low, high, r, kink, y, price_low, price_high, weight_x, weight_row
        )
        done = leaving < 0
        if done or value > cutoff or sizes[SINCE] >= REFACTOR:
            if fresh and done:
                return OPTIMAL, value, pivots
            if not fresh:  # what is said of the end is said of values computed anew
                if sizes[SINCE] >= REFACTOR and not _refactor(
                    sizes, G, positive, feature, cw, cm, cp, inverse, basic, active
                ):
                    _slack_basis(sizes, place_x, place_row, x, y, low, high, n, m, m + 2 + extra)
                error = _primal(
                    sizes,
                    G,
                    GT,
                    positive,
                    feature,
                    cw,
                    cm,
                    cp,
                    kink,
                    low,
                    high,
                    inverse,
                    basic,
                    active,
                    place_x,
                    place_row,
                    x,
                    r,
                )
                if error > 1e-8 and sizes[SINCE] > 0:
                    sizes[SINCE] = REFACTOR
                    continue
                prices(
                    sizes, G, GT, positive, feature, cw, cm, cp, cost, inverse, basic, active, place_x, place_row, y, z
                )
                fresh = True
                continue
        if steps >= most:
            return STOPPED, value, pivots
        steps += 1
        # the row of the tableau
        out_w[:] = 0.0
        out_m[:] = 0.0
        out_p[:] = 0.0
        out_class[:] = 0.0
        if leaving_kind == 1:
            for i in range(k):
                rho[i] = inverse[leaving, i]
        else:
            rho[:k] = 0.0
            for t in range(k):
                value_t = _entry(leaving, basic[t], G, positive, feature, cw, cm, cp, n, m)
                if value_t != 0.0:
                    for i in range(k):
                        rho[i] += value_t * inverse[t, i]
            single[0], price[0] = leaving, -1.0
            _fold(price, single, 1, out_w, out_m, out_p, out_class, G, feature, cw, cm, cp, n, m)
        _fold(rho, active, k, out_w, out_m, out_p, out_class, G, feature, cw, cm, cp, n, m)
        _columns(out_w, out_m, out_p, out_class, GT, positive, n, m, alpha)
        for e in range(size):
            alpha[e] = 0.0 if place_x[e] >= 0 or low[e] == high[e] else -alpha[e]
        step, kind, which, end = _entering(
            sizes, active, rho, alpha, direction, place_x, x, low, high, y, z, price_low, price_high
        )
        room = np.inf
        if leaving_kind == 2:
            room = price_high[leaving] - y[leaving] if direction > 0 else y[leaving] - price_low[leaving]
        if kind == 0 and room == np.inf:
            if not fresh and sizes[SINCE] > TRUSTED:
                sizes[SINCE] = REFACTOR
                continue
            ray[:] = 0.0
            for i in range(k):
                ray[active[i]] = -direction * rho[i]
            if leaving_kind == 2:
                ray[leaving] = direction
            return INFEASIBLE, value, pivots
        if step >= room:  # its price comes to the end of its box: it stays off its kink, on the other side
            for i in range(k):
                y[active[i]] -= direction * room * rho[i]
            for e in range(size):
                if place_x[e] < 0:
                    z[e] -= direction * room * alpha[e]
            y[leaving] = price_high[leaving] if direction > 0 else price_low[leaving]
            fresh = False
            continue
        # the column of the tableau
        if kind == 1:
            for i in range(k):
                column[i] = _entry(active[i], which, G, positive, feature, cw, cm, cp, n, m)
            for t in range(k):
                total = 0.0
                for i in range(k):
                    total += inverse[t, i] * column[i]
                change[t] = -total
            pivot = alpha[which]
        else:
            for t in range(k):
                change[t] = inverse[t, which]
            pivot = rho[which]
        check = pivot
        if leaving_kind == 1:
            check = change[leaving]
        if abs(check - pivot) > 1e-6 * (1.0 + abs(pivot)) and sizes[SINCE] > 0:
            sizes[SINCE] = REFACTOR
            fresh = False
            continue
        # prices
        for i in range(k):
            y[active[i]] -= direction * step * rho[i]
        for e in range(size):
            if place_x[e] < 0:
                z[e] -= direction * step * alpha[e]
        # values
        target = 0.0
        if leaving_kind == 1:
            gone = basic[leaving]
            target = low[gone] if direction > 0 else high[gone]
            move = (target - x[gone]) / pivot
        else:
            move = (kink[leaving] - r[leaving]) / pivot
        out_w[:] = 0.0
        out_m[:] = 0.0
        out_p[:] = 0.0
        out_class[:] = 0.0
        own = weight_x[basic[leaving]] if leaving_kind == 1 else weight_row[leaving]
        scale = own / (pivot * pivot)
        for t in range(k + (1 if kind == 1 else 0)):
            e = basic[t] if t < k else which
            by = change[t] if t < k else 1.0
            if by == 0.0:
                continue
            x[e] += move * by
            weight_x[e] = max(weight_x[e], by * by * scale)
            if e < n:
                out_w[e] += by
            elif e < 2 * n:
                out_p[e - n] += by
            else:
                i = e - 2 * n
                out_class[0 if positive[i] else 1] += by
                for j in range(n):
                    out_m[j] += by * G[i, j]
        by_margin[:] = 0.0
        _add_margins(out_w, GT, n, m, by_margin)
        for i in range(m):
            total = by_margin[i]
            r[i] += move * total
            weight_row[i] = max(weight_row[i], total * total * scale)
        r[m] += move * out_class[0]
        r[m + 1] += move * out_class[1]
        for f in range(extra):
            j = feature[f]
            total = cw[f] * out_w[j] + cm[f] * out_m[j] + cp[f] * out_p[j]
            r[m + 2 + f] += move * total
            weight_row[m + 2 + f] = max(weight_row[m + 2 + f], total * total * scale)
        if kind == 1:
            weight_x[which] = max(scale, 1.0)
        else:
            weight_row[active[which]] = max(scale, 1.0)
        if leaving_kind == 1:
            x[gone] = target
            z[gone] = direction * step
        else:
            y[leaving] += direction * step
            r[leaving] = kink[leaving]
        if kind == 1:
            z[which] = 0.0
            rho[k] = pivot
        else:
            row = active[which]
            y[row] = price_low[row] if end < 0 else price_high[row]
        _pivot(sizes, inverse, basic, active, place_x, place_row, leaving_kind, leaving, kind, which, change, rho)
        pivots += 1
        fresh = False


@step(fastmath=_SUMS)
def _add_row(sizes, feature, cw, cm, cp, kink, y, r, place_row, j, w, mu, p, right, value):
    f = sizes[N_EXTRA]
    if f >= feature.shape[0]:
        return 0
    size = max(abs(w), abs(mu), abs(p))
    if size < 1e-6 or size > 1e6:
        w, mu, p, right, value = w / size, mu / size, p / size, right / size, value / size
    q = sizes[N_ROWS] + 2 + f
    feature[f], cw[f], cm[f], cp[f] = j, w, mu, p
    kink[q], y[q], r[q], place_row[q] = right, 0.0, value, -1
    sizes[N_EXTRA] = f + 1
    return 1


@step(fastmath=_SUMS)
def separate(sizes, G, feature, cw, cm, cp, kink, y, r, place_row, x, region, tolerance):
    """Add the rows that the relaxed solution breaks: bounds, ratios, products of bounds, tangents. How many."""
    n, m = sizes[N_FEATURES], sizes[N_ROWS]
    mu = np.zeros(n)
    for i in range(m):
        a = x[2 * n + i]
        if a != 0.0:
            for j in range(n):
                mu[j] += a * G[i, j]
    added = 0
    for j in range(n):
        s = region[0, j]
        if s == 0.0:
            continue
        d_low, d_high = region[1, j], region[2, j]
        wl, wu, ml, mh = region[3, j], region[4, j], region[5, j], region[6, j]
        w, g, p = s * x[j], s * mu[j], x[n + j]
        if g < ml - tolerance:
            added += _add_row(sizes, feature, cw, cm, cp, kink, y, r, place_row, j, 0.0, s, 0.0, ml, g)
        if g > mh + tolerance:
            added += _add_row(sizes, feature, cw, cm, cp, kink, y, r, place_row, j, 0.0, -s, 0.0, -mh, -g)
        if d_low > 0.0 and g < d_low * w - tolerance * (1.0 + d_low):
            added += _add_row(
                sizes, feature, cw, cm, cp, kink, y, r, place_row, j, -s * d_low, s, 0.0, 0.0, g - d_low * w
            )
        if d_high < np.inf and g > d_high * w + tolerance * (1.0 + d_high):
            added += _add_row(
                sizes, feature, cw, cm, cp, kink, y, r, place_row, j, s * d_high, -s, 0.0, 0.0, d_high * w - g
            )
        true_w, true_g = w, g
        w, g = max(w, 0.0), max(g, 0.0)
        low, corner = p, 0
        if wl > 0.0 or ml > 0.0:
            value = wl * g + ml * w - wl * ml
            if value > low + 1e-7:
                low, corner = value, 1
        if wu < np.inf and mh < np.inf:
            value = wu * g + mh * w - wu * mh
            if value > low + 1e-7:
                low, corner = value, 2
        a, b = 0.0, 0.0
        root = np.sqrt(d_low)
        if d_high == np.inf:
            a = root
        elif d_high > 0.0:
            b = 1.0 / (root + np.sqrt(d_high))
            a = root * np.sqrt(d_high) * b
        t = a * w + b * g
        if t * t > low + 1e-7:
            low, corner = t * t, 3
        if corner == 0 or low < p + 1e-5:
            continue
        if corner == 1:
            added += _add_row(
                sizes, feature, cw, cm, cp, kink, y, r, place_row, j, -s * ml, -s * wl, 1.0, -wl * ml,
                p - ml * true_w - wl * true_g,
            )  # fmt: skip
        elif corner == 2:
            added += _add_row(
                sizes, feature, cw, cm, cp, kink, y, r, place_row, j, -s * mh, -s * wu, 1.0, -wu * mh,
                p - mh * true_w - wu * true_g,
            )  # fmt: skip
        else:
            added += _add_row(
                sizes, feature, cw, cm, cp, kink, y, r, place_row, j, -2.0 * t * a * s, -2.0 * t * b * s, 1.0, -t * t,
                p - 2.0 * t * (a * true_w + b * true_g),
            )  # fmt: skip
    return added


@step(fastmath=_SUMS)
def _relax(
    sizes,
    G,
    GT,
    positive,
    feature,
    cw,
    cm,
    cp,
    cost,
    kink,
    price_low,
    price_high,
    low,
    high,
    inverse,
    basic,
    active,
    place_x,
    place_row,
    x,
    r,
    y,
    z,
    ray,
    region,
    most,
    cutoff,
    rounds,
):
    """Solve, add the rows that the solution breaks, and solve again; returns (status, value, pivots)."""
    total = 0
    turn = 0
    separate(
        sizes, G, feature, cw, cm, cp, kink, y, r, place_row, x, region, 1e-8
    )  # what is new since the last solution
    while True:
        status, value, pivots = solve(
            sizes, G, GT, positive, feature, cw, cm, cp, cost, kink, price_low, price_high, low, high, inverse, basic,
            active, place_x, place_row, x, r, y, z, ray, most - total, cutoff, turn > 0,
        )  # fmt: skip
        total += pivots
        turn += 1
        if status != OPTIMAL or turn > rounds:
            return status, value, total
        if separate(sizes, G, feature, cw, cm, cp, kink, y, r, place_row, x, region, 1e-8) == 0:
            return status, value, total


@step
def _know(kind, item, value, region, cap, price_low, price_high, low, high, n):
    """Add a fact (numbers of ``leaf_kernel``) as ``Tree.push`` and ``NodeLP`` do; what it changes is for others to save."""
    if kind < 7:
        region[kind, item] = value
        if region[0, item] > 0.0:
            low[item], high[item] = region[3, item], region[4, item]
        elif region[0, item] < 0.0:
            low[item], high[item] = -region[4, item], -region[3, item]
        return
    if kind == 7:  # out
        high[2 * n + item] = 0.0
    if kind == 9:  # in
        low[2 * n + item] = cap[item]
    if kind == 8 or kind == 9:
        price_low[item] = -np.inf
    if kind == 10 or kind == 7:
        price_high[item] = np.inf


@entry(fastmath=_SUMS)
def relax(
    sizes, G, GT, positive, cap, feature, coefficients, cost, numbers, places, inverse, ray, region, most, cutoff, rounds,
    kinds, items, values, reached,
):  # fmt: skip
    """Relax the node, or probe facts: assume one after the other, relax each, and go back; the first one refuted ends it.

    Without facts it returns (status, value, pivots), with facts (how many were probed, status of the last one if it is
    refuted and OPTIMAL if not, pivots), and ``reached`` are the values of their relaxations; a refuted fact is left
    assumed. One entry for both: each compiles all that it calls.
    """
    n, m = sizes[N_FEATURES], sizes[N_ROWS]
    rows, size, largest = m + 2 + feature.shape[0], 2 * n + m, inverse.shape[0]
    kink, price_low, price_high = numbers[:rows], numbers[rows : 2 * rows], numbers[2 * rows : 3 * rows]
    y, r = numbers[3 * rows : 4 * rows], numbers[4 * rows : 5 * rows]
    rest = numbers[5 * rows :]
    low, high, x, z = rest[:size], rest[size : 2 * size], rest[2 * size : 3 * size], rest[3 * size : 4 * size]
    place_x, place_row = places[:size], places[size : size + rows]
    basic, active = places[size + rows : size + rows + largest], places[size + rows + largest :]
    cw, cm, cp = coefficients[0], coefficients[1], coefficients[2]
    probing = len(kinds) > 0
    k, pivots = sizes[K], 0
    if probing:
        numbers_before, places_before, sizes_before = numbers.copy(), places.copy(), sizes.copy()
        inverse_before = inverse[:k, :k].copy()
    number = 0
    while True:
        if probing:
            kind, item = kinds[number], items[number]
            column = item if kind < 7 else 0
            region_before = region[:, column].copy()
            _know(kind, item, values[number], region, cap, price_low, price_high, low, high, n)
        status, value, took = _relax(
            sizes, G, GT, positive, feature, cw, cm, cp, cost, kink, price_low, price_high, low, high, inverse, basic,
            active, place_x, place_row, x, r, y, z, ray, region, most, cutoff, rounds,
        )  # fmt: skip
        pivots += took
        if not probing:
            return status, value, pivots
        reached[number] = value
        number += 1
        if status in (INFEASIBLE, CUT_OFF):  # left as it is, for its proof
            return number, status, pivots
        reached[number - 1] = min(value, cutoff)
        region[:, column] = region_before
        numbers[:] = numbers_before
        places[:] = places_before
        sizes[:] = sizes_before
        for i in range(k):  # feature rows of before are still there: new ones come behind them
            for t in range(k):
                inverse[i, t] = inverse_before[i, t]
        if number == len(kinds):
            return number, OPTIMAL, pivots
