"""``rescaleinv fit``, ``radius`` and ``batch``: a model in a file, and what the commands make of it."""

import json

import numpy as np
import pandas as pd
import pytest

from rescaleinv import RescaleInvariantSVC
from rescaleinv.cli.main import main

TRAIN = pd.DataFrame(
    {"id": range(4), "age": [-1, 5, 1.4, 1], "size": [5, -1, 1.4, 1], "ill": ["yes", "yes", "yes", "no"]}
)
POINTS = pd.DataFrame({"id": ["a", "b", "c", "d"], "age": [-1, 4, 0, None], "size": [4, 4, 0, 1]})


@pytest.fixture
def folder(tmp_path):
    TRAIN.to_csv(tmp_path / "train.csv", index=False)
    POINTS.to_csv(tmp_path / "points.csv", index=False)
    return tmp_path


@pytest.fixture
def model(folder, capsys):
    arguments = [
        "fit",
        str(folder / "train.csv"),
        "--label",
        "ill",
        "--ignore",
        "id",
        "--out",
        str(folder / "model.npz"),
    ]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "hard margin" in said
    assert "ill yes is positive; features: age, size" in said
    return folder / "model.npz"


def test_the_model_is_that_of_python(model):
    loaded = RescaleInvariantSVC.load(model)
    expected = RescaleInvariantSVC().fit(TRAIN[["age", "size"]], TRAIN["ill"])
    assert loaded.classes_.tolist() == ["no", "yes"]
    assert list(loaded.feature_names_in_) == ["age", "size"]
    np.testing.assert_array_equal(loaded.coef_, expected.coef_)
    assert loaded.certify(POINTS[["age", "size"]][:3]).code.tolist() == [0, 1, -1]


def test_margin_range_and_weights_are_taken(folder, capsys):
    path = folder / "soft.npz"
    arguments = ["--C", "2", "--scale-range", "4", "--class-weight", '{"no": 3}', "--group", "age,size", "--quiet"]
    assert (
        main(["fit", str(folder / "train.csv"), "--label", "ill", "--ignore", "id", "--out", str(path), *arguments])
        == 0
    )
    assert capsys.readouterr().out == ""
    loaded = RescaleInvariantSVC.load(path)
    assert (loaded.C, loaded.class_weight) == (2.0, {"no": 3.0, "yes": 1.0})
    assert loaded.groups == {"age": "age,size", "size": "age,size"}
    assert loaded.scale_range == 4


def test_radius_writes_a_row_per_point(model, folder, capsys):
    out = folder / "radii.csv"
    assert main(["radius", str(model), str(folder / "points.csv"), "--keep", "id", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "2 of 4 labels hold if each unit may be wrong by a factor of 10" in said
    assert "1 rows have a missing or too large value" in said
    table = pd.read_csv(out, keep_default_na=False, na_values={"certified": [""], "refuted": [""]})
    assert table["id"].tolist() == ["a", "b", "c", "d"]
    assert table["label"].tolist() == ["yes", "yes", "no", ""]
    expected = RescaleInvariantSVC.load(model).rescaling_radius(POINTS[["age", "size"]][:3])
    np.testing.assert_allclose(table[["certified", "refuted"]][:3].to_numpy(dtype=float), expected)
    assert table["reason"].tolist() == ["", "", "", "a value is missing"]


def test_batch_is_certify_files(model, folder, capsys):
    out = folder / "verdicts"
    arguments = ["batch", str(model), str(folder / "points.csv"), "--keep", "id", "--out", str(out), "--jobs", "1"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "4 points: 1 strongly negative, 1 neutral, 1 strongly positive, 1 unknown" in said
    assert pd.read_parquet(out)["code"].tolist() == [0, 1, -1, 2]
    assert main(arguments) == 0  # goes on, with nothing left to do
    assert main([*arguments, "--chunk-rows", "2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", ["radius", "batch"])
def test_what_is_not_a_model_is_one_line(command, folder, capsys):
    arguments = [command, str(folder / "train.csv"), str(folder / "points.csv")]
    if command == "batch":
        arguments += ["--out", str(folder / "out")]
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("rescaleinv: error: ")
    assert error.count("\n") == 1


def test_a_table_without_the_features_is_refused(model, folder, capsys):
    POINTS[["id", "age"]].to_csv(folder / "short.csv", index=False)
    assert main(["radius", str(model), str(folder / "short.csv")]) == 2
    assert "has no column 'size'" in capsys.readouterr().err


def test_json_on_standard_output(model, folder, capsys):
    assert main(["radius", str(model), str(folder / "points.csv"), "--format", "json"]) == 0
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert [row["label"] for row in rows] == ["yes", "yes", "no", ""]
    assert rows[3]["certified"] is None
    assert "labels hold" in captured.err
