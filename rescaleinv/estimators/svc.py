"""RescaleInvariantSVC, the scikit-learn estimator, and ``certify`` for whatever it is part of."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self
from warnings import warn

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines import EngineSettings
from rescaleinv.engines.choice import EngineChoice, check_engine_name, choose_engine
from rescaleinv.errors import InputError, LeftOutWarning, NotAvailableError
from rescaleinv.estimators import saving as model_io
from rescaleinv.estimators.reference import ReferenceSVM
from rescaleinv.theory.inputs import as_labels
from rescaleinv.theory.invariance import check_invariance
from rescaleinv.theory.scale_range import as_groups, as_scale_range
from rescaleinv.theory.separability import is_separable, separable_subset
from rescaleinv.theory.soft_margin import SoftMarginSVM, correctly_classified, soft_margin_svm
from rescaleinv.theory.svm import SVMSolution, minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.theory.validation import checked_features, checked_labels, checked_weights
from rescaleinv.verdict import Verdicts


class RescaleInvariantSVC(ClassifierMixin, BaseEstimator):
    """A linear SVM for two classes that can tell which of its labels depend on how the features were scaled.

    ``predict`` gives the labels of the ordinary SVM at the scaling that the features have. ``certify`` says of each point
    whether every rescaling of the features would give the same label. Fitting enumerates nothing: the first ``certify``
    (or ``precompute``) does, so that a grid search does not pay for it.

    Parameters
    ----------
    scale_range : None, number, pair, array of pairs, or mapping from feature name to pair, default=None
        The rescalings τ that ``certify`` considers. None: all of them. A number κ: τ_j in [1/κ, κ]. A pair, or one pair a
        feature, must contain 1; (1, 1) freezes a feature, (0, inf) frees it (all of them: a mixture of free and limited
        features can't be certified; give a wide finite range instead).
    C : float, default=inf
        The penalty of the soft margin, for the features as they are given; inf is the hard margin. With a finite C
        ``certify`` needs a finite ``scale_range``: a common factor of all τ is a change of C, and belongs to the range as
        given. Verdicts are then about every optimal classifier, as the best intercept need not be unique (``predict``
        takes the middle of the best ones).
    engine : {"auto", "complex", "milp", "milp:highs", "milp:ortools", "milp:ortools:highs", "milp:pulp", "gap"}
        What decides the points. For every rescaling "auto" takes the complex where its vertices are few enough, with MILP
        for the points that its budget leaves open, and MILP elsewhere; for a limited ``scale_range`` it takes "gap".
        ``engine_`` says which and why.
    inconsistent : {"drop", "raise"}, default="drop"
        What a hard margin does with classes that no hyperplane separates: leave rows out, with a warning that names them,
        but never the last row of a class; or raise ``InseparableError``.
    time_limit : float, optional
        Seconds a point for the MILP and the gap engine; beyond it the verdict is UNKNOWN.
    drop_rule : {"misclassified", "fewest", "greedy"}, default="misclassified"
        Which rows to leave out, see :func:`rescaleinv.separable_subset`.
    groups : sequence with one label a feature, or mapping from feature name to label, default=None
        Features with the same label share one factor τ: those in one unit, or the one-hot columns of one variable. For
        limited ranges only.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the rows' weights. "balanced" gives both classes the same total of weights.
    max_vertices : int, optional
        When to give up the enumeration of vertices; 2,000,000 for "auto" and 20,000,000 for "complex" if not given. Points
        that are then open go to the MILP ("auto") or are UNKNOWN ("complex").
    max_seconds : float, optional
        The same in seconds; also how long ``drop_rule="fewest"`` may search. Verdicts may then depend on the machine.
    n_jobs : int, optional
        Threads of the complex, processes of the others; as in joblib None is 1 and -1 all processors.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels, sorted; the second is the positive one.
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        The SVM at the given scaling.
    training_set_ : TrainingSet
        The rows that count.
    dropped_ : int array
        Rows of X that were left out because of ``inconsistent="drop"``.
    engine_ : EngineChoice
        ``engine_.name`` decides the points, because of ``engine_.reason``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A point is positive where w·x + b >= 0, as in the paper.

    *Weights.* In a soft margin the weight of a row multiplies its C. In a hard margin no row may be on the wrong side,
    however little it weighs, so that any positive weight is the same as 1; a row of weight 0 is left out. Weights count
    where rows must be left out: those go that a soft-margin SVM with the weights misclassifies (``drop_rule=
    "misclassified"``; the other rules count rows, and refuse weights that differ).

    Sparse input is made dense: engines are for few features, and the SVM needs all the values anyway.

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> features, labels, names = load("breast_cancer_wisconsin")
    >>> clf = RescaleInvariantSVC(inconsistent="raise").fit(features[:30], labels[:30])
    >>> clf.predict(features[30:36])
    array([-1,  1,  1, -1, -1, -1], dtype=int8)
    >>> clf.certify(features[30:36]).code
    array([ 0,  1,  1,  0,  0, -1], dtype=int8)
    >>> clf.engine_
    EngineChoice('complex': 9 features that vary and 30 rows have few enough vertices to enumerate)
    """

    def __init__(
        self,
        scale_range: Any = None,
        C: float = float("inf"),
        engine: str = "auto",
        inconsistent: str = "drop",
        time_limit: float | None = None,
        *,
        drop_rule: str = "misclassified",
        groups: Any = None,
        class_weight: Any = None,
        max_vertices: int | None = None,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.scale_range = scale_range
        self.C = C
        self.engine = engine
        self.inconsistent = inconsistent
        self.time_limit = time_limit
        self.drop_rule = drop_rule
        self.groups = groups
        self.class_weight = class_weight
        self.max_vertices = max_vertices
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the SVM and choose the engine.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_rows, n_features)
        y : sequence of two different labels
        sample_weight : sequence of numbers >= 0, optional
            See the notes on weights.
        """
        self._check_parameters()
        self._fitted_parameters = self.get_params(deep=False)
        features = checked_features(self, X, fitting=True)
        names = getattr(self, "feature_names_in_", None)
        self._check_range(None if names is None else names.tolist())
        labels = checked_labels(self, y, len(features))
        weights = checked_weights(sample_weight, features)
        # what has no weight is not there, and says nothing about the classes either
        rows = np.flatnonzero(weights)
        signs, pair = as_labels(labels[rows], len(rows))
        feature_names = None if names is None else tuple(names.tolist())
        whole = TrainingSet._trusted(features[rows], signs, pair, feature_names, rows)
        classes = np.unique(labels[rows])
        weights = self._with_class_weights(labels[rows], classes, weights[rows])
        training_set, svm = self._trained(whole, weights)
        self.classes_ = classes
        self.training_set_ = training_set
        self.dropped_: IntArray = np.setdiff1d(whole.row_numbers, training_set.row_numbers)
        self._set_reference(svm.weights, svm.intercept, svm.value_at_anchor)
        self._choose_engine(float(self.C) * weights if math.isfinite(self.C) else None)
        return self

    def _trained(self, whole: TrainingSet, weights: FloatArray) -> tuple[TrainingSet, SoftMarginSVM | SVMSolution]:
        """The rows that count, and the SVM of them."""
        if math.isfinite(self.C):
            return whole, soft_margin_svm(whole, float(self.C), weights)
        training_set = self._consistent(whole, weights) if self.inconsistent == "drop" else whole
        return training_set, minimal_norm_svm(training_set)

    def _check_parameters(self) -> None:
        if not (isinstance(self.C, Real) and self.C > 0):
            raise InputError(f"C is {self.C!r}; a positive number is needed, or inf for a hard margin")
        if not isinstance(self.inconsistent, str) or self.inconsistent not in ("drop", "raise"):
            raise InputError(f'inconsistent is {self.inconsistent!r}; "drop" or "raise" is needed')
        for name in ("time_limit", "max_vertices", "max_seconds"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and value > 0):
                raise InputError(f"{name} is {value!r}; a positive number, or None, is needed")
        if self.n_jobs is not None and not (isinstance(self.n_jobs, Integral) and self.n_jobs != 0):
            raise InputError(f"n_jobs is {self.n_jobs!r}; None, a number of jobs, or -1 for all processors, is needed")
        check_engine_name(self.engine)

    def _check_range(self, names: list[str] | None) -> tuple[FloatArray | None, IntArray | None]:
        """The limits of τ and the groups of features, where there are any."""
        limits = as_scale_range(self.scale_range, self.n_features_in_, names)
        if self.groups is None:
            return limits, None
        if limits is None:
            raise InputError(
                "groups are for limited ranges, and scale_range is None: every feature is rescaled on its own; give a "
                "finite scale_range, such as 1000"
            )
        return limits, as_groups(self.groups, self.n_features_in_, names)

    def _with_class_weights(
        self, labels: npt.NDArray[Any], classes: npt.NDArray[Any], weights: FloatArray
    ) -> FloatArray:
        try:
            of_class = compute_class_weight(self.class_weight, classes=classes, y=labels, sample_weight=weights)
        except (ValueError, TypeError) as error:
            raise InputError(f"class_weight is {self.class_weight!r}: {error}") from error
        if not (np.isfinite(of_class).all() and of_class.min() > 0):
            raise InputError(f"class_weight is {self.class_weight!r}; weights must be positive and finite")
        return weights * of_class[np.searchsorted(classes, labels)]

    def _consistent(self, whole: TrainingSet, weights: FloatArray) -> TrainingSet:
        """The training set without the rows that have to go, and a warning that names them."""
        part = whole
        if (weights != 1).any() and not is_separable(whole):
            if self.drop_rule == "misclassified":
                # separable, unless a class is down to its last row
                part = whole.subset(correctly_classified(whole, weights))
                if not part.conditioned.any():  # both classes at one point, where nothing separates them
                    part = whole
            elif np.ptp(weights):
                raise InputError(
                    f"drop_rule={self.drop_rule!r} counts rows, and rows of different weights were given for classes "
                    'that are not separable; use drop_rule="misclassified", or a finite C'
                )
        kept = separable_subset(part, self.drop_rule, time_limit=self.max_seconds).training_set
        left_out = np.setdiff1d(whole.row_numbers, kept.row_numbers)
        if left_out.size:
            warn(LeftOutWarning(left_out.tolist(), whole.n_rows), stacklevel=4)
        return kept

    def _set_reference(self, weights: FloatArray, intercept: float, value_at_anchor: float) -> None:
        hard_margin = math.isinf(self.C)
        self._reference = ReferenceSVM(self.training_set_, weights, intercept, value_at_anchor, hard_margin)
        self.coef_, self.intercept_ = weights[None, :], np.array([intercept])
        self._invariant: bool | None = None

    def _choose_engine(self, penalties: FloatArray | None) -> None:
        names = self.training_set_.feature_names
        limits, groups = self._check_range(None if names is None else list(names))
        self._penalties = penalties
        self.engine_: EngineChoice = choose_engine(self.engine, self.training_set_, self._settings(limits, groups))

    def _settings(self, limits: FloatArray | None, groups: IntArray | None) -> EngineSettings:
        return EngineSettings(
            time_limit=self.time_limit,
            max_vertices=self.max_vertices,
            max_seconds=self.max_seconds,
            n_jobs=self.n_jobs,
            left_out=len(self.dropped_),
            limits=limits,
            groups=groups,
            penalties=self._penalties,
        )

    def decision_function(self, X: Any) -> FloatArray:
        """w·x + b of the SVM at the given scaling: positive (``classes_[1]``) where this is >= 0."""
        check_is_fitted(self)
        return self._reference.decision_function(checked_features(self, X, fitting=False))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each point by the SVM at the given scaling: always a class."""
        positive = self.decision_function(X) >= 0
        labels: npt.NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def precompute(self) -> Self:
        """Do now what the first ``certify`` would do: whatever the engine needs once a training set."""
        check_is_fitted(self)
        self.engine_.engine.precompute()
        return self

    def certify(self, X: Any) -> Verdicts:
        """Whether each point's label is the same under every rescaling of the features that ``scale_range`` allows.

        Examples
        --------
        Example 2 of the paper:

        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4], [4, 4], [0, 0]])
        Verdicts(3 points: 1 strongly positive (33%), 1 strongly negative (33%), 1 neutral (33%))
        """
        check_is_fitted(self)
        return self.engine_.engine.certify_checked(checked_features(self, X, fitting=False))

    def prove(self, path: str | Path) -> Any:
        """Write the proof of the training set, and have it checked by ``rescaleinv.verify``, exactly.

        Strong verdicts of ``certify`` are "certified" from then on, and their certificates refer to this proof;
        ``Verdicts.prove`` makes them "proved". With engine "gap" certificates stand by themselves, and the mixed-integer
        programs prove no strong verdict: both raise ``NotAvailableError``.

        Returns
        -------
        ComplexProof
            Its ``path``, ``sha256``, ``n_vertices``, ``n_bytes``, and how many edges had to be corrected.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.prove(pathlib.Path(folder) / "complex.jsonl").n_vertices
        2
        >>> print(clf.certify([[-1, 4], [4, 4], [0, 0]]).prove().status)
        ['proved' 'proved' 'proved']
        """
        check_is_fitted(self)
        return self.engine_.engine.prove(path)

    def predict_set(self, X: Any) -> npt.NDArray[np.bool_]:
        """For each point, which of the two ``classes_`` some rescaling gives it; both where that is not known.

        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.predict_set([[-1, 4], [4, 4], [0, 0]])
        array([[ True,  True],
               [False,  True],
               [ True, False]])
        """
        verdicts = self.certify(X)
        return np.column_stack([~verdicts.strongly_positive, ~verdicts.strongly_negative])

    def rescaling_radius(self, X: Any, *, ratio: float = 1.01, largest: float = 1000.0) -> FloatArray:
        """For each point [certified κ, refuted κ]: how wrong the units may be before its label can change.

        The label is the same for all rescalings τ_j in [1/κ, κ] up to the first, and not up to the second. (Features that
        ``scale_range`` freezes stay so, ``groups`` share one factor, and a finite C is as it is.) A point that every
        rescaling labels alike has infinity for both.

        Parameters
        ----------
        X : table of points
        ratio : float
            How near to each other the two are brought, unless a limit (``time_limit`` is for each range that is tried)
            leaves some κ open.
        largest : float
            Where to stop: a point whose label holds up to it has infinity as its refuted κ.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.rescaling_radius([[-1, 4], [4, 4]]).round(2)
        array([[1.06, 1.07],
               [ inf,  inf]])
        """
        check_is_fitted(self)
        points = checked_features(self, X, fitting=False)
        found = np.full((len(points), 2), np.inf)
        names = self.training_set_.feature_names
        limits, groups = self._check_range(None if names is None else list(names))
        frozen = np.zeros(self.n_features_in_, bool) if limits is None else (limits == 1).all(axis=1)
        ranges = np.where(frozen[:, None], 1.0, [0.5, 2.0])  # radius tries its own for those that are not frozen
        engine = choose_engine("auto", self.training_set_, self._settings(ranges, groups)).engine
        left = np.flatnonzero(~self._same_for_every_rescaling(points))
        if left.size:
            found[left] = engine.radius(points[left], ratio=ratio, largest=largest)
        return found

    def _same_for_every_rescaling(self, points: FloatArray) -> npt.NDArray[np.bool_]:
        """Points whose label no rescaling at all changes, as far as that is known without much ado (hard margins only)."""
        from rescaleinv.engines.forced_label import has_one_label

        if not self._reference.hard_margin:
            return np.zeros(len(points), dtype=bool)
        settings = replace(self._settings(None, None), penalties=None)
        everything = choose_engine("auto", self.training_set_, settings)
        if everything.abilities.enumerates:
            own = self.engine_.abilities
            engine = self.engine_.engine if own.enumerates and own.every_rescaling else everything.engine
            return engine.certify_checked(points).strong
        sides = np.where(self._reference.decision_function(points) >= 0, 1, -1)
        return np.array(
            [
                has_one_label(self.training_set_, [Fraction(x) for x in point.tolist()], point, int(side))
                for point, side in zip(points, sides, strict=True)
            ],
            dtype=bool,
        )

    @property
    def is_invariant_(self) -> bool:
        """Whether rescaling makes no difference to any point at all (Corollary 8 of the paper)."""
        check_is_fitted(self)
        if not self._reference.hard_margin:
            raise NotAvailableError("the test for invariance is for the hard margin (C=inf), and C is finite")
        if self._invariant is None:
            self._invariant = check_invariance(self.training_set_).invariant
        return self._invariant

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to one file without pickle, with the vertices if they have been enumerated."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        classes, class_arrays = model_io.pack_labels(self.classes_)
        state, engine_arrays = model_io.pack_engine(self.engine_.made)
        content = {
            "params": model_io.pack(self._fitted_parameters),  # as they were, whatever was set since
            "feature_names": None if names is None else names.tolist(),
            "classes": classes,
            "vertices": state,
            "soft": self._penalties is not None,
        }
        arrays: dict[str, npt.NDArray[Any]] = {
            "features": self.training_set_.features,
            "signs": self.training_set_.signs,
            "row_numbers": self.training_set_.row_numbers,
            "dropped": self.dropped_,
            "weights": self._reference.weights,
            "offsets": np.array([self._reference.intercept, self._reference.value_at_anchor]),
        }
        if self._penalties is not None:
            arrays["penalties"] = self._penalties
        model_io.write(path, content, {**arrays, **class_arrays, **engine_arrays})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote. Nothing is trained or enumerated again, and no code in the file can run.

        Raises
        ------
        InputError
            If the file is damaged, is something else, or was written by a newer version.
        """
        with model_io.reading(path) as (content, arrays):
            estimator = cls(**model_io.unpack(content["params"]))
            estimator._check_parameters()
            estimator._fitted_parameters = estimator.get_params(deep=False)
            names = content["feature_names"]
            training_set = TrainingSet(
                arrays["features"],
                arrays["signs"],
                positive=1,
                feature_names=names,
                row_numbers=model_io.integers(arrays["row_numbers"]),
            )
            estimator.classes_ = model_io.unpack_labels(content["classes"], arrays)
            training_set.classes = tuple(estimator.classes_.tolist())
            estimator.training_set_ = training_set
            estimator.n_features_in_ = training_set.n_features
            if names is not None:
                estimator.feature_names_in_ = np.array(names, dtype=object)
            estimator.dropped_ = model_io.integers(arrays["dropped"])
            model_io.require_finite(arrays["weights"], (training_set.n_features,))
            model_io.require_finite(arrays["offsets"], (2,))
            estimator._set_reference(arrays["weights"], *map(float, arrays["offsets"]))
            penalties = None
            if content.get("soft"):
                penalties = arrays["penalties"]
                model_io.require_finite(penalties, (training_set.n_rows,))
            estimator._choose_engine(penalties)
            if content["vertices"] is not None:
                model_io.unpack_engine(content["vertices"], arrays, estimator.engine_.engine)
        return estimator


def certify(estimator: Any, X: Any) -> Verdicts:
    """The verdicts of a fitted ``RescaleInvariantSVC``, or of one that is the last step of a pipeline.

    The points go through the steps before it first: "every rescaling" is of the features that the SVM sees. A search
    (``GridSearchCV`` and the like) stands for its ``best_estimator_``.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rescaleinv.datasets import load
    >>> features, labels, _ = load("breast_cancer_wisconsin")
    >>> pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC()).fit(features[:30], labels[:30])
    >>> certify(pipeline, features[30:36]).code
    array([ 0,  1,  1,  0,  0, -1], dtype=int8)
    """
    if hasattr(estimator, "best_estimator_"):
        return certify(estimator.best_estimator_, X)
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        return certify(estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X)
    if not hasattr(estimator, "certify") or isinstance(estimator, type):
        raise InputError(
            f"{type(estimator).__name__} can't certify; a fitted RescaleInvariantSVC is needed, or a pipeline or a search "
            "that ends in one"
        )
    verdicts: Verdicts = estimator.certify(X)
    return verdicts
