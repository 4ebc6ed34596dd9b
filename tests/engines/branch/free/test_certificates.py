"""Each condition of the checker of trees: what breaks it is refused by name, and by the second checker too."""

import copy

import certificate_corpus
import pytest
import second_checker

from rescaleinv import verify

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
