"""Runs over files and on Dask: the verdicts of the estimator, whatever is killed on the way."""

import json
import multiprocessing
import os
import signal
import sys
import time
from functools import partial
from multiprocessing import forkserver
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from batch_runs import NAMES, contents, fragments

import rescaleinv
from rescaleinv import InputError, RescaleInvariantSVC, Verdict, batch, certify, certify_dask, certify_files
from rescaleinv.batch import csv_groups, streams, workers
from rescaleinv.batch.manifest import RunFolder

PATIENCE = 120  # seconds until a process that should have done something counts as stuck


# --- the result -----------------------------------------------------------------------------------------------------


def test_the_verdicts_are_those_of_the_estimator(model, inputs, points, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_ROWS_AT_A_TIME", 7)  # a chunk is read in several steps
    monkeypatch.setattr(csv_groups, "GROUP_ROWS", 9)
    summary = certify_files(model, inputs, tmp_path / "out", keep=["id"], chunk_rows=60)
    found = pd.read_parquet(tmp_path / "out")
    wanted = model.certify(points[NAMES])
    assert list(found.columns) == ["input", "row", "id", *workers.VERDICT_COLUMNS]
    assert found["input"].tolist() == ["a.csv"] * 100 + ["b.parquet"] * 30 + ["c.parquet"] * 120
    assert found["row"].tolist() == [*range(1, 101), *range(1, 31), *range(1, 121)]
    assert found["label"].tolist() == [str(label) for label in model.predict(points[NAMES])]
    assert found["verdict"].tolist() == wanted.to_frame()["verdict"].tolist()
    assert found["id"].tolist() == points["id"].tolist()
    for name in ("code", "lower", "upper", "status", "reason"):
        assert found[name].tolist() == getattr(wanted, name).tolist()
    assert len({*wanted.code.tolist()}) >= 3  # or this says little
    assert [path.name for path in summary.parts] == [f"part-0000000{k}.parquet" for k in range(5)]
    assert summary.rows == 250
    assert summary.counts == wanted.counts()


def test_the_columns_are_compact(model, inputs, tmp_path):
    certify_files(model, inputs, tmp_path / "out", chunk_rows=60)
    schema = pq.read_schema(tmp_path / "out" / "part-00000001.parquet")
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = [text, pa.int64(), text, text, pa.int8(), pa.float64(), pa.float64(), text, text]
    assert schema.types == kinds


def test_several_processes_write_the_same_bytes(model, inputs, tmp_path):
    alone = certify_files(model, inputs, tmp_path / "alone", keep=["id"], chunk_rows=10)
    together = certify_files(model, inputs, tmp_path / "together", keep=["id"], chunk_rows=10, n_jobs=2)
    assert contents(tmp_path / "together") == contents(tmp_path / "alone")
    assert (together.rows, together.counts) == (alone.rows, alone.counts)


def test_rows_without_a_usable_value_are_unknown_and_say_why(model, points, tmp_path):
    bad = points[NAMES].copy()
    bad.loc[3, "size"] = np.nan
    bad.loc[5, "clump"] = -np.inf
    bad.loc[6, "shape"] = 1e300
    bad.loc[7, ["clump", "shape"]] = np.nan, np.inf
    bad.to_parquet(tmp_path / "bad.parquet")
    bad.to_csv(tmp_path / "bad.csv", index=False)
    for name in ("bad.parquet", "bad.csv"):
        summary = certify_files(model, tmp_path / name, tmp_path / f"out {name}")
        found = pd.read_parquet(tmp_path / f"out {name}")
        assert summary.counts["unknown"] == 4
        reasons = found["reason"].astype(str)
        assert reasons[[3, 7]].tolist() == ["a value is missing"] * 2
        assert reasons[[5, 6]].str.startswith("a value is infinite or beyond").all()
        assert found["lower"].isna().tolist() == found["upper"].isna().tolist() == (found["code"] == 2).tolist()
        good = np.setdiff1d(np.arange(len(points)), [3, 5, 6, 7])
        assert found["code"][good].tolist() == model.certify(points[NAMES].iloc[good]).code.tolist()


def test_a_chunk_may_have_no_usable_row(model, tmp_path):
    pd.DataFrame(np.full((5, 4), np.nan), columns=NAMES).to_csv(tmp_path / "none.csv", index=False)
    summary = certify_files(model, tmp_path / "none.csv", tmp_path / "out", chunk_rows=2)
    assert summary.counts == {"strongly positive": 0, "strongly negative": 0, "neutral": 0, "unknown": 5}


def test_a_file_without_rows_among_others(model, points, tmp_path):
    points[:0].to_csv(tmp_path / "a.csv", index=False)
    points[:2].to_csv(tmp_path / "b.csv", index=False)
    assert certify_files(model, [tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "little").rows == 2


def test_a_model_without_names_takes_the_columns_in_their_order(table, points, tmp_path):
    model = RescaleInvariantSVC().fit(table[NAMES][:16].to_numpy(), table["label"][:16])
    points[["id", *NAMES]].to_csv(tmp_path / "points.csv", index=False)
    certify_files(model, tmp_path / "points.csv", tmp_path / "out", keep="id")
    found = pd.read_parquet(tmp_path / "out")
    assert found["code"].tolist() == model.certify(points[NAMES].to_numpy()).code.tolist()


def test_a_point_is_decided_by_milp_too(table, points, tmp_path):
    model = RescaleInvariantSVC(engine="milp").fit(table[NAMES][:16], table["label"][:16])
    points[:3].to_csv(tmp_path / "points.csv", index=False)
    certify_files(model, tmp_path / "points.csv", tmp_path / "out")
    assert pd.read_parquet(tmp_path / "out")["code"].tolist() == model.certify(points[NAMES][:3]).code.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["row"]}, r"keep is \['row'\]; names must differ"),
        ({"keep": ["id", "id"]}, "names must differ"),
        ({"chunk_rows": 0}, "chunk_rows is 0"),
        ({"n_jobs": 2, "scheduler": "tcp://127.0.0.1:1"}, "one of them is needed"),
    ],
)
def test_arguments_that_can_not_be(model, inputs, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        certify_files(model, inputs, tmp_path / "out", **options)


def test_only_the_estimator_itself_is_taken(inputs, tmp_path):
    from sklearn.linear_model import LogisticRegression

    for call in (certify_files, lambda model, *_: certify_dask(model, None)):
        with pytest.raises(
            InputError,
            match="or a pipeline that ends in one; LogisticRegression was given",
        ):
            call(LogisticRegression(), inputs, tmp_path / "out")


@pytest.mark.parametrize("steps", ["scaler", "imputer", "turned"])
def test_pipelines(table, inputs, points, tmp_path, steps):
    """Verdicts, labels and names of columns are those of the pipeline, on one process and on two."""
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    before = {"scaler": [StandardScaler()], "imputer": [SimpleImputer(), StandardScaler()], "turned": [PCA(3)]}[steps]
    labels = np.where(table["label"][:16] > 0, "ill", "well")
    pipeline = make_pipeline(*before, RescaleInvariantSVC()).fit(table[NAMES][:16], labels)
    holes = points[["id", *NAMES]].copy()
    holes.loc[5, NAMES[1]] = np.nan
    holes.loc[6, NAMES[0]] = np.inf
    holes.to_parquet(tmp_path / "holes.parquet")
    summary = certify_files(pipeline, tmp_path / "holes.parquet", tmp_path / "out", chunk_rows=100)
    found = pd.read_parquet(tmp_path / "out").set_axis(points.index)
    taken = points.index if steps == "imputer" else points.index.drop(5)
    taken = taken.drop(6)
    wanted = certify(pipeline, holes.loc[taken, NAMES])
    assert found.loc[taken, "code"].tolist() == wanted.code.tolist()
    assert found.loc[taken, "label"].tolist() == pipeline.predict(holes.loc[taken, NAMES]).tolist()
    assert found.loc[6, ["verdict", "label"]].tolist() == ["unknown", ""]
    assert (found.loc[5, "label"] == "") == (steps != "imputer")
    assert len({*wanted.code.tolist()}) >= 2
    search = GridSearchCV(pipeline, {}, cv=2)  # stands for its best estimator
    search.best_estimator_ = pipeline
    again = certify_files(search, tmp_path / "holes.parquet", tmp_path / "out", chunk_rows=100, n_jobs=2)
    assert again == summary
    pipeline[0].set_params(**({"copy": False} if steps != "turned" else {"whiten": True}))
    with pytest.raises(InputError, match="was made with another model"):
        certify_files(pipeline, tmp_path / "holes.parquet", tmp_path / "out", chunk_rows=100)


def test_inputs_are_not_looked_for_among_the_results(model, inputs):
    with pytest.raises(InputError, match="is in the folder of the results"):
        certify_files(model, inputs / "a.csv", inputs)


# --- going on with a run --------------------------------------------------------------------------------------------


def test_a_finished_run_writes_nothing_again(model, inputs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    first = certify_files(model, inputs, out, chunk_rows=60)
    monkeypatch.setattr(workers, "make_part", None)
    assert certify_files(model, inputs, out, chunk_rows=60) == first


def test_a_part_that_was_deleted_is_made_again_and_no_other(model, inputs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    certify_files(model, inputs, out, chunk_rows=60)
    before = contents(out)
    made = []
    real = workers.make_part
    monkeypatch.setattr(workers, "make_part", lambda task, model: made.append(task.number) or real(task, model))
    (out / "part-00000001.parquet").unlink()
    (out / "_run" / "part-00000003.json").unlink()
    certify_files(model, inputs, out, chunk_rows=60)
    assert made == [1, 3]
    assert contents(out) == before


def test_the_vertices_of_a_run_are_not_enumerated_again(model, inputs, tmp_path, table):
    out = tmp_path / "out"
    certify_files(model, inputs, out, chunk_rows=60)
    (out / "part-00000001.parquet").unlink()
    again = RescaleInvariantSVC(n_jobs=2).fit(table[NAMES][:16], table["label"][:16])
    certify_files(again, inputs, out, chunk_rows=60)
    assert again.engine_.made is None


def test_the_inputs_may_move_together(model, inputs, tmp_path):
    out = tmp_path / "out"
    certify_files(model, inputs, out, chunk_rows=60)
    (out / "part-00000001.parquet").unlink()
    inputs.rename(tmp_path / "moved")
    certify_files(model, tmp_path / "moved", out, chunk_rows=60)
    assert len(contents(out)) == 5


def test_inputs_without_any_rows(model, tmp_path):
    (tmp_path / "points.csv").write_text(",".join(NAMES) + "\n")
    with pytest.raises(InputError, match=r"there are no rows in points\.csv"):
        certify_files(model, tmp_path / "points.csv", tmp_path / "out")


def test_parameters_belong_to_the_model(run, table, inputs):
    out, _ = run
    other = RescaleInvariantSVC(max_vertices=10).fit(table[NAMES][:16], table["label"][:16])
    with pytest.raises(InputError, match="was made with another model"):
        certify_files(other, inputs, out, chunk_rows=60)


def test_another_version_of_the_package_is_refused(run, monkeypatch):
    _, go_on = run
    monkeypatch.setattr(batch, "__version__", "99")
    with pytest.raises(InputError, match=r"was made with package='.*', and now it is '99'"):
        go_on()


# --- killed ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick_start():
    """Processes that are forked from one that has loaded what is needed, so that many can be started and killed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warm_start"])
    with pytest.MonkeyPatch.context() as patch:
        # the process that is forked from finds modules by this only
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        forkserver.ensure_running()
    return context


def n_notes(out):
    return len(list(out.glob("_run/part-*.json")))


def until(condition, process):
    """Wait for a condition, or for the end of the process."""
    deadline = time.monotonic() + PATIENCE
    while not condition() and process.is_alive():
        assert time.monotonic() < deadline, "nothing happens any more"
        time.sleep(0.002)


def test_killed_twenty_times_and_still_the_same(model, inputs, tmp_path, quick_start):
    out = tmp_path / "killed"
    one_go = certify_files(model, inputs, tmp_path / "one go", keep=["id"], chunk_rows=2)
    model.precompute()
    rng = np.random.default_rng(5)
    kills = 0
    while kills < 20:
        before = n_notes(out)
        assert before < 125, "the run was over before it was killed often enough"
        process = quick_start.Process(
            target=certify_files, args=(model, inputs, out), kwargs={"keep": ["id"], "chunk_rows": 2}
        )
        process.start()
        # every third time before anything was done, perhaps
        until(lambda before=before, k=kills: n_notes(out) > before or k % 3 == 2, process)
        time.sleep(rng.uniform(0, 0.01))
        process.kill()
        process.join(PATIENCE)
        assert process.exitcode == -signal.SIGKILL
        kills += 1
    resumed = certify_files(model, inputs, out, keep=["id"], chunk_rows=2)
    assert contents(out) == contents(tmp_path / "one go")
    assert (resumed.rows, resumed.counts) == (one_go.rows, one_go.counts)
    assert not fragments(out)


def count_lines(call, at=lambda number: None):
    """How many lines of the modules that write were run; ``at`` is told the number of each before it is run."""
    package = Path(rescaleinv.__file__).parent
    homes = {str(path) for path in (*(package / "batch").glob("*.py"), package / "_util" / "files.py")}
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        if frame.f_code.co_filename not in homes:
            return None
        if event == "line":
            at(seen)
            seen += 1
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(previous)
    return seen


def run_until_line(last, *arguments, **options):
    def kill(number):
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)

    count_lines(partial(certify_files, *arguments, **options), kill)


def test_killed_at_any_line(model, inputs, tmp_path, quick_start):
    n_lines = count_lines(partial(certify_files, model, inputs, tmp_path / "one go", chunk_rows=100))
    wanted = contents(tmp_path / "one go")
    rng = np.random.default_rng(3)
    for line in sorted(rng.choice(n_lines, 8, replace=False).tolist()):
        out = tmp_path / f"killed at {line}"
        process = quick_start.Process(
            target=run_until_line, args=(line, model, inputs, out), kwargs={"chunk_rows": 100}
        )
        process.start()
        process.join(PATIENCE)
        assert process.exitcode == -signal.SIGKILL
        certify_files(model, inputs, out, chunk_rows=100)
        assert contents(out) == wanted
        assert not fragments(out)


# --- Dask -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes."""
    import dask
    from distributed import LocalCluster

    settings = {"distributed.comm.timeouts.connect": PATIENCE, "distributed.admin.large-graph-warning-threshold": "1GB"}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            scheduler_port=0,
            dashboard_address=None,
            memory_limit=None,
            timeout=PATIENCE,
        ) as made,
    ):
        yield made


def test_a_dask_cluster_one_of_whose_workers_is_killed(model, inputs, tmp_path, cluster, monkeypatch):
    certify_files(model, inputs, tmp_path / "one go", keep=["id"], chunk_rows=10)
    marker = tmp_path / "who was killed"
    real = workers.make_part

    def once_deadly(task, model):
        if task.number == 7 and not marker.exists():
            marker.write_text(str(os.getpid()), encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)
        return real(task, model)

    monkeypatch.setattr(workers, "make_part", once_deadly)
    before = {worker.pid for worker in cluster.workers.values()}
    summary = certify_files(
        model, inputs, tmp_path / "out", keep=["id"], chunk_rows=10, scheduler=cluster.scheduler_address
    )
    assert int(marker.read_text(encoding="utf-8")) in before
    assert contents(tmp_path / "out") == contents(tmp_path / "one go")
    assert summary.rows == 250


def test_a_client_is_used_and_left_open(model, inputs, tmp_path, cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False, timeout=PATIENCE) as client:
        summary = certify_files(model, inputs, tmp_path / "out", chunk_rows=100, scheduler=client)
        assert client.status == "running"
    assert summary.rows == 250


def test_an_error_on_dask_is_told_as_it_is(model, tmp_path, cluster):
    (tmp_path / "points.csv").write_text(",".join(NAMES) + "\n1,2,many,4\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"points\.csv has 'many' in row 1, column 'shape'"):
        certify_files(model, tmp_path / "points.csv", tmp_path / "out", scheduler=cluster.scheduler_address)


def test_no_scheduler_there(model, inputs, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "_SECONDS_FOR_DASK", 0.2)
    with pytest.raises(InputError, match="no Dask scheduler answers at 'tcp://"):
        certify_files(model, inputs, tmp_path / "out", scheduler="tcp://127.0.0.1:9")


def test_a_dask_data_frame(model, points, cluster):
    import dask.dataframe as dd
    from distributed import Client

    frame = points[["id", *reversed(NAMES)]].copy()
    frame.index = frame.index * 3
    frame.loc[9, "size"] = np.nan
    verdicts = certify_dask(model, dd.from_pandas(frame, npartitions=7))
    assert verdicts.npartitions == 7
    with Client(cluster, timeout=PATIENCE):
        found = verdicts.compute()
    assert found.index.tolist() == frame.index.tolist()
    assert found.dtypes.to_dict() == verdicts.dtypes.to_dict()
    assert found.loc[9, ["code", "reason"]].tolist() == [Verdict.UNKNOWN, "a value is missing"]
    rest = frame.drop(index=9)
    wanted = model.certify(rest[NAMES])
    for name in ("code", "lower", "upper", "status", "reason"):
        assert found.drop(index=9)[name].tolist() == getattr(wanted, name).tolist()


def test_a_dask_array(table, model, points):
    import dask.array as da

    unnamed = RescaleInvariantSVC().fit(table[NAMES][:16].to_numpy(), table["label"][:16])
    array = da.from_array(points[NAMES].to_numpy(), chunks=(100, 3))
    wanted = model.certify(points[NAMES]).code.tolist()
    for fitted in (model, unnamed):
        assert certify_dask(fitted, array)["code"].compute(scheduler="sync").tolist() == wanted


def test_partitions_without_rows(model, points):
    import dask.dataframe as dd

    frame = dd.from_pandas(points, npartitions=3)
    found = certify_dask(model, frame[frame["clump"] > 100]).compute(scheduler="sync")
    assert len(found) == 0
    assert list(found.columns) == list(workers.VERDICT_COLUMNS)


def test_the_model_is_in_the_graph_once(model, points):
    import cloudpickle
    import dask.dataframe as dd

    verdicts = certify_dask(model, dd.from_pandas(points[NAMES], npartitions=10))
    for graph in (verdicts.__dask_graph__(), verdicts.optimize().__dask_graph__()):
        with_model = [key for key, node in graph.items() if b"TrainingSet" in cloudpickle.dumps(node)]
        assert len(graph) > 10
        assert len(with_model) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda dd, points: dd.from_pandas(points[NAMES[:3]], npartitions=2), "has no column 'adhesion'"),
        (lambda dd, points: dd.from_pandas(points.assign(size="large"), npartitions=2), "the column 'size' is of type"),
        (lambda dd, points: points, "a Dask data frame or array is needed, DataFrame was given"),
    ],
)
def test_collections_that_do_not_fit(model, points, make, message):
    import dask.dataframe as dd

    with pytest.raises(InputError, match=message):
        certify_dask(model, make(dd, points))


# --- what is not installed ------------------------------------------------------------------------------------------


def test_without_the_optional_packages_the_message_names_them(model, inputs, tmp_path, monkeypatch):
    for name in ("dask", "distributed"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r'pip install "rescaleinv\[dask\]"'):
        certify_files(model, inputs, tmp_path / "out", scheduler="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match=r'pip install "rescaleinv\[dask\]"'):
        certify_dask(model, None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r'pip install "rescaleinv\[parquet\]"'):
        certify_files(model, inputs, tmp_path / "out")


def test_what_a_run_says_of_itself_is_plain_json(run):
    out, _ = run
    description = json.loads((out / "_run" / "run.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in description["inputs"]] == ["a.csv", "b.parquet", "c.parquet"]
    assert [entry["rows"] for entry in description["inputs"]] == [100, 30, 120]


# --- one folder, one model ------------------------------------------------------------------------------------------


def test_other_weights_are_another_model(table, inputs, tmp_path):
    """They only change which SVM there is: the training set and the parameters are the same."""
    rows, labels = table[NAMES][:16], table["label"][:16]
    soft = RescaleInvariantSVC(C=1.0, scale_range=1.1, time_limit=1)
    few = inputs / "b.parquet"
    certify_files(soft.fit(rows, labels), few, tmp_path / "out")
    weights = np.linspace(0.1, 5, 16)
    with pytest.raises(InputError, match="was made with another model"):
        certify_files(soft.fit(rows, labels, sample_weight=weights), few, tmp_path / "out")


def test_parameters_set_after_the_fit_are_not_those_of_the_model(table, inputs, tmp_path):
    model = RescaleInvariantSVC().fit(table[NAMES][:16], table["label"][:16])
    summary = certify_files(model, inputs, tmp_path / "out")
    model.set_params(scale_range=1.001)
    assert certify_files(model, inputs, tmp_path / "out") == summary  # the model is as it was fitted
    assert certify_files(model, inputs, tmp_path / "new").counts == summary.counts
    refitted = model.fit(table[NAMES][:16], table["label"][:16])
    with pytest.raises(InputError, match="was made with another model"):
        certify_files(refitted, inputs, tmp_path / "out")


def test_the_number_of_jobs_is_not_the_model(table, inputs, tmp_path):
    rows, labels = table[NAMES][:16], table["label"][:16]
    summary = certify_files(RescaleInvariantSVC(n_jobs=2).fit(rows, labels), inputs, tmp_path / "out")
    assert certify_files(RescaleInvariantSVC().fit(rows, labels), inputs, tmp_path / "out") == summary
    stored = RescaleInvariantSVC.load(RunFolder(tmp_path / "out").model_path)
    assert stored.n_jobs == 1  # each process has one thread


def test_folders_that_can_not_be_used(model, inputs, tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="dangling can't be used as a folder"):
        certify_files(model, inputs, tmp_path / "dangling")
    for wrong in ("a\0b", b"out", 5, None, ""):
        with pytest.raises(InputError, match="out is"):
            certify_files(model, inputs, wrong)
        with pytest.raises(InputError, match="an input is"):
            certify_files(model, [wrong], tmp_path / "out")
