"""Feature selection as scikit-learn transformers: by how often a feature is there, by means, by information.

The methods are those of Ferreira & Figueiredo, *Feature Transformation and Reduction for Text Classification*, and the ones
that they compare with. Their random projection is ``sklearn.random_projection.SparseRandomProjection(density=1/3)``.
"""

from rescaleinv.selection.fisher import FisherRatioSelector
from rescaleinv.selection.information import CMIMSelector, MutualInformationSelector
from rescaleinv.selection.l0 import L0Selector

__all__ = ["CMIMSelector", "FisherRatioSelector", "L0Selector", "MutualInformationSelector"]
