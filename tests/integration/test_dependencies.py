"""What a stored result depends on: all that running its benchmark loads, and little else."""

import ast
import json
import subprocess
import sys

import pytest

from benchmarks import dependencies

# little programs, and the benchmark whose dependencies must hold whatever they load
RUNS = {
    "benchmarks.scalings.bns": "from rescaleinv.scaling import BNSScaler; BNSScaler().fit([[0, 1], [1, 0]], [0, 1])",
    "benchmarks.invariance": "from rescaleinv import check_invariance, TrainingSet; "
    "check_invariance(TrainingSet([[0.0, 1], [1, 0], [2, 3]], [1, -1, 1], positive=1))",
    "benchmarks.alternatives": "from rescaleinv import RescaleInvariantSVC; "
    "v = RescaleInvariantSVC().fit([[0.0, 1], [1, 0], [2, 3]], [0, 1, 0]).certify([[5.0, 1]]); v.certificate(0)",
    "benchmarks.gap": "from rescaleinv import GapEngine, TrainingSet; "
    "GapEngine(TrainingSet([[0.0, 1], [1, 0], [2, 3]], [1, -1, 1], positive=1), "
    "2.0).certify([[5.0, 1]])",
}


@pytest.mark.parametrize("benchmark", RUNS)
def test_everything_that_is_loaded_is_a_dependency(benchmark):
    code = f"import {benchmark}; {RUNS[benchmark]}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=dependencies.ROOT)
    assert result.returncode == 0, result.stderr
    loaded = {name for name in json.loads(result.stdout) if name.partition(".")[0] in dependencies.PACKAGES}
    assert benchmark in loaded
    assert loaded - dependencies.closure(benchmark) == set()


def test_rooms_that_a_benchmark_does_not_need_are_left_out():
    text = dependencies.closure("benchmarks.scalings.bns")
    assert "rescaleinv.scaling.bns" in text
    assert not {name for name in text if name.startswith(("rescaleinv.engines", "rescaleinv.audit"))}
    sizes = dependencies.closure("benchmarks.sizes")
    assert {"rescaleinv.engines.complex.engine", "rescaleinv.engines.branch.free.engine"} <= sizes  # of the registry
    assert not {name for name in sizes if name.startswith(("rescaleinv.audit", "rescaleinv.cli"))}
    assert "rescaleinv.engines" in dependencies.closure("benchmarks.attack_checker")  # by the tests' own certificates
    assert "rescaleinv.cli.audit" in dependencies.closure("benchmarks.audits")  # started as a command


def test_digests_see_code_and_neither_docstrings_nor_comments(monkeypatch):
    def digest(text):
        dependencies._code.cache_clear()
        monkeypatch.setattr(dependencies, "_tree", lambda module: ast.parse(text))
        return dependencies.of_modules(["rescaleinv.errors"])["rescaleinv"]

    first = digest('"""Old."""\n\ndef f(x):\n    """Text."""\n    return x + 1\n')
    assert digest('"""New."""\ndef f(x):  # why\n    return x + 1\n') == first
    assert digest("def f(x):\n    return x + 2\n") != first
    assert digest("def g(x):\n    return x + 1\n") != first
    dependencies._code.cache_clear()


def test_every_result_has_digests_of_its_own():
    assert dependencies.digests("scalings_bns") != dependencies.digests("gap")
    assert dependencies.digests("scalings_bns")["rescaleinv"] != dependencies.digests("scalings_online")["rescaleinv"]
    assert dependencies.digests("no such result") == dependencies.of_modules(dependencies._sources())
