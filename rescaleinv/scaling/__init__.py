"""Supervised scalings of features, as scikit-learn transformers.

- ``bns``: factors from how well a feature separates the classes (Forman 2008).
- ``fisher``: units of a standard deviation, weighted by Fisher's ratio; ``logarithm``: for positive features.
- ``shaping``: values replaced by local estimates of the class probability (Forman, Scholz & Rajaram 2009).
- ``scores``: the fifteen scores themselves; ``metric_selector`` keeps the features that are best by one of them.
"""

from rescaleinv.scaling.bns import BNSScaler, SupervisedScaler
from rescaleinv.scaling.fisher import FisherScaler
from rescaleinv.scaling.logarithm import PositiveLogarithm
from rescaleinv.scaling.metric_selector import MetricSelector
from rescaleinv.scaling.scores import METRICS, feature_scores
from rescaleinv.scaling.shaping import LocalProbabilityShaper, shaping_pipeline

__all__ = [
    "METRICS",
    "BNSScaler",
    "FisherScaler",
    "LocalProbabilityShaper",
    "MetricSelector",
    "PositiveLogarithm",
    "SupervisedScaler",
    "feature_scores",
    "shaping_pipeline",
]
