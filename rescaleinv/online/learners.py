"""The eighteen learners of the paper by their names."""

from __future__ import annotations

from typing import Any

from rescaleinv.errors import InputError
from rescaleinv.online._base import OnlineBinaryClassifier
from rescaleinv.online.feature_scaling import OnlineFeatureScaling
from rescaleinv.online.logistic import OnlineLogistic
from rescaleinv.online.passive_aggressive import OnlinePassiveAggressive

_FAMILIES: dict[str, tuple[type[OnlineBinaryClassifier], dict[str, Any]]] = {
    "SGD": (OnlineLogistic, {"scaled": False}),
    "GN": (OnlineLogistic, {"scaled": True}),
    **{name: (OnlineFeatureScaling, {"variant": name}) for name in ("FS", "FS-1", "FS-2", "FS-3")},
    "PA": (OnlinePassiveAggressive, {}),
    "PA-I": (OnlinePassiveAggressive, {"loss": "hinge", "C": 1.0}),
    "PA-II": (OnlinePassiveAggressive, {"loss": "squared_hinge", "C": 1.0}),
}
LEARNERS = tuple(f"{name}{suffix}" for name in _FAMILIES for suffix in ("", "+avg"))


def online_learner(name: str, **parameters: Any) -> OnlineBinaryClassifier:
    """The learner of that name in the paper of Bollegala & Iba; ``LEARNERS`` has the names.

    Parameters
    ----------
    name : str
        SGD, GN, FS, FS-1, FS-2, FS-3, PA, PA-I or PA-II; with "+avg" at the end, it predicts with averages.
    **parameters
        Parameters of its class.

    Returns
    -------
    OnlineLogistic, OnlineFeatureScaling or OnlinePassiveAggressive
        Not fitted yet.

    Examples
    --------
    >>> online_learner("GN+avg", l2=0.1)
    OnlineLogistic(average=True, l2=0.1)
    >>> online_learner("PA-II", C=0.01)
    OnlinePassiveAggressive(C=0.01, loss='squared_hinge')
    >>> len(LEARNERS)
    18
    """
    if name not in LEARNERS:
        raise InputError(f"there is no learner {name!r}; the names are {', '.join(LEARNERS)}")
    kind, settings = _FAMILIES[name.removesuffix("+avg")]
    return kind(**{**settings, "average": name.endswith("+avg"), **parameters})
