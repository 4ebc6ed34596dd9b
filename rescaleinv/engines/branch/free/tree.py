"""Branch and bound for one point: refute that any classifier of the closure has f(α) = 0, and keep the proof."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np

from rescaleinv._util.deadline import is_over, why_over
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines.branch.free import leaf_kernel as kernel
from rescaleinv.engines.branch.free import simplex_kernel as simplex
from rescaleinv.engines.branch.free.node_lp import NodeLP, Snapshot

# A pair refutes a node where its value exceeds this; the rest is for rounding it to short rationals.
# Both are what it exceeds the total of the multipliers by (1 for a hard margin).
ENOUGH = 1e-6
_CUTOFF = 2e-5
# With violations below the first number a relaxed solution is a candidate, to be examined; below the second there are none.
_NEARLY = 1e-4
_COMPLEMENTARY = 1e-7
_NO_WEIGHT = 1e-9
_MOST_OPEN = 3  # a feature without slope is excluded at once where no more than so many splits are needed for it
_AT_BOUND = 1e-6  # a multiplier that is nearer to 0 or to its cap than this share of the cap is taken to be there
_STRONG_CANDIDATES = 6
_ROWS_AT_A_TIME = 16  # that the presolve asks about
_CURIOUS_NODES, _NODES_PER_LOOK = 100, 4  # ``at_node`` is called at the first nodes, then at every fourth
_PROBE_PIVOTS = 20
_NODE_PIVOTS, _FIRST_PIVOTS = 3000, 5000
_LEAST_RATIO, _LARGEST_RATIO = 1e-7, 1e7  # d_j beyond these are not split at: floats would not tell them apart
_WORTH_ASKING = 0.1  # violations below this part of the largest one are not candidates
_DEEPEST = 400
_LOOKS_AT_CLOCK = 8  # a clock of processor time takes as long as a small linear program: it is not read for each


class Fact(NamedTuple):
    """One thing that a node knows: a kind of ``leaf_kernel``, which feature or row, and a bound or a sign."""

    kind: int
    item: int
    value: float = 0.0


_OPPOSITE = {
    kernel.D_LOW: kernel.D_HIGH,
    kernel.D_HIGH: kernel.D_LOW,
    kernel.W_LOW: kernel.W_HIGH,
    kernel.W_HIGH: kernel.W_LOW,
    kernel.M_LOW: kernel.M_HIGH,
    kernel.M_HIGH: kernel.M_LOW,
    kernel.ROW_OUT: kernel.ROW_LESS,
    kernel.ROW_LESS: kernel.ROW_OUT,
    kernel.ROW_IN: kernel.ROW_MORE,
    kernel.ROW_MORE: kernel.ROW_IN,
}


def opposite(fact: Fact) -> Fact:
    """What holds if this does not (or also where both do)."""
    if fact.kind == kernel.SIGN:
        return Fact(kernel.SIGN, fact.item, -fact.value)
    return Fact(_OPPOSITE[fact.kind], fact.item, fact.value)


@dataclass
class Leaf:
    """A node refuted by prices of margins (row -> λ) and of the gradient (one for each feature)."""

    margins: dict[int, float]
    gradient: FloatArray


@dataclass
class Split:
    """Either the fact holds or its opposite; both are refuted."""

    fact: Fact
    holds: Proof
    fails: Proof


@dataclass
class Vanishing:
    """h·μ <= 0 with the rows that are left: the weights of the features of h are zero; with that, the rest is refuted.

    ``direction`` (feature -> h_j) and ``offset`` are exact, original units.
    """

    direction: dict[int, Fraction]
    offset: Fraction
    then: Proof


Proof = Leaf | Split | Vanishing

# What strong branching found of a kind and an item: the product of the gains, and the half to be refuted first.
Scores = dict[tuple[int, int], tuple[float, Fact]]


class Refutation(NamedTuple):
    """A proof and the facts, as positions of the trail, that it needs."""

    proof: Proof
    needed: frozenset[int]


class Expired(Exception):
    """The budget is used up; the message says which."""


class Direction(NamedTuple):
    """Why a candidate is not in the closure: h·μ can't be positive unless one of the rows ``outside`` has a multiplier
    (or, ν-margin, one of the rows ``inside`` has less than its cap).

    ``h`` (feature -> value, of the signs of the candidate's weights) and ``offset`` as in ``Vanishing``.
    """

    h: dict[int, Fraction]
    offset: Fraction
    outside: frozenset[int]
    inside: frozenset[int] = frozenset()


class Examine(Protocol):
    """What says why a relaxed solution is not in the closure."""

    def __call__(
        self, weights: FloatArray, complementary: bool, bits: IntArray, without_slope: list[int] | None = None, /
    ) -> Direction | None: ...


class _Fixed(NamedTuple):
    """A fact (or several) that a refutation or a direction forces, by its position in the trail."""

    positions: frozenset[int]
    needed: frozenset[int]
    wrap: Callable[[Proof], Proof]


@dataclass
class Budget:
    """Seconds and linear programs that one point may take; None: no limit."""

    seconds: float | None = None
    programs: int | None = None
    started: float = field(default_factory=lambda: time.monotonic())  # looked up late: benchmarks count processor time
    asked: int = field(default=0, init=False)

    def check(self, programs: int) -> None:
        if self.programs is not None and programs >= self.programs:
            raise Expired(f"the limit of {self.programs:,} linear programs was reached")
        self.asked += 1
        if self.asked % _LOOKS_AT_CLOCK != 1:
            return
        if self.seconds is not None and time.monotonic() - self.started >= self.seconds:
            raise Expired(f"the time limit of {self.seconds:g} s was reached")
        if is_over():
            raise Expired(why_over())


class Tree:
    """The search for a refutation of one point.

    Parameters
    ----------
    G : array (rows, features)
        y_i (x_i - α), in units in which weights are about 1.
    positive : boolean array
    cap : array
        Largest multipliers; inf for a hard margin.
    budget : Budget
    examine : callable
        Called with the weights of a relaxed solution that breaks hardly anything, whether it breaks nothing at all, and
        bits of each row (see ``_states``): says why it is not in the closure, raises if it is, or returns None (only in
        the former case) if it can't tell. With features that have weight but no μ_j: says why one of them has none at all,
        if it can.
    at_node : callable, optional
        Called with (w, μ) of relaxed solutions (in large trees not of all); may raise to end the search.
    total : float
        What the multipliers sum to. Products w_j μ_j are at most 1 in their units: with a ν-margin 1 / ``total`` is about
        their largest sum, without which tolerances would be out of proportion.
    """

    def __init__(
        self,
        G: FloatArray,
        positive: np.ndarray,
        cap: FloatArray,
        budget: Budget,
        examine: Examine,
        at_node: Callable[[FloatArray, FloatArray], None] | None = None,
        *,
        total: float = 1.0,
    ) -> None:
        m, n = G.shape
        self.total, self.half, self.enough, self.cutoff = total, 0.5 * total, total + ENOUGH, total + _CUTOFF
        self.soft = bool(np.isfinite(cap).all())
        self.all_G, self.all_positive, self.all_cap = np.ascontiguousarray(G), positive, cap
        self.kept: IntArray = np.arange(m)
        self.deleted: IntArray = np.arange(0)
        self.merged: list[IntArray] = []  # rows that are in, of one class each, and act as one
        self.lp = NodeLP(self.all_G, positive, cap, total=total)
        self.n = n
        self.budget = budget
        self.examine, self.at_node = examine, at_node
        self.region = np.zeros((kernel.N_KINDS, n))
        self.region[[kernel.D_HIGH, kernel.W_HIGH, kernel.M_HIGH]] = np.inf
        self.rows = np.zeros(m, np.int64)
        self.kinds, self.items = np.zeros(8, np.int64), np.zeros(8, np.int64)
        self.olds = np.zeros(8)
        self.count = 0
        self.programs_before = 0
        self.nodes = self.leaves = self.backjumps = 0
        self.refuted_share = 0.0
        self.position_of_deleted: IntArray = np.arange(0)
        self.directions: list[Direction] = []  # that excluded a candidate somewhere
        self.first_splits: list[Fact] = []  # what the root was split at, then what would have been next best

    @property
    def programs(self) -> int:
        return self.programs_before + self.lp.solved

    # --- the trail of facts ---

    def push(self, fact: Fact) -> int:
        """Know one thing more; returns its position."""
        if self.count == len(self.kinds):
            for name in ("kinds", "items", "olds"):
                setattr(self, name, np.concatenate([getattr(self, name)] * 2))
        t, (kind, item, value) = self.count, fact
        self.kinds[t], self.items[t] = kind, item
        if kind < kernel.N_KINDS:
            self.olds[t] = self.region[kind, item]
            self.region[kind, item] = value
            if kind in (kernel.SIGN, kernel.W_LOW, kernel.W_HIGH):
                self.lp.know_weight(item, self.region[:, item])
        else:
            bit = 1 << (kind - kernel.N_KINDS)
            self.olds[t] = self.rows[item]
            self.rows[item] |= bit
            self.lp.know_row(item, bit)
        self.count = t + 1
        return t

    def pop_to(self, mark: int) -> None:
        """Forget; the state of the linear program is for the caller to restore."""
        for t in range(self.count - 1, mark - 1, -1):
            kind, item = self.kinds[t], self.items[t]
            if item < 0:
                raise AssertionError("a deleted row is forgotten")
            if kind < kernel.N_KINDS:
                self.region[kind, item] = self.olds[t]
            else:
                self.rows[item] = int(self.olds[t])
        self.count = mark

    # --- refuting ---

    def _relax(self, pivots: int, rounds: int = 4) -> tuple[int, float, tuple[FloatArray, FloatArray] | None]:
        """Solve the linear program: its status, its value and, where its prices refute the node, the pair.

        Prices that should refute it and do not are the work of rounding: the inverse, then the basis, is made anew.
        """
        for remedy in (None, self.lp.distrust, self.lp.restart):
            if remedy is not None:
                remedy()
            status, value = self.lp.relax(self.region, pivots, self.cutoff, rounds)
            pair = self._pair(status, value)
            if pair is not None or status not in (simplex.INFEASIBLE, simplex.CUT_OFF):
                return status, value, pair
            pivots = max(pivots, _FIRST_PIVOTS)
        return simplex.STOPPED, 0.0, None

    def _refuted(self, pivots: int) -> tuple[Refutation | None, float]:
        """The leaf, if the linear program refutes what is known, and the program's value."""
        _, value, pair = self._relax(pivots)
        return None if pair is None else self._leaf(*pair), value

    def _pair(self, status: int, value: float) -> tuple[FloatArray, FloatArray] | None:
        if status not in (simplex.INFEASIBLE, simplex.CUT_OFF):
            return None
        for stretch in (1.0, 8.0, 64.0) if status == simplex.INFEASIBLE else (1.0,):
            lam, v = self.lp.pair(status, value, stretch)
            self._tidy(lam, v)
            if self._value(lam, v) > self.enough:
                return lam, v
        return None

    def _value(self, lam: FloatArray, v: FloatArray) -> float:
        lp = self.lp
        return float(kernel.leaf_value(lam, v, lp.G, lp.positive, lp.cap, self.rows, self.region, self.half))

    def _tidy(self, lam: FloatArray, v: FloatArray) -> None:
        """Prices that must not have a sign, by a float's rounding, get none."""
        lam[np.abs(lam) < 1e-12] = 0.0
        no_more = self.rows & (kernel.LESS | kernel.IN) == 0
        lam[no_more & (lam < 0)] = 0.0
        no_less = self.rows & (kernel.MORE | kernel.OUT) == 0
        lam[:] = np.where(no_less, np.minimum(lam, self.lp.cap), lam)
        sign, _, d_high, w_low, _, _, m_high = self.region
        v[sign == 0] = 0.0
        no_limit = np.isinf(d_high) & np.isinf(m_high) & (sign != 0)
        v[:] = np.where(no_limit, sign * np.minimum(sign * v, w_low), v)

    def _leaf(self, lam: FloatArray, v: FloatArray) -> Refutation:
        lp = self.lp
        needed = kernel.needed_facts(
            lam, v, lp.G, lp.positive, lp.cap, self.rows.copy(), self.region.copy(),
            self.kinds, self.items, self.olds, self.count, self.enough, self.half,
        )  # fmt: skip
        positions = set(np.flatnonzero(needed).tolist())
        if len(self.deleted) and self.soft:
            positions.update(self._needed_deleted(lam, v))
        elif len(self.deleted):  # a deleted row is needed where its column would lower the least v·μ
            values = self.all_G[self.deleted] @ v
            kept = lp.G @ v
            inside = self.rows & kernel.OUT == 0
            for side in (True, False):
                rows = kept[inside & (lp.positive == side)]
                limit = rows.min() if len(rows) and np.isinf(lp.cap[0]) else np.inf
                low = (self.all_positive[self.deleted] == side) & (values < limit + 1e-9)
                positions.update(self.position_of_deleted[low].tolist())
        margins = self._all_margins(lam)
        self.leaves += 1
        return Refutation(Leaf(margins, v.copy()), frozenset(positions))

    def _probe(self, fact: Fact, saved: Snapshot, floor: float | None = None) -> tuple[Refutation | None, Fact, float]:
        """Assume the fact: what refutes it if anything does, the fact that is refuted, and the value of its relaxation.

        With ``floor``, what is refuted may be a weaker bound, between the fact's and this.
        """
        self.budget.check(self.programs)
        mark = self.count
        self.push(fact)
        status, value, found = self._relax(_PROBE_PIVOTS, 1)
        refutation = None
        if found is not None:
            if floor is not None:
                slack = 0.5 * (self._value(*found) - self.enough)
                better = kernel.weakest(*found, self.lp.G, self.region, fact.kind, fact.item, fact.value, floor, slack)
                better = _short(better, up=better > floor)
                g = self.region[fact.kind, fact.item]
                self.region[fact.kind, fact.item] = better
                if self._value(*found) > self.enough:
                    fact = fact._replace(value=better)
                else:
                    self.region[fact.kind, fact.item] = g
            refutation = self._leaf(*found)
        self.pop_to(mark)
        self.lp.restore(saved)
        return refutation, fact, min(value, self.cutoff) if status != simplex.INFEASIBLE else self.cutoff

    def _fix(self, fact: Fact, refutation: Refutation, fixed: list[_Fixed]) -> bool:
        """The fact is refuted: know its opposite. True where the refutation does not need the fact: all is refuted."""
        if self.count not in refutation.needed:
            return True
        position = self.push(opposite(fact))
        stated, refuted = self._stated(fact), refutation.proof
        fixed.append(
            _Fixed(frozenset([position]), refutation.needed - {position}, lambda rest: Split(stated, refuted, rest))
        )
        return False

    def _stated(self, fact: Fact) -> Fact:
        """The fact as proofs state it: with the row's number among all rows."""
        return fact if fact.kind < kernel.N_KINDS else fact._replace(item=int(self.kept[fact.item]))

    def _close(self, found: Refutation, fixed: list[_Fixed], mark: int) -> Refutation:
        """Put the splits that led here around a proof, as far as it needs them."""
        proof, needed = found
        for one in reversed(fixed):
            if one.positions & needed:
                proof = one.wrap(proof)
                needed = (needed - one.positions) | one.needed
        self.pop_to(mark)
        return Refutation(proof, frozenset(needed))

    # --- the root ---

    def refute(self, assumed: Iterable[Fact] = ()) -> Refutation:
        """A refutation of the root, or of what is assumed; raises ``Expired``, or what ``examine`` and ``at_node`` raise."""
        fixed: list[_Fixed] = []
        for fact in assumed:
            self.push(fact)
        found = self._presolve(fixed)
        if found is None:
            self._compact()
            found = self._node(0, 1.0)
        return self._close(found, fixed, self.count)

    def _presolve(self, fixed: list[_Fixed]) -> Refutation | None:
        """Signs, rows and bounds that the root forces, to a fixpoint."""
        found, _ = self._refuted(_FIRST_PIVOTS)
        if found is not None:
            return found
        for _ in range(3):
            before = self.count
            for step in (self._presolve_signs, self._presolve_rows, self._presolve_bounds):
                found = step(fixed)
                if found is not None:
                    return found
            if self.count - before < 1 + 0.02 * len(self.rows):
                break
        return None

    def _again(self, fixed: list[_Fixed]) -> Refutation | None:
        found, _ = self._refuted(_FIRST_PIVOTS)
        self.lp.forget_slack_rows(0.3)
        return found

    def _try(
        self, fact: Fact, saved: Snapshot, fixed: list[_Fixed], floor: float | None = None
    ) -> tuple[Refutation | None, bool]:
        """Probe a fact and fix its opposite: (a refutation of all, whether something was fixed)."""
        refutation, fact, _ = self._probe(fact, saved, floor)
        if refutation is None:
            return None, False
        if self._fix(fact, refutation, fixed):
            return refutation, True
        return self._again(fixed), True

    def _presolve_signs(self, fixed: list[_Fixed]) -> Refutation | None:
        saved = self.lp.save()
        for j in range(self.n):
            if self.region[kernel.SIGN, j]:
                continue
            for sign in (1.0, -1.0):
                found, moved = self._try(Fact(kernel.SIGN, j, sign), saved, fixed)
                if found is not None:
                    return found
                if moved:
                    saved = self.lp.save()
                    break
        return None

    def _presolve_rows(self, fixed: list[_Fixed]) -> Refutation | None:
        hard = np.isinf(self.lp.cap)
        first = 0
        while True:
            margins, places = self.lp.r, self.lp.place_row
            open_rows = (
                i for i in range(first, len(self.rows)) if not self.rows[i] and not (hard[i] and places[i] >= 0)
            )
            facts = [
                Fact(kernel.ROW_LESS if hard[i] or margins[i] > 1 else kernel.ROW_MORE, i)
                for i in islice(open_rows, _ROWS_AT_A_TIME)
            ]
            if not facts:
                return None
            refutation, fact, _ = self._first_refuted(facts)
            if refutation is None or fact is None:
                first = facts[-1].item + 1
                continue
            first = fact.item + 1
            if self._fix(fact, refutation, fixed):
                return refutation
            if self.lp.x[2 * self.n + fact.item] != 0 or not hard[fact.item]:  # else the solution stays what it is
                found = self._again(fixed)
                if found is not None:
                    return found

    def _presolve_bounds(self, fixed: list[_Fixed]) -> Refutation | None:
        return self._tighten(range(self.n), fixed)[0]

    def _compact(self) -> None:
        """Leave the rows out that can't be on: all that is known makes their margins exceed 1 (or, ν-margin, below it)."""
        out = self.rows & (kernel.OUT | kernel.IN) != 0
        if not out.any():
            return
        keep = np.flatnonzero(~out)
        new_number = np.full(len(out), -1)
        new_number[keep] = np.arange(len(keep))
        self.deleted = self.kept[out]
        positions = np.full(len(out), -1)
        for t in range(self.count):
            if self.kinds[t] >= kernel.N_KINDS:
                row = self.items[t]
                self.items[t] = new_number[row]
                if self.kinds[t] in (kernel.ROW_OUT, kernel.ROW_IN):
                    positions[row] = t
        self.position_of_deleted = positions[out]
        inside = [np.flatnonzero((self.rows & kernel.IN != 0) & (self.all_positive == side)) for side in (True, False)]
        self.merged = [rows for rows in inside if len(rows)]
        self.kept = np.concatenate([self.kept[keep], len(out) + np.arange(len(self.merged))])
        self.rows = np.concatenate([self.rows[keep], np.full(len(self.merged), kernel.IN)])
        self.programs_before += self.lp.solved
        pivots = self.lp.pivots
        # the rows of a class that are in have one sum of multipliers, and act as one row that is in
        sums = [self.all_cap[rows].sum() for rows in self.merged]
        means = [self.all_cap[rows] @ self.all_G[rows] / total for rows, total in zip(self.merged, sums, strict=True)]
        self.lp = NodeLP(
            np.vstack([self.all_G[keep], *means]),
            np.append(self.all_positive[keep], [self.all_positive[rows[0]] for rows in self.merged]),
            np.append(self.all_cap[keep], sums),
            total=self.total,
        )
        self.lp.pivots = pivots
        for j in range(self.n):
            self.lp.know_weight(j, self.region[:, j])
        for i in np.flatnonzero(self.rows):
            self.lp.know_row(int(i), int(self.rows[i]))

    def _all_margins(self, lam: FloatArray) -> dict[int, float]:
        """The prices by the numbers of all rows: rows that act as one share its price by their caps."""
        own = len(lam) - len(self.merged)
        margins = {int(self.kept[i]): float(lam[i]) for i in np.flatnonzero(lam[:own])}
        for price, rows in zip(lam[own:].tolist(), self.merged, strict=True):
            caps = self.all_cap[rows]
            share = price / float(caps.sum())
            if share:
                margins.update(zip(rows.tolist(), (caps * (1.0 if share > 1 - 1e-12 else share)).tolist(), strict=True))
        return margins

    def _needed_deleted(self, lam: FloatArray, v: FloatArray) -> set[int]:
        """Deleted rows (ν-margin) whose state the prices need: free, they would take part in the least v·μ, or not.

        With the multipliers of a class filled up in the order of their values, rows below the last one's value are at
        their caps anyway, and those above have none.
        """
        lp, values = self.lp, self.all_G[self.deleted] @ v
        kept, needed = lp.G @ v, set[int]()
        own = len(lam) - len(self.merged)
        pulled = {int(i) for price, rows in zip(lam[own:], self.merged, strict=True) if price < 0 for i in rows}
        is_in = np.isin(self.deleted, np.concatenate([*self.merged, np.zeros(0, np.int64)]))
        for side in (True, False):
            mine = lp.positive == side
            left = self.half - lp.cap[mine & (self.rows & kernel.IN != 0)].sum()
            free = np.flatnonzero(mine & (self.rows & (kernel.IN | kernel.OUT) == 0))
            free = free[np.argsort(kept[free])]
            filled = np.cumsum(lp.cap[free])
            last = int(np.searchsorted(filled, left - 1e-12 * self.half)) if left > 0 else -1
            level = np.inf if last >= len(free) else (kept[free[last]] if last >= 0 else -np.inf)
            if left <= 0 and abs(left) <= 1e-12 * self.half and len(free):
                level = kept[free[0]]
            among = self.all_positive[self.deleted] == side
            wanted = among & np.where(is_in, values > level - 1e-9, values < level + 1e-9)
            needed.update(self.position_of_deleted[wanted].tolist())
        needed.update(
            t for i, t in zip(self.deleted.tolist(), self.position_of_deleted.tolist(), strict=True) if i in pulled
        )
        return needed

    # --- nodes ---

    def _node(self, depth: int, share: float) -> Refutation:
        """Refute what is known now; the linear program and the trail are left as they were, but for the former's basis."""
        self.nodes += 1
        mark, fixed = self.count, list[_Fixed]()
        scores: Scores = {}
        while True:
            self.budget.check(self.programs)
            found, value = self._refuted(_NODE_PIVOTS)
            if found is not None:
                self.refuted_share += share
                return self._close(found, fixed, mark)
            self.lp.forget_slack_rows(0.3)
            lp = self.lp
            w, a, mu = lp.weights(), lp.multipliers(), lp.gradient()
            features, states = kernel.violations(
                w, mu, lp.x[self.n : 2 * self.n], a, lp.r[: lp.m], self.region, self.rows, lp.cap
            )
            worst_violation = max(features.max(), states.max())
            if worst_violation < _NEARLY:
                why = self.examine(w, worst_violation < _COMPLEMENTARY, self._states(a))
                if why is not None and self._applies(why):
                    self.directions.append(why)
                    found = self._exclude(why, depth, share, fixed)
                    if found is not None:
                        return self._close(found, fixed, mark)
                    continue
            if self.soft and self._vanish(w, fixed):
                continue
            why = self._without_slope(w, a, mu) if self.soft else None
            if why is not None:
                self.directions.append(why)
                found = self._exclude(why, depth, share, fixed)
                if found is not None:
                    return self._close(found, fixed, mark)
                continue
            if self.at_node is not None and (self.nodes <= _CURIOUS_NODES or self.nodes % _NODES_PER_LOOK == 0):
                self.at_node(w, mu)
            known = self.count
            found, branch = self._strong_branching(value, w, mu, features, states, fixed, scores)
            if found is not None:
                self.refuted_share += share
                return self._close(found, fixed, mark)
            if branch is None:
                if self.count > known:
                    continue
                raise Expired("the relaxation can't be refined any more")
            if depth >= _DEEPEST:
                raise Expired(f"the tree is {_DEEPEST} splits deep")
            if depth == 0:
                others = sorted(scores.values(), key=lambda found: -found[0])
                items = [branch, *(fact for _, fact in others if fact.item != branch.item)]
                self.first_splits = [self._stated(fact) for fact in items]
            return self._close(self._branch(branch, depth, share), fixed, mark)

    def _exclude(self, why: Direction, depth: int, share: float, fixed: list[_Fixed]) -> Refutation | None:
        """Exclude a candidate that is not in the closure: a refutation, or None where something is known more now."""
        for j in why.h:
            if not self.region[kernel.SIGN, j]:
                return self._branch(Fact(kernel.SIGN, j, 1.0 if why.h[j] > 0 else -1.0), depth, share)
        for fact in self._open_rows(why):
            found, moved = self._try(fact, self.lp.save(), fixed)
            if found is not None:
                return found
            if not moved:
                return self._branch(fact, depth, share)
        self._know_vanishing(why, fixed)
        return None

    def _without_slope(self, w: FloatArray, a: FloatArray, mu: FloatArray) -> Direction | None:
        """A relaxed solution may have w_j != 0 and μ_j = 0, which breaks no product, and no split of ratios excludes it."""
        features = np.flatnonzero((np.abs(w) > _NEARLY) & (np.abs(mu) <= _COMPLEMENTARY)).tolist()
        why = self.examine(w, False, self._states(a), features) if features else None
        if why is None or not self._applies(why):
            return None
        is_open = [j for j in why.h if not self.region[kernel.SIGN, j]]
        return why if len(is_open) + len(self._open_rows(why)) <= _MOST_OPEN else None

    def _know_vanishing(self, why: Direction, fixed: list[_Fixed]) -> None:
        needed = self._positions(why)
        positions = frozenset(self.push(Fact(kernel.W_HIGH, j, 0.0)) for j in why.h)
        fixed.append(_Fixed(positions, needed, lambda rest: Vanishing(why.h, why.offset, rest)))

    def _vanish(self, w: FloatArray, fixed: list[_Fixed]) -> bool:
        """Know that weights vanish where a direction that was found before holds with what is known here."""
        signs = self.region[kernel.SIGN]
        for why in self.directions:
            if (
                any(abs(w[j]) > _NO_WEIGHT for j in why.h)
                and all(h * signs[j] > 0 for j, h in why.h.items())
                and not self._open_rows(why)
            ):
                self._know_vanishing(why, fixed)
                return True
        return False

    def _states(self, a: FloatArray) -> IntArray:
        """Bits of all rows: OUT and IN where that is known; LESS where a multiplier is above 0, MORE where below its cap."""
        states = np.zeros(len(self.all_G), np.int64)
        states[self.deleted] = kernel.OUT
        for rows in self.merged:
            states[rows] = kernel.IN
        own = len(self.rows) - len(self.merged)
        cap = self.lp.cap[:own]
        less, more = a[:own] > _AT_BOUND * np.minimum(cap, 1.0), a[:own] < (1 - _AT_BOUND) * cap
        known = self.rows[:own] & (kernel.OUT | kernel.IN)
        states[self.kept[:own]] = np.where(known, known, kernel.LESS * less + kernel.MORE * more)
        return states

    def _open_rows(self, why: Direction) -> list[Fact]:
        """What is left to refute of the rows, so that the direction holds."""
        facts = []
        for i in range(len(self.rows) - len(self.merged)):
            row, state = int(self.kept[i]), self.rows[i]
            if row in why.outside and not state & kernel.OUT:
                facts.append(Fact(kernel.ROW_LESS, i))
            elif row in why.inside and not state & kernel.IN:
                facts.append(Fact(kernel.ROW_MORE, i))
        return facts

    def _applies(self, why: Direction) -> bool:
        """Does the direction exclude the candidate? Not where that is within rounding of what is known."""
        signs_fit = all(h * self.region[kernel.SIGN, j] >= 0 for j, h in why.h.items())
        against = {kernel.ROW_LESS: kernel.LESS | kernel.IN, kernel.ROW_MORE: kernel.MORE | kernel.OUT}
        return signs_fit and not any(self.rows[fact.item] & against[fact.kind] for fact in self._open_rows(why))

    def _positions(self, why: Direction) -> frozenset[int]:
        """The facts that a direction rests on: signs, and rows that are out or in."""
        kinds, items = self.kinds[: self.count], self.items[: self.count]
        found = np.flatnonzero((kinds == kernel.SIGN) & np.isin(items, list(why.h))).tolist()
        for kind, rows in ((kernel.ROW_OUT, why.outside), (kernel.ROW_IN, why.inside)):
            here = [i for i in range(len(self.rows) - len(self.merged)) if int(self.kept[i]) in rows]
            found += np.flatnonzero((kinds == kind) & np.isin(items, here) & (items >= 0)).tolist()
        rows = why.outside | why.inside
        found += [t for i, t in zip(self.deleted.tolist(), self.position_of_deleted.tolist(), strict=True) if i in rows]
        return frozenset(found)

    def _branch(self, fact: Fact, depth: int, share: float) -> Refutation:
        saved = self.lp.save()
        mark = self.count
        self.push(fact)
        first = self._node(depth + 1, share / 2)
        self.pop_to(mark)
        self.lp.restore(saved)
        if mark not in first.needed:
            self.backjumps += 1
            self.refuted_share += share / 2
            return first
        self.push(opposite(fact))
        second = self._node(depth + 1, share / 2)
        self.pop_to(mark)
        self.lp.restore(saved)
        if mark not in second.needed:
            return second
        proof = Split(self._stated(fact), first.proof, second.proof)
        return Refutation(proof, (first.needed | second.needed) - {mark})

    def _strong_branching(
        self,
        value: float,
        w: FloatArray,
        mu: FloatArray,
        features: FloatArray,
        states: FloatArray,
        fixed: list[_Fixed],
        scores: Scores,
    ) -> tuple[Refutation | None, Fact | None]:
        """A refutation, or the fact to branch on, or neither where something was fixed or nothing is left.

        Signs, ratios and rows compete, in the order of their violations, which have one unit. ``scores`` are kept while
        a node lasts.
        """
        sizes = np.concatenate([features, states])
        least = max(_COMPLEMENTARY, _WORTH_ASKING * sizes.max())
        asked: list[Fact] = []
        for number in np.argsort(-sizes).tolist():
            if len(asked) >= _STRONG_CANDIDATES or (asked and sizes[number] < least) or sizes[number] <= 0:
                break
            fact = self._question(number, w, mu)
            if fact is not None:
                asked.append(fact)
        # what was asked before something was fixed at this node is as good as new
        new = [fact for fact in asked if (fact.kind, fact.item) not in scores]
        sides = [side for fact in new for side in (fact, opposite(fact))]
        refutation, side, reached = self._first_refuted(sides)
        for fact, (gain, other_gain) in zip(new, np.maximum(reached - value, 1e-6).reshape(-1, 2), strict=False):
            scores[fact.kind, fact.item] = gain * other_gain, fact if gain >= other_gain else opposite(fact)
        if refutation is not None:
            assert side is not None
            return (refutation if self._fix(side, refutation, fixed) else None), None
        best, best_score = None, -1.0
        for fact in asked:
            score, first = scores[fact.kind, fact.item]
            if score > best_score:
                best, best_score = (first if fact in new or fact.kind != kernel.D_HIGH else fact), score
        return None, best

    def _first_refuted(self, facts: list[Fact]) -> tuple[Refutation | None, Fact | None, FloatArray]:
        """The first of the facts that can be refuted, and the values of the relaxations with each of them up to there.

        Where there is one the values end before it, at an even number: those of whole pairs.
        """
        found = np.zeros(0)
        saved, before = self.lp.save(), self.region.copy()
        while len(found) < len(facts):
            self.budget.check(self.programs)
            reached, status = self.lp.probe(self.region, facts[len(found) :], _PROBE_PIVOTS, self.cutoff, 1)
            found = np.concatenate([found, reached])
            if status == simplex.OPTIMAL:
                break
            fact, mark = facts[len(found) - 1], self.count
            self.region[:] = before
            self.push(fact)
            pair = self._pair(status, float(reached[-1]))
            refutation = None if pair is None else self._leaf(*pair)
            self.pop_to(mark)
            self.lp.restore(saved)
            if refutation is None:  # the work of rounding, perhaps
                refutation, fact, _ = self._probe(fact, saved)
            if refutation is not None:
                return refutation, fact, found[: (len(found) - 1) // 2 * 2]
            found[-1] = min(found[-1], self.cutoff)
        return None, None, found

    def _question(self, number: int, w: FloatArray, mu: FloatArray) -> Fact | None:
        """What to split on for the violation of this number (features first, then rows); None where nothing is left."""
        if number >= self.n:
            i = number - self.n
            return Fact(kernel.ROW_LESS if np.isinf(self.lp.cap[i]) or self.lp.r[i] > 1 else kernel.ROW_IN, i)
        if not self.region[kernel.SIGN, number]:
            return Fact(kernel.SIGN, number, 1.0 if w[number] > 0 else -1.0)
        low, high = self.region[kernel.D_LOW, number], self.region[kernel.D_HIGH, number]
        ratio = min(max(abs(mu[number]) / max(abs(w[number]), 1e-12), _LEAST_RATIO), _LARGEST_RATIO)
        for bits in (12, 26):  # short numbers make short certificates
            for up in (True, False):
                if low < (at := _short(ratio, up=up, bits=bits)) < high:
                    return Fact(kernel.D_HIGH, number, at)
        middle = float(np.sqrt(low * high)) if low > 0 else 0.5 * high
        return Fact(kernel.D_HIGH, number, middle) if low < middle < high < np.inf else None

    def _tighten(self, features: Iterable[int], fixed: list[_Fixed]) -> tuple[Refutation | None, bool]:
        """Bounds of weights, gradients and their ratios that the relaxation forces."""
        moved_any = False
        for j in features:
            if not self.region[kernel.SIGN, j]:
                continue
            for kind in (kernel.D_LOW, kernel.D_HIGH, kernel.W_LOW, kernel.W_HIGH, kernel.M_LOW, kernel.M_HIGH):
                found, moved = self._tighten_one(j, kind, fixed)
                moved_any |= moved
                if found is not None:
                    return found, True
        return None, moved_any

    def _tighten_one(self, j: int, kind: int, fixed: list[_Fixed]) -> tuple[Refutation | None, bool]:
        """Assume that a bound lies beyond the relaxed solution."""
        w, mu = abs(self.lp.x[j]), abs(float(self.lp.x[2 * self.n :] @ self.lp.G[:, j]))
        if kind in (kernel.D_LOW, kernel.D_HIGH):
            now = mu / w if w > 1e-9 else np.inf
        else:
            now = w if kind in (kernel.W_LOW, kernel.W_HIGH) else mu
        rising = kind in (kernel.D_LOW, kernel.W_LOW, kernel.M_LOW)  # assumed is a low bound above the solution
        limit = self.region[_OPPOSITE[kind], j]
        if rising:
            trial = (
                4 * now + 0.25
                if np.isinf(limit)
                else (0.5 * (now + limit) if kind != kernel.D_LOW else np.sqrt(now * limit))
            )
            if np.isinf(now) or trial <= now or (limit - now) < 0.05 * (1e-3 + now):
                return None, False
        else:
            if now <= 1e-9 or np.isinf(now):
                return None, False
            trial = 0.5 * (now + limit) if kind != kernel.D_HIGH or limit > 0 else 0.25 * now
            if kind == kernel.D_HIGH and limit > 0:
                trial = np.sqrt(now * limit)
            if now - limit < 0.05 * now:
                return None, False
        saved = self.lp.save()
        return self._try(Fact(kind, j, _short(trial, up=rising)), saved, fixed, now)


def _short(value: float, *, up: bool, bits: int = 12) -> float:
    """The nearest number of so many bits that is not below (not above) the value."""
    if value == 0.0 or np.isinf(value):
        return value
    mantissa, exponent = np.frexp(value)
    scaled = np.ceil(mantissa * 2**bits) if up else np.floor(mantissa * 2**bits)
    return float(np.ldexp(scaled, exponent - bits))
