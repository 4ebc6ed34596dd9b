"""HiGHS by its own Python package, highspy."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescaleinv.engines.milp.solvers.model import SMALLEST_COEFFICIENT, Answer, Model, Solve, feasibility_tolerance
from rescaleinv.errors import MissingSolverError


def package() -> Any:
    try:
        import highspy
    except ImportError as error:
        raise MissingSolverError(
            f"the solver 'highs' needs the package highspy (pip install 'highspy<1.15'): {error}"
        ) from error
    return highspy


def _as_lp(highspy: Any, model: Model) -> Any:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_variables, model.matrix.shape[0]
    lp.col_cost_ = np.zeros(model.n_variables) if model.cost is None else model.cost
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.matrix.indptr
    lp.a_matrix_.index_ = model.matrix.indices
    lp.a_matrix_.value_ = model.matrix.data
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[int(flag)] for flag in model.integer]
    return lp


def solve(model: Model, time_limit: float | None, threads: int, seed: int, careful: bool = False) -> Answer:
    highspy = package()
    tolerance = feasibility_tolerance(careful)
    solver = highspy.Highs()
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": threads,
        "random_seed": seed,
        "mip_rel_gap": 0.0,  # the default stops at 1e-4
        "mip_abs_gap": tolerance,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": tolerance,
        "small_matrix_value": SMALLEST_COEFFICIENT,
    }
    if careful:
        options["presolve"] = "off"
    if time_limit is not None:
        options["time_limit"] = time_limit
    for name, value in options.items():
        solver.setOptionValue(name, value)
    if solver.passModel(_as_lp(highspy, model)) == highspy.HighsStatus.kError:
        return Answer("failed", message="HiGHS did not accept the model")
    solver.run()
    status = solver.getModelStatus()
    kinds = highspy.HighsModelStatus
    if status == kinds.kInfeasible or (status == kinds.kUnboundedOrInfeasible and model.is_bounded):
        return Answer("infeasible")
    if solver.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = np.array(solver.getSolution().col_value)
        return Answer("optimal" if status == kinds.kOptimal else "feasible", values)
    if status == kinds.kTimeLimit:
        return Answer("limit", message="HiGHS reached its time limit")
    return Answer("failed", message=f"HiGHS stopped with the status {solver.modelStatusToString(status)!r}")


def load() -> Solve:
    package()
    return solve
