"""Certificates of limited ranges: the exact checker accepts them, and refuses each kind of lie."""

import copy
from fractions import Fraction

import made_sets
import numpy as np
import pytest
from limited_ranges import decided_points, overlapping, refused

from rescaleinv import Certificate, GapEngine, TrainingSet, Verdict
from rescaleinv.verify import Refused, check


@pytest.fixture(scope="module")
def certificates():
    found = []
    for _, verdicts in decided_points():
        for i in np.flatnonzero(~verdicts.unknown):
            found.append((verdicts.certificate(i), Verdict(int(verdicts.code[i]))))
    return found


def test_certificates_are_accepted(certificates):
    words = {1: "strongly positive", -1: "strongly negative", 0: "neutral"}
    for certificate, verdict in certificates:
        assert check(certificate.to_json()) == f"{words[verdict]} within the range"
    splits = {
        entry[0]
        for certificate, _ in certificates
        for entry in certificate.content["evidence"].get("cover", [])
        if isinstance(entry, list)
    }
    assert splits == {"factor", "sign", "row"}


def test_lies_about_covers_are_refused(certificates):
    strong = [c.content for c, verdict in certificates if verdict != Verdict.NEUTRAL]
    larger = min((c for c in strong if len(c["evidence"]["cover"]) > 5), key=lambda c: len(c["evidence"]["cover"]))
    for whole in (larger, strong[0]):
        cover = whole["evidence"]["cover"]
        places = [k for k, entry in enumerate(cover) if isinstance(entry, dict)]

        def changed(entry=None, k=places[-1], whole=whole, **fields):
            lie = copy.deepcopy(whole)
            if entry is not None:
                lie["evidence"]["cover"][k] = entry
            for name, value in fields.items():
                lie["evidence"]["cover"][k][name] = value
            return lie

        opposite = copy.deepcopy(whole)
        words = ("positive", "negative") if "positive" in opposite["claim"] else ("negative", "positive")
        opposite["claim"] = opposite["claim"].replace(*words)
        refused(opposite, "cover")
        for claim in ("strongly positive", "neutral within the range", "strongly", 3):
            refused({**whole, "claim": claim}, "does not prove")
        refused(changed(r={}), "does not fail")
        refused(changed(v=["0"] * len(cover[places[-1]]["v"])), "margin below 1|does not fail")
        refused(changed(r={"0": "-1"}), "negative|does not fail|wrong side")
        refused(changed(r={"99999": "1"}), "belongs to no row")
        refused(changed(v=["1"]), "numbers are needed")
        refused(changed(["factor", 99, "1"]), "no such group")
        refused(changed(["factor", 0, "1000000"]), "outside of its range")
        refused(changed(["row", 99999]), "no such row")
        refused(changed(["sign", -1]), "no number")
        refused(changed(["luck", 0]), "not known")
        refused(changed("nothing"), "neither a pair nor a split")
        lie = copy.deepcopy(whole)
        lie["evidence"]["cover"].pop()
        refused(lie, "leaves parts of the range out")
        lie = copy.deepcopy(whole)
        lie["evidence"]["cover"].append(cover[places[-1]])
        refused(lie, "more than the range has parts")
        lie = copy.deepcopy(whole)
        lie["evidence"]["range"]["rescalings"] = [["1/1000000", "1000000"]] * len(
            lie["evidence"]["range"]["rescalings"]
        )
        refused(lie, "does not fail|outside")
    for lie_range, match in (
        ({"rescalings": [["2", "3"]]}, "does not contain 1"),
        ({"rescalings": [["-1", "3"]]}, "does not contain 1, or is negative"),
        ({"rescalings": [["0", "3"]]}, "d has no upper bound for feature"),
        ({"rescalings": [["1/3", None]]}, "d has no positive bound for feature"),
        ({"groups": [1]}, "leaves a number out"),
        ({"groups": ["0"]}, "not numbers"),
        ({"groups": [10**9]}, "not numbers"),
        ({"penalties": ["0"]}, "not positive"),
        ({"penalties": ["1"]}, "are needed"),
    ):
        lie = copy.deepcopy(larger)
        for name, value in lie_range.items():
            old = lie["evidence"]["range"][name]
            length = len(lie["training"]["rows"]) if name == "penalties" else len(old)
            lie["evidence"]["range"][name] = value * (1 if value == ["1"] else length)
        refused(lie, match)


def test_penalties_belong_to_the_claim(certificates):
    """What holds for some penalties is not proved for a hard margin, nor for far larger penalties."""
    soft = [c.content for c, _ in certificates if c.content["evidence"]["range"]["penalties"] is not None]
    lie = copy.deepcopy(soft[0])
    lie["evidence"]["range"]["penalties"] = None
    refused(lie, "margin below 1|capped|not fail|leaves parts|more than")
    lie = copy.deepcopy(soft[0])
    lie["evidence"]["range"]["penalties"] = ["1/1000000"] * len(lie["training"]["rows"])
    refused(lie, "more than the penalty|does not fail")


def test_nu_belongs_to_the_claim(certificates):
    """Lies about each condition that a ν-margin adds."""
    whole = next(
        c.content
        for c, verdict in certificates
        if "nu" in c.content["evidence"]["range"]
        and verdict != Verdict.NEUTRAL
        and len(c.content["evidence"]["cover"]) > 1
    )
    k = next(k for k, entry in enumerate(whole["evidence"]["cover"]) if isinstance(entry, dict))
    pair = whole["evidence"]["cover"][k]
    n_rows = len(whole["training"]["rows"])

    def lie(match, of_range=None, **of_pair):
        changed = copy.deepcopy(whole)
        changed["evidence"]["range"] |= of_range or {}
        changed["evidence"]["cover"][k] |= of_pair
        refused(changed, match)

    assert check(Certificate(copy.deepcopy(whole)).to_json()).question.scope.nu == Fraction(0.8)
    lie("r adds up to less than 1", r={i: str(Fraction(x) * Fraction(99, 100)) for i, x in pair["r"].items()})
    lie("more than the penalty", r={i: str(Fraction(x) * 9) for i, x in pair["r"].items()})
    lie("does not fail", q="0")
    lie("does not fail", q=str(Fraction(pair["q"]) * 5))  # the costs grow with it
    lie("both penalties and a nu", {"penalties": ["1"] * n_rows})
    lie("nu is not positive", {"nu": "0"})
    lie("no classifier is optimal", {"nu": "11/10"})
    lie("no classifier is optimal", {"nu": "1/2", "row_weights": ["1", "1000"] * (n_rows // 2)})
    lie("that of row 0 is not positive", {"row_weights": ["0"] * n_rows})
    lie("numbers are needed", {"row_weights": ["1"]})
    lie("does not fail|more than the penalty", {"row_weights": ["1", "1", "2", "2"] * (n_rows // 4) + ["1", "1"]})
    lie("more than the penalty|does not fail", {"nu": "9/10"})
    changed = copy.deepcopy(whole)
    del changed["evidence"]["range"]["row_weights"]
    refused(changed, "has no field 'row_weights'")
    changed = copy.deepcopy(whole)
    del changed["evidence"]["cover"][k]["q"]
    refused(changed, "has no field 'q'")
    changed = copy.deepcopy(whole)
    for name in ("nu", "row_weights"):
        del changed["evidence"]["range"][name]
    refused(changed, "has a field 'q' that is not known|capped|margin below|more than")


def test_nu_by_hand():
    """Rows at 1, -1 and a point 1/8 with ν = 1: a = (1/2, 1/2), w = 1, ρ = 1; q = 1, v = 1 and r = a: 1 on both sides."""
    training_set = TrainingSet([[1.0], [-1.0]], [1, -1])
    content = {
        "schema": "rescaleinv-certificate/1",
        "claim": "strongly positive within the range",
        "point": ["1/8"],
        "training": GapEngine(training_set, (1, 1)).certify([[0.5]]).certificate(0).content["training"],
        "versions": {},
    }

    def with_cover(nu, *cover):
        span = {"groups": [0], "rescalings": [["1", "1"]], "penalties": None, "nu": nu, "row_weights": None}
        return {**content, "evidence": {"kind": "cover", "range": span, "cover": list(cover)}}

    def pair(q, first, second):
        return {"v": ["1"], "t": "1/8", "q": q, "r": {"0": first, "1": second}}

    refused(with_cover("1/2", pair("1", "1/2", "1/2")), "does not fail")
    refused(with_cover("1/2", pair("1", "11/20", "8/20")), "less than 1")
    refused(with_cover("1/2", pair("1", "9/20", "11/20")), "wrong side")
    assert check(Certificate(with_cover("1/2", pair("1", "11/20", "9/20"))).to_json()).startswith("strongly positive")
    refused(with_cover("1", pair("1", "11/20", "9/20")), "more than the penalty")


def test_lies_about_two_labels_are_refused(certificates):
    whole = next(c.content for c, verdict in certificates if verdict == Verdict.NEUTRAL)
    lie = copy.deepcopy(whole)
    sides = lie["evidence"]
    sides["positive"], sides["negative"] = sides["negative"], sides["positive"]
    refused(lie, "evidence.positive: ")
    lie = copy.deepcopy(whole)
    lie["evidence"]["negative"]["inverse_squared_rescaling"][0] = "1000"
    refused(lie, "evidence.negative: the rescaling of group 0 is outside of its range")
    lie = copy.deepcopy(whole)
    lie["evidence"]["negative"] = lie["evidence"]["positive"]
    refused(lie, "evidence.negative")
    refused({**whole, "claim": "neutral"}, "do not prove")


def test_the_inequality_by_hand():
    """Rows at 1 and -1, nothing rescaled, the point 1/8: with v = 1 and r = (1/2, 1/2) both sides are 1: no proof."""
    verdicts = GapEngine(TrainingSet([[1.0], [-1.0]], [1, -1]), (1, 1)).certify([[0.125]])
    content = copy.deepcopy(verdicts.certificate(0).content)

    def with_cover(*entries):
        content["evidence"]["cover"] = list(entries)
        return content

    def pair(**r):
        return {"v": ["1"], "t": "1/8", "r": {key.strip("_"): value for key, value in r.items()}}

    refused(with_cover(pair(_0="1/2", _1="1/2")), "does not fail")
    good = pair(_0="11/20", _1="1/2")
    assert check(Certificate(with_cover(good)).to_json()) == "strongly positive within the range"
    # the negative r of a row whose state is not known is refused, however well the inequality holds
    refused(with_cover(pair(_0="11/20", _1="-1/1000000")), "is negative")
    refused(with_cover(["row", 0], ["row", 0], good, good, good), "its state is known")
    refused(with_cover(["sign", 0], ["sign", 0], good, good, good), "its sign is known")


def test_no_random_change_of_a_pair_proves_the_other_label():
    """What the checker accepts is true: pairs at random, offered for the other label of a strong point, are all refused."""
    random = np.random.default_rng(0)
    engine, verdicts = next(decided_points())
    i = int(np.flatnonzero(verdicts.strong)[0])
    content = verdicts.certificate(i).content
    claim = content["claim"].replace("positive", "x").replace("negative", "positive").replace("x", "negative")
    for _ in range(200):
        pair = {
            "v": [str(int(x)) for x in random.integers(-20, 21, 5)],
            "t": str(int(random.integers(-20, 21))),
            "r": {str(k): str(int(random.integers(0, 9))) for k in random.integers(0, engine.training_set.n_rows, 4)},
        }
        lie = copy.deepcopy(content)
        lie["claim"] = claim
        lie["evidence"]["cover"] = [pair]
        with pytest.raises(Refused):
            check(Certificate(lie).to_json())


def test_prove_checks_every_certificate(tmp_path):
    for _, verdicts in decided_points():
        path = tmp_path / "certificates.jsonl"
        proved = verdicts[:8].prove(path)
        assert (proved.status[~proved.unknown] == "proved").all()
        lines = path.read_text().splitlines()
        assert len(lines) == (~proved.unknown).sum()
        assert all("within the range" in check(line) for line in lines)


def test_small_penalties_beside_large_ones_have_certificates():
    training_set = TrainingSet([[3.0], [-2], [-1], [1], [2]], [-1, -1, -1, 1, 1])
    verdicts = GapEngine(training_set, 2, penalties=[0.001, 0.25, 10, 0.5, 0.25]).certify([[0.48], [0.94], [3.0]])
    assert (verdicts.prove().status == "proved").all()


@pytest.mark.parametrize("soft", [False, True])
def test_unlike_units_have_certificates(soft):
    """Units 1e8 times apart: rounding must not take the weights of the smaller ones away, nor the label with it."""
    training_set = overlapping(7, 3, 14) if soft else made_sets.gaussian(9, 3)
    units = np.array([1e-4, 1.0, 1e4])
    penalties = np.full(training_set.n_rows, 0.3) if soft else None
    points = np.random.default_rng(5).normal(size=(16, 3)) * 2
    scaled = TrainingSet(training_set.features * units, training_set.signs)
    verdicts = GapEngine(scaled, 1.5, penalties=penalties).certify(points * units)
    decided = ~verdicts.unknown
    assert decided.sum() >= 10
    assert (verdicts.prove().status[decided] == "proved").all()


@pytest.mark.parametrize("soft", [False, True])
def test_witnesses_are_on_their_side_when_retrained_with_unlike_units(soft):
    """By Clarabel: libsvm does not converge on such units."""
    import cvxpy as cp

    training_set = overlapping(11, 3, 30) if soft else made_sets.gaussian(3, 4)
    n = training_set.n_features
    units = 10.0 ** np.linspace(-2, 2, n)
    scaled = TrainingSet(training_set.features * units, training_set.signs)
    points = np.random.default_rng(1).normal(size=(40, n)) * 2 * units
    C = 0.5 if soft else np.inf
    verdicts = GapEngine(scaled, 4.0, penalties=np.full(scaled.n_rows, C) if soft else None).certify(points)
    assert verdicts.neutral.any()
    for i in np.flatnonzero(verdicts.neutral):
        witness = verdicts.witness(i)
        for tau, sign in ((witness.positive, 1), (witness.negative, -1)):
            w, b, missing = cp.Variable(n), cp.Variable(), cp.Variable(scaled.n_rows, nonneg=True)
            margins = cp.multiply(scaled.signs, (scaled.features * tau) @ w + b)
            cost = cp.sum_squares(w) / 2 + (C * cp.sum(missing) if soft else 0)
            cp.Problem(cp.Minimize(cost), [margins >= 1 - missing if soft else margins >= 1]).solve(solver=cp.CLARABEL)
            assert sign * (w.value @ (points[i] * tau) + b.value) > 0
