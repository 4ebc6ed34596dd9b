"""Planted flips: neutral points that random rescalings do not find, and the engines must.

    python -m benchmarks.planted_flips [--quick] [--samples 10000] [--sets 5] [--sizes 4 6 ...]

A training set is drawn, and a classifier w* of the closure: an L1-SVM with random costs, by HiGHS. Every L1-SVM is the limit
of SVMs of rescaled features (docs/theory.md, section 10). The point is placed by a linear program so that w* puts it on the
negative side, by little, and all SVMs at some sampled rescalings on the positive one, by as much as can be; where as many
other samples find the flip all the same, they count too, and the point is moved. So the rescalings that flip it are a narrow
cell around those costs, and the truth is known without any of the engines. Then 10,000 fresh random rescalings look for the
flip (plain SVMs, by non-negative least squares), and each engine of the registry that answers about every rescaling does. An
engine may say UNKNOWN; a strong verdict would be wrong.

With --sizes some numbers of features are measured again and the other stored lines are kept; each line says with how many
samples, with what limit and with what code it was measured.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls

from benchmarks.common import RESULTS, code_digests, print_table, write_result
from rescaleinv._util.types import FloatArray
from rescaleinv.engines import REGISTRY, EngineSettings, full_name
from rescaleinv.engines.choice import make_engine
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check

SIZES = (4, 6, 8, 12, 20, 30)
_DECADES = 1.0  # factors are log-uniform between 1/10 and 10
_COSTS = 24  # of so many planted classifiers the one that random rescalings come least near to is taken
_ROUNDS, _BEST = 4, 4  # a point that other rescalings find is moved, for the best few classifiers, or given up
_AT_ONCE = 200  # samples that a linear program gets at first, and in each round more
_CHEAP = 100.0
_DEPTH = 1e-5  # how far on the negative side the point is, in units of the features: far above rounding, and no farther


@dataclass(frozen=True)
class Planted:
    training_set: TrainingSet
    point: FloatArray
    distance: float  # of the sampled hyperplanes from the point, at least


def svm_at(training_set: TrainingSet, factors: FloatArray) -> FloatArray | None:
    """(w, b) of the SVM of the rescaled features, in the given units, scaled to |w| = 1; None where it is not accurate.

    Non-negative least squares (Lawson and Hanson's least-distance program, with an intercept that costs next to nothing)
    tell which rows are tight; with these the SVM is a linear system, whose solution is checked.
    """
    signs = training_set.signs.astype(float)
    rows = training_set.features * factors * signs[:, None]
    system = np.vstack([rows.T, _CHEAP * signs, np.ones(len(rows))])
    guess, _ = nnls(system, np.append(np.zeros(len(system) - 1), 1.0))
    tight = np.flatnonzero(guess > 1e-9 * guess.max())
    size = len(tight)
    matrix = np.zeros((size + 1, size + 1))
    matrix[:size, :size] = rows[tight] @ rows[tight].T
    matrix[size, :size] = matrix[:size, size] = signs[tight]
    solution = np.linalg.lstsq(matrix, np.append(np.ones(size), 0.0), rcond=None)[0]
    weights, intercept = solution[:size] @ rows[tight], solution[size]
    margins = rows @ weights + signs * intercept
    if margins.min() < 1 - 1e-7 or solution[:size].min() < -1e-9 * np.abs(solution).max():
        return None
    weights = weights * factors
    return np.append(weights, intercept) / np.linalg.norm(weights)


def svms_at_random_rescalings(training_set: TrainingSet, rng: np.random.Generator, count: int) -> FloatArray:
    """The SVMs at so many rescalings, log-uniform in ``_DECADES`` on both sides of 1."""
    factors = 10.0 ** rng.uniform(-_DECADES, _DECADES, (count, training_set.n_features))
    found = (svm_at(training_set, one / one.max()) for one in factors)
    return np.array([classifier for classifier in found if classifier is not None])


def l1_svm(training_set: TrainingSet, costs: FloatArray) -> FloatArray:
    """(w, b), scaled to |w| = 1, of least Σ c_j |w_j| among the separating hyperplanes with margins of at least 1."""
    m, n = training_set.features.shape
    rows = training_set.features * training_set.signs[:, None]
    matrix = -np.column_stack([rows, -rows, training_set.signs, -training_set.signs])
    answer = linprog([*costs, *costs, 0, 0], matrix, -np.ones(m), method="highs-ds")
    weights = answer.x[:n] - answer.x[n : 2 * n]
    return np.append(weights, answer.x[-2] - answer.x[-1]) / np.linalg.norm(weights)


def point_between(samples: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """A point ``_DEPTH`` beyond the target hyperplane and as far as can be on the positive side of all samples.

    The linear program is solved with few of the samples, and again with those that its answer is nearest to, until the
    answer is as far from all of them as from these.
    """
    chosen = np.arange(min(_AT_ONCE, len(samples)))
    while True:
        point, distance = _point_between_all(samples[chosen], target)
        values = samples[:, :-1] @ point + samples[:, -1]
        if distance <= 0 or values.min() >= distance - 1e-9:
            return point, distance
        chosen = np.union1d(chosen, np.argpartition(values, min(_AT_ONCE, len(values) - 1))[:_AT_ONCE])


def _point_between_all(samples: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    n = len(target) - 1
    matrix = np.column_stack([-samples[:, :-1], np.ones(len(samples))])
    matrix = np.vstack([matrix, np.append(target[:-1], 0.0)])
    right = np.append(samples[:, -1], -_DEPTH - target[-1])
    answer = linprog([*np.zeros(n), -1.0], matrix, right, bounds=[(-3, 3)] * n + [(None, 1)], method="highs")
    return (answer.x[:n], float(answer.x[n])) if answer.status == 0 else (np.zeros(n), -np.inf)


def planted(n_features: int, seed: int, samples_to_avoid: int) -> Planted:
    """A training set with a point whose flip is in a narrow cell of rescalings."""
    rng = np.random.default_rng([n_features, seed])
    rows = rng.normal(size=(6 * n_features + 20, n_features))
    scores = rows @ rng.normal(size=n_features) / np.sqrt(n_features)
    rows, scores = rows[np.abs(scores) > 0.1][: 3 * n_features + 8], scores[np.abs(scores) > 0.1][: 3 * n_features + 8]
    training_set = TrainingSet(rows, np.where(scores > 0, 1, -1), positive=1)
    samples = svms_at_random_rescalings(training_set, rng, samples_to_avoid)
    targets = [l1_svm(training_set, np.exp(2 * rng.normal(size=n_features))) for _ in range(_COSTS)]
    for _ in range(_ROUNDS):
        found = [(*point_between(samples, target), target) for target in targets]
        found.sort(key=lambda one: -one[1])
        point, distance, _ = found[0]
        if distance <= 0:  # every planted classifier is inside the hull of the samples: nothing is hidden here
            break
        others = svms_at_random_rescalings(training_set, rng, samples_to_avoid)
        if (others @ np.append(point, 1.0) >= 0).all():
            return Planted(training_set, point, distance)
        samples, targets = np.vstack([samples, others]), [target for _, _, target in found[:_BEST]]
    return planted(n_features, seed + 1000, samples_to_avoid)


def asked(name: str, case: Planted, time_limit: float) -> str:
    """The engine's verdict of the planted point; a neutral one must have a certificate that the checker accepts."""
    settings = EngineSettings(time_limit=time_limit, max_seconds=2 * time_limit)
    verdicts = make_engine(full_name(name), case.training_set, settings).certify(case.point[None, :])
    if verdicts[0] is Verdict.NEUTRAL:
        check(verdicts.certificate(0).to_json())
        return "found"
    return "open" if verdicts[0] is Verdict.UNKNOWN else "WRONG"


def line_of(n: int, n_sets: int, n_samples: int, time_limit: float) -> dict[str, Any]:
    """How many of the planted flips with so many features random rescalings and each engine have found."""
    cases = [planted(n, seed, 2 * n_samples) for seed in range(n_sets)]
    by_chance = 0
    for seed, case in enumerate(cases):
        rng = np.random.default_rng([n, seed, 1])
        values = svms_at_random_rescalings(case.training_set, rng, n_samples) @ np.append(case.point, 1.0)
        by_chance += bool((values < 0).any())
    line: dict[str, Any] = {"features": n, "rows": cases[0].training_set.n_rows, "sets": n_sets, "random": by_chance}
    for name, entry in REGISTRY.items():
        if entry.abilities.every_rescaling:
            answers = [asked(name, case, time_limit) for case in cases]
            line[name] = answers.count("found")
            line[f"{name} wrong"] = answers.count("WRONG")
    return {**line, "samples": n_samples, "time limit": time_limit, "code": code_digests("planted_flips")["rescaleinv"]}


def store(lines: list[dict[str, Any]]) -> None:
    lines = sorted(lines, key=lambda line: line["features"])
    engines = [name for name, entry in REGISTRY.items() if entry.abilities.every_rescaling]
    summary = {
        "sets": sum(line["sets"] for line in lines),
        "found by random rescalings": sum(line["random"] for line in lines),
        **{f"found by {name}": sum(line[name] for line in lines) for name in engines},
        "wrong": sum(line[f"{name} wrong"] for line in lines for name in engines),
    }
    finished = [line["features"] for line in lines] == list(SIZES)
    write_result("planted_flips", {"finished": finished, "by_size": lines, "summary": summary})


def stored() -> list[dict[str, Any]]:
    path = RESULTS / "planted_flips.json"
    return json.loads(path.read_text(encoding="utf-8"))["results"]["by_size"] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two small sizes; the stored results are not overwritten")
    parser.add_argument("--samples", type=int, default=10_000, help="random rescalings per set")
    parser.add_argument("--sets", type=int, default=5, help="training sets per size")
    parser.add_argument("--sizes", type=int, nargs="+", choices=SIZES, default=SIZES, help="numbers of features")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds per point for each engine")
    arguments = parser.parse_args()
    if arguments.quick:
        print_table([line_of(n, 2, 200, arguments.time_limit) for n in (4, 8)])
        return
    lines = [line for line in stored() if line["features"] not in arguments.sizes]
    for n in arguments.sizes:
        lines.append(line_of(n, arguments.sets, arguments.samples, arguments.time_limit))
        print_table(lines[-1:])
        store(lines)  # what is done stays done if the run is stopped
    if any(line[name] for line in lines for name in line if name.endswith(" wrong")):
        raise SystemExit("some verdicts are wrong")


if __name__ == "__main__":
    main()
