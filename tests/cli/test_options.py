"""Each command says what it takes in a module of its own, and what it says is true."""

import importlib

import pytest

from rescaleinv.cli.main import COMMANDS, make_parser

(SUBPARSERS,) = [action.choices for action in make_parser()._actions if isinstance(action.choices, dict)]
OWN_PARSER = {"verify"}  # it stands alone


def test_one_module_per_command_with_its_name():
    assert [module.__name__.rpartition(".")[2] for module in COMMANDS] == list(SUBPARSERS)
    assert len(SUBPARSERS) >= 4


@pytest.mark.parametrize("name", sorted(set(SUBPARSERS) - OWN_PARSER))
def test_the_work_of_each_command_is_a_function_that_exists(name):
    module, _, function = SUBPARSERS[name].get_default("work").partition(":")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", sorted(set(SUBPARSERS) - OWN_PARSER))
def test_each_command_has_a_description_an_example_that_can_be_read_and_its_exit_codes(name):
    parser = SUBPARSERS[name]
    assert parser.description
    assert "exit codes: 0:" in parser.epilog
    examples = [line.split("&&")[0].split() for line in parser.epilog.splitlines() if f"rescaleinv {name}" in line]
    assert examples
    for words in examples:
        start = words.index("rescaleinv") + 1
        end = next((k for k, word in enumerate(words) if word in ("|", "<", ">")), len(words))
        options = make_parser().parse_args(words[start:end])
        assert options.command == name
