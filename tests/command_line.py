"""The command line as a program of its own, for several test files."""

import os
import subprocess
import sys
from pathlib import Path

import rescaleinv

COMPILING = "rescaleinv: compiling, once per machine"
ROOT = str(Path(rescaleinv.__file__).parent.parent)


def command(*arguments, encoding="utf-8", **options):
    environment = {**os.environ, "PYTHONPATH": ROOT, "PYTHONIOENCODING": encoding}
    result = subprocess.run(
        [sys.executable, "-m", "rescaleinv", *arguments],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        encoding=encoding,
        env=environment,
        **options,
    )
    # the first one on a machine may have to say this, which is no business of those who look at errors
    result.stderr = "".join(line for line in result.stderr.splitlines(keepends=True) if COMPILING not in line)
    return result
