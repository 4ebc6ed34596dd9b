"""A progress bar on standard error: on a terminal only, and only for what takes longer than a second or two."""

from __future__ import annotations

import sys
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
    """A bar that counts things; ``wanted`` None shows it on a terminal only."""
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield Bar(None)
        return
    from tqdm import tqdm

    with tqdm(total=total, unit=f" {what}", delay=_DELAY, unit_scale=True, leave=False) as bar:
        yield Bar(bar)
