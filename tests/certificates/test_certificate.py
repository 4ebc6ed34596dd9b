"""Certificates as JSON: what is written is read again, damage is noticed, and rows can be left out of a line."""

import json
import pickle

import pandas as pd
import pytest

from rescaleinv.certificates.certificate import Certificate
from rescaleinv.certificates.two_rescalings import neutral_certificate
from rescaleinv.errors import CertificateError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import check

EXAMPLE_1 = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


@pytest.fixture(scope="module")
def certificate():
    return neutral_certificate(EXAMPLE_1, [-1, 4], [1, 1], [5, 1])


def test_what_is_written_is_read_again(certificate, tmp_path):
    again = Certificate.from_json(certificate.to_json())
    assert again.content == certificate.content
    assert again.digest == certificate.digest
    assert repr(again) == f"Certificate('neutral', digest {again.digest[:12]}…)"
    certificate.save(tmp_path / "certificate.json")
    assert check((tmp_path / "certificate.json").read_text(encoding="utf-8")) == "neutral"


def test_packed_it_is_the_same_and_the_evidence_takes_less_room(certificate):
    evidence = {**certificate.content["evidence"], "tree": [["row", i % 7] for i in range(10_000)]}
    large = Certificate({**certificate.content, "evidence": evidence})
    unpacked = Certificate(large.content)
    for _ in range(2):  # twice does no harm
        large.pack()
    assert large.content == unpacked.content
    assert (large.to_json(), large.digest, large.claim) == (unpacked.to_json(), unpacked.digest, unpacked.claim)
    again = pickle.loads(pickle.dumps(large))
    assert again.to_json(with_rows=False) == unpacked.to_json(with_rows=False)
    assert len(pickle.dumps(large)) < 0.1 * len(pickle.dumps(unpacked))


def test_without_rows_it_is_shorter_and_refers_to_them_by_their_fingerprint(certificate):
    short = json.loads(certificate.to_json(with_rows=False))
    assert set(short["training"]) == {"sha256", "left_out"}
    assert short["training"]["sha256"] == EXAMPLE_1.sha256
    assert Certificate.from_json(json.dumps(short)).claim == "neutral"
    assert set(json.loads(certificate.training_json())) >= {"rows", "labels", "sha256"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace('"neutral"', '"strongly positive"'),
            "damaged: its digest does not match its content",
        ),
        (lambda text: text[:-2], "not the JSON text of a certificate"),
        (lambda text: text.replace('"point":', '"point":NaN,"point":'), "NaN is not a number of JSON"),
        (lambda text: text.replace('"claim":', '"claim":"neutral","claim":'), "an object has a field twice"),
        (lambda text: "[" * 100_000, "not the JSON text of a certificate"),
        (lambda text: "{}", "a JSON object with a digest"),
        (lambda text: 7, "the JSON text of a certificate is needed, int was given"),
    ],
)
def test_damage_is_noticed(certificate, change, message):
    with pytest.raises(CertificateError, match=message):
        Certificate.from_json(change(certificate.to_json()))


def test_a_notebook_shows_the_factors_of_a_witness_by_name():
    from rescaleinv import RescaleInvariantSVC

    rows = pd.DataFrame([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], columns=["age <y>", "size"])
    verdicts = RescaleInvariantSVC().fit(rows, [1, 1, 1, -1]).certify(pd.DataFrame([[-1, 4]], columns=rows.columns))
    witness = verdicts.witness(0)
    page = witness._repr_html_()
    assert "<th>age &lt;y&gt;</th>" in page
    assert page.count("<tr>") == 3
    assert f"<td>{witness.positive[1]:.4g}</td>" in page
    assert "neutral" in page
