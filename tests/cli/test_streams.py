"""``-``, ``--format`` and ``--quiet`` mean the same for all commands."""

import argparse
import io
import sys

import pandas as pd
import pytest
from command_line import command

from rescaleinv.cli.main import main
from rescaleinv.cli.streams import standard_streams
from rescaleinv.errors import InputError

SMALL = "x,y,label\n-1,5,1\n5,-1,1\n1.4,1.4,1\n1,1,0\n"
POINTS = "x,y\n-1,4\n4,4\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.csv").write_text(SMALL)
    (tmp_path / "test.csv").write_text(POINTS)
    return tmp_path


def standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_table_from_standard_input_and_one_to_standard_output(folder):
    arguments = ("certify", "train.csv", "-", "--label", "label", "--no-radius", "--out", "-")
    result = command(*arguments, cwd=folder, stdin=(folder / "test.csv").open())
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(io.StringIO(result.stdout))
    assert table["verdict"].tolist() == ["neutral", "strongly positive"]
    assert "engine complex" in result.stderr


@pytest.mark.parametrize("content", [b"", b"x\n1\n", b"x,y\n1,apple\n"])
def test_errors_name_standard_input_and_not_a_file_of_ours(folder, monkeypatch, capsys, content):
    standard_input(monkeypatch, content)
    assert main(["certify", str(folder / "train.csv"), "-", "--label", "label", "--no-radius"]) == 2
    captured = capsys.readouterr()
    assert "standard input" in captured.err
    assert "stdin.csv" not in captured.out + captured.err


def test_parquet_is_known_by_its_first_bytes(folder, monkeypatch, capsysbinary):
    buffer = io.BytesIO()
    pd.read_csv(folder / "test.csv").to_parquet(buffer)
    standard_input(monkeypatch, buffer.getvalue())
    arguments = ["certify", str(folder / "train.csv"), "-", "--label", "label", "--no-radius", "--format", "parquet"]
    assert main([*arguments, "--quiet"]) == 0
    captured = capsysbinary.readouterr()
    assert pd.read_parquet(io.BytesIO(captured.out))["verdict"].tolist() == ["neutral", "strongly positive"]
    assert captured.err == b""


def test_a_format_for_a_file_of_any_name(folder, capsys):
    out = folder / "verdicts.data"
    arguments = ["certify", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "label", "--no-radius"]
    assert main([*arguments, "--out", str(out), "--format", "json"]) == 0
    assert pd.read_json(out)["verdict"].tolist() == ["neutral", "strongly positive"]
    assert "engine complex" in capsys.readouterr().out
    assert main([*arguments, "--out", str(out)]) == 2
    assert "must end in" in capsys.readouterr().err


def test_quiet_says_nothing(folder, capsys):
    arguments = ["certify", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "label", "--no-radius"]
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_one_table_at_most_from_standard_input():
    options = argparse.Namespace(train="-", test="-", quiet=False)
    with pytest.raises(InputError, match="one table at most"), standard_streams(options):
        pass


def test_nothing_is_written_when_the_work_fails(folder, capsysbinary):
    arguments = ["certify", str(folder / "train.csv"), str(folder / "none.csv"), "--label", "label", "--out", "-"]
    assert main(arguments) == 2
    captured = capsysbinary.readouterr()
    assert captured.out == b""
    assert captured.err.count(b"\n") == 1
