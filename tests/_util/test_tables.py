"""Tables in files: what is written comes back, and what can't be read is an error of one line."""

import pandas as pd
import pytest

from rescaleinv._util import tables
from rescaleinv._util.tables import read_table, require_columns, write_table
from rescaleinv.errors import InputError


def test_a_table_that_can_not_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "table.parquet"
    write_table(pd.DataFrame({"a": [1]}), path)
    with pytest.raises(InputError, match="twice"):
        write_table(pd.DataFrame([[1, 2]], columns=["a", "a"]), path)
    assert read_table(path)["a"].tolist() == [1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_was_written_comes_back(tmp_path, ending):
    table = pd.DataFrame(
        {"x": [0.1, -2.5e300, 5e-324], "n": [1, 2**53, -7], "name": ["a", "two\nlines", 'a "word", more']}
    )
    path = tmp_path / f"table.{ending}"
    write_table(table, path)
    found = read_table(path, text="name")
    assert found.columns.tolist() == ["x", "n", "name"]
    for name in table.columns:
        assert found[name].tolist() == table[name].tolist()


def test_a_column_of_texts_is_read_as_it_stands(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,label\n1,NA\nNA,01\n3,\n4,1e3\n")
    found = read_table(path, text="label")
    assert found["label"].tolist() == ["NA", "01", None, "1e3"]
    assert found["x"].isna().tolist() == [False, True, False, False]
    assert read_table(path, text="nothing").columns.tolist() == ["x", "label"]


def test_texts_of_parquet_are_texts_too(tmp_path):
    path = tmp_path / "table.parquet"
    pd.DataFrame({"label": pd.array([1, None, 0], dtype="Int64")}).to_parquet(path)
    assert read_table(path, text="label")["label"].tolist() == ["1", None, "0"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("table.txt", b"x\n1\n", r"table\.txt: a table's name must end in \.csv or \.parquet$"),
        ("table.csv", b"", r"table\.csv is not a CSV table: it is empty$"),
        ("table.csv", b"x,y\n1,2,3\n", r"table\.csv is not a CSV table: "),
        ("table.csv", b"x,x\n1,2\n", r"table\.csv has the column 'x' twice$"),
        ("table.csv", b"\xff\xfe\x00x\n", r"table\.csv is not a CSV table: "),
        ("table.parquet", b"PAR1 and so on", r"table\.parquet is not a PARQUET table: "),
        ("table.csv", None, r"table\.csv can't be read: No such file or directory$"),
        ("table.parquet", None, r"table\.parquet can't be read: "),
    ],
)
def test_what_can_not_be_read_is_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_the_ending_may_be_of_any_case_and_a_mark_of_byte_order_is_no_name(tmp_path):
    path = tmp_path / "TABLE.CSV"
    path.write_bytes("\ufeffx,y\r\n1,2\r\n".encode())
    found = read_table(path)
    assert found.columns.tolist() == ["x", "y"]
    assert found.to_numpy().tolist() == [[1, 2]]


def test_a_first_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_LONGEST_HEADER", 10)
    path = tmp_path / "table.csv"
    path.write_text("x" * 11)
    with pytest.raises(InputError, match="its first line is longer than 10 characters"):
        read_table(path)
    path.write_text("x,y\n" + "1,2\n" * 10)  # a short line at the start of a long file
    assert len(read_table(path)) == 10


def test_only_texts_and_names_of_columns_are_escaped(tmp_path):
    table = pd.DataFrame({"=id": ["=1+1", "+2", "-3", "@x", "plain", None], "x": [-1.0, -2, -3, -4, -5, -6]})
    path = tmp_path / "table.csv"
    write_table(table, path, escape_formulas=True)
    header, *lines = path.read_text().splitlines()
    assert header == "'=id,x"
    assert lines == ["'=1+1,-1.0", "'+2,-2.0", "'-3,-3.0", "'@x,-4.0", "plain,-5.0", ",-6.0"]
    assert table.columns.tolist() == ["=id", "x"]  # the caller's table is left alone
    write_table(table, path)
    assert path.read_text().splitlines()[1] == "=1+1,-1.0"


def test_all_columns_that_are_missing_are_named():
    table = pd.DataFrame({"x": [1], "y": [2]})
    require_columns(table, ["y", "x"], "table.csv")
    with pytest.raises(InputError, match=r"^table\.csv has no column 'a', 'b'; it has 'x', 'y'$"):
        require_columns(table, ["a", "x", "b"], "table.csv")
