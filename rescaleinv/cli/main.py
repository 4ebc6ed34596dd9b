"""The command line. Only the standard library is loaded until a command has something to do."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

from rescaleinv.cli.terminal import PrintableStream, printable

_EXAMPLES = """\
examples:
  rescaleinv demo                                            the paper's examples and a real data set, proved
  rescaleinv certify train.csv test.csv --label ill          does the answer for each row depend on the scaling?
  rescaleinv certify train.csv test.csv --label ill --proof proof
                                                             the same with a proof of every verdict, checked
  rescaleinv audit train.csv test.csv --label ill --html audit.html
                                                             what scaling does to the answers, as a page to look at
  rescaleinv verify proof/complex.jsonl proof/certificates.jsonl
                                                             check the proofs, in exact arithmetic
"""


_CERTIFY_EXAMPLES = """\
examples:
  rescaleinv certify train.csv test.csv --label ill --keep patient --out verdicts.csv
  rescaleinv certify train.csv test.parquet --label class --positive malignant --out verdicts.parquet
  rescaleinv certify train.csv test.csv --label ill --proof proof && rescaleinv verify proof/*.jsonl

exit codes: 0: done; 2: the input can't be used, and one line says why
"""

_AUDIT_EXAMPLES = """\
examples:
  rescaleinv audit train.csv test.csv --label ill --html audit.html
  rescaleinv audit train.csv test.csv --label ill --keep patient --noun patients --html audit.html --out points.csv

exit codes: 0: done; 1: a rescaling contradicts a strong verdict; 2: the input can't be used, and one line says why
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rescaleinv",
        description="Does this linear SVM's answer depend on how the features were scaled?",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("demo", help="work through the paper's examples and a real data set")
    _add_certify(commands)
    _add_audit(commands)
    commands.add_parser("verify", help="check certificates in exact arithmetic", add_help=False)
    return parser


def _add_certify(commands: Any) -> None:
    certify = commands.add_parser(
        "certify",
        help="judge the rows of a table under every rescaling of its features",
        description="Says of each row of TEST whether an SVM's answer, trained on TRAIN, holds under every rescaling of the "
        "features. All columns of TRAIN but the label, and those that are kept or ignored, are features. Where TEST has the "
        "label too, the answers are compared with it.",
        epilog=_CERTIFY_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_tables(certify)
    certify.add_argument(
        "--scale-range", metavar="RANGE", help="rescalings to consider: 2, or [0.5, 2] (all, if not given)"
    )
    certify.add_argument("--out", metavar="FILE", help="write the verdicts there, CSV or Parquet, one row per point")
    proofs = certify.add_mutually_exclusive_group()
    proofs.add_argument("--certificates", metavar="FILE", help="write certificates there, one a line, and check them")
    proofs.add_argument("--proof", metavar="FOLDER", help="certificates of all verdicts, strong ones too, checked")
    certify.add_argument("--report", action="store_true", help="fail if TEST has no label to compare with")


def _add_audit(commands: Any) -> None:
    audit = commands.add_parser(
        "audit",
        help="what scaling does to the answers, in pictures and plain words",
        description="Says of each row of TEST whether an SVM's answer, trained on TRAIN, is an accident of scaling: under "
        "every rescaling of the features, after the usual scalings, and with single features in other units. All columns "
        "of TRAIN but the label, and those that are kept or ignored, are features.",
        epilog=_AUDIT_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_tables(audit)
    audit.add_argument("--html", metavar="FILE", help="write a page there that stands alone, to open in a browser")
    audit.add_argument("--out", metavar="FILE", help="write a table there, CSV or Parquet, one row per point")
    audit.add_argument("--kappa", metavar="FACTOR", type=float, default=2.0, help="how far off units may be (2)")
    audit.add_argument(
        "--radii", metavar="NUMBER", type=int, default=50, help="neutral rows to find the rescaling radius of (50)"
    )
    audit.add_argument("--title", default="Scaling audit", help="of the page")
    audit.add_argument("--noun", default="rows", help="what the rows of TEST are: patients, parcels, …")
    audit.add_argument(
        "--max-points", metavar="NUMBER", type=int, default=1000, help="so many rows on the page, neutral ones first"
    )


def _add_tables(command: Any) -> None:
    """What every command that reads a training table and a test table asks for."""
    command.add_argument("train", metavar="TRAIN", help="the training table, CSV or Parquet")
    command.add_argument("test", metavar="TEST", help="the table to judge; it has the training table's features")
    command.add_argument("--label", metavar="COLUMN", required=True, help="the column of TRAIN with the two classes")
    command.add_argument(
        "--positive", metavar="VALUE", help="the positive class (if not given, the second when sorted)"
    )
    command.add_argument("--engine", default="auto", help="auto (the default), complex, milp, milp:pulp, …")
    command.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="per point, for engines that decide points one at a time (default: 5; inf for no limit)",
    )
    command.add_argument(
        "--inconsistent", choices=("drop", "raise"), default="drop", help="inseparable rows: leave out, or fail"
    )
    command.add_argument(
        "--keep",
        metavar="COLUMN",
        action="append",
        default=[],
        help="not a feature, but shown in results: an identifier",
    )
    command.add_argument("--ignore", metavar="COLUMN", action="append", default=[], help="not a feature")
    command.add_argument(
        "--escape-formulas",
        action="store_true",
        help="in CSV results, an apostrophe before texts that a spreadsheet would run as formulas (= + - @ …)",
    )


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
        from rescaleinv.verify import main as verify

        return verify(given[1:])
    parser = _parser()
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
    from rescaleinv.errors import RescaleInvError

    try:
        if options.command == "certify":
            from rescaleinv.cli.certify import run_certify

            run_certify(options)
        elif options.command == "audit":
            from rescaleinv.cli.audit import run_audit

            return run_audit(options)
        else:
            from rescaleinv.cli.demo import run_demo

            run_demo()
    except (RescaleInvError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        message = " ".join(str(error).split()) or type(error).__name__
        print(f"rescaleinv: error: {printable(message)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
