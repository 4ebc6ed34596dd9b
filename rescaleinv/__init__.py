"""rescaleinv: does this linear SVM's answer depend on how the features were scaled?

Importing the package loads the standard library only; each public name brings in its own module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> the module that defines it
_HOMES = {
    "TrainingSet": "problem",
    "minimal_norm_svm": "svm",
    "is_separable": "separability",
    "separable_subset": "separability",
    "check_invariance": "invariance",
    "is_rescale_optimal": "optimality",
    "in_closure": "optimality",
    "rescaling_of": "optimality",
    "neutral_certificate": "evidence",
    "ComplexEngine": "engines.complex",
    "MilpEngine": "engines.milp",
    "GapEngine": "engines.gap",
    "RescaleInvariantSVC": "classifier",
    "certify": "classifier",
    "RescaleInvariantOneVsOne": "multiclass",
    "RescaleInvariantOneVsRest": "multiclass",
    "Audit": "audit",
    "scaling_audit": "audit",
    "write_report": "report",
    "BatchSummary": "batch",
    "certify_dask": "batch",
    "certify_files": "batch",
    "Certificate": "verdict",
    "Verdict": "verdict",
    "Verdicts": "verdict",
    "Witness": "verdict",
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
    "LeftOutWarning": "errors",
}

__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


if TYPE_CHECKING:
    from rescaleinv.audit import Audit, scaling_audit
    from rescaleinv.batch import BatchSummary, certify_dask, certify_files
    from rescaleinv.classifier import RescaleInvariantSVC, certify
    from rescaleinv.engines.complex import ComplexEngine
    from rescaleinv.engines.gap import GapEngine
    from rescaleinv.engines.milp import MilpEngine
    from rescaleinv.errors import (
        BatchError,
        CertificateError,
        DatasetUnavailableError,
        InputError,
        InputTypeError,
        InseparableError,
        LeftOutWarning,
        MissingSolverError,
        NotAvailableError,
        RescaleInvError,
        SolverError,
    )
    from rescaleinv.evidence import neutral_certificate
    from rescaleinv.invariance import check_invariance
    from rescaleinv.metrics import StrongReport, mean_report, strong_report, verdict_confusion
    from rescaleinv.multiclass import RescaleInvariantOneVsOne, RescaleInvariantOneVsRest
    from rescaleinv.optimality import in_closure, is_rescale_optimal, rescaling_of
    from rescaleinv.problem import TrainingSet
    from rescaleinv.report import write_report
    from rescaleinv.separability import is_separable, separable_subset
    from rescaleinv.svm import minimal_norm_svm
    from rescaleinv.verdict import Certificate, Verdict, Verdicts, Witness
