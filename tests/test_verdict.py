"""Verdict codes, and certificates as text: what goes out comes back, and damage is seen."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rescaleinv.certificates.certificate import SCHEMA, Certificate
from rescaleinv.certificates.two_rescalings import certificate_from, neutral_certificate
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.errors import CertificateError, RefusedWarning
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.theory.exact_svm import exact_svm
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, Verdicts, read_only, unusable_rows
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


# --- what verdicts own ----------------------------------------------------------------------------------------------

EXAMPLE = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


@pytest.mark.parametrize("decide", [lambda: ComplexEngine(EXAMPLE), lambda: RescaleInvariantSVC().fit(*PLAIN)])
def test_a_caller_may_reuse_its_buffer(decide, tmp_path):
    """The certificates of all batches were about the last one's points, and "proved"."""
    decider, buffer, found = decide(), np.empty((1, 2)), []
    for point in ([-1.0, 4], [4, 4]):
        buffer[:] = point
        found.append(decider.certify(buffer))
    assert [verdicts.points.tolist() for verdicts in found] == [[[-1.0, 4]], [[4.0, 4]]]
    assert check(found[0].certificate(0).to_json()) == "neutral"
    assert found[0].certificate(0).to_json() == decide().certify([[-1.0, 4]]).certificate(0).to_json()
    with pytest.raises(ValueError, match="read-only"):
        found[0].points[0, 0] = 5


PLAIN = EXAMPLE.features, EXAMPLE.signs


@pytest.mark.parametrize(
    "make",
    [
        lambda points: pd.DataFrame(points, copy=False),
        lambda points: points,
        lambda points: points[:, ::-1][:, ::-1],
        lambda points: np.asfortranarray(points),
    ],
)
def test_the_points_are_not_the_callers_memory(make):
    points = np.array([[-1.0, 4], [4, 4]])
    given = make(points)
    verdicts = ComplexEngine(EXAMPLE).certify(given)
    points[:] = 0
    assert verdicts.points.tolist() == [[-1.0, 4], [4, 4]]


def test_what_is_handed_over_is_not_copied():
    points = read_only(np.array([[-1.0, 4], [4, 4]]))
    assert ComplexEngine(EXAMPLE).certify_checked(points).points is points


# --- parts of verdicts ----------------------------------------------------------------------------------------------


def test_verdicts_of_some_rows_among_unknown_ones():
    points = np.array([[-1.0, 4], [np.nan, 1], [4, 4], [0, 1e200]])
    reasons = unusable_rows(points)
    assert reasons.tolist() == ["", "a value is missing", "", "a value is infinite or beyond 1e+150"]
    usable = np.array(reasons == "", dtype=bool)
    engine = ComplexEngine(EXAMPLE)
    some = engine.certify(points[usable])
    verdicts = Verdicts.all_unknown(points, reasons, engine).with_rows(usable, some)
    assert verdicts.code.tolist() == [0, 2, 1, 2]
    assert verdicts.reason.tolist() == reasons.tolist()
    assert verdicts.status.tolist() == ["certified", "", "computed", ""]
    assert np.isnan(verdicts.lower).tolist() == [False, True, False, True]
    assert verdicts[usable].upper.tolist() == some.upper.tolist()


# --- certificates that are refused ----------------------------------------------------------------------------------


def test_one_refused_certificate_does_not_lose_the_others(tmp_path, monkeypatch):
    engine = ComplexEngine(EXAMPLE)
    engine.prove(tmp_path / "complex")
    verdicts = engine.certify([[-1, 4], [4, 4], [0, 0]])
    make = ComplexEngine.certificate

    def one_lie(self, point, verdict):
        found = make(self, point, verdict)
        if list(point) == [4, 4]:
            return Certificate({**found.content, "claim": "strongly negative"})
        return found

    monkeypatch.setattr(ComplexEngine, "certificate", one_lie)
    with pytest.warns(
        RefusedWarning, match="point 1: its certificate was refused: .*; its verdict is now UNKNOWN"
    ) as seen:
        proved = verdicts.prove(tmp_path / "certificates")
    assert list(seen[0].message.points) == [1]
    assert proved.code.tolist() == [0, 2, -1]
    assert proved.status.tolist() == ["proved", "", "proved"]
    assert proved.reason[1].startswith("its certificate was refused: ")
    assert verdicts.code.tolist() == [0, 1, -1]  # those of before are as they were
    assert len((tmp_path / "certificates").read_text().splitlines()) == 2


def test_words_take_codes_of_the_array():
    clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
    verdicts = clf.certify([[-1, 4], [4, 4], [0, 0]])
    expected = ["depends on the scaling", "up whatever the scaling", "down whatever the scaling"]
    assert [verdicts.words(code) for code in verdicts.code] == expected
