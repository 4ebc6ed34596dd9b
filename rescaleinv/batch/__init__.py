"""Verdicts of files and data frames that are larger than memory: by chunks, on several processes, or on Dask."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rescaleinv import __version__
from rescaleinv._util.parameters import checked_count, n_workers
from rescaleinv._util.progress import progress_bar
from rescaleinv.batch.manifest import RunFolder
from rescaleinv.batch.models import Model, checked_model, digest_of, estimator_of, feature_names, steps_of
from rescaleinv.batch.streams import Paths, TableFile, choose_columns, feature_columns, find_files, survey
from rescaleinv.batch.workers import (
    COUNTED,
    PLACE_COLUMNS,
    VERDICT_COLUMNS,
    Piece,
    Task,
    on_dask,
    on_this_machine,
    verdict_columns,
)
from rescaleinv.errors import InputError
from rescaleinv.estimators.saving import write_model
from rescaleinv.estimators.svc import RescaleInvariantSVC

# The engine leaves inner vertices out from 200,000 points a call on, and Parquet's row groups are often powers of two.
_CHUNK_ROWS = 262_144


@dataclass(frozen=True)
class BatchSummary:
    """What a run over files has made: the parts, and how many of the rows have which verdict.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rescaleinv import RescaleInvariantSVC, certify_files
    >>> clf = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "points.csv").write_text("a,b\\n-1,4\\n4,4\\n", encoding="utf-8")
    >>> summary = certify_files(clf, folder / "points.csv", folder / "verdicts")
    >>> summary.rows, [path.name for path in summary.parts]
    (2, ['part-00000000.parquet'])
    """

    parts: tuple[Path, ...]
    rows: int
    counts: dict[str, int]


def certify_files(
    model: Any,
    inputs: Paths,
    out: str | Path,
    *,
    keep: Sequence[str] = (),
    chunk_rows: int = _CHUNK_ROWS,
    n_jobs: int | None = None,
    scheduler: Any = None,
    progress: bool | None = None,
) -> BatchSummary:
    """Certify all rows of CSV and Parquet files, and write the verdicts to a folder, one Parquet file a chunk.

    A run that was killed at any moment goes on where it was when it is called again in the same way; the result is the
    same, byte for byte, as if nothing had happened. Finished parts are not made again. A folder that belongs to another
    model, to other or changed inputs or to another ``chunk_rows`` is refused, and so is one that another process writes to.

    Parameters
    ----------
    model : RescaleInvariantSVC, or a pipeline or search that ends in one
        Fitted. Its vertices are enumerated once, here, and kept in the folder. Rows go through the steps of a pipeline as in
        :func:`rescaleinv.certify`; steps that fill in missing values get to do so.
    inputs : path, or sequence of paths
        Files that end in .csv or .parquet, folders of them, or patterns such as ``"data/*.csv"``. The rows of all of them
        are one sequence, in this order. If the model has ``feature_names_in_`` these columns are taken, and others are
        left alone; if not, all columns but ``keep`` are the features in their order. CSV: with commas, a first line of
        names, UTF-8.
    out : path
        A new or empty folder, or that of the run to go on with. ``pandas.read_parquet(out)`` reads the verdicts.
    keep : sequence of str
        Columns to copy to the result, such as identifiers. Those of CSV files are texts.
    chunk_rows : int
        Rows a part. All of them, and a few times as much, are in memory in each process.
    n_jobs : int, optional
        Processes, this one among them, each with one thread; as in joblib None is 1 and -1 all processors.
    scheduler : str or distributed.Client, optional
        A Dask cluster instead of processes here: the address of its scheduler (``"tcp://…"``), or a client. The model is
        sent to each worker once. ``inputs`` and ``out`` must be the same paths on every machine (a shared file system).
    progress : bool, optional
        Show a progress bar; if not given, on a terminal.

    Returns
    -------
    BatchSummary

    Raises
    ------
    InputError
        For a column that is missing or is not of numbers, a text in a CSV file where a number belongs, or an ``out`` that
        can't be gone on with. The message says what to do.
    BatchError
        If a worker process was killed, or Dask gave up.

    Notes
    -----
    The columns of a part: ``input`` and ``row`` (which file, and which of its rows: the first below the header is 1, as in
    messages and on the command line), those of ``keep``, ``label`` (the class by name; "" where there is none), ``verdict``
    in words, ``code``, ``lower``, ``upper``, ``status`` and ``reason`` as in :class:`~rescaleinv.Verdicts`. A row with a
    missing value, or one that is infinite or too large, is UNKNOWN for that reason: nothing is left out.

    Inputs are known by the SHA-256 of their whole content. With a ``time_limit`` verdicts may depend on the machine.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> model = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     points = pd.DataFrame({"id": ["a", "b", "c", "d"], "x": [-1, 4, 0, None], "y": [4, 4, 0, 1]})
    ...     points.to_csv(f"{folder}/points.csv", index=False)
    ...     summary = certify_files(model, f"{folder}/points.csv", f"{folder}/verdicts", keep=["id"])
    ...     verdicts = pd.read_parquet(f"{folder}/verdicts")
    >>> summary.counts
    {'strongly negative': 1, 'neutral': 1, 'strongly positive': 1, 'unknown': 1}
    >>> print(verdicts[["input", "row", "id", "label", "verdict"]])
            input  row id label            verdict
    0  points.csv    1  a     1            neutral
    1  points.csv    2  b     1  strongly positive
    2  points.csv    3  c    -1  strongly negative
    3  points.csv    4  d                  unknown
    >>> verdicts["reason"].tolist()
    ['', '', '', 'a value is missing']
    """
    _require_pyarrow()
    chosen = checked_model(model)
    estimator, steps = estimator_of(chosen), steps_of(chosen)
    if scheduler is not None and n_jobs is not None:
        raise InputError("n_jobs is for processes on this machine, and scheduler for Dask; one of them is needed")
    chunk_rows = checked_count(chunk_rows, "chunk_rows", 1)
    n_processes = n_workers(n_jobs)
    run = RunFolder(out)
    paths = find_files(inputs)
    for path in paths:
        if run.folder.resolve() in path.resolve().parents:
            raise InputError(f"{path} is in the folder of the results; choose another one for these")
    with run.opened():
        files = survey(paths, n_processes)
        if not any(file.n_rows for file in files):
            raise InputError(f"there are no rows in {', '.join(file.name for file in files)}")
        columns = choose_columns(files, feature_names(chosen), chosen.n_features_in_, _checked_keep(keep))
        description = {
            "package": __version__,
            "model": digest_of(chosen),
            "inputs": [{"name": file.name, "sha256": file.sha256, "rows": file.n_rows} for file in files],
            "chunk_rows": chunk_rows,
            "keep": list(columns.keep),
        }
        digest = run.begin(description, lambda path: _save(estimator, path))
        parts = run.finished(digest)
        planned = list(_planned(files, chunk_rows))
        run.require_own_parts(len(planned))
        tasks = [
            Task(str(run.folder), digest, number, pieces, columns, os.getpid(), steps)
            for number, pieces in enumerate(planned)
            if number not in parts
        ]
        with progress_bar("rows", progress, total=sum(file.n_rows for file in files)) as bar:
            results = on_this_machine(tasks, n_processes) if scheduler is None else on_dask(tasks, scheduler)
            for part in results:
                parts[part.number] = part
                bar.show(sum(sum(part.counts.values()) for part in parts.values()))
    counts = {name: sum(part.counts[name] for part in parts.values()) for name in COUNTED}
    return BatchSummary(tuple(run.part_path(number) for number in sorted(parts)), sum(counts.values()), counts)


def certify_dask(model: Any, collection: Any) -> Any:
    """The verdicts of a Dask data frame or array, as a Dask data frame with the same partitions and index.

    Nothing is computed yet, apart from the vertices of the model, which are enumerated here, once. The model is one
    node of the graph: each worker gets it once.

    Parameters
    ----------
    model : RescaleInvariantSVC, or a pipeline or search that ends in one
        Fitted.
    collection : dask.dataframe.DataFrame or dask.array.Array
        The columns are chosen, and rows with missing values are treated, as in :func:`certify_files`.

    Returns
    -------
    dask.dataframe.DataFrame
        With the columns ``label``, ``verdict``, ``code``, ``lower``, ``upper``, ``status`` and ``reason``.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> model = RescaleInvariantSVC().fit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> points = dd.from_pandas(pd.DataFrame({"x": [-1, 4, 0], "y": [4, 4, 0]}), npartitions=2)
    >>> certify_dask(model, points)["code"].compute().tolist()
    [0, 1, -1]
    """
    try:
        import dask
        import dask.array as da
        import dask.dataframe as dd
    except ImportError as error:
        raise InputError('Dask collections need Dask: pip install "rescaleinv[dask]"') from error
    model = checked_model(model)
    if isinstance(collection, da.Array):
        if collection.ndim != 2:
            raise InputError(f"the array has {collection.ndim} dimension(s); one row per point is needed")
        collection = dd.from_dask_array(collection.rechunk({1: -1}), columns=feature_names(model))
    if not isinstance(collection, dd.DataFrame):
        raise InputError(f"a Dask data frame or array is needed, {type(collection).__name__} was given")
    features = feature_columns(list(collection.columns), feature_names(model), model.n_features_in_, "the data frame")
    for name in features:
        if collection.dtypes[name].kind not in "biuf":
            raise InputError(f"the column {name!r} is of type {collection.dtypes[name]}; numbers are needed")
    estimator_of(model).precompute()
    meta = dict(zip(VERDICT_COLUMNS, ("str", "str", np.int8, np.float64, np.float64, "str", "str"), strict=True))
    return collection.map_partitions(_verdict_frame, dask.delayed(model, pure=False), features, meta=meta)


def _verdict_frame(frame: Any, model: Model, features: list[Any]) -> Any:
    import pandas as pd

    matrix = frame[features].to_numpy(dtype=np.float64, na_value=np.nan)
    verdicts = pd.DataFrame(verdict_columns(model, matrix), index=frame.index)
    return verdicts.astype(dict.fromkeys(("label", "verdict", "status", "reason"), "str"))


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401 - whether it is there
    except ImportError as error:
        raise InputError('runs over files need pyarrow: pip install "rescaleinv[parquet]"') from error


def _save(model: RescaleInvariantSVC, path: Path) -> None:
    model.precompute()
    # each process has one thread
    alone = replace(model._fitted, parameters={**model._fitted.parameters, "n_jobs": 1})
    write_model(path, alone, model.engine_.made)


def _checked_keep(keep: str | Sequence[str]) -> tuple[str, ...]:
    names = (keep,) if isinstance(keep, str) else tuple(keep)
    reserved = {*VERDICT_COLUMNS, *PLACE_COLUMNS}
    if reserved & set(names) or len(set(names)) < len(names):
        raise InputError(
            f"keep is {list(names)}; names must differ, also from the result's own: {', '.join(sorted(reserved))}"
        )
    return names


def _planned(files: Sequence[TableFile], chunk_rows: int) -> Iterator[tuple[Piece, ...]]:
    """The rows of all files, one after the other, cut into chunks; a chunk may be of several files."""
    pieces: list[Piece] = []
    room = chunk_rows
    for file in files:
        start = 0
        while start < file.n_rows:
            stop = min(start + room, file.n_rows)
            pieces.append(Piece(file, start, stop))
            room -= stop - start
            start = stop
            if not room:
                yield tuple(pieces)
                pieces, room = [], chunk_rows
    if pieces:
        yield tuple(pieces)
