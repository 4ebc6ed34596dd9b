"""Ways to decide points, one protocol: an engine is made for a training set and then certifies any number of points."""

from __future__ import annotations

from typing import Any, Protocol

from rescaleinv.verdict import Verdicts


class Engine(Protocol):
    """What every engine offers."""

    scope: str  # what claims end in, see ``Prover``

    def precompute(self) -> None:
        """Do now what the first ``certify`` would do: whatever is needed once a training set."""

    def certify(self, points: Any) -> Verdicts:
        """The verdicts of the points (a table, one row a point)."""
