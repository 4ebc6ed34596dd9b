"""Verdict codes, and certificates as text: what goes out comes back, and damage is seen."""

import json
from fractions import Fraction

import numpy as np
import pytest

from rescaleinv.certificates.certificate import SCHEMA, Certificate
from rescaleinv.certificates.two_rescalings import certificate_from, neutral_certificate
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_svm import exact_svm
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import SCHEMA as CHECKED_SCHEMA
from rescaleinv.verify import _number, check

TWO_POINTS = TrainingSet([[1, 1], [-1, -1]], [1, -1])


@pytest.fixture(scope="module")
def certificate():
    training_set = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    return neutral_certificate(training_set, [-1, 4], [1, 1], [5, 1], left_out=3)


def test_codes():
    assert [
        int(v) for v in (Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE, Verdict.NEUTRAL, Verdict.UNKNOWN)
    ] == [
        1,
        -1,
        0,
        2,
    ]
    assert len(Verdict) == 4
    assert Verdict(np.int8(-1)) is Verdict.STRONGLY_NEGATIVE
    with pytest.raises(ValueError, match="3 is not a valid Verdict"):
        Verdict(3)


def test_the_writer_and_the_checker_agree_on_the_schema():
    assert SCHEMA == CHECKED_SCHEMA


@pytest.mark.parametrize("value", [0, 5, -7, Fraction(-7, 5), Fraction(1, 3), Fraction(0.1), Fraction(2) ** -1074])
def test_rational_text_is_exact(value):
    text = rational_text(Fraction(value))
    assert _number(text, "it") == value
    assert Fraction(text) == value  # the notation of Python's own fractions


@pytest.mark.parametrize("digits", [3_000, 3_700, 4_299, 4_300, 4_301, 20_000])
def test_numbers_of_thousands_of_digits(digits):
    """Around 4,300 digits, where the interpreter stops reading decimals, and beyond: both parts, both signs."""
    big = 10 ** (digits - 1) + 7
    for value in (Fraction(big), Fraction(-big), Fraction(1, big), Fraction(-big, 10**digits + 9)):
        text = rational_text(value)
        assert _number(text, "it") == value
    assert ("0x" in rational_text(Fraction(big))) == (digits > 3_613)


def test_a_certificate_with_huge_numbers_is_accepted():
    svm = exact_svm(TWO_POINTS, [Fraction(3**9000 + 1, 7**5000), Fraction(1)], [])
    other = exact_svm(TWO_POINTS, [Fraction(1, 3**9000 + 1), Fraction(1)], [])
    certificate = certificate_from(TWO_POINTS, [Fraction(1), Fraction(-1)], svm, other)
    text = certificate.to_json()
    assert "0x" in text
    assert svm.weights[0].denominator.bit_length() > 14_000  # more than 4,300 digits
    assert check(text) == "neutral"
    assert Certificate.from_json(text).content == certificate.content


def test_round_trip(certificate):
    text = certificate.to_json()
    again = Certificate.from_json(text)
    assert again.content == certificate.content
    assert again.to_json() == text
    assert again.digest == certificate.digest == json.loads(text)["digest"]
    assert again.claim == "neutral"
    assert "\n" not in text
    assert repr(again) == f"Certificate('neutral', digest {again.digest[:12]}…)"


def test_the_digest_does_not_depend_on_the_layout(certificate):
    content = json.loads(certificate.to_json())
    turned = dict(reversed(content.items()))
    for text in (json.dumps(content, indent=2), json.dumps(turned), json.dumps(content, ensure_ascii=False)):
        assert Certificate.from_json(text).digest == certificate.digest
        assert check(text) == "neutral"


def test_numbers_are_text_and_nothing_is_rounded(certificate):
    def numbers(value):
        if isinstance(value, dict):
            return [n for item in value.values() for n in numbers(item)]
        if isinstance(value, list):
            return [n for item in value for n in numbers(item)]
        return [value] if isinstance(value, (int, float)) else []

    assert not [n for n in numbers(certificate.content) if isinstance(n, float)]
    assert certificate.content["training"]["rows"][2] == [rational_text(Fraction(1.4))] * 2
    assert certificate.content["training"]["left_out"] == 3


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_no_nan_goes_out(certificate, number):
    broken = Certificate({**certificate.content, "versions": {"x": number}})
    with pytest.raises(ValueError, match="not JSON compliant"):
        broken.to_json()


def test_without_rows(certificate):
    text = certificate.to_json(with_rows=False)
    training = json.loads(text)["training"]
    assert set(training) == {"sha256", "left_out"}
    assert len(text) < len(certificate.to_json())
    assert Certificate.from_json(text).to_json() == text
    assert check(text, certificate.training_json()) == "neutral"
    assert "rows" in certificate.content["training"]  # the certificate itself still has them


def test_save(certificate, tmp_path):
    for with_rows in (True, False):
        certificate.save(tmp_path / "it.json", with_rows=with_rows)
        text = (tmp_path / "it.json").read_text(encoding="utf-8")
        assert text == certificate.to_json(with_rows=with_rows) + "\n"
        Certificate.from_json(text)


def damaged_texts(text):
    content = json.loads(text)
    yield "cut off", text[:-2]
    yield "another digit", text.replace('"point":["-1"', '"point":["-2"')
    yield "no digest", json.dumps({k: v for k, v in content.items() if k != "digest"})
    yield "another digest", json.dumps({**content, "digest": "0" * 64})
    yield "a digest that is no text", json.dumps({**content, "digest": 7})
    yield "a field added", json.dumps({**content, "note": ""})
    yield "a field twice", text[:-1] + ',"claim":"neutral"}'
    yield "NaN", text[:-1] + ',"note":NaN}'
    yield "infinity", text[:-1] + ',"note":1e999}'
    yield "nested", "[" * 100_000
    yield "a list", "[]"
    yield "null", "null"
    yield "nothing", ""


def test_damage_is_an_error_of_ours(certificate):
    text = certificate.to_json()
    for what, damaged in damaged_texts(text):
        assert damaged != text, what
        with pytest.raises(CertificateError):
            Certificate.from_json(damaged)
