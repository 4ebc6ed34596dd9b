"""Which margin an estimator's SVM has (hard, soft with a penalty, soft with ν), on which rows, and what that is in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt

from rescaleinv._util.parameters import is_number
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError, InseparableError, OneLabelWarning
from rescaleinv.estimators.reference import ReferenceSVM
from rescaleinv.estimators.training import consistent_part
from rescaleinv.theory.many_rows import MANY
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu, nu_svm
from rescaleinv.theory.separability import conflict_of_sample
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.svm import SVMSolution, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet

AUTO = "auto"
WAYS = ("soft", "drop", "raise")  # what may be done where no hyperplane separates the classes
# Where the least ν is this near to the largest (as a share of it), no hyperplane does better than one label for all.
_AS_BAD = 1e-9


def check_margin(C: Any, nu: Any, inconsistent: Any) -> None:
    """Refuse parameters that are no margin, or two."""
    if not (is_number(C) and C > 0):
        raise InputError(f"C is {C!r}; a positive number is needed, or inf for a hard margin")
    if nu is not None and not (isinstance(nu, str) and nu == AUTO) and not (is_number(nu) and 0 < nu <= 1):
        raise InputError(f'nu is {nu!r}; a number above 0 and up to 1 is needed, or "auto", or None')
    if nu is not None and not math.isinf(C):
        raise InputError(
            f"nu is {nu!r} and C is {C:g}: these are two soft margins, and one is needed. nu_of(C, X, y) is the nu that "
            "stands for a C"
        )
    if not isinstance(inconsistent, str) or inconsistent not in WAYS:
        raise InputError(f'inconsistent is {inconsistent!r}; "soft", "drop" or "raise" is needed')


@dataclass(frozen=True, eq=False)
class Margin:
    """The margin of a fitted model, and the SVM that has it at the given scaling.

    Attributes
    ----------
    training_set : TrainingSet
        The rows that count.
    dropped : int array
        The numbers of the rows that were left out.
    reference : ReferenceSVM
    penalties : array or None
        C times the weight of each row.
    nu : NuMargin or None
        The soft margin without a scale.
    one_label : bool
        The classes overlap so much that every soft margin is the same constant, whatever C, ν or scaling: there is no
        hyperplane. ``penalties`` and ``nu`` are then None.
    left_out, left_out_signs : arrays
        The rows that were left out and their classes, for pictures; not in model files.
    """

    training_set: TrainingSet
    dropped: IntArray
    reference: ReferenceSVM
    penalties: FloatArray | None = None
    nu: NuMargin | None = None
    one_label: bool = False
    left_out: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    left_out_signs: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, dtype=np.int8))

    def svm_at(self, rescaling: Any = None) -> SVMSolution | ReferenceSVM:
        """The SVM with this margin, hard or by ν, of the features rescaled by τ."""
        return _svm_of(self.training_set, self.nu, rescaling)

    def svm_of(self, training_set: TrainingSet) -> SVMSolution | ReferenceSVM:
        """The same for the training rows in other features; ``InseparableError`` where it has none."""
        margin = self.nu
        if margin is not None:
            margin = NuMargin.of(training_set, margin.nu, margin.row_weights)
        return _svm_of(training_set, margin, None)


def _svm_of(training_set: TrainingSet, nu: NuMargin | None, rescaling: Any) -> SVMSolution | ReferenceSVM:
    if nu is None:
        return minimal_norm_svm(training_set, rescaling)
    svm = nu_svm(training_set, nu, rescaling)
    return ReferenceSVM(training_set, svm.weights, svm.intercept, svm.value_at_anchor, hard_margin=False, nu=None)


def find_margin(
    whole: TrainingSet, weights: FloatArray, sample_weight: FloatArray, parameters: dict[str, Any], *, stacklevel: int
) -> Margin:
    """The margin that the parameters ask for; ``weights`` are those of the rows times those of their classes.

    Where that is a hard margin and no hyperplane separates the classes, ``inconsistent`` says what is done.
    """
    C, nu = float(parameters["C"]), parameters["nu"]
    if not math.isinf(C):
        svm = soft_margin_svm(whole, C, weights)
        found = _margin(whole, whole, svm, penalties=C * weights)
    elif nu is not None:
        found = _soft(whole, weights, sample_weight, nu)
    elif parameters["inconsistent"] == "drop":
        kept = consistent_part(
            whole, weights, parameters["drop_rule"], parameters["max_seconds"], stacklevel=stacklevel + 1
        )
        return _margin(whole, kept, minimal_norm_svm(kept))
    else:
        overlap = (
            parameters["inconsistent"] == "soft" and whole.n_rows >= MANY and conflict_of_sample(whole) is not None
        )
        try:
            if not overlap:
                return _margin(whole, whole, minimal_norm_svm(whole))
        except InseparableError:
            if parameters["inconsistent"] == "raise":
                raise
        found = _soft(whole, weights, sample_weight, AUTO)
    labels = found.reference.decision_function(whole.features) >= 0
    if labels.all() or not labels.any():
        warn(OneLabelWarning(whole.classes[int(labels[0])], whole.n_rows), stacklevel=stacklevel + 1)
    return found


def _margin(whole: TrainingSet, kept: TrainingSet, svm: Any, **soft: Any) -> Margin:
    reference = ReferenceSVM(
        kept, svm.weights, svm.intercept, svm.value_at_anchor, hard_margin=not soft, nu=soft.get("nu")
    )
    out = np.isin(whole.row_numbers, kept.row_numbers, invert=True)
    left_out: dict[str, Any] = {"left_out": whole.features[out], "left_out_signs": whole.signs[out]}
    return Margin(kept, np.setdiff1d(whole.row_numbers, kept.row_numbers), reference, **soft, **left_out)


def _soft(whole: TrainingSet, weights: FloatArray, sample_weight: FloatArray, nu: Any) -> Margin:
    if nu != AUTO:
        margin = NuMargin.of(whole, float(nu), weights)
    else:
        try:
            margin = NuMargin.like_penalty(whole, 1.0, weights, sample_weight)
        except InseparableError:
            largest = float(largest_nu(whole, weights))
            if least_nu(whole, weights) < largest * (1 - _AS_BAD):
                raise
            return _constant(whole, weights)
    return _margin(whole, whole, nu_svm(whole, margin), nu=margin)


def _constant(whole: TrainingSet, weights: FloatArray) -> Margin:
    """The label of the heavier class for every point; where they weigh alike the middle of the best intercepts is 0."""
    intercept = float(np.sign(weights @ whole.signs))
    reference = ReferenceSVM(whole, np.zeros(whole.n_features), intercept, intercept, hard_margin=False)
    return Margin(whole, np.array([], dtype=np.intp), reference, one_label=True)


def nothing_to_certify(label: Any) -> str:
    """Why there are no verdicts where every soft margin is a constant."""
    return (
        "the classes overlap so much that no hyperplane does better than one label for all: every soft margin gives every "
        f"point the label {label}, at every scaling, which says nothing about the point. "
        'class_weight="balanced" weighs the classes alike'
    )


def margin_words(margin: Margin, parameters: dict[str, Any]) -> str:
    """Which margin, on which rows, as the first line of every output says it.

    >>> from rescaleinv import RescaleInvariantSVC
    >>> RescaleInvariantSVC().fit([[0.0], [1], [2]], [0, 1, 1]).margin_
    'hard margin'
    >>> RescaleInvariantSVC(nu=0.9).fit([[0.0], [2], [1], [3]], [0, 0, 1, 1]).margin_
    'soft margin, ν = 0.9 (the least ν is 0.6667)'
    """
    kept, left_out = margin.training_set.n_rows, len(margin.dropped)
    if margin.one_label:
        return "soft margin without a hyperplane: one label for all"
    if margin.penalties is not None:
        return f"soft margin, C = {float(parameters['C']):g}"
    if margin.nu is None:
        return f"hard margin on {kept} of {kept + left_out} rows" if left_out else "hard margin"
    least = f"the least ν is {margin.nu.least:.4g}"
    like = "" if is_number(parameters["nu"]) else "SVC with C = 1 on the standardised rows; "
    return f"soft margin, ν = {float(margin.nu.nu):.4g} ({like}{least})"
