"""A run within its budget, announced beforehand."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rescaleinv._util.deadline import Deadline, run_within
from rescaleinv._util.parameters import checked_time_limit
from rescaleinv.errors import InputError


def check_limits(options: argparse.Namespace) -> None:
    """What can be said of the limits and the engine before the tables are read."""
    if options.budget is not None and not options.budget > 0:
        raise InputError(f"--budget {options.budget:g}: a positive number of seconds is needed, or inf for no limit")
    checked_time_limit(options.time_limit)
    if options.engine != "auto":
        from rescaleinv.engines.choice import check_engine_name

        check_engine_name(options.engine)


@contextmanager
def announced_run(options: argparse.Namespace) -> Iterator[Deadline]:
    """Work that ends with the budget, or with Ctrl-C, and keeps what it has; on a terminal that is said before."""
    budget = options.budget
    if sys.stderr.isatty():
        most = "No limit of time" if math.isinf(budget) else f"At most about {budget:g} s (--budget)"
        print(f"{most}; press Ctrl-C for what is decided so far.", file=sys.stderr)
    with run_within(None if math.isinf(budget) else budget, interruptible=True) as deadline:
        yield deadline
    if deadline.interrupted:
        print("note: interrupted; this is what was decided until then")
