"""Every rescaling with a ν-margin: against sampled ν-SVMs, the hard margin, the checkers, and what must change nothing."""

from fractions import Fraction

import numpy as np
import pytest
import second_checker

from benchmarks import nu_samples
from benchmarks.nu_samples import made
from rescaleinv import ComplexEngine, RescaleInvariantSVC, TrainingSet
from rescaleinv.engines import EngineSettings
from rescaleinv.engines.branch.free.engine import TreeEngine
from rescaleinv.engines.choice import choose_engine
from rescaleinv.engines.staged import StagedEngine
from rescaleinv.theory.nu_margin import NuMargin, largest_nu, least_nu
from rescaleinv.verdict import verdict_words
from rescaleinv.verify import check


@pytest.mark.parametrize("seed", range(15))
def test_no_sampled_rescaling_contradicts_a_verdict(seed):
    training_set, margin, points = made(seed)
    X, y = training_set.features, training_set.signs
    engine = StagedEngine(training_set, nu=margin, max_programs=1500)
    verdicts = engine.certify(points)
    rescalings = nu_samples.rescalings(X, 24, seed)
    wrong, solved = nu_samples.contradictions(X, y, margin.caps, points, verdicts.code, rescalings)
    assert not wrong
    assert solved >= 8
    for i in np.flatnonzero(~verdicts.unknown):
        text = verdicts.certificate(int(i)).to_json()
        claim = f"{verdict_words(verdicts[int(i)])} with nu"
        assert check(text) == claim
        if seed < 4:
            assert second_checker.proves(text) == claim


@pytest.mark.parametrize("seed", [0, 3, 5, 7])
def test_the_two_rescalings_of_a_neutral_point_disagree_when_trained_again(seed):
    training_set, margin, points = made(seed)
    verdicts = StagedEngine(training_set, nu=margin, max_programs=300).certify(points)
    X, y = training_set.features, training_set.signs
    for i in np.flatnonzero(verdicts.neutral):
        witness = verdicts.witness(int(i))
        for tau, side in ((witness.positive, 1), (witness.negative, -1)):
            found = nu_samples.nu_svm(X, y, margin.caps, tau)
            if found is not None:
                w, low, high = found
                values = side * (points[i] @ w + np.array([low, high]))
                assert values.min() > -1e-3 * (1 + np.abs(points[i]) @ np.abs(w))


def test_most_points_are_decided():
    decided = [
        ~StagedEngine(ts, nu=nu, max_programs=1500).certify(points).unknown for ts, nu, points in map(made, range(10))
    ]
    assert np.concatenate(decided).mean() > 0.85


@pytest.mark.parametrize("seed", range(4))
def test_on_separable_classes_a_small_nu_is_the_hard_margin(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(14, 3)).astype(float)
    y = np.where(X @ [2, -1, 1] + 0.5 > 0, 1, -1)
    y[:2], X[:2] = (1, -1), [[4, -4, 4], [-4, 4, -4]]
    training_set = TrainingSet(X, y)
    points = rng.normal(size=(12, 3)) * 3
    truth = ComplexEngine(training_set).certify(points)
    # no multiplier of the hard margin exceeds 1/2 where they sum to 1: with caps above that the two SVMs are one
    margin = NuMargin.of(training_set, 1 / 14)
    found = StagedEngine(training_set, nu=margin, max_programs=3000).certify(points)
    decided = ~found.unknown
    assert decided.sum() >= 8
    assert (found.code == truth.code)[decided].all()


def verdicts_of(X, y, margin_nu, points, weights=None):
    training_set = TrainingSet(X, y)
    margin = NuMargin.of(training_set, margin_nu, weights)
    return StagedEngine(training_set, nu=margin, max_programs=1500).certify(points)


def agree(first, second, swap=False):
    """Where both are decided; limits may leave different points open."""
    codes = np.where(np.abs(second.code) == 1, -second.code, second.code) if swap else second.code
    both = ~first.unknown & ~second.unknown
    assert both.mean() >= 0.6
    assert (first.code == codes)[both].all()


@pytest.mark.parametrize("seed", [1, 3, 6, 10])
def test_what_changes_nothing(seed):
    training_set, margin, points = made(seed)
    X, y = training_set.features, training_set.signs
    rng = np.random.default_rng(seed)
    before = verdicts_of(X, y, margin.nu, points)
    factor, shift = 2.0 ** rng.integers(-5, 6, X.shape[1]), X.std(axis=0).round() * 4
    agree(before, verdicts_of(X * factor, y, margin.nu, points * factor))
    if seed in (1, 6):  # integers: shifts are exact
        agree(before, verdicts_of(X + shift, y, margin.nu, points + shift))
    order = rng.permutation(len(X))
    agree(before, verdicts_of(X[order], y[order], margin.nu, points))
    agree(before, verdicts_of(np.vstack([X, X]), np.append(y, y), margin.nu, points))
    agree(before, verdicts_of(X, y, margin.nu, points, weights=np.full(len(X), 3.0)))
    agree(before, verdicts_of(X, -y, margin.nu, points), swap=True)


def test_a_row_of_weight_two_is_two_rows():
    training_set, _, points = made(1)
    X, y = training_set.features, training_set.signs
    weights = np.ones(len(X))
    weights[:5] = 2
    least, largest = least_nu(training_set, weights), float(largest_nu(training_set, weights))
    nu = (least + largest) / 2
    agree(
        verdicts_of(X, y, nu, points, weights),
        verdicts_of(np.vstack([X, X[:5]]), np.append(y, y[:5]), nu, points),
    )


def test_engines_say_that_they_can():
    training_set, margin, points = made(1)
    settings = EngineSettings(nu=margin, time_limit=5.0)
    choice = choose_engine("auto", training_set, settings)
    assert choice.name == "staged"
    verdicts = choice.engine.certify(points[:2])
    proved = verdicts.prove()
    assert (proved.status[~proved.unknown] == "proved").all()
    assert choose_engine("complex", training_set, settings).name == "none"
    tree = TreeEngine.from_settings(training_set, settings)
    assert tree.nu is margin
    alone = tree.certify(points[:2])  # it finds no flips
    assert (alone.unknown | (alone.code == verdicts.code)).all()
    assert not alone.unknown.all()


def test_a_point_on_the_hyperplane_of_the_reference_is_a_tie():
    training_set = TrainingSet([[0.0], [1], [2.5], [3], [4], [2]], [-1, -1, -1, 1, 1, 1])
    verdicts = StagedEngine(training_set, nu=NuMargin.of(training_set, 0.5)).certify([[2.0], [3.0]])
    assert verdicts.unknown.tolist() == [True, False]
    assert "tie" in verdicts.reason[0]


def of_integers(seed):
    """A few rows of small integers, points among them, and a ν that is anything up to the largest one."""
    rng = np.random.default_rng([seed, 77])
    n, m, high = int(rng.integers(1, 5)), int(rng.integers(5, 13)), int(rng.choice([2, 3, 4, 6]))
    X = rng.integers(0, high, size=(m, n)).astype(float)
    y = np.where(X @ rng.normal(size=n) + rng.normal(size=m) > X.mean(), 1, -1)
    y[:2] = 1, -1
    training_set = TrainingSet(X, y)
    least, largest = least_nu(training_set), float(largest_nu(training_set))
    share = rng.choice([0.1, 0.5, 1.0])
    if least > 0.98 * largest:
        return None
    return (
        training_set,
        NuMargin.of(training_set, least + share * (largest - least)),
        np.vstack([X[:3], rng.integers(-1, high + 1, size=(3, n))]),
    )


def test_few_points_of_small_integers_stay_open():
    kinds, codes = set(), []
    for seed in range(24):
        if (made_set := of_integers(seed)) is None:
            continue
        training_set, margin, points = made_set
        verdicts = StagedEngine(training_set, nu=margin, max_programs=400).certify(points)
        codes += verdicts.code.tolist()
        X, y = training_set.features, training_set.signs
        wrong, _ = nu_samples.contradictions(
            X, y, margin.caps, points, verdicts.code, nu_samples.rescalings(X, 6, seed)
        )
        assert not wrong
        for i in np.flatnonzero(~verdicts.unknown).tolist():
            certificate = verdicts.certificate(i)
            kinds.add(certificate.content["evidence"]["kind"])
            assert second_checker.proves(certificate.to_json()) == f"{verdict_words(verdicts[i])} with nu"
    assert kinds == {"nu-tree", "nu-two-rescalings", "nu-two-intercepts"}
    assert np.mean(np.array(codes) == 2) < 0.07


def test_at_the_largest_nu_a_point_beyond_some_best_intercept_is_neutral_and_says_why():
    training_set = TrainingSet([[4.0], [1], [-1], [-4]], [1, -1, -1, -1])
    margin = NuMargin.of(training_set, 0.5)
    verdicts = StagedEngine(training_set, nu=margin).certify([[9.0], [0.0]])
    assert verdicts.code.tolist() == [0, -1]  # every b <= -5/2 is best
    assert "not unique" in verdicts.reason[0]
    assert verdicts.reason[1] == ""
    assert verdicts.certificate(0).content["evidence"]["kind"] == "nu-two-intercepts"
    witness = verdicts.witness(0)
    assert witness.is_one_rescaling
    assert "the best intercept is not unique" in str(witness)
    assert "disagree" in witness._repr_html_()
    alone = TreeEngine(training_set, nu=margin)
    assert alone.certify([[9.0]]).code.tolist() == [0]
    assert alone.explain([9.0]).is_one_rescaling


def test_a_nu_that_misses_the_largest_by_rounding_is_the_largest():
    training_set = TrainingSet(np.arange(12.0)[:, None], [1, 1, 1, 1] + [-1] * 8)
    assert NuMargin.of(training_set, 2 / 3).nu == largest_nu(training_set)
    assert NuMargin.of(training_set, 1 / 3).nu * 3 == 1  # 2 rows' caps are 1/2


def test_a_value_of_0_at_a_finite_rescaling_is_a_positive_label():
    X = [[4, 5, 2], [3, 5, 3], [0, 1, 4], [3, 4, 3], [3, 0, 5], [2, 2, 5], [5, 3, 3], [1, 2, 4], [3, 4, 3]]
    training_set = TrainingSet(np.array(X, dtype=float), [1, -1, -1, -1, 1, -1, 1, -1, -1])
    margin = NuMargin.of(training_set, Fraction(4383232512777739, 9007199254740992))
    engine = TreeEngine(training_set, nu=margin, max_programs=150)
    assert engine.certify([[1.0, 1, 4]]).code.tolist() == [0]
    certificate = engine.explain([1.0, 1, 4]).certificate
    assert check(certificate.to_json()) == second_checker.proves(certificate.to_json()) == "neutral with nu"
    point = [Fraction(1), Fraction(1), Fraction(4)]
    assert engine.reference.side_of(point) == -1
    assert engine.decide(np.array([1.0, 1, 4])).flip.decision_values(point)[0] == 0


@pytest.mark.parametrize("nu", [1e-300, 1e-12, 1e-3])
@pytest.mark.parametrize("parameters", [{"engine": "tree"}, {"engine": "staged"}, {"scale_range": 2.0}], ids=str)
def test_a_tiny_nu_is_the_hard_margin(nu, parameters):
    """No multiplier exceeds 1/2, so that caps above it say nothing; as floats they were too large for prices."""
    rng = np.random.default_rng(4)
    rows = np.round(rng.normal(size=(20, 2)), 1)
    rows = rows[np.abs(rows @ [1, 2]) > 0.5]
    labels = np.where(rows @ [1, 2] > 0, 1, -1)
    points = np.round(rng.normal(size=(8, 2)), 1)
    verdicts = RescaleInvariantSVC(nu=nu, **parameters).fit(rows, labels).certify(points)
    hard = RescaleInvariantSVC(nu=None, **parameters | {"engine": "auto"}).fit(rows, labels).certify(points)
    decided = ~verdicts.unknown
    assert decided.mean() > 0.7
    assert (verdicts.code == hard.code)[decided].all()
    assert verdicts.strong.any()
