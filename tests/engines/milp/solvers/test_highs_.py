"""HiGHS through highspy: careful solves, tiny coefficients, silence."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from rescaleinv.engines.milp import solvers
from rescaleinv.engines.milp.solvers import highs_
from rescaleinv.engines.milp.solvers.model import Model

each_backend = pytest.mark.parametrize("name", ["highs"])


@pytest.fixture(autouse=True, scope="module")
def _ortools_before_pulp():
    """PuLP, imported first, makes MathOpt's HiGHS crash."""
    solvers.backend("ortools")


def cover(least):
    """Two of three items at the least cost, if ``least`` is 2."""
    return Model(
        np.zeros(3), np.ones(3), np.ones(3, dtype=bool), csr_array([[1.0, 1.0, 1.0]]), np.array([least]),
        np.array([np.inf]), np.array([3.0, 1.0, 2.0]),
    )  # fmt: skip


@each_backend
@pytest.mark.parametrize("careful", [False, True])
def test_a_careful_solve_has_the_same_answer(name, careful):
    assert solvers.solve(cover(2.0), name, careful=careful).values.round(6).tolist() == [0, 1, 1]
    assert solvers.solve(cover(4.0), name, careful=careful).status == "infeasible"


@each_backend
@pytest.mark.parametrize("careful", [False, True])
def test_nothing_is_printed(name, careful, capfd):
    tiny = Model(
        np.zeros(2), np.ones(2), np.array([True, False]), csr_array([[1.0, 1e-10]]), np.array([-1.0]), np.ones(1)
    )
    for model in (cover(2.0), cover(4.0), tiny):
        solvers.solve(model, name, careful=careful)
    assert capfd.readouterr() == ("", "")


def test_coefficients_below_a_billionth_are_not_dropped(monkeypatch):
    """x = 1e5 is the least with 1e-10 x >= 1e-5. HiGHS drops coefficients below 1e-9 unless told not to."""
    model = Model(
        np.zeros(1), np.array([1e6]), np.zeros(1, dtype=bool), csr_array([[1e-10]]), np.array([1e-5]),
        np.array([np.inf]), np.ones(1),
    )  # fmt: skip
    assert solvers.solve(model, "highs").values.round(3).tolist() == [1e5]
    monkeypatch.setattr(highs_, "SMALLEST_COEFFICIENT", 1e-9)  # its default
    assert solvers.solve(model, "highs").status == "infeasible"
