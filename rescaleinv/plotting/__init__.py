"""Pictures of what rescaling does, as Display objects in scikit-learn's manner; they need the extra ``plot`` (matplotlib).

Each display has a class method that makes and draws it (``from_estimator``, ``from_audit``, …), an ``ax`` to draw into if
one is given, ``plot`` to draw it again, and then ``ax_`` and ``figure_``. Verdicts are told apart by colour, by lightness
and by hatch or marker, so that the pictures can be read by the colour-blind and in grey.
"""

from rescaleinv.plotting.curves import CertifiedShareDisplay, CoverageDisplay
from rescaleinv.plotting.intervals import IntervalsDisplay
from rescaleinv.plotting.regions import RegionsDisplay

__all__ = [
    "CertifiedShareDisplay",
    "CoverageDisplay",
    "IntervalsDisplay",
    "RegionsDisplay",
]
