"""Without pandas, OR-Tools, PuLP and tqdm: what needs them says so in one line, and the rest works."""

import pytest
from test_imports import run

BLOCKED = """
import sys
class Blocked:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "ortools", "pulp", "tqdm"):
            raise ImportError(f"No module named {name!r}")
sys.meta_path.insert(0, Blocked)
import numpy as np
import rescaleinv
from rescaleinv import RescaleInvariantSVC, RescaleInvError
rows, labels = np.array([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]]), [1, 1, 1, -1]
clf = RescaleInvariantSVC().fit(rows, labels)
verdicts = clf.certify([[-1, 4], [4, 4]])
assert verdicts.code.tolist() == [0, 1]
assert verdicts.witness(0).certificate.claim == "neutral"
"""


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("verdicts.to_frame()", "a data frame needs pandas, which is not installed: python -m pip install pandas"),
        ("RescaleInvariantSVC(engine='milp:pulp').fit(rows, labels).certify([[-1, 4]])", "pip install"),
        ("RescaleInvariantSVC(engine='milp:ortools').fit(rows, labels).certify([[-1, 4]])", "pip install"),
        ("from rescaleinv._util.tables import read_table; read_table('t.csv')", "a table needs pandas"),
    ],
    ids=["frame", "pulp", "ortools", "table"],
)
def test_what_is_missing_is_told_in_one_line(tmp_path, code, message):
    (tmp_path / "t.csv").write_text("a\n1\n")
    script = (
        BLOCKED
        + f"try:\n    {code}\nexcept RescaleInvError as error:\n    print(error)\nelse:\n    print('no error')\n"
    )
    result = run("-c", script, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert message in result.stdout
    assert result.stdout.count("\n") == 1
