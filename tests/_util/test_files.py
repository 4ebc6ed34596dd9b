"""A file is written whole or not at all."""

import os
import stat

import pytest

from rescaleinv._util.files import replacing


def test_a_new_file_has_what_was_written_and_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    with replacing(tmp_path / "new") as file:
        file.write(b"first\n")
        file.write(b"second\n")
        assert not (tmp_path / "new").exists()  # nothing is there before all is
    assert (tmp_path / "new").read_bytes() == b"first\nsecond\n"
    modes = {stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("usual", "new")}
    assert len(modes) == 1
    assert sorted(os.listdir(tmp_path)) == ["new", "usual"]


def test_an_old_file_is_replaced_at_the_end(tmp_path):
    path = tmp_path / "it"
    path.write_bytes(b"a long text that was there before")
    with replacing(str(path)) as file:
        file.write(b"short")
        file.flush()
        assert path.read_bytes() == b"a long text that was there before"
    assert path.read_bytes() == b"short"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_changes_nothing_and_leaves_nothing(tmp_path, error):
    path = tmp_path / "it"
    path.write_bytes(b"before")

    def write_half():
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["it"]


def test_a_file_that_cannot_take_its_place_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError), replacing(tmp_path / "folder") as file:
        file.write(b"text")
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "nowhere" / "it") as file:
        file.write(b"text")
    assert os.listdir(tmp_path) == ["folder"]
