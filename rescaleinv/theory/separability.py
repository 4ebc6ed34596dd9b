"""Is the training set consistent, that is, linearly separable? If not, which rows should be left out?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError, InseparableError, SolverError
from rescaleinv.theory.many_rows import MANY, sample_of
from rescaleinv.theory.rationals import nonnegative_solution
from rescaleinv.theory.soft_margin import standardised_margins
from rescaleinv.theory.training_set import TrainingSet, require_training_set

# How many of the worst rows join the exact decision at a time.
_ROWS_AT_A_TIME = 8


@dataclass(frozen=True)
class Separation:
    """A proof that a training set is separable, or that it is not.

    Either (``weights``, ``intercept``) separate strictly, in exact rationals of the original units, or
    ``conflict`` maps rows to weights with which a convex combination of each class is the same point.
    """

    weights: list[Fraction] | None
    intercept: Fraction | None
    conflict: dict[int, Fraction] | None
    row_numbers: IntArray

    @property
    def separable(self) -> bool:
        return self.conflict is None

    def conflict_text(self) -> str:
        return ", ".join(str(self.row_numbers[i]) for i in sorted(self.conflict or {}))


def _float_separator(rows: FloatArray, signs: FloatArray) -> tuple[FloatArray, float, float]:
    """A hyperplane with the largest margin under |w_j| <= 1, and that margin (0 where there is none)."""
    n_rows, n = rows.shape
    matrix = np.hstack([-rows * signs[:, None], -signs[:, None], np.ones((n_rows, 1))])
    bounds = [(-1, 1)] * n + [(None, None), (0, 1)]
    answer = linprog(np.append(np.zeros(n + 1), -1.0), matrix, np.zeros(n_rows), bounds=bounds, method="highs")
    if answer.x is None:
        return np.zeros(n), 0.0, 0.0
    return answer.x[:n], float(answer.x[n]), float(answer.x[n + 1])


def _float_conflict(rows: FloatArray, signs: FloatArray) -> IntArray:
    """The rows of a vertex of {a >= 0 : Σ a_i y_i (x_i, 1) = 0, Σ a_i = 1}, or none where the solver sees none."""
    matrix = np.vstack([(rows * signs[:, None]).T, signs, np.ones(len(rows))])
    right = np.append(np.zeros(rows.shape[1] + 1), 1.0)
    answer = linprog(np.zeros(len(rows)), A_eq=matrix, b_eq=right, method="highs-ds")
    return np.flatnonzero(answer.x > 1e-9) if answer.x is not None else np.array([], dtype=np.intp)


def separation(training_set: TrainingSet) -> Separation:
    """Decide separability exactly, with the proof.

    The float solver's proposal is checked in rationals. Where it does not hold, an exact simplex over a growing set of
    rows decides.
    """
    conflict = conflict_of_sample(training_set) if training_set.n_rows >= MANY else None
    if conflict is not None:
        return conflict
    signs = training_set.signs.astype(float)
    weights, intercept, margin = _float_separator(training_set.conditioned, signs)
    if margin > 0:
        w, b = training_set.conditioning.weights_to_original(weights, intercept)
        exact = [Fraction(value) for value in w.tolist()], Fraction(b)
        if min(training_set.exact_margins(*exact)) > 0:
            return Separation(*exact, None, training_set.row_numbers)
    start = _float_conflict(training_set.conditioned, signs)
    return exact_separation(training_set, start)


def conflict_of_sample(training_set: TrainingSet) -> Separation | None:
    """The proof that many rows are not separable, if a sample of them is not; None if it is."""
    sample = sample_of(training_set.signs)
    found = separation(training_set.subset(sample))
    if found.conflict is None:
        return None
    conflict = {int(sample[i]): weight for i, weight in found.conflict.items()}
    return Separation(None, None, conflict, training_set.row_numbers)


def exact_separation(training_set: TrainingSet, start: Sequence[int] | IntArray) -> Separation:
    """The same in exact arithmetic alone, starting from the rows ``start``."""
    rows, exponents = training_set.integer_rows
    signs = training_set.signs.tolist()
    chosen = list(dict.fromkeys([*map(int, start), signs.index(1), signs.index(-1)]))
    while True:
        columns = [[signs[i] * value for value in rows[i]] + [signs[i], 1] for i in chosen]
        right = [0] * (training_set.n_features + 1) + [1]
        answer = nonnegative_solution(list(zip(*columns, strict=True)), right)
        if answer.solution is not None:
            conflict = {i: a for i, a in zip(chosen, answer.solution, strict=True) if a}
            return Separation(None, None, conflict, training_set.row_numbers)
        assert answer.refutation is not None
        *h, t, _ = answer.refutation
        weights = [-value / Fraction(2) ** e for value, e in zip(h, exponents, strict=True)]
        margins = training_set.exact_margins(weights, -t)
        violated = sorted((i for i, margin in enumerate(margins) if margin <= 0), key=lambda i: margins[i])
        if not violated:
            return Separation(weights, -t, None, training_set.row_numbers)
        chosen += violated[:_ROWS_AT_A_TIME]


def is_separable(training_set: TrainingSet) -> bool:
    """Does some hyperplane have all positive points strictly on one side and all negative ones on the other?

    Parameters
    ----------
    training_set : TrainingSet

    Returns
    -------
    bool

    Examples
    --------
    >>> is_separable(TrainingSet([[0], [1], [2]], [-1, 1, 1])), is_separable(TrainingSet([[0], [1], [2]], [-1, 1, -1]))
    (True, False)
    """
    require_training_set(training_set)
    return separation(training_set.as_read).separable


@dataclass(frozen=True)
class SeparableSubset:
    """What ``separable_subset`` kept and left out.

    ``kept`` and ``dropped`` are positions in the training set that was given; ``training_set`` has the rows kept.
    ``fewest`` is True where it is proved that no smaller number of rows would do.
    """

    training_set: TrainingSet
    kept: IntArray
    dropped: IntArray
    rule: str
    fewest: bool


def _misclassified(training_set: TrainingSet, weights: FloatArray, time_limit: float | None) -> tuple[list[int], bool]:
    part, kept = training_set, list(range(training_set.n_rows))
    while True:  # the whole is known to be inseparable
        margins = standardised_margins(part, weights[kept])
        kept = _without(training_set, kept, margins, margins <= 0)
        part = training_set.subset(kept)
        if is_separable(part):
            return kept, False


def _greedy(training_set: TrainingSet, weights: FloatArray, time_limit: float | None) -> tuple[list[int], bool]:
    signs = training_set.signs
    part, kept = training_set, list(range(training_set.n_rows))
    while True:  # the whole is known to be inseparable
        slack = _least_total_slack(part.conditioned, part.signs.astype(float))
        worst = np.zeros(len(kept), dtype=bool)
        if len(kept) > 2:  # of two rows, one of each class, neither can go
            worst[_largest_removable(signs[kept], slack)] = True
        kept = _without(training_set, kept, -slack, worst)
        part = training_set.subset(kept)
        if is_separable(part):
            return kept, False


def _least_total_slack(rows: FloatArray, signs: FloatArray) -> FloatArray:
    """ξ of min Σ ξ_i with y_i (w·x_i + b) >= 1 - ξ_i: a linear program, so it does not depend on units."""
    n_rows, n = rows.shape
    matrix = np.hstack([-rows * signs[:, None], -signs[:, None], -np.eye(n_rows)])
    bounds = [(None, None)] * (n + 1) + [(0, None)] * n_rows
    cost = np.append(np.zeros(n + 1), np.ones(n_rows))
    answer = linprog(cost, matrix, -np.ones(n_rows), bounds=bounds, method="highs")
    if answer.x is None:
        raise SolverError(f"the rows to leave out could not be found: {answer.message}")
    return answer.x[n + 1 :]


def _largest_removable(signs: npt.NDArray[np.int8], slack: FloatArray) -> int:
    removable = [i for i in range(len(signs)) if (signs == signs[i]).sum() > 1]
    return max(removable, key=lambda i: (slack[i], -i))


def _without(training_set: TrainingSet, kept: list[int], margins: FloatArray, bad: npt.NDArray[np.bool_]) -> list[int]:
    """Leave the bad rows out, but never the last row of a class, and always at least one row.

    The least bad row of a class stays; of several, the one that is farthest outside of the other class's range in some
    feature. Where no bad row can go, the row with the least margin that can does.
    """
    signs = training_set.signs[kept]
    going = bad.copy()
    for sign in (1, -1):
        members = np.flatnonzero(signs == sign)
        if going[members].all():
            best = members[margins[members] == margins[members].max()]
            going[best[_outside(training_set.features[kept], best, signs != sign).argmax()]] = False
    if not going.any():
        if len(kept) == 2:
            return _any_two_that_differ(training_set)
        going[_largest_removable(signs, -margins)] = True
    return [row for row, gone in zip(kept, going, strict=True) if not gone]


def _outside(features: FloatArray, members: IntArray, others: npt.NDArray[np.bool_]) -> FloatArray:
    """How far each member lies outside of the others' range, in the feature where that is most, in units of its spread."""
    spread = np.ptp(features, axis=0)
    units = np.where(spread > 0, spread, 1.0)
    low, high = features[others].min(axis=0), features[others].max(axis=0)
    rows = features[members]
    found: FloatArray = (np.maximum(rows - high, low - rows) / units).max(axis=1).round(7)
    return found


def _any_two_that_differ(training_set: TrainingSet) -> list[int]:
    """The first positive and the first negative row that are not the same point."""
    positive, negative = (np.flatnonzero(training_set.signs == sign) for sign in (1, -1))
    for p in positive:
        different = np.flatnonzero((training_set.features[negative] != training_set.features[p]).any(axis=1))
        if different.size:
            return sorted([int(p), int(negative[different[0]])])
    raise InseparableError(
        f"all {training_set.n_rows} rows are the same point with both labels: no subset with both classes is separable"
    )


def _fewest(training_set: TrainingSet, weights: FloatArray, time_limit: float | None) -> tuple[list[int], bool]:
    """Fewest rows by implicit hitting sets: rows that conflict (an exact Farkas support) must lose one of them.

    Every conflict is verified in rationals and CP-SAT works in integers, so that no big constant and no tolerance
    stands between the answer and its proof. Copies of a row go or stay together. The greedy rule's answer bounds the
    number from above, each round's from below: where they meet, neither needs to be improved.
    """
    import time

    from ortools.sat.python import cp_model

    deadline = None if time_limit is None else time.monotonic() + time_limit
    labelled = np.column_stack([training_set.features, training_set.signs])
    _, first, copy_of = np.unique(labelled, axis=0, return_index=True, return_inverse=True)
    copy_of = copy_of.ravel()
    copies = np.bincount(copy_of)
    signs = training_set.signs[first]
    model = cp_model.CpModel()
    gone = [model.new_bool_var(f"gone{k}") for k in range(len(first))]
    for sign in (1, -1):
        model.add_bool_or([gone[k].negated() for k in np.flatnonzero(signs == sign)])
    total = sum(int(c) * g for c, g in zip(copies, gone, strict=True))
    model.minimize(total)
    greedy = _greedy(training_set, weights, None)[0]
    solver = cp_model.CpSolver()
    solver.parameters.random_seed = 0
    solver.parameters.num_workers = 1  # deterministic
    while True:
        if deadline is not None:
            solver.parameters.max_time_in_seconds = max(deadline - time.monotonic(), 1e-3)
        status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            _any_two_that_differ(training_set)  # raises: that is the one way in which nothing is left
        if status != cp_model.OPTIMAL or (deadline is not None and time.monotonic() > deadline):
            warnings.warn(
                f"the fewest rows to leave out were not found within {time_limit:g} s; the greedy rule's are taken",
                stacklevel=3,
            )
            return greedy, False
        least = round(solver.objective_value)
        if least == training_set.n_rows - len(greedy):
            return greedy, True
        keep = [k for k in range(len(first)) if not solver.value(gone[k])]
        conflicts = _disjoint_conflicts(training_set, first, keep)
        if not conflicts:
            return [i for i in range(training_set.n_rows) if not solver.value(gone[copy_of[i]])], True
        for conflict in conflicts:
            model.add_bool_or([gone[k] for k in conflict])
        model.add(total >= least)  # more conflicts can't make it less; as a constraint it saves proving that again


def _disjoint_conflicts(training_set: TrainingSet, first: IntArray, keep: list[int]) -> list[list[int]]:
    """Conflicts among the rows ``first[keep]`` that share no row, as many as are found one after the other."""
    conflicts: list[list[int]] = []
    while len(set(training_set.signs[first[keep]].tolist())) == 2:
        found = separation(training_set.subset(first[keep]).as_read)
        if found.conflict is None:
            break
        conflicts.append([keep[i] for i in found.conflict])
        keep = [k for i, k in enumerate(keep) if i not in found.conflict]
    return conflicts


_RULES: dict[str, Callable[[TrainingSet, FloatArray, float | None], tuple[list[int], bool]]] = {
    "misclassified": _misclassified,
    "fewest": _fewest,
    "greedy": _greedy,
}


def _canonical(training_set: TrainingSet, weights: FloatArray) -> tuple[IntArray, TrainingSet]:
    """The rows in an order, and with signs, that depend neither on the order given nor on which class is positive.

    Rows are sorted by their values within each class; the class whose sorted rows come first is the positive one. Rules
    work on that form, so that ties between rows are broken in the same way however the data were arranged.
    """
    keys = np.column_stack([training_set.features, weights])
    halves = []
    for sign in (1, -1):
        members = np.flatnonzero(training_set.signs == sign)
        halves.append(members[np.lexsort(keys[members].T[::-1])])
    halves.sort(key=lambda members: keys[members].tolist())
    order = np.concatenate(halves)
    signs = np.repeat([1, -1], [len(half) for half in halves])
    canonical = TrainingSet(training_set.features[order], signs, read_as=training_set.read_as)
    return order, canonical


def check_rule(rule: Any) -> None:
    """Refuse a rule that there is not."""
    if not isinstance(rule, str) or rule not in _RULES:
        raise InputError(f"the rule {rule!r} is not known; there are {', '.join(map(repr, _RULES))}")


def separable_subset(
    training_set: TrainingSet,
    rule: str = "misclassified",
    *,
    row_weights: Any = None,
    time_limit: float | None = None,
) -> SeparableSubset:
    """Leave rows out until the rest is separable; no rule ever empties a class.

    What is left out depends on the data only: not on the order of the rows, nor on which class is called positive. (Of
    copies of a row, the last ones go.)

    Parameters
    ----------
    training_set : TrainingSet
    rule : {"misclassified", "fewest", "greedy"}
        "misclassified" leaves out what a soft-margin linear SVM (C = 1, standardised features) misclassifies, again until
        the rest is consistent: the rule that comes nearest to the paper's figures. A row on the hyperplane, up to seven
        digits, counts as misclassified, whatever its class. The rule depends on the features' scaling only through their
        standardisation. "fewest" leaves out as few rows as possible, proved (exponential in the worst
        case: see ``time_limit``). "greedy" leaves out the row with the largest slack, one at a time.
    row_weights : sequence of positive numbers, optional
        For "misclassified": a row of weight 2 counts as two copies of it do. The other rules count rows.
    time_limit : float, optional
        Seconds for "fewest"; beyond it a warning says that the greedy rule was used. The other rules do not need it.

    Returns
    -------
    SeparableSubset
        The rest as a ``training_set``, and the rows that were ``dropped``.

    Examples
    --------
    >>> ts = TrainingSet([[0.0], [1], [2], [3], [1.5]], [-1, -1, 1, 1, -1])
    >>> separable_subset(ts).dropped
    array([], dtype=int64)
    >>> ts = TrainingSet([[0.0], [1], [2], [3], [4], [3.5]], [-1, -1, 1, 1, 1, -1])
    >>> separable_subset(ts, "fewest").dropped
    array([5])
    """
    require_training_set(training_set)
    check_rule(rule)
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise InputError(f"time_limit is {time_limit!r}; a positive number of seconds, or None, is needed")
    if is_separable(training_set):
        positions, fewest = np.arange(training_set.n_rows), True
    else:
        weights = np.ones(training_set.n_rows) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
        if rule != "misclassified" and np.ptp(weights):
            raise InputError(
                f"the rule {rule!r} counts rows, and rows of different weights were given for classes that are not "
                'separable; use "misclassified", or a soft margin'
            )
        order, canonical = _canonical(training_set, weights)
        kept, fewest = _RULES[rule](canonical, weights[order], time_limit)
        positions = np.sort(order[kept])
    dropped = np.setdiff1d(np.arange(training_set.n_rows), positions)
    return SeparableSubset(training_set.subset(positions), positions, dropped, rule, fewest)
