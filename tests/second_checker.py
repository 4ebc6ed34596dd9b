"""A second checker, written from docs/certificates.md alone: fractions, no integers over common denominators, no shortcuts.

It shares no code with ``rescaleinv.verify``. ``proves(text, …)`` is the claim, or None where the certificate must be refused
or can't be checked. It is slow, and it enumerates all joins of tied cells.
"""

import copy
import hashlib
import itertools
import json
import re
from fractions import Fraction

EXACT = re.compile(r"-?(0x[0-9a-f]+|[0-9]{1,4300})(/(0x[0-9a-f]+|[0-9]{1,4300}))?", re.ASCII)


class No(Exception):
    """A condition of the page that does not hold."""


def need(condition):
    if not condition:
        raise No


# 1. JSON and numbers


def read_json(text):
    def unique(pairs):
        need(len({name for name, _ in pairs}) == len(pairs))
        return dict(pairs)

    def constant(_):
        raise No

    return json.loads(text, object_pairs_hook=unique, parse_constant=constant)


def fields(record, *names):
    need(type(record) is dict and set(record) == set(names))
    return [record[name] for name in names]


def part_of_number(text):
    return int(text, 16) if "x" in text else int(text)


def exact(text):
    need(type(text) is str and EXACT.fullmatch(text))
    numerator, _, denominator = text.partition("/")
    below = part_of_number(denominator) if denominator else 1
    need(below != 0)
    return Fraction(part_of_number(numerator), below)


def exact_list(texts, length):
    need(type(texts) is list and len(texts) == length)
    return [exact(text) for text in texts]


def is_integer(value):
    return type(value) is int


def by_row(record, m):
    need(type(record) is dict)
    allowed = {str(i): i for i in range(m)}
    need(set(record) <= set(allowed))
    return {allowed[key]: exact(text) for key, text in record.items()}


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def sign(value):
    return (value > 0) - (value < 0)


# 2. The training rows


class Rows:
    def __init__(self, record):
        names = ["sha256", "left_out", "labels", "rows"]
        need(type(record) is dict)
        has_reading = "reading" in record
        sha256, left_out, labels, rows, *reading = fields(record, *names, *["reading"] * has_reading)
        need(is_integer(left_out) and left_out >= 0)
        need(type(rows) is list and rows and type(rows[0]) is list and rows[0])
        need(type(labels) is list and len(labels) == len(rows))
        need(all(is_integer(y) for y in labels) and set(labels) == {1, -1})
        self.x = [exact_list(row, len(rows[0])) for row in rows]
        self.y = labels
        self.m, self.n = len(rows), len(rows[0])
        lines = (f"{y}:{','.join(str(value) for value in x)}\n" for x, y in zip(self.x, self.y, strict=True))
        self.sha256 = hashlib.sha256("".join(lines).encode()).hexdigest()
        need(sha256 == self.sha256)
        self.reading = self.maps(reading[0]) if has_reading else None

    def maps(self, reading):
        """(origin, unit, rounding) of each feature, or None."""
        need(type(reading) is list and len(reading) == self.n)
        found = []
        for j, entry in enumerate(reading):
            if entry is None:
                found.append(None)
                continue
            origin, unit, rounding, given = fields(entry, "origin", "unit", "rounding", "given")
            origin, unit, rounding, given = exact(origin), exact(unit), exact(rounding), exact_list(given, self.m)
            need(unit > 0 and 0 <= rounding <= max(abs(value) for value in given) / 2**45)
            need(all(abs(origin + unit * x[j] - value) <= rounding for x, value in zip(self.x, given, strict=True)))
            found.append((origin, unit, rounding))
        return found

    def require_given(self, point, given):
        for map_, x, value in zip(self.reading, point, given, strict=True):
            if map_ is None:
                need(x == value)
            else:
                origin, unit, rounding = map_
                need(abs(origin + unit * x - value) <= max(rounding, abs(value) / 2**45))

    def margin(self, i, w, b):
        return self.y[i] * (dot(w, self.x[i]) + b)


# 3. A certificate


def proves(text, rows_text=None, complexes=()):
    """The claim that a certificate proves, or None."""
    try:
        return _proves(text, rows_text, complexes)
    except (No, ValueError, RecursionError):
        return None


def _proves(text, rows_text, complexes):
    content = read_json(text)
    names = ("schema", "claim", "point", "training", "evidence", "versions", "digest")
    need(type(content) is dict)
    is_read = "given_point" in content
    values = fields(content, *names, *["given_point"] * is_read)
    schema, claim, point, training, evidence, versions, digest = values[:7]
    need(schema == "rescaleinv-certificate/1" and type(versions) is dict)
    rest = {name: value for name, value in content.items() if name != "digest"}
    canonical = json.dumps(rest, allow_nan=False, sort_keys=True, separators=(",", ":"))
    need(hashlib.sha256(canonical.encode()).hexdigest() == digest)
    given = None if rows_text is None else Rows(read_json(rows_text))
    need(type(training) is dict)
    if "rows" in training:
        rows = Rows(training)
    else:
        sha256, left_out = fields(training, "sha256", "left_out")
        need(is_integer(left_out) and left_out >= 0)
        at_hand = [*([] if given is None else [given]), *(found.rows for found in complexes)]
        at_hand = [rows for rows in at_hand if rows.sha256 == sha256]
        need(at_hand)
        rows = at_hand[0]
    need(given is None or (given.sha256, given.reading) == (rows.sha256, rows.reading))
    p = exact_list(point, rows.n)
    need(is_read == (rows.reading is not None))
    if is_read:
        rows.require_given(p, exact_list(values[7], rows.n))
    need(type(evidence) is dict and "kind" in evidence and type(claim) is str)
    kind = evidence["kind"]
    if kind == "two-rescalings":
        need(claim == "neutral")
        two_rescalings(evidence, rows, p)
    elif kind == "complex":
        need(claim in ("strongly positive", "strongly negative"))
        strong(evidence, rows, p, claim, complexes)
    elif kind == "tree":
        need(claim in ("strongly positive", "strongly negative"))
        tree_of(evidence, rows, p, claim)
    elif kind in ("cover", "relative-cover"):
        need(claim in ("strongly positive within the range", "strongly negative within the range"))
        need(in_given_units(rows))
        covered(evidence, rows, p, 1 if "positive" in claim else -1, relative=kind == "relative-cover")
    elif kind == "nu-two-rescalings":
        need(claim == "neutral with nu")
        nu_two_rescalings(evidence, rows, p)
    elif kind == "nu-two-intercepts":
        need(claim == "neutral with nu")
        nu_two_intercepts(evidence, rows, p)
    elif kind == "nu-tree":
        need(claim in ("strongly positive with nu", "strongly negative with nu"))
        nu_tree_of(evidence, rows, p, claim)
    else:
        need(kind == "two-labels" and claim == "neutral within the range" and in_given_units(rows))
        two_labels(evidence, rows, p)
    return claim


def in_given_units(rows):
    return all(map_ is None or map_[1] == 1 for map_ in rows.reading or ())


# 4. two-rescalings


def optimal(record, rows):
    """(w, b) of a classifier that is the maximum-margin one at its rescaling."""
    w, b, a, d = fields(record, "weights", "intercept", "multipliers", "inverse_squared_rescaling")
    w, b, a, d = exact_list(w, rows.n), exact(b), by_row(a, rows.m), exact_list(d, rows.n)
    need(all(value > 0 for value in (*a.values(), *d)))
    for i in range(rows.m):
        margin = rows.margin(i, w, b)
        need(margin == 1 if i in a else margin >= 1)
    need(sum(value * rows.y[i] for i, value in a.items()) == 0)
    for j in range(rows.n):
        need(d[j] * w[j] == sum(value * rows.y[i] * rows.x[i][j] for i, value in a.items()))
    return w, b


def two_rescalings(evidence, rows, p):
    _, positive, negative = fields(evidence, "kind", "positive", "negative")
    for record, is_positive in ((positive, True), (negative, False)):
        w, b = optimal(record, rows)
        need((dot(w, p) + b >= 0) == is_positive)


# 5. complexes


def solve(matrix, right):
    """Gaussian elimination; ``No`` if the matrix is singular."""
    rows = [[Fraction(value) for value in (*row, *extra)] for row, extra in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivots = [i for i in range(k, size) if rows[i][k] != 0]
        need(pivots)
        rows[k], rows[pivots[0]] = rows[pivots[0]], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows]


class Complex:
    """A complex certificate whose conditions hold; ``No`` otherwise."""

    def __init__(self, data):
        self.sha256 = hashlib.sha256(data).hexdigest()
        need(data.endswith(b"\n") and data.startswith(b'{"schema":"rescaleinv-complex/1"'))
        first, *lines = data[:-1].split(b"\n")
        names = ("schema", "training", "tilt", "vertices", "multipliers", "versions")
        schema, training, tilt, n_vertices, multipliers, versions = fields(read_json(first.decode()), *names)
        need(schema == "rescaleinv-complex/1" and type(versions) is dict)
        self.rows = Rows(training)
        need(type(tilt) is list and len(tilt) == self.rows.m and all(is_integer(p) and p > 0 for p in tilt))
        need(is_integer(n_vertices) and n_vertices > 0 and len(lines) == n_vertices)
        self.tilt = tilt
        self.vertices = {}
        self.solutions = []
        for line in lines:
            basis, leads, signs, solution = self.vertex(read_json(line.decode()))
            need(basis not in self.vertices)
            self.vertices[basis] = leads, signs
            self.solutions.append(solution)
        self.start(multipliers)
        for _, (leads, signs) in self.vertices.items():
            for reached, dropped_feature, turn in leads:
                need(reached in self.vertices)
                others = self.vertices[reached][1]
                need(all(s * o >= 0 for s, o in zip(signs, others, strict=True)))
                need(dropped_feature is None or others[dropped_feature] == turn)

    def vertex(self, record):
        rows, m, n = self.rows, self.rows.m, self.rows.n
        need(type(record) is list and len(record) == 2)
        basis, edges = record
        need(type(basis) is list and len(basis) == n + 1)
        need(all(is_integer(item) and 0 <= item < m + n for item in basis))
        need(basis == sorted(set(basis)))
        tight = [item for item in basis if item < m]
        zero = [item - m for item in basis if item >= m]
        support = [j for j in range(n) if j not in zero]
        matrix = [[rows.y[i] * x for x in (*(rows.x[i][j] for j in support), 1)] for i in tight]
        found = solve(matrix, [[1, self.tilt[i]] for i in tight])
        still, rate = [Fraction(0)] * n, [Fraction(0)] * n
        for j, (value, change) in zip(support, found[:-1], strict=True):
            still[j], rate[j] = value, change
        b, b_rate = found[-1]
        for i in range(m):
            if i not in tight:
                slack = rows.margin(i, still, b) - 1
                need(slack > 0 or (slack == 0 and rows.margin(i, rate, b_rate) - self.tilt[i] > 0))
        signs = [sign(value or change) for value, change in zip(still, rate, strict=True)]
        need(all(signs[j] for j in support))
        drops = [(i, None, 0) for i in tight] + [(None, q, turn) for q in zero for turn in (1, -1)]
        need(type(edges) is list and len(edges) == len(drops))
        leads = []
        for entry, (row, feature, turn) in zip(edges, drops, strict=True):
            if is_integer(entry) and entry >= 0:
                need(entry < m + n and entry not in basis)
                dropped = row if feature is None else m + feature
                leads.append((tuple(sorted({*basis, entry} - {dropped})), feature, turn))
                continue
            h, t = self.vector(entry, tight, support, row, feature, turn)
            edge_signs = [turn if j == feature else s for j, s in enumerate(signs)]
            need(any(h))
            need(all(value == 0 or value * s > 0 for value, s in zip(h, edge_signs, strict=True)))
            need(all(rows.margin(i, h, t) <= 0 for i in tight if i != row))
        return tuple(basis), leads, signs, (still, b)

    def vector(self, entry, tight, support, row, feature, turn):
        rows, n = self.rows, self.rows.n
        if type(entry) is list:
            *h, t = exact_list(entry, n + 1)
            return h, t
        need(is_integer(entry))
        bits = -1 - entry
        need(bits < 2 ** (len(tight) + len(support)))
        z = [i for k, i in enumerate(tight) if not bits & 2**k]
        s = [j for k, j in enumerate(support) if bits & 2 ** (len(tight) + k)]
        need(len(z) == len(s) + 1)
        h = [Fraction(0)] * n
        if feature is not None:
            h[feature] = Fraction(turn)
        matrix = [[rows.y[i] * x for x in (*(rows.x[i][j] for j in s), 1)] for i in z]
        right = [[(1 if i == row else 0) - rows.y[i] * dot(h, rows.x[i])] for i in z]
        found = [value for (value,) in solve(matrix, right)]
        for j, value in zip(s, found[:-1], strict=True):
            h[j] = value
        return h, found[-1]

    def start(self, multipliers):
        rows = self.rows
        basis = next(iter(self.vertices))
        signs = self.vertices[basis][1]
        tight = [item for item in basis if item < rows.m]
        a = exact_list(multipliers, len(tight))
        need(all(value >= 0 for value in a))
        need(sum(value * rows.y[i] for value, i in zip(a, tight, strict=True)) == 0)
        for j, s in enumerate(signs):
            gradient = sum(value * rows.y[i] * rows.x[i][j] for value, i in zip(a, tight, strict=True))
            need(s == 0 or s * gradient > 0)


def complex_of(data):
    """The complex certificate in these bytes, or None where it must be refused."""
    try:
        return Complex(data)
    except (No, ValueError, RecursionError):
        return None


def strong(evidence, rows, p, claim, complexes):
    _, sha256, ties = fields(evidence, "kind", "sha256", "ties")
    need(type(sha256) is str and type(ties) is list)
    found = [given for given in complexes if given.sha256 == sha256]
    need(found and found[0].rows.sha256 == rows.sha256)
    values = [dot(w, p) + b for w, b in found[0].solutions]
    if claim == "strongly positive":
        need(min(values) >= 0)
        for vector in ties:
            exact_list(vector, rows.n + 1)
        return
    need(max(values) <= 0)
    vectors = [exact_list(vector, rows.n + 1) for vector in ties]
    cells = set()
    for value, (w, b) in zip(values, found[0].solutions, strict=True):
        if value == 0:
            tight = frozenset(i for i in range(rows.m) if rows.margin(i, w, b) == 1)
            cells.add((tight, tuple(map(sign, w))))
    joins = set()
    for cell in cells:  # all joins of the cells so far, then those with one more
        joins |= {joined for other in joins if (joined := join(cell, other)) is not None} | {cell}
    for tight, signs in joins:
        need(not tight or any(refutes(vector, tight, signs, rows) for vector in vectors))


def join(first, second):
    if any(s * o < 0 for s, o in zip(first[1], second[1], strict=True)):
        return None
    return first[0] & second[0], tuple(s or o for s, o in zip(first[1], second[1], strict=True))


def refutes(vector, tight, signs, rows):
    *h, t = vector
    products = [value * s for value, s in zip(h, signs, strict=True)]
    return min(products) >= 0 and max(products) > 0 and all(rows.margin(i, h, t) <= 0 for i in tight)


# 6. the tree


class Node:
    def __init__(self, n, m):
        self.sign = [0] * n
        self.least = {kind: [Fraction(0)] * n for kind in ("ratio", "weight", "gradient")}
        self.most = {kind: [None] * n for kind in ("ratio", "weight", "gradient")}
        self.out, self.at_most_1 = [False] * m, [False] * m
        self.inside, self.at_least_1 = [False] * m, [False] * m

    def with_fact(self, **facts):
        node = copy.deepcopy(self)
        for name, (k, value) in facts.items():
            getattr(node, name)[k] = value
        return node

    def at_least(self, kind, j, at):
        node = copy.deepcopy(self)
        node.least[kind][j] = max(at, node.least[kind][j])
        return node

    def at_most(self, kind, j, at):
        node = copy.deepcopy(self)
        before = node.most[kind][j]
        node.most[kind][j] = at if before is None else min(at, before)
        return node

    def half_planes(self, j):
        """The region of (x, y) = (|w_j|, |mu_j|) as p x + q y <= c."""
        planes = [
            (Fraction(-1), Fraction(0), -self.least["weight"][j]),
            (Fraction(0), Fraction(-1), -self.least["gradient"][j]),
        ]
        planes.append((self.least["ratio"][j], Fraction(-1), Fraction(0)))
        for kind, p, q in (("weight", 1, 0), ("gradient", 0, 1)):
            if self.most[kind][j] is not None:
                planes.append((Fraction(p), Fraction(q), self.most[kind][j]))
        if self.most["ratio"][j] is not None:
            planes.append((-self.most["ratio"][j], Fraction(1), Fraction(0)))
        return planes


def corners(planes):
    found = []
    for (p, q, c), (r, s, d) in itertools.combinations(planes, 2):
        determinant = p * s - q * r
        if determinant:
            x, y = (c * s - q * d) / determinant, (p * d - c * r) / determinant
            if all(u * x + v * y <= e for u, v, e in planes):
                found.append((x, y))
    return found


def supremum(planes, a, b):
    """Of a x + b y - x y over a region in x, y >= 0 that has a corner; ``No`` if it is infinite.

    Every edge, and every ray that goes to infinity, is looked at by itself.
    """
    found = corners(planes)
    values = [a * x + b * y - x * y for x, y in found]
    for p, q, c in planes:  # along the edge p x + q y = c: a quadratic function of the parameter k
        along = (q, -p)
        ends = [point for point in found if p * point[0] + q * point[1] == c]
        if not ends:
            continue
        x0, y0 = ends[0]
        curvature = -along[0] * along[1]
        slope = a * along[0] + b * along[1] - x0 * along[1] - y0 * along[0]
        lowest, highest = None, None  # the values of k for which the point is in the region
        empty = False
        for u, v, e in planes:
            speed, room = u * along[0] + v * along[1], e - u * x0 - v * y0
            if speed > 0:
                highest = room / speed if highest is None else min(highest, room / speed)
            elif speed < 0:
                lowest = room / speed if lowest is None else max(lowest, room / speed)
            elif room < 0:
                empty = True
        if empty:
            continue
        for limit, direction in ((highest, 1), (lowest, -1)):
            if limit is None:
                need(curvature < 0 or (curvature == 0 and direction * slope <= 0))
        if curvature < 0:
            k = -slope / (2 * curvature)
            k = k if highest is None else min(k, highest)
            k = k if lowest is None else max(k, lowest)
            values.append(a * x0 + b * y0 - x0 * y0 + slope * k + curvature * k * k)
    return max(values)


def tree_of(evidence, rows, p, claim):
    _, classifier, tree = fields(evidence, "kind", "classifier", "tree")
    w, b = optimal(classifier, rows)
    value = dot(w, p) + b
    need(value > 0 if claim == "strongly positive" else value < 0)
    excluded(tree, rows, p, None)


def excluded(tree, rows, p, caps):
    need(type(tree) is list)
    g = [[y * (a - c) for a, c in zip(x, p, strict=True)] for x, y in zip(rows.x, rows.y, strict=True)]
    stack = [Node(rows.n, rows.m)]
    for entry in tree:
        need(stack)
        node = stack.pop()
        if type(entry) is list:
            stack += halves(entry, node, rows, caps)
        else:
            need(type(entry) is dict)
            if "h" in entry:
                stack.append(vanishing(entry, node, rows, g, caps))
            else:
                exclude(entry, node, rows, g, caps)
    need(not stack)


def halves(entry, node, rows, caps):
    need(len(entry) in (2, 3) and is_integer(entry[1]) and entry[1] >= 0)
    kind, k = entry[:2]
    if kind == "row":
        need(len(entry) == 2 and k < rows.m)
        return [node.with_fact(at_most_1=(k, True)), node.with_fact(out=(k, True))]
    if kind == "cap":
        need(caps is not None and len(entry) == 2 and k < rows.m)
        return [node.with_fact(at_least_1=(k, True)), node.with_fact(inside=(k, True))]
    need(k < rows.n)
    if kind == "sign":
        need(len(entry) == 2 and node.sign[k] == 0)
        return [node.with_fact(sign=(k, -1)), node.with_fact(sign=(k, 1))]
    need(type(kind) is str and kind in node.least and len(entry) == 3)
    at = exact(entry[2])
    need(at >= 0)
    return [node.at_least(kind, k, at), node.at_most(kind, k, at)]


def vanishing(entry, node, rows, g, caps):
    h, *t = fields(entry, "h", *(["t"] if caps is None else []))
    h, t = by_row(h, rows.n), [exact(text) for text in t]
    need(h and all(value * node.sign[j] > 0 for j, value in h.items()))
    if caps is None:
        for i in range(rows.m):
            need(node.out[i] or sum(value * g[i][j] for j, value in h.items()) + t[0] * rows.y[i] <= 0)
    else:
        least = least_gradient({j: -value for j, value in h.items()}, node, rows, g, caps)
        need(least is not None and -least <= 0)
    for j in h:
        node = node.at_most("weight", j, Fraction(0))
    return node


def exclude(entry, node, rows, g, caps):
    r, v = fields(entry, "r", "v")
    r, v = by_row(r, rows.m), by_row(v, rows.n)
    need(all(value >= 0 or node.at_most_1[i] or node.inside[i] for i, value in r.items()))
    total = sum(r.values(), Fraction(0))
    if caps is not None:
        need(all(value <= caps[i] or node.at_least_1[i] or node.out[i] for i, value in r.items()))
        least = least_gradient(v, node, rows, g, caps)
        if least is None:
            return
        total += least
    for label in (1, -1) if caps is None else ():
        inside = [i for i in range(rows.m) if rows.y[i] == label and not node.out[i]]
        if not inside:
            return
        total += min(sum((value * g[i][j] for j, value in v.items()), Fraction(0)) for i in inside) / 2
    regions = {j: node.half_planes(j) for j in range(rows.n) if node.sign[j]}
    if any(not corners(planes) for planes in regions.values()):  # x, y >= 0: a region that has no corner is empty
        return
    for j in range(rows.n):
        price, s = sum((value * g[i][j] for i, value in r.items()), Fraction(0)), node.sign[j]
        if s == 0:
            need(price == 0 and v.get(j, 0) == 0)
        else:
            total -= supremum(regions[j], s * price, s * v.get(j, Fraction(0)))
    need(total > 1)


# 10. with nu

INFINITY = float("inf")


def least_gradient(v, node, rows, g, caps):
    """The least v.mu over what a node allows, None if that is nothing: the price of a class's last row is tried for each."""
    total = Fraction(0)
    for label in (1, -1):
        cost = {
            i: sum((value * g[i][j] for j, value in v.items()), Fraction(0))
            for i in range(rows.m)
            if rows.y[i] == label
        }
        bounds = {i: (caps[i] if node.inside[i] else 0, 0 if node.out[i] else caps[i]) for i in cost}
        if any(low > high for low, high in bounds.values()):
            return None
        if not sum(low for low, _ in bounds.values()) <= Fraction(1, 2) <= sum(high for _, high in bounds.values()):
            return None
        # the dual: for any price t of one unit, t/2 + the sum of the least a_i (cost_i - t) is a bound; the best is exact
        best = None
        for t in set(cost.values()):
            bound = t / 2 + sum(min(low * (cost[i] - t), high * (cost[i] - t)) for i, (low, high) in bounds.items())
            best = bound if best is None else max(best, bound)
        total += best
    return total


def margin_of(record, rows):
    nu, weights = fields(record, "nu", "row_weights")
    nu = exact(nu)
    weights = [Fraction(1)] * rows.m if weights is None else exact_list(weights, rows.m)
    need(nu > 0 and min(weights) > 0)
    return [c / (nu * sum(weights)) for c in weights]


def with_nu(record, rows, p, caps):
    """The least and the largest decision value."""
    a, d = fields(record, "multipliers", "inverse_squared_rescaling")
    a, d = by_row(a, rows.m), exact_list(d, rows.n)
    need(all(0 < value <= caps[i] for i, value in a.items()) and min(d) > 0)
    a = [a.get(i, Fraction(0)) for i in range(rows.m)]
    w = [sum(a[i] * rows.y[i] * rows.x[i][j] for i in range(rows.m)) / d[j] for j in range(rows.n)]
    need(any(value != 0 for value in w))
    low, high = {}, {}
    for label in (1, -1):
        mine = [i for i in range(rows.m) if rows.y[i] == label]
        need(sum(a[i] for i in mine) == Fraction(1, 2))
        low[label] = max(label * dot(w, rows.x[i]) for i in mine if a[i] > 0)
        high[label] = min((label * dot(w, rows.x[i]) for i in mine if a[i] < caps[i]), default=INFINITY)
        need(low[label] <= high[label])
    least = -INFINITY if high[1] == INFINITY else dot(w, p) + (low[-1] - high[1]) / 2
    return least, INFINITY if high[-1] == INFINITY else dot(w, p) + (high[-1] - low[1]) / 2


def nu_two_rescalings(evidence, rows, p):
    _, margin, positive, negative = fields(evidence, "kind", "margin", "positive", "negative")
    caps = margin_of(margin, rows)
    need(with_nu(positive, rows, p, caps)[0] >= 0)
    need(with_nu(negative, rows, p, caps)[1] < 0)


def nu_two_intercepts(evidence, rows, p):
    _, margin, classifier = fields(evidence, "kind", "margin", "classifier")
    least, largest = with_nu(classifier, rows, p, margin_of(margin, rows))
    need(least < 0)
    need(largest >= 0)


def nu_tree_of(evidence, rows, p, claim):
    _, margin, classifier, tree = fields(evidence, "kind", "margin", "classifier", "tree")
    caps = margin_of(margin, rows)
    least, largest = with_nu(classifier, rows, p, caps)
    need(least > 0 if claim == "strongly positive with nu" else largest < 0)
    excluded(tree, rows, p, caps)


# 7. the range

INFINITE = "no upper bound"


class Range:
    def __init__(self, record, rows):
        self.nu = type(record) is dict and "nu" in record
        names = ["groups", "rescalings", "penalties", *["nu", "row_weights"] * self.nu]
        groups, rescalings, penalties, *margin = fields(record, *names)
        need(type(groups) is list and len(groups) == rows.n and all(is_integer(g) for g in groups))
        need(set(groups) == set(range(max(groups) + 1)))
        self.groups = groups
        n_groups = len(set(groups))
        need(type(rescalings) is list and len(rescalings) == n_groups)
        self.low, self.high = [], []
        for pair in rescalings:
            need(type(pair) is list and len(pair) == 2)
            least = exact(pair[0])
            need(0 <= least <= 1)
            self.high.append(INFINITE if least == 0 else 1 / least**2)
            if pair[1] is None:
                self.low.append(Fraction(0))
            else:
                need(exact(pair[1]) >= 1)
                self.low.append(1 / exact(pair[1]) ** 2)
        self.free = [low == 0 and high == INFINITE for low, high in zip(self.low, self.high, strict=True)]
        self.c = None if penalties is None else exact_list(penalties, rows.m)
        need(self.c is None or min(self.c) > 0)
        if self.nu:
            need(self.c is None)
            nu, weights = exact(margin[0]), margin[1]
            weights = [Fraction(1)] * rows.m if weights is None else exact_list(weights, rows.m)
            need(nu > 0 and min(weights) > 0)
            self.c = [weight / (nu * sum(weights)) for weight in weights]
            for label in (1, -1):
                need(sum(c for c, y in zip(self.c, rows.y, strict=True) if y == label) >= Fraction(1, 2))


def settles(pair, span, rows, p, s, low, high, signs, states, *, relative=False):
    has_q = span.nu or relative
    v, t, r, *q = fields(pair, "v", "t", "r", *["q"] * has_q)
    v, t, r = exact_list(v, rows.n), exact(t), by_row(r, rows.m)
    q = exact(q[0]) if has_q else 1
    away = [[a - b for a, b in zip(x, p, strict=True)] for x in rows.x]
    for i in range(rows.m):
        value = r.get(i, Fraction(0))
        need(value >= 0 or states[i] not in ("free", "out"))
        need(span.c is None or value <= span.c[i] or states[i] not in ("free", "capped"))
    need(relative or s * sum(value * rows.y[i] for i, value in r.items()) >= 0)
    cost = Fraction(0)
    for i in range(rows.m):
        e = q - rows.y[i] * (dot(v, away[i]) + t)
        if span.c is None:
            need(e <= 0 or states[i] == "out")
        elif states[i] == "capped" or (e > 0 and states[i] in ("free", "on")):
            cost += span.c[i] * e
    nu = [sum((value * rows.y[i] * away[i][j] for i, value in r.items()), Fraction(0)) for j in range(rows.n)]
    losses = Fraction(0)
    for g in range(len(low)):
        candidates = [Fraction(0)]
        for d, against in ((low[g], nu), (high[g], v)):
            if d in (0, INFINITE):
                need(all(against[j] == 0 or signs[j] * against[j] < 0 for j in range(rows.n) if span.groups[j] == g))
                continue
            terms = [
                d * v[j] + nu[j] for j in range(rows.n) if span.groups[j] == g and signs[j] * (d * v[j] + nu[j]) >= 0
            ]
            candidates.append(sum((x * x / (4 * d) for x in terms), Fraction(0)))
        losses += max(candidates)
    total = sum(r.values())
    need(relative or not span.nu or total >= 1)
    need((q + total - 1 if relative else q if span.nu else total) - cost - losses > 0)


def between(at, low, high):
    return at > 0 and low <= at and (high == INFINITE or at <= high)


def covered(evidence, rows, p, s, *, relative):
    _, record, cover, *own = fields(evidence, "kind", "range", "cover", *["label"] * relative)
    span = Range(record, rows)
    need(type(cover) is list)
    if relative:
        need(span.c is None or span.nu)
        label(own[0], span, rows, p, s)
    stack = [(span.low, span.high, [0] * rows.n, ["free"] * rows.m, Fraction(0), INFINITE)]
    for entry in cover:
        need(stack)
        low, high, signs, states, least, most = stack.pop()
        if type(entry) is dict:
            if relative:
                scaled = [INFINITE if INFINITE in (end, most) else end * most for end in high]
                high = [one if free else other for one, other, free in zip(high, scaled, span.free, strict=True)]
                low = [end if free else end * least for end, free in zip(low, span.free, strict=True)]
            settles(entry, span, rows, p, s, low, high, signs, states, relative=relative)
            continue
        if relative and type(entry) is list and len(entry) == 2 and entry[0] == "scale":
            at = exact(entry[1])
            need(between(at, least, most))
            stack += [(low, high, signs, states, at, most), (low, high, signs, states, least, at)]
            continue
        need(type(entry) is list and len(entry) >= 2 and is_integer(entry[1]) and entry[1] >= 0)
        k = entry[1]
        if entry[0] == "factor":
            need(len(entry) == 3 and k < len(low))
            at = exact(entry[2])
            need(between(at, low[k], high[k]))
            stack.append(([*low[:k], at, *low[k + 1 :]], high, signs, states, least, most))
            stack.append((low, [*high[:k], at, *high[k + 1 :]], signs, states, least, most))
        elif entry[0] == "sign":
            need(len(entry) == 2 and k < rows.n and signs[k] == 0)
            for value in (-1, 1):
                stack.append((low, high, [*signs[:k], value, *signs[k + 1 :]], states, least, most))
        else:
            need(entry[0] == "row" and len(entry) == 2 and k < rows.m and states[k] == "free")
            for state in ("on", "out") if span.c is None else ("capped", "on", "out"):
                stack.append((low, high, signs, [*states[:k], state, *states[k + 1 :]], least, most))
    need(not stack)


def two_labels(evidence, rows, p):
    _, record, positive, negative = fields(evidence, "kind", "range", "positive", "negative")
    span = Range(record, rows)
    for side, s in ((positive, 1), (negative, -1)):
        label(side, span, rows, p, s)


def label(record, span, rows, p, s):
    d, pair = fields(record, "inverse_squared_rescaling", "pair")
    d = exact_list(d, len(span.low))
    need(all(between(value, low, high) for value, low, high in zip(d, span.low, span.high, strict=True)))
    settles(pair, span, rows, p, s, d, d, [0] * rows.n, ["free"] * rows.m)
