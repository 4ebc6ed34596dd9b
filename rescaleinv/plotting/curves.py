"""Curves: how many labels hold up to a factor κ, and how often labels are correct if some points get none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError
from rescaleinv.metrics import strong_report
from rescaleinv.plotting.style import DARK_ORANGE, INK, LOOKS, as_percent, axes_for, legend_above
from rescaleinv.verdict import Verdict, Verdicts

_BLUE = LOOKS[Verdict.STRONGLY_POSITIVE].colour
_TICKS = [1, 1.5, *(digit * 10**power for power in range(5) for digit in (2, 3, 5, 10))]
# The number of positions along a curve that are enough for the eye.
_MOST_STEPS = 200
# A share of fewer labels than this is too noisy to draw.
_FEWEST_CALLED = 10


class CertifiedShareDisplay:
    """The share of the points whose label holds when every feature's factor may be anything from 1/κ to κ.

    The truth lies in the band: below it is what was certified, above it what was refuted by a rescaling.

    Parameters
    ----------
    radius : array (n_points, 2)
        What ``rescaling_radius`` gives: up to which κ each label is certified, and at which κ it was refuted.

    Examples
    --------
    >>> display = CertifiedShareDisplay.from_radius([[1.5, 1.6], [3.0, 3.1], [np.inf, np.inf], [np.inf, np.inf]])
    >>> display.share_certified(2.0), display.share_not_refuted(2.0)
    (0.75, 0.75)
    """

    def __init__(self, *, radius: Any) -> None:
        self.radius: FloatArray = np.asarray(radius, dtype=float)
        if self.radius.ndim != 2 or self.radius.shape[1] != 2 or not len(self.radius) or np.isnan(self.radius).any():
            raise InputError("radius must have a row (certified κ, refuted κ) for each point, and at least one point")

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> CertifiedShareDisplay:
        """Find the radius of each point and draw the curve.

        Parameters
        ----------
        estimator : RescaleInvariantSVC
            A fitted one.
        X : table
            The points.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CertifiedShareDisplay
            With the radius of each point.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> display = CertifiedShareDisplay.from_estimator(clf, [[-1, 4], [4, 4], [0, 0]])
        >>> print(f"{display.share_certified(4):.0%} of the labels hold up to a factor of 4")
        67% of the labels hold up to a factor of 4
        """
        return cls(radius=estimator.rescaling_radius(X)).plot(ax=ax)

    @classmethod
    def from_radius(cls, radius: Any, *, ax: Any = None) -> CertifiedShareDisplay:
        """Draw the curve of radii that are known already.

        Parameters
        ----------
        radius : array (n_points, 2)
            What ``rescaling_radius`` gave.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CertifiedShareDisplay
            With these radii.

        Examples
        --------
        >>> display = CertifiedShareDisplay.from_radius([[1.5, 1.6], [3.0, 3.1], [np.inf, np.inf], [np.inf, np.inf]])
        >>> [text.get_text() for text in display.ax_.get_legend().get_texts()][-1]
        'under every rescaling: 50%'
        """
        return cls(radius=radius).plot(ax=ax)

    def share_certified(self, kappa: float) -> float:
        """The share of the labels that are certified up to κ.

        Parameters
        ----------
        kappa : float
            The factor, at least 1.

        Returns
        -------
        float
            From 0 to 1.

        Examples
        --------
        >>> display = CertifiedShareDisplay(radius=[[1.5, 1.6], [3.0, 3.1], [np.inf, np.inf], [np.inf, np.inf]])
        >>> [display.share_certified(kappa) for kappa in (1, 2, 4)]
        [1.0, 0.75, 0.5]
        """
        return float((self.radius[:, 0] >= kappa).mean())

    def share_not_refuted(self, kappa: float) -> float:
        """The share of the labels that no rescaling up to κ was found to change.

        Parameters
        ----------
        kappa : float
            The factor, at least 1.

        Returns
        -------
        float
            From 0 to 1.

        Examples
        --------
        Of the first point it is not known between 1.5 and 2.5:

        >>> display = CertifiedShareDisplay(radius=[[1.5, 2.5], [3.0, 3.1], [np.inf, np.inf], [np.inf, np.inf]])
        >>> display.share_certified(2), display.share_not_refuted(2)
        (0.75, 1.0)
        """
        return float((self.radius[:, 1] > kappa).mean())

    def plot(self, ax: Any = None) -> CertifiedShareDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CertifiedShareDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        Two models in one picture:

        >>> import matplotlib.pyplot as plt
        >>> figure, axes = plt.subplots(1, 2)
        >>> first = CertifiedShareDisplay(radius=[[1.5, 1.6], [3.0, 3.1]]).plot(axes[0])
        >>> second = CertifiedShareDisplay(radius=[[2.5, 2.6], [np.inf, np.inf]]).plot(axes[1])
        >>> first.share_certified(2.0), second.share_certified(2.0)
        (0.5, 1.0)
        """
        ax = self.ax_ = axes_for(ax, (6.4, 4.2))
        self.figure_ = ax.figure
        finite = self.radius[np.isfinite(self.radius) & (self.radius > 1)]
        last = 2.0 * max(finite.max(initial=2.0), 2.0)
        # the curves step just before or just after a radius
        steps = (np.nextafter(finite, 0), finite, np.nextafter(finite, np.inf))
        places = np.unique(np.concatenate([[1.0, np.nextafter(1.0, np.inf)], *steps, [last]]))
        certified = np.array([self.share_certified(kappa) for kappa in places])
        possible = np.maximum(np.array([self.share_not_refuted(kappa) for kappa in places]), certified)
        ax.fill_between(places, certified, possible, color="#cccccc", hatch="..", lw=0, label="not decided")
        ax.plot(places, certified, color=_BLUE, lw=2, label="certified")
        ax.plot(places, possible, color=INK, lw=1, ls="--", label="no rescaling found that changes it")
        always = float(np.isposinf(self.radius[:, 0]).mean())
        if always:
            ax.axhline(always, color=DARK_ORANGE, lw=1.5, ls=":", label=f"under every rescaling: {always:.0%}")
        ax.set_xscale("log")
        ax.set(xlim=(1, last), ylim=(0, 1.02))
        ax.set(xlabel="κ: each feature's factor is between 1/κ and κ", ylabel="share of labels that hold")
        ax.set_xticks([tick for tick in _TICKS if tick <= last])
        ax.minorticks_off()
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter(as_percent)
        legend_above(ax)
        return self


class CoverageDisplay:
    """PPV and NPV of the labels that are given, against coverage: the share of the points that get one.

    The lines are the plain SVM without labels for the points nearest to its hyperplane, which is the usual way to be
    cautious. The large marks are the strong verdicts, which give no label where it depends on the scaling. They answer
    another question than a threshold does, and are not in general more accurate.

    Parameters
    ----------
    curves : dict
        "PPV" and "NPV", each an array (n, 2) of coverage and share.
    strong : tuple
        Coverage, PPV and NPV of the strong verdicts; nan where undefined.

    Examples
    --------
    >>> display = CoverageDisplay.from_predictions([1, 1, -1, -1], [1, 0, -1, -1], [3.0, -0.5, -1.0, -2.0])
    >>> display.strong, display.curves["NPV"][-1].tolist()
    ((0.75, 1.0, 1.0), [1.0, 0.6666666666666666])
    """

    def __init__(self, *, curves: dict[str, FloatArray], strong: tuple[float, float, float]) -> None:
        self.curves, self.strong = curves, strong

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> CoverageDisplay:
        """Certify the points and compare with the truth.

        Parameters
        ----------
        estimator : RescaleInvariantSVC, pipeline or search
            A fitted one, or one that ends in it.
        X : table
            The points.
        y : sequence of labels
            Their true classes.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CoverageDisplay
            With the curves and the strong verdicts.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantSVC
        >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> display = CoverageDisplay.from_estimator(clf, [[-1, 4], [4, 4], [0, 0], [5, 5]], [-1, 1, -1, 1])
        >>> display.strong
        (0.75, 1.0, 1.0)
        """
        from rescaleinv.estimators.svc import certify

        return cls.from_predictions(
            y, certify(estimator, X), estimator.decision_function(X), classes=tuple(estimator.classes_.tolist()), ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        verdicts: Verdicts | Sequence[int],
        values: Any,
        *,
        classes: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> CoverageDisplay:
        """Draw it from true classes, verdicts, and the plain SVM's decision values.

        Parameters
        ----------
        y_true : sequence of labels
            The true classes of the points.
        verdicts : Verdicts or sequence of codes
            One per point.
        values : sequence of numbers
            The plain SVM's decision values, one per point.
        classes : pair, optional
            The negative and the positive label, as in ``strong_report``; those of ``y_true`` if not given.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CoverageDisplay
            With the curves and the strong verdicts.

        Examples
        --------
        >>> truth, verdicts, values = ["ill", "ill", "well", "well"], [1, 0, -1, -1], [3.0, -0.5, -1.0, -2.0]
        >>> coverage, ppv, npv = CoverageDisplay.from_predictions(truth, verdicts, values, classes=("well", "ill")).strong
        >>> print(f"{coverage:.0%} of the points get a label; PPV {ppv:.0%}, NPV {npv:.0%}")
        75% of the points get a label; PPV 100%, NPV 100%
        """
        values = np.asarray(values, dtype=float)
        if classes is None:
            classes = tuple(sorted(set(np.asarray(y_true).tolist())))
            if len(classes) != 2:
                raise InputError(f"{len(classes)} label(s) occur in y_true; give classes=(negative, positive)")
        if values.ndim != 1 or not len(values):
            raise InputError("values must have one decision value per point, and at least one point")
        labels = [classes[1] if value >= 0 else classes[0] for value in values]
        figures = strong_report(y_true, verdicts, labels, classes=classes).strong
        # bool of pandas and numpy labels alike
        truth = np.array([label == classes[1] for label in np.asarray(y_true).tolist()])
        order = np.argsort(-np.abs(values), kind="stable")
        counts = np.unique(np.linspace(1, len(order), min(len(order), _MOST_STEPS)).astype(int))
        curves = {}
        for name, called, right in (("PPV", values >= 0, truth), ("NPV", values < 0, ~truth)):
            n_called, n_right = np.cumsum(called[order]), np.cumsum((called & right)[order])
            some = counts[n_called[counts - 1] >= min(_FEWEST_CALLED, max(n_called[-1], 1))]
            curves[name] = np.column_stack([some / len(order), n_right[some - 1] / n_called[some - 1]])
        return cls(curves=curves, strong=(figures.coverage, figures.ppv, figures.npv)).plot(ax=ax)

    def plot(self, ax: Any = None) -> CoverageDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CoverageDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        >>> curves = {"PPV": np.array([[0.5, 1.0], [1.0, 0.8]]), "NPV": np.array([[0.5, 0.9], [1.0, 0.7]])}
        >>> CoverageDisplay(curves=curves, strong=(0.6, 0.95, 0.9)).plot().ax_.get_xlabel()
        'coverage: share of points that get a label'
        """
        ax = self.ax_ = axes_for(ax, (6.4, 4.2))
        self.figure_ = ax.figure
        coverage, *shares = self.strong
        lowest = 1.0
        for (name, curve), share, colour, style, marker in zip(
            self.curves.items(), shares, (_BLUE, DARK_ORANGE), ("-", "--"), ("o", "s"), strict=True
        ):
            ax.plot(*curve.T, style, color=colour, lw=1.8, label=f"{name}, plain SVM, no label near its hyperplane")
            lowest = min([lowest, *curve[:, 1].tolist()])
            if np.isfinite(share):
                ax.plot(coverage, share, marker, color=colour, mec=INK, ms=10, label=f"{name} of the strong verdicts")
                lowest = min(lowest, share)
        ax.set(xlim=(0, 1.02), ylim=(max(lowest - 0.08, -0.02), 1.015))
        ax.set(xlabel="coverage: share of points that get a label", ylabel="share of these labels that are right")
        ax.xaxis.set_major_formatter(as_percent)
        ax.yaxis.set_major_formatter(as_percent)
        legend_above(ax, columns=1)
        return self
