"""The search for a classifier that gives a point its other label: solver and exact arithmetic take turns.

The solver proposes a set of tight rows and a sign vector; exact arithmetic confirms them, or gives a clause that rules
them out, until there is a witness or the solver finds nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from rescaleinv._util.types import FloatArray
from rescaleinv.engines.milp import solvers
from rescaleinv.engines.milp.faces import Face, Lowest, attained_tie, lowest
from rescaleinv.engines.milp.relaxation import Candidate, Clause, Relaxation
from rescaleinv.errors import MissingSolverError
from rescaleinv.theory.optimality import probe_closed_cell
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict

# Calibrated on near ties (benchmarks/near_ties.py): above this gap between the values of a feature, as a share of its range,
# no backend gave a wrong verdict.
SMALLEST_GAP = 1e-7


@dataclass(frozen=True)
class Classifier:
    """A classifier in the closure of RO(X), exact. ``rescale_optimal`` where it is known to be in RO(X) itself."""

    weights: list[Fraction]
    intercept: Fraction
    rescale_optimal: bool

    def value(self, point: list[Fraction]) -> Fraction:
        return sum((w * x for w, x in zip(self.weights, point, strict=True)), self.intercept)

    def labels(self, point: list[Fraction], side: int) -> bool:
        """Does some rescaling label the point +1 (side 1) or -1 as this classifier does? (f >= 0 is positive.)"""
        value = self.value(point)
        return value < 0 if side < 0 else value > 0 or (value == 0 and self.rescale_optimal)


@dataclass
class Outcome:
    """The verdict of one point, and what was learnt on the way that holds for every point."""

    code: Verdict
    reason: str = ""
    classifiers: list[Classifier] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)


def unknown(reason: str, clauses: Iterable[Clause] = ()) -> Outcome:
    return Outcome(Verdict.UNKNOWN, reason, clauses=list(clauses))


@dataclass
class Examined:
    """What the exact check of a candidate gave: a witness, or clauses of which one rules the candidate out."""

    classifier: Classifier | None = None
    learnt: list[Clause] = field(default_factory=list)
    own: list[Clause] = field(default_factory=list)
    settled: bool = False  # every classifier of C(X) is on the point's side
    ruled_out: bool = False
    problem: str = "a candidate of the solver could neither be confirmed nor ruled out"


@dataclass(frozen=True)
class Search:
    """Everything needed to decide a point; it is sent to other processes."""

    training_set: TrainingSet
    solver: str
    time_limit: float | None
    clauses: tuple[Clause, ...]

    @cached_property
    def relaxation(self) -> Relaxation:
        return Relaxation(self.training_set)

    def decide(self, point: FloatArray, side: int) -> Outcome:
        """Look for a classifier that gives the point the other label than ``side``, the one that it is known to have."""
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        exact_point = [Fraction(x) for x in point.tolist()]
        learnt: list[Clause] = []  # hold for every point
        own: list[Clause] = []  # hold for this point
        while True:
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                return unknown(f"the time limit of {self.time_limit:g} s was reached", learnt)
            model = self.relaxation.question(point, side, [*self.clauses, *learnt, *own])
            answer = solvers.solve(model, self.solver, time_limit=remaining)
            if answer.status == "infeasible":  # believed only if it repeats
                remaining = None if deadline is None else max(deadline - time.monotonic(), 1e-3)
                answer = solvers.solve(model, self.solver, time_limit=remaining, careful=True)
            if answer.status == "infeasible":
                return self._strong(point, side, learnt)
            if answer.status == "limit":
                return unknown(f"the time limit of {self.time_limit:g} s was reached", learnt)
            if answer.values is None:
                return unknown(f"the solver {self.solver!r} failed: {answer.message}", learnt)
            candidate = self.relaxation.candidate(answer.values)
            examined = self._examine(candidate, exact_point, side)
            learnt += examined.learnt
            own += examined.own
            if examined.classifier is not None:
                return Outcome(Verdict.NEUTRAL, classifiers=[examined.classifier], clauses=learnt)
            if examined.settled:
                return Outcome(Verdict(side), clauses=learnt)
            if not examined.ruled_out:
                return unknown(examined.problem, learnt)

    def _strong(self, point: FloatArray, side: int, learnt: list[Clause]) -> Outcome:
        """The verdict where the solver finds nothing more, unless the data are too close to a tie for a float solver."""
        gap = self.relaxation.smallest_gap(point)
        if gap < SMALLEST_GAP:
            return unknown(
                f"two values of a feature differ by {gap:.1e} of its range; below {SMALLEST_GAP:.0e} the claim of a float "
                "solver that nothing more exists can't be trusted",
                learnt,
            )
        return Outcome(Verdict(side), clauses=learnt)

    def _examine(self, candidate: Candidate, point: list[Fraction], side: int) -> Examined:
        """Decide a candidate exactly, first as its values have it, then as its binaries do: the second can be ruled out."""
        found = Examined()
        for tight, signs in candidate.readings():
            remaining = list(signs)
            while any(remaining):
                test = probe_closed_cell(self.training_set, tight, remaining)
                if test.multipliers is not None:
                    face = Face.of(self.training_set, test.multipliers)
                    self._examine_face(face, point, side, found)
                    break
                clause, about = self.relaxation.refuted(test, remaining)
                found.learnt.append(clause)
                # without these features there may be another proof, or a face that is real
                remaining = [0 if j in about else s for j, s in enumerate(remaining)]
            if found.classifier is not None or found.settled:
                break
            if any(clause.rules_out(candidate.values) for clause in [*found.learnt, *found.own]):
                found.ruled_out = True
                break
        return found

    def _examine_face(self, face: Face, point: list[Fraction], side: int, found: Examined) -> None:
        bottom = lowest(self.training_set, face, point, side)
        if bottom is None:  # the candidate was within the solver's tolerances only
            found.own.append(self._without_face(face))
        elif bottom.value < 0:
            found.classifier = Classifier(bottom.weights, bottom.intercept, False)
        elif bottom.value > 0 or side > 0:
            clause = self._bounded(bottom)
            found.own.append(clause)
            found.settled = not clause.on and not clause.off
        else:  # f = 0 is positive, but only on RO(X) itself does it count
            tie = attained_tie(self.training_set, face, bottom)
            if tie.classifier is not None:
                found.classifier = Classifier(*tie.classifier, True)
            elif tie.decided:
                found.own.append(self._without_face(face))
            else:
                found.problem = "the decision value reaches 0, and whether a rescaling attains it was not decided"

    def _without_face(self, face: Face) -> Clause:
        """No classifier of the face is a witness: some row is not tight, or some weight has another sign."""
        allowed = {1: (0, -1), -1: (0, 1)}
        forbidden = (
            self.relaxation.signed(j, d) for d, no in allowed.items() for j, s in enumerate(face.signs) if s in no
        )
        return Clause(frozenset(forbidden), frozenset(self.relaxation.tight(i) for i in face.tight))

    def _bounded(self, bottom: Lowest) -> Clause:
        """The same for every classifier to which the proof of the face's least value applies, which may be many more."""
        forbidden = (self.relaxation.signed(j, -1 if v > 0 else 1) for j, v in enumerate(bottom.weight_prices) if v)
        tight = (self.relaxation.tight(i) for i, u in enumerate(bottom.row_prices) if u < 0)
        return Clause(frozenset(forbidden), frozenset(tight))


def decide(search: Search, point: FloatArray, side: int) -> Outcome:
    """Decide one point, in any process; whatever goes wrong affects this point alone."""
    try:
        return search.decide(point, side)
    except MissingSolverError:
        raise
    except Exception as error:  # one point must not lose the others
        return unknown(f"{type(error).__name__}: {error}")
