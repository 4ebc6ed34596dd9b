"""Every engine against brute force in rationals, on values that once led it astray: a long run of the tests' sample.

    python -m benchmarks.attack [--quick] [--seconds 20] [--seed 1000] [--only QUESTION ...]

``tests/attack_sets.py`` draws the training sets (up to 3 features and 6 rows: powers of two, sentinels, near ties, decimals,
tiny numbers). ``tests/brute_force.py`` has the truth about every rescaling, ``tests/brute_force_margins.py`` that about
limited ranges, penalties and ν; neither shares code with the package, nor with the other. Each question (an engine with a
margin and a range) has so many seconds of processor time per kind of values. A verdict must be the truth or UNKNOWN, and
both ends of a radius must be right. A set that an engine refuses with an error of ours is counted apart; any other
exception counts as wrong.

With --only some questions are asked again and the other stored lines are kept; each line says what code it was measured
with.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, code_digests, print_table, write_result
from rescaleinv._util.types import FloatArray
from rescaleinv.engines import REGISTRY, EngineSettings, full_name
from rescaleinv.engines.choice import make_engine
from rescaleinv.errors import RescaleInvError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict

sys.path.append(str(Path(__file__).parent.parent / "tests"))
import attack_sets
import brute_force
import brute_force_margins

_TIME_LIMIT = 5.0
_POINTS = 24  # per training set
_COLUMNS = ("sets", "refused", "points", "unknown", "wrong")
Truth = Callable[[FloatArray], Verdict]


@dataclass(frozen=True)
class Question:
    """An engine with a margin, and whether factors are limited or how far labels hold is asked."""

    engine: str
    margin: str = "hard"  # or C, nu
    about: str = "every rescaling"  # or a range, the radius

    @property
    def name(self) -> str:
        return f"{self.engine} {self.margin} {self.about}".replace(" ", "-")

    def settings(self, training_set: TrainingSet, rng: np.random.Generator) -> EngineSettings:
        limits = None if self.about == "every rescaling" else attack_sets.limits(rng, training_set.n_features)
        penalties = attack_sets.penalties(rng, training_set.n_rows) if self.margin == "C" else None
        nu = attack_sets.nu_margin(rng, training_set) if self.margin == "nu" else None
        return EngineSettings(time_limit=_TIME_LIMIT, limits=limits, penalties=penalties, nu=nu)


def questions() -> list[Question]:
    """What the engines of the registry say they can do."""
    found = []
    for name, entry in REGISTRY.items():
        can = entry.abilities
        margins = ["hard", *(["C"] if can.soft_margin else []), *(["nu"] if can.nu else [])]
        if can.every_rescaling:
            found += [Question(name, margin) for margin in margins if margin != "C"]
        if can.limited_ranges:
            found += [Question(name, margin, "a range") for margin in margins]
        if can.radius:
            found += [Question(name, margin, "the radius") for margin in margins]
    return found


def truth_of(training_set: TrainingSet, settings: EngineSettings) -> Truth:
    if settings.limits is None and settings.nu is None:
        return lambda point: brute_force.exact_verdict(training_set, point)
    caps = None if settings.nu is None else settings.nu.exact_caps
    question = brute_force_margins.Question.of(training_set, settings.limits, settings.penalties, caps)
    found: Truth = brute_force_margins.BruteForce(question).verdict
    return found


def answers(
    question: Question, training_set: TrainingSet, points: FloatArray, settings: EngineSettings
) -> Iterator[tuple[Verdict, Verdict]]:
    """What the engine says and what is true, point by point."""
    engine = make_engine(full_name(question.engine), training_set, settings)
    if question.about != "the radius":
        verdicts = engine.certify(points)
        truth = truth_of(training_set, settings)
        for verdict, point in zip(verdicts, points, strict=True):
            yield verdict, Verdict.UNKNOWN if verdict is Verdict.UNKNOWN else truth(point)
        return
    assert settings.limits is not None
    for point, ends in zip(points, engine.radius(points, ratio=1.1, largest=20.0), strict=True):
        for end, holds in zip(ends.tolist(), (True, False), strict=True):
            if not 1 < end <= 20:  # not found, or nothing but the given scaling is claimed
                yield Verdict.UNKNOWN, Verdict.UNKNOWN
                continue
            fixed = settings.limits[:, :1] == settings.limits[:, 1:]
            limits = np.where(fixed, 1.0, [[1 / end, end]])
            found = truth_of(training_set, replace(settings, limits=limits))(point)
            yield (
                Verdict.STRONGLY_POSITIVE if holds else Verdict.NEUTRAL,
                (Verdict.NEUTRAL if found is Verdict.NEUTRAL else Verdict.STRONGLY_POSITIVE),
            )


def attack(question: Question, kind: str, seed: int, seconds: float) -> dict[str, Any]:
    """Counts of points, of wrong and open ones, for one question and one kind of values."""
    tally: Counter[str] = Counter()
    started = time.process_time()
    for number in count(seed):
        if time.process_time() - started > seconds:
            break
        separable = question.margin == "hard"
        n_rows = 6 if separable and question.about == "every rescaling" else 5
        found = attack_sets.drawn(kind, number, _POINTS, n_rows, separable)
        if found is None:
            continue
        training_set, points = found
        tally["sets"] += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                settings = question.settings(training_set, np.random.default_rng([number, 1]))
                said = list(answers(question, training_set, points, settings))
        except RescaleInvError:
            tally["refused"] += 1
            continue
        except Exception as error:
            tally["wrong"] += 1
            print(f"WRONG: {question.name} {kind} {number}: {type(error).__name__}: {error}", flush=True)
            continue
        for verdict, truth in said:
            tally["points"] += 1
            tally["unknown"] += verdict is Verdict.UNKNOWN
            if verdict is not truth:
                tally["wrong"] += 1
                print(f"WRONG: {question.name} {kind} {number}: {verdict.name} and not {truth.name}", flush=True)
    return {
        "question": question.name,
        "values": kind,
        **{column: tally[column] for column in _COLUMNS},
        "code": code_digests("attack")["rescaleinv"],
    }


def summary(lines: list[dict[str, Any]], seconds: float, seed: int) -> dict[str, Any]:
    """The lines so far with their totals; "finished" says whether every question has met every kind of values."""
    keys = _COLUMNS
    totals = {
        name: {key: sum(line[key] for line in lines if line["question"] == name) for key in keys}
        for name in dict.fromkeys(line["question"] for line in lines)
    }
    in_all = {key: sum(line[key] for line in lines) for key in keys}
    finished = {(line["question"], line["values"]) for line in lines} == {
        (question.name, kind) for question in questions() for kind in attack_sets.KINDS
    }
    return {
        "seconds": seconds,
        "seed": seed,
        "finished": finished,
        "in all": in_all,
        "totals": totals,
        "lines": lines,
    }


def stored() -> list[dict[str, Any]]:
    path = RESULTS / "attack.json"
    if not path.exists():
        return []
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["results"]["lines"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a second each; the stored results are not overwritten")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of processor time, for each question and kind of values"
    )
    parser.add_argument("--seed", type=int, default=1000, help="of the first training set")
    names = [question.name for question in questions()]
    parser.add_argument("--only", nargs="+", choices=names, metavar="QUESTION", help=f"of {', '.join(names)}")
    arguments = parser.parse_args()
    seconds = 1.0 if arguments.quick else arguments.seconds
    chosen = arguments.only or names
    kept = [line for line in stored() if line.get("question") in names and line["question"] not in chosen]
    lines = kept if arguments.only else []
    for question in questions():
        for kind in attack_sets.KINDS if question.name in chosen else ():
            lines.append(attack(question, kind, arguments.seed, seconds))
            print(lines[-1], flush=True)
            if not arguments.quick:  # what is done stays done if the run is stopped
                in_order = sorted(lines, key=lambda line: names.index(line["question"]))
                write_result("attack", summary(in_order, seconds, arguments.seed))
    print_table(lines)
    if any(line["wrong"] for line in lines):
        raise SystemExit("some verdicts are wrong")


if __name__ == "__main__":
    main()
