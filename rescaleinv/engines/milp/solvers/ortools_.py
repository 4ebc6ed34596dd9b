"""SCIP, or HiGHS, through OR-Tools' MathOpt."""

from __future__ import annotations

import datetime
import sys
from functools import partial
from typing import Any

import numpy as np

from rescaleinv.engines.milp.solvers.model import Answer, Model, Solve, feasibility_tolerance
from rescaleinv.errors import MissingSolverError, SolverError


def package() -> Any:
    try:
        from ortools.math_opt.python import mathopt
    except ImportError as error:
        raise MissingSolverError(
            f"the solver 'ortools' needs the package ortools (pip install ortools): {error}"
        ) from error
    return mathopt


def _as_mathopt(mathopt: Any, model: Model) -> tuple[Any, list[Any]]:
    problem = mathopt.Model()
    bounds = zip(model.lower.tolist(), model.upper.tolist(), model.integer.tolist(), strict=True)
    variables = [problem.add_variable(lb=low, ub=high, is_integer=whole) for low, high, whole in bounds]
    starts, columns, values = model.matrix.indptr, model.matrix.indices.tolist(), model.matrix.data.tolist()
    for i, (low, high) in enumerate(zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)):
        row = problem.add_linear_constraint(lb=low, ub=high)
        for k in range(starts[i], starts[i + 1]):
            row.set_coefficient(variables[columns[k]], values[k])
    if model.cost is not None:
        for variable, cost in zip(variables, model.cost.tolist(), strict=True):
            problem.objective.set_linear_coefficient(variable, cost)
    return problem, variables


def _parameters(mathopt: Any, solver: str, time_limit: float | None, threads: int, seed: int, careful: bool) -> Any:
    tolerance = feasibility_tolerance(careful)
    parameters = mathopt.SolveParameters(random_seed=seed, relative_gap_tolerance=0.0)
    if careful or solver == "highs":  # a solution that HiGHS mends after presolving comes with a line on stdout
        parameters.presolve = mathopt.Emphasis.OFF
    if time_limit is not None:
        parameters.time_limit = datetime.timedelta(seconds=time_limit)
    if solver == "scip":
        parameters.threads = threads
        parameters.gscip.real_params["numerics/feastol"] = tolerance
    else:
        parameters.highs.int_options["threads"] = threads  # MathOpt refuses its own parameter for HiGHS
        for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance"):
            parameters.highs.double_options[name] = tolerance
        for name in ("output_flag", "log_to_console"):  # MathOpt's own switch leaves some lines of HiGHS
            parameters.highs.bool_options[name] = False
    return parameters


def _solve(
    solver: str, model: Model, time_limit: float | None, threads: int, seed: int, careful: bool = False
) -> Answer:
    mathopt = package()
    problem, variables = _as_mathopt(mathopt, model)
    kind = mathopt.SolverType.GSCIP if solver == "scip" else mathopt.SolverType.HIGHS
    parameters = _parameters(mathopt, solver, time_limit, threads, seed, careful)
    try:
        result = mathopt.solve(problem, kind, params=parameters)
    except AttributeError as error:  # how MathOpt's refusals surface: a mistake in its own handling of the refusal
        return Answer("failed", message=f"MathOpt refused the model or a parameter: {error.__context__ or error}")
    reasons = mathopt.TerminationReason
    reason = result.termination.reason
    if reason == reasons.INFEASIBLE or (reason == reasons.INFEASIBLE_OR_UNBOUNDED and model.is_bounded):
        return Answer("infeasible")
    if reason in (reasons.OPTIMAL, reasons.FEASIBLE) and result.solutions:
        values = np.array(result.variable_values(variables), dtype=float)
        return Answer("optimal" if reason == reasons.OPTIMAL else "feasible", values)
    if reason == reasons.NO_SOLUTION_FOUND and result.termination.limit == mathopt.Limit.TIME:
        return Answer("limit", message=f"{solver} reached its time limit")
    detail = result.termination.detail or reason.name.lower()
    return Answer("failed", message=f"{solver} (by MathOpt) stopped without an answer: {detail}")


def load_scip() -> Solve:
    package()
    return partial(_solve, "scip")


def load_highs() -> Solve:
    """HiGHS as OR-Tools brings it. After PuLP, which opens another copy's symbols to all, it would crash the process."""
    package()
    modules = list(sys.modules)
    if "pulp" in modules and modules.index("pulp") < modules.index("ortools.math_opt.python.mathopt"):
        raise SolverError(
            "the solver 'ortools:highs' can't be used once PuLP is imported; import ortools.math_opt.python.mathopt before "
            "pulp, or use 'highs' or 'ortools'"
        )
    return partial(_solve, "highs")
