"""Complex certificates: the list of vertices with, for each edge direction, where it leads or why there is no edge."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rescaleinv import verify
from rescaleinv._util.files import replacing
from rescaleinv._util.types import IntArray
from rescaleinv.certificates.two_rescalings import training_object, versions
from rescaleinv.engines.complex.exact_walk import (
    Edge,
    WalkError,
    exact_multipliers,
    expand_exactly,
    neighbours_along,
)
from rescaleinv.engines.complex.walk import Budget, Vertices, edges_of, enumerate_vertices, extended
from rescaleinv.errors import CertificateError
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.training_set import TrainingSet

_log = logging.getLogger(__name__)

Report = Callable[[int, int], None]

# Rounds of checking and correcting before giving up; one is the rule, and real data have never needed two.
_MOST_ROUNDS = 1000
# For a walk in rationals where nothing else limits its time.
_SECONDS_IN_RATIONALS = 3600.0


@dataclass(frozen=True)
class ComplexProof:
    """A complex certificate on disk, and what came of checking it.

    Attributes
    ----------
    path, sha256 : Path and str
        The file, and what certificates of points know it by.
    n_vertices, n_bytes : int
    n_corrected : int
        Edges about which the walk turned out to be wrong in rationals: it had missed one, followed one that does not
        exist, or followed one to a wrong end; and vertices that were missing from its list, or did not belong there.
    n_in_rationals : int
        Vertices whose edges were found in rationals, since the compiled steps could not tell or were refused.
    checked : verify.Complex or None
        What the checker made of it; None if it was not asked.
    """

    path: Path
    sha256: str
    n_vertices: int
    n_bytes: int
    n_corrected: int = 0
    n_in_rationals: int = 0
    checked: verify.Complex | None = None


class ProofWriter:
    """Writes the complex certificate of a training set, and corrects the walk where the checker refuses it.

    The walk's rows are those ``kept`` of the training set. The certificate has all rows: those left out are copies of
    others, or inside their class's hull, and with a smaller perturbation they are never tight.
    """

    def __init__(
        self,
        training_set: TrainingSet,
        kept: IntArray,
        vertices: Vertices,
        *,
        left_out: int,
        n_threads: int,
        budget: Budget | None = None,
    ) -> None:
        if vertices.stopped:
            raise CertificateError(
                f"nothing is proved: the enumeration of vertices stopped, it took {vertices.stopped}"
            )
        self.training_set = training_set
        self.reduced = training_set.subset(kept)
        self.kept: list[int] = kept.tolist()
        self.vertices = vertices
        self.left_out = left_out
        self.n_threads = n_threads
        # of a walk in rationals, should one be needed
        self.budget = budget or Budget()
        if self.budget.seconds is None:
            self.budget = replace(self.budget, seconds=_SECONDS_IN_RATIONALS)
        self.n_corrected = 0
        self._exact: dict[tuple[int, ...], list[Edge]] = {}

    def write(self, path: str | Path, report: Report = lambda done, total: None) -> ComplexProof:
        """Write the certificate; ``report`` is called now and then with the numbers of vertices done and in all."""
        try:
            return self._write(path, report)
        except WalkError as error:
            self._walk_again(error)
            return self._write(path, report)

    def _write(self, path: str | Path, report: Report) -> ComplexProof:
        digest, n_bytes, total = hashlib.sha256(), 0, len(self.vertices.bases)
        with replacing(path) as file:
            for done, line in enumerate(self._lines()):
                digest.update(line)
                n_bytes += file.write(line)
                if done % 1024 == 0:
                    report(done, total)
        report(total, total)
        return ComplexProof(
            Path(path), digest.hexdigest(), total, n_bytes, self.n_corrected, n_in_rationals=len(self._exact)
        )

    def prove(
        self,
        path: str | Path,
        *,
        parallel: Callable[..., Iterable[Any]] = map,
        report_write: Report = lambda done, total: None,
        report_check: Report = lambda done, total: None,
    ) -> ComplexProof:
        """Write the certificate and check it; where the checker refuses a vertex, correct the walk and start again."""
        for _ in range(_MOST_ROUNDS):
            proof = self.write(path, report_write)
            try:
                checked = verify.check_complex(path, parallel=parallel, report=report_check)
            except verify.Refused as error:
                if not error.vertices:
                    raise CertificateError(f"the complex certificate was refused: {error}") from error
                _log.warning("the walk is corrected: %s", error)
                self._correct(error.vertices)
                continue
            if checked.sha256 != proof.sha256:
                raise CertificateError(f"{path} was changed by somebody else while it was being checked")
            return replace(proof, checked=checked)
        raise CertificateError(f"the complex certificate was refused and corrected {_MOST_ROUNDS} times")

    def _lines(self) -> Iterator[bytes]:
        m, n = self.training_set.n_rows, self.training_set.n_features
        perturbation = np.ones(m, dtype=np.int64)
        perturbation[self.kept] = self.vertices.perturbation
        first = self.vertices.bases[0].tolist()
        multipliers = exact_multipliers(self.reduced, self.vertices.perturbation, first)
        header = {
            "schema": verify.COMPLEX_SCHEMA,
            "training": training_object(self.training_set, self.left_out),
            "tilt": perturbation.tolist(),
            "vertices": len(self.vertices.bases),
            "multipliers": [rational_text(multipliers.get(i, Fraction(0))) for i in first if i < self.reduced.n_rows],
            "versions": versions(),
        }
        yield _json_line(header)
        numbers = [*self.kept, *range(m, m + n)]  # of the items, in the training set
        for basis, edges in edges_of(self.reduced, self.vertices, self.n_threads):
            entries = self._exact.get(tuple(basis), edges) if self._exact else edges
            if entries is None:
                entries = self._exact[tuple(basis)] = expand_exactly(self.reduced, self.vertices.perturbation, basis)[0]
            yield _json_line([[numbers[item] for item in basis], [_entry(edge, numbers) for edge in entries]])

    def _correct(self, refused: list[int]) -> None:
        """Find the edges of these vertices in rationals, and walk on from any vertex that turns up."""
        found = {tuple(basis): edges for basis, edges in edges_of(self.reduced, self.vertices, self.n_threads)}
        n_before, n_known, changed = len(self.vertices.bases), len(self._exact), 0
        new: list[list[int]] = []
        try:
            for basis in self.vertices.bases[refused].tolist():
                edges = expand_exactly(self.reduced, self.vertices.perturbation, basis)[0]
                walked = self._exact.get(tuple(basis)) or found[tuple(basis)] or edges
                changed += sum(_end(before) != _end(after) for before, after in zip(walked, edges, strict=True))
                self._exact[tuple(basis)] = edges
                new += neighbours_along(basis, edges, self.reduced.n_rows)
            self.vertices = extended(self.reduced, self.vertices, new, self.n_threads)
        except WalkError as error:
            self._walk_again(error)
            return
        changed += len(self.vertices.bases) - n_before
        self.n_corrected += changed
        if not changed and len(self._exact) == n_known:
            raise CertificateError(f"vertices {refused} were refused, but in rationals nothing is wrong with them")

    def _walk_again(self, why: WalkError) -> None:
        """Something on the list is not a vertex, so nothing reached from it can be trusted: walk again in rationals."""
        _log.warning("the walk is repeated in rationals: %s", why)
        listed = {tuple(basis) for basis in self.vertices.bases.tolist()}
        again = enumerate_vertices(self.reduced, self.budget, n_threads=self.n_threads, in_rationals=True)
        if again.stopped:
            raise CertificateError(
                f"nothing is proved: the walk went wrong ({why}), and repeating it in rationals took {again.stopped}"
            ) from why
        self.vertices = again
        self._exact.clear()
        self.n_corrected += len(listed - {tuple(basis) for basis in self.vertices.bases.tolist()})


def _end(edge: Edge) -> int:
    """The item that an edge leads to, or -1 where there is no edge."""
    return edge if isinstance(edge, int) and edge >= 0 else -1


def _entry(edge: Edge, numbers: list[int]) -> Any:
    if isinstance(edge, int):
        return numbers[edge] if edge >= 0 else edge
    return [rational_text(value) for value in edge]


def _json_line(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode() + b"\n"
