"""A seeded fuzzer of the command line and of every file that is read: done, or one line and exit code 2."""

import json
import random
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from rescaleinv import InputError, RescaleInvariantSVC, RescaleInvError, certify_files
from rescaleinv.cli.main import main

TRAIN = pd.DataFrame([[-1.0, 5, 1], [5, -1, 1], [1.4, 1.4, 1], [1, 1, 0]], columns=["x", "y", "label"])
TEST = pd.DataFrame([[-1.0, 4], [4, 4], [0, 0]], columns=["x", "y"])
ROUNDS = 60

BYTES = [
    b"\0",
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\xff",
    b"\xef\xbb\xbf",
    b"nan",
    b"1e999",
    b"-",
    b"9" * 400,
    b"=1",
    b"\x1b[2J",
]


def mutated(content, rng):
    """The bytes with a few changes: some lost, some put in, some twice, some turned."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            del content[at : at + rng.randint(1, 20)]
        elif kind == 1:
            content[at:at] = rng.choice(BYTES)
        elif kind == 2:
            content[at:at] = content[at : at + rng.randint(1, 40)]
        elif kind == 3 and at < len(content):
            content[at] ^= 1 << rng.randrange(8)
        else:
            del content[at:]
    return bytes(content)


def run(arguments, capsys):
    """The exit code; whatever goes wrong must be one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = main(arguments)
        except SystemExit as end:  # argparse
            code = end.code
    captured = capsys.readouterr()
    assert code in (0, 2), captured.err
    assert "\x1b" not in captured.out + captured.err
    if code == 2 and not captured.err.startswith("usage"):
        assert captured.err.count("\n") == 1, captured.err
        assert captured.err.startswith("rescaleinv: error: ")
    return code


@pytest.fixture
def tables(tmp_path):
    TRAIN.to_csv(tmp_path / "train.csv", index=False)
    TEST.to_csv(tmp_path / "test.csv", index=False)
    TEST.to_parquet(tmp_path / "test.parquet", index=False)
    return tmp_path


@pytest.mark.parametrize("name", ["train.csv", "test.csv", "test.parquet"])
def test_damaged_tables(tables, capsys, name):
    rng = random.Random(name)
    whole = (tables / name).read_bytes()
    test = name if name.startswith("test") else "test.csv"
    arguments = ["certify", str(tables / "train.csv"), str(tables / test), "--label", "label"]
    codes = []
    for _ in range(ROUNDS):
        (tables / name).write_bytes(mutated(whole, rng))
        codes.append(run(arguments, capsys))
    assert codes.count(2) > ROUNDS // 5
    (tables / name).write_bytes(whole)
    assert run(arguments, capsys) == 0


VALUES = [
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "[",
    "[1, 1]",
    '"15"',
    "text",
    "x",
    "label",
    "auto",
    "gap",
    "none",
    "soft",
    "1",
    "4",
    "\x1b[2J",
    "9" * 50,
]
OPTIONS = ["--scale-range", "--engine", "--time-limit", "--positive", "--keep", "--ignore", "--inconsistent", "--out"]


def test_wild_arguments(tables, capsys, monkeypatch):
    monkeypatch.chdir(tables)
    rng = random.Random(1)
    codes = []
    for _ in range(ROUNDS):
        arguments = ["certify", "train.csv", rng.choice(["test.csv", "test.parquet"]), "--label", "label"]
        for _ in range(rng.randint(1, 3)):
            arguments += [rng.choice(OPTIONS), rng.choice(VALUES)]
        codes.append(run(arguments, capsys))
    # nearly all of these are mistakes; what is none is done
    sound = ["certify", "train.csv", "test.csv", "--label", "label", "--scale-range", "[1, 1]", "--time-limit", "inf"]
    assert run(sound, capsys) == 0
    assert 2 in codes


def test_damaged_models(tmp_path):
    model = RescaleInvariantSVC().fit(TRAIN[["x", "y"]], TRAIN["label"]).precompute()
    expected = model.certify(TEST).code
    path = tmp_path / "model"
    model.save(path)
    whole, rng, refused = path.read_bytes(), random.Random(2), 0
    for _ in range(ROUNDS):
        path.write_bytes(mutated(whole, rng))
        try:
            loaded = RescaleInvariantSVC.load(path)
        except InputError:
            refused += 1
        else:  # a byte that nobody reads
            np.testing.assert_array_equal(loaded.certify(TEST).code, expected)
    assert refused > ROUNDS // 2


@pytest.mark.parametrize("which", ["run.json", "part-00000000.json", "model.npz"])
def test_damaged_run_folders(tables, which):
    """What a run finds of an earlier one is used as it was, or refused in one line."""
    model = RescaleInvariantSVC().fit(TRAIN[["x", "y"]], TRAIN["label"])
    out = tables / "out"
    summary = certify_files(model, tables / "test.csv", out)
    path = out / "_run" / which
    whole, rng = path.read_bytes(), random.Random(which)
    nested = [json.dumps({"digest": "x"}).encode(), b"[" * 50_000, b"null", b"[]", b'{"digest": 5}', b"\xff\xfe"]
    for content in [*nested, *(mutated(whole, rng) for _ in range(ROUNDS // 3))]:
        path.write_bytes(content)
        with suppress(RescaleInvError):
            assert certify_files(model, tables / "test.csv", out) == summary
    path.write_bytes(whole)
    assert certify_files(model, tables / "test.csv", out) == summary
