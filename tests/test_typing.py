"""What a user's type checker says about the public names."""

import subprocess
import sys
from pathlib import Path

import rescaleinv

RIGHT = """
import numpy as np
from rescaleinv import RescaleInvariantSVC, Verdicts, certify, scaling_audit
from rescaleinv.audit import audit_schema

clf = RescaleInvariantSVC(scale_range=2.0, nu="auto").fit(np.eye(3), [0, 1, 1])
verdicts: Verdicts = certify(clf, np.eye(3))
n: int = int(verdicts.strong.sum())
text: str = scaling_audit(np.eye(3), [0, 1, 1], np.eye(3), budget=5.0).to_json()
title: object = audit_schema()["title"]
"""
# Every public name, as a user imports it.
ALL = "".join(f"from rescaleinv import {name}\n" for name in rescaleinv.__all__)
WRONG = """
import rescaleinv

rescaleinv.RescaleVariantSVC()
"""


def test_public_names_are_exported_and_wrong_ones_noticed(tmp_path):
    (tmp_path / "right.py").write_text(RIGHT + ALL, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    root = Path(rescaleinv.__file__).parent.parent
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nstrict = True\nmypy_path = {root}\n[mypy-rescaleinv.*]\nfollow_imports = silent\n"
    )
    files = [str(tmp_path / "right.py"), str(tmp_path / "wrong.py")]
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            str(tmp_path / "mypy.ini"),
            "--cache-dir",
            str(tmp_path),
            *files,
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    lines = [line for line in result.stdout.splitlines() if "right.py" in line or "wrong.py" in line]
    assert len(lines) == 1, result.stdout + result.stderr
    assert "wrong.py" in lines[0]
    assert 'has no attribute "RescaleVariantSVC"' in lines[0]
