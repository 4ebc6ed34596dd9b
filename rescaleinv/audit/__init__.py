"""How much of this classifier is an accident of scaling? Verdicts, the usual scalings and single features side by side."""

from rescaleinv.audit.audit import scaling_audit
from rescaleinv.audit.displays import FeatureShareDisplay, ScalingsDisplay
from rescaleinv.audit.findings import Finding
from rescaleinv.audit.limited import LimitedUnits
from rescaleinv.audit.result import Audit, Consistency, SVMAtRescaling
from rescaleinv.audit.scalings import ScalingResult, named_scalings

__all__ = [
    "Audit",
    "Consistency",
    "FeatureShareDisplay",
    "Finding",
    "LimitedUnits",
    "SVMAtRescaling",
    "ScalingResult",
    "ScalingsDisplay",
    "named_scalings",
    "scaling_audit",
]
