"""Models as one file without pickle: an npz container of plain arrays, one of which is a header in JSON.

A file from a stranger can't run code. Its digest finds damage; a liar can make it anew, so that what a file says is as good
as the place that it comes from. (Certificates are for those who need not believe.)
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from rescaleinv._util.files import replacing
from rescaleinv._util.parameters import shown
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines import Engine
from rescaleinv.engines.choice import EngineChoice
from rescaleinv.errors import InputError
from rescaleinv.estimators.fitted import Fitted
from rescaleinv.estimators.margin import Margin
from rescaleinv.estimators.reference import ReferenceSVM
from rescaleinv.theory.nu_margin import NuMargin, largest_nu
from rescaleinv.theory.training_set import TrainingSet

_FORMAT = "rescaleinv-model"
_VERSION = 2  # 1 had no ν
_HEADER = "header"
_OF_ENGINE = "vertices."

Arrays = Mapping[str, npt.NDArray[Any]]


def write_model(path: str | Path, fitted: Fitted, engine: Engine | None) -> None:
    """Write a fitted model, and what its engine has computed so far, to one file."""
    content, arrays = _packed(fitted)
    facts, engine_arrays = _pack_engine(engine)
    write(path, {**content, "vertices": facts}, {**arrays, **engine_arrays})


def model_digest(fitted: Fitted) -> str:
    """A hash of all that ``write_model`` writes of the model itself, but not of how many workers there are."""
    parameters = {name: value for name, value in fitted.parameters.items() if name != "n_jobs"}
    return _digest(*_packed(replace(fitted, parameters=parameters)))


def _packed(fitted: Fitted) -> tuple[dict[str, Any], Arrays]:
    training_set, reference, margin = fitted.training_set, fitted.reference, fitted.margin
    classes, class_arrays = pack_labels(fitted.classes)
    content = {
        "params": pack(fitted.parameters),
        "feature_names": None if training_set.feature_names is None else list(training_set.feature_names),
        "classes": classes,
        "soft": margin.penalties is not None,
        "nu": None if margin.nu is None else [str(margin.nu.nu), pack(margin.nu.least), pack(margin.nu.rho)],
        "one_label": margin.one_label,
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "features": training_set.features,
        "signs": training_set.signs,
        "row_numbers": training_set.row_numbers,
        "dropped": margin.dropped,
        "weights": reference.weights,
        "offsets": np.array([reference.intercept, reference.value_at_anchor]),
    }
    if margin.penalties is not None:
        arrays["penalties"] = margin.penalties
    if margin.nu is not None:
        arrays["row_weights"] = margin.nu.row_weights
    return content, {**arrays, **class_arrays}


class StoredModel:
    """The parts of a model file, each checked when it is asked for."""

    def __init__(self, content: dict[str, Any], arrays: Arrays) -> None:
        self._content, self._arrays = content, arrays
        self.parameters: dict[str, Any] = unpack(content["params"])
        self._classes = unpack_labels(content["classes"], arrays)

    @cached_property
    def training_set(self) -> TrainingSet:
        training_set = TrainingSet(
            self._arrays["features"],
            self._arrays["signs"],
            positive=1,
            feature_names=self._content["feature_names"],
            row_numbers=_integers(self._arrays["row_numbers"]),
            read_as=self.parameters.get("read_as", "written"),
        )
        training_set.classes = tuple(self._classes.tolist())
        return training_set

    def fitted(self, parameters: dict[str, Any], limits: FloatArray | None, groups: IntArray | None) -> Fitted:
        """The fitted model, as ``fit`` made it."""
        training_set, arrays = self.training_set, self._arrays
        _require_finite(arrays["weights"], (training_set.n_features,))
        _require_finite(arrays["offsets"], (2,))
        penalties, nu = None, self._nu_margin()
        one_label = self._content.get("one_label", False) is True
        if self._content.get("soft"):
            penalties = arrays["penalties"]
            _require_finite(penalties, (training_set.n_rows,))
        hard = penalties is None and nu is None and not one_label
        if (penalties is not None) != math.isfinite(parameters["C"]) or (nu is not None and penalties is not None):
            raise ValueError("its margin is not that of its parameters")
        intercept, value_at_anchor = map(float, arrays["offsets"])
        reference = ReferenceSVM(training_set, arrays["weights"], intercept, value_at_anchor, hard, nu)
        margin = Margin(training_set, _integers(arrays["dropped"]), reference, penalties, nu, one_label)
        return Fitted(parameters=parameters, classes=self._classes, margin=margin, limits=limits, groups=groups)

    def _nu_margin(self) -> NuMargin | None:
        """ν and the weights of the rows, as they were found; nothing is computed again."""
        if self._content.get("nu") is None:
            return None
        nu, least, *rho = self._content["nu"]
        weights = self._arrays["row_weights"]
        _require_finite(weights, (self.training_set.n_rows,))
        if not weights.min() > 0:
            raise ValueError("it has a row without weight")
        found = Fraction(nu)
        if not 0 < found <= largest_nu(self.training_set, weights):
            raise ValueError(f"its nu is {float(found):g}, which is not possible with its rows")
        return NuMargin(found, weights, float(unpack(least)), *(float(unpack(value)) for value in rho[:1]))

    def restore_engine(self, choice: EngineChoice, *, trusted: bool = False) -> None:
        """Give a new engine what the file has of another's work, if there is any, as if it had computed it."""
        facts = self._content["vertices"]
        if facts is not None:
            of_engine = {k: v for k, v in self._arrays.items() if k.startswith(_OF_ENGINE)}
            own_names = {k.removeprefix(_OF_ENGINE): v for k, v in of_engine.items()}
            choice.engine.restore_state(facts, own_names, trusted=trusted)


@contextmanager
def reading_model(path: str | Path) -> Iterator[StoredModel]:
    """The model in a file. Whatever is wrong with it, here or inside, is one clear error."""
    with reading(path) as (content, arrays):
        yield StoredModel(content, arrays)


def write(path: str | Path, content: dict[str, Any], arrays: Arrays) -> None:
    """Write the content (JSON) and the arrays to one file, all of it or nothing."""
    header = {"format": _FORMAT, "version": _VERSION, "content": content, "digest": _digest(content, arrays)}
    text = np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8)
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **{_HEADER: text}, **arrays)


def _opened(path: str | Path) -> IO[bytes]:
    try:
        return Path(path).open("rb")
    except (IsADirectoryError, ValueError, TypeError) as error:  # a folder, a name with a NUL byte, no name at all
        raise InputError(f"{shown(str(path))} can't be read: {getattr(error, 'strerror', None) or error}") from error


class _NewerFormatError(Exception):
    """The file is of a version that this package does not know."""


@contextmanager
def reading(path: str | Path) -> Iterator[tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]]:
    """The content and the arrays of a file. Whatever is wrong with them, here or inside, is one clear error."""
    with _opened(path) as file:
        try:
            yield _read(file)
        except _NewerFormatError as error:
            raise InputError(f"{path} was written by a newer version of rescaleinv: {error}") from error
        except Exception as error:  # there is no end to what a damaged file may lead to
            raise InputError(f"{path} is damaged, or is not a model of rescaleinv: {error}") from error


def _require_plain_entries(entries: list[zipfile.ZipInfo]) -> None:
    """What is stored as it is, each byte once, can't be larger in memory than on the disk."""
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise ValueError("it is compressed, which models are not")
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("it has two entries of one name")
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise ValueError("its entries overlap")
        end = entry.header_offset + max(entry.compress_size, entry.file_size)


def _require_declared_size(file: IO[bytes], size: int) -> None:
    """An array takes as many bytes as its entry has: memory for more of them is not even asked for."""
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = readers[np.lib.format.read_magic(file)](file)
    if dtype.hasobject:  # np.load says what is wrong with these
        return
    if min(shape, default=0) < 0 or file.tell() + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"an array of shape {shape} is not as long as it says")


def _read(file: Any) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    with zipfile.ZipFile(file) as container:
        _require_plain_entries(container.infolist())
        for entry in container.infolist():
            with container.open(entry) as array:
                _require_declared_size(array, entry.file_size)
        file.seek(0)
    with np.load(file, allow_pickle=False) as container:
        if _HEADER not in container.files:
            raise ValueError("it has no header")
        header = json.loads(container[_HEADER].tobytes())
        if header["format"] != _FORMAT:
            raise ValueError(f"its format is {header['format']!r}")
        if header["version"] > _VERSION:
            raise _NewerFormatError(f"its format has version {header['version']}, and version {_VERSION} can be read")
        arrays = {name: container[name] for name in container.files if name != _HEADER}
    if _digest(header["content"], arrays) != header["digest"]:
        raise ValueError("its digest does not fit its content")
    return header["content"], arrays


def _digest(content: dict[str, Any], arrays: Arrays) -> str:
    digest = hashlib.sha256(json.dumps(content, allow_nan=False, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def pack(value: Any) -> Any:
    """A parameter as JSON that keeps its type: what JSON does not have is an object with one field."""
    if isinstance(value, np.generic):
        return pack(value.item())
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.ndarray):
        return {"array": pack(value.tolist())}
    if isinstance(value, Mapping):
        return {"mapping": [[pack(key), pack(item)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [pack(item) for item in value]}
    raise InputError(f"the parameter {value!r} can't be saved without pickle; numbers, texts and sequences can")


def unpack(packed: Any) -> Any:
    """The parameter again.

    >>> unpack(pack({"C": float("inf"), "scale_range": (0.5, 2)}))
    {'C': inf, 'scale_range': (0.5, 2)}
    """
    if not isinstance(packed, dict):
        return packed
    ((kind, content),) = packed.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "array":
        return np.array(unpack(content))
    if kind == "mapping":
        return {unpack(key): unpack(item) for key, item in content}
    return {"list": list, "tuple": tuple}[kind](map(unpack, content))


def pack_labels(classes: npt.NDArray[Any]) -> tuple[Any, Arrays]:
    """Labels as an array, or as JSON where they are Python objects."""
    if classes.dtype.kind in "biufUmM":
        return None, {"classes": classes}
    return pack(classes.tolist()), {}


def unpack_labels(packed: Any, arrays: Arrays) -> npt.NDArray[Any]:
    classes = arrays["classes"] if packed is None else np.array(unpack(packed), dtype=object)
    if classes.shape != (2,):
        raise ValueError(f"it has labels of shape {classes.shape}")
    if not classes[0] < classes[1]:
        raise ValueError("its labels are not two different ones in ascending order")
    return classes


def _integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers of rows: integers that are not negative."""
    if values.dtype.kind not in "iu" or values.ndim != 1 or (values.size and values.min() < 0):
        raise ValueError("it has row numbers that are none")
    return values


def _require_finite(values: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    if values.dtype != np.float64 or values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"it has numbers of shape {values.shape} where finite ones of shape {shape} belong")


def _pack_engine(engine: Engine | None) -> tuple[dict[str, Any] | None, Arrays]:
    """What an engine has computed and keeps (the vertices of the complex), or nothing."""
    state = None if engine is None else engine.state()
    if state is None:
        return None, {}
    facts, arrays = state
    return facts, {f"{_OF_ENGINE}{name}": value for name, value in arrays.items()}
