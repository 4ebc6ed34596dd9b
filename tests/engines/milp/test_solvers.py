"""The MILP backends: they agree on small models, keep silent, and fail by saying so."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import rescaleinv
from rescaleinv.engines.milp import solvers
from rescaleinv.engines.milp.solvers.model import Answer, Model, RowBuilder, checked
from rescaleinv.errors import InputError, MissingSolverError

NAMES = tuple(solvers.BACKENDS)
each_backend = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True, scope="module")
def _ortools_before_pulp():
    """PuLP, imported first, makes MathOpt's HiGHS crash."""
    solvers.backend("ortools")


def knapsack(cost=(-5.0, -4.0, -3.0), room=5.0):
    """Items of weight 2, 3, 1: the best is the first two (value 9)."""
    return Model(
        np.zeros(3), np.ones(3), np.ones(3, dtype=bool), csr_array([[2.0, 3.0, 1.0]]), np.array([-np.inf]),
        np.array([room]), None if cost is None else np.array(cost),
    )  # fmt: skip


def market_split(n_rows=5, n_columns=40, seed=0):
    """Equalities over binaries that no branch and bound settles in any time that a test can give."""
    matrix = np.random.default_rng(seed).integers(0, 100, (n_rows, n_columns)).astype(float)
    half = matrix.sum(axis=1) // 2
    return Model(np.zeros(n_columns), np.ones(n_columns), np.ones(n_columns, dtype=bool), csr_array(matrix), half, half)


@each_backend
def test_optimum_with_integers(name):
    answer = solvers.solve(knapsack(), name)
    assert answer.status == "optimal"
    assert np.round(answer.values, 6).tolist() == [1, 1, 0]


@each_backend
def test_rows_with_two_bounds_equalities_and_free_variables(name):
    """min x + 2y + k: 2 <= x + y <= 3, y - k = 0.5, k integer, x free below 1."""
    builder = RowBuilder(3)
    builder.add([0, 1], [1.0, 1.0], 2.0, 3.0)
    builder.add([1, 2], [1.0, -1.0], 0.5, 0.5)
    model = Model(
        np.array([-np.inf, -np.inf, 0.0]),
        np.array([1.0, np.inf, np.inf]),
        np.array([False, False, True]),
        *builder.build(),
        cost=np.array([1.0, 2.0, 1.0]),
    )
    answer = solvers.solve(model, name)
    assert answer.status == "optimal"
    assert answer.values == pytest.approx([0.5, 1.5, 1.0], abs=1e-6)


@each_backend
def test_question_of_feasibility(name):
    answer = solvers.solve(knapsack(cost=None), name)
    assert answer.found
    assert knapsack().violation(answer.values) < 1e-6
    assert solvers.solve(knapsack(cost=None, room=-1.0), name) == Answer("infeasible")


@each_backend
def test_time_limit_is_neither_an_answer_nor_a_failure(name):
    answer = solvers.solve(market_split(), name, time_limit=0.05)
    assert (answer.status, answer.values) == ("limit", None)
    assert "time limit" in answer.message


@each_backend
def test_nothing_is_printed(name, capfd):
    for model in (knapsack(), knapsack(room=-1.0)):
        solvers.solve(model, name)
    solvers.solve(market_split(), name, time_limit=0.05)
    assert capfd.readouterr() == ("", "")


@each_backend
def test_the_same_model_has_the_same_answer(name):
    first, second = (solvers.solve(market_split(2, 12, seed=3), name) for _ in range(2))
    assert first.status == second.status
    assert (first.values is None) or (first.values == second.values).all()


def with_coefficient(value):
    """value·x >= 0.5 for x in [0, 1]."""
    matrix = csr_array([[value]])
    return Model(np.zeros(1), np.ones(1), np.zeros(1, dtype=bool), matrix, np.array([0.5]), np.array([np.inf]))


@each_backend
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_a_number_is_a_failure(name, value):
    """HiGHS would call it infeasible, which is a verdict."""
    answer = solvers.solve(with_coefficient(value), name)
    assert (answer.status, answer.values) == ("failed", None)
    assert "not a number" in answer.message


@pytest.mark.parametrize("name", ["ortools", "ortools:highs"])
def test_mathopts_refusals_are_failures_with_its_own_reason(name):
    """They surface as an AttributeError about ``canonical_code``."""
    answer = solvers.backend(name)(with_coefficient(np.nan), None, 1, 0)
    assert answer.status == "failed"
    assert "refused" in answer.message
    assert "canonical_code" not in answer.message


def stand_in(monkeypatch, behaviour):
    monkeypatch.setitem(solvers.BACKENDS, "stand-in", lambda: behaviour)


def test_an_exception_is_a_failure(monkeypatch):
    def behaviour(*_):
        raise ZeroDivisionError("inside the solver")

    stand_in(monkeypatch, behaviour)
    assert solvers.solve(knapsack(), "stand-in") == Answer("failed", message="ZeroDivisionError: inside the solver")


@pytest.mark.parametrize(
    ("values", "missed"),
    [
        ([1.0, 1.0, 1.0], "by 3.3e-01"),  # the row, by 1 of 3
        ([0.5, 0.0, 0.0], "by 5.0e-01"),  # an integer
        ([-0.1, 0.0, 0.0], "by 1.0e-01"),  # a bound
        ([np.nan, 0.0, 0.0], "by inf"),
        ([1.0, 1.0], "by inf"),
    ],
)
def test_a_wrong_solution_is_a_failure(monkeypatch, values, missed):
    stand_in(monkeypatch, lambda *_: Answer("optimal", np.array(values)))
    answer = solvers.solve(knapsack(), "stand-in")
    assert (answer.status, answer.values) == ("failed", None)
    assert answer.message.endswith(missed)


def test_a_solution_that_is_promised_and_not_given_is_a_failure():
    assert checked(knapsack(), Answer("optimal")).status == "failed"
    assert checked(knapsack(), Answer("infeasible")).status == "infeasible"


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match="'cplex' is not known; there are 'highs', 'ortools', 'ortools:highs', 'pulp'"):
        solvers.solve(knapsack(), "cplex")


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("highs", "highspy", "highspy"),
        ("ortools", "ortools.math_opt.python", "ortools"),
        ("ortools:highs", "ortools.math_opt.python", "ortools"),
        ("pulp", "pulp", "PuLP"),
    ],
)
def test_missing_package(monkeypatch, name, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingSolverError, match=f"needs the package {package} .pip install"):
        solvers.backend(name)


GUARDED = """
import pulp
from rescaleinv import solvers
from rescaleinv.errors import SolverError
try:
    solvers.backend("ortools:highs")
except SolverError as error:
    print("refused:", error)
"""

IN_GOOD_ORDER = """
import numpy as np
from scipy.sparse import csr_array
from rescaleinv import solvers
from rescaleinv.solvers import Model
model = Model(np.zeros(1), np.ones(1), np.ones(1, bool), csr_array([[1.0]]), np.array([0.5]), np.array([np.inf]))
for name in ("pulp", "ortools:highs", "highs", "ortools"):
    print(name, solvers.solve(model, name).values)
"""


@pytest.mark.parametrize(("program", "shown"), [(GUARDED, "refused:"), (IN_GOOD_ORDER, "ortools [1.]")])
def test_pulp_does_not_make_the_other_highs_crash(program, shown):
    home = str(Path(rescaleinv.__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=home)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
