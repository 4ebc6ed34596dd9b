"""Trees as evidence: what breaks a condition of the checker is refused by name, and the writer restates units exactly."""

import copy
from fractions import Fraction

import certificate_corpus
import made_sets
import numpy as np
import pytest
import second_checker

from rescaleinv import verify
from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free.certificates import Writer
from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.branch.free.problem import PointProblem
from rescaleinv.engines.branch.free.tree import Fact, Leaf, Split
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.training_set import TrainingSet

TREES = {
    name: record["content"]
    for name, record in certificate_corpus.stored()["certificates"].items()
    if record["content"]["evidence"]["kind"] == "tree"
}


def entries(content):
    return content["evidence"]["tree"]


def with_entry(test):
    """A stored certificate, copied, and the number of its first entry of this kind."""
    for content in TREES.values():
        for k, entry in enumerate(entries(content)):
            if test(entry):
                return copy.deepcopy(content), k
    raise AssertionError("no stored tree has such an entry")


def is_split(kind):
    return lambda entry: isinstance(entry, list) and entry[0] == kind


def is_leaf(entry):
    return isinstance(entry, dict) and "r" in entry


def is_direction(entry):
    return isinstance(entry, dict) and "h" in entry


def refused(content):
    text = certificate_corpus.with_hashes(content)
    assert second_checker.proves(text) is None
    with pytest.raises(verify.Refused) as error:
        verify.check(text)
    return str(error.value)


def test_every_kind_of_entry_is_stored():
    kinds = {entry[0] if isinstance(entry, list) else min(entry) for c in TREES.values() for entry in entries(c)}
    assert kinds >= {"sign", "ratio", "row", "r", "h"}


def test_the_claim_must_be_that_of_the_classifier():
    content, _ = with_entry(is_leaf)
    other = {"strongly positive": "strongly negative", "strongly negative": "strongly positive"}
    content["claim"] = other[content["claim"]]
    assert "does not have the sign" in refused(content)
    content["claim"] = "neutral"
    assert "does not prove 'neutral'" in refused(content)


def test_the_classifier_must_be_a_maximum_margin_classifier():
    content, _ = with_entry(is_leaf)
    content["evidence"]["classifier"]["intercept"] = "1000"
    assert "evidence.classifier" in refused(content)


def test_nothing_may_be_left_out_or_added():
    content, _ = with_entry(is_split("sign"))
    shorter, longer = copy.deepcopy(content), copy.deepcopy(content)
    entries(shorter).pop()
    assert "leaves something out" in refused(shorter)
    entries(longer).append(entries(longer)[-1])
    assert "more than there is" in refused(longer)
    content["evidence"]["tree"] = []
    assert "leaves something out" in refused(content)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (["sign", 99], "no such feature"),
        (["sign", -1], "no number"),
        (["sign", 0, "1"], "not known"),
        (["row", 999], "no such row"),
        (["ratio", 0, "-1"], "negative value"),
        (["ratio", 0, "x"], "not an exact number"),
        (["ratio", 0], "not known"),
        (["colour", 0, "1"], "not known"),
        ([], "neither a split nor a leaf"),
        ({"r": {}}, "no field"),
        ({"r": {"999": "1"}, "v": {}}, "belongs to no row"),
        ({"r": {}, "v": {"999": "1"}}, "belongs to no row"),
        ({"r": {}, "v": {}}, "does not fail"),
        ({"h": {}, "t": "0"}, "h is 0"),
        ({"h": {"0": "1"}, "t": "0"}, "sign"),
    ],
)
def test_entries_that_are_none(entry, message):
    content, _ = with_entry(is_split("sign"))
    entries(content)[0] = entry
    assert message in refused(content)


def test_a_sign_is_split_once():
    content, k = with_entry(is_split("sign"))
    entries(content).insert(k + 1, entries(content)[k])
    assert "is known" in refused(content)


def test_prices_of_margins_are_not_negative():
    content, k = with_entry(lambda entry: is_leaf(entry) and entry["r"])
    row = next(iter(entries(content)[k]["r"]))
    price = entries(content)[k]["r"][row]
    entries(content)[k]["r"][row] = price[1:] if price.startswith("-") else f"-{price}"
    message = refused(content)
    assert "is negative" in message or "does not fail" in message or "price" in message


def test_prices_must_exclude_the_node():
    content, k = with_entry(lambda entry: is_leaf(entry) and entry["r"])
    entries(content)[k] = {"r": {}, "v": {}}
    assert "does not fail" in refused(content)


def test_a_price_on_a_feature_of_unknown_sign():
    content, _ = with_entry(is_leaf)
    entries(content)[:] = [{"r": {}, "v": {"0": "1"}}]
    assert "unknown sign has a price" in refused(content)


@pytest.mark.parametrize(("prices", "message"), [({"0": "1"}, "gradient without a bound")])
def test_prices_without_a_bound(prices, message):
    content, _ = with_entry(is_leaf)
    entries(content)[:] = [["sign", 0], {"r": {}, "v": prices}, {"r": {}, "v": prices}]
    assert message in refused(content)


def test_a_weight_without_a_bound():
    content, _ = with_entry(is_leaf)
    signs = [["sign", j] for j in range(len(content["point"]))]
    entries(content)[:] = [*signs, {"r": {"0": "1"}, "v": {}}]
    message = refused(content)
    assert "weight without a bound" in message or "does not fail" in message


def test_a_direction_needs_all_rows_on_its_side_and_the_signs():
    content, k = with_entry(is_direction)
    far = copy.deepcopy(content)
    entries(far)[k]["t"] = "1000000"
    assert "on the other side" in refused(far)
    entries(far)[k]["t"] = "-1000000"
    assert "on the other side" in refused(far)
    h = entries(content)[k]["h"]
    j = next(iter(h))
    h[j] = h[j][1:] if h[j].startswith("-") else f"-{h[j]}"
    assert "another sign" in refused(content)


def test_a_tree_of_another_point_or_of_other_rows():
    for content in TREES.values():
        moved = copy.deepcopy(content)
        positive = [row for row, y in zip(moved["training"]["rows"], moved["training"]["labels"], strict=True) if y > 0]
        negative = [row for row, y in zip(moved["training"]["rows"], moved["training"]["labels"], strict=True) if y < 0]
        moved["point"] = positive[0] if content["claim"] == "strongly negative" else negative[0]
        refused(moved)


# --- the writer -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maker", ["gaussian", "integer_ties", "proportional_features", "unlike_units"])
def test_units_change_the_evidence_by_powers_of_two_only(maker):
    """Features times powers of two: bounds of weights, gradients and ratios are restated, the tree is the same."""
    training_set = made_sets.MAKERS[maker](4)
    powers = np.arange(training_set.n_features) % 3 * 5 - 4
    moved = TrainingSet(np.ldexp(training_set.features, powers), training_set.signs)
    found = 0
    for row in training_set.features[:4]:
        first, second = (
            TreeEngine(one, max_programs=300).decide(point)
            for one, point in ((training_set, row), (moved, np.ldexp(row, powers)))
        )
        assert first.code == second.code
        if first.certificate is None:
            continue
        found += 1
        assert verify.check(second.certificate.to_json()) == verify.check(first.certificate.to_json())
        for old, new in zip(*(entries(one.certificate.content) for one in (first, second)), strict=True):
            if isinstance(old, list):
                assert new[:2] == old[:2]
                if len(old) > 2:
                    scale = Fraction(2) ** int(powers[old[1]])
                    scale = {"weight": 1 / scale, "gradient": scale, "ratio": scale**2}[old[0]]
                    assert Fraction(new[2]) == Fraction(old[2]) * scale
            elif "r" in old:
                assert new["r"] == old["r"]
    assert found


def test_a_leaf_is_rounded_to_prices_that_are_on_their_limits():
    """A weight of unknown sign gets no price at all: Σ λ_i G_i is made 0 exactly, though the floats miss it."""
    training_set = TrainingSet([[1.0, 3], [3, 1], [-2, 0.1], [0.1, -2]], [1, 1, -1, -1])
    problem = PointProblem.of(training_set, np.array([5.0, 5]), np.array([0.3, 0.3]))
    G = problem.G
    balance = np.linalg.lstsq(np.vstack([G.T, np.ones(4)]), [0, 0, 1], rcond=None)[0]
    leaf = Leaf({i: float(balance[i]) for i in range(4)}, np.zeros(2))
    (entry,) = Writer(problem).entries(leaf)
    prices = {int(i): Fraction(text) for i, text in entry["r"].items()}
    assert entry["v"] == {}
    for j in range(2):
        assert sum(price * problem.whole[i][j] for i, price in prices.items()) == 0
    assert float(sum(prices.values())) == pytest.approx(1)
    for i, price in prices.items():
        assert float(price) == pytest.approx(balance[i], abs=1e-9)


def test_halves_come_in_the_order_of_the_checker():
    problem = PointProblem.of(TrainingSet([[0.0], [4]], [-1, 1]), np.array([1.0]), np.array([0.5]))
    up, down = Leaf({}, np.array([0.5])), Leaf({}, np.array([-0.5]))
    plus, minus = Fact(kernel.SIGN, 0, 1.0), Fact(kernel.SIGN, 0, -1.0)
    first = Writer(problem).entries(Split(plus, up, down))
    assert first == Writer(problem).entries(Split(minus, down, up))
    assert first[0] == ["sign", 0]
    low, high = Fact(kernel.W_LOW, 0, 0.5), Fact(kernel.W_HIGH, 0, 0.5)
    bounded = Writer(problem).entries(Split(low, up, down))
    assert bounded == Writer(problem).entries(Split(high, down, up))
    assert bounded[0] == ["weight", 0, rational_text(Fraction(1, 2) * Fraction(float(problem.units[0])))]
    row = Writer(problem).entries(Split(Fact(kernel.ROW_OUT, 1), up, down))
    assert row == Writer(problem).entries(Split(Fact(kernel.ROW_LESS, 1), down, up))
    assert row[0] == ["row", 1]
