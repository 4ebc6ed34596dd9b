"""Checks a certificate in exact rational arithmetic. Imports the standard library only, and runs as a single file.

    python -m rescaleinv.verify FILE [FILE ...] [--training ROWS.json]

A FILE holds one certificate, or one a line. Nothing is taken on trust: the training rows, the point and the evidence are
read as exact fractions, and each condition is tested without any tolerance. The first one that fails is named.

Evidence for "neutral": two classifiers, each the maximum-margin classifier of the training rows after multiplying feature
j by tau_j, of which one labels the point positive and one negative. That (w, b) is the maximum-margin classifier at tau
is shown by multipliers a, with d_j = 1 / tau_j^2: the Karush-Kuhn-Tucker conditions of min 1/2 sum_j d_j w_j^2 under
y_i (w.x_i + b) >= 1, which is convex, so that they suffice.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

SCHEMA = "rescaleinv-certificate/1"
_NUMBER = re.compile(r"-?(?:0x[0-9a-f]+|[0-9]{1,4300})(?:/(?:0x[0-9a-f]+|[0-9]{1,4300}))?")


class Refused(ValueError):
    """A certificate that does not prove its claim; the message names the first condition that fails."""


def _require(holds: bool, condition: str) -> None:
    if not holds:
        raise Refused(condition)


def _number(text: Any, what: str) -> Fraction:
    _require(isinstance(text, str) and _NUMBER.fullmatch(text) is not None, f"{what}: {text!a} is not an exact number")
    numerator, _, denominator = text.partition("/")
    parts = [int(part, 16) if "x" in part else int(part) for part in (numerator, denominator or "1")]
    _require(parts[1] > 0, f"{what}: {text!r} has a denominator of zero")
    return Fraction(parts[0], parts[1])


def _numbers(texts: Any, what: str, length: int) -> list[Fraction]:
    _require(isinstance(texts, list) and len(texts) == length, f"{what}: {length} numbers are needed")
    return [_number(text, f"{what}[{k}]") for k, text in enumerate(texts)]


def _fields(record: Any, what: str, names: str) -> list[Any]:
    """The values of exactly these fields: none missing, and none besides that a reader might take for checked."""
    wanted = names.split()
    _require(isinstance(record, dict), f"{what} is not a JSON object")
    for name in wanted:
        _require(name in record, f"{what} has no field {name!r}")
    for name in record:
        _require(name in wanted, f"{what} has a field {name!a} that is not known")
    return [record[name] for name in wanted]


class _Training:
    """The training rows, checked against their SHA-256."""

    def __init__(self, record: Any) -> None:
        sha256, left_out, labels, rows = _fields(record, "training", "sha256 left_out labels rows")
        _require(type(left_out) is int and left_out >= 0, "training.left_out is not a number of rows")
        _require(isinstance(rows, list) and bool(rows), "training.rows is not a list of rows")
        _require(isinstance(rows[0], list) and bool(rows[0]), "training.rows[0] has no features")
        _require(isinstance(labels, list) and len(labels) == len(rows), "training.labels: one label a row is needed")
        _require(all(type(y) is int and y in (1, -1) for y in labels), "training.labels are not all 1 or -1")
        _require(len(set(labels)) == 2, "training.labels: both classes are needed")
        self.labels: list[int] = labels
        self.rows = [_numbers(row, f"training.rows[{i}]", len(rows[0])) for i, row in enumerate(rows)]
        self.n_features = len(rows[0])
        self.sha256 = sha256
        digest = hashlib.sha256()
        for row, label in zip(self.rows, labels, strict=True):
            digest.update(f"{label}:{','.join(map(str, row))}\n".encode())
        _require(digest.hexdigest() == sha256, "training.sha256 is not that of the rows")


def _decision(weights: list[Fraction], intercept: Fraction, point: list[Fraction]) -> Fraction:
    return sum((w * x for w, x in zip(weights, point, strict=True)), intercept)


def _check_maximum_margin(record: Any, what: str, training: _Training) -> tuple[list[Fraction], Fraction]:
    """Is the classifier the maximum-margin classifier at its rescaling? If so, return its weights and intercept."""
    n = training.n_features
    names = "weights intercept multipliers inverse_squared_rescaling"
    weight_texts, intercept_text, multiplier_texts, rescaling_texts = _fields(record, what, names)
    weights = _numbers(weight_texts, f"{what}.weights", n)
    intercept = _number(intercept_text, f"{what}.intercept")
    inverse_squared = _numbers(rescaling_texts, f"{what}.inverse_squared_rescaling", n)
    for j, d in enumerate(inverse_squared):
        _require(d > 0, f"{what}: the rescaling of feature {j} is not positive")
    _require(isinstance(multiplier_texts, dict), f"{what}.multipliers is not a JSON object")
    multipliers: dict[int, Fraction] = {}
    for key, text in multiplier_texts.items():
        row = int(key) if re.fullmatch(r"0|[1-9][0-9]{0,15}", key) else -1
        _require(0 <= row < len(training.rows), f"{what}: the multiplier {key!a} belongs to no row")
        multipliers[row] = _number(text, f"{what}.multipliers[{key}]")
        _require(multipliers[row] > 0, f"{what}: the multiplier of row {row} is not positive")
    for i, (row_values, label) in enumerate(zip(training.rows, training.labels, strict=True)):
        margin = label * _decision(weights, intercept, row_values)
        _require(margin >= 1, f"{what}: row {i} has a margin below 1")
        _require(margin == 1 or i not in multipliers, f"{what}: row {i} has a multiplier, but is not tight")
    balance = sum(a * training.labels[i] for i, a in multipliers.items())
    _require(balance == 0, f"{what}: the multipliers of the two classes do not balance")
    for j in range(n):
        gradient = sum((a * training.labels[i] * training.rows[i][j] for i, a in multipliers.items()), Fraction(0))
        _require(inverse_squared[j] * weights[j] == gradient, f"{what}: the weight of feature {j} is not optimal")
    return weights, intercept


def _check_two_rescalings(evidence: Any, claim: str, point: list[Fraction], training: _Training) -> None:
    _require(claim == "neutral", f"two rescalings that disagree prove 'neutral', not {claim!a}")
    _, positive, negative = _fields(evidence, "evidence", "kind positive negative")
    value = _decision(*_check_maximum_margin(positive, "evidence.positive", training), point)
    _require(value >= 0, "evidence.positive does not label the point positive")
    value = _decision(*_check_maximum_margin(negative, "evidence.negative", training), point)
    _require(value < 0, "evidence.negative does not label the point negative")


# One checker for each kind of evidence; other kinds join here.
_KINDS: dict[str, Callable[[Any, str, list[Fraction], _Training], None]] = {"two-rescalings": _check_two_rescalings}


def _no_constant(name: str) -> None:
    raise Refused(f"{name} is not JSON")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    _require(len(record) == len(pairs), "a JSON object has a field twice")
    return record


def _parse(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"{what} is not a JSON text: {error}") from error


def check(certificate: str, training: str | None = None) -> str:
    """Check the JSON text of a certificate; return the claim that it proves, or raise ``Refused``.

    ``training`` is the JSON text of the training rows, for a certificate that refers to them by their SHA-256 only. A
    certificate that brings its own rows is refused if they are not these.
    """
    try:
        return _check(certificate, training)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"larger numbers or deeper nesting than are read here: {error}") from error


def _check(certificate: str, training: str | None) -> str:
    content = _parse(certificate, "the certificate")
    names = "schema claim point training evidence versions digest"
    schema, claim, point_texts, training_record, evidence, versions, digest = _fields(content, "the certificate", names)
    _require(schema == SCHEMA, f"schema: {schema!a} is not {SCHEMA!r}")
    del content["digest"]
    canonical = json.dumps(content, allow_nan=False, sort_keys=True, separators=(",", ":")).encode()
    _require(hashlib.sha256(canonical).hexdigest() == digest, "digest: the certificate is damaged")
    _require(isinstance(versions, dict), "versions is not a JSON object")
    given = None if training is None else _Training(_parse(training, "the training rows"))
    if isinstance(training_record, dict) and "rows" not in training_record:
        sha256, left_out = _fields(training_record, "training", "sha256 left_out")
        _require(type(left_out) is int and left_out >= 0, "training.left_out is not a number of rows")
        if given is None:
            raise Refused("training: the rows are not in the certificate and were not given")
        rows = given
    else:
        rows = _Training(training_record)
        sha256 = rows.sha256
    _require(given is None or given.sha256 == sha256, "training.sha256 is not that of the rows that were given")
    point = _numbers(point_texts, "point", rows.n_features)
    _require(isinstance(evidence, dict) and "kind" in evidence, "evidence has no kind")
    kind = evidence["kind"]
    _require(isinstance(kind, str) and kind in _KINDS, f"evidence of kind {kind!a} is not known to this checker")
    _KINDS[kind](evidence, claim, point, rows)
    return str(claim)


def _certificates(path: str) -> Iterator[tuple[str, str]]:
    """The certificates in a file, each with a name: one over several lines, or one a line."""
    text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].strip() == "{":
        lines = [(1, text)]
    for number, line in lines:
        yield (path if len(lines) == 1 else f"{path}:{number}"), line


def main(arguments: Iterable[str] | None = None) -> int:
    """Exit code 0: every certificate is proved; 1: one is refused; 2: a file can't be read."""
    parser = argparse.ArgumentParser(
        prog="rescaleinv verify", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="certificates, one a file or one a line; - reads them in"
    )
    parser.add_argument(
        "--training",
        metavar="ROWS",
        help="the training rows, for certificates that only refer to them (others must agree)",
    )
    options = parser.parse_args(None if arguments is None else list(arguments))
    proved = refused = 0
    try:
        training = None if options.training is None else Path(options.training).read_text(encoding="utf-8")
        for path in options.files:
            for name, text in _certificates(path):
                try:
                    print(f"{name}: proved: {check(text, training)}")
                    proved += 1
                except Refused as error:
                    print(f"{name}: REFUSED: {error}")
                    refused += 1
    except (OSError, UnicodeDecodeError) as error:
        print(f"rescaleinv verify: error: {error}", file=sys.stderr)
        return 2
    if not proved and not refused:
        print("rescaleinv verify: error: no certificate was found", file=sys.stderr)
        return 2
    if proved + refused > 1:
        print(f"{proved} proved, {refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
