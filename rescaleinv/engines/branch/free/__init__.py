"""Branch and bound over every rescaling: strong verdicts with a tree of rational inequalities, at the sizes that people have."""
