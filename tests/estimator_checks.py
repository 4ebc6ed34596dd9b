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
names = vars(importlib.import_module(sys.argv[1]))
for estimator in sys.argv[2:]:
    results = check_estimator(eval(estimator, names), on_fail=None)
    print(json.dumps([[result["check_name"], result["status"], str(result["exception"])] for result in results]))
"""


def not_passed(name):
    """The checks of the estimator of that name that failed, were excused or skipped, and how many there were."""
    return not_passed_each("rescaleinv", [f"{name}()"])[0]


def not_passed_each(module, estimators):
    """The same for several estimators of a module, each given as it is written in Python.

    In a process of its own: one check is skipped unless a variable is set before scipy is imported.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(rescaleinv.__file__).parents[1]), "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", _RUN, module, *estimators]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    each = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(each) == len(estimators)
    return [([result for result in results if result[1] != "passed"], len(results)) for results in each]
