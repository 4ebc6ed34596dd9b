"""For tests and for the examples in docstrings alike: figures are closed after each, and what takes longest comes first."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


def pytest_collection_modifyitems(items):
    """The notebooks first: at the end one process would be busy with them while the others wait."""
    items.sort(key=lambda item: "test_notebooks" not in item.nodeid)
