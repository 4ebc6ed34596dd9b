"""A seeded fuzzer of certificates: two checkers that share no code agree on every careful lie. The long run is
benchmarks/attack_checker.py."""

import random

import certificate_corpus
import second_checker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescaleinv import verify

STORED = certificate_corpus.stored()
NAMES = sorted(STORED["certificates"])
SEEDS = settings(
    max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def proved_complex(data, tmp_path):
    path = tmp_path / "complex.jsonl"
    path.write_bytes(data)
    try:
        return verify.check_complex(path, flint=False)
    except verify.Refused:
        return None


def proved(text, complexes):
    try:
        return verify.check(text, complexes=complexes)
    except verify.Refused:
        return None


@given(st.integers(0, 2**32))
@SEEDS
def test_both_checkers_agree_on_lies(tmp_path_factory, seed):
    rng = random.Random(seed)
    for name in rng.sample(NAMES, 8):
        record = STORED["certificates"][name]
        text = certificate_corpus.with_hashes(certificate_corpus.lie(record["content"], rng))
        first, second = [], []
        if record["complex"] is not None:
            data = STORED["complexes"][record["complex"]].encode()
            first = [proved_complex(data, tmp_path_factory.mktemp("true"))]
            second = [second_checker.complex_of(data)]
        assert proved(text, first) == second_checker.proves(text, complexes=second), name


@given(st.integers(0, 2**32))
@SEEDS
def test_both_checkers_agree_on_lies_about_the_complex(tmp_path_factory, seed):
    rng = random.Random(seed)
    for name, text in sorted(STORED["complexes"].items()):
        data = certificate_corpus.lie_in_complex(text.encode(), rng)
        found, again = proved_complex(data, tmp_path_factory.mktemp("lie")), second_checker.complex_of(data)
        assert (found is None) == (again is None), name
        if found is not None:
            solutions = {(*w, b) for w, b in again.solutions}
            units = found.training.units
            assert solutions == {
                (
                    *(verify.Fraction(w * unit, solution[-1]) for w, unit in zip(solution, units, strict=False)),
                    verify.Fraction(solution[-2], solution[-1]),
                )
                for solution in found.solutions
            }
