"""A progress bar, on a terminal or in a notebook only, and only for what takes longer than a second or two."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_DELAY = 1.5  # seconds


class Bar:
    """What is shown while work goes on; nothing where ``bar`` is None."""

    def __init__(self, bar: Any) -> None:  # tqdm has no types
        self._bar = bar

    def show(self, done: int, note: str = "") -> None:
        """Tell how much is done in all, and a word about it."""
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
            if note:
                self._bar.set_postfix_str(note, refresh=False)


@contextmanager
def progress_bar(what: str, wanted: bool | None = None, total: int | None = None) -> Iterator[Bar]:
    """A bar that counts things; ``wanted`` None shows it on a terminal and in a notebook only."""
    tqdm = _tqdm() if wanted or (wanted is None and (sys.stderr.isatty() or _in_notebook())) else None
    if tqdm is None:
        yield Bar(None)
        return
    with tqdm(total=total, unit=f" {what}", delay=_DELAY, unit_scale=True, leave=False) as bar:
        yield Bar(bar)


def _tqdm() -> Any:
    """The bar for a terminal, or for a notebook; None where tqdm is not installed, as nothing depends on a bar."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # in a notebook without ipywidgets it is a bar of text, which is fine
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def _in_notebook() -> bool:
    """Whether somebody sees this in Jupyter, whose standard error is not a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config
