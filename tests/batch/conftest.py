"""A model, points in files, and a finished run over them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from batch_runs import NAMES

from rescaleinv import RescaleInvariantSVC, certify_files
from rescaleinv.datasets import load


@pytest.fixture(scope="package")
def table():
    features, labels, _ = load("breast_cancer_wisconsin")
    frame = pd.DataFrame(np.asarray(features, dtype=float)[:, :4], columns=NAMES)
    return frame.assign(label=np.asarray(labels)).drop(index=12)  # without it the first rows are separable


@pytest.fixture(scope="package")
def model(table):
    return RescaleInvariantSVC().fit(table[NAMES][:16], table["label"][:16])


@pytest.fixture(scope="package")
def points(table):
    """Points with an identifier, and columns that a model must not mind."""
    frame = table[16:266][[*reversed(NAMES), "label"]].reset_index(drop=True)
    return frame.assign(id=[f"patient {i}" for i in frame.index])


@pytest.fixture
def inputs(tmp_path, points):
    """The points in three files: 100 rows as CSV, 30 and 120 as Parquet."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    points[:100].to_csv(folder / "a.csv", index=False)
    points[100:130].to_parquet(folder / "b.parquet", index=False)
    points[130:].to_parquet(folder / "c.parquet", index=False, row_group_size=50)
    return folder


@pytest.fixture
def run(model, inputs, tmp_path):
    """A finished run, and how to go on with it."""
    out = tmp_path / "out"
    go_on = partial(certify_files, model, inputs, out, chunk_rows=60)
    go_on()
    return out, go_on
