"""Which engine decides the points of a fitted estimator, and why; it is made when it is first needed."""

from __future__ import annotations

import html
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rescaleinv._util.locks import ForkSafeLock
from rescaleinv.engines import REGISTRY, Abilities, Engine, EngineSettings, engine_names, full_name, registered
from rescaleinv.engines.as_read import reading_engine
from rescaleinv.errors import InputError, NotAvailableError
from rescaleinv.theory.scale_range import every_factor_of_groups
from rescaleinv.theory.training_set import TrainingSet

# Up to here "auto" enumerates: it takes seconds with so many features, and some more with few rows.
_MOST_FEATURES = 12
_MOST_FEATURES_OF_FEW_ROWS, _FEW_ROWS = 15, 40
# Beyond the sizes of the paper "auto" stops the enumeration after some seconds: other engines may be faster.
_PAPER_FEATURES, _PAPER_ROWS = 10, 100
_SECONDS_OF_AUTO = 10.0
# However many features: where there can't be more vertices than this, all of them are soon found.
_FEW_VERTICES = 1_000_000
# When "auto" gives an enumeration up: a minute or so, and some 2 GB, with 16 features.
_BUDGET_OF_AUTO = 2_000_000

AUTO = "auto"


class EngineChoice:
    """The name of the engine and the reason for it. ``engine`` is the engine itself, made when first asked for.

    Examples
    --------
    >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
    >>> choice = choose_engine("auto", ts)
    >>> choice.name, choice.reason
    ('complex', '2 features that vary and 4 rows have few enough vertices to enumerate')
    """

    def __init__(
        self, name: str, reason: str, training_set: TrainingSet, settings: EngineSettings, fallback: str | None = None
    ) -> None:
        self.name, self.reason = name, reason
        self._training_set, self._settings, self._fallback = training_set, settings, fallback
        self._engine: Engine | None = None
        self._lock = ForkSafeLock()

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"EngineChoice({self.name!r}: {self.reason})"

    def _repr_html_(self) -> str:
        able = [
            field.name.replace("_", " ") for field in fields(Abilities) if getattr(self.abilities, field.name) is True
        ]
        listed = f"<p>It can do: {html.escape(', '.join(able))}.</p>" if able else ""
        return f"<p>Engine <b>{html.escape(self.name)}</b>: {html.escape(self.reason)}.</p>{listed}"

    @property
    def abilities(self) -> Abilities:
        """What the chosen engine can do; nothing where there is none."""
        return Abilities() if self.name == "none" else registered(self.name).abilities

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
                self._engine = self._made()
            return self._engine

    def _made(self) -> Engine:
        settings = self._settings
        # a limited range is about the units that were given; every rescaling is about the data as they were written
        every_rescaling = settings.limits is None
        training_set = self._training_set.as_read if every_rescaling else self._training_set
        if self._fallback is not None:
            seconds = settings.max_seconds
            if seconds is None and not _is_papers_size(self._training_set):
                seconds = _SECONDS_OF_AUTO
            settings = replace(
                settings,
                fallback=make_engine(self._fallback, training_set, settings),
                max_vertices=_BUDGET_OF_AUTO if settings.max_vertices is None else settings.max_vertices,
                max_seconds=seconds,
            )
        engine = make_engine(self.name, training_set, settings)
        return reading_engine(engine, self._training_set) if every_rescaling else engine


def make_engine(name: str, training_set: TrainingSet, settings: EngineSettings) -> Engine:
    """The engine of that name (with its variant) for a training set."""
    entry = registered(name)
    return entry.load().from_settings(training_set, replace(settings, variant=name.partition(":")[2]))


def check_engine_name(name: Any) -> None:
    names = [AUTO, *engine_names()]
    if not isinstance(name, str) or name not in names:
        raise InputError(f"the engine {name!r} is not known; there are {', '.join(map(repr, names))}")


def most_vertices(n_features: int, n_rows: int) -> int:
    """No more vertices than this: k features with weight are fixed by k + 1 tight rows.

    >>> most_vertices(1, 2), most_vertices(30, 4), most_vertices(10, 30) > 10**9
    (1, 5980, True)
    """
    return sum(math.comb(n_features, k) * math.comb(n_rows, k + 1) for k in range(1, min(n_features, n_rows - 1) + 1))


def choose_engine(name: str, training_set: TrainingSet, settings: EngineSettings | None = None) -> EngineChoice:
    """Choose the engine for a training set: one that is able to do what the settings need. Nothing is computed yet.

    Parameters
    ----------
    name : str
        What the user has asked for: a name of the registry, or "auto".
    training_set : TrainingSet
    settings : EngineSettings, optional
    """
    check_engine_name(name)
    settings = settings or EngineSettings()
    question, in_groups = _of_ranges(settings), settings.limits is None and settings.groups is not None
    settings = _with_limits(settings, training_set)
    why_none = _unanswerable(name, settings, in_groups)
    if why_none:
        return EngineChoice("none", why_none, training_set, settings)
    able = _able(settings)
    if name != AUTO:
        chosen = full_name(name)
        reason = "asked for" if chosen == name else f"asked for; {chosen.partition(':')[2]} is the default solver"
        return EngineChoice(chosen, question or reason, training_set, settings)
    if len(able) == 1:
        reason = question or "the only engine for this"
        return EngineChoice(full_name(able[0]), reason, training_set, settings)
    n = _n_varying(training_set)
    size = f"{n} feature{'s' * (n != 1)} that var{'y' if n != 1 else 'ies'} and {training_set.n_rows} rows"
    enumerating = [name for name in able if registered(name).abilities.enumerates]
    others = [full_name(name) for name in able if name not in enumerating]
    if enumerating and _can_be_enumerated(n, training_set.n_rows):
        reason = f"{size} have few enough vertices to enumerate"
        return EngineChoice(
            full_name(enumerating[0]), reason, training_set, settings, fallback=others[0] if others else None
        )
    reason = f"{size} have too many vertices to enumerate"
    return EngineChoice(others[0], reason, training_set, settings)


def _n_varying(training_set: TrainingSet) -> int:
    """Features that are not constant: no others ever get weight."""
    return int((np.ptp(training_set.features, axis=0) > 0).sum())


def _can_be_enumerated(n_features: int, n_rows: int) -> bool:
    most = _MOST_FEATURES_OF_FEW_ROWS if n_rows <= _FEW_ROWS else _MOST_FEATURES
    return n_features <= most or most_vertices(n_features, n_rows) <= _FEW_VERTICES


def _is_papers_size(training_set: TrainingSet) -> bool:
    return _n_varying(training_set) <= _PAPER_FEATURES and training_set.n_rows <= _PAPER_ROWS


def _able(settings: EngineSettings) -> list[str]:
    """The engines that can do what the settings need, in the registry's order."""
    return [name for name, entry in REGISTRY.items() if not entry.abilities.missing(settings.needs)]


def _of_ranges(settings: EngineSettings) -> str:
    """The question in words where ranges are limited or features share factors, which is then the reason for the engine."""
    margin = " and a soft margin" if settings.penalties is not None else " and a nu-margin" if settings.nu else ""
    if settings.limits is not None:
        return "a limited range of rescalings" + margin
    if settings.groups is None:
        return ""
    n = int(settings.groups.max()) + 1
    if n == 1:
        return "all features share one factor, which changes nothing" + margin
    return f"every rescaling of {n} groups of features, each with one factor{margin}"


def _with_limits(settings: EngineSettings, training_set: TrainingSet) -> EngineSettings:
    """Every rescaling of groups as ranges: one group keeps its scale, which is all the same where the margin has none."""
    if settings.limits is not None or settings.groups is None or settings.penalties is not None:
        return settings
    varies = np.ptp(training_set.features, axis=0) > 0
    return replace(settings, limits=every_factor_of_groups(settings.groups, varies))


def _unanswerable(name: str, settings: EngineSettings, in_groups: bool) -> str:
    """Why no engine, or not the one that was asked for, can do what the settings need; "" where it can.

    ``in_groups``: the question is every rescaling of groups.
    """
    if settings.limits is None and settings.penalties is not None:
        return (
            "C is finite, and scale_range is None. A common factor of all features is a change of C, so that a soft margin "
            "has no verdict about every rescaling; give a finite scale_range, such as 2 for factors in [1/2, 2]"
        )
    able = _able(settings)
    if not able:
        return _nobody_can(settings)
    if name == AUTO or name.partition(":")[0] in able:
        return ""
    missing = registered(name).abilities.missing(settings.needs)
    others = " or ".join(map(repr, [*able, AUTO]))
    if in_groups:
        return f"engine={name!r} rescales every feature on its own; groups need engine={others}"
    why = {
        "every_rescaling": f"engine={name!r} needs a finite scale_range, such as 2 for factors in [1/2, 2]",
        "limited_ranges": f"engine={name!r} considers every rescaling; a scale_range needs engine={others}",
    }
    return why.get(missing[0], f"engine={name!r} has no {missing[0].replace('_', ' ')}; that needs engine={others}")


def _nobody_can(settings: EngineSettings) -> str:
    wanted = ", ".join(sorted(need.replace("_", " ") for need in settings.needs))
    return f"no engine can do all of this at once: {wanted}"
