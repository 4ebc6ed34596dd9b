"""Shell completion knows the commands and their options."""

import sys

import pytest

from rescaleinv.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_the_script_knows_the_commands(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("certify", "audit", "completion"):
        assert word in script


def test_without_shtab_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert 'pip install "rescaleinv[completion]"' in capsys.readouterr().err
