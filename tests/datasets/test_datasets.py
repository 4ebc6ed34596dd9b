"""The data sets that ship, and where the others are looked for. Nothing here reaches the network."""

import subprocess
import sys
from collections import Counter
from importlib import resources
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rescaleinv.datasets import Dataset, available, load
from rescaleinv.errors import DatasetUnavailableError, InputError

SHIPPED = {
    "breast_cancer_wisconsin": (683, 9, {1: 444, -1: 239}),
    "pima_diabetes": (768, 8, {-1: 500, 1: 268}),
    "blood_transfusion": (748, 4, {-1: 570, 1: 178}),
    "fertility": (100, 9, {-1: 88, 1: 12}),
    "banknote": (1372, 4, {-1: 762, 1: 610}),
    "urine": (77, 6, {-1: 44, 1: 33}),
    "penguins": (333, 4, {1: 168, -1: 165}),
}
# those that are not from UCI: where from, and their licence
ELSEWHERE = {"urine": ("CRAN", "Unlimited distribution"), "penguins": ("palmerpenguins", "CC0 1.0")}
OTHERS = {
    "indian_liver_patient",
    "heart_statlog",
    "bupa_liver",
    "credit_g_numeric",
    "ecoli",
    "glass",
    "vehicle",
    "vowel",
    "sonar",
    "letter",
    "optdigits",
    "spambase",
}

LIVER_CSV = (
    "age,gender_male,albumin_globulin_ratio,label\n"  # fewer columns than the real file; the loader takes any header
    "65,0,0.9,-1\n"
    "45,0,,-1\n"
    "62,1,0.74,-1\n"
    "27,1,,1\n"
    "17,1,1.2,1\n"
)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(**arguments):
        raise OSError("no network here")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
    monkeypatch.delenv("RESCALEINV_DATA", raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RESCALEINV_DATA", str(tmp_path))
    return tmp_path


def serve(monkeypatch, data, target):
    """Put a stand-in for fetch_openml in place; the list that is returned collects the arguments of its calls."""
    calls = []

    def fetch(**arguments):
        calls.append(arguments)
        return SimpleNamespace(data=data, target=target)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return calls


def liver_frame(n_rows=583):
    """A frame with the columns and kinds of column of OpenML's ilpd; V1 numbers the rows."""
    frame = pd.DataFrame({f"V{column}": np.linspace(0.5, 2.0, n_rows).round(1) for column in range(1, 11)})
    frame["V1"] = np.arange(1, n_rows + 1)
    frame["V2"] = pd.Categorical(np.where(np.arange(n_rows) % 2, "Male", "Female"))
    target = pd.Series(pd.Categorical(np.where(np.arange(n_rows) < 416, "1", "2")), name="Class")
    return frame, target


class TestShipped:
    @pytest.mark.parametrize("name", SHIPPED)
    def test_shape_and_class_counts(self, name):
        n_rows, n_features, counts = SHIPPED[name]
        data = load(name)
        assert isinstance(data, Dataset)
        assert data.features.shape == (n_rows, n_features)
        assert data.features.dtype == np.float64
        assert np.isfinite(data.features).all()
        assert data.labels.dtype == np.int8
        assert Counter(data.labels.tolist()) == counts
        assert len(data.feature_names) == n_features
        assert data.n_dropped == 0
        assert data.name == name
        assert "+1 =" in data.description
        repository, licence = ELSEWHERE.get(name, ("UCI Machine Learning Repository", "CC BY 4.0"))
        assert repository in data.attribution
        assert data.attribution.endswith(f" {licence}.")
        credits = (resources.files("rescaleinv.datasets") / "ATTRIBUTION.md").read_text(encoding="utf-8")
        assert f"## {name}.csv" in credits

    def test_species_is_a_group_and_not_a_feature(self):
        penguins = load("penguins")
        assert Counter(penguins.groups.tolist()) == {"Adelie": 146, "Chinstrap": 68, "Gentoo": 119}
        assert "species" not in penguins.feature_names
        with pytest.raises(ValueError, match="read-only"):
            penguins.groups[0] = "Gentoo"
        assert load("urine").groups is None

    def test_money_is_a_multiple_of_frequency(self):
        features, _, names = load("blood_transfusion")
        money, frequency = features[:, names.index("monetary_cc")], features[:, names.index("frequency_times")]
        assert np.array_equal(money, 250 * frequency)

    def test_unpacks_into_three(self):
        data = load("fertility")
        features, labels, names = data
        assert features is data.features
        assert labels is data.labels
        assert names is data.feature_names

    def test_arrays_are_read_only(self):
        features, labels, _ = load("fertility")
        with pytest.raises(ValueError, match="read-only"):
            features[0, 0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            labels[0] = 1

    def test_is_frozen(self):
        with pytest.raises(AttributeError):
            load("fertility").name = "other"

    def test_is_not_taken_from_the_folder(self, folder):
        (folder / "fertility.csv").write_text("age,label\n1,1\n")
        assert load("fertility").features.shape == (100, 9)

    def test_every_csv_is_attributed_and_listed(self):
        package = resources.files("rescaleinv.datasets")
        files = {entry.name for entry in package.iterdir() if entry.name.endswith(".csv")}
        assert files == {f"{name}.csv" for name in SHIPPED}
        text = (package / "ATTRIBUTION.md").read_text(encoding="utf-8")
        for file in files:
            assert f"## {file}\n" in text


class TestFolder:
    def test_rows_with_an_empty_cell_are_left_out_and_named(self, folder):
        (folder / "indian_liver_patient.csv").write_text(LIVER_CSV)
        with pytest.warns(UserWarning, match=r"left out 2 of 5 data rows because of an empty cell: 2, 4 \(counted"):
            data = load("indian_liver_patient")
        assert data.n_dropped == 2
        assert data.features.tolist() == [[65, 0, 0.9], [62, 1, 0.74], [17, 1, 1.2]]
        assert data.labels.tolist() == [-1, -1, 1]
        assert data.labels.dtype == np.int8
        assert data.feature_names == ("age", "gender_male", "albumin_globulin_ratio")

    def test_a_row_without_label_is_left_out(self, folder):
        (folder / "heart_statlog.csv").write_text("age,label\n70,1\n67,\n")
        with pytest.warns(UserWarning, match="left out 1 of 2 data rows"):
            assert load("heart_statlog").labels.tolist() == [1]

    def test_classes_that_are_whole_numbers(self, folder):
        (folder / "glass.csv").write_text("ri,label\n1.5,7\n1.6,2\n")
        labels = load("glass").labels
        assert labels.tolist() == [7, 2]
        assert labels.dtype.kind == "i"

    def test_classes_that_are_words(self, folder):
        (folder / "sonar.csv").write_text("b1,label\n0.5,M\n0.25,R\n")
        labels = load("sonar").labels
        assert labels.tolist() == ["M", "R"]
        assert labels.dtype.kind == "U"

    def test_byte_order_mark_line_ends_and_blank_lines_do_no_harm(self, folder):
        (folder / "sonar.csv").write_bytes(b"\xef\xbb\xbfb1,label\r\n0.5,M\r\n\r\n0.25,R\r\n\r\n")
        data = load("sonar")
        assert data.feature_names == ("b1",)
        assert data.features.tolist() == [[0.5], [0.25]]

    def test_comes_before_openml(self, folder, monkeypatch):
        calls = serve(monkeypatch, *liver_frame())
        (folder / "indian_liver_patient.csv").write_text("age,label\n65,-1\n17,1\n")
        assert len(load("indian_liver_patient").labels) == 2
        assert calls == []

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("age,bp,label\n70,130,1\n67,high,-1\n", r"line 3, column 'bp': 'high' is not a finite number"),
            ("age,bp,label\n70,nan,1\n", r"line 2, column 'bp': 'nan' is not a finite number"),
            ("age,bp,label\n70,1\n", r"line 2: 2 cells for 3 columns, none for 'label'"),
            ("age,bp,label\n70,130,1,5\n", r"line 2: 4 cells for 3 columns, some beyond 'label'"),
            ("age,bp,class\n70,130,1\n", r"line 1: .*'label', but it is \['age', 'bp', 'class'\]"),
            ("label\n1\n", r"line 1: .*name the features"),
            ("", r"line 1: .*but it is \[\]"),
            ("age,bp,label\n", r"no complete data row"),
            # UCI's own coding, in which 1 means the opposite
            ("age,bp,label\n70,130,2\n", r"line 2, column 'label': '2' is not 1 or -1"),
        ],
    )
    def test_malformed_file(self, folder, text, message):
        (folder / "heart_statlog.csv").write_text(text)
        with pytest.raises(InputError, match=rf"(?s)heart_statlog\.csv.*{message}"):
            load("heart_statlog")

    @pytest.mark.parametrize("content", [b"age,label\n\xff\xfe,1\n", b'age,label\n"' + b"x" * 200_000 + b'",1\n'])
    def test_not_a_csv_file(self, folder, content):
        (folder / "heart_statlog.csv").write_bytes(content)
        with pytest.raises(InputError, match=r"heart_statlog\.csv is not a CSV file"):
            load("heart_statlog")


class TestOpenML:
    def test_the_table_is_that_of_the_file(self, monkeypatch):
        calls = serve(monkeypatch, *liver_frame())
        data = load("indian_liver_patient")
        assert calls[0]["data_id"] == 1480
        assert data.features.shape == (583, 10)
        assert data.feature_names[1] == "gender_male"
        assert data.features[:2, :2].tolist() == [[1, 0], [2, 1]]
        assert Counter(data.labels.tolist()) == {-1: 416, 1: 167}
        assert data.labels.dtype == np.int8
        assert data.n_dropped == 0

    @pytest.mark.parametrize("empty", [np.nan, 0.947064, 0.9470639032815201])
    def test_rows_empty_at_uci_are_left_out(self, monkeypatch, empty):
        frame, target = liver_frame()
        rows = [209, 241, 253, 312]
        frame.loc[rows, "V10"] = empty
        serve(monkeypatch, frame, target)
        with pytest.warns(UserWarning, match=r"left out 4 of 583 data rows .*: 210, 242, 254, 313 \(counted"):
            data = load("indian_liver_patient")
        assert data.n_dropped == 4
        assert data.features[:, 0].tolist() == [row + 1 for row in range(583) if row not in rows]

    def test_a_missing_whole_number(self, monkeypatch):
        frame, target = liver_frame()
        frame["V1"] = frame["V1"].astype("Int64")
        frame.loc[5, "V1"] = pd.NA
        serve(monkeypatch, frame, target)
        with pytest.warns(UserWarning, match="left out 1 of 583 data rows"):
            assert load("indian_liver_patient").n_dropped == 1

    def test_words_are_mapped_to_the_classes_of_the_file(self, monkeypatch):
        words = ["build wind float", "build wind non-float", "vehic wind float", "containers", "tableware", "headlamps"]
        frame = pd.DataFrame(np.ones((214, 9)))
        serve(monkeypatch, frame, pd.Series(pd.Categorical(np.resize(words, 214))))
        data = load("glass")
        assert data.labels[:6].tolist() == [1, 2, 3, 5, 6, 7]
        assert "another order" in data.description

    def test_classes_that_need_no_mapping(self, monkeypatch):
        frame = pd.DataFrame(np.ones((846, 18)))
        serve(monkeypatch, frame, pd.Series(pd.Categorical(np.resize(["opel", "saab", "bus", "van"], 846))))
        assert Counter(load("vehicle").labels.tolist()) == {"opel": 212, "saab": 212, "bus": 211, "van": 211}

    def test_no_network(self):
        with pytest.raises(DatasetUnavailableError) as raised:
            load("indian_liver_patient")
        assert isinstance(raised.value.__cause__, OSError)
        message = str(raised.value)
        for part in (
            "RESCALEINV_DATA is not set",
            "indian_liver_patient.csv",
            "OpenML data set 1480 could not be read (OSError: no network here)",
            "https://archive.ics.uci.edu/dataset/225/",
            "+1 = not a liver patient",
        ):
            assert part in message

    def test_message_names_the_file_that_was_looked_for(self, folder):
        with pytest.raises(DatasetUnavailableError) as raised:
            load("sonar")
        assert f"there is no file {folder / 'sonar.csv'}" in str(raised.value)

    @pytest.mark.parametrize("change", ["rows", "columns", "classes", "text", "nothing"])
    def test_changed_format(self, monkeypatch, change):
        frame, target = liver_frame(582 if change == "rows" else 583)
        if change == "columns":
            frame = frame.drop(columns="V5")
        elif change == "classes":
            target = target.map({"1": "yes", "2": "no"})
        elif change == "text":
            frame["V3"] = "high"
        elif change == "nothing":
            frame = None
        serve(monkeypatch, frame, target)
        with pytest.raises(DatasetUnavailableError, match="OpenML data set 1480 could not be read") as raised:
            load("indian_liver_patient")
        assert raised.value.__cause__ is not None

    @pytest.mark.parametrize("name", ["bupa_liver", "credit_g_numeric", "vowel"])
    def test_sets_without_a_copy(self, name):
        with pytest.raises(DatasetUnavailableError, match=rf"{name}\.csv.*no copy that fits.*archive\.ics\.uci\.edu"):
            load(name)


def test_unknown_name():
    with pytest.raises(DatasetUnavailableError, match="there is no data set 'iris'") as raised:
        load("iris")
    for name in (*SHIPPED, *OTHERS):
        assert name in str(raised.value)


def test_available(folder):
    (folder / "sonar.csv").write_text("b1,label\n0.5,M\n")
    places = available()
    assert set(places) == {*SHIPPED, *OTHERS}
    assert {name for name, place in places.items() if place == "shipped"} == set(SHIPPED)
    assert {name for name, place in places.items() if place == "RESCALEINV_DATA"} == {
        "sonar",
        "bupa_liver",
        "credit_g_numeric",
        "vowel",
    }
    assert set(places.values()) == {"shipped", "RESCALEINV_DATA", "openml"}


def test_import_does_not_bring_in_scikit_learn():
    program = "import sys, rescaleinv.datasets as d; d.load('fertility'); sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
