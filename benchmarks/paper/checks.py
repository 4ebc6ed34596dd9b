"""A second look at the verdicts: exact certificates of all of them, and the mixed-integer program on some."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.paper.draws import Decided
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.milp.engine import MilpEngine

MILP_SECONDS = 60.0  # a point; beyond it the point counts as not decided


def by_certificates(decided: Decided) -> Counter[str]:
    """Have every verdict proved: the complex once, then each point, all by ``rescaleinv.verify`` in exact rationals."""
    split = decided.split
    with tempfile.TemporaryDirectory() as folder:
        engine = ComplexEngine(split.training_set, n_jobs=1, progress=False)
        proof = engine.prove(Path(folder) / "complex.jsonl")
        proved = engine.certify(split.test_features).prove(progress=False)
    return Counter(
        {
            "training sets": 1,
            "vertices proved": proof.n_vertices,
            "edges corrected": proof.n_corrected,
            "points": len(proved),
            "points proved": int((proved.status == "proved").sum()),
            "verdicts that changed": int((proved.code != decided.codes).sum()),
        }
    )


def by_milp(decided: Decided, n_points: int) -> Counter[str]:
    """Compare some of the verdicts with those of the paper's mixed-integer program."""
    points = decided.split.test_features[:n_points]
    other = MilpEngine(decided.split.training_set, time_limit=MILP_SECONDS).certify(points)
    both = ~other.unknown & np.isin(decided.codes[:n_points], (-1, 0, 1))
    return Counter(
        {
            "points asked of the MILP": len(points),
            "points that the MILP decided": int(both.sum()),
            "points on which the MILP disagrees": int((other.code != decided.codes[:n_points])[both].sum()),
        }
    )
