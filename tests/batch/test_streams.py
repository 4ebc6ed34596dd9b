"""Files by row numbers: which files are meant, where the rows of a CSV file are, and what is refused."""

import csv
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rescaleinv import InputError
from rescaleinv.batch import csv_groups, streams
from rescaleinv.batch.streams import Columns, choose_columns, find_files, read_rows, survey


def write_csv(path, rows):
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def all_rows(file, columns, start=0, stop=None):
    tables = list(read_rows(file, start, file.n_rows if stop is None else stop, columns))
    return pa.concat_tables(tables).to_pandas()


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


# --- rows of CSV files ----------------------------------------------------------------------------------------------


def awkward_text(rng, n_rows):
    """A CSV text with line ends and quotes in its fields, blank lines, either kind of line end, perhaps none at the end."""
    end = rng.choice(["\n", "\r\n"])
    fields = ["plain", "", "two\nlines", 'a "word"', ",", "end\r\nof line", "\n", "NA"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=str(end))
    text.write(str(rng.choice(["", "\ufeff", end])))
    writer.writerow(["x", "na\nme" if rng.random() < 0.3 else "name", "y"])
    for i in range(n_rows):
        writer.writerow([i / 7, str(rng.choice(fields)), "" if rng.random() < 0.2 else -i])
        if rng.random() < 0.2:
            text.write(str(end))
    return text.getvalue().rstrip("\r\n") if rng.random() < 0.5 else text.getvalue()


@pytest.mark.parametrize("seed", range(40))
def test_any_rows_of_an_awkward_file_are_those_that_the_standard_library_reads(tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(csv_groups, "GROUP_ROWS", int(rng.integers(1, 9)))
    monkeypatch.setattr(csv_groups, "_BYTES_AT_A_TIME", int(rng.choice([1, 2, 3, 7, 50, 10_000])))
    n_rows = int(rng.integers(1, 40))
    path = tmp_path / "awkward.csv"
    text = awkward_text(rng, n_rows)
    path.write_bytes(text.encode())
    header, *records = [record for record in csv.reader(io.StringIO(text.lstrip("\ufeff"), newline="")) if record]
    (file,) = survey([path])
    assert file.schema.names == header
    assert file.n_rows == n_rows == len(records)
    for _ in range(5):
        start, stop = sorted(rng.choice(n_rows + 1, 2, replace=False).tolist())
        found = all_rows(file, Columns(("y", "x"), (header[1],)), start, stop)
        wanted = records[start:stop]
        assert found[header[1]].tolist() == [record[1] for record in wanted]
        assert found["x"].tolist() == [float(record[0]) for record in wanted]
        np.testing.assert_array_equal(found["y"], [float(record[2] or "nan") for record in wanted])


def test_numbers_are_the_nearest_floats(tmp_path):
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
    path = tmp_path / "numbers.csv"
    path.write_text("x\n" + "\n".join(map(repr, values.tolist())), encoding="utf-8")
    (file,) = survey([path])
    assert all_rows(file, Columns(("x",)))["x"].tolist() == values.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; a first line with the names"),
        ("\n\r\n\n", "is empty; a first line with the names"),
        ("x,x\n1,2\n", "has the column 'x' twice"),
        ("x,y\r1,2\r3,4\r", "lines that end in a carriage return alone"),
        ("x,\xe9\n", "is not a CSV table in UTF-8"),
    ],
)
def test_what_is_no_csv_table(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=message):
        survey([path])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,NA\n2,3\n4,five\n", r"bad\.csv has 'five' in row 2, column 'y', where numbers belong"),
        ("x,y\n1,2\n3\n", r"bad\.csv, rows 0 to 1: .*Expected 2 columns, got 1"),
        ('x,y\n1,2\n3,"4\n5,6\n', r"bad\.csv"),
        ("x,y\n1,2\n   \n", r"bad\.csv"),
    ],
)
def test_rows_that_can_not_be_read(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    (file,) = survey([path])
    with pytest.raises(InputError, match=message):
        all_rows(file, Columns(("x", "y")))


def test_a_row_is_named_by_its_number_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_groups, "GROUP_ROWS", 3)
    (file,) = survey([write_csv(tmp_path / "long.csv", {"x": [*range(10), "ten", 11]})])
    with pytest.raises(InputError, match="has 'ten' in row 10, column 'x'"):
        all_rows(file, Columns(("x",)), 8, 12)


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


# --- a header without an end ----------------------------------------------------------------------------------------


def test_a_header_without_an_end_is_not_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_groups, "LONGEST_HEADER", 1000)
    monkeypatch.setattr(csv_groups, "_BYTES_AT_A_TIME", 64)
    (tmp_path / "long.csv").write_bytes(b"a," * 10_000)
    with pytest.raises(InputError, match="its first line is longer than 1,000 bytes; names of columns are needed"):
        survey([tmp_path / "long.csv"])
    (tmp_path / "fine.csv").write_bytes(b"a,b\n" + b"1,2\n" * 1000)
    assert survey([tmp_path / "fine.csv"])[0].n_rows == 1000
