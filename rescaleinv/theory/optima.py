"""The true optimum of the objectives that linear SVMs minimise, whatever the scale of the features, and how sure it is.

``SVC``, ``NuSVC`` and the two losses of ``LinearSVC`` are one program: minimise ½‖Dx‖² + q·x + Σ c_i loss(r_i - A_i·x). Here
x holds the weights, the intercept and, for ν, the margin. An intercept that is free has a column of zeros in D; one that is
penalised (liblinear's) has a row of its own. The features are centred and divided by powers of two before anything is
solved, so that their units do not matter. The hinge loss goes to Clarabel and is then polished on the rows that are on the
margin; the squared one takes finitely many Newton steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import lsq_linear

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError, SolverError
from rescaleinv.theory.nu_margin import NuMargin, margin_and_intercept
from rescaleinv.theory.soft_margin import middle_intercept
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

# All conditions of an optimum must hold to this, relative to the sizes of their terms.
_OPTIMAL = 1e-8
# Beyond these powers of two the square of a range can't be held by a float.
_LARGEST_EXPONENT = 500
_MOST_EXCHANGES = 80
_MOST_NEWTON_STEPS = 200
_MOST_HALVINGS = 60
_SOLVER_SETTINGS = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "max_iter": 400, "verbose": False}

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Objective:
    """What a linear SVM minimises, for the features that it is given.

    Attributes
    ----------
    loss : {"hinge", "squared hinge", "nu"}
        "hinge" is that of ``SVC``, "nu" that of ``NuSVC``.
    C : float
        The penalty; inf for a hard margin (hinge loss and free intercept only). Without a meaning for "nu".
    nu : float
        Of the loss "nu" only.
    intercept : {"free", "penalised", "none"}
        "penalised": the objective contains ½ (b / intercept_scaling)², as that of ``LinearSVC`` does.
    intercept_scaling : float

    Examples
    --------
    >>> Objective("hinge", C=10.0, intercept="penalised").with_free_intercept()
    Objective(loss='hinge', C=10.0, nu=nan, intercept='free', intercept_scaling=1.0)
    """

    loss: Literal["hinge", "squared hinge", "nu"] = "hinge"
    C: float = 1.0
    nu: float = math.nan
    intercept: Literal["free", "penalised", "none"] = "free"
    intercept_scaling: float = 1.0

    def with_free_intercept(self) -> Objective:
        """The same objective, in which the intercept costs nothing."""
        return replace(self, intercept="free", intercept_scaling=1.0)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The classifier w·x + b at the optimum of an objective, in the units of the features.

    Attributes
    ----------
    objective : Objective
    weights : array
    intercept : float
    centre, value_at_centre : array and float
        A point among the training rows, and the decision value there, which has the digits that ``intercept`` may have lost.
    residual : float
        By how much any condition of the optimum is missed, relative to the sizes of its terms.
    penalty : float
        The C for which the hinge loss has the same classifier: for "nu" it is found, for the others it is their own.
    """

    objective: Objective
    weights: FloatArray
    intercept: float
    centre: FloatArray
    value_at_centre: float
    residual: float
    penalty: float

    @property
    def reached(self) -> bool:
        """Whether all conditions of the optimum hold, up to rounding."""
        return self.residual <= _OPTIMAL

    def decision_function(self, points: FloatArray) -> FloatArray:
        values: FloatArray = (points - self.centre) @ self.weights + self.value_at_centre
        return values

    def near_zero(self, points: FloatArray) -> BoolArray:
        """The points whose decision value is too near to zero for its sign to mean anything."""
        terms = np.abs(points - self.centre) @ np.abs(self.weights) + abs(self.value_at_centre)
        return np.asarray(np.abs(self.decision_function(points)) <= 10 * max(self.residual, 1e-10) * (1 + terms))


class _Program(NamedTuple):
    """Minimise ½‖root @ x‖² + linear·x + Σ caps * loss, the loss being that of required - rows @ x."""

    root: FloatArray
    linear: FloatArray
    rows: FloatArray
    required: FloatArray
    caps: FloatArray

    @property
    def quadratic(self) -> FloatArray:
        return self.root.T @ self.root


class _Point(NamedTuple):
    unknowns: FloatArray
    multipliers: FloatArray
    residual: float


def optimum(rows: FloatArray, signs: Any, objective: Objective) -> Optimum:
    """The optimum of an objective on training rows.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
        The features as the model sees them: their scale counts.
    signs : array of 1 and -1
    objective : Objective

    Returns
    -------
    Optimum
        ``reached`` says whether its conditions hold. Where the best intercept is not unique, it is the middle of the best.

    Raises
    ------
    InseparableError
        If the margin is hard and no hyperplane separates the rows, or ν is too small for the reduced hulls to be disjoint.

    Examples
    --------
    >>> rows, signs = np.array([[0.0], [1], [3], [4], [2.5]]), np.array([-1, -1, 1, 1, -1])
    >>> free = optimum(rows, signs, Objective("hinge", C=0.5))
    >>> free.weights.round(6), round(free.intercept, 6), free.reached
    (array([0.666667]), -1.666667, True)
    >>> penalised = optimum(rows, signs, Objective("hinge", C=0.5, intercept="penalised"))
    >>> penalised.weights.round(6), round(penalised.intercept, 6)
    (array([0.455882]), -0.823529)
    """
    signs = np.asarray(signs, dtype=np.float64)
    if objective.loss == "hinge" and math.isinf(objective.C):
        return _hard_margin(rows, signs, objective)
    units = _Units.of(rows, centred=objective.intercept != "none")
    program = _program(units, signs, objective)
    if objective.loss == "nu":
        NuMargin.of(TrainingSet(rows, signs, positive=1.0), objective.nu)  # raises where there is no margin at all
        point = _nu_point(program, objective.nu)
    else:
        point = _newton(program) if objective.loss == "squared hinge" else _by_interior_point(program)
    n = rows.shape[1]
    direction = point.unknowns[:n]
    value = float(point.unknowns[n]) if objective.intercept != "none" else 0.0
    penalty = objective.C
    if objective.loss == "hinge" and objective.intercept == "free":
        value = middle_intercept(units.rows @ direction, signs, program.caps)
    elif objective.loss == "nu":
        margin, value = margin_and_intercept(units.rows @ direction, signs, program.caps / objective.nu)
        direction, value = direction / margin, value / margin
        penalty = math.ldexp(1 / (len(rows) * margin), -2 * units.shift)
    weights = np.ldexp(direction, -units.exponent)
    intercept = float(value - weights @ units.centre)
    return Optimum(objective, weights, intercept, units.centre, value, point.residual, penalty)


def _hard_margin(rows: FloatArray, signs: FloatArray, objective: Objective) -> Optimum:
    if objective.intercept != "free":
        raise InputError("a hard margin has a free intercept here; give a finite C")
    training_set = TrainingSet(rows, signs, positive=1.0)
    svm = minimal_norm_svm(training_set)
    centre = training_set.conditioning.anchor
    return Optimum(objective, svm.weights, svm.intercept, centre, svm.value_at_anchor, svm.kkt_residual(), math.inf)


class _Units(NamedTuple):
    """(given - centre) * 2**-exponent: features with a range of about 1; ``shift`` is the largest of the exponents."""

    rows: FloatArray
    centre: FloatArray
    exponent: npt.NDArray[np.int64]
    shift: int

    @classmethod
    def of(cls, given: FloatArray, *, centred: bool) -> _Units:
        centre = given.mean(axis=0) if centred else np.zeros(given.shape[1])
        constant = given.max(axis=0) == given.min(axis=0)
        if centred:
            centre[constant] = given[0, constant]
        moved = given - centre
        size = np.abs(moved).max(axis=0)
        exponent = np.where(size > 0, np.frexp(size)[1], 0).astype(np.int64)
        shift = int(np.max(exponent, where=size > 0, initial=-_LARGEST_EXPONENT))
        if shift == -_LARGEST_EXPONENT:  # all rows are the same point
            shift = 0
        if shift > _LARGEST_EXPONENT:
            raise InputError(
                f"the features have a range of about {2.0**shift:.3g}, whose square is beyond what a float can hold; "
                "choose larger units"
            )
        return cls(np.ldexp(moved, -exponent), centre, exponent, shift)


def _program(units: _Units, signs: FloatArray, objective: Objective) -> _Program:
    """In units in which the widest feature has a range of about 1: a common factor is a change of C and nothing else."""
    m, n = units.rows.shape
    has_intercept, is_nu = objective.intercept != "none", objective.loss == "nu"
    columns = [units.rows, *([np.ones((m, 1))] if has_intercept else [])]
    rows = signs[:, None] * np.hstack(columns)
    root = np.zeros((n, rows.shape[1]))
    root[:, :n] = np.diag(np.ldexp(1.0, np.minimum(units.shift - units.exponent, _LARGEST_EXPONENT)))
    if objective.intercept == "penalised":
        per_unit = math.ldexp(1 / objective.intercept_scaling, units.shift)
        of_intercept = per_unit * np.append(-np.ldexp(units.centre, -units.exponent), 1.0)
        root = np.vstack([root, of_intercept])
    linear, required = np.zeros(rows.shape[1]), np.ones(m)
    if is_nu:
        rows = np.column_stack([rows, -np.ones(m)])
        root = np.column_stack([root, np.zeros(len(root))])
        linear, required = np.append(linear, -objective.nu), np.zeros(m)
        return _Program(root, linear, rows, required, np.full(m, 1 / m))
    cap = math.ldexp(objective.C, 2 * units.shift)
    if not 0 < cap < math.inf:
        raise InputError(
            f"C = {objective.C:g} times the square of the features' range (about {2.0**units.shift:.3g}) is beyond what a "
            "float can hold; choose a C, or units, nearer to 1"
        )
    return _Program(root, linear, rows, required, np.full(m, cap))


# --- the conditions of an optimum -----------------------------------------------------------------------------------


def _residual(program: _Program, x: FloatArray, multipliers: FloatArray) -> float:
    """How far the conditions of the hinge loss are missed, each relative to the sizes of its terms.

    So x is the exact optimum of a program whose numbers differ from the given ones by about so much.
    """
    magnitude = np.abs(program.required) + np.abs(program.rows) @ np.abs(x) + np.finfo(float).tiny
    slack = (program.rows @ x - program.required) / magnitude
    share = multipliers / program.caps
    outside = max(-float(share.min()), float(share.max()) - 1, 0.0)
    wrong = np.maximum(
        np.minimum(share, np.maximum(slack, 0)),  # beyond the margin, and yet it pulls
        np.minimum(1 - share, np.maximum(-slack, 0)),  # within the margin, and yet it does not pull fully
    )
    return max(outside, float(wrong.max()), _gradient_error(program, x, multipliers))


def _gradient_error(program: _Program, x: FloatArray, multipliers: FloatArray) -> float:
    pushed = program.root @ x
    gradient = program.root.T @ pushed + program.linear - program.rows.T @ multipliers
    sizes = np.abs(program.root.T) @ np.abs(pushed) + np.abs(program.linear) + np.abs(program.rows.T) @ multipliers
    return float((np.abs(gradient) / np.maximum(sizes, np.finfo(float).tiny)).max())


# --- hinge loss -----------------------------------------------------------------------------------------------------


def _by_interior_point(program: _Program) -> _Point:
    x, multipliers = _clarabel(program)
    multipliers = np.clip(multipliers, 0, program.caps)
    rough = _Point(x, multipliers, _residual(program, x, multipliers))
    exact = _polished(program, rough)
    return min(rough, exact, key=lambda point: point.residual)


def _nu_point(program: _Program, nu: float) -> _Point:
    """Where the margin is small beside the features the solver can't see it: then by way of the C that has the same ν."""
    found = _by_interior_point(program)
    if found.residual <= _OPTIMAL:
        return found
    m = len(program.rows)
    plain = program._replace(
        root=program.root[:, :-1], linear=program.linear[:-1], rows=program.rows[:, :-1], required=np.ones(m)
    )
    low, high = -_LARGEST_EXPONENT / 4, _LARGEST_EXPONENT / 4
    for turn in range(_MOST_HALVINGS):
        middle = (low + high) / 2
        cap = 2.0**middle
        point = _by_interior_point(plain._replace(caps=np.full(m, cap)))
        # the margin of the ν-SVM is 1 / (m C) if the margin of the other is 1
        scale = 1 / (m * cap)
        if turn % 6 == 5:
            start = _Point(np.append(point.unknowns, 1.0) * scale, point.multipliers * scale, math.inf)
            found = min(found, _polished(program, start), key=lambda one: one.residual)
            if found.residual <= _OPTIMAL:
                break
        # ν falls as C grows
        low, high = (middle, high) if point.multipliers.sum() * scale > nu else (low, middle)
    return found


def _clarabel(program: _Program) -> tuple[FloatArray, FloatArray]:
    import clarabel
    from scipy.sparse import block_diag, csc_array, csc_matrix, eye_array, hstack, triu, vstack

    m, p = program.rows.shape
    # the objective is divided by the size that it has without any weights
    size = float(program.caps.sum())
    quadratic = csc_matrix(triu(block_diag([csc_array(program.quadratic / size), csc_array((m, m))]), format="csc"))
    linear = np.concatenate([program.linear, program.caps]) / size
    margins = hstack([csc_array(-program.rows), -eye_array(m)])
    slacks = hstack([csc_array((m, p)), -eye_array(m)])
    settings = clarabel.DefaultSettings()
    for name, value in _SOLVER_SETTINGS.items():
        setattr(settings, name, value)
    solver = clarabel.DefaultSolver(
        quadratic,
        linear,
        csc_matrix(vstack([margins, slacks], format="csc")),
        np.concatenate([-program.required, np.zeros(m)]),
        [clarabel.NonnegativeConeT(2 * m)],
        settings,
    )
    answer = solver.solve()
    x, multipliers = np.array(answer.x)[:p], np.array(answer.z)[:m] * size
    if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
        raise SolverError(f"the SVM was not found: the solver says {answer.status}")
    return x, multipliers


def _polished(program: _Program, start: _Point) -> _Point:
    """Guess which rows are on the margin, solve for that exactly, and exchange rows until all conditions hold."""
    slack = program.rows @ start.unknowns - program.required
    share = start.multipliers / program.caps
    capped = -slack > 1 - share
    free = ~capped & (slack <= share)
    best = start
    for turn in range(_MOST_EXCHANGES):
        x, multipliers = _on_margin(program, free, capped)
        if not np.isfinite(x).all():
            break
        point = _with_best_multipliers(program, x, multipliers, capped)
        if point.residual < best.residual:
            best = point
        if best.residual <= 1e-12:
            break
        slack = program.rows @ x - program.required
        share = multipliers / program.caps
        # what is wrong with each row: a multiplier beyond its ends, or a margin on the wrong side
        wrong = np.where(free, np.maximum(-share, share - 1), np.where(capped, slack, -slack))
        rows = np.flatnonzero(wrong > 1e-13)
        if not len(rows):
            break
        if turn >= 10:  # all at once may go round in circles
            rows = rows[[wrong[rows].argmax()]]
        leaving = free[rows]
        capped[rows[leaving]] = share[rows[leaving]] > 0.5
        capped[rows[~leaving]] = False
        free[rows] = ~leaving
    return best


def _on_margin(program: _Program, free: BoolArray, capped: BoolArray) -> tuple[FloatArray, FloatArray]:
    """x and multipliers where the free rows are on the margin, capped ones pull fully, and the others not at all."""
    p, chosen = program.rows.shape[1], program.rows[free]
    unit = float(program.caps.max())
    system = np.block([[program.quadratic, -unit * chosen.T], [chosen, np.zeros((len(chosen), len(chosen)))]])
    right = np.concatenate([program.rows[capped].T @ program.caps[capped] - program.linear, program.required[free]])
    of_rows, of_columns = _equilibrated(system)
    system, right = system * of_rows[:, None] * of_columns, right * of_rows
    multipliers = np.where(capped, program.caps, 0.0)
    try:
        inverse = np.linalg.pinv(system, rcond=1e-15)
    except np.linalg.LinAlgError:
        return np.full(p, np.nan), multipliers
    extended, target = system.astype(np.longdouble), right.astype(np.longdouble)
    found = (inverse @ right).astype(np.longdouble)
    for _ in range(3):
        found = found + inverse @ (target - extended @ found).astype(float)
    unknowns = found.astype(float) * of_columns
    multipliers[free] = unit * unknowns[p:]
    return unknowns[:p], multipliers


def _equilibrated(system: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Factors of rows and columns after which the largest entry of each is about 1."""
    of_rows, of_columns = np.ones(len(system)), np.ones(len(system))
    for _ in range(10):
        sizes = np.abs(system * of_rows[:, None] * of_columns)
        for factors, axis in ((of_rows, 1), (of_columns, 0)):
            largest = sizes.max(axis=axis, initial=0.0)
            factors /= np.sqrt(np.where(largest > 0, largest, 1.0))
    return of_rows, of_columns


def _with_best_multipliers(program: _Program, x: FloatArray, found: FloatArray, capped: BoolArray) -> _Point:
    """Where rows on the margin depend on each other their multipliers are not unique: find some within their ends."""
    clipped = np.clip(found, 0, program.caps)
    point = _Point(x, clipped, _residual(program, x, clipped))
    beyond = float(np.max(np.abs(clipped - found) / program.caps, initial=0.0))
    if beyond == 0 or point.residual <= _OPTIMAL:
        return point
    magnitude = 1 + np.abs(program.rows) @ np.abs(x)
    near = np.abs(program.rows @ x - program.required) <= 1e-10 * magnitude
    if not near.any() or near.sum() > 400:
        return point
    others = np.where(capped & ~near, program.caps, 0.0)
    target = program.quadratic @ x + program.linear - program.rows.T @ others
    size = np.maximum(np.abs(program.rows).T @ program.caps, np.finfo(float).tiny)
    columns = (program.rows[near] * program.caps[near, None]).T / size[:, None]
    shares = lsq_linear(columns, target / size, bounds=(0.0, 1.0), method="bvls" if near.sum() <= 60 else "trf").x
    others[near] = np.clip(shares, 0, 1) * program.caps[near]
    return min(point, _Point(x, others, _residual(program, x, others)), key=lambda one: one.residual)


# --- squared hinge loss ---------------------------------------------------------------------------------------------


def _newton(program: _Program) -> _Point:
    """Each step solves for the rows within the margin, by least squares; the best step length is found exactly."""
    root_of_cap = np.sqrt(2 * program.caps)
    x = np.zeros(program.rows.shape[1])
    inside = np.ones(len(program.rows), dtype=bool)
    for _ in range(_MOST_NEWTON_STEPS):
        stacked = np.vstack([program.root, root_of_cap[inside, None] * program.rows[inside]])
        right = np.concatenate([np.zeros(len(program.root)), (root_of_cap * program.required)[inside]])
        lengths = np.maximum(np.linalg.norm(stacked, axis=0), np.finfo(float).tiny)
        goal = np.linalg.lstsq(stacked / lengths, right, rcond=1e-15)[0] / lengths
        step = goal - x
        x = x + _step_length(program, x, step) * step
        now = program.rows @ x < program.required
        if np.array_equal(now, inside) and np.abs(goal - x).max() <= 1e-12 * (1 + np.abs(goal).max()):
            x = goal
            break
        inside = now
    slack = np.maximum(program.required - program.rows @ x, 0)
    multipliers = 2 * program.caps * slack
    # the multipliers follow from x, so the gradient is all that can be wrong
    return _Point(x, multipliers, _gradient_error(program, x, multipliers))


def _step_length(program: _Program, x: FloatArray, step: FloatArray) -> float:
    """Where the derivative along the step is zero: it is piecewise linear and grows."""
    slack, slope = program.required - program.rows @ x, program.rows @ step
    pushed, pushes = program.root @ x, program.root @ step
    constant, growth = float(pushed @ pushes + program.linear @ step), float(pushes @ pushes)
    with np.errstate(divide="ignore", invalid="ignore"):
        bends = slack / slope
    bends = np.unique(bends[np.isfinite(bends) & (bends > 0)])
    low = 0.0
    for high in [*bends.tolist(), math.inf]:
        middle = (low + high) / 2 if high < math.inf else 2 * low + 1
        inside = slack - middle * slope > 0
        weight = 2 * program.caps[inside]
        at_zero = constant - float(weight @ (slack[inside] * slope[inside]))
        rate = growth + float(weight @ slope[inside] ** 2)
        if rate > 0 and -at_zero / rate <= high:
            return max(-at_zero / rate, low)
        low = high
    return 1.0
