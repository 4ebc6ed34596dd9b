"""The prime modulo which the walk tests numbers for being zero: drawn at random, once per process.

A number that is not zero is D / E with integers D and E; its residue is zero iff the prime p divides D. An integer of B bits
has at most B / 60 prime factors between 2**60 and 2**61, and there are more than 2.7e16 primes there. So, whatever the data
are, a random one of them divides D with a chance below B / 1.6e18: 6e-13 for a million bits, and the determinants of
features with floats of all sizes have some thousands. Data can't be made to match a prime that nobody knows beforehand, and
no verdict depends on it: where the residue of a number is zero and its float is not, rationals decide.

A fixed prime can match data by accident: 2**61 is 1 modulo 2**61 - 1, and 2**63, a sentinel in many tables, is 4.
"""

from __future__ import annotations

import secrets
from functools import cache

import numpy as np
import numpy.typing as npt

from rescaleinv.engines.complex import kernel

# These witnesses decide primality for every number below 3.3e24 (Sorenson & Webster 2015).
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)


def is_prime(number: int) -> bool:
    """The test of Miller and Rabin, which is exact for numbers of 64 bits with these witnesses.

    >>> [n for n in range(30) if is_prime(n)], is_prime(2**61 - 1), is_prime(2**61 + 1)
    ([2, 3, 5, 7, 11, 13, 17, 19, 23, 29], True, False)
    """
    if number < 2:
        return False
    for prime in _WITNESSES:
        if number % prime == 0:
            return number == prime
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in _WITNESSES:
        power = pow(witness, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def field_of(prime: int) -> kernel.Field:
    """What arithmetic modulo an odd prime below 2**62 needs."""
    return kernel.Field(
        np.uint64(prime),
        np.uint64(pow(prime, -1, 1 << 64)),
        np.uint64((1 << 64) % prime),
        np.uint64((1 << 128) % prime),
    )


def powers_of_two(prime: int) -> npt.NDArray[np.uint64]:
    """The residues of 2**e, for all exponents that floats have and some more, in the form that the kernel keeps them in."""
    power = pow(pow(2, -1, prime), kernel.LARGEST_POWER, prime) * (1 << 64) % prime
    powers = [power]
    for _ in range(2 * kernel.LARGEST_POWER):
        powers.append(powers[-1] * 2 % prime)
    return np.array(powers, dtype=np.uint64)


@cache
def random_prime() -> int:
    """A prime between 2**60 and 2**61, drawn once per process, modulo which no two powers of two that floats have agree."""
    while True:
        candidate = (1 << 60) + secrets.randbits(60) | 1
        if is_prime(candidate) and len(np.unique(powers_of_two(candidate))) == 2 * kernel.LARGEST_POWER + 1:
            return candidate
