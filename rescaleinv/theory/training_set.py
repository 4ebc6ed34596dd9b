"""The training set and the objects that the paper (Montazery & Wilson 2017) builds on it.

The paper's symbols are in the docstrings; the names say what the things are.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from rescaleinv._util.parameters import is_sequence
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError
from rescaleinv.theory.conditioning import Conditioning, FeatureReading, Reading
from rescaleinv.theory.inputs import as_labels, as_matrix, column_names, exact_number, listing
from rescaleinv.theory.rationals import rational_text


class TrainingSet:
    """A training set X: rows of features with one of two labels, checked, and the paper's objects made of it.

    Parameters
    ----------
    X : array, pandas or polars data frame, scipy sparse matrix, or nested lists
        One row per point.
    y : sequence
        Any two labels.
    positive : label, optional
        Which label is the positive one; the second in sorted order if not given.
    feature_names : sequence of str, optional
        Taken from a data frame's columns if not given.
    row_numbers : sequence of int, optional
        The numbers of the rows in the data that they were taken from; 0, 1, … if not given.
    read_as : {"written", "float"}
        "written" reads a feature as it was most likely written down: decimals, or values on a grid that were scaled and
        rounded since. "float" takes every float at its word. ``reading`` says what was done, feature by feature.

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
        read_as: str = "written",
    ) -> None:
        check_read_as(read_as)
        features = as_matrix(X)
        if len(features) == 1:
            raise InputError("the training set has one row (1 sample); both classes are needed, so two rows at least")
        signs, classes = as_labels(y, len(features), positive)
        for given, what in ((feature_names, "feature_names"), (row_numbers, "row_numbers")):
            if given is not None and not is_sequence(given):
                raise InputError(f"{what} is {given!r}; a sequence is needed, or None")
        names = list(feature_names) if feature_names is not None else column_names(X)
        if names is not None and len(names) != features.shape[1]:
            raise InputError(f"{len(names)} feature names were given for {features.shape[1]} features")
        numbers = np.arange(len(features)) if row_numbers is None else np.array([*row_numbers])
        if len(numbers) != len(features):
            raise InputError(f"{len(numbers)} row numbers were given for {len(features)} rows")
        # as_matrix returns the caller's own memory where it can
        self._set(features.copy(), signs, classes, None if names is None else tuple(names), numbers, read_as)

    @classmethod
    def _trusted(
        cls,
        features: FloatArray,
        signs: npt.NDArray[np.int8],
        classes: tuple[Any, Any],
        feature_names: tuple[str, ...] | None,
        row_numbers: IntArray,
        read_as: str = "written",
    ) -> Self:
        """A training set of what was checked before. It owns the arrays from now on, and makes them read-only."""
        new = cls.__new__(cls)
        new._set(features, signs, classes, feature_names, row_numbers, read_as)
        return new

    def _set(
        self,
        features: FloatArray,
        signs: npt.NDArray[np.int8],
        classes: tuple[Any, Any],
        feature_names: tuple[str, ...] | None,
        row_numbers: IntArray,
        read_as: str,
    ) -> None:
        self.features, self.signs, self.classes = features, signs, classes
        self.read_as: str = read_as
        self.read_from: TrainingSet | None = None
        self.feature_names: tuple[str, ...] | None = feature_names
        self.row_numbers: IntArray = row_numbers
        for array in (features, signs, row_numbers):
            array.flags.writeable = False
        self.conditioning = Conditioning.of(features)

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
        """The number of rows.

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).n_rows
        4
        """
        return len(self.features)

    @property
    def n_features(self) -> int:
        """The number of features.

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).n_features
        2
        """
        return self.features.shape[1]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is quickly read again: exact numbers, which skops can't keep."""
        return {name: value for name, value in vars(self).items() if name not in ("reading", "as_read")}

    @cached_property
    def positives(self) -> FloatArray:
        """X+, the positive points.

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).positives
        array([[-1. ,  5. ],
               [ 5. , -1. ],
               [ 1.4,  1.4]])
        """
        return self.features[self.signs > 0]

    @cached_property
    def negatives(self) -> FloatArray:
        """X-, the negative points.

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).negatives
        array([[1., 1.]])
        """
        return self.features[self.signs < 0]

    @property
    def n_pairs(self) -> int:
        """The number of pairs of a positive and a negative point: the size of I(X).

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).n_pairs
        3
        """
        return len(self.positives) * len(self.negatives)

    @property
    def pair_numbers(self) -> range:
        """I(X), the numbers 1, 2, … of the pairs, in the order of ``margin_vectors``.

        Examples
        --------
        >>> list(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).pair_numbers)
        [1, 2, 3]
        """
        return range(1, self.n_pairs + 1)

    @cached_property
    def margin_vectors(self) -> FloatArray:
        """Λ(X) = {(x+ - x-)/2}: one row per pair, built on first use.

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).margin_vectors.round(2)
        array([[-1. ,  2. ],
               [ 2. , -1. ],
               [ 0.2,  0.2]])
        """
        halves = (self.positives[:, None, :] - self.negatives[None, :, :]) / 2
        return halves.reshape(self.n_pairs, self.n_features)

    def lowest_positive(self, weights: npt.ArrayLike) -> float:
        """MP_w, the smallest w·x over the positive points.

        Parameters
        ----------
        weights : sequence of numbers

        Returns
        -------
        float

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]).lowest_positive([3, 2])
        7.0
        """
        return float((self.positives @ self._float_weights(weights)).min())

    def lowest_negated_negative(self, weights: npt.ArrayLike) -> float:
        """MN_w, the smallest w·(-x) over the negative points.

        Parameters
        ----------
        weights : sequence of numbers

        Returns
        -------
        float

        Examples
        --------
        (MP_w + MN_w)/2 is half the distance of the two classes along w: at least 1 where w is in G(X).

        >>> ts = TrainingSet([[-1, 5], [5, -1], [2, 2], [1, 1]], [1, 1, 1, -1])
        >>> ts.lowest_negated_negative([3, 2]), (ts.lowest_positive([3, 2]) + ts.lowest_negated_negative([3, 2])) / 2
        (-5.0, 1.0)
        """
        return float((-self.negatives @ self._float_weights(weights)).min())

    def _float_weights(self, weights: Any) -> FloatArray:
        return np.array([float(w) for w in self.exact_weights(weights)])

    def is_feasible(self, weights: Any, intercept: Any = None, *, tolerance: float = 0.0) -> bool:
        """Is w in G(X) (no intercept given), or (w, b) in C(X)?

        Decided exactly, the floats being taken as the rationals that they are: a constraint may be missed by
        ``tolerance`` at most. Numbers may be ``Fraction`` too.

        Parameters
        ----------
        weights : sequence of numbers
        intercept : number, optional
        tolerance : float

        Returns
        -------
        bool

        Examples
        --------
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
        """The b half-way between the classes, exactly: the SVM's own where its margin is 1.

        Parameters
        ----------
        weights : sequence of Fraction

        Returns
        -------
        Fraction

        Examples
        --------
        >>> ts = TrainingSet([[-1, 5], [5, -1], [2, 2], [1, 1]], [1, 1, 1, -1])
        >>> ts.middle_intercept([Fraction(1), Fraction(1)])
        Fraction(-3, 1)
        """
        lowest_positive, lowest_negated_negative = self._exact_extremes(weights)
        return (lowest_negated_negative - lowest_positive) / 2

    def _exact_extremes(self, weights: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
        scores = self.exact_margins(weights, Fraction(0))
        positive = min(score for score, y in zip(scores, self.signs, strict=True) if y > 0)
        return positive, min(score for score, y in zip(scores, self.signs, strict=True) if y < 0)

    def exact_weights(self, weights: Any) -> list[Fraction]:
        """One weight per feature as an exact rational.

        Parameters
        ----------
        weights : sequence of numbers

        Returns
        -------
        list of Fraction

        Examples
        --------
        >>> TrainingSet([[-1, 5], [5, -1], [2, 2], [1, 1]], [1, 1, 1, -1]).exact_weights([0.5, Fraction(1, 3)])
        [Fraction(1, 2), Fraction(1, 3)]
        """
        if not isinstance(weights, Iterable) or getattr(weights, "ndim", 1) == 0:
            raise InputError(f"the weights are {weights!r}; one for each of {self.n_features} features is needed")
        w = [exact_number(value, f"the weight of feature {j}") for j, value in enumerate(weights)]
        if len(w) != self.n_features:
            raise InputError(f"{len(w)} weights were given for {self.n_features} features")
        return w

    def exact_margins(self, weights: Sequence[Fraction], intercept: Fraction) -> list[Fraction]:
        """y_i (w·x_i + b) for every row, as exact rationals.

        Parameters
        ----------
        weights : sequence of Fraction
        intercept : Fraction

        Returns
        -------
        list of Fraction

        Examples
        --------
        >>> ts = TrainingSet([[-1, 5], [5, -1], [2, 2], [1, 1]], [1, 1, 1, -1])
        >>> [str(margin) for margin in ts.exact_margins([Fraction(1), Fraction(1)], Fraction(-3))]
        ['1', '1', '1', '1']
        """
        rows, exponents = self.integer_rows
        scaled = [w * Fraction(2) ** e for w, e in zip(weights, exponents, strict=True)]
        denominator = math.lcm(*(value.denominator for value in (*scaled, intercept)))
        numerators = [int(value * denominator) for value in scaled]
        offset = int(intercept * denominator)
        return [
            Fraction(int(y) * (sum(map(int.__mul__, numerators, row)) + offset), denominator)
            for row, y in zip(rows, self.signs, strict=True)
        ]

    def tight_rows(self, weights: Sequence[Fraction], intercept: Fraction) -> list[int] | None:
        """The rows whose margin is exactly 1; None where (w, b) is not in C(X), that is, some margin is below 1.

        Parameters
        ----------
        weights : sequence of Fraction
        intercept : Fraction

        Returns
        -------
        list of int or None

        Examples
        --------
        >>> ts = TrainingSet([[-1, 5], [5, -1], [2, 2], [1, 1]], [1, 1, 1, -1])
        >>> ts.tight_rows([Fraction(1), Fraction(1)], Fraction(-3))
        [0, 1, 2, 3]
        >>> ts.tight_rows([Fraction(1), Fraction(0)], Fraction(-3)) is None
        True
        """
        margins = self.exact_margins(weights, intercept)
        return None if min(margins) < 1 else [i for i, margin in enumerate(margins) if margin == 1]

    def exact_gradient(self, multipliers: Mapping[int, Fraction]) -> list[Fraction]:
        """μ = Σ a_i y_i x_i of multipliers a (row -> a_i), in the original units, exactly.

        Parameters
        ----------
        multipliers : dict
            Row -> a_i; rows that are not in it have 0.

        Returns
        -------
        list of Fraction

        Examples
        --------
        >>> ts = TrainingSet([[-1, 5], [5, -1], [2, 2], [1, 1]], [1, 1, 1, -1])
        >>> [str(value) for value in ts.exact_gradient({2: Fraction(1, 3), 3: Fraction(1, 3)})]
        ['1/3', '1/3']
        """
        rows, exponents = self.integer_rows
        signed = [(a * int(self.signs[i]), rows[i]) for i, a in multipliers.items()]
        return [sum((a * row[j] for a, row in signed), Fraction(0)) * Fraction(2) ** e for j, e in enumerate(exponents)]

    @cached_property
    def conditioned(self) -> FloatArray:
        """The features in units that are powers of two, ranges between 1/2 and 1 (see ``Conditioning``).

        Examples
        --------
        Shifted, and divided by powers of two, which loses no digit:

        >>> TrainingSet([[0, 1000], [3, 3000], [1, 2000]], [1, -1, 1]).conditioned
        array([[0.        , 0.        ],
               [0.75      , 0.9765625 ],
               [0.25      , 0.48828125]])
        """
        conditioned = self.conditioning.apply(self.features)
        back = np.ldexp(conditioned, self.conditioning.exponent)
        lost = np.flatnonzero((back != self.features - self.conditioning.anchor).any(axis=0))
        if lost.size:
            raise InputError(
                f"feature(s) {listing(lost.tolist())} have values so small beside their range that they vanish; "
                "set such values to zero, or take their logarithm"
            )
        return conditioned

    @cached_property
    def reading(self) -> Reading:
        """How the floats of each feature are read; ``str`` of an entry says it in words.

        Examples
        --------
        >>> ts = TrainingSet([[0.1, 1, 0.5], [0.25, 2, 1 / 3], [0.3, 5, 2 / 3]], [1, -1, 1])
        >>> [str(feature) for feature in ts.reading]
        ['decimal, 2 digits', 'decimal, 0 digits', 'grid of step 0.166667']
        """
        if self.read_as == "float":
            return Reading([FeatureReading("as given")] * self.n_features)
        return Reading.of(self.features)

    @cached_property
    def as_read(self) -> TrainingSet:
        """The same rows with every feature in the units of its reading: integers, where it is decimal or on a grid.

        For every-rescaling questions this is the same training set, with the rounding errors of its floats undone. Points
        go the same way by ``reading.values``. Itself where the reading changes nothing; otherwise ``read_from`` of the new
        training set is this one.

        Examples
        --------
        Decimals become integers, and so do values on a grid (here sixths, counted from 1/3):

        >>> ts = TrainingSet([[0.1, 1, 0.5], [0.25, 2, 1 / 3], [0.3, 5, 2 / 3]], [1, -1, 1])
        >>> ts.as_read.features
        array([[10.,  1.,  1.],
               [25.,  2.,  0.],
               [30.,  5.,  2.]])
        """
        if not self.reading.changes:
            return self
        values = self.reading.values(self.features)
        new = TrainingSet._trusted(values, self.signs, self.classes, self.feature_names, self.row_numbers, "float")
        new.read_from = self
        return new

    def exact_point(self, point: FloatArray) -> list[Fraction]:
        """The exact numbers that the floats of a point (or a row) stand for, by the reading, in the units given.

        Parameters
        ----------
        point : array of shape (n_features,)

        Returns
        -------
        list of Fraction

        Examples
        --------
        >>> ts = TrainingSet([[0.1, 1], [0.25, 2], [0.3, 5]], [1, -1, 1])
        >>> [str(value) for value in ts.exact_point(np.array([0.7, 4]))]
        ['7/10', '4']
        """
        return self.reading.in_given_units([Fraction(value) for value in self.reading.values(point).tolist()])

    @cached_property
    def integer_rows(self) -> tuple[list[list[int]], list[int]]:
        """The features as integers: ``x[i][j] == rows[i][j] * 2**exponents[j]`` exactly.

        Examples
        --------
        >>> rows, exponents = TrainingSet([[0.5, 1024], [0.75, 3072]], [1, -1]).integer_rows
        >>> rows, exponents
        ([[2, 1], [3, 3]], [-2, 10])
        """
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
        """A fingerprint of the rows as exact numbers and of their signs, in order; ``verify`` recomputes it.

        Examples
        --------
        0.5 and 1/2 are one number, and rows in another order are other rows:

        >>> first, same, other = ([[0.5], [2]], [1, -1]), ([[1 / 2], [4 / 2]], [1, -1]), ([[2], [0.5]], [-1, 1])
        >>> TrainingSet(*first).sha256 == TrainingSet(*same).sha256, TrainingSet(*first).sha256 == TrainingSet(*other).sha256
        (True, False)
        """
        return fingerprint(([Fraction(value) for value in row] for row in self.features.tolist()), self.signs.tolist())

    @cached_property
    def row_texts(self) -> list[list[str]]:
        """The rows as exact numbers in text, as certificates state them.

        Examples
        --------
        >>> TrainingSet([[0.5, 3], [2, -0.25]], [1, -1]).row_texts
        [['1/2', '3'], ['2', '-1/4']]
        """
        return [[rational_text(Fraction(value)) for value in row] for row in self.features.tolist()]

    def subset(self, rows: npt.ArrayLike) -> TrainingSet:
        """The training set of the given rows (positions or mask), which keep their ``row_numbers``.

        Parameters
        ----------
        rows : array

        Returns
        -------
        TrainingSet

        Examples
        --------
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> part = ts.subset([0, 3])
        >>> part, part.row_numbers
        (TrainingSet(2 rows, 2 features, 1 positive (1), 1 negative (-1)), array([0, 3]))
        """
        chosen = np.asarray(rows)
        if not chosen.size:
            raise InputError("no rows were chosen; both classes are needed, so two rows at least")
        try:
            signs = self.signs[chosen]
        except IndexError as error:
            raise InputError(f"these are not rows of a training set of {self.n_rows} rows: {error}") from error
        if signs.ndim != 1:
            raise InputError(
                f"the rows were given in {signs.ndim} dimensions; a sequence of positions, or a mask, is needed"
            )
        if len(np.unique(signs)) < 2:
            raise InputError(f"the rows chosen have one class ({signs[0]}, {len(signs)} rows); both are needed")
        return TrainingSet._trusted(
            self.features[chosen], signs, self.classes, self.feature_names, self.row_numbers[chosen], self.read_as
        )


def fingerprint(rows: Iterable[Iterable[Fraction]], signs: Iterable[int]) -> str:
    """SHA-256 of rows of exact numbers and their signs, in order, as docs/certificates.md defines it."""
    digest = hashlib.sha256()
    for row, sign in zip(rows, signs, strict=True):
        digest.update(f"{sign}:{','.join(map(str, row))}\n".encode())
    return digest.hexdigest()


def check_read_as(read_as: Any) -> None:
    if not isinstance(read_as, str) or read_as not in ("written", "float"):
        raise InputError(f'read_as is {read_as!r}; "written" or "float" is needed')


def require_training_set(value: Any) -> None:
    """Raise an ``InputError`` for anything but a ``TrainingSet``."""
    if not isinstance(value, TrainingSet):
        raise InputError(f"a TrainingSet is needed, {type(value).__name__} was given")
