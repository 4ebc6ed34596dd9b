"""Which columns of a table can be features: those that can't are named together, each with the option that helps."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rescaleinv._util.tables import folded
from rescaleinv.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_ROW_NUMBERS = "Unnamed: "  # what pandas calls a column without a name, which it writes row numbers to
# A column of texts with so many different ones at most is taken for one of categories.
_MOST_CATEGORIES = 12
# So many columns are told about; the rest are counted.
_MOST_SHOWN = 12
_LONGEST_SHOWN = 24
_IDENTIFIER = re.compile(r"((^|[_\W])(id|nr|uuid|index|row)|[a-z](Id|ID|Nr))$|^(ID|Id|Nr|NR|Index|Row)$")
# A table must have so many rows for whole numbers that all differ to be conspicuous.
_ENOUGH_ROWS = 20


def named_columns(given: Iterable[str], columns: Sequence[str], option: str, path: str) -> list[str]:
    """The columns that an option names, by several options or by one with commas; one that is not there is an error.

    >>> named_columns(["age,sex", "weight, kg"], ["age", "sex", "weight, kg"], "--ignore", "train.csv")
    ['age', 'sex', 'weight, kg']
    >>> named_columns(["patientid"], ["patient_id", "age"], "--ignore", "train.csv")
    Traceback (most recent call last):
        ...
    rescaleinv.errors.InputError: --ignore patientid: train.csv has no such column; did you mean patient_id?
    """
    found: list[str] = []
    for text in given:
        parts = [text] if text in columns else [part.strip() for part in text.split(",")]
        for name in parts:
            if name not in columns:
                raise InputError(f"{option} {name}: {path} has no such column; {_instead(name, columns)}")
            if name not in found:
                found.append(name)
    return found


def _instead(name: str, columns: Sequence[str]) -> str:
    lower = {str(column).lower(): str(column) for column in columns}
    near = difflib.get_close_matches(name.lower(), list(lower), n=1)
    return f"did you mean {lower[near[0]]}?" if near else f"it has {folded(list(columns))}"


def without_row_numbers(names: list[str], path: str) -> list[str]:
    """The names but those that pandas gives to columns without one."""
    numbers = [name for name in names if name.startswith(_ROW_NUMBERS) or not name.strip()]
    if numbers:
        print(f"note: {path} has a column without a name; it is taken for row numbers and left out")
    return [name for name in names if name not in numbers]


class Unusable(NamedTuple):
    """A column that can't be a feature as it is: what is wrong with it, and the option that helps."""

    name: str
    problem: str
    remedy: str


def require_numbers(table: pd.DataFrame, names: list[str], path: str, *, empty_too: bool = False) -> None:
    """An ``InputError`` that names all columns which are not of numbers, with the options that solve it."""
    found = [
        problem
        for name in names
        if not (empty_too and table[name].isna().all()) and (problem := _unusable(table[name])) is not None
    ]
    if not found:
        return
    told = "; ".join(f"{column.name} ({column.problem})" for column in found[:_MOST_SHOWN])
    more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    one = len(found) == 1
    raise InputError(
        f"{path}: {'one column is' if one else f'{len(found)} columns are'} not of numbers, which features must be: "
        f"{told}{more}. Add {' '.join(column.remedy for column in found)}"
    )


def _unusable(column: pd.Series[Any]) -> Unusable | None:
    name = str(column.name)
    values = column.dropna()
    if not len(values):
        return Unusable(name, "it is empty", f"--ignore {shlex.quote(name)}")
    if column.dtype.kind in "biuf":
        return None
    texts = [value for value in values.tolist() if not _is_number(value)]
    if not texts:
        return None
    different = sorted({_shown(value) for value in texts})
    if len(texts) < len(values) / 2:
        row = 1 + next(k for k, value in enumerate(column.isin([texts[0]]).tolist()) if value)
        problem = (
            f"{len(texts)} of {len(values)} values are not numbers, the first is {_shown(texts[0])!r} in row {row}"
        )
        if len(different) == 1:
            return Unusable(name, problem, f"--na {shlex.quote(different[0])}")
        return Unusable(name, problem, f"--ignore {shlex.quote(name)}")
    if len(different) == 1:
        return Unusable(name, f"the text {different[0]!r} only", f"--ignore {shlex.quote(name)}")
    if len(different) <= _MOST_CATEGORIES and len(different) < len(values):
        problem = f"{len(different)} categories: {', '.join(different[:4])}{', …' if len(different) > 4 else ''}"
        return Unusable(name, problem, f"--one-hot {shlex.quote(name)}")
    problem = f"{len(different)} different texts, such as {different[0]!r}"
    return Unusable(name, problem, f"--ignore {shlex.quote(name)}")


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # an integer beyond all floats, of which the reading of numbers tells
        return True
    return True


def _shown(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def tell_identifiers(table: pd.DataFrame, names: list[str]) -> None:
    """A note about columns that number the rows, by their name or their values; a label must not be learnt from them."""
    for name in names:
        reason = _identifier_reason(table[name])
        if reason:
            print(
                f"note: {name} is used as a feature, but {reason}; if it identifies rows: --ignore {shlex.quote(name)}"
            )


def _identifier_reason(column: pd.Series[Any]) -> str:
    distinct = column.nunique(dropna=True) == len(column)
    whole = column.dtype.kind in "iu"
    if _IDENTIFIER.search(str(column.name)):
        return "its name is that of an identifier"
    if whole and distinct and len(column) >= _ENOUGH_ROWS:
        steps = column.diff().dropna()
        if (steps == 1).all():
            return "its values number the rows"
        return "its values are whole numbers that all differ"
    return ""


def without_units(table: pd.DataFrame, names: list[str]) -> list[str]:
    """Columns with two values: yes and no have no unit, so that limited ranges leave them as they are."""
    return [name for name in names if table[name].nunique(dropna=True) <= 2]
