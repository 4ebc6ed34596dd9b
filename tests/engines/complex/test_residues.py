"""The random prime and arithmetic modulo it, against Python's integers."""

import numpy as np
import pytest

from rescaleinv.engines.complex import kernel
from rescaleinv.engines.complex.residues import field_of, is_prime, powers_of_two, random_prime

# The first composites that pass the test of Miller and Rabin for the bases 2; 2, 3; ...; 2, ..., 37 (OEIS A014233).
STRONG_PSEUDOPRIMES = [
    2047,
    1373653,
    25326001,
    3215031751,
    2152302898747,
    3474749660383,
    341550071728321,
    3825123056546413051,
    318665857834031151167461,
]


def test_primes_are_those_of_a_sieve():
    sieve = np.ones(20_000, dtype=bool)
    sieve[:2] = False
    for k in range(2, 142):
        if sieve[k]:
            sieve[k * k :: k] = False
    assert [n for n in range(20_000) if is_prime(n)] == np.flatnonzero(sieve).tolist()
    assert not is_prime(-7)


@pytest.mark.parametrize("number", [*STRONG_PSEUDOPRIMES, 561, (2**31 - 1) * (2**30 - 35), (2**30 - 35) ** 2])
def test_composites_that_pass_for_primes_with_fewer_bases(number):
    assert not is_prime(number)


@pytest.mark.parametrize("number", [2**31 - 1, 2**30 - 35, 2**61 - 1, 2**64 - 59, 2**62 - 57])
def test_known_primes(number):
    assert is_prime(number)


@pytest.mark.parametrize(
    "prime", [101, 2**31 - 1, 2**61 - 1, random_prime()], ids=["101", "2**31 - 1", "2**61 - 1", "random"]
)
def test_what_arithmetic_needs(prime):
    field = [int(value) for value in field_of(prime)]
    assert field[0] == prime
    assert field[1] * prime % 2**64 == 1
    assert field[2] == 2**64 % prime
    assert field[3] == 2**128 % prime


def test_powers_of_two_are_those_of_integers():
    prime = 2**61 - 1
    powers = powers_of_two(prime)
    largest = kernel.LARGEST_POWER
    assert largest >= 1074
    assert len(powers) == 2 * largest + 1
    unscaled = pow(2**64, -1, prime)
    for e in (-largest, -1074, -1, 0, 1, 60, 61, 1023, largest):
        assert int(powers[largest + e]) * unscaled % prime == pow(2, e, prime)
    assert len(set(powers.tolist())) == 61  # why this prime is not the one to take


def test_the_prime_is_drawn_once_and_tells_powers_of_two_apart():
    prime = random_prime()
    assert 2**60 < prime < 2**61
    assert is_prime(prime)
    assert random_prime() == prime
    assert len(set(powers_of_two(prime).tolist())) == 2 * kernel.LARGEST_POWER + 1
    random_prime.cache_clear()
    assert random_prime() != prime
