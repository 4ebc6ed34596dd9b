"""Abstaining with a guarantee: by the rescaling radius or by |f|, which of the two abstains less?

python -m benchmarks.abstention            the paper's 18 benchmarks, one draw of each; what is done stays done
python -m benchmarks.abstention --quick    two of them; nothing is stored

MAPIE's BinaryClassificationController chooses on calibration points how large a point's radius, or |f|, must be for the
kept labels to have a positive (negative) predictive value of at least 80, 90 or 95 % with a confidence of 90 %, at the
smallest share of abstentions. Both scores choose from ten values, fixed before any data are seen. Calibration and test
points are the rows that are not in the learning set, half each, at most 150. Writes results/abstention.json and .md.
"""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, code_digests, print_table, quick_flag, write_result
from benchmarks.paper.draws import RULES, signs_of, split
from benchmarks.paper.figures import BENCHMARKS
from rescaleinv import RescaleInvariantSVC
from rescaleinv.errors import DatasetUnavailableError

DRAWS, MOST_POINTS = 1, 150
TARGETS, CONFIDENCE = (0.8, 0.9, 0.95), 0.9
RISKS = {"PPV": "positive_predictive_value", "NPV": "negative_predictive_value"}
# what the controller may choose from: a factor that the radius must reach, or a value that |f| must (1 is the margin)
FACTORS = (1.0, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
VALUES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0)
WAYS = {"|f|": VALUES, "radius": FACTORS}


def controlled(scores: Any, labels: Any, truth: Any, parameters: Any, risk: str = "PPV", target: float = 0.9) -> Any:
    """The score at which MAPIE guarantees the target with the smallest share of abstentions; None if there is none."""
    from mapie import risk_control

    def label_or_abstain(table: Any, least: float) -> Any:
        return np.where(table[:, 0] >= least, (table[:, 1] > 0).astype(float), np.nan)

    controller = risk_control.BinaryClassificationController(
        label_or_abstain,
        risk=getattr(risk_control, RISKS[risk]),
        target_level=target,
        confidence_level=CONFIDENCE,
        best_predict_param_choice=risk_control.abstention_rate,
        list_predict_params=np.asarray(parameters, dtype=float)[:, None],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no parameter does it is an answer
        controller.calibrate(np.column_stack([scores, labels]), (np.asarray(truth) > 0).astype(int))
    best = controller.best_predict_param
    return None if best is None else float(np.ravel(best)[0])


def study(number: int, draw: int) -> dict[str, Any]:
    """One draw of one of the paper's benchmarks: both risks, every target, both scores."""
    drawn = split(number, draw, RULES[0], points=2 * MOST_POINTS)
    points, truth = drawn.test_features, drawn.test_signs
    model = RescaleInvariantSVC(inconsistent="raise", time_limit=1.0)
    model.fit(drawn.training_set.features, drawn.training_set.signs)
    started = time.process_time()
    radii = model.rescaling_radius(points, ratio=1.1, largest=FACTORS[-1])[:, 0]
    seconds = time.process_time() - started
    values = model.decision_function(points)
    scores, labels = {"|f|": np.abs(values), "radius": radii}, signs_of(values)
    half = len(points) // 2
    questions = []
    for risk in RISKS:
        for target in TARGETS:
            one: dict[str, Any] = {"risk": risk, "target": target}
            for way, parameters in WAYS.items():
                score = scores[way]
                least = controlled(score[:half], labels[:half], truth[:half], parameters, risk, target)
                one[way] = outcome(least, score[half:], labels[half:], truth[half:], risk)
            questions.append(one)
    return {
        "benchmark": number,
        "data": drawn.benchmark.data_set,
        "draw": draw,
        "calibration points": half,
        "test points": len(points) - half,
        "seconds for the radii": seconds,
        "questions": questions,
    }


def outcome(least: float | None, scores: Any, labels: Any, truth: Any, risk: str) -> dict[str, Any]:
    """What comes of a parameter on the test points; without one there are no labels at all."""
    kept = np.zeros(len(scores), dtype=bool) if least is None else scores >= least
    asked = kept & (labels == (1 if risk == "PPV" else -1))
    return {
        "parameter": least,
        "abstained": float(1 - kept.mean()),
        "on test points": float((truth[asked] == labels[asked]).mean()) if asked.any() else None,
    }


def totals(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each risk and target: how often each score keeps the promise, and which abstains less."""
    lines = []
    for risk in RISKS:
        for target in TARGETS:
            asked = [
                one for draw in found for one in draw["questions"] if (one["risk"], one["target"]) == (risk, target)
            ]
            lines.append({"risk": risk, "target": target, **_line(asked)})
    return lines


def _line(asked: list[dict[str, Any]]) -> dict[str, Any]:
    able = {way: [one for one in asked if one[way]["parameter"] is not None] for way in WAYS}
    both = [one for one in able["|f|"] if one["radius"]["parameter"] is not None]
    shares = [(one["|f|"]["abstained"], one["radius"]["abstained"]) for one in both]
    return {
        "draws": len(asked),
        "guaranteed by |f|": len(able["|f|"]),
        "guaranteed by radius": len(able["radius"]),
        "by both": len(both),
        "abstained by |f|": float(np.mean([share for share, _ in shares])) if shares else None,
        "abstained by radius": float(np.mean([share for _, share in shares])) if shares else None,
        "|f| abstains less": sum(value < radius for value, radius in shares),
        "radius abstains less": sum(value > radius for value, radius in shares),
    }


def page(found: list[dict[str, Any]]) -> str:
    """The results as Markdown."""
    lines = totals(found)
    header = ("at least", "draws", "guaranteed by |f|", "by the radius", "by both", "of these: abstained by |f|")
    header += ("by the radius", "|f| abstains less", "the radius does")
    text = [
        "# Abstaining with a guarantee: by the radius or by |f|?",
        "",
        f"Made by `python -m benchmarks.abstention`: {len({one['benchmark'] for one in found})} of the paper's benchmarks, "
        f"{len(found)} draws, hard margin, confidence {CONFIDENCE:.0%}.".replace("%.", " %."),
        "MAPIE's controller chooses on calibration points; shares of abstentions are those on test points.",
        "",
        "| " + " | ".join(header).replace("|f|", "\\|f\\|") + " |",
        "|---" * len(header) + "|",
    ]
    for one in lines:
        shares = ["–" if one[f"abstained by {way}"] is None else f"{one[f'abstained by {way}']:.1%}" for way in WAYS]
        cells = [
            f"{one['risk']} {one['target']:.0%}",
            one["draws"],
            one["guaranteed by |f|"],
            one["guaranteed by radius"],
            one["by both"],
            *shares,
            one["|f| abstains less"],
            one["radius abstains less"],
        ]
        text.append("| " + " | ".join(str(cell).replace("%", " %") for cell in cells) + " |")
    return "\n".join(text) + "\n"


def stored() -> list[dict[str, Any]]:
    """The draws of an earlier run with the same code."""
    path = RESULTS / "abstention.json"
    if not path.exists():
        return []
    content = json.loads(path.read_text(encoding="utf-8"))
    return list(content["results"]["draws"]) if content["code"] == code_digests("abstention") else []


def main() -> None:
    quick = quick_flag(__doc__)
    found = [] if quick else stored()
    done = {(one["benchmark"], one["draw"]) for one in found}
    numbers = (9, 16) if quick else [one.number for one in BENCHMARKS]
    for draw in range(1 if quick else DRAWS):
        for number in numbers:
            if (number, draw) in done:
                continue
            try:
                found.append(study(number, draw))
            except DatasetUnavailableError as error:
                print(error)
                continue
            print({key: value for key, value in found[-1].items() if key != "questions"}, flush=True)
            if not quick:
                write_result("abstention", {"totals": totals(found), "draws": found})
                (RESULTS / "abstention.md").write_text(page(found), encoding="utf-8")
    print_table(totals(found))


if __name__ == "__main__":
    main()
