"""What came in as a frame of some kind goes out as one; queries are refused in one line."""

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rescaleinv import InputError, RescaleInvariantSVC, TrainingSet
from rescaleinv._util.frames import FrameKind, require_rows

ROWS = {"age": [-1.0, 5.0, 1.4, 1.0], "size": [5.0, -1.0, 1.4, 1.0]}
LABELS = [1, 1, 1, -1]
POINTS = {"age": [-1.0, 4, 0], "size": [4.0, 4, 0]}
WORDS = ["neutral", "strongly positive", "strongly negative"]


@pytest.fixture(scope="module")
def model():
    return RescaleInvariantSVC().fit(pd.DataFrame(ROWS), LABELS)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_each_kind_comes_back(model, kind):
    points = kind(POINTS)
    frame = model.certify(points).to_frame()
    assert type(frame) is type(points)
    assert list(pd.DataFrame(frame.to_pandas() if hasattr(frame, "to_pandas") else frame)["verdict"]) == WORDS


def test_all_kinds_are_fitted_alike():
    models = [RescaleInvariantSVC().fit(kind(ROWS), LABELS) for kind in (pd.DataFrame, pl.DataFrame, pa.table)]
    for other in models:
        assert other.coef_.tolist() == models[0].coef_.tolist()
        assert list(other.feature_names_in_) == ["age", "size"]
    assert TrainingSet(pa.table(ROWS), LABELS).feature_names == ("age", "size")


def test_pandas_keeps_its_index_through_masks_and_pipelines(model):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from rescaleinv import certify

    points = pd.DataFrame(POINTS, index=pd.Index(["Ann", "Bob", "Cy"], name="patient"))
    verdicts = model.certify(points)
    pd.testing.assert_index_equal(verdicts.to_frame().index, points.index)
    assert verdicts[verdicts.strong].to_frame().index.tolist() == ["Bob", "Cy"]
    assert verdicts[:2].to_frame().index.tolist() == ["Ann", "Bob"]
    assert "Ann" in verdicts._repr_html_()
    pipeline = make_pipeline(StandardScaler(), RescaleInvariantSVC()).fit(pd.DataFrame(ROWS), LABELS)
    assert certify(pipeline, points).to_frame().index.tolist() == ["Ann", "Bob", "Cy"]
    assert isinstance(certify(pipeline, pl.DataFrame(POINTS)).to_frame(), pl.DataFrame)


def test_arrays_become_pandas(model):
    frame = model.certify(pd.DataFrame(POINTS)).to_frame()
    by_array = RescaleInvariantSVC().fit(np.column_stack(list(ROWS.values())), LABELS)
    again = by_array.certify(np.column_stack(list(POINTS.values()))).to_frame()
    pd.testing.assert_frame_equal(frame, again)
    assert again["lower"].dtype == np.float64
    assert again["code"].dtype == np.int8


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (pl.LazyFrame(POINTS), r"LazyFrame of polars, which is a query and not a table: call \.collect\(\)"),
        (duckdb.sql("select 1.0 as age, 2.0 as size"), r"DuckDBPyRelation of duckdb.*call \.fetch_arrow_table\(\)"),
        (dd.from_pandas(pd.DataFrame(POINTS), npartitions=1), r"of dask.*certify_dask takes it"),
    ],
    ids=["polars", "duckdb", "dask"],
)
def test_queries_are_refused_in_one_line(model, query, message):
    for call in (lambda: require_rows(query, "X"), lambda: model.certify(query), lambda: TrainingSet(query, LABELS)):
        with pytest.raises(InputError, match=message) as refused:
            call()
        assert "\n" not in str(refused.value)


def test_large_integers_in_arrow_are_found():
    with pytest.raises(InputError, match="9007199254740993"):
        TrainingSet(pa.table({"id": [9007199254740993, 1, 2, 3], "b": [1, 2, 3, 4]}), LABELS)


def test_what_is_no_frame_has_no_kind():
    assert FrameKind.of(np.zeros((2, 2))) is None
    assert FrameKind.of("text") is None
    require_rows(object(), "X")
