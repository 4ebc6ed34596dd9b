"""Abstention with a guarantee: MAPIE's controller with a score of ours as its parameter. Extra ``benchmarks``."""

import numpy as np
import pytest

pytest.importorskip("mapie", reason="MAPIE comes with the extra benchmarks")

from benchmarks.abstention import CONFIDENCE, FACTORS, controlled, outcome, totals

THRESHOLDS = np.linspace(0, 0.9, 10)
PPV = 0.9


def made(seed, n=1500):
    """Labels that are the more often right the larger their score: 60 % at 0, all at 1."""
    rng = np.random.default_rng(seed)
    scores, labels = rng.uniform(size=n), rng.choice([-1, 1], size=n)
    right = rng.uniform(size=n) < 0.6 + 0.4 * scores
    return scores, labels, np.where(right, labels, -labels)


def test_the_promise_is_kept_about_as_often_as_it_says():
    kept = []
    for seed in range(40):
        scores, labels, truth = made(seed)
        least = controlled(scores, labels, truth, THRESHOLDS, target=PPV)
        if least is None:
            continue
        again, labels, truth = made(1000 + seed, 20_000)
        positive = (again >= least) & (labels > 0)
        kept.append((truth[positive] > 0).mean() >= PPV)
    assert len(kept) >= 20
    assert np.mean(kept) >= CONFIDENCE


def test_abstaining_by_a_score_that_says_nothing_finds_no_parameter():
    rng = np.random.default_rng(0)
    scores, labels, truth = made(1)
    assert controlled(rng.permutation(scores), labels, truth, THRESHOLDS) is None


def test_infinite_radii_are_never_abstained_from():
    """A strong label holds for every rescaling: its radius is infinite, and no factor is larger."""
    rng = np.random.default_rng(0)
    labels = rng.choice([-1, 1], size=300)
    strong = rng.uniform(size=300) < 0.5
    radii = np.where(strong, np.inf, rng.uniform(1, 1.5, 300))
    truth = np.where(strong | (rng.uniform(size=300) < 0.5), labels, -labels)
    least = controlled(radii, labels, truth, FACTORS)
    assert least is not None
    assert least > 1
    assert (radii >= least)[strong].all()


def test_the_negative_predictive_value_is_controlled_likewise():
    scores, labels, truth = made(3)
    truth = np.where(labels > 0, -labels, truth)  # positive labels are all wrong
    assert controlled(scores, labels, truth, THRESHOLDS, "PPV", 0.8) is None
    assert controlled(scores, labels, truth, THRESHOLDS, "NPV", 0.8) > 0


def test_what_comes_of_a_parameter():
    scores, labels, truth = np.array([1.0, 2, 3, 4]), np.array([1, 1, -1, 1]), np.array([1, -1, -1, 1])
    assert outcome(2.0, scores, labels, truth, "PPV") == {"parameter": 2.0, "abstained": 0.25, "on test points": 0.5}
    assert outcome(2.0, scores, labels, truth, "NPV")["on test points"] == 1.0
    assert outcome(None, scores, labels, truth, "PPV") == {"parameter": None, "abstained": 1.0, "on test points": None}


def test_sums_compare_only_where_both_keep_the_promise():
    def question(value, radius):
        return {
            "risk": "PPV",
            "target": 0.9,
            "|f|": {"parameter": value, "abstained": 1.0 if value is None else value},
            "radius": {"parameter": radius, "abstained": 1.0 if radius is None else radius},
        }

    asked = [question(0.1, 0.3), question(None, 0.1), question(0.5, 0.4), question(0.2, None), question(0.2, 0.2)]
    (line,) = [one for one in totals([{"questions": asked}]) if (one["risk"], one["target"]) == ("PPV", 0.9)]
    assert (line["draws"], line["guaranteed by |f|"], line["guaranteed by radius"], line["by both"]) == (5, 4, 4, 3)
    assert (line["|f| abstains less"], line["radius abstains less"]) == (1, 1)
    assert abs(line["abstained by |f|"] - 0.8 / 3) < 1e-12
    assert abs(line["abstained by radius"] - 0.9 / 3) < 1e-12
