"""``rescaleinv audit`` on tables in files: what it prints and writes, and its errors of one line."""

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

from rescaleinv import scaling_audit
from rescaleinv.audit import audit_schema
from rescaleinv.cli.main import main
from rescaleinv.datasets import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    features, labels, names = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features[:, :5], columns=list(names[:5]))
    table["class"] = np.where(labels > 0, "benign", "malignant")
    table.insert(0, "patient", [f"nr {i}" for i in range(len(table))])
    table[:25].to_csv(folder / "train.csv", index=False)
    test = table[25:65].reset_index(drop=True)
    test.loc[3, "clump_thickness"] = np.nan
    test.loc[5, "class"] = "unsure"
    test.to_csv(folder / "test.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def expected():
    features, labels, names = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features[:, :5], columns=list(names[:5]))
    points = table[25:65].drop(index=28)
    truth = [None if i == 30 else label for i, label in enumerate(labels[:65], 0) if i >= 25 and i != 28]
    return scaling_audit(
        table[:25], labels[:25], points, truth, class_names=("malignant", "benign"), noun="tumours", most_radii=2
    )


def test_findings_table_and_page(folder, expected, capsys):
    page, out = folder / "audit.html", folder / "points.csv"
    arguments = ["audit", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "class", "--keep", "patient"]
    options = ["--positive", "benign", "--noun", "tumours", "--title", "A <b>", "--radii", "2", "--budget", "inf"]
    options += ["--html", str(page), "--out", str(out), "--json", str(folder / "audit.json")]
    assert main([*arguments, *options]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "1 of 40 rows of " in shown.out
    for finding in expected.findings:
        assert f"- {finding.text}\n" in shown.out
    assert "the 2 neutral tumours that were looked at closer" in shown.out
    assert page.resolve().as_uri() in shown.out
    document = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, audit_schema())
    written = pd.read_csv(out)
    assert [point["verdict"] for point in document["points"]] == written["verdict"].tolist()
    assert written["row"].tolist() == [i for i in range(1, 41) if i != 4]
    assert written["patient"].tolist() == [f"nr {i}" for i in range(25, 65) if i != 28]
    assert written["verdict"].tolist() == expected.to_frame()["verdict"].tolist()
    assert written["truth"].isna().sum() == 1
    source = page.read_text(encoding="utf-8")
    assert "<title>A &lt;b&gt;</title>" in source
    assert '<td class="text" data-label="patient">nr 26</td>' in source


def test_a_contradiction_is_exit_code_1(folder, monkeypatch, capsys):
    from rescaleinv.audit.scalings import ScalingResult

    monkeypatch.setattr(ScalingResult, "contradictions", lambda self, code: np.array([0]))
    arguments = [
        "audit",
        str(folder / "train.csv"),
        str(folder / "test.csv"),
        "--label",
        "class",
        "--ignore",
        "patient",
    ]
    assert main(arguments) == 1
    assert "Something is wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "klass"], "has no column 'klass'"),
        (["--label", "class"], "not of numbers"),
        (["--label", "class", "--keep", "patient", "--html", "no/such/page.html"], "there is no folder"),
        (["--label", "class", "--keep", "patient", "--out", "points.xlsx"], "must end in"),
        (["--label", "class", "--keep", "patient", "--html", "a.html", "--max-points", "0"], "--max-points 0"),
        (["--label", "class", "--keep", "patient", "--kappa", "0.5"], "kappa is 0.5"),
        (["--label", "class", "--keep", "patient", "--engine", "steam"], "the engine 'steam' is not known"),
    ],
)
def test_errors_are_one_line(folder, options, message, capsys):
    assert main(["audit", str(folder / "train.csv"), str(folder / "test.csv"), *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_a_table_without_a_usable_row(folder, tmp_path, capsys):
    test = pd.read_csv(folder / "test.csv")[3:4]
    test.to_csv(tmp_path / "test.csv", index=False)
    arguments = [
        "audit",
        str(folder / "train.csv"),
        str(tmp_path / "test.csv"),
        "--label",
        "class",
        "--keep",
        "patient",
    ]
    assert main(arguments) == 2
    assert "no row without a missing" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["audit", "certify"])
def test_figures_by_group(folder, command, capsys):
    table = pd.read_csv(folder / "test.csv")
    table["clinic"] = ["north", "south"] * 20
    table.to_csv(folder / "clinics.csv", index=False)
    arguments = [
        command,
        str(folder / "train.csv"),
        str(folder / "clinics.csv"),
        "--label",
        "class",
        "--ignore",
        "patient",
    ]
    assert main([*arguments, "--by", "clinic", *(["--radii", "0"] if command == "audit" else [])]) == 0
    shown = capsys.readouterr().out
    assert "north" in shown
    assert "south" in shown
    assert "ambiguity" in shown
    assert main([*arguments, "--by", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err
