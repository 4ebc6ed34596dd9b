"""What is found about one point: a cover of the range, two rescalings with different labels, or neither."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.branch.leaves import Pair


class Split(NamedTuple):
    """How a part is split: by a "factor" (of a group) or the "scale", at ``at``, a weight's "sign", the state of a "row"."""

    kind: str
    which: int
    at: float = 0.0


@dataclass(frozen=True, eq=False)
class ProvedLabel:
    """A rescaling (one d per group) at which the label is known, and the pair that proves it."""

    factors: FloatArray
    pair: Pair
    pairs: list[Pair] = field(default_factory=list)  # others, for parts around it


@dataclass(frozen=True, eq=False)
class Decision:
    """What was found about a point.

    Attributes
    ----------
    label : int
        Of the point at the given scaling, 1 or -1.
    cover : list of Split and Pair, or None
        The proof that all rescalings of the range give that label: splits before what they split into, in the order in
        which the checker makes the parts, and for each part that is not split the pair that settles it.
    own : ProvedLabel or None
        Where the parts of the cover are of relative factors: the label at the given scaling, which it needs.
    positive, negative : ProvedLabel or None
        Rescalings of the range with these labels. A point that has both is neutral.
    reason : str
        Why it is neither.
    n_parts : int
        How many parts of the range were looked at.
    """

    label: int
    cover: list[Split | Pair] | None = None
    positive: ProvedLabel | None = None
    negative: ProvedLabel | None = None
    own: ProvedLabel | None = None
    reason: str = ""
    n_parts: int = 0

    @property
    def neutral(self) -> bool:
        return self.positive is not None and self.negative is not None

    @property
    def decided(self) -> bool:
        return self.cover is not None or self.neutral

    @property
    def pairs(self) -> list[Pair]:
        """All pairs that the proof rests on."""
        if self.positive is not None and self.negative is not None:
            return [self.positive.pair, self.negative.pair]
        found = [entry for entry in self.cover or () if isinstance(entry, Pair)]
        return found if self.own is None else [self.own.pair, *found]

    @property
    def least_slack(self) -> float:
        """How near the proof comes to failing."""
        return min((pair.slack for pair in self.pairs), default=0.0)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return 200 + sum(100 + pair.nbytes for pair in self.pairs)
