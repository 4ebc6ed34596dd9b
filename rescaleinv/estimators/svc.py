"""RescaleInvariantSVC, the scikit-learn estimator, and ``certify`` for whatever it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.deadline import run_within
from rescaleinv._util.frames import FrameKind
from rescaleinv._util.parameters import checked_limit, checked_n_jobs, checked_time_limit
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.certificates.certificate import Certificate
from rescaleinv.engines import Engine, owned
from rescaleinv.engines.choice import EngineChoice, check_engine_name
from rescaleinv.errors import InputError, NotAvailableError
from rescaleinv.estimators.fitted import Fitted, all_or_nothing
from rescaleinv.estimators.margin import check_margin, find_margin, margin_words
from rescaleinv.estimators.pipelines import Around, around_scalers
from rescaleinv.estimators.points import certify_with_holes, labels_with_holes
from rescaleinv.estimators.radius import RadiusSearch, radius_search
from rescaleinv.estimators.saving import reading_model, write_model
from rescaleinv.theory.inputs import as_labels, as_matrix
from rescaleinv.theory.invariance import check_invariance
from rescaleinv.theory.scale_range import as_groups, as_scale_range
from rescaleinv.theory.separability import check_rule
from rescaleinv.theory.training_set import TrainingSet, check_read_as
from rescaleinv.theory.validation import checked_features, checked_labels, checked_weights, with_class_weights
from rescaleinv.verdict import Verdicts


class RescaleInvariantSVC(ClassifierMixin, BaseEstimator):
    """A linear SVM for two classes that can tell which of its labels depend on how the features were scaled.

    ``predict`` gives the labels of the ordinary SVM at the scaling that the features have. ``certify`` says of each point
    whether every rescaling of the features would give the same label. Fitting enumerates nothing: the first ``certify``
    (or ``precompute``) does, so that a grid search does not pay for it.

    Parameters
    ----------
    scale_range : None, number, pair, array of pairs, or mapping from feature name to pair, default=None
        The rescalings τ that ``certify`` considers. None: all of them. A number κ: τ_j in [1/κ, κ]. A pair, or one pair
        per feature, must contain 1; (1, 1) freezes a feature, (0, inf) frees it, (1, inf) lets it only grow; all of these
        may stand side by side.
    C : float, default=inf
        The penalty of the soft margin, for the features as they are given; inf is the hard margin. With a finite C
        ``certify`` needs a finite ``scale_range``: a common factor of all τ is a change of C, and belongs to the range as
        given. Verdicts are then about every optimal classifier, as the best intercept need not be unique (``predict``
        takes the middle of the best ones).
    nu : None, "auto" or number in (0, 1], default=None
        A soft margin without a scale (the ν-SVM, as ``sklearn.svm.NuSVC``): no row is left out, and verdicts may be about
        every rescaling. "auto" takes the ν at which it is ``SVC(kernel="linear", C=1)`` on the standardised rows; it is the
        same in all units. A number must be above ``least_nu(training_set_)``. Excludes a finite ``C``. None: no such margin,
        unless ``inconsistent="soft"`` needs one.
    engine : {"auto", "complex", "staged", "tree", "milp", "milp:…", "gap"}, default="auto"
        What decides the points. For every rescaling "auto" takes the complex where its vertices are few enough, with
        "staged" (a search for flips, then branch and bound) for the points that its budget leaves open, and "staged"
        elsewhere; for a limited ``scale_range`` and for ``groups`` it takes "gap". "milp" is the paper's method, for
        comparison (its solver may be named: "milp:highs", "milp:ortools", "milp:ortools:highs", "milp:pulp").
        ``engine_`` says which engine it is and why.
    inconsistent : {"soft", "drop", "raise"}, default="soft"
        What is done where a hard margin is asked for (no C, no ``nu``) and no hyperplane separates the classes. "soft":
        the soft margin with ``nu="auto"``, no row left out. "drop", the paper's way: leave rows out, with a warning that
        names them, but never the last row of a class. "raise": an ``InseparableError``.
    time_limit : float or None, default=5
        Seconds per point for the engines that decide points one at a time (all but the complex); beyond it the verdict is
        UNKNOWN, with what is known so far. The staged and the gap engine take it as an average over a call: easy points
        leave time to hard ones. None: no limit, however long it takes.
    drop_rule : {"misclassified", "fewest", "greedy"}, default="misclassified"
        Which rows to leave out, see :func:`rescaleinv.separable_subset`.
    groups : sequence with one label per feature, or mapping from feature name to label, default=None
        Features with the same label share one factor τ: those in one unit, or the one-hot columns of one variable. With
        ``scale_range=None`` verdicts are about every factor of every group ("gap" decides, and as a common factor of all
        features changes nothing, one group keeps its scale in certificates).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the rows' weights. "balanced" gives both classes the same total of weights.
    max_vertices : int, optional
        When to give up the enumeration of vertices; 2,000,000 for "auto" and 20,000,000 for "complex" if not given. Points
        that are then open go to the staged engine ("auto") or are UNKNOWN ("complex").
    max_seconds : float, optional
        The same in seconds (if not given, "auto" takes 10 beyond 10 features or 100 rows); also how long
        ``drop_rule="fewest"`` may search (60 if not given). Verdicts may then depend on the machine.
    n_jobs : int, optional
        Threads of the complex, processes of the others; as in joblib None is 1 and -1 all processors.

    read_as : {"written", "float"}, default="written"
        Whether verdicts are about the data as they were most likely written (decimals; values on a grid that were scaled
        and rounded since) or about each float at its word. ``training_set_.reading`` says what was done.

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
    nu_ : float or None
        The ν of the soft margin; None where there is none.
    margin_ : str
        Which margin, in words: "hard margin", "hard margin on 131 of 172 rows", "soft margin, ν = 0.712 (…)".
    engine_ : EngineChoice
        ``engine_.name`` decides the points, because of ``engine_.reason``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A point is positive where w·x + b >= 0, as in the paper.

    *Intercepts.* Where the best intercept of a soft margin is not unique, ``predict`` takes the middle of the best ones, as
    libsvm does; verdicts are about all of them.

    *Weights.* In a soft margin the weight of a row multiplies its C, or with ν the cap of its multiplier (as in ``SVC`` and
    ``NuSVC``); ``nu="auto"`` standardises the rows with ``sample_weight``, so that a row of weight 2 is as two rows. In a
    hard margin no row may be on the wrong side,
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
        nu: float | str | None = None,
        engine: str = "auto",
        inconsistent: str = "soft",
        time_limit: float | None = 5.0,
        *,
        drop_rule: str = "misclassified",
        groups: Any = None,
        class_weight: Any = None,
        max_vertices: int | None = None,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        read_as: str = "written",
    ) -> None:
        self.scale_range = scale_range
        self.C = C
        self.nu = nu
        self.engine = engine
        self.inconsistent = inconsistent
        self.time_limit = time_limit
        self.drop_rule = drop_rule
        self.groups = groups
        self.class_weight = class_weight
        self.max_vertices = max_vertices
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.read_as = read_as

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

        Returns
        -------
        RescaleInvariantSVC
            The estimator itself.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.margin_, clf.predict([[-1, 4]])
        ('hard margin', array(['up'], dtype='<U4'))
        """
        with all_or_nothing(self) as draft:
            draft._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_parameters()
        features = checked_features(self, X, fitting=True)
        names = getattr(self, "feature_names_in_", None)
        feature_names = None if names is None else tuple(names.tolist())
        limits, groups = self._checked_range(features.shape[1], feature_names)
        labels = checked_labels(self, y, len(features))
        weights = checked_weights(sample_weight, features)
        # what has no weight is not there, and says nothing about the classes either
        rows = np.flatnonzero(weights)
        signs, pair = as_labels(labels[rows], len(rows))
        whole = TrainingSet._trusted(features[rows], signs, pair, feature_names, rows, self.read_as)
        classes = np.unique(labels[rows])
        row_weights = with_class_weights(self.class_weight, labels[rows], classes, weights[rows])
        parameters = self.get_params(deep=False)
        margin = find_margin(whole, row_weights, weights[rows], parameters, stacklevel=3)
        self._adopt(Fitted(parameters=parameters, classes=classes, margin=margin, limits=limits, groups=groups))

    def _adopt(self, fitted: Fitted) -> None:
        """Become the fitted model that was computed, or read from a file."""
        self._fitted = fitted
        self._radii: RadiusSearch | None = None
        self._invariant: bool | None = None
        self._around: tuple[FloatArray, EngineChoice] | None = None
        self.classes_ = fitted.classes
        self.training_set_ = fitted.training_set
        self.dropped_: IntArray = fitted.margin.dropped
        self.nu_: float | None = None if fitted.margin.nu is None else float(fitted.margin.nu.nu)
        self.margin_: str = margin_words(fitted.margin, fitted.parameters)
        self.coef_ = fitted.reference.weights[None, :]
        self.intercept_ = np.array([fitted.reference.intercept])
        self.engine_: EngineChoice = fitted.engine_for(fitted.training_set)

    def _check_parameters(self) -> None:
        check_margin(self.C, self.nu, self.inconsistent)
        check_rule(self.drop_rule)
        for name in ("time_limit", "max_seconds"):
            checked_time_limit(getattr(self, name), name)
        checked_limit(self.max_vertices, "max_vertices")
        checked_n_jobs(self.n_jobs)
        check_engine_name(self.engine)
        check_read_as(self.read_as)

    def _checked_range(self, n_features: int, names: Sequence[str] | None) -> tuple[FloatArray | None, IntArray | None]:
        """The limits of τ and the groups of features, where there are any."""
        limits = as_scale_range(self.scale_range, n_features, names)
        return limits, None if self.groups is None else as_groups(self.groups, n_features, names)

    def _engine_around(self, around: Around) -> Engine:
        """The engine for the training rows as they were before the scalers of a pipeline; made once."""
        if self._around is None or not np.array_equal(self._around[0], around.features):
            rows = self.training_set_
            training_set = TrainingSet._trusted(
                around.features, rows.signs, rows.classes, rows.feature_names, rows.row_numbers, rows.read_as
            )
            self._around = (around.features, self._fitted.engine_for(training_set))
        return self._around[1].engine

    def decision_function(self, X: Any) -> FloatArray:
        """w·x + b of the SVM at the given scaling: positive (``classes_[1]``) where this is >= 0.

        Parameters
        ----------
        X : table of points

        Returns
        -------
        array of shape (n_points,)

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.decision_function([[-1, 4], [0, 0]]).round(2)
        array([ 1.5, -6. ])
        """
        check_is_fitted(self)
        return self._fitted.reference.decision_function(checked_features(self, X, fitting=False))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each point by the SVM at the given scaling: always a class.

        Parameters
        ----------
        X : table of points

        Returns
        -------
        array of shape (n_points,)
            Labels, as they were given to ``fit``.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.predict([[-1, 4], [0, 0]])
        array(['up', 'down'], dtype='<U4')
        """
        positive = self.decision_function(X) >= 0
        labels: npt.NDArray[Any] = self.classes_[positive.astype(np.intp)]
        return labels

    def precompute(self) -> Self:
        """Do now what the first ``certify`` would do: whatever the engine needs once per training set.

        Returns
        -------
        RescaleInvariantSVC
            The estimator itself.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> len(clf.precompute().engine_.engine.vertices.solutions)
        2
        """
        check_is_fitted(self)
        self.engine_.engine.precompute()
        return self

    def certify(self, X: Any, *, budget: float | None = None) -> Verdicts:
        """Whether each point's label is the same under every rescaling that ``scale_range`` and ``groups`` allow.

        Parameters
        ----------
        X : table of points
            One with a value that is missing (None, NaN), infinite or too large is UNKNOWN for that reason.
        budget : float, optional
            Seconds for all points together. Cheap steps come first for all of them; what is open when the budget is used
            up, or Ctrl-C is pressed, is UNKNOWN, and everything that was decided so far is kept.

        Returns
        -------
        Verdicts
            One per point, with the index of X where it has one.

        Examples
        --------
        Example 2 of the paper:

        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.certify([[-1, 4], [4, 4], [0, 0]])
        Verdicts(3 points: 1 strongly positive (33%), 1 strongly negative (33%), 1 neutral (33%))
        """
        check_is_fitted(self)
        rows = owned(checked_features(self, X, fitting=False, holes=True), X)
        with run_within(budget, interruptible=budget is not None):
            verdicts = certify_with_holes(self.engine_.engine, rows)
        return self._named(verdicts, rows, X)

    def _named(self, verdicts: Verdicts, rows: FloatArray, X: Any) -> Verdicts:
        """The verdicts with the labels of the rows, the classes, and what the points are called in X."""
        labels = labels_with_holes(self.classes_, self._fitted.reference.decision_function, rows)
        negative, positive = self.classes_.tolist()
        return replace(verdicts, labels=labels, classes=(negative, positive), frame_kind=FrameKind.of(X))

    def prove(self, path: str | Path) -> Any:
        """Write the proof of the training set, and have it checked by ``rescaleinv.verify``, exactly.

        Strong verdicts of ``certify`` are "certified" from then on, and their certificates refer to this proof;
        ``Verdicts.prove`` makes them "proved". With engine "gap" certificates stand by themselves, and the mixed-integer
        programs prove no strong verdict: both raise ``NotAvailableError``.

        Parameters
        ----------
        path : str or Path
            Where to write it: one line of JSON per part.

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

        Parameters
        ----------
        X : table of points

        Returns
        -------
        bool array of shape (n_points, 2)
            The columns are those of ``classes_``.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.predict_set([[-1, 4], [4, 4], [0, 0]])
        array([[ True,  True],
               [False,  True],
               [ True, False]])
        """
        verdicts = self.certify(X)
        return np.column_stack([~verdicts.strongly_positive, ~verdicts.strongly_negative])

    def rescaling_radius(
        self, X: Any, *, ratio: float = 1.01, largest: float = 1000.0, budget: float | None = None
    ) -> FloatArray:
        """For each point [certified κ, refuted κ]: how wrong the units may be before its label can change.

        The label is the same for all rescalings τ_j in [1/κ, κ] up to the first, and not up to the second. (Features that
        ``scale_range`` freezes stay so, ``groups`` share one factor, and the margin is the model's.) A point that every
        rescaling labels alike has infinity for both. ``radius_certificates`` has the proofs of both ends.

        Parameters
        ----------
        X : table of points
        ratio : float
            How near to each other the two are brought, unless a limit (``time_limit`` is per point) leaves some κ open.
        largest : float
            Where to stop: a point whose label holds up to it has infinity as its refuted κ. A smaller one takes less time.
        budget : float, optional
            Seconds for all points together; points that it does not reach have [1, infinity], which says nothing.

        Returns
        -------
        array of shape (n_points, 2)
            Up to which κ the label is certified, and at which κ it is refuted.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> clf.rescaling_radius([[-1, 4], [4, 4]]).round(2)
        array([[1.06, 1.06],
               [ inf,  inf]])
        """
        check_is_fitted(self)
        points = checked_features(self, X, fitting=False)
        if self._fitted.margin.one_label:
            return np.full((len(points), 2), np.inf)
        with run_within(budget):
            return self._radius_search().of(points, ratio=ratio, largest=largest)

    def radius_certificates(
        self, x: Any, *, ratio: float = 1.01, largest: float = 1000.0
    ) -> tuple[Certificate | None, Certificate | None]:
        """The certificates of both ends of one point's radius: that its label holds for all τ in [1/κ, κ], and does not.

        Parameters
        ----------
        x : one point
        ratio, largest : float
            As in :meth:`rescaling_radius`.

        Returns
        -------
        tuple of Certificate or None
            The range of each certificate has its κ. None where the search has no such end: no other label was found up to
            ``largest``, or the label is not even proved at the given scaling. A label that holds under *every* rescaling has
            a certificate for ``largest`` here; that of its strong verdict says more.

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> holds, changes = clf.radius_certificates([-1, 4], ratio=1.1)
        >>> holds.claim, changes.claim
        ('strongly positive within the range', 'neutral within the range')
        """
        check_is_fitted(self)
        points = checked_features(self, [x], fitting=False)
        if self._fitted.margin.one_label:
            return None, None
        return self._radius_search().certificates(points, ratio=ratio, largest=largest)

    def _radius_search(self) -> RadiusSearch:
        if self._radii is None:
            self._radii = radius_search(self)
        return self._radii

    @property
    def is_invariant_(self) -> bool:
        """Whether rescaling makes no difference to any point at all (Corollary 8 of the paper; the same holds for ν).

        Examples
        --------
        With two features some points depend on the scaling; with one there is only a common factor, which changes nothing:

        >>> rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"]
        >>> RescaleInvariantSVC().fit(rows, labels).is_invariant_
        False
        >>> RescaleInvariantSVC().fit([[0], [2], [5]], ["down", "up", "up"]).is_invariant_
        True
        """
        check_is_fitted(self)
        if self._fitted.margin.one_label:
            return True
        if self._fitted.margin.penalties is not None:
            raise NotAvailableError("the test for invariance is for the hard margin or nu, and C is finite")
        if self._invariant is None:
            self._invariant = check_invariance(self.training_set_.as_read, self._fitted.margin.nu).invariant
        return self._invariant

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to one file without pickle, with the vertices if they have been enumerated.

        Parameters
        ----------
        path : str or Path

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.save(pathlib.Path(folder) / "model")
        ...     again = RescaleInvariantSVC.load(pathlib.Path(folder) / "model")
        >>> again.predict([[-1, 4]])
        array(['up'], dtype='<U4')
        """
        check_is_fitted(self)
        write_model(path, self._fitted, self.engine_.made)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Any:
        """What can certify for a linear SVM that is already there: trained on the same rows, and compared with it.

        Parameters
        ----------
        model : SVC(kernel="linear") or NuSVC(kernel="linear"), or a pipeline that ends in one
            Fitted, with two classes. Its C or ν and its ``class_weight`` are taken over. About every rescaling a C says
            nothing, as it has a scale: the question is then asked with the ν at which the ν-SVM has these weights; where its
            best intercept is not unique an ``OtherInterceptWarning`` says so. With a ``scale_range`` among the parameters
            the C stays.
        X, y : table and labels
            What it was fitted to.
        sample_weight : sequence of numbers, optional
            What it was fitted with; a model does not keep it.
        **parameters
            Of ``RescaleInvariantSVC``, apart from ``C``, ``nu``, ``class_weight`` and ``inconsistent``. A ``LinearSVC`` is
            refused, as it penalises the intercept, unless ``intercept="free"`` is among them: then the SVM of the same C
            with the hinge loss and a free intercept is certified in its place.

        Returns
        -------
        RescaleInvariantSVC, or Pipeline
            Fitted. For a pipeline, one of the same fitted steps that ends in a ``RescaleInvariantSVC``: ``certify(pipeline,
            X)`` takes the points as the first step does.

        Raises
        ------
        InputError
            If the model is of another kind, has another objective (``LinearSVC``), did not converge, or is not the SVM of
            these rows.

        Examples
        --------
        >>> from sklearn.svm import SVC
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("fertility")
        >>> clf = RescaleInvariantSVC.from_estimator(SVC(kernel="linear", class_weight="balanced").fit(X, y), X, y)
        >>> clf.margin_
        'soft margin, ν = 0.7395 (the least ν is 0.5914)'
        """
        from rescaleinv.estimators.from_estimator import certifying

        return certifying(cls, model, X, y, sample_weight, parameters)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what ``save`` wrote. Nothing is trained or enumerated again, and no code in the file can run.

        Vertices in the file are checked against the training set in it, but not that none is missing. So neutral verdicts
        of a loaded model are "computed" and not "certified", until ``Verdicts.prove`` has shown them.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        RescaleInvariantSVC

        Raises
        ------
        InputError
            If the file is damaged, is something else, or was written by a newer version.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.save(pathlib.Path(folder) / "model")
        ...     again = RescaleInvariantSVC.load(pathlib.Path(folder) / "model")
        >>> again.certify([[-1, 4], [4, 4], [0, 0]]).counts()
        {'strongly positive': 1, 'strongly negative': 1, 'neutral': 1, 'unknown': 0}
        """
        return cls._load(path, trusted=False)

    @classmethod
    def _load(cls, path: str | Path, *, trusted: bool) -> Self:
        with reading_model(path) as stored:
            estimator = cls(**stored.parameters)
            estimator._check_parameters()
            training_set = stored.training_set
            names = training_set.feature_names
            limits, groups = estimator._checked_range(training_set.n_features, names)
            estimator.n_features_in_ = training_set.n_features
            if names is not None:
                estimator.feature_names_in_ = np.array(names, dtype=object)
            estimator._adopt(stored.fitted(estimator.get_params(deep=False), limits, groups))
            stored.restore_engine(estimator.engine_, trusted=trusted)
        return estimator


def certify(estimator: Any, X: Any, *, budget: float | None = None) -> Verdicts:
    """The verdicts of a fitted ``RescaleInvariantSVC``, or of one that is the last step of a pipeline.

    A search (``GridSearchCV`` and the like) stands for its ``best_estimator_``. Scalers before the last step change no
    verdict about every rescaling: they are gone around (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, and
    ColumnTransformers of these), so that the verdicts are those of the features that go in, without the rounding of the
    scalers. Through other steps, for limited ranges, for groups and with ``read_as="float"`` the points go first, and the
    verdicts are about the features that the SVM sees. ``provenance`` of the verdicts says which.

    Parameters
    ----------
    estimator : RescaleInvariantSVC, pipeline or search
        A fitted one, or one that ends in it.
    X : table
        The points, as the first step takes them.
    budget : float, optional
        Seconds for all points together, as in :meth:`RescaleInvariantSVC.certify`.

    Returns
    -------
    Verdicts
        One per point.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rescaleinv.datasets import load
    >>> features, labels, _ = load("breast_cancer_wisconsin")
    >>> pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC()).fit(features[:30], labels[:30])
    >>> verdicts = certify(pipeline, features[30:36])
    >>> verdicts.code
    array([ 0,  1,  1,  0,  0, -1], dtype=int8)
    >>> verdicts.provenance
    'every rescaling of the features before the scalers of the pipeline'
    """
    if hasattr(estimator, "best_estimator_"):
        return certify(estimator.best_estimator_, X, budget=budget)
    if isinstance(estimator, Pipeline):
        check_is_fitted(estimator)
        with run_within(budget, interruptible=budget is not None):
            if len(estimator) == 1:
                return certify(estimator[-1], X)
            return replace(_certify_pipeline(estimator, X), frame_kind=FrameKind.of(X))
    if not hasattr(estimator, "certify") or isinstance(estimator, type):
        from rescaleinv.estimators.from_estimator import way_to_certify

        raise InputError(f"{type(estimator).__name__} can't certify; {way_to_certify(estimator)}")
    verdicts: Verdicts = estimator.certify(X, budget=budget)
    return verdicts


def _certify_pipeline(pipeline: Pipeline, X: Any) -> Verdicts:
    svc, scaled = pipeline[-1], pipeline[:-1].transform(X)
    if (
        not isinstance(svc, RescaleInvariantSVC)
        or svc.training_set_.read_as == "float"
        or svc._fitted.limits is not None
        or svc._fitted.groups is not None  # scalers change the factors of features in a group one by one
    ):
        seen = "the features that the last step of the pipeline sees"
        return replace(certify(svc, scaled), provenance=seen)
    around = around_scalers(pipeline, svc.training_set_.features)
    if isinstance(around, str):
        return replace(certify(svc, scaled), provenance=around)
    seen_rows = checked_features(svc, scaled, fitting=False, holes=True)
    points = around.points(as_matrix(X, holes=True), seen_rows)
    verdicts = certify_with_holes(svc._engine_around(around), points)
    return replace(svc._named(verdicts, seen_rows, X), provenance=around.provenance)
