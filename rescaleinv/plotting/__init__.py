"""Pictures of what rescaling does, as displays in the style of scikit-learn; they need the extra ``plot`` (matplotlib).

Each display has a class method that makes and draws it (``from_estimator``, ``from_audit``, …), an ``ax`` to draw into if
one is given, ``plot`` to draw it again, and then ``ax_`` and ``figure_``. Verdicts differ in colour, in lightness and in
hatch or marker, so that the pictures can be read by colour-blind people and in greyscale.
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
