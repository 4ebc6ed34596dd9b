"""The site. Build it with: python -m sphinx -W -n docs docs/_build/html (extra "docs"; no network is needed)."""

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE / "_extensions")]

import vendored_inventories  # noqa: E402

import rescaleinv  # noqa: E402 - from this repository

project = "rescaleinv"
author = "The rescaleinv developers"
project_copyright = "2026, The rescaleinv developers"
version = release = rescaleinv.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_nb",
    "command_help",
]
exclude_patterns = ["_build", "_templates", "_extensions", "inventories"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "rescaleinv"
html_theme_options = {
    "logo": {"text": "rescaleinv"},
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False

# Docstrings are numpydoc's; what a parameter is stands there in words, so that signatures stay short.
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_default_options = {
    # scikit-learn adds these to every estimator (metadata routing)
    "exclude-members": "set_fit_request, set_partial_fit_request, set_score_request, set_transform_request"
}
numpydoc_show_class_members = False

# Names of other projects in "Parameters" and "Returns" become links, by the lists in docs/inventories; nothing is fetched.
# Every name must resolve (-n), ours and theirs.
intersphinx_mapping = vendored_inventories.mapping(HERE / "inventories")
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # words that are not in the next table are text
numpydoc_xref_aliases = {
    **vendored_inventories.names(HERE / "inventories"),
    "array": "numpy.ndarray",
    **{name: f"rescaleinv.{name}" for name in rescaleinv.__all__ if name[0].isupper()},
}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the tests execute the notebooks; the site shows what they stored
nb_render_markdown_format = "myst"

# Pages that live elsewhere in the repository and are copied before the build (the copies are not under version control).
COPIES = {"gallery": ROOT / "notebooks", "reproductions": ROOT / "benchmarks" / "results"}
_NOT_PAGES = ("*.json",)


def copy_pages(_):
    for name, source in COPIES.items():
        shutil.rmtree(HERE / name, ignore_errors=True)
        shutil.copytree(source, HERE / name, ignore=shutil.ignore_patterns(*_NOT_PAGES, ".*", "__pycache__"))


def links_within_the_site(_, docname, source):
    """Links between files of the repository, as GitHub needs them, become links between pages of the site."""
    text = source[0]
    text = re.sub(r"\]\(\.\./benchmarks/results/(\w+\.md)", r"](reproductions/\1", text)
    text = re.sub(r"\]\(\.\./notebooks/(\w+\.ipynb)", r"](gallery/\1", text)
    text = text.replace("](../rescaleinv/datasets/ATTRIBUTION.md", "](attribution.md")
    source[0] = text


def setup(app):
    app.connect("builder-inited", copy_pages, priority=100)
    app.connect("source-read", links_within_the_site)
