"""Do verdicts about every rescaling change when the data are scaled by floats?

Draws of nine data sets, each as it is, after StandardScaler, MinMaxScaler and RobustScaler, multiplied by 0.1, and converted
from inches to centimetres. Twice: with the floats taken at their word (read_as="float") and as they were written. For each
way: verdicts that differ from those of the raw data, the largest bound beside that of the raw data, the processor time of
the enumeration beside that of the raw data (the forms in turn, several times where they are short; the best of each, summed
over the draws), and vertices whose edges had to be found in rationals.

Then ILPD, whose features are decimals, as it is: draws of 40 and 60 rows, enumerated as written and as floats. As floats
some take minutes; these are stopped, so that the ratio is at least what it says. Writes results/reading.json. The data sets
that are not shipped come from RESCALEINV_DATA. With --only one part is measured, and the other one of the file is kept; each
says what code it was measured with.

    python -m benchmarks.reading [--quick] [--draws 8] [--float-draws 8] [--points 40] [--only forms|decimals]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from benchmarks.common import RESULTS, code_digests, print_table, write_result
from rescaleinv._util.types import FloatArray
from rescaleinv.datasets import load
from rescaleinv.engines.as_read import reading_engine
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.errors import DatasetUnavailableError
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet

ROWS = 24
DECIMALS = "indian_liver_patient"
_SHORT = 0.3  # seconds: what takes less is measured again, in turn with the other forms
_ROUNDS = 4
Form = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def _scaler(kind: type) -> Form:
    def form(rows: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        scaler = kind().fit(rows)
        return scaler.transform(rows), scaler.transform(points)

    return form


FORMS: dict[str, Form] = {
    "raw": lambda rows, points: (rows, points),
    "StandardScaler": _scaler(StandardScaler),
    "MinMaxScaler": _scaler(MinMaxScaler),
    "RobustScaler": _scaler(RobustScaler),
    "times 0.1": lambda rows, points: (rows * 0.1, points * 0.1),
    "inches to cm": lambda rows, points: (rows * 2.54, points * 2.54),
}


def data_sets() -> dict[str, tuple[FloatArray, Any]]:
    """At least nine with the data folder: the paper's, WDBC in two sizes, and single-digit copies of two of them."""
    found: dict[str, tuple[FloatArray, Any]] = {}
    for name in (
        "banknote",
        "blood_transfusion",
        "breast_cancer_wisconsin",
        "fertility",
        "pima_diabetes",
        "indian_liver_patient",
    ):
        try:
            data = load(name)
        except DatasetUnavailableError:
            continue
        found[name] = np.asarray(data.features, dtype=float), np.asarray(data.labels)
    features, labels = load_breast_cancer(return_X_y=True)
    found["WDBC, 6 features"] = features[:, :6], labels
    found["WDBC, features 10 to 17"] = features[:, 10:18], labels
    features, labels = found["banknote"]
    found["banknote, 1 digit"] = np.round(features, 1), labels
    features, labels = found["pima_diabetes"]
    found["pima, thirds"] = np.round(features / 3), labels
    return found


def draw(
    features: FloatArray, labels: Any, seed: int, n_points: int, n_rows: int = ROWS
) -> tuple[FloatArray, Any, FloatArray] | None:
    rng = np.random.default_rng([seed, 24])
    order = rng.permutation(len(features))
    chosen, rest = order[:n_rows], order[n_rows : n_rows + n_points]
    if len(set(labels[chosen].tolist())) < 2:
        return None
    kept = separable_subset(TrainingSet(features[chosen], labels[chosen])).kept
    return features[chosen[kept]], labels[chosen[kept]], features[rest]


def enumeration(engine: ComplexEngine) -> float:
    """The processor time that the enumeration takes."""
    started = time.process_time()
    engine.precompute()
    return time.process_time() - started


def decide(rows: FloatArray, labels: Any, points: FloatArray, read_as: str) -> tuple[Any, float, float, int, int]:
    """Codes, the largest finite bound, seconds of the enumeration, vertices, and those found in rationals."""
    training_set = TrainingSet(rows, labels, read_as=read_as)
    inner = ComplexEngine(training_set.as_read, n_jobs=1)
    seconds = enumeration(inner)
    verdicts = reading_engine(inner, training_set).certify(points)
    bound = float(np.abs(np.concatenate([verdicts.lower, verdicts.upper])).max())
    return verdicts.code, bound, seconds, len(inner.vertices.bases), inner.vertices.n_in_rationals


def once_more(rows: FloatArray, labels: Any, read_as: str) -> float:
    """Seconds of the enumeration."""
    return enumeration(ComplexEngine(TrainingSet(rows, labels, read_as=read_as).as_read, n_jobs=1))


def compare(
    name: str, features: FloatArray, labels: Any, n_draws: int, n_float_draws: int, n_points: int
) -> list[dict[str, Any]]:
    lines = {
        (form, way): {
            "data": name,
            "form": form,
            "read as": way,
            "verdicts": 0,
            "differ": 0,
            "bound ratio": 1.0,
            "seconds": 0.0,
            "raw seconds": 0.0,
            "vertices": 0,
            "in rationals": 0,
        }
        for form in FORMS
        for way in ("float", "written")
    }
    for seed in range(n_draws):
        drawn = draw(features, labels, seed, n_points)
        if drawn is None:
            continue
        rows, signs, points = drawn
        reference: dict[str, tuple[Any, float]] = {}
        seconds: dict[tuple[str, str], float] = {}
        for (form, way), line in lines.items():
            if way == "float" and seed >= n_float_draws:
                continue
            codes, bound, seconds[form, way], vertices, exact = decide(*_formed(form, rows, points, signs), way)
            raw = reference.setdefault(way, (codes, bound))
            line["verdicts"] += len(codes)
            line["differ"] += int((codes != raw[0]).sum())
            line["bound ratio"] = max(line["bound ratio"], bound / max(raw[1], 1e-300))
            line["vertices"] += vertices
            line["in rationals"] += exact
        for _ in range(_ROUNDS - 1):
            for form, way in [key for key, least in seconds.items() if least < _SHORT]:
                new_rows, _, _ = _formed(form, rows, points, signs)
                seconds[form, way] = min(seconds[form, way], once_more(new_rows, signs, way))
        for (form, way), least in seconds.items():
            lines[form, way]["seconds"] += least
            lines[form, way]["raw seconds"] += seconds["raw", way]
    for line in lines.values():
        raw_seconds = line.pop("raw seconds")
        line["time ratio"] = line["seconds"] / raw_seconds if raw_seconds else 1.0
    return list(lines.values())


def _formed(form: str, rows: FloatArray, points: FloatArray, signs: Any) -> tuple[FloatArray, Any, FloatArray]:
    new_rows, new_points = FORMS[form](rows, points)
    return new_rows, signs, new_points


def decimals(n_draws: int, row_counts: tuple[int, ...], most_seconds: float) -> list[dict[str, Any]]:
    """One line per number of rows: the enumeration of ILPD as written and as floats, in processor time."""
    found = data_sets().get(DECIMALS)
    lines: list[dict[str, Any]] = []
    for n_rows in row_counts if found else ():
        features, labels = found
        seconds, counts, stopped, ratios = {"written": 0.0, "float": 0.0}, {"written": 0, "float": 0}, 0, []
        for seed in range(n_draws):
            drawn = draw(features, labels, seed, 0, n_rows)
            if drawn is None:
                continue
            times = {}
            for way in seconds:
                training_set = TrainingSet(drawn[0], drawn[1], read_as=way)
                limit = most_seconds if way == "float" else None
                engine = ComplexEngine(training_set.as_read, n_jobs=1, max_seconds=limit)
                times[way] = enumeration(engine)
                seconds[way] += times[way]
                counts[way] += engine.vertices.n_in_rationals
                stopped += not engine.complete
            ratios.append(times["float"] / times["written"])
        lines.append(
            {
                "rows": n_rows,
                "draws": len(ratios),
                "seconds, written": seconds["written"],
                "seconds, float": seconds["float"],
                "in rationals, written": counts["written"],
                "in rationals, float": counts["float"],
                "stopped": stopped,
                "ratio, at least": seconds["float"] / seconds["written"],
                "median ratio": float(np.median(ratios)),
                "largest ratio": max(ratios),
            }
        )
    return lines


def measured() -> dict[str, str]:
    return {"rescaleinv": code_digests("reading")["rescaleinv"]}


def of_decimals(options: argparse.Namespace) -> dict[str, Any]:
    found = decimals(1 if options.quick else options.draws, (40, 60), options.most_seconds)
    if found:
        print_table(found)
    return {"decimals": found, "decimals by": measured()}


def forms(options: argparse.Namespace) -> dict[str, Any]:
    lines: list[dict[str, Any]] = []
    for name, (features, labels) in data_sets().items():
        draws = 1 if options.quick else options.draws
        lines += compare(name, features, labels, draws, min(draws, options.float_draws), options.points)
        print(name, flush=True)
    totals = [
        {
            "form": form,
            "read as": way,
            "verdicts": sum(line["verdicts"] for line in some),
            "differ from raw": sum(line["differ"] for line in some),
            "largest bound ratio": max(line["bound ratio"] for line in some),
            "median time ratio": float(np.median([line["time ratio"] for line in some])),
            "largest time ratio": max(line["time ratio"] for line in some),
            "vertices": sum(line["vertices"] for line in some),
            "in rationals": sum(line["in rationals"] for line in some),
        }
        for way in ("float", "written")
        for form in FORMS
        for some in [[line for line in lines if line["form"] == form and line["read as"] == way]]
    ]
    print_table(totals)
    sizes = {"draws": options.draws, "float draws": options.float_draws}
    return {**sizes, "totals": totals, "lines": lines, "forms by": measured()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one draw; the stored results are not overwritten")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--float-draws", type=int, default=8, help="of these, how many are also asked as floats (slow)")
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--most-seconds", type=float, default=60.0, help="for one enumeration of ILPD as floats")
    parser.add_argument("--only", choices=["forms", "decimals"], help="one part; the other one of the file is kept")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # constant features
    decide(np.eye(2), np.array([1, -1]), np.eye(2), "written")  # compiles
    path = RESULTS / "reading.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["results"] if options.only and path.exists() else {}
    if options.only != "decimals":
        kept |= forms(options)
    if options.only != "forms":
        kept |= of_decimals(options)
    if not options.quick:
        write_result("reading", kept)


if __name__ == "__main__":
    main()
