"""``rescaleinv certify`` on tables in files: what it prints, writes and proves, and its errors of one line."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rescaleinv._util import tables
from rescaleinv.cli.main import main as whole_main
from rescaleinv.datasets import load
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.separability import separable_subset
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verify import main as verify


def main(arguments):
    """The command line without the search for radii, which has a test of its own."""
    return whole_main([*arguments, *(["--no-radius"] if arguments[0] == "certify" else [])])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    features, labels, names = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features, columns=list(names))
    table["class"] = np.where(labels > 0, "benign", "malignant")
    table[:20].to_csv(folder / "train.csv", index=False)
    table[20:80].to_csv(folder / "test.csv", index=False)
    table[20:80].drop(columns="class").to_parquet(folder / "test.parquet")
    return folder


@pytest.fixture(scope="module")
def expected():
    features, labels, _ = load("breast_cancer_wisconsin")
    found = separable_subset(TrainingSet(features[:20], labels[:20]))
    return ComplexEngine(found.training_set).certify(features[20:80])


def test_verdicts_of_a_table(folder, expected, capsys):
    out = folder / "out.csv"
    arguments = ["certify", str(folder / "train.csv"), str(folder / "test.parquet"), "--label", "class"]
    assert main([*arguments, "--positive", "benign", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    named = replace(expected, classes=("malignant", "benign"))
    assert captured.out.endswith(named.summary() + "\n")
    assert captured.err == ""
    written = pd.read_csv(out)
    assert written["code"].tolist() == expected.code.tolist()
    np.testing.assert_allclose(written["lower"], expected.lower)
    assert set(written["status"]) == {"certified", "computed"}


def test_the_second_class_in_sorted_order_is_positive_unless_told(folder, expected, capsys):
    assert main(["certify", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "class"]) == 0
    counts = expected.counts()
    shown = capsys.readouterr().out
    assert "malignant is positive, benign negative" in shown
    assert f"{counts['strongly negative']} malignant whatever the scaling" in shown


def test_everything_is_proved(folder, expected, capsys):
    proof, out = folder / "new" / "proof", folder / "out.parquet"
    arguments = ["certify", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "class"]
    assert main([*arguments, "--positive", "benign", "--proof", str(proof), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    named = replace(expected, classes=("malignant", "benign"))
    for kind, count in zip((1, -1, 0, 2), expected.counts().values(), strict=True):
        if count:
            assert f"{count} {named.words(kind).replace('depends', 'depend')}" in shown
            assert f"{count} proved" in shown
    assert "0 edges corrected" in shown
    assert set(pd.read_parquet(out)["status"]) == {"proved"}
    files = [str(proof / "complex.jsonl"), str(proof / "certificates.jsonl")]
    assert " ".join(files) in shown
    assert verify(files) == 0
    repeated = len(expected) - len(np.unique(expected.points, axis=0))  # one statement about equal rows
    assert repeated == 1
    words = f"{len(expected) + 1 - repeated} proved, 0 refused, {repeated} repeated\n"
    assert capsys.readouterr().out.endswith(words)


def test_a_limited_range_is_proved(folder, capsys):
    proof = folder / "limited"
    arguments = [
        "certify",
        str(folder / "train.csv"),
        str(folder / "test.csv"),
        "--label",
        "class",
        "--scale-range",
        "1.5",
    ]
    assert main([*arguments, "--positive", "benign", "--proof", str(proof)]) == 0
    shown = capsys.readouterr().out
    assert "engine gap" in shown
    assert "complex.jsonl" not in shown
    assert verify([str(proof / "certificates.jsonl")]) == 0
    assert "within the range" in capsys.readouterr().out


def test_rows_that_are_left_out_are_named(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "train.csv")
    opposite = table.iloc[[0]].assign(**{"class": "malignant" if table["class"][0] == "benign" else "benign"})
    pd.concat([table, opposite]).to_csv(tmp_path / "train.csv", index=False)
    arguments = ["certify", str(tmp_path / "train.csv"), str(folder / "test.csv"), "--label", "class"]
    assert main([*arguments, "--inconsistent", "drop"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("linear SVM, hard margin on 19 of 21 rows; malignant is positive, benign negative")
    assert second.startswith("note: 2 of 21 training rows were left out")
    assert "10% of the rows: a hard margin on the rest is pinned" in second


def test_rows_that_would_have_to_be_left_out_are_an_error_if_wished(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "train.csv")
    opposite = table.iloc[[0]].assign(**{"class": "malignant" if table["class"][0] == "benign" else "benign"})
    pd.concat([table, opposite]).to_csv(tmp_path / "train.csv", index=False)
    arguments = ["certify", str(tmp_path / "train.csv"), str(folder / "test.csv"), "--label", "class"]
    assert main([*arguments, "--inconsistent", "raise"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_answers_are_compared_with_the_truth_where_it_is_known(folder, expected, capsys):
    arguments = ["certify", str(folder / "train.csv"), "--label", "class", "--positive", "benign"]
    assert main([*arguments, str(folder / "test.csv"), "--report"]) == 0
    shown = capsys.readouterr().out
    truth = load("breast_cancer_wisconsin").labels[20:80]
    true_positive = int((expected.strongly_positive & (truth > 0)).sum())
    false_positive = int((expected.strongly_positive & (truth < 0)).sum())
    row = next(line for line in shown.splitlines() if line.startswith("strong verdicts"))
    assert row.split()[2:4] == [str(false_positive), str(true_positive)]
    assert "positive: 'benign'" in shown
    assert main([*arguments, str(folder / "test.parquet")]) == 0
    assert "PPV" not in capsys.readouterr().out


def test_certificates_of_the_neutral_points(folder, expected, capsys):
    file = folder / "neutral.jsonl"
    arguments = ["certify", str(folder / "train.csv"), str(folder / "test.parquet"), "--label", "class"]
    assert main([*arguments, "--certificates", str(file), "--engine", "milp", "--time-limit", "inf"]) == 0
    capsys.readouterr()
    assert verify([str(file)]) == 0
    assert capsys.readouterr().out.endswith(f"{expected.neutral.sum()} proved, 0 refused\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train.csv", "test.csv", "--label", "klass"], "train.csv has no column 'klass'"),
        (["nothing.csv", "test.csv", "--label", "class"], "nothing.csv can't be read: No such file"),
        (
            ["train.csv", "test.xls", "--label", "class"],
            "test.xls: a table's name must end in .csv, .tsv, .txt or .parquet",
        ),
        (["train.csv", "empty.csv", "--label", "class"], "empty.csv is not a CSV table"),
        (["train.csv", "damaged.parquet", "--label", "class"], "damaged.parquet is not a PARQUET table"),
        (["train.csv", "narrow.csv", "--label", "class"], "narrow.csv has no column 'mitoses'"),
        (["train.csv", "test.csv", "--label", "clump_thickness", "--ignore", "clas"], "did you mean class?"),
        (["text.csv", "test.csv", "--label", "class"], "mitoses (the text 'few' only). Add --ignore mitoses"),
        (["holes.csv", "test.csv", "--label", "class"], "the label is missing in row 4"),
        (["train.csv", "test.csv", "--label", "class", "--positive", "green"], "--positive green: the labels are"),
        (["train.csv", "test.parquet", "--label", "class", "--report"], "--report: test.parquet has no column 'class'"),
        (["train.csv", "test.csv", "--label", "class", "--engine", "steam"], "the engine 'steam' is not known"),
        (["train.csv", "test.csv", "--label", "class", "--scale-range", "two"], "--scale-range two: a number (2)"),
        (
            ["train.csv", "test.csv", "--label", "class", "--scale-range", "2", "--engine", "milp"],
            "considers every rescaling",
        ),
        (["train.csv", "test.csv", "--label", "class", "--time-limit", "-1"], "time_limit is -1"),
        (["train.csv", "test.csv", "--label", "class", "--engine", "milp", "--proof", "p"], "can't prove strong"),
        (
            ["train.csv", "test.csv", "--label", "class", "--certificates", "no/such"],
            "no/such can't be written: there is no folder no",
        ),
        (
            ["train.csv", "test.csv", "--label", "class", "--out", "no/such/folder.csv"],
            "can't be written: there is no folder",
        ),
        (["train.csv", "test.csv", "--label", "class", "--out", "out.xlsx"], "must end in"),
        (["train.csv", "test.csv", "--label", "class", "--proof", "train.csv"], "can't be used as a folder"),
    ],
)
def test_bad_input_is_an_error_of_one_line(folder, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(folder)
    (folder / "empty.csv").write_text("")
    table = pd.read_csv(folder / "train.csv")
    table.assign(mitoses="few").to_csv(folder / "text.csv", index=False)
    table.assign(**{"class": table["class"].where(table.index != 3)}).to_csv(folder / "holes.csv", index=False)
    (folder / "damaged.parquet").write_bytes((folder / "test.parquet").read_bytes()[:100])
    pd.read_csv(folder / "test.csv").drop(columns="mitoses").to_csv(folder / "narrow.csv", index=False)
    assert main(["certify", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("rescaleinv: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_without_a_label_the_usage_is_shown(capsys):
    with pytest.raises(SystemExit) as end:
        main(["certify", "train.csv", "test.csv"])
    assert end.value.code == 2
    assert "--label" in capsys.readouterr().err


def test_identifiers_are_kept_and_columns_ignored(folder, expected, tmp_path, capsys):
    """Row numbers that pandas wrote are no feature; a column to keep is none either, and is copied."""
    train, test = (pd.read_csv(folder / name) for name in ("train.csv", "test.csv"))
    for table, name in ((train, "train.csv"), (test, "test.csv")):
        table.insert(0, "patient", [f"no. {i}" for i in table.index])
        table["noise"] = np.arange(len(table)) ** 2
        table.to_csv(tmp_path / name)
    arguments = ["certify", str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--label", "class"]
    out = tmp_path / "out.csv"
    assert main([*arguments, "--positive", "benign", "--keep", "patient", "--ignore", "noise", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "a column without a name; it is taken for row numbers" in shown
    assert "features: clump_thickness, " in shown
    written = pd.read_csv(out)
    assert written["code"].tolist() == expected.code.tolist()
    assert written["patient"].tolist() == test["patient"].tolist()
    assert written["row"].tolist() == list(range(1, len(test) + 1))
    strong = written[written["verdict"] != "neutral"]
    assert (strong["label"] == np.where(strong["code"] > 0, "benign", "malignant")).all()


def test_a_row_with_a_hole_is_unknown_and_the_others_are_judged(folder, expected, tmp_path, capsys):
    test = pd.read_csv(folder / "test.csv")
    test.loc[3, "mitoses"] = np.nan
    test.loc[5, "bare_nuclei"] = 1e300
    test.loc[7, "class"] = None
    test.loc[8, "class"] = "healthy"
    test.to_csv(tmp_path / "test.csv", index=False)
    out = tmp_path / "out.csv"
    arguments = ["certify", str(folder / "train.csv"), str(tmp_path / "test.csv"), "--label", "class"]
    assert main([*arguments, "--positive", "benign", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "4 rows have no label of these two, or could not be judged" in shown
    assert "56 point(s)" in shown
    written = pd.read_csv(out)
    assert written["reason"][[3, 5]].tolist() == ["a value is missing", "a value is infinite or beyond 1e+150"]
    others = ~written.index.isin([3, 5])
    assert (written["code"][others] == expected.code[others]).all()
    assert (written["code"][~others] == 2).all()


def test_labels_are_taken_as_they_stand(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "train.csv")
    table["class"] = table["class"].map({"benign": "NA", "malignant": "01"})
    table.to_csv(tmp_path / "train.csv", index=False)
    arguments = ["certify", str(tmp_path / "train.csv"), str(folder / "test.parquet"), "--label", "class"]
    assert main([*arguments, "--positive", "01"]) == 0
    assert "class 01 is positive" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a,class\n0,1,x\n1,2,y\n", "has the column 'a' twice"),
        ("class,a,b\nx,0,1,2\ny,1,2,3\n", "is not a CSV table"),
        ("class\nx\ny\n", "has no features"),
    ],
)
def test_csv_files_that_would_be_misread(folder, tmp_path, capsys, text, message):
    path = tmp_path / "train.csv"
    path.write_text(text)
    assert main(["certify", str(path), str(folder / "test.csv"), "--label", "class"]) == 2
    assert message in capsys.readouterr().err


def test_an_interrupt_is_no_traceback(monkeypatch, capsys):
    def interrupted(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("rescaleinv.cli.certify.run_certify", interrupted)
    assert main(["certify", "a.csv", "b.csv", "--label", "c"]) == 130
    assert capsys.readouterr().err == "rescaleinv: interrupted\n"


# --- what is written, and where -------------------------------------------------------------------------------------

SMALL = "x,y,label\n-1,5,1\n5,-1,1\n1.4,1.4,1\n1,1,0\n"


@pytest.fixture
def small(tmp_path):
    (tmp_path / "train.csv").write_text(SMALL)
    (tmp_path / "test.csv").write_text("x,y,=id\n-1,4,=1+1\n4,4,@cmd\n0,0,plain\n1,1,-5\n")
    return tmp_path


def arguments(folder, *more):
    return ["certify", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "label", *more]


def test_identifiers_are_written_as_they_are_unless_formulas_are_to_be_escaped(small):
    out = small / "out.csv"
    assert main(arguments(small, "--keep", "=id", "--out", str(out))) == 0
    assert pd.read_csv(out, dtype=str)["=id"].tolist() == ["=1+1", "@cmd", "plain", "-5"]
    assert main(arguments(small, "--keep", "=id", "--out", str(out), "--escape-formulas")) == 0
    written = pd.read_csv(out, dtype=str)
    assert written["'=id"].tolist() == ["'=1+1", "'@cmd", "plain", "'-5"]
    assert written["lower"].astype(float).min() < 0  # numbers are numbers
    assert written["code"].tolist() == ["0", "1", "-1", "-1"]


def test_formulas_in_parquet_are_texts_like_any_other(small):
    out = small / "out.parquet"
    assert main(arguments(small, "--keep", "=id", "--out", str(out), "--escape-formulas")) == 0
    assert pd.read_parquet(out)["=id"].tolist() == ["=1+1", "@cmd", "plain", "-5"]


def one_line(capsys):
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.startswith("rescaleinv: error: ")
    assert err.count("\n") == 1
    return err


def test_places_that_can_not_be_written_to(small, capsys):
    (small / "folder.csv").mkdir()
    assert main(arguments(small, "--ignore", "=id", "--out", str(small / "folder.csv"))) == 2
    assert "can't be written" in one_line(capsys)
    assert main(arguments(small, "--certificates", str(small / "folder.csv"))) == 2
    assert "can't be written" in one_line(capsys)
    (small / "dangling").symlink_to(small / "nowhere")
    assert main(arguments(small, "--proof", str(small / "dangling"))) == 2
    assert "can't be used as a folder" in one_line(capsys)


def test_tables_that_can_not_be_read(small, capsys):
    (small / "folder.csv").mkdir()
    test = str(small / "test.csv")
    for train in (str(small / "folder.csv"), str(small / "nothing.csv")):
        assert main(["certify", train, test, "--label", "label"]) == 2
        assert "can't be read" in one_line(capsys)
    with pytest.raises(SystemExit) as ended:
        main(["certify", "a\0.csv", test, "--label", "label"])
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_column_names_of_mixed_types(small, capsys, monkeypatch):
    frame = pd.read_csv(small / "train.csv").rename(columns={"x": 0})
    for name in ("train.parquet", "test.parquet"):
        (small / name).touch()
    monkeypatch.chdir(small)
    monkeypatch.setattr(pd, "read_parquet", lambda path: frame.copy())  # some writers keep the types of names
    assert main(["certify", "train.parquet", "test.parquet", "--label", "label"]) == 0
    assert "features: 0, y" in capsys.readouterr().out


def test_a_range_that_is_nested_too_deeply(small, capsys):
    assert main(arguments(small, "--scale-range", "[" * 100_000)) == 2
    assert len(one_line(capsys)) < 400
    assert main(arguments(small, "--scale-range", '"15"')) == 2
    assert "neither a number" in one_line(capsys)


def test_integers_that_no_float_equals(small, capsys):
    (small / "test.csv").write_text(f"x,y\n1,2\n{2**53 + 1},1\n")
    assert main(arguments(small)) == 2
    assert str(2**53 + 1) in one_line(capsys)


def test_a_header_without_an_end(small, capsys, monkeypatch):
    monkeypatch.setattr(tables, "_LONGEST_HEADER", 100)
    (small / "test.csv").write_text("x," * 500)
    assert main(arguments(small)) == 2
    assert "its first line is longer than 100 characters" in one_line(capsys)


def test_how_far_labels_hold_comes_first(folder, tmp_path, capsys):
    out = tmp_path / "out.csv"
    pd.read_csv(folder / "test.csv")[:12].to_csv(tmp_path / "test.csv", index=False)
    arguments = ["certify", str(folder / "train.csv"), str(tmp_path / "test.csv"), "--label", "class", "--budget", "30"]
    assert whole_main([*arguments, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert " of 12 labels hold when every feature's scale changes by up to a factor of 4" in shown
    written = pd.read_csv(out)
    assert written.columns.tolist()[:4] == ["row", "truth", "label", "verdict"]
    strong = written["code"].isin([-1, 1])
    assert np.isposinf(written["holds up to"][strong]).all()
    assert (written["holds up to"] <= written["can change at"]).all()
    assert (written["holds up to"] >= 1).all()
    assert set(written["label"]) == {"benign", "malignant"}


def test_three_classes_have_sets(tmp_path, capsys):
    rows = [
        (x + dx, y + dy, name)
        for x, y, name in ((0, 0, "a"), (9, 0, "b"), (0, 9, "c"))
        for dx, dy in ((0, 0), (1, 0), (0, 1))
    ]
    pd.DataFrame(rows, columns=["x", "y", "kind"]).to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "test.csv").write_text("x,y,kind,id\n0,1,a,p\n8,1,b,q\n4,4,c,r\n,1,a,s\n")
    arguments = ["certify", str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--label", "kind"]
    assert whole_main([*arguments, "--keep", "id", "--out", str(tmp_path / "out.csv")]) == 0
    shown = capsys.readouterr().out
    assert "3 classes: a, b, c" in shown
    assert "4 points: 2 a whatever the scaling (50%), 1 b whatever the scaling (25%), 1 not decided (25%)" in shown
    written = pd.read_csv(tmp_path / "out.csv").fillna("")
    assert written["classes"].tolist()[:2] == ["a", "b"]
    assert written["id"].tolist() == ["p", "q", "r", "s"]
    assert written["reason"].tolist()[3] == "a value is missing"
    assert whole_main([*arguments, "--positive", "b", "--no-radius"]) == 0
    assert "b is positive, not b negative" in capsys.readouterr().out
    assert whole_main([*arguments, "--proof", str(tmp_path / "proof")]) == 2
    assert "--positive VALUE makes them two" in capsys.readouterr().err


@pytest.mark.parametrize("given", ["2", "[1, 1]", "[[1, 1], [0.5, 2]]"])
def test_a_limited_range_says_nothing_about_every_rescaling(tmp_path, capsys, given):
    (tmp_path / "train.csv").write_text("x,y,label\n-1,5,1\n5,-1,1\n1.4,1.4,1\n1,1,0\n")
    (tmp_path / "test.csv").write_text("x,y\n-1,4\n4,4\n0,0\n")
    tables = [str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--label", "label"]
    assert whole_main(["certify", *tables]) == 0
    assert "2 hold under every rescaling" in capsys.readouterr().out
    assert whole_main(["certify", *tables, "--scale-range", given]) == 0
    shown = capsys.readouterr().out
    assert "under every rescaling" not in shown
    assert ("of every feature but 1 (not rescaled)" in shown) == (given == "[[1, 1], [0.5, 2]]")
    assert ("up to a factor of 4" in shown) == (given != "[1, 1]")


def test_fixed_features_leave_the_others_a_range(tmp_path, capsys):
    (tmp_path / "train.csv").write_text("x,y,label\n-1,5,1\n5,-1,1\n1.4,1.4,1\n1,1,0\n")
    (tmp_path / "test.csv").write_text("x,y\n-1,4\n4,4\n0,0\n")
    tables = [str(tmp_path / "train.csv"), str(tmp_path / "test.csv"), "--label", "label"]
    assert main(["certify", *tables, "--fixed", "x"]) == 0
    assert "change by factors up to 4" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--group", "--groups"])
def test_groups_without_a_range(folder, capsys, option):
    """Every factor of each group: the output says so, and the certificates are about it."""
    names = pd.read_csv(folder / "train.csv").columns[:-1].tolist()
    proof = folder / f"groups{option}.jsonl"
    arguments = ["certify", str(folder / "train.csv"), str(folder / "test.csv"), "--label", "class", "--jobs", "1"]
    grouped = [option, ",".join(names[:4]), option, ",".join(names[4:])]
    assert whole_main([*arguments, *grouped, "--certificates", str(proof)]) == 0
    shown = capsys.readouterr().out
    assert "engine gap: every rescaling of 2 groups of features, each with one factor" in shown
    assert "features of a group share one factor" in shown
    assert "under every rescaling of the groups" in shown
    assert verify([str(proof)]) == 0
    asked = json.loads(proof.read_text().splitlines()[0])["evidence"]["range"]
    assert asked["groups"] == [0] * 4 + [1] * (len(names) - 4)
    assert asked["rescalings"] == [["0", None], ["1", "1"]]
