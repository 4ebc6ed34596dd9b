"""The chain from a model as it was run to the bare question of scaling, and the causes that its steps stand for.

Two models give a point different labels. Their differences are taken away one by one, on both sides, in this order:

1. *solver*: each model is replaced by the optimum of its own objective;
2. *intercept*: by the optimum of the same objective in which the intercept costs nothing;
3. *loss*: where the two have different losses, the second takes the loss of the first;
4. *C*: the second takes the C of the first, divided by the square of the factor that their features have in common;
5. *margin*: what is left are unlike factors of the features: the margin itself moved.

A label that differs as run belongs to the first step after which the two models agree, or to the margin if none makes them
agree. So every label that differs has one cause, and the counts add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rescaleinv._util.types import FloatArray
from rescaleinv.estimators.objectives import TrainingRows
from rescaleinv.theory.optima import Objective, Optimum, optimum

BoolArray = npt.NDArray[np.bool_]

SOLVER, INTERCEPT, LOSS, PENALTY, MARGIN = "solver", "intercept", "loss", "C", "margin"
# In the order of the chain.
CAUSES = (SOLVER, INTERCEPT, LOSS, PENALTY, MARGIN)
# Two penalties that differ by less than this share are one: what is between them is rounding.
_SAME_PENALTY = 1e-9


class Stage(NamedTuple):
    """The labels (positive or not) that a model gives at a stage of the chain, and where its value has no clear sign.

    Where that is so, the label is that of the stage before: rounding changes no label.
    """

    positive: BoolArray
    unclear: BoolArray
    best: Optimum | None = None

    def then(self, best: Optimum, points: FloatArray) -> Stage:
        unclear = best.near_zero(points)
        return Stage(np.where(unclear, self.positive, best.decision_function(points) >= 0), unclear, best)


@dataclass(frozen=True, eq=False)
class ModelChain:
    """A fitted model, what it saw, and the optima that belong to it.

    Attributes
    ----------
    name : str
    model : estimator
        The SVM itself, without the steps before it.
    objective : Objective
    stopped : str
        How the solver came to an early end, or "".
    factors : array
        What the steps before the SVM multiply each feature by; 0 where it is dropped.
    rows : TrainingRows
        The training rows that count, as the SVM saw them.
    all_rows : array
        All training rows, as the SVM would see them.
    signs : array
        Of all training rows.
    points : array
        The test points, as the SVM sees them.
    positive : bool array
        The labels as the model gives them.
    """

    name: str
    model: Any
    objective: Objective
    stopped: str
    factors: FloatArray
    rows: TrainingRows
    all_rows: FloatArray
    signs: npt.NDArray[np.int8]
    points: FloatArray
    positive: BoolArray

    def optimum_of(self, objective: Objective, numbers: npt.NDArray[np.intp]) -> Optimum:
        """On these of the training rows."""
        return optimum(self.all_rows[numbers], self.signs[numbers], objective)

    @cached_property
    def as_run(self) -> Stage:
        return Stage(self.positive, np.zeros(len(self.positive), dtype=bool))

    @cached_property
    def solved(self) -> Stage:
        """At the optimum of its own objective."""
        return self.as_run.then(self.optimum_of(self.objective, self.rows.numbers), self.points)

    @cached_property
    def freed(self) -> Stage:
        """With an intercept that costs nothing."""
        if self.objective.intercept == "free":
            return self.solved
        return self.solved.then(self.optimum_of(self.objective.with_free_intercept(), self.rows.numbers), self.points)

    @property
    def penalty(self) -> float:
        """The C that its weights stand for: its own, or for ν the one that has the same classifier."""
        best = self.freed.best
        return self.objective.C if best is None else best.penalty


def common_factor(first: FloatArray, second: FloatArray, varies: BoolArray) -> float:
    """The factor that all features of the second have in common beside those of the first: the median of the factors.

    Of an even number of features it is whichever between the two middle ones is nearest to 1, so that the part of C is
    never larger than it must be. Features that one of the two drops do not count, nor do constant ones.

    >>> common_factor(np.ones(3), np.full(3, 10.0), np.ones(3, dtype=bool))
    10.0
    >>> common_factor(np.ones(2), np.array([1.0, 10]), np.ones(2, dtype=bool))
    1.0
    """
    counts = (first > 0) & (second > 0) & varies
    if not counts.any():
        return 1.0
    ratios = np.sort(second[counts] / first[counts])
    low, high = ratios[(len(ratios) - 1) // 2], ratios[len(ratios) // 2]
    return float(min(max(1.0, low), high))


@dataclass(frozen=True, eq=False)
class PairChain:
    """Two models and the stages between them; ``names`` are the causes of the steps from one stage to the next.

    Attributes
    ----------
    first, second : ModelChain
    factor : float
        What all features of the second have in common beside those of the first.
    penalty : float
        The C that stands for the same with the second's features as the first's C does with its own.
    stages : list of (Stage, Stage)
        As run, at the optimum, with a free intercept, with one loss, with one C: of the first and of the second model.
    """

    first: ModelChain
    second: ModelChain
    factor: float
    penalty: float
    stages: list[tuple[Stage, Stage]]

    @classmethod
    def of(cls, first: ModelChain, second: ModelChain, varies: BoolArray) -> PairChain:
        factor = common_factor(first.factors, second.factors, varies)
        penalty = first.penalty / factor**2
        a, b = first.freed, second.freed
        other_loss = _with_loss_of(first, second)
        one_loss = (
            b if other_loss is None else b.then(second.optimum_of(other_loss, second.rows.numbers), second.points)
        )
        one_penalty = _with_penalty_of(first, second, one_loss, penalty)
        stages = [(first.as_run, second.as_run), (first.solved, second.solved), (a, b), (a, one_loss), (a, one_penalty)]
        return cls(first, second, factor, penalty, stages)

    @cached_property
    def differs(self) -> list[BoolArray]:
        """For each stage the points to which the two models give different labels."""
        return [a.positive != b.positive for a, b in self.stages]

    @cached_property
    def cause(self) -> npt.NDArray[np.intp]:
        """For each point the number of its cause in ``CAUSES``; -1 where the labels do not differ."""
        agree = ~np.array(self.differs)
        first_agreement = np.where(agree.any(axis=0), agree.argmax(axis=0) - 1, len(CAUSES) - 1)
        return np.asarray(first_agreement, dtype=np.intp)

    @property
    def hidden(self) -> BoolArray:
        """The points that get one label as run, but two of the margin: errors that happen to cancel."""
        return np.asarray(~self.differs[0] & self.differs[-1])

    def changed_by(self, cause: str) -> tuple[int, int]:
        """Of the labels with this cause, how many the step changes on the side of the first and of the second model."""
        step = CAUSES.index(cause)
        if cause == MARGIN:
            return 0, 0
        rows = self.cause == step
        before, after = self.stages[step], self.stages[step + 1]
        one, two = (int((b.positive != a.positive)[rows].sum()) for b, a in zip(before, after, strict=True))
        return one, two

    @property
    def unclear(self) -> BoolArray:
        """The points at which one of the last two classifiers has a value too near to zero for its sign to be known."""
        a, b = self.stages[-1]
        return np.asarray(a.unclear | b.unclear)

    @property
    def unreached(self) -> list[tuple[str, float]]:
        """The models one of whose optima was not found to full accuracy, with the residual."""
        found: dict[str, float] = {}
        for pair in self.stages:
            for chain, stage in zip((self.first, self.second), pair, strict=True):
                if stage.best is not None and not stage.best.reached:
                    found[chain.name] = max(found.get(chain.name, 0.0), stage.best.residual)
        return list(found.items())

    @property
    def rescalings(self) -> tuple[FloatArray, FloatArray]:
        """The two rescalings of the given features whose SVMs, with the C of the first, are the last stage."""
        return self.first.factors, self.second.factors / self.factor


def _with_loss_of(first: ModelChain, second: ModelChain) -> Objective | None:
    """The second's objective with the loss of the first; None if it is that already (ν is a hinge loss).

    None too if the second has a hard margin: that is a limit of either loss, and a matter of C.
    """
    squared = [chain.objective.loss == "squared hinge" for chain in (first, second)]
    if squared[0] == squared[1] or math.isinf(second.penalty):
        return None
    return Objective("squared hinge" if squared[0] else "hinge", C=second.penalty)


def _with_penalty_of(first: ModelChain, second: ModelChain, before: Stage, penalty: float) -> Stage:
    """The second model with the loss of the first and a C that means the same."""
    loss = first.objective.loss
    if loss == second.objective.loss == "nu":
        wanted = replace(second.objective, nu=first.objective.nu)
    else:
        wanted = Objective("squared hinge" if loss == "squared hinge" else "hinge", C=penalty)
    same_rows = np.array_equal(first.rows.numbers, second.rows.numbers)
    if before.best is not None and same_rows and _same(before.best.objective, wanted):
        return before
    return before.then(second.optimum_of(wanted, first.rows.numbers), second.points)


def _same(one: Objective, other: Objective) -> bool:
    if one.loss != other.loss:
        return False
    return one.nu == other.nu if one.loss == "nu" else math.isclose(one.C, other.C, rel_tol=_SAME_PENALTY)


def every_pair(chains: list[ModelChain], varies: BoolArray, done: Callable[[int], None]) -> list[PairChain]:
    """In the order of the models, each pair once."""
    pairs = []
    for k, first in enumerate(chains):
        for second in chains[k + 1 :]:
            pairs.append(PairChain.of(first, second, varies))
            done(len(pairs))
    return pairs
