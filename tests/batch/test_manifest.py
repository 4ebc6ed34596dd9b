"""The folder of a run: what is damaged or of another run is refused, and the message helps."""

import hashlib
import shutil
from functools import partial
from pathlib import Path

import pytest
from batch_runs import NAMES, contents

from rescaleinv import InputError, RescaleInvariantSVC, certify_files
from rescaleinv.batch import manifest
from rescaleinv.batch.manifest import RunFolder


def edited(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


DAMAGE = {
    "edited run": (lambda out: edited(out / "_run/run.json", "60", "61"), r"run\.json was edited or is damaged"),
    "cut run": (lambda out: cut(out / "_run/run.json"), r"run\.json is damaged .*delete this one to start again"),
    "another kind of run": (lambda out: (out / "_run/run.json").write_text("[]"), r"run\.json is damaged"),
    "no run": (lambda out: (out / "_run/run.json").unlink(), r"run\.json is missing; choose another folder"),
    "no model": (lambda out: (out / "_run/model.npz").unlink(), r"model\.npz is missing or damaged"),
    "cut model": (lambda out: cut(out / "_run/model.npz"), r"model\.npz is missing or damaged"),
    "edited note": (
        lambda out: edited(out / "_run/part-00000002.json", '"neutral": ', '"neutral": 1'),
        r"part-00000002\.json was edited or is damaged: .*; delete it, and its part is made again",
    ),
    "empty note": (
        lambda out: (out / "_run/part-00000002.json").write_bytes(b""),
        r"part-00000002\.json is damaged .*; delete it, and its part is made again",
    ),
    "note of another part": (
        lambda out: shutil.copy(out / "_run/part-00000001.json", out / "_run/part-00000002.json"),
        r"part-00000002\.json does not belong here",
    ),
    "changed part": (
        lambda out: (out / "part-00000002.parquet").write_bytes(b"else"),
        r"part-00000002\.parquet is not what this run wrote; delete it, and it is made again",
    ),
    "part of another part": (
        lambda out: shutil.copy(out / "part-00000001.parquet", out / "part-00000002.parquet"),
        r"part-00000002\.parquet is not what this run wrote",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_is_refused(run, kind):
    out, go_on = run
    damage, message = DAMAGE[kind]
    damage(out)
    with pytest.raises(InputError, match=message):
        go_on()


@pytest.mark.parametrize("kind", ["edited note", "empty note", "note of another part", "changed part"])
def test_what_the_message_says_helps(run, kind):
    out, go_on = run
    before = contents(out)
    DAMAGE[kind][0](out)
    with pytest.raises(InputError, match="delete it, and") as refusal:
        go_on()
    Path(str(refusal.value).split(": ")[0].split(" is ")[0].split(" was ")[0].split(" does ")[0]).unlink()
    go_on()
    assert contents(out) == before


def test_another_run_is_refused(run, table, inputs, points):
    out, go_on = run
    certify = partial(certify_files, out=out)
    other = RescaleInvariantSVC().fit(table[NAMES][:17], table["label"][:17])
    with pytest.raises(InputError, match="was made with another model; choose another folder, or delete this one"):
        certify(other, inputs, chunk_rows=60)
    with pytest.raises(InputError, match=r"was made with chunk_rows=60, and now it is 50"):
        go_on(chunk_rows=50)
    with pytest.raises(InputError, match=r"was made with keep=\[\], and now it is \['id'\]"):
        go_on(keep=["id"])
    (inputs / "b.parquet").rename(inputs / "z.parquet")
    with pytest.raises(InputError, match=r"made from other inputs \(a.csv, b.parquet, c.parquet\) than are given now"):
        go_on()
    (inputs / "z.parquet").rename(inputs / "b.parquet")
    go_on()
    points[1:101].to_csv(inputs / "a.csv", index=False)
    with pytest.raises(InputError, match=r"was made from another version of a\.csv"):
        go_on()


def test_notes_of_another_run_are_refused(run, model, inputs, tmp_path):
    out, go_on = run
    certify_files(model, inputs, tmp_path / "other", chunk_rows=50)
    shutil.copy(tmp_path / "other/_run/part-00000001.json", out / "_run/part-00000001.json")
    with pytest.raises(InputError, match=r"part-00000001\.json does not belong here"):
        go_on()


def test_a_folder_of_something_else_is_left_alone(model, inputs, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it", encoding="utf-8")
    with pytest.raises(InputError, match="has files of something else"):
        certify_files(model, inputs, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    with pytest.raises(InputError, match="is a file; a folder"):
        certify_files(model, inputs, tmp_path / "mine" / "thesis.txt")


def test_one_run_at_a_time(run):
    out, go_on = run
    with RunFolder(out).opened(), pytest.raises(InputError, match="is being written by another run"):
        go_on()
    go_on()


@pytest.mark.parametrize(
    "name", ["part-00000099.parquet", "part-x.parquet", "other.parquet", "part-00000001", "below/part-00000000.parquet"]
)
def test_a_foreign_table_in_the_folder_is_noticed(model, inputs, tmp_path, name):
    """Readers of a folder take every file, whatever its suffix, and those below it."""
    certify_files(model, inputs, tmp_path / "out")
    (tmp_path / "out" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "out" / "_mine").mkdir()  # what readers pass over is nobody's business
    for copy in (name, "_mine/part-00000000.parquet", "_part-1.parquet"):
        shutil.copy(inputs / "b.parquet", tmp_path / "out" / copy)
    with pytest.raises(InputError, match=f"{name} is not a part of this run, which has 1"):
        certify_files(model, inputs, tmp_path / "out")


def test_a_deeply_nested_description_is_damage(model, inputs, tmp_path):
    certify_files(model, inputs, tmp_path / "out")
    (tmp_path / "out" / "_run" / "run.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(InputError, match=r"run\.json is damaged"):
        certify_files(model, inputs, tmp_path / "out")


# --- by itself ------------------------------------------------------------------------------------------------------


def save_model(path):
    path.write_bytes(b"a model")


def test_parts_are_noted_with_their_hash_and_found_again(tmp_path):
    folder = RunFolder(tmp_path / "out")
    with folder.opened():
        run = folder.begin({"model": "m", "chunk_rows": 5}, save_model)
        assert folder.finished(run) == {}
        part = folder.write_part(run, 3, b"content", {"neutral": 2})
        assert part.sha256 == hashlib.sha256(b"content").hexdigest()
        assert folder.finished(run) == {3: part}
        assert folder.begin({"chunk_rows": 5, "model": "m"}, save_model) == run  # in any order
        folder.part_path(3).unlink()
        assert folder.finished(run) == {}  # to be made again
    assert (tmp_path / "out" / "_run" / "run.json").exists()


def test_the_digest_depends_on_the_model_file(tmp_path):
    digests = set()
    for name, content in (("a", b"a model"), ("b", b"another"), ("c", b"a model")):
        folder = RunFolder(tmp_path / name)
        with folder.opened():
            digests.add(folder.begin({"model": "m"}, lambda path, content=content: path.write_bytes(content)))
    assert len(digests) == 2


def test_what_killed_processes_were_writing_goes(tmp_path):
    folder = RunFolder(tmp_path / "out")
    with folder.opened():
        folder.begin({"model": "m"}, save_model)
    left = [tmp_path / "out" / ".part-00000001.parquet.x.part", tmp_path / "out" / "_run" / ".run.json.y.part"]
    for path in left:
        path.write_bytes(b"half of")
    with folder.opened():
        assert not any(path.exists() for path in left)
        left[0].write_bytes(b"half of")
    assert not left[0].exists()
    assert folder.model_path.exists()


def test_another_format_is_refused(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path / "out")
    with folder.opened():
        folder.begin({"model": "m"}, save_model)
        monkeypatch.setattr(manifest, "_FORMAT", "rescaleinv-run/99")
        with pytest.raises(InputError, match="has the format 'rescaleinv-run/3'; 'rescaleinv-run/99' is needed"):
            folder.begin({"model": "m"}, save_model)


@pytest.mark.parametrize("text", ["", "[]", "3", "null", '{"a": 1}', "{", "\xff", '{"digest": 1, "run": 2}'])
def test_a_note_that_is_none_is_damage(tmp_path, text):
    folder = RunFolder(tmp_path / "out")
    with folder.opened():
        run = folder.begin({"model": "m"}, save_model)
        (tmp_path / "out" / "_run" / "part-00000000.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(
            InputError, match=r"part-00000000\.json (is|was edited or is) damaged.*its part is made again"
        ):
            folder.finished(run)


def test_a_file_in_the_way_of_the_folder(tmp_path):
    (tmp_path / "out").write_text("a file")
    with (
        pytest.raises(InputError, match="is a file; a folder for the results is needed"),
        RunFolder(tmp_path / "out").opened(),
    ):
        pass
