"""The tree by itself: facts and their opposites, budgets, short bounds, and a trail that forgets what it learnt."""

import numpy as np
import pytest

from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free.tree import Budget, Expired, Fact, Leaf, Split, Tree, Vanishing, _short, opposite


def test_the_opposite_of_the_opposite_is_the_fact():
    kinds = [*range(1, kernel.N_KINDS), kernel.ROW_OUT, kernel.ROW_LESS, kernel.ROW_IN, kernel.ROW_MORE]
    for kind in kinds:
        fact = Fact(kind, 3, 0.5)
        assert opposite(fact).kind != kind
        assert opposite(fact)[1:] == (3, 0.5)
        assert opposite(opposite(fact)) == fact
    assert opposite(Fact(kernel.SIGN, 2, 1.0)) == Fact(kernel.SIGN, 2, -1.0)


def test_budgets_say_what_is_used_up():
    Budget().check(10**9)
    Budget(seconds=1e9, programs=5).check(4)
    with pytest.raises(Expired, match="5 linear programs"):
        Budget(programs=5).check(5)
    with pytest.raises(Expired, match="time limit"):
        Budget(seconds=0.0).check(0)


def test_short_numbers_are_on_the_side_that_is_asked_for():
    rng = np.random.default_rng(0)
    for value in [*np.exp(20 * rng.normal(size=200)), 1.0, 0.75, 1 + 2.0**-40, 1 - 2.0**-40]:
        low, high = _short(value, up=False), _short(value, up=True)
        assert low <= value <= high
        assert high - low <= value * 2.0**-11
        for short in (low, high):
            mantissa = np.frexp(short)[0] * 2**12
            assert mantissa == round(mantissa)
    assert [_short(x, up=up) for x in (0.0, np.inf) for up in (True, False)] == [0.0, 0.0, np.inf, np.inf]
    assert _short(0.75, up=True) == _short(0.75, up=False) == 0.75


def easy_tree(**options):
    """Rows whose gradient is never small: f = 0 at the point is refuted soon."""
    rng = np.random.default_rng(1)
    G = rng.normal(size=(10, 3)) * 0.1 + np.array([1.0, 0.5, -0.5])
    G[1::2] = -G[1::2] * 3
    G[1::2] += np.array([8.0, 4.0, -4.0])
    return Tree(G, np.arange(10) % 2 == 0, np.full(10, np.inf), Budget(**options), lambda weights, complementary: None)


def test_what_is_learnt_is_forgotten_again():
    tree = easy_tree()
    region, rows = tree.region.copy(), tree.rows.copy()
    facts = [
        Fact(kernel.SIGN, 0, 1.0),
        Fact(kernel.W_LOW, 0, 0.25),
        Fact(kernel.ROW_OUT, 4),
        Fact(kernel.W_LOW, 0, 0.5),
    ]
    facts += [Fact(kernel.ROW_LESS, 4), *(Fact(kernel.D_HIGH, 1, 1.0 / k) for k in range(1, 9))]
    assert [tree.push(fact) for fact in facts] == list(range(len(facts)))  # beyond the room that there was at first
    assert tree.region[kernel.W_LOW, 0] == 0.5
    assert tree.region[kernel.D_HIGH, 1] == 0.125
    assert tree.rows[4] == kernel.OUT | kernel.LESS
    tree.pop_to(3)
    assert tree.region[kernel.W_LOW, 0] == 0.25
    assert tree.rows[4] == kernel.OUT
    assert np.isinf(tree.region[kernel.D_HIGH, 1])
    tree.pop_to(0)
    np.testing.assert_array_equal(tree.region, region)
    np.testing.assert_array_equal(tree.rows, rows)


def leaves_of(proof, region, rows):
    """The leaves with what is known there, as the proof itself says."""
    if isinstance(proof, Leaf):
        yield proof, region, rows
    elif isinstance(proof, Split):
        for fact, half in ((proof.fact, proof.holds), (opposite(proof.fact), proof.fails)):
            known, states = region.copy(), rows.copy()
            if fact.kind < kernel.N_KINDS:
                known[fact.kind, fact.item] = fact.value
            else:
                states[fact.item] |= 1 << (fact.kind - kernel.N_KINDS)
            yield from leaves_of(half, known, states)
    else:
        assert isinstance(proof, Vanishing)
        known = region.copy()
        known[kernel.W_HIGH, list(proof.direction)] = 0.0
        yield from leaves_of(proof.then, known, rows)


def test_every_leaf_of_a_refutation_refutes_what_the_splits_above_it_say():
    tree = easy_tree(programs=5000)
    proof = tree.refute().proof
    region = np.zeros((kernel.N_KINDS, 3))
    region[[kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH]] = np.inf
    count = 0
    for leaf, known, rows in leaves_of(proof, region, np.zeros(10, np.int64)):
        lam = np.zeros(10)
        lam[list(leaf.margins)] = list(leaf.margins.values())
        value = kernel.leaf_value(lam, leaf.gradient, tree.all_G, tree.all_positive, tree.all_cap, rows, known)
        assert value > 1
        count += 1
    assert count >= 1


def test_without_programs_there_is_no_refutation():
    with pytest.raises(Expired, match="0 linear programs"):
        easy_tree(programs=0).refute()


def test_a_budget_starts_by_the_clock_that_it_is_checked_by(monkeypatch):
    """Benchmarks put a clock of processor time in the place of the usual one."""
    monkeypatch.setattr("time.monotonic", lambda: 7.0)
    assert Budget(1.0).started == 7.0
