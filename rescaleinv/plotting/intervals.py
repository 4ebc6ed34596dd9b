"""The intervals of decision values over all the rescalings, of every point of a test set."""

from __future__ import annotations

from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.plotting.style import INK, LOOKS, axes_for, legend_above
from rescaleinv.verdict import Verdicts

# Up to this number of points there is room for the plain SVM's value on each line.
_MOST_WITH_DOTS = 150
# More lines than this would make the file too large: they are rasterised instead.
_MOST_LINES = 2000
# What is not near a margin is drawn on a logarithmic scale; margins are at -1 and 1.
_LINEAR_UP_TO = 2.0


class IntervalsDisplay:
    """For each point the least and the largest decision value over all rescalings, sorted and coloured by verdict.

    An interval above zero is strongly positive, one below it strongly negative, and one that crosses it neutral. Points
    whose interval is not known (unknown ones, and all those that the MILP decided) have no line.

    Parameters
    ----------
    verdicts : Verdicts
    values : array, optional
        The plain SVM's decision values of the same points.

    Attributes
    ----------
    order_ : int array
        The points from left to right, those without an interval left out. Set by ``plot``, as are ``ax_`` and ``figure_``.

    Examples
    --------
    >>> from rescaleinv.estimators.svc import RescaleInvariantSVC
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> IntervalsDisplay.from_estimator(clf, [[4, 4], [-1, 4], [0, 0]]).order_
    array([2, 1, 0])
    """

    def __init__(self, *, verdicts: Verdicts, values: FloatArray | None = None) -> None:
        if values is not None and len(values) != len(verdicts):
            raise InputError(f"{len(values)} decision values were given for {len(verdicts)} verdicts; one per point")
        self.verdicts, self.values = verdicts, values

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> IntervalsDisplay:
        """Certify the points and draw their intervals, with the plain SVM's values if there is room.

        Parameters
        ----------
        estimator : RescaleInvariantSVC, pipeline or search
            A fitted one, or one that ends in it.
        X : table
            The points.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        IntervalsDisplay
            With the verdicts of the points.

        Examples
        --------
        >>> from rescaleinv.estimators.svc import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> display = IntervalsDisplay.from_estimator(clf, [[4, 4], [-1, 4], [0, 0]])
        >>> display.verdicts.lower.round(1), display.values.round(1)
        (array([14., -1., -6.]), array([14. ,  1.5, -6. ]))
        """
        from rescaleinv.estimators.svc import certify

        return cls(verdicts=certify(estimator, X), values=estimator.decision_function(X)).plot(ax=ax)

    @classmethod
    def from_verdicts(cls, verdicts: Verdicts, values: FloatArray | None = None, *, ax: Any = None) -> IntervalsDisplay:
        """Draw the intervals of verdicts that are known already.

        Parameters
        ----------
        verdicts : Verdicts
            What ``certify`` gave.
        values : array, optional
            The plain SVM's decision values of the same points.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        IntervalsDisplay
            With these verdicts.

        Examples
        --------
        >>> from rescaleinv.estimators.svc import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> verdicts = clf.certify([[4, 4], [-1, 4], [0, 0]])
        >>> IntervalsDisplay.from_verdicts(verdicts[~verdicts.strong]).order_
        array([0])
        """
        return cls(verdicts=verdicts, values=values).plot(ax=ax)

    def plot(self, ax: Any = None) -> IntervalsDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        IntervalsDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from rescaleinv.estimators.svc import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> display = IntervalsDisplay(verdicts=clf.certify([[4, 4], [-1, 4], [0, 0]])).plot()
        >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
        ['class 1 whatever the scaling (1)', 'class -1 whatever the scaling (1)', 'depends on the scaling (1)']
        """
        ax = self.ax_ = axes_for(ax, (6.4, 4.2))
        self.figure_ = ax.figure
        verdicts = self.verdicts
        known = np.flatnonzero(np.isfinite(verdicts.lower) & np.isfinite(verdicts.upper))
        # negative ones first; in each kind by the end that is nearest to zero, neutral ones by the middle
        rank = np.select([verdicts.strongly_negative, verdicts.strongly_positive], [-1, 1], 0)
        inner = np.select(
            [verdicts.strongly_negative, verdicts.strongly_positive],
            [verdicts.upper, verdicts.lower],
            np.arcsinh(verdicts.lower) + np.arcsinh(verdicts.upper),
        )
        self.order_ = known[np.lexsort((inner[known], rank[known]))]
        width = float(np.clip(300 / max(len(self.order_), 1), 0.6, 6))
        for kind, look in LOOKS.items():
            mask = verdicts.code[self.order_] == kind
            if mask.any():
                chosen, label = self.order_[mask], f"{verdicts.words(kind)} ({mask.sum()})"
                ax.vlines(
                    np.flatnonzero(mask) + 1,
                    verdicts.lower[chosen],
                    verdicts.upper[chosen],
                    color=look.colour,
                    lw=width,
                    label=label,
                    rasterized=len(known) > _MOST_LINES,
                )
        if self.values is not None and 0 < len(self.order_) <= _MOST_WITH_DOTS:
            values = self.values[self.order_]
            ax.plot(np.arange(len(values)) + 1, values, "o", color="white", mec=INK, ms=3.5, label="the plain SVM")
        ax.axhline(0, color=INK, lw=1)
        ax.set_yscale("symlog", linthresh=_LINEAR_UP_TO)
        left_out = len(verdicts) - len(known)
        note = f"; {left_out} without a known interval left out" if left_out else ""
        ax.set(xlabel=f"points, sorted{note}", ylabel="decision value, all rescalings\n(margins at ±1)", xlim=(0, None))
        ax.xaxis.get_major_locator().set_params(integer=True)
        if verdicts.code[self.order_].size:
            legend_above(ax, columns=2 if verdicts.classes is None else 1)
            for handle in ax.get_legend().legend_handles:
                handle.set_linewidth(4)
        return self
