"""What code a stored result was measured with: the modules that its benchmark imports, directly or through others.

Read from the sources (``ast``), so that nothing has to be imported: import statements anywhere in a module, names that the
package brings in on first use, and strings that name a module of ours (the registries of engines and solvers). What only
type checkers import does not count, nor do docstrings and comments.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = ("rescaleinv", "benchmarks")

# results that another module than the one of their name writes: the command, and the module that measures
_OTHERS: dict[str, tuple[list[str], str]] = {
    "paper_tables": (["benchmarks.paper.tables"], "benchmarks.paper.tables"),
    **{
        f"scalings_{part}": (["benchmarks.scalings.all", "--only", part], f"benchmarks.scalings.{part}")
        for part in ("bns", "solver", "shaping", "selection", "online")
    },
}


def command(name: str) -> list[str]:
    """The module that writes a result, with its arguments.

    >>> command("gap"), command("scalings_bns")
    (['benchmarks.gap'], ['benchmarks.scalings.all', '--only', 'bns'])
    """
    return _OTHERS[name][0] if name in _OTHERS else [f"benchmarks.{name}"]


def digests(name: str) -> dict[str, str]:
    """Of the package's and of the benchmarks' code that a result depends on; all of it if no module has its name."""
    start = _OTHERS[name][1] if name in _OTHERS else f"benchmarks.{name}"
    return of_modules(closure(start) if start in _sources() else _sources())


def of_modules(modules: Any) -> dict[str, str]:
    found = {package: hashlib.sha256() for package in PACKAGES}
    for module in sorted(modules):
        package = "rescaleinv" if module.partition(".")[0] == "rescaleinv" else "benchmarks"
        found[package].update(f"{module} {_code(module)}\n".encode())
    return {package: digest.hexdigest()[:16] for package, digest in found.items()}


def closure(start: str) -> set[str]:
    """A module and every module of ours that it imports, directly or through others.

    >>> sorted(closure("rescaleinv.verdict") & {"rescaleinv.errors", "rescaleinv.audit", "numpy"})
    ['rescaleinv.errors']
    """
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imported(module)
    return seen


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of ours that a module imports itself, the packages that it lives in included."""
    found = {module.rpartition(".")[0]} & _sources().keys()
    is_package = _sources()[module].name == "__init__.py"
    inside = module if is_package else module.rpartition(".")[0]
    for node in _running(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {_module(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {_home(node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rescaleinv":
            found.add(_home("rescaleinv", node.attr))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and module.startswith("rescaleinv."):
            home = node.value.partition(":")[0]  # as registries write it: module:name
            if home != "__main__":  # that is how a module asks whether it is run by itself
                found |= {home, f"{inside}.{home}"} & _sources().keys()
        elif isinstance(node, ast.List):
            found |= _run_as_script(node)
    return frozenset(found - {"", module})


def _run_as_script(node: ast.List) -> set[str]:
    """What a command line starts: [..., "-m", "rescaleinv", ...]."""
    words = [one.value if isinstance(one, ast.Constant) else None for one in node.elts]
    started = [str(after) for before, after in pairwise(words) if before == "-m"]
    return {name for one in started for name in (one, f"{one}.__main__")} & _sources().keys()


def _module(name: str) -> str:
    """The module of ours that a dotted name means, "" if it is another project's."""
    while name and name not in _sources():
        name = name.rpartition(".")[0]
    return name


def _home(module: str, name: str) -> str:
    """Where ``from module import name`` gets the name from."""
    if module == "rescaleinv" and name in _lazy_names():
        return f"rescaleinv.{_lazy_names()[name]}"
    return _module(f"{module}.{name}")


@cache
def _lazy_names() -> dict[str, str]:
    for node in _tree("rescaleinv").body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            return dict(ast.literal_eval(node.value))
    raise ValueError("rescaleinv/__init__.py has no _HOMES: which modules its names come from is not known")


@cache
def _sources() -> dict[str, Path]:
    """Every module of ours, and its file; what the tests share is imported by benchmarks, too, under its bare name."""
    found = {path.stem: path for path in (ROOT / "tests").glob("*.py") if path.stem not in ("conftest", "__init__")}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_sources()[module].read_text(encoding="utf-8"))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below that is not for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield other
                yield from _running(other)
        else:
            yield child
            yield from _running(child)


@cache
def _code(module: str) -> str:
    return code_of(_tree(module))


def code_of(node: Any) -> str:
    """A syntax tree as text, without docstrings, comments and layout, and the same in every version of Python.

    >>> same = [code_of(ast.parse(text)) for text in ("x = 1", "'''About x.'''\\nx  =  1  # one", "x = 2")]
    >>> same[0] == same[1], same[0] == same[2]
    (True, False)
    """
    if isinstance(node, list):
        return "[" + " ".join(code_of(one) for one in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(value, list):
            value = [one for one in value if not _is_text(one)]
        if name not in ("kind", "type_comment") and value is not None and value != []:
            parts.append(f"{name}={code_of(value)}")
    return f"{type(node).__name__}({' '.join(parts)})"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
