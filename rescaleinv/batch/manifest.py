"""The folder of a run over files: what it is a run of, which parts are finished, and that one process writes to it.

``part-00000000.parquet`` and so on are the results; readers of Parquet folders see these only. Beside them ``_run`` has what
is needed to go on after the run was killed: ``run.json`` (of which model and inputs), the model, and a note a finished part.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from rescaleinv._util.files import checked_path, replacing
from rescaleinv.errors import InputError

_FORMAT = "rescaleinv-run/3"
_START_AGAIN = "choose another folder, or delete this one to start again"
_MAKE_AGAIN = "delete it, and its part is made again"


@dataclass(frozen=True)
class Part:
    """A finished part: its number, its hash, and how many rows have which verdict."""

    number: int
    sha256: str
    counts: dict[str, int]


class RunFolder:
    """Where the files of a run are. Workers on other machines have one too; only ``opened`` ones are locked."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = checked_path(folder, "out")
        self._notes = self.folder / "_run"
        self.model_path = self._notes / "model.npz"
        self._description_path = self._notes / "run.json"

    def part_path(self, number: int) -> Path:
        return self.folder / f"part-{number:08d}.parquet"

    def _note_path(self, number: int) -> Path:
        return self._notes / f"part-{number:08d}.json"

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Have the folder for oneself. The lock goes when the process does, however that happens."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.folder} is a file; a folder for the results is needed")
        if not self._notes.exists() and self.folder.exists() and any(self.folder.iterdir()):
            raise InputError(f"{self.folder} has files of something else; choose a folder that is empty or new")
        try:
            self._notes.mkdir(parents=True, exist_ok=True)
        except OSError as error:  # a dangling link, a file in the way, no permission
            raise InputError(f"{self.folder} can't be used as a folder: {error.strerror or error}") from error
        lock = FileLock(self._notes / "lock", blocking=False)
        try:
            lock.acquire()
        except Timeout as error:
            raise InputError(
                f"{self.folder} is being written by another run; wait for it, or choose another folder"
            ) from error
        except NotImplementedError as error:  # some network file systems
            raise InputError(f"{self.folder} is on a file system that has no locks; choose another one") from error
        try:
            self._remove_fragments()
            yield
        finally:
            self._remove_fragments()
            lock.release()

    def _remove_fragments(self) -> None:
        """What killed processes were writing."""
        for fragment in [*self.folder.glob(".*.part"), *self._notes.glob(".*.part"), *self._notes.glob("*.partial")]:
            fragment.unlink(missing_ok=True)

    def begin(self, description: dict[str, Any], save_model: Callable[[Path], None]) -> str:
        """Begin the run that is described, or go on with it; returns the digest that its parts are noted with.

        A folder with another run, or one that was edited, is refused.
        """
        wanted = json.loads(json.dumps({"format": _FORMAT, **description}))
        if not self._description_path.exists():
            if any(self._notes.glob("part-*.json")) or any(self.folder.glob("part-*.parquet")):
                raise InputError(f"{self.folder} has parts, but {self._description_path} is missing; {_START_AGAIN}")
            save_model(self.model_path)
            _write_signed(self._description_path, {**wanted, "model_file": _file_sha256(self.model_path)})
        found = _read_signed(self._description_path, _START_AGAIN)
        if found.get("format") != _FORMAT:
            raise InputError(f"{self._description_path} has the format {found.get('format')!r}; {_FORMAT!r} is needed")
        for name, value in wanted.items():
            if found.get(name) != value:
                raise InputError(f"{self.folder} {_difference(name, found.get(name), value)}; {_START_AGAIN}")
        if not self.model_path.exists() or _file_sha256(self.model_path) != found.get("model_file"):
            raise InputError(f"{self.model_path} is missing or damaged; {_START_AGAIN}")
        return _digest(found)

    def require_own_parts(self, n_parts: int) -> None:
        """Readers of the folder take every table in it, and below it, for a part of this run: none must be there.

        Names that begin with _ or a dot are not read by them.
        """
        own = {self.part_path(number) for number in range(n_parts)}
        for path in sorted({*self.folder.rglob("*.parquet"), *self.folder.rglob("part-*")} - own):
            if not any(name.startswith(("_", ".")) for name in path.relative_to(self.folder).parts):
                raise InputError(f"{path} is not a part of this run, which has {n_parts}; move it to another folder")

    def finished(self, run: str) -> dict[int, Part]:
        """The parts that need not be made again: noted, there, and unchanged. A missing one is made again."""
        parts = {}
        for path in sorted(self._notes.glob("part-*.json")):
            content = _read_signed(path, _MAKE_AGAIN)
            try:
                part = Part(content["part"], content["sha256"], content["counts"])
                if content["run"] != run or path != self._note_path(part.number):
                    raise ValueError("it is of another run, or of another part")
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(f"{path} does not belong here ({error}); {_MAKE_AGAIN}") from error
            target = self.part_path(part.number)
            if not target.exists():
                continue
            if _file_sha256(target) != part.sha256:
                raise InputError(f"{target} is not what this run wrote; delete it, and it is made again")
            parts[part.number] = part
        return parts

    def write_part(self, run: str, number: int, content: bytes, counts: dict[str, int]) -> Part:
        """Write a part and then its note, each whole or not at all. Twice the same is as good as once."""
        part = Part(number, hashlib.sha256(content).hexdigest(), counts)
        with replacing(self.part_path(number)) as file:
            file.write(content)
        note = {"run": run, "part": number, "sha256": part.sha256, "counts": counts}
        _write_signed(self._note_path(number), note)
        return part


def _difference(name: str, found: Any, wanted: Any) -> str:
    if name == "model":
        return "was made with another model"
    if name == "inputs":
        known = {entry["name"]: entry for entry in found}
        for entry in wanted:
            if entry["name"] in known and known[entry["name"]] != entry:
                return f"was made from another version of {entry['name']}"
        names = [[entry["name"] for entry in entries] for entries in (found, wanted)]
        return f"was made from other inputs ({', '.join(names[0])}) than are given now ({', '.join(names[1])})"
    return f"was made with {name}={found!r}, and now it is {wanted!r}"


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_signed(path: Path, content: dict[str, Any]) -> None:
    """JSON with the digest of its content, which finds damage and careless edits."""
    with replacing(path) as file:
        file.write(json.dumps({**content, "digest": _digest(content)}, indent=1).encode() + b"\n")


def _read_signed(path: Path, remedy: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
        digest = content.pop("digest")
        intact = digest == _digest(content)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError, OSError) as error:
        raise InputError(f"{path} is damaged ({error}); {remedy}") from error
    if not intact:
        raise InputError(f"{path} was edited or is damaged: its digest does not fit its content; {remedy}")
    return dict(content)
