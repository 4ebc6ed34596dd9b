"""Reproduces the four papers on ways to scale, shape, select and learn features, one part each.

python -m benchmarks.scalings.all                        all parts; needs the data in RESCALEINV_DATA
python -m benchmarks.scalings.all --only bns shaping     some of them
python -m benchmarks.scalings.all --quick                made data, seconds; the stored results are left alone
python -m benchmarks.scalings.all --pages                pages and figures again, from the stored results

A part is a module of this folder. Its ``run(quick) -> dict`` measures, and unless quick draws the figures and writes the
page; ``report(results, folder)`` does these two alone. This script stores the results as results/scalings_<part>.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time

from benchmarks.common import RESULTS, write_result

# Forman 2008, and a question about it; Forman, Scholz & Rajaram 2009; Ferreira & Figueiredo; Bollegala & Iba
PARTS = ("bns", "solver", "shaping", "selection", "online")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="made data; the stored results are not overwritten")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--pages", action="store_true", help="measure nothing: draw and write from the stored results")
    options = parser.parse_args()
    for name in options.only:
        part = importlib.import_module(f"benchmarks.scalings.{name}")
        if options.pages:
            part.report(json.loads((RESULTS / f"scalings_{name}.json").read_text(encoding="utf-8"))["results"], RESULTS)
            continue
        start = time.process_time()
        results = part.run(options.quick)
        seconds = time.process_time() - start
        if not options.quick:
            write_result(f"scalings_{name}", {**results, "processor seconds": round(seconds)})
        print(f"{name}: {seconds:.0f} s of processor time")


if __name__ == "__main__":
    main()
