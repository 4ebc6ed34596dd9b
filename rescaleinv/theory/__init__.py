"""The paper's objects: training sets, SVMs, separability, rescale-optimality, invariance, all of them checked or exact."""
