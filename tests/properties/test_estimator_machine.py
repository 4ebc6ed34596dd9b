"""Whatever is done to an estimator, in whatever order: its verdicts are those of a fresh one on the same data."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone

from rescaleinv import InputError, RescaleInvariantSVC

POINTS = np.array([[-1.0, 4], [4, 4], [0, 0], [2, -1], [0.5, 0.5]])
DATA = [
    ([[-1.0, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]),
    ([[0.0, 0], [0, 1], [3, 0], [4, 1]], [0, 0, 1, 1]),
    ([[0.0, 2], [2, 0], [3, 3], [5, 3], [4, 5]], ["a", "a", "b", "b", "b"]),
]
PARAMETERS = [
    {},
    {"scale_range": 1.5},
    {"scale_range": 1.2, "C": 1.0},
    {"max_vertices": 1, "engine": "complex"},
    {"nu": "auto"},
    {"nu": 0.3},
]
NAMES = [None, ["a", "b"], ["b", "a"]]


def table(rows, names):
    return np.array(rows) if names is None else pd.DataFrame(np.array(rows), columns=names)


class EstimatorMachine(RuleBasedStateMachine):
    """``fresh`` is what the estimator is to be like: the data and parameters of its last fit that went well."""

    @initialize()
    def begin(self):
        self.clf = RescaleInvariantSVC()
        self.fresh = None
        self.expected = None

    def _expect(self, data, parameters, names, weights):
        self.fresh = (data, parameters, names, weights)
        self.expected = None

    @rule(
        data=st.sampled_from(DATA),
        parameters=st.sampled_from(PARAMETERS),
        names=st.sampled_from(NAMES),
        weighted=st.booleans(),
    )
    def fit(self, data, parameters, names, weighted):
        rows, labels = np.array(data[0]), np.array(data[1])
        weights = np.linspace(1, 3, len(labels)) if weighted else None
        self.clf.set_params(**{**RescaleInvariantSVC().get_params(), **parameters})
        given = table(rows, names)
        assert self.clf.fit(given, labels, sample_weight=weights) is self.clf
        # the caller does with its arrays what it likes
        rows[:] = 7
        labels[:] = labels[0]
        if weights is not None:
            weights[:] = 0
        self._expect(data, parameters, names, weighted)

    @rule(kind=st.sampled_from(["labels", "values", "C", "range", "engine"]), names=st.sampled_from(NAMES))
    def fit_that_fails(self, kind, names):
        rows, labels = DATA[1]
        before = self.clf.get_params()
        broken = {"C": {"C": -1}, "range": {"scale_range": "11"}, "engine": {"engine": "none"}}.get(kind, {})
        self.clf.set_params(**broken)
        values = np.full((4, 2), np.nan) if kind == "values" else rows
        with pytest.raises(InputError):
            self.clf.fit(table(values, names), [1, 1, 1, 1] if kind == "labels" else labels)
        self.clf.set_params(**before)

    @rule(parameters=st.sampled_from(PARAMETERS))
    def set_parameters(self, parameters):
        self.clf.set_params(**parameters)  # they count from the next fit on

    @precondition(lambda self: self.fresh is not None)
    @rule()
    def clone_is_not_fitted(self):
        other = clone(self.clf)
        assert not hasattr(other, "engine_")
        assert other.get_params() == self.clf.get_params()

    @precondition(lambda self: self.fresh is not None)
    @rule()
    def pickle(self):
        self.clf = pickle.loads(pickle.dumps(self.clf))

    @precondition(lambda self: self.fresh is not None)
    @rule(first=st.booleans())
    def save_and_load(self, first):
        if first:
            self.clf.precompute()
        with tempfile.TemporaryDirectory() as folder:
            self.clf.save(Path(folder) / "model")
            self.clf = RescaleInvariantSVC.load(Path(folder) / "model")

    @precondition(lambda self: self.fresh is not None)
    @rule()
    def certify_from_a_buffer_that_is_used_again(self):
        buffer = POINTS.copy()
        verdicts = self.clf.certify(table(buffer, self.fresh[2]) if self.fresh[2] else buffer)
        buffer[:] = 99
        assert (verdicts.points == POINTS).all()
        for i in np.flatnonzero(verdicts.neutral)[:1]:
            assert verdicts[i : i + 1].prove().status[0] == "proved"

    @invariant()
    def verdicts_are_those_of_a_fresh_model(self):
        if getattr(self, "fresh", None) is None:
            return
        data, parameters, names, weighted = self.fresh
        points = table(POINTS, names)
        if self.expected is None:
            weights = np.linspace(1, 3, len(data[1])) if weighted else None
            fresh = RescaleInvariantSVC(**parameters).fit(table(data[0], names), data[1], sample_weight=weights)
            self.expected = fresh.certify(points), fresh.decision_function(points), fresh.classes_
        verdicts, values, classes = self.expected
        found = self.clf.certify(points)
        assert (found.code == verdicts.code).all()
        assert found.reason.tolist() == verdicts.reason.tolist()
        np.testing.assert_array_equal(found.lower, verdicts.lower)
        np.testing.assert_array_equal(self.clf.decision_function(points), values)
        assert (self.clf.classes_ == classes).all()
        if names is not None:
            with pytest.raises(InputError, match="feature names"):
                self.clf.certify(table(POINTS, names[::-1]))


EstimatorMachine.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestEstimator = EstimatorMachine.TestCase
