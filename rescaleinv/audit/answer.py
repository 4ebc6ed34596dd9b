"""The answer first: how many labels hold, and how far, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rescaleinv._util.types import FloatArray
from rescaleinv.errors import InputError

ABOUT = "This is about scaling, not about accuracy."
_SMALL = 2.0


@dataclass(frozen=True)
class Answer:
    """How many labels hold when every feature's scale may change by up to a factor of ``kappa``.

    Attributes
    ----------
    kappa : float
    total, hold, change, within_two, every, open : int
        All labels; those that hold within ``kappa``, that can change, that can change within a factor of 2 already, that
        hold under every rescaling (None: nothing is said of them); and those for which the time did not suffice.

    Examples
    --------
    >>> print(answer_of([[6.0, 6.1], [1.4, 1.5], [np.inf, np.inf], [2.0, np.inf], [2.5, 2.6]]))
    2 of 5 labels hold when every feature's scale changes by up to a factor of 4; 2 can change, 1 of them within a factor
    of 2; 1 holds under every rescaling; 1 is not settled. This is about scaling, not about accuracy.
    """

    kappa: float
    total: int
    hold: int
    change: int
    within_two: int
    every: int | None

    @property
    def open(self) -> int:
        """Labels of which it is not known whether they hold within ``kappa``."""
        return self.total - self.hold - self.change

    def sentence(self, noun: str = "labels", *, fixed: int = 0, grouped: bool = False) -> str:
        """In one line; of the features ``fixed`` are not rescaled, and ``grouped``: some share one factor."""
        whose = f"the scale of every feature but {fixed} (not rescaled)" if fixed else "every feature's scale"
        whose += " (features of a group share one factor)" if grouped else ""
        parts = [f"{self.hold} of {self.total} {noun} hold when {whose} changes by up to a factor of {self.kappa:g}"]
        if self.change:
            within = (
                f", {self.within_two} of them within a factor of 2" if self.within_two and self.kappa > _SMALL else ""
            )
            parts.append(f"{self.change} can change{within}")
        if self.every is not None:
            of_groups = " of the groups" if grouped else ""
            parts.append(f"{self.every} {'holds' if self.every == 1 else 'hold'} under every rescaling{of_groups}")
        if self.open:
            parts.append(f"{self.open} {'is' if self.open == 1 else 'are'} not settled")
        return f"{'; '.join(parts)}. {ABOUT}"

    def __str__(self) -> str:
        from textwrap import fill

        return fill(self.sentence(), 118, break_on_hyphens=False)


def answer_of(radius: FloatArray, kappa: float = 4.0, *, every: int | None = None) -> Answer:
    """Count what radii say.

    Parameters
    ----------
    radius : array of shape (n_points, 2)
        [certified κ, refuted κ] of each point, as ``rescaling_radius`` gives them.
    kappa : float
        The factor in question.
    every : int, optional
        How many labels hold under every rescaling; if not given, those with an infinite radius.

    Returns
    -------
    Answer
        Its ``sentence()`` says it.

    Examples
    --------
    >>> found = answer_of([[6.0, 6.1], [1.4, 1.5]])
    >>> found.hold, found.change, found.within_two, found.every, found.open
    (1, 1, 1, 0, 0)
    """
    known = np.asarray(radius, dtype=float)
    if known.ndim != 2 or known.shape[1] != 2:
        raise InputError(f"radii of shape {known.shape} were given; [certified κ, refuted κ] per point is needed")
    hold, change = known[:, 0] >= kappa, known[:, 1] <= kappa
    return Answer(
        kappa=kappa,
        total=len(known),
        hold=int(hold.sum()),
        change=int(change.sum()),
        within_two=int((known[:, 1] <= _SMALL).sum()),
        every=int(np.isposinf(known[:, 0]).sum()) if every is None else every,
    )
