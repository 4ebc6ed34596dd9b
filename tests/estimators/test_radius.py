"""The engines that find how far labels hold are made once, and kept with the model."""

import numpy as np
import pytest

from rescaleinv import RescaleInvariantSVC
from rescaleinv.engines import choice
from rescaleinv.estimators.radius import radius_search

ROWS, LABELS = [[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]
POINTS = [[-1.0, 4], [4, 4], [0, 0]]


@pytest.fixture
def made(monkeypatch):
    """The names of the engines that were made."""
    names = []
    make = choice.make_engine
    monkeypatch.setattr(choice, "make_engine", lambda name, *rest: (names.append(name), make(name, *rest))[1])
    return names


@pytest.mark.parametrize("parameters", [{}, {"scale_range": 2}, {"scale_range": 2, "C": 1.0}], ids=str)
def test_engines_are_made_once(parameters, made):
    clf = RescaleInvariantSVC(**parameters).fit(ROWS, LABELS)
    first = clf.rescaling_radius(POINTS, ratio=1.2)
    assert made.count("gap") == 1
    assert made.count("complex") == (0 if "C" in parameters else 1)
    total = len(made)
    assert (clf.rescaling_radius(POINTS, ratio=1.2) == first).all()
    clf.rescaling_radius(POINTS[:1], ratio=1.5)
    assert len(made) == total
    clf.fit(ROWS, LABELS).rescaling_radius(POINTS[:1], ratio=1.5)
    assert len(made) > total  # another fit is another model


def test_the_models_own_complex_is_asked(made):
    clf = RescaleInvariantSVC().fit(ROWS, LABELS)
    clf.certify(POINTS)
    clf.rescaling_radius(POINTS, ratio=1.5)
    assert made.count("complex") == 1


def test_points_that_can_change_are_not_asked_about_every_rescaling(made):
    clf = RescaleInvariantSVC().fit(ROWS, LABELS)
    search = radius_search(clf, time_limit=9.0)
    found = search.of_changeable(np.array(POINTS[:1]), ratio=1.2, largest=1000.0)
    assert made == ["gap"]
    assert search._limited.engine.time_limit == 9.0
    assert (found == clf.rescaling_radius(POINTS[:1], ratio=1.2)).all()
    assert search.of_changeable(np.empty((0, 2)), ratio=1.2, largest=10.0).shape == (0, 2)
