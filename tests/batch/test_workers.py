"""The processes of a run: one that is killed, one that fails, and none that outlives the run."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from batch_runs import NAMES, contents

import rescaleinv
from rescaleinv import BatchError, InputError, RescaleInvariantSVC, certify_files
from rescaleinv.batch import streams, workers


def test_a_helper_that_is_killed_ends_the_run_which_can_go_on(model, inputs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    certify_files(model, inputs, tmp_path / "one go", chunk_rows=10)
    real = workers._part_with_stored_model

    def deadly(task):
        if os.getpid() != task.owner:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(task)

    with monkeypatch.context() as patch:
        patch.setattr(workers, "_part_with_stored_model", deadly)
        with pytest.raises(BatchError, match="a process was killed, perhaps because memory ran out"):
            certify_files(model, inputs, out, chunk_rows=10, n_jobs=2)
    certify_files(model, inputs, out, chunk_rows=10)
    assert contents(out) == contents(tmp_path / "one go")


def test_an_error_in_a_helper_is_told_as_it_is(model, points, tmp_path):
    text = points[NAMES].astype(str)
    text.loc[200, "size"] = "large"
    text.to_csv(tmp_path / "points.csv", index=False)
    with pytest.raises(InputError, match=r"points\.csv has 'large' in row 201, column 'size'"):
        certify_files(model, tmp_path / "points.csv", tmp_path / "out", chunk_rows=10, n_jobs=2)


ORPHAN = """
import os, sys, time
from loky import ProcessPoolExecutor
from rescaleinv.batch import workers

def stay(owner):
    workers._end_with(owner)
    print(os.getpid(), flush=True)
    time.sleep(30)
    print("still there", flush=True)
    os._exit(0)  # so that this ends if it fails

ProcessPoolExecutor(1).submit(stay, os.getpid())
time.sleep(600)
"""


def test_helpers_do_not_outlive_a_killed_run():
    environment = {**os.environ, "PYTHONPATH": str(Path(rescaleinv.__file__).parent.parent)}
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, env=environment, text=True) as parent:
        assert int(parent.stdout.readline()) != parent.pid
        parent.kill()
        # the pipe ends when nobody holds it any more, neither the parent nor the helper
        assert parent.stdout.read() == ""


def test_helpers_watch_the_process_that_they_work_for(monkeypatch):
    watched = []
    monkeypatch.setattr(workers, "_end_with", watched.append)
    monkeypatch.setattr(workers, "_stored_model", lambda folder, run: None)
    monkeypatch.setattr(workers, "make_part", lambda task, model: None)
    task = workers.Task("", "", 0, (), streams.Columns(()), os.getpid())
    workers._part_with_stored_model(task)
    assert watched == []
    workers._part_with_stored_model(replace(task, owner=os.getppid()))
    assert watched == [os.getppid()]


def test_verdicts_of_a_chunk_are_those_of_the_model_and_rows_without_a_value_are_unknown(model, points):
    matrix = points[NAMES][:40].to_numpy(dtype=float)
    expected = model.certify(points[NAMES][:40])
    whole = workers.verdict_columns(model, matrix)
    assert tuple(whole) == workers.VERDICT_COLUMNS
    assert whole["code"].tolist() == expected.code.tolist()
    np.testing.assert_array_equal(whole["lower"], expected.lower)
    matrix = matrix.copy()  # the engine keeps the other
    matrix[3, 1], matrix[7, 0] = np.nan, np.inf
    holes = workers.verdict_columns(model, matrix)
    assert holes["code"][[3, 7]].tolist() == [2, 2]
    assert holes["reason"][[3, 7]].tolist() == ["a value is missing", "a value is infinite or beyond 1e+150"]
    others = np.delete(np.arange(40), [3, 7])
    assert holes["code"][others].tolist() == expected.code[others].tolist()
    none = workers.verdict_columns(model, np.full((2, 4), np.nan))
    assert none["code"].tolist() == [2, 2]


@pytest.mark.parametrize("n_processes", [1, 2])
def test_every_part_is_made_once(monkeypatch, n_processes):
    """Two tasks and two processes are at most one helper; here its pool is one of threads."""
    made = []

    def make(task):
        made.append(task.number)
        return task.number

    class Pool(ThreadPoolExecutor):
        def shutdown(self, kill_workers):
            assert kill_workers
            super().shutdown()

    monkeypatch.setattr(workers, "_part_with_stored_model", make)
    monkeypatch.setattr("loky.ProcessPoolExecutor", Pool)
    tasks = [workers.Task("", "", number, (), streams.Columns(()), os.getpid()) for number in range(9)]
    assert sorted(workers.on_this_machine(tasks, n_processes)) == list(range(9))
    assert sorted(made) == list(range(9))
    assert list(workers.on_this_machine([], n_processes)) == []


def test_names_of_features_are_those_of_the_fit(model, table):
    assert workers.feature_names(model) == NAMES
    nameless = RescaleInvariantSVC().fit(table[NAMES][:16].to_numpy(), table["label"][:16])
    assert workers.feature_names(nameless) is None
