"""The rescaling radius: how narrow its brackets are, in what time, and whether anything contradicts them.

    RESCALEINV_DATA=FOLDER python -m benchmarks.radius [--points 100] [--seconds 2] [--wall] [--quick] [--only NAME]

Writes benchmarks/results/radius.json and the table of docs/guide_ranges.md (not with --quick or --only). Half of the rows
are the training rows, standardised, the points are others; brackets of 10 %, up to κ = 10. Limits and times are processor
time unless --wall is given, so that other work on the machine matters less. Plain SVMs (by Clarabel) at random rescalings
and corners within the certified κ must not change a label; of every eighth point both certificates are checked exactly.
"""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace

import numpy as np
from tqdm import tqdm

from benchmarks.common import write_result, write_table_between
from benchmarks.gap import GUIDE, half_of
from rescaleinv import GapEngine, TrainingSet
from rescaleinv.engines.branch import tree
from rescaleinv.theory.nu_margin import NuMargin, nu_svm
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.verify import check

RATIO, LARGEST = 1.1, 10.0
TRIALS = 3  # rescalings within the certified κ of a point at which a plain SVM is trained
WANTED_SHARE, WANTED_SECONDS = 0.9, 0.5

# what, data, margin
MARKS = ("<!-- radius: begin -->", "<!-- radius: end -->")
QUESTIONS = [
    ("Pima 8 × 384, C = 1", half_of("pima_diabetes"), "C"),
    ("heart 13 × 135, C = 1", half_of("heart_statlog"), "C"),
    ("Pima 8 × 384, nu = auto", half_of("pima_diabetes"), "nu"),
    ("heart 13 × 135, nu = auto", half_of("heart_statlog"), "nu"),
    ("heart, hard margin, rows left out", half_of("heart_statlog"), "hard"),
]


def engine_for(rows, labels, margin, seconds):
    training_set = TrainingSet(rows, labels)
    if margin == "hard":
        training_set = separable_subset(training_set, "misclassified").training_set
    penalties = np.ones(training_set.n_rows) if margin == "C" else None
    nu = NuMargin.like_penalty(training_set) if margin == "nu" else None
    return GapEngine(training_set, 2.0, penalties=penalties, nu=nu, time_limit=seconds, progress=False)


def plain_value(engine, tau, point):
    """The decision value of a plain SVM trained at the rescaling."""
    rows = engine.training_set
    if engine.nu is not None:
        svm = nu_svm(rows, engine.nu, tau)
        return svm.weights @ point + svm.intercept
    if engine.penalties is None:
        return minimal_norm_svm(rows, tau).decision_function(point[None])[0]
    svm = soft_margin_svm(TrainingSet(rows.features * tau, rows.signs), 1.0)
    return svm.weights @ (point * tau) + svm.intercept


def contradicted(engine, point, bracket, random):
    """Whether a plain SVM within the certified κ gives another label than the one at the given scaling."""
    kappa = min(bracket.lower, LARGEST)
    if kappa <= 1:
        return False
    label = np.sign(plain_value(engine, np.ones(len(point)), point))
    for trial in range(TRIALS):
        exponents = random.choice([-1, 1], len(point)) if trial % 2 else random.uniform(-1, 1, len(point))
        if label * plain_value(engine, kappa**exponents, point) < -1e-4:
            return True
    return False


def ask(name, make, margin, options):
    clock = time.perf_counter if options.wall else time.process_time
    rows, labels, points = make(0)
    engine = engine_for(rows, labels, margin, options.seconds)
    points = points[: options.points]
    engine.radius(points[-1:], ratio=RATIO, largest=LARGEST)  # compiled code is loaded
    brackets, seconds = [], []
    for point in tqdm(points, desc=name, leave=False):
        start = clock()
        brackets += engine.radius_brackets([point], ratio=RATIO, largest=LARGEST)
        seconds.append(clock() - start)
    ends = np.array([[bracket.lower, bracket.upper] for bracket in brackets])
    beyond = ends[:, 0] >= LARGEST
    narrow = beyond | (ends[:, 1] <= ends[:, 0] * RATIO * (1 + 1e-9))
    certificates, wrong, random = 0, 0, np.random.default_rng(0)
    for i, (point, bracket) in enumerate(zip(points, brackets, strict=True)):
        if i % 8 == 0:
            for certificate in engine.radius_certificates(point, bracket):
                if certificate is not None:
                    check(certificate.to_json())
                    certificates += 1
        wrong += contradicted(engine, point, bracket, random)
    wide = ends[~narrow]
    return {
        "question": name,
        "points": len(points),
        "narrow": float(narrow.mean()),
        "narrow_wanted": WANTED_SHARE,
        "beyond_largest": float(beyond.mean()),
        "widths_of_the_others": sorted(float(high / low) for low, high in wide if np.isfinite(high)),
        "no_upper_end": int(np.isinf(wide[:, 1]).sum()),
        "contradictions": wrong,
        "certificates_checked": certificates,
        "mean_s": float(np.mean(seconds)),
        "mean_s_wanted": WANTED_SECONDS,
        "median_s": float(np.median(seconds)),
        "longest_s": float(np.max(seconds)),
    }


def guide_lines(rows):
    """The table of docs/guide_ranges.md."""
    lines = ["| radius, 100 points | brackets of at most 10 % | mean per point | median |", "|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['question']} | {row['narrow']:.0%} | {row['mean_s']:.2f} s | {row['median_s']:.2f} s |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100, help="points per question")
    parser.add_argument("--seconds", type=float, default=2.0, help="time limit per point")
    parser.add_argument("--only", help="questions whose name has this in it")
    parser.add_argument("--wall", action="store_true", help="limits and times by the clock on the wall")
    parser.add_argument("--quick", action="store_true", help="few points; the stored results are left alone")
    options = parser.parse_args()
    options.points = min(options.points, 6) if options.quick else options.points
    if not options.wall:
        tree.time = SimpleNamespace(monotonic=time.process_time)
    results = []
    print(
        f"{'question':36s} {'narrow':>7s} {'wanted':>7s} {'mean':>8s} {'median':>8s} {'wrong':>6s}  widths of the others"
    )
    for question in QUESTIONS:
        if options.only and options.only not in question[0]:
            continue
        row = ask(*question, options)
        results.append(row)
        print(
            f"{row['question']:36s} {row['narrow']:7.1%} {row['narrow_wanted']:7.0%} {row['mean_s']:6.2f} s "
            f"{row['median_s']:6.2f} s {row['contradictions']:6d}  "
            f"{[round(width, 2) for width in row['widths_of_the_others']]}, {row['no_upper_end']} without an upper end",
            flush=True,
        )
    if not (options.only or options.quick):
        settings = {"seconds_per_point": options.seconds, "processor_time": not options.wall, "ratio": RATIO}
        write_result("radius", {**settings, "largest": LARGEST, "questions": results})
        write_table_between(MARKS, guide_lines(results), GUIDE)


if __name__ == "__main__":
    main()
