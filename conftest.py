"""For tests and for the examples in docstrings alike: figures are closed after each."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
