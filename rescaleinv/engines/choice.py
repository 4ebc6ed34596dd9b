"""Which engine decides the points of a fitted estimator, and why; it is made when it is first needed."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.engines import Engine
from rescaleinv.engines.milp import solvers
from rescaleinv.errors import InputError, NotAvailableError
from rescaleinv.theory.training_set import TrainingSet

# With so many features the enumeration takes a minute or so, and a point by MILP takes seconds.
_MOST_FEATURES = 15
# However many features: where there can't be more vertices than this, all of them are soon found.
_FEW_VERTICES = 1_000_000
# When "auto" gives an enumeration up: a minute or so, and some 2 GB, with 16 features.
_BUDGET_OF_AUTO = 2_000_000

_NAMES = ("auto", "complex", "milp", *(f"milp:{solver}" for solver in solvers.BACKENDS), "gap")


@dataclass(frozen=True)
class EngineSettings:
    """What the user has said about engines."""

    time_limit: float | None = None
    max_vertices: int | None = None
    max_seconds: float | None = None
    n_jobs: int | None = None
    left_out: int = 0
    limits: FloatArray | None = None  # the ranges of τ, where they are limited
    groups: IntArray | None = None
    penalties: FloatArray | None = None  # of a soft margin


class EngineChoice:
    """The name of the engine and the reason for it. ``engine`` is the engine itself, made when first asked for.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> choice = choose_engine("auto", ts)
    >>> choice.name, choice.reason
    ('complex', '2 features that vary and 4 rows have few enough vertices to enumerate')
    """

    def __init__(self, name: str, reason: str, training_set: TrainingSet, settings: EngineSettings, auto: bool) -> None:
        self.name, self.reason = name, reason
        self._training_set, self._settings, self._auto = training_set, settings, auto
        self._engine: Engine | None = None
        self._lock: Any = threading.Lock()

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"EngineChoice({self.name!r}: {self.reason})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @property
    def made(self) -> Engine | None:
        """The engine if it has been made already."""
        return self._engine

    @property
    def engine(self) -> Engine:
        """The engine; ``NotAvailableError`` where there is none for what is asked."""
        if self.name == "none":
            raise NotAvailableError(f"no verdicts: {self.reason}")
        with self._lock:
            if self._engine is None:
                make = {"complex": self._complex, "gap": self._gap}.get(self.name, self._milp)
                self._engine = make()
            return self._engine

    def _complex(self) -> Engine:
        from joblib import effective_n_jobs

        from rescaleinv.engines.complex.engine import ComplexEngine

        settings = self._settings
        options: dict[str, Any] = {}
        if settings.max_vertices is not None or self._auto:
            options["max_vertices"] = _BUDGET_OF_AUTO if settings.max_vertices is None else settings.max_vertices
        return ComplexEngine(
            self._training_set,
            max_seconds=settings.max_seconds,
            fallback=self._milp() if self._auto else None,
            n_jobs=int(effective_n_jobs(settings.n_jobs)),
            left_out=settings.left_out,
            **options,
        )

    def _gap(self) -> Engine:
        from joblib import effective_n_jobs

        from rescaleinv.engines.branch.engine import GapEngine

        settings = self._settings
        return GapEngine(
            self._training_set,
            settings.limits,
            groups=settings.groups,
            penalties=settings.penalties,
            time_limit=settings.time_limit,
            n_jobs=int(effective_n_jobs(settings.n_jobs)),
            left_out=settings.left_out,
        )

    def _milp(self) -> Engine:
        from joblib import effective_n_jobs

        from rescaleinv.engines.milp.engine import MilpEngine

        settings = self._settings
        return MilpEngine(
            self._training_set,
            solver=self.name.partition(":")[2] or "highs",
            time_limit=settings.time_limit,
            n_jobs=int(effective_n_jobs(settings.n_jobs)),
            left_out=settings.left_out,
        )


def check_engine_name(name: Any) -> None:
    if name not in _NAMES:
        raise InputError(f"the engine {name!r} is not known; there are {', '.join(map(repr, _NAMES))}")


def most_vertices(n_features: int, n_rows: int) -> int:
    """No more vertices than this: k features with weight are fixed by k + 1 tight rows.

    >>> most_vertices(1, 2), most_vertices(30, 4), most_vertices(10, 30) > 10**9
    (1, 5980, True)
    """
    return sum(math.comb(n_features, k) * math.comb(n_rows, k + 1) for k in range(1, min(n_features, n_rows - 1) + 1))


def choose_engine(name: str, training_set: TrainingSet, settings: EngineSettings | None = None) -> EngineChoice:
    """Choose the engine for a training set. Nothing is computed yet.

    Parameters
    ----------
    name : str
        What the user has asked for.
    training_set : TrainingSet
    settings : EngineSettings, optional
        Limited ranges and penalties need the gap engine, and every rescaling one of the others.
    """
    check_engine_name(name)
    settings = settings or EngineSettings()

    def choice(chosen: str, reason: str) -> EngineChoice:
        return EngineChoice(chosen, reason, training_set, settings, name == "auto")

    if settings.limits is None and settings.penalties is not None:
        return choice(
            "none",
            "C is finite, and scale_range is None. A common factor of all features is a change of C, so that a soft margin "
            "has no verdict about every rescaling; give a finite scale_range, such as 2 for factors in [1/2, 2]",
        )
    if settings.limits is None and name == "gap":
        return choice("none", "engine='gap' needs a finite scale_range, such as 2 for factors in [1/2, 2]")
    if settings.limits is not None:
        if name not in ("auto", "gap"):
            return choice(
                "none", f"engine={name!r} considers every rescaling; a scale_range needs engine='gap' or 'auto'"
            )
        return choice(
            "gap", "a limited range of rescalings" + (" and a soft margin" * (settings.penalties is not None))
        )
    if name == "milp":
        return choice("milp:highs", "asked for; HiGHS is the default solver")
    if name != "auto":
        return choice(name, "asked for")
    n = int((np.ptp(training_set.features, axis=0) > 0).sum())
    size = f"{n} feature{'s' * (n != 1)} that var{'y' if n != 1 else 'ies'} and {training_set.n_rows} rows"
    if n <= _MOST_FEATURES or most_vertices(n, training_set.n_rows) <= _FEW_VERTICES:
        return choice("complex", f"{size} have few enough vertices to enumerate")
    return choice("milp:highs", f"{size} have too many vertices to enumerate (more than {_MOST_FEATURES} features)")
