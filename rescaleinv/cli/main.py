"""The command line. Only the standard library is loaded until a command has something to do."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from rescaleinv.cli.options import audit, batch, certify, completion, demo, diagnose, fit, radius, verify, warm
from rescaleinv.cli.options.streams import add_streams
from rescaleinv.cli.streams import standard_streams
from rescaleinv.cli.terminal import PrintableStream, printable

# In the order of the help; each module adds the parser of one command.
COMMANDS = (demo, certify, audit, diagnose, fit, radius, batch, verify, warm, completion)

_EXAMPLES = """\
examples:
  rescaleinv demo                                            the paper's examples and a real data set, proved
  rescaleinv certify train.csv test.csv --label ill          does the answer for each row depend on the scaling?
  rescaleinv certify train.csv test.csv --label ill --proof proof
                                                             the same with a proof of every verdict, checked
  rescaleinv audit train.csv test.csv --label ill --html audit.html
                                                             what scaling does to the answers, as a page to look at
  rescaleinv diagnose train.csv test.csv --label ill         why do labels change when a scaler is added?
  rescaleinv fit train.csv --label ill --out model.npz       a model in a file, for radius, batch and Python
  rescaleinv radius model.npz test.csv --out -               how wrong may units be before each label can change?
  rescaleinv batch model.npz rows/*.parquet --out verdicts   verdicts of files that are larger than memory
  rescaleinv verify proof/complex.jsonl proof/certificates.jsonl
                                                             check the proofs, in exact arithmetic
"""


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="rescaleinv",
        description="Does this linear SVM's answer depend on how the features were scaled?",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(commands)
    for name, subparser in commands.choices.items():
        if name != "verify":  # it stands alone
            add_streams(subparser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: all is well; 1: the answer is no (a certificate was refused); 2: the input can't be used."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters shows ? for them
    try:
        with redirect_stdout(PrintableStream(sys.stdout)):
            code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("rescaleinv: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as head, has seen enough; nothing may be said about what it did not see
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return code


def _run(given: list[str]) -> int:
    if given[:1] == ["verify"]:  # it has its own parser, so that it can stand alone
        from rescaleinv.verify import main as verify_main

        return verify_main(given[1:])
    parser = make_parser()
    if any("\0" in argument for argument in given):
        parser.error("an argument has a NUL byte in it")
    options = parser.parse_args(given)
    if options.version:
        from rescaleinv import __version__

        print(f"rescaleinv {__version__}")
        return 0
    if options.command is None:
        parser.print_help()
        return 2
    return _work(options)


def _work(options: argparse.Namespace) -> int:
    """Import what does the work, and do it; an error of ours is one line."""
    from rescaleinv.errors import RescaleInvError

    module, _, function = options.work.partition(":")
    try:
        with standard_streams(options):
            code: int | None = getattr(importlib.import_module(module), function)(options)
    except (RescaleInvError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        message = " ".join(str(error).split()) or type(error).__name__
        print(f"rescaleinv: error: {printable(message)}", file=sys.stderr)
        return 2
    return 0 if code is None else code


if __name__ == "__main__":
    sys.exit(main())
