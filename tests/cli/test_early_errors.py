"""What is wrong with the input is said before anything is loaded that takes seconds to load."""

import json
import subprocess
import sys

import pytest

TABLE = "a,b,note,kind\n1,2,x,u\n2,1,y,v\n3,5,z,u\n4,4,w,v\n"
TWO = ["train.csv", "train.csv", "--label", "kind"]
GOOD = [*TWO, "--ignore", "note"]
WRONG = [
    (["certify", *TWO], "note"),
    (["certify", *TWO, "--ignore", "nte"], "did you mean note"),
    (["certify", *GOOD, "--fixed", "c"], "--fixed c"),
    (["certify", *GOOD, "--range", "c=2"], "--range c"),
    (["certify", *GOOD, "--range", "a=0"], "--range a"),
    (["certify", *GOOD, "--range", "a=0.5"], "--range a"),
    (["certify", *GOOD, "--scale-range", '"15"'], "--scale-range"),
    (["certify", *GOOD, "--group", "a,c"], "--group c"),
    (["certify", *GOOD, "--nu", "2"], "--nu 2"),
    (["certify", *GOOD, "--nu", "nan"], "--nu nan"),
    (["certify", *GOOD, "--C", "-1"], "--C -1"),
    (["certify", *GOOD, "--class-weight", '{"u": 0}'], "--class-weight"),
    (["certify", *GOOD, "--positive", "w"], "--positive w"),
    (["certify", *GOOD, "--budget", "0"], "--budget 0"),
    (["certify", *GOOD, "--out", "folder.csv"], "folder.csv can't be written: it is a folder"),
    (["audit", *GOOD, "--html", "folder.csv"], "folder.csv can't be written: it is a folder"),
    (["audit", *GOOD, "--range", "a=0.5"], "--range a"),
    (["audit", *GOOD, "--nu", "0"], "--nu 0"),
    (["diagnose", *GOOD, "--label", "knd"], "knd"),
    (["diagnose", *GOOD, "--scalers", "raw"], "--scalers"),
    (["fit", "train.csv", "--label", "kind", "--ignore", "note", "--out", "m.npz", "--range", "c=2"], "--range c"),
    (["radius", "none.npz", "train.csv"], "none.npz can't be read: No such file or directory"),
    (["batch", "none.npz", "train.csv", "--out", "folder"], "none.npz can't be read: No such file or directory"),
]
SCRIPT = """
import contextlib, io, json, sys
from rescaleinv.cli.main import main
answers = []
for command in json.load(sys.stdin):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main(command)
        except SystemExit as end:
            code = end.code
    answers.append([code, said.getvalue(), sorted({"sklearn", "scipy.stats", "numba", "cvxpy"} & set(sys.modules))])
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("early")
    (folder / "train.csv").write_text(TABLE, encoding="utf-8")
    (folder / "folder.csv").mkdir()
    commands = json.dumps([command for command, _ in WRONG])
    done = subprocess.run([sys.executable, "-c", SCRIPT], input=commands, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("number", range(len(WRONG)), ids=[" ".join(command) for command, _ in WRONG])
def test_input_errors_are_one_line_and_come_first(answers, number):
    code, said, loaded = answers[number]
    assert code == 2
    assert said.startswith("rescaleinv: error: ")
    assert said.count("\n") == 1
    assert WRONG[number][1] in said
    assert not loaded
