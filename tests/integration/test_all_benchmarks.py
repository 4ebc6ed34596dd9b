"""benchmarks/all.py knows every stored result, and which of them are stale."""

import json

import pytest

from benchmarks import all as everything
from benchmarks.common import RESULTS, code_digests, write_result


@pytest.mark.parametrize("name", everything.names())
def test_every_stored_result_has_a_module_that_writes_it(name):
    module = everything.command(name)[0]
    path = (RESULTS.parents[1] / module.replace(".", "/")).with_suffix(".py")
    assert path.exists(), f"{name}.json is stored, and {module}, which should write it, is not there"


def test_there_are_results():
    assert {"gap", "paper_tables", "scalings_bns"} <= set(everything.names())


def test_a_result_is_stale_when_the_package_has_changed(tmp_path):
    now = code_digests("made")
    path = write_result("made", {"answer": 42}, tmp_path)
    assert everything.state("made", now, tmp_path) == "fresh"
    assert everything.state("made", {**now, "rescaleinv": "other"}, tmp_path).startswith("stale")
    assert everything.state("made", {**now, "benchmarks": "other"}, tmp_path).startswith("fresh, though")
    assert everything.state("not made", now, tmp_path) == "stale: not there"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["code"]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert everything.state("made", now, tmp_path) == "stale: measured before digests were stored"


def test_stale_results_are_measured_and_failures_are_counted(monkeypatch, capsys):
    called = []

    class Done:
        returncode = 0

    def pretend(command):
        called.append(command[2:])
        return Done()

    monkeypatch.setattr(everything, "state", lambda name, now: "stale: made up" if name == "gap" else "fresh")
    monkeypatch.setattr(everything.subprocess, "run", pretend)
    assert everything.main(["--list"]) == 0
    assert called == []
    assert everything.main([]) == 0
    assert called == [["benchmarks.gap"]]
    Done.returncode = 3
    assert everything.main(["--only", "proof"]) == 1
    assert called[-1] == ["benchmarks.proof"]
    assert "gap                  stale: made up" in capsys.readouterr().out
