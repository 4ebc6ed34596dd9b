"""``rescaleinv warm``: after it nothing is left to be compiled."""

import warnings

import numpy as np

from rescaleinv import RescaleInvariantSVC
from rescaleinv.cli.main import main
from rescaleinv.engines import compiling
from rescaleinv.errors import NotKeptWarning


def test_after_it_engines_compile_nothing(capsys):
    from numba.core import event

    assert main(["warm"]) == 0
    assert "everything is compiled" in capsys.readouterr().out
    made = []

    class Listener(event.Listener):
        def on_start(self, happened):
            made.append(happened.data["dispatcher"].py_func.__name__)

        def on_end(self, happened):
            pass

    rng = np.random.default_rng(1)
    rows = np.round(rng.normal(size=(24, 4)) * 3, 1)
    labels = rows[:, 0] + rows[:, 1] > 0.3
    with event.install_listener("numba:compile", Listener()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for settings in (
            {},
            {"engine": "staged"},
            {"scale_range": 2},
            {"scale_range": 2, "C": 1.0},
            {"scale_range": 2, "groups": [0, 0, 1, 2]},
        ):
            clf = RescaleInvariantSVC(time_limit=1, **settings).fit(rows, labels)
            clf.certify(rows[:3] * 0.9)
            if "engine" not in settings:
                clf.rescaling_radius(rows[:1], ratio=1.5, largest=3)
    assert made == []


def test_where_nothing_can_be_kept_the_exit_code_says_so(monkeypatch, capsys):
    def not_kept():
        warnings.warn(NotKeptWarning(), stacklevel=1)

    monkeypatch.setattr(compiling, "compile_everything", not_kept)
    assert main(["warm"]) == 2
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err
