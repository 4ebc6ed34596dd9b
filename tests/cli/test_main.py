"""The command line as a user meets it: output, exit codes, and errors of one line."""

import os

import pytest
from command_line import command

import rescaleinv
from rescaleinv import TrainingSet, neutral_certificate
from rescaleinv.cli.main import main
from rescaleinv.errors import SolverError


@pytest.fixture(scope="module")
def certificate():
    training_set = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    return neutral_certificate(training_set, [-1, 4], [1, 1], [5, 1])


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: rescaleinv")
    for part in ("demo", "verify", "--version", "examples:"):
        assert part in shown


def test_without_a_command_the_help_is_shown_and_the_exit_code_tells(capsys):
    assert main([]) == 2
    assert capsys.readouterr().out.startswith("usage: rescaleinv")


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rescaleinv {rescaleinv.__version__}\n"


def test_a_reader_that_goes_away_is_no_reason_for_a_traceback():
    read, write = os.pipe()
    os.close(read)  # as head does when it has seen enough
    try:
        result = command("demo", stdout=write)
    finally:
        os.close(write)
    assert (result.returncode, result.stderr) == (2, "")


@pytest.mark.parametrize(
    "arguments", [["certfy"], ["demo", "extra"], ["--colour"], ["verify"], ["verify", "--colour", "x"]]
)
def test_what_is_not_understood_exits_with_2(arguments):
    result = command(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("rescaleinv")
    assert ": error: " in result.stderr.splitlines()[-1]


def test_our_errors_are_one_line(monkeypatch, capsys):
    def fail(options):
        raise SolverError("the solver gave up")

    monkeypatch.setattr("rescaleinv.cli.demo.run_demo", fail)
    assert main(["demo"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "rescaleinv: error: the solver gave up\n")


def test_verify_a_good_certificate(certificate, tmp_path, capsys):
    path = tmp_path / "good.json"
    certificate.save(path)
    assert main(["verify", str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{path}: proved: neutral; point (")
    assert shown.count("\n") == 1


def test_verify_a_certificate_that_refers_to_its_rows(certificate, tmp_path, capsys):
    path, rows = tmp_path / "short.json", tmp_path / "rows.json"
    certificate.save(path, with_rows=False)
    rows.write_text(certificate.training_json(), encoding="utf-8")
    assert main(["verify", str(path), "--training", str(rows)]) == 0
    assert main(["verify", str(path)]) == 2
    assert "NOT CHECKED: training: the rows are not in the certificate" in capsys.readouterr().out


def test_verify_one_good_and_one_bad(certificate, tmp_path):
    (tmp_path / "good.json").write_text(certificate.to_json(), encoding="utf-8")
    lie = certificate.to_json().replace('"claim":"neutral"', '"claim":"strongly positive"')
    assert lie != certificate.to_json()
    (tmp_path / "bad.json").write_text(lie, encoding="utf-8")
    result = command("verify", "good.json", "bad.json", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == ""
    first, second, total = result.stdout.splitlines()
    assert first.startswith("good.json: proved: neutral; point (")
    assert second.startswith("bad.json: REFUSED: ")
    assert total == "1 proved, 1 refused"


@pytest.mark.parametrize("content", ["", "\n\n", None], ids=["empty", "blank", "missing"])
def test_verify_without_a_certificate(content, tmp_path):
    if content is not None:
        (tmp_path / "file.json").write_text(content, encoding="utf-8")
    result = command("verify", "file.json", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("rescaleinv verify: error: ")


@pytest.mark.parametrize("content", ["nonsense", "[]", "{}", '{"a": NaN}', "[" * 100_000], ids=lambda text: text[:10])
def test_verify_what_is_no_certificate(content, tmp_path):
    (tmp_path / "file.json").write_text(content, encoding="utf-8")
    result = command("verify", "file.json", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("file.json: REFUSED: ")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == ""
