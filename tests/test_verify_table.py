"""``verify --points --verdicts``: is every row of a table of verdicts covered by a certificate, each row once?"""

import csv
import json
from fractions import Fraction

import certificate_corpus
import numpy as np
import pandas as pd
import pytest

from rescaleinv import RescaleInvariantSVC
from rescaleinv.cli.main import main as command
from rescaleinv.verify import main

STORED = certificate_corpus.stored()
# certificates of the paper's example, whose training set is the same under every rescaling and within a range
NAMES = {
    "every": [
        "example complex strongly negative",
        "example complex strongly positive",
        "example two-rescalings neutral",
    ],
    "range": [
        "hard cover strongly negative within the range",
        "hard cover strongly positive within the range",
        "hard two-labels neutral within the range",
    ],
}
CODES = {"strongly negative": -1, "strongly positive": 1, "neutral": 0}


class Folder:
    """Certificates, points and verdicts as files; the verdicts are true until a test changes them."""

    def __init__(self, path, scope):
        self.path = path
        self.contents = [STORED["certificates"][name]["content"] for name in NAMES[scope]]
        self.points = [[str(float(x)) for x in map(Fraction, content["point"])] for content in self.contents]
        self.verdicts = [content["claim"].removesuffix(" within the range") for content in self.contents]
        self.columns = {"verdict": self.verdicts, "code": [CODES[words] for words in self.verdicts]}
        self.header = ["a", "b"]
        (path / "complex.jsonl").write_text(STORED["complexes"]["example"], encoding="ascii")
        training = json.dumps(self.contents[0]["training"])
        (path / "rows.json").write_text(training, encoding="ascii")

    def write(self):
        lines = map(certificate_corpus.as_text, self.contents)
        (self.path / "certificates.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
        with open(self.path / "points.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.header, *self.points])
        with open(self.path / "verdicts.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(self.columns), *zip(*self.columns.values(), strict=True)])

    def verify(self, *options):
        self.write()
        files = [str(self.path / name) for name in ("complex.jsonl", "certificates.jsonl")]
        tables = ["--points", str(self.path / "points.csv"), "--verdicts", str(self.path / "verdicts.csv")]
        return main([*files, *tables, *options])


@pytest.fixture(params=NAMES)
def folder(request, tmp_path):
    return Folder(tmp_path, request.param)


def test_a_table_that_is_covered(folder, capsys):
    assert folder.verify() == 0
    shown = capsys.readouterr().out
    assert "verdicts.csv: proved: 3 of 3 verdicts are covered, each row once; training " in shown
    assert "; row 2, point (" in shown
    assert folder.verify("--training", str(folder.path / "rows.json"), "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_one_of_two_columns_is_enough(folder):
    for name in ("code", "verdict"):
        column = folder.columns.pop(name)
        assert folder.verify() == 0
        folder.columns[name] = column
    folder.columns = {"row": [1, 2, 3], "label": ["", "x", "y"], **folder.columns}
    assert folder.verify() == 0


def test_a_verdict_that_no_certificate_proves(folder, capsys):
    for row, other in ((0, "neutral"), (1, "strongly negative"), (2, "strongly positive")):
        true = folder.verdicts[row]
        folder.columns["verdict"][row], folder.columns["code"][row] = other, CODES[other]
        assert folder.verify() == 1
        shown = capsys.readouterr().out
        assert f"row {row + 1} says {other}, but what was proved of it is {true}" in shown
        assert "verdicts.csv: REFUSED: 1 of 3 verdicts are not covered" in shown
        folder.columns["verdict"][row], folder.columns["code"][row] = true, CODES[true]
    assert folder.verify() == 0


def test_a_certificate_that_is_missing_or_refused(folder, capsys):
    gone = folder.contents.pop(1)
    assert folder.verify() == 1
    assert "row 2 says strongly positive, but no certificate of its point was proved" in capsys.readouterr().out
    folder.contents.insert(1, {**gone, "claim": "strongly negative"})
    assert folder.verify() == 1
    shown = capsys.readouterr().out
    assert "certificates.jsonl:2: REFUSED" in shown
    assert "row 2 says strongly positive, but no certificate of its point was proved" in shown


def test_unknown_rows_claim_nothing(folder, capsys):
    folder.points.append(["", "7"])
    folder.columns["verdict"].append("unknown")
    folder.columns["code"].append(2)
    assert folder.verify() == 0
    assert "3 of 4 verdicts are covered, each row once (1 are unknown and claim nothing)" in capsys.readouterr().out
    folder.columns["verdict"][3], folder.columns["code"][3] = "neutral", 0  # of a point with a missing value
    assert folder.verify() == 1


def test_equal_points_share_a_certificate(folder, capsys):
    folder.points.append(folder.points[0])
    folder.columns["verdict"].append(folder.verdicts[0])
    folder.columns["code"].append(CODES[folder.verdicts[0]])
    assert folder.verify() == 0
    assert "; row 1, row 4, point (" in capsys.readouterr().out


def test_each_row_once(folder, capsys):
    for rows, message in (
        ([1, 2, 2], "row '2' is listed twice"),
        ([1, 2, 4], "row 3 is missing: there are 3 points"),
        ([2, 3, 4], "the rows are numbered from 2; the first ones are missing"),
    ):
        folder.columns["row"] = rows
        assert folder.verify() == 1
        assert message in capsys.readouterr().out
    folder.columns["row"] = [0, 1, 2]
    assert folder.verify() == 0
    # another order, said so by the numbers
    folder.columns = {name: [values[k] for k in (2, 0, 1)] for name, values in folder.columns.items()}
    assert folder.verify() == 0
    del folder.columns["row"]
    assert folder.verify() == 1
    capsys.readouterr()


def test_rows_with_names_are_taken_in_order(folder, capsys):
    folder.columns["row"] = ["p", "q", "r"]
    assert folder.verify() == 0
    assert "; row q, point (" in capsys.readouterr().out
    folder.columns["row"] = ["p", "q", "p"]
    assert folder.verify() == 1
    assert "row 'p' is listed twice" in capsys.readouterr().out
    folder.columns["row"] = ["p", "q", "r"]
    folder.columns["code"][:2] = folder.columns["code"][1::-1]
    folder.columns["verdict"][:2] = folder.columns["verdict"][1::-1]
    assert folder.verify() == 1
    capsys.readouterr()


def test_words_may_name_the_classes_where_there_are_codes(folder, capsys):
    folder.columns["verdict"] = ["benign whatever the scaling"] * 3
    assert folder.verify() == 0
    del folder.columns["code"]
    assert folder.verify() == 2
    capsys.readouterr()


def test_too_many_or_too_few_verdicts(folder, capsys):
    folder.points.append(["0.5", "0.5"])
    assert folder.verify() == 1
    assert "row 4 is missing: there are 4 points" in capsys.readouterr().out
    del folder.points[2:]
    assert folder.verify() == 1
    assert "3 verdicts are listed for 2 points" in capsys.readouterr().out


def test_certificates_of_different_questions_do_not_make_one_table(tmp_path, capsys):
    """A verdict about every rescaling is not proved by a certificate of a range, and the range may be [1, 1]."""
    folder = Folder(tmp_path, "every")
    wide = Folder(tmp_path, "range").contents[1]
    span = {**wide["evidence"]["range"], "rescalings": [["1", "1"]] * 2}
    narrow = {**wide, "evidence": {**wide["evidence"], "range": span}}
    folder.contents[1] = narrow
    folder.points[1] = Folder(tmp_path, "range").points[1]
    assert folder.verify() == 1
    assert "the certificates answer 2 different questions" in capsys.readouterr().out
    wider = {**narrow["training"], "left_out": 5}
    folder.contents = [narrow, {**narrow, "training": wider}]  # what is said to be left out is no part of the question
    folder.points = [folder.points[1]]
    folder.columns = {"code": [1]}
    assert folder.verify() == 0


def test_columns_beside_the_features(folder, capsys):
    folder.header = ["b", "id", "a"]
    folder.points = [[b, f"p{k}", a] for k, (a, b) in enumerate(folder.points)]
    assert folder.verify() == 1
    assert "name these with --features" in capsys.readouterr().out
    assert folder.verify("--features", "a,b") == 0
    assert folder.verify("--features", "b,a") == 1  # other points
    capsys.readouterr()
    for names in ("a,c", ""):
        assert folder.verify("--features", names) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_values_are_what_the_field_says_or_the_nearest_float(tmp_path):
    folder = Folder(tmp_path, "every")
    point = folder.contents[1]["point"]
    for text, exact in (
        ("9.1", "91/10"),
        ("9.1", str((9.1).as_integer_ratio()[0]) + "/" + str((9.1).as_integer_ratio()[1])),
    ):
        folder.contents[1] = {**folder.contents[1], "point": [exact, point[1]]}
        folder.points[1][0] = text
        assert folder.verify("--quiet") == 0
    folder.contents[1] = {**folder.contents[1], "point": ["9100000000000000000001/1000000000000000000000", point[1]]}
    assert folder.verify("--quiet") == 1  # the nearest float is the same, but neither reading is this number


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("points.csv", "a,b\n1,2,3\n"),
        ("points.csv", "a,a\n1,2\n"),
        ("points.csv", ""),
        ("points.csv", "a,b\n\x00,1\n1," + "9" * 200_000),
        ("verdicts.csv", "x,y\n1,2\n"),
        ("verdicts.csv", "code\n3\n"),
        ("verdicts.csv", "verdict\nmaybe\n"),
        ("verdicts.csv", "verdict,code\nneutral,1\n"),
        ("verdicts.csv", "input,row,code\np,0,1\nq,0,1\n"),
        ("verdicts.csv", "PAR1"),
    ],
)
def test_tables_that_can_not_be_read(folder, capsys, name, content):
    folder.write()
    (folder.path / name).write_text(content)
    tables = ["--points", str(folder.path / "points.csv"), "--verdicts", str(folder.path / "verdicts.csv")]
    assert main([str(folder.path / "certificates.jsonl"), *tables]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("rescaleinv verify: error: ")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("options", [["--points", "p.csv"], ["--verdicts", "v.csv"], ["--features", "a"]])
def test_options_that_belong_together(options, capsys):
    with pytest.raises(SystemExit) as end:
        main(["x", *options])
    assert end.value.code == 2
    capsys.readouterr()


def test_what_certify_writes_is_covered(tmp_path, capsys):
    """The whole way: two CSV tables in, verdicts and proofs out, the table checked against them."""
    rows, labels = certificate_corpus.EXAMPLE
    train = pd.DataFrame(rows, columns=["a", "b"]).assign(kind=np.where(np.array(labels) > 0, "yes", "no"))
    train.to_csv(tmp_path / "train.csv", index=False)
    grid = [[a / 3, b / 10] for a in range(-6, 9, 2) for b in range(-20, 60, 13)]
    test = pd.DataFrame([*grid, [None, 1]], columns=["a", "b"])
    test.to_csv(tmp_path / "test.csv", index=False)
    paths = [str(tmp_path / name) for name in ("train.csv", "test.csv")]
    proof = ["--proof", str(tmp_path / "proof"), "--out", str(tmp_path / "out.csv")]
    assert command(["certify", *paths, "--label", "kind", *proof]) == 0
    capsys.readouterr()
    files = [str(tmp_path / "proof" / name) for name in ("complex.jsonl", "certificates.jsonl")]
    tables = ["--points", paths[1], "--verdicts", str(tmp_path / "out.csv")]
    assert command(["verify", *files, *tables]) == 0
    n = len(grid)
    assert f"proved: {n} of {n + 1} verdicts are covered, each row once (1 are unknown" in capsys.readouterr().out
    # the same from Python
    model = RescaleInvariantSVC(engine="complex").fit(rows, labels)
    model.prove(tmp_path / "complex.jsonl")
    verdicts = model.certify(grid).prove(tmp_path / "points.jsonl")
    verdicts.to_frame().to_csv(tmp_path / "frame.csv")
    test[:-1].to_csv(tmp_path / "grid.csv", index=False)
    files = [str(tmp_path / name) for name in ("complex.jsonl", "points.jsonl")]
    tables = ["--points", str(tmp_path / "grid.csv"), "--verdicts", str(tmp_path / "frame.csv")]
    assert main([*files, *tables]) == 0
    assert f"proved: {n} of {n} verdicts are covered" in capsys.readouterr().out
