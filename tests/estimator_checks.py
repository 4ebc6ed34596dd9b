"""scikit-learn's own checks of an estimator, all of them, and what became of each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import rescaleinv

_RUN = """
import importlib, json, sys, warnings
from sklearn.utils.estimator_checks import check_estimator

warnings.simplefilter("ignore")
for written in sys.argv[1:]:
    module, _, estimator = written.partition(":")
    results = check_estimator(eval(estimator, vars(importlib.import_module(module))), on_fail=None)
    print(json.dumps([[result["check_name"], result["status"], str(result["exception"])] for result in results]))
"""


def not_passed(*names):
    """The checks of the estimators of these names that failed, were excused or skipped, and how many there were in all."""
    each = _results([":".join(f"rescaleinv.{name}()".rsplit(".", 1)) for name in names])
    return [result for bad, _ in each for result in bad], sum(count for _, count in each)


def not_passed_each(module, estimators):
    """The same for several estimators of a module, each given as it is written in Python."""
    return _results([f"{module}:{estimator}" for estimator in estimators])


def _results(written):
    """For each estimator the checks that it did not pass, and how many there were.

    In a process of its own: one check is skipped unless a variable is set before scipy is imported.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(rescaleinv.__file__).parents[1]), "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", _RUN, *written], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    each = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(each) == len(written)
    return [([result for result in results if result[1] != "passed"], len(results)) for results in each]
