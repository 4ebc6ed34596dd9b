"""Scalers in a pipeline are gone around: the verdicts are those of the raw features, and say so."""

import numpy as np
import pandas as pd
import pytest
from made_sets import drawn_from
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from rescaleinv import RescaleInvariantSVC, certify
from rescaleinv.estimators.pipelines import Around, around_scalers

BEFORE = "every rescaling of the features before the scalers of the pipeline"


@pytest.fixture(scope="module")
def data():
    training_set, points = drawn_from("fertility", 2)
    return training_set.features, training_set.signs, points[:40]


def columns():
    scalers = [("a", StandardScaler(), [0, 3, 1]), ("b", make_pipeline(MinMaxScaler(), RobustScaler()), slice(5, 9))]
    return ColumnTransformer(scalers, remainder="passthrough")


AFFINE = {
    "standard": lambda: [StandardScaler()],
    "range": lambda: [MinMaxScaler()],
    "range to 3..7": lambda: [MinMaxScaler((3, 7))],
    "largest value": lambda: [MaxAbsScaler()],
    "robust": lambda: [RobustScaler()],
    "without mean": lambda: [StandardScaler(with_mean=False), "passthrough"],
    "two scalers": lambda: [MinMaxScaler(), StandardScaler()],
    "columns": lambda: [columns()],
}


@pytest.mark.parametrize("steps", AFFINE.values(), ids=AFFINE)
def test_verdicts_are_those_of_the_raw_features(steps, data):
    rows, labels, points = data
    raw = RescaleInvariantSVC(engine="complex").fit(rows, labels).certify(points)
    pipeline = make_pipeline(*steps(), RescaleInvariantSVC(engine="complex", inconsistent="drop")).fit(rows, labels)
    verdicts = certify(pipeline, points)
    assert verdicts.provenance.startswith(BEFORE)
    assert verdicts.code.tolist() == raw.code.tolist()
    assert verdicts[:3].provenance == verdicts.provenance
    assert np.allclose(verdicts.lower, raw.lower, rtol=1e-9, atol=1e-9)
    engine = verdicts.engine
    assert certify(pipeline, points[:1]).engine is engine  # made once


def test_the_training_rows_are_recovered_to_the_bit(data):
    rows, labels, _ = data
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC()).fit(rows, labels)
    around = around_scalers(pipeline, pipeline[-1].training_set_.features)
    assert isinstance(around, Around)
    assert around.recovered.all()
    assert around.features.tobytes() == rows.tobytes()


def test_columns_that_are_dropped_or_moved_are_followed(data):
    rows, labels, points = data
    step = ColumnTransformer([("late", StandardScaler(), [7, 2]), ("early", "passthrough", [0])], remainder="drop")
    pipeline = make_pipeline(step, RescaleInvariantSVC(engine="complex", inconsistent="drop")).fit(rows, labels)
    kept = pipeline[-1].training_set_.row_numbers
    raw = RescaleInvariantSVC(engine="complex").fit(rows[kept][:, [7, 2, 0]], labels[kept])
    verdicts = certify(pipeline, points)
    assert verdicts.points.tolist() == points[:, [7, 2, 0]].tolist()
    assert verdicts.code.tolist() == raw.certify(points[:, [7, 2, 0]]).code.tolist()


def test_what_can_not_be_recovered_is_said(data):
    _, labels, _ = data
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(len(labels), 2)) + labels[:, None], np.arange(len(labels))])
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC(engine="complex")).fit(rows, labels)
    provenance = certify(pipeline, rows).provenance
    assert provenance.startswith(BEFORE)
    assert "the values that the SVM saw, as those before can't be recovered" in provenance


OTHERS = {
    "rotation": (lambda: [PCA(3)], "PCA"),
    "function": (lambda: [StandardScaler(), FunctionTransformer(np.tanh)], "FunctionTransformer"),
    "clipping": (lambda: [MinMaxScaler(clip=True)], "MinMaxScaler"),
    "function of a column": (
        lambda: [ColumnTransformer([("f", FunctionTransformer(np.tanh), [0])], remainder="passthrough")],
        "ColumnTransformer",
    ),
}


@pytest.mark.parametrize(("steps", "name"), OTHERS.values(), ids=OTHERS)
def test_other_steps_are_gone_through_and_named(steps, name, data):
    rows, labels, points = data
    pipeline = make_pipeline(*steps(), RescaleInvariantSVC(engine="complex", inconsistent="drop")).fit(rows, labels)
    verdicts = certify(pipeline, points)
    assert "features that the SVM sees" in verdicts.provenance
    assert name in verdicts.provenance
    assert verdicts.code.tolist() == pipeline[-1].certify(pipeline[:-1].transform(points)).code.tolist()


def test_frames_floats_and_limited_ranges(data):
    rows, labels, points = data
    names = [f"feature {j}" for j in range(rows.shape[1])]
    frame = pd.DataFrame(rows, columns=names)
    named = make_pipeline(StandardScaler(), RescaleInvariantSVC(engine="complex")).fit(frame, labels)
    assert certify(named, pd.DataFrame(points, columns=names)).provenance == BEFORE
    word = make_pipeline(StandardScaler(), RescaleInvariantSVC(engine="complex", read_as="float")).fit(rows, labels)
    assert certify(word, points).provenance == "the features that the last step of the pipeline sees"
    alone = make_pipeline(RescaleInvariantSVC(engine="complex")).fit(rows, labels)
    assert certify(alone, points).provenance == ""
