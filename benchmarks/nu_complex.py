"""All vertices of the closure of the set of ν-SVMs under every rescaling, in floats: what benchmarks.nu_vertices counts.

A vertex is a basis: k features with weight, k + 1 rows *on* the margin ρ, and every other row *out* (beyond it, multiplier
0) or *in* (short of it, multiplier at its cap). Required margins are ρ + ε_i with tiny ε_i drawn at random, so that every
vertex has one basis; each basis is solved and checked again without ε. An edge gives a feature weight (of either sign), or
lets a row go out or in; it belongs to the closure iff multipliers between 0 and their caps, each class's adding up to 1/2,
give every feature with weight a μ_j of the weight's sign (theory, sections 4 and 11).

Floats decide all of it, with tolerances, and ε is a number: this counts vertices, and proves nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.optimize import linprog

PERTURBATION = 1e-8  # of the required margins, in units of ρ
_POSITIVE = 1e-10  # a least μ_j above this is positive
_FAR = 1e-8  # and below this it is near
_OFF = 1e-7  # how far an unperturbed vertex may miss a condition, in units of ρ
_SAME = 1e-7  # vertices whose weights differ by less than this share of the largest are one
_CHUNK = 500
_LP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# counts of the walk
NEAR, BROKEN, UNBOUNDED, OFF, EDGES = range(5)


@njit(cache=True, error_model="numpy")
def _invert(matrix, size, inverse):
    """Gauss-Jordan with partial pivoting, in place; False where the matrix is singular."""
    for i in range(size):
        for j in range(size):
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(size):
        row = k
        for i in range(k + 1, size):
            if abs(matrix[i, k]) > abs(matrix[row, k]):
                row = i
        if abs(matrix[row, k]) < 1e-13:
            return False
        for j in range(size):
            matrix[row, j], matrix[k, j] = matrix[k, j], matrix[row, j]
            inverse[row, j], inverse[k, j] = inverse[k, j], inverse[row, j]
        scale = 1.0 / matrix[k, k]
        for j in range(size):
            matrix[k, j] *= scale
            inverse[k, j] *= scale
        for i in range(size):
            factor = matrix[i, k]
            if i != k and factor != 0.0:
                for j in range(size):
                    matrix[i, j] -= factor * matrix[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
    return True


@njit(cache=True, error_model="numpy")
def largest_least(slopes, base, side, caps, sums):
    """The largest that the least of base + slopes·a can be, where 0 <= a <= caps, and a adds up to ``sums`` on each side.

    A simplex method with bounds; it stops where the value is clearly positive. -1 where there is no such a.
    """
    k, p = slopes.shape
    state = np.zeros(p, np.int64)  # 0 and 1: at its lower, upper bound; 2: basic
    basic_of = np.full(2, -1)
    a = np.zeros(p)
    for c in range(2):
        need, last = sums[c], -1
        for i in range(p):
            if side[i] == c:
                last = i
                if need >= caps[i]:
                    a[i], state[i] = caps[i], 1
                    need -= caps[i]
                elif basic_of[c] < 0:
                    a[i], basic_of[c], state[i] = max(need, 0.0), i, 2
                    need = min(need, 0.0)
        if abs(need) > 1e-11:
            return -1.0
        if basic_of[c] < 0 and last >= 0:
            basic_of[c], state[last] = last, 2
    g = base.copy()
    for j in range(k):
        for i in range(p):
            g[j] += slopes[j, i] * a[i]
    first = int(np.argmin(g))
    # rows: the least value, basic multipliers, what the other values are above the least; columns: what is not basic
    table = np.zeros((k + 2, p + 1))
    variable, value, upper = np.empty(k + 2, np.int64), np.empty(k + 2), np.empty(k + 2)
    columns, column_state, width = np.empty(p + 1, np.int64), np.empty(p + 1, np.int64), np.empty(p + 1)
    n_columns = 0
    for i in range(p):
        if state[i] != 2:
            columns[n_columns], column_state[n_columns], width[n_columns] = i, state[i], caps[i]
            n_columns += 1
    columns[n_columns], column_state[n_columns], width[n_columns] = p + first, 0, np.inf
    n_columns += 1
    variable[0], value[0], upper[0] = -1, g[first], np.inf
    n_rows = 1
    for c in range(2):
        if basic_of[c] >= 0:
            e = basic_of[c]
            variable[n_rows], value[n_rows], upper[n_rows] = e, a[e], caps[e]
            for q in range(n_columns - 1):
                if side[columns[q]] == c:
                    table[n_rows, q] = -1.0
            n_rows += 1
    for j in range(-1, k):
        if j == first:
            continue
        r = 0 if j < 0 else n_rows
        for q in range(n_columns - 1):
            i = columns[q]
            e = basic_of[side[i]]
            table[r, q] = slopes[first, i] - slopes[first, e]
            if j >= 0:
                table[r, q] = slopes[j, i] - slopes[j, e] - table[0, q]
        table[r, n_columns - 1] = -1.0 if j < 0 else 1.0
        if j >= 0:
            variable[r], value[r], upper[r] = p + j, g[j] - g[first], np.inf
            n_rows += 1
    for iteration in range(500):
        if value[0] > _FAR:
            return value[0]
        entering, most = -1, 1e-11
        for q in range(n_columns):
            gain = table[0, q] if column_state[q] == 0 else -table[0, q]
            if gain > 1e-11 and iteration > 60:  # Bland's rule
                if entering < 0 or columns[q] < columns[entering]:
                    entering = q
            elif gain > most:
                entering, most = q, gain
        if entering < 0:
            return value[0]
        turn = 1.0 if column_state[entering] == 0 else -1.0
        length, leaving = width[entering], -1
        for r in range(1, n_rows):
            speed = table[r, entering] * turn
            room = np.inf
            if speed < -1e-11:
                room = max(value[r], 0.0) / -speed
            elif speed > 1e-11:
                room = max(upper[r] - value[r], 0.0) / speed
            if room < length or (
                leaving >= 0
                and room == length
                and (variable[r] < variable[leaving] if iteration > 60 else abs(speed) > abs(table[leaving, entering]))
            ):
                length, leaving = room, r
        if length == np.inf:
            return np.inf
        for r in range(n_rows):
            value[r] += table[r, entering] * turn * length
        if leaving < 0:
            column_state[entering] = 1 - column_state[entering]
            continue
        at_upper = table[leaving, entering] * turn > 0
        entered = width[entering] if turn < 0 else 0.0
        pivot = table[leaving, entering]
        for q in range(n_columns):
            table[leaving, q] /= -pivot
        table[leaving, entering] = 1.0 / pivot
        for r in range(n_rows):
            factor = table[r, entering]
            if r != leaving and factor != 0.0:
                for q in range(n_columns):
                    if q != entering:
                        table[r, q] += factor * table[leaving, q]
                table[r, entering] = factor * table[leaving, entering]
        width_out = upper[leaving]
        upper[leaving], value[leaving] = width[entering], entered + turn * length
        width[entering], column_state[entering] = width_out, 1 if at_upper else 0
        variable[leaving], columns[entering] = columns[entering], variable[leaving]
    return value[0]


@njit(cache=True, error_model="numpy")
def _find(table, key):
    """Put a key into the set; False where it is there already."""
    mask = table.size - 1
    place = key & mask
    while table[place] != 0:
        if table[place] == key:
            return False
        place = (place + 1) & mask
    table[place] = key
    return True


@njit(cache=True, error_model="numpy")
def _expand(rows, signs, caps, eps, unit, names, keys, seen, weighted, on, inside, solved, start, stop, count, counts):
    """Solve the vertices from start to stop and store the neighbours that are new; returns how many there are now."""
    m, n = rows.shape
    matrix, inverse = np.empty((n + 2, n + 2)), np.empty((n + 2, n + 2))
    gap, speed = np.empty(m), np.empty(m)
    side = np.where(signs > 0, 0, 1)
    for v in range(start, stop):
        features = np.flatnonzero(weighted[v])
        k = features.size
        tight = on[v, : k + 1].copy()
        size = k + 2
        mu, held, shift, lack = np.zeros(n), np.zeros(2), 0.0, 0.0
        for i in range(m):
            if inside[v, i]:
                held[side[i]] += caps[i]
                shift += caps[i] * eps[i]
                for j in range(n):
                    mu[j] += caps[i] * signs[i] * rows[i, j]
        for r in range(k + 1):
            i = tight[r]
            for q in range(k):
                matrix[r, q] = signs[i] * rows[i, features[q]]
            matrix[r, k], matrix[r, k + 1] = signs[i], -1.0
        for q in range(k):
            matrix[k + 1, q] = mu[features[q]]
        matrix[k + 1, k], matrix[k + 1, k + 1] = held[0] - held[1], 1.0 - held[0] - held[1]
        if not _invert(matrix, size, inverse):
            counts[BROKEN] += 1
            continue
        z, exact = np.zeros(size), np.zeros(size)
        for q in range(size):
            exact[q] = inverse[q, k + 1] * unit
            z[q] = inverse[q, k + 1] * (unit + shift)
            for r in range(k + 1):
                z[q] += inverse[q, r] * eps[tight[r]]
        is_on = np.zeros(m, np.bool_)
        for r in range(k + 1):
            is_on[tight[r]] = True
        # without the perturbation: the vertex, and how far it misses a condition
        for q in range(k):
            lack = max(lack, -exact[q] * np.sign(z[q]))
        for i in range(m):
            value, plain = signs[i] * z[k] - z[k + 1] - eps[i], signs[i] * exact[k] - exact[k + 1]
            for q in range(k):
                x = signs[i] * rows[i, features[q]]
                value += x * z[q]
                plain += x * exact[q]
            gap[i] = value
            if not is_on[i]:
                turn = -1.0 if inside[v, i] else 1.0
                lack = max(lack, -turn * plain)
                if turn * value < -1e-12:
                    counts[BROKEN] += 1
        largest = 0.0
        for q in range(k):
            largest = max(largest, abs(exact[q]))
        solved[v, :] = 0.0
        for q in range(k):
            solved[v, features[q]] = exact[q] / largest
        solved[v, n] = exact[k] / largest
        solved[v, n + 1] = lack
        if lack > _OFF:
            counts[OFF] += 1
        # edges: 2 for each feature without weight, 2 for each row that is on
        for edge in range(2 * n + 2 * (k + 1)):
            added, dropped, turn = -1, -1, 1.0 if edge % 2 == 0 else -1.0
            if edge < 2 * n:
                added = edge // 2
                if weighted[v, added]:
                    continue
            else:
                dropped = edge // 2 - n
            p, kk = k + 1 - (dropped >= 0), k + (added >= 0)
            slopes, base = np.empty((kk, p)), np.empty(kk)
            sides, tops, sums = np.empty(p, np.int64), np.empty(p), np.array([0.5 - held[0], 0.5 - held[1]])
            goes_in = dropped >= 0 and turn < 0
            if goes_in:
                sums[side[tight[dropped]]] -= caps[tight[dropped]]
            for q in range(kk):
                j = features[q] if q < k else added
                s = (1.0 if z[q] > 0 else -1.0) if q < k else turn
                base[q] = s * mu[j]
                if goes_in:
                    base[q] += s * caps[tight[dropped]] * signs[tight[dropped]] * rows[tight[dropped], j]
                c = 0
                for r in range(k + 1):
                    if r != dropped:
                        i = tight[r]
                        slopes[q, c], sides[c], tops[c] = s * signs[i] * rows[i, j], side[i], caps[i]
                        c += 1
            least = largest_least(slopes, base, sides, tops, sums)
            if 1e-13 < abs(least) < _FAR:
                counts[NEAR] += 1
            if least <= _POSITIVE:
                continue
            counts[EDGES] += 1
            # along the edge
            d = np.zeros(size)
            if added >= 0:
                for q in range(size):
                    d[q] = inverse[q, k + 1] * mu[added]
                    for r in range(k + 1):
                        d[q] += inverse[q, r] * signs[tight[r]] * rows[tight[r], added]
                    d[q] *= -turn
            else:
                for q in range(size):
                    d[q] = turn * inverse[q, dropped]
                    if goes_in:
                        d[q] += caps[tight[dropped]] * inverse[q, k + 1]
            length, met_row, met_feature = np.inf, -1, -1
            for q in range(k):
                if d[q] * z[q] < 0 and -z[q] / d[q] < length:
                    length, met_feature = -z[q] / d[q], features[q]
            for i in range(m):
                if is_on[i]:
                    continue
                rate = signs[i] * d[k] - d[k + 1]
                for q in range(k):
                    rate += signs[i] * rows[i, features[q]] * d[q]
                if added >= 0:
                    rate += signs[i] * rows[i, added] * turn
                speed[i] = rate
                away = -gap[i] if inside[v, i] else gap[i]
                nearer = rate if inside[v, i] else -rate
                if nearer > 1e-14 and max(away, 0.0) / nearer < length:
                    length, met_row, met_feature = max(away, 0.0) / nearer, i, -1
            if length == np.inf:
                counts[UNBOUNDED] += 1
                continue
            key = keys[v]
            if added >= 0:
                key ^= names[added]
            else:
                key ^= names[n + tight[dropped]]
                if goes_in:
                    key ^= names[n + m + tight[dropped]]
            if met_feature >= 0:
                key ^= names[met_feature]
            else:
                key ^= names[n + met_row]
                if inside[v, met_row]:
                    key ^= names[n + m + met_row]
            if not _find(seen, key):
                continue
            if count == len(keys):
                return count + 1
            keys[count] = key
            weighted[count], inside[count] = weighted[v], inside[v]
            if added >= 0:
                weighted[count, added] = 1
            if goes_in:
                inside[count, tight[dropped]] = 1
            if met_feature >= 0:
                weighted[count, met_feature] = 0
            c = 0
            for r in range(k + 1):
                if r != dropped:
                    on[count, c] = tight[r]
                    c += 1
            if met_row >= 0:
                on[count, c] = met_row
                inside[count, met_row] = 0
            count += 1
    return count


@dataclass(frozen=True)
class Enumeration:
    """``vertices`` are (w, b), once each, with the largest weight 1; ``bases`` counts those of the perturbed problem."""

    vertices: Any
    bases: int
    complete: bool
    stopped_by: str
    seconds: float
    counts: dict[str, int]


def l1_svm(rows: Any, signs: Any, caps: Any, costs: Any, eps: Any = None) -> tuple[Any, float, float, Any, float]:
    """(w, b), ρ, the multipliers, and ρ - Σ cap ξ of the ν-SVM with Σ c|w| <= 1 in the place of the norm, by HiGHS.

    Solved in its dual form: the least t with |μ_j| <= c_j t, where multipliers are at most their caps and add up to 1.
    """
    m, n = rows.shape
    pull = (signs[:, None] * rows).T
    limits = np.block([[pull, -costs[:, None]], [-pull, -costs[:, None]]])
    sums = np.block([[np.ones((1, m)), np.zeros((1, 1))], [signs[None, :], np.zeros((1, 1))]])
    gain = np.zeros(m) if eps is None else eps
    answer = linprog(
        np.append(-gain, 1.0),
        A_ub=limits,
        b_ub=np.zeros(2 * n),
        A_eq=sums,
        b_eq=[1.0, 0.0],
        bounds=[*((0.0, cap) for cap in caps), (0.0, None)],
        method="highs-ds",
        options=_LP,
    )
    if answer.status != 0:
        raise RuntimeError(f"HiGHS: {answer.message}")
    marginal = answer.ineqlin.marginals
    rho, b = answer.eqlin.marginals
    # marginals of lower bounds have one sign: w is what the two limits of a feature leave
    return marginal[n:] - marginal[:n], -float(b), float(rho), answer.x[:m], float(answer.fun)


def random_costs(rng: Any, n: int) -> Any:
    return np.exp(rng.normal(size=n) * rng.choice([0.5, 1.0, 2.0]))


def _first(rows: Any, signs: Any, caps: Any, rng: Any) -> tuple[Any, float, Any, Any, Any]:
    """ε, the unit of ρ - Σ cap ξ that makes ρ about 1, and a first basis."""
    m, n = rows.shape
    eps = PERTURBATION * rng.random(m)
    for _ in range(50):
        costs = random_costs(rng, n)
        _, _, rho, _, _ = l1_svm(rows, signs, caps, costs)
        w, _, _, a, unit = l1_svm(rows, signs, caps, costs * rho, eps)
        weighted = np.abs(w) > 1e-9 * np.abs(w).max()
        within = (a > 1e-7 * caps) & (a < caps * (1 - 1e-7))
        inside = a >= caps * (1 - 1e-7)
        if within.sum() == weighted.sum() + 1:
            return eps, unit, weighted, np.flatnonzero(within), inside
    raise RuntimeError("no costs gave a first vertex with one basis")


def distinct(solutions: Any) -> Any:
    """Solutions that are not the same up to rounding."""
    if len(solutions) == 0:
        return solutions
    _, first = np.unique(np.round(solutions / _SAME), axis=0, return_index=True)
    found = solutions[np.sort(first)]
    # rounding may part what is the same: a second grid, half a step off
    _, first = np.unique(np.round(found / _SAME + 0.5), axis=0, return_index=True)
    return found[np.sort(first)]


def enumerate_vertices(
    rows: Any, signs: Any, caps: Any, *, seed: int = 0, most: int = 200_000, seconds: float = 120.0
) -> Enumeration:
    """All vertices for rows with features of about equal range, up to a number of bases or of seconds of processor time."""
    began = time.process_time()
    rng = np.random.default_rng(seed)
    rows, signs = np.ascontiguousarray(rows, dtype=float), np.asarray(signs, dtype=float)
    centre = rows.mean(axis=0)
    rows = rows - centre  # changes b alone
    m, n = rows.shape
    names = rng.integers(1, 2**62, size=n + 2 * m)
    for _ in range(20):
        eps, unit, weighted_first, on_first, inside_first = _first(rows, signs, caps, rng)
        weighted, inside = np.zeros((most, n), np.uint8), np.zeros((most, m), np.uint8)
        on, solved, keys = np.zeros((most, n + 1), np.int64), np.zeros((most, n + 2)), np.zeros(most, np.int64)
        seen = np.zeros(1 << int(4 * most).bit_length(), np.int64)
        counts = np.zeros(5, np.int64)
        weighted[0], inside[0] = weighted_first, inside_first
        on[0, : len(on_first)] = on_first
        for name in (*np.flatnonzero(weighted_first), *(n + on_first), *(n + m + np.flatnonzero(inside_first))):
            keys[0] ^= names[name]
        seen[keys[0] & (seen.size - 1)] = keys[0]
        arrays = (names, keys, seen, weighted, on, inside, solved)
        count = _expand(rows, signs, caps, eps, unit, *arrays, 0, 1, 1, counts)
        if counts[BROKEN] == 0:
            break
    else:
        raise RuntimeError("no first vertex fulfils the conditions")
    done, stopped_by = 1, ""
    while done < count and not stopped_by:
        stop = min(done + _CHUNK, count)
        count = _expand(rows, signs, caps, eps, unit, *arrays, done, stop, count, counts)
        if count > most:
            stopped_by = "vertices"
        elif time.process_time() - began > seconds:
            stopped_by = "seconds"
        done = stop
    good = solved[:done][(solved[:done, n + 1] <= _OFF) & (np.abs(solved[:done, :n]).max(axis=1) > 0)]
    vertices = distinct(good[:, : n + 1])
    vertices[:, n] -= vertices[:, :n] @ centre
    names_of_counts = ("near", "broken", "unbounded", "not confirmed", "edges")
    return Enumeration(
        vertices,
        min(count, most),
        stopped_by == "" and done == count,
        stopped_by,
        time.process_time() - began,
        dict(zip(names_of_counts, counts.tolist(), strict=True)),
    )
