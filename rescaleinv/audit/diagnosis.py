"""Why did my labels change? Each label that differs between two models is put down to one cause."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.parameters import is_sequence
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.types import FloatArray
from rescaleinv.audit.chain import CAUSES, INTERCEPT, LOSS, MARGIN, PENALTY, SOLVER, ModelChain, PairChain, every_pair
from rescaleinv.audit.remedies import helps
from rescaleinv.audit.scalings import read_factors
from rescaleinv.errors import InputError, InputTypeError
from rescaleinv.estimators.objectives import how_it_stopped, objective_of, training_rows
from rescaleinv.metrics import group_rows
from rescaleinv.theory.inputs import as_labels, as_matrix, column_names

if TYPE_CHECKING:
    import pandas as pd

# So many iterations the usual five may take: on raw data libsvm might not come to an end at all.
_MOST_ITERATIONS = 1_000_000


def usual_models(most_iterations: int = _MOST_ITERATIONS) -> dict[str, Any]:
    """What :func:`~rescaleinv.diagnose` compares if no models are given: ``SVC(kernel="linear")`` after the usual scalers.

    Parameters
    ----------
    most_iterations : int
        The ``max_iter`` of each: on raw data libsvm might not come to an end.

    Returns
    -------
    dict from str to estimator
        Not fitted.

    Examples
    --------
    >>> list(usual_models())
    ['raw', 'StandardScaler', 'MinMaxScaler', 'RobustScaler', 'MaxAbsScaler']
    """
    scalers = (StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler())
    svms: dict[str, Any] = {"raw": SVC(kernel="linear", max_iter=most_iterations)}
    for scaler in scalers:
        svms[type(scaler).__name__] = make_pipeline(scaler, SVC(kernel="linear", max_iter=most_iterations))
    return svms


def diagnose(
    models: Any, X_train: Any, y_train: Any, X_test: Any, *, noun: str = "labels", progress: bool | None = None
) -> Diagnosis:
    """Say for each pair of fitted linear SVMs how many labels differ, and why.

    The differences between two models are taken away one by one: the solver (both are solved to the optimum of their own
    objective), the price of the intercept, the loss if they have different ones, the meaning of C (a factor that all
    features have in common is a change of C), and what is left is that the margin moved. A label that differs belongs to the
    first of these steps after which the models agree; so the counts add up.

    Parameters
    ----------
    models : mapping from name to model, sequence of models, or None
        At least two, fitted to the training rows: ``SVC(kernel="linear")``, ``NuSVC(kernel="linear")``, ``LinearSVC``,
        ``RescaleInvariantSVC``, or pipelines of scalers that end with one. None: :func:`~rescaleinv.audit.usual_models`,
        fitted here.
    X_train, y_train : table and two classes
        What the models were fitted to.
    X_test : table
        Whose labels are compared. The index of a data frame is kept.
    noun : str
        What is counted, for the words.
    progress : bool, optional
        Show progress; on a terminal if not given.

    Returns
    -------
    Diagnosis
        ``print`` shows it in words; ``table()`` and ``to_frame()`` have the numbers and the rows.

    Raises
    ------
    InputError
        For sparse tables, weights, more than two classes, kernels that are not linear, and pipelines that do more than
        multiply and shift each feature. One line says which.

    Examples
    --------
    >>> from rescaleinv.datasets import load
    >>> from sklearn.svm import LinearSVC
    >>> X, y, names = load("urine")
    >>> raw = LinearSVC(loss="hinge", random_state=0, max_iter=10).fit(X[::2], y[::2])
    >>> scaled = make_pipeline(StandardScaler(), LinearSVC(loss="hinge", random_state=0)).fit(X[::2], y[::2])
    >>> found = diagnose({"raw": raw, "z-scores": scaled}, X[::2], y[::2], X[1::2])
    >>> found.pairs[0].n_changed == sum(found.pairs[0].counts.values())
    True
    """
    for name, table in (("X_train", X_train), ("X_test", X_test)):
        if hasattr(table, "tocsr"):
            raise InputError(f"{name} is sparse; a dense table is needed here: use {name}.toarray()")
    train, test = as_matrix(X_train, what="X_train"), as_matrix(X_test, what="X_test")
    if test.shape[1] != train.shape[1]:
        raise InputError(f"X_test has {test.shape[1]} features, but X_train has {train.shape[1]}")
    named = _fitted_usual(X_train, y_train) if models is None else _named(models)
    classes = _classes_of(named)
    signs, _ = as_labels(y_train, len(train), positive=classes[1])
    with progress_bar("optima", progress) as bar:
        chains = [_chain(name, model, X_train, X_test, train, test, signs) for name, model in named.items()]
        pairs = every_pair(chains, train.max(axis=0) > train.min(axis=0), bar.show)
    names = column_names(X_train)
    features = [f"feature {j}" for j in range(train.shape[1])] if names is None else [str(name) for name in names]
    index = getattr(X_test, "index", None) if column_names(X_test) is not None else None
    if index is None or callable(index):
        index = range(len(test))
    return Diagnosis([PairDiagnosis(pair, noun) for pair in pairs], chains, list(index), classes, features)


@dataclass(frozen=True, eq=False)
class PairDiagnosis:
    """Why two models give different labels; ``print`` shows it in words.

    Attributes
    ----------
    chain : PairChain
        The stages between the two models.
    noun : str

    Examples
    --------
    >>> from rescaleinv import diagnose
    >>> from rescaleinv.datasets import load
    >>> X, y, _ = load("urine")
    >>> found = diagnose(None, X[::2], y[::2], X[1::2])
    >>> found.pairs[4].names, found.pairs[4].counts
    (('StandardScaler', 'MinMaxScaler'), {'solver': 0, 'intercept': 0, 'loss': 0, 'C': 7, 'margin': 0})
    """

    chain: PairChain
    noun: str = "labels"

    @property
    def names(self) -> tuple[str, str]:
        """Of the two models.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].names
        ('StandardScaler + SVC', 'MaxAbsScaler + SVC')
        """
        return self.chain.first.name, self.chain.second.name

    @property
    def n_changed(self) -> int:
        """How many labels differ as run.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].n_changed
        7
        """
        return int(self.chain.differs[0].sum())

    @property
    def counts(self) -> dict[str, int]:
        """How many of them have each cause: "solver", "intercept", "loss", "C", "margin". They add up to ``n_changed``.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].counts
        {'solver': 0, 'intercept': 0, 'loss': 0, 'C': 4, 'margin': 3}
        """
        return {cause: int((self.chain.cause == k).sum()) for k, cause in enumerate(CAUSES)}

    @property
    def left(self) -> dict[str, int]:
        """How many labels differ as run, and after each step of the chain.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].left
        {'as run': 7, 'solver': 7, 'intercept': 7, 'loss': 7, 'C': 4}
        """
        return {
            name: int(differs.sum()) for name, differs in zip(("as run", *CAUSES[:-1]), self.chain.differs, strict=True)
        }

    def rows(self, cause: str) -> npt.NDArray[np.intp]:
        """The positions in X_test of the labels that have this cause.

        Parameters
        ----------
        cause : {"solver", "intercept", "loss", "C", "margin"}

        Returns
        -------
        int array

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].rows("margin")
        array([10, 15, 33])
        """
        if cause not in CAUSES:
            raise InputError(f"cause is {cause!r}; one of {', '.join(CAUSES)} is needed")
        return np.flatnonzero(self.chain.cause == CAUSES.index(cause))

    @property
    def neutral(self) -> npt.NDArray[np.bool_]:
        """The points that the margin alone changes, shown by two rescalings: their label depends on the scaling.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> np.flatnonzero(diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].neutral)
        array([10, 15, 21, 33])
        """
        return np.asarray(self.chain.differs[-1] & ~self.chain.unclear)

    @property
    def rescalings(self) -> tuple[FloatArray, FloatArray]:
        """Two rescalings of the features as given that disagree about every point of ``neutral``.

        The first goes with the first model's C; the second is the second model's, without the common factor, with that
        same C.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> one, other = diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].rescalings
        >>> (other / one).round(2)
        array([0.03, 0.36, 0.89, 1.  , 1.02, 1.09])
        """
        return self.chain.rescalings

    def sentences(self) -> list[str]:
        """In words: what changed, why, and what the margin's rows are; then what helps with each cause that occurs.

        Returns
        -------
        list of str

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> print(diagnose(models, X[::2], y[::2], X[1::2]).pairs[0].sentences()[1])
        All 3 of these are neutral: two rescalings disagree, and no scaler is more right than the other.
        """
        total = len(self.chain.differs[0])
        one, two = self.names
        heading = f"{one} and {two}: "
        if not self.n_changed:
            said = [f"{heading}all {total} {self.noun} agree."]
        else:
            parts = [
                f"{count} because {self._why(cause)}"
                for cause, count in self.counts.items()
                if cause != LOSS or count or self._losses_differ
            ]
            verb = "differs" if self.n_changed == 1 else "differ"
            said = [f"{heading}{self.n_changed} of {total} {self.noun} {verb}: {', '.join(parts)}."]
            said += self._about_margin()
            said += [helps(cause, self.chain) for cause, count in self.counts.items() if count]
        hidden = int(self.chain.hidden.sum())
        if hidden:
            said.append(
                f"{hidden} of the {self.noun} that agree {'does' if hidden == 1 else 'do'} so by accident: the margin moved "
                "there too, and the other causes hide it."
            )
        for name, residual in self.chain.unreached:
            said.append(
                f"The optimum of {name} was not found to full accuracy (residual {residual:.1g}): its steps are uncertain."
            )
        return said

    @property
    def _losses_differ(self) -> bool:
        return self.chain.stages[3][1] is not self.chain.stages[2][1]

    def _about_margin(self) -> list[str]:
        rows = self.rows(MARGIN)
        if not len(rows):
            return []
        neutral = int(self.neutral[rows].sum())
        if neutral == len(rows):
            which = {1: "This one is", 2: "Both of these are"}.get(neutral, f"All {neutral} of these are")
            return [f"{which} neutral: two rescalings disagree, and no scaler is more right than the other."]
        return [
            f"{neutral} of the last are neutral (two rescalings disagree, and no scaler is more right than the other); "
            f"{len(rows) - neutral} are too near the hyperplane to tell."
        ]

    def _why(self, cause: str) -> str:
        chain = self.chain
        if cause == MARGIN:
            return "the margin moved"
        if cause == LOSS:
            return "they minimise different losses"
        if cause == PENALTY:
            return "C means something else"
        sides = [
            (model, count)
            for model, count in zip((chain.first, chain.second), chain.changed_by(cause), strict=True)
            if count
        ]
        if cause == INTERCEPT:
            guilty = [model for model, _ in sides] or [
                model for model in (chain.first, chain.second) if model.objective.intercept != "free"
            ]
            if not guilty:
                return "the intercept is penalised"
            verb = "penalises" if guilty[0].objective.intercept == "penalised" else "leaves out"
            return f"{type(guilty[0].model).__name__} {verb} the intercept"
        assert cause == SOLVER
        if not sides:
            return "a solver stopped early"
        return " and ".join(_how(model) for model, _ in sides)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def _how(model: ModelChain) -> str:
    name = f"{type(model.model).__name__} ({model.name})"
    if model.stopped:
        return f"{name} {model.stopped}"
    return f"{name} stopped within its tolerance (tol={getattr(model.model, 'tol', None)}), short of its optimum"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What :func:`~rescaleinv.diagnose` found, pair by pair; ``print`` shows it in words.

    Attributes
    ----------
    pairs : list of PairDiagnosis
        Each pair of models once, in the order in which they were given.
    models : list of ModelChain
    index : list
        What the test points are called: the index of the data frame, or their positions.
    classes : pair
        The negative and the positive label.
    feature_names : list of str

    Examples
    --------
    >>> from rescaleinv import diagnose
    >>> from rescaleinv.datasets import load
    >>> X, y, _ = load("urine")
    >>> found = diagnose(None, X[::2], y[::2], X[1::2])
    >>> found.table().loc[("StandardScaler", "MaxAbsScaler")].to_dict()
    {'labels that differ': 7, 'solver': 0, 'intercept': 0, 'loss': 0, 'C': 4, 'margin': 3, 'neutral': 3}
    """

    pairs: list[PairDiagnosis]
    models: list[ModelChain]
    index: list[Any]
    classes: tuple[Any, Any]
    feature_names: list[str]

    def table(self) -> pd.DataFrame:
        """One row per pair of models: how many labels differ, how many have each cause, how many of the last are neutral.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = {"z-scores": StandardScaler(), "by the largest": MaxAbsScaler()}
        >>> models = {name: make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for name, one in scalers.items()}
        >>> diagnose(models, X[::2], y[::2], X[1::2]).table().T
        first                    z-scores
        second             by the largest
        labels that differ              7
        solver                          0
        intercept                       0
        loss                            0
        C                               4
        margin                          3
        neutral                         3
        """
        import pandas as pd

        rows = [
            {"labels that differ": pair.n_changed, **pair.counts, "neutral": int(pair.neutral[pair.rows(MARGIN)].sum())}
            for pair in self.pairs
        ]
        return pd.DataFrame(
            rows, index=pd.MultiIndex.from_tuples([p.names for p in self.pairs], names=["first", "second"])
        )

    def by_group(self, groups_by: Any) -> pd.DataFrame:
        """The table for each group of test points: one row per pair of models and group.

        Parameters
        ----------
        groups_by : sequence
            The group of each test point.

        Returns
        -------
        pandas.DataFrame
            "points" is the size of the group.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> acid = np.where(X[1::2, 1] < 6, "acid", "alkaline")
        >>> found = diagnose(models, X[::2], y[::2], X[1::2])
        >>> found.by_group(acid).droplevel([0, 1]).rename_axis(None)[["points", "C", "margin"]]
                  points  C  margin
        acid          17  1       0
        alkaline      21  3       3
        """
        import pandas as pd

        groups = group_rows(groups_by, len(self.index))
        rows, names = [], []
        for pair in self.pairs:
            for group, members in groups.items():
                cause = pair.chain.cause[members]
                counts = {name: int((cause == k).sum()) for k, name in enumerate(CAUSES)}
                rows.append({"points": len(members), "labels that differ": int((cause >= 0).sum()), **counts})
                names.append((*pair.names, group))
        return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(names, names=["first", "second", "group"]))

    def stages(self) -> pd.DataFrame:
        """One row per pair of models: how many labels differ as run, and after each step of the chain.

        Returns
        -------
        pandas.DataFrame
            The last column has the labels between which the margin alone lies. A number may grow from one column to the
            next, where two causes hide each other.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> diagnose(models, X[::2], y[::2], X[1::2]).stages().iloc[0].to_dict()
        {'as run': 7, 'at the optimum': 7, 'intercept free': 7, 'one loss': 7, 'one C': 4}
        """
        import pandas as pd

        names = ("as run", "at the optimum", "intercept free", "one loss", "one C")
        rows = [dict(zip(names, pair.left.values(), strict=True)) for pair in self.pairs]
        return pd.DataFrame(rows, index=self.table().index)

    def to_frame(self, pair: int = 0) -> pd.DataFrame:
        """One row per test point: the labels of two models at every stage, the cause, and the verdict.

        Parameters
        ----------
        pair : int
            Which of ``pairs``.

        Returns
        -------
        pandas.DataFrame
            With the index of X_test.

        Examples
        --------
        >>> import pandas as pd
        >>> from rescaleinv.datasets import load
        >>> X, y, names = load("urine")
        >>> rows = pd.DataFrame(X, columns=names, index=[f"specimen {i}" for i in range(len(X))])
        >>> scalers = {"z": StandardScaler(), "max": MaxAbsScaler()}
        >>> models = {name: make_pipeline(one, SVC(kernel="linear")).fit(rows[::2], y[::2]) for name, one in scalers.items()}
        >>> frame = diagnose(models, rows[::2], y[::2], rows[1::2]).to_frame()
        >>> frame.loc[frame["cause"] == "margin", ["z, as run", "max, as run", "verdict"]]
                     z, as run  max, as run  verdict
        specimen 21          1           -1  neutral
        specimen 31          1           -1  neutral
        specimen 67          1           -1  neutral
        """
        import pandas as pd

        chosen = self.pairs[pair]
        chain = chosen.chain
        columns: dict[str, Any] = {}
        for name, (a, b) in zip(("as run", *CAUSES[:-1]), chain.stages, strict=True):
            step = name if name == "as run" else f"without {name}"
            for model, stage in zip(chosen.names, (a, b), strict=True):
                columns[f"{model}, {step}"] = [self.classes[int(label)] for label in stage.positive]
        columns["cause"] = ["" if k < 0 else CAUSES[k] for k in chain.cause.tolist()]
        last = chain.differs[-1]
        columns["verdict"] = np.where(chosen.neutral, "neutral", np.where(last, "unknown", ""))
        return pd.DataFrame(columns, index=pd.Index(self.index))

    def rescalings(self, pair: int = 0) -> pd.DataFrame:
        """The two rescalings that disagree about the neutral points of a pair: one row per feature.

        Parameters
        ----------
        pair : int
            Which of ``pairs``.

        Returns
        -------
        pandas.DataFrame
            What each feature is multiplied by, for the two SVMs with the C of the first model.

        Examples
        --------
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = {"z-scores": StandardScaler(), "by the largest": MaxAbsScaler()}
        >>> models = {name: make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for name, one in scalers.items()}
        >>> diagnose(models, X[::2], y[::2], X[1::2]).rescalings().round(4).head(3)
                   z-scores  by the largest
        feature 0  138.6260          4.5197
        feature 1    1.6413          0.5950
        feature 2    0.0043          0.0038
        """
        import pandas as pd

        chosen = self.pairs[pair]
        return pd.DataFrame(dict(zip(chosen.names, chosen.rescalings, strict=True)), index=self.feature_names)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.pairs))

    def __repr__(self) -> str:
        changed = ", ".join(str(pair.n_changed) for pair in self.pairs)
        return f"Diagnosis({len(self.models)} models, {len(self.index)} points; labels that differ: {changed})"

    def _repr_html_(self) -> str:
        import html

        said = "".join(f"<p>{html.escape(line)}</p>" for pair in self.pairs for line in pair.sentences())
        return said + str(self.table().to_html(escape=True))


# --- reading what was given -----------------------------------------------------------------------------------------


def _fitted_usual(X: Any, y: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what did not converge is told by the diagnosis
        return {name: model.fit(X, y) for name, model in usual_models().items()}


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif is_sequence(models):
        named = {}
        for model in models:
            name = _name_of(model)
            free = (f"{name} ({k})" for k in itertools.count(2))
            named[name if name not in named else next(one for one in free if one not in named)] = model
    else:
        raise InputTypeError(
            f"models is a {type(models).__name__}; a mapping from names to fitted models is needed, or a list of them"
        )
    if len(named) < 2:
        raise InputError(f"{len(named)} model(s) were given; two at least are needed, to be compared with each other")
    for name, model in named.items():
        if not hasattr(model, "predict"):
            raise InputTypeError(f"the model {name!r} is a {type(model).__name__}; a fitted linear SVM is needed")
        try:
            check_is_fitted(model)
        except (NotFittedError, TypeError) as error:
            raise InputError(f"the model {name!r} is not fitted; call its fit(X_train, y_train) first") from error
    return named


def _name_of(model: Any) -> str:
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return " + ".join(type(step).__name__ for step in steps if not (step is None or isinstance(step, str)))


def _classes_of(named: dict[str, Any]) -> tuple[Any, Any]:
    found: tuple[Any, ...] = ()
    for name, model in named.items():
        classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
        if len(classes) != 2:
            raise InputError(f"the model {name!r} has {len(classes)} classes; two are needed")
        if found and classes != found:
            raise InputError(
                f"the model {name!r} has the classes {classes}, and the first one {found}; they must be the same"
            )
        found = classes
    return found[0], found[1]


def _require_its_rows(name: str, svm: Any, rows: FloatArray) -> None:
    """An ``InputError`` where the model shows that it was fitted to other rows. A ``LinearSVC`` keeps none to compare."""
    if hasattr(svm, "training_set_"):
        numbers, kept = svm.training_set_.row_numbers, svm.training_set_.features
    elif hasattr(svm, "support_vectors_"):
        numbers, kept = svm.support_, svm.support_vectors_
        kept = kept.toarray() if hasattr(kept, "toarray") else kept
    else:
        return
    if numbers.max(initial=0) >= len(rows) or not np.allclose(rows[numbers], kept, rtol=1e-6, atol=0.0):
        raise InputError(
            f"the model {name!r} was fitted to other rows than X_train; give the table that its fit was given"
        )


def _chain(
    name: str,
    model: Any,
    X_train: Any,
    X_test: Any,
    train: FloatArray,
    test: FloatArray,
    signs: npt.NDArray[np.int8],
) -> ModelChain:
    before, last = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    try:
        objective = objective_of(last)
    except InputError as error:
        raise type(error)(f"the model {name!r}: {error}") from error
    n_features = getattr(model, "n_features_in_", train.shape[1])
    if n_features != train.shape[1]:
        raise InputError(f"the model {name!r} was fitted to {n_features} features, and X_train has {train.shape[1]}")
    rows, points, factors = train, test, np.ones(train.shape[1])
    if before is not None and len(before.steps):
        rows = as_matrix(before.transform(X_train), what=f"X_train after the steps of {name!r}")
        points = as_matrix(before.transform(X_test), what=f"X_test after the steps of {name!r}")
        found = read_factors(before[-1], np.vstack([train, test]), np.vstack([rows, points]))
        if found is None:
            raise InputError(
                f"the model {name!r} does more than multiply and shift each feature before its SVM "
                f"({_name_of(before)}); only scalers can be compared"
            )
        factors = found
    _require_its_rows(name, last, rows)
    positive = np.asarray(model.predict(X_test)) == model.classes_[1]
    return ModelChain(
        name, last, objective, how_it_stopped(last), factors, training_rows(last, rows), rows, signs, points, positive
    )
