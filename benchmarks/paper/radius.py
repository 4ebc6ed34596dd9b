"""The rescaling radius instead of yes or no: how wrong may the units be before a test point's label can change?

For a sample of the test points of some draws of every benchmark; a data set's curve has the points of all its benchmarks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.paper.draws import Split
from benchmarks.paper.figures import BENCHMARKS
from rescaleinv._util.types import FloatArray
from rescaleinv.estimators.svc import RescaleInvariantSVC

# where the curves are drawn; each has its last value, the share for all rescalings, beyond them
FACTORS = np.geomspace(1, 1000, 121)
SECONDS_A_POINT = 2.0  # for each question that narrows a radius; what it leaves open is the band of a curve


@dataclass(frozen=True)
class Radii:
    """Of some test points of one draw: the κ up to which the label is certified, and the κ at which it was refuted."""

    data_set: str
    certified: FloatArray
    refuted: FloatArray
    contradictions: int  # with the verdicts about all rescalings
    seconds: float


def points_per_split(points_per_data_set: int, draws: int) -> int:
    """So that the splits of a data set have ``points_per_data_set`` points together, or a few more."""
    benchmarks = len(BENCHMARKS) // len({one.data_set for one in BENCHMARKS})
    return math.ceil(points_per_data_set / (benchmarks * draws))


def radii(split: Split, n_points: int, ratio: float) -> Radii:
    """The radii of the first test points (they are in random order), narrowed until refuted / certified <= ratio."""
    training_set = split.training_set
    points = split.test_features[:n_points]
    model = RescaleInvariantSVC(inconsistent="raise", time_limit=SECONDS_A_POINT)
    model.fit(training_set.features, training_set.signs)
    strong = model.certify(points).strong
    start = time.perf_counter()
    certified, refuted = model.rescaling_radius(points, ratio=ratio, largest=float(FACTORS[-1])).T
    seconds = time.perf_counter() - start
    # strong under all rescalings can't be refuted at any κ, and certified for every κ is strong
    contradictions = int((strong & np.isfinite(refuted)).sum() + (~strong & np.isinf(certified)).sum())
    return Radii(split.benchmark.data_set, certified, refuted, contradictions, seconds)


def share_curves(found: Sequence[Radii], ratio: float) -> dict[str, Any]:
    """For each data set the share of points certified at each of ``FACTORS``, and of those not refuted there."""
    results = {}
    for name in dict.fromkeys(one.data_set for one in found):
        certified = np.concatenate([one.certified for one in found if one.data_set == name])
        refuted = np.concatenate([one.refuted for one in found if one.data_set == name])
        narrowed = (refuted <= ratio * certified * (1 + 1e-9)) | np.isinf(certified)
        results[name] = {
            "points": len(certified),
            "certified": [float((certified >= factor).mean()) for factor in FACTORS],
            "not refuted": [float((refuted > factor).mean()) for factor in FACTORS],
            "certified for all rescalings": float(np.isinf(certified).mean()),
            "not refuted at the largest factor": float(np.isinf(refuted).mean()),
            "median certified factor": _or_none(float(np.median(certified))),
            "narrowed to the wanted ratio": float(narrowed.mean()),
        }
    return {
        "wanted ratio": ratio,
        "factors": FACTORS.tolist(),
        "points": sum(len(one.certified) for one in found),
        "contradictions with the verdicts": sum(one.contradictions for one in found),
        "seconds per point": sum(one.seconds for one in found) / sum(len(one.certified) for one in found),
        "data sets": results,
    }


def _or_none(value: float) -> float | None:
    """JSON has no infinity: more than half of the points hold under all rescalings."""
    return value if math.isfinite(value) else None
