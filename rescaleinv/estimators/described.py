"""Which SVM it is, in words: a hard or a soft margin, with which penalty, and without which rows."""

from __future__ import annotations

import math
from typing import Any


def described_svm(model: Any) -> str:
    """Which SVM a fitted ``RescaleInvariantSVC`` is.

    Parameters
    ----------
    model : RescaleInvariantSVC
        Fitted.

    Returns
    -------
    str
        Such as "hard-margin SVM, 3 of 40 training rows left out".

    Examples
    --------
    >>> from rescaleinv import RescaleInvariantSVC
    >>> rows, labels = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]
    >>> described_svm(RescaleInvariantSVC().fit(rows, labels))
    'hard-margin SVM'
    >>> described_svm(RescaleInvariantSVC(C=10, scale_range=2).fit(rows, labels))
    'soft-margin SVM with C = 10'
    """
    nu = getattr(model, "nu_", None)
    C = float(model._fitted.parameters["C"])
    if nu is not None:
        margin = f"soft-margin SVM with ν = {float(nu):.3g}"
    elif math.isinf(C):
        margin = "hard-margin SVM"
    else:
        margin = f"soft-margin SVM with C = {C:g}"
    dropped, kept = len(model.dropped_), model.training_set_.n_rows
    return margin + (f", {dropped} of {dropped + kept} training rows left out" if dropped else "")
