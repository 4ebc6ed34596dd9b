"""Branch and bound over every rescaling: strong verdicts with a tree of rational inequalities, for many features."""
