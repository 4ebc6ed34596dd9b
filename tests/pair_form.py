"""Theorem 9 as the paper has it, over the pairs of Λ(X): the reference for the package's point form.

It shares nothing with the package but the training set's floats. Whether multipliers exist is decided by trying every
basis (Carathéodory), exactly: slow, and too simple to be wrong. For few features and few tight pairs only.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

from flint import fmpq, fmpq_mat


@lru_cache(maxsize=8)
def pair_vectors(training_set):
    """Λ(X) as exact rationals."""
    rows = [[Fraction(x) for x in row] for row in training_set.features.tolist()]
    labels = training_set.signs.tolist()
    positives = [row for row, label in zip(rows, labels, strict=True) if label > 0]
    negatives = [row for row, label in zip(rows, labels, strict=True) if label < 0]
    return [[(p - n) / 2 for p, n in zip(*pair, strict=True)] for pair in product(positives, negatives)]


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def tight_pairs(training_set, weights):
    """The pairs with w·λ = 1, each once; None where w is not in G(X)."""
    scores = [(dot(weights, pair), pair) for pair in pair_vectors(training_set)]
    if min(score for score, _ in scores) < 1:
        return None
    return [list(pair) for pair in dict.fromkeys(tuple(pair) for score, pair in scores if score == 1)]


def _flint(columns):
    lines = zip(*columns, strict=True)
    return fmpq_mat([[fmpq(v.numerator, v.denominator) for v in line] for line in lines])


def in_cone(target, generators):
    """Is the target a combination of the generators with coefficients >= 0?"""
    if not any(target):
        return True
    if not generators:
        return False
    rank = _flint(generators).rank()
    if _flint([*generators, target]).rank() > rank:
        return False
    # as many coordinates as the rank has, in which the generators still have that rank, say all that the others do
    chosen = next(
        c
        for c in combinations(range(len(target)), rank)
        if _flint([[g[j] for j in c] for g in generators]).rank() == rank
    )
    generators = [[g[j] for j in chosen] for g in generators]
    right = _flint([[target[j] for j in chosen]])
    for basis in combinations(generators, rank):
        try:
            coefficients = _flint(basis).solve(right)
        except ZeroDivisionError:  # these generators depend on each other
            continue
        if all(c >= 0 for c in coefficients.entries()):
            return True
    return False


def _agrees_on_signs(training_set, weights, coordinates):
    """Are there r_i >= 0, > 0 at tight pairs only, such that Σ r_i λ_i has the sign of w in each of the coordinates?"""
    tight = tight_pairs(training_set, weights)
    if tight is None:
        return False
    # The conditions are homogeneous in r, so that "has the sign of w_j" may be "is s_j times a number >= 1".
    signs = [(weights[j] > 0) - (weights[j] < 0) for j in coordinates]
    surplus = [[-s if k == j else 0 for k in range(len(signs))] for j, s in enumerate(signs) if s]
    generators = [[pair[j] for j in coordinates] for pair in tight]
    generators += [[Fraction(v) for v in line] for line in surplus]
    return in_cone([Fraction(s) for s in signs], generators)


def is_rescale_optimal(training_set, weights):
    """w in RO(X), by Theorem 9."""
    return _agrees_on_signs(training_set, weights, range(len(weights)))


def in_closure(training_set, weights):
    """The same where nothing is asked of the coordinates in which w is 0."""
    return _agrees_on_signs(training_set, weights, [j for j, w in enumerate(weights) if w])
