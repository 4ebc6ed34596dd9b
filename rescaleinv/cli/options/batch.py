"""Options of ``rescaleinv batch``."""

from __future__ import annotations

import argparse
from typing import Any

from rescaleinv.cli.options.tables import add_jobs

_EXAMPLES = """\
examples:
  rescaleinv batch model.npz rows.parquet --keep id --out verdicts
  rescaleinv batch model.npz part-*.csv --out verdicts --jobs 4
  rescaleinv batch model.npz rows/ --out verdicts --scheduler tcp://host:8786

exit codes: 0: done; 2: the input can't be used, or the run was cut short (called again it goes on), and one line says why
"""


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of :mod:`argparse`."""
    batch = commands.add_parser(
        "batch",
        help="verdicts of files that are larger than memory",
        description="Certifies all rows of CSV and Parquet files by chunks, and writes the verdicts to a folder of Parquet "
        "files. A run that was killed goes on where it was when it is called again in the same way.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    batch.set_defaults(work="rescaleinv.cli.batch:run_batch")
    batch.add_argument("model", metavar="MODEL", help="what rescaleinv fit wrote")
    batch.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="files that end in .csv or .parquet, or folders of them"
    )
    batch.add_argument("--out", metavar="FOLDER", required=True, help="a new folder, or that of the run to go on with")
    batch.add_argument(
        "--keep", metavar="COLUMN", action="append", default=[], help="a column to copy to the result: an identifier"
    )
    batch.add_argument("--chunk-rows", metavar="NUMBER", type=int, help="rows per part (262,144)")
    batch.add_argument("--scheduler", metavar="ADDRESS", help="a Dask cluster instead of processes here: tcp://…")
    add_jobs(batch)
