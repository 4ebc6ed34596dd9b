"""The directive ``{command-help} NAME``: what ``rescaleinv NAME --help`` prints, so that the page can't be out of date."""

import os
import subprocess
import sys

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import rescaleinv


def help_text(*command):
    environment = {
        **os.environ,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONPATH": os.path.dirname(os.path.dirname(rescaleinv.__file__)),
    }
    call = [sys.executable, "-m", "rescaleinv", *command, "--help"]
    return subprocess.run(call, check=True, capture_output=True, text=True, encoding="utf-8", env=environment).stdout


class CommandHelp(SphinxDirective):
    optional_arguments = 1

    def run(self):
        text = help_text(*self.arguments)
        return [nodes.literal_block(text, text, language="none")]


def setup(app):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
