"""Does rescaling make any difference at all to a ν-SVM? The counterpart of Corollary 8 for the soft margin by ν.

The ν-SVM at a rescaling minimises Σ d_j w_j² over the polyhedron C_ν = {R(w, b) >= 1}, where R is the mean of the worst
margins (docs: theory page, section 11). Its weights are the same at every rescaling if and only if each |w_j| of them is
the least over C_ν. If each is, Σ d_j w_j² is the least for every d, and at that w alone. Conversely, let d_j grow: a w that
is the best for every d has |w_j| <= |v_j| for every (v, b) in C_ν. The best intercepts {b : R(w, b) >= 1} do not depend on
d. So one linear program per feature decides: as for the hard margin, with C_ν in place of C(X).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import CertificateError, SolverError
from rescaleinv.theory.exact_nu import ExactNuClassifier, exact_nu_svm_at
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.theory.rationals import nonnegative_solution
from rescaleinv.theory.training_set import TrainingSet

# A weight that a linear program can lower by this share of the largest one is not a tie, whatever the rounding was.
_CLEARLY_LOWER = 1e-3
_NOISE = 1e-9


def nu_svm_is_invariant(training_set: TrainingSet, margin: NuMargin) -> tuple[bool, ExactNuClassifier | None]:
    """Whether every rescaling gives the same ν-SVM, and that at one of them, exactly; None where floats have answered.

    They do where a weight can clearly be lower at another rescaling. Where they can't tell which rows are on the margin, the
    answer is "no" too: it was not shown that there is no difference.
    """
    scaling = np.ldexp(1.0, -training_set.conditioning.exponent)
    svm = nu_svm(training_set, margin, scaling)
    sizes = np.ldexp(svm.weights, training_set.conditioning.exponent)
    largest = float(np.abs(sizes).max())
    for j in np.flatnonzero(np.abs(sizes) > _NOISE * largest):
        if _lowered_by(training_set, margin, sizes / largest, largest, int(j)) > _CLEARLY_LOWER:
            return False, None
    try:
        exact = exact_nu_svm_at(training_set, margin, scaling)
    except CertificateError:
        return False, None
    return _every_weight_is_least(exact), exact


def _lowered_by(training_set: TrainingSet, margin: NuMargin, weights: FloatArray, unit: float, feature: int) -> float:
    """By how much a linear program over C_ν lowers |w_j|; weights are in units of the largest one."""
    m, n = training_set.features.shape
    sign = float(np.sign(weights[feature]))
    signed = training_set.signs[:, None] * np.column_stack([training_set.conditioned, np.ones(m)]) * unit
    # variables w and b (in these units), ρ, ξ: y (w·x + b) >= ρ - ξ, ρ - Σ cap ξ >= 1
    rows = hstack([csr_array(-signed), csr_array(np.ones((m, 1))), -eye_array(m)])
    last = csr_array(np.concatenate([np.zeros(n + 1), [-1.0], margin.caps])[None, :])
    cost = np.zeros(n + 2 + m)
    cost[feature] = sign
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * (n + 2) + [(0, None)] * m
    bounds[feature] = (0, None) if sign > 0 else (None, 0)
    answer = linprog(
        cost, A_ub=vstack([rows, last], format="csr"), b_ub=np.append(np.zeros(m), -1.0), bounds=bounds, method="highs"
    )
    if answer.x is None:
        raise SolverError(f"a linear program of the invariance test failed: {answer.message}")
    return float(abs(weights[feature]) - answer.fun)


def _every_weight_is_least(svm: ExactNuClassifier) -> bool:
    """In rationals: for each weight, multipliers that show that no (w, b) of C_ν has a smaller one.

    With 0 <= a <= t cap, Σ a = t, Σ a_i y_i (x_i, 1) = (s_j e_j, 0) every (w, b) of C_ν has s_j w_j >= t R(w, b) >= t. Rows
    out of the margin have a = 0 there, and rows inside of it a = t cap, by complementarity with the SVM itself.
    """
    training_set, caps = svm.training_set, svm.margin.exact_caps
    y = training_set.signs.tolist()
    scores = training_set.exact_margins(svm.weights, Fraction(0))
    at = {side: low if high is None else (low + high) / 2 for side, (low, high) in svm.thresholds.items()}
    on = [i for i, score in enumerate(scores) if score == at[y[i]]]
    inside = [i for i, score in enumerate(scores) if score < at[y[i]]]
    gradient = training_set.exact_gradient(svm.multipliers)
    mean_margin = sum((w * mu for w, mu in zip(svm.weights, gradient, strict=True)), Fraction(0))
    rows, exponents = training_set.integer_rows
    n = training_set.n_features

    def line(i: int) -> list[Fraction]:
        return [Fraction(y[i] * value) for value in rows[i]] + [Fraction(y[i]), Fraction(1)]

    pushed = [sum((caps[i] * line(i)[k] for i in inside), Fraction(0)) for k in range(n + 2)]
    for j, w in enumerate(svm.weights):
        if not w:
            continue
        # in the units of the integer rows
        t = abs(w) / mean_margin * Fraction(2) ** int(exponents[j])
        target = [Fraction(0)] * (n + 1) + [t]
        target[j] = Fraction(1 if w > 0 else -1)
        right = [value - t * push for value, push in zip(target, pushed, strict=True)]
        if not _bounded_solution([line(i) for i in on], right, [t * caps[i] for i in on]):
            return False
    return True


def _bounded_solution(columns: list[list[Fraction]], right: list[Fraction], bounds: list[Fraction]) -> bool:
    """Whether 0 <= a <= bounds with Σ a_i column_i = right exists."""
    if not columns:
        return not any(right)
    k = len(columns)
    matrix = [[*line, *([Fraction(0)] * k)] for line in zip(*columns, strict=True)]
    for i in range(k):
        unit = [Fraction(int(i == place)) for place in range(k)]
        matrix.append([*unit, *unit])
    return nonnegative_solution(matrix, [*right, *bounds]).solution is not None
