"""Which rescalings are considered: the ranges that a user gives for the factors τ, and the features that share one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.parameters import is_number, is_sequence
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError
from rescaleinv.theory.inputs import is_missing, listing

_ANY_FACTOR = (0.0, np.inf)


def as_scale_range(scale_range: Any, n_features: int, feature_names: Sequence[str] | None = None) -> FloatArray | None:
    """The ranges of τ as an (n_features, 2) array; None where every rescaling is considered.

    Parameters
    ----------
    scale_range : None, number, pair, array (n_features, 2), or mapping from feature name to number or pair
        None is every rescaling; a number κ is [1/κ, κ]; a pair (low, high) holds for every feature. (1, 1) freezes a
        feature, (0, inf) frees it. Each range must contain 1, the scaling that the data have.
    n_features : int
    feature_names : sequence of str, optional
        Needed for a mapping; a feature that it does not name may be rescaled by any factor.

    Examples
    --------
    >>> as_scale_range(2, 2)
    array([[0.5, 2. ],
           [0.5, 2. ]])
    >>> as_scale_range({"age": (1, 1), "height": 10}, 2, ["age", "height"])
    array([[ 1. ,  1. ],
           [ 0.1, 10. ]])
    >>> as_scale_range({"height": 10}, 2, ["age", "height"])
    array([[ 0. ,  inf],
           [ 0.1, 10. ]])
    >>> as_scale_range((2, 3), 2)
    Traceback (most recent call last):
        ...
    rescaleinv.errors.InputError: the scale range (2, 3) does not contain 1, the scaling that the data have
    """
    if scale_range is None:
        return None
    if isinstance(scale_range, Mapping):
        ranges = _named(scale_range, feature_names)
    elif _is_table(scale_range):
        ranges = [_one_range(row) for row in scale_range]
    else:
        ranges = [_one_range(scale_range)] * n_features
    if len(ranges) != n_features:
        raise InputError(f"{len(ranges)} scale ranges were given for {n_features} features; one per feature is needed")
    limits = np.array(ranges)
    return None if (limits == [0, np.inf]).all() else limits


def _named(scale_range: Mapping[Any, Any], feature_names: Sequence[str] | None) -> list[tuple[float, float]]:
    if feature_names is None:
        raise InputError(
            "the scale ranges are given by feature names, but the features have none; give an array with one pair a "
            "feature, or the features as a data frame"
        )
    unknown = [str(name) for name in scale_range if name not in feature_names]
    if unknown:
        raise InputError(
            f"the scale ranges name {listing(unknown)}, not among the features; these are {listing(list(feature_names), 20)}"
        )
    return [_one_range(scale_range.get(name, _ANY_FACTOR)) for name in feature_names]


def _is_table(given: Any) -> bool:
    """Whether there is more than numbers in it: one range per feature."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        return False
    return not all(isinstance(value, (Real, str, bytes)) for value in given)


def _one_range(given: Any) -> tuple[float, float]:
    wrong = f"the scale range {given!r} is neither a number κ (for [1/κ, κ]) nor a pair (low, high)"
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given.item()
    values = [given] if isinstance(given, Real) else given
    # text is a sequence too, and "15" is neither 15 nor the pair (1, 5); True is not a factor
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(wrong)
    values = list(values)
    numbers = all(
        is_number(value) or (isinstance(value, Real) and value != value) for value in values
    )  # nan: see below
    if not numbers or len(values) != (1 if isinstance(given, Real) else 2):
        raise InputError(wrong)
    try:
        low, high = (1 / float(given), float(given)) if isinstance(given, Real) else map(float, values)
    except (OverflowError, ZeroDivisionError) as error:
        raise InputError(wrong) from error
    if not 0 <= low <= high:
        needed = "a number κ must be at least 1" if isinstance(given, Real) else "0 <= low <= high is needed"
        raise InputError(f"the scale range {given!r} is empty or not positive: {needed}")
    if not low <= 1 <= high:
        raise InputError(f"the scale range {given!r} does not contain 1, the scaling that the data have")
    return low, high


def every_factor_of_groups(groups: IntArray, varies: npt.NDArray[np.bool_]) -> FloatArray:
    """The ranges of τ, one row per feature, that stand for every factor of every group where the margin has no scale.

    A common factor of all features changes nothing then, so that one group may keep its scale: the one with the most
    features that vary. Where there is no other group nothing is rescaled.

    Parameters
    ----------
    groups : int array
        The group of each feature, as ``as_groups`` gives it.
    varies : bool array
        Which features are not constant in the training rows.

    Examples
    --------
    >>> every_factor_of_groups(np.array([0, 1, 1]), np.array([True, True, True]))
    array([[ 0., inf],
           [ 1.,  1.],
           [ 1.,  1.]])
    """
    kept = int(np.argmax(np.bincount(groups, weights=varies)))
    return np.where((groups == kept)[:, None], 1.0, np.array(_ANY_FACTOR))


def as_groups(groups: Any, n_features: int, feature_names: Sequence[str] | None = None) -> IntArray:
    """The number of the group of each feature, groups being numbered by their first features.

    Parameters
    ----------
    groups : None, sequence with one label per feature, or mapping from feature name to label
        Features with the same label share one factor τ. None: each feature has its own.
    n_features : int
    feature_names : sequence of str, optional
        Needed for a mapping; a feature that it does not name is a group of its own.

    Examples
    --------
    >>> as_groups(["cm", "kg", "cm"], 3)
    array([0, 1, 0])
    >>> as_groups({"height": "cm", "waist": "cm"}, 3, ["height", "age", "waist"])
    array([0, 1, 0])
    """
    if groups is None:
        return np.arange(n_features)
    if isinstance(groups, Mapping):
        if feature_names is None:
            raise InputError(
                "groups are given by feature names, but the features have none; give one label per feature"
            )
        unknown = [str(name) for name in groups if name not in feature_names]
        if unknown:
            raise InputError(f"groups name features that do not exist: {', '.join(unknown)}")
        labels: list[Any] = [("of", groups[name]) if name in groups else ("own", name) for name in feature_names]
    elif not is_sequence(groups):
        raise InputError(f"groups is {groups!r}; one label per feature is needed, or a mapping from names to labels")
    else:
        labels = list(groups)
    missing = [j for j, label in enumerate(labels) if is_missing(label[1] if isinstance(groups, Mapping) else label)]
    if missing:
        raise InputError(
            f"groups has no label for feature(s) {listing(missing)} (None or NaN); a feature on its own needs a label of "
            "its own"
        )
    if len(labels) != n_features:
        raise InputError(f"groups has {len(labels)} labels for {n_features} features; one per feature is needed")
    numbers: dict[Any, int] = {}
    try:
        return np.array([numbers.setdefault(label, len(numbers)) for label in labels])
    except TypeError as error:
        raise InputError(f"groups has a label that can't be compared with the others: {error}") from error
