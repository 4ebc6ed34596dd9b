"""The relaxation of a node: its states come back whole, its facts bind, and its prices prove its value."""

import numpy as np
import pytest
from node_programs import a_walk_of_facts, by_highs

from rescaleinv.engines.branch.free import leaf_kernel as leaf
from rescaleinv.engines.branch.free import simplex_kernel as simplex
from rescaleinv.engines.branch.free.node_lp import NodeLP


def outcome(lp, region):
    return *lp.relax(region), lp.weights(), lp.multipliers(), lp.gradient()


@pytest.mark.parametrize("soft", [False, True])
def test_a_state_that_is_restored_goes_on_as_if_nothing_had_been(soft):
    compared = 0
    for seed in range(4):
        for lp, region in a_walk_of_facts(seed, soft):
            lp.relax(region)
            saved = lp.save()
            first = outcome(lp, region)
            other = region.copy()
            other[leaf.SIGN, 0], other[leaf.W_HIGH, 0] = -1.0, 0.25
            lp.know_weight(0, other[:, 0])
            lp.know_row(1, leaf.OUT)
            lp.relax(other)
            lp.restore(saved)
            again = outcome(lp, region)
            for before, after in zip(first, again, strict=True):
                np.testing.assert_array_equal(after, before)
            if first[0] == simplex.INFEASIBLE:
                break
            compared += 1
    assert compared > 10


def test_a_solution_has_half_of_its_multipliers_in_each_class():
    for lp, region in a_walk_of_facts(3, True):
        if lp.relax(region)[0] != simplex.OPTIMAL:
            break
        a = lp.multipliers()
        assert a[lp.positive].sum() == pytest.approx(0.5)
        assert a[~lp.positive].sum() == pytest.approx(0.5)
        assert (a > -1e-9).all()
        assert (a < lp.cap + 1e-9).all()
        np.testing.assert_allclose(lp.gradient(), a @ lp.G)


def small(cap):
    rng = np.random.default_rng(0)
    G = rng.normal(size=(12, 3)) + 2 * np.array([1.0, -0.5, 0.25])
    lp = NodeLP(G, np.arange(12) % 2 == 0, np.full(12, cap))
    region = np.zeros((leaf.N_KINDS, 3))
    region[[leaf.D_HIGH, leaf.W_HIGH, leaf.M_HIGH]] = np.inf
    return lp, region


def test_facts_of_rows_bind():
    lp, region = small(cap=0.4)
    lp.relax(region)
    used = int(lp.multipliers().argmax())
    lp.know_row(used, leaf.OUT)
    status, value = lp.relax(region)
    assert lp.multipliers()[used] == pytest.approx(0, abs=1e-9)
    idle = int(np.flatnonzero(lp.multipliers() < 1e-9)[-1])
    idle = idle if idle != used else int(np.flatnonzero(lp.multipliers() < 1e-9)[0])
    lp.know_row(idle, leaf.IN)
    after, more = lp.relax(region)
    assert (status, after) == (simplex.OPTIMAL, simplex.OPTIMAL)
    assert lp.multipliers()[idle] == pytest.approx(0.4)
    assert more >= value - 1e-9  # a fact more never lowers the value


@pytest.mark.parametrize(("feature", "sign"), [(0, 1.0), (1, -1.0)])
def test_bounds_of_weights_bind_with_their_sign(feature, sign):
    lp, region = small(cap=0.4)  # a soft margin: feasible with any weights
    lp.relax(region)
    low, high = 0.5 + abs(lp.weights()[feature]), 0.75 + abs(lp.weights()[feature])
    region[leaf.SIGN, feature], region[leaf.W_LOW, feature], region[leaf.W_HIGH, feature] = sign, low, high
    lp.know_weight(feature, region[:, feature])
    status, value = lp.relax(region)
    assert status == simplex.OPTIMAL
    assert low - 1e-9 <= sign * lp.weights()[feature] <= high + 1e-9
    assert value == pytest.approx(by_highs(lp).fun, abs=1e-6)


def test_a_sign_that_no_gradient_has_is_infeasible():
    """All rows have a negative second entry or nearly so, and the gradient is their mean with multipliers."""
    lp, region = small(cap=0.4)
    region[leaf.SIGN, 1], region[leaf.W_LOW, 1] = 1.0, 0.5
    lp.know_weight(1, region[:, 1])
    assert lp.relax(region)[0] == simplex.INFEASIBLE
    assert by_highs(lp).status == 2


def test_prices_of_what_is_infeasible_refute_the_node():
    """The value of the pair by the inequality of the leaves, which the linear program knows nothing of."""
    refuted = infeasible = 0
    for seed in range(30):
        for lp, region in a_walk_of_facts(seed, False):
            status, value = lp.relax(region)
            if status == simplex.INFEASIBLE:
                infeasible += 1
                values = []
                for stretch in (1.0, 8.0, 64.0):
                    lam, v = lp.pair(status, value, stretch)
                    lam[np.abs(lam) < 1e-12] = 0.0
                    lam = np.clip(lam, 0.0, lp.cap)
                    v[region[leaf.SIGN] == 0] = 0.0
                    rows = np.zeros(lp.m, np.int64)
                    values.append(leaf.leaf_value(lam, v, lp.G, lp.positive, lp.cap, rows, region))
                refuted += max(values) > 1
                break
    assert 0 < infeasible / 2 <= refuted


def test_rows_of_features_that_are_slack_are_forgotten_without_a_change():
    for seed in range(6):
        for lp, region in a_walk_of_facts(seed, False):
            status, value = lp.relax(region)
            if status != simplex.OPTIMAL:
                break
            before = int(lp.sizes[simplex.N_EXTRA])
            lp.forget_slack_rows(1e-6)
            assert int(lp.sizes[simplex.N_EXTRA]) <= before
            assert by_highs(lp).fun == pytest.approx(value, abs=1e-6)  # what is left has the same optimum


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("remedy", ["distrust", "restart"])
def test_a_new_inverse_and_a_new_basis_lead_to_the_same_value(soft, remedy):
    compared = 0
    for lp, region in a_walk_of_facts(1, soft):
        first = lp.relax(region)
        saved = lp.save()
        getattr(lp, remedy)()
        again = lp.relax(region)
        assert again[0] == first[0]
        if first[0] != simplex.OPTIMAL:
            break
        assert again[1] == pytest.approx(first[1], abs=1e-6)
        lp.restore(saved)
        compared += 1
    assert compared > 3


def by_hand(lp, region, fact, most, cutoff):
    """Assume one fact, relax, and take it back."""
    kind, item, value = fact
    saved, known = lp.save(), region.copy()
    if kind < leaf.N_KINDS:
        known[kind, item] = value
        lp.know_weight(item, known[:, item])
    else:
        lp.know_row(item, 1 << (kind - leaf.N_KINDS))
    outcome = lp.relax(known, most, cutoff, 1)
    lp.restore(saved)
    return outcome


@pytest.mark.parametrize("soft", [False, True])
def test_probes_find_what_relaxing_with_each_fact_finds_and_leave_the_state_alone(soft):
    compared = refuted = 0
    for seed in range(6):
        for lp, region in a_walk_of_facts(seed, soft):
            if lp.relax(region)[0] != simplex.OPTIMAL:
                break
            j = seed % lp.n
            unknown = [i for i in range(lp.n) if region[leaf.SIGN, i] == 0]
            facts = [
                *((leaf.SIGN, i, s) for i in unknown for s in (1.0, -1.0)),
                (leaf.D_HIGH, j, 0.5),
                (leaf.D_LOW, j, 2.0),
                (leaf.ROW_LESS, 0, 0.0),
                (leaf.ROW_OUT, 1, 0.0),
                *([(leaf.ROW_IN, 2, 0.0), (leaf.ROW_MORE, 3, 0.0)] if soft else []),
            ]
            wanted = [by_hand(lp, region, fact, 20, 1.5) for fact in facts]
            is_refuted = [status in (simplex.INFEASIBLE, simplex.CUT_OFF) for status, _ in wanted]
            saved, known = lp.save(), region.copy()
            if any(is_refuted):  # the first one ends it, and stays assumed
                first = is_refuted.index(True)
                reached, status = lp.probe(region, facts, 20, 1.5, 1)
                assert (status, reached[-1]) == wanted[first]
                assert len(reached) == first + 1
                lp.restore(saved)
                region[:] = known
                refuted += 1
            kept = [k for k, gone in enumerate(is_refuted) if not gone]
            before = [array.copy() for array in (region, lp.numbers, lp.places, lp.sizes)]
            solved = lp.solved
            reached, status = lp.probe(region, [facts[k] for k in kept], 20, 1.5, 1)
            assert (status, lp.solved - solved) == (simplex.OPTIMAL, len(kept))
            np.testing.assert_array_equal(reached, [min(wanted[k][1], 1.5) for k in kept])
            for array, was in zip((region, lp.numbers, lp.places, lp.sizes), before, strict=True):
                np.testing.assert_array_equal(array, was)
            compared += 1
    assert compared > 10
    assert refuted > 5
