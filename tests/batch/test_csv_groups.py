"""CSV files by groups of rows against the standard library's reader; what is not a table, or not a number, is said."""

import csv
import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from table_files import all_rows, write_csv

from rescaleinv import InputError
from rescaleinv.batch import csv_groups
from rescaleinv.batch.streams import Columns, survey


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
        ("x,y\n1,NA\n2,3\n4,five\n", r"bad\.csv has 'five' in row 3, column 'y', where numbers belong"),
        ("x,y\n1,2\n3\n", r"bad\.csv, rows 1 to 2: .*Expected 2 columns, got 1"),
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
    with pytest.raises(InputError, match="has 'ten' in row 11, column 'x'"):
        all_rows(file, Columns(("x",)), 8, 12)


def test_a_header_without_an_end_is_not_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_groups, "LONGEST_HEADER", 1000)
    monkeypatch.setattr(csv_groups, "_BYTES_AT_A_TIME", 64)
    (tmp_path / "long.csv").write_bytes(b"a," * 10_000)
    with pytest.raises(InputError, match="its first line is longer than 1,000 bytes; names of columns are needed"):
        survey([tmp_path / "long.csv"])
    (tmp_path / "fine.csv").write_bytes(b"a,b\n" + b"1,2\n" * 1000)
    assert survey([tmp_path / "fine.csv"])[0].n_rows == 1000


def test_offsets_of_groups_are_those_of_lines(monkeypatch):
    """In a plain file every line is a row: rows 0, 3, 6, ... begin where the lines do."""
    monkeypatch.setattr(csv_groups, "GROUP_ROWS", 3)
    lines = [b"x,y\n", *(b"%d,%d\n" % (i, 10**i) for i in range(8))]
    text = b"".join(lines)
    digest, columns, groups, offsets = csv_groups.scan_csv(io.BytesIO(text), Path("t.csv"))
    starts = np.cumsum([0, *map(len, lines)])
    assert digest == hashlib.sha256(text).hexdigest()
    assert (columns, groups) == (("x", "y"), (3, 3, 2))
    assert offsets == (starts[1], starts[4], starts[7], len(text))


def test_a_header_alone_has_no_groups():
    for text in (b"x,y", b"x,y\n", b"\n\r\nx,y\r\n\n"):
        _, columns, groups, offsets = csv_groups.scan_csv(io.BytesIO(text), Path("t.csv"))
        assert (columns, groups, offsets) == (("x", "y"), (), (len(text),))


def group(content, names=("x", "name")):
    return csv_groups.Group(content, names, "t.csv", 100, content.count(b"\n"))


def test_a_group_has_floats_and_texts_in_the_order_asked_for():
    table = csv_groups.parse_group(group(b"1,NA\n,\n0.1,01\n"), ["x"], ["name"])
    assert table.column_names == ["x", "name"]
    assert table["x"].to_pylist() == [1.0, None, 0.1]
    assert table["name"].to_pylist() == ["NA", "", "01"]


def test_errors_of_a_group_name_rows_of_the_file():
    with pytest.raises(InputError, match=r"t\.csv has 'one' in row 102, column 'x', where numbers belong"):
        csv_groups.parse_group(group(b"1,a\none,b\n"), ["x"], [])
    with pytest.raises(InputError, match=r"t\.csv, rows 101 to 102: "):
        csv_groups.parse_group(group(b"1,a\n2\n"), ["x"], [])
    with pytest.raises(InputError, match=f"t.csv, rows 101 to 102: the column 'x' has the integer {2**53 + 1}"):
        csv_groups.parse_group(group(b"1,a\n%d,b\n" % (2**53 + 1)), ["x"], [])


@pytest.mark.parametrize("text", ["1e300", "9007199254740993.0", "-1e16", str(2**60), "inf"])
def test_large_numbers_that_are_not_written_as_integers_are_rounded_like_any_other(text):
    table = csv_groups.parse_group(group(f"{text},a\n".encode()), ["x"], [])
    assert table["x"].to_pylist() == [float(text)]
