"""Small true certificates of every kind, for checkers to be tried on, and careful lies made of them.

``stored`` are those in data/certificates.json, which earlier versions wrote: they must stay valid. ``fresh`` makes such
certificates with the engines as they are. Run this file to write the stored ones anew.
"""

import copy
import functools
import hashlib
import json
import tempfile
from fractions import Fraction
from pathlib import Path

import made_sets
import numpy as np

STORE = Path(__file__).parent / "data" / "certificates.json"
EXAMPLE = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]


def overlapping(seed, n_features=2, n_rows=9):
    """Classes that no hyperplane separates."""
    rng = np.random.default_rng(seed)
    labels = np.where(np.arange(n_rows) % 2, 1, -1)
    return rng.integers(-3, 4, size=(n_rows, n_features)) + (labels[:, None] > 0), labels


# ---- certificates by the engines


def _certificates(model, points, name):
    """The first two certificates of each claim, by name."""
    verdicts = model.certify(points)
    found = {}
    for i in np.flatnonzero(~verdicts.unknown):
        certificate = verdicts.certificate(int(i))
        key = f"{name} {certificate.content['evidence']['kind']} {certificate.claim}"
        if f"{key} 2" not in found:
            found[key if key not in found else f"{key} 2"] = certificate.content
    return found


def _training_of(name):
    if name == "example":
        return EXAMPLE
    if name == "tie":  # (0, -1) is strongly negative, and on the hyperplane of a limit
        return [(1, 1), (-1, -1)], [1, -1]
    if name == "many ties":  # features that can replace each other: every set of them is a joint cell
        return np.vstack([np.ones(5), -np.ones(5)]), [1, -1]
    training_set = made_sets.integer_ties(2, 3)
    return training_set.features, training_set.signs


def _every_rescaling(name):
    """A complex certificate, and certificates of points that refer to it."""
    from rescaleinv import RescaleInvariantSVC

    rows, labels = _training_of(name)
    model = RescaleInvariantSVC(engine="complex").fit(rows, labels)
    n = np.asarray(rows).shape[1]
    grid = np.random.default_rng(0).integers(-3, 7, (30, n))
    points = np.vstack([-np.eye(n)[:1], np.eye(n)[:1], grid, np.asarray(rows)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "complex.jsonl"
        model.prove(path)
        return path.read_text(encoding="ascii"), _certificates(model, points, name)


def _within_ranges():
    """Limited rescalings: hard and soft margins, one range for all features and one for each."""
    from rescaleinv import RescaleInvariantSVC

    rng = np.random.default_rng(3)
    found = _certificates(RescaleInvariantSVC(scale_range=4).fit(*EXAMPLE), rng.integers(-5, 6, (20, 2)), "hard")
    integers = made_sets.integer_ties(4, 3)
    model = RescaleInvariantSVC(scale_range=[(0.5, 2), (1, 1), (0.25, 3)]).fit(integers.features, integers.signs)
    found |= _certificates(model, integers.features[:8] + rng.integers(-1, 2, (8, 3)) / 2, "mixed")
    for seed in (1, 2):
        soft = RescaleInvariantSVC(scale_range=2, C=1.0).fit(*overlapping(seed))
        found |= _certificates(soft, rng.normal(size=(12, 2)) * 2, f"soft {seed}")
    any_factor = (0.0, np.inf)
    for name, ranges, C in (("free", [any_factor, (0.5, 2)], np.inf), ("half-open", [(0.5, np.inf), (0, 1)], 1.0)):
        model = RescaleInvariantSVC(scale_range=ranges, C=C).fit(*EXAMPLE)
        found |= _certificates(model, rng.integers(-5, 6, (20, 2)), name)
    return found


def _within_ranges_with_nu():
    """Limited rescalings with ν-margins, of rows that weigh alike and of others."""
    from rescaleinv import GapEngine, TrainingSet
    from rescaleinv.theory.nu_margin import NuMargin

    found = {}
    for seed, nu, weights in ((1, Fraction(2, 5), None), (2, Fraction(4, 5), [1.0, 2.0, 1.5] * 3)):
        training_set = TrainingSet(*overlapping(seed))
        engine = GapEngine(training_set, 2, nu=NuMargin.of(training_set, nu, weights))
        points = np.random.default_rng(seed).integers(-8, 9, size=(14, 2)) / 4
        found |= _certificates(engine, points, f"nu {seed}")
    return found


def _by_trees():
    """Every rescaling without a complex."""
    from rescaleinv import TrainingSet
    from rescaleinv.engines.branch.free.engine import TreeEngine

    found = {}
    for seed, maker in ((1, made_sets.gaussian), (2, made_sets.integer_ties), (3, made_sets.proportional_features)):
        training_set = TrainingSet(*EXAMPLE) if seed == 1 else maker(seed, 3)
        rng = np.random.default_rng(seed)
        points = rng.choice(training_set.features, 12) + rng.integers(-2, 3, (12, training_set.n_features)) / 2
        engine = TreeEngine(training_set, max_programs=2000, progress=False)
        contents = _certificates(engine, points, f"{maker.__name__}")
        found |= {key: content for key, content in contents.items() if content["evidence"]["kind"] == "tree"}
    return found


def _with_nu():
    """Every rescaling with a soft margin that has no scale."""
    from rescaleinv import TrainingSet
    from rescaleinv.engines.staged import StagedEngine
    from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu

    found = {}
    for seed, share in ((2, 0.5), (5, 0.3), (9, 0.1)):
        training_set = TrainingSet(*overlapping(seed, n_features=2 + seed % 2, n_rows=10 + seed % 4))
        weights = None if seed != 2 else 1.0 + np.arange(training_set.n_rows) % 3
        least, largest = least_nu(training_set, weights), float(largest_nu(training_set, weights))
        margin = NuMargin.of(training_set, least + share * (largest - least), weights)
        engine = StagedEngine(training_set, nu=margin, max_programs=2000, progress=False)
        points = np.random.default_rng(seed).integers(-5, 6, (16, training_set.n_features)) / 2
        found |= _certificates(engine, points, f"nu {seed}")
    return found


def fresh():
    """What ``stored`` has, made now."""
    complexes, certificates = {}, {}
    for name in ("example", "tie", "many ties", "integers"):
        complexes[name], found = _every_rescaling(name)
        for key, content in found.items():
            refers = content["evidence"]["kind"] == "complex"
            certificates[key] = {"complex": name if refers else None, "content": content}
    for key, content in (_by_trees() | _with_nu()).items():
        certificates[key] = {"complex": None, "content": content}
    for key, content in (_within_ranges() | _within_ranges_with_nu()).items():
        certificates[key] = {"complex": None, "content": content}
    return {"complexes": complexes, "certificates": certificates}


# ---- certificates that are stored


@functools.cache
def stored():
    """{"complexes": texts by name, "certificates": {"complex": a name or None, "content": …} by name}."""
    found = json.loads(STORE.read_text(encoding="utf-8"))
    certificates = found["certificates"]
    for key, record in list(certificates.items()):
        split = {"cover": split_cover, "tree": split_tree, "nu-tree": split_tree}.get(
            record["content"]["evidence"]["kind"]
        )
        if split is not None:
            certificates[f"{key}, split"] = {"complex": None, "content": split(record["content"])}
    certificates["tree with directions"] = {"complex": None, "content": tree_with_directions()}
    certificates["nu tree with directions"] = {"complex": None, "content": nu_tree_with_directions()}
    for name, scaled in (("relative cover", False), ("relative cover with a scale", True)):
        certificates[name] = {"complex": None, "content": relative_cover(scaled=scaled)}
    certificates["two intercepts"] = {"complex": None, "content": two_intercepts("-1")}
    certificates["a row at the origin"] = {"complex": None, "content": row_at_the_origin()}
    return found


def split_cover(content):
    """The same cover with its first pair split by sign, by row and by factor: what settles a part settles its parts."""
    content = copy.deepcopy(content)
    cover, span = content["evidence"]["cover"], content["evidence"]["range"]
    first = next(k for k, entry in enumerate(cover) if isinstance(entry, dict))
    pair = cover[first]
    states = 2 if span["penalties"] is None and "nu" not in span else 3
    extra = [["sign", 0], ["sign", 1], pair, pair, ["row", 1], *[pair] * states]
    if first == 0:  # the whole range, which contains the factor 1
        extra = [["factor", 0, "1"], *extra, ["row", 0], *[pair] * states]
    cover[first : first + 1] = extra
    return content


def split_tree(content):
    """The same tree with its first leaf split in every way: what excludes a node excludes its halves."""
    content = copy.deepcopy(content)
    tree = content["evidence"]["tree"]
    first = next(k for k, entry in enumerate(tree) if isinstance(entry, dict))
    leaf = tree[first]
    splits = [
        ["weight", 0, "1"],
        ["gradient", 1, "1/2"],
        ["ratio", 0, "2"],
        ["row", 0],
        ["row", 1],
        ["weight", 1, "3/2"],
    ]
    if content["evidence"]["kind"] == "nu-tree":
        splits += [["cap", 0], ["cap", 2], ["row", 2]]
    tree[first : first + 1] = [entry for split in splits for entry in (split, leaf)] + [leaf]
    return content


def _certificate(claim, point, rows, labels, evidence):
    training = {"sha256": "", "left_out": 0, "labels": labels, "rows": rows}
    content = {"schema": "rescaleinv-certificate/1", "claim": claim, "point": point, "training": training}
    content |= {"evidence": evidence, "versions": {}}
    with_hashes(content)
    return content


def tree_with_directions():
    """X+ = {(1, 1)}, X- = {(-1, -1)}: weights of unlike signs have no gradients, which two directions show."""
    classifier = {"weights": ["1/2", "1/2"], "intercept": "0", "multipliers": {"0": "1/4", "1": "1/4"}}
    classifier["inverse_squared_rescaling"] = ["1", "1"]
    nothing = {"r": {"0": "1", "1": "1"}, "v": {}}
    one_side = [{"h": {"0": "1", "1": "-1"}, "t": "0"}, nothing]
    other_side = [{"h": {"0": "-1", "1": "1"}, "t": "0"}, nothing]
    tree = [["sign", 0], ["sign", 1], {"r": {"0": "2"}, "v": {}}, *one_side]
    tree += [["sign", 1], *other_side, {"r": {"1": "2"}, "v": {}}]
    evidence = {"kind": "tree", "classifier": classifier, "tree": tree}
    return _certificate("strongly positive", ["3", "3"], [["1", "1"], ["-1", "-1"]], [1, -1], evidence)


def nu_tree_with_directions():
    """The same rows three times with nu = 5/12, so that each cap is 2/5: the same tree, with prices shared by equal rows."""
    content = copy.deepcopy(tree_with_directions())
    rows, labels = [["1", "1"], ["-1", "-1"]] * 3, [1, -1] * 3
    content["training"] |= {"rows": rows, "labels": labels}
    nothing = {"r": {str(i): "2/5" for i in range(6)}, "v": {}}
    one_side = [{"h": {"0": "1", "1": "-1"}}, nothing]
    other_side = [{"h": {"0": "-1", "1": "1"}}, nothing]
    positive, negative = ({"r": {str(i): "2/5" for i in (k, k + 2, k + 4)}, "v": {}} for k in (0, 1))
    short = [{"r": {**positive["r"], "0": "1/2"}, "v": {}}]
    tree = [["sign", 0], ["sign", 1], ["cap", 0], positive, *short, *one_side]
    tree += [["sign", 1], *other_side, ["row", 1], negative, negative]
    content["claim"] += " with nu"
    margin = {"nu": "5/12", "row_weights": None}
    classifier = {"multipliers": {str(i): "1/6" for i in range(6)}, "inverse_squared_rescaling": ["1", "1"]}
    content["evidence"] = {"kind": "nu-tree", "margin": margin, "classifier": classifier, "tree": tree}
    with_hashes(content)
    return content


def two_intercepts(point, labels=(1, 1, -1, -1), nu="1/2", multipliers=None, **changes):
    """Rows 4, 1, -1, -4 on a line with caps of 1/2: b is best wherever the next rows of both classes allow it."""
    classifier = {"multipliers": multipliers or {"1": "1/2", "2": "1/2"}, "inverse_squared_rescaling": ["1"]}
    margin = {"nu": nu, "row_weights": None}
    evidence = {"kind": "nu-two-intercepts", "margin": margin, "classifier": classifier, **changes}
    rows = [[str(x)] for x in (4, 1, -1, -4)]
    return _certificate("neutral with nu", [point], rows, list(labels), evidence)


def relative_cover(*, scaled=False):
    """Rows at 1 and -1, any factor, the point 1/8: w = 1 at every rescaling; f = 0 is excluded for each sign of w.

    With w < 0 no price is too high. With w > 0 there are three parts of the relative factor: v = 4 up to 1/2, r = 5 from 2
    on, and between them v = 1 and r = 8/7, where the left side is 1 + 8/7 - 1 and the right side 9/8. ``scaled``: the
    factor is 1, so that its relative one is the scale.
    """
    small = {"v": ["4"], "t": "1/2", "q": "4", "r": {}}
    large = {"v": ["0"], "t": "0", "q": "0", "r": {"0": "5"}}
    between = {"v": ["1"], "t": "1/8", "q": "1", "r": {"0": "8/7"}}
    negative = {"v": ["0"], "t": "0", "q": "0", "r": {"0": "2"}}
    split = ["scale"] if scaled else ["factor", 0]
    pair = {"v": ["1"], "t": "1/8", "r": {"0": "11/20", "1": "9/20"}}
    ends = ["1", "1"] if scaled else ["0", None]
    evidence = {
        "kind": "relative-cover",
        "range": {"groups": [0], "rescalings": [ends], "penalties": None},
        "label": {"inverse_squared_rescaling": ["1"], "pair": pair},
        "cover": [["sign", 0], [*split, "1/2"], small, [*split, "2"], between, large, negative],
    }
    return _certificate("strongly positive within the range", ["1/8"], [["1"], ["-1"]], [1, -1], evidence)


def row_at_the_origin():
    """What only one condition each fixes: the multiplier of a tight row that has no part in the gradient (the balance of
    the classes), the factor of a constant feature, and how two equal rows share a multiplier (their signs)."""

    def side(weights, factors):
        record = {"weights": weights, "intercept": "-1", "multipliers": {"0": "2/5", "1": "1/5", "2": "1/5"}}
        return {**record, "inverse_squared_rescaling": factors}

    rows, labels = [["0", "0", "0"], ["2", "2", "0"], ["2", "2", "0"]], [-1, 1, 1]
    positive, negative = side(["4/5", "1/5", "0"], ["1", "4", "1"]), side(["1/5", "4/5", "0"], ["4", "1", "1"])
    evidence = {"kind": "two-rescalings", "positive": positive, "negative": negative}
    return _certificate("neutral", ["2", "0", "7"], rows, labels, evidence)


def write_stored():
    found = fresh()
    blocks = []
    for name in ("complexes", "certificates"):
        lines = (f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in found[name].items())
        blocks.append(f'"{name}":{{\n' + ",\n".join(lines) + "\n}")
    STORE.write_text("{" + ",".join(blocks) + "}\n", encoding="utf-8")


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
    return as_text(content)


def as_text(content):
    """A certificate with its digest."""
    canonical = json.dumps(content, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return json.dumps({**content, "digest": hashlib.sha256(canonical.encode()).hexdigest()})


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
CLAIMS += [f"{claim} {scope}" for claim in CLAIMS for scope in ("within the range", "with nu")]


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
            content["claim"] = rng.choice([*CLAIMS, None])
            continue
        if rng.random() < 0.02:
            content[rng.choice(["schema", "versions", "remark"])] = rng.choice(["", {}, "rescaleinv-certificate/2"])
            continue
        deepest = rng.choice([2, 3, 99, 99])  # now and then not one of the many numbers, but what holds them
        places = [p for p in paths(content[root]) if 0 < len(p) <= deepest and p[0] not in ("sha256", "kind")]
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
        elif isinstance(value, (dict, list)):
            parent[key] = rng.choice([{}, [], "", None, 3])
        else:
            parent[key] = _nudged(value, rng)
    return content


def lie_in_complex(data, rng):
    """The bytes of a complex certificate with one to three changes, its counts and hashes made anew."""
    header, *records = (json.loads(line) for line in data.splitlines())
    m, n = len(header["tilt"]), len(header["training"]["rows"][0])
    for _ in range(rng.choice([1, 1, 2, 3])):
        record = rng.choice([record for record in records if record] or [[[], []]])
        basis, edges = record
        action = rng.randrange(15)
        if action == 13 and basis:
            items = [rng.choice(basis), m + n, -1, True, "0", rng.randrange(m + n)]
            basis[rng.randrange(len(basis))] = rng.choice(items)
        elif action == 14:
            change = rng.choice([basis.reverse, basis.clear, edges.clear, record.clear])
            change()
        if action == 12:
            header[rng.choice(["schema", "versions", "remark", "tilt", "vertices"])] = rng.choice(["", 1, [], {}])
            break
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


if __name__ == "__main__":
    write_stored()
