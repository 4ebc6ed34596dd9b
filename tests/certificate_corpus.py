"""True certificates of every kind, small ones, for checkers to be tried on; and careful lies made of them."""

import copy
import functools
import hashlib
import json
import random
import tempfile
from fractions import Fraction
from pathlib import Path

import made_sets
import numpy as np

from rescaleinv import RescaleInvariantSVC
from rescaleinv.certificates.certificate import Certificate

EXAMPLE = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]


def overlapping(seed, n_features=2, n_rows=9):
    """Classes that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n_rows) % 2, 1, -1)
    return rng.integers(-3, 4, size=(n_rows, n_features)) + (labels[:, None] > 0), labels


def _certificates(model, points, name):
    """One certificate per verdict, by name: the first few of each kind."""
    verdicts = model.certify(points)
    found = {}
    for i in np.flatnonzero(~verdicts.unknown):
        certificate = verdicts.certificate(int(i))
        key = f"{name} {certificate.content['evidence']['kind']} {certificate.claim}"
        if f"{key} 2" not in found:
            found[key if key not in found else f"{key} 2"] = certificate
    return found


@functools.cache
def complex_proof(name):
    """The bytes of a complex certificate, and certificates of points that refer to it."""
    if name == "example":
        rows, labels = EXAMPLE
    elif name == "tie":  # (0, -1) is strongly negative, and on the hyperplane of a limit
        rows, labels = [(1, 1), (-1, -1)], [1, -1]
    elif name == "many ties":  # features that can replace each other: every set of them is a joint cell
        rows, labels = np.vstack([np.ones(5), -np.ones(5)]), [1, -1]
    else:
        training_set = made_sets.integer_ties(2, 3)
        rows, labels = training_set.features, training_set.signs
    model = RescaleInvariantSVC(engine="complex").fit(rows, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "complex.jsonl"
        model.prove(path)
        data = path.read_bytes()
        n = np.asarray(rows).shape[1]
        grid = np.random.default_rng(0).integers(-3, 7, (30, n))
        points = np.vstack([-np.eye(n)[:1], np.eye(n)[:1], grid, np.asarray(rows)])
        return data, _certificates(model, points, name)


COMPLEXES = ("example", "tie", "many ties", "integers")


@functools.cache
def within_ranges():
    """Certificates of limited rescalings: hard and soft margins, groups, all kinds of splits."""
    rng = np.random.default_rng(3)
    found = _certificates(RescaleInvariantSVC(scale_range=4).fit(*EXAMPLE), rng.integers(-5, 6, (20, 2)), "hard")
    integers = made_sets.integer_ties(4, 3)
    model = RescaleInvariantSVC(scale_range=[(0.5, 2), (1, 1), (0.25, 3)]).fit(integers.features, integers.signs)
    found |= _certificates(model, integers.features[:8] + rng.integers(-1, 2, (8, 3)) / 2, "mixed")
    for seed in (1, 2):
        rows, labels = overlapping(seed)
        soft = RescaleInvariantSVC(scale_range=2, C=1.0).fit(rows, labels)
        found |= _certificates(soft, rng.normal(size=(12, 2)) * 2, f"soft {seed}")
    return found


@functools.cache
def all_certificates():
    """(certificate, bytes of the complex certificate that it refers to, or None), by name."""
    found = {name: (certificate, None) for name, certificate in within_ranges().items()}
    for name in COMPLEXES:
        data, certificates = complex_proof(name)
        for key, certificate in certificates.items():
            found[key] = (certificate, data if certificate.content["evidence"]["kind"] == "complex" else None)
    return found


# ---- lies: the digests are made anew, so that only the mathematics can tell


def with_hashes(content):
    """The text of a certificate with this content, whose hashes fit."""
    training = content.get("training")
    try:
        lines = zip(training["labels"], training["rows"], strict=True)
        text = "".join(f"{label}:{','.join(str(Fraction(x)) for x in row)}\n" for label, row in lines)
        training["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    except (ValueError, TypeError, KeyError, ZeroDivisionError):
        pass
    return Certificate(content).to_json()


def paths(value, path=()):
    """Every path to a value, containers included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def at(content, path):
    for key in path:
        content = content[key]
    return content


CLAIMS = ["neutral", "strongly positive", "strongly negative"]
CLAIMS += [f"{claim} within the range" for claim in CLAIMS]


def _nudged(value, rng):
    """Another number near by, far away or of the other sign; other types now and then."""
    if isinstance(value, bool) or value is None:
        return rng.choice([None, True, 0, "1"])
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, -value, -1 - value, 0, str(value), rng.randrange(12)])
    try:
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        return rng.choice([value + "0", "", None])
    step = Fraction(1, 2 ** rng.choice([1, 8, 70]))
    choices = [number + step, number - step, number * (1 + step), -number, number * 2, number / 2, Fraction(0)]
    choices += [Fraction(rng.randint(-3, 3)), number + 1]
    return rng.choice([str(rng.choice(choices))] * 12 + ["0x1", "1/0", "x", 1, None])


def lie(content, rng, roots=("point", "training", "evidence", "claim")):
    """The content with one to three changes, most of them of numbers; hashes are to be made anew."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        root = rng.choice([root for root in (*roots, "evidence", "evidence") if root in content])
        if root == "claim":
            content["claim"] = rng.choice(CLAIMS)
            continue
        places = [path for path in paths(content[root]) if path and path[0] not in ("sha256", "kind")]
        if not places:
            continue
        path = (root, *rng.choice(places))
        parent, key = at(content, path[:-1]), path[-1]
        value = parent[key]
        action = rng.random()
        if action < 0.06:
            del parent[key]
        elif action < 0.10 and isinstance(parent, list):
            parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(value))
        elif action < 0.14 and isinstance(parent, list) and len(parent) > 1:
            other = rng.randrange(len(parent))
            parent[key], parent[other] = parent[other], parent[key]
        elif action < 0.18 and isinstance(parent, dict):
            other = rng.choice(list(parent))
            parent[key], parent[other] = parent[other], parent[key]
        elif action < 0.22 and isinstance(parent, dict) and root == "evidence":
            parent[str(rng.randrange(6))] = "1"
        elif not isinstance(value, (dict, list)):
            parent[key] = _nudged(value, rng)
    return content


def lie_in_complex(data, rng):
    """The bytes of a complex certificate with one to three changes, its counts and hashes made anew."""
    header, *records = (json.loads(line) for line in data.splitlines())
    m, n = len(header["tilt"]), len(header["training"]["rows"][0])
    for _ in range(rng.choice([1, 1, 2, 3])):
        record = rng.choice(records) if records else [[], []]
        basis, edges = record
        action = rng.randrange(12)
        if action == 0 and edges:
            edges[rng.randrange(len(edges))] = rng.randrange(m + n)
        elif action == 1 and edges:
            edges[rng.randrange(len(edges))] = -1 - rng.randrange(1 << 2 * n + 1)
        elif action in (2, 3) and edges:
            edges[rng.randrange(len(edges))] = [str(rng.randint(-2, 2)) for _ in range(n + 1)]
        elif action == 4:
            basis[:] = sorted(rng.sample(range(m + n), min(n + 1, m + n)))
        elif action == 5:
            header["tilt"][rng.randrange(m)] = rng.randint(0, 2**21)
        elif action == 6 and len(records) > 1:
            del records[rng.randrange(len(records))]
        elif action == 7:
            records.append(copy.deepcopy(record))
        elif action == 8 and header["multipliers"]:
            k = rng.randrange(len(header["multipliers"]))
            header["multipliers"][k] = _nudged(header["multipliers"][k], rng)
        elif action == 9:
            i, j = rng.randrange(m), rng.randrange(n)
            header["training"]["rows"][i][j] = _nudged(header["training"]["rows"][i][j], rng)
        elif action == 10:
            i = rng.randrange(m)
            header["training"]["labels"][i] *= -1
        elif action == 11 and edges:
            place = rng.randrange(len(edges))
            edges[place] = _nudged(edges[place], rng) if isinstance(edges[place], int) else edges[place][:-1]
    if rng.random() < 0.9:
        header["vertices"] = len(records)
    content = {"training": header["training"]}
    with_hashes(content)
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in (header, *records))


def seeded(seed):
    return random.Random(seed)
