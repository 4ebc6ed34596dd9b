"""``rescaleinv warm``: compile everything now, or say why that is of no use."""

import warnings

from rescaleinv.cli.main import main
from rescaleinv.engines import compiling
from rescaleinv.errors import NotKeptWarning


def test_engines_selection_and_learners_are_compiled(monkeypatch, capsys):
    from rescaleinv.online import _kernel as online
    from rescaleinv.selection import _conditional as selection

    called = []
    monkeypatch.setattr(compiling, "compile_everything", lambda: called.append("engines"))
    assert main(["warm"]) == 0
    assert called == ["engines"]
    assert "everything is compiled" in capsys.readouterr().out
    assert selection.choose.signatures
    assert online.learn.signatures


def test_every_engine_with_compiled_code_is_asked(monkeypatch):
    asked = []

    class Entry:
        variants = ""
        abilities = compiling.REGISTRY["gap"].abilities

        def load(self):
            return Engine

    class Engine:
        @classmethod
        def from_settings(cls, training_set, settings):
            asked.append(settings.needs)
            return cls()

        def certify_checked(self, points):
            asked.append("certify")

        def radius(self, points, ratio, largest):
            asked.append("radius")

    monkeypatch.setattr(compiling, "REGISTRY", {"made up": Entry(), "milp": compiling.REGISTRY["milp"]})
    monkeypatch.setattr(compiling, "compile_engine", lambda name: asked.append(name))
    compiling.compile_everything()
    assert asked[0] == "made up"
    assert "milp" not in asked
    assert asked.count("radius") >= 2
    assert {"limited_ranges", "groups"} in asked
    assert {"limited_ranges", "soft_margin"} in asked


def test_where_nothing_can_be_kept_the_exit_code_says_so(monkeypatch, capsys):
    def not_kept():
        warnings.warn(NotKeptWarning(), stacklevel=1)

    monkeypatch.setattr(compiling, "compile_everything", not_kept)
    assert main(["warm"]) == 2
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err
