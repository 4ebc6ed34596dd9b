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
        given = {"label": "kind", "positive": None, "keep": ["id"], "ignore": [], **changed}
        return read_labelled(Namespace(train=str(paths[0]), test=str(paths[1]), **given))

    return run


def test_features_are_found_by_name_in_the_order_of_training(read):
    tables = read()
    assert tables.names == ["x", "y"]
    assert tables.points.tolist() == [[2, 1]]
    assert tables.training_rows("train.csv").tolist() == [[-1, 5], [5, -1], [1, 1]]
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
        ({"keep": ["id", "none"]}, r"test\.csv has no column 'none'"),
        ({"test": "x,id\n1,p\n"}, r"test\.csv has no column 'y'"),
        ({"ignore": ["x", "y"]}, r"train\.csv has no features: no column is left$"),
        ({"positive": "sideways"}, r"^--positive sideways: the labels are down and up$"),
        ({"train": "x,kind,id\n1,a,p\n2,,q\n3,b,r\n"}, r"train\.csv: the label is missing in row 2$"),
        ({"train": "x,kind,id\n1,a,p\n2,a,q\n"}, r"the label has 1 different values \(a\); two are needed"),
        (
            {"train": "x,kind,id\n" + "".join(f"1,k{i},p\n" for i in range(9))},
            r"has 9 different values \(k0, k1, k2, k3, k4, k5, k6, k7, …\)",
        ),
        ({"test": "x,y,id\n"}, r"test\.csv has no rows$"),
        ({"test": "x,y,id\n1,two,p\n"}, r"test\.csv.*'two'"),
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
