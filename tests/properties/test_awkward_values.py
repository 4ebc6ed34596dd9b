"""Every engine against brute force in rationals, on values that once led it astray (``attack_sets``)."""

import attack_sets
import brute_force
import numpy as np
import pytest
from brute_force_margins import BruteForce, Question

from rescaleinv import RescaleInvariantSVC
from rescaleinv.engines import REGISTRY, EngineSettings, full_name
from rescaleinv.engines.choice import make_engine
from rescaleinv.engines.complex import residues
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.engines.complex.ties import ExactVertices
from rescaleinv.errors import InputError, InseparableError
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict
from rescaleinv.verify import check

EVERY = [name for name, entry in REGISTRY.items() if entry.abilities.every_rescaling and name != "complex"]
QUESTIONS = [
    (name, margin, limited)
    for name, entry in REGISTRY.items()
    for margin, can in (("hard", True), ("C", entry.abilities.soft_margin), ("nu", entry.abilities.nu))
    for limited, asked in ((False, entry.abilities.every_rescaling), (True, entry.abilities.limited_ranges))
    if can and asked and (limited or margin == "nu")
]
MERSENNE = 2**61 - 1


def truths(training_set, points):
    return [brute_force.exact_verdict(training_set, point) for point in points]


def samples(kind, seeds):
    return [found for seed in seeds if (found := attack_sets.drawn(kind, seed)) is not None]


@pytest.fixture(params=[None, MERSENNE, 1_000_003, 101], ids=["random", "2**61 - 1", "1000003", "101"])
def prime(request, monkeypatch):
    """The prime of the residues: a random one, one that powers of two match, and small ones that match anything."""
    if request.param is not None:
        monkeypatch.setattr("rescaleinv.engines.complex.walk.random_prime", lambda: request.param)


@pytest.mark.parametrize("kind", sorted(attack_sets.KINDS))
def test_the_complex_engine_whatever_the_prime(kind, prime):
    for training_set, points in samples(kind, range(25)):
        verdicts = ComplexEngine(training_set).certify(points)
        assert list(verdicts) == truths(training_set, points)
        for i in np.flatnonzero(verdicts.neutral)[:1]:
            assert check(verdicts.certificate(int(i)).to_json()) == "neutral"


@pytest.mark.parametrize("kind", sorted(attack_sets.KINDS))
def test_proved_vertices_are_those_of_brute_force(kind, tmp_path):
    for training_set, points in samples(kind, range(100, 108)):
        engine = ComplexEngine(training_set)
        engine.prove(tmp_path / "complex")
        assert list(engine.certify(points).prove()) == truths(training_set, points)
        exact = ExactVertices(engine.reduced_training_set, engine.vertices)
        found = [(*exact[v].weights, exact[v].intercept) for v in exact.distinct(np.arange(len(engine.vertices.bases)))]
        assert len(set(found)) == len(found)  # each solution once
        assert set(found) >= {(*v.weights, v.intercept) for v in brute_force.exact_vertices(training_set)}


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", sorted(attack_sets.KINDS))
def test_other_engines_about_every_rescaling(name, kind):
    for training_set, points in samples(kind, range(200, 206)):
        engine = make_engine(full_name(name), training_set, EngineSettings(time_limit=5.0))
        for verdict, truth in zip(engine.certify(points), truths(training_set, points), strict=True):
            assert verdict in (Verdict.UNKNOWN, truth)


@pytest.mark.parametrize(("name", "margin", "limited"), QUESTIONS)
@pytest.mark.parametrize("kind", sorted(attack_sets.KINDS))
def test_ranges_and_soft_margins(name, margin, limited, kind):
    n_decided = 0
    for seed in range(400, 404):
        found = attack_sets.drawn(kind, seed, n_rows=4, separable=margin == "hard")
        if found is None:
            continue
        training_set, points = found
        rng = np.random.default_rng(seed)
        limits = attack_sets.limits(rng, training_set.n_features) if limited else None
        penalties = attack_sets.penalties(rng, training_set.n_rows) if margin == "C" else None
        try:
            nu = attack_sets.nu_margin(rng, training_set) if margin == "nu" else None
            settings = EngineSettings(time_limit=5.0, limits=limits, penalties=penalties, nu=nu)
            verdicts = make_engine(full_name(name), training_set, settings).certify(points)
        except (
            InseparableError,
            InputError,
        ):  # rather than a guess, where floats can't train an SVM; a nu that is none
            continue
        n_decided += 1
        caps = None if nu is None else nu.exact_caps
        truth = BruteForce(Question.of(training_set, limits, penalties, caps))
        for verdict, point in zip(verdicts, points, strict=True):
            assert verdict in (Verdict.UNKNOWN, truth.verdict(point))
    assert n_decided


def test_a_sentinel_next_to_small_integers():
    model = RescaleInvariantSVC().fit([[-3, -4], [-4, 4], [8, -(2.0**63)]], [-1, -1, 1])
    verdicts = model.certify([[2.5, 4.0]])
    assert verdicts[0] is Verdict.STRONGLY_NEGATIVE
    assert (verdicts.lower[0], verdicts.upper[0]) == (-1, 0)
    assert model.predict([[2.5, 4.0]])[0] == -1


def test_the_prime_is_random_and_tells_powers_of_two_apart():
    prime = residues.random_prime()
    assert residues.is_prime(prime)
    assert 2**60 < prime < 2**61
    assert prime == residues.random_prime()  # once per process
    residues.random_prime.cache_clear()
    assert prime != residues.random_prime()
    assert len(set(residues.powers_of_two(prime).tolist())) > 4000
    assert len(set(residues.powers_of_two(MERSENNE).tolist())) == 61


def test_vertices_with_solutions_that_nearly_agree_are_kept_apart():
    # two vertices whose weights differ by a few units in the last place, and many bases each
    rows = [[1.0, 1], [1 + 2.0**-50, 1], [-1, -1], [-1 - 2.0**-50, -1], [1, 1]]
    training_set = TrainingSet(rows, [1, 1, -1, -1, 1])
    engine = ComplexEngine(training_set)
    exact = ExactVertices(engine.reduced_training_set, engine.vertices)
    chosen = exact.distinct(np.arange(len(engine.vertices.bases)))
    expected = {(*v.weights, v.intercept) for v in brute_force.exact_vertices(training_set)}
    assert {(*exact[v].weights, exact[v].intercept) for v in chosen} == expected
