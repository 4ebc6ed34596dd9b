"""The command line as a program of its own, for several test files."""

import os
import subprocess
import sys
from pathlib import Path

import rescaleinv

ROOT = str(Path(rescaleinv.__file__).parent.parent)


def command(*arguments, encoding="utf-8", **options):
    environment = {**os.environ, "PYTHONPATH": ROOT, "PYTHONIOENCODING": encoding}
    return subprocess.run(
        [sys.executable, "-m", "rescaleinv", *arguments],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        encoding=encoding,
        env=environment,
        **options,
    )
