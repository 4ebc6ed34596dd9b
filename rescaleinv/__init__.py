"""rescaleinv: does this linear SVM's answer depend on how the features were scaled?

Importing the package loads the standard library only; each public name brings in its own module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# public name -> the module that defines it
_HOMES = {
    "TrainingSet": "theory.training_set",
    "minimal_norm_svm": "theory.svm",
    "is_separable": "theory.separability",
    "separable_subset": "theory.separability",
    "check_invariance": "theory.invariance",
    "least_nu": "theory.nu_margin",
    "nu_of": "theory.nu_margin",
    "is_rescale_optimal": "theory.optimality",
    "in_closure": "theory.optimality",
    "rescaling_of": "theory.optimality",
    "neutral_certificate": "certificates.two_rescalings",
    "ComplexEngine": "engines.complex.engine",
    "MilpEngine": "engines.milp.engine",
    "GapEngine": "engines.branch.engine",
    "RescaleInvariantSVC": "estimators.svc",
    "certify": "estimators.svc",
    "RescaleInvariantOneVsOne": "estimators.multiclass",
    "RescaleInvariantOneVsRest": "estimators.multiclass",
    "ClassSets": "estimators.class_sets",
    "triage": "estimators.triage_table",
    "Audit": "audit.result",
    "diagnose": "audit.diagnosis",
    "multiplicity": "audit.multiplicities",
    "scaling_audit": "audit.audit",
    "write_report": "audit.report",
    "BatchSummary": "batch",
    "certify_dask": "batch",
    "certify_files": "batch",
    "Certificate": "certificates.certificate",
    "Verdict": "verdict",
    "Verdicts": "verdict",
    "Witness": "certificates.certificate",
    "StrongReport": "metrics",
    "mean_report": "metrics",
    "strong_report": "metrics",
    "verdict_confusion": "metrics",
    "RescaleInvError": "errors",
    "InputError": "errors",
    "InputTypeError": "errors",
    "InseparableError": "errors",
    "DatasetUnavailableError": "errors",
    "SolverError": "errors",
    "MissingSolverError": "errors",
    "CertificateError": "errors",
    "NotAvailableError": "errors",
    "BatchError": "errors",
    "InaccurateWarning": "errors",
    "LeftOutWarning": "errors",
    "MissingPackageError": "errors",
    "NotKeptWarning": "errors",
    "OneLabelWarning": "errors",
    "OtherInterceptWarning": "errors",
    "RefusedWarning": "errors",
}

# written out, as type checkers read it; a test compares it with the names above
__all__ = [
    "Audit",
    "BatchError",
    "BatchSummary",
    "Certificate",
    "CertificateError",
    "ClassSets",
    "ComplexEngine",
    "DatasetUnavailableError",
    "GapEngine",
    "InaccurateWarning",
    "InputError",
    "InputTypeError",
    "InseparableError",
    "LeftOutWarning",
    "MilpEngine",
    "MissingPackageError",
    "MissingSolverError",
    "NotAvailableError",
    "NotKeptWarning",
    "OneLabelWarning",
    "OtherInterceptWarning",
    "RefusedWarning",
    "RescaleInvError",
    "RescaleInvariantOneVsOne",
    "RescaleInvariantOneVsRest",
    "RescaleInvariantSVC",
    "SolverError",
    "StrongReport",
    "TrainingSet",
    "Verdict",
    "Verdicts",
    "Witness",
    "__version__",
    "certify",
    "certify_dask",
    "certify_files",
    "check_invariance",
    "diagnose",
    "in_closure",
    "is_rescale_optimal",
    "is_separable",
    "least_nu",
    "mean_report",
    "minimal_norm_svm",
    "multiplicity",
    "neutral_certificate",
    "nu_of",
    "rescaling_of",
    "scaling_audit",
    "separable_subset",
    "strong_report",
    "triage",
    "verdict_confusion",
    "write_report",
]


if not TYPE_CHECKING:  # a type checker that sees this takes every name for one of ours

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


if TYPE_CHECKING:
    from rescaleinv.audit.audit import scaling_audit
    from rescaleinv.audit.diagnosis import diagnose
    from rescaleinv.audit.multiplicities import multiplicity
    from rescaleinv.audit.report import write_report
    from rescaleinv.audit.result import Audit
    from rescaleinv.batch import BatchSummary, certify_dask, certify_files
    from rescaleinv.certificates.certificate import Certificate, Witness
    from rescaleinv.certificates.two_rescalings import neutral_certificate
    from rescaleinv.engines.branch.engine import GapEngine
    from rescaleinv.engines.complex.engine import ComplexEngine
    from rescaleinv.engines.milp.engine import MilpEngine
    from rescaleinv.errors import (
        BatchError,
        CertificateError,
        DatasetUnavailableError,
        InaccurateWarning,
        InputError,
        InputTypeError,
        InseparableError,
        LeftOutWarning,
        MissingPackageError,
        MissingSolverError,
        NotAvailableError,
        NotKeptWarning,
        OneLabelWarning,
        OtherInterceptWarning,
        RefusedWarning,
        RescaleInvError,
        SolverError,
    )
    from rescaleinv.estimators.class_sets import ClassSets
    from rescaleinv.estimators.multiclass import RescaleInvariantOneVsOne, RescaleInvariantOneVsRest
    from rescaleinv.estimators.svc import RescaleInvariantSVC, certify
    from rescaleinv.estimators.triage_table import triage
    from rescaleinv.metrics import StrongReport, mean_report, strong_report, verdict_confusion
    from rescaleinv.theory.invariance import check_invariance
    from rescaleinv.theory.nu_margin import least_nu, nu_of
    from rescaleinv.theory.optimality import in_closure, is_rescale_optimal, rescaling_of
    from rescaleinv.theory.separability import is_separable, separable_subset
    from rescaleinv.theory.svm import minimal_norm_svm
    from rescaleinv.theory.training_set import TrainingSet
    from rescaleinv.verdict import Verdict, Verdicts
