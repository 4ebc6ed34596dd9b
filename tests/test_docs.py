"""The pages: links that lead somewhere, sections that exist, rooms that are named, and a README that stays short."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import rescaleinv

ROOT = Path(__file__).parents[1]
PACKAGE = Path(rescaleinv.__file__).parent
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks/results").glob("*.md")),
]
LINK = re.compile(r"(?<!`)\[[^\]\[]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
API_GROUP = re.compile(r"currentmodule:: ([\w.]+)\n\.\. autosummary::\n   :toctree: api\n\n((?:   \w+\n)+)")
OPEN_ROOMS = ("plotting", "scaling", "selection", "online", "datasets", "audit")
# "theory, section 9" and "theory, sections 3 and 4", in code and on pages
CITATION = re.compile(r"theory(?:\.md)?,\s+sections?\s+([\d, and]+)")


def anchor(heading):
    """What GitHub and the site make of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")


def anchors(page):
    return {anchor(heading) for heading in HEADING.findall(page.read_text(encoding="utf-8"))}


def links(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for link in links(page):
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {link}, which is not there"
        if fragment:
            assert fragment in anchors(target), f"{page.name} links to {link}: there is no such heading"


def test_the_check_of_links_sees_links_and_headings():
    assert len(links(ROOT / "README.md")) > 10
    assert "9-a-proof-that-no-vertex-is-missing" in anchors(ROOT / "docs/theory.md")
    assert anchor("10. Every `x`: it's α/β") == "10-every-x-its-αβ"


def test_the_readme_is_short_and_its_quick_start_has_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") < 80
    block = re.search(r"## Quick start.*?```sh\n(.*?)```", text, re.S).group(1)
    assert len(block.strip().splitlines()) == 2


def test_sections_of_the_theory_are_numbered_and_cited_by_numbers_that_exist():
    numbers = re.findall(r"^## (\d+)\.", (ROOT / "docs/theory.md").read_text(encoding="utf-8"), re.M)
    assert numbers == [str(k + 1) for k in range(len(numbers))]
    cited = 0
    for path in [*PACKAGE.rglob("*.py"), *PAGES]:
        for group in CITATION.findall(path.read_text(encoding="utf-8")):
            for number in re.findall(r"\d+", group):
                cited += 1
                assert number in numbers, f"{path.name} cites section {number} of the theory, which is not there"
    assert cited > 3


def test_the_package_does_not_cite_pages_that_are_not_in_the_repository():
    for path in PACKAGE.rglob("*.py"):
        assert "THEORY" not in path.read_text(encoding="utf-8"), f"{path.name} cites THEORY; docs/theory.md is the page"


def test_every_room_is_on_the_page_about_the_architecture():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    rooms |= {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    assert {room for room in rooms if f"`rescaleinv.{room}`" not in text} == set()


def test_every_public_name_is_in_the_api_reference():
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = set()
    for home, names in API_GROUP.findall(text):
        for name in names.split():
            assert hasattr(import_module(home), name), f"docs/api.md lists {home}.{name}, which is not there"
            listed.add(name)
    for home in ("rescaleinv", *(f"rescaleinv.{room}" for room in OPEN_ROOMS)):
        module = import_module(home)
        public = {name for name in module.__all__ if callable(getattr(module, name))}
        assert public
        assert not public - listed, f"docs/api.md does not list {sorted(public - listed)} of {home}"


def test_every_command_is_on_the_page_about_the_command_line():
    from rescaleinv.cli.main import make_parser

    text = (ROOT / "docs/command_line.md").read_text(encoding="utf-8")
    (commands,) = [action.choices for action in make_parser()._actions if isinstance(action.choices, dict)]
    assert "certify" in commands
    for name in commands:
        assert f"rescaleinv {name}" in text
        assert f"```{{command-help}} {name}\n" in text


def test_the_citation_has_the_version_and_mypy_targets_the_oldest_python():
    assert f"version: {rescaleinv.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["requires-python"] == f">={project['tool']['mypy']['python_version']}"
