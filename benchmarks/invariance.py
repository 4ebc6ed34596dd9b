"""How long does it take to find out whether rescaling makes any difference (check_invariance, Corollary 8)?

    python -m benchmarks.invariance [--quick]

Three kinds of training sets. "gaussian": a cloud cut by a hyperplane with a margin; rescaling makes a difference.
"corner": every feature has a row of its own that fixes its weight; no rescaling makes a difference, and the proof of each
weight takes two rows. "chain": features are connected like the links of a chain; no difference either, but the
proof of each weight takes all the rows that matter, which is the worst case for exact arithmetic.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.common import print_table, quick_flag, write_result
from rescaleinv import TrainingSet, check_invariance


def gaussian(rng: np.random.Generator, n_features: int, n_rows: int) -> TrainingSet:
    points = rng.normal(size=(n_rows, n_features))
    direction = rng.normal(size=n_features)
    direction /= np.linalg.norm(direction)
    labels = np.where(points @ direction > 0, 1, -1)
    return TrainingSet(points + 0.3 * labels[:, None] * direction, labels)


def _from_margin_vectors(rng: np.random.Generator, vectors: np.ndarray, n_rows: int) -> TrainingSet:
    """One negative row at the origin, a positive one at twice each vector, and the rest farther out than some of these."""
    n_rest = max(n_rows - len(vectors) - 1, 0)
    outer = 2 * vectors[rng.integers(0, len(vectors), n_rest)] * rng.integers(2, 5, (n_rest, 1))
    points = np.vstack([np.zeros((1, vectors.shape[1])), 2 * vectors, outer])
    return TrainingSet(points, [-1] + [1] * (len(points) - 1))


def corner(rng: np.random.Generator, n_features: int, n_rows: int) -> TrainingSet:
    return _from_margin_vectors(rng, np.eye(n_features), n_rows)


def chain(rng: np.random.Generator, n_features: int, n_rows: int) -> TrainingSet:
    """Λ is an M-matrix: its inverse is dense and non-negative, so every weight is least, by a proof with all rows."""
    links = 4 * np.eye(n_features) - np.eye(n_features, k=1) - np.eye(n_features, k=-1)
    return _from_margin_vectors(rng, links, n_rows)


KINDS: tuple[Callable[[np.random.Generator, int, int], TrainingSet], ...] = (gaussian, corner, chain)


def main() -> None:
    quick = quick_flag(__doc__)
    results = []
    check_invariance(corner(np.random.default_rng(0), 2, 3))  # loads the solvers, which is not to be measured
    for kind in KINDS:
        for n_features in (10, 50) if quick else (10, 50, 200):
            for n_rows in (50, 500) if quick else (50, 500, 5000):
                training_set = kind(np.random.default_rng(0), n_features, n_rows)
                start = time.perf_counter()
                answer = check_invariance(training_set)
                seconds = time.perf_counter() - start
                results.append(
                    {
                        "kind": kind.__name__,
                        "features": n_features,
                        "rows": training_set.n_rows,
                        "invariant": answer.invariant,
                        "proved": answer.proved,
                        "seconds": round(seconds, 4),
                    }
                )
    print_table(results)
    if not quick:
        print(f"written to {write_result('invariance', results).name}")


if __name__ == "__main__":
    main()
