"""From a float solution to exact evidence: the SVM of a rational rescaling as rationals, and certificates made of it."""

from __future__ import annotations

import platform
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import rescaleinv
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import SCHEMA, Certificate, Witness
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_nu import ExactNuClassifier, margin_object
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.optimality import probe_cell
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.svm import SHORT_BITS, exact_svm_at
from rescaleinv.theory.training_set import TrainingSet, fingerprint, require_training_set

# What claims about every rescaling with a ν-margin end in.
NU_SCOPE = " with nu"

# Squared factors are rounded to this many bits: few bits make short certificates, a float's full 53 are the last resort.
_BITS = (SHORT_BITS, 53)


def exact_optimum(training_set: TrainingSet, weights: list[Fraction], intercept: Fraction) -> ExactClassifier:
    """Evidence for a classifier that is known exactly, such as the middle of a cell of RO(X): a rescaling of its own."""
    tight = training_set.tight_rows(weights, intercept)
    if tight is None:
        raise CertificateError("the classifier is not in C(X)")
    signs = [(w > 0) - (w < 0) for w in weights]
    test = probe_cell(training_set, tight, signs)
    if test.multipliers is None:
        raise CertificateError("the classifier is in C(X), but it is not the SVM of any rescaling")
    gradient = training_set.exact_gradient(test.multipliers)
    inverse_squared = [g / w if w else Fraction(1) for g, w in zip(gradient, weights, strict=True)]
    return ExactClassifier(weights, intercept, test.multipliers, inverse_squared)


def labelled_svm_at(
    training_set: TrainingSet, point: list[Fraction], rescaling: Any, positive: bool
) -> ExactClassifier:
    """``exact_svm_at`` if it gives the point the requested label, else a ``CertificateError``."""
    for bits in _BITS:
        svm = exact_svm_at(training_set, rescaling, bits=bits)
        value = svm.decision_value(point)
        if (value >= 0) == positive:
            return svm
    raise CertificateError(
        f"the rescaling {np.asarray(rescaling).tolist()} does not give the point a {'positive' if positive else 'negative'} "
        f"label: its decision value there is {float(value):.6g}"
    )


def versions() -> dict[str, str]:
    return {"rescaleinv": rescaleinv.__version__, "python": platform.python_version(), "numpy": np.__version__}


# What certificates state of the reading of a training set is the same in all of them.
_readings: WeakKeyDictionary[TrainingSet, dict[bool, list[dict[str, Any] | None]]] = WeakKeyDictionary()


def training_object(training_set: TrainingSet, left_out: int, *, as_written: bool = False) -> dict[str, Any]:
    """The rows that were kept, as a certificate states them, and how they were read from the floats that were given.

    A training set that was made by ``as_read`` states its reading. ``as_written`` states the numbers that the floats of
    ``training_set`` stand for, in their own units: for evidence that was found in floats and holds for these as well.
    """
    content = {
        "sha256": training_set.sha256,
        "left_out": left_out,
        "labels": [int(s) for s in training_set.signs],
        "rows": training_set.row_texts,
    }
    if as_written and training_set.reading.changes:
        rows = [training_set.exact_point(row) for row in training_set.features]
        content["sha256"] = fingerprint(rows, training_set.signs.tolist())
        content["rows"] = [[rational_text(value) for value in row] for row in rows]
        content["reading"] = reading_object(training_set, in_given_units=True)
    elif training_set.read_from is not None:
        content["reading"] = reading_object(training_set.read_from)
    return content


def certificate_of(
    training_set: TrainingSet,
    point: list[Fraction],
    claim: str,
    evidence: dict[str, Any],
    *,
    left_out: int = 0,
    given_point: FloatArray | None = None,
) -> Certificate:
    """A claim about a point with its evidence.

    Where ``given_point`` (the floats of the point) is stated, rows and point are those as written, in given units.
    """
    certificate = Certificate(
        {
            "schema": SCHEMA,
            "claim": claim,
            "point": [rational_text(x) for x in point],
            "training": training_object(training_set, left_out, as_written=given_point is not None),
            "evidence": evidence,
            "versions": versions(),
        }
    )
    if training_set.read_from is not None:  # whoever knows the floats that were given says so instead of these
        near = training_set.read_from.reading.in_given_units(point)
        return certificate.of_given_point(np.array([float(value) for value in near]))
    if given_point is not None and training_set.reading.changes:
        return certificate.of_given_point(given_point)
    return certificate


def reading_object(training_set: TrainingSet, *, in_given_units: bool = False) -> list[dict[str, Any] | None]:
    """For each feature that was not taken as given: the map from certified to given values, and the given floats."""
    known = _readings.setdefault(training_set, {})
    if in_given_units not in known:
        known[in_given_units] = _reading_object(training_set, in_given_units=in_given_units)
    return [None if entry is None else dict(entry) for entry in known[in_given_units]]


def _reading_object(training_set: TrainingSet, *, in_given_units: bool) -> list[dict[str, Any] | None]:
    entries: list[dict[str, Any] | None] = []
    for feature, column in zip(training_set.reading, training_set.features.T, strict=True):
        if not feature.changes:
            entries.append(None)
            continue
        origin, unit = (Fraction(0), Fraction(1)) if in_given_units else (Fraction(feature.origin), feature.unit)
        entries.append(
            {
                "origin": rational_text(origin),
                "unit": rational_text(unit),
                "rounding": rational_text(2 * Fraction(feature.rounding)),  # the comparison is rounded as well
                "given": [rational_text(Fraction(value)) for value in column.tolist()],
            }
        )
    return entries


def certificate_from(
    training_set: TrainingSet,
    point: list[Fraction],
    positive: ExactClassifier,
    negative: ExactClassifier,
    *,
    left_out: int = 0,
) -> Certificate:
    """The certificate of a neutral verdict, of two classifiers that are already exact."""
    evidence = {
        "kind": "two-rescalings",
        "positive": positive.to_json_object(),
        "negative": negative.to_json_object(),
    }
    return certificate_of(training_set, point, "neutral", evidence, left_out=left_out)


def witness_from(
    training_set: TrainingSet,
    point: list[Fraction],
    positive: ExactClassifier,
    negative: ExactClassifier,
    *,
    left_out: int = 0,
) -> Witness:
    """The two rescalings that disagree as floats to train with (in the units that were given), and the certificate."""
    certificate = certificate_from(training_set, point, positive, negative, left_out=left_out)
    units = 1.0 if training_set.read_from is None else training_set.read_from.reading.units
    try:
        factors = [_centred_on_one(classifier.rescaling / units) for classifier in (positive, negative)]
    except OverflowError as error:
        raise CertificateError(
            "a rescaling that changes the label has factors beyond what a float can hold; features in less unlike units "
            "have smaller ones"
        ) from error
    return Witness(factors[0], factors[1], certificate)


def nu_witness_from(
    point: list[Fraction], positive: ExactNuClassifier, negative: ExactNuClassifier, *, left_out: int = 0
) -> Witness:
    """The same with a ν-margin: two rescalings at which every optimal intercept gives the point one label.

    Where one and the same classifier is given twice, the optimal intercepts of its rescaling disagree about the point.
    """
    training_set = positive.training_set
    evidence: dict[str, Any] = {"kind": "nu-two-rescalings", "margin": margin_object(positive.margin)}
    if positive is negative:
        evidence.update(kind="nu-two-intercepts", classifier=positive.to_json_object())
    else:
        evidence.update(positive=positive.to_json_object(), negative=negative.to_json_object())
    certificate = certificate_of(training_set, point, f"neutral{NU_SCOPE}", evidence, left_out=left_out)
    units = 1.0 if training_set.read_from is None else training_set.read_from.reading.units
    return Witness(
        _centred_on_one(positive.rescaling / units), _centred_on_one(negative.rescaling / units), certificate
    )


def _centred_on_one(rescaling: FloatArray) -> FloatArray:
    """Without the common power of two, which changes nothing, so that two rescalings can be compared."""
    return np.ldexp(rescaling, -int(np.rint(np.log2(rescaling).mean())))


def neutral_certificate(
    training_set: TrainingSet, point: Any, positive_rescaling: Any, negative_rescaling: Any, *, left_out: int = 0
) -> Certificate:
    """A certificate that the label of ``point`` depends on the scaling, from two rescalings that disagree about it.

    Both SVMs are made exactly rational, so that ``rescaleinv.verify`` accepts them without any tolerance.

    Parameters
    ----------
    training_set : TrainingSet
    point : sequence of float
    positive_rescaling, negative_rescaling : sequence of float
        τ, one positive factor per feature, at which the SVM labels the point positive and negative.
    left_out : int
        How many rows were left out before, to be stated in the certificate.

    Returns
    -------
    Certificate
        With the claim "neutral".

    Raises
    ------
    CertificateError
        If a rescaling does not give the point the label that is claimed.

    Examples
    --------
    Example 2 of the paper:

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> certificate = neutral_certificate(ts, [-1, 4], [1, 1], [5, 1])
    >>> from rescaleinv.verify import check
    >>> check(certificate.to_json())
    'neutral'
    """
    require_training_set(training_set)
    values = as_matrix([point], what="the point", n_features=training_set.n_features)[0]
    exact_point = [Fraction(x) for x in values.tolist()]
    return certificate_from(
        training_set,
        exact_point,
        labelled_svm_at(training_set, exact_point, positive_rescaling, True),
        labelled_svm_at(training_set, exact_point, negative_rescaling, False),
        left_out=left_out,
    )
