"""The engines that find how far labels hold are made once, and kept with the model."""

import numpy as np
import pytest

from rescaleinv import InputError, RescaleInvariantSVC
from rescaleinv.engines import choice
from rescaleinv.estimators.radius import radius_search
from rescaleinv.verify import check

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


@pytest.mark.parametrize("parameters", [{}, {"C": 1.0, "scale_range": 2}, {"nu": 0.8}], ids=str)
def test_both_ends_have_certificates(parameters):
    from limited_ranges import overlapping
    from made_sets import gaussian

    training_set = overlapping(7, 3, 14) if parameters else gaussian(9, 3)
    clf = RescaleInvariantSVC(**parameters).fit(training_set.features, training_set.signs)
    ends = set()
    for point in np.random.default_rng(5).normal(size=(5, 3)) * 2:
        for certificate in clf.radius_certificates(point, ratio=1.2, largest=10.0):
            if certificate is not None:
                ends.add(check(certificate.to_json()).split()[0])
                assert ("nu" in certificate.content["evidence"]["range"]) == ("nu" in parameters)
    assert ends == {"strongly", "neutral"}


def test_points_that_the_budget_does_not_reach():
    clf = RescaleInvariantSVC(scale_range=2).fit(ROWS, LABELS)
    found = clf.rescaling_radius([[-1.0, 4]] * 50, ratio=1.0001, budget=1e-6)
    assert (found[-1] == [1, np.inf]).all()
    with pytest.raises(InputError, match="budget is"):
        clf.rescaling_radius(POINTS, budget=-1)
