"""Claims with nu: a planted lie for each condition of the checker, which names it; the second checker refuses it too."""

import copy
from fractions import Fraction

import certificate_corpus
import pytest
import second_checker
from certificate_corpus import two_intercepts

from rescaleinv import verify

STORED = {
    name: record["content"]
    for name, record in certificate_corpus.stored()["certificates"].items()
    if record["content"]["evidence"]["kind"].startswith("nu-")
}
TREE = STORED["nu tree with directions"]
NEUTRAL = next(content for content in STORED.values() if content["claim"] == "neutral with nu")


def proved(content):
    text = certificate_corpus.with_hashes(content)
    claim = verify.check(text)
    assert second_checker.proves(text) == claim
    return claim


def refused(content, words):
    text = certificate_corpus.with_hashes(content)
    with pytest.raises(verify.Refused, match=words):
        verify.check(text)
    assert second_checker.proves(text) is None


def changed(content, *path, to):
    content = copy.deepcopy(content)
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return content


def line(scores, labels, margin, multipliers, point="0", factor="1"):
    """Rows on a line, and the same classifier for both sides of a neutral claim."""
    classifier = {"multipliers": multipliers, "inverse_squared_rescaling": [factor]}
    evidence = {"kind": "nu-two-rescalings", "margin": margin, "positive": classifier, "negative": classifier}
    rows = [[str(x)] for x in scores]
    return certificate_corpus._certificate("neutral with nu", [point], rows, labels, evidence)


HALF = {"nu": "1/2", "row_weights": None}  # four rows: caps of 1/2


@pytest.mark.parametrize("content", [TREE, NEUTRAL])
def test_the_question_says_nu(content):
    claim = proved(content)
    assert claim.endswith(" with nu")
    nu = Fraction(content["evidence"]["margin"]["nu"])
    assert claim.question.scope.nu == nu
    assert str(claim.question.scope).startswith("every rescaling, nu = ")


def test_row_weights_are_said():
    weighted = next(c for c in STORED.values() if c["evidence"]["margin"]["row_weights"] is not None)
    assert "row weights 1 to 3" in str(proved(weighted).question)


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        ({"nu": "0", "row_weights": None}, "nu is not positive"),
        ({"nu": "-1/2", "row_weights": None}, "nu is not positive"),
        ({"nu": 0.25, "row_weights": None}, "not an exact number"),
        ({"nu": "1/4"}, "has no field 'row_weights'"),
        ({"nu": "1/4", "row_weights": ["1"] * 5}, "6 numbers are needed"),
        ({"nu": "1/4", "row_weights": ["1"] * 5 + ["0"]}, r"row_weights\[5\] is not positive"),
        ({"nu": "1/4", "row_weights": None, "C": "1"}, "not known"),
        (None, "not a JSON object"),
    ],
)
def test_lies_about_the_margin(margin, words):
    refused(changed(TREE, "evidence", "margin", to=margin), words)


@pytest.mark.parametrize("claim", [*certificate_corpus.CLAIMS, None, "strongly positive with nu "])
def test_each_kind_proves_its_own_claims_only(claim):
    if claim != "strongly positive with nu":
        refused(changed(TREE, "claim", to=claim), "sign of the claim|does not prove")
    if claim != "neutral with nu":
        refused(changed(NEUTRAL, "claim", to=claim), "prove 'neutral with nu'")


def test_a_hard_margin_is_not_a_claim_with_nu():
    hard = certificate_corpus.tree_with_directions()
    refused(changed(hard, "claim", to="strongly positive with nu"), "a tree does not prove")
    with_cap = copy.deepcopy(hard)
    leaf = next(k for k, entry in enumerate(with_cap["evidence"]["tree"]) if isinstance(entry, dict) and "r" in entry)
    tree = with_cap["evidence"]["tree"]
    tree[leaf : leaf + 1] = [["cap", 0], tree[leaf], tree[leaf]]
    refused(with_cap, "there is no such feature|not known")


@pytest.mark.parametrize(
    ("multipliers", "words"),
    [
        ({"0": "1/2", "1": "1/2", "2": "1/2"}, "do not add up to 1/2"),
        ({"0": "1/4", "1": "1/4"}, "do not add up to 1/2"),
        ({"0": "3/4", "2": "-1/4", "1": "1/2"}, "not positive or above its cap"),
        ({"0": "1/2", "2": "0", "1": "1/2"}, "not positive or above its cap"),
        ({"2": "1/2", "1": "1/2"}, "not optimal at this rescaling"),
    ],
)
def test_lies_about_multipliers(multipliers, words):
    # X+ = 1, 4 and X- = -1, -4: the nearest rows of each class, 0 and 1, carry the margin
    refused(line([1, -1, 4, -4], [1, -1, 1, -1], HALF, {"0": "1/2", "1": "1/2"}, "9"), "not label the point negative")
    refused(line([1, -1, 4, -4], [1, -1, 1, -1], HALF, multipliers, "9"), words)


def test_a_multiplier_above_its_cap_is_noticed_where_all_else_holds():
    rows, labels, nu = [1, -1, 4, -4], [1, -1, 1, -1], {"nu": "3/4", "row_weights": None}  # caps of 1/3
    refused(line(rows, labels, nu, {"0": "1/2", "1": "1/2"}, "9"), "above its cap")
    refused(
        line(rows, labels, nu, {"0": "1/3", "2": "1/6", "1": "1/3", "3": "1/6"}, "9"), "not label the point negative"
    )


def test_a_rescaling_must_be_positive():
    for factor in ("0", "-1"):
        refused(line([1, -1, 4, -4], [1, -1, 1, -1], HALF, {"0": "1/2", "1": "1/2"}, factor=factor), "not positive")


def test_hulls_that_meet_have_no_classifier():
    refused(line([1, 1, 1, 1], [1, -1, 1, -1], HALF, {"0": "1/2", "1": "1/2"}), "all weights are 0")


def test_an_intercept_without_a_bound_labels_nothing():
    whole = {"nu": "1", "row_weights": None}  # caps of 1/4: every row is at its cap
    quarter = {str(i): "1/4" for i in range(4)}
    refused(line([1, -1, 4, -4], [1, -1, 1, -1], whole, quarter, "99"), "positive with every optimal intercept")
    # one class of two rows at its caps of 1/4, the other of three not: the intercept has no bound on one side only
    rows, labels, margin = [1, -1, 4, -4, -5], [1, -1, 1, -1, -1], {"nu": "4/5", "row_weights": None}
    refused(line(rows, labels, margin, quarter, "99"), "positive with every optimal intercept")
    content = line(rows, labels, margin, quarter, "-99")
    content["claim"] = "strongly negative with nu"
    evidence = content["evidence"]
    content["evidence"] = {"kind": "nu-tree", "margin": margin, "classifier": evidence["negative"]}
    leaf = {"r": {str(i): "1/4" for i in range(5)}, "v": {}}
    content["evidence"]["tree"] = [["sign", 0], {**leaf, "r": {"1": "1/4"}}, {**leaf, "r": {"0": "1/4", "2": "1/4"}}]
    refused(content, "tree")  # the classifier is good, the leaves are not


def test_every_best_intercept_must_agree():
    # two of three rows of each class at their caps of 1/4 (nu = 2/3): thresholds from 2 to 9, intercepts within ±7/2
    rows, labels = [1, -1, 2, -2, 9, -9], [1, -1] * 3
    margin, quarter = {"nu": "2/3", "row_weights": None}, {str(i): "1/4" for i in range(4)}
    refused(line(rows, labels, margin, quarter, "1"), "positive with every optimal intercept")
    refused(line(rows, labels, margin, quarter, "-1"), "positive with every optimal intercept")
    refused(line(rows, labels, margin, quarter, "5"), "negative with every optimal intercept")


def test_a_neutral_claim_needs_both_sides():
    sides = NEUTRAL["evidence"]
    refused(changed(NEUTRAL, "evidence", "negative", to=sides["positive"]), "does not label the point negative")
    refused(changed(NEUTRAL, "evidence", "positive", to=sides["negative"]), "does not label the point positive")


def entry_of(kind):
    """The position of the first leaf, direction or split in the tree."""
    tests = {"leaf": lambda e: "r" in e, "direction": lambda e: "h" in e, "cap": lambda e: e[0] == "cap"}
    return next(k for k, entry in enumerate(TREE["evidence"]["tree"]) if tests[kind](entry))


def test_prices_within_the_caps():
    leaf, tree = entry_of("leaf"), ("evidence", "tree")
    assert TREE["evidence"]["tree"][leaf - 1] == ["cap", 0]
    # here row 0 is in: its price is at most the cap of 2/5, and may be negative
    refused(changed(TREE, *tree, leaf, "r", "0", to="1/2"), r"r\[0\] is more than the cap")
    refused(changed(TREE, *tree, leaf, "r", "2", to="-1/8"), r"r\[2\] is negative")
    refused(changed(TREE, *tree, leaf, "r", "0", to="1/10"), "does not fail")
    refused(changed(TREE, *tree, leaf, "r", "0", to="-1/10"), "does not fail")
    # and here its margin is at least 1: the price may be above the cap, and not below 0
    refused(changed(TREE, *tree, leaf + 1, "r", "2", to="1/2"), r"r\[2\] is more than the cap")
    refused(changed(TREE, *tree, leaf + 1, "r", "0", to="-1"), r"r\[0\] is negative")


def test_a_larger_nu_makes_prices_too_large():
    refused(changed(TREE, "evidence", "margin", "nu", to="1/2"), "more than the cap")


def test_directions():
    where, tree = entry_of("direction"), ("evidence", "tree")
    refused(changed(TREE, *tree, where, to={"h": {"0": "1", "1": "-1"}, "t": "0"}), "not known")
    refused(changed(TREE, *tree, where, to={"h": {}}), "h is 0")
    refused(changed(TREE, *tree, where, to={"h": {"0": "1", "1": "1"}}), "another sign")
    refused(changed(TREE, *tree, where, to={"h": {"0": "2", "1": "-1"}}), "h.mu may be positive")
    longer = copy.deepcopy(TREE)
    longer["evidence"]["tree"][where:where] = [["row", 0], {"r": {}, "v": {}}]
    refused(longer, "does not fail")


@pytest.mark.parametrize("split", [["cap", 6], ["cap", -1], ["cap", 0, "1"], ["cap"], ["cap", "0"]])
def test_splits_at_the_cap(split):
    refused(changed(TREE, "evidence", "tree", entry_of("cap"), to=split), "evidence.tree")


def test_a_row_that_is_in_and_out_leaves_nothing():
    """A row that is both has no multiplier, and two rows in, at caps of 2/5, are more than half."""
    empty = {"r": {}, "v": {}}
    leaf = entry_of("leaf")
    original = TREE["evidence"]["tree"][leaf]
    with_split = copy.deepcopy(TREE)
    with_split["evidence"]["tree"][leaf : leaf + 1] = [["row", 0], empty, ["cap", 2], empty, original]
    assert proved(with_split) == "strongly positive with nu"
    with_split["evidence"]["tree"][leaf + 3] = original
    with_split["evidence"]["tree"][leaf + 4] = empty
    refused(with_split, "does not fail")


# w = 1, scores of the positive class 1 and then 4, of the negative class as well: f = x + b with b from -3/2 to 3/2
@pytest.mark.parametrize("point", ["0", "-3/2", "149/100", "-1"])
def test_a_point_that_two_intercepts_label_differently_is_neutral(point):
    assert proved(two_intercepts(point)) == "neutral with nu"


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ("3/2", "labels the point negative"),
        ("9", "labels the point negative"),
        ("-151/100", "labels the point positive"),
    ],
)
def test_a_point_that_all_intercepts_label_alike_is_not_neutral_by_them(point, words):
    refused(two_intercepts(point), words)


def test_other_lies_about_two_intercepts():
    refused(two_intercepts("0", nu="1/4"), "labels the point negative|labels the point positive")  # b is 0 and f = 0
    refused(two_intercepts("0", multipliers={"0": "1/2", "2": "1/2"}), "not optimal")
    refused(two_intercepts("0", positive={}), "not known")
    refused(changed(two_intercepts("0"), "claim", to="neutral"), "prove 'neutral with nu'")
    refused(
        changed(two_intercepts("0"), "claim", to="strongly positive with nu"),
        "prove 'neutral with nu'",
    )


def test_an_intercept_without_a_bound_allows_either_label():
    # one positive row and three negative ones: at nu = 1/2 its cap is 1/2, and b has no lower bound
    certificate = two_intercepts("9", labels=(1, -1, -1, -1), multipliers={"0": "1/2", "1": "1/2"})
    assert proved(certificate) == "neutral with nu"
    below = changed(certificate, "point", to=["0"])  # every b <= -5/2 is best: f(0) < 0
    refused(below, "labels the point positive")
