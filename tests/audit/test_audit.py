"""The audit: its labels against scikit-learn's SVM, its check against planted lies, its words against its numbers."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from estimator_checks import not_passed
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from rescaleinv import ComplexEngine, RescaleInvariantSVC, TrainingSet, scaling_audit
from rescaleinv.audit import named_scalings
from rescaleinv.audit.findings import percent
from rescaleinv.audit.scalings import RAW, ScalingResult, labels_after
from rescaleinv.datasets import load
from rescaleinv.errors import InputError
from rescaleinv.selection import FisherRatioSelector

PAPER = ([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])


@pytest.fixture(scope="module")
def tumours():
    features, labels, names = load("breast_cancer_wisconsin")
    return pd.DataFrame(features, columns=list(names)), labels


@pytest.fixture(scope="module")
def audit(tumours):
    features, labels = tumours
    return scaling_audit(features[:30], labels[:30], features[30:110], labels[30:110], noun="tumours", most_radii=0)


def hard_svm(rows, signs, points):
    """scikit-learn's own SVM with a C that leaves no slack on such data."""
    return SVC(kernel="linear", C=1e7, tol=1e-8).fit(rows, signs).decision_function(points)


# --- the labels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(named_scalings())[:9])
def test_labels_are_those_of_scikit_learns_svm(audit, tumours, name):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    transformer = named_scalings()[name].fit(training_set.features, training_set.signs)
    values = hard_svm(transformer.transform(training_set.features), training_set.signs, transformer.transform(points))
    place = [scaling.name for scaling in audit.scalings].index(name)
    clear = np.abs(values) > 1e-3
    assert clear.sum() > 70
    np.testing.assert_array_equal(audit.signs[place][clear], np.sign(values[clear]))
    kind = {"logarithm": "other", "shaped": "other"}.get(name, "diagonal")
    assert audit.scalings[place].kind == kind


def test_disagreement_by_plain_counting(audit):
    table = audit.disagreement
    names = [scaling.name for scaling in audit.scalings]
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            if audit.usable[a] and audit.usable[b]:
                different = sum(audit.signs[a, i] != audit.signs[b, i] for i in range(80))
                assert table.loc[first, second] == different / 80
            else:
                assert np.isnan(table.loc[first, second])


def test_the_split_points_have_both_labels(audit):
    frame = audit.to_frame()
    labels = frame[[f"label, {one.name}" for one in audit.scalings if one.values is not None]]
    np.testing.assert_array_equal(audit.split, labels.nunique(axis=1) == 2)
    assert audit.split.any()
    strict = [f"label, {one.name}" for one in audit.scalings if one.bound_by_verdicts and one.values is not None]
    assert (frame.loc[audit.verdicts.strong, strict].nunique(axis=1) == 1).all()


def test_a_selector_gets_as_many_features_as_separate_the_rows(tumours):
    features, labels = tumours
    training_set = TrainingSet(features[:40].to_numpy(), labels[:40])
    found = labels_after("s", FisherRatioSelector(), training_set, features[40:60].to_numpy())
    assert found.kind == "selection"
    kept = int((found.factors > 0).sum())
    assert 4 < kept < 9  # four, a half of nine, do not
    assert found.note.startswith(f"{kept} features kept")
    fewer = labels_after("s", FisherRatioSelector(kept - 1), training_set, features[40:60].to_numpy())
    np.testing.assert_array_equal(fewer.values, found.values)
    engine = ComplexEngine(training_set)
    assert not len(found.contradictions(engine.certify(features[40:60].to_numpy()).code))


def test_factors_are_read_off_the_rows():
    training_set = TrainingSet([[0.0, 1, 5], [2, 0, 5], [4, 3, 5], [6, 1, 5]], [-1, -1, 1, 1])
    points = np.array([[1.0, 1, 5], [3, 8, 5]])
    minmax = labels_after("m", MinMaxScaler(), training_set, points)
    np.testing.assert_allclose(minmax.factors, [1 / 6, 1 / 3, 1])
    clipping = labels_after("c", MinMaxScaler(clip=True), training_set, points)
    assert (clipping.kind, clipping.factors) == ("other", None)
    both = labels_after("b", make_pipeline(MinMaxScaler((-1, 0)), StandardScaler()), training_set, points)
    deviation = training_set.features.std(axis=0)[:2]
    np.testing.assert_allclose(both.factors[:2], 1 / deviation)


def test_what_a_transformer_can_not_do_is_a_note(tumours):
    features, labels = tumours[0].iloc[:, :3], tumours[1]

    class Refuses(StandardScaler):
        def fit(self, X, y=None):
            raise ValueError("not on a Monday")

    again = scaling_audit(
        features[:30], labels[:30], features[30:50], scalings={"mine": Refuses(), "z": StandardScaler()}, most_radii=0
    )
    assert [one.name for one in again.scalings] == [RAW, "mine", "z"]
    assert again.scalings[1].note == "can't be applied: not on a Monday"
    assert not again.signs[1].any()
    assert "'mine': can't be applied" in str(again)
    assert again.signs[2].all()


# --- single features ------------------------------------------------------------------------------------------------


def test_a_feature_alone_changes_the_labels_that_it_is_said_to_change(audit, tumours):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    checked = 0
    for j, one in enumerate(audit.alone):
        for i in np.flatnonzero(one.flips)[:2]:
            factors = np.ones(9)
            factors[j] = 2.0 ** int(one.flipping_power[i])
            value = hard_svm(training_set.features * factors, training_set.signs, points[i : i + 1] * factors)[0]
            if abs(value) > 1e-3:
                assert (value >= 0) != (audit.values[i] >= 0)
                checked += 1
    assert checked > 5
    assert not (np.array([one.flips for one in audit.alone]) & audit.verdicts.strong).any()


def test_neutral_without_a_feature_is_what_a_smaller_engine_says(audit, tumours):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    for j in (0, 5):
        others = [k for k in range(9) if k != j]
        verdicts = ComplexEngine(TrainingSet(training_set.features[:, others], training_set.signs)).certify(
            points[:, others]
        )
        assert audit.features["neutral without"].iloc[j] == verdicts.neutral.mean()


def test_without_a_feature_that_is_needed_there_is_a_reason():
    audit = scaling_audit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 0, 1], [[0.5, 3]])
    assert audit.features["note"].tolist() == ["the classes can't be separated without it", ""]
    single = scaling_audit([[0], [1]], [0, 1], [[0.5]])
    assert single.features["note"].tolist() == ["it is the only feature"]


# --- two rescalings of a neutral point ------------------------------------------------------------------------------


def test_two_rescalings_disagree_about_every_neutral_point(audit, tumours):
    training_set, points = audit.model.training_set_, tumours[0][30:110].to_numpy()
    kinds = set()
    for i in np.flatnonzero(audit.verdicts.neutral):
        positive, negative = audit.two_rescalings(int(i))
        assert positive.value >= 0 > negative.value
        kinds |= {positive.name.partition(" ")[0], negative.name.partition(" ")[0]}
        for one in (positive, negative):
            assert one.value == pytest.approx(one.base + one.contributions.sum())
            value = hard_svm(training_set.features * one.factors, training_set.signs, points[i : i + 1] * one.factors)[
                0
            ]
            if one.factors.max() / one.factors.min() < 50:
                assert value == pytest.approx(one.value, abs=2e-3 * (1 + abs(value)))
                mean = training_set.features.mean(axis=0)[None, :] * one.factors
                at_mean = hard_svm(training_set.features * one.factors, training_set.signs, mean)[0]
                assert at_mean == pytest.approx(one.base, abs=2e-3 * (1 + abs(at_mean)))
    assert {"the", "a"} <= kinds  # the features as given, and the certified two where nothing simpler does
    with pytest.raises(InputError, match="no two rescalings disagree"):
        audit.two_rescalings(int(np.flatnonzero(audit.verdicts.strong)[0]))


# --- the check that always runs -------------------------------------------------------------------------------------


def test_the_check_compares_every_rescaling_and_finds_planted_lies(audit):
    assert audit.consistency.holds
    tried = sum(one.bound_by_verdicts and one.values is not None for one in audit.scalings) + 20 * 9
    assert audit.consistency.n_rescalings == tried
    assert audit.consistency.n_labels == tried * audit.verdicts.strong.sum()
    code = audit.verdicts.code.copy()
    i = int(np.flatnonzero(audit.verdicts.strongly_positive)[0])
    code[i] = -1
    lying = dataclasses.replace(audit, verdicts=dataclasses.replace(audit.verdicts, code=code))
    assert not lying.consistency.holds
    assert {point for _, point in lying.consistency.contradictions} == {i}
    assert len(lying.consistency.contradictions) == tried
    (alarm,) = [finding for finding in lying.findings if finding.alarm]
    assert alarm.text.startswith(f"Something is wrong: {tried} labels")


def test_ties_are_no_contradictions_and_other_transformations_are_none():
    code = np.array([1, 1, -1, 0], dtype=np.int8)
    values = np.array([-1e-12, -1.0, 1.0, 5.0])
    near = np.array([True, False, False, False])
    diagonal = ScalingResult("d", "diagonal", np.ones(2), values, near)
    assert diagonal.contradictions(code).tolist() == [1, 2]
    assert diagonal.signs(code).tolist() == [1, -1, 1, 1]
    assert not len(ScalingResult("o", "other", None, values, near).contradictions(code))


# --- findings -------------------------------------------------------------------------------------------------------


def test_findings_say_what_the_numbers_say(audit, tumours):
    text = str(audit)
    neutral, strong = int(audit.verdicts.neutral.sum()), int(audit.verdicts.strong.sum())
    assert text.startswith(f"- {neutral} of 80 tumours ({percent(neutral / 80)}) are neutral")
    assert f"{strong} of 80 tumours" in text
    shares = audit.features["alone"]
    top = shares.idxmax()
    points = round(shares[top] * 80)
    assert f"{percent(shares[top])} of these tumours would be told something else if {top} alone" in text
    factor, some = re.search(rf"a factor of (\d+) is enough for (?:(\d+) of these|all) {points}\.", text).groups()
    powers = np.abs(audit.alone[list(shares.index).index(top)].flipping_power)
    needed = sorted(2 ** int(power) for power in powers if power)
    assert int(factor) == needed[len(needed) // 2]  # half of them change up to there
    assert int(some or points) == sum(one <= int(factor) for one in needed)
    quiet = int((audit.verdicts.neutral & ~audit.split).sum())
    assert f"{quiet} tumours get one and the same label" in text
    truth = tumours[1][30:110]
    right = (np.where(audit.values >= 0, 1, -1) == truth).mean()
    assert f"the plain SVM labels {percent(right)} rightly" in text
    strong_right = (audit.verdicts.code == truth)[audit.verdicts.strong].mean()
    assert f"{percent(strong_right)} of the strong verdicts are right" in text


def test_a_training_set_that_no_scaling_changes():
    audit = scaling_audit([[-1, 5], [5, -1], [1, 1]], [1, 1, -1], [[0, 0], [3, 3]])
    assert audit.findings[0].text.startswith("Scaling makes no difference")
    assert not any(one.flips.any() for one in audit.alone)


def test_undecided_points_and_rows_left_out_are_said(tumours):
    features, labels = tumours
    stopped = RescaleInvariantSVC(engine="complex", max_vertices=2)
    features = features.iloc[:, :6]
    rows = pd.concat([features[:30], features[:1]])
    audit = scaling_audit(
        rows, [*labels[:30], -labels[0]], features[30:50], estimator=stopped, scalings={}, most_radii=0
    )
    assert audit.verdicts.unknown.any()
    (alarm,) = [finding.text for finding in audit.findings if finding.alarm]
    assert alarm.startswith(f"{audit.verdicts.unknown.sum()} of 20 points")
    complete = scaling_audit(rows, [*labels[:30], -labels[0]], features[30:50], scalings={}, most_radii=0)
    assert (complete.verdicts.neutral | ~audit.changed).all()
    known = int((audit.changed & audit.verdicts.unknown).sum())
    assert known == 0 or f"{known} of these depend on the scaling all the same" in alarm
    np.testing.assert_array_equal(complete.changed, audit.changed)
    assert audit.changed.sum() >= max(one.flips.sum() for one in audit.alone) > 0
    assert len(audit.model.dropped_) > 0
    assert f"\n- {len(audit.model.dropped_)} of 31 training rows were left out" in str(audit)


@pytest.mark.parametrize(
    ("rows", "labels", "points"),
    [
        ([[0, 7], [1, 7]], ["a", "b"], [[0.5, 7], [0.5, 1e6]]),  # a constant feature
        ([[0, 0], [1, 2], [2, 4], [3, 6]], [0, 0, 1, 1], [[1.5, 3], [0, 9]]),  # proportional features
        ([[0, 0, 1], [0, 0, 1], [5, 5, 1], [5, 5, 1], [4, 4, 1]], [0, 0, 1, 1, 1], [[2, 2, 2]]),  # copies
        ([[3, 1], [0, 0], [0, 2], [1, 5]], [1, 0, 0, 0], [[0, 0], [3, 1], [1.5, 0.5]]),  # one positive row
    ],
)
def test_degenerate_tables(rows, labels, points):
    audit = scaling_audit(rows, labels, points)
    assert audit.consistency.holds
    assert audit.findings
    assert len(audit.to_frame()) == len(points)
    for i in np.flatnonzero(audit.verdicts.neutral):
        positive, negative = audit.two_rescalings(int(i))
        assert positive.value >= 0 > negative.value


def test_truth_that_is_not_known_is_left_out(tumours):
    features, labels = tumours[0].iloc[:, :2], tumours[1]
    truth = [None if i % 2 else label for i, label in enumerate(labels[30:50].tolist())]
    audit = scaling_audit(
        features[:30], labels[:30], features[30:50], truth, scalings={}, class_names=("bad", "good"), most_radii=0
    )
    assert audit.report.svm.tp + audit.report.svm.fp + audit.report.svm.tn + audit.report.svm.fn == 10
    assert set(audit.truth[::2]) == {"good", "bad"}
    assert set(audit.truth[1::2]) == {None}
    assert audit.to_frame()["point"].tolist() == [str(i) for i in range(30, 50)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scalings": [StandardScaler()]}, "a mapping from names"),
        ({"scalings": {"x": 3}}, "'x' is no transformer"),
        ({"estimator": RescaleInvariantSVC(C=1.0)}, "hard margin"),
        ({"estimator": RescaleInvariantSVC(scale_range=2)}, "all rescalings"),
        ({"estimator": SVC()}, "a RescaleInvariantSVC is needed"),
        ({"class_names": ("a", "a")}, "two different names"),
        ({"y_test": [1]}, "1 labels for 2 points"),
        ({"y_test": [1, 7]}, "7 at point 1; the classes are -1 and 1"),
        ({"kappa": 1}, "a finite factor above 1"),
        ({"most_radii": -1}, "a whole number of at least 0"),
        ({"X_test": np.empty((0, 2))}, "X_test"),
        ({"X_test": [[1, 2, 3]]}, "feature"),
    ],
)
def test_wrong_arguments_are_said(options, message):
    arguments = {"X_train": PAPER[0], "y_train": PAPER[1], "X_test": [[0, 1], [2, 3]], **options}
    with pytest.raises(InputError, match=message):
        scaling_audit(**arguments)


def test_scikit_learns_checks_of_the_two_transformers():
    bad, count = not_passed("scaling.PositiveLogarithm", "scaling.FisherScaler")
    assert not bad
    assert count > 80


@pytest.mark.parametrize("engine", ["complex", "milp"])
def test_verdicts_without_features_are_asked_for_where_they_are_cheap(monkeypatch, engine):
    monkeypatch.setattr("rescaleinv.audit.audit._MOST_VERTICES", 1)
    audit = scaling_audit(*PAPER, [[-1, 4], [4, 4]], estimator=RescaleInvariantSVC(engine=engine), scalings={})
    assert audit.features["note"].tolist() == ["not asked", "not asked"]
    assert "without" in audit.notes[0]
    assert audit.notes[0] in str(audit)
    assert audit.verdicts.code.tolist() == [0, 1]


# --- units that are off by a limited factor -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def limited():
    features, labels, names = load("breast_cancer_wisconsin")
    table = pd.DataFrame(features[:, :4], columns=list(names[:4]))
    patient = RescaleInvariantSVC(time_limit=60)  # so that a busy machine changes nothing
    return scaling_audit(
        table[:30], labels[:30], table[30:90], scalings={}, estimator=patient, most_radii=12, kappa=1.6
    )


def test_radii_are_those_of_the_estimator(limited):
    units, verdicts = limited.limited, limited.verdicts
    assert len(units.asked) == min(12, verdicts.neutral.sum())
    assert verdicts.neutral[units.asked].all()
    assert units.share == len(units.asked) / verdicts.neutral.sum()
    assert np.isposinf(limited.radius[verdicts.strong]).all()
    left = np.setdiff1d(np.flatnonzero(verdicts.neutral), units.asked)
    assert np.isnan(limited.radius[left]).all()
    assert (limited.radius[units.asked, 0] < limited.radius[units.asked, 1]).all()
    np.testing.assert_array_equal(units.changed, units.asked[limited.radius[units.asked, 1] <= 1.6])
    assert 0 < len(units.changed) < 12
    neutral = verdicts.neutral[units.sample]
    assert neutral.sum() == len(units.asked)
    assert abs(neutral.mean() - verdicts.neutral.mean()) < 0.03


def test_within_a_radius_random_rescalings_change_no_label(limited):
    rng = np.random.default_rng(0)
    rows, signs = limited.model.training_set_.features, limited.model.training_set_.signs
    for i in limited.limited.asked[:4]:
        point, reach = limited.verdicts.points[[i]], np.log(limited.radius[i, 0])
        for _ in range(5):
            tau = np.exp(rng.uniform(-reach, reach, size=4))
            value = hard_svm(rows * tau, signs, point * tau)[0]
            assert abs(value) < 1e-3 or (value >= 0) == (limited.values[i] >= 0)


def test_fixing_a_feature_keeps_labels_that_no_grid_of_the_others_changes(limited):
    units, rows = limited.limited, limited.model.training_set_.features
    signs = limited.model.training_set_.signs
    assert units.kept.any()
    grid = [np.array(tau) for tau in np.ndindex(3, 3, 3)]
    for j in range(4):
        flipped = np.zeros(len(units.changed), dtype=bool)
        for place in grid:
            tau = np.insert(1.6 ** (place - 1.0), j, 1.0)
            values = hard_svm(rows * tau, signs, limited.verdicts.points[units.changed] * tau)
            flipped |= (np.abs(values) > 1e-3) & ((values >= 0) != (limited.values[units.changed] >= 0))
        assert flipped.sum() <= len(flipped) - units.kept[j]
        share = limited.features["fixed"].iloc[j]
        assert share == pytest.approx(units.kept[j] / len(units.asked) * limited.verdicts.neutral.mean())


def test_findings_about_units(limited):
    units, text = limited.limited, str(limited)
    assert f"{len(units.changed)} ({percent(len(units.changed) / len(units.asked))}) get another label already" in text
    j = int(units.kept.argmax())
    name = limited.feature_names[j]
    assert (
        f"{units.kept[j]} of these {len(units.changed)} would keep their label if the unit of {name} were fixed" in text
    )


def test_one_feature_that_is_fixed_leaves_nothing_to_rescale():
    audit = scaling_audit([[0], [1]], [0, 1], [[0.5], [2]])
    assert not len(audit.limited.asked)
    assert audit.features["fixed"].tolist() == [0.0]
