"""Points that every separating hyperplane labels alike: strong whatever the range of rescalings, settled at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from rescaleinv._util.types import FloatArray
from rescaleinv.theory.rationals import nonnegative_solution
from rescaleinv.theory.training_set import TrainingSet


def has_forced_label(training_set: TrainingSet, exact_point: list[Fraction], point: FloatArray, side: int) -> bool:
    """Does every hyperplane that separates the classes strictly give the point this label? False where that is not proved.

    It does iff side·(α, 1) = Σ a_i y_i (x_i, 1) with a >= 0: then side·f(α) = Σ a_i y_i f(x_i) >= Σ a_i > 0.
    """
    rows, exponents = training_set.integer_rows
    y = training_set.signs
    columns = np.hstack([training_set.conditioned, np.ones((training_set.n_rows, 1))]) * y[:, None]
    target = side * np.append(training_set.conditioning.apply(point), 1.0)
    guess = linprog(np.ones(training_set.n_rows), A_eq=columns.T, b_eq=target, method="highs")
    if guess.x is None:
        return False
    support = np.flatnonzero(guess.x > 1e-12).tolist()
    lines = [[int(y[i]) * rows[i][j] for i in support] for j in range(training_set.n_features)]
    right = [side * x / Fraction(2) ** e for x, e in zip(exact_point, exponents, strict=True)]
    lines.append([int(y[i]) for i in support])
    return nonnegative_solution(lines, [*right, side]).solution is not None
