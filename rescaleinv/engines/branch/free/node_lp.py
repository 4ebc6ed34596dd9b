"""The linear relaxation of a node: what the compiled simplex method works on, its state, and the pair that it yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines.branch.free import leaf_kernel as leaf
from rescaleinv.engines.branch.free import simplex_kernel as simplex

# Costs of the multipliers, so that the many ties of a zero cost are broken; Σ a = 1, so the value moves by less than this.
_TIE_BREAK = 1e-7
# The facts to be probed where there are none
_NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))


@dataclass
class Snapshot:
    """A basis, with all that belongs to it."""

    numbers: FloatArray
    places: IntArray
    inverse: FloatArray
    sizes: IntArray
    feature: IntArray
    coefficients: FloatArray


class NodeLP:
    """The relaxation of one node after the other, on shared rows G_i = y_i (x_i - α).

    Parameters
    ----------
    G : array (rows, features)
    positive : boolean array
        The class of each row.
    cap : float array
        The largest multiplier of each row where Σ a = ``total``; inf for a hard margin.
    total : float
        What the multipliers sum to, which is the unit of the products as well.
    """

    def __init__(
        self, G: FloatArray, positive: np.ndarray, cap: FloatArray, seed: int = 0, *, total: float = 1.0
    ) -> None:
        m, n = G.shape
        self.total = total
        self.G, self.positive, self.cap = np.ascontiguousarray(G), positive, cap
        self.GT = np.ascontiguousarray(self.G.T)
        self.n, self.m = n, m
        self.room = 24 * n + 60  # for feature rows
        rows, size = m + 2 + self.room, 2 * n + m
        self.most = 3 * n + 4 + min(m, 2 * n)
        # one array each for what a snapshot copies
        self.numbers = np.zeros(5 * rows + 4 * size)
        parts = np.split(self.numbers, np.cumsum([rows] * 5 + [size] * 3))
        self.kink, self.price_low, self.price_high, self.y, self.r, self.low, self.high, self.x, self.z = parts
        self.ray = np.zeros(rows)
        self.places = np.zeros(size + rows + 2 * self.most, np.int64)
        self.place_x, self.place_row, self.basic, self.active = np.split(
            self.places, np.cumsum([size, rows, self.most])
        )
        self.inverse = np.zeros((self.most, self.most))
        self.sizes = np.array([0, n, m, 0, 0], np.int64)
        self.feature = np.zeros(self.room, np.int64)
        self.coefficients = np.zeros((3, self.room))
        self.cost = np.zeros(size)
        self.cost[n : 2 * n] = 1.0
        self.clean_cost = self.cost.copy()
        self.cost[2 * n :] = _TIE_BREAK / total * np.random.default_rng(seed).random(m)
        self.kink[:m] = 1.0
        self.kink[m : m + 2] = 0.5 * total
        self.price_high[:m] = cap
        self.price_low[m : m + 2], self.price_high[m : m + 2] = -np.inf, np.inf
        self.price_high[m + 2 :] = np.inf
        self.low[:n], self.high[:n] = -np.inf, np.inf
        self.high[n : 2 * n] = np.inf
        self.high[2 * n :] = np.where(np.isinf(cap), np.inf, cap)
        self.place_x[:] = self.place_row[:] = -1
        self.solved = 0
        self.pivots = 0

    # --- states ---

    def save(self) -> Snapshot:
        k, extra = int(self.sizes[simplex.K]), int(self.sizes[simplex.N_EXTRA])
        return Snapshot(
            self.numbers.copy(),
            self.places.copy(),
            self.inverse[:k, :k].copy(),
            self.sizes.copy(),
            self.feature[:extra].copy(),
            self.coefficients[:, :extra].copy(),
        )

    def restore(self, saved: Snapshot) -> None:
        self.numbers[:] = saved.numbers
        self.places[:] = saved.places
        self.sizes[:] = saved.sizes
        k, extra = len(saved.inverse), len(saved.feature)
        self.inverse[:k, :k] = saved.inverse
        self.feature[:extra] = saved.feature
        self.coefficients[:, :extra] = saved.coefficients

    def distrust(self) -> None:
        """Make the inverse anew before anything else is done with it."""
        self.sizes[simplex.SINCE] = simplex.REFACTOR

    def restart(self) -> None:
        """Begin with no row at its kink, as at first."""
        self.sizes[simplex.K] = self.sizes[simplex.SINCE] = 0
        self.place_x[:] = self.place_row[:] = -1
        self.y[:] = 0.0
        self.x[:] = np.clip(0.0, self.low, self.high)

    # --- rows ---

    def forget_slack_rows(self, slack: float) -> None:
        """Drop feature rows that are farther than this from their kinks."""
        f, m = int(self.sizes[simplex.N_EXTRA]), self.m
        rows = slice(m + 2, m + 2 + f)
        keep = (self.place_row[rows] >= 0) | (self.r[rows] - self.kink[rows] < slack)
        if keep.all():
            return
        count = int(keep.sum())
        new = slice(m + 2, m + 2 + count)
        for values in (self.kink, self.y, self.r):
            values[new] = values[rows][keep]
        self.feature[:count] = self.feature[:f][keep]
        self.coefficients[:, :count] = self.coefficients[:, :f][:, keep]
        places = self.place_row[rows][keep]
        self.place_row[rows] = -1
        self.place_row[new] = places
        self.active[places[places >= 0]] = np.arange(m + 2, m + 2 + count)[places >= 0]
        self.sizes[simplex.N_EXTRA] = count

    # --- facts ---

    def know_row(self, i: int, bits: int) -> None:
        """Rows out, in, with margins of at most or at least 1 (bits)."""
        if bits & leaf.OUT:
            self.high[2 * self.n + i] = 0.0
        if bits & leaf.IN:
            self.low[2 * self.n + i] = self.cap[i]
        if bits & (leaf.LESS | leaf.IN):
            self.price_low[i] = -np.inf
        if bits & (leaf.MORE | leaf.OUT):
            self.price_high[i] = np.inf

    def know_weight(self, j: int, g: FloatArray) -> None:
        """The bounds of w_j, from all that is known of feature j; the rest of it becomes rows where they are broken."""
        if g[leaf.SIGN] > 0:
            self.low[j], self.high[j] = g[leaf.W_LOW], g[leaf.W_HIGH]
        elif g[leaf.SIGN] < 0:
            self.low[j], self.high[j] = -g[leaf.W_HIGH], -g[leaf.W_LOW]

    # --- solving ---

    def relax(self, region: FloatArray, most: int = 3000, cutoff: float = np.inf, rounds: int = 4) -> tuple[int, float]:
        """Solve and add rows that the solution breaks, so many times; returns the status and the value."""
        self.solved += 1
        status, value, pivots = self._run(region, most, cutoff, rounds, *_NOTHING)
        self.pivots += pivots
        return int(status), value

    def probe(
        self, region: FloatArray, facts: Sequence[tuple[int, int, float]], most: int, cutoff: float, rounds: int
    ) -> tuple[FloatArray, int]:
        """Assume one fact (kind, item, value) after the other, relax, and take it back, until one is refuted in floats.

        Returns the values that were reached, of as many facts as were probed, and the status of the last one if it is
        refuted, else ``OPTIMAL``. A refuted fact is not taken back.
        """
        kinds, items, values = (np.array(part) for part in zip(*facts, strict=True))
        reached = np.empty(len(facts))
        count, status, pivots = self._run(
            region, most, cutoff, rounds, kinds.astype(np.int64), items.astype(np.int64), values.astype(float), reached
        )
        self.solved += int(count)
        self.pivots += pivots
        return reached[: int(count)], int(status)

    def _run(
        self, region: FloatArray, most: int, cutoff: float, rounds: int, *facts: np.ndarray
    ) -> tuple[int, float, int]:
        return simplex.relax(
            self.sizes, self.G, self.GT, self.positive, self.cap, self.feature, self.coefficients, self.cost, self.numbers,
            self.places, self.inverse, self.ray, region, most, cutoff, rounds, *facts,
        )  # fmt: skip

    def gradient(self) -> FloatArray:
        return self.x[2 * self.n :] @ self.G

    def weights(self) -> FloatArray:
        return self.x[: self.n].copy()

    def multipliers(self) -> FloatArray:
        return self.x[2 * self.n :].copy()

    def pair(self, status: int, value: float, stretch: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """(λ, v) of the prices; where there is a ray, so far along it that the value is 1 more than it needs."""
        prices = self._clean_prices()
        if status == simplex.INFEASIBLE:
            prices += stretch * self._reach(value) * self.ray[: len(prices)]
        lam = prices[: self.m].copy()
        v = np.zeros(self.n)
        f = int(self.sizes[simplex.N_EXTRA])
        np.subtract.at(v, self.feature[:f], prices[self.m + 2 :] * self.coefficients[1, :f])
        return lam, v

    def _clean_prices(self) -> FloatArray:
        """The prices of the rows without what breaks ties."""
        y = self.y.copy()
        cw, cm, cp = self.coefficients
        simplex.prices(
            self.sizes, self.G, self.GT, self.positive, self.feature, cw, cm, cp, self.clean_cost, self.inverse, self.basic,
            self.active, self.place_x, self.place_row, y, np.empty_like(self.z),
        )  # fmt: skip
        return y[: self.m + 2 + int(self.sizes[simplex.N_EXTRA])]

    def _reach(self, value: float) -> float:
        """How far along the ray the value of the prices reaches 1 more than it needs."""
        f, n, m = int(self.sizes[simplex.N_EXTRA]), self.n, self.m
        ray = self.ray[: m + 2 + f]
        gain = float(ray @ self.kink[: len(ray)])
        # what the ray takes from unknowns at bounds
        folded = np.zeros(n)
        np.add.at(folded, self.feature[:f], ray[m + 2 :] * self.coefficients[0, :f])
        folded += ray[:m] @ self.G
        bound = np.where(folded > 0, self.high[:n], self.low[:n])
        used = np.abs(folded) > 1e-10
        gain -= float(folded[used] @ np.where(np.isfinite(bound), bound, 0.0)[used])
        return (1.0 + self.total - min(value, self.total)) / gain if gain > 1e-12 else 1.0
