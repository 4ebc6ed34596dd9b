"""Numbers, intervals and tables as Markdown; None is what is undefined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def interval(found: dict[str, Any], digits: int = 1) -> str:
    """A mean with its 95 % interval."""
    if found["mean"] is None:
        return "-"
    if found["low"] is None:
        return number(found["mean"], digits)
    return f"{number(found['mean'], digits)} [{number(found['low'], digits)}, {number(found['high'], digits)}]"


def span(found: dict[str, Any], digits: int = 1) -> str:
    """Least and largest."""
    return "-" if found["least"] is None else f"{number(found['least'], digits)} to {number(found['largest'], digits)}"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
