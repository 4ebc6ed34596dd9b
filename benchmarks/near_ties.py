"""How near to a tie may data be before a float solver's "there is nothing more" is wrong?

Small integer training sets whose ties are broken by 1e-5 to 1e-12, with points on the hyperplane of some extreme
classifier up to as much: the verdicts of the MILP engine, backend by backend and every point put to the solver, against
an exact brute force that shares no code with it. The limit ``SMALLEST_GAP`` of the engine is set aside while it runs; for
each verdict the gap is noted, so that the table shows what the limit costs (strong verdicts that become UNKNOWN) and what
it prevents (wrong verdicts). 20,000 near ties per backend; --quick asks 200. Writes results/near_ties.json.

A run may be cut into pieces: with --state FOLDER every answer is kept there, a later run goes on where the last one stopped,
and --seconds ends each backend after so much processor time. The backends have the same sets, in the same order. With
--backend the stored lines of the others are kept.

    python -m benchmarks.near_ties [--quick] [--backend NAME] [--points 20000] [--seed 0] [--state FOLDER] [--seconds S]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, code_digests, print_table, write_result
from rescaleinv.engines.milp import search, solvers
from rescaleinv.engines.milp.engine import MilpEngine
from rescaleinv.engines.milp.relaxation import Relaxation

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import near_ties

POINTS_PER_SET = 8
LIMIT = search.SMALLEST_GAP
UNKNOWN = 2


def record(backend: str, n_points: int, seed: int, seconds: float, state: Path | None) -> list[dict[str, Any]]:
    """One entry per point: number of the set, size of the perturbation, gap, verdict, truth, digest of the code."""
    name = backend.replace(":", "_")
    kept = None if state is None else state / f"near_ties_{name}_{seed}.jsonl"
    entries: list[dict[str, Any]] = []
    if kept is not None and kept.exists():
        entries = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    number = entries[-1]["set"] + 1 if entries else 0
    digest = code_digests("near_ties")["rescaleinv"]
    started = time.process_time()
    while len(entries) < n_points and time.process_time() - started < seconds:
        case = near_ties.near_ties(np.random.default_rng([seed, number]), POINTS_PER_SET)
        codes = MilpEngine(case.training_set, solver=backend, shortcuts=False).certify(case.points).code.tolist()
        relaxation = Relaxation(case.training_set)
        new = [
            {
                "set": number,
                "size": case.size,
                "gap": relaxation.smallest_gap(point),
                "hidden": case.hidden,
                "code": code,
                "truth": truth,
                "made by": digest,
            }
            for point, code, truth in zip(case.points, codes, case.verdicts, strict=True)
        ]
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write("".join(json.dumps(entry) + "\n" for entry in new))
        entries += new
        number += 1
        if len(entries) % 500 < POINTS_PER_SET:
            wrong = sum(e["code"] not in (e["truth"], UNKNOWN) for e in entries)
            took = time.process_time() - started
            print(f"{backend}: {len(entries)} asked, {wrong} wrong, {took:.0f} s", flush=True)
    return entries


def summary(backend: str, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line per decade of the perturbation, without the limit and with it."""
    lines = []
    for decade in sorted({int(-np.log10(entry["size"])) for entry in entries}):
        some = [entry for entry in entries if int(-np.log10(entry["size"])) == decade]
        wrong = [entry for entry in some if entry["code"] not in (entry["truth"], UNKNOWN)]
        strong = [entry for entry in some if abs(entry["code"]) == 1]
        lines.append(
            {
                "backend": backend,
                "perturbation": f"1e-{decade + 1} to 1e-{decade}",
                "points": len(some),
                "strong in truth": sum(abs(entry["truth"]) == 1 for entry in some),
                "wrong without limit": len(wrong),
                "unknown without limit": sum(entry["code"] == UNKNOWN for entry in some),
                "wrong": sum(abs(entry["code"]) != 1 or entry["gap"] >= LIMIT for entry in wrong),
                "unknown": sum(entry["code"] == UNKNOWN for entry in some)
                + sum(entry["gap"] < LIMIT for entry in strong),
                "largest gap of a wrong verdict": max((entry["gap"] for entry in wrong), default=0.0),
            }
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 points; the stored results are not overwritten")
    parser.add_argument("--backend", choices=[*solvers.BACKENDS], action="append")
    parser.add_argument("--points", type=int, default=20_000, help="near ties per backend")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--state", type=Path, help="folder of the answers so far, for a later run to go on with")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of processor time per backend")
    options = parser.parse_args()
    if options.state is not None:
        options.state.mkdir(parents=True, exist_ok=True)
    solvers.backend("ortools")  # before PuLP, which would make the HiGHS of OR-Tools crash
    search.SMALLEST_GAP = 0.0
    path = options.results / "near_ties.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["results"] if options.backend and path.exists() else {}
    chosen = options.backend or [*solvers.BACKENDS]
    lines: list[dict[str, Any]] = [line for line in kept.get("lines", []) if line["backend"] not in chosen]
    asked: dict[str, int] = {
        name: sum(line["points"] for line in lines if line["backend"] == name)
        for name in dict.fromkeys(line["backend"] for line in lines)
    }
    answered_by: dict[str, dict[str, int]] = dict(kept.get("answered by code", {}))
    for backend in chosen:
        n_points = 200 if options.quick else options.points
        entries = record(backend, n_points, options.seed, options.seconds, options.state)
        lines += summary(backend, entries)
        asked[backend] = len(entries)
        answered_by[backend] = dict(Counter(entry["made by"] for entry in entries))
        if not options.quick:
            payload = {"limit": LIMIT, "points": asked, "answered by code": answered_by, "lines": lines}
            write_result("near_ties", payload, options.results)
    print_table(lines)


if __name__ == "__main__":
    main()
