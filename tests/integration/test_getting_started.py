"""The page "Getting started" shows what the command prints."""

from pathlib import Path

import numpy as np
import pandas as pd

from rescaleinv.cli.main import main
from rescaleinv.datasets import load

PAGE = Path(__file__).parents[2] / "docs/getting_started.md"


def test_the_page_shows_what_certify_prints(tmp_path, capsys):
    features, labels, names = load("banknote")
    table = pd.DataFrame(features, columns=list(names))
    table["kind"] = np.where(labels > 0, "forged", "genuine")
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    table[::60].to_csv(train, index=False)
    table[7::40].to_csv(test, index=False)
    assert main(["certify", str(train), str(test), "--label", "kind", "--no-radius"]) == 0
    printed = capsys.readouterr().out.splitlines()
    shown = PAGE.read_text(encoding="utf-8").splitlines()
    assert len(printed) > 3
    for line in (*printed[:2], next(line for line in printed if line.startswith("35 points"))):
        assert line in shown
