"""The options of the margin, as the commands take them."""

import argparse

import numpy as np
import pandas as pd
import pytest

from rescaleinv import InputError
from rescaleinv.cli.main import main
from rescaleinv.cli.options.margin import add_margin, margin_parameters

CLASSES = ("healthy", "ill")


def parameters(*arguments):
    parser = argparse.ArgumentParser()
    add_margin(parser)
    return margin_parameters(parser.parse_args(arguments), CLASSES)


def test_nothing_said_is_what_the_estimator_does():
    from rescaleinv import RescaleInvariantSVC

    given = parameters()
    assert given == {name: RescaleInvariantSVC().get_params()[name] for name in given}


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--nu", "auto"], "nu", "auto"),
        (["--nu", "0.4"], "nu", 0.4),
        (["--C", "10"], "C", 10.0),
        (["--inconsistent", "soft"], "inconsistent", "soft"),
        (["--class-weight", "balanced"], "class_weight", "balanced"),
        (["--class-weight", '{"ill": 2}'], "class_weight", {False: 1.0, True: 2.0}),
    ],
)
def test_options_are_parameters(arguments, name, value):
    assert parameters(*arguments)[name] == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nu", "half"], "--nu half: a number"),
        (["--class-weight", "heavy"], "--class-weight heavy"),
        (["--class-weight", '{"dead": 2}'], "'dead' is not a class; they are 'healthy' and 'ill'"),
        (["--class-weight", "[1, 2]"], "a positive weight for each class"),
        (["--class-weight", '{"ill": 0}'], "a positive weight for each class"),
        (["--nu", "1.5"], "--nu 1.5: a number above 0"),
        (["--C", "0"], "--C 0: a positive number"),
    ],
)
def test_options_that_are_none(arguments, message):
    with pytest.raises(InputError, match=message):
        parameters(*arguments)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 9, (60, 2))
    labels = np.where(rows.sum(axis=1) + rng.normal(size=60) * 3 > 8, "ill", "healthy")
    for name, part in (("train", slice(0, 40)), ("test", slice(40, 60))):
        pd.DataFrame({"a": rows[part, 0], "b": rows[part, 1], "state": labels[part]}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    return tmp_path


def run(folder, command, *arguments):
    return main([command, str(folder / "train.csv"), str(folder / "test.csv"), "--label", "state", *arguments])


def test_two_margins_are_one_too_many(folder, capsys):
    assert run(folder, "certify", "--nu", "auto", "--C", "1") == 2
    assert "two soft margins" in capsys.readouterr().err


def test_the_first_line_says_the_penalty(folder, capsys):
    assert run(folder, "certify", "--C", "1", "--scale-range", "1.2") == 0
    assert capsys.readouterr().out.startswith("linear SVM, soft margin, C = 1; 40 training rows; ill is positive")


def test_a_nu_below_the_least_says_that_number(folder, capsys):
    assert run(folder, "certify", "--nu", "0.01") == 2
    assert "the reduced hulls meet up to nu = " in capsys.readouterr().err
