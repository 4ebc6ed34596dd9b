"""Intervals are drawn where they belong."""

import numpy as np
import pytest
from pictures import assert_nothing_is_cut_off

from rescaleinv.errors import InputError
from rescaleinv.plotting import IntervalsDisplay


def drawn_intervals(display):
    """What stands in the picture: for each line its place and its ends."""
    segments = [segment for lines in display.ax_.collections for segment in lines.get_segments()]
    return {round(segment[0, 0]): (segment[0, 1], segment[1, 1]) for segment in segments}


def test_each_interval_is_drawn_where_it_belongs(fitted):
    clf, points, _ = fitted
    verdicts = clf.certify(points)
    display = IntervalsDisplay.from_estimator(clf, points)
    drawn = drawn_intervals(display)
    assert sorted(display.order_) == list(range(60))
    for place, i in enumerate(display.order_, 1):
        assert drawn[place] == (verdicts.lower[i], verdicts.upper[i])
    kinds = np.select([verdicts.strongly_negative, verdicts.strongly_positive], [-1, 1], 0)[display.order_]
    assert (np.diff(kinds) >= 0).all()
    assert_nothing_is_cut_off(display)


def test_points_without_an_interval_are_counted(fitted):
    clf, points, _ = fitted
    verdicts = clf.certify(points)
    verdicts.lower[:3] = np.nan
    display = IntervalsDisplay.from_verdicts(verdicts)
    assert len(display.order_) == 57
    assert "3 without a known interval" in display.ax_.get_xlabel()
    verdicts.lower[:] = np.nan
    assert not len(IntervalsDisplay.from_verdicts(verdicts).order_)
    with pytest.raises(InputError, match="one per point"):
        IntervalsDisplay.from_verdicts(verdicts, np.zeros(3))
