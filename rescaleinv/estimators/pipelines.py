"""Going around the scalers of a pipeline: verdicts about every rescaling are about the features that went into it.

A step that multiplies each feature by a number and adds another one changes no verdict about every rescaling, but its floats
are rounded. Where the values that went in can be recovered from those that came out, the former are certified.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from rescaleinv._util.types import FloatArray
from rescaleinv.theory.inputs import as_matrix, listing

# A decimal number of so many digits survives the way to a float and back.
_DIGITS = 15


@dataclass(frozen=True)
class ScaledFeatures:
    """What a chain of scalers does to each feature that comes out of it: ``source`` is the column that goes in.

    ``factor`` and ``shift`` are those of the inverse: what went in is ``factor * out + shift``, up to rounding.
    """

    source: npt.NDArray[np.intp]
    factor: FloatArray
    shift: FloatArray

    @classmethod
    def identity(cls, n_features: int) -> ScaledFeatures:
        return cls(np.arange(n_features), np.ones(n_features), np.zeros(n_features))

    def then(self, step: ScaledFeatures) -> ScaledFeatures:
        """This chain with one more step."""
        before = step.source
        return ScaledFeatures(
            self.source[before],
            self.factor[before] * step.factor,
            self.factor[before] * step.shift + self.shift[before],
        )


def _of_scaler(step: Any) -> ScaledFeatures | None:
    """The inverse of a scaler of scikit-learn that treats each feature by itself; None for anything else."""
    kind = type(step)
    n = getattr(step, "n_features_in_", 0)
    ones, zeros = np.ones(n), np.zeros(n)
    if kind is StandardScaler:
        factor = ones if step.scale_ is None else np.asarray(step.scale_)
        shift = zeros if not step.with_mean else np.asarray(step.mean_)
    elif kind is RobustScaler:
        factor = ones if step.scale_ is None else np.asarray(step.scale_)
        shift = zeros if step.center_ is None else np.asarray(step.center_)
    elif kind is MaxAbsScaler:
        factor, shift = np.asarray(step.scale_), zeros
    elif kind is MinMaxScaler and not step.clip:  # clipping is not affine
        factor = 1 / np.asarray(step.scale_)
        shift = -np.asarray(step.min_) * factor
    else:
        return None
    usable = np.isfinite(factor).all() and np.isfinite(shift).all() and bool((factor > 0).all())
    return ScaledFeatures(np.arange(n), factor, shift) if usable else None


def _of_columns(step: ColumnTransformer) -> ScaledFeatures | None:
    """The same for a ColumnTransformer of scalers; columns that pass through count as well, dropped ones do not come out."""
    names = list(getattr(step, "feature_names_in_", range(step.n_features_in_)))
    parts: dict[int, ScaledFeatures] = {}
    for name, transformer, columns in step.transformers_:
        where = step.output_indices_[name]
        if transformer == "drop" or where.stop == where.start:
            continue
        positions = np.arange(len(names))[_positions(columns, names)]
        inner = ScaledFeatures.identity(len(positions)) if _passes(transformer) else _of_step(transformer)
        if inner is None or len(inner.source) != where.stop - where.start:
            return None
        parts[where.start] = ScaledFeatures(positions[inner.source], inner.factor, inner.shift)
    ordered = [parts[start] for start in sorted(parts)]
    return ScaledFeatures(
        *(np.concatenate([getattr(part, name) for part in ordered]) for name in ScaledFeatures.__match_args__)
    )


def _passes(transformer: Any) -> bool:
    from sklearn.preprocessing import FunctionTransformer

    plain = isinstance(transformer, FunctionTransformer) and transformer.func is None
    return bool(plain or (isinstance(transformer, str) and transformer == "passthrough"))


def _positions(columns: Any, names: list[Any]) -> Any:
    """What a ColumnTransformer's selection of columns comes to: something to index positions with."""
    if isinstance(columns, str):
        return [names.index(columns)]
    if isinstance(columns, Iterable) and not isinstance(columns, np.ndarray):
        listed = list(columns)
        return [names.index(c) for c in listed] if all(isinstance(c, str) for c in listed) else listed
    return columns


def _of_step(step: Any) -> ScaledFeatures | None:
    if isinstance(step, Pipeline):
        return _of_chain(step, [inner for _, inner in step.steps])
    if isinstance(step, ColumnTransformer):
        return _of_columns(step)
    return _of_scaler(step)


def _of_chain(pipeline: Pipeline, steps: list[Any]) -> ScaledFeatures | None:
    chain: ScaledFeatures | None = None
    for step in steps:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        one = _of_step(step)
        if one is None:
            return None
        chain = one if chain is None else chain.then(one)
    return chain


@dataclass(frozen=True)
class Around:
    """The training rows and the way of points around the scalers of a pipeline.

    ``features`` has the training rows with every recovered feature in the values that went in; ``recovered`` says which.
    """

    chain: ScaledFeatures
    features: FloatArray
    recovered: npt.NDArray[np.bool_]

    @property
    def provenance(self) -> str:
        """What verdicts of such points are about."""
        if self.recovered.all():
            return "every rescaling of the features before the scalers of the pipeline"
        left = np.flatnonzero(~self.recovered).tolist()
        return (
            "every rescaling of the features before the scalers of the pipeline; of feature(s) "
            f"{listing(left)} the values that the SVM saw, as those before can't be recovered from them"
        )

    def points(self, given: FloatArray, scaled: FloatArray) -> FloatArray:
        """Points as the training rows are: the values that went in where these were recovered."""
        return np.where(self.recovered, given[:, self.chain.source], scaled)


def around_scalers(pipeline: Pipeline, seen: FloatArray) -> Around | str:
    """How to go around the steps before the last of a fitted pipeline, whose last step was trained on the rows ``seen``.

    A feature is recovered where decimals of at most 15 digits, put through the steps, give exactly what the last step saw.
    Where a step is not a scaler that treats each feature by itself, the answer is the reason in words.
    """
    before = pipeline[:-1]
    for name, step in before.steps:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        if _of_step(step) is None:
            return (
                f"every rescaling of the features that the SVM sees: the step {name!r} ({type(step).__name__}) is not a "
                "scaling of each feature by itself"
            )
    chain = _of_chain(before, [step for _, step in before.steps])
    if chain is None or len(chain.source) != seen.shape[1]:
        return "every rescaling of the features that the SVM sees"
    near = seen * chain.factor + chain.shift
    short = np.array([float(f"{value:.{_DIGITS}g}") for value in near.ravel().tolist()]).reshape(near.shape)
    n_in = before.n_features_in_
    whole = np.zeros((len(seen), n_in))
    whole[:, chain.source] = short
    again = as_matrix(_transformed(before, whole))
    recovered = (again == seen).all(axis=0)
    return Around(chain, np.where(recovered, short, seen), recovered)


def _transformed(steps: Pipeline, rows: FloatArray) -> Any:
    """The rows through the steps; as a data frame where they were fitted on one."""
    names = getattr(steps[0], "feature_names_in_", None)
    if names is not None:
        import pandas as pd

        return steps.transform(pd.DataFrame(rows, columns=names))
    return steps.transform(rows)
