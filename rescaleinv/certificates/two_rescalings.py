"""From a float solution to exact evidence: the SVM of a rational rescaling as rationals, and certificates made of it."""

from __future__ import annotations

import platform
from fractions import Fraction
from typing import Any

import numpy as np

import rescaleinv
from rescaleinv._util.types import FloatArray
from rescaleinv.certificates.certificate import SCHEMA, Certificate, Witness
from rescaleinv.errors import CertificateError
from rescaleinv.theory.exact_svm import ExactClassifier
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.optimality import probe_cell
from rescaleinv.theory.rationals import rational_text
from rescaleinv.theory.svm import SHORT_BITS, exact_svm_at
from rescaleinv.theory.training_set import TrainingSet, require_training_set

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


def training_object(training_set: TrainingSet, left_out: int) -> dict[str, Any]:
    """The rows that were kept, as a certificate states them."""
    return {
        "sha256": training_set.sha256,
        "left_out": left_out,
        "labels": [int(s) for s in training_set.signs],
        "rows": training_set.row_texts,
    }


def certificate_of(
    training_set: TrainingSet, point: list[Fraction], claim: str, evidence: dict[str, Any], *, left_out: int = 0
) -> Certificate:
    """A claim about a point with its evidence."""
    return Certificate(
        {
            "schema": SCHEMA,
            "claim": claim,
            "point": [rational_text(x) for x in point],
            "training": training_object(training_set, left_out),
            "evidence": evidence,
            "versions": versions(),
        }
    )


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
    """The two rescalings that disagree as floats to train with, and the certificate."""
    certificate = certificate_from(training_set, point, positive, negative, left_out=left_out)
    return Witness(_centred_on_one(positive.rescaling), _centred_on_one(negative.rescaling), certificate)


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
