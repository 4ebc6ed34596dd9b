"""Verdicts of a batch of points, and certificates as JSON with exact numbers.

A leaf: of the package it imports the errors, the progress bar and the checker only.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
import numpy.typing as npt

from rescaleinv import verify
from rescaleinv.errors import CertificateError, InputError
from rescaleinv.files import replacing
from rescaleinv.progress import progress_bar

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "rescaleinv-certificate/1"

# Beyond so many bits the interpreter may refuse to turn an integer into decimal digits; hexadecimal has no such limit.
_DECIMAL_BITS = 12_000


class Verdict(IntEnum):
    """What is known of a point's label over all the rescalings that are considered."""

    STRONGLY_NEGATIVE = -1
    NEUTRAL = 0
    STRONGLY_POSITIVE = 1
    UNKNOWN = 2


def rational_text(value: Fraction) -> str:
    """An exact number as text: "5", "-7/5"; parts of thousands of digits in hexadecimal.

    >>> rational_text(Fraction(-7, 5)), rational_text(Fraction(5))
    ('-7/5', '5')
    """
    parts = [hex(part) if part.bit_length() > _DECIMAL_BITS else str(part) for part in value.as_integer_ratio()]
    return parts[0] if value.denominator == 1 else "/".join(parts)


class Certificate:
    """A claim about one point with its evidence, as JSON that ``rescaleinv.verify`` checks without the rest of the package.

    ``content`` is the JSON object without its digest. A certificate says nothing that a reader must believe, apart from
    ``left_out`` and ``versions``, which are statements only.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    @property
    def claim(self) -> str:
        return str(self.content.get("claim"))

    @property
    def digest(self) -> str:
        """SHA-256 of the content: it finds damage (a liar can make it anew; the evidence is what must convince)."""
        return hashlib.sha256(_canonical(self.content)).hexdigest()

    def to_json(self, *, with_rows: bool = True) -> str:
        """The certificate as one line of JSON.

        Without rows it refers to the training rows by their SHA-256 only, and ``verify`` must be given them: for many
        certificates of one training set.
        """
        content = self.content
        if not with_rows:
            training = {k: v for k, v in content["training"].items() if k not in ("rows", "labels")}
            content = {**content, "training": training}
        return json.dumps({**content, "digest": Certificate(content).digest}, allow_nan=False, separators=(",", ":"))

    def training_json(self) -> str:
        """The training rows alone, for ``verify`` to check certificates without rows against."""
        return json.dumps(self.content["training"], allow_nan=False, separators=(",", ":"))

    def save(self, path: str | Path, *, with_rows: bool = True) -> None:
        Path(path).write_text(self.to_json(with_rows=with_rows) + "\n", encoding="utf-8")

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate. Whether it is true is for ``verify`` to say.

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
            raise CertificateError("the certificate is damaged: its digest does not fit its content")
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
    """Two rescalings of the features (factors τ, one a feature) that give a point opposite labels, and the proof.

    Train an ordinary SVM on ``x * positive`` and one on ``x * negative``, and see.
    """

    positive: npt.NDArray[np.float64]
    negative: npt.NDArray[np.float64]
    certificate: Certificate


def verdict_words(code: int) -> str:
    """A verdict in words, as certificates claim it: "strongly positive"."""
    return Verdict(code).name.lower().replace("_", " ")


class Prover(Protocol):
    """Who decided the points, and can show why.

    ``scope`` is what claims end in: "" where they are about every rescaling, " within the range" where they are not; such
    certificates stand by themselves, strong ones too.
    """

    scope: str

    @property
    def complexes(self) -> list[verify.Complex]:
        """The complex certificates that were checked, for certificates of strong verdicts to refer to."""

    def explain(self, point: npt.NDArray[np.float64]) -> Witness:
        """Two rescalings that disagree about a neutral point."""

    def strong_certificate(self, point: npt.NDArray[np.float64], verdict: Verdict) -> Certificate:
        """The certificate of a strong verdict."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The verdicts of a batch of points. A verdict is never a class label; the boolean masks are the way to ask.

    Attributes
    ----------
    code : int8 array
        ``Verdict`` values: 1 strongly positive, -1 strongly negative, 0 neutral, 2 unknown.
    lower, upper : float array
        Infimum and supremum of the decision value over all the rescalings; nan where not known.
    reason : array of str
        Why a point is unknown, else "".
    status : array of str
        What was shown: "proved" (its certificate was checked: ``prove``), "certified" (there is one), "computed"; "" if
        unknown.
    points : float array
        The points, original units.
    """

    code: npt.NDArray[np.int8]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    reason: npt.NDArray[Any]
    status: npt.NDArray[Any]
    points: npt.NDArray[np.float64]
    prover: Prover = field(repr=False)

    @property
    def strongly_positive(self) -> npt.NDArray[np.bool_]:
        return self.code == Verdict.STRONGLY_POSITIVE

    @property
    def strongly_negative(self) -> npt.NDArray[np.bool_]:
        return self.code == Verdict.STRONGLY_NEGATIVE

    @property
    def neutral(self) -> npt.NDArray[np.bool_]:
        return self.code == Verdict.NEUTRAL

    @property
    def unknown(self) -> npt.NDArray[np.bool_]:
        return self.code == Verdict.UNKNOWN

    @property
    def strong(self) -> npt.NDArray[np.bool_]:
        return self.strongly_positive | self.strongly_negative

    def __len__(self) -> int:
        return len(self.code)

    def __array__(self, *_: Any, **__: Any) -> npt.NDArray[Any]:
        """No array is made of verdicts by accident: compared with labels, they would pass for some."""
        raise TypeError(
            "a verdict is not a class label; .code has the numbers, .strong and the other masks the answers"
        )

    def __iter__(self) -> Iterator[Verdict]:
        return (Verdict(int(code)) for code in self.code)

    @overload
    def __getitem__(self, key: int) -> Verdict: ...

    @overload
    def __getitem__(self, key: slice | npt.NDArray[Any]) -> Verdicts: ...

    def __getitem__(self, key: Any) -> Verdict | Verdicts:
        """One ``Verdict`` for a number; for a slice, a mask or an array of numbers, the ``Verdicts`` of those points."""
        if isinstance(key, (int, np.integer)):
            return Verdict(int(self.code[key]))
        return Verdicts(
            self.code[key],
            self.lower[key],
            self.upper[key],
            self.reason[key],
            self.status[key],
            self.points[key],
            self.prover,
        )

    def witness(self, i: int) -> Witness:
        """The two rescalings that disagree about point i, which must be neutral."""
        verdict = self[i]
        if verdict is not Verdict.NEUTRAL:
            raise InputError(
                f"point {i} is {verdict_words(verdict)}: only a neutral point has two rescalings that disagree"
            )
        return self.prover.explain(self.points[i])

    def certificate(self, i: int) -> Certificate:
        """The certificate of point i for ``rescaleinv.verify``; its ``status`` must be "certified" or "proved"."""
        verdict = self[i]
        if verdict is Verdict.UNKNOWN:
            raise CertificateError(f"point {i} is unknown: there is nothing to certify")
        if verdict is Verdict.NEUTRAL:
            return self.prover.explain(self.points[i]).certificate
        return self.prover.strong_certificate(self.points[i], verdict)

    def prove(self, path: str | Path | None = None, *, progress: bool | None = None) -> Verdicts:
        """Have the certificate of each point checked by ``rescaleinv.verify``; returns the verdicts with their new status.

        Points without a certificate keep their status, and so do strong ones if the engine's complex certificate was not
        checked; a neutral one for which none can be made is "computed". With ``path`` the certificates are written there,
        one a line. If the engine has a complex certificate they leave the training rows to it, and ``verify`` must be
        given both.
        """
        complexes, scope = self.prover.complexes, self.prover.scope
        status = self.status.copy()
        waiting = np.flatnonzero(np.isin(status, ["certified", "proved"]) & (self.neutral | bool(complexes or scope)))
        with (
            nullcontext(None) if path is None else replacing(path) as file,
            progress_bar("certificates", progress, total=len(waiting)) as bar,
        ):
            for done, i in enumerate(waiting.tolist()):
                try:
                    text = self.certificate(i).to_json(with_rows=not complexes)
                except CertificateError:  # no rescaling short enough to be written down
                    status[i] = "computed"
                    continue
                try:
                    shown = verify.check(text, complexes=complexes)
                except verify.Refused as error:
                    raise CertificateError(f"the certificate of point {i} was refused: {error}") from error
                if shown != verdict_words(self.code[i]) + scope:
                    raise CertificateError(f"the certificate of point {i} proves {shown!r} and not its verdict")
                status[i] = "proved"
                if file is not None:
                    file.write(text.encode() + b"\n")
                bar.show(done)
        return replace(self, status=status)

    def counts(self) -> dict[str, int]:
        return {verdict_words(kind): int((self.code == kind).sum()) for kind in (1, -1, 0, 2)}

    def summary(self) -> str:
        """One line in words; where points were proved it says how many of each kind."""
        total = max(len(self), 1)
        parts = []
        for kind, (name, count) in zip((1, -1, 0, 2), self.counts().items(), strict=True):
            proved = int((self.status[self.code == kind] == "proved").sum())
            if count:
                parts.append(f"{count} {name} ({count / total:.0%}{f', {proved} proved' if proved else ''})")
        return f"{len(self)} points: {', '.join(parts) or 'none'}"

    def to_frame(self) -> pd.DataFrame:
        """A pandas data frame, one row a point."""
        import pandas as pd

        words = [verdict_words(code) for code in self.code.tolist()]
        columns = {"verdict": words, "code": self.code, "lower": self.lower, "upper": self.upper}
        return pd.DataFrame({**columns, "status": self.status.astype(str), "reason": self.reason.astype(str)})

    def __repr__(self) -> str:
        return f"Verdicts({self.summary()})"

    def _repr_html_(self) -> str:
        table = self.to_frame().head(20).to_html(escape=True, float_format="{:.4g}".format)
        more = f"<p>… {len(self) - 20} more</p>" if len(self) > 20 else ""
        return f"<p>{html.escape(self.summary())}</p>{table}{more}"
