"""How much of this classifier is an accident of scaling? Verdicts, the usual scalings and single features side by side."""

from rescaleinv.audit.audit import scaling_audit
from rescaleinv.audit.diagnosis import Diagnosis, PairDiagnosis, diagnose, usual_models
from rescaleinv.audit.displays import CausesDisplay, FeatureShareDisplay, ScalingsDisplay
from rescaleinv.audit.export import audit_schema
from rescaleinv.audit.findings import Finding
from rescaleinv.audit.limited import LimitedUnits
from rescaleinv.audit.multiplicities import Multiplicity, multiplicity
from rescaleinv.audit.result import Audit, Consistency, SVMAtRescaling
from rescaleinv.audit.scalings import ScalingResult, named_scalings

__all__ = [
    "Audit",
    "CausesDisplay",
    "Consistency",
    "Diagnosis",
    "FeatureShareDisplay",
    "Finding",
    "LimitedUnits",
    "Multiplicity",
    "PairDiagnosis",
    "SVMAtRescaling",
    "ScalingResult",
    "ScalingsDisplay",
    "audit_schema",
    "diagnose",
    "multiplicity",
    "named_scalings",
    "scaling_audit",
    "usual_models",
]
