"""The decision value of the learners with scalings of features, as the paper writes it."""

import math


def decision_value(variant, x, w, alpha, beta, b):
    """As the paper writes it, one feature after the other."""
    total = b
    for j in range(len(x)):
        if variant in ("FS", "FS-1"):
            total += w[j] / (1 + math.exp(-alpha[j] * x[j] + beta[j]))
        else:
            total += w[j] * (alpha[j] * x[j] + beta[j])
    return total
