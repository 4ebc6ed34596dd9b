"""What the processes of a run over files do: read a chunk, certify it, write its part."""

from __future__ import annotations

import io
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from threadpoolctl import ThreadpoolController

from rescaleinv._util.types import FloatArray
from rescaleinv.batch.manifest import Part, RunFolder
from rescaleinv.batch.models import Model, estimator_of, feature_names, put_together
from rescaleinv.batch.streams import Columns, TableFile, read_rows
from rescaleinv.errors import BatchError, InputError
from rescaleinv.estimators.points import certify_with_holes, labels_with_holes
from rescaleinv.estimators.svc import RescaleInvariantSVC, certify
from rescaleinv.verdict import MISSING, Verdict, Verdicts, read_only, unusable_rows, verdict_words

if TYPE_CHECKING:
    import pyarrow as pa

PLACE_COLUMNS = ("input", "row")
VERDICT_COLUMNS = ("label", "verdict", "code", "lower", "upper", "status", "reason")
_WORDS = np.array([verdict_words(code) for code in range(-1, 3)], dtype=object)
COUNTED = {verdict_words(kind): kind for kind in Verdict}
_SECONDS_FOR_DASK = 60


@dataclass(frozen=True)
class Piece:
    """Rows ``start`` to before ``stop`` of a file."""

    file: TableFile
    start: int
    stop: int


@dataclass(frozen=True)
class Task:
    """One part to be made; ``owner`` is the process that waits for it."""

    folder: str
    run: str
    number: int
    pieces: tuple[Piece, ...]
    columns: Columns
    owner: int
    steps: Pipeline | None = None  # what comes before the estimator


def on_this_machine(tasks: Sequence[Task], n_processes: int) -> Iterator[Part]:
    """Make the parts in so many processes, this one among them: it begins at once, while the others still start."""
    waiting = deque(tasks)
    if n_processes > 1 and len(waiting) > 1:
        yield from _with_helpers(waiting, min(n_processes, len(waiting)) - 1)
    for task in waiting:
        yield _part_with_stored_model(task)


def _with_helpers(waiting: deque[Task], n_helpers: int) -> Iterator[Part]:
    # unlike the standard library's, these processes do not run the user's script again
    from loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(n_helpers)
    running: set[Future[Part]] = set()
    ahead = 0  # no task waits for a helper that is still starting; later each has its next one at hand
    try:
        while waiting or running:
            while waiting and len(running) < n_helpers + ahead:
                running.add(pool.submit(_part_with_stored_model, waiting.popleft()))
            if waiting:
                yield _part_with_stored_model(waiting.popleft())
            done, running = wait(running, timeout=0 if waiting else None, return_when=FIRST_COMPLETED)
            for future in done:
                ahead = n_helpers
                yield future.result()
    except BrokenExecutor as error:
        raise BatchError(
            "a process was killed, perhaps because memory ran out (a smaller n_jobs or chunk_rows takes less); "
            f"finished parts are kept: call again to go on. {error}"
        ) from error
    finally:
        pool.shutdown(kill_workers=True)


def on_dask(tasks: Sequence[Task], scheduler: Any) -> Iterator[Part]:
    """Make the parts on the workers of a Dask cluster, which get the model once."""
    if not tasks:
        return
    with _client(scheduler) as client:
        from distributed import KilledWorker, as_completed

        try:
            client.wait_for_workers(1, timeout=_SECONDS_FOR_DASK)
        except TimeoutError as error:
            raise BatchError(f"the Dask scheduler {scheduler} has no worker; start some, and call again") from error
        model = put_together(_stored_model(tasks[0].folder, tasks[0].run), tasks[0].steps)
        model = client.scatter(model, broadcast=True, hash=False)
        tasks = [replace(task, steps=None) for task in tasks]
        futures = [client.submit(make_part, task, model, pure=False) for task in tasks]
        try:
            for _, part in as_completed(futures, loop=client.loop, with_results=True):
                yield part
        except KilledWorker as error:
            raise BatchError(f"Dask gave up; finished parts are kept: call again to go on. {error}") from error
        finally:
            client.cancel(futures)


@contextmanager
def _client(scheduler: Any) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError('a Dask scheduler needs Dask: pip install "rescaleinv[dask]"') from error
    if isinstance(scheduler, Client):
        yield scheduler
        return
    try:
        client = Client(scheduler, set_as_default=False, timeout=_SECONDS_FOR_DASK)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
    with client:
        yield client


def _part_with_stored_model(task: Task) -> Part:
    if os.getpid() != task.owner:
        _end_with(task.owner)
    return make_part(task, put_together(_stored_model(task.folder, task.run), task.steps))


@lru_cache(maxsize=1)
def _stored_model(folder: str, run: str) -> RescaleInvariantSVC:
    """The model of a run, which ``run`` (a digest) identifies; read once per process."""
    return RescaleInvariantSVC._load(RunFolder(folder).model_path, trusted=True)  # the run wrote it, and knows its hash


@lru_cache(maxsize=1)
def _end_with(owner: int) -> None:
    """End this process soon after the one that it works for: nobody else would, if that was killed."""

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def make_part(task: Task, model: Model) -> Part:
    """Read the rows of a chunk, certify them, and write the part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    matrix, table = _read(task)
    verdicts = verdict_columns(model, matrix)
    for name, values in verdicts.items():
        texts = values.dtype == object
        table = table.append_column(name, pa.array(values, pa.string()).dictionary_encode() if texts else [values])
    content = io.BytesIO()
    pq.write_table(
        table, content, compression="zstd", use_dictionary=["input", "label", "verdict", "code", "status", "reason"]
    )
    counts = {name: int((verdicts["code"] == kind).sum()) for name, kind in COUNTED.items()}
    return RunFolder(task.folder).write_part(task.run, task.number, content.getvalue(), counts)


def _read(task: Task) -> tuple[FloatArray, pa.Table]:
    """The features of a chunk, and a table of which input and row they are from, and of what is to be kept."""
    import pyarrow as pa

    n_features = len(task.columns.features)
    matrix = np.empty((sum(piece.stop - piece.start for piece in task.pieces), n_features))
    tables = []
    done = 0
    for piece in task.pieces:
        row = piece.start
        for table in read_rows(piece.file, piece.start, piece.stop, task.columns):
            n = table.num_rows
            for j in range(n_features):
                matrix[done : done + n, j] = table.column(j).to_numpy()
            name = pa.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int32), [piece.file.name])
            place = pa.table([name, np.arange(row + 1, row + n + 1)], names=PLACE_COLUMNS)
            for field, values in zip(task.columns.keep, table.columns[n_features:], strict=True):
                place = place.append_column(field, values)
            tables.append(place)
            row, done = row + n, done + n
    return matrix, pa.concat_tables(tables).unify_dictionaries()


def verdict_columns(model: Model, matrix: FloatArray) -> dict[str, npt.NDArray[Any]]:
    """Labels and verdicts of points, some of which may have values that no model can take: these are UNKNOWN."""
    verdicts = _of_pipeline(model, matrix) if isinstance(model, Pipeline) else _of_estimator(model, matrix)
    assert verdicts.labels is not None
    classes = estimator_of(model).classes_.tolist()
    which = np.select([verdicts.labels == label for label in classes], range(len(classes)), len(classes))
    found = {"label": np.array([*map(str, classes), ""], dtype=object)[which], "verdict": _WORDS[verdicts.code + 1]}
    return {name: found[name] if name in found else getattr(verdicts, name) for name in VERDICT_COLUMNS}


def _of_estimator(model: RescaleInvariantSVC, matrix: FloatArray) -> Verdicts:
    # the columns were chosen by their names; the points are handed over
    with _blas().limit(limits=1):  # other processes have the other processors
        verdicts = certify_with_holes(model.engine_.engine, read_only(matrix))
        labels = labels_with_holes(model.classes_, model._fitted.reference.decision_function, matrix)
    return replace(verdicts, labels=labels)


def _of_pipeline(model: Pipeline, matrix: FloatArray) -> Verdicts:
    """Steps that fill in missing values get them; where steps can't take them, such rows are UNKNOWN."""
    names = feature_names(model)

    def certified(rows: FloatArray) -> Verdicts:
        if names is None:
            return certify(model, rows)
        import pandas as pd

        return certify(model, pd.DataFrame(rows, columns=names))

    reasons = unusable_rows(matrix)
    taken = np.array((reasons == "") | (reasons == MISSING), dtype=bool)
    with _blas().limit(limits=1):
        try:
            found = certified(matrix[taken]) if taken.any() else None
        except ValueError:  # which is what scikit-learn's steps say of missing values
            if not (reasons == MISSING).any():
                raise
            taken = np.array(reasons == "", dtype=bool)
            found = certified(matrix[taken]) if taken.any() else None
    engine = estimator_of(model).engine_.engine
    verdicts = Verdicts.all_unknown(matrix, reasons, engine)
    labels = np.full(len(matrix), None, dtype=object)
    if found is not None and found.labels is not None:
        verdicts = verdicts.with_rows(taken, found)
        labels[taken] = found.labels
    return replace(verdicts, labels=labels)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
