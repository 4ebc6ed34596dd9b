"""The search for flips, without proofs of strength: weighted L1-SVMs by a compiled simplex, and a walk led by points."""

from rescaleinv.engines.search.flips import Flip, FlipSearch, SearchBudget, SearchResult

__all__ = ["Flip", "FlipSearch", "SearchBudget", "SearchResult"]
