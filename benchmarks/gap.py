"""Limited ranges of rescalings: how many points the gap engine decides, in what time, and whether anything contradicts it.

    RESCALEINV_DATA=FOLDER python -m benchmarks.gap [--points 100] [--seconds 2] [--only NAME] [--again] [--cpu] [--quick]

Writes benchmarks/results/gap.json, and the table of docs/guide_ranges.md, after every question; what is stored for this code
is not measured again without --again. The rescaling radius has a benchmark of its own. One process; the time limit is per
point, on average over a draw. With --cpu limits and times are processor time, so that other work on the machine matters
less.

Training rows are drawn at random, features standardised on them (text: as counted), the points are other rows. Every strong
verdict is tested by plain SVMs at random rescalings and corners of the range, every neutral one at its two rescalings;
certificates are checked exactly. Most data sets come from RESCALEINV_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from benchmarks.common import RESULTS, code_digests, write_result, write_table_between
from rescaleinv import GapEngine, TrainingSet, minimal_norm_svm
from rescaleinv.datasets import load
from rescaleinv.engines.branch import engine as engine_module
from rescaleinv.engines.branch.decision import Decision
from rescaleinv.theory.separability import separable_subset
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check

GUIDE, MARKS = Path(__file__).parents[1] / "docs" / "guide_ranges.md", ("<!-- gap: begin -->", "<!-- gap: end -->")
TRIALS = 40  # rescalings of the range at which plain SVMs are trained


def standardised(features, labels, n_rows, seed):
    order = np.random.default_rng(seed).permutation(len(features))
    rows, others = order[:n_rows], order[n_rows:]
    mean, deviation = features[rows].mean(axis=0), features[rows].std(axis=0)
    scaled = (features - mean) / np.where(deviation > 0, deviation, 1)
    return scaled[rows], labels[rows], scaled[others]


def wdbc(seed):
    features, labels = load_breast_cancer(return_X_y=True)
    return standardised(features, 2 * labels - 1, 100, seed)


def sonar(seed):
    features, labels, _ = load("sonar")
    return standardised(features, np.where(np.asarray(labels) == "M", 1, -1), 104, seed)


def pima(_):
    features, labels, _ = load("pima_diabetes")
    rows, labels, _ = standardised(features, labels, len(features), 0)
    return rows, labels, rows


def oh10(seed):
    folder = os.environ.get("RESCALEINV_DATA")
    if folder is None:
        raise FileNotFoundError("text/oh10.npz is not there: RESCALEINV_DATA is not set")
    from scipy.sparse import csr_matrix

    stored = np.load(Path(folder) / "text" / "oh10.npz", allow_pickle=True)
    counts = csr_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"]).toarray()
    classes, sizes = np.unique(stored["label"], return_counts=True)
    labels = np.where(stored["label"] == classes[sizes.argmax()], 1, -1)
    order = np.random.default_rng(seed).permutation(len(counts))
    return counts[order[:300]].astype(float), labels[order[:300]], counts[order[300:]].astype(float)


def wdbc_half(seed):
    features, labels = load_breast_cancer(return_X_y=True)
    return standardised(features, 2 * labels - 1, 284, seed)


def wdbc_285(seed):
    features, labels = load_breast_cancer(return_X_y=True)
    return standardised(features, 2 * labels - 1, 285, seed)


def half_of(name, positive=None, among=None):
    """Half of the rows, standardised; classes by name where they are not 1 and -1."""

    def draw(seed):
        features, labels, _ = load(name)
        labels = np.asarray(labels)
        if among is not None:
            features, labels = features[np.isin(labels, among)], labels[np.isin(labels, among)]
        if positive is not None:
            labels = np.where(labels == positive, 1, -1)
        return standardised(features, labels, len(features) // 2, seed)

    return draw


# what, data, κ, C, share of the points that is wanted, time that is wanted
QUESTIONS = [
    ("WDBC, 30 features, 100 rows, κ = 1.5", wdbc, 1.5, None, 0.98, "30 ms median"),
    ("WDBC, κ = 2", wdbc, 2.0, None, 0.95, "2 s per point"),
    ("WDBC, κ = 4", wdbc, 4.0, None, 0.95, "2 s per point"),
    ("sonar, 60 features, 104 rows, κ = 1.25", sonar, 1.25, None, 0.95, "2 s per point"),
    ("Pima whole, 8 features, C = 1, κ = 2", pima, 2.0, 1.0, 0.95, "100 ms median"),
    ("WDBC, 285 rows, κ = 10", wdbc_285, 10.0, None, 0.90, "2 s per point"),
    ("bupa, half, C = 1, κ = 4", half_of("bupa_liver"), 4.0, 1.0, 1.0, "2 s per point"),
    ("heart, half, C = 1, κ = 4", half_of("heart_statlog"), 4.0, 1.0, 0.98, "2 s per point"),
    ("vehicle, half, C = 1, κ = 4", half_of("vehicle", "saab", ["saab", "bus"]), 4.0, 1.0, 0.92, "2 s per point"),
    ("credit-g, half, C = 1, κ = 4", half_of("credit_g_numeric"), 4.0, 1.0, 0.92, "2 s per point"),
    ("WDBC, half, C = 1, κ = 4", wdbc_half, 4.0, 1.0, 0.95, "2 s per point"),
    ("sonar, half, C = 1, κ = 4", sonar, 4.0, 1.0, 0.98, "2 s per point"),
    ("oh10, 3,238 terms, 300 rows, C = 1, κ = 1.1", oh10, 1.1, 1.0, 0.90, "reported"),
]


@contextmanager
def seconds_of_points():
    """What each point takes, by its bytes, over all rounds of a call."""
    spent: dict[bytes, float] = defaultdict(float)
    decide = engine_module.decide

    def timed(problem, point, *args, **kwargs):
        start = time.monotonic()
        try:
            return decide(problem, point, *args, **kwargs)
        finally:
            spent[point.tobytes()] += time.monotonic() - start

    engine_module.decide = timed
    try:
        yield spent
    finally:
        engine_module.decide = decide


def ask(name, make, kappa, C, wanted, wanted_time, options):
    codes, seconds, parts, contradictions, total = [], [], [], 0, 0.0
    finding, checking, certificates = [], [], 0
    few = make is oh10
    draws = 1 if make in (pima, oh10) else options.draws
    for seed in range(draws):
        rows, labels, points = make(seed)
        training_set = TrainingSet(rows, labels)
        if C is None:
            training_set = separable_subset(training_set, "misclassified").training_set
        penalties = None if C is None else np.full(training_set.n_rows, C)
        engine = GapEngine(
            training_set, kappa, penalties=penalties, time_limit=15 * options.seconds if few else options.seconds
        )
        engine.precompute()
        points = points[: (len(points) if make is pima else 20 if few else options.points)]
        engine.certify(points[:3])  # compiled code is loaded
        start = time.monotonic()
        with seconds_of_points() as spent:
            verdicts = engine.certify(points)
        total += time.monotonic() - start
        seconds += [spent[point.tobytes()] for point in points]
        codes += verdicts.code.tolist()
        found: list[Decision] = [engine._kept.get(point.tobytes(), Decision(1)) for point in points]
        parts += [decision.n_parts for decision in found if decision.decided]
        contradictions += contradicted(training_set, points, found, kappa, C, 2 if few else TRIALS)
        for decision, point, spent in list(zip(found, points, seconds[-len(points) :], strict=True))[
            :: 40 if few else 8
        ]:
            if decision.cover is not None:
                made = engine._certificate(point, decision).to_json()
                start = time.perf_counter()
                check(made)
                checking.append(time.perf_counter() - start)
                finding.append(spent)
                certificates += 1
    codes = np.array(codes)
    return {
        "question": name,
        "points": len(codes),
        "strong": float(np.isin(codes, [1, -1]).mean()),
        "neutral": float((codes == 0).mean()),
        "unknown": int((codes == Verdict.UNKNOWN).sum()),
        "decided": float((codes != Verdict.UNKNOWN).mean()),
        "decided_wanted": wanted,
        "time_wanted": wanted_time,
        "median_ms": float(np.median(seconds)) * 1e3,
        "mean_ms": total / len(codes) * 1e3,
        "longest_s": float(np.max(seconds)),
        "mean_parts": float(np.mean(parts)),
        "clock": "processor time" if options.cpu else "the clock on the wall",
        "seconds_per_point": options.seconds,
        "code": code_digests("gap")["rescaleinv"],
        "contradictions": contradictions,
        "certificates_checked": certificates,
        "checking_by_finding": float(np.sum(checking) / np.sum(finding)) if finding else None,
        "checking_ms": float(np.mean(checking)) * 1e3 if checking else None,
    }


def contradicted(training_set, points, found, kappa, C, trials):
    """Strong points that a plain SVM labels otherwise, and neutral ones whose two rescalings agree."""
    random = np.random.default_rng(0)
    n = training_set.n_features
    signs = np.array([decision.label if decision.cover is not None else 0 for decision in found])
    bad = np.zeros(len(points), bool)

    def values(tau, which):
        if (
            C is None
        ):  # libsvm with a large C does not converge on features of unlike size, and then contradicts anything
            return minimal_norm_svm(training_set, tau).decision_function(points[which])
        svm = SVC(C=C, kernel="linear", tol=1e-5, max_iter=200_000).fit(training_set.features * tau, training_set.signs)
        return svm.decision_function(points[which] * tau)

    everything = np.arange(len(points))
    for trial in range(trials):
        exponents = random.choice([-1, 1], n) if trial % 2 else random.uniform(-1, 1, n)
        bad |= signs * values(kappa**exponents, everything) < -1e-3
    for i, decision in list(enumerate(found))[:: 5 if len(points) > 200 else 1]:
        if decision.neutral:
            for flip, sign in ((decision.positive, 1), (decision.negative, -1)):
                bad[i] |= bool(sign * values(flip.factors**-0.5, [i])[0] < -1e-3)
    return int(bad.sum())


def guide_lines(rows):
    """The table of docs/guide_ranges.md."""
    lines = [
        "| what | decided | wanted | median per point | mean | contradicted | checking / finding |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = row["checking_by_finding"]
        lines.append(
            f"| {row['question']} ({row['points']} points) | {row['decided']:.1%} | {row['decided_wanted']:.0%} "
            f"| {duration(row['median_ms'])} | {duration(row['mean_ms'])} | {row['contradictions']} "
            f"| {'' if ratio is None else format(ratio, '.1f')} |"
        )
    return lines


def duration(milliseconds):
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def stored():
    """What was measured with this code, by question."""
    path = RESULTS / "gap.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["results"]["questions"] if path.exists() else []
    now = code_digests("gap")["rescaleinv"]
    return {row["question"]: row for row in rows if row.get("code") == now}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100, help="points per draw")
    parser.add_argument("--draws", type=int, default=2, help="training sets a question")
    parser.add_argument("--seconds", type=float, default=2.0, help="time limit per point, on average")
    parser.add_argument("--only", help="questions whose name has this in it")
    parser.add_argument("--again", action="store_true", help="measure what is stored already as well")
    parser.add_argument("--cpu", action="store_true", help="limits and times are processor time")
    parser.add_argument(
        "--quick", action="store_true", help="few points of one draw; the stored results are left alone"
    )
    options = parser.parse_args()
    if options.quick:
        options.points, options.draws = min(options.points, 8), 1
    if options.cpu:
        time.monotonic = time.process_time  # limits and times alike
    results = {} if options.quick else stored()
    print(
        f"{'question':45s} {'decided':>8s} {'wanted':>7s} {'median':>9s} {'mean':>9s} {'wrong':>6s} {'check/find':>10s}"
    )
    for question in QUESTIONS:
        if options.only and options.only not in question[0]:
            continue
        if question[0] in results and not options.again:
            continue
        try:
            row = ask(*question, options)
        except (FileNotFoundError, LookupError) as error:
            print(f"{question[0]:45s} left out: {error}")
            continue
        if not options.quick:  # what is done stays done
            results = {**stored(), question[0]: row}
            measured = [results[name] for name, *_ in QUESTIONS if name in results]
            write_result("gap", {"questions": measured})
            write_table_between(MARKS, guide_lines(measured), GUIDE)
        ratio = row["checking_by_finding"]
        print(
            f"{row['question']:45s} {row['decided']:8.1%} {row['decided_wanted']:7.0%} {row['median_ms']:6.1f} ms "
            f"{row['mean_ms']:6.0f} ms {row['contradictions']:6d} {'' if ratio is None else format(ratio, '10.2f')}",
            flush=True,
        )


if __name__ == "__main__":
    main()
