"""The progress bar: on a terminal or in a notebook only, and it counts what is done in all."""

import sys
from types import SimpleNamespace
from typing import ClassVar

import pytest
import tqdm.auto

from rescaleinv._util import progress
from rescaleinv._util.progress import progress_bar


class RecordingBar:
    """Stands for tqdm: remembers what it is told."""

    made: ClassVar = []

    def __init__(self, **options):
        self.options, self.n, self.notes, self.closed = options, 0, [], False
        self.made.append(self)

    def update(self, more):
        self.n += more

    def set_postfix_str(self, note, refresh):
        self.notes.append((note, refresh))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed = True


@pytest.fixture
def bars(monkeypatch):
    monkeypatch.setattr(tqdm.auto, "tqdm", RecordingBar)
    monkeypatch.setattr(RecordingBar, "made", [])
    return RecordingBar


@pytest.mark.parametrize(
    ("wanted", "terminal", "shown"),
    [(None, True, True), (None, False, False), (True, False, True), (False, True, False)],
)
def test_a_bar_is_shown_on_a_terminal_unless_told(bars, monkeypatch, wanted, terminal, shown):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with progress_bar("rows", wanted) as bar:
        bar.show(3)
    assert len(bars.made) == shown


@pytest.mark.parametrize(("config", "shown"), [({"IPKernelApp": {}}, True), ({}, False), (None, False)])
def test_a_notebook_shows_it_too(bars, monkeypatch, config, shown):
    shell = None if config is None else SimpleNamespace(config=config)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with progress_bar("rows") as bar:
        bar.show(3)
    assert len(bars.made) == shown


def test_without_tqdm_there_is_no_bar_and_no_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with progress_bar("rows", True) as bar:
        bar.show(3, "a note")


def test_it_is_told_totals_and_moves_by_differences(bars):
    with progress_bar("points", True, total=9) as bar:
        for done, note in ((2, ""), (7, "5 proved"), (7, ""), (9, "6 proved")):
            bar.show(done, note)
            assert bars.made[0].n == done
        assert not bars.made[0].closed
    (made,) = bars.made
    assert made.notes == [("5 proved", False), ("6 proved", False)]
    assert made.closed
    assert made.options["total"] == 9
    assert made.options["unit"] == " points"
    assert made.options["delay"] == progress._DELAY > 0  # short work shows nothing


def test_the_bar_goes_when_the_work_fails(bars):
    with pytest.raises(ZeroDivisionError), progress_bar("rows", True):
        raise ZeroDivisionError
    assert bars.made[0].closed


def test_nothing_is_written_where_no_bar_is_wanted(capsys):
    with progress_bar("rows", False) as bar:
        bar.show(3, "a note")
    assert capsys.readouterr() == ("", "")
