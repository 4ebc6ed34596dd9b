"""The checker against lies: whatever does not follow from the evidence must be refused, with the reason.

A careless liar leaves the digest as it is; a careful one makes the digest and the rows' SHA-256 anew, so that only the
mathematics can tell. ``is_true`` is that mathematics once more, written apart from the checker.
"""

import copy
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import made_sets
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rescaleinv.verify as verify
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import neutral_certificate
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import Refused, check, main

SIDES = ("positive", "negative")
FUZZ = settings(
    max_examples=250, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def example_2():
    """Example 2 of the paper, with a third feature that is constant: its weight is 0, so that its rescaling is free."""
    training_set = TrainingSet([[-1, 5, 2], [5, -1, 2], [1.4, 1.4, 2], [1, 1, 2]], [1, 1, 1, -1])
    return neutral_certificate(training_set, [-1, 4, 2], [1, 1, 1], [5, 1, 1])


def many_ties():
    training_set = made_sets.integer_ties(2)
    rng = np.random.default_rng(0)
    points = rng.integers(-2, 8, (40, training_set.n_features))
    rescalings = [made_sets.random_rescaling(rng, training_set.n_features, 1) for _ in range(6)]
    for point in points.tolist():
        for positive in rescalings:
            for negative in rescalings:
                try:
                    return neutral_certificate(training_set, point, positive, negative)
                except ValueError:
                    continue
    raise AssertionError("no neutral point was found")


CERTIFICATES = {"example 2": example_2(), "many ties": many_ties()}
PROVED = CERTIFICATES["example 2"]
TEXT = PROVED.to_json()
QUESTION = check(TEXT).question


def fresh(certificate=PROVED):
    return copy.deepcopy(certificate.content)


def with_digest(content):
    """The text of a careful liar, whose digest fits."""
    return Certificate(content).to_json()


def with_both(content):
    """… and whose SHA-256 of the rows fits too, where rows can still be read."""
    training = content["training"]
    try:
        lines = zip(training["labels"], training["rows"], strict=True)
        text = "".join(f"{label}:{','.join(str(Fraction(x)) for x in row)}\n" for label, row in lines)
        training["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    except (ValueError, TypeError, ZeroDivisionError):
        pass
    return with_digest(content)


def is_true(content):
    """Does the neutral claim follow? Each classifier must be optimal at its rescaling, and the two must disagree."""
    rows = [[Fraction(x) for x in row] for row in content["training"]["rows"]]
    labels = content["training"]["labels"]
    point = [Fraction(x) for x in content["point"]]
    values = []
    for side in ("positive", "negative"):
        record = content["evidence"][side]
        w, d = ([Fraction(x) for x in record[key]] for key in ("weights", "inverse_squared_rescaling"))
        b = Fraction(record["intercept"])
        a = [Fraction(record["multipliers"].get(str(i), 0)) for i in range(len(rows))]
        slacks = [
            y * (sum(u * x for u, x in zip(w, row, strict=True)) + b) - 1 for y, row in zip(labels, rows, strict=True)
        ]
        gradient = [sum(m * y * row[j] for m, y, row in zip(a, labels, rows, strict=True)) for j in range(len(w))]
        if min(a) < 0 or min(d) <= 0 or min(slacks) < 0 or sum(m * y for m, y in zip(a, labels, strict=True)):
            return False
        if any(m * s for m, s in zip(a, slacks, strict=True)):
            return False
        if any(e * u != g for e, u, g in zip(d, w, gradient, strict=True)):
            return False
        values.append(sum(u * x for u, x in zip(w, point, strict=True)) + b)
    return content["claim"] == "neutral" and values[0] >= 0 > values[1]


def accepted(text, training=None):
    try:
        return check(text, training) == "neutral"
    except Refused:
        return False


def leaves(value, path=()):
    """Every path to a value, containers included."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    if isinstance(value, list):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, k))


def at(content, path):
    for key in path:
        content = content[key]
    return content


def put(content, path, value):
    at(content, path[:-1])[path[-1]] = value


@pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_what_is_proved_is_accepted(certificate):
    assert is_true(certificate.content)
    assert check(certificate.to_json()) == "neutral"
    assert with_both(fresh(certificate)) == certificate.to_json()  # the liar's tools are in order


# (a) the digest is left as it is


def changes_of(value):
    """Other values, other types."""
    yield from (None, True, 0, 1.5, "", "x", [], {}, [value], {"x": value})
    if isinstance(value, str):
        yield from (value + " ", value + "0", "-" + value, value.upper() + "!", value[:-1])
    if isinstance(value, int):
        yield from (value + 1, -value, float(value) + 0.5, str(value))
    if isinstance(value, list):
        yield from (value[:-1], value[1:], [*value, *value[:1]])
    if isinstance(value, dict):
        yield {**value, "unknown": "1"}
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            yield {(k + "_" if k == key else k): v for k, v in value.items()}


@pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_no_field_can_be_touched_without_the_digest(certificate):
    original = json.loads(certificate.to_json())
    tried = 0
    for path in leaves(original):
        for value in changes_of(at(original, path)):
            if value == at(original, path):
                continue
            content = copy.deepcopy(original)
            if path:
                put(content, path, value)
            else:
                content = value
            with pytest.raises(Refused):
                check(json.dumps(content))
            tried += 1
    assert tried > 500


def test_the_digest_sees_what_equals_in_python():
    """1, 1.0 and True are equal there, but they are not the same JSON."""
    for value in (1.0, True):
        content = json.loads(TEXT)
        content["training"]["labels"][0] = value
        with pytest.raises(Refused, match="digest: the certificate is damaged"):
            check(json.dumps(content))


# (b) digest and SHA-256 are made anew: only the mathematics can tell


def nudges(text):
    value = Fraction(text)
    yield from (value + Fraction(1, 2**70), value - Fraction(1, 2**70), value * 2, value / 2, -value, value + 1000)
    yield Fraction(0)


def lies_about_numbers(certificate):
    """Every number of the evidence, the point and the rows, nudged and pushed: (path, content)."""
    original = certificate.content
    roots = [("point",), ("training", "rows"), ("evidence", "positive"), ("evidence", "negative")]
    for root in roots:
        for path in leaves(at(original, root)):
            text = at(original, (*root, *path))
            if isinstance(text, str):
                for value in nudges(text):
                    if value != Fraction(text):
                        content = fresh(certificate)
                        put(content, (*root, *path), str(value))
                        yield (*root, *path), content


@pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_a_number_can_only_be_changed_where_the_claim_stays_true(certificate):
    """Another point with the same two labels, a row that stays clear of the margin, the factor of a weight 0: all else is
    refused."""
    still_true = set()
    for path, content in lies_about_numbers(certificate):
        truth = is_true(content)
        assert accepted(with_both(content)) == truth, path
        if truth:
            still_true.add(path)
    for path in still_true:
        if path[0] == "evidence":
            assert path[2] == "inverse_squared_rescaling"
            assert Fraction(at(certificate.content, path[:2])["weights"][path[3]]) == 0
        if path[:2] == ("training", "rows"):
            zero_weight = [at(certificate.content, ("evidence", s))["weights"][path[3]] == "0" for s in SIDES]
            multipliers = [at(certificate.content, ("evidence", s))["multipliers"] for s in SIDES]
            for weightless, supported in zip(zero_weight, (str(path[2]) in m for m in multipliers), strict=True):
                assert not supported or weightless
    assert any(path[0] == "point" for path in still_true)


@pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_the_point_is_part_of_the_claim(certificate):
    """A point moved to where both classifiers agree is refused; the message says which label is missing."""
    w = [float(Fraction(x)) for x in certificate.content["evidence"]["positive"]["weights"]]
    j = int(np.argmax(np.abs(w)))
    for sign, message in ((1, "negative does not label the point negative"), (-1, "positive does not label the point")):
        content = fresh(certificate)
        content["point"][j] = str(int(sign * np.sign(w[j]) * 10**6))
        with pytest.raises(Refused, match=message):
            check(with_both(content))


@pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_every_label_counts(certificate):
    for i, label in enumerate(certificate.content["training"]["labels"]):
        content = fresh(certificate)
        content["training"]["labels"][i] = -label
        assert not is_true(content)
        with pytest.raises(Refused, match=r"margin below 1|both classes are needed"):
            check(with_both(content))


@pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES.keys())
def test_a_row_that_supports_a_classifier_can_not_be_left_out(certificate):
    for i in range(len(certificate.content["training"]["rows"])):
        content = fresh(certificate)
        del content["training"]["rows"][i], content["training"]["labels"][i]
        supports = [at(certificate.content, ("evidence", side))["multipliers"] for side in SIDES]
        last = max(int(key) for multipliers in supports for key in multipliers)
        # after a row is taken away the multipliers' numbers mean other rows, unless all of them come before it
        assert accepted(with_both(content)) == (i > last)


POSITIVE, NEGATIVE = ("evidence", "positive"), ("evidence", "negative")
GONE = object()

# One field changed: where, what it becomes, and what the refusal says.
LIES_IN_ONE_PLACE = {
    "zero rescaling": (
        (*NEGATIVE, "inverse_squared_rescaling", 1),
        "0",
        "evidence.negative: the rescaling of feature 1 is not positive",
    ),
    "negative rescaling": (
        (*NEGATIVE, "inverse_squared_rescaling", 2),
        "-1",
        "evidence.negative: the rescaling of feature 2 is not positive",
    ),
    "no multipliers": ((*POSITIVE, "multipliers"), {}, "evidence.positive: the weight of feature 0 is not optimal"),
    "multipliers in a list": ((*POSITIVE, "multipliers"), [], "evidence.positive.multipliers is not a JSON object"),
    "negative multiplier": ((*POSITIVE, "multipliers", "2"), "-1", "the multiplier of row 2 is not positive"),
    "zero multiplier": ((*POSITIVE, "multipliers", "0"), "0", "the multiplier of row 0 is not positive"),
    "unbalanced pair": ((*POSITIVE, "multipliers", "3"), "7", "the multipliers of the two classes do not balance"),
    "multiplier of no row": ((*POSITIVE, "multipliers", "4"), "1", "the multiplier '4' belongs to no row"),
    "row named otherwise": ((*POSITIVE, "multipliers", "02"), "1", "the multiplier '02' belongs to no row"),
    "row numbered from the end": ((*POSITIVE, "multipliers", "-1"), "1", "the multiplier '-1' belongs to no row"),
    "row in other digits": ((*POSITIVE, "multipliers", "٢"), "1", "belongs to no row"),
    "strongly positive": (("claim",), "strongly positive", "prove 'neutral', not 'strongly positive'"),
    "no claim": (("claim",), None, "prove 'neutral', not None"),
    "a list of claims": (("claim",), ["neutral"], "prove 'neutral', not ['neutral']"),
    "unknown kind": (("evidence", "kind"), "trust-me", "evidence of kind 'trust-me' is not known to this checker"),
    "kind of another type": (("evidence", "kind"), ["two-rescalings"], "is not known to this checker"),
    "no kind": (("evidence", "kind"), GONE, "evidence has no kind"),
    "evidence of another type": (("evidence",), "two-rescalings", "evidence has no kind"),
    "classifier of another type": (POSITIVE, "yes", "evidence.positive is not a JSON object"),
    "other schema": (("schema",), "rescaleinv-certificate/2", "schema: 'rescaleinv-certificate/2' is not"),
    "no versions": (("versions",), GONE, "the certificate has no field 'versions'"),
    "versions of another type": (("versions",), "1.0", "versions is not a JSON object"),
    "unknown field": (("remark",), "checked", "the certificate has a field 'remark' that is not known"),
    "unknown field in the evidence": (("evidence", "remark"), "", "evidence has a field 'remark' that is not known"),
    "unknown field in a classifier": (
        (*POSITIVE, "loss"),
        "0",
        "evidence.positive has a field 'loss' that is not known",
    ),
    "unknown field in training": (("training", "source"), "", "training has a field 'source' that is not known"),
    "missing field": ((*POSITIVE, "intercept"), GONE, "evidence.positive has no field 'intercept'"),
    "one class": (("training", "labels"), [1, 1, 1, 1], "training.labels: both classes are needed"),
    "label 2": (("training", "labels", 0), 2, "training.labels are not all 1 or -1"),
    "label true": (("training", "labels", 0), True, "training.labels are not all 1 or -1"),
    "label as a float": (("training", "labels", 0), 1.0, "training.labels are not all 1 or -1"),
    "too few labels": (("training", "labels", 3), GONE, "training.labels: one label per row is needed"),
    "no rows": (("training", "rows"), [], "training.rows is not a list of rows"),
    "rows without features": (("training", "rows"), [[], [], [], []], "training.rows[0] has no features"),
    "a short row": (("training", "rows", 1, 2), GONE, "training.rows[1]: 3 numbers are needed"),
    "a short point": (("point", 2), GONE, "point: 3 numbers are needed"),
    "too few weights": ((*POSITIVE, "weights", 2), GONE, "evidence.positive.weights: 3 numbers are needed"),
    "left_out below 0": (("training", "left_out"), -1, "training.left_out is not a number of rows"),
    "left_out as text": (("training", "left_out"), "0", "training.left_out is not a number of rows"),
    "left_out true": (("training", "left_out"), True, "training.left_out is not a number of rows"),
}


@pytest.mark.parametrize(("path", "value", "message"), LIES_IN_ONE_PLACE.values(), ids=LIES_IN_ONE_PLACE.keys())
def test_a_lie_in_one_place_is_refused_by_name(path, value, message):
    content = fresh()
    if value is GONE:
        del at(content, path[:-1])[path[-1]]
    else:
        put(content, path, value)
    with pytest.raises(Refused) as refusal:
        check(with_both(content))
    assert message in str(refusal.value)


def scaled(record, key, factor):
    numbers = record[key]
    if isinstance(numbers, str):
        record[key] = str(Fraction(numbers) * factor)
    elif isinstance(numbers, list):
        record[key] = [str(Fraction(x) * factor) for x in numbers]
    else:
        record[key] = {i: str(Fraction(x) * factor) for i, x in numbers.items()}


def swapped_classifiers(content):
    evidence = content["evidence"]
    evidence["positive"], evidence["negative"] = evidence["negative"], evidence["positive"]


def one_classifier_twice(content):
    content["evidence"]["negative"] = content["evidence"]["positive"]


def multipliers_scaled_in_one_class(content):
    multipliers = content["evidence"]["positive"]["multipliers"]
    for i, label in enumerate(content["training"]["labels"]):
        if label > 0 and str(i) in multipliers:
            scaled(multipliers, str(i), 2)


def multipliers_scaled_in_both(content):
    scaled(content["evidence"]["positive"], "multipliers", 2)


def multiplier_on_a_row_that_is_not_tight(content):
    content["training"]["rows"].append(["100", "100", "2"])
    content["training"]["labels"].append(1)
    content["evidence"]["positive"]["multipliers"]["4"] = "1"


def longer_weights(content):
    scaled(content["evidence"]["positive"], "weights", 2)
    scaled(content["evidence"]["positive"], "intercept", 2)


def longer_weights_that_stay_stationary(content):
    longer_weights(content)
    scaled(content["evidence"]["positive"], "inverse_squared_rescaling", Fraction(1, 2))


def half_a_margin(content):
    scaled(content["evidence"]["positive"], "weights", Fraction(1, 2))
    scaled(content["evidence"]["positive"], "intercept", Fraction(1, 2))


LIES = {
    swapped_classifiers: "evidence.positive does not label the point positive",
    one_classifier_twice: "evidence.negative does not label the point negative",
    multipliers_scaled_in_one_class: "evidence.positive: the multipliers of the two classes do not balance",
    multipliers_scaled_in_both: "evidence.positive: the weight of feature 0 is not optimal",
    multiplier_on_a_row_that_is_not_tight: "evidence.positive: row 4 has a multiplier, but is not tight",
    longer_weights: "evidence.positive: row 2 has a multiplier, but is not tight",
    longer_weights_that_stay_stationary: "evidence.positive: row 2 has a multiplier, but is not tight",
    half_a_margin: "evidence.positive: row 2 has a margin below 1",
}


def lie(plant):
    content = fresh()
    plant(content)
    assert not is_true(content)
    return with_both(content)


@pytest.mark.parametrize(("plant", "message"), LIES.items(), ids=[plant.__name__ for plant in LIES])
def test_a_planted_lie_is_refused_by_name(plant, message):
    with pytest.raises(Refused) as refusal:
        check(lie(plant))
    assert message in str(refusal.value)


def test_a_wrong_sha256_is_refused():
    for sha256 in ("0" * 64, PROVED.content["training"]["sha256"].upper(), None, 7, ""):
        content = fresh()
        content["training"]["sha256"] = sha256
        with pytest.raises(Refused, match=r"training\.sha256 is not that of the rows"):
            check(with_digest(content))


def test_statements_that_prove_nothing_may_be_changed():
    """``versions`` and ``left_out`` are told, not proved: with a new digest the claim is as true as before."""
    content = fresh()
    content["versions"] = {"written by": "hand"}
    content["training"]["left_out"] = 99
    assert is_true(content)
    assert check(with_both(content)) == "neutral"


# "٣" and "３" are digits for Python's int(), "1_0" and " 1" are numbers: here they are not
NO_NUMBERS = ["", " ", "1/0", "0/0", "1/-2", "1/", "/2", "1/2/3", "+1", "1.0", "1e3", "٣", "３", "1_0", " 1", "1\n"]
NO_NUMBERS += ["--1", "0x", "0X1F", "0x1g", "0b1", "nan", "NaN", "Infinity", "-", "½", "²", "1 /2", "9" * 4301]


@pytest.mark.parametrize("text", [*NO_NUMBERS, 1, 1.5, None, True, ["1"], {"1": "1"}], ids=lambda text: repr(text)[:12])
@pytest.mark.parametrize("where", [("point", 0), ("training", "rows", 0, 0), ("evidence", "positive", "intercept")])
def test_what_is_no_exact_number_is_refused(text, where):
    content = fresh()
    put(content, where, text)
    with pytest.raises(Refused, match=r"not an exact number|has a denominator of zero"):
        check(with_both(content))


def test_numbers_may_be_written_in_more_than_one_way():
    """Not in lowest terms, in hexadecimal, with leading zeros: it is the number that counts, also for the SHA-256."""
    content = fresh()
    content["training"]["rows"][0] = ["-2/2", "0x5", "002"]
    content["point"][0] = "-0x2/0x2"
    assert check(with_digest(content)) == "neutral"


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_json_does_not_have(token):
    text = TEXT.replace('"versions":{', f'"versions":{{"x":{token},')
    with pytest.raises(Refused):
        check(text)
    # the careful liar's digest does not help
    body = json.loads(text)
    del body["digest"]
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    body["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    written = json.dumps(body)
    with pytest.raises(Refused):
        check(written.replace("Infinity", "1e999") if "e" in token else written)


def test_a_field_given_twice_is_refused():
    for text in (
        TEXT[:-1] + ',"claim":"neutral"}',
        TEXT.replace('"claim":"neutral"', '"claim":"strongly positive","claim":"neutral"'),
        TEXT.replace('"multipliers":{', '"multipliers":{"0":"1",'),
    ):
        with pytest.raises(Refused, match="a JSON object has a field twice"):
            check(text)


def test_every_truncation_is_refused():
    for text in (TEXT, CERTIFICATES["many ties"].to_json()):
        for end in range(0, len(text), 50):
            with pytest.raises(Refused, match="not a JSON text"):
                check(text[:end])


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "0", '"neutral"', "{}", "neutral", "\ufeff" + TEXT, TEXT + "}", TEXT * 2]
)
def test_other_texts_are_refused(text):
    with pytest.raises(Refused):
        check(text)


def nested(depth, key):
    """A certificate with a deep list under the key, and its digest, made as text: no depth is too deep for that."""
    content = {**PROVED.content, key: "here"}
    deep = "[" * depth + "]" * depth
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).replace('"here"', deep)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return canonical[:-1] + f',"digest":"{digest}"}}'


@pytest.mark.parametrize("key", ["schema", "claim", "point", "training", "evidence", "versions"])
def test_nesting_is_refused_at_any_depth(key):
    """Near the interpreter's limit reading may do where writing or showing does not."""
    limit = sys.getrecursionlimit()
    for depth in (1, 10, *range(limit // 3 - 60, limit // 3, 12), *range(limit - 250, limit + 10, 3), 10**5):
        with pytest.raises(Refused):
            check(nested(depth, key))


def test_digits_beyond_the_interpreters_limit():
    """Hexadecimal has no limit, but a row's SHA-256 is that of its decimals."""
    huge = hex(10**5000)
    content = fresh()
    content["training"]["rows"][0][0] = huge
    with pytest.raises(Refused, match="larger numbers"):
        check(with_digest(content))
    content = fresh()
    content["point"][0] = "-" + huge
    assert not accepted(with_digest(content))  # read without trouble, but f < 0 at both


def test_rows_that_were_read_before_do_not_stand_for_others():
    text, rows = PROVED.to_json(with_rows=False), PROVED.training_json()
    changed = rows.replace(json.loads(rows)["rows"][0][0], "77", 1)
    for _ in range(2):
        assert check(text, rows) == "neutral"
        with pytest.raises(Refused):
            check(text, changed)


def test_rows_apart():
    text, rows = PROVED.to_json(with_rows=False), PROVED.training_json()
    other = CERTIFICATES["many ties"].training_json()
    assert check(text, rows) == "neutral"
    with pytest.raises(Refused, match="the rows are not in the certificate and were not given"):
        check(text)
    with pytest.raises(Refused, match=r"training\.sha256 is not that of the rows that were given"):
        check(text, other)
    for broken, message in (
        ("", "the text of the training rows is not a JSON text"),
        ("{}", "training has no field 'sha256'"),
        (rows.replace('"-1","5"', '"-1","6"'), "training.sha256 is not that of the rows"),
        (rows[:-1] + ',"rows":[]}', "a JSON object has a field twice"),
    ):
        with pytest.raises(Refused) as refusal:
            check(text, broken)
        assert message in str(refusal.value)
    content = json.loads(text)
    del content["digest"]
    content["training"]["sha256"] = json.loads(other)["sha256"]  # the evidence is not about these rows
    with pytest.raises(Refused):
        check(with_digest(content), other)
    content["training"]["left_out"] = "none"
    with pytest.raises(Refused, match="left_out is not a number of rows"):
        check(with_digest(content), other)


def test_rows_that_are_given_bind_a_certificate_that_brings_its_own():
    """Otherwise a certificate of other data would pass for one of the data in hand."""
    assert check(TEXT, PROVED.training_json()) == "neutral"
    with pytest.raises(Refused, match=r"training\.sha256 is not that of the rows that were given"):
        check(TEXT, CERTIFICATES["many ties"].training_json())


# the command line


@pytest.fixture
def folder(tmp_path):
    PROVED.save(tmp_path / "one.json")
    PROVED.save(tmp_path / "without.json", with_rows=False)
    (tmp_path / "rows.json").write_text(PROVED.training_json(), encoding="utf-8")
    (tmp_path / "pretty.json").write_text(json.dumps(json.loads(TEXT), indent=2), encoding="utf-8")
    lines = [TEXT, CERTIFICATES["many ties"].to_json(), "", lie(half_a_margin), TEXT]
    (tmp_path / "lines.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "refused.json").write_text(lie(swapped_classifiers), encoding="utf-8")
    (tmp_path / "empty.json").write_text("\n", encoding="utf-8")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    return tmp_path


def run(*arguments, text=None, command=("-m", "rescaleinv.verify"), cwd=None):
    return subprocess.run(
        [sys.executable, *command, *map(str, arguments)],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
    )


def test_the_module_runs(folder):
    done = run(folder / "one.json", cwd=Path(verify.__file__).parents[1])
    assert (done.returncode, done.stderr) == (0, "")
    words = f"{folder / 'one.json'}: proved: neutral; point (-1, 4, 2) {QUESTION.point_sha256[:12]}, "
    assert done.stdout == f"{words}training {QUESTION.training_sha256[:12]} (4 rows), every rescaling, hard margin\n"
    done = run("-", text=TEXT + "\n" + lie(multipliers_scaled_in_both), cwd=Path(verify.__file__).parents[1])
    assert done.returncode == 1
    assert "-:1: proved: neutral" in done.stdout
    assert "-:2: REFUSED: evidence.positive: the weight of feature 0 is not optimal" in done.stdout


def test_the_file_alone_needs_the_standard_library_only(folder):
    """Copied elsewhere, without site-packages, without any path of ours."""
    shutil.copy(verify.__file__, folder / "checker.py")
    alone = ("-I", "-S", folder / "checker.py")
    done = run(folder / "one.json", folder / "refused.json", command=alone, cwd=folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("1 proved, 1 refused\n")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["one.json"], 0, ["one.json: proved: neutral"]),
        (["pretty.json"], 0, ["pretty.json: proved: neutral"]),
        (["one.json", "pretty.json"], 0, ["(repeats one.json, counted once)", "1 proved, 0 refused, 1 repeated"]),
        (["refused.json"], 1, ["refused.json: REFUSED: evidence.positive does not label the point positive"]),
        (["one.json", "refused.json"], 1, ["one.json: proved", "refused.json: REFUSED", "1 proved, 1 refused"]),
        (
            ["lines.jsonl"],
            1,
            [
                "lines.jsonl:1: proved",
                "lines.jsonl:2: proved",
                "lines.jsonl:4: REFUSED",
                "2 proved, 1 refused, 1 repeated",
            ],
        ),
        (["without.json"], 2, ["NOT CHECKED: training: the rows are not in the certificate and were not given"]),
        (["without.json", "--training", "rows.json"], 0, ["without.json: proved: neutral"]),
        (["one.json", "without.json", "--training", "rows.json"], 0, ["1 proved, 0 refused, 1 repeated"]),
        (["without.json", "refused.json"], 1, ["0 proved, 1 refused, 1 not checked"]),
        (
            ["lines.jsonl", "--training", "rows.json"],
            1,
            ["lines.jsonl:2: REFUSED: training.sha256 is not that of the rows"],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_exit_codes_and_words(folder, monkeypatch, capsys, arguments, code, words):
    monkeypatch.chdir(folder)
    assert main(arguments) == code
    output = capsys.readouterr()
    assert output.err == ""
    for word in words:
        assert word in output.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.json"],
        ["one.json", "missing.json"],
        ["."],
        ["binary.json"],
        ["empty.json"],
        ["without.json", "--training", "missing.json"],
        ["without.json", "--training", "one.json"],
        ["one.json", "empty.json"],
        ["one.json", "/dev/null"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_read_is_exit_code_2(folder, monkeypatch, capsys, arguments):
    monkeypatch.chdir(folder)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("rescaleinv verify: error: ")
    assert error.count("\n") == 1


def test_wrong_usage_is_exit_code_2(capsys):
    for arguments in ([], ["--no-such-option"]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2
    capsys.readouterr()


def test_line_breaks_that_json_does_not_know(folder, monkeypatch, capsys):
    """U+2028 and U+0085 end a line for Python's splitlines, but inside a JSON string they are characters like any other."""
    monkeypatch.chdir(folder)
    content = fresh()
    content["versions"]["built by"] = "a\u2028b\u0085c"
    text = json.dumps(json.loads(with_digest(content)), ensure_ascii=False)
    assert "\u2028" in text
    Path("breaks.jsonl").write_bytes(f"{text}\r\n{TEXT}\r\n".encode())
    assert main(["breaks.jsonl"]) == 0
    assert "1 proved, 0 refused, 1 repeated" in capsys.readouterr().out


def test_a_terminal_without_greek_letters_is_no_crash(folder):
    """Neither the help nor what a certificate has in it may need more than ASCII."""
    content = fresh()
    content["point"][0] = "½"
    (folder / "half.json").write_text(with_digest(content), encoding="utf-8")
    for arguments, code, words in (
        (["--help"], 0, "proved"),
        ([folder / "half.json"], 1, r"REFUSED: point[0]: '\xbd'"),
    ):
        done = subprocess.run(
            [sys.executable, verify.__file__, *arguments],
            env={**os.environ, "PYTHONIOENCODING": "ascii:strict"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert words in done.stdout


def test_a_shorter_limit_of_digits_is_no_crash(folder):
    environment = {**os.environ, "PYTHONINTMAXSTRDIGITS": "640"}
    content = fresh()
    content["point"][0] = "-" + "1" * 1000
    (folder / "long.json").write_text(with_digest(content), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, verify.__file__, folder / "long.json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "REFUSED: larger numbers" in done.stdout


# fuzz


def mutated(data, rng):
    """Some bytes replaced, removed, doubled or moved."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.choice([1, 1, 1, 2, 8, 60]))
        action = rng.randrange(5)
        if action == 0:
            data[start] = rng.randrange(256)
        elif action == 1:
            data[start] = ord(rng.choice('0123456789-/x"{}[],: \\eE.'))
        elif action == 2 and len(data) > end - start:
            del data[start:end]
        elif action == 3:
            data[start:start] = data[start:end]
        else:
            other = rng.randrange(len(data))
            data[other:other] = data[start:end]
    return bytes(data)


@given(st.integers(0, 2**32))
@FUZZ
def test_mutated_bytes_are_refused_or_say_the_same(seed):
    rng = random.Random(seed)
    text = mutated(TEXT.encode(), rng).decode("utf-8", "surrogateescape")
    try:
        assert check(text) == "neutral"
    except Refused:
        return
    assert json.loads(text) == json.loads(TEXT)  # at most the layout differs


@given(st.integers(0, 2**32))
@FUZZ
def test_mutated_rows_are_refused_or_say_the_same(seed):
    rng = random.Random(seed)
    training = mutated(PROVED.training_json().encode(), rng).decode("utf-8", "surrogateescape")
    if accepted(PROVED.to_json(with_rows=False), training):
        given, original = json.loads(training), PROVED.content["training"]
        assert given["sha256"] == original["sha256"]
        assert given["labels"] == original["labels"]
        assert [[Fraction(x) for x in row] for row in given["rows"]] == [
            [Fraction(x) for x in row] for row in original["rows"]
        ]


@given(st.integers(0, 2**32))
@FUZZ
def test_a_careful_liars_numbers_are_accepted_only_if_true(seed):
    """Several numbers changed at once, by themselves or for each other, with digest and SHA-256 made anew."""
    rng = random.Random(seed)
    certificate = CERTIFICATES[rng.choice(list(CERTIFICATES))]
    content = fresh(certificate)
    roots = ("point", "training", "evidence")
    paths = [p for p in leaves(content) if p and p[0] in roots and p[-1] not in ("sha256", "kind")]
    paths = [p for p in paths if isinstance(at(content, p), str)]
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(paths)
        value = rng.choice(
            [at(content, rng.choice(paths)), str(Fraction(at(content, path)) * rng.choice([2, -1, 3])), "0", "1"]
        )
        put(content, path, value)
    if rng.random() < 0.2:
        content["evidence"].update(positive=content["evidence"]["negative"], negative=content["evidence"]["positive"])
    explicit_zero = any(Fraction(a) == 0 for s in SIDES for a in content["evidence"][s]["multipliers"].values())
    assert accepted(with_both(content)) == (is_true(content) and not explicit_zero)
