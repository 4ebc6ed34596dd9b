"""Two checkers that share no code, on true certificates of every kind. (properties/test_certificates.py has the lies.)"""

import certificate_corpus
import pytest
import second_checker

from rescaleinv import verify


def both(record, complexes, tmp_path):
    """What each checker says is proved."""
    text = certificate_corpus.as_text(record["content"])
    first, second = [], []
    if record["complex"] is not None:
        path = tmp_path / "complex.jsonl"
        path.write_text(complexes[record["complex"]], encoding="ascii")
        first = [verify.check_complex(path, flint=False)]
        second = [second_checker.Complex(path.read_bytes())]
        assert first[0].sha256 == second[0].sha256
        denominators = [solution[-1] for solution in first[0].solutions]
        assert min(denominators) > 0
        assert first[0].n_vertices == len(second[0].vertices)
    return verify.check(text, complexes=first), second_checker.proves(text, complexes=second)


STORED = certificate_corpus.stored()


def test_every_kind_is_stored():
    kinds = {record["content"]["evidence"]["kind"] for record in STORED["certificates"].values()}
    assert kinds == set(verify._KINDS)


@pytest.mark.parametrize("name", STORED["certificates"])
def test_both_checkers_accept_what_was_stored(name, tmp_path):
    record = STORED["certificates"][name]
    assert both(record, STORED["complexes"], tmp_path) == (record["content"]["claim"],) * 2


def test_both_checkers_accept_what_the_engines_write_now(tmp_path):
    found = certificate_corpus.fresh()
    for record in found["certificates"].values():
        assert both(record, found["complexes"], tmp_path) == (record["content"]["claim"],) * 2
    assert len(found["certificates"]) >= 30
