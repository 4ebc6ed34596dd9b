"""The caps of the solvers' versions: each says why it is there, and its test says when it can be lifted."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from test_imports import ORDERS, TINY_PROBLEMS, run

ROOT = Path(__file__).parent.parent
CAPS = {
    "ortools": "9.16",  # the next one may bring another HiGHS
    "pulp": "3.3.1",  # loads the library of highspy with RTLD_GLOBAL, and OR-Tools then crashes
    "highspy": "1.15",  # has a libhighs.so.1 of its own, as OR-Tools 9.15 has, and both can't be in one process
}


def requirements():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {found.name: found for found in map(Requirement, project["dependencies"])}


@pytest.mark.parametrize("package", CAPS)
def test_the_cap_is_needed(package):
    """To try a newer one: install it and run this test, which then says whether the cap can be lifted."""
    specifier = requirements()[package].specifier
    assert not specifier.contains(CAPS[package]), f"the cap of {package} is gone: take it out of CAPS"
    assert specifier.contains(Version(version(package)).public) or Version(version(package)) >= Version(CAPS[package])
    if Version(version(package)) < Version(CAPS[package]):
        return
    results = [run("-c", TINY_PROBLEMS, *order) for order in ORDERS]
    failed = [result for result in results if result.returncode != 0]
    assert failed, f"{package} {version(package)} works with the others in every order: lift its cap in pyproject.toml"
    pytest.xfail(f"{package} {version(package)} does not work with the other solvers: {failed[0].stderr[-200:]}")


def test_every_dependency_that_is_imported_is_declared():
    declared = {name.lower().replace("-", "_") for name in requirements()}
    names = {"sklearn": "scikit_learn", "google": "ortools"}
    optional = {
        "dask",
        "distributed",
        "matplotlib",
        "jinja2",
        "markupsafe",
        "polars",
        "pyarrow",
        "flint",
        "shtab",
        "mapie",
        "llvmlite",
    }
    found = set()
    import ast
    import sys

    for path in (ROOT / "rescaleinv").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").partition(".")[0])
    outside = {names.get(name, name) for name in found - set(sys.stdlib_module_names) - {"rescaleinv", "__future__"}}
    assert {"numpy", "threadpoolctl", "loky", "filelock", "narwhals"} <= outside
    assert outside - optional - declared == set()
