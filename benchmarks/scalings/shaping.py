"""Forman, Scholz & Rajaram 2009: feature shaping before a linear SVM, on UCI and on text, and what each stage is worth.

The paper's protocol, sampled: one class against the rest where it has at least 50 rows; two of ten folds; nested subsets of
the training folds (stratified, so that each has positives); C from 0.01 to 100 by 3-fold cross-validation (the paper: 5)
on the training rows only, scaling included; labels from probabilities calibrated by 2-fold cross-validation. The SVM is
libsvm's: liblinear penalises the intercept, which rows of length 1 without negative values take badly. Run by all.py.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer
from sklearn.svm import SVC
from tqdm import tqdm

from benchmarks.common import RESULTS, print_table
from benchmarks.scalings.common import (
    STYLES,
    TEXT_SETS,
    Task,
    agreement_table,
    figure_file,
    load_text,
    made_text,
    markdown_table,
    one_vs_rest,
    standard_error,
)
from rescaleinv.datasets import load
from rescaleinv.scaling import BNSScaler, LocalProbabilityShaper, shaping_pipeline

MEASURES = {"F": "F-measure", "AUC": "AUC", "accuracy": "accuracy", "P@20": "precision of the first 20"}
SHARES = (10, 20, 40, 65, 90)  # of all rows, that are trained with
PENALTIES = (0.01, 0.1, 1, 10, 100)
FOLDS = 10
LEAST_POSITIVES = 50
UCI = (
    "credit_g_numeric",
    "pima_diabetes",
    "ecoli",
    "glass",
    "iris",
    "letter",
    "optdigits",
    "sonar",
    "vehicle",
    "vowel",
    "wine",
)
EVERY = {"letter": 4, "optdigits": 3, "vowel": 2}  # of sets with ten classes and more, every so many-th one
NOT_IN_THE_PAPER = ("fbis", "tr31")
MOST_STEPS = 200_000  # of the solver, so that a large C on data that is not separable does not take hours
MOST_ROWS = 2000  # of a larger training fold, so many are drawn first; test folds stay whole

UCI_METHODS = {
    "baseline": MinMaxScaler(),
    "scaling": shaping_pipeline().set_params(shape="passthrough"),
    "shaping": shaping_pipeline(),
}
TEXT_METHODS = {
    "baseline": make_pipeline(Binarizer(), Normalizer()),
    "scaling": make_pipeline(BNSScaler(), Normalizer()),
    "shaping": shaping_pipeline(keep_zero=True),
}
# The paper's variants, and one without any norm; "no shaping" and "full" are two of the methods above. Platt -CV: calibrated
# with the scores of the training rows themselves.
LESIONS = {
    "L1 norm": shaping_pipeline(norm="l1"),
    "log odds": shaping_pipeline(output="log_odds"),
    "no scaling": shaping_pipeline().set_params(scale="passthrough"),
    "no norm": shaping_pipeline().set_params(normalize="passthrough"),
    "Platt -CV": shaping_pipeline(),
}
ALSO_LESIONS = {"no shaping": "scaling", "full": "shaping"}


# --- measuring ------------------------------------------------------------------------------------------------------


def evaluate(
    name: str, scaling: TransformerMixin, known: Any, positive: np.ndarray, new: Any, truth: np.ndarray
) -> dict[str, float]:
    """The four measures of a tuned and calibrated SVM after one way to scale."""
    correct = np.zeros(len(PENALTIES))
    for train, held_out in StratifiedKFold(3, shuffle=True, random_state=0).split(known, positive):
        fitted = clone(scaling)
        inside, outside = fitted.fit_transform(known[train], positive[train]), fitted.transform(known[held_out])
        products, new_products = (_dense(rows @ inside.T) for rows in (inside, outside))  # once for all penalties
        for k, penalty in enumerate(PENALTIES):
            svm = SVC(kernel="precomputed", C=penalty, max_iter=MOST_STEPS).fit(products, positive[train])
            correct[k] += np.sum(svm.predict(new_products) == positive[held_out])
    best = PENALTIES[int(np.argmax(correct))]
    whole = make_pipeline(clone(scaling), SVC(kernel="linear", C=best, max_iter=MOST_STEPS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if name == "Platt -CV":
            calibrated = CalibratedClassifierCV(FrozenEstimator(whole.fit(known, positive))).fit(known, positive)
        else:
            halves = StratifiedKFold(2, shuffle=True, random_state=0)
            calibrated = CalibratedClassifierCV(whole, cv=halves, ensemble=False).fit(known, positive)
    values = calibrated.calibrated_classifiers_[0].estimator.decision_function(new)
    predicted = calibrated.predict(new)
    first = np.argsort(-values, kind="stable")[:20]
    return {
        "F": float(f1_score(truth, predicted, zero_division=0)),
        "AUC": float(roc_auc_score(truth, values)),
        "accuracy": float(np.mean(predicted == truth)),
        "P@20": float(np.mean(truth[first])),
    }


def _dense(products: Any) -> np.ndarray:
    return products.toarray() if issparse(products) else products


def nested(positive: np.ndarray, train: np.ndarray, share: float, seed: int) -> np.ndarray:
    """That share of the training rows of each class; larger shares hold the smaller ones."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(train[positive[train] == side]) for side in (False, True)]
    most = min(1.0, MOST_ROWS / len(train))
    return np.concatenate([order[: round(share * most * len(order))] for order in orders])


def measure(
    tasks: Sequence[Task], methods: Mapping[str, TransformerMixin], shares: Sequence[int], folds: int, what: str
) -> list[dict[str, Any]]:
    """For each task the mean over the folds of each measure, method and share of the rows that is trained with."""
    results = []
    for number, task in enumerate(tqdm(tasks, unit=" tasks", desc=what)):
        splits = StratifiedKFold(FOLDS, shuffle=True, random_state=number).split(task.features, task.positive)
        runs = []
        for fold, (train, test) in zip(range(folds), splits, strict=False):
            new, truth = task.features[test], task.positive[test]
            for share in shares:
                rows = nested(task.positive, train, share / (100 - 100 / FOLDS), fold)
                known, positive = task.features[rows], task.positive[rows]
                runs += [
                    (name, share, evaluate(name, scaling, known, positive, new, truth))
                    for name, scaling in methods.items()
                ]
        figures = {
            name: {
                measure: [
                    round(float(np.mean([f[measure] for n, s, f in runs if (n, s) == (name, share)])), 5)
                    for share in shares
                ]
                for measure in MEASURES
            }
            for name in methods
        }
        results.append(
            {"dataset": task.dataset, "class": task.label, "positives": int(task.positive.sum()), "figures": figures}
        )
    return results


def curves(per_task: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the tasks, and of shaping against the baseline the mean difference with its standard error."""
    names = list(per_task[0]["figures"])

    def table(name: str, measure: str) -> np.ndarray:
        return np.array([one["figures"][name][measure] for one in per_task])

    result: dict[str, Any] = {
        name: {measure: table(name, measure).mean(axis=0).round(5).tolist() for measure in MEASURES} for name in names
    }
    if "baseline" in names:
        gains = {measure: table("shaping", measure) - table("baseline", measure) for measure in MEASURES}
        result["gain"] = {
            measure: [
                {"mean": round(float(column.mean()), 5), "standard error": round(standard_error(column.tolist()), 5)}
                for column in gain.T
            ]
            for measure, gain in gains.items()
        }
    return result


def speed(n_rows: int, n_features: int) -> dict[str, Any]:
    """Seconds to shape a table of distinct numbers."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_rows, n_features))
    labels = features[:, 0] + rng.normal(size=n_rows) > 1
    shaper = LocalProbabilityShaper()
    start = time.perf_counter()
    shaper.fit(features, labels)
    middle = time.perf_counter()
    shaper.transform(features)
    end = time.perf_counter()
    return {
        "rows": n_rows,
        "features": n_features,
        "fit": round(middle - start, 2),
        "transform": round(end - middle, 2),
    }


def uci_tasks() -> list[Task]:
    tasks = []
    for name in UCI:
        if name in ("iris", "wine"):
            features, labels = (load_iris if name == "iris" else load_wine)(return_X_y=True)
        else:
            features, labels, _ = load(name)
        tasks += one_vs_rest(name, features, np.asarray(labels).astype(str), LEAST_POSITIVES)[:: EVERY.get(name, 1)]
    return tasks


def text_tasks() -> list[Task]:
    names = [name for name in TEXT_SETS if name not in NOT_IN_THE_PAPER]
    return [task for name in names for task in one_vs_rest(name, *load_text(name), LEAST_POSITIVES)]


# --- figures --------------------------------------------------------------------------------------------------------


def draw(results: dict[str, Any], folder: Path) -> None:
    """The paper's learning curves (Figures 1 to 5 and its appendix), Figure 6 and Figure 7."""
    for kind, title in (("uci", "UCI"), ("text", "text")):
        one_kind = results[kind]
        with figure_file(folder / f"scalings_shaping_{kind}.png", (10, 7), columns=2, rows=2) as axes:
            for one, (measure, label) in zip(axes, MEASURES.items(), strict=True):
                for (name, figures), style in zip(_methods(one_kind["curves"]).items(), STYLES, strict=False):
                    one.plot(one_kind["shares"], figures[measure], **style, label=name)
                one.set(
                    xlabel="% of the rows that are trained with",
                    ylabel=f"{label}, mean of {len(one_kind['per task'])} tasks",
                )
                one.grid(color="0.9")
            axes[0].legend(title=f"{title}:", loc="lower right")
    auc = {
        name: np.array([one["figures"][name]["AUC"][-1] for one in results["uci"]["per task"]]) for name in UCI_METHODS
    }
    order = np.argsort(auc["baseline"], kind="stable")
    with figure_file(folder / "scalings_shaping_tasks.png", (8, 4.4)) as (one,):
        for name, style in zip(auc, STYLES, strict=False):
            line = style["ls"] if name == "baseline" else "none"
            one.plot(auc[name][order], **{**style, "ls": line}, ms=5, label=name)
        one.set(xlabel="UCI tasks, the hardest for the baseline first", ylabel="AUC, full training folds")
        one.grid(color="0.9")
        one.legend(loc="lower right")
    lesions = results["lesions"]
    names = sorted(lesions, key=lambda name: lesions[name]["AUC"])
    with figure_file(folder / "scalings_shaping_lesions.png", (8, 4.4)) as (one,):
        for (measure, label), style in zip(MEASURES.items(), STYLES, strict=False):
            one.plot(range(len(names)), [lesions[name][measure] for name in names], **style, label=label)
        one.set_xticks(range(len(names)), names)
        one.set(xlabel="variant, in order of AUC", ylabel=f"mean of {len(results['uci']['per task'])} UCI tasks")
        one.grid(color="0.9")
        one.legend(ncols=2)


def _methods(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: figures[name] for name in figures if name != "gain"}


# --- the page -------------------------------------------------------------------------------------------------------


def claims(results: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """What the paper says, what was measured, and whether the two agree."""
    uci, text, lesions = results["uci"]["curves"], results["text"]["curves"], results["lesions"]

    def ends(figures: dict[str, Any], measure: str, *names: str) -> str:
        """The figures at the smallest and the largest training set."""
        return ", ".join(f"{name} {figures[name][measure][0]:.3f} → {figures[name][measure][-1]:.3f}" for name in names)

    def points(figures: dict[str, Any], measure: str) -> list[float]:
        return [100 * gain["mean"] for gain in figures["gain"][measure]]

    def listed(values: Sequence[float]) -> str:
        return ", ".join(f"{value:+.1f}" for value in values) + " points from the smallest to the largest training set"

    def sure(figures: dict[str, Any], measure: str, k: int) -> bool:
        gain = figures["gain"][measure][k]
        return abs(gain["mean"]) > 2 * gain["standard error"]

    between = [
        b < s < f for b, s, f in zip(*(uci[name]["AUC"] for name in ("baseline", "scaling", "shaping")), strict=True)
    ]
    relative = [s / b - 1 for s, b in zip(text["shaping"]["F"], text["baseline"]["F"], strict=True)]
    order = sorted(lesions, key=lambda name: lesions[name]["AUC"])
    drop = [100 * (s - b) for s, b in zip(uci["scaling"]["accuracy"], uci["baseline"]["accuracy"], strict=True)]
    return [
        ("UCI, AUC: shaping is ahead of the baseline", listed(points(uci, "AUC")), min(points(uci, "AUC")[1:]) > 0),
        (
            "UCI, AUC: scaling alone is in between, so that both stages help",
            ends(uci, "AUC", "baseline", "scaling", "shaping"),
            sum(between) > len(between) / 2,
        ),
        (
            "UCI, precision of the first 20: ahead all the way",
            listed(points(uci, "P@20")),
            min(points(uci, "P@20")) > 0,
        ),
        (
            "UCI, F: from 0.6 to over 0.7 (+18 %)",
            ends(uci, "F", "baseline", "shaping"),
            uci["shaping"]["F"][-1] / uci["baseline"]["F"][-1] > 1.1,
        ),
        (
            "UCI, accuracy: no benefit with large training sets",
            f"{points(uci, 'accuracy')[-1]:+.1f} points, "
            f"standard error {100 * uci['gain']['accuracy'][-1]['standard error']:.1f}",
            not sure(uci, "accuracy", -1),
        ),
        (
            "UCI, accuracy: a loss with small training sets",
            listed(points(uci, "accuracy")),
            points(uci, "accuracy")[0] < 0,
        ),
        ("UCI, accuracy: scaling alone does not lose so", listed(drop), drop[0] > points(uci, "accuracy")[0]),
        (
            "text, F: shaping is ahead by more than 5 % where training data is scarce",
            f"{relative[0]:+.1%} at the smallest training set",
            relative[0] > 0.05,
        ),
        (
            "text, F: the gap narrows to nothing as it grows",
            listed(points(text, "F")),
            points(text, "F")[-1] < points(text, "F")[0] / 2,
        ),
        (
            "text, F: scaling alone has a part of the benefit",
            ends(text, "F", "baseline", "scaling", "shaping"),
            text["baseline"]["F"][0] < text["scaling"]["F"][0] < text["shaping"]["F"][0],
        ),
        (
            "text, accuracy: a small benefit throughout",
            listed(points(text, "accuracy")),
            min(points(text, "accuracy")) > 0,
        ),
        (
            "text, AUC: much as F; the baseline has 0.984 at the right end",
            ends(text, "AUC", "baseline", "scaling", "shaping"),
            abs(text["baseline"]["AUC"][-1] - 0.984) < 0.01,
        ),
        (
            "text, precision of the first 20: no appreciable gain",
            listed(points(text, "P@20")),
            max(map(abs, points(text, "P@20"))) < 2,
        ),
        (
            "lesions by AUC, worst first: L1 norm, no shaping, log odds, no scaling, Platt -CV",
            ", ".join(f"{name} {lesions[name]['AUC']:.4f}" for name in order),
            [name for name in order if name not in ("no norm", "full")]
            == ["L1 norm", "no shaping", "log odds", "no scaling", "Platt -CV"],
        ),
    ]


def page(results: dict[str, Any]) -> str:
    def table(kind: str, measure: str) -> str:
        part = results[kind]
        rows = [
            {"": name, **{f"{share} %": f for share, f in zip(part["shares"], figures[measure], strict=True)}}
            for name, figures in _methods(part["curves"]).items()
        ]
        gains = part["curves"]["gain"][measure]
        shown = {
            f"{s} %": f"{g['mean']:+.3f} ± {g['standard error']:.3f}"
            for s, g in zip(part["shares"], gains, strict=True)
        }
        return f"{MEASURES[measure]}\n\n{markdown_table([*rows, {'': 'shaping against baseline', **shown}])}"

    lesions = results["lesions"]
    order = sorted(lesions, key=lambda name: lesions[name]["AUC"])
    variants = [{"variant": name, **{label: lesions[name][key] for key, label in MEASURES.items()}} for name in order]
    fast = results["speed"]
    tables = {kind: "\n\n".join(table(kind, measure) for measure in MEASURES) for kind in ("uci", "text")}
    return f"""# Forman, Scholz & Rajaram 2009, feature shaping: the paper's claims measured again

Written by `python -m benchmarks.scalings.all --only shaping`; the numbers are in `scalings_shaping.json`.

{len(results["uci"]["per task"])} of the paper's 64 UCI tasks, {len(results["text"]["per task"])} of its 104 text tasks,
{results["folds"]} of ten folds.

{agreement_table(claims(results))}

## Where it agrees and where not

{WORDS}

## UCI

{tables["uci"]}

(± is one standard error over the tasks.)

![Learning curves on UCI](scalings_shaping_uci.png)

![AUC of each UCI task](scalings_shaping_tasks.png)

## The lesion study, UCI, full training folds

{markdown_table(variants)}

![Lesion study](scalings_shaping_lesions.png)

## Text

{tables["text"]}

![Learning curves on text](scalings_shaping_text.png)

## Speed

Shaping {fast["rows"]:,} rows of {fast["features"]} features with distinct values, on one core: {fast["fit"]} s to fit,
{fast["transform"]} s to transform.
"""


# about the stored run; the tables are written from its numbers
WORDS = """Agrees. On UCI with full training folds shaping has the best AUC, scaling alone is between it and the
baseline, and the paper's variants come out in its order: the L1 norm is by far the worst, no shaping the next
(the others are within 0.003 of each other). Accuracy gains nothing with large training sets and loses with
small ones, more than by scaling alone. On text accuracy gains a little throughout, AUC and F gain, precision
of the first 20 does not.

Does not agree. On UCI shaping is behind the baseline in AUC, F and precision of the first 20 with 10 % of the
rows, and within a standard error of it with 20 %. (Small sets have some 15 to 30 training rows at 10 %, no
more than the 30 neighbours of an estimate: probably the cause, but not tested.) Its lead in AUC with more
rows is about one standard error, and precision of the first 20 shows no lead at all. F rises from 0.67 to
0.71, not from 0.6 to over 0.7. On text the gain in F is largest with 20 to 40 % of the rows and not with the
fewest, and shaping is not ahead of BNS scaling alone: the scaling has the benefit.

What is different here. About half of the UCI tasks and a sixth of the text tasks, two of ten folds; training
folds of at most 2,000 rows; 3-fold in place of 5-fold tuning; `credit_g_numeric` is UCI's numeric version,
with 24 features, not 20. How the paper treats equal values, and whether its tuning refits the shaping, it
does not say. Some fits with a large C were stopped after 200,000 steps.

The solver matters. A first run had liblinear, which penalises the intercept; rows of length 1 without
negative values take that badly where a small C is chosen. There shaping lost 20 points of accuracy on UCI
with 10 % of the rows (here 5), and gained 20 points of F on text (here 1): that would have passed for an
agreement with the paper, but its baseline was the one that failed. The paper's solver leaves the intercept
free, as libsvm does, so libsvm's are the figures on this page."""


def report(results: dict[str, Any], folder: Path) -> None:
    """Figures and page, from the results."""
    draw(results, folder)
    (folder / "scalings_shaping.md").write_text(page(results), encoding="utf-8")


def run(quick: bool) -> dict[str, Any]:
    """All of it; quick: iris and made text, a few seconds, nothing is written."""
    if quick:
        uci, shares, folds = one_vs_rest("iris", *load_iris(return_X_y=True))[1:2], (30, 90), 1
        text = one_vs_rest("made", *made_text(0), least=LEAST_POSITIVES)[:1]
    else:
        uci, text, shares, folds = uci_tasks(), text_tasks()[::6], SHARES, 2
    per_task = {
        "uci": measure(uci, UCI_METHODS, shares, folds, "UCI"),
        "text": measure(text, TEXT_METHODS, shares, folds, "text"),
    }
    results = {
        kind: {"shares": list(shares), "curves": curves(figures), "per task": figures}
        for kind, figures in per_task.items()
    }
    full = {name: results["uci"]["curves"][method] for name, method in ALSO_LESIONS.items()}
    lesions = curves(measure(uci, LESIONS, shares[-1:], folds, "lesions")) | full
    results |= {
        "folds": folds,
        "speed": speed(2000, 3) if quick else speed(100_000, 100),
        "lesions": {name: {key: f[-1] for key, f in figures.items()} for name, figures in lesions.items()},
    }
    if not quick:
        report(results, RESULTS)
    for kind in per_task:
        print_table(
            [
                {kind: f"{name}, {measure}", **dict(zip(map(str, shares), figures, strict=True))}
                for name, by_measure in _methods(results[kind]["curves"]).items()
                for measure, figures in by_measure.items()
            ]
        )
    return results
