"""The demonstration: its text is that of the paper's examples, on any terminal."""

from command_line import command

from rescaleinv.cli.main import main

DEMO = """\
Example 1. Three positive points and a negative one in the plane:
  the SVM is 2.5 x1 + 2.5 x2 - 6 = 0
Example 2. The same data with the first feature in a unit five times smaller, τ = (5, 1):
  the SVM, in the old units, is 3 x1 + 2 x2 - 6 = 0
  the point (-1, 4) has the value 1.5 (positive) in one and -1 (negative) in the other:
  its label is an accident of units: neutral, checked in exact arithmetic
Example 3. Without the point (7/5, 7/5):
  every rescaling gives x1 + x2 - 3 = 0: no label depends on units
"""


def test_demo(capsys):
    assert main(["demo"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(DEMO)
    assert "depends on the scaling: look again" in captured.out
    assert captured.out.endswith("The certificate says 'neutral', checked in exact arithmetic.\n")
    assert captured.err == ""


def test_demo_as_a_program():
    result = command("demo")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(DEMO)


def test_a_terminal_without_greek_letters_is_no_reason_to_fail():
    result = command("demo", encoding="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(DEMO.replace("τ", "?"))
