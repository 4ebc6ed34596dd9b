"""Every engine against brute force in rationals, on values that once led it astray: a long run of the tests' sample.

    python -m benchmarks.attack [--quick] [--seconds 60] [--seed 1000]

``tests/attack_sets.py`` draws the training sets (up to 3 features and 6 rows: powers of two, sentinels, near ties, decimals,
tiny numbers), ``tests/brute_force.py`` has the truth, which shares no code with the package. Each engine in the registry has
so many seconds of processor time per kind of values. Engines about every rescaling must say the truth or UNKNOWN; engines
about limited ranges (here [1/4, 4]) must not contradict a strong truth. A set that an engine refuses with an error of ours
is counted apart.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import print_table, write_result
from rescaleinv.engines import REGISTRY, EngineSettings, full_name
from rescaleinv.engines.choice import make_engine
from rescaleinv.errors import RescaleInvError
from rescaleinv.verdict import Verdict

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import attack_sets
import brute_force


def attack(name: str, kind: str, seed: int, seconds: float) -> dict[str, Any]:
    """Counts of points, of wrong and open ones, for one engine and one kind of values."""
    entry = REGISTRY[name]
    tally: Counter[str] = Counter()
    started = time.process_time()
    for number in count(seed):
        if time.process_time() - started > seconds:
            break
        found = attack_sets.drawn(kind, number)
        if found is None:
            continue
        training_set, points = found
        tally["sets"] += 1
        limits = None if entry.abilities.every_rescaling else np.tile([0.25, 4.0], (training_set.n_features, 1))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                engine = make_engine(full_name(name), training_set, EngineSettings(time_limit=5.0, limits=limits))
                verdicts = engine.certify(points)
        except RescaleInvError:
            tally["refused"] += 1
            continue
        for verdict, point in zip(verdicts, points, strict=True):
            truth = brute_force.exact_verdict(training_set, point)
            tally["points"] += 1
            if verdict is Verdict.UNKNOWN:
                tally["unknown"] += 1
            elif verdict is not truth and (limits is None or truth is not Verdict.NEUTRAL):
                tally["wrong"] += 1
                print(f"WRONG: {name} {kind} {number}: {verdict.name} and not {truth.name} at {point.tolist()}")
    return {
        "engine": name,
        "values": kind,
        **{key: tally[key] for key in ("sets", "refused", "points", "unknown", "wrong")},
    }


def summary(lines: list[dict[str, Any]], seconds: float, seed: int) -> dict[str, Any]:
    """The lines so far with their totals; "finished" says whether every engine has met every kind of values."""
    keys = ("points", "unknown", "wrong")
    totals = {
        name: {key: sum(line[key] for line in lines if line["engine"] == name) for key in keys}
        for name in dict.fromkeys(line["engine"] for line in lines)
    }
    finished = len(lines) == len(REGISTRY) * len(attack_sets.KINDS)
    return {"seconds": seconds, "seed": seed, "finished": finished, "totals": totals, "lines": lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a second each; the stored results are not overwritten")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of processor time, for each engine and kind of values"
    )
    parser.add_argument("--seed", type=int, default=1000, help="of the first training set")
    arguments = parser.parse_args()
    seconds = 1.0 if arguments.quick else arguments.seconds
    lines: list[dict[str, Any]] = []
    for name in REGISTRY:
        for kind in attack_sets.KINDS:
            lines.append(attack(name, kind, arguments.seed, seconds))
            print(lines[-1], flush=True)
            if not arguments.quick:  # what is done stays done if the run is stopped
                write_result("attack", summary(lines, seconds, arguments.seed))
    print_table(lines)
    if any(line["wrong"] for line in lines):
        raise SystemExit("some verdicts are wrong")


if __name__ == "__main__":
    main()
