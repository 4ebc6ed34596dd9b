"""Names in a table can't write over what the terminal shows."""

import io

import pytest

from rescaleinv.cli.main import main
from rescaleinv.cli.terminal import PrintableStream, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain τ ≥ 0", "plain τ ≥ 0"),
        ("two\nlines\t.", "two\nlines\t."),
        ("\x1b[2Jage", "\\x1b[2Jage"),
        ("a\rb\x07\x00", "a\\rb\\x07\\x00"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eegnahc", "\\u202eegnahc"),
        ("", ""),
    ],
)
def test_control_characters_are_written_out(text, shown):
    assert printable(text) == shown
    stream = io.StringIO()
    assert PrintableStream(stream).write(text) == len(text)
    assert stream.getvalue() == shown


def test_feature_names_on_the_terminal(tmp_path, capsys):
    (tmp_path / "train.csv").write_text("x\x1b[2J,y,label\n-1,5,1\n5,-1,1\n1.4,1.4,1\n1,1,0\n")
    (tmp_path / "test.csv").write_text("x\x1b[2J,y\n0,0\n")
    assert main(["certify", str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--label", "label"]) == 0
    out = capsys.readouterr().out
    assert "features: x\\x1b[2J, y" in out
    assert "\x1b" not in out


def test_errors_on_the_terminal(tmp_path, capsys):
    (tmp_path / "train.csv").write_text("x,y\x1b[2J\n1,2\n")
    assert main(["certify", str(tmp_path / "train.csv"), "none.csv", "--label", "label"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert err.count("\n") == 1
