"""``rescaleinv diagnose`` on tables in files: words, table, rows and picture, and its errors of one line."""

import warnings

import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rescaleinv.cli.main import main
from rescaleinv.datasets import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    data = load("penguins")
    table = pd.DataFrame(data.features, columns=list(data.feature_names))
    table.insert(0, "species", data.groups)
    table["sex"] = ["male" if label > 0 else "female" for label in data.labels]
    table[::2].to_csv(folder / "train.csv", index=False)
    test = table[1::2].reset_index(drop=True)
    test.loc[4, "body_mass_g"] = None
    test.to_csv(folder / "test.csv", index=False)
    return folder


def run(folder, *options):
    return main(["diagnose", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "sex", *options])


def test_words_table_rows_and_picture(folder, capsys):
    out, picture = folder / "rows.csv", folder / "causes.png"
    options = ["--by", "species", "--svm", "linearsvc-hinge", "--scalers", "raw", "standard"]
    assert run(folder, *options, "--out", str(out), "--picture", str(picture)) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "note: 1 of 166 rows have a missing or too large value" in shown.out
    # the labels are those of scikit-learn itself
    train, test = (pd.read_csv(folder / f"{name}.csv") for name in ("train", "test"))
    test = test.dropna()
    features = [name for name in train.columns if name not in ("species", "sex")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = [
            model.fit(train[features], train["sex"]).predict(test[features])
            for model in (
                LinearSVC(loss="hinge", random_state=0),
                make_pipeline(StandardScaler(), LinearSVC(loss="hinge", random_state=0)),
            )
        ]
    differ = int((labels[0] != labels[1]).sum())
    assert f"raw and standard: {differ} of 165 labels differ: " in shown.out
    assert "LinearSVC (raw) stopped at max_iter=1000" in shown.out
    rows = pd.read_csv(out)
    assert rows["row"].tolist() == (test.index + 1).tolist()
    assert rows["label, raw"].tolist() == labels[0].tolist()
    assert rows["cause, raw / standard"].notna().sum() == differ
    for species in ("Adelie", "Chinstrap", "Gentoo"):
        assert species in shown.out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("svm", ["svc", "nusvc", "linearsvc"])
def test_every_svm(folder, capsys, svm):
    assert run(folder, "--ignore", "species", "--svm", svm, "--scalers", "standard", "maxabs", "--nu", "0.4") == 0
    assert "standard and maxabs: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scalers", "raw", "raw"], "two different ones at least"),
        (["--ignore", "species", "--by", "nothing"], "nothing"),
        (["--picture", "causes.txt"], ".png"),
        (["--out", "rows.txt"], "rows.txt"),
        (["--ignore", "species", "--svm", "nusvc", "--nu", "0.999"], "can't be trained"),
        ([], "species"),
    ],
)
def test_errors_of_one_line(folder, capsys, options, message):
    assert run(folder, *options) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
