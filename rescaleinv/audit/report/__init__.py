"""An audit as one self-contained web page: findings, pictures, tables, and every point to look at. Extra ``audit``."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rescaleinv import __version__
from rescaleinv._util.files import replacing
from rescaleinv._util.progress import progress_bar
from rescaleinv.audit.report.tables import PointRow, feature_rows, point_details, point_rows, scaling_rows, strong_rows
from rescaleinv.audit.result import Audit
from rescaleinv.errors import InputError
from rescaleinv.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

_KINDS = ((1, "positive"), (-1, "negative"), (0, "neutral"), (2, "unknown"))


def write_report(
    audit: Audit,
    path: str | Path,
    *,
    title: str = "Scaling audit",
    kept: pd.DataFrame | None = None,
    max_points: int = 1000,
    progress: bool | None = None,
) -> None:
    """Write an audit as one HTML file that needs no network.

    Parameters
    ----------
    audit : Audit
    path : str or Path
        Written whole or not at all.
    title : str
    kept : data frame, optional
        Columns to show of each point, such as identifiers.
    max_points : int
        How many points the table may have; neutral ones come first.
    progress : bool, optional
        Show progress; on a terminal if not given.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rescaleinv.audit import scaling_audit
    >>> audit = scaling_audit([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1], [[-1, 4], [4, 4], [0, 0]])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "audit.html"
    >>> write_report(audit, path)
    >>> "1 of 3 points (33 %) is neutral" in path.read_text(encoding="utf-8")
    True
    """
    page = render_report(audit, title=title, kept=kept, max_points=max_points, progress=progress)
    try:
        with replacing(path) as file:
            file.write(page.encode())
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error


def require_extras() -> None:
    """An error that says what to install, before any work is done."""
    try:
        import jinja2  # noqa: F401 - whether it is there
        import matplotlib  # noqa: F401 - whether it is there
    except ImportError as error:
        raise InputError(
            f'an audit page needs jinja2 and matplotlib ({error}): pip install "rescaleinv[audit]"'
        ) from error


def render_report(
    audit: Audit,
    *,
    title: str = "Scaling audit",
    kept: pd.DataFrame | None = None,
    max_points: int = 1000,
    progress: bool | None = None,
) -> str:
    """The page as text; the parameters are those of ``write_report``."""
    require_extras()
    if not isinstance(audit, Audit):
        raise InputError(f"{type(audit).__name__} was given; what scaling_audit returns is needed")
    if kept is not None and len(kept) != len(audit):
        raise InputError(f"kept has {len(kept)} rows for {len(audit)} points; one per point is needed")
    if max_points < 1:
        raise InputError(f"max_points is {max_points}; at least one point is needed")
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    from rescaleinv.audit.report.figures import figures

    chosen = shown_points(audit, max_points)
    details = {}
    with progress_bar("points", progress, total=len(chosen)) as bar:
        for done, i in enumerate(chosen):
            details[i] = point_details(audit, i)
            bar.show(done + 1)
    files = resources.files("rescaleinv.audit.report")
    style, script, template = ((files / f"page.{ending}").read_text("utf-8") for ending in ("css", "js", "html"))
    # everything that comes from data is escaped by the template, is JSON, or drawn as paths; style and script are ours
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"share": _share, "number": _number}
    return environment.from_string(template).render(
        audit=audit,
        title=title,
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=Markup(safe_json({"features": audit.feature_names, "points": details})),
        tiles=_tiles(audit),
        answer=next((finding for finding in audit.findings if finding.topic == "answer"), None),
        findings=[finding for finding in audit.findings if finding.topic != "answer"],
        figures=[picture._replace(drawing=Markup(picture.drawing)) for picture in figures(audit)],
        report=strong_rows(audit),
        scalings=scaling_rows(audit),
        features=feature_rows(audit),
        kept=[] if kept is None else [str(name) for name in kept.columns],
        points=_with_kept(point_rows(audit, chosen), kept),
        n_left_out=len(audit) - len(chosen),
        has_truth=any(label is not None for label in audit.truth),
    )


def shown_points(audit: Audit, most: int) -> list[int]:
    """The points of the table: those whose label depends on the scaling, those not decided, the others; so many at most."""
    rank = np.select([audit.verdicts.neutral, audit.verdicts.unknown], [0, 1], 2)
    found: list[int] = np.argsort(rank, kind="stable")[:most].tolist()
    return found


def safe_json(value: Any) -> str:
    """JSON that ends no script element, whatever text is in it; what is not finite is null.

    >>> safe_json({"a": "</script>", "b": math.inf})
    '{"a":"\\\\u003c/script\\\\u003e","b":null}'
    """
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else "∞" if math.isinf(value) else f"{value:.3g}"


def _tiles(audit: Audit) -> list[dict[str, Any]]:
    counts = {kind: int((audit.verdicts.code == kind).sum()) for kind, _ in _KINDS}
    return [
        {"style": style, "count": counts[kind], "share": counts[kind] / len(audit), "text": audit.words(kind)}
        for kind, style in _KINDS
        if counts[kind] or kind != Verdict.UNKNOWN
    ]


def _with_kept(rows: list[PointRow], kept: pd.DataFrame | None) -> list[tuple[PointRow, list[str]]]:
    if kept is None:
        return [(row, []) for row in rows]
    values = kept.to_numpy(dtype=object)
    return [(row, [str(value) for value in values[row.number]]) for row in rows]
