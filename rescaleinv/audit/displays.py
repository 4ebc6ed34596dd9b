"""Pictures of an audit: every scaling's label of every point, and what each feature has to do with it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rescaleinv.audit.chain import CAUSES
from rescaleinv.audit.diagnosis import Diagnosis
from rescaleinv.audit.result import Audit
from rescaleinv.errors import InputError
from rescaleinv.plotting.style import INK, LOOKS, as_percent, axes_for, legend_above, shortened
from rescaleinv.verdict import Verdict

# Letters of a legend that fit above a picture in one line.
_LETTERS_IN_LINE = 36


class ScalingsDisplay:
    """The label of every point after every scaling, and above them the verdicts: one column per point.

    A column of one colour is a point whose label no scaling changes. Points are sorted by verdict, then by how many of the
    scalings call them positive.

    Parameters
    ----------
    audit : Audit

    Attributes
    ----------
    order_ : int array
        The points from left to right; set by ``plot``, as are ``ax_`` and ``figure_``.

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[4, 4], [-1, 4], [0, 0]])
    >>> ScalingsDisplay.from_audit(audit).order_
    array([2, 1, 0])
    """

    def __init__(self, *, audit: Audit) -> None:
        self.audit = _checked(audit)

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> ScalingsDisplay:
        """Draw the heat map of an audit.

        Parameters
        ----------
        audit : Audit
            What ``scaling_audit`` gave.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        ScalingsDisplay
            Of this audit.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[4, 4], [-1, 4]], most_radii=0)
        >>> display = ScalingsDisplay.from_audit(audit)
        >>> [text.get_text() for text in display.ax_.get_yticklabels()][:4]
        ['verdict', 'as given', 'z-score', 'min-max']
        """
        return cls(audit=audit).plot(ax=ax)

    def plot(self, ax: Any = None) -> ScalingsDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        ScalingsDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        Into a figure of one's own, which is then saved:

        >>> import io
        >>> import matplotlib.pyplot as plt
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[4, 4], [-1, 4]], most_radii=0)
        >>> figure, ax = plt.subplots()
        >>> ScalingsDisplay(audit=audit).plot(ax=ax).order_
        array([1, 0])
        >>> figure.savefig(io.BytesIO(), format="svg")
        """
        audit = self.audit
        names = [scaling.name for scaling, usable in zip(audit.scalings, audit.usable, strict=True) if usable]
        ax = self.ax_ = axes_for(ax, (6.4, 1.6 + 0.3 * len(names)))
        self.figure_ = ax.figure
        from matplotlib.patches import Patch

        signs, code = audit.signs[audit.usable], audit.verdicts.code
        rank = np.select([code == -1, code == 1], [-1, 1], 0)
        self.order_ = np.lexsort((signs.sum(axis=0), rank))
        kinds = (Verdict.STRONGLY_NEGATIVE, Verdict.NEUTRAL, Verdict.STRONGLY_POSITIVE, Verdict.UNKNOWN)
        cells = np.vstack([code, signs])[:, self.order_] + 1  # the place of each code in the list of kinds
        for line, values in enumerate(cells):
            self._draw_line(ax, line, values, [LOOKS[kind].colour for kind in kinds])
        ax.set(xlim=(-0.5, cells.shape[1] - 0.5), ylim=(len(cells) - 0.5, -0.5))
        ax.set_yticks(range(len(names) + 1), ["verdict", *(shortened(name) for name in names)])
        ax.axhline(0.5, color="white", lw=4)
        for edge in np.flatnonzero(np.diff(rank[self.order_])):
            ax.axvline(edge + 0.5, color=INK, lw=1)
        ax.set_xlabel(f"{shortened(audit.noun)}, sorted by verdict")
        ax.set_xticks([])
        ax.tick_params(length=0)
        present = set(cells.ravel().tolist())
        texts = (*(shortened(audit.class_names[k]) for k in (0, 1)), "neutral", "unknown")
        patches = [
            Patch(facecolor=LOOKS[kinds[k]].colour, edgecolor=INK, label=text)
            for k, text in zip((0, 2, 1, 3), texts, strict=True)
            if k in present
        ]
        # long names of classes in one line would take the room of the picture
        in_one_line = sum(len(str(patch.get_label())) for patch in patches) <= _LETTERS_IN_LINE
        legend_above(ax, len(patches) if in_one_line else 2, handles=patches)
        return self

    @staticmethod
    def _draw_line(ax: Any, line: int, values: Any, colours: list[str]) -> None:
        """One line of cells: neighbours of one colour are one bar, which has the colours of the page where it is on one."""
        edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
        bars = [(start - 0.5, end - start) for start, end in pairwise(edges)]
        shown = [colours[values[start]] for start in edges[:-1]]
        ax.broken_barh(bars, (line - 0.5, 1.0), facecolors=shown, linewidth=0, antialiased=False)


class FeatureShareDisplay:
    """For each feature, how many labels change when it alone is rescaled, and how many points are neutral without it.

    Where the audit asked about limited factors there is a third bar: labels that change when all features are off by up to
    κ, but hold when this one is not.

    The upright line is the share of neutral points with all the features. A bar of "neutral without it" that ends far to
    the left of the line belongs to a feature that causes much of the neutrality; there is none where the classes can't be
    separated without the feature.

    Parameters
    ----------
    audit : Audit
    most : int
        So many features are shown, those with the longest bars.

    Attributes
    ----------
    order_ : int array
        The features from the top down; set by ``plot``, as are ``ax_`` and ``figure_``.

    Examples
    --------
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[4, 4], [-1, 4], [0, 0]])
    >>> FeatureShareDisplay.from_audit(audit).order_
    array([0, 1])
    """

    def __init__(self, *, audit: Audit, most: int = 20) -> None:
        self.audit, self.most = _checked(audit), most

    @classmethod
    def from_audit(cls, audit: Audit, *, most: int = 20, ax: Any = None) -> FeatureShareDisplay:
        """Draw the bars of an audit.

        Parameters
        ----------
        audit : Audit
            What ``scaling_audit`` gave.
        most : int
            How many features to show, those with the longest bars.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        FeatureShareDisplay
            Of this audit.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[4, 4], [-1, 4]], most_radii=0)
        >>> display = FeatureShareDisplay.from_audit(audit, most=1)
        >>> [text.get_text() for text in display.ax_.get_yticklabels()]
        ['feature 0']
        """
        return cls(audit=audit, most=most).plot(ax=ax)

    def plot(self, ax: Any = None) -> FeatureShareDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        FeatureShareDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from rescaleinv import scaling_audit
        >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[4, 4], [-1, 4]], most_radii=0)
        >>> FeatureShareDisplay(audit=audit).plot().ax_.get_xlabel()
        'share of the points'
        """
        shares = self.audit.features
        self.order_ = np.argsort(-shares["alone"].to_numpy(), kind="stable")[: self.most]
        columns: dict[str, tuple[str, str, str]] = {
            "changed when it alone is rescaled": ("alone", LOOKS[Verdict.STRONGLY_POSITIVE].colour, "//"),
            "neutral without it": ("neutral without", LOOKS[Verdict.STRONGLY_NEGATIVE].colour, ""),
        }
        if self.audit.limited is not None:
            label = f"changed by factors up to {self.audit.limited.kappa:g}, but not if it is fixed"
            columns[label] = ("fixed", LOOKS[Verdict.NEUTRAL].colour, "..")
        ax = self.ax_ = axes_for(ax, (6.4, 1.5 + 0.5 * len(self.order_)))
        self.figure_ = ax.figure
        height = 0.8 / len(columns)
        places = np.arange(len(self.order_))
        for k, (label, (column, colour, hatch)) in enumerate(columns.items()):
            values = np.nan_to_num(shares[column].to_numpy(dtype=float)[self.order_])
            if not values.any():  # nothing to draw, and nothing for the legend
                continue
            shift = (k - (len(columns) - 1) / 2) * height
            ax.barh(places + shift, values, height, color=colour, hatch=hatch, edgecolor="white", lw=0.3, label=label)
        neutral = float(self.audit.verdicts.neutral.mean())
        ax.axvline(neutral, color=INK, lw=1.2, ls="--", label="neutral with all features")
        ax.set_yticks(places, [shortened(self.audit.feature_names[j]) for j in self.order_])
        ax.invert_yaxis()
        ax.set_xlabel(f"share of the {shortened(self.audit.noun)}")
        ax.xaxis.set_major_formatter(as_percent)
        legend_above(ax, columns=1)
        return self


# What a cause is called in pictures, its colour (dark to light, so that greyscale tells them apart) and its hatch.
_CAUSE_LOOKS = {
    "solver": ("the solver stopped early", "#08458c", ""),
    "intercept": ("the intercept is penalised", "#4a90c4", "//"),
    "loss": ("another loss", "#c9c9c9", ".."),
    "C": ("C means something else", "#fdb863", "\\\\"),
    "margin": ("the margin moved", "#c65102", ""),
}


class CausesDisplay:
    """For each pair of models a bar as long as the share of labels that differ, divided into their causes.

    Parameters
    ----------
    diagnosis : Diagnosis

    Attributes
    ----------
    ax_, figure_
        Set by ``plot``.

    Examples
    --------
    >>> from rescaleinv import diagnose
    >>> from rescaleinv.datasets import load
    >>> X, y, _ = load("urine")
    >>> display = CausesDisplay.from_diagnosis(diagnose(None, X[::2], y[::2], X[1::2]))
    >>> len(display.ax_.get_yticks())
    10
    """

    def __init__(self, *, diagnosis: Diagnosis) -> None:
        if not isinstance(diagnosis, Diagnosis):
            raise InputError(f"{type(diagnosis).__name__} was given; what diagnose returns is needed")
        self.diagnosis = diagnosis

    @classmethod
    def from_diagnosis(cls, diagnosis: Diagnosis, *, ax: Any = None) -> CausesDisplay:
        """Draw the bars of a diagnosis.

        Parameters
        ----------
        diagnosis : Diagnosis
            What ``diagnose`` gave.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CausesDisplay
            Of this diagnosis.

        Examples
        --------
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import MaxAbsScaler, StandardScaler
        >>> from sklearn.svm import SVC
        >>> from rescaleinv import diagnose
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> display = CausesDisplay.from_diagnosis(diagnose(models, X[::2], y[::2], X[1::2]))
        >>> print(display.ax_.get_xlabel(), [text.get_text() for text in display.ax_.get_yticklabels()])
        share of the labels that differ ['StandardScaler + … / MaxAbsScaler + SVC']
        """
        return cls(diagnosis=diagnosis).plot(ax=ax)

    def plot(self, ax: Any = None) -> CausesDisplay:
        """Draw it, into ``ax`` if given.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        CausesDisplay
            Itself, with ``ax_`` and ``figure_``.

        Examples
        --------
        The legend names the causes:

        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import MaxAbsScaler, StandardScaler
        >>> from sklearn.svm import SVC
        >>> from rescaleinv import diagnose
        >>> from rescaleinv.datasets import load
        >>> X, y, _ = load("urine")
        >>> scalers = (StandardScaler(), MaxAbsScaler())
        >>> models = [make_pipeline(one, SVC(kernel="linear")).fit(X[::2], y[::2]) for one in scalers]
        >>> display = CausesDisplay(diagnosis=diagnose(models, X[::2], y[::2], X[1::2])).plot()
        >>> [text.get_text() for text in display.ax_.get_legend().get_texts()][-2:]
        ['C means something else', 'the margin moved']
        """
        table = self.diagnosis.table()
        ax = self.ax_ = axes_for(ax, (6.4, 1.4 + 0.35 * len(table)))
        self.figure_ = ax.figure
        places, start = np.arange(len(table)), np.zeros(len(table))
        for cause in CAUSES:
            shares = table[cause].to_numpy(dtype=float) / max(len(self.diagnosis.index), 1)
            text, colour, hatch = _CAUSE_LOOKS[cause]
            if cause != "loss" or shares.any():
                ax.barh(
                    places, shares, 0.7, left=start, color=colour, hatch=hatch, edgecolor="white", lw=0.3, label=text
                )
            start += shares
        ax.set_xlim(0, 1.05 * max(float(start.max(initial=0.0)), 0.01))
        ax.set_yticks(places, [f"{shortened(one, 18)} / {shortened(two, 18)}" for one, two in table.index])
        ax.invert_yaxis()
        ax.set_xlabel("share of the labels that differ")
        ax.xaxis.set_major_formatter(as_percent)
        legend_above(ax, columns=2)
        return self


def _checked(audit: Any) -> Audit:
    if not isinstance(audit, Audit):
        raise InputError(f"{type(audit).__name__} was given; what scaling_audit returns is needed")
    return audit
