"""Every link within the built site leads to a page, and every fragment to an element: python docs/check_links.py FOLDER"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The identifiers of a page, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.identifiers: set[str] = set()
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.identifiers.add(value)
            if name in ("href", "src") and value and not (tag == "link" and "rel" in dict(attributes)):
                self.targets.add(value)


def broken_links(folder: Path) -> list[str]:
    """One line for each link to a file or a fragment that is not there."""
    paths = [path for path in folder.rglob("*.html") if "_static" not in path.parts]  # templates of the theme
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in paths}
    if not pages:
        return [f"{folder} has no pages"]
    found = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            fragment = unquote(parts.fragment)
            if not other.exists():
                found.append(f"{path.relative_to(folder.resolve())}: {target}: no such file")
            elif fragment and other in pages and fragment not in pages[other].identifiers:
                found.append(f"{path.relative_to(folder.resolve())}: {target}: no such place on that page")
    return found


if __name__ == "__main__":
    broken = broken_links(Path(sys.argv[1]))
    print("\n".join(broken) or "all links within the site lead somewhere")
    sys.exit(bool(broken))
