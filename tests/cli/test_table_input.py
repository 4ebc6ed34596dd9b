"""What the commands read: which columns are features, which rows can be judged, which labels there are."""

from argparse import Namespace

import numpy as np
import pandas as pd
import pytest

from rescaleinv.cli.table_input import read_labelled, require_folder_of
from rescaleinv.errors import InputError

TRAIN = "x,y,kind,id\n-1,5,up,a\n5,-1,up,b\n1,1,down,c\n"


@pytest.fixture
def read(tmp_path):
    """Reads two texts as TRAIN and TEST."""

    def run(train=TRAIN, test="y,x,id\n1,2,p\n", **changed):
        paths = [tmp_path / "train.csv", tmp_path / "test.csv"]
        for path, text in zip(paths, (train, test), strict=True):
            path.write_text(text)
        given = {"label": "kind", "positive": None, "keep": ["id"], "ignore": [], "one_hot": [], "sep": None}
        given |= {"decimal": None, "na": [], "impute": None, **changed}
        return read_labelled(Namespace(train=str(paths[0]), test=str(paths[1]), **given))

    return run


def test_features_are_found_by_name_in_the_order_of_training(read):
    tables = read()
    assert tables.names == ["x", "y"]
    assert tables.points.tolist() == [[2, 1]]
    assert tables.rows.tolist() == [[-1, 5], [5, -1], [1, 1]]
    assert read(ignore=["y"]).names == ["x"]


def test_the_second_label_in_sorted_order_is_positive_unless_told(read):
    assert read().classes == ("down", "up")
    assert read(positive="up").classes == ("down", "up")
    assert read(positive="down").classes == ("up", "down")


def test_labels_are_texts(read):
    train = "x,kind\n1,NA\n2,01\n"
    assert read(train, "x\n1\n", keep=[]).classes == ("01", "NA")


def test_row_numbers_of_pandas_are_no_feature(read, capsys):
    train = pd.DataFrame({"x": [0, 1], "kind": ["a", "b"]}).to_csv()
    assert read(train, "x\n1\n", keep=[]).names == ["x"]
    assert "a column without a name; it is taken for row numbers and left out" in capsys.readouterr().out


def test_rows_that_can_not_be_judged_have_a_reason(read):
    tables = read(test="x,y,id\n1,2,p\n,3,q\n1e200,4,r\n5,inf,s\n6,7,t\n")
    assert tables.usable.tolist() == [True, False, False, False, True]
    assert tables.reasons.tolist() == ["", "a value is missing", *["a value is infinite or beyond 1e+150"] * 2, ""]
    np.testing.assert_array_equal(tables.points[tables.usable], [[1, 2], [6, 7]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": "klass"}, r"train\.csv has no column 'klass'; it has 'x', 'y', 'kind', 'id'$"),
        ({"keep": ["id", "none"]}, r"^--keep none: .*test\.csv has no such column; it has y, x, id$"),
        ({"ignore": ["Id "]}, r"^--ignore Id: .*train\.csv has no such column; did you mean id\?$"),
        ({"test": "x,id\n1,p\n"}, r"test\.csv has no column 'y'"),
        ({"ignore": ["x", "y"]}, r"train\.csv has no features: no column is left$"),
        ({"positive": "sideways"}, r"^--positive sideways: the labels are down and up$"),
        (
            {"train": "x,kind,id\n1,a,p\n2,,q\n3,b,r\n"},
            r"train\.csv: the label is missing in row 2; --impute drop leaves such rows out$",
        ),
        ({"train": "x,kind,id\n1,a,p\n2,a,q\n"}, r"the label has 1 different values \(a\); two are needed"),
        (
            {"train": "x,kind,id\n" + "".join(f"1,k{i},p\n" for i in range(21))},
            r"has 21 different values \(k0, k1, k10, k11, k12, k13, k14, k15 and 13 more\); this is not a label of classes",
        ),
        ({"test": "x,y,id\n"}, r"test\.csv has no rows$"),
        (
            {"test": "x,y,id\n1,two,p\n"},
            r"test\.csv: one column is not of numbers.*: y \(the text 'two' only\)\. Add --ignore y$",
        ),
        ({"test": f"x,y,id\n1,{2**53 + 1},p\n"}, f"the column 'y' has the integer {2**53 + 1}, which no float equals"),
        ({"test": f"x,y,id\n{-(2**53) - 1},1,p\n"}, "the column 'x' has the integer -9007199254740993"),
        ({"test": f"x,y,id\n{2**64 - 1},1,p\n"}, f"the column 'x' has the integer {2**64 - 1}"),
    ],
)
def test_tables_that_do_not_fit(read, given, message):
    with pytest.raises(InputError, match=message):
        read(**given)


def test_large_integers_that_are_floats_are_fine(read):
    tables = read(test=f"x,y,id\n{2**53},{-(2**62)},p\n{2**63},1,q\n")
    assert tables.points.tolist() == [[2.0**53, -(2.0**62)], [2.0**63, 1]]


def test_places_to_write_to_need_their_folder(tmp_path):
    require_folder_of(None, str(tmp_path / "out.csv"), "out.csv")
    with pytest.raises(InputError, match=r"none/out\.csv can't be written: there is no folder .*none$"):
        require_folder_of(None, str(tmp_path / "none" / "out.csv"))


def test_all_columns_that_are_not_features_are_named_at_once_with_what_solves_it(read):
    lines = "".join(f"{k},name {k},{'mf'[k % 2]},{'-' if k == 3 else k},{'ab'[k % 2]}\n" for k in range(40))
    with pytest.raises(InputError) as caught:
        read("x,name,sex,dose,kind\n" + lines, keep=[])
    assert str(caught.value).endswith(
        "3 columns are not of numbers, which features must be: name (40 different texts, such as 'name 0'); sex (2 "
        "categories: f, m); dose (1 of 40 values are not numbers, the first is '-' in row 4). Add --ignore name --one-hot "
        "sex --na -"
    )


def test_categories_become_columns_of_zeros_and_ones(read):
    train = "x,sex,town,kind\n1,m,Rome,a\n2,f,Oslo,b\n3,m,Bern,b\n"
    tables = read(train, "x,sex,town\n1,m,Bern\n2,f,Lima\n3,,Oslo\n", keep=[], one_hot=["sex,town"])
    assert tables.names == ["x", "sex=m", "town=Bern", "town=Oslo", "town=Rome"]
    assert tables.rows[:, 1:].tolist() == [[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 0, 0]]
    assert tables.points[0].tolist() == [1, 1, 1, 0, 0]
    assert tables.reasons.tolist() == ["", "town is 'Lima', which no training row has", "a value is missing"]
    assert tables.without_units == ["sex=m", "town=Bern", "town=Oslo", "town=Rome"]
    with pytest.raises(InputError, match=r"^--one-hot kind: it is not a feature"):
        read(train, "x,sex,town\n1,m,Bern\n", keep=[], one_hot=["sex,town", "kind"])


def test_missing_training_values_are_filled_in_or_left_out(read, capsys):
    train, test = "x,y,kind\n1,?,a\n3,5,b\n8,7,b\n9,9,\n", "x,y\n,4\n"
    with pytest.raises(InputError, match=r"row 4; --impute drop"):
        read(train, test, keep=[])
    tables = read(train, test, keep=[], impute="drop")
    assert tables.rows.tolist() == [[3, 5], [8, 7]]
    assert tables.row_numbers.tolist() == [2, 3]
    assert tables.reasons.tolist() == ["a value is missing"]
    complete = train.replace("9,9,\n", "9,9,a\n")
    with pytest.raises(InputError, match=r"1 of 4 rows have a missing value, in y \(1\); --impute median fills"):
        read(complete, test, keep=[])
    tables = read(complete, test, keep=[], impute="median")
    assert tables.rows.tolist() == [[1, 7], [3, 5], [8, 7], [9, 9]]
    assert tables.points.tolist() == [[5.5, 4]]
    assert "filled in with the median" in capsys.readouterr().out


def test_one_class_against_the_rest(read):
    train = "x,kind\n1,a\n2,b\n3,c\n"
    test = "x,kind\n1,a\n2,c\n3,other\n4,\n"
    assert read(train, test, keep=[]).classes == ("a", "b", "c")
    tables = read(train, test, keep=[], positive="b")
    assert tables.classes == ("not b", "b")
    assert tables.labels.tolist() == ["not b", "b", "not b"]
    assert tables.truth.tolist() == ["not b", "not b", None, None]


def test_identifiers_get_a_note(read, capsys):
    lines = "".join(f"{k},{k * k % 7},{k + 5},{(k * 37) % 101},{k % 3},{'ab'[k % 2]}\n" for k in range(30))
    read("patient_id,x,count,dose,valid,kind\n" + lines, "patient_id,x,count,dose,valid\n1,1,1,1,1\n", keep=[])
    shown = capsys.readouterr().out
    assert "note: patient_id is used as a feature, but its name is that of an identifier" in shown
    assert "note: count is used as a feature, but its values number the rows" in shown
    assert "note: dose is used as a feature, but its values are whole numbers that all differ" in shown
    assert shown.count("note:") == 3


def test_files_of_a_spreadsheet_are_read_and_that_is_said(read, capsys):
    tables = read("x;kind\n1,5;a\n2,25;b\n", "x\n7.5\n", keep=[])
    assert tables.rows.tolist() == [[1.5], [2.25]]
    assert "train.csv: separated by semicolons, decimal comma\n" in capsys.readouterr().out
