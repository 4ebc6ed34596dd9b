"""How CSV files were written: what the examples in the module do not show."""

import pytest

from rescaleinv._util.csv_format import CsvFormat, csv_format


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"x\n1\n2\n", CsvFormat("utf-8", ",", ".")),  # one column
        (b'x,"a;b"\n1,"c;d"\n', CsvFormat("utf-8", ",", ".")),  # separators in quotes
        (b"x;y\n1;2;3\n4;5\n", CsvFormat("utf-8", ";", ".")),  # no line count fits: the header tells
        (b"x;y\n1,5;2.5\n", CsvFormat("utf-8", ";", ".")),  # both: nothing is guessed
        (b"a,b,c\n1,2,x y\n", CsvFormat("utf-8", ",", ".")),
        (b"", CsvFormat("utf-8", ",", ".")),
        (b"name;x\nM\xfcller;1,5\n", CsvFormat("cp1252", ";", ",")),
    ],
)
def test_what_is_found(tmp_path, content, expected):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert csv_format(path) == expected


def test_the_end_of_the_file_decides_its_encoding_too(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"x,y\n" + b"1,2\n" * 400_000 + b"1,\xe9\n")
    assert csv_format(path).encoding == "cp1252"
