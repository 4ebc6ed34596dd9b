"""Conditions of the checker that random lies miss: truths on their very edge, and lies that only one condition finds."""

import json
import random
from fractions import Fraction

import certificate_corpus
import made_sets
import numpy as np
import pytest

from rescaleinv import ComplexEngine, TrainingSet, verify
from rescaleinv.engines.complex import walk
from rescaleinv.verify import Refused, check, check_complex

COMPLEXES = certificate_corpus.stored()["complexes"]


# ---- complex certificates


def records_of(text):
    header, *records = map(json.loads, text.splitlines())
    return header, records


def checked(folder, header, records):
    path = folder / "complex.jsonl"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (header, *records)))
    return check_complex(path, flint=False)


def refused(folder, header, records, match):
    with pytest.raises(Refused, match=match):
        checked(folder, header, records)


def feature_edges(header, record):
    """For each feature without weight: its number, and the positions of its two edges."""
    basis, m = record[0], len(header["tilt"])
    n_tight = sum(item < m for item in basis)
    for k, item in enumerate(item for item in basis if item >= m):
        yield item - m, n_tight + 2 * k


def test_an_edge_that_leads_to_a_vertex_of_other_signs(tmp_path):
    """The edge that gives a feature a negative weight may not end where the one with a positive weight ends."""
    header, records = records_of(COMPLEXES["many ties"])
    features = set()
    for number, record in enumerate(records):
        for feature, at in feature_edges(header, record):
            up, down = record[1][at : at + 2]
            for edges in ([down, up], [up, up], [down, down]):
                if edges == [up, down] or not any(type(edge) is int and edge >= 0 for edge in edges):
                    continue
                lying = [record[0], record[1][:at] + edges + record[1][at + 2 :]]
                lies = [*records[:number], lying, *records[number + 1 :]]
                refused(tmp_path, header, lies, "has other signs|refutation|not listed")
                features.add(feature)
    assert 0 in features  # the first feature is where "row or feature" is told apart


def test_the_signs_of_a_neighbour_alone_refuse_it(tmp_path):
    header, records = records_of(COMPLEXES["many ties"])
    n_found = 0
    for number, record in enumerate(records):
        for _, at in feature_edges(header, record):
            up, down = record[1][at : at + 2]
            if type(up) is int and up >= 0 and type(down) is int and down < 0:
                lying = [record[0], [*record[1][: at + 1], up, *record[1][at + 2 :]]]
                lies = [*records[:number], lying, *records[number + 1 :]]
                refused(tmp_path, header, lies, "has other signs")
                n_found += 1
    assert n_found


def test_a_weight_that_is_zero_however_the_rows_are_perturbed(tmp_path):
    # of (w, b) at rows 0 and 1, with equal perturbations, the weight of feature 1 is 0 and stays so
    training = {"sha256": "", "left_out": 0, "labels": [1, -1, 1], "rows": [["1", "0"], ["-1", "0"], ["1", "1"]]}
    certificate_corpus.with_hashes({"training": training})
    header = {"schema": verify.COMPLEX_SCHEMA, "training": training, "tilt": [3, 3, 3], "vertices": 1}
    header |= {"multipliers": ["1/2", "1/2", "0"], "versions": {}}
    refused(tmp_path, header, [[[0, 1, 2], [0, 0, 0]]], "feature 1 has no weight, and is not in the basis")
    # row 2 is tight, and not in the basis
    header["multipliers"] = ["1/2", "1/2"]
    refused(tmp_path, header, [[[0, 1, 4], [0, 0, 0, 0]]], "row 2 is tight, and not in the basis")


def test_bits_that_determine_no_refutation(tmp_path):
    header, records = records_of(COMPLEXES["integers"])
    m, n = len(header["tilt"]), len(header["training"]["rows"][0])
    messages = set()
    for number, record in enumerate(records[:3]):
        n_tight = sum(item < m for item in record[0])
        for mask in range(1 << (2 * n_tight - 1)):
            lying = [record[0], [-1 - mask, *record[1][1:]]]
            if -1 - mask == record[1][0]:
                continue
            try:
                checked(tmp_path, header, [*records[:number], lying, *records[number + 1 :]])
            except Refused as error:
                messages.add(str(error).rpartition(": ")[2])
    assert "its refutation is not determined by its bits" in messages
    assert n == 3


def test_a_complex_without_vertices(tmp_path):
    header, _ = records_of(COMPLEXES["example"])
    refused(tmp_path, {**header, "vertices": 0}, [], "vertices is not a number of vertices")


def test_signs_are_those_of_the_weights_and_not_of_their_rates(tmp_path):
    """With perturbations that are very unlike each other some weights are negative and grow, or the other way round."""
    training_set = made_sets.gaussian(2, 4)
    expected = ComplexEngine(training_set)
    expected.precompute()
    reduced = expected.reduced_training_set
    perturbation = np.random.default_rng(1).integers(1, 2**21, reduced.n_rows) ** 2 % 1_000_003 + 1
    perturbation[::2] %= 97
    vertices = walk._enumerate(walk._Walk(reduced, perturbation + 1, 1), walk.Budget(), 0.0, lambda *_: None)
    assert not vertices.stopped
    engine = ComplexEngine(training_set)
    engine.restore(vertices)
    assert _some_rate_has_another_sign(reduced, vertices)
    assert engine.prove(tmp_path / "complex.jsonl").n_corrected == 0
    points = np.random.default_rng(0).normal(size=(30, training_set.n_features)) * 2
    assert (engine.certify(points).prove().code == expected.certify(points).code).all()


def _some_rate_has_another_sign(reduced, vertices):
    m, n = reduced.n_rows, reduced.n_features
    rows = np.column_stack([reduced.conditioned, np.ones(m)]) * reduced.signs[:, None]
    lines = np.vstack([rows, np.eye(n + 1)[:n]])
    margins = np.column_stack([np.r_[np.ones(m), np.zeros(n)], np.r_[vertices.perturbation, np.zeros(n)]])
    solved = np.array([np.linalg.solve(lines[basis], margins[basis]) for basis in vertices.bases])
    return bool((solved[:, :n, 0] * solved[:, :n, 1] < -1e-6).any())


def test_zero_refutes_no_tie(tmp_path):
    """(0, 1) is strongly negative, and on the hyperplane of a limit with a negative weight; h = 0 shows nothing of that."""
    engine = ComplexEngine(TrainingSet([(-1, -1), (1, 1)], [1, -1]))
    engine.prove(tmp_path / "complex.jsonl")
    verdicts = engine.certify([[0.0, 1.0]])
    certificate = verdicts.certificate(0)
    assert check(certificate.to_json(), complexes=engine.complexes) == "strongly negative"
    assert certificate.content["evidence"]["ties"]
    for vector in (["0", "0", "0"], ["0", "0", "1"], ["0", "0", "-1"]):
        evidence = {**certificate.content["evidence"], "ties": [vector]}
        lie = certificate_corpus.as_text({**certificate.content, "evidence": evidence})
        with pytest.raises(Refused, match="no refutation of that is valid"):
            check(lie, complexes=engine.complexes)


# ---- covers: the edge of the inequality


def cover_of(claim, point, pair, rows=(("-1",), ("1",)), penalties=None):
    """Rows at -1 and 1 within the range [1, 1]: w = 1, b = 0."""
    span = {"groups": [0], "rescalings": [["1", "1"]], "penalties": penalties}
    evidence = {"kind": "cover", "range": span, "cover": [pair]}
    content = certificate_corpus._certificate(
        f"{claim} within the range", [point], [list(r) for r in rows], [-1, 1], evidence
    )
    return certificate_corpus.as_text(content)


@pytest.mark.parametrize("claim", ["strongly positive", "strongly negative"])
def test_equality_settles_nothing(claim):
    """The point 0 is on the hyperplane: the best pair has a gain of 1 and a loss of 1."""
    tie = {"v": ["1"], "t": "0", "r": {"0": "1/2", "1": "1/2"}}
    with pytest.raises(Refused, match="the inequality that would settle it does not fail"):
        check(cover_of(claim, "0", tie))


def test_margins_of_exactly_1_are_enough():
    pair = {"v": ["1"], "t": "1/2", "r": {"0": "2/5", "1": "7/10"}}
    assert check(cover_of("strongly positive", "1/2", pair)) == "strongly positive within the range"
    for t in ("1/2000001", "1000001/2000000", "999999/2000000"):  # one of the two margins is below 1
        with pytest.raises(Refused, match="has a margin below 1"):
            check(cover_of("strongly positive", "1/2", {**pair, "t": t}))
    with pytest.raises(Refused, match="pulls to the wrong side"):
        check(cover_of("strongly negative", "1/2", pair))


def test_what_a_soft_margin_misses_costs_its_penalty():
    pair = {"v": ["1"], "t": "1/2", "r": {"0": "2/5", "1": "7/10"}}
    assert (
        check(cover_of("strongly positive", "1/2", pair, penalties=["1", "1"])) == "strongly positive within the range"
    )
    # a margin that is missed by 1/5 costs 1/5, which is more than the inequality has to spare
    with pytest.raises(Refused, match="does not fail"):
        check(cover_of("strongly positive", "1/2", {**pair, "t": "3/10"}, penalties=["1", "1"]))


# ---- trees: what is known of a feature


def some_bounds(rng):
    numbers = [Fraction(k) for k in (0, 0, 1, 2, 3)]
    least = [rng.choice(numbers) for _ in range(3)]
    most = [rng.choice([None, None, *numbers]) for _ in range(3)]
    if rng.random() < 0.3:  # a single value
        k = rng.randrange(3)
        most[k] = least[k]
    return (1, least[0], most[0], least[1], most[1], least[2], most[2])


# corners of bounds up to 3 are multiples of 1/6, which are integers here; beyond 9 nothing changes
_W, _MU = np.meshgrid(np.arange(9 * 6 + 1), np.arange(9 * 6 + 1), indexing="ij")


def inside(known):
    """Which points of the lattice satisfy the bounds."""
    _, low, high, w_low, w_high, m_low, m_high = (None if bound is None else float(bound) * 36 for bound in known)
    w, mu = _W * 6, _MU * 6
    held = (low * _W <= mu * 6) & (w_low <= w) & (m_low <= mu)
    for most, value in ((w_high, w), (m_high, mu)):
        held &= True if most is None else value <= most
    return held & (True if high is None else mu * 6 <= high * _W)


def test_bounds_of_a_feature_are_tightened_and_nothing_is_lost():
    rng = random.Random(1)
    empty = 0
    for _ in range(1500):
        known = some_bounds(rng)
        tightened = verify._tightened(known)
        assert (tightened is None) == (not inside(known).any()), known
        empty += tightened is None
        if tightened is not None:
            assert (inside(tightened) == inside(known)).all(), known
    assert 100 < empty < 1400


def test_the_largest_term_is_that_of_all_points_inside():
    rng = random.Random(2)
    n_bounded = 0
    for _ in range(1500):
        known = verify._tightened(some_bounds(rng))
        W, v = (rng.randint(-6, 6) for _ in range(2))
        if known is None:
            continue
        try:
            largest = verify._largest_term(Fraction(W, 2), Fraction(v, 2), known)
        except Refused:  # it has no bound, or none that is seen at once
            continue
        n_bounded += 1
        values = ((3 * W * _W + 3 * v * _MU - _W * _MU) / 36)[inside(known)]
        assert float(largest) >= values.max() - 1e-12, (W, v, known)
        if known[4] is not None and known[6] is not None:  # the whole region is on the lattice
            assert float(largest) <= values.max() + 0.1, (W, v, known)
    assert n_bounded > 300
