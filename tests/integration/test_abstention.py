"""Abstention with a guarantee: MAPIE's controller with a score of ours as its parameter. Extra ``benchmarks``."""

import numpy as np
import pytest

pytest.importorskip("mapie", reason="MAPIE comes with the extra benchmarks")

from benchmarks.alternatives import CONFIDENCE, FACTORS, PPV, controlled

THRESHOLDS = np.linspace(0, 0.9, 10)


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
        least = controlled(scores, labels, truth, THRESHOLDS)
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
