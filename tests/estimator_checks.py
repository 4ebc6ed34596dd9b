"""scikit-learn's own checks of an estimator, all of them, and what became of each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import rescaleinv

_RUN = """
import json, pkgutil, sys, warnings
from sklearn.utils.estimator_checks import check_estimator

warnings.simplefilter("ignore")
estimators = [pkgutil.resolve_name(f"rescaleinv.{name}")() for name in sys.argv[1:]]
results = [result for estimator in estimators for result in check_estimator(estimator, on_fail=None)]
print(json.dumps([[result["check_name"], result["status"], str(result["exception"])] for result in results]))
"""


def not_passed(*names):
    """The checks of the estimators of these names that failed, were excused or skipped, and how many there were in all.

    In a process of its own: one check is skipped unless a variable is set before scipy is imported.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(rescaleinv.__file__).parents[1]), "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", _RUN, *names], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    return [result for result in results if result[1] != "passed"], len(results)
