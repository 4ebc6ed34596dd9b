"""Solvers in one process, what a bare import loads, and that imports go one way."""

import ast
import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rescaleinv

PACKAGE = Path(rescaleinv.__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", env=ENVIRONMENT, **options
    )


# --- solvers side by side -------------------------------------------------------------------------------------------

SOLVERS = ("cvxpy", "highspy", "ortools.math_opt.python.mathopt", "pulp")
# every solver comes first and last, and every pair in both orders
ORDERS = [order for k, order in enumerate(itertools.permutations(SOLVERS)) if k % 3 == 0]

TINY_PROBLEMS = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import cvxpy, highspy, pulp
from ortools.math_opt.python import mathopt

x = cvxpy.Variable()
for solver in (cvxpy.CLARABEL, cvxpy.HIGHS):
    cvxpy.Problem(cvxpy.Minimize((x - 3) ** 2), [x <= 2]).solve(solver=solver)
    assert abs(x.value - 2) < 1e-4, (solver, x.value)

h = highspy.Highs()
h.silent()
v = h.addIntegral(lb=0, ub=10)
h.addConstr(2 * v <= 5)
h.maximize(v)
assert h.getObjectiveValue() == 2

for solver in (mathopt.SolverType.GSCIP, mathopt.SolverType.HIGHS):
    model = mathopt.Model()
    z = model.add_integer_variable(lb=0, ub=10)
    model.add_linear_constraint(2 * z <= 5)
    model.maximize(z)
    assert round(mathopt.solve(model, solver).objective_value(), 6) == 2

problem = pulp.LpProblem("tiny", pulp.LpMaximize)
p = pulp.LpVariable("p", 0, 10, cat="Integer")
problem += p
problem += 2 * p <= 5
problem.solve(pulp.PULP_CBC_CMD(msg=False))
assert p.value() == 2
print("all solved")
"""


def test_orders_are_various():
    assert len(ORDERS) >= 6
    assert {order[0] for order in ORDERS} == {order[-1] for order in ORDERS} == set(SOLVERS)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(name.split(".")[0] for name in order))
def test_all_solvers_work_in_one_process_whatever_the_order_of_imports(order):
    """Two of them bring a libhighs of their own, and a third one loads it; see the bounds in pyproject.toml."""
    result = run("-c", TINY_PROBLEMS, *order)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "all solved"


# --- what a bare import loads ---------------------------------------------------------------------------------------

LOADED = """
import json, runpy, sys
before = set(sys.modules)  # whatever the environment itself loads at the start
try:
    {code}
except SystemExit as end:
    assert not end.code, end.code
sys.stdout = sys.__stdout__
print("\\n" + json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""

LIGHT = {
    "import": "import rescaleinv",
    "import and look": "import rescaleinv; dir(rescaleinv); rescaleinv.__version__; rescaleinv.__all__",
    "errors": "import rescaleinv; rescaleinv.RescaleInvError",
    "--help": "sys.argv = ['rescaleinv', '--help']; runpy.run_module('rescaleinv', run_name='__main__')",
    "--version": "sys.argv = ['rescaleinv', '--version']; runpy.run_module('rescaleinv', run_name='__main__')",
    "verify --help": "sys.argv = ['rescaleinv', 'verify', '--help']; runpy.run_module('rescaleinv', run_name='__main__')",
    "verify alone": "sys.argv = ['v', '--help']; runpy.run_module('rescaleinv.verify', run_name='__main__')",
}


def loaded_by(code):
    result = run("-c", LOADED.format(code=code))
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout.splitlines()[-1]))


@pytest.mark.parametrize("code", LIGHT.values(), ids=LIGHT)
def test_only_the_standard_library_is_loaded(code):
    loaded = loaded_by(code)
    assert not loaded - sys.stdlib_module_names - {"rescaleinv"}


# what the rooms that stand for themselves may know of the rest: what data looks like, and no more
CHECKS_OF_DATA = {"errors", "_util.compiled", "_util.types", "theory.inputs", "theory.validation"}


@pytest.mark.parametrize("room", ["selection", "online"])
def test_selection_and_online_import_checks_of_data_only(room):
    paths = sorted((PACKAGE / room).glob("*.py"))
    found = {module for path in paths for module in imported_modules(path.read_text(encoding="utf-8"), path)}
    outside = {module for module in found if not module.startswith(room)}
    assert outside
    assert outside <= CHECKS_OF_DATA


@pytest.mark.parametrize("room", ["selection", "online"])
def test_selection_and_online_load_no_engine_and_no_solver(room):
    code = (
        f"import rescaleinv.{room}; assert not [name for name in sys.modules if name.startswith('rescaleinv.engines')]"
    )
    assert not loaded_by(code) & {"cvxpy", "highspy", "ortools", "pulp"}


def test_the_check_sees_what_is_loaded():
    assert "numpy" in loaded_by("import rescaleinv; rescaleinv.TrainingSet")


@pytest.mark.parametrize("isolation", [["-I"], ["-I", "-S"]], ids=" ".join)
def test_the_checker_runs_as_a_single_file_anywhere(tmp_path, isolation):
    training_set = rescaleinv.TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    certificate = rescaleinv.neutral_certificate(training_set, [-1, 4], [1, 1], [5, 1])
    certificate.save(tmp_path / "good.json")
    text = certificate.to_json()
    (tmp_path / "bad.json").write_text(text.replace('"point":["-1","4"]', '"point":["-1","5"]'), encoding="utf-8")
    shutil.copy(PACKAGE / "verify.py", tmp_path / "checker.py")
    good = run(*isolation, "checker.py", "good.json", cwd=tmp_path)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("good.json: proved: neutral; point (-1, 4) ")
    bad = run(*isolation, "checker.py", "bad.json", cwd=tmp_path)
    assert bad.returncode == 1
    assert bad.stdout.startswith("bad.json: REFUSED: ")


# --- the public names -----------------------------------------------------------------------------------------------


def test_every_public_name_resolves():
    assert len(rescaleinv.__all__) == len(set(rescaleinv.__all__))
    for name in rescaleinv.__all__:
        value = getattr(rescaleinv, name)
        if name != "__version__":
            assert value.__module__.startswith("rescaleinv.")
            assert value.__name__ == name
            assert value.__doc__
            assert value.__module__.rpartition(".")[2] != name  # no function has the name of its module


def test_dir_lists_the_public_names_before_they_are_loaded():
    code = "import rescaleinv; assert set(rescaleinv.__all__) <= set(dir(rescaleinv)); print('fine')"
    assert run("-c", code).stdout == "fine\n"


def test_star_import_gives_the_public_names():
    code = (
        "from rescaleinv import *; import rescaleinv; assert set(rescaleinv.__all__) <= set(globals()); print('fine')"
    )
    assert run("-c", code).stdout == "fine\n"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'rescaleinv' has no attribute 'RescaleVariantSVC'"):
        _ = rescaleinv.RescaleVariantSVC


def test_type_checkers_see_every_public_name():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        (alias.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rescaleinv.")
        for alias in node.names
    }
    assert seen == {(name, f"rescaleinv.{home}") for name, home in rescaleinv._HOMES.items()}


# --- imports go one way ---------------------------------------------------------------------------------------------

# From the ground up. A module (or a package, as a whole) imports from lower floors only; function-level imports count.
FLOORS = (
    {"errors"},
    {"_util", "datasets"},
    {"theory"},
    {"certificates", "selection", "online"},
    {"verdict", "scaling"},
    {"engines", "metrics"},
    {"estimators"},
    {"batch", "plotting"},
    {"audit"},
    {"cli"},
)
LEVEL = {name: level for level, names in enumerate((*FLOORS, {"__main__"})) for name in names}
# It is to be believed when the rest is not. Who gives out a certificate may still look whether it holds.
ALONE = "verify"
# Verdicts know the engine that gave them. The name is for type checkers: nothing is imported when the program runs.
ONLY_FOR_TYPES = {("verdict", "engines")}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def floor_of(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_modules(source, path):
    """What a module imports of the package, at the top or inside functions, by whichever way of writing it.

    A room's own modules are told apart ("theory.inputs"), whatever lies deeper is not.
    """
    package = ("rescaleinv", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            home = ".".join([*base, *([node.module] if node.module else [])])
            targets = [f"{home}.{alias.name}" for alias in node.names]
        else:
            continue
        for parts in (target.split(".") for target in targets):
            if parts[0] == "rescaleinv" and len(parts) > 1 and parts[1] != "__version__":
                found = [*rescaleinv._HOMES.get(parts[1], parts[1]).split("."), *parts[2:]]
                yield found[0] if (PACKAGE / f"{found[0]}.py").exists() else ".".join(found[:2])


def without_type_checking(source):
    """The source without its blocks ``if TYPE_CHECKING``."""
    tree = ast.parse(source)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    ]
    return ast.unparse(tree)


def imported_floors(source, path):
    """The rooms, or single modules, that a module imports."""
    return (module.split(".")[0] for module in imported_modules(source, path))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    here = floor_of(path)
    source = path.read_text(encoding="utf-8")
    found = set(imported_floors(source, path)) - {here}
    at_run_time = set(imported_floors(without_type_checking(source), path))
    found -= {other for other in found - at_run_time if (here, other) in ONLY_FOR_TYPES}
    if here == ALONE:
        assert not found, f"{ALONE} imports {found}, but it must stand alone"
        return
    assert here in LEVEL, f"{here} has no floor yet: add it to FLOORS, where it belongs"
    for other in found - {ALONE}:
        assert other in LEVEL, f"{here} imports {other}, which has no floor"
        assert LEVEL[other] < LEVEL[here], f"{here} imports {other}, which is not below it"
    if here in ("scaling", "selection", "online"):
        assert "engines" not in found
    if here == "scaling":  # transformers that stand for themselves: they know what data looks like, and no more
        assert found <= {"errors", "_util", "theory", "selection"}


def test_the_package_itself_imports_nothing_of_its_own_when_it_is_loaded():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {
        node.module.partition(".")[0] for node in top if isinstance(node, ast.ImportFrom)
    } <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("source", "floors"),
    [
        ("import rescaleinv.engines.complex.engine", {"engines"}),
        ("import rescaleinv", set()),
        ("def f():\n    from rescaleinv.theory.svm import minimal_norm_svm", {"theory"}),
        ("from rescaleinv import engines, TrainingSet, __version__", {"engines", "theory"}),
        ("from . import choice\nfrom ..theory import x\nfrom .. import cli", {"engines", "theory", "cli"}),
        ("import numpy, json\nfrom scipy.optimize import linprog", set()),
    ],
)
def test_every_way_of_importing_is_seen(source, floors):
    assert set(imported_floors(source, PACKAGE / "engines" / "made_up.py")) == floors
