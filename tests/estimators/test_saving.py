"""Models in files without pickle: what comes back, what damage and strangers meet."""

import hashlib
import io
import json
import pickle
import zipfile
from datetime import date
from fractions import Fraction

import made_sets
import numpy as np
import pandas as pd
import pytest

from rescaleinv import InputError, RescaleInvariantSVC
from rescaleinv.datasets import load
from rescaleinv.engines.complex import engine as complex_engine
from rescaleinv.estimators import saving as model_io

NAMES = ["variance", "skewness", "curtosis", "entropy"]


@pytest.fixture(scope="module")
def notes():
    data = load("banknote")
    rows = np.random.default_rng(0).permutation(len(data.labels))
    return pd.DataFrame(data.features[rows], columns=NAMES), np.where(data.labels[rows] > 0, "false", "genuine")


def fitted(notes, enumerated=True, **options):
    features, labels = notes
    clf = RescaleInvariantSVC(inconsistent="drop", **options).fit(features[:40], labels[:40])
    return clf.precompute() if enumerated else clf


@pytest.fixture
def saved(notes, tmp_path):
    path = tmp_path / "model.npz"
    fitted(notes).save(path)
    return path


def same(loaded, clf, points):
    assert loaded.get_params().keys() == clf.get_params().keys()
    np.testing.assert_array_equal(loaded.classes_, clf.classes_)
    assert loaded.classes_.dtype == clf.classes_.dtype
    np.testing.assert_array_equal(loaded.coef_, clf.coef_)
    np.testing.assert_array_equal(loaded.intercept_, clf.intercept_)
    np.testing.assert_array_equal(loaded.dropped_, clf.dropped_)
    np.testing.assert_array_equal(loaded.decision_function(points), clf.decision_function(points))
    np.testing.assert_array_equal(loaded.predict(points), clf.predict(points))
    assert repr(loaded.training_set_) == repr(clf.training_set_)
    assert loaded.training_set_.sha256 == clf.training_set_.sha256
    np.testing.assert_array_equal(loaded.training_set_.row_numbers, clf.training_set_.row_numbers)
    assert repr(loaded.engine_) == repr(clf.engine_)


@pytest.mark.parametrize("enumerated", [True, False])
def test_what_was_saved_comes_back(notes, tmp_path, enumerated):
    clf = fitted(notes, enumerated)
    clf.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    loaded = RescaleInvariantSVC.load(tmp_path / "model")
    points = notes[0][40:300]
    same(loaded, clf, points)
    assert loaded.feature_names_in_.tolist() == NAMES
    assert loaded.n_features_in_ == 4
    assert (loaded.engine_.made is not None) == enumerated
    ours, theirs = loaded.certify(points), clf.certify(points)
    np.testing.assert_array_equal(ours.code, theirs.code)
    np.testing.assert_array_equal(ours.lower, theirs.lower)
    neutral = int(np.flatnonzero(ours.neutral)[0])
    assert ours.certificate(neutral).to_json() == theirs.certificate(neutral).to_json()
    with pytest.raises(InputError, match="feature names should match"):
        loaded.predict(points[NAMES[::-1]])


def test_loading_neither_trains_nor_enumerates(notes, saved, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("this was not to be done again")

    monkeypatch.setattr(complex_engine, "enumerate_vertices", refuse)
    monkeypatch.setattr("rescaleinv.estimators.margin.minimal_norm_svm", refuse)
    monkeypatch.setattr("rescaleinv.estimators.margin.nu_svm", refuse)
    RescaleInvariantSVC.load(saved).certify(notes[0][40:60])


def test_an_enumeration_that_was_stopped_stays_stopped(tmp_path):
    training_set = made_sets.gaussian(3, 4)
    points = np.random.default_rng(1).normal(size=(15, 4))
    clf = RescaleInvariantSVC(engine="complex", max_vertices=1).fit(training_set.features, training_set.signs)
    clf.precompute().save(tmp_path / "model")
    verdicts = RescaleInvariantSVC.load(tmp_path / "model").certify(points)
    assert verdicts.unknown.any()
    np.testing.assert_array_equal(verdicts.reason, clf.certify(points).reason)


@pytest.mark.parametrize(
    "options",
    [
        {"C": 0.1 + 0.2, "class_weight": {"false": np.float64(2.5), "genuine": 1}},
        {"scale_range": dict.fromkeys(NAMES, (0.5, 2))},
        {"scale_range": np.array([[1, 1], [0.5, 2], [0, np.inf], [1, 1.1]])},
        {"scale_range": [(1, 1), (0.5, 2), (0, np.inf), (1, 1.1)]},
        {"engine": "milp:pulp", "time_limit": np.float64(0.1), "n_jobs": np.int64(2), "drop_rule": "greedy"},
    ],
)
def test_parameters_come_back_as_they_were(notes, tmp_path, options):
    clf = fitted(notes, enumerated=False, **options)
    clf.save(tmp_path / "model")
    loaded = RescaleInvariantSVC.load(tmp_path / "model")
    same(loaded, clf, notes[0])
    for name, value in options.items():
        np.testing.assert_equal(getattr(loaded, name), value)
        assert isinstance(getattr(loaded, name), np.ndarray) == isinstance(value, np.ndarray)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1.0, 2.0],
        [False, True],
        ["no", "yes"],
        np.array(["no", "a longer yes"], dtype=object),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        pd.Series(["no", "yes"], dtype="category"),
    ],
    ids=lambda labels: str(np.asarray(labels).dtype) + str(labels[0]),
)
def test_labels_come_back_as_they_were(tmp_path, labels):
    clf = RescaleInvariantSVC().fit([[0.0, 1], [2, 3]], labels)
    clf.save(tmp_path / "model")
    same(RescaleInvariantSVC.load(tmp_path / "model"), clf, [[0.0, 1], [5, 5]])


def test_what_needs_pickle_is_refused(tmp_path):
    clf = RescaleInvariantSVC(time_limit=Fraction(1, 2)).fit([[0.0], [1]], [0, 1])
    with pytest.raises(InputError, match=r"Fraction\(1, 2\) can't be saved without pickle"):
        clf.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"date\(2020, 1, 1\)"):
        model_io.pack_labels(np.array([date(2020, 1, 1), date(2021, 1, 1)], dtype=object))


def test_a_save_that_fails_leaves_the_old_file(notes, saved, monkeypatch):
    before = saved.read_bytes()

    def full_disk(file, **_):
        file.write(b"half of it")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space left"):
        fitted(notes).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


# --- damage ---------------------------------------------------------------------------------------------------------


def refused(path, match="is damaged, or is not a model"):
    with pytest.raises(InputError, match=match) as caught:
        RescaleInvariantSVC.load(path)
    assert str(path) in str(caught.value)


def test_truncated_files_are_refused(saved):
    whole = saved.read_bytes()
    for length in (0, 1, 30, 100, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        saved.write_bytes(whole[:length])
        refused(saved)


def test_a_changed_byte_is_found_wherever_it_matters(saved):
    """A byte of the container that nobody reads may change; then everything else must have come back."""
    whole = saved.read_bytes()
    expected = RescaleInvariantSVC.load(saved)
    rng = np.random.default_rng(0)
    found = 0
    for place in rng.integers(0, len(whole), 150):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(changed)
        try:
            loaded = RescaleInvariantSVC.load(saved)
        except InputError:
            found += 1
        else:
            same(loaded, expected, pd.DataFrame(expected.training_set_.features, columns=NAMES))
            np.testing.assert_array_equal(
                loaded.engine_.made.vertices.solutions, expected.engine_.made.vertices.solutions
            )
    assert found > 120


@pytest.mark.parametrize("content", [b"", b"hello\n" * 50, b"PK\x03\x04" + bytes(200), pickle.dumps({"a": 1})])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    refused(tmp_path / "other")


def test_other_containers_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", features=np.eye(2))
    refused(tmp_path / "other.npz", "it has no header")
    np.savez(tmp_path / "objects.npz", header=np.array([{"a": 1}], dtype=object))
    refused(tmp_path / "objects.npz", "allow_pickle=False")
    text = np.frombuffer(b'{"format": "something else"}', dtype=np.uint8)
    np.savez(tmp_path / "foreign.npz", header=text)
    refused(tmp_path / "foreign.npz", "its format is 'something else'")
    np.savez_compressed(tmp_path / "small.npz", header=text)
    refused(tmp_path / "small.npz", "it is compressed")


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        RescaleInvariantSVC.load(tmp_path / "nothing")


# --- strangers who know the format ----------------------------------------------------------------------------------


def rewrite(path, change, digest=model_io._digest):
    """Change the header and the arrays of a file, and make its digest anew."""
    with np.load(path) as container:
        arrays = {name: container[name] for name in container.files}
    header = json.loads(arrays.pop("header").tobytes())
    change(header, arrays)
    header["digest"] = digest(header["content"], arrays)
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)


def test_a_file_that_is_rewritten_unchanged_is_fine(saved):
    rewrite(saved, lambda header, arrays: None)
    assert RescaleInvariantSVC.load(saved).engine_.made is not None


def test_a_digest_that_does_not_fit_is_refused(saved):
    """The container's own checksums fit."""
    rewrite(saved, lambda header, arrays: None, digest=lambda content, arrays: "0" * 64)
    refused(saved, "its digest does not fit its content")


def test_a_newer_version_is_said_to_be_newer(saved):
    rewrite(saved, lambda header, arrays: header.update(version=3))
    refused(saved, "was written by a newer version of rescaleinv: its format has version 3, and version 2 can be read")


def test_a_file_from_before_nu_is_read(notes, saved):
    def as_it_was(header, arrays):
        header["version"] = 1
        content = header["content"]
        del content["nu"], content["one_label"]
        content["params"]["mapping"] = [entry for entry in content["params"]["mapping"] if entry[0] != "nu"]

    before = RescaleInvariantSVC.load(saved).certify(notes[0][40:60]).code
    rewrite(saved, as_it_was)
    again = RescaleInvariantSVC.load(saved)
    assert again.nu is None
    assert again.margin_.startswith("hard margin")
    np.testing.assert_array_equal(again.certify(notes[0][40:60]).code, before)


def lie(name):
    """How a stranger might change a model so that its digest still fits."""

    def change(header, arrays):
        content = header["content"]
        bases = arrays["vertices.bases"].copy()
        if name == "a row that is not there":
            bases[0, 0] = 10**6
        elif name == "a negative row":
            bases[0, 0] = -1
        elif name == "a row twice":
            bases[0, 0] = bases[0, 1]
        elif name == "wider numbers":
            bases = bases.astype(np.int64)
        elif name == "too few columns":
            bases = bases[:, 1:]
        elif name == "no vertices at all":
            bases = bases[:0]
            arrays["vertices.solutions"] = arrays["vertices.solutions"][:0]
        elif name == "solutions that are no numbers":
            arrays["vertices.solutions"] = np.full_like(arrays["vertices.solutions"], np.nan)
        elif name == "a perturbation of another shape":
            arrays["vertices.perturbation"] = arrays["vertices.perturbation"][1:]
        elif name == "a field too many":
            content["vertices"]["more"] = 1
        elif name == "another engine":
            content["params"]["mapping"] = [
                [key, "milp" if key == "engine" else value] for key, value in content["params"]["mapping"]
            ]
        elif name == "an unknown parameter":
            content["params"]["mapping"].append(["gamma", 1])
        elif name == "a parameter of a strange kind":
            content["params"]["mapping"][0][1] = {"object": "os.system"}
        elif name == "a parameter out of bounds":
            content["params"]["mapping"] = [
                [key, "everything" if key == "engine" else value] for key, value in content["params"]["mapping"]
            ]
        elif name == "three labels":
            arrays["classes"] = np.array(["a", "b", "c"])
        elif name == "weights of another length":
            arrays["weights"] = arrays["weights"][1:]
        elif name == "rows without numbers":
            arrays["features"] = arrays["features"] * np.nan
        elif name == "one class":
            arrays["signs"] = np.ones_like(arrays["signs"])
        elif name == "no training set":
            del arrays["features"]
        arrays["vertices.bases"] = bases

    return change


@pytest.mark.parametrize(
    "name",
    [
        "a row that is not there",
        "a negative row",
        "a row twice",
        "wider numbers",
        "too few columns",
        "no vertices at all",
        "solutions that are no numbers",
        "a perturbation of another shape",
        "a field too many",
        "another engine",
        "an unknown parameter",
        "a parameter of a strange kind",
        "a parameter out of bounds",
        "three labels",
        "weights of another length",
        "rows without numbers",
        "one class",
        "no training set",
    ],
)
def test_files_that_fit_their_digest_are_checked_all_the_same(saved, name):
    rewrite(saved, lie(name))
    refused(saved)


def test_the_digest_is_that_of_every_part(saved):
    with np.load(saved) as container:
        arrays = {name: container[name] for name in container.files if name != "header"}
        header = json.loads(container["header"].tobytes())
    whole = model_io._digest(header["content"], arrays)
    assert whole == header["digest"]
    assert len(whole) == len(hashlib.sha256().hexdigest())
    for name in arrays:
        assert model_io._digest(header["content"], {k: v for k, v in arrays.items() if k != name}) != whole
    with zipfile.ZipFile(saved) as container:
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in container.infolist())


def test_what_was_fitted_is_saved_and_not_what_was_set_since(tmp_path):
    clf = RescaleInvariantSVC(C=0.1).fit([[0.0, 0], [0, 2], [2, 2], [2, 0]], [0, 0, 1, 1])
    clf.set_params(C=float("inf")).save(tmp_path / "model")
    again = RescaleInvariantSVC.load(tmp_path / "model")
    assert again.C == 0.1
    np.testing.assert_array_equal(again.decision_function([[2, 1]]), clf.decision_function([[2, 1]]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.array([np.nan, 1])),
        ("weights", np.array(["a", "b"])),
        ("weights", np.array([1j, 1])),
        ("offsets", np.array([np.inf, 0.0])),
        ("dropped", np.array(["x"])),
        ("row_numbers", np.array([-1, 0, 1, 2])),
        ("classes", np.array([1, 1])),
        ("classes", np.array([1, 0])),
    ],
)
def test_lies_with_a_digest_that_fits(tmp_path, name, value):
    clf = RescaleInvariantSVC().fit([[0.0, 0], [0, 2], [2, 2], [2, 0]], [0, 0, 1, 1])
    path = tmp_path / "model"
    clf.save(path)
    with model_io.reading(path) as (content, arrays):
        pass
    model_io.write(path, content, {**arrays, name: value})
    with pytest.raises(InputError, match="is damaged"):
        RescaleInvariantSVC.load(path)


@pytest.mark.parametrize(
    ("content", "changed"),
    [
        ({"nu": ["3/2", {"float": "0x1p-1"}]}, {}),
        ({"nu": ["0", {"float": "0x1p-1"}]}, {}),
        ({"nu": ["os", {"float": "0x1p-1"}]}, {}),
        ({"nu": "1/2"}, {}),
        ({"soft": True}, {"penalties": np.ones(4)}),
        ({}, {"row_weights": np.array([1.0, 1, 1, 0])}),
        ({}, {"row_weights": np.ones(3)}),
        ({}, {"row_weights": np.array([1.0, 1, 1, np.nan])}),
    ],
)
def test_lies_about_the_margin(tmp_path, content, changed):
    clf = RescaleInvariantSVC(nu=0.9).fit([[0.0], [2], [1], [3]], [0, 0, 1, 1])
    path = tmp_path / "model"
    clf.save(path)
    RescaleInvariantSVC.load(path)
    with model_io.reading(path) as (found, arrays):
        pass
    model_io.write(path, {**found, **content}, {**arrays, **changed})
    with pytest.raises(InputError, match="is damaged"):
        RescaleInvariantSVC.load(path)


def test_entries_that_overlap_are_refused(saved):
    """3 MB whose entries all point to the same bytes were 9 GB in memory."""
    content = bytearray(saved.read_bytes())
    with zipfile.ZipFile(saved) as container:
        first, second = container.infolist()[:2]
    # in the directory at the end, the second entry begins where the first one does
    where = content.rfind(second.filename.encode()) - 46
    assert content[where : where + 4] == b"PK\x01\x02"
    content[where + 42 : where + 46] = first.header_offset.to_bytes(4, "little")
    saved.write_bytes(content)
    refused(saved, "its entries overlap")


@pytest.mark.parametrize("shape", [(300_000_000,), (10**12,), (3, 10**30), (-1,), (2,), (0, 5)])
def test_arrays_that_are_not_as_long_as_they_say_are_refused(saved, shape):
    """A few bytes that declare gigabytes: no memory is asked for."""
    lying = io.BytesIO()
    np.lib.format.write_array_header_1_0(lying, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(saved) as container:
        entries = {entry.filename: container.read(entry) for entry in container.infolist()}
    assert np.lib.format.read_magic(io.BytesIO(entries["weights.npy"])) == (1, 0)
    with zipfile.ZipFile(saved, "w") as container:
        for name, content in entries.items():
            container.writestr(name, lying.getvalue() + bytes(40) if name == "weights.npy" else content)
    refused(saved, "is not as long as it says")


def test_two_entries_of_one_name_are_refused(saved):
    with zipfile.ZipFile(saved, "a") as container, pytest.warns(UserWarning, match="Duplicate name"):
        container.writestr("signs.npy", container.read("signs.npy"))
    refused(saved, "it has two entries of one name")


def test_what_can_not_be_a_file(tmp_path):
    with pytest.raises(InputError, match="can't be read: Is a directory"):
        RescaleInvariantSVC.load(tmp_path)
    with pytest.raises(InputError, match="can't be read: embedded null"):
        RescaleInvariantSVC.load("a\0b")
