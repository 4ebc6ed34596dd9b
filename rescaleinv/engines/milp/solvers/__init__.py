"""Mixed-integer solvers behind one function; each is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from rescaleinv.engines.milp.solvers.model import Answer, Model, Solve, checked
from rescaleinv.errors import InputError, MissingSolverError

__all__ = ["BACKENDS", "Answer", "Model", "backend", "solve"]


def _lazy(module: str, loader: str = "load") -> Callable[[], Solve]:
    def load() -> Solve:
        found: Solve = getattr(import_module(f"{__name__}.{module}"), loader)()
        return found

    return load


# name -> what imports the package and gives the function that solves
BACKENDS: dict[str, Callable[[], Solve]] = {
    "highs": _lazy("highs_"),
    "ortools": _lazy("ortools_", "load_scip"),
    "ortools:highs": _lazy("ortools_", "load_highs"),
    "pulp": _lazy("pulp_"),
}


def backend(name: str) -> Solve:
    """The function of a backend; ``MissingSolverError`` where its package is not installed."""
    if not isinstance(name, str) or name not in BACKENDS:
        raise InputError(f"the solver {name!r} is not known; there are {', '.join(map(repr, BACKENDS))}")
    return BACKENDS[name]()


def solve(
    model: Model,
    name: str = "highs",
    *,
    time_limit: float | None = None,
    threads: int = 1,
    seed: int = 0,
    careful: bool = False,
) -> Answer:
    """Solve a model with the backend of that name. Whatever goes wrong inside is an ``Answer`` with the status "failed".

    A solution is checked against the model in floats before it is returned. One thread makes it deterministic. A
    ``careful`` solve does without presolve and has looser tolerances: slower, and less likely to miss a solution.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> model = Model(np.zeros(2), np.full(2, 9.0), np.array([True, False]), csr_array([[1.0, 1.0]]), np.array([2.5]),
    ...               np.array([np.inf]), cost=np.array([1.0, 3.0]))
    >>> solve(model).values.round(6)
    array([3., 0.])
    """
    run = backend(name)
    if not model.is_numeric:  # HiGHS calls it infeasible
        return Answer("failed", message="the model has a coefficient or a bound that is not a number")
    try:
        return checked(model, run(model, time_limit, threads, seed, careful))
    except MissingSolverError:
        raise
    except Exception as error:  # whatever a solver raises must not stop a batch
        return Answer("failed", message=f"{type(error).__name__}: {error}")
