"""What tests of pictures share; no window is opened."""

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib.path import Path as Outline


def inside(polygon, points):
    return Outline(polygon).contains_points(points) if len(polygon) else np.zeros(len(points), dtype=bool)


def assert_nothing_is_cut_off(display):
    """Every text and legend of the figure lies within it."""
    figure = display.figure_
    figure.canvas.draw()
    whole = figure.bbox
    for axes in figure.axes:
        box = axes.get_tightbbox(figure.canvas.get_renderer())
        assert box.x0 >= whole.x0 - 1
        assert box.y0 >= whole.y0 - 1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1
