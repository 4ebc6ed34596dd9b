"""Ambiguity, discrepancy and conflict ratio of a model's labels over rescalings: the words of the field, by group too."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from rescaleinv._util.parameters import checked_count, shown
from rescaleinv._util.progress import progress_bar
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.errors import InputError, RescaleInvError
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.metrics import MultiplicityFigures, group_rows
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.nu_margin import nu_svm
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.theory.svm import minimal_norm_svm
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdicts

if TYPE_CHECKING:
    import pandas as pd

# A decision value nearer to zero than this, relative to its terms, changes no label.
_NEAR = 1e-7
# Single features and random rescalings go up to these powers of two.
_POWERS = (2, 5, 10)
_LARGEST_POWER = 10
# So many neutral points are asked for their two rescalings.
_WITNESSES = 20


@dataclass(frozen=True, eq=False)
class Multiplicity:
    """What :func:`~rescaleinv.multiplicity` found; ``print`` shows it in a line, and one line per group.

    Attributes
    ----------
    figures : MultiplicityFigures
        Of all points.
    groups : dict from group to MultiplicityFigures
    rescaling : array
        The factor of each feature of the rescaling that was found to change most labels.
    changed : bool array
        The points whose label it changes.
    n_tried : int
        How many rescalings were tried.

    Examples
    --------
    >>> from rescaleinv import RescaleInvariantSVC, multiplicity
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> print(multiplicity(clf, [[-1, 4], [4, 4]], n_rescalings=20))
    2 points: ambiguity 50.0%; discrepancy 50.0% found, at most 50.0%; conflict ratio 0.0%
    """

    figures: MultiplicityFigures
    groups: dict[Any, MultiplicityFigures]
    rescaling: FloatArray
    changed: npt.NDArray[np.bool_]
    n_tried: int

    def to_frame(self) -> pd.DataFrame:
        """One row for all points and one per group; shares from 0 to 1.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> found = multiplicity(clf, [[-1, 4], [4, 4], [0, 0], [4, 5]], groups_by=["a", "a", "b", "b"], n_rescalings=20)
        >>> found.to_frame().rename_axis(None)[["points", "ambiguity", "discrepancy", "conflict_ratio"]]
             points  ambiguity  discrepancy  conflict_ratio
        all       4       0.25         0.25             0.0
        a         2       0.50         0.50             0.0
        b         2       0.00         0.00             0.0
        """
        import pandas as pd

        rows = {"all": self.figures, **self.groups}
        return pd.DataFrame([vars(one) for one in rows.values()], index=pd.Index(list(rows), name="group"))

    def __str__(self) -> str:
        lines = [f"{self.figures.points} points: {self.figures}"]
        lines += [f"{group}, {figures.points} points: {figures}" for group, figures in self.groups.items()]
        return "\n".join(lines)


def multiplicity(
    model: RescaleInvariantSVC,
    X: Any,
    *,
    verdicts: Verdicts | None = None,
    groups_by: Any = None,
    n_rescalings: int = 200,
    random_state: int = 0,
    progress: bool | None = None,
) -> Multiplicity:
    """How many labels rescaling can change: point by point, at once, and over the usual scalings.

    *Ambiguity* is the share of points to which some rescaling gives another label, *discrepancy* the largest share that any
    one rescaling changes (Marx, Calmon & Ustun 2020), *conflict ratio* the share to which the usual scalings do not all give
    the same label (after Meyer et al. 2023). The rescaling that changes most is searched for, so its share is a lower
    bound; the share of points without a strong verdict is an upper one, and that is proved where the verdicts are.

    Parameters
    ----------
    model : RescaleInvariantSVC
        Fitted. Only rescalings in its ``scale_range`` are considered.
    X : table
        The points.
    verdicts : Verdicts, optional
        What ``model.certify(X)`` gave, if that was asked already.
    groups_by : sequence, optional
        The group of each point. The discrepancy of a group is that of the rescaling that changes most in this group.
    n_rescalings : int
        How many SVMs to train for the search.
    random_state : int
        Of the random rescalings among them.
    progress : bool, optional
        Show progress; on a terminal if not given.

    Returns
    -------
    Multiplicity

    Examples
    --------
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> found = multiplicity(clf, [[-1, 4], [4, 4], [0, 0], [4, -1]], groups_by=["a", "a", "b", "b"], n_rescalings=50)
    >>> print(found)
    4 points: ambiguity 50.0%; discrepancy 25.0% found, at most 50.0%; conflict ratio 0.0%
    a, 2 points: ambiguity 50.0%; discrepancy 50.0% found, at most 50.0%; conflict ratio 0.0%
    b, 2 points: ambiguity 50.0%; discrepancy 50.0% found, at most 50.0%; conflict ratio 0.0%
    """
    if not isinstance(model, RescaleInvariantSVC):
        raise InputError(f"the model is a {type(model).__name__}; a RescaleInvariantSVC is needed")
    check_is_fitted(model)
    checked_count(n_rescalings, "n_rescalings")
    checked_count(random_state, "random_state")
    if verdicts is not None and not isinstance(verdicts, Verdicts):
        raise InputError(f"verdicts is {shown(verdicts)}; what certify(X) gives is needed")
    points = as_matrix(X, what="X", n_features=model.n_features_in_)
    if verdicts is None:
        verdicts = model.certify(X)
    if len(verdicts) != len(points):
        raise InputError(f"there are {len(verdicts)} verdicts for {len(points)} points; give those of X")
    members = {} if groups_by is None else group_rows(groups_by, len(points))
    with progress_bar("SVMs", progress, total=n_rescalings) as bar:
        search = _Search(model, points, bar.show)
        search.run(verdicts, n_rescalings, random_state)
    tried, usual = np.array(search.signs, dtype=np.int8), search.usual
    tried = tried.reshape(-1, len(points))

    def figures(rows: Any) -> MultiplicityFigures:
        return MultiplicityFigures.of(verdicts.code[rows], search.given[rows], tried[:, rows], tried[:usual, rows])

    flips = tried == -search.given
    best = int(flips.sum(axis=1).argmax()) if len(tried) else 0
    return Multiplicity(
        figures(slice(None)),
        {group: figures(rows) for group, rows in members.items()},
        search.rescalings[best] if search.rescalings else np.ones(points.shape[1]),
        np.asarray(flips[best]) if len(tried) else np.zeros(len(points), dtype=bool),
        len(tried),
    )


def usual_factors(features: FloatArray) -> dict[str, FloatArray]:
    """What the usual scalers of scikit-learn multiply the features by; constant features are left alone.

    >>> usual_factors(np.array([[0.0], [4.0]]))["MinMaxScaler"]
    array([0.25])
    """
    quarters = np.quantile(features, (0.25, 0.75), axis=0)
    sizes = {
        "StandardScaler": features.std(axis=0),
        "MinMaxScaler": np.ptp(features, axis=0),
        "RobustScaler": quarters[1] - quarters[0],
        "MaxAbsScaler": np.abs(features).max(axis=0),
    }
    return {name: 1 / np.where(size > 0, size, 1.0) for name, size in sizes.items()}


class _Search:
    """Rescalings that were tried and the labels at each: the usual ones first, then whatever changes more labels."""

    def __init__(self, model: RescaleInvariantSVC, points: FloatArray, show: Callable[[int], None]) -> None:
        fitted = model._fitted
        self.margin, self.limits = fitted.margin, fitted.limits
        self.groups: IntArray | None = fitted.groups
        self.training_set: TrainingSet = fitted.training_set
        self.points, self.show = points, show
        self.given = np.where(model.decision_function(points) >= 0, 1, -1).astype(np.int8)
        self.rescalings: list[FloatArray] = []
        self.signs: list[npt.NDArray[np.int8]] = []
        self.usual = 0

    def run(self, verdicts: Verdicts, budget: int, random_state: int) -> None:
        if self.margin.one_label:  # no rescaling changes anything
            return
        for tau in usual_factors(self.training_set.features).values():
            self.usual += self._try(tau)
        for tau in itertools.islice(self._candidates(verdicts, random_state), max(budget // 2 - self.usual, 0)):
            self._try(tau)
        self._climb(budget, np.random.default_rng(random_state))

    def _allowed(self, tau: FloatArray) -> FloatArray:
        """The nearest rescaling within the range in which features of a group share one factor."""
        if self.groups is not None:
            first = np.array([np.flatnonzero(self.groups == g)[0] for g in self.groups])
            tau = tau[first]
        if self.limits is not None:
            tau = np.clip(tau, self.limits[:, 0], self.limits[:, 1])
        return tau

    def _try(self, tau: FloatArray) -> bool:
        allowed = self._allowed(tau)
        try:
            weights, value = self._svm(allowed)
        except RescaleInvError:  # factors so far apart that floats do not hold the solution
            return False
        moved = self.points - self.training_set.conditioning.anchor
        values = moved @ weights + value
        near = np.abs(values) <= _NEAR * (1 + np.abs(moved) @ np.abs(weights) + abs(value))
        self.rescalings.append(allowed)
        self.signs.append(np.where(near, 0, np.where(values >= 0, 1, -1)).astype(np.int8))
        self.show(len(self.signs))
        return True

    def _svm(self, tau: FloatArray) -> tuple[FloatArray, float]:
        """Weights in the units of the features, and the value at the anchor."""
        rows = self.training_set
        if self.margin.nu is not None:
            nu = nu_svm(rows, self.margin.nu, tau)
            return nu.weights, nu.value_at_anchor
        if self.margin.penalties is None:
            hard = minimal_norm_svm(rows, tau)
            return hard.weights, hard.value_at_anchor
        anchor = rows.conditioning.anchor
        scaled = TrainingSet((rows.features - anchor) * tau, rows.signs, positive=1)
        soft = soft_margin_svm(scaled, 1.0, self.margin.penalties)
        return soft.weights * tau, soft.intercept

    def _candidates(self, verdicts: Verdicts, random_state: int) -> Iterator[FloatArray]:
        """Rescalings of neutral points, single features, and random ones without end."""
        n = self.points.shape[1]
        for i in np.flatnonzero(verdicts.neutral)[:_WITNESSES].tolist():
            try:
                witness = verdicts.witness(i)
            except RescaleInvError:
                continue
            yield from (np.asarray(one, dtype=float) for one in (witness.positive, witness.negative))
        for power, j, sign in itertools.product(_POWERS, range(n), (1, -1)):
            tau = np.ones(n)
            tau[j] = 2.0 ** (sign * power)
            yield tau
        rng = np.random.default_rng(random_state)
        sizes = usual_factors(self.training_set.features)["StandardScaler"]
        while True:
            yield sizes * 2.0 ** rng.uniform(-_LARGEST_POWER, _LARGEST_POWER, n)

    def _climb(self, budget: int, rng: np.random.Generator) -> None:
        """From the best rescaling so far: change one or two factors, keep what changes more labels."""
        if not self.signs:
            return
        attempts = 0
        while len(self.signs) < budget and attempts < 2 * budget:
            attempts += 1
            counts = [int((signs == -self.given).sum()) for signs in self.signs]
            start = self.rescalings[int(np.argmax(counts))].copy()
            for j in rng.choice(len(start), size=min(len(start), int(rng.integers(1, 3))), replace=False):
                start[j] *= 2.0 ** rng.normal(scale=3.0)
            self._try(start)
