"""What the options say about units: which features are not rescaled, how far others may be off, which share a factor."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rescaleinv._util.tables import folded
from rescaleinv.cli.columns import named_columns
from rescaleinv.cli.table_input import LabelledTables
from rescaleinv.errors import InputError
from rescaleinv.theory.scale_range import as_scale_range

_FREE = "free"


def scale_range_of(options: argparse.Namespace, tables: LabelledTables) -> Any:
    """What ``RescaleInvariantSVC`` takes as ``scale_range``.

    What ``--fixed`` and ``--range`` leave out is rescaled by factors up to ``--kappa`` where no ``--scale-range`` is given.
    In a limited range features without units (two values, categories) keep their scale unless ``--range`` names them, or
    ``--group`` has them share the factor of a feature with a unit.
    """
    default = _default(getattr(options, "scale_range", None))
    fixed, ranges = fixed_features(options, tables), _ranges(options, tables)
    both = [name for name in fixed if name in ranges]
    if both:
        raise InputError(f"--fixed and --range: {both[0]} is either not rescaled or given a range, and not both")
    if default is None and (fixed or ranges):
        default = options.kappa
        print(
            f"note: features that are neither fixed nor given a range change by factors up to {default:g} (--scale-range)"
        )
    limited = default is not None
    resting = [name for name in without_units(options, tables) if limited and name not in ranges and name not in fixed]
    if not (fixed or ranges or resting):
        return default
    if isinstance(default, list) and any(isinstance(one, list) for one in default):
        raise InputError(
            "--scale-range with one pair per feature says it all; --fixed and --range go with one number or pair for all"
        )
    if resting:
        print(
            f"note: {folded(resting)}: columns with two values have no unit, and keep their scale; --range "
            f"{resting[0]}=FACTOR varies it"
        )
    kept: dict[str, Any] = dict.fromkeys([*fixed, *resting], (1, 1))
    return {name: ranges.get(name, kept.get(name, default)) for name in tables.names}


def check_units(options: argparse.Namespace, tables: LabelledTables) -> None:
    """What is wrong with these options is said before anything that takes long to load is loaded."""
    fixed_features(options, tables)
    groups_of(options, tables)
    given = {f"--range {name}": value for name, value in _ranges(options, tables).items()}
    for option, value in {**given, "--scale-range": _default(getattr(options, "scale_range", None))}.items():
        try:
            as_scale_range(value, len(tables.names), tables.names)
        except InputError as error:
            raise InputError(f"{option}: {error}") from error


def fixed_features(options: argparse.Namespace, tables: LabelledTables) -> list[str]:
    """The features that ``--fixed`` names; a column of categories stands for all that were made of it."""
    made = [*tables.names, *(name.partition("=")[0] for name in tables.without_units if "=" in name)]
    given = named_columns(options.fixed, made, "--fixed", options.train)
    return [name for name in tables.names if name in given or name.partition("=")[0] in given]


def groups_of(options: argparse.Namespace, tables: LabelledTables) -> dict[str, str] | None:
    """What ``RescaleInvariantSVC`` takes as ``groups``."""
    groups: dict[str, str] = {}
    for text in options.group:
        names = named_columns([text], tables.names, "--group", options.train)
        twice = [name for name in names if name in groups]
        if twice:
            raise InputError(f"--group {text}: {twice[0]} is in another group already")
        groups |= dict.fromkeys(names, text)
    return groups or None


def without_units(options: argparse.Namespace, tables: LabelledTables) -> list[str]:
    """The features that have no unit of their own, nor that of another feature in their group."""
    groups = groups_of(options, tables) or {}
    with_units = {groups.get(name) for name in tables.names if name not in tables.without_units} - {None}
    return [name for name in tables.without_units if groups.get(name) not in with_units]


def _default(text: str | None) -> Any:
    """A number, a pair, or pairs in the order of the features, as JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"--scale-range {text[:80]}: a number (2), a pair ([0.5, 2]) or one pair per feature ([[1, 1], …]) is needed"
        ) from error


def _ranges(options: argparse.Namespace, tables: LabelledTables) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in options.range:
        name, sign, factor = text.rpartition("=")
        if not sign:
            raise InputError(f"--range {text}: a column and a factor are needed, such as glucose=18")
        try:
            low, _, high = ("0:inf" if factor == _FREE else factor).partition(":")
            number: Any = (float(low), float(high)) if high else float(low)
        except ValueError as error:
            raise InputError(
                f"--range {text}: {factor!r} is not a number (18), a pair (0.5:18; 1:inf) or {_FREE!r} (any factor)"
            ) from error
        [column] = named_columns([name], tables.names, "--range", options.train)
        if column in found:
            raise InputError(f"--range {text}: {column} has a range already")
        found[column] = number
    return found
