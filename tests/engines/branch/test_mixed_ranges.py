"""Free, half-open, limited and frozen features side by side: plain SVMs, the enumeration and a second checker agree."""

import copy

import made_sets
import numpy as np
import pytest
import second_checker
from certificate_corpus import relative_cover
from limited_ranges import EXAMPLE, overlapping, plain_values, refused

from rescaleinv import Certificate, GapEngine, TrainingSet, Verdict
from rescaleinv.engines.branch.decision import Split
from rescaleinv.engines.branch.problem import LimitedProblem
from rescaleinv.engines.branch.tree import decide
from rescaleinv.engines.complex.engine import ComplexEngine
from rescaleinv.theory.nu_margin import NuMargin, least_nu
from rescaleinv.theory.soft_margin import soft_margin_svm
from rescaleinv.verify import check

ANY, FROZEN = (0.0, np.inf), (1.0, 1.0)
# one range per feature, and the groups
MIXTURES = [
    ([ANY, (0.5, 2.0), FROZEN], None),
    ([ANY, ANY, (0.25, 4.0)], None),
    ([(0.5, np.inf), FROZEN, (0.0, 3.0)], None),
    ([ANY, (0.5, 2.0), ANY], [0, 1, 0]),
    ([(0.0, 1.0), (0.0, 1.0), FROZEN], [0, 0, 1]),
]
# More parts than these points need; far fewer than the default, for the few that are not decided.
PARTS = 150


def questions():
    """Engines with hard margins, penalties and a ν, each with points."""
    for number, (ranges, groups) in enumerate(MIXTURES):
        random = np.random.default_rng(number)
        points = random.normal(size=(7, 3)) * 2
        options = {"groups": groups, "max_parts": PARTS}
        separable = (made_sets.gaussian, made_sets.integer_ties)[number % 2](number, 3)
        yield GapEngine(separable, ranges, **options), points, None
        mixed = overlapping(number, 3, 16)
        yield GapEngine(mixed, ranges, penalties=np.full(16, 0.7), **options), points, 0.7
        margin = NuMargin.of(mixed, min(least_nu(mixed) * 1.1, 0.99))
        yield GapEngine(mixed, ranges, nu=margin, **options), points, margin


@pytest.fixture(scope="module")
def decided():
    return [(engine, engine.certify(points), points, margin) for engine, points, margin in questions()]


def rescalings(limits, groups, random, count):
    """Any factor stands for 1e-3 to 1e3, so that d is between 1e-6 and 1e6; every other one has factors at the ends."""
    low = np.where(limits[:, 0] > 0, limits[:, 0], 1e-3)
    high = np.where(np.isfinite(limits[:, 1]), limits[:, 1], 1e3)
    for k in range(count):
        share = random.integers(0, 2, len(limits)) if k % 2 else random.uniform(size=len(limits))
        yield low * (high / low) ** share[groups]


def values_at(training_set, tau, points, margin):
    """By Clarabel, whatever the margin."""
    if isinstance(margin, float):
        scaled = soft_margin_svm(TrainingSet(training_set.features * tau, training_set.signs), margin)
        return (points * tau) @ scaled.weights + scaled.intercept
    return plain_values(training_set, tau, points, margin)


def test_plain_svms_do_not_contradict(decided):
    random = np.random.default_rng(1)
    strong = neutral = 0
    for engine, verdicts, points, margin in decided:
        strong, neutral = strong + int(verdicts.strong.sum()), neutral + int(verdicts.neutral.sum())
        for tau in rescalings(engine.limits, engine.groups, random, 12):
            values = values_at(engine.training_set, tau, points, margin)
            assert not (verdicts.strongly_positive & (values < -1e-5)).any(), tau
            assert not (verdicts.strongly_negative & (values > 1e-5)).any(), tau
        for i in np.flatnonzero(verdicts.neutral):
            witness = verdicts.witness(int(i))
            for tau, sign in ((witness.positive, 1), (witness.negative, -1)):
                assert ((tau >= engine.limits[:, 0]) & (tau <= engine.limits[:, 1])).all()
                assert sign * values_at(engine.training_set, tau, points[i : i + 1], margin)[0] > -1e-5
    assert strong >= 60
    assert neutral >= 15
    assert strong + neutral >= 0.8 * 7 * len(decided)


def test_certificates_pass_both_checkers(decided):
    kinds, splits = set(), set()
    for _, verdicts, _, _ in decided:
        for i in np.flatnonzero(~verdicts.unknown):
            certificate = verdicts.certificate(int(i))
            text = certificate.to_json()
            assert check(text) == second_checker.proves(text) == certificate.claim
            evidence = certificate.content["evidence"]
            kinds.add((evidence["kind"], "nu" in evidence["range"], evidence["range"]["penalties"] is not None))
            splits |= {entry[0] for entry in evidence.get("cover", ()) if isinstance(entry, list)}
    assert {kind for kind, _, _ in kinds} == {"cover", "relative-cover", "two-labels"}
    assert ("relative-cover", True, False) in kinds
    assert splits == {"factor", "sign", "row", "scale"}


@pytest.mark.parametrize("seed", range(4))
def test_where_all_are_free_it_agrees_with_the_enumeration(seed):
    training_set = (made_sets.gaussian, made_sets.integer_ties)[seed % 2](seed, 3)
    points = np.random.default_rng(seed).normal(size=(25, 3)) * 2
    wanted = ComplexEngine(training_set).certify(points).code
    problem = LimitedProblem.of(training_set, np.tile(ANY, (3, 1)))
    found = [decide(problem, point, max_parts=PARTS) for point in points]
    codes = [one.label if one.cover is not None else 0 if one.neutral else None for one in found]
    assert all(code in (None, other) for code, other in zip(codes, wanted.tolist(), strict=True))
    # where rows tie, the relaxation admits limits that are none (weights without gradients): some points stay unknown
    assert sum(code is not None for code in codes) >= (23 if seed % 2 == 0 else 12)


def test_it_is_what_wider_and_wider_limits_come_to():
    training_set = made_sets.gaussian(10, 3)
    points = np.random.default_rng(10).normal(size=(20, 3))

    def codes(factor):
        ranges = [(1 / factor, factor), (0.5, 2.0), FROZEN]
        return GapEngine(training_set, ranges, max_parts=2000).certify(points).code

    free = GapEngine(training_set, [ANY, (0.5, 2.0), FROZEN], max_parts=PARTS).certify(points).code
    assert (free != Verdict.UNKNOWN).all()
    n_neutral = []
    for factor in (2.0, 30.0, 1000.0):
        limited = codes(factor)
        n_neutral.append(int((limited == 0).sum()))
        strong = np.isin(free, (1, -1))
        assert np.isin(limited[strong], (Verdict.UNKNOWN, 1, -1)).all()
        assert (limited[strong] * free[strong] != -1).all()
        assert (free[limited == 0] == 0).all()
    assert n_neutral[0] < n_neutral[1] <= n_neutral[2] == (free == 0).sum()


def test_units_of_free_features_do_not_matter():
    """A free feature in other units has the same verdicts, however unlike they are."""
    training_set = made_sets.gaussian(5, 3)
    points = np.random.default_rng(5).normal(size=(15, 3)) * 2
    wanted = GapEngine(training_set, [ANY, (0.5, 2.0), FROZEN], max_parts=PARTS).certify(points).code
    assert len(set(wanted.tolist())) >= 2
    for unit in (2.0**-8, 2.0**8):
        units = np.array([unit, 1.0, 1.0])
        other = TrainingSet(training_set.features * units, training_set.signs)
        found = GapEngine(other, [ANY, (0.5, 2.0), FROZEN], max_parts=PARTS).certify(points * units).code
        assert (found == wanted).all()


def test_a_limit_of_time_ends_in_unknown():
    engine = GapEngine(made_sets.gaussian(9, 6), [ANY, ANY, ANY, (0.25, 4), (0.25, 4), (0.25, 4)], max_parts=2)
    verdicts = engine.certify(np.random.default_rng(9).normal(size=(40, 6)) * 0.7)
    assert verdicts.unknown.any()
    assert all("2 parts of the range" in reason for reason in verdicts.reason[verdicts.unknown])


# --- lies ---


def test_a_relative_cover_by_hand():
    whole = relative_cover()
    text = Certificate(copy.deepcopy(whole)).to_json()
    assert check(text) == second_checker.proves(text) == whole["claim"]
    assert "factors from 0 to infinity, hard margin" in str(check(text).question)

    def lie(match, *path, value):
        changed = copy.deepcopy(whole)
        place = changed["evidence"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        refused(changed, match)
        assert second_checker.proves(Certificate(changed).to_json()) is None

    lie("has no field 'q'", "cover", 2, value={"v": ["4"], "t": "1/2", "r": {}})
    lie("margin below 1", "cover", 2, "q", value="5")
    lie("does not fail", "cover", 2, "q", value="3")
    lie("no positive bound for feature 0, and nu is not 0", "cover", 2, "r", value={"0": "1/10"})
    lie(
        "no upper bound for feature 0, and v is not 0",
        "cover",
        5,
        value={"v": ["1"], "t": "1/8", "q": "1", "r": {"0": "3"}},
    )
    lie("does not fail", "cover", 4, "r", value={"0": "3/4"})
    lie("does not fail", "cover", 6, "r", value={"0": "1"})
    lie("outside of its range", "cover", 1, value=["factor", 0, "0"])
    lie("outside of its range", "cover", 3, value=["factor", 0, "1/4"])
    lie("not an exact number", "cover", 3, value=["scale", "x"])
    lie("negative", "cover", 6, "r", value={"0": "-2"})
    lie("outside of its range", "label", "inverse_squared_rescaling", value=["0"])
    lie("evidence.label: ", "label", "pair", "r", value={})
    lie("not for penalties", "range", "penalties", value=["1000", "1000"])
    lie("does not contain 1", "range", "rescalings", value=[["-1", None]])
    lie("does not contain 1", "range", "rescalings", value=[["0", "1/2"]])
    lie("not a pair", "range", "rescalings", value=[["0"]])
    lie("is not an exact number", "range", "rescalings", value=[[None, None]])
    changed = copy.deepcopy(whole)
    changed["claim"] = "strongly negative within the range"
    refused(changed, "evidence.label: r pulls to the wrong side|evidence.label")
    changed = copy.deepcopy(whole)
    del changed["evidence"]["label"]
    refused(changed, "has no field 'label'")
    changed = copy.deepcopy(whole)
    del changed["evidence"]["label"]
    changed["evidence"]["kind"] = "cover"
    refused(changed, "'q' that is not known")


def test_the_scale_of_a_relative_cover():
    """The same rows with limited factors: their relative factors are between the bounds of both, multiplied."""
    whole = relative_cover(scaled=True)
    text = Certificate(copy.deepcopy(whole)).to_json()
    assert check(text) == second_checker.proves(text) == whole["claim"]
    for k, value, match in (
        (1, ["scale", "1/4"], "does not fail"),  # the part from there on is too large for the next pair
        (1, ["scale", "0"], "outside of its range"),
        (3, ["scale", "1/4"], "outside of its range"),
        (3, ["scale", "-2"], "outside of its range"),
        (1, ["scale", 0, "1/2"], "not known"),
        (1, ["factor", 0, "1/2"], "outside of its range"),
    ):
        changed = copy.deepcopy(whole)
        changed["evidence"]["cover"][k] = value
        refused(changed, match)
        assert second_checker.proves(Certificate(changed).to_json()) is None
    changed = copy.deepcopy(whole)
    changed["evidence"]["range"]["rescalings"] = [["1/2", "2"]]  # the parts are then larger than the pairs settle
    refused(changed, "does not fail")
    changed = copy.deepcopy(whole)
    changed["evidence"] |= {"kind": "cover", "cover": [["scale", "1/2"]]}
    del changed["evidence"]["label"]
    refused(changed, "a split has no number")


def test_a_cover_is_refused_where_the_range_has_no_end(decided):
    """A proof for limited factors is none for any factor."""
    verdicts = GapEngine(EXAMPLE, [(0.9, 1.1), FROZEN]).certify([[3.0, 3.0]])
    content = verdicts.certificate(0).content
    for ends, match in ((["9/10", None], "no positive bound"), (["0", "11/10"], "no upper bound")):
        changed = copy.deepcopy(content)
        changed["evidence"]["range"]["rescalings"][0] = ends
        refused(changed, match)


def test_splits_of_the_scale_are_in_the_tree():
    problem = LimitedProblem.of(made_sets.gaussian(9, 5), np.array([ANY, ANY, (0.5, 2), (0.5, 2), FROZEN]))
    points = np.random.default_rng(5).normal(size=(30, 5)) * 2
    found = [decide(problem, point, max_parts=PARTS) for point in points]
    splits = {entry.kind for one in found for entry in one.cover or () if isinstance(entry, Split)}
    assert "scale" in splits
