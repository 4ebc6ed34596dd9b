"""Which engine is chosen, what it is told, and what happens when its budget is used up."""

from dataclasses import replace

import made_sets
import numpy as np
import pytest

from rescaleinv import ComplexEngine, GapEngine, InputError, MilpEngine, NotAvailableError, TrainingSet
from rescaleinv.engines import REGISTRY, Abilities, EngineSettings, Registered
from rescaleinv.engines.choice import choose_engine, most_vertices
from rescaleinv.engines.staged import StagedEngine
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check


def separable(n_rows, n_features, n_constant=0):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n_rows, n_features))
    features[:, 0] += np.where(np.arange(n_rows) % 2, 10, -10)
    return TrainingSet(np.hstack([features, np.ones((n_rows, n_constant))]), np.arange(n_rows) % 2)


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ((30, 15), "complex"),
        ((30, 16), "staged"),
        ((60, 12), "complex"),
        ((60, 13), "staged"),
        ((4, 60), "complex"),
        ((30, 10, 90), "complex"),
    ],
)
def test_auto_looks_at_features_that_vary_and_at_rows(shape, name):
    choice = choose_engine("auto", separable(*shape))
    assert choice.name == str(choice) == name
    assert f"{shape[1]} features that vary and {shape[0]} rows" in choice.reason
    assert repr(choice) == f"EngineChoice({name!r}: {choice.reason})"


@pytest.mark.parametrize("seed", range(8))
def test_there_are_no_more_vertices_than_that(seed):
    engine = ComplexEngine(made_sets.gaussian(seed))
    reduced = engine.reduced_training_set
    assert 0 < len(engine.vertices.bases) <= most_vertices(reduced.n_features, reduced.n_rows)


@pytest.mark.parametrize(
    ("asked", "name", "solver"),
    [
        ("milp", "milp:highs", "highs"),
        ("milp:pulp", "milp:pulp", "pulp"),
        ("milp:ortools:highs", "milp:ortools:highs", "ortools:highs"),
    ],
)
def test_the_solver_that_was_asked_for(asked, name, solver):
    settings = EngineSettings(time_limit=3, n_jobs=2, left_out=5)
    choice = choose_engine(asked, separable(8, 2), settings=settings)
    assert choice.name == name
    assert "asked for" in choice.reason
    assert isinstance(choice.engine, MilpEngine)
    assert choice.engine is choice.engine
    assert (choice.engine.solver, choice.engine.time_limit) == (solver, 3)
    assert (choice.engine.n_jobs, choice.engine.left_out) == (2, 5)


def test_what_the_complex_is_told():
    settings = EngineSettings(time_limit=3, max_seconds=7, n_jobs=2, left_out=5)
    auto = choose_engine("auto", separable(8, 2), settings=settings).engine
    assert (auto.budget.vertices, auto.budget.seconds, auto.n_threads, auto.left_out) == (2_000_000, 7, 2, 5)
    assert isinstance(auto.fallback, StagedEngine)
    assert (auto.fallback.time_limit, auto.fallback.n_jobs, auto.fallback.left_out) == (3, 2, 5)
    asked = choose_engine("complex", separable(8, 2), settings=EngineSettings(max_vertices=99)).engine
    assert (asked.budget.vertices, asked.n_threads, asked.fallback) == (99, 1, None)
    assert choose_engine("complex", separable(8, 2)).engine.budget.vertices == 20_000_000


def test_auto_stops_an_enumeration_beyond_the_sizes_of_the_paper():
    assert choose_engine("auto", separable(100, 10)).engine.budget.seconds is None
    assert choose_engine("auto", separable(101, 10)).engine.budget.seconds == 10
    assert choose_engine("auto", separable(50, 11)).engine.budget.seconds == 10
    asked = EngineSettings(max_seconds=3)
    assert choose_engine("auto", separable(50, 11), asked).engine.budget.seconds == 3


def test_points_that_the_budget_leaves_open_go_to_the_next_engine():
    training_set = made_sets.gaussian(3, 4)
    points = np.random.default_rng(1).normal(size=(15, 4))
    everything = choose_engine("complex", training_set).engine.certify(points)
    one_vertex = EngineSettings(max_vertices=1)
    stopped = choose_engine("complex", training_set, settings=one_vertex).engine.certify(points)
    assert stopped.unknown.any()
    helped = choose_engine("auto", training_set, settings=one_vertex).engine.certify(points)
    assert (helped.code == everything.code).all()
    for i, verdict in enumerate(helped):
        assert check(helped.certificate(i).to_json()) == verdict_words(verdict)


def test_none_is_no_engine():
    limits = np.array([[0.5, 2.0]] * 8)
    choice = choose_engine("complex", separable(8, 2), EngineSettings(limits=limits))
    assert choice.name == "none"
    with pytest.raises(NotAvailableError, match="no verdicts: engine='complex' considers every rescaling"):
        _ = choice.engine
    assert choice.made is None


def test_limited_ranges_are_for_the_gap_engine():
    training_set = separable(8, 2)
    limits = np.array([[0.5, 2.0]] * training_set.n_features)
    groups = np.zeros(training_set.n_features, dtype=int)
    settings = EngineSettings(time_limit=3, left_out=5, n_jobs=2, limits=limits, groups=groups)
    for name in ("auto", "gap"):
        choice = choose_engine(name, training_set, settings)
        assert (choice.name, choice.reason) == ("gap", "a limited range of rescalings")
        engine = choice.engine
        assert isinstance(engine, GapEngine)
        assert (engine.time_limit, engine.left_out, engine.n_jobs) == (3, 5, 2)
        assert (engine.limits == limits).all()
        assert (engine.groups == groups).all()
    soft = EngineSettings(limits=limits, penalties=np.ones(training_set.n_rows))
    choice = choose_engine("auto", training_set, soft)
    assert "soft margin" in choice.reason
    assert (choice.engine.penalties == 1).all()


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="the engine 'milp:cplex' is not known"):
        choose_engine("milp:cplex", separable(8, 2))


def test_a_new_line_of_the_registry_is_chosen_by_what_it_can_do(monkeypatch):
    training_set = separable(8, 2)
    mixed = EngineSettings(limits=np.array([[0.5, 2.0], [0.0, np.inf]]))
    assert choose_engine("auto", training_set, mixed).name == "gap"
    able = Abilities(limited_ranges=True, mixed_ranges=True)
    unable = replace(REGISTRY["gap"].abilities, mixed_ranges=False)
    monkeypatch.setitem(REGISTRY, "gap", replace(REGISTRY["gap"], abilities=unable))
    assert choose_engine("auto", training_set, mixed).name == "none"
    monkeypatch.setitem(REGISTRY, "made-up", Registered("milp.engine:MilpEngine", able))
    assert choose_engine("auto", training_set, mixed).name == "made-up"
    assert choose_engine("made-up", training_set, mixed).name == "made-up"
    refused = choose_engine("gap", training_set, mixed)
    assert (refused.name, refused.abilities) == ("none", Abilities())
    assert refused.reason == "engine='gap' has no mixed ranges; that needs engine='made-up' or 'auto'"
    # what it can't do stays with the others
    assert choose_engine("auto", training_set).name == "complex"
    in_groups = EngineSettings(limits=np.array([[0.5, 2.0]] * 2), groups=np.zeros(2, dtype=int))
    assert choose_engine("auto", training_set, in_groups).name == "gap"


def test_what_nobody_can_do_is_said(monkeypatch):
    settings = EngineSettings(limits=np.array([[0.5, 2.0]] * 2), groups=np.zeros(2, dtype=int))
    unable = replace(REGISTRY["gap"].abilities, groups=False)
    monkeypatch.setitem(REGISTRY, "gap", replace(REGISTRY["gap"], abilities=unable))
    choice = choose_engine("auto", separable(8, 2), settings)
    assert (choice.name, choice.reason) == ("none", "no engine can do all of this at once: groups, limited ranges")


def test_every_rescaling_of_groups_is_for_the_gap_engine():
    training_set = TrainingSet([[0, 0, 7.0], [1, 3, 7], [2, 1, 7], [3, 5, 7]], [-1, -1, 1, 1])
    settings = EngineSettings(groups=np.array([0, 1, 0]))
    choice = choose_engine("auto", training_set, settings)
    assert (choice.name, choice.reason) == ("gap", "every rescaling of 2 groups of features, each with one factor")
    # the third feature is constant: both groups have one that varies, and the first keeps its scale
    assert choice.engine.limits.tolist() == [[1, 1], [0, np.inf], [1, 1]]
    constant_first = choose_engine("auto", training_set, EngineSettings(groups=np.array([0, 0, 1])))
    assert constant_first.engine.limits.tolist() == [[1, 1], [1, 1], [0, np.inf]]
    refused = choose_engine("complex", training_set, settings)
    assert refused.name == "none"
    assert refused.reason == "engine='complex' rescales every feature on its own; groups need engine='gap' or 'auto'"
    soft = choose_engine("auto", training_set, replace(settings, penalties=np.ones(4)))
    assert (soft.name, soft.reason.partition(",")[0]) == ("none", "C is finite")


def test_a_notebook_shows_the_engine_its_reason_and_what_it_can_do():
    choice = choose_engine("auto", TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
    page = choice._repr_html_()
    assert "<b>complex</b>" in page
    assert choice.reason in page
    assert "every rescaling, enumerates" in page
