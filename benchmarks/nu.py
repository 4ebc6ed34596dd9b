"""The soft margin without a scale under every rescaling: how many points are decided, how, in what time, and is it true?

    RESCALEINV_DATA=FOLDER python -m benchmarks.nu [--points 100] [--only bupa,heart] [--forms raw,standardised] [--again]
                                                   [--processor-time] [--quick]

Writes benchmarks/results/nu.json and nu.md after every set; what is stored already is not measured again without --again.
nu="auto", half of the rows for training (none left out), every rescaling, at most 4 s per point on average, in one process
(2 s where two processes share the points); raw and standardised data. With --processor-time (for a machine that others use)
limits and times are of the processor's time. Strong verdicts are put to ν-SVMs at sampled rescalings, solved by Clarabel in
a form of their own; where one says otherwise, the exact ν-SVM there decides whether the verdict is contradicted.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, code_digests, print_table, write_result
from benchmarks.sizes import two_classes, wdbc
from rescaleinv import RescaleInvariantSVC
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_nu import exact_nu_svm_at
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check

SEED = 0
SAMPLES = 40
CHECKED = 20
# Of one process: two that share the points take half of it per point, which is the 2 s that are wanted.
TIME_LIMIT = 4.0
# A decision value of a float solution that is nearer to 0 than this (in units of the weights) says nothing.
NEAR = 1e-7

# name: data, training rows, share wanted
SETS: dict[str, tuple[Callable[[], tuple[Any, Any]], int, float]] = {
    "banknote": (two_classes("banknote", "1"), 686, 0.99),
    "bupa": (two_classes("bupa_liver", "1"), 172, 0.99),
    "pima": (two_classes("pima_diabetes", "1"), 384, 1.0),
    "breast cancer": (two_classes("breast_cancer_wisconsin", "1"), 341, 0.97),
    "ilpd": (two_classes("indian_liver_patient", "1"), 290, 0.97),
    "heart": (two_classes("heart_statlog", "1"), 135, 0.95),
    "credit-g": (two_classes("credit_g_numeric", "good"), 500, 0.97),
    "wdbc": (wdbc, 284, 0.50),
    "vehicle": (two_classes("vehicle", "saab", "bus"), 217, 0.50),
}


def sampled_svm(rows: Any, signs: Any, caps: Any) -> tuple[Any, float] | None:
    """The direction and intercept of the ν-SVM: the largest mean of the worst margins over |w| <= 1, by Clarabel."""
    import cvxpy as cp

    w, b, rho, slack = cp.Variable(rows.shape[1]), cp.Variable(), cp.Variable(), cp.Variable(len(rows), nonneg=True)
    problem = cp.Problem(
        cp.Maximize(rho - caps @ slack),
        [cp.multiply(signs, rows @ w + b) >= rho - slack, cp.norm(w, 2) <= 1],
    )
    try:
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    except cp.error.SolverError:
        return None
    return None if w.value is None else (w.value, float(b.value))


def contradicted(model: RescaleInvariantSVC, points: Any, verdicts: Any, samples: int) -> dict[str, int]:
    """Strong verdicts that a sampled rescaling contradicts: by floats, and then in rationals."""
    rng = np.random.default_rng(SEED)
    training_set, margin = model.training_set_, model._fitted.margin.nu
    conditioned, exponent = training_set.conditioning.apply(points), training_set.conditioning.exponent
    said = wrong = solved = 0
    for _ in range(samples):
        tau = np.exp(rng.normal(size=points.shape[1]) * rng.choice([0.5, 1.0, 2.0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = sampled_svm(training_set.conditioned * tau, training_set.signs.astype(float), margin.caps)
        if found is None:
            continue
        solved += 1
        values = conditioned * tau @ found[0] + found[1]
        against = (verdicts.strongly_positive & (values < -NEAR)) | (verdicts.strongly_negative & (values > NEAR))
        said += int(against.sum())
        if not against.any():
            continue
        try:
            exact = exact_nu_svm_at(training_set.as_read, margin, np.ldexp(tau, -exponent) * training_set.reading.units)
        except CertificateError:
            continue
        for i in np.flatnonzero(against):
            read = training_set.reading.values(points[i : i + 1])[0]
            wrong += exact.side_of([_fraction(x) for x in read]) == -int(verdicts.code[i])
    return {"rescalings": solved, "contradicted_by_floats": said, "contradicted": wrong}


def _fraction(value: float) -> Any:
    from fractions import Fraction

    return Fraction(float(value))


def measured(name: str, standardise: bool, n_points: int, samples: int) -> dict[str, Any]:
    data, n_rows, wanted = SETS[name]
    features, labels = data()
    order = np.random.default_rng(SEED).permutation(len(features))
    rows, others = order[:n_rows], order[n_rows : n_rows + n_points]
    if standardise:
        mean, deviation = features[rows].mean(axis=0), features[rows].std(axis=0)
        features = (features - mean) / np.where(deviation > 0, deviation, 1)
    points = features[others]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        RescaleInvariantSVC(nu="auto", time_limit=TIME_LIMIT).fit(features[rows], labels[rows]).certify(
            points[:1]
        )  # loads compiled code
        started = time.process_time()
        model = RescaleInvariantSVC(nu="auto", time_limit=TIME_LIMIT).fit(features[rows], labels[rows])
        fitting = time.process_time() - started
    started = time.process_time()
    verdicts = model.certify(points)
    seconds = time.process_time() - started
    two_intercepts = int((verdicts.neutral & (verdicts.reason != "")).sum())
    margin = model._fitted.margin.nu
    predicted = model.predict(points)
    strong_label = np.where(verdicts.strongly_positive, model.classes_[1], model.classes_[0])
    refused = 0
    chosen = np.flatnonzero(np.isin(verdicts.status, ["certified", "proved"]))[:CHECKED]
    for i in chosen:
        refused += (
            check(verdicts.certificate(int(i)).to_json()) != verdict_words(verdicts[int(i)]) + verdicts.engine.scope
        )
    result = {
        "set": name,
        "standardised": standardise,
        "features": features.shape[1],
        "rows": model.training_set_.n_rows,
        "points": len(points),
        "nu": model.nu_,
        "least_nu": margin.least,
        "engine": model.engine_.name,
        "decided": float((~verdicts.unknown).mean()),
        "wanted": wanted,
        "strong": int(verdicts.strong.sum()),
        "neutral": int(verdicts.neutral.sum()),
        "neutral_by_two_intercepts": two_intercepts,
        "unknown": int(verdicts.unknown.sum()),
        "seconds_per_point": seconds / len(points),
        "fit_seconds": fitting,
        "settled_by": dict(getattr(model.engine_.engine, "settled_by", {})),
        "certificates_checked": len(chosen),
        "certificates_refused": int(refused),
        "strong_against_predict": int((verdicts.strong & (strong_label != predicted)).sum()),
        **contradicted(model, points, verdicts, samples),
        "reasons": dict(Counter(map(_short_reason, verdicts.reason[verdicts.unknown]))),
        "code": code_digests("nu")["rescaleinv"],
    }
    print({key: (round(value, 4) if isinstance(value, float) else value) for key, value in result.items()}, flush=True)
    return result


def _short_reason(reason: str) -> str:
    return re.sub(r"[-+]?\d[\d.,e+-]*", "#", reason.partition(";")[0])


def as_markdown(results: dict[str, Any]) -> str:
    lines = [
        "# The soft margin without a scale, under every rescaling",
        "",
        'Made by `python -m benchmarks.nu`. ν = "auto", no row left out, at most 4 s per point on average, one process, one',
        f"draw; limits are of {results['clock']}, seconds of the processor's time.",
        "",
        "| training set | features × rows | ν (times the least) | decided | wanted | strong | neutral | of these by two "
        "best intercepts | s per point | settled by | rescalings sampled | contradicted |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["sets"].values():
        times = f" ({row['nu'] / row['least_nu']:.3f})" if row["least_nu"] else " (separable)"
        steps = ", ".join(f"{step} {count}" for step, count in row["settled_by"].items())
        lines.append(
            f"| {row['set']}{', standardised' if row['standardised'] else ''} | {row['features']} × {row['rows']} "
            f"| {row['nu']:.3f}{times} | {row['decided']:.0%} of {row['points']} | {row['wanted']:.0%} | {row['strong']} "
            f"| {row['neutral']} | {row['neutral_by_two_intercepts']} | {row['seconds_per_point']:.2f} | {steps} "
            f"| {row['rescalings']} | {row['contradicted']} |"
        )
    return "\n".join(lines) + "\n"


def stored() -> dict[str, Any]:
    path = RESULTS / "nu.json"
    empty: dict[str, Any] = {"clock": "", "sets": {}}
    return json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else empty


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--only", help=f"names of sets, separated by commas: {', '.join(SETS)}")
    parser.add_argument("--forms", default="raw,standardised")
    parser.add_argument("--again", action="store_true", help="measure what is stored already as well")
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine")
    parser.add_argument("--quick", action="store_true", help="few points and samples; stored results are not touched")
    options = parser.parse_args()
    if options.processor_time:
        time.monotonic = time.process_time  # limits and times alike
    names = options.only.split(",") if options.only else list(SETS)
    n_points, samples = (5, 5) if options.quick else (options.points, SAMPLES)
    results = {"clock": "", "sets": {}} if options.quick else stored()
    for form in options.forms.split(","):
        for name in names:
            key = name + (", standardised" if form != "raw" else "")
            if key in results["sets"] and not options.again:
                continue
            found = measured(name, form != "raw", n_points, samples)
            results = results if options.quick else stored()  # another run may have stored something meanwhile
            results["sets"][key] = found
            results["clock"] = "processor time" if options.processor_time else "the clock on the wall"
            if not options.quick:  # what is done stays done
                write_result("nu", results)
                (RESULTS / "nu.md").write_text(as_markdown(results), encoding="utf-8")
    columns = ("set", "decided", "wanted", "seconds_per_point", "contradicted")
    print_table([{key: row[key] for key in columns} for row in results["sets"].values()])


if __name__ == "__main__":
    main()
