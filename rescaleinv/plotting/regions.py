"""The three regions in two features: positive whatever the scaling, negative whatever the scaling, neutral in between."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rescaleinv._util.parameters import is_sequence
from rescaleinv._util.types import FloatArray
from rescaleinv.engines import Extremes
from rescaleinv.errors import InputError
from rescaleinv.estimators.svc import RescaleInvariantSVC
from rescaleinv.plotting.polygons import intersection
from rescaleinv.plotting.style import DARK_ORANGE, INK, LOOKS, axes_for, legend_above, shortened
from rescaleinv.theory.inputs import as_matrix, is_missing
from rescaleinv.verdict import Verdict, Verdicts, class_words, verdict_words

_SIDES = (Verdict.STRONGLY_POSITIVE, Verdict.STRONGLY_NEGATIVE)


class RegionsDisplay:
    """The regions of a fitted estimator as exact polygons: intersections of the half-planes of all the vertices.

    With more than two features the picture is a slice: all other features have the values ``at``. Training rows are then
    drawn where they are in the two features, though they lie before or behind the slice.

    Parameters
    ----------
    regions : dict from Verdict to array (n_corners, 2)
        The corners of the strongly positive and the strongly negative region, in order; empty where there is none.
    lines : array (n_lines, 3)
        a, b, c of the lines a·x + b·y + c = 0 that bound the regions: the extreme SVMs.
    box : array (2, 2)
        The least and the largest value of each of the two features.
    names : pair of str
    rows, signs : arrays
        The training rows in the two features, and which are positive (+1) and negative (-1).
    verdicts : Verdicts, optional
        Points to draw.
    truth : array, optional
        Whether these points truly are positive (+1) or negative (-1); 0 where that is not known.
    left_out, left_out_signs : arrays, optional
        Training rows that no hyperplane fits and that were left out, in the two features, and their classes.
    classes : pair of str
        What to call the negative and the positive class.
    columns : pair of int
        Which two features of the points.
    at : str
        The slice in words; "" where there are two features.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by ``plot``.

    Examples
    --------
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> display = RegionsDisplay.from_estimator(clf, limits=[(-2, 6), (-2, 6)])
    >>> display.regions[Verdict.STRONGLY_NEGATIVE].round(2).tolist()
    [[1.2, 1.2], [-2.0, 3.33], [-2.0, -2.0], [3.33, -2.0]]
    """

    def __init__(
        self,
        *,
        regions: dict[Verdict, FloatArray],
        lines: FloatArray,
        box: FloatArray,
        names: Sequence[str],
        rows: FloatArray,
        signs: Any,
        verdicts: Verdicts | None = None,
        truth: Any = None,
        left_out: FloatArray | None = None,
        left_out_signs: Any = None,
        classes: tuple[str, str] = ("negative", "positive"),
        columns: tuple[int, int] = (0, 1),
        at: str = "",
    ) -> None:
        self.regions, self.lines, self.box = regions, lines, box
        self.names, self.rows, self.signs = names, rows, signs
        self.verdicts, self.columns, self.at = verdicts, columns, at
        self.truth, self.classes = truth, classes
        self.left_out, self.left_out_signs = left_out, left_out_signs

    @classmethod
    def from_estimator(
        cls,
        estimator: RescaleInvariantSVC,
        X: Any = None,
        y: Any = None,
        *,
        features: Sequence[int | str] = (0, 1),
        at: Any = None,
        limits: Any = None,
        ax: Any = None,
    ) -> RegionsDisplay:
        """Make the display and draw it.

        Parameters
        ----------
        estimator : RescaleInvariantSVC
            Fitted; its engine must be the complex.
        X : table, optional
            Points to draw, marked by their verdicts.
        y : sequence of labels, optional
            Their true classes, None where one is not known: points with another label get a ring.
        features : pair of numbers or names
            The two features to show.
        at : sequence with a value for each feature, or mapping from name to value, optional
            Where the other features are; what is not given is at the median of the training rows.
        limits : pair of pairs, optional
            (least, largest) of each of the two features; if not given, a little more than the points need.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        RegionsDisplay
            With the polygons of the two strong regions.

        Examples
        --------
        A slice of three features, where the third is 2:

        >>> rows = [[-1, 5, 0], [5, -1, 1], [1.4, 1.4, 3], [1, 1, 0]]
        >>> clf = RescaleInvariantSVC().fit(rows, [1, 1, 1, -1])
        >>> RegionsDisplay.from_estimator(clf, features=(0, 1), at=[0, 0, 2]).at
        'feature 2 2'
        """
        extremes = _extremes(estimator)
        training_set = estimator.training_set_
        names = training_set.feature_names or tuple(f"feature {j}" for j in range(training_set.n_features))
        i, j = (_column(feature, names) for feature in _pair(features))
        if i == j:
            raise InputError(f"features is {features!r}; two different features are needed")
        points = None if X is None else as_matrix(X, n_features=training_set.n_features)
        if y is not None and points is None:
            raise InputError("y was given without X; the classes of the points in X are meant")
        margin = estimator._fitted.margin
        rows, left_out = (
            features[:, [i, j]] for features in (training_set.features, margin.left_out.reshape(-1, len(names)))
        )
        shown = np.vstack([rows, left_out, *([] if points is None else [points[:, [i, j]]])])
        box = _box(limits, shown)
        position = _position(at, names, np.median(training_set.features, axis=0))
        regions, lines = _regions(extremes, position, (i, j), box)
        others = [k for k in range(len(names)) if k not in (i, j)]
        text = ", ".join(f"{shortened(names[k], 16)} {position[k]:g}" for k in others[:6])
        display = cls(
            regions=regions,
            lines=lines,
            box=box,
            names=(names[i], names[j]),
            rows=rows,
            signs=training_set.signs,
            verdicts=None if points is None else estimator.certify(X),
            truth=None if points is None or y is None else _truth(y, estimator, len(points)),
            left_out=left_out,
            left_out_signs=margin.left_out_signs,
            classes=(class_words(training_set.classes[0]), class_words(training_set.classes[1])),
            columns=(i, j),
            at=text + (", …" if len(others) > 6 else ""),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> RegionsDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        RegionsDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        Drawn again, into other axes:

        >>> import matplotlib.pyplot as plt
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], ["up", "up", "up", "down"])
        >>> display = RegionsDisplay.from_estimator(clf)
        >>> figure, ax = plt.subplots()
        >>> [text.get_text() for text in display.plot(ax).ax_.get_legend().get_texts()][:2]
        ['up whatever the scaling', 'down whatever the scaling']
        """
        ax = self.ax_ = axes_for(ax, (5.6, 5.6))
        self.figure_ = ax.figure
        for side in _SIDES:
            look = LOOKS[side]
            if len(self.regions[side]):
                label = f"{self._class_of(side)} whatever the scaling"
                ax.fill(*self.regions[side].T, facecolor=look.colour, alpha=0.28, lw=0, label=label)
                ax.fill(*self.regions[side].T, facecolor="none", edgecolor=look.colour, hatch=look.hatch, lw=0)
        label = "SVMs that bound the regions"
        for line in self.lines:
            ends = _across(line, self.box)
            if len(ends):
                ax.plot(*ends.T, color=INK, lw=0.7, ls="--", label=label)
                label = ""  # one entry for all
        self._plot_rows(ax)
        self._plot_points(ax)
        below = f"\n{textwrap.fill(f'slice at {self.at}', 60)}" if self.at else ""
        ax.set(xlim=self.box[0], ylim=self.box[1], ylabel=shortened(self.names[1]))
        ax.set_xlabel(f"{shortened(self.names[0])}{below}")
        legend_above(ax)
        return self

    def _class_of(self, side: int) -> str:
        return shortened(self.classes[int(side > 0)])

    def _plot_rows(self, ax: Any) -> None:
        """The training rows, and crossed out those that were left out."""
        faded = 0.45 if self.at else 1.0
        look = {"s": 45, "edgecolor": INK, "alpha": faded, "zorder": 3}
        for side in _SIDES:
            marker, colour, name = LOOKS[side].marker, LOOKS[side].colour, self._class_of(side)
            rows = self.rows[self.signs == side]
            ax.scatter(*rows.T, marker=marker, color=colour, label=f"{name}, training row", **look)
            out = np.empty((0, 2)) if self.left_out is None else self.left_out[self.left_out_signs == side]
            if len(out):
                ax.scatter(*out.T, marker="X", s=75, color=colour, edgecolor=INK, zorder=3, label=f"{name}, left out")

    def _plot_points(self, ax: Any) -> None:
        if self.verdicts is None:
            return
        points = self.verdicts.points[:, list(self.columns)]
        for kind, look in LOOKS.items():
            mask = self.verdicts.code == kind
            if mask.any():
                ax.scatter(
                    *points[mask].T,
                    marker="*" if kind == Verdict.NEUTRAL else look.marker,
                    s=90 if kind == Verdict.NEUTRAL else 18,
                    color="white" if kind == Verdict.NEUTRAL else INK if look.marker == "x" else look.colour,
                    edgecolor=None if look.marker == "x" else INK,
                    lw=0.8,
                    zorder=4,
                    label=f"{verdict_words(kind)} point",
                )
        wrong = np.zeros(len(points), dtype=bool) if self.truth is None else self._mislabelled()
        if wrong.any():
            ring = {"facecolor": "none", "edgecolor": DARK_ORANGE, "lw": 1.3, "zorder": 5}
            ax.scatter(*points[wrong].T, marker="o", s=170, label="labelled otherwise than y", **ring)

    def _mislabelled(self) -> Any:
        """Which points have another label than their true class, where that is known."""
        assert self.verdicts is not None
        assert self.verdicts.labels is not None
        assert self.verdicts.classes is not None
        signs = np.where(self.verdicts.labels == self.verdicts.classes[1], 1, -1)
        return (self.truth != 0) & (self.truth != signs)


def _truth(y: Any, estimator: RescaleInvariantSVC, n: int) -> Any:
    """+1, -1, and 0 where the class of a point is not known."""
    if not is_sequence(y) or len(labels := list(y)) != n:
        raise InputError(f"y is not one label for each of the {n} points of X")
    negative, positive = estimator.classes_.tolist()
    for label in labels:
        if not is_missing(label) and label not in (negative, positive):
            raise InputError(f"y has {label!r}; the classes are {negative!r} and {positive!r}")
    return np.array([0 if is_missing(label) else 1 if label == positive else -1 for label in labels])


def _extremes(estimator: Any) -> Extremes:
    if not isinstance(estimator, RescaleInvariantSVC):
        raise InputError(f"{type(estimator).__name__} was given; a fitted RescaleInvariantSVC is needed")
    if not hasattr(estimator, "engine_"):
        raise InputError("the estimator is not fitted; call fit first")
    extremes = estimator.engine_.engine.extremes()
    if extremes is None:
        raise InputError(
            f"the regions are drawn from all vertices of the complex, and the engine is {estimator.engine_} "
            'or was stopped; use engine="complex" with fewer features'
        )
    return extremes


def _pair(features: Any) -> list[Any]:
    chosen = list(features) if isinstance(features, (list, tuple, np.ndarray)) else [features]
    if len(chosen) != 2:
        raise InputError(f"features is {features!r}; two features are needed, by number or name")
    return chosen


def _column(feature: Any, names: Sequence[str]) -> int:
    if isinstance(feature, str) and feature in names:
        return list(names).index(feature)
    if isinstance(feature, (int, np.integer)) and 0 <= feature < len(names):
        return int(feature)
    raise InputError(f"there is no feature {feature!r}; the features are {', '.join(map(repr, names))}")


def _position(at: Any, names: Sequence[str], usual: FloatArray) -> FloatArray:
    """The values of all features on the slice."""
    if at is None:
        return usual
    if isinstance(at, Mapping):
        position = usual.copy()
        for name, value in at.items():
            position[_column(name, names)] = float(value)
        return position
    position = np.asarray(at, dtype=float)
    if position.shape != usual.shape or not np.isfinite(position).all():
        raise InputError(f"at has shape {position.shape}; one finite value for each of {len(usual)} features is needed")
    return position


def _box(limits: Any, shown: FloatArray) -> FloatArray:
    if limits is not None:
        box = np.asarray(limits, dtype=float)
        if box.shape != (2, 2) or not np.isfinite(box).all() or (box[:, 0] >= box[:, 1]).any():
            raise InputError(f"limits is {limits!r}; (least, largest) of each of the two features is needed")
        return box
    low, high = shown.min(axis=0), shown.max(axis=0)
    room = np.where(high > low, 0.12 * (high - low), 1.0)
    return np.column_stack([low - room, high + room])


def _regions(
    extremes: Extremes, position: FloatArray, columns: tuple[int, int], box: FloatArray
) -> tuple[dict[Verdict, FloatArray], FloatArray]:
    """The polygons, found in the conditioned units of the vertices (large offsets lose no digits there)."""
    conditioning = extremes.conditioning
    corners = np.tile(position, (4, 1))
    corners[:, columns[0]] = box[0, [0, 1, 1, 0]]
    corners[:, columns[1]] = box[1, [0, 0, 1, 1]]
    inner = conditioning.apply(corners)
    solutions = np.unique(extremes.solutions, axis=0)
    others = [k for k in range(len(position)) if k not in columns]
    normals = solutions[:, columns]
    offsets = solutions[:, others] @ inner[0, others] + solutions[:, -1]
    units = np.ldexp(1.0, conditioning.exponent)[list(columns)]
    anchor = conditioning.anchor[list(columns)]
    regions, used = {}, set()
    for side, sign in zip(_SIDES, (1, -1), strict=True):
        polygon, lines = intersection(inner[:, columns], sign * normals, sign * offsets)
        regions[side] = polygon * units + anchor
        used |= set(lines.tolist())
    bounding = np.column_stack([normals, offsets])[sorted(used)]
    bounding[:, :2] /= units
    bounding[:, 2] -= bounding[:, :2] @ anchor
    return regions, bounding


def _across(line: FloatArray, box: FloatArray) -> FloatArray:
    """The two points where a line a·x + b·y + c = 0 enters and leaves the box; nothing if it misses it."""
    a, b, c = line
    found = []
    for value in box[0] if b else ():
        y = -(a * value + c) / b
        if box[1, 0] <= y <= box[1, 1]:
            found.append((value, y))
    for value in box[1] if a else ():
        x = -(b * value + c) / a
        if box[0, 0] <= x <= box[0, 1]:
            found.append((x, value))
    return np.array([min(found), max(found)]) if len(found) > 1 else np.empty((0, 2))
