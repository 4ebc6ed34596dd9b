"""Files by row numbers: which files are meant, where the rows of a CSV file are, and what is refused."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table_files import all_rows, write_csv

from rescaleinv import InputError
from rescaleinv.batch import streams
from rescaleinv.batch.streams import Columns, choose_columns, find_files, survey

# --- which files ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "_run").mkdir()
    for name in ("b.csv", "a.CSV", "deep/c.parquet", "notes.txt", ".hidden.csv", "_run/d.csv"):
        (tmp_path / name).touch()
    return tmp_path


def test_a_folder_means_all_tables_in_it(folder):
    assert [path.name for path in find_files(folder)] == ["a.CSV", "b.csv", "c.parquet"]


def test_a_pattern_and_a_list(folder):
    assert [path.name for path in find_files(f"{folder}/*.csv")] == ["b.csv"]
    assert [path.name for path in find_files([folder / "deep", str(folder / "b.csv")])] == ["c.parquet", "b.csv"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["b.csv", "deep/../b.csv"], "given twice"),
        (["notes.txt"], r"must end in \.csv or \.parquet"),
        (["*.xlsx"], "no file there"),
        ([], "no input was given"),
    ],
)
def test_inputs_that_can_not_be_meant(folder, inputs, message):
    with pytest.raises(InputError, match=message):
        find_files([f"{folder}/{name}" for name in inputs])


def test_names_are_those_below_the_shared_folder(tmp_path):
    for year in ("2024", "2025"):
        (tmp_path / year).mkdir()
        write_csv(tmp_path / year / "points.csv", {"x": [1]})
    assert [file.name for file in survey(find_files(tmp_path))] == ["2024/points.csv", "2025/points.csv"]
    assert [file.name for file in survey([tmp_path / "2024" / "points.csv"])] == ["points.csv"]


# --- rows of Parquet files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [1, 4, 7, 100])
def test_any_rows_of_a_parquet_file(tmp_path, monkeypatch, group):
    monkeypatch.setattr(streams, "_ROWS_AT_A_TIME", 3)
    table = pa.table(
        {
            "id": pa.array([f"point {i}" for i in range(20)]),
            "whole": pa.array([None if i == 7 else i for i in range(20)], pa.int64()),
            "flag": pa.array([i % 3 == 0 for i in range(20)]),
            "few": pa.array([i % 2 / 2 for i in range(20)]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "points.parquet", row_group_size=group)
    (file,) = survey([tmp_path / "points.parquet"])
    for start, stop in ((0, 20), (0, 1), (6, 9), (19, 20), (3, 17)):
        found = all_rows(file, Columns(("few", "whole", "flag"), ("id",)), start, stop)
        assert found["id"].tolist() == [f"point {i}" for i in range(start, stop)]
        assert found["few"].tolist() == [i % 2 / 2 for i in range(start, stop)]
        assert found["flag"].tolist() == [float(i % 3 == 0) for i in range(start, stop)]
        np.testing.assert_array_equal(found["whole"], [np.nan if i == 7 else i for i in range(start, stop)])


def test_what_is_no_parquet_table(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and so on")
    with pytest.raises(InputError, match=r"bad\.parquet is not a Parquet table"):
        survey([tmp_path / "bad.parquet"])
    with pytest.raises(InputError, match=r"none\.parquet can't be read: No such file"):
        survey([tmp_path / "none.parquet"])


def test_a_file_that_was_changed_since_is_refused(tmp_path):
    path = write_csv(tmp_path / "points.csv", {"x": [1, 2]})
    (file,) = survey([path])
    write_csv(path, {"x": [1, 2, 3]})
    with pytest.raises(InputError, match="was changed while it was being read"):
        all_rows(file, Columns(("x",)))


# --- which columns --------------------------------------------------------------------------------------------------


def surveyed(tmp_path, *tables):
    paths = [tmp_path / f"{k}.parquet" for k in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(pa.table(table), path)
    return survey(paths)


def test_columns_by_name_or_all_that_are_not_kept(tmp_path):
    files = surveyed(tmp_path, {"id": [1], "y": [2.0], "x": [3]})
    assert choose_columns(files, ["x"], 1, ("y", "x")) == Columns(("x",), ("y", "x"))
    assert choose_columns(files, None, 2, ("id",)) == Columns(("y", "x"), ("id",))


@pytest.mark.parametrize(
    ("tables", "names", "keep", "message"),
    [
        ([{"x": [1]}], ["x", "y"], (), r"0\.parquet has no column 'y', which the model was trained with; it has 'x'"),
        ([{"x": [1]}], None, (), "has 1 columns, and the model was trained with 2 features without names"),
        ([{"x": [1], "y": ["a"]}], ["x", "y"], (), "the column 'y' is of type string; numbers are needed"),
        ([{"x": [1], "y": [2]}], ["x", "y"], ("id",), r"0\.parquet has no column 'id' to keep"),
        ([{"x": [1], "y": [2]}, {"x": [1], "y": ["a"]}], ["x", "x"], ("y",), r"1\.parquet has other columns, or kept"),
        ([{"x": [1], "y": [2]}, {"y": [1], "x": [2]}], None, (), r"1\.parquet has other columns"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, tables, names, keep, message):
    with pytest.raises(InputError, match=message):
        choose_columns(surveyed(tmp_path, *tables), names, 2, keep)


# --- numbers that no float equals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**63 - 1, 1_700_000_000_123_456_789])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_integers_beyond_floats_are_refused(tmp_path, value, ending):
    path = tmp_path / f"table.{ending}"
    frame = pd.DataFrame({"a": [1, value], "b": [1, 2]})
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    (file,) = survey([path])
    with pytest.raises(InputError, match=f"the column 'a' has the integer {value}, which no float equals"):
        all_rows(file, Columns(("a", "b")))
    assert all_rows(file, Columns(("b",)))["b"].tolist() == [1, 2]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_large_numbers_that_are_floats_are_fine(tmp_path, ending):
    path = tmp_path / f"table.{ending}"
    values = [2**53, -(2**62), 10**15 + 1]
    frame = pd.DataFrame({"a": values, "b": [1e300, 0.1, np.nan]})
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    (file,) = survey([path])
    found = all_rows(file, Columns(("a", "b")))
    assert found["a"].tolist() == values
    np.testing.assert_array_equal(found["b"], frame["b"])


def test_unsigned_and_dictionary_columns(tmp_path):
    large = pa.array([1, 2**64 - 1], pa.uint64())
    pq.write_table(pa.table({"a": large}), tmp_path / "u.parquet")
    pq.write_table(pa.table({"a": pa.array([5, 2**53 + 1]).dictionary_encode()}), tmp_path / "d.parquet")
    for file in survey([tmp_path / "u.parquet", tmp_path / "d.parquet"]):
        with pytest.raises(InputError, match="which no float equals"):
            all_rows(file, Columns(("a",)))
