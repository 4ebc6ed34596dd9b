"""Complex certificates with planted lies are refused, with the reason.

A liar here is careful: counts and hashes are made anew, so that only the mathematics can tell.
"""

import copy
import dataclasses
import random
import tempfile
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import brute_force
import made_sets
import numpy as np
import pytest
from complex_certificates import (
    ARITHMETICS,
    EDGE,
    SMALL,
    Content,
    data_of,
    decision_values,
    engine_of,
    points_around,
    small_sets,
    with_vectors,
)

from rescaleinv.certificates.certificate import Certificate
from rescaleinv.engines.complex import exact_walk
from rescaleinv.errors import RefusedWarning
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, verdict_words
from rescaleinv.verify import Refused, check


def test_a_strong_claim_is_refused_for_every_point_that_is_not(proved):
    """All claims but the true one, for points of all kinds; the ties that a tied point would need do not help."""
    for training_set, rng in small_sets(4, 25):
        engine = proved(training_set)
        n = training_set.n_features
        points = np.vstack([rng.integers(-4, 5, (10, n)) / 2, training_set.features])
        ties = [[str(x) for x in vector] for vector in product((-1, 0, 1), repeat=n + 1)]
        for point in points:
            truth = verdict_words(brute_force.exact_verdict(training_set, [Fraction(x) for x in point.tolist()]))
            certificate = engine.certificate(point, Verdict.STRONGLY_POSITIVE)
            certificate.content["evidence"]["ties"] = ties
            for claim in {"strongly positive", "strongly negative", "neutral", "unknown", "", None} - {truth}:
                certificate.content["claim"] = claim
                strong = str(claim).startswith("strongly")
                match = "is not strongly|may belong to a rescaling" if strong else "a complex does not prove"
                with pytest.raises(Refused, match=match):
                    check(certificate.to_json(), complexes=engine.complexes)


def test_a_neutral_claim_needs_two_rescalings(proved):
    engine = proved(made_sets.gaussian(1, 3))
    points = points_around(engine.training_set, np.random.default_rng(0), 60)
    verdicts = engine.certify(points)
    i = int(np.flatnonzero(verdicts.neutral)[0])
    assert verdicts.lower[i] < 0 < verdicts.upper[i]
    certificate = engine.certificate(points[i], Verdict.STRONGLY_NEGATIVE)
    for claim, match in {
        "strongly negative": "not strongly negative: a vertex has a positive decision value",
        "strongly positive": "not strongly positive: a vertex has a negative decision value",
        "neutral": "a complex does not prove 'neutral'",
    }.items():
        certificate.content["claim"] = claim
        with pytest.raises(Refused, match=match):
            check(certificate.to_json(), complexes=engine.complexes)


def test_evidence_that_refers_to_another_complex_is_refused(proved):
    engine = proved(made_sets.integer_ties(2, 3))
    other = proved(made_sets.integer_ties(5, 3))
    both = [*engine.complexes, *other.complexes]
    point = engine.training_set.features[engine.training_set.signs > 0][0]
    content = engine.certify([point]).certificate(0).content
    assert check(Certificate(content).to_json(), complexes=both) == "strongly positive"

    def refused(match, complexes=both, with_rows=True, **changes):
        lie = copy.deepcopy(content)
        lie["evidence"].update(changes.pop("evidence", {}))
        lie.update(changes)
        with pytest.raises(Refused, match=match):
            check(Certificate(lie).to_json(with_rows=with_rows), complexes=complexes)

    refused("is of other training rows", evidence={"sha256": other.proof.sha256})
    refused("is of other training rows", evidence={"sha256": other.proof.sha256}, with_rows=False)
    other_rows = copy.deepcopy(content["training"])
    other_rows["rows"] = [[str(Fraction(x)) for x in row] for row in other.training_set.features.tolist()]
    other_rows.update(labels=other.training_set.signs.tolist(), sha256=other.training_set.sha256)
    refused("is of other training rows", training=other_rows)
    refused("was not given", evidence={"sha256": "0" * 64})
    refused("was not given", evidence={"sha256": engine.training_set.sha256})
    refused("was not given", evidence={"sha256": engine.proof.sha256.upper()})
    refused("was not given", complexes=())
    refused("was not given", complexes=other.complexes)
    refused("the rows are not in the certificate and were not given", complexes=(), with_rows=False)
    refused("is not that of the rows that were given", complexes=other.complexes, with_rows=False)
    refused("a SHA-256 and a list of ties", evidence={"sha256": 5})
    refused("a SHA-256 and a list of ties", evidence={"sha256": None})
    refused("a SHA-256 and a list of ties", evidence={"ties": {}})
    refused("a SHA-256 and a list of ties", evidence={"ties": None})
    refused("'note' that is not known", evidence={"note": ""})
    refused("point: 3 numbers are needed", point=content["point"][:2])
    lie = copy.deepcopy(content)
    del lie["evidence"]["ties"]
    with pytest.raises(Refused, match="evidence has no field 'ties'"):
        check(Certificate(lie).to_json(), complexes=both)


def test_verdicts_that_their_certificates_do_not_prove_become_unknown(proved, tmp_path):
    engine = proved(made_sets.gaussian(1, 3))
    verdicts = engine.certify(points_around(engine.training_set, np.random.default_rng(0), 20))
    for turned in (verdicts.code * -1, np.where(verdicts.neutral, 1, verdicts.code).astype(np.int8)):
        wrong = dataclasses.replace(verdicts, code=turned)
        false = turned != verdicts.code
        with pytest.warns(RefusedWarning, match=r"its certificate was refused"):
            shown = wrong.prove(tmp_path / "points")
        assert shown.unknown[false].all()
        assert (shown.code[~false] == verdicts.code[~false]).all()
        assert len((tmp_path / "points").read_text().splitlines()) == (shown.status == "proved").sum() == (~false).sum()


def test_a_vertex_left_out_with_its_edges_led_elsewhere(checked, content):
    items = content.n_rows + len(content.rows[0])
    training_set = TrainingSet([[float(x) for x in row] for row in content.rows], content.labels)
    for left_out in range(len(content.records)):
        gone = content.records[left_out][0]
        for item in range(items):
            lie = content.copy()
            for k, e in content.edges(real=True):
                basis, edges = lie.records[k]
                if content.reached(k, e) == gone and item not in basis and item != edges[e]:
                    edges[e] = item
            del lie.records[left_out]
            if left_out == 0:
                tight = [i for i in lie.records[0][0] if i < content.n_rows]
                found = exact_walk.exact_multipliers(training_set, np.array(content.header["tilt"]), lie.records[0][0])
                lie.header["multipliers"] = [str(found.get(i, 0)) for i in tight]
            match = EDGE + "the vertex that it leads to (is not listed|has other signs)"
            with pytest.raises(Refused, match=match) as caught:
                checked(lie.with_counts())
            assert len(caught.value.vertices) == 1


def test_an_edge_that_is_real_is_never_refuted_by_any_mask(checked, content):
    match = "^" + EDGE.replace(r"\d+", "0", 1) + "its refutation (is|has)"
    for k, e in content.edges(real=True):
        n_tight = sum(item < content.n_rows for item in content.records[k][0])
        n_masks = 1 << (2 * n_tight - 1)
        for mask in range(0, n_masks, 1 if n_masks <= 128 else 13):
            with pytest.raises(Refused, match=match):
                checked(content.with_edge(k, e, -1 - mask, alone=True))


def test_a_real_edge_declared_refuted_in_the_whole_list(checked, content):
    rng = random.Random(1)
    masks = [content.records[k][1][e] for k, e in content.edges(real=False)]
    for k, e in content.edges(real=True):
        for edge in [*rng.sample(masks, 3), -1 - rng.randrange(1 << 9)]:
            with pytest.raises(Refused, match=rf"^vertex {k}: the edge that .*: its refutation") as caught:
                checked(content.with_edge(k, e, edge))
            assert caught.value.vertices == [k]


def test_a_real_edge_is_refuted_by_no_vector(checked, content):
    """No small vector, no vector of another edge, none that points along the edge."""
    rng = random.Random(2)
    n = len(content.rows[0])
    written_out = with_vectors(content)
    vectors = [edge for _, edges in written_out.records for edge in edges if isinstance(edge, list)]
    for k, e in content.edges(real=True):
        for vector in [*rng.sample(vectors, 6), *([str(rng.randint(-3, 3)) for _ in range(n + 1)] for _ in range(3))]:
            assert not content.is_refutation(k, e, vector)
            match = rf"^vertex {k}: the edge that .*: its refutation (is zero|has the wrong sign|is positive at row)"
            with pytest.raises(Refused, match=match):
                checked(content.with_edge(k, e, vector))


def test_a_vector_with_one_entry_changed(checked, content):
    """Refused exactly if it is no refutation any more."""
    written_out = with_vectors(content)
    seen = {True: 0, False: 0}
    blamed = "^" + EDGE + "its refutation (is zero|has the wrong sign at feature|is positive at row)"
    for k, e in written_out.edges(real=False):
        vector = written_out.records[k][1][e]
        for position, value in enumerate(vector):
            exact = Fraction(value)
            for changed in (exact + 1, exact - 1, -exact, 2 * exact, exact + Fraction(1, 10**9), exact - 10**9):
                other = [*vector[:position], str(changed), *vector[position + 1 :]]
                valid = written_out.is_refutation(k, e, other)
                seen[valid] += 1
                if valid and seen[True] % 8 == 0:
                    checked(written_out.with_edge(k, e, other))
                elif not valid:
                    with pytest.raises(Refused, match=blamed):
                        checked(written_out.with_edge(k, e, other, alone=True))
    assert min(seen.values()) > 10


def test_edges_that_lead_across_a_sign_or_to_the_wrong_side(checked, content):
    """A vertex at which a weight passes zero is left aside; an edge leads to the vertex of the opposite edge."""
    numbers = {tuple(basis): k for k, (basis, _) in enumerate(content.records)}
    real = set(content.edges(real=True))
    n_across = n_wrong_side = 0
    for k, (_, edges) in enumerate(content.records):
        drops = content.drops(k)
        for e, f in pairwise(range(len(drops))):
            if drops[e][0] != drops[f][0]:
                continue
            for here, there in ((e, f), (f, e)):
                if (k, here) not in real:
                    continue
                lie = content.copy()
                lie.records[k][1][there] = edges[here]
                n_wrong_side += 1
                with pytest.raises(Refused, match=rf"^vertex {k}: the edge that gives .* has other signs") as caught:
                    checked(lie)
                assert caught.value.vertices == [k]
                if (k, there) not in real:
                    continue
                start = numbers[tuple(content.reached(k, here))]
                back = next(b for a, b in real if a == start and content.reached(a, b) == content.records[k][0])
                lie = content.copy()
                lie.records[start][1][back] = edges[there]
                n_across += 1
                with pytest.raises(Refused, match=rf"^vertex {start}: the edge that .* has other signs"):
                    checked(lie)
    assert n_wrong_side
    assert n_across


def test_damaged_edges(checked, content):
    m, n = content.n_rows, len(content.rows[0])
    k, e = content.edges(real=False)[0]
    basis, edges = content.records[k]
    n_bits = 2 * sum(item < m for item in basis) - 1
    zero = ["0"] * (n + 1)
    for edge, match in [
        (basis[0], "it leads to no vertex"),
        (basis[-1], "it leads to no vertex"),
        (m + n, "it leads to no vertex"),
        (10**30, "it leads to no vertex"),
        (edges[e] - (1 << n_bits), "its refutation has bits that mean nothing"),
        (-(10**30), "its refutation has bits that mean nothing"),
        (-1, "its refutation is not determined by its bits"),
        (zero, "its refutation is zero"),
        ([*zero[:-1], "-1"], "its refutation is zero"),
        (zero[:-1], f"its refutation: {n + 1} numbers are needed"),
        ([*zero, "0"], f"its refutation: {n + 1} numbers are needed"),
        ([], f"its refutation: {n + 1} numbers are needed"),
        ([zero], f"its refutation: {n + 1} numbers are needed"),
        ([1] * (n + 1), "is not an exact number"),
        (["1e3"] * (n + 1), "is not an exact number"),
        (["1/0"] * (n + 1), "a denominator of zero"),
        ([zero] * (n + 1), "is not an exact number"),
        (None, "neither a vertex nor a refutation"),
        (True, "neither a vertex nor a refutation"),
        (False, "neither a vertex nor a refutation"),
        (0.0, "neither a vertex nor a refutation"),
        (-1.0, "neither a vertex nor a refutation"),
        ("0", "neither a vertex nor a refutation"),
        ({}, "neither a vertex nor a refutation"),
    ]:
        lie = content.copy()
        lie.records[k][1][e] = edge
        with pytest.raises(Refused, match=rf"^vertex {k}: the edge that .*: .*{match}") as caught:
            checked(lie)
        assert caught.value.vertices == [k]


def test_damaged_bases_and_lists(checked, content):
    m, n = content.n_rows, len(content.rows[0])
    basis, edges = content.records[1]
    outside = next(i for i in range(m + n) if i not in basis)
    for record, match in [
        ([basis[:-1], edges], f"a basis of {n + 1} rows and features is needed"),
        ([[*basis, outside], edges], f"a basis of {n + 1} rows and features is needed"),
        ([basis[0], edges], f"a basis of {n + 1} rows and features is needed"),
        ([[basis[1], basis[0], *basis[2:]], edges], "the basis is not in ascending order"),
        ([[basis[0], basis[0], *basis[2:]], edges], "the basis is not in ascending order"),
        ([[*basis[:-1], m + n], edges], "an item of the basis is unknown"),
        ([[-1, *basis[1:]], edges], "an item of the basis is unknown"),
        ([[*map(float, basis)], edges], "an item of the basis is unknown"),
        ([[*map(str, basis)], edges], "an item of the basis is unknown"),
        ([[False, *range(2, n + 2)], edges], "an item of the basis is unknown"),
        ([[*basis[:-1], 10**40], edges], "an item of the basis is unknown"),
        ([[*basis[:-1], [basis[-1]]], edges], "an item of the basis is unknown"),
        ([basis, edges[:-1]], f"{len(edges)} edges are needed"),
        ([basis, [*edges, -1]], f"{len(edges)} edges are needed"),
        ([basis, {}], f"{len(edges)} edges are needed"),
        ([basis, "0" * len(edges)], f"{len(edges)} edges are needed"),
        ([basis], "a basis and its edges are needed"),
        ([basis, edges, []], "a basis and its edges are needed"),
        ({"basis": basis, "edges": edges}, "a basis and its edges are needed"),
        (None, "a basis and its edges are needed"),
    ]:
        lie = content.copy()
        lie.records[1] = record
        with pytest.raises(Refused, match=f"^vertex 1: {match}") as caught:
            checked(lie)
        assert caught.value.vertices == [1]


def test_lines_that_are_no_records(checked, content):
    first, *lines = content.data().splitlines(keepends=True)
    one = lines[1]
    for line, match in [
        (b"\n", "not a JSON text"),
        (one[:-2] + b"\n", "not a JSON text"),
        (one[:-1] + b" []\n", "not a JSON text"),
        (one.replace(b"[", b"[\xc3\xa9", 1), "not a JSON text"),
        (one.replace(b"[", b"[\xff", 1), "not a JSON text"),
        (one.replace(b"[[", b"[[NaN,", 1), "NaN is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000 + b"\n", "not a JSON text"),
        (one.replace(b"[[", b"[[" + b"9" * 5000 + b",", 1), "not a JSON text"),
        (b'["' + "é".encode() * 3 + b'",[]]\n', "a basis of"),
    ]:
        with pytest.raises(Refused, match=f"^vertex 1: .*{match}"):
            checked(b"".join([first, lines[0], line, *lines[2:]]))
    with pytest.raises(Refused, match=r"^vertex 1 is listed twice"):
        checked(b"".join([first, lines[0], lines[0], *lines[2:]]))
    with pytest.raises(Refused, match=f"^more vertices are listed than the {len(lines)} of the first line"):
        checked(b"".join([first, *lines, lines[0]]))
    for extra in (b"\n", b"[]\n", b" ", b"\x00"):
        with pytest.raises(Refused, match=f"^more vertices are listed than the {len(lines)} of the first line"):
            checked(b"".join([first, *lines, extra]))
    twice = content.copy()
    twice.records.append(twice.records[0])
    with pytest.raises(Refused, match=f"^vertex {len(lines)} is listed twice"):
        checked(twice.with_counts())


def test_every_other_basis_is_no_vertex(checked, content):
    """One item exchanged for another one: singular, or a row or a weight is wrong; or it is another vertex of the list."""
    m, n = content.n_rows, len(content.rows[0])
    listed = {tuple(basis) for basis, _ in content.records}
    seen = set()
    for k, (basis, _) in list(enumerate(content.records))[::3]:
        for dropped, item in product(basis, range(m + n)):
            other = sorted([*(i for i in basis if i != dropped), item])
            if item in basis or tuple(other) in listed:
                continue
            lie = content.copy()
            lie.records[k][0] = other
            # a basis that is a vertex of C(X), but not of the closure, is refused for what its edges come to
            with pytest.raises(Refused, match=r"^vertex \d+: ") as caught:
                checked(lie)
            seen.add(str(caught.value).split(": ")[1].split()[-1])
    assert {"violated", "singular"} <= seen


def test_a_perturbation_must_be_positive_integers(checked):
    content = Content(data_of("integer_ties", 2, 4))
    m = content.n_rows
    for value in (0, -1, -(2**20), 1.0, 1.5, True, False, None, "1", [1]):
        for i in (0, m - 1):
            lie = content.copy()
            lie.header["tilt"][i] = value
            with pytest.raises(Refused, match=f"^tilt: the perturbation of row {i} is not a positive integer"):
                checked(lie)
    for tilt in ([0] * m, [-value for value in content.header["tilt"]]):
        lie = content.copy()
        lie.header["tilt"] = tilt
        with pytest.raises(Refused, match=r"^tilt: the perturbation of row 0 is not a positive integer"):
            checked(lie)
    for tilt in (None, 5, [], content.header["tilt"][1:], [*content.header["tilt"], 1], {}):
        lie = content.copy()
        lie.header["tilt"] = tilt
        with pytest.raises(Refused, match=r"^tilt: one number per row is needed"):
            checked(lie)


def test_equal_perturbations_of_degenerate_data_leave_ties(checked):
    """They only make the margins larger: a row that was tight by chance still is, and a weight that was 0 is too."""
    seen = set()
    for maker, seed, n_features in [*SMALL, ("binary", 0, 6), ("integer_ties", 0, 5), ("proportional_features", 0, 4)]:
        content = Content(data_of(maker, seed, n_features))
        for k in range(len(content.records)):
            lie = content.copy()
            lie.header["tilt"] = [7] * content.n_rows
            lie.records.insert(0, lie.records.pop(k))
            try:
                checked(lie)
            except Refused as error:
                seen.add(str(error).split(": ")[1].lstrip("rowfeatu 0123456789"))
    assert {"is tight, and not in the basis", "has no weight, and is not in the basis"} <= seen


def test_a_copy_of_a_row_must_be_perturbed_less(checked):
    content = Content(data_of("duplicated_rows", 6, 3))
    m = content.n_rows
    tight = {i for basis, _ in content.records for i in basis if i < m}
    copies = [(i, j) for i in tight for j in range(m) if i != j and content.rows[i] == content.rows[j]]
    assert copies
    for i, j in copies:
        for more in (0, 1):
            lie = content.copy()
            lie.header["tilt"][j] = lie.header["tilt"][i] + more
            with pytest.raises(Refused, match=rf"^vertex \d+: row {j} is {'violated' if more else 'tight, and not'}"):
                checked(lie)


def test_bases_of_another_training_set(checked, content):
    rows = content.header["training"]["rows"]
    used = sorted({i for basis, _ in content.records for i in basis if i < content.n_rows})
    for i, j in pairwise(used):
        if rows[i] == rows[j]:
            continue
        lie = content.copy()
        lie.header["training"]["rows"][i], lie.header["training"]["rows"][j] = rows[j], rows[i]
        with pytest.raises(Refused, match=r"^training\.sha256 is not that of the rows"):
            checked(lie)
        with pytest.raises(Refused, match=r"^vertex \d+"):
            checked(lie.with_counts())
    for i in used:
        lie = content.copy()
        lie.header["training"]["rows"][i][0] = str(Fraction(rows[i][0]) + Fraction(1, 10**6))
        with pytest.raises(Refused, match=r"^training\.sha256 is not that of the rows"):
            checked(lie)
    lie = content.copy()
    lie.header["training"]["labels"] = [-label for label in content.labels]
    with pytest.raises(Refused, match=r"^vertex \d+"):
        checked(lie.with_counts())


def test_no_row_is_overlooked(checked, content):
    """Each row in turn is moved among the other class, or onto a tight row of its own."""
    tight = [i for i in content.records[0][0] if i < content.n_rows]
    for q in set(range(content.n_rows)).difference(tight):
        for i in tight:
            lie = content.copy()
            lie.header["training"]["rows"][q] = content.header["training"]["rows"][i]
            same = content.labels[q] == content.labels[i]
            lie.header["tilt"][q] = lie.header["tilt"][i]
            fault = "tight, and not in the basis" if same else "violated"
            with pytest.raises(Refused, match=f"^vertex 0: row {q} is {fault}"):
                checked(lie.with_counts())


def test_wrong_multipliers(checked, content):
    right = [Fraction(value) for value in content.header["multipliers"]]
    tight = [i for i in content.records[0][0] if i < content.n_rows]
    labels = [content.labels[i] for i in tight]

    def refused(multipliers, match):
        lie = content.copy()
        lie.header["multipliers"] = multipliers
        with pytest.raises(Refused, match=match):
            checked(lie)

    for k, row in enumerate(tight):
        for change in (Fraction(1, 10**9), Fraction(10)):
            unbalanced = [value + change * (i == k) for i, value in enumerate(right)]
            refused([str(x) for x in unbalanced], "^vertex 0: the multipliers of the two classes do not balance")
        partner = labels.index(-labels[k])
        negative = [value - (right[k] + 1) * (i in (k, partner)) for i, value in enumerate(right)]
        first = min(i for i, value in zip(tight, negative, strict=True) if value < 0)
        refused([str(x) for x in negative], f"^vertex 0: the multiplier of row {first} is negative")
        assert first == row or row == tight[k]
    refused(["0"] * len(tight), r"^vertex 0: the gradient of feature \d+ has the wrong sign")
    tiny = Fraction(1, 10**30)
    small_negative = [value or -tiny for value in right]
    if small_negative != right:
        refused([str(x) for x in small_negative], r"^vertex 0: the multiplier of row \d+ is negative")
    for texts in (content.header["multipliers"][1:], [*content.header["multipliers"], "0"], [], None, {}, "1"):
        refused(texts, f"^multipliers: {len(tight)} numbers are needed")
    for text in (1, 1.0, None, "1.0", "inf", "1/0", [], "٣"):
        refused([text, *content.header["multipliers"][1:]], r"^multipliers\[0\]")
    scaled = content.copy()
    scaled.header["multipliers"] = [str(3 * value / 7) for value in right]
    checked(scaled)


def test_multipliers_of_the_wrong_sign(checked):
    """Balanced, not negative, and yet of no use at the first vertex: found where a vertex of another sign comes first."""
    seen = 0
    for maker, seed, n_features in SMALL:
        content = Content(data_of(maker, seed, n_features))
        labels = content.labels
        for k, (basis, _) in enumerate(content.records):
            tight = [i for i in basis if i < content.n_rows]
            for i, j in product(tight, repeat=2):
                if labels[i] <= labels[j]:
                    continue
                lie = content.copy()
                lie.records.insert(0, lie.records.pop(k))
                lie.header["multipliers"] = [str(int(row in (i, j))) for row in tight]
                signs = content.edge_cell(k, 0)[1]
                if content.drops(k)[0][0] >= content.n_rows:
                    continue
                gradient = [a - b for a, b in zip(content.rows[i], content.rows[j], strict=True)]
                if all(g * s > 0 for g, s in zip(gradient, signs, strict=True) if s):
                    checked(lie)
                    continue
                seen += 1
                with pytest.raises(Refused, match=r"^vertex 0: the gradient of feature \d+ has the wrong sign"):
                    checked(lie)
    assert seen > 10


def test_damaged_first_lines(checked, content):
    def refused(match, **changes):
        lie = content.copy()
        lie.header.update(changes)
        with pytest.raises(Refused, match=match):
            checked(lie)

    n = len(content.records)
    refused("field 'note' that is not known", note="")
    refused("^schema: 'rescaleinv-complex/2' is not", schema="rescaleinv-complex/2")
    refused("^schema: 'rescaleinv-certificate/1' is not", schema="rescaleinv-certificate/1")
    refused("^schema: None is not", schema=None)
    refused("^versions is not a JSON object", versions=[])
    refused(f"^{n} vertices are listed, not the {n + 1}", vertices=n + 1)
    refused(f"^more vertices are listed than the {n - 1}", vertices=n - 1)
    for count in (0, -1, True, float(n), str(n), None, [n]):
        refused("^vertices is not a number of vertices", vertices=count)
    refused("^training is not a JSON object", training=content.header["training"]["rows"])
    for name in content.header:
        lie = content.copy()
        del lie.header[name]
        with pytest.raises(Refused, match=f"^the complex certificate has no field '{name}'"):
            checked(lie)
    text = content.data()
    for damaged, match in [
        (b"[]\n" + text, "^the complex certificate is not a JSON object"),
        (b"\n" + text, "^the complex certificate's first line is not a JSON text"),
        (b"\xef\xbb\xbf" + text, "^the complex certificate's first line is not a JSON text"),
        (text.replace(b'"tilt":[', b'"tilt":[' + b"[" * 100_000, 1), "first line is not a JSON text"),
        (text.replace(b'"tilt":[', b'"tilt":[' + b"1" * 5000, 1), "first line is not a JSON text"),
        (text.replace(b'"tilt":[', b'"tilt":[NaN,', 1), "^NaN is not JSON"),
        (text.replace(b'"tilt":', b'"vertices":7,"tilt":', 1), "^a JSON object has a field twice"),
        (text.replace(b'"schema"', '"sché"'.encode(), 1), "has no field 'schema'"),
        (text.replace(b'"schema"', b'"sch\xff"', 1), "has no field 'schema'"),
    ]:
        with pytest.raises(Refused, match=match):
            checked(damaged)
    # a complex of no vertices at all
    lie = content.copy()
    lie.records = []
    with pytest.raises(Refused, match=r"^vertices is not a number of vertices"):
        checked(lie.with_counts())


def test_numbers_of_thousands_of_digits(checked):
    """They are read in hexadecimal; what is too large for that must be refused, and not end in another error."""
    content = Content(data_of("integer_ties", 2, 4))
    large = content.copy()
    large.header["multipliers"] = [
        f"{int(Fraction(value).numerator * 16**5000):#x}/{Fraction(value).denominator}"
        for value in large.header["multipliers"]
    ]
    checked(large)
    lie = content.copy()
    lie.header["training"]["rows"][0][0] = "0x" + "f" * 5000
    with pytest.raises(Refused):
        checked(lie)


@pytest.mark.parametrize("flint", ARITHMETICS)
def test_whatever_is_accepted_is_true(checked, flint):
    """Certificates changed at random in several places: any that is accepted still has the range of all classifiers."""
    rng = random.Random(3)
    n_accepted = n_changed = 0
    for training_set, numbers in small_sets(5, 10):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "complex"
            engine_of(training_set).prove(path)
            content = Content(path.read_bytes())
        n = training_set.n_features
        points = [[Fraction(x) for x in point] for point in numbers.integers(-4, 5, (6, n)).tolist()]
        ranges = [brute_force.exact_range(training_set, point) for point in points]
        items = content.n_rows + n
        for _ in range(60):
            lie = content.copy()
            for _ in range(rng.randint(1, 3)):
                basis, edges = rng.choice(lie.records)
                kind = rng.randrange(6)
                if kind == 0:
                    edges[rng.randrange(len(edges))] = rng.randrange(items)
                elif kind == 1:
                    edges[rng.randrange(len(edges))] = -1 - rng.randrange(1 << 2 * n + 1)
                elif kind == 2:
                    edges[rng.randrange(len(edges))] = [str(rng.randint(-2, 2)) for _ in range(n + 1)]
                elif kind == 3:
                    basis[:] = sorted(rng.sample(range(items), n + 1))
                elif kind == 4:
                    lie.header["tilt"][rng.randrange(content.n_rows)] = rng.randint(1, 2**21)
                elif len(lie.records) > 1:
                    del lie.records[rng.randrange(len(lie.records))]
            try:
                found = checked(lie.with_counts(), flint)
            except Refused:
                continue
            n_accepted += 1
            n_changed += lie.records != content.records
            for point, (low, high) in zip(points, ranges, strict=True):
                values = list(decision_values(found, point))
                assert min(values) == low
                assert max(values) == high
    assert n_accepted > 10
    assert n_changed > 0
