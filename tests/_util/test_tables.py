"""Tables in files: what is written comes back, and what can't be read is an error of one line."""

import numpy as np
import pandas as pd
import pytest

from rescaleinv._util import tables
from rescaleinv._util.tables import Reading, read_table, require_columns, write_table
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
        ("table.xls", b"x\n1\n", r"table\.xls: a table's name must end in \.csv, \.tsv, \.txt or \.parquet$"),
        ("table.csv", b"", r"table\.csv is not a CSV table: it is empty$"),
        ("table.csv", b"x,y\n1,2,3\n", r"table\.csv is not a CSV table: "),
        ("table.csv", b"x,x\n1,2\n", r"table\.csv has the column 'x' twice$"),
        ("table.csv", b"\xff\xfe\x00x\n", r"table\.csv is not a CSV table: "),
        ("table.csv", b"x,y\n\x00\x01,2\n", r"table\.csv is not a CSV table: it has NUL bytes in it"),
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x;y;kind\n1,5;2;\xe9t\xe9\n-0,25;3;hiver\n", "separated by semicolons, decimal comma, Latin-1"),
        ("\ufeffx\ty\tkind\n1.5\t2\tété\n-0.25\t3\thiver\n".encode(), "separated by tabulators"),
        ("x|y|kind\n1.5|2|été\n-0.25|3|hiver\n".encode(), "separated by bars"),
        ("x y kind\n1.5 2 été\n-0.25 3 hiver\n".encode(), "separated by spaces"),
        ("x,y,kind\n1.5,2,été\n-0.25,3,hiver\n".encode("utf-16"), "UTF-16"),
        ('x,y,kind\n"1,5",2,été\n"-0,25",3,hiver\n'.encode(), "decimal comma"),
        ("x, y, kind\n1.5, 2, été\n-0.25, 3, hiver\n".encode(), ""),
    ],
)
def test_how_a_file_was_written_is_found_out(tmp_path, content, said):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    found = read_table(path, text="kind")
    assert found.columns.tolist() == ["x", "y", "kind"]
    assert found["x"].tolist() == [1.5, -0.25]
    assert found["y"].tolist() == [2, 3]
    assert found["kind"].tolist() == ["été", "hiver"]
    assert found.attrs["format"] == said


def test_points_between_thousands(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x;y\n1.234,5;1\n2.000.000,25;2\n")
    assert read_table(path)["x"].tolist() == [1234.5, 2000000.25]


def test_what_is_given_is_not_guessed(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("x;y\n1,5;-999\n2,5;7\n")
    found = read_table(path, reading=Reading(separator=";", decimal=".", missing=("-999",)))
    assert found["x"].tolist() == ["1,5", "2,5"]
    assert found["y"].isna().tolist() == [True, False]


def test_question_marks_are_missing_and_every_digit_counts(tmp_path):
    path = tmp_path / "table.csv"
    numbers = np.random.default_rng(0).uniform(0, 1000, 500).tolist()
    path.write_text("x,y\n" + "".join(f"{x!r},?\n" for x in numbers))
    found = read_table(path)
    assert found["x"].tolist() == numbers
    assert found["y"].isna().all()


def test_a_table_of_tabulators_is_written_by_its_name(tmp_path):
    path = tmp_path / "table.tsv"
    write_table(pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}), path)
    assert path.read_text() == "x\ty\n1\ta\n2\tb\n"
    assert read_table(path)["y"].tolist() == ["a", "b"]


def test_integers_are_compared_exactly():
    tables.require_exact([(2**53, 2.0**53), (-(2**70), -(2.0**70))], "x", "t.csv")
    with pytest.raises(InputError, match=r"^t\.csv: the column 'x' has the integer 9007199254740993, which no float"):
        tables.require_exact([(1, 1.0), (2**53 + 1, float(2**53 + 1))], "x", "t.csv")
