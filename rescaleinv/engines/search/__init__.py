"""The search for flips, without proofs of strength: weighted L1-SVMs by a compiled simplex, and a walk led by points."""

from rescaleinv.engines.search.flips import Flip, FlipSearch, SearchBudget, SearchResult
from rescaleinv.engines.search.l1_svm import L1SVM, l1_svm

__all__ = ["L1SVM", "Flip", "FlipSearch", "SearchBudget", "SearchResult", "l1_svm"]
