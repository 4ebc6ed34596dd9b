"""Branch and bound: parts of the range of rescalings, each settled by an inequality in exact numbers."""
