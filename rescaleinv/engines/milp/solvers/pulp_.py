"""CBC through PuLP, which runs it as a program of its own and talks to it by files."""

from __future__ import annotations

import contextlib
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from rescaleinv.engines.milp.solvers.model import Answer, Model, Solve, feasibility_tolerance
from rescaleinv.errors import MissingSolverError


def package() -> Any:
    with contextlib.suppress(ImportError):  # before PuLP, for the sake of 'ortools:highs': see there
        import_module("ortools.math_opt.python.mathopt")
    try:
        import pulp
    except ImportError as error:
        raise MissingSolverError(f"the solver 'pulp' needs the package PuLP (pip install pulp): {error}") from error
    return pulp


def _as_pulp(pulp: Any, model: Model) -> tuple[Any, list[Any]]:
    problem = pulp.LpProblem("model", pulp.LpMinimize)
    variables = []
    for k in range(model.n_variables):
        low, high = (None if np.isinf(v) else float(v) for v in (model.lower[k], model.upper[k]))
        variables.append(pulp.LpVariable(f"x{k}", low, high, pulp.LpInteger if model.integer[k] else pulp.LpContinuous))
    cost = np.zeros(model.n_variables) if model.cost is None else model.cost
    problem += pulp.LpAffineExpression(zip(variables, cost.tolist(), strict=True))
    starts, columns, values = model.matrix.indptr, model.matrix.indices.tolist(), model.matrix.data.tolist()
    for i, (low, high) in enumerate(zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)):
        terms = [(variables[columns[k]], values[k]) for k in range(starts[i], starts[i + 1])]
        # PuLP has no rows with two bounds
        sides = (
            [(pulp.LpConstraintEQ, low)] if low == high else [(pulp.LpConstraintGE, low), (pulp.LpConstraintLE, high)]
        )
        for sense, bound in sides:
            if np.isfinite(bound):
                problem += pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, rhs=bound)
    return problem, variables


def solve(model: Model, time_limit: float | None, threads: int, seed: int, careful: bool = False) -> Answer:
    pulp = package()
    tolerance = feasibility_tolerance(careful)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PuLP's notes on its own next version
        problem, variables = _as_pulp(pulp, model)
        options = [f"randomSeed {seed}", f"randomCbcSeed {seed}", f"primalTolerance {tolerance}"]
        options.append(f"integerTolerance {tolerance}")
        if careful:
            options += ["presolve off", "preprocess off"]
        solver = pulp.PULP_CBC_CMD(msg=False, threads=threads, timeLimit=time_limit, gapRel=0, options=options)
        problem.solve(solver)
    if problem.status == pulp.LpStatusInfeasible:
        return Answer("infeasible")
    if problem.status == pulp.LpStatusOptimal:
        values = np.array([variable.varValue or 0.0 for variable in variables])
        return Answer("optimal" if problem.sol_status == pulp.LpSolutionOptimal else "feasible", values)
    if problem.status == pulp.LpStatusNotSolved and time_limit is not None:
        return Answer("limit", message="CBC reached its time limit")
    return Answer("failed", message=f"CBC stopped with the status {pulp.LpStatus[problem.status]!r}")


def load() -> Solve:
    package()
    return solve
