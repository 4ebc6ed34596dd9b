"""Every engine of the registry keeps to the protocol, and nobody outside asks which engine it has."""

import ast
from pathlib import Path

import numpy as np
import pytest

import rescaleinv
from rescaleinv import NotAvailableError, RescaleInvariantSVC, TrainingSet, Verdict
from rescaleinv.engines import REGISTRY, Engine, EngineSettings, engine_names, full_name
from rescaleinv.engines.choice import make_engine
from rescaleinv.verify import check

PACKAGE = Path(rescaleinv.__file__).parent
# Example 2 of the paper: neutral from a factor of 1.07 on; positive and negative under every rescaling
EXAMPLE = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
POINTS, CODES = [[-1.0, 4], [4, 4], [0, 0]], [0, 1, -1]

each_engine = pytest.mark.parametrize("name", [name for name in engine_names() if name == full_name(name)])


def made(name, **settings):
    abilities = REGISTRY[name.partition(":")[0]].abilities
    limits = None if abilities.every_rescaling else np.array([[0.1, 10.0]] * 2)
    return make_engine(name, EXAMPLE, EngineSettings(limits=limits, **settings))


def test_the_engines_of_this_version():
    assert set(REGISTRY) >= {"complex", "milp", "gap"}


@each_engine
def test_an_engine_is_what_the_registry_says(name):
    engine = made(name, left_out=2, n_jobs=1)
    assert isinstance(engine, Engine)
    assert (engine.name, engine.training_set) == (name, EXAMPLE)
    assert engine.abilities is REGISTRY[name.partition(":")[0]].abilities
    assert (engine.scope == "") == engine.abilities.every_rescaling


@each_engine
def test_an_engine_decides_and_shows_why(name):
    engine = made(name)
    verdicts = engine.certify(POINTS)
    assert verdicts.code.tolist() == CODES
    assert verdicts.engine is engine
    assert check(verdicts.certificate(0).to_json()) == "neutral" + engine.scope
    assert verdicts.certificate(0).to_json() == engine.certificate(POINTS[0], Verdict.NEUTRAL).to_json()
    witness = engine.explain(np.array(POINTS[0]))
    assert (witness.positive > 0).all()
    assert (witness.negative > 0).all()
    for checked in (engine.certify_checked(np.array(POINTS)), engine.certify(np.array(POINTS))):
        assert (checked.code == verdicts.code).all()


@each_engine
def test_what_an_engine_proves(name, tmp_path):
    engine = made(name)
    path = tmp_path / "proof"
    if engine.abilities.proof == "training set":
        assert not engine.complexes
        engine.prove(path)
        assert len(engine.complexes) == 1
        assert path.exists()
    else:
        with pytest.raises(NotAvailableError, match=f"the engine '{name}' has no proof of the whole training set; "):
            engine.prove(path)
        assert not path.exists()
    proved = engine.certify(POINTS).prove(tmp_path / "certificates").status.tolist()
    strong = "computed" if engine.abilities.proof == "none" else "proved"
    assert proved == ["proved", strong, strong]


@each_engine
def test_an_engine_finds_radii_if_it_says_so(name):
    engine = made(name)
    if engine.abilities.radius:
        assert 1 < engine.radius(POINTS[:1])[0, 0] < engine.radius(POINTS[:1])[0, 1] < 1.1
    else:
        with pytest.raises(NotAvailableError, match="does not find how far a label holds"):
            engine.radius(POINTS)


@each_engine
def test_what_an_engine_keeps_can_be_restored(name):
    engine, again = made(name), made(name)
    assert engine.state() is None  # nothing is computed before it is asked for
    engine.precompute()
    assert (engine.extremes() is not None) == engine.abilities.enumerates
    state = engine.state()
    if state is None:
        with pytest.raises(TypeError, match="it has the results of another engine"):
            again.restore_state({}, {})
        return
    again.restore_state(*state)
    assert (again.certify(POINTS).code == engine.certify(POINTS).code).all()


def test_the_estimator_proves():
    clf = RescaleInvariantSVC(scale_range=2).fit(EXAMPLE.features, EXAMPLE.signs)
    with pytest.raises(NotAvailableError, match=r"each certificate stands by itself: certify\(points\).prove\(path\)"):
        clf.prove("nowhere")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_outside_asks_which_engine_it_has(path):
    if path.is_relative_to(PACKAGE / "engines"):
        return
    classes = {entry.home.rpartition(":")[2] for entry in REGISTRY.values()} | {"Engine"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            named = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
            assert not named & classes, f"line {node.lineno}"
