"""Verdicts where there are more than two classes: for each point the classes that some rescaling could give it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.frames import FrameKind, pandas_frame
from rescaleinv.verdict import Verdicts, class_words


@dataclass(frozen=True, eq=False)
class ClassSets:
    """What ``certify`` of the multi-class estimators returns: a set of classes per point.

    Attributes
    ----------
    sets : bool array of shape (n_points, n_classes)
        Which classes some rescaling could give each point; all of them where a value is missing.
    labels : array
        The classes at the given scaling; None among them where a value is missing.
    classes : array
    reason : array of str
        Why a point could not be judged, else "".
    verdicts : tuple of Verdicts
        Those of the binary classifiers, in the order of ``estimators_``.
    frame_kind : FrameKind or None
        What the points came in, where that was a data frame; ``to_frame`` gives the same kind.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rescaleinv import RescaleInvariantOneVsOne
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = RescaleInvariantOneVsOne().fit(X[::5], y[::5])
    >>> found = clf.certify(X[[1, 52, 119]])
    >>> found
    ClassSets(3 points: 1 with one class whatever the scaling (33%), 2 with several (67%))
    >>> found.strong, found.as_text()
    (array([ True, False, False]), ['0', '1 or 2', '1 or 2'])
    """

    sets: npt.NDArray[np.bool_]
    labels: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    reason: npt.NDArray[Any]
    verdicts: tuple[Verdicts, ...]
    frame_kind: FrameKind | None = None

    @property
    def strong(self) -> npt.NDArray[np.bool_]:
        """Points with one class: no rescaling changes it.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantOneVsRest
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> points = [[0, 1], [8, 1], [4, 4]]
        >>> np.where(clf.certify(points).strong, clf.predict(points), "look again")
        array(['a', 'b', 'look again'], dtype='<U10')
        """
        return self.sets.sum(axis=1) == 1

    @property
    def unknown(self) -> npt.NDArray[np.bool_]:
        """Points with several classes of which a binary verdict was not decided: the set may be too large.

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantOneVsRest
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.certify([[0, 1], [4, np.nan], [4, 4]]).unknown
        array([False,  True, False])
        """
        open_verdicts = np.any([verdicts.unknown for verdicts in self.verdicts], axis=0)
        return ~self.strong & open_verdicts

    def __len__(self) -> int:
        return len(self.sets)

    def as_text(self) -> list[str]:
        """Each set in words: "setosa or virginica".

        Returns
        -------
        list of str

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantOneVsRest
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.certify([[0, 1], [8, 1], [4, 4]]).as_text()
        ['a', 'b', 'b or c']
        """
        return [" or ".join(str(name) for name in self.classes[row]) for row in self.sets]

    def summary(self) -> str:
        """One line in words, with the classes of the points that have one.

        Returns
        -------
        str

        Examples
        --------
        >>> from rescaleinv import RescaleInvariantOneVsRest
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.certify([[0, 1], [8, 1], [4, 4]]).summary()
        '3 points: 1 a whatever the scaling (33%), 1 b whatever the scaling (33%), 1 with several classes (33%)'
        """
        strong, unknown = self.strong, self.unknown
        of_one = [(name, int((strong & self.sets[:, k]).sum())) for k, name in enumerate(self.classes.tolist())]
        several = int((~strong & ~unknown).sum())
        parts = [
            f"{count} {class_words(name)} whatever the scaling ({count / max(len(self), 1):.0%})"
            for name, count in of_one
            if count
        ]
        parts += [f"{several} with several classes ({several / len(self):.0%})"] if several else []
        parts += [f"{unknown.sum()} not decided ({unknown.mean():.0%})"] if unknown.any() else []
        return f"{len(self)} points: {', '.join(parts) or 'none'}"

    def to_frame(self) -> Any:
        """One row per point: its label, its set of classes, how many they are, and why it could not be judged.

        Returns
        -------
        data frame
            Of the kind that the points came in, else of pandas.

        Examples
        --------
        >>> import pandas as pd
        >>> from rescaleinv import RescaleInvariantOneVsRest
        >>> rows = [[0, 0], [1, 0], [9, 0], [10, 1], [0, 9], [1, 10]]
        >>> clf = RescaleInvariantOneVsRest().fit(rows, ["a", "a", "b", "b", "c", "c"])
        >>> clf.certify(pd.DataFrame([[0, 1], [4, 4]], index=["Ann", "Bob"])).to_frame()[["label", "classes"]]
            label classes
        Ann     a       a
        Bob     c  b or c
        """
        columns: dict[str, Any] = {"label": self.labels, "classes": self.as_text(), "n_classes": self.sets.sum(axis=1)}
        reason = [
            why or next((str(v.reason[i]) for v in self.verdicts if v.unknown[i]), "") if self.unknown[i] else str(why)
            for i, why in enumerate(self.reason.tolist())
        ]
        columns["reason"] = reason
        return pandas_frame(columns) if self.frame_kind is None else self.frame_kind.made_of(columns)

    def __repr__(self) -> str:
        total, strong = max(len(self), 1), int(self.strong.sum())
        unknown = int(self.unknown.sum())
        several = len(self) - strong - unknown
        parts = [f"{strong} with one class whatever the scaling ({strong / total:.0%})"] if strong else []
        parts += [f"{several} with several ({several / total:.0%})"] if several else []
        parts += [f"{unknown} not decided ({unknown / total:.0%})"] if unknown else []
        return f"ClassSets({len(self)} points: {', '.join(parts) or 'none'})"
