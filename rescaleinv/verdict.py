"""Verdicts, and certificates as JSON with exact numbers. A leaf: it imports nothing of the package but its errors."""

from __future__ import annotations

import hashlib
import json
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from rescaleinv.errors import CertificateError

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
        try:
            content = json.loads(text)
        except ValueError as error:
            raise CertificateError(f"not a JSON text: {error}") from error
        if not isinstance(content, dict) or "digest" not in content:
            raise CertificateError("a certificate is a JSON object with a digest")
        digest = content.pop("digest")
        certificate = cls(content)
        if certificate.digest != digest:
            raise CertificateError("the certificate is damaged: its digest does not fit its content")
        return certificate

    def __repr__(self) -> str:
        return f"Certificate({self.claim!r}, digest {self.digest[:12]}…)"


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
