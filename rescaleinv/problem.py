"""The training set and the objects that the theory builds on it; every check of user input is here.

Symbols of the paper (Montazery & Wilson 2017) stand in the docstrings; the names say what the things are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv.errors import InputError
from rescaleinv.verdict import rational_text

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

# Products of two values, summed over features, must stay finite, and differences must not vanish.
LARGEST_VALUE = 1e150
SMALLEST_RANGE = 1e-150


def _listing(items: Sequence[Any], most: int = 5) -> str:
    shown = ", ".join(str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown}, … ({len(items)} in all)"


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of a data frame's columns, or None where X has none (or names that are not text)."""
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    names = tuple(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def _is_missing(value: Any) -> bool:
    """None, NaN, infinity, or the NA of pandas (which need not be installed)."""
    if isinstance(value, (float, np.floating)):
        return not np.isfinite(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _first_text(column: npt.NDArray[Any]) -> tuple[int, Any] | None:
    """The row and the value of the first entry that is no number, in the first place one that does not look like one."""
    found = None
    for row, value in enumerate(column):
        if _is_missing(value):  # reported as such, with its row
            continue
        try:
            float(value)
        except (TypeError, ValueError):
            return row, value.item() if isinstance(value, np.generic) else value
        except OverflowError:  # an integer beyond all floats
            continue
        if found is None and isinstance(value, (str, bytes)):
            found = row, value.item() if isinstance(value, np.generic) else value
    return found


def _to_float(value: Any) -> float:
    try:
        return float("nan") if _is_missing(value) else float(value)
    except OverflowError:
        return float("inf")


def _dense(X: Any) -> npt.NDArray[Any]:
    if np.ma.is_masked(X):
        X = X.filled(np.nan) if X.dtype.kind in "fO" else X.astype(float).filled(np.nan)
    if hasattr(X, "toarray"):  # scipy.sparse, whichever of its formats
        X = X.toarray()
    elif hasattr(X, "to_numpy"):  # pandas and polars
        X = X.to_numpy()
    try:
        array = np.asarray(X)
        # lists with a text in them would be text throughout; as objects, the one that does not belong is found
        return array if array.dtype.kind not in "US" or array is X else np.array(X, dtype=object)
    except ValueError as error:  # rows of different lengths
        raise InputError(f"the features are not a table with rows of one length: {error}") from error


def as_matrix(X: Any, *, what: str = "X", n_features: int | None = None) -> FloatArray:
    """Return X (array, data frame, sparse matrix or nested lists) as a finite float64 matrix, or say what is wrong.

    >>> as_matrix([[1, 2], [3, 4]]).dtype
    dtype('float64')
    >>> as_matrix([[1, float("nan")]])
    Traceback (most recent call last):
        ...
    rescaleinv.errors.InputError: X has NaN or infinity in 1 cell(s), first at row 0, column 1; remove or impute them first
    """
    names = column_names(X)
    raw = _dense(X)
    if raw.ndim != 2:
        raise InputError(
            f"{what} has {raw.ndim} dimension(s); a table with one row a point and one column a feature is needed. "
            "Reshape your data: X.reshape(1, -1) makes one point out of a vector, X.reshape(-1, 1) one feature"
        )
    if np.iscomplexobj(raw):
        raise InputError(f"{what} holds complex numbers. Complex data not supported: real numbers are needed")
    if raw.dtype.kind not in "biuf":
        for j in range(raw.shape[1]):
            offender = _first_text(raw[:, j])
            if offender is not None:
                place = f"{j} ({names[j]!r})" if names else str(j)
                row, value = offender
                raise InputError(
                    f"{what} has {value!r} in column {place}, row {row}, where numbers belong; "
                    "encode text and dates as numbers first"
                )
        if raw.dtype.kind not in "O":
            raise InputError(f"{what} has values of type {raw.dtype}; numbers are needed")
    if raw.shape[1] == 0:
        raise InputError(f"{what} has no feature: 0 feature(s) (shape={raw.shape}) while a minimum of 1 is required")
    if raw.shape[0] == 0:
        raise InputError(f"{what} has no row: 0 sample(s) (shape={raw.shape}) while a minimum of 1 is required")
    if n_features is not None and raw.shape[1] != n_features:
        raise InputError(f"{what} has {raw.shape[1]} features, but {n_features} were seen in training")
    if raw.dtype.kind == "O":
        raw = np.vectorize(_to_float, otypes=[np.float64])(raw)
    matrix = np.ascontiguousarray(raw, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        row, column = bad[0]
        where = f"{column} ({names[column]!r})" if names else str(column)
        raise InputError(
            f"{what} has NaN or infinity in {len(bad)} cell(s), first at row {row}, column {where}; "
            "remove or impute them first"
        )
    largest = np.abs(matrix).max()
    if largest > LARGEST_VALUE:
        row, column = np.argwhere(np.abs(matrix) == largest)[0]
        raise InputError(
            f"{what} has the value {matrix[row, column]:g} at row {row}, column {column}; "
            f"products of values beyond {LARGEST_VALUE:g} overflow. Choose a larger unit for that feature"
        )
    return matrix


def as_labels(y: Any, n_rows: int, positive: Any = None) -> tuple[npt.NDArray[np.int8], tuple[Any, Any]]:
    """Return the signs (+1 / -1) of any two labels, and the labels as (negative, positive).

    The positive one is ``positive`` where given, else the second in sorted order.

    >>> as_labels(["no", "yes", "no"], 3)
    (array([-1,  1, -1], dtype=int8), ('no', 'yes'))
    """
    try:
        labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    except ValueError as error:  # sequences of different lengths
        raise InputError(f"the labels are not a sequence with one label a row: {error}") from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise InputError(f"the labels have {labels.ndim} dimensions; one label a row is needed")
    if len(labels) != n_rows:
        raise InputError(f"there are {len(labels)} labels for {n_rows} rows; one label a row is needed")
    # in a list of texts numpy would turn NaN into the text "nan", so that the list itself is looked at
    given = y if isinstance(y, (list, tuple)) else labels
    if isinstance(y, np.ma.MaskedArray):
        given = np.ma.filled(y.astype(object), np.nan).ravel()
    missing = [i for i, label in enumerate(given) if _is_missing(label)]
    if missing:
        raise InputError(f"the labels of rows {_listing(missing)} are missing (None, NaN or infinity)")
    try:
        values, counts = np.unique(labels, return_counts=True)
    except TypeError as error:
        raise InputError(f"the labels are of types that cannot be compared with each other: {error}") from error
    classes = values.tolist()
    if len(classes) == 1:
        raise InputError(f"the training set has one class ({classes[0]!r}, {counts[0]} rows); both are needed")
    if positive is not None and positive not in classes:
        raise InputError(f"the positive label {positive!r} is not among the labels {_listing(classes)}")
    if len(classes) > 2:
        raise InputError(
            f"the labels have {len(classes)} classes ({_listing(classes)}); two are needed. "
            "Only binary classification is supported here"
        )
    chosen = classes[1] if positive is None else positive
    negative = classes[0] if chosen == classes[1] else classes[1]
    return np.where(labels == values[classes.index(chosen)], 1, -1).astype(np.int8), (negative, chosen)


def exact_number(value: Any, what: str) -> Fraction:
    """The number as the rational that it is, or an ``InputError`` that says what it was to be."""
    try:
        return Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(float(value))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} is {value!r}; a finite number is needed") from error


def _differences_are_exact(values: FloatArray, anchor: FloatArray) -> npt.NDArray[np.bool_]:
    """For each column, whether ``values - anchor`` has no rounding error at all (the error term of Knuth's TwoSum)."""
    difference = values - anchor
    back = difference - values
    error = (values - (difference - back)) + (-anchor - back)
    return ~np.any(error != 0, axis=0)


@dataclass(frozen=True)
class Conditioning:
    """An exact change of units, feature by feature: ``conditioned = (x - anchor) * 2**-exponent``.

    Ranges become alike (between 1/2 and 1), so that solvers are at ease, and no float is rounded: powers of two only,
    and an anchor only where every difference is exact. So data that differ by powers of two are the same bits here.
    """

    anchor: FloatArray
    exponent: npt.NDArray[np.int64]

    @classmethod
    def of(cls, features: FloatArray) -> Conditioning:
        low = features.min(axis=0)
        spread = features.max(axis=0) - low
        too_small = np.flatnonzero((spread > 0) & (spread < SMALLEST_RANGE))
        if too_small.size:
            raise InputError(
                f"the values of feature(s) {_listing(too_small.tolist())} differ by less than {SMALLEST_RANGE:g}; "
                "products of such differences vanish. Choose a smaller unit for them"
            )
        exponent = np.where(spread > 0, np.frexp(spread)[1], 0).astype(np.int64)
        anchor = np.where(_differences_are_exact(features, low), low, 0.0)
        return cls(anchor, exponent)

    def apply(self, points: FloatArray) -> FloatArray:
        return np.ldexp(points - self.anchor, -self.exponent)

    def weights_to_original(self, weights: FloatArray, intercept: float) -> tuple[FloatArray, float]:
        """Turn a classifier of the conditioned features into the same classifier of the original ones."""
        original = np.ldexp(weights, -self.exponent)
        return original, float(intercept - original @ self.anchor)


class TrainingSet:
    """A training set X: rows of features with one of two labels, checked, and the paper's objects made of it.

    Parameters
    ----------
    X : array, pandas or polars data frame, scipy sparse matrix, or nested lists
        One row a point.
    y : sequence
        Any two labels.
    positive : label, optional
        Which label is the positive one; the second in sorted order if not given.
    feature_names : sequence of str, optional
        Taken from a data frame's columns if not given.
    row_numbers : sequence of int, optional
        The numbers of the rows in the data that they come from; 0, 1, … if not given.

    Examples
    --------
    Example 1 of the paper:

    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> ts.margin_vectors
    array([[-1. ,  2. ],
           [ 2. , -1. ],
           [ 0.2,  0.2]])
    >>> ts.lowest_positive([2.5, 2.5]), ts.lowest_negated_negative([2.5, 2.5])
    (7.0, -5.0)
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        feature_names: Sequence[str] | None = None,
        row_numbers: Iterable[int] | None = None,
    ) -> None:
        features = as_matrix(X)
        if len(features) == 1:
            raise InputError("the training set has one row (1 sample); both classes are needed, so two rows at least")
        self.signs, self.classes = as_labels(y, len(features), positive)
        names = feature_names if feature_names is not None else column_names(X)
        if names is not None and len(names) != features.shape[1]:
            raise InputError(f"{len(names)} feature names were given for {features.shape[1]} features")
        self.feature_names: tuple[str, ...] | None = None if names is None else tuple(names)
        self.features = features.copy()  # as_matrix returns the caller's own memory where it can
        self.row_numbers: IntArray = np.arange(len(features)) if row_numbers is None else np.array([*row_numbers])
        if len(self.row_numbers) != len(features):
            raise InputError(f"{len(self.row_numbers)} row numbers were given for {len(features)} rows")
        for array in (self.features, self.signs, self.row_numbers):
            array.flags.writeable = False
        self.conditioning = Conditioning.of(self.features)

    def __repr__(self) -> str:
        return (
            f"TrainingSet({self.n_rows} rows, {self.n_features} features, "
            f"{len(self.positives)} positive ({self.classes[1]!r}), {len(self.negatives)} negative ({self.classes[0]!r}))"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for array in (self.features, self.signs, self.row_numbers):
            array.flags.writeable = False

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_rows(self) -> int:
        return len(self.features)

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    @cached_property
    def positives(self) -> FloatArray:
        """X+, the positive points."""
        return self.features[self.signs > 0]

    @cached_property
    def negatives(self) -> FloatArray:
        """X-, the negative points."""
        return self.features[self.signs < 0]

    @property
    def n_pairs(self) -> int:
        """|I(X)|, the number of pairs of a positive and a negative point."""
        return len(self.positives) * len(self.negatives)

    @property
    def pair_numbers(self) -> range:
        """I(X), the numbers 1, 2, … of the pairs, in the order of ``margin_vectors``."""
        return range(1, self.n_pairs + 1)

    @cached_property
    def margin_vectors(self) -> FloatArray:
        """Λ(X) = {(x+ - x-)/2}: one row a pair, built when first asked for."""
        halves = (self.positives[:, None, :] - self.negatives[None, :, :]) / 2
        return halves.reshape(self.n_pairs, self.n_features)

    def lowest_positive(self, weights: npt.ArrayLike) -> float:
        """MP_w, the smallest w·x over the positive points."""
        return float((self.positives @ self._float_weights(weights)).min())

    def lowest_negated_negative(self, weights: npt.ArrayLike) -> float:
        """MN_w, the smallest w·(-x) over the negative points."""
        return float((-self.negatives @ self._float_weights(weights)).min())

    def _float_weights(self, weights: Any) -> FloatArray:
        return np.array([float(w) for w in self.exact_weights(weights)])

    def is_feasible(self, weights: Any, intercept: Any = None, *, tolerance: float = 0.0) -> bool:
        """Is w in G(X) (no intercept given), or (w, b) in C(X)?

        Decided exactly, the floats being taken as the rationals that they are: a constraint may be missed by
        ``tolerance`` at most. Numbers may be ``Fraction`` too.

        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> ts.is_feasible([3, 2]), ts.is_feasible([3, 1.9])
        (False, False)
        >>> ts.is_feasible([3, 2], tolerance=1e-12), ts.is_feasible([3, 2], -6, tolerance=1e-12)
        (True, True)

        (The float 1.4 is a little less than 7/5: (3, 2) misses by 4e-16.)
        """
        w = self.exact_weights(weights)
        least = 1 - exact_number(tolerance, "the tolerance")
        if intercept is not None:
            return min(self.exact_margins(w, exact_number(intercept, "the intercept"))) >= least
        lowest_positive, lowest_negated_negative = self._exact_extremes(w)
        return (lowest_positive + lowest_negated_negative) / 2 >= least

    def middle_intercept(self, weights: Sequence[Fraction]) -> Fraction:
        """The b half-way between the classes, exactly: the SVM's own where its margin is 1."""
        lowest_positive, lowest_negated_negative = self._exact_extremes(weights)
        return (lowest_negated_negative - lowest_positive) / 2

    def _exact_extremes(self, weights: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
        scores = self.exact_margins(weights, Fraction(0))
        positive = min(score for score, y in zip(scores, self.signs, strict=True) if y > 0)
        return positive, min(score for score, y in zip(scores, self.signs, strict=True) if y < 0)

    def exact_weights(self, weights: Any) -> list[Fraction]:
        """One weight a feature as the rational that it is."""
        if not isinstance(weights, Iterable):
            raise InputError(f"the weights are {weights!r}; one for each of {self.n_features} features is needed")
        w = [exact_number(value, f"the weight of feature {j}") for j, value in enumerate(weights)]
        if len(w) != self.n_features:
            raise InputError(f"{len(w)} weights were given for {self.n_features} features")
        return w

    def exact_margins(self, weights: Sequence[Fraction], intercept: Fraction) -> list[Fraction]:
        """y_i (w·x_i + b) for every row, as exact rationals."""
        rows, exponents = self.integer_rows
        scaled = [w * Fraction(2) ** e for w, e in zip(weights, exponents, strict=True)]
        denominator = math.lcm(*(value.denominator for value in (*scaled, intercept)))
        numerators = [int(value * denominator) for value in scaled]
        offset = int(intercept * denominator)
        return [
            Fraction(int(y) * (sum(map(int.__mul__, numerators, row)) + offset), denominator)
            for row, y in zip(rows, self.signs, strict=True)
        ]

    @cached_property
    def conditioned(self) -> FloatArray:
        """The features in units that are powers of two, ranges between 1/2 and 1 (see ``Conditioning``)."""
        conditioned = self.conditioning.apply(self.features)
        back = np.ldexp(conditioned, self.conditioning.exponent)
        lost = np.flatnonzero((back != self.features - self.conditioning.anchor).any(axis=0))
        if lost.size:
            raise InputError(
                f"feature(s) {_listing(lost.tolist())} have values so small beside their range that they vanish; "
                "set such values to zero, or take their logarithm"
            )
        return conditioned

    @cached_property
    def integer_rows(self) -> tuple[list[list[int]], list[int]]:
        """The features as integers: ``x[i][j] == rows[i][j] * 2**exponents[j]`` exactly."""
        mantissas, exponents = np.frexp(self.features)
        mantissas = np.ldexp(mantissas, 53).astype(np.int64)
        exponents = exponents.astype(np.int64) - 53
        lowest = np.where(mantissas == 0, np.iinfo(np.int64).max, exponents).min(axis=0)
        lowest = np.where(lowest == np.iinfo(np.int64).max, 0, lowest)
        shifts = np.where(mantissas == 0, 0, exponents - lowest)
        columns = []
        for j in range(self.n_features):
            column = [int(m) << int(s) for m, s in zip(mantissas[:, j], shifts[:, j], strict=True)]
            common = math.gcd(*column)
            spare = (common & -common).bit_length() - 1 if common else 0
            lowest[j] += spare
            columns.append([value >> spare for value in column])
        return [list(row) for row in zip(*columns, strict=True)], [int(e) for e in lowest]

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the rows as exact numbers and of their signs, in order; ``verify`` computes it anew."""
        digest = hashlib.sha256()
        for row, sign in zip(self.features.tolist(), self.signs.tolist(), strict=True):
            digest.update(f"{sign}:{','.join(str(Fraction(value)) for value in row)}\n".encode())
        return digest.hexdigest()

    @cached_property
    def row_texts(self) -> list[list[str]]:
        """The rows as exact numbers in text, as certificates state them."""
        return [[rational_text(Fraction(value)) for value in row] for row in self.features.tolist()]

    def subset(self, rows: npt.ArrayLike) -> TrainingSet:
        """The training set of the given rows (positions or mask), which keep their ``row_numbers``."""
        chosen = np.asarray(rows)
        if not chosen.size:
            raise InputError("no rows were chosen; both classes are needed, so two rows at least")
        try:
            self.row_numbers[chosen]
        except IndexError as error:
            raise InputError(f"these are not rows of a training set of {self.n_rows} rows: {error}") from error
        part = TrainingSet(
            self.features[chosen],
            self.signs[chosen],
            positive=1,
            feature_names=self.feature_names,
            row_numbers=self.row_numbers[chosen],
        )
        part.classes = self.classes
        return part


def require_training_set(value: Any) -> None:
    """An ``InputError`` for anything but a ``TrainingSet``."""
    if not isinstance(value, TrainingSet):
        raise InputError(f"a TrainingSet is needed, {type(value).__name__} was given")
