"""A claim about one point with its evidence, as JSON with exact numbers."""

from __future__ import annotations

import hashlib
import html
import json
import zlib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv.errors import CertificateError
from rescaleinv.theory.rationals import rational_text

SCHEMA = "rescaleinv-certificate/1"


class Certificate:
    """A claim about one point with its evidence, as JSON that ``rescaleinv.verify`` checks without the rest of the package.

    ``content`` is the JSON object without its digest. A certificate says nothing that a reader must believe, apart from
    ``left_out`` and ``versions``, which are statements only. ``checked_claim`` is what ``verify.check`` said of it, where
    whoever made it has had it checked.

    Parameters
    ----------
    content : dict
        The JSON object.

    Examples
    --------
    >>> from rescaleinv import TrainingSet, neutral_certificate
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> certificate = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1])
    >>> certificate.claim, Certificate.from_json(certificate.to_json()).digest == certificate.digest
    ('neutral', True)
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content
        self._packed_evidence: bytes | None = None
        self.checked_claim: str | None = None

    @property
    def content(self) -> dict[str, Any]:
        """The JSON object.

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> content = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1]).content
        >>> content["point"], content["claim"], content["evidence"]["kind"]
        (['-1', '4'], 'neutral', 'two-rescalings')
        """
        if self._packed_evidence is None:
            return self._content
        return {**self._content, "evidence": json.loads(zlib.decompress(self._packed_evidence))}

    def pack(self) -> None:
        """Keep the evidence as compressed text from now on: a large tree takes a hundredth of the memory.

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> from rescaleinv.verify import check
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> certificate = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1])
        >>> certificate.pack()
        >>> check(certificate.to_json())
        'neutral'
        """
        if self._packed_evidence is None:
            evidence = json.dumps(self._content["evidence"], allow_nan=False, separators=(",", ":"))
            self._packed_evidence = zlib.compress(evidence.encode("ascii"), 1)
            self._content = {**self._content, "evidence": None}

    @property
    def claim(self) -> str:
        """What it claims: "neutral", "strongly positive", …

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> neutral_certificate(ts, [-1, 4], [1, 1], [5, 1]).claim
        'neutral'
        """
        return str(self._content.get("claim"))

    @property
    def digest(self) -> str:
        """SHA-256 of the content. It detects damage, not lies: anybody can recompute it, so only the evidence counts.

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> text = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1]).to_json()
        >>> Certificate.from_json(text.replace("neutral", "strongly positive"))
        Traceback (most recent call last):
            ...
        rescaleinv.errors.CertificateError: the certificate is damaged: its digest does not match its content
        """
        return hashlib.sha256(_canonical(self.content)).hexdigest()

    def to_json(self, *, with_rows: bool = True) -> str:
        """The certificate as one line of JSON.

        Without rows it refers to the training rows by their SHA-256 only, and ``verify`` must be given them: for many
        certificates of one training set.

        Parameters
        ----------
        with_rows : bool

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> certificate = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1])
        >>> from rescaleinv.verify import check
        >>> check(certificate.to_json())
        'neutral'
        >>> check(certificate.to_json(with_rows=False), training=certificate.training_json())
        'neutral'
        """
        content = self.content
        if not with_rows:
            training = {k: v for k, v in content["training"].items() if k in ("sha256", "left_out")}
            content = {**content, "training": training}
        return json.dumps({**content, "digest": Certificate(content).digest}, allow_nan=False, separators=(",", ":"))

    def of_given_point(self, point: npt.NDArray[np.float64]) -> Certificate:
        """The certificate with the floats of the point as they were given, for rows and points that were read.

        Parameters
        ----------
        point : array of shape (n_features,)

        Returns
        -------
        Certificate

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> certificate = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1])
        >>> certificate.of_given_point(np.array([-1.0, 4.0])).content["given_point"]
        ['-1', '4']
        """
        given = [rational_text(Fraction(value)) for value in point.tolist()]
        return Certificate({**self.content, "given_point": given})

    def training_json(self) -> str:
        """The training rows alone, for ``verify`` to check certificates without rows against.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> training = json.loads(neutral_certificate(ts, [-1, 4], [1, 1], [5, 1]).training_json())
        >>> training["rows"][:2], training["labels"]
        ([['-1', '5'], ['5', '-1']], [1, 1, 1, -1])
        """
        return json.dumps(self._content["training"], allow_nan=False, separators=(",", ":"))

    def save(self, path: str | Path, *, with_rows: bool = True) -> None:
        """Write it to a file, as ``to_json`` gives it.

        Parameters
        ----------
        path : str or Path
        with_rows : bool
            As in ``to_json``.

        Examples
        --------
        >>> import tempfile
        >>> from rescaleinv import TrainingSet, neutral_certificate
        >>> from rescaleinv.verify import check
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     neutral_certificate(ts, [-1, 4], [1, 1], [5, 1]).save(Path(folder) / "point.json")
        ...     print(check((Path(folder) / "point.json").read_text(encoding="utf-8")))
        neutral
        """
        Path(path).write_text(self.to_json(with_rows=with_rows) + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; only ``verify`` decides whether it is true.

        Parameters
        ----------
        text : str
            What ``to_json`` gave.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> Certificate.from_json("[]")
        Traceback (most recent call last):
            ...
        rescaleinv.errors.CertificateError: a certificate is a JSON object with a digest
        """
        if not isinstance(text, str):
            raise CertificateError(f"the JSON text of a certificate is needed, {type(text).__name__} was given")
        try:
            content = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_without_repeats)
            digest = content.pop("digest", None) if isinstance(content, dict) else None
            certificate = cls(content)
            fits = digest is not None and certificate.digest == digest
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"not the JSON text of a certificate: {error}") from error
        if digest is None:
            raise CertificateError("a certificate is a JSON object with a digest")
        if not fits:
            raise CertificateError("the certificate is damaged: its digest does not match its content")
        return certificate

    def __repr__(self) -> str:
        return f"Certificate({self.claim!r}, digest {self.digest[:12]}…)"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has a field twice")
    return dict(pairs)


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Witness:
    """Two rescalings of the features (factors τ, one per feature) that give a point opposite labels, and the proof.

    Train an ordinary SVM on ``x * positive`` and one on ``x * negative``, and see.

    Examples
    --------
    >>> from rescaleinv import RescaleInvariantSVC
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> witness = clf.certify([[-1, 4]]).witness(0)
    >>> witness.positive.shape, witness.certificate.claim
    ((2,), 'neutral')
    >>> print(Witness(np.array([1, 1, 1]), np.array([4, 4, 1 / 64]), witness.certificate, ("age", "size", "nucleoli")))
    positive with the features as they are given; negative with nucleoli divided by 256
    """

    positive: npt.NDArray[np.float64]
    negative: npt.NDArray[np.float64]
    certificate: Certificate
    feature_names: tuple[str, ...] | None = None

    def words(self, factors: npt.NDArray[np.float64]) -> str:
        """One of the two rescalings as one says it: "age times 2, nucleoli divided by 256".

        Where every rescaling is considered a common factor of all features changes nothing, and the factor that most of
        them have is left out.

        Parameters
        ----------
        factors : array of shape (n_features,)
            ``positive`` or ``negative``.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> witness = clf.certify([[-1, 4]]).witness(0)
        >>> witness.words(witness.positive)
        'feature 1 times 1.22'
        """
        relative = np.asarray(factors, dtype=float)
        if self.certificate.claim in ("neutral", "neutral with nu"):
            relative = relative / np.sort(relative)[(len(relative) - 1) // 2]
        names = self.feature_names or tuple(f"feature {j}" for j in range(len(relative)))
        parts = [
            f"{name} {'times' if factor > 1 else 'divided by'} {max(factor, 1 / factor):.3g}"
            for name, factor in zip(names, relative.tolist(), strict=True)
            if not 0.999 < factor < 1.001
        ]
        return ", ".join(parts) or "the features as they are given"

    @property
    def is_one_rescaling(self) -> bool:
        """Whether both labels belong to one rescaling: with a ν-margin its best intercepts, an interval, may disagree.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> witness = clf.certify([[-1, 4]]).witness(0)
        >>> witness.positive.round(2), witness.negative.round(2), witness.is_one_rescaling
        (array([0.79, 0.97]), array([0.97, 0.79]), False)
        """
        return bool(np.array_equal(self.positive, self.negative))

    def __str__(self) -> str:
        if self.is_one_rescaling:
            return f"positive or negative, as the best intercept is not unique, with {self.words(self.positive)}"
        return f"positive with {self.words(self.positive)}; negative with {self.words(self.negative)}"

    def _repr_html_(self) -> str:
        names = self.feature_names or [f"feature {j}" for j in range(len(self.positive))]
        rows = "".join(
            f"<tr><th>{html.escape(str(name))}</th><td>{up:.4g}</td><td>{down:.4g}</td></tr>"
            for name, up, down in zip(names, self.positive, self.negative, strict=True)
        )
        what = (
            "One rescaling whose best intercepts, an interval, disagree."
            if self.is_one_rescaling
            else "Two rescalings that disagree: multiply each feature by its factor and train an SVM."
        )
        return (
            f"<p>{what} Claim of the certificate: {html.escape(self.certificate.claim)}.</p><table><thead><tr>"
            f"<th>feature</th><th>factor → positive</th><th>factor → negative</th></tr></thead><tbody>{rows}</tbody></table>"
        )
